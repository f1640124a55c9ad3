"""``strew.jax.at_*`` take every index that ``x.at[...]`` takes, compared with JAX."""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import strew

# STREW_INDICES=4000 for a long look.
COUNT = int(os.environ.get("STREW_INDICES", "160"))
SHAPES = [(5,), (4, 3), (3, 4, 2), (2, 3, 2, 4), ()]


def entry(rng, size, batch):
    """A random entry for an axis of this size: a number, a slice, an array, a list or a mask."""
    low, high = -size - 2, size + 2
    kind = rng.integers(8)
    if kind == 0:
        return int(rng.integers(low, high))
    if kind == 1:
        return np.int32(rng.integers(low, high))
    if kind == 2:
        return rng.random(size) < 0.5
    if kind in (3, 4):
        bounds = [None if rng.random() < 0.4 else int(rng.integers(low, high)) for _ in range(2)]
        step = rng.choice([None, 1, 2, -1, -2], p=[0.3, 0.2, 0.2, 0.2, 0.1])
        return slice(*bounds, step)
    if kind == 5:
        return np.asarray(rng.integers(low, high))
    shape = batch[int(rng.integers(len(batch) + 1)) :]
    return rng.integers(low, high, shape)


def index(rng, shape):
    """A random index of an array of this shape."""
    batch = tuple(rng.integers(1, 4, rng.integers(0, 3)))
    entries, axis = [], 0
    axes = int(rng.integers(0, len(shape) + 1))
    while axis < axes:
        if rng.random() < 0.1 and axis + 1 < len(shape):
            entries.append(rng.random(shape[axis : axis + 2]) < 0.4)
            axis += 2
        else:
            entries.append(entry(rng, shape[axis], batch))
            axis += 1
    extras = [None, Ellipsis, True, False, np.asarray(True)]
    chances = rng.random(len(extras)) < [0.35, 0.3, 0.1, 0.05, 0.05]
    for extra in (extra for extra, is_in in zip(extras, chances, strict=True) if is_in):
        if extra is Ellipsis and axis > axes:
            continue
        entries.insert(int(rng.integers(len(entries) + 1)), extra)
    if len(entries) == 1 and rng.random() < 0.5:
        return entries[0]
    return tuple(entries)


def outcome(run):
    """The result of a call, or the kind of error that it raises."""
    try:
        return np.asarray(run())
    except (IndexError, TypeError, ValueError) as error:
        return error


def compare(found, expected, case):
    if isinstance(expected, Exception):
        assert isinstance(found, Exception), (case, expected)
        return
    assert not isinstance(found, Exception), (case, found)
    assert found.dtype == expected.dtype and found.shape == expected.shape, (case, found, expected)
    np.testing.assert_array_equal(found, expected, str(case))


MODES = [None, "drop", "fill", "clip"]


def jax_misplaces(where):
    """Whether JAX may put the axis of a single bool into a wrong place, or raise."""
    entries = where if isinstance(where, tuple) else (where,)
    return len(entries) > 1 and any(np.ndim(one) == 0 and is_bool(one) for one in entries)


def is_bool(entry):
    return isinstance(entry, bool) or getattr(entry, "dtype", None) == bool


def as_numpy_does(x, where, case):
    x = np.asarray(x)
    expected = outcome(lambda: x[where])
    if isinstance(expected, Exception):
        # It refuses what is out of range.
        return
    compare(outcome(lambda: strew.jax.at_get(x, where)), expected, case)
    added = x.copy()
    np.add.at(added, where, 100)
    compare(outcome(lambda: strew.jax.at_add(x, where, 100.0)), added, case)
    traced = outcome(lambda: jax.jit(lambda x: strew.jax.at_add(x, where, 100.0))(x))
    compare(traced, added, ("jit", *case))


@pytest.mark.parametrize("part", range(4))
def test_random_indices(part):
    rng = np.random.default_rng(part)
    for number in range(COUNT // 4):
        shape = SHAPES[int(rng.integers(len(SHAPES)))]
        where, mode = index(rng, shape), MODES[number % 4]
        wraps = bool(rng.random() < 0.8)
        options = {"mode": mode, "wrap_negative_indices": wraps}
        # All updates are alike where cells may be named twice: the order is JAX's own.
        x = jnp.arange(1.0, 1 + np.prod(shape, dtype=int)).reshape(shape)
        case = (shape, where, options)
        if jax_misplaces(where):
            as_numpy_does(x, where, case)
            continue
        get = outcome(lambda: x.at[where].get(**options))
        compare(outcome(lambda: strew.jax.at_get(x, where, **options)), get, ("get", *case))
        of_numpy = outcome(lambda: strew.jax.at_get(np.asarray(x), where, **options))
        compare(of_numpy, get, ("get of NumPy", *case))
        y = 100.0
        if not isinstance(get, Exception) and rng.random() < 0.5:
            y = rng.integers(10, 99, get.shape).astype(np.float32)
            y = y[(0,) * int(rng.integers(y.ndim + 1))] if y.size else y
        expected = outcome(lambda: x.at[where].add(y, **options))
        compare(outcome(lambda: strew.jax.at_add(x, where, y, **options)), expected, (y, *case))
        of_numpy = outcome(lambda: strew.jax.at_add(np.asarray(x), where, y, **options))
        compare(of_numpy, expected, ("NumPy", y, *case))
        if np.ndim(y) == 0:
            expected = outcome(lambda: x.at[where].set(y, **options))
            compare(outcome(lambda: strew.jax.at_set(x, where, y, **options)), expected, case)
        traced = outcome(
            lambda: jax.jit(lambda x, y: strew.jax.at_add(x, where, y, **options))(x, y)
        )
        compare(traced, outcome(lambda: x.at[where].add(y, **options)), ("jit", y, *case))
        if number % 3 == 0:
            traced = outcome(lambda: jax.jit(lambda x: strew.jax.at_get(x, where, **options))(x))
            compare(traced, get, ("jit get", *case))
