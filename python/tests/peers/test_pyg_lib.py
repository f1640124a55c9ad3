"""`strew.pyg_lib` with torch: values and derivatives beside plain definitions. Needs torch.

What it shares with torch_scatter is tested there. These tests are of what is different, of every
function once, and of TorchScript.
"""

import itertools

import pytest
import strew
import torch
from torch.autograd import gradcheck, gradgradcheck

pytestmark = pytest.mark.filterwarnings(
    "ignore:`torch.jit:FutureWarning", "ignore:The .grad attribute:UserWarning"
)

pyg = strew.pyg_lib
NAN, INF = torch.nan, torch.inf

#: Rows of 7 elements that lie one behind the other, leave gaps, overlap, and descend.
POINTERS = {
    "all": [0, 2, 5, 5, 7],
    "gaps": [1, 3, 3, 6],
    "overlap": [0, 4, 2, 6, 1, 7],
    "batches": [[0, 2, 5, 5, 7], [3, 6, 1, 4, 4]],
    "one for both": [[2, 6, 3, 7]],
    "none": [3],
}
FOLDS = {"sum": lambda a, b: a + b, "min": torch.minimum, "max": torch.maximum}


def distinct(*shape, seed=0):
    """Different numbers, so that a step of `gradcheck` changes no winner."""
    count = torch.Size(shape).numel()
    made = torch.Generator().manual_seed(seed)
    order = torch.randperm(count, generator=made).double()
    return (order.reshape(shape) / 5 - count / 10.7).requires_grad_()


def source(pointers):
    return distinct(2, 7, 3) if pointers.dim() == 2 else distinct(7, 3)


def rows(src, pointers):
    """For each row its place and its elements."""
    if pointers.dim() == 1:
        pairs = zip(pointers[:-1].tolist(), pointers[1:].tolist())
        return [((n,), list(src[a:b])) for n, (a, b) in enumerate(pairs)]
    pointers = pointers.expand(src.shape[0], -1)
    return [
        ((batch, *place), elements)
        for batch in range(len(src))
        for place, elements in rows(src[batch], pointers[batch])
    ]


def row_shape(src, pointers):
    dim = pointers.dim() - 1
    return (*src.shape[:dim], pointers.shape[-1] - 1, *src.shape[dim + 1 :])


@pytest.mark.parametrize("name", POINTERS)
@pytest.mark.parametrize("reduce", FOLDS)
def test_segment_csr_continues_from_out(reduce, name):
    pointers = torch.tensor(POINTERS[name])
    src = source(pointers)
    out = (distinct(*row_shape(src, pointers), seed=1).detach() * 0.9).requires_grad_()

    def f(src, out):
        return pyg.segment_csr(src, pointers, out.clone(), reduce)

    def naive(src, out):
        found = out.clone()
        for place, elements in rows(src, pointers):
            for element in elements:
                found[place] = FOLDS[reduce](found[place].clone(), element)
        return found

    assert torch.equal(f(src, out), naive(src, out))
    if not out.numel():
        return
    weights = torch.randn(out.shape, dtype=torch.float64)
    for a, b in zip(*(torch.autograd.grad(g(src, out), (src, out), weights) for g in (f, naive))):
        assert torch.allclose(a, b)
    assert gradcheck(f, (src, out))
    assert gradgradcheck(f, (src, out))
    target = out.detach().clone()
    assert pyg.segment_csr(src.detach(), pointers, target, reduce) is target
    assert torch.equal(target, naive(src, out))


def test_positions_in_out():
    src, pointers = torch.tensor([4.0, 1.0, 5.0, 3.0]), torch.tensor([1, 3, 0, 2, 4])
    out = torch.tensor([9.0, 0.0, 2.0, 4.0])
    values, arg = pyg.segment_min_csr(src, pointers, out)
    assert values is out and out.tolist() == [1, 0, 1, 3]
    # The second row is empty, and 4 stands for no element.
    assert arg.tolist() == [1, 4, 1, 3]
    values, arg = pyg.segment_max_csr(src[:0], torch.tensor([0, 0]), torch.tensor([7.0]))
    assert values.tolist() == [7] and arg.tolist() == [0]


@pytest.mark.parametrize("extreme", ["min", "max"])
@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int64]
)
def test_segments_have_the_winners_of_scatters(dtype, extreme):
    index, pointers = torch.tensor([0, 1, 1, 2, 3, 3]), torch.tensor([0, 1, 3, 4, 6])
    info = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    src = torch.tensor([info.min, info.min, info.max, info.max, 3, 2], dtype=dtype)
    others = [src]
    if dtype.is_floating_point:
        others += [torch.tensor([INF, -INF, NAN, -INF, NAN, INF], dtype=dtype)]
    for values in others:
        found = [
            getattr(pyg, f"{family}_{extreme}{kind}")(values, where)
            for family, kind, where in [
                ("scatter", "", index),
                ("segment", "_coo", index),
                ("segment", "_csr", pointers),
            ]
        ]
        for one, other in itertools.product(found[:1], found[1:]):
            assert torch.equal(one[0], other[0]) and torch.equal(one[1], other[1])


def test_means():
    src, index = torch.tensor([[-3.0, 8.0], [-4.0, 2.0], [5.0, 1.0]]), torch.tensor([0, 0, 2])
    expected = torch.tensor([[-3.5, 5.0], [0.0, 0.0], [5.0, 1.0]])
    assert torch.equal(pyg.segment_mean_coo(src, index), expected)
    assert torch.equal(pyg.segment_mean_csr(src, torch.tensor([0, 2, 2, 3])), expected)
    for dtype in (torch.int8, torch.int64):
        found = pyg.segment_mean_coo(src.to(dtype), index)
        assert found.dtype == dtype and torch.equal(found, expected.floor().to(dtype))
        found = pyg.segment_mean_csr(src.to(dtype), torch.tensor([0, 2, 2, 3]))
        assert found.dtype == dtype and torch.equal(found, expected.floor().to(dtype))
        out = torch.full((3, 2), 7, dtype=dtype)
        assert pyg.segment_mean_csr(src.to(dtype), torch.tensor([0, 2, 2, 3]), out) is out
        assert torch.equal(out, expected.floor().to(dtype))
    out = torch.full((3, 2), 7.0)
    assert pyg.segment_mean_coo(src, index, out) is out
    expected[1] = 7
    assert torch.equal(out, expected)
    leaves = distinct(3, 2), distinct(3, 2, seed=1)
    assert gradcheck(lambda src, out: pyg.segment_mean_coo(src, index, out.clone()), leaves)
    # Counts do not wrap, and every axis may be expanded.
    many = torch.full((2, 300), 100, dtype=torch.int8)
    assert (
        pyg.segment_mean_coo(many % 3, torch.zeros(1, 300, dtype=torch.int64)).tolist() == [[0]] * 2
    )


def grouped(src, index, dim, size):
    """The elements of each group, along the first axis."""
    moved = src.movedim(dim, 0)
    return [moved[index == n] for n in range(size)]


COMPOSITES = {
    "scatter_std": lambda x: x.std(0) if len(x) > 1 else x.new_zeros(x.shape[1:]),
    "scatter_logsumexp": lambda x: x.logsumexp(0) if len(x) else x.new_zeros(x.shape[1:]),
}


@pytest.mark.parametrize("name", COMPOSITES)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_composites_of_groups(name, dim):
    src = distinct(6, 6, 6)
    index, f = torch.tensor([0, 2, 2, 0, 2, 4]), getattr(pyg, name)
    parts = [COMPOSITES[name](part) for part in grouped(src, index, dim, 6)]
    expected = torch.stack(parts).movedim(0, dim)
    found = f(src, index, dim, dim_size=6)
    assert torch.allclose(found, expected, atol=1e-11)
    weights = torch.randn_like(found)
    a, b = (torch.autograd.grad(one, src, weights)[0] for one in (found, expected))
    assert torch.allclose(a, b, atol=1e-9)
    whole = index.reshape([6 if k == dim % 3 else 1 for k in range(3)]).expand(6, 6, 6)
    assert torch.equal(f(src, whole, dim, dim_size=6), found)


def test_deviations():
    src, index = torch.tensor([1.0, 3.0, 4.0, NAN]), torch.tensor([2, 2, 0, 1])
    found = pyg.scatter_std(src, index, unbiased=False)
    assert found[[0, 2]].tolist() == [0, 1] and found[1].isnan()
    # A deviation of 0 has a derivative.
    leaf = torch.ones(4, requires_grad=True)
    pyg.scatter_std(leaf, index, dim_size=5).sum().backward()
    assert leaf.grad.tolist() == [0, 0, 0, 0]
    out = torch.tensor([0.0, 4.0, 2.0])
    assert pyg.scatter_std(src[:3], index[:3], out=out) is out
    assert torch.allclose(out, torch.tensor([0.0, 2.0, 2.0]))
    assert gradcheck(lambda x: pyg.scatter_std(x, index), (distinct(4),))
    half = torch.tensor([1000.0, 1001.0, 1003.0], dtype=torch.float16)
    zeros = torch.zeros(3, dtype=torch.int64)
    assert pyg.scatter_std(half, zeros) == half.float().std().half()
    for wrong in (torch.arange(3), torch.ones(3, dtype=torch.complex64)):
        with pytest.raises(ValueError, match=r"pyg_lib.scatter_std: src has dtype"):
            pyg.scatter_std(wrong, zeros)


def test_logsumexp_of_infinities_and_into_out():
    src = torch.tensor([INF, 1.0, -INF, NAN, 2.0, NAN], dtype=torch.float64)
    index = torch.tensor([0, 0, 1, 2, 3, 3])
    assert pyg.scatter_logsumexp(src, index, dim_size=5).round(decimals=9).tolist() == [
        0,
        0,
        0,
        2,
        0,
    ]
    out = torch.arange(5.0, dtype=torch.float64) - 9
    assert pyg.scatter_logsumexp(src, index, out=out) is out
    assert out.round(decimals=9).tolist() == [-9, -8, -7, 2, -5]
    leaves = distinct(6), distinct(5, seed=1)
    assert gradcheck(lambda x, out: pyg.scatter_logsumexp(x, index, 0, out.clone()), leaves)
    assert not pyg.scatter_softmax(distinct(6), index)[2:4].sum().item() - 2
    assert torch.equal(
        pyg.scatter_log_softmax(src[1:2], index[1:2], 0, 3, 0.5),
        -torch.tensor([1.5]).double().log(),
    )


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("ptr", [[0, 3, 3, 4, 7], [1, 2, 5], [7], [0, 7]])
def test_softmax_csr(ptr, dim):
    src, pointers = distinct(7, 7, 7), torch.tensor(ptr)

    def naive(src):
        found, moved = torch.zeros_like(src).movedim(dim, 0), src.movedim(dim, 0)
        parts = [moved[a:b].softmax(0) for a, b in itertools.pairwise(ptr)]
        return torch.cat([found[: ptr[0]], *parts, found[ptr[-1] :]]).movedim(0, dim)

    found, expected = pyg.softmax_csr(src, pointers, dim), naive(src)
    assert found.shape == src.shape and torch.allclose(found, expected)
    weights = torch.randn_like(src)
    if len(ptr) > 1:
        a, b = (
            torch.autograd.grad(one, src, weights, create_graph=True)[0]
            for one in (found, expected)
        )
        assert torch.allclose(a, b)
        a, b = (torch.autograd.grad(one.sum(), src, retain_graph=True)[0] for one in (a, b))
        assert torch.allclose(a, b)
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        small = src.detach().to(dtype)
        found = pyg.softmax_csr(small, pointers, dim)
        assert found.dtype == dtype and torch.equal(
            found, pyg.softmax_csr(small.float(), pointers, dim).to(dtype)
        )


def test_softmax_csr_of_one_element_and_none():
    src = torch.tensor([NAN, -INF, INF, 2.0], requires_grad=True)
    found = pyg.softmax_csr(src, torch.tensor([0, 1, 2, 3, 4], dtype=torch.int32))
    assert found.tolist() == [1, 1, 1, 1]
    assert pyg.softmax_csr(torch.zeros(2, 0, 3), torch.tensor([0, 0, 0]), 1).shape == (2, 0, 3)
    assert pyg.softmax_csr(torch.zeros(0), torch.tensor([0])).shape == (0,)


@pytest.mark.parametrize(
    "arguments, kind, said",
    [
        (([1.0, 2.0], [0, 3]), RuntimeError, r"ptr\[1\] = 3: it must be from 0 to 2"),
        (([1.0, 2.0], [0, 2, 1]), RuntimeError, r"ptr\[2\] = 1: it must be at least ptr\[1\] = 2"),
        (([1.0, 2.0], [[0, 2]]), RuntimeError, r"ptr has shape \[1, 2\]"),
        (([1.0, 2.0], [0.0, 2.0]), RuntimeError, r"ptr has dtype float32"),
        (([1, 2], [0, 2]), ValueError, r"src has dtype int64"),
        (([1.0, 2.0], [0, 2], 1), IndexError, r"dim = 1: it must be from -1 to 0"),
    ],
)
def test_errors_of_softmax_csr(arguments, kind, said):
    src, ptr, *rest = arguments
    with pytest.raises(kind, match=f"^pyg_lib.softmax_csr: {said}"):
        pyg.softmax_csr(torch.tensor(src), torch.tensor(ptr), *rest)


def test_errors_name_the_function_and_change_nothing():
    src, out = torch.ones(3), torch.zeros(2)
    for call, said in [
        (lambda: pyg.scatter_sum(src, [0, 1, 2], 0, out), r"scatter_sum: index\[2\] = 2"),
        (lambda: pyg.segment_sum_csr(src, [0, 2, 4], out), r"segment_sum_csr: indptr\[2\] = 4"),
        (lambda: pyg.segment_max_csr(src, [0, 3], out), r"segment_max_csr: out has shape \[2\]"),
        (lambda: pyg.segment_mean_coo(src, [1, 0, 0], out), r"segment_mean_coo: index\[1\] = 0"),
        (lambda: pyg.segment_sum_csr(src.int(), [0, 2, 3], out), r"segment_sum_csr: out has dtype"),
        (lambda: pyg.gather_coo(src, [5, 1], out), r"gather_coo: index\[0\] = 5"),
        (lambda: pyg.gather_coo(src[:, None], [[0], [1]], out), r"gather_coo: index has shape"),
        (lambda: pyg.scatter_logsumexp(src, [0, 0, 9], 0, out), r"scatter_logsumexp: index\[2\]"),
        (lambda: pyg.scatter_std(src, [0, 0, 9], 0, out), r"scatter_std: index\[2\] = 9"),
    ]:
        with pytest.raises(RuntimeError, match=f"^pyg_lib.{said}"):
            call()
        assert out.tolist() == [0, 0]


@pytest.mark.parametrize("batched", [False, True])
def test_gather_coo(batched):
    index = torch.tensor([[2, 0, 0], [1, 1, 2]]) if batched else torch.tensor([2, 0, 0, 1])
    src = distinct(2, 3, 2) if batched else distinct(3, 2)
    found = pyg.gather_coo(src, index)
    picked = [s[i] for s, i in zip(src, index)] if batched else [src[index]]
    assert torch.equal(found, torch.stack(picked) if batched else picked[0])
    assert gradcheck(lambda src: pyg.gather_coo(src, index), (src,))
    out = torch.empty_like(found)
    assert pyg.gather_coo(src.detach(), index, out) is out and torch.equal(out, found)


INDEX, PTR = torch.tensor([0, 0, 2]), torch.tensor([0, 2, 2, 3])
LAST = {name: PTR if name.endswith("_csr") else INDEX for name in pyg.__all__}


@pytest.mark.parametrize("name", sorted({getattr(pyg, name).__name__ for name in pyg.__all__}))
def test_every_function_in_torch_script(name):
    f, src = getattr(pyg, name), torch.tensor([0.5, 2.0, -1.0], requires_grad=True)
    expected, found = f(src, LAST[name]), torch.jit.script(f)(src, LAST[name])
    for a, b in zip(*(one if isinstance(one, tuple) else (one,) for one in (expected, found))):
        assert torch.equal(a, b)
        if a.is_floating_point():
            x, y = (torch.autograd.grad(one.sum(), src, retain_graph=True)[0] for one in (a, b))
            assert torch.equal(x, y)


@pytest.mark.parametrize("name", ["scatter_sum", "scatter_max", "segment_mean_coo", "scatter_std"])
def test_compiled(name):
    def f(src):
        found = getattr(pyg, name)(src, INDEX, dim_size=3)
        return (found[0] if isinstance(found, tuple) else found) * 2

    src = torch.tensor([0.5, 2.0, -1.0], requires_grad=True)
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    a, b = f(src), compiled(src)
    assert torch.equal(a, b)
    assert torch.equal(*(torch.autograd.grad(one.sum(), src)[0] for one in (a, b)))


def test_a_trace_has_the_operator():
    traced = torch.jit.trace(lambda x, i: pyg.scatter_sum(x, i, 0, None, 3), (torch.ones(3), INDEX))
    assert "strew::scatter" in str(traced.graph)
    assert traced(torch.tensor([1.0, 2.0, 4.0]), INDEX.flip(0)).tolist() == [6, 0, 1]
