"""PaddlePaddle's own functions, on random arguments: the same bits, or an error of the same class.

Left out is what COMPARE.md lists as different: what writes or reads outside of its tensors, and
what a document and the release disagree on.
"""

import functools

import numpy as np
import pytest
import strew

paddle = pytest.importorskip("paddle")

SEEDS = range(60)
ARITHMETIC = ["int32", "int64", "float32", "float64"]
ELEMENTS = ["uint8", "int16", *ARITHMETIC]
COPIED = ["bool", "int8", *ELEMENTS, "complex64", "complex128"]
REDUCTIONS = ["assign", "add", "mul", "multiply", "mean", "amax", "amin"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf]


class Random:
    """What a case is made of."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def below(self, n):
        return int(self.rng.integers(n))

    def pick(self, values):
        return values[self.below(len(values))]

    def chance(self):
        return self.below(2) == 1

    def shape(self, least=1, most=4):
        return [1 + self.below(5) for _ in range(least + self.below(most - least))]

    def array(self, dtype, shape, special=False):
        kind = np.dtype(dtype).kind
        if kind == "b":
            return self.rng.integers(0, 2, shape).astype(bool)
        if kind in "iu":
            info = np.iinfo(dtype)
            return self.rng.integers(info.min, info.max, shape, dtype, endpoint=True)
        made = self.rng.standard_normal(shape)
        if special:
            made = np.where(self.rng.random(shape) < 0.3, self.rng.choice(SPECIAL, shape), made)
        return made.astype(dtype)

    def index(self, shape, size, bad=False):
        made = self.rng.integers(-size, size, shape)
        if bad and made.size:
            at = self.below(made.size)
            made.flat[at] = self.pick([size, size + 9, -size - 1, -(2**31)])
        return made.astype(self.pick(["int32", "int64"]))


def outcome(call, inputs, **options):
    """An array, or the class of the error."""
    try:
        return np.asarray(call(**inputs, **options))
    except Exception as error:
        return type(error)


def compare(name, seed, inputs, **options):
    theirs = functools.reduce(getattr, name.split("."), paddle)
    ours = functools.reduce(getattr, name.split("."), strew.paddle)
    tensors = {key: paddle.to_tensor(value) for key, value in inputs.items()}
    expected = outcome(theirs, tensors, **options)
    found = outcome(ours, inputs, **options)
    what = f"seed {seed}: paddle.{name}({inputs}, {options}): {found}, not {expected}"
    if isinstance(expected, type) or isinstance(found, type):
        assert found is expected, what
        return
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), what
    if found.dtype.kind in "fc":
        # One NaN is as good as another.
        numbers = [np.where(np.isnan(one), np.zeros_like(one), one) for one in (found, expected)]
        assert (np.isnan(found) == np.isnan(expected)).all(), what
        assert numbers[0].tobytes() == numbers[1].tobytes(), what
    else:
        assert found.tobytes() == expected.tobytes(), what


@pytest.mark.parametrize("bad", [False, True], ids=["inside", "outside"])
@pytest.mark.parametrize("seed", SEEDS)
def test_scatter(seed, bad):
    random = Random(seed)
    dtype, shape = random.pick(ARITHMETIC), random.shape()
    form, count = random.below(3), random.below(7)
    own = [[], [count], [count, 1]][form]
    rows = [[], [count + random.below(3)], [count + random.below(3)]][form]
    inputs = {
        "x": random.array(dtype, shape, special=True),
        "index": random.index(own, shape[0], bad),
        "updates": random.array(dtype, rows + shape[1:], special=True),
    }
    compare("scatter", seed, inputs, overwrite=random.chance())


@pytest.mark.parametrize("bad", [False, True], ids=["inside", "outside"])
@pytest.mark.parametrize("seed", SEEDS)
def test_tuples(seed, bad):
    random = Random(seed)
    shape = random.shape()
    entries = 1 + random.below(len(shape))
    batch = [1 + random.below(5) for _ in range(random.below(3))]
    columns = [random.index(batch, size) for size in shape[:entries]]
    worst = random.below(entries)
    columns[worst] = random.index(batch, shape[worst], bad)
    index = np.stack(columns, -1).astype(random.pick(["int32", "int64"]))
    compare(
        "gather_nd",
        seed,
        {"x": random.array(random.pick(COPIED), shape), "index": index},
    )
    dtype = random.pick(["uint8", *ARITHMETIC])
    updates = random.array(dtype, batch + shape[entries:], special=True)
    x = random.array(dtype, shape, special=True)
    compare("scatter_nd_add", seed, {"x": x, "index": index, "updates": updates})
    compare("scatter_nd", seed, {"index": index, "updates": updates}, shape=shape)


@pytest.mark.parametrize("bad", [False, True], ids=["inside", "outside"])
@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_elements(seed, reduce, bad):
    random = Random(seed)
    dtype, shape, broadcast = random.pick(ELEMENTS), random.shape(), random.chance()
    axis = random.below(len(shape))
    own = [random.pick([1, n]) if broadcast else 1 + random.below(n) for n in shape]
    own[axis] = 1 + random.below(7)
    inputs = {
        "arr": random.array(dtype, shape, special=True),
        "indices": random.index(own, shape[axis], bad),
    }
    options = {"axis": random.pick([axis, axis - len(shape)]), "broadcast": broadcast}
    if reduce == "assign":
        compare("take_along_axis", seed, inputs, **options)
    if not broadcast:
        given = [n + random.below(2) for n in own]
    elif own[axis] > shape[axis]:
        given = [random.pick([1, n]) for n in own]
    else:
        given = [random.pick([1, n]) for n in [*shape[:axis], own[axis], *shape[axis + 1 :]]]
    inputs["values"] = random.array(dtype, given, special=True)
    compare(
        "put_along_axis",
        seed,
        inputs,
        **options,
        reduce=reduce,
        include_self=random.chance(),
    )


@pytest.mark.parametrize("bad", [False, True], ids=["inside", "outside"])
@pytest.mark.parametrize("seed", SEEDS)
def test_slices(seed, bad):
    random = Random(seed)
    shape = random.shape()
    axis, count = random.below(len(shape)), random.below(7)
    given = random.pick(
        [axis, axis - len(shape)] if not bad else [axis, axis - len(shape), len(shape)]
    )
    own = random.pick([[], [count], [count, 1]])
    x = random.array(random.pick(COPIED), shape)
    compare(
        "gather",
        seed,
        {"x": x, "index": random.index(own, shape[axis], bad)},
        axis=given,
    )
    index = random.index([count], shape[axis])
    compare(
        "index_fill",
        seed,
        {"x": x, "index": index},
        axis=given,
        value=random.pick([0, 7, 2.5, -3]),
    )
    dtype = random.pick(ARITHMETIC)
    # Of no index the axis is not looked at.
    count = max(count, 1)
    inputs = {
        "x": random.array(dtype, shape, special=True),
        "index": random.index([count], shape[axis], bad),
        "value": random.array(dtype, [*shape[:axis], count, *shape[axis + 1 :]], special=True),
    }
    compare("index_add", seed, inputs, axis=given)


@pytest.mark.parametrize("word", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize("seed", SEEDS)
def test_segments(seed, word):
    random = Random(seed)
    shape = random.shape()
    shape[0] = 1 + random.below(40)
    steps = random.rng.choice([0, 0, 0, 1, 2], shape[0])
    ids = steps.cumsum().astype(random.pick(["int32", "int64"]))
    if random.below(4) == 0:
        ids[random.below(len(ids))] = random.pick([0, ids[-1], -1])
    inputs = {"data": random.array(random.pick(ARITHMETIC), shape), "segment_ids": ids}
    compare(f"geometric.segment_{word}", seed, inputs)


def test_tensors_go_in_as_numpy_sees_them():
    x = paddle.ones([3, 2])
    made = strew.paddle.index_add(x.numpy(), paddle.to_tensor([0, 2, -1]).numpy(), 0, x.numpy())
    assert paddle.to_tensor(made).tolist() == [[2, 2], [1, 1], [3, 3]]
