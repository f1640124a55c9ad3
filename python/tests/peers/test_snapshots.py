"""What backward needs is what forward saw, whatever becomes of an argument in between."""

import numpy as np
import pandas as pd
import pytest
import strew
import torch

S = strew.torch
TS = strew.torch_scatter
PYG = strew.pyg_lib


def leaf(*shape, seed=0):
    torch.manual_seed(seed)
    return (torch.rand(*shape, dtype=torch.float64) + 0.5).requires_grad_()


def numbers(*values, dtype=np.int64):
    return np.array(values, dtype)


# A function of a tensor and of arrays of NumPy, and what these are before and after the call.
INDEX = (numbers(0, 1, 1), numbers(0, 0, 1))
PLACES = (numbers(0, 1, 1), numbers(2, 0, 0))
FACTORS = (np.array([2.0, 3.0, 5.0]), np.array([7.0, 1.0, 1.0]))
MASK = (np.array([True, False, True]), np.array([False, True, True]))
POINTERS = (numbers(0, 1, 3), numbers(0, 2, 3))
CALLS = {
    "scatter": (lambda x, i: strew.scatter(x, i, size=2), INDEX),
    "scatter prod": (lambda x, i: strew.scatter(x, i, size=2, reduce="prod"), INDEX),
    "scatter median": (lambda x, i: strew.scatter(x, i, size=2, reduce="median"), INDEX),
    "scatter out": (lambda x, i: strew.scatter(x, i, out=torch.zeros(2).double()), INDEX),
    "scatter values": (
        lambda x, f: strew.scatter(f, [0, 1, 1], out=x[:2].clone(), reduce="prod"),
        FACTORS,
    ),
    "scatter keys": (lambda x, i: strew.scatter(x, (i, [0, 1, 0]), size=(2, 2)), INDEX),
    "scatter drop": (lambda x, i: strew.scatter(x, i, size=1, mode="drop"), INDEX),
    "scatter all axes": (lambda x, i: strew.scatter(x, i, dim=None, size=2), INDEX),
    "gather": (lambda x, i: strew.gather(x, i), INDEX),
    "gather all axes": (lambda x, i: strew.gather(x, i, dim=None), INDEX),
    "aggregate": (lambda x, i: strew.aggregate(x, i, ["sum", "std"], size=2)[1], INDEX),
    "aggregate keys": (lambda x, i: strew.aggregate(x, (i, [0, 1, 0]), "sum"), INDEX),
    "aggregate by": (lambda x, i: strew.aggregate(x, by=i, reduce="mean").values, INDEX),
    "aggregate quantile": (
        lambda x, q: strew.aggregate(x, [0, 0, 0], "quantile", q=q),
        (np.array([0.25, 0.5]), np.array([0.0, 1.0])),
    ),
    "Plan": (lambda x, i: strew.Plan(i, 2).scatter(x, "prod"), INDEX),
    "Plan out": (
        lambda x, f: strew.Plan([0, 1, 1]).scatter(f, "prod", out=x[:2].clone()),
        FACTORS,
    ),
    "Plan gather": (lambda x, i: strew.Plan(i, 3).gather(x), INDEX),
    "torch.scatter": (lambda x, i: S.scatter(torch.zeros(2).double(), 0, i, x), INDEX),
    "torch.scatter value": (lambda x, i: S.scatter(x, 0, i, 2.0), PLACES),
    "torch.scatter multiply": (
        lambda x, f: S.scatter(x, 0, [0, 1, 1], f, reduce="multiply"),
        FACTORS,
    ),
    "torch.scatter_": (lambda x, i: S.scatter_(torch.zeros(2).double(), 0, i, x), INDEX),
    "torch.scatter_add": (lambda x, i: S.scatter_add(torch.zeros(2).double(), 0, i, x), INDEX),
    "torch.scatter_reduce": (
        lambda x, i: S.scatter_reduce(torch.ones(2).double(), 0, i, x, "prod"),
        INDEX,
    ),
    "torch.scatter_reduce_": (
        lambda x, i: S.scatter_reduce_(torch.ones(2).double(), 0, i, x, "sum"),
        INDEX,
    ),
    "torch.scatter_reduce src": (
        lambda x, f: S.scatter_reduce(x, 0, [0, 1, 1], f, "prod"),
        FACTORS,
    ),
    "torch.scatter_reduce mode": (
        lambda x, i: S.scatter_reduce(torch.ones(2).double(), 0, i, x, "amax", mode="clip"),
        INDEX,
    ),
    "torch.scatter_reduce_with_arg": (
        lambda x, i: S.scatter_reduce_with_arg(torch.ones(2).double(), 0, i, x, "amax")[0],
        INDEX,
    ),
    "torch.gather": (lambda x, i: S.gather(x, 0, i), INDEX),
    "torch.take_along_dim": (lambda x, i: S.take_along_dim(x, i, 0), INDEX),
    "torch.index_add": (lambda x, i: S.index_add(torch.zeros(2).double(), 0, i, x), INDEX),
    "torch.index_add number": (
        lambda x, i: S.index_add(torch.zeros(2).double(), 0, i, torch.ones(3).double(), alpha=x[0]),
        INDEX,
    ),
    "torch.index_copy": (lambda x, i: S.index_copy(torch.zeros(2).double(), 0, i, x), INDEX),
    "torch.index_fill": (lambda x, i: S.index_fill(x, 0, i, 2.0), PLACES),
    "torch.index_fill number": (
        lambda x, i: S.index_fill(torch.zeros(3).double(), 0, i[:1], x[0]),
        (numbers(0), numbers(1)),
    ),
    "torch.index_reduce": (
        lambda x, i: S.index_reduce(torch.ones(2).double(), 0, i, x, "prod"),
        INDEX,
    ),
    "torch.index_put": (
        lambda x, i: S.index_put(torch.zeros(2).double(), [i], x, accumulate=True),
        INDEX,
    ),
    "torch.put": (lambda x, i: S.put(torch.zeros(2).double(), i, x, accumulate=True), INDEX),
    "torch.masked_scatter": (lambda x, m: S.masked_scatter(torch.zeros(3).double(), m, x), MASK),
    "torch.segment_reduce": (
        lambda x, n: S.segment_reduce(x, "prod", lengths=n),
        (numbers(1, 2), numbers(2, 1)),
    ),
    "torch.segment_reduce offsets": (
        lambda x, n: S.segment_reduce(x, "sum", offsets=n),
        POINTERS,
    ),
    **{
        f"torch_scatter.{name}": (
            lambda x, i, name=name: getattr(TS, name)(x, i, dim_size=2),
            INDEX,
        )
        for name in "scatter scatter_sum scatter_mul scatter_mean scatter_std".split()
        + "scatter_logsumexp scatter_softmax scatter_log_softmax".split()
    },
    "torch_scatter.scatter_min": (lambda x, i: TS.scatter_min(x, i)[0], INDEX),
    "torch_scatter.scatter out": (
        lambda x, i: TS.scatter(x, i, out=torch.ones(2).double(), reduce="mul"),
        INDEX,
    ),
    "torch_scatter.scatter src": (
        lambda x, f: TS.scatter(f, [0, 1, 1], out=x[:2].clone(), reduce="mul"),
        FACTORS,
    ),
    "torch_scatter.segment_coo": (
        lambda x, i: TS.segment_coo(x, i, dim_size=2),
        (numbers(0, 1, 1), numbers(0, 0, 1)),
    ),
    "torch_scatter.segment_csr": (lambda x, p: TS.segment_csr(x, p), POINTERS),
    "torch_scatter.segment_max_csr": (lambda x, p: TS.segment_max_csr(x, p)[0], POINTERS),
    "torch_scatter.gather_coo": (lambda x, i: TS.gather_coo(x, i), INDEX),
    "torch_scatter.gather_csr": (lambda x, p: TS.gather_csr(x[:2], p), POINTERS),
    **{
        f"pyg_lib.{name}": (lambda x, i, name=name: getattr(PYG, name)(x, i), INDEX)
        for name in "scatter scatter_mul scatter_mean scatter_std scatter_logsumexp".split()
        + "scatter_softmax scatter_log_softmax gather_coo".split()
    },
    "pyg_lib.scatter_max": (lambda x, i: PYG.scatter_max(x, i)[0], INDEX),
    "pyg_lib.segment_coo": (
        lambda x, i: PYG.segment_coo(x, i),
        (numbers(0, 1, 1), numbers(0, 0, 1)),
    ),
    "pyg_lib.segment_csr": (lambda x, p: PYG.segment_csr(x, p), POINTERS),
    "pyg_lib.segment_sum_csr out": (
        lambda x, p: PYG.segment_sum_csr(x, p, torch.zeros(2).double()),
        POINTERS,
    ),
    "pyg_lib.segment_max_csr": (lambda x, p: PYG.segment_max_csr(x, p)[0], POINTERS),
    "pyg_lib.softmax_csr": (lambda x, p: PYG.softmax_csr(x, p), POINTERS),
    "pyg_lib.gather_csr": (lambda x, p: PYG.gather_csr(x[:2], p), POINTERS),
}


def gradients(call, argument, after=None):
    """First and second derivatives; the argument changes between forward and backward."""
    x = leaf(3)
    result = call(x, argument)
    weights = torch.arange(1.0, result.numel() + 1, dtype=torch.float64).reshape(result.shape)
    if after is not None:
        argument[...] = after
    (first,) = torch.autograd.grad((result * result * weights).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad((first**2).sum(), x)
    return first.detach(), second


@pytest.mark.parametrize("name", CALLS)
def test_numpy(name):
    call, (before, after) = CALLS[name]
    expected = gradients(call, before.copy())
    found = gradients(call, before.copy(), after)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
    if name != "aggregate quantile":
        # So the change would show.
        assert not torch.equal(gradients(call, after.copy())[0], expected[0])


@pytest.mark.parametrize("name", CALLS)
def test_torch(name):
    """A tensor has the same gradients, or torch says that it has changed."""
    call, (before, after) = CALLS[name]
    given = torch.from_numpy(before.copy())
    expected = gradients(call, before.copy())
    try:
        found = gradients(call, given, torch.from_numpy(after))
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
        return
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8"])
def test_one_buffer_that_a_loop_fills_again(dtype):
    source = torch.tensor([2.0, 3.0], requires_grad=True)
    weights, buffer, total = torch.tensor([10.0, 20.0]), np.zeros(2, dtype), 0
    for index in ([0, 1], [1, 0], [0, 0]):
        buffer[:] = index
        total = total + (strew.scatter(source, buffer, size=2) * weights).sum()
    total.backward()
    assert source.grad.tolist() == [40, 40]


def test_pandas():
    for kind in (pd.Series, lambda values: pd.Series(values).array, pd.Index):
        values = np.array([0, 1, 1])
        column = kind(values)
        memory = np.asarray(column)
        x = leaf(3)
        made = [strew.scatter(x, column), strew.gather(x, column), strew.aggregate(x, column)]
        expected = [torch.autograd.grad((y**2).sum(), x)[0] for y in made]
        made = [strew.scatter(x, column), strew.gather(x, column), strew.aggregate(x, column)]
        for shared in (values, memory):
            if shared.flags.writeable:
                shared[:] = [0, 0, 1]
        for y, gradient in zip(made, expected, strict=True):
            torch.testing.assert_close(torch.autograd.grad((y**2).sum(), x)[0], gradient)


def test_lists():
    x, index = leaf(3), [0, 1, 1]
    made = strew.scatter(x, index)
    index[:] = [0, 0, 1]
    made[0].backward()
    assert x.grad.tolist() == [1, 0, 0]


@pytest.mark.filterwarnings("ignore:`torch.jit.script`")
def test_forward_mode():
    x, index = leaf(3).detach(), numbers(0, 1, 1)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
        made = strew.scatter(dual, index, reduce="prod")
        index[:] = 0
        tangent = torch.autograd.forward_ad.unpack_dual(made).tangent
    torch.testing.assert_close(tangent, torch.stack([torch.ones(()).double(), x[1] + x[2]]))


def test_a_function_of_torch_func():
    x, index = leaf(3).detach(), numbers(0, 1, 1)
    with torch.no_grad():
        _, pull = torch.func.vjp(lambda x: strew.scatter(x, index, size=2), x)
        index[:] = [1, 0, 0]
        (gradient,) = pull(torch.tensor([10.0, 20.0]).double())
    assert gradient.tolist() == [10, 20, 20]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled(backend):
    def run(x, index, factors):
        summed = S.scatter_add(torch.zeros(2, dtype=torch.float64), 0, index, x)
        return S.scatter_reduce(summed, 0, index, factors, "prod")

    compiled = torch.compile(run, backend=backend, fullgraph=True)
    given = INDEX[0].copy(), FACTORS[0].copy()
    x, y = leaf(3), leaf(3)
    run(x, *given).square().sum().backward()
    made = compiled(y, *given).square().sum()
    given[0][:], given[1][:] = INDEX[1], FACTORS[1]
    made.backward()
    torch.testing.assert_close(y.grad, x.grad)


def test_nothing_is_copied_without_a_derivative():
    """Peak memory of a call with a large index."""

    source, index = torch.ones(10), np.zeros(4_000_000, np.int64)
    index_of = torch.as_tensor

    def copies(run):
        made = []
        torch.as_tensor = lambda *a, **k: made.append(index_of(*a, **k)) or made[-1]
        try:
            run()
        finally:
            torch.as_tensor = index_of
        return [one.data_ptr() for one in made]

    with torch.no_grad():
        held = copies(lambda: strew.gather(source.clone().requires_grad_(), index))
    assert held in ([], [index.ctypes.data])


def test_memory_that_torch_shares_with_numpy_is_torchs():
    """Torch does not see what NumPy writes into a tensor's memory, in its own functions too."""
    memory = numbers(0, 1, 1)
    index, x = torch.from_numpy(memory), leaf(3)
    ours = strew.scatter(x, index, size=2)
    theirs = torch.zeros(2).double().scatter_add(0, index, x)
    memory[:] = [1, 0, 0]
    weights = torch.tensor([10.0, 20.0]).double()
    found = [torch.autograd.grad((y * weights).sum(), x)[0] for y in (ours, theirs)]
    assert found[0].tolist() == found[1].tolist() == [20, 10, 10]
