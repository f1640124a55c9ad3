"""``torch.vmap`` over strew's own functions, with an index for each sample."""

import numpy as np
import pytest
import strew
import torch
from torch.func import grad, jacfwd, jacrev, jvp, vjp, vmap

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:FutureWarning")

SAMPLES, LENGTH, SIZE = 4, 6, 3
REDUCES = "sum mean prod min max assign exact_sum median std softmax cumsum argmax nunique".split()


def samples(*shape, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(SAMPLES, *shape, generator=generator, dtype=torch.float64) * 9 + 1).to(dtype)


def indices(*shape, low=0, high=SIZE, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(low, high, (SAMPLES, *shape), generator=generator)


def equal(found, expected):
    found = found if isinstance(found, tuple) else (found,)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12, equal_nan=True)


def one_by_one(run, *arrays, axes=None):
    """The results of one sample after the other."""
    axes = (0,) * len(arrays) if axes is None else axes
    count = next(a.shape[axis] for a, axis in zip(arrays, axes, strict=True) if axis is not None)
    made = [
        run(
            *(
                a if axis is None else a.select(axis, k)
                for a, axis in zip(arrays, axes, strict=True)
            )
        )
        for k in range(count)
    ]
    if isinstance(made[0], tuple):
        return tuple(map(torch.stack, zip(*made, strict=True)))
    return torch.stack(made)


def test_the_report():
    found = vmap(lambda v, i: strew.scatter(v, i, size=4))(
        torch.ones(2, 3), torch.tensor([[0, 1, 1], [3, 3, 0]])
    )
    assert found.tolist() == [[1, 2, 0, 0], [1, 0, 0, 2]]


@pytest.mark.parametrize("reduce", REDUCES)
def test_scatter(reduce):
    src, rows = samples(5, LENGTH), indices(LENGTH)
    for index in (rows, indices(5, LENGTH)):

        def run(src, index):
            return strew.scatter(src, index, 1, size=SIZE, reduce=reduce)

        equal(vmap(run)(src, index), one_by_one(run, src, index))
        for axes in [(None, 0), (0, None), (1, 0), (0, 1), (2, -1)]:
            given = [
                a[0] if axis is None else a.movedim(0, axis)
                for a, axis in zip((src, index), axes, strict=True)
            ]
            equal(vmap(run, axes)(*given), one_by_one(run, *given, axes=axes))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.bool, torch.complex64])
def test_dtypes(dtype):
    src, index = samples(LENGTH, dtype=dtype), indices(LENGTH)
    for reduce in ("sum", "prod", "mean", "assign"):

        def run(src, index, reduce=reduce):
            return strew.scatter(src, index, size=SIZE, reduce=reduce)

        found, expected = vmap(run)(src, index), one_by_one(run, src, index)
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=0, equal_nan=True)


@pytest.mark.parametrize("mode", ["error", "wrap", "drop", "clip"])
def test_modes(mode):
    low, high = {"error": (0, 3), "wrap": (-3, 3), "drop": (-5, 5), "clip": (-5, 5)}[mode]
    src, index = samples(LENGTH), indices(LENGTH, low=low, high=high)
    for options in ({}, {"ignore_index": 1}, {"fill_value": 7.0}):
        options |= {"mode": mode, "size": SIZE}
        for reduce in ("sum", "max", "median"):

            def run(src, index, reduce=reduce, options=options):
                return strew.scatter(src, index, reduce=reduce, **options)

            equal(vmap(run)(src, index), one_by_one(run, src, index))
        del options["size"]

        def pick(src, index, options=options):
            return strew.gather(src, index, **options)

        if mode == "drop" or "fill_value" not in options:
            equal(vmap(pick)(src[:, :SIZE], index), one_by_one(pick, src[:, :SIZE], index))


def test_gather():
    for src, index, dim in [
        (samples(5), indices(7, high=5), 0),
        (samples(5, 3), indices(7, high=5), 0),
        (samples(5, 3), indices(5, 2, high=3), 1),
        (samples(5, 3), indices(2, 2, high=15), None),
    ]:

        def run(src, index, dim=dim):
            return strew.gather(src, index, dim)

        equal(vmap(run)(src, index), one_by_one(run, src, index))
        equal(vmap(run, (None, 0))(src[0], index), one_by_one(run, src[0], index, axes=(None, 0)))


def test_all_axes_and_keys():
    src, index = samples(2, 3), indices(2, 3)

    def flat(src, index):
        return strew.scatter(src, index, dim=None, size=SIZE)

    equal(vmap(flat)(src, index), one_by_one(flat, src, index))

    def keys(src, one, other):
        return strew.scatter(src, (one, other), 0, size=(SIZE, SIZE))

    given = samples(LENGTH), indices(LENGTH), indices(LENGTH, seed=2)
    equal(vmap(keys)(*given), one_by_one(keys, *given))


def test_into():
    src, index, out = samples(LENGTH), indices(LENGTH), samples(SIZE, seed=3)

    def run(src, index, out):
        return strew.scatter(src, index, out=out.clone(), reduce="max")

    equal(vmap(run)(src, index, out), one_by_one(run, src, index, out))


@pytest.mark.parametrize(
    "reduce", [*REDUCES[:5], *REDUCES[7:], ["sum", "argmin", "quantile"], np.ptp]
)
def test_aggregate(reduce):
    if callable(reduce):

        def reduce(values):
            return values.max() - values.min()

    src, index = samples(LENGTH, 2), torch.arange(LENGTH).remainder(SIZE).expand(SAMPLES, LENGTH)
    index = torch.stack([row.roll(k) for k, row in enumerate(index)])

    def run(src, index):
        return strew.aggregate(src, index, reduce, size=SIZE)

    equal(vmap(run)(src, index), one_by_one(run, src, index))
    equal(vmap(run, (None, 0))(src[0], index), one_by_one(run, src[0], index, axes=(None, 0)))
    moved = src.movedim(0, 1), index.t()
    equal(vmap(run, (1, 1))(*moved), one_by_one(run, *moved, axes=(1, 1)))


def test_weights_of_each_sample():
    src, index, weights = samples(LENGTH), indices(LENGTH), samples(LENGTH, seed=5)

    def run(src, index, weights):
        return strew.aggregate(src, index, "mean", size=SIZE, weights=weights)

    equal(vmap(run)(src, index, weights), one_by_one(run, src, index, weights))
    axes = (None, None, 0)
    given = src[0], index[0], weights
    equal(vmap(run, axes)(*given), one_by_one(run, *given, axes=axes))


CALLS = {
    "scatter": lambda v, i: strew.scatter(v, i, size=SIZE, reduce="prod"),
    "scatter std": lambda v, i: strew.scatter(v, i, size=SIZE, reduce="std", fill_value=0),
    "gather": lambda v, i: strew.gather(v, i) ** 2,
    "aggregate": lambda v, i: strew.aggregate(v, i, "std", size=SIZE, fill_value=0),
    "aggregate several": lambda v, i: strew.aggregate(v, i, ["sumsq", "argmax"], size=SIZE)[0],
    "aggregate softmax": lambda v, i: strew.aggregate(v, i, "softmax"),
}


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name):
    call, src, index = CALLS[name], samples(LENGTH), indices(LENGTH)

    def loss(v, i):
        return (call(v, i) ** 2).sum()

    of_samples = one_by_one(grad(loss), src, index)
    equal(vmap(grad(loss))(src, index), of_samples)
    equal(grad(lambda v: vmap(loss)(v, index).sum())(src), of_samples)
    leaf = src.clone().requires_grad_()
    vmap(loss)(leaf, index).sum().backward()
    equal(leaf.grad, of_samples)

    def pulled(v, i):
        return vjp(lambda v: loss(v, i), v)[1](torch.ones((), dtype=v.dtype))[0]

    found = vmap(lambda v, i: pulled(v, i))(src, index)
    equal(found, of_samples)
    tangent = samples(LENGTH, seed=8)

    def moved(v, i, t):
        return jvp(lambda v: call(v, i), (v,), (t,))[1]

    equal(vmap(moved)(src, index, tangent), one_by_one(moved, src, index, tangent))
    hessian = one_by_one(jacfwd(jacrev(loss)), src, index)
    equal(vmap(jacfwd(jacrev(loss)))(src, index), hessian)


@pytest.mark.parametrize("name", CALLS)
def test_nested(name):
    call = CALLS[name]
    src, index = samples(2, LENGTH), indices(2, LENGTH)
    expected = torch.stack([one_by_one(call, v, i) for v, i in zip(src, index, strict=True)])
    equal(vmap(vmap(call))(src, index), expected)
    found = vmap(vmap(call, (0, None)), (None, 0))(src[0], index[:, 0])
    expected = torch.stack([one_by_one(call, src[0], i, axes=(0, None)) for i in index[:, 0]])
    equal(found, expected)


def test_what_is_refused():
    src, index = samples(LENGTH), indices(LENGTH)
    for run in (
        lambda v, i: strew.scatter(v, i),
        lambda v, i: strew.scatter(v, i, reduce="std"),
        lambda v, i: strew.aggregate(v, i, "sum"),
    ):
        with pytest.raises(ValueError, match=r"size.*torch.vmap"):
            vmap(run)(src, index)
    with pytest.raises(IndexError, match=r"index\[1, 2\] = 9"):
        wrong = index.clone()
        wrong[1, 2] = 9
        vmap(lambda v, i: strew.scatter(v, i, size=SIZE))(src, wrong)
    with pytest.raises(TypeError, match=r"torch.vmap.*outside"):
        vmap(lambda v, i: strew.Plan(i, SIZE).scatter(v))(src, index)
    with pytest.raises(ValueError, match="strew.factorize first"):
        vmap(lambda v, i: strew.aggregate(v, by=i).values)(src, index)
    plan = strew.Plan(index[0], SIZE)
    equal(vmap(plan.scatter)(src), torch.stack([plan.scatter(v) for v in src]))


def test_compiled():
    src, index = samples(LENGTH), indices(LENGTH)

    def run(src, index):
        return vmap(lambda v, i: strew.scatter(v, i, size=SIZE, reduce="max"))(src, index)

    compiled = torch.compile(run, backend="aot_eager", fullgraph=True)
    equal(compiled(src, index), run(src, index))
