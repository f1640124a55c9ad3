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
    usual = {"prod": 1, "sum": 0, "assign": 0}.get(reduce, np.nan)
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
        (
            ValueError,
            "fill_value",
            lambda: strew.scatter(np.int8([1]), [0], reduce="max", fill_value=300),
        ),
        (ValueError, "fill_value", lambda: strew.scatter([1], [0], fill_value=300, dtype="i1")),
        (TypeError, "mean", lambda: strew.scatter([1], [0], reduce="mean", dtype=int)),
        (TypeError, "later one", lambda: strew.scatter(src, [0, 0, 0], dtype=int)),
        (TypeError, "numbers", lambda: strew.scatter(src, [0, 0, 0], dtype="no")),
        (TypeError, "take dtype", lambda: strew.scatter([1], [0], reduce="max", dtype=int)),
        (TypeError, "take dtype", lambda: strew.scatter([1], [0], reduce="std", dtype=float)),
        (ValueError, "out", lambda: strew.scatter([1], [0], out=np.zeros(1, int), dtype=int)),
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


DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
INEXACT = "float16 float32 float64 complex64 complex128".split()
SHARED = {
    "sum": "sum",
    "add": "sum",
    "prod": "prod",
    "mul": "prod",
    "mean": "mean",
    "min": "min",
    "amin": "min",
    "max": "max",
    "amax": "max",
}


def agree(found, expected):
    """Integers exactly, floats up to what their accumulators round."""
    assert found.dtype == expected.dtype and found.shape == expected.shape
    # Products of floats are rounded at each step.
    rough = {"float16": 1e-2, "float32": 1e-5, "complex64": 1e-5}.get(found.dtype.name, 1e-12)
    if found.dtype.kind in "fc":
        np.testing.assert_allclose(found, expected, rtol=rough)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [*DTYPES, *INEXACT])
@pytest.mark.parametrize(("reduce", "name"), SHARED.items())
def test_the_rules_are_those_of_aggregate(reduce, name, dtype):
    index, drawn = np.array([5, 0, 2, 2, 5, 0, 0]), rng(7).integers(1, 120, (7, 3))
    # Groups 1, 3, 4 and 6 are empty.
    for src, given, size in [
        (drawn.astype(dtype), index, 7),
        (drawn.astype(dtype)[:, 0], index, None),
        (np.zeros((0, 2), dtype), [], 3),
        (np.zeros((0,), dtype), [], None),
        (np.zeros((7, 0), dtype), index, None),
    ]:
        for fill in ({}, {"fill_value": 1}):
            expected = strew.aggregate(src, given, name, size=size, **fill)
            options = {"dim_size": size, "reduce": reduce, **fill}
            agree(strew.scatter(src, given, 0, **options), expected)
            plan = strew.Plan(given, size)
            agree(strew.scatter(src, None, 0, plan=plan, reduce=reduce, **fill), expected)
            # Each line along the axis has an index of its own.
            lines = np.broadcast_to(np.reshape(given, (-1, *[1] * (src.ndim - 1))), src.shape)
            if lines.size:
                agree(strew.scatter(src, lines.astype(int), 0, **options), expected)
            if name in ("sum", "mean"):
                exact = strew.aggregate(src, given, name, size=size, exact=True, **fill)
                agree(strew.scatter(src, given, 0, exact=True, **options), exact)
    keys = (index, index % 2)
    expected = strew.aggregate(drawn.astype(dtype), keys, name)
    agree(strew.scatter(drawn.astype(dtype), keys, 0, reduce=reduce), expected)


@pytest.mark.parametrize("dtype", [*DTYPES, *INEXACT])
@pytest.mark.parametrize("src", ["bool", "int8", "uint32", "float32", "complex64"])
def test_a_dtype_is_that_of_aggregate(src, dtype):
    values, index = rng(8).integers(0, 99, 6).astype(src), [2, 0, 2, 2, 0, 4]
    kinds = ["b", "iu", "f", "c"]
    rank, own = (
        next(k for k, some in enumerate(kinds) if np.dtype(one).kind in some)
        for one in (dtype, src)
    )
    for name in ("sum", "prod", "mean"):
        options = {"reduce": name, "dtype": dtype}
        if rank < own or (name == "mean" and rank < 2):
            for call in (strew.scatter, strew.aggregate):
                with pytest.raises(TypeError, match=f"dtype = {dtype}"):
                    call(values, index, **options)
            continue
        expected = strew.aggregate(values, index, **options)
        assert expected.dtype == dtype
        agree(strew.scatter(values, index, **options), expected)
        agree(strew.scatter(values, index, **(options | {"dtype": np.dtype(dtype)})), expected)
        plan = strew.Plan(index)
        agree(strew.scatter(values, None, plan=plan, **options), expected)


def test_a_dtype_of_an_aggregate():
    values = np.array([100, 100, 7], np.int8)
    squares, running = strew.aggregate(values, [0, 0, 1], ["sumsq", "cumsum"], dtype="i1")
    assert squares.tolist() == [32, 49] and squares.dtype == running.dtype == np.int8
    assert running.tolist() == [100, -56, 7]
    found = strew.scatter([1.0, np.nan, 3.0], [0, 0, 2], reduce="nansum", dtype=np.float32)
    assert found.dtype == np.float32 and found.tolist() == [1, 0, 3]
    with pytest.raises(ValueError, match="fill_value"):
        strew.aggregate(values, [0, 0, 2], "sum", dtype="i1", fill_value=300)
    for reduce, more in [
        ("max", {}),
        (len, {}),
        (["sum", "std"], {}),
        ("sum", {"weights": [1] * 3}),
    ]:
        with pytest.raises(TypeError, match="dtype"):
            strew.aggregate(values, [0, 0, 2], reduce, dtype=float, **more)


def test_into_an_array_its_dtype_decides():
    for dtype in [*DTYPES[1:], *INEXACT]:
        src, index = np.array([3, 4, 100, 2]).astype(dtype), [0, 0, 2, 2]
        for reduce in ("sum", "mean", "prod"):
            out = np.full(4, 7, dtype)
            returned = strew.scatter(src, index, out=out, reduce=reduce, include_self=False)
            assert returned is out and out.dtype == dtype
            assert out[1] == 7 and out[3] == 7
            if reduce == "mean":
                assert out[0] == (3 if np.dtype(dtype).kind in "iu" else 3.5)


def test_sums_of_floats_keep_their_bits():
    src, index = rng(9).normal(size=20_000).astype(np.float32), rng(9).integers(0, 99, 20_000)
    expected = np.zeros(100, np.float32)
    np.add.at(expected, index, src)
    for found in (
        strew.scatter(src, index, dim_size=100),
        strew.scatter(src, None, plan=strew.Plan(index, 100)),
    ):
        assert found.tobytes() == expected.tobytes()


def test_means_by_a_plan_have_the_bits_of_those_without():
    index = rng(10).integers(0, 80, 3000)
    plan = strew.Plan(index, 100)
    for dtype in INEXACT:
        src = rng(10).normal(size=(2, 3000)).astype(dtype)
        for reduce in ("mean", "exact_mean", "min", "max"):
            by_plan = strew.scatter(src, None, plan=plan, reduce=reduce)
            expected = strew.scatter(src, index, dim_size=100, reduce=reduce)
            assert by_plan.tobytes() == expected.tobytes()
            assert np.isnan(by_plan[:, 80:]).all()


class OnlyDLPack:
    """An array that only DLPack reads."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_arrays_of_dlpack_and_lists(dtype, reduce):
    src, index = np.array([3, 4, 100, 2]).astype(dtype), np.array([0, 0, 2, 2])
    expected = strew.scatter(src, index, reduce=reduce)
    agree(strew.scatter(OnlyDLPack(src), OnlyDLPack(index), reduce=reduce), expected)
    agree(strew.scatter(memoryview(src), memoryview(index), reduce=reduce), expected)
    wide = strew.scatter(src.astype(src.dtype.kind + "8"), index, reduce=reduce)
    agree(strew.scatter(src.tolist(), index.tolist(), reduce=reduce), wide)
