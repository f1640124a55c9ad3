"""Derivatives of torch_scatter's segments, gathers and composites. Needs torch, as it should."""

import pytest
import strew
import strew._torch as registered
import torch
from torch.autograd import forward_ad, gradcheck, gradgradcheck

# torch's own forward mode loads decompositions that it compiles in a way that it advises against.
# Its `opcheck` looks at the gradients of tensors that are no leaves.
pytestmark = pytest.mark.filterwarnings(
    "ignore:`torch.jit:FutureWarning", "ignore:The .grad attribute:UserWarning"
)

seg = strew.torch_scatter
REDUCES = ["sum", "mean", "min", "max"]

#: Runs that lie one behind the other, leave gaps, overlap, and descend: rows of 7 elements.
POINTERS = {
    "all": [0, 2, 5, 5, 7],
    "gaps": [1, 3, 3, 6],
    "overlap": [0, 4, 2, 6, 1, 7],
    "descend": [5, 2, 7, 1, 4, 0],
    "batches": [[0, 2, 5, 5, 7], [3, 6, 1, 4, 4]],
    "one for both": [[2, 6, 3, 7]],
    "none": [3],
    "never": [7, 4, 0],
}
INDICES = {
    "vector": [0, 0, 1, 1, 1, 3, 3],
    "batches": [[0, 0, 1, 1, 1, 3, 3], [0, 2, 2, 2, 2, 2, 4]],
    "one for both": [[1, 1, 1, 2, 2, 2, 2]],
}


def distinct(*shape, seed=0):
    """Different numbers, so that a step of `gradcheck` changes no winner."""
    count = torch.Size(shape).numel()
    made = torch.Generator().manual_seed(seed)
    return (
        torch.randperm(count, generator=made).double().reshape(shape) / 5 - count / 10.7
    ).requires_grad_()


def source(index):
    return distinct(2, 7, 3) if torch.as_tensor(index).dim() == 2 else distinct(7, 3)


def rows(src, pointers):
    """The elements of each row, batch by batch: Python's own slices."""
    if pointers.dim() == 1:
        src, pointers = src[None], pointers[None]
    pointers = pointers.expand(src.shape[0], -1)
    for batch in range(src.shape[0]):
        for n in range(pointers.shape[1] - 1):
            yield batch, n, pointers[batch, n], pointers[batch, n + 1], src[batch]


def naive_csr(src, pointers, reduce):
    functions = {
        "sum": lambda x: x.sum(0),
        "mean": lambda x: x.mean(0),
        "min": lambda x: x.amin(0),
        "max": lambda x: x.amax(0),
    }
    shape = list(src.shape)
    shape[pointers.dim() - 1] = pointers.shape[-1] - 1
    found = [
        functions[reduce](x[a:b]) if a < b else x[:0].sum(0)
        for _, _, a, b, x in rows(src, pointers)
    ]
    return torch.stack(found).reshape(shape) if found else src.new_zeros(shape)


def same_derivatives(f, naive, *inputs):
    """Values, Jacobians and Hessians of both are the same."""
    assert torch.allclose(f(*inputs), naive(*inputs))
    weights = torch.randn_like(naive(*inputs))
    first = [
        torch.autograd.grad(g(*inputs), inputs, weights, create_graph=True) for g in (f, naive)
    ]
    for a, b in zip(*first, strict=True):
        assert torch.allclose(a, b)


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("pointers", POINTERS)
def test_segment_csr(pointers, reduce):
    indptr = torch.tensor(POINTERS[pointers])
    src = source(indptr)

    def f(src):
        return seg.segment_csr(src, indptr, reduce=reduce)

    if indptr.shape[-1] > 1:
        same_derivatives(f, lambda src: naive_csr(src, indptr, reduce), src)
    assert gradcheck(f, (src,), check_forward_ad=True)
    assert gradgradcheck(f, (src,), check_fwd_over_rev=True)


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("name", INDICES)
def test_segment_coo(name, into, reduce):
    index = torch.tensor(INDICES[name])
    src = source(index)
    out = distinct(*src.shape[: index.dim() - 1], 5, 3, seed=1) * 0.9

    def f(src, out):
        return seg.segment_coo(
            src, index, out.clone() if into else None, None if into else 5, reduce
        )

    def naive(src, out):
        """Of the same elements by `scatter`, which is tested by itself."""
        whole = index.expand(src.shape[: index.dim()])
        target = out.clone() if into else None
        if into and reduce == "mean":
            counts = seg.scatter(torch.ones(whole.shape), whole, -1, None, 5).clamp(min=1)
            return seg.scatter(src, whole, index.dim() - 1, target, 5) / counts[..., None]
        return seg.scatter(src, whole, index.dim() - 1, target, None if into else 5, reduce)

    inputs = (src, out.detach().requires_grad_(into))
    assert torch.allclose(f(*inputs), naive(*inputs))
    assert gradcheck(f, inputs, check_forward_ad=True)
    assert gradgradcheck(f, inputs, check_fwd_over_rev=True)


# Without rows there is nothing to be compared.
@pytest.mark.parametrize("pointers", [p for p in POINTERS if p not in ("never", "none")])
@pytest.mark.parametrize("into", [False, True])
def test_gather_csr(pointers, into):
    indptr = torch.tensor(POINTERS[pointers])
    lead = (2,) if indptr.dim() == 2 else ()
    src = distinct(*lead, indptr.shape[-1] - 1, 3)
    # Without `out` the very last pointer is the size, which others may not exceed.
    size = 7 if into or indptr.max() == indptr.flatten()[-1] else None
    out = distinct(*lead, 7, 3, seed=1)

    def f(src, out):
        return seg.gather_csr(src, indptr, out.clone() if into else None)

    def naive(src, out):
        cells = out.clone() if into else src.new_zeros(*lead, indptr.flatten()[-1], 3)
        for batch, n, a, b, x in rows(src, indptr):
            if lead:
                cells[batch, a:b] = x[n]
            else:
                cells[a:b] = x[n]
        return cells

    inputs = (src, out.detach().requires_grad_(into))
    if size is None:
        with pytest.raises(RuntimeError, match="gather_csr: indptr"):
            f(*inputs)
        return
    assert torch.equal(f(*inputs), naive(*inputs))
    assert gradcheck(f, inputs, check_forward_ad=True)
    assert gradgradcheck(f, inputs, check_fwd_over_rev=True)


@pytest.mark.parametrize("name", ["vector", "batches"])
def test_gather_coo(name):
    index = torch.tensor(INDICES[name])
    src = distinct(2, 5, 3) if index.dim() == 2 else distinct(5, 3)
    out = torch.full((*index.shape, 3), 7.0, dtype=torch.float64)
    for target in (None, out):

        def f(src, target=target):
            return seg.gather_coo(src, index, None if target is None else target.clone())

        whole = index[..., None].expand(*index.shape, 3)
        assert torch.equal(f(src), src.gather(index.dim() - 1, whole))
        assert gradcheck(f, (src,), check_forward_ad=True)
        assert gradgradcheck(f, (src,), check_fwd_over_rev=True)


def test_an_element_that_wins_several_rows():
    src = torch.tensor([1.0, 9.0, 4.0, 2.0], requires_grad=True)
    out, arg = seg.segment_max_csr(src, torch.tensor([0, 3, 1, 4]))
    assert out.tolist() == [9, 0, 9] and arg.tolist() == [1, 4, 1]
    (found,) = torch.autograd.grad(out, src, torch.tensor([1.0, 10.0, 100.0]))
    assert found.tolist() == [0, 101, 0, 0]
    # Of equal elements the first has all of the gradient.
    ties = torch.tensor([2.0, 2.0], requires_grad=True)
    (found,) = torch.autograd.grad(seg.segment_csr(ties, torch.tensor([0, 2]), reduce="min"), ties)
    assert found.tolist() == [1, 0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
def test_other_dtypes(dtype, index_dtype):
    count = 4096
    src = torch.ones(count, dtype=dtype, requires_grad=True)
    for out in (
        seg.segment_coo(src, torch.zeros(count, dtype=index_dtype), reduce="mean"),
        seg.segment_csr(src, torch.tensor([0, count], dtype=index_dtype), reduce="mean"),
    ):
        assert out.dtype == dtype and out.tolist() == [1]
        (found,) = torch.autograd.grad(out, src)
        assert found.dtype == dtype and torch.equal(found, torch.full_like(src, 1 / count))
    cells = torch.ones(1, dtype=dtype, requires_grad=True)
    for out in (
        seg.gather_coo(cells, torch.zeros(count, dtype=index_dtype)),
        seg.gather_csr(cells, torch.tensor([0, count], dtype=index_dtype)),
    ):
        # In 16 bits such a sum would not get beyond 2048, or 256.
        assert torch.autograd.grad(out.sum(), cells)[0].tolist() == [count]


def test_complex_numbers():
    src = torch.randn(7, dtype=torch.complex128, requires_grad=True)
    index, indptr = torch.tensor(INDICES["vector"]), torch.tensor(POINTERS["overlap"])
    for f in (
        lambda src: seg.segment_mean_coo(src, index),
        lambda src: seg.segment_mean_csr(src, indptr),
        lambda src: seg.gather_csr(src[:3], torch.tensor([1, 5, 2, 6])),
    ):
        assert gradcheck(f, (src,), check_forward_ad=True)
        assert gradgradcheck(f, (src,))


def test_no_elements():
    index = torch.zeros(0, dtype=torch.int64)
    for shape in ((0,), (0, 3), (0, 0)):
        src = torch.zeros(shape, requires_grad=True)
        for reduce in REDUCES:
            out = seg.segment_coo(src, index, dim_size=2, reduce=reduce)
            assert (
                out.shape == (2, *shape[1:])
                and torch.autograd.grad(out.sum(), src)[0].shape == shape
            )
            out = seg.segment_csr(src, torch.tensor([0, 0]), reduce=reduce)
            assert (
                out.shape == (1, *shape[1:])
                and torch.autograd.grad(out.sum(), src)[0].shape == shape
            )
    src = torch.zeros(3, 0, requires_grad=True)
    for out in (
        seg.gather_coo(src, torch.tensor([0, 2])),
        seg.gather_csr(src, torch.tensor([0, 1, 1, 2])),
    ):
        assert torch.autograd.grad(out.sum(), src)[0].shape == (3, 0)


def test_out_is_returned_and_recorded():
    src = torch.tensor([1.0, 2.0, 5.0], requires_grad=True)
    out = torch.zeros(2)
    assert seg.segment_coo(src, torch.tensor([0, 1, 1]), out) is out and out.tolist() == [1, 7]
    assert torch.autograd.grad((out * torch.tensor([1.0, 10.0])).sum(), src)[0].tolist() == [
        1,
        10,
        10,
    ]
    out = torch.full((2,), 9.0)
    assert seg.segment_csr(src, torch.tensor([0, 1, 3]), out) is out and out.tolist() == [1, 7]
    assert torch.autograd.grad((out * torch.tensor([1.0, 10.0])).sum(), src)[0].tolist() == [
        1,
        10,
        10,
    ]
    out = torch.full((4,), 9.0)
    assert seg.gather_csr(src, torch.tensor([0, 1, 1, 3]), out) is out and out.tolist() == [
        1,
        5,
        5,
        9,
    ]
    assert torch.autograd.grad(out.sum(), src)[0].tolist() == [1, 0, 2]
    with pytest.raises(RuntimeError, match="segment_csr: out"):
        seg.segment_csr(src, torch.tensor([0, 1, 3]), torch.zeros(3))
    with pytest.raises(RuntimeError, match="segment_coo: index\\[1\\] = 0"):
        seg.segment_coo(src, torch.tensor([1, 0, 1]))


# Composites

FULL = [[0, 0, 1], [1, 0, 1], [0, 2, 2], [2, 0, 1], [0, 0, 2], [2, 2, 0], [1, 1, 1]]
GROUPS = {"vector": [2, 0, 0, 2, 1, 2, 0], "full": FULL}


def composite(name, **options):
    return lambda src, index: getattr(seg, f"scatter_{name}")(src, index, 0, **options)


COMPOSITES = {
    "softmax": composite("softmax", dim_size=4),
    "log_softmax": composite("log_softmax", dim_size=4),
    "log_softmax with a large eps": composite("log_softmax", dim_size=4, eps=0.5),
    "logsumexp": composite("logsumexp", dim_size=4),
    "logsumexp with a large eps": composite("logsumexp", dim_size=4, eps=0.5),
    "std": composite("std", dim_size=3),
    "std, biased": composite("std", dim_size=3, unbiased=False),
}


def naive_composite(name, src, index, size):
    """Group by group, column by column, by torch's own functions."""
    whole = index[:, None].expand(src.shape) if index.dim() == 1 else index
    eps = 0.5 if "large" in name else 1e-12
    found = (
        src.new_zeros(size, src.shape[1])
        if name.startswith(("std", "logsumexp"))
        else torch.zeros_like(src)
    )
    for n in range(size):
        for column in range(src.shape[1]):
            mine = whole[:, column] == n
            x = src[mine, column]
            if len(x) == 0:
                continue
            top = x.amax()
            powers = (x - top).exp()
            if name.startswith("softmax"):
                found[mine, column] = powers / powers.sum()
            elif name.startswith("log_softmax"):
                found[mine, column] = x - top - (powers.sum() + eps).log()
            elif name.startswith("logsumexp"):
                found[n, column] = (powers.sum() + eps).log() + top
            else:
                count = len(x) if "biased" in name else max(len(x) - 1, 1)
                found[n, column] = ((x - x.mean()).square().sum() / (count + 1e-6)).sqrt()
    return found


@pytest.mark.parametrize("shape", GROUPS)
@pytest.mark.parametrize("name", COMPOSITES)
def test_composites(name, shape):
    index = torch.tensor(GROUPS[shape] if "std" not in name else [0, 1, 1, 0, 2, 0, 2])
    src = distinct(7, 3)
    size = 3 if "std" in name else 4

    def f(src):
        return COMPOSITES[name](src, index)

    same_derivatives(f, lambda src: naive_composite(name, src, index, size), src)
    assert gradcheck(f, (src,), check_forward_ad=True)
    assert gradgradcheck(f, (src,), check_fwd_over_rev=True)


def test_logsumexp_goes_on_from_out():
    src, out = distinct(6), distinct(3, seed=1)
    index = torch.tensor([0, 0, 1, 1, 0, 1])

    def f(src, out):
        return seg.scatter_logsumexp(src, index, out=out.clone(), eps=0.25)

    with torch.no_grad():
        whole = [torch.cat([out[:1], src[index == 0]]), torch.cat([out[1:2], src[index == 1]])]
        tops = [src[index == 0].amax(), src[index == 1].amax()]
        expected = [
            (x.exp().sum() + 0.25 * top.exp()).log() for x, top in zip(whole, tops, strict=True)
        ]
        assert torch.allclose(f(src, out)[:2], torch.stack(expected)) and f(src, out)[2] == out[2]
    assert gradcheck(f, (src, out), check_forward_ad=True)
    assert gradgradcheck(f, (src, out), check_fwd_over_rev=True)


def test_std_goes_on_from_out():
    src, out = distinct(6), torch.tensor([0.5, 2.0, 1.5], dtype=torch.float64, requires_grad=True)
    index = torch.tensor([0, 0, 1, 1, 0, 1])

    def f(src, out):
        return seg.scatter_std(src, index, out=out.clone())

    assert gradcheck(f, (src, out), check_forward_ad=True)
    assert gradgradcheck(f, (src, out), check_fwd_over_rev=True)


def test_groups_without_a_number():
    inf = torch.inf
    src = torch.tensor([1.0, -inf, -inf, -inf, 3.0], requires_grad=True)
    index = torch.tensor([0, 0, 2, 2, 3])
    out = seg.scatter_logsumexp(src, index, dim_size=5)
    assert out.tolist() == [1, 0, 0, 3, 0]
    assert torch.autograd.grad(out.sum(), src)[0].tolist() == [1, 0, 0, 0, 1]
    out = seg.scatter_softmax(src, index)
    assert out[:2].tolist() == [1, 0] and out[2:4].isnan().all() and out[4] == 1
    found = torch.autograd.grad(out[[0, 1, 4]].sum(), src)[0]
    assert found[[0, 1, 4]].tolist() == [0, 0, 0]
    out = seg.scatter_log_softmax(src, index)
    assert out[:2].tolist() == [0, -inf] and out[2:4].tolist() == [-inf, -inf] and out[4] == 0
    with pytest.raises(ValueError, match="scatter_softmax"):
        seg.scatter_softmax(torch.tensor([1, 2]), torch.tensor([0, 0]))


def test_a_deviation_of_zero_has_the_derivative_zero():
    src = torch.tensor([4.0, 1.0, 3.0, 5.0, 5.0], dtype=torch.float64, requires_grad=True)
    out = seg.scatter_std(src, torch.tensor([0, 1, 1, 3, 3]))
    assert torch.allclose(out, torch.tensor([0, 2**0.5, 0, 0], dtype=torch.float64), atol=1e-6)
    (found,) = torch.autograd.grad(out.sum(), src, create_graph=True)
    assert found[[0, 3, 4]].tolist() == [0, 0, 0] and torch.allclose(found[1], -found[2])
    (second,) = torch.autograd.grad(found.square().sum(), src)
    assert second.isfinite().all()


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp", "std"])
def test_composites_of_16_bits_are_rounded_once(name):
    src = torch.randn(1000, generator=torch.Generator().manual_seed(3)).half()
    index = torch.arange(1000) % 3
    f = getattr(seg, f"scatter_{name}")
    short, wide = src.clone().requires_grad_(), src.float().requires_grad_()
    found, expected = f(short, index), f(wide, index)
    assert found.dtype == torch.float16 and torch.equal(found, expected.half())
    grad = torch.randn_like(expected).half()
    (a,) = torch.autograd.grad(found, short, grad)
    (b,) = torch.autograd.grad(expected, wide, grad.float())
    assert a.dtype == torch.float16 and torch.allclose(a.float(), b, rtol=2e-3, atol=2e-3)


# What torch has to know of.

_index, _indptr = torch.tensor(INDICES["vector"]), torch.tensor(POINTERS["overlap"])
_groups = torch.tensor(GROUPS["vector"])
OPERATORS = {
    "segment_coo": lambda x: (x, _index, None, 5, "mean"),
    "segment_coo, out": lambda x: (x, _index, distinct(5, 3, seed=1), None, "sum"),
    "segment_coo_extreme": lambda x: (x, _index, None, 5, "max"),
    "segment_coo_extreme, out": lambda x: (x, _index, distinct(5, 3, seed=1), None, "min"),
    "segment_csr": lambda x: (x, _indptr, None, "mean"),
    "segment_csr, out": lambda x: (x, _indptr, distinct(5, 3, seed=1), "sum"),
    "segment_csr_extreme": lambda x: (x, _indptr, None, "min"),
    "gather_coo": lambda x: (x, _index, None),
    "gather_csr": lambda x: (x[:5], _indptr, None, 9),
    "gather_csr, out": lambda x: (x[:5], _indptr, distinct(9, 3, seed=1), None),
    "gather_csr_backward": lambda x: (x, _indptr),
    "spread_csr": lambda x: (x[:5], _indptr, 7),
    "scatter_softmax": lambda x: (x, _groups, 0, 3),
    "scatter_log_softmax": lambda x: (x, _groups, 0, 1e-12, 3),
    "scatter_logsumexp": lambda x: (x, _groups, 0, None, 3, 1e-12),
    "scatter_logsumexp, out": lambda x: (x, _groups, 0, distinct(3, 3, seed=1), None, 0.5),
    "scatter_std": lambda x: (x, _groups, 0, None, 3, True),
}


def operator(name):
    name = name.partition(",")[0]
    module = (
        registered.torch_scatter.composites
        if name.startswith("scatter")
        else registered.torch_scatter.segments
    )
    return getattr(module, name)


@pytest.mark.parametrize("name", OPERATORS)
def test_opcheck(name):
    torch.library.opcheck(operator(name).overload, OPERATORS[name](distinct(7, 3)))


@pytest.mark.parametrize("name", OPERATORS)
def test_transforms(name):
    """One sample at a time, by `vmap`; both ways of `torch.func` to a Jacobian."""
    arguments = OPERATORS[name](distinct(7, 3).detach())
    arguments = [a.detach() if isinstance(a, torch.Tensor) else a for a in arguments]
    run = operator(name)

    def values(*found):
        found = run(*found)
        return found[0] if isinstance(found, tuple) else found

    src, *rest = arguments
    several = torch.stack([src, src.flip(0), -src])
    found = torch.func.vmap(lambda src: values(src, *rest))(several)
    assert torch.allclose(
        found, torch.stack([values(one, *rest) for one in several]), equal_nan=True
    )
    places = torch.stack([rest[0], rest[0]])
    found = torch.func.vmap(lambda place: values(src, place, *rest[1:]))(places)
    assert torch.allclose(found, torch.stack([values(src, *rest)] * 2), equal_nan=True)
    jacobian = torch.func.jacrev(lambda src: values(src, *rest))(src)
    assert torch.allclose(jacobian, torch.func.jacfwd(lambda src: values(src, *rest))(src))
    live = src.clone().requires_grad_()
    out = values(live, *rest)
    weights = torch.randn_like(out)
    (expected,) = torch.autograd.grad(out, live, weights)
    whole = (jacobian * weights.reshape(*weights.shape, *[1] * src.dim())).sum(
        tuple(range(weights.dim()))
    )
    assert torch.allclose(whole, expected)


def test_vmap_wants_sizes():
    src, places = torch.randn(2, 7), torch.stack([_index, _index])
    with pytest.raises(ValueError, match="out or the size of the result is needed"):
        torch.func.vmap(seg.segment_coo)(src, places)
    with pytest.raises(ValueError, match="out or the size of the result is needed"):
        torch.func.vmap(seg.gather_csr)(torch.randn(2, 5), torch.stack([_indptr, _indptr]))


PUBLIC = {
    "segment_coo": lambda x: seg.segment_coo(x, _index, dim_size=5, reduce="mean"),
    "segment_max_coo": lambda x: seg.segment_max_coo(x, _index, dim_size=5)[0],
    "segment_csr": lambda x: seg.segment_csr(x, _indptr, reduce="sum"),
    "segment_min_csr": lambda x: seg.segment_min_csr(x, _indptr)[0],
    "gather_coo": lambda x: seg.gather_coo(x, _index),
    "gather_csr": lambda x: seg.gather_csr(x[:5], _indptr, torch.zeros(9, 3, dtype=x.dtype)),
    "scatter_softmax": lambda x: seg.scatter_softmax(x, _groups, 0, 3),
    "scatter_log_softmax": lambda x: seg.scatter_log_softmax(x, _groups, 0, dim_size=3),
    "scatter_logsumexp": lambda x: seg.scatter_logsumexp(x, _groups, 0, dim_size=3),
    "scatter_std": lambda x: seg.scatter_std(x, _groups, 0, dim_size=3),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_compiled(name):
    f = PUBLIC[name]
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    src = distinct(7, 3)
    expected, found = f(src), compiled(src)
    assert torch.equal(expected, found)
    of = [torch.autograd.grad(out.square().sum(), src)[0] for out in (expected, found)]
    assert torch.allclose(*of)


@pytest.mark.parametrize("name", PUBLIC)
def test_tangents_are_values(name):
    src = distinct(7, 3).detach()
    tangent = torch.randn_like(src)
    with forward_ad.dual_level():
        out = PUBLIC[name](forward_ad.make_dual(src, tangent))
        found = forward_ad.unpack_dual(out).tangent
    live = src.clone().requires_grad_()
    jacobian = torch.autograd.functional.jacobian(PUBLIC[name], live)
    assert torch.allclose(found, (jacobian * tangent).sum((-2, -1))) and found.abs().sum() > 0


def test_torch_script():
    def segments(src: torch.Tensor, index: torch.Tensor, indptr: torch.Tensor):
        total = strew.torch_scatter.segment_coo(src, index, dim_size=4, reduce="mean")
        most, where = strew.torch_scatter.segment_max_csr(src, indptr)
        least = strew.torch_scatter.segment_min_coo(src, index, out=torch.zeros(4))[0]
        rows = strew.torch_scatter.gather_coo(total, index) + strew.torch_scatter.gather_csr(
            most, indptr
        )
        return total, most, where, least, rows, strew.torch_scatter.segment_add_csr(src, indptr)

    def composites(src: torch.Tensor, index: torch.Tensor, indptr: torch.Tensor):
        weights = strew.torch_scatter.scatter_softmax(src, index)
        logs = strew.torch_scatter.scatter_log_softmax(src, index, dim=0, eps=1e-9)
        sums = strew.torch_scatter.scatter_logsumexp(src, index, dim_size=5)
        return weights, logs, sums, strew.torch_scatter.scatter_std(src, index, unbiased=False)

    src, index = torch.tensor([1.0, 3.0, 4.0, 9.0]), torch.tensor([0, 0, 3, 3])
    for f in (segments, composites):
        arguments = (src, index, torch.tensor([0, 2, 2, 4]))
        for a, b in zip(f(*arguments), torch.jit.script(f)(*arguments), strict=True):
            assert torch.equal(a, b)


@pytest.mark.parametrize("name", seg.__all__)
def test_torch_script_of_a_function_itself(name):
    src = torch.tensor([1.0, 3.0, 4.0, 9.0])
    index = torch.tensor([0, 1, 1, 4] if name.endswith("csr") else [0, 0, 3, 3])
    src = src[:3] if name == "gather_csr" else src
    function = getattr(seg, name)
    compiled = torch.jit.script(function)
    found, expected = compiled(src, index), function(src, index)
    for a, b in (
        zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    ):
        assert torch.equal(a, b)
    torch.jit.script(function)


@pytest.mark.parametrize("name", PUBLIC)
def test_second_derivatives_of_torch_func(name):
    src = distinct(7, 3).detach()

    def f(src):
        return PUBLIC[name](src).pow(3).sum()

    expected = torch.autograd.functional.hessian(f, src)
    assert expected.abs().sum() > 0
    for found in (
        torch.func.hessian(f)(src),
        torch.func.jacrev(torch.func.jacrev(f))(src),
        torch.func.jacrev(torch.func.jacfwd(f))(src),
    ):
        assert torch.allclose(found, expected)


def test_softmax_needs_no_size_for_a_jacobian():
    src = distinct(7).detach()
    jacobian = torch.func.jacrev(lambda src: seg.scatter_softmax(src, _groups))(src)
    assert torch.allclose(
        jacobian, torch.func.jacfwd(lambda src: seg.scatter_softmax(src, _groups))(src)
    )


PAIRS = torch.tensor([0, 1, 1, 0])


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("scatter_std", lambda src: strew.torch_scatter.scatter_std(src, PAIRS, 0, None, 2)),
        (
            "scatter_logsumexp",
            lambda src: strew.torch_scatter.scatter_logsumexp(src, PAIRS, 0, None, 2),
        ),
        ("scatter_softmax", lambda src: strew.torch_scatter.scatter_softmax(src, PAIRS, 0, 2)),
        (
            "scatter_log_softmax",
            lambda src: strew.torch_scatter.scatter_log_softmax(src, PAIRS, 0, dim_size=2),
        ),
    ],
)
def test_forward_mode_of_forward_mode_is_refused(name, run):
    src = torch.tensor([1.0, 2.0, 4.0, 7.0])
    with pytest.raises(NotImplementedError, match=f"torch_scatter.{name}: "):
        torch.func.jacfwd(torch.func.jacfwd(run))(src)


def test_forward_mode_of_forward_mode_of_a_product():
    src = torch.tensor([1.0, 2.0, 4.0, 7.0])

    def run(src):
        return strew.torch_scatter.scatter_mul(src, PAIRS, 0, None, 2).pow(2).sum()

    found = torch.func.jacfwd(torch.func.jacfwd(run))(src)
    torch.testing.assert_close(found, torch.func.hessian(run)(src))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.complex128])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_small_gradients_of_sums_are_those_of_large_ones(dim, dtype, monkeypatch):
    from strew._torch.torch_scatter import scatter

    src = torch.randn(9, 9, 9).to(dtype).requires_grad_()
    index = torch.randint(0, 5, (9,), dtype=torch.int32)
    found = strew.torch_scatter.scatter_sum(src, index, dim, dim_size=7)
    weights = torch.randn_like(found)
    small = torch.autograd.grad(found, src, weights, retain_graph=True)[0]
    # A batch of gradients, and those that are differentiated again.
    batch = torch.stack([weights, weights * 2])
    many = torch.autograd.grad(found, src, batch, retain_graph=True, is_grads_batched=True)[0]
    again = torch.autograd.grad(found, src, weights, create_graph=True)[0]
    monkeypatch.setattr(scatter, "_SMALL", 0)
    large = torch.autograd.grad(found, src, weights)[0]
    assert torch.equal(small, large) and torch.equal(again, large)
    assert torch.equal(many, torch.stack([large, large * 2]))
