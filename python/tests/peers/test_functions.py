"""`strew.torch` on tensors that the dispatcher has to know of: what the table's checks do not look
at. Needs torch.
"""

import cases
import numpy as np
import pytest
import strew
import torch
from strew._arrays.dispatch import torch_operators
from torch.autograd import gradcheck, gradgradcheck

# torch's own forward mode loads decompositions that it compiles in a way that it advises against.
pytestmark = pytest.mark.filterwarnings(
    "ignore:`torch.jit:FutureWarning",
    "ignore:`torch.jit:DeprecationWarning",
    "ignore:index_reduce:UserWarning",
)

st = strew.torch
DISTINCT = torch.tensor([[0, 2, 1, 0], [2, 0, 0, 1]])
ORDER = torch.tensor([2, 0, 1])
SLICES = cases.values(3, 4, seed=2)


def leaf(tensor):
    return tensor.detach().clone().requires_grad_()


# Both functions of the differentiable tensors, where PyTorch's gradient is right.
ALIKE = {
    "scatter": (lambda m, x, s: m.scatter(x, 0, DISTINCT, s), (cases.INPUT, cases.SRC[:2, :4])),
    "scatter of a number": (lambda m, x: m.scatter(x, 0, cases.INDEX, value=2.5), (cases.INPUT,)),
    "scatter_add": (
        lambda m, x, s: m.scatter_add(x, 0, cases.INDEX, s),
        (cases.INPUT, cases.SRC[:4, :4]),
    ),
    "gather": (lambda m, x: m.gather(x, 0, cases.INDEX), (cases.INPUT,)),
    "take_along_dim": (
        lambda m, x: m.take_along_dim(x, torch.tensor([[1, 3, 1]]), 1),
        (cases.INPUT,),
    ),
    "take_along_dim without dim": (lambda m, x: m.take_along_dim(x, cases.ROWS), (cases.INPUT,)),
    "index_add": (
        lambda m, x, s: m.index_add(x, 0, cases.ROWS, s, alpha=-1.5),
        (cases.INPUT, cases.SLICES),
    ),
    "index_reduce, prod": (
        lambda m, x, s: m.index_reduce(x, 0, cases.ROWS, s, "prod"),
        (cases.INPUT, cases.SLICES),
    ),
    "index_reduce, mean": (
        lambda m, x, s: m.index_reduce(x, 0, cases.ROWS, s, "mean", include_self=False),
        (cases.INPUT, cases.SLICES),
    ),
    "index_reduce, amax": (
        lambda m, x, s: m.index_reduce(x, 0, cases.ROWS, s, "amax"),
        (cases.INPUT, cases.SLICES),
    ),
    "index_copy": (lambda m, x, s: m.index_copy(x, 0, ORDER, s), (cases.INPUT, SLICES)),
    "index_fill": (
        lambda m, x, v: m.index_fill(x, 1, ORDER, v),
        (cases.INPUT, torch.tensor(2.5).double()),
    ),
    "put": (lambda m, x, s: m.put(x, torch.tensor([-1, 3, 0]), s), (cases.INPUT, cases.values(3))),
    "index_put": (
        lambda m, x, v: m_index_put(m, x, (ORDER[:, None], ORDER), v, False),
        (cases.INPUT, cases.values(3)),
    ),
    "index_put, adding": (
        lambda m, x, v: m_index_put(m, x, (cases.ROWS, cases.ROWS), v, True),
        (cases.INPUT, cases.values(4)),
    ),
    "index_put, apart": (
        lambda m, x, v: m_index_put(m, x, (ORDER, None, ORDER), v, False),
        (cases.values(3, 2, 4), cases.values(2, seed=3)),
    ),
    "masked_scatter": (
        lambda m, x, s: m.masked_scatter(x, cases.MASK, s),
        (cases.INPUT, cases.values(7)),
    ),
    "masked_scatter, wider": (
        lambda m, x, s: m.masked_scatter(x, cases.MASK, s),
        (cases.values(4), cases.values(7, seed=1)),
    ),
    "slice_scatter": (
        lambda m, x, s: m.slice_scatter(x, s, 1, 1, None, 2),
        (cases.INPUT, cases.values(3, 2)),
    ),
    "select_scatter": (
        lambda m, x, s: m.select_scatter(x, s, 0, -1),
        (cases.INPUT, cases.values(4)),
    ),
    "diagonal_scatter": (
        lambda m, x, s: m.diagonal_scatter(x, s, 1),
        (cases.INPUT, cases.values(3)),
    ),
    "diagonal_scatter of others": (
        lambda m, x, s: m.diagonal_scatter(x, s, -1, 2, -3),
        (cases.values(3, 2, 4), cases.values(2, 3)),
    ),
}


def m_index_put(module, input, indices, values, accumulate):
    if module is st or accumulate:
        return module.index_put(input, indices, values, accumulate)
    out = input.clone()
    out[tuple(slice(None) if index is None else index for index in indices)] = values
    return out


@pytest.mark.parametrize("name", ALIKE)
def test_gradients_are_torch_s(name):
    function, tensors = ALIKE[name]
    ours, theirs = [leaf(t) for t in tensors], [leaf(t) for t in tensors]
    found, expected = function(st, *ours), function(torch, *theirs)
    torch.testing.assert_close(found, expected)
    grad = torch.randn_like(expected)
    for a, b in zip(
        torch.autograd.grad(found, ours, grad),
        torch.autograd.grad(expected, theirs, grad),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


ASSIGNED = {
    "scatter": lambda x, s: st.scatter(x, 0, torch.tensor([1, 0, 1]), s),
    "index_copy": lambda x, s: st.index_copy(x, 0, torch.tensor([1, 0, 1]), s),
    "put": lambda x, s: st.put(x, torch.tensor([1, 0, -2]), s),
    "index_put": lambda x, s: st.index_put(x, (torch.tensor([1, 0, -2]),), s),
    "scatter_": lambda x, s: st.scatter_(x * 1, 0, torch.tensor([1, 0, 1]), s),
    "index_copy_": lambda x, s: st.index_copy_(x * 1, 0, torch.tensor([1, 0, 1]), s),
    "put_": lambda x, s: st.put_(x * 1, torch.tensor([1, 0, -2]), s),
    "index_put_": lambda x, s: st.index_put_(x * 1, (torch.tensor([1, 0, -2]),), s),
}


@pytest.mark.parametrize("name", ASSIGNED)
def test_only_the_update_that_stays_has_a_gradient(name):
    x, s = leaf(torch.ones(3)), leaf(torch.tensor([10.0, 20.0, 30.0]))
    out = ASSIGNED[name](x, s)
    assert out.tolist() == [20, 30, 1]
    of_x, of_s = torch.autograd.grad((out * torch.tensor([2.0, 3.0, 5.0])).sum(), (x, s))
    assert of_x.tolist() == [0, 0, 5] and of_s.tolist() == [0, 2, 3]
    # What is not chosen takes nothing, not even an infinite gradient times zero.
    of_x, of_s = torch.autograd.grad(ASSIGNED[name](x, s), (x, s), torch.full((3,), float("inf")))
    assert of_x.tolist() == [0, 0, float("inf")] and of_s.tolist() == [
        0,
        float("inf"),
        float("inf"),
    ]


def test_a_value_that_is_repeated_gets_the_sum_of_what_stays():
    x, v = leaf(torch.zeros(2, 3)), leaf(torch.tensor([[5.0], [7.0]]))
    # All three of a row go to one cell, of which the last stays: each value is read once.
    out = st.index_put(x, (torch.tensor([[0], [1]]), torch.tensor([1, 1, 1])), v)
    assert torch.autograd.grad(out.sum(), v)[0].tolist() == [[1], [1]]
    out = st.index_put(x, (torch.tensor([[0], [1]]), torch.tensor([1, 1, 1])), v, accumulate=True)
    assert torch.autograd.grad(out.sum(), v)[0].tolist() == [[3], [3]]


def test_numbers_that_are_tensors_have_derivatives():
    number = leaf(torch.tensor(2.0))
    x, index = torch.ones(4), torch.tensor([1, 3, 1])
    for out, expected in [
        (st.scatter(x, 0, index, value=number), 2),
        (st.scatter(x, 0, index, value=number, reduce="add"), 3),
        # 2 * 2 and 2, of which the derivative is 4 and 1.
        (st.scatter(x, 0, index, value=number, reduce="multiply"), 5),
        (st.index_fill(x, 0, torch.tensor([1, -1, 1]), number), 2),
        (st.index_fill(torch.tensor(1.0), 0, torch.tensor(0), number), 1),
        (st.index_add(x, 0, index, torch.tensor([1.0, 10.0, 100.0]), alpha=number), 111),
        (st.scatter_(x.clone(), 0, index, value=number), 2),
        (st.index_fill_(x.clone(), 0, index, number), 2),
        (st.index_add_(x.clone(), 0, index, torch.ones(3), alpha=number), 3),
    ]:
        assert torch.autograd.grad(out.sum(), number)[0] == expected


@pytest.mark.parametrize("zeros", [1, 2, 3])
def test_products_with_zeros(zeros):
    src = cases.SLICES.clone()
    src[:zeros] = 0
    input, src, index = leaf(cases.INPUT), leaf(src), torch.tensor([1, 1, 1, 0])
    for f in [
        lambda x, s: st.scatter(x, 0, index[:, None].expand(4, 4), s, reduce="multiply"),
        lambda x, s: st.index_reduce(x, 0, index, s, "prod"),
        lambda x, s: st.index_reduce(x, 0, index, s, "prod", include_self=False),
    ]:
        assert gradcheck(f, (input, src), check_forward_ad=True)
        assert gradgradcheck(f, (input, src), check_fwd_over_rev=True)


def test_ties_are_shared():
    x, s, index = (
        leaf(torch.tensor([4.0])),
        leaf(torch.tensor([4.0, 3.0, 4.0])),
        torch.zeros(3, dtype=torch.int64),
    )
    for own, of_x, of_s in [(True, [1 / 3], [1 / 3, 0, 1 / 3]), (False, [0], [0.5, 0, 0.5])]:
        out = st.index_reduce(x, 0, index, s, "amax", include_self=own)
        found = torch.autograd.grad(out.sum(), (x, s))
        torch.testing.assert_close(found, (torch.tensor(of_x).float(), torch.tensor(of_s)))


NONE = torch.zeros(0, dtype=torch.int64)
SHAPES = {
    "0-d scatter": (lambda x, s: st.scatter(x, 0, torch.tensor(0), s), ((), ())),
    "0-d and 1-d": (lambda x, s: st.scatter_add(x, -1, torch.tensor([0]), s), ((), (3,))),
    "0-d gather": (lambda x: st.gather(x, 0, torch.tensor([0, 0])), ((),)),
    "0-d take_along_dim": (lambda x: st.take_along_dim(x, torch.tensor(-1), 0), ((),)),
    "0-d index_add": (lambda x, s: st.index_add(x, 0, torch.tensor(0), s, alpha=3), ((), ())),
    "0-d index_reduce": (
        lambda x, s: st.index_reduce(x, 0, torch.tensor([0]), s, "prod"),
        ((), ()),
    ),
    "0-d index_copy": (lambda x, s: st.index_copy(x, 0, torch.tensor(0), s), ((), (1,))),
    "0-d source": (lambda x, s: st.index_copy(x, 0, torch.tensor([1]), s), ((3,), ())),
    "0-d index_fill": (lambda x: st.index_fill(x, 0, torch.tensor([0]), 1.0), ((),)),
    "0-d put": (lambda x, s: st.put(x, torch.tensor([0, -1]), s), ((), (2,))),
    "0-d index_put": (lambda x, s: st.index_put(x, (), s), ((), ())),
    "0-d masked_scatter": (lambda x, s: st.masked_scatter(x, torch.tensor(True), s), ((), (2,))),
    "no update": (lambda x, s: st.scatter(x, 0, NONE, s), ((2, 3), (2, 3))),
    "no update, added": (lambda x, s: st.scatter_add(x, 0, NONE, s), ((2, 3), (1,))),
    "nothing gathered": (lambda x: st.gather(x, 1, NONE.reshape(2, 0)), ((2, 3),)),
    "nothing gathered by floats": (
        lambda x: st.gather(x, 1, NONE.reshape(2, 0).float()),
        ((2, 3),),
    ),
    "gathered from a part": (lambda x: st.gather(x, -1, torch.tensor([[2, 2, 0, 2]])), ((2, 3),)),
    "no slice added": (lambda x, s: st.index_add(x, 1, NONE, s), ((2, 3), (2, 0))),
    "no slice copied": (lambda x, s: st.index_copy(x, 1, NONE, s), ((2, 3), (2, 0))),
    "no slice reduced": (lambda x, s: st.index_reduce(x, 1, NONE, s, "prod"), ((2, 3), (2, 0))),
    "nothing put": (lambda x, s: st.put(x, NONE, s), ((2, 3), (0,))),
    "nothing put into nothing": (lambda x, s: st.put(x, NONE, s, True), ((0, 3), (0,))),
    "no mask": (lambda x, s: st.masked_scatter(x, torch.zeros(2, 3).bool(), s), ((2, 3), (0,))),
    "an empty slice": (lambda x, s: st.slice_scatter(x, s, 0, 2, 1), ((3, 2), (0, 2))),
    "rows of nothing": (
        lambda x, s: st.index_copy(x, 0, torch.tensor([1, 1]), s),
        ((3, 0), (2, 0)),
    ),
    "every cell": (lambda x, s: st.index_put(x, (), s, True), ((2, 3), (3,))),
    "a third axis": (
        lambda x, s: st.index_copy(x, -2, torch.tensor([1, 1]), s),
        ((2, 3, 2), (2, 2, 2)),
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    function, shapes = SHAPES[name]
    tensors = [leaf(cases.values(*shape, seed=n)) for n, shape in enumerate(shapes)]
    assert gradcheck(function, tensors, check_forward_ad=True)
    assert gradgradcheck(function, tensors)
    for at, tensor in enumerate(tensors):
        samples = torch.stack([tensor.detach(), tensor.detach() * 2])
        given = [t.detach() for t in tensors]

        def one(sample, given=given, at=at):
            return function(*given[:at], sample, *given[at + 1 :])

        expected = torch.stack([one(sample) for sample in samples])
        assert torch.equal(torch.func.vmap(one)(samples), expected)


def test_strides():
    whole = cases.values(8, 6)
    input, src = leaf(whole), leaf(cases.values(8, 10, seed=1))

    def f(whole, src):
        part, from_there = whole.t()[1::2, ::3], src[::2].t()[2:]
        out = st.scatter(part, 0, cases.INDEX[:, :3], from_there)
        out = st.index_copy(out, 1, torch.tensor([1]), from_there[:3, 1:2])
        return st.index_put(
            out, (torch.tensor([0, 2]), torch.tensor([1, 1])), from_there[0, ::2], True
        )

    assert gradcheck(f, (input, src), check_forward_ad=True)
    assert gradgradcheck(f, (input, src))


def test_int32_indices():
    index = cases.INDEX.int()
    for f in [
        lambda x, s: st.scatter(x, 0, index, s),
        lambda x, s: st.scatter_add(x, 0, index, s),
        lambda x, s: st.index_add(x, 0, cases.ROWS.int(), s[:4, :4]),
        lambda x, s: st.index_reduce(x, 0, cases.ROWS.int(), s[:4, :4], "prod"),
        lambda x, s: st.index_put(x, (cases.ROWS.int(),), s[:4, :4], True),
        lambda x, s: st.gather(x, 0, index) * s[:4, :4],
    ]:
        assert gradcheck(f, (leaf(cases.INPUT), leaf(cases.SRC)), check_forward_ad=True)


def test_complex_numbers():
    made = torch.Generator().manual_seed(1)
    x, s = (torch.randn(n, generator=made, dtype=torch.complex128).requires_grad_() for n in (3, 4))
    index = torch.tensor([0, 2, 0, 0])
    for f in [
        lambda x, s: st.scatter(x, 0, index, s),
        lambda x, s: st.scatter(x, 0, index, s, reduce="multiply"),
        lambda x, s: st.scatter(x, 0, index, value=2 + 1j, reduce="multiply") * s.sum(),
        lambda x, s: st.index_add(x, 0, index, s, alpha=1 - 2j),
        lambda x, s: st.index_copy(x, 0, index, s),
        lambda x, s: st.put(x, index, s),
        lambda x, s: st.slice_scatter(x, s[:2], 0, 1),
    ]:
        assert gradcheck(f, (x, s), check_forward_ad=True)
        assert gradgradcheck(f, (x, s))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bit_floats(dtype):
    x, s = leaf(torch.zeros(2, dtype=dtype)), leaf(torch.ones(4096, dtype=dtype))
    index = torch.zeros(4096, dtype=torch.int64)
    out = st.index_add(x, 0, index, s, alpha=2)
    assert out[0] == 8192
    assert torch.autograd.grad(out.sum(), s)[0].unique().tolist() == [2]
    taken = st.gather(x, 0, index)
    assert torch.autograd.grad(taken.sum(), x)[0].tolist() == [4096, 0]


VALUES, CUBE = cases.values(9), cases.values(3, 2, 4)
BATCHES = torch.stack([cases.ROWS, cases.ROWS.flip(0), 2 - cases.ROWS])
BATCHED = {
    "scatter": lambda i: st.scatter(cases.INPUT, 0, i[:, None].expand(4, 4), cases.SLICES),
    "scatter of a number": lambda i: st.scatter(
        cases.INPUT, 0, i[:, None], value=3.5, reduce="multiply"
    ),
    "scatter_add": lambda i: st.scatter_add(cases.INPUT, 0, i[:, None], cases.SLICES),
    "gather": lambda i: st.gather(cases.INPUT, 0, i[:, None].expand(4, 4)),
    "take_along_dim": lambda i: st.take_along_dim(cases.INPUT, i[:, None] - 1, 0),
    "take_along_dim without dim": lambda i: st.take_along_dim(cases.INPUT, i),
    "index_add": lambda i: st.index_add(cases.INPUT, 0, i, cases.SLICES, alpha=2.0),
    "index_reduce": lambda i: st.index_reduce(cases.INPUT, 0, i, cases.SLICES, "mean"),
    "index_copy": lambda i: st.index_copy(cases.INPUT, -2, i, cases.SLICES),
    "index_copy of one": lambda i: st.index_copy(cases.INPUT, 1, i[0], cases.SLICES[:3, :1]),
    "index_fill": lambda i: st.index_fill(cases.INPUT, 1, i - 1, 2.5),
    "put": lambda i: st.put(cases.INPUT, i - 1, VALUES[:4]),
    "put, adding": lambda i: st.put(cases.INPUT, i - 1, VALUES[:4], True),
    "index_put": lambda i: st.index_put(cases.INPUT, (i - 1, cases.ROWS), VALUES[:4]),
    "index_put, adding": lambda i: st.index_put(cases.INPUT, (None, i), VALUES[:4], True),
    "index_put, apart": lambda i: st.index_put(CUBE, (i[0], None, i), VALUES[:2]),
    "masked_scatter": lambda i: st.masked_scatter(cases.INPUT[:, None], i > 1, VALUES),
}


@pytest.mark.parametrize("name", BATCHED)
def test_a_batch_of_indices(name):
    function = BATCHED[name]
    found = torch.func.vmap(function)(BATCHES)
    assert torch.equal(found, torch.stack([function(index) for index in BATCHES]))
    found = torch.func.vmap(function, in_dims=1)(BATCHES.t())
    assert torch.equal(found, torch.stack([function(index) for index in BATCHES]))


def test_transforms_within_transforms():
    samples, index = cases.values(2, 3, 4), torch.tensor([[0, 3, 3], [2, 1, 2]])

    def several(function):
        found = torch.func.vmap(torch.func.vmap(function, (0, None)))(samples, index)
        rows = [
            torch.stack([function(x, i) for x in row])
            for row, i in zip(samples, index, strict=True)
        ]
        assert torch.equal(found, torch.stack(rows))

    several(lambda x, i: st.index_add(x, 0, i, VALUES[:3]))
    several(lambda x, i: st.index_put(x, (i,), VALUES[:3]))
    several(lambda x, i: st.take_along_dim(x, i))
    several(lambda x, i: st.put_(x.clone(), i, VALUES[:3]))
    several(lambda x, i: st.scatter_reduce_(x.clone(), 0, i, VALUES[:3], "amax"))
    several(
        lambda x, i: torch.func.grad(lambda x: st.scatter_(x * 1, 0, i, VALUES).square().sum())(x)
    )
    several(lambda x, i: torch.func.hessian(lambda x: st.index_put(x, (i,), x[:3]).pow(3).sum())(x))


def test_a_gradient_when_the_transform_is_over():
    for function in (
        lambda x: st.gather(x, 0, cases.INDEX),
        lambda x: st.scatter(x, 0, cases.INDEX, cases.SRC, reduce="multiply"),
        lambda x: st.index_put(x, (cases.ROWS,), cases.SLICES),
        lambda x: st.put(x, cases.ROWS, VALUES[:4]),
    ):
        x = leaf(cases.INPUT)
        out, back = torch.func.vjp(function, cases.INPUT)
        torch.testing.assert_close(back(out)[0], torch.autograd.grad(function(x), x, out)[0])


def test_a_batch_does_not_reach_into_other_samples():
    rows = torch.zeros(2, 3)
    for index in [torch.tensor([3]), torch.tensor([-4])]:
        with pytest.raises((RuntimeError, IndexError), match="out of bounds"):
            torch.func.vmap(lambda x, index=index: st.put(x, index, torch.ones(1)))(rows)


def test_errors_are_those_of_arrays():
    x = cases.INPUT
    bad = torch.tensor([0, 9])
    for call in [
        lambda x: st.scatter(x, 0, torch.tensor([[9]]), x),
        lambda x: st.scatter(x, 0, torch.tensor([[0]])),
        lambda x: st.scatter(x, 0, torch.tensor([[0]]), x, value=1),
        lambda x: st.scatter(x, 0, torch.tensor([[0]]), x, reduce="divide"),
        lambda x: st.scatter_add(x, 7, torch.tensor([[0]]), x),
        lambda x: st.gather(x, 0, torch.tensor([0])),
        lambda x: st.index_add(x, 0, bad, x[:2]),
        lambda x: st.index_add(x[0], 0, bad, x[0, :2]),
        lambda x: st.index_reduce(x, 0, bad, x[:2], "sum"),
        lambda x: st.index_copy(x, 0, bad.int(), x[:2]),
        lambda x: st.index_fill(x, 0, bad, 1.0),
        lambda x: st.put(x, bad, x[0]),
        lambda x: st.index_put(x, (bad, bad, bad), x),
        lambda x: st.masked_scatter(x, cases.MASK, x[0]),
        lambda x: st.slice_scatter(x, x, 0, 1),
        lambda x: st.select_scatter(x, x[0], 0, 5),
    ]:
        with pytest.raises((RuntimeError, IndexError, TypeError)) as of_arrays:
            call(x)
        with pytest.raises(type(of_arrays.value)) as of_operators:
            call(leaf(x))
        assert str(of_operators.value) == str(of_arrays.value)


def test_a_slice_of_another_type():
    x, s = leaf(torch.zeros(3).double()), leaf(torch.ones(2))
    for out in (st.slice_scatter(x, s, 0, 1), st.select_scatter(x, s[0], 0, 1)):
        of_x, of_s = torch.autograd.grad(out.square().sum(), (x, s))
        assert of_x.dtype == torch.float64 and of_s.dtype == torch.float32 and of_s[0] == 2
    (tangent,) = torch.func.jvp(lambda s: st.slice_scatter(x, s, 0, 1), (s,), (torch.ones(2),))[1:]
    assert tangent.dtype == torch.float64 and tangent.tolist() == [0, 1, 1]
    out = st.slice_scatter(x, torch.ones(2, dtype=torch.int32), 0, 1)
    assert torch.autograd.grad(out.sum(), x)[0].tolist() == [1, 0, 0]


def test_in_place_on_a_view():
    whole = leaf(cases.values(4, 6))
    target = whole * 1
    part = target.t()[1:4]
    assert st.index_copy_(part, 0, torch.tensor([2]), torch.zeros(1, 4).double()) is part
    found = torch.autograd.grad(target.sum(), whole)[0]
    assert found[:, 3].tolist() == [0] * 4 and found.sum() == 20


def test_in_place_errors():
    x = leaf(torch.ones(3))
    with pytest.raises(RuntimeError, match="leaf Variable"):
        st.index_fill_(x, 0, torch.tensor([0]), 2.0)
    with pytest.raises(RuntimeError, match="does not record gradients"):
        st.put_(np.ones(3, np.float32), torch.tensor([0]), x[:1])
    assert x.tolist() == [1, 1, 1]
    with torch.no_grad():
        assert st.index_fill_(x, 0, torch.tensor([0]), 2.0).tolist() == [2, 1, 1]


def test_other_arrays_join_in():
    x = leaf(cases.INPUT)
    out = st.index_add(x, 0, [0, 2], np.ones((2, 4)), alpha=np.float64(2.0))
    assert torch.autograd.grad(out.sum(), x)[0].tolist() == [[1] * 4] * 3
    out = st.scatter_add(np.zeros((3, 4)), np.int64(0), cases.INDEX.numpy(), leaf(cases.SRC))
    assert isinstance(out, torch.Tensor) and out.requires_grad


def test_no_way_through_the_dispatcher_without_need():
    x = torch.ones(3)
    assert torch_operators(x, x, 1.5) is None and torch_operators(x) is None
    with torch.no_grad():
        assert torch_operators(x, x) is None
    assert (
        torch_operators(x, leaf(x)) is not None
        and torch_operators(np.ones(2), None, leaf(x)) is not None
    )


def test_second_derivatives_under_compile():
    x, s = leaf(cases.INPUT), leaf(cases.SLICES)

    def f(x, s):
        out = st.index_copy(x, 0, cases.ROWS, s)
        out = st.index_put(out, (cases.MASK,), s.reshape(-1)[:6], True)
        return st.masked_scatter(out, cases.MASK, s).square()

    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    for a, b in zip(
        *(torch.autograd.grad(g(x, s).sum(), (x, s)) for g in (f, compiled)), strict=True
    ):
        torch.testing.assert_close(a, b)


def test_in_place_under_compile():
    x, s = leaf(cases.INPUT), leaf(cases.SLICES)

    def f(x, s):
        target = x * 1
        st.index_copy_(target, 0, cases.ROWS, s)
        st.scatter_reduce_(target, 0, cases.INDEX, s, "prod")
        return st.put_(target, torch.tensor([3, 3]), s[0, :2], accumulate=True)

    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    assert torch.equal(f(x, s), compiled(x, s))
    for a, b in zip(
        *(torch.autograd.grad(g(x, s).sum(), (x, s)) for g in (f, compiled)), strict=True
    ):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("mode", ["wrap", "drop", "clip"])
def test_modes(mode):
    index = cases.INDEX * 2 - 3 if mode != "wrap" else cases.INDEX - 2
    arrays = [x.numpy() for x in (cases.INPUT, index, cases.SRC)]

    def f(input, src):
        return st.scatter_reduce(input, 0, index, src, "amax", mode=mode)

    expected = st.scatter_reduce(arrays[0], 0, *arrays[1:], "amax", mode=mode)
    for input in (cases.INPUT, leaf(cases.INPUT)):
        np.testing.assert_array_equal(f(input, cases.SRC).detach().numpy(), expected)
        target = input * 1
        assert st.scatter_reduce_(target, 0, index, cases.SRC, "amax", mode=mode) is target
        np.testing.assert_array_equal(target.detach().numpy(), expected)
    tensors = leaf(cases.INPUT), leaf(cases.SRC)
    assert gradcheck(f, tensors, check_forward_ad=True)
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(*tensors), f(*tensors))


def test_plans():
    index = torch.tensor([1, -1, 0, 1])
    plan, kept = strew.Plan(index, 3, mode="drop"), torch.tensor([0, 2, 3])
    for x, s in [(cases.INPUT, cases.SLICES), (leaf(cases.INPUT), leaf(cases.SLICES))]:
        found = st.scatter_reduce(x, 0, None, s, "prod", plan=plan)
        expected = st.scatter_reduce(x, 0, index[kept][:, None].expand(3, 4), s[kept], "prod")
        assert torch.equal(found, expected)
        assert torch.equal(
            st.scatter_add_(x * 1, 0, None, s, plan=plan), st.index_add(x, 0, index[kept], s[kept])
        )
    assert gradcheck(
        lambda x, s: st.scatter(x, 0, None, s, plan=plan), (leaf(cases.INPUT), leaf(cases.SLICES))
    )


def test_positions_of_extremes():
    arrays = [x.numpy() for x in (cases.INPUT, cases.INDEX, cases.SRC)]
    expected = st.scatter_reduce_with_arg(arrays[0], 0, *arrays[1:], "amin")
    x, s = leaf(cases.INPUT), leaf(cases.SRC)

    def f(x, s):
        return st.scatter_reduce_with_arg(x, 0, cases.INDEX, s, "amin")

    for run in (f, torch.compile(f, fullgraph=True, backend="aot_eager")):
        for a, b in zip(run(x, s), expected, strict=True):
            np.testing.assert_array_equal(a.detach().numpy(), b)
        assert torch.equal(
            torch.autograd.grad(run(x, s)[0].sum(), s)[0],
            torch.autograd.grad(f(x, s)[0].sum(), s)[0],
        )


def test_parts_that_numbers_name():
    """Random parts, beside torch's."""
    rng = torch.Generator().manual_seed(0)

    def some(low, high):
        return int(torch.randint(low, high, (), generator=rng))

    for _ in range(200):
        shape = [some(0, 5) for _ in range(some(2, 5))]
        x = torch.rand(shape, generator=rng)
        one, other = (int(k) for k in torch.randperm(len(shape), generator=rng)[:2])
        place = some(-6, 7), one - len(shape) * some(0, 2), other
        part = x.diagonal(*place)
        src = torch.rand(part.shape, generator=rng)
        for given, s in ((x, src), (x.double().mT.contiguous().mT, src)):
            found = st.diagonal_scatter(given, s, *place)
            assert torch.equal(found, torch.diagonal_scatter(given, s.to(given.dtype), *place))
        assert torch.equal(
            torch.from_numpy(st.diagonal_scatter(x.numpy(), src.numpy(), *place)),
            torch.diagonal_scatter(x, src, *place),
        )
        # Strides under which no two elements have one position.
        size = [some(0, 4) for _ in range(some(0, 4))]
        steps, step = [], some(1, 3)
        for n in size:
            steps.append(step)
            step *= max(n, 1) * some(1, 3)
        order = torch.randperm(len(size), generator=rng).tolist()
        size, steps = [size[k] for k in order], [steps[k] for k in order]
        x, offset = torch.rand(step + 7, generator=rng).reshape(1, -1), some(0, 4)
        src = torch.rand(size, generator=rng)
        expected = torch.as_strided_scatter(x, src, size, steps, offset)
        assert torch.equal(st.as_strided_scatter(x, src, size, steps, offset), expected)
        found = st.as_strided_scatter(x.numpy(), src.numpy(), size, steps, offset)
        assert torch.equal(torch.from_numpy(found), expected)


def test_the_gradient_of_strided_parts():
    """Torch's is wrong: its own gradcheck fails."""
    x, s = leaf(cases.INPUT), leaf(cases.values(2, 2))

    def parts(module):
        return lambda x, s: module.as_strided_scatter(x, s, (2, 2), (5, 2), 1)

    assert gradcheck(parts(st), (x, s)) and gradgradcheck(parts(st), (x, s))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gradcheck(parts(torch), (x, s))


def test_strided_parts_of_views_and_what_is_refused():
    whole, src = torch.arange(12.0), torch.tensor([-1.0, -2.0])
    x = whole[4:10]
    for offset in (None, 5):
        found = st.as_strided_scatter(x, src, (2,), (3,), offset)
        assert torch.equal(found, torch.as_strided_scatter(x, src, (2,), (3,), offset))
    for call, message in [
        (lambda m: m.as_strided_scatter(x, src, (2,), (3,), 13), "out of bounds"),
        (lambda m: m.as_strided_scatter(x, src, (2,), (-1,)), "Negative strides"),
        (lambda m: m.as_strided_scatter(x, src, (2,), (0,)), "single memory location"),
        (lambda m: m.as_strided_scatter(x, src, (2,), (1, 1)), "mismatch in length"),
        (lambda m: m.as_strided_scatter(x, src[0], (2,), (1,)), "expected src to have"),
        (lambda m: m.diagonal_scatter(x.reshape(2, 3), src, 0, 0, 0), "cannot be identical"),
        (lambda m: m.diagonal_scatter(x.reshape(2, 3), src[:1]), "expected src to have"),
    ]:
        for module in (st, torch):
            with pytest.raises(RuntimeError, match=message):
                call(module)
    for module in (st, torch):
        with pytest.raises(IndexError):
            module.diagonal_scatter(x, src)
    with pytest.raises(RuntimeError, match="contiguous"):
        st.as_strided_scatter(x.reshape(2, 3).t(), src, (2,), (1,))
    # Of several elements at one position the last one stays, and has the gradient.
    s = leaf(torch.arange(4.0).reshape(2, 2) + 1)
    out = st.as_strided_scatter(torch.zeros(3), s, (2, 2), (1, 1))
    assert out.tolist() == [1, 3, 4]
    assert torch.autograd.grad(out.sum(), s)[0].tolist() == [[1, 0], [1, 1]]


@pytest.mark.parametrize("view", ["conj", "neg"])
def test_lazy_views_are_taken_with_and_without_a_gradient(view):
    values = torch.randn(4, 4, dtype=torch.complex128)
    x = values.conj() if view == "conj" else values.conj().imag
    assert x.is_conj() or x.is_neg()
    plain, index = x.resolve_conj().resolve_neg(), torch.tensor([0, 2, 2, 1])
    wide = index.expand(4, 4)
    for run in (
        lambda m, x: m.index_add(torch.zeros_like(plain), 0, index, x),
        lambda m, x: m.gather(x, 0, wide),
        lambda m, x: m.scatter_add(x, 1, wide, x),
        lambda m, x: m.scatter_reduce(x, 1, wide, x, "prod"),
        lambda m, x: m.diagonal_scatter(x, x[0]),
        lambda m, x: m.masked_scatter(x, wide == 2, x),
    ):
        found, expected = run(st, x), run(torch, x)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(run(st, leaf(x)).detach(), expected)
    for own in (
        lambda x: strew.scatter(x, index, 0),
        lambda x: strew.gather(x, index, 0),
        lambda x: strew.aggregate(x, index, ["mean", "first"])[0],
        lambda x: strew.torch_scatter.scatter_mul(x, index, 0),
        lambda x: strew.Plan(index).scatter(x),
        lambda x: strew.aggregate(x, index, "sum", weights=np.arange(4.0)),
        lambda x: strew.numpy.add.at(plain.numpy().copy(), index, x),
    ):
        expected = own(plain)
        found = own(x)
        assert (found is None) == (expected is None)
        if found is not None:
            torch.testing.assert_close(found, expected)
    with pytest.raises(TypeError, match="conjugate or negative"):
        st.index_add_(x, 0, index, plain)
