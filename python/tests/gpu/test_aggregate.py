"""`strew.aggregate`, `strew.scatter` and `strew.gather` on a GPU: the CPU's bits."""

import pytest
import strew
import torch
from bits import COMPLEX, FLOATS, INTEGERS, check, drawn, index_of, moved, on_gpu

NAMES = (
    "sum prod sumsq mean var std sem min max first last len count any all anynan allnan argmin "
    "argmax"
).split()
#: Of complex numbers these need the CPU.
REAL = frozenset("var std sem min max argmin argmax".split())
DTYPES = [
    *FLOATS,
    *COMPLEX,
    torch.bool,
    *(one for one in INTEGERS if one.itemsize < 8),
    torch.int64,
]


def values(shape, dtype):
    """Integers that float64 holds: the deviations of larger ones are those of the CPU only there."""
    found = drawn(shape, dtype)
    return found >> 12 if dtype == torch.int64 else found


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "options", [{}, {"skipna": True, "min_count": 2, "fill_value": 7}, {"ddof": 1}]
)
def test_aggregate(dtype, options):
    names = [name for name in NAMES if not (dtype.is_complex and name in REAL)]
    for shape, dim in (((20,), 0), ((3, 20, 2), 1)):
        src, index = values(shape, dtype), index_of((20,), 6)
        check(lambda s, n, d=dim: strew.aggregate(s, n, names, dim=d, **options), src, index)


@pytest.mark.parametrize("mode", ["drop", "clip", "wrap", "error"])
def test_modes(mode):
    src, index = drawn((20, 2), torch.float32), index_of((20,), 6)
    outside = torch.where(index == 2, 9, torch.where(index == 3, -1, index))
    for given in (index, outside):
        options = {"mode": mode, "size": 6}
        check(lambda s, n, o=options: strew.aggregate(s, n, ["sum", "max"], **o), src, given)
        check(lambda s, n, o=options: strew.scatter(s, n, 0, **o), src, given)
        check(
            lambda s, n, o=options: strew.scatter(s, n, 0, reduce="max", ignore_index=1, **o),
            src,
            given,
        )
        check(lambda s, n: strew.gather(s, n, 0, mode=mode), src, given)


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "min", "max", "assign", "std", "first"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int32, torch.uint8], ids=str)
def test_scatter(dtype, reduce):
    src, index = drawn((20, 3), dtype), index_of((20,), 6)
    check(lambda s, n: strew.scatter(s, n, 0, reduce=reduce), src, index)
    if reduce not in ("std", "first"):
        out = drawn((6, 3), dtype, seed=1)
        check(lambda s, n, o: strew.scatter(s, n, 0, out=o, reduce=reduce), src, index, out)
    if reduce in ("sum", "mean"):
        check(lambda s, n: strew.scatter(s, n, 0, reduce=reduce, exact=True), src, index)


def test_what_has_no_kernel_says_so():
    src, index = drawn((20,), torch.float32), index_of((20,), 6)
    src, index = moved(src), moved(index)
    with on_gpu():
        for name in ("median", "cumsum", "mode"):
            with pytest.raises(NotImplementedError, match=r"tensor\.cpu\(\)"):
                strew.aggregate(src, index, name)
        with pytest.raises(NotImplementedError, match=r"tensor\.cpu\(\)"):
            strew.aggregate(src, index, "sum", weights=src)
        with pytest.raises(NotImplementedError, match=r"tensor\.cpu\(\)"):
            strew.aggregate(src, index, lambda group: group.sum())


@pytest.mark.parametrize("name", "sum prod sumsq mean var std sem min max first last".split())
def test_derivatives(name):
    index = torch.tensor([2, 0, 2, 2, 0, 9])
    src = torch.tensor([3.0, 0.5, 1.0, -2.0, 1.5, 7.0], dtype=torch.float64, requires_grad=True)

    def run(src):
        # The index of the way that is taken.
        return strew.aggregate(src, index, name, size=3, mode="drop", fill_value=0)

    expected = torch.autograd.grad(run(src).square().sum(), src)[0]
    with on_gpu():
        index, src = moved(index), moved(src.detach()).requires_grad_()
        found = torch.autograd.grad(run(src).square().sum(), src)[0]
        assert torch.autograd.gradcheck(run, [src])
        assert torch.autograd.gradgradcheck(run, [src])
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-15, atol=0)


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "amin", "amax", "min", "max", "assign"])
def test_plans(reduce):
    src, out = drawn((12, 3), torch.float32), drawn((5, 3), torch.float32, seed=1)
    plan = strew.Plan(torch.where(index_of((12,), 5) == 4, 9, index_of((12,), 5)), 5, mode="drop")
    check(lambda s: plan.scatter(s, reduce), src)
    check(lambda s, o: plan.scatter(s, reduce, out=o), src, out)
    check(lambda s, o: plan.scatter(s, reduce, out=o, include_self=False), src, out)
    check(lambda o: plan.gather(o), out)
    check(lambda s: strew.scatter(s, None, 0, plan=plan), src)
    check(lambda s: strew.aggregate(s, plan, ["mean", "argmax"]), src)
