"""`strew.aggregate`, `strew.scatter` and `strew.gather` on a GPU: the CPU's bits."""

import itertools

import pytest
import strew
import torch
from bits import COMPLEX, FLOATS, INTEGERS, check, drawn, index_of, moved, on_gpu

NAMES = (
    "sum prod sumsq mean var std sem skew kurt min max first last len count any all anynan allnan "
    "argmin argmax softmax logsumexp cumsum cumprod"
).split()
#: Of complex numbers these need the CPU, or have no results.
REAL = frozenset("var std sem skew kurt softmax logsumexp".split())
ORDER = (
    "median quantile mode nunique nth topk argtopk sort argsort rank cumcount shift cummin cummax"
).split()
TIES = frozenset("average min max dense ordinal".split())
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


@pytest.mark.parametrize("dtype", [*DTYPES, torch.uint64], ids=str)
def test_exact(dtype):
    names = ["sum", "mean", "sumsq"]
    names = names[:2] if dtype in (torch.float64, torch.complex128) else names
    for (shape, dim), skips in itertools.product((((90,), 0), ((3, 30, 2), 1)), (False, True)):
        index = index_of((shape[dim],), 6)
        if dtype.is_floating_point or dtype.is_complex:
            # One group has nothing but NaN.
            line = (index == 0).reshape([-1 if axis == dim else 1 for axis in range(len(shape))])
            src = drawn(shape, dtype).masked_fill(line, torch.nan)
        else:
            src = drawn(shape, dtype)
        options = {"dim": dim, "size": 5, "mode": "drop", "exact": True}
        options |= {"skipna": True, "min_count": 0} if skips else {"fill_value": 7}
        check(lambda s, n, o=options: strew.aggregate(s, n, names, **o), src, index)


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint64], ids=str)
def test_exact_means_of_large_integers(dtype):
    """The total is not rounded before it is divided."""
    src = torch.randint(-(2**62), 2**62, (300,), generator=torch.Generator().manual_seed(2))
    src, index = (src.abs() if dtype == torch.uint64 else src).to(dtype), torch.arange(300) // 6
    exact = check(lambda s, n: strew.aggregate(s, n, "mean", exact=True), src, index)
    assert not torch.equal(exact, strew.aggregate(src, index, "mean"))


def test_shapes_of_distributions():
    """Skew and kurtosis of few, of equal and of infinite values."""
    line = torch.arange(60)
    src = torch.stack(
        [
            drawn((60,), torch.float64),
            torch.full((60,), 1e300, dtype=torch.float64) * (line % 5 - 2),
            torch.full((60,), 0.1, dtype=torch.float64),
            torch.where(line == 7, torch.inf, line.double()),
            torch.where(line % 9 == 0, torch.nan, 1e9 + (line * 37 % 11).double()),
            (line * 37 % 11) * 5e-324,
        ],
        1,
    )
    # Groups of 0 to 5 values, and a larger one.
    index = torch.where(line < 15, torch.tensor([1, 2, 2, 3, 3, 3, *[4] * 4, *[5] * 5] * 4), 6)
    for skips in (False, True):
        for name in ("skew", "kurt"):
            check(lambda s, n, r=name, k=skips: strew.aggregate(s, n, r, skipna=k), src, index)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.uint64], ids=str)
@pytest.mark.parametrize(
    "options",
    [
        {"q": [0, 0.3, 1], "periods": -2, "n": -2, "k": 3, "largest": False},
        {"skipna": True, "min_count": 0, "q": 0.75, "method": "higher", "n": 1, "k": 2},
        {"skipna": True, "min_count": 3, "fill_value": 7, "method": "midpoint", "periods": 2},
        *({"method": name, "q": 0.37} for name in ("dense", "ordinal", "min", "max")),
        *({"method": name, "q": 0.25, "n": 99} for name in ("lower", "nearest")),
    ],
    ids=str,
)
def test_order_statistics(dtype, options):
    def without(name):
        # Ranks and quantiles have no method in common.
        method = options.get("method")
        return {**options, "method": None} if name == "rank" and method not in TIES else options

    for shape, dim in (((40,), 0), ((3, 40, 2), 1)):
        index = index_of((40,), 7)
        for src in (drawn(shape, dtype), few(shape, dtype)):
            for name in ORDER:
                if dtype.is_complex and name in ("median", "quantile"):
                    continue
                given = {**without(name), "dim": dim}
                check(lambda s, n, r=name, o=given: strew.aggregate(s, n, r, **o), src, index)


def test_products_of_complex_numbers_without_nan():
    parts = torch.tensor([0.0, -0.0, 1.0, -2.0, torch.inf], dtype=torch.float64)
    src = torch.complex(*torch.cartesian_prod(parts, parts).unbind(1))
    src = torch.cartesian_prod(src, src, torch.tensor([complex(torch.nan, 1)], dtype=src.dtype)).T
    index = torch.zeros(3, dtype=torch.int64)
    for name in ("prod", "cumprod"):
        check(lambda s, n, r=name: strew.aggregate(s, n, r, skipna=True), src, index)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (4, 0)], ids=str)
@pytest.mark.parametrize("size", [0, 3])
def test_without_values(shape, size):
    src, index = torch.zeros(shape), torch.full(shape[:1], -1)
    for name in [*NAMES, *ORDER]:
        options = {"size": size, "mode": "drop", "k": 2, "q": [0.5, 1]}
        check(lambda s, n, r=name, o=options: strew.aggregate(s, n, r, **o), src, index)


@pytest.mark.parametrize("name", ORDER)
def test_values_in_no_group(name):
    src, index = few((40, 2), torch.float32), index_of((40,), 7)
    for size in (0, 4):
        for ignored in (None, 1):
            options = {"size": size, "mode": "drop", "ignore_index": ignored}
            check(lambda s, n, o=options: strew.aggregate(s, n, name, **o), src, index)


def few(shape, dtype):
    """Values of which many are equal, with zeros of both signs and NaN."""
    made = torch.Generator().manual_seed(5)
    at = torch.randint(0, 4, shape, generator=made)
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.tensor([0, 1, 2, 100])[at].to(dtype)
    of = torch.tensor([0.0, -0.0, 1.5, torch.nan], dtype=dtype.to_real())
    return torch.complex(of[at], of[at.flip(0)]) if dtype.is_complex else of[at]


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
        for name in ("sumsq", "var", "std", "sem"):
            with pytest.raises(NotImplementedError, match=r"tensor\.cpu\(\)"):
                strew.aggregate(src.double(), index, name, exact=True)
        with pytest.raises(NotImplementedError, match=r"tensor\.cpu\(\)"):
            strew.aggregate(src, index, "sum", weights=src)
        with pytest.raises(NotImplementedError, match=r"tensor\.cpu\(\)"):
            strew.aggregate(src, index, lambda group: group.sum())


@pytest.mark.parametrize("name", "sum prod sumsq mean var std sem skew min max first last".split())
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
