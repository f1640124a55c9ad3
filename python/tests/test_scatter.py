"""strew.scatter and strew.gather against plain loops."""

import numpy as np
import pytest
import strew

INDEX_TYPES = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
JOINS = {
    "sum": (lambda a, b: a + b, 0),
    "prod": (lambda a, b: a * b, 1),
    "min": (np.minimum, np.inf),
    "max": (np.maximum, -np.inf),
    "assign": (lambda a, b: b, 0),
}


def resolved(value, size, mode, ignored=None):
    """Where an index leads; None: nowhere."""
    if value == ignored:
        return None
    if mode == "wrap" and -size <= value < 0:
        return value + size
    if mode == "clip":
        return min(max(value, 0), size - 1)
    return value if 0 <= value < size else None


def naive(src, index, dim, size, reduce, mode="error", ignored=None, fill=None):
    join, start = JOINS["sum" if reduce == "mean" else reduce]
    shape = list(src.shape)
    shape[dim] = size
    out, counts = np.full(shape, start, src.dtype), np.zeros(shape, int)
    for place in np.ndindex(src.shape):
        at = resolved(int(index[place]), size, mode, ignored)
        if at is not None:
            cell = (*place[:dim], at, *place[dim + 1 :])
            out[cell] = join(out[cell], src[place])
            counts[cell] += 1
    if reduce == "mean":
        out = out / np.maximum(counts, 1).astype(src.dtype)
    usual = 1 if reduce == "prod" else 0
    out[counts == 0] = usual if fill is None else fill
    return out


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("mode", ["error", "wrap", "drop", "clip"])
@pytest.mark.parametrize("reduce", [*JOINS, "mean"])
def test_all_modes_and_reductions(reduce, mode):
    low, high = {"error": (0, 4), "wrap": (-4, 4)}.get(mode, (-9, 9))
    src = rng(1).integers(-8, 9, (5, 6, 3)).astype(np.float32)
    for dim in range(3):
        index = rng(dim).integers(low, high, src.shape)
        for fill, ignored in [(None, None), (7, None), (None, 2), (-1, 2)]:
            options = {"dim_size": 4, "reduce": reduce, "mode": mode}
            options |= {"fill_value": fill, "ignore_index": ignored}
            expected = naive(src, index, dim, 4, reduce, mode, ignored, fill)
            for axis in (dim, dim - 3):
                found = strew.scatter(src, index, axis, **options)
                assert found.dtype == src.dtype
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", INDEX_TYPES)
def test_every_integer_is_an_index(kind):
    src = np.arange(6, dtype=np.float64)
    index = np.array([0, 2, 2, 1, 0, 100 if kind != "int8" else 3]).astype(kind)
    assert strew.scatter(src, index, ignore_index=int(index[-1])).tolist() == [4, 3, 3]
    assert strew.gather(src, index[:-1]).tolist() == [0, 2, 2, 1, 0]
    assert strew.gather(src, index, mode="drop", ignore_index=0).tolist()[0] == 0


def test_an_index_lies_along_dim_or_broadcasts():
    src = np.arange(12.0).reshape(2, 3, 2)
    along = np.array([1, 0, 1])
    expected = np.stack([src[:, 1], src[:, 0] + src[:, 2]], 1)
    np.testing.assert_array_equal(strew.scatter(src, along, 1), expected)
    np.testing.assert_array_equal(strew.scatter(src, along[:, None], 1), expected)
    assert strew.scatter(src, 0, 1).shape == (2, 1, 2)
    with pytest.raises(ValueError, match="index has shape"):
        strew.scatter(src, along, 2)
    with pytest.raises(ValueError, match="at least one dimension"):
        strew.scatter(np.float32(1), 0)


def test_into_an_array():
    out = np.array([10, 20, 30])
    assert strew.scatter([1, 2, 4], [2, 2, 0], out=out) is out
    assert out.tolist() == [14, 20, 33]
    strew.scatter([1, 2, 4], [2, 2, 0], out=out, reduce="mean", include_self=False)
    assert out.tolist() == [4, 20, 1]
    for wrong in ({"dim_size": 3}, {"fill_value": 1}, {"reduce": "median"}):
        with pytest.raises(ValueError, match=r"out|new"):
            strew.scatter([1, 2, 4], [2, 2, 0], out=out, **wrong)
    with pytest.raises(IndexError, match=r"index\[1\] = 3"):
        strew.scatter([1, 2, 4], [2, 3, 0], out=out)
    assert out.tolist() == [4, 20, 1]


def test_errors_say_what_is_wrong():
    src = np.ones(3, np.float32)
    cases = [
        (IndexError, "dim", lambda: strew.scatter(src, [0, 0, 0], 1)),
        (IndexError, "out of bounds", lambda: strew.scatter(src, [0, -1, 0])),
        (TypeError, "integer", lambda: strew.scatter(src, [0.5, 0, 0])),
        (ValueError, "mode", lambda: strew.scatter(src, [0, 0, 0], mode="no")),
        (ValueError, "reduce", lambda: strew.scatter(src, [0, 0, 0], reduce="no")),
        (ValueError, "dim_size", lambda: strew.scatter(src, [0, 0, 0], dim_size=-1)),
        (ValueError, "fill_value", lambda: strew.scatter(np.int8([1]), [0], fill_value=300)),
        (TypeError, "mean", lambda: strew.scatter([True, False], [0, 0], reduce="mean")),
        (ValueError, "plan", lambda: strew.scatter(src, [0, 0, 0], plan=strew.Plan([0, 0, 0]))),
        (IndexError, "out of bounds", lambda: strew.gather(src, [3])),
        (ValueError, "index has shape", lambda: strew.gather(src, [[0]])),
    ]
    for error, words, call in cases:
        with pytest.raises(error, match=words):
            call()


@pytest.mark.parametrize("mode", ["error", "drop"])
def test_a_plan_stands_for_the_index(mode):
    index = np.array([2, 0, 2, 2, 0]) if mode == "error" else np.array([2, 0, -7, 2, 9])
    plan, src = strew.Plan(index, 4, mode=mode), rng(3).normal(size=(3, 5))
    said = {"dim_size": 4, "mode": mode}
    for reduce in [*JOINS, "mean", "std", "nanmax", "cumsum"]:
        for fill in (None, 5):
            expected = strew.scatter(src, index, reduce=reduce, fill_value=fill, **said)
            found = strew.scatter(src, None, reduce=reduce, fill_value=fill, plan=plan)
            np.testing.assert_array_equal(found, expected)
    out, other = np.ones((3, 4)), np.ones((3, 4))
    strew.scatter(src, None, out=out, reduce="max", plan=plan)
    strew.scatter(src, index, out=other, reduce="max", mode=mode)
    np.testing.assert_array_equal(out, other)
    wide = rng(4).normal(size=(3, 4))
    for fill in (None, 5):
        expected = strew.gather(wide, index, mode=mode, fill_value=fill)
        np.testing.assert_array_equal(
            strew.gather(wide, None, fill_value=fill, plan=plan), expected
        )


def test_aggregates_of_lines_are_those_of_each_line():
    src = rng(5).normal(size=(4, 6, 3))
    src[0, 2, 1] = np.nan
    for dim in range(3):
        index = rng(dim).integers(-1, 3, src.shape)
        lines = np.moveaxis(index, dim, -1).reshape(-1, src.shape[dim])
        values = np.moveaxis(src, dim, -1).reshape(-1, src.shape[dim])
        for reduce in ["std", "median", "count", "argmax", "cumsum", "softmax", "nansum", "any"]:
            found = strew.scatter(src, index, dim, dim_size=3, reduce=reduce, mode="drop")
            found = np.moveaxis(found, dim, -1).reshape(len(lines), -1)
            word, skipna = reduce.removeprefix("nan"), reduce.startswith("nan")
            options = {"size": 3, "mode": "drop", "skipna": skipna}
            for line in range(len(lines)):
                expected = strew.aggregate(values[line], lines[line], word, **options)
                np.testing.assert_array_equal(found[line], expected)


def test_gather_is_the_way_back():
    src = rng(6).integers(0, 99, (4, 5, 3))
    for dim in range(3):
        index = rng(dim).integers(0, src.shape[dim], 7)
        np.testing.assert_array_equal(strew.gather(src, index, dim), src.take(index, dim))
        shape = [1 if axis == (dim + 1) % 3 else size for axis, size in enumerate(src.shape)]
        shape[dim] = 2
        index = rng(dim).integers(0, src.shape[dim], shape)
        found = strew.gather(src, index, dim)
        np.testing.assert_array_equal(found, np.take_along_axis(src, index, dim))
    assert (
        strew.gather(np.zeros((0, 2)), [5, -1], 0, mode="drop", fill_value=3).tolist()
        == [[3, 3]] * 2
    )


def test_nothing():
    assert strew.scatter([], []).tolist() == []
    assert strew.scatter(np.ones((0, 2)), [], 0, dim_size=2, fill_value=9).tolist() == [[9, 9]] * 2
    assert strew.scatter([1.0], [7], ignore_index=7).tolist() == []
    assert strew.gather(np.ones((3, 2)), [], 0).shape == (0, 2)


def test_an_axis_and_a_size_have_two_names():
    src, index = np.arange(6.0).reshape(2, 3), [1, 0]
    expected = strew.scatter(src, index, 0, dim_size=3)
    np.testing.assert_array_equal(strew.scatter(src, index, axis=0, size=3), expected)
    np.testing.assert_array_equal(strew.aggregate(src, index, axis=0, dim_size=3), expected)
    np.testing.assert_array_equal(strew.gather(src, index, axis=0), strew.gather(src, index, 0))
    with pytest.raises(TypeError, match="dim and axis"):
        strew.scatter(src, index, 0, axis=0)
    with pytest.raises(TypeError, match="dim_size and size"):
        strew.scatter(src, index, 0, dim_size=3, size=3)
    with pytest.raises(TypeError, match="size and dim_size"):
        strew.aggregate(src, index, size=3, dim_size=3)
