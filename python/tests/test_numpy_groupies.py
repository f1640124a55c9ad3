"""strew.numpy_groupies against plain loops over the groups."""

import numpy as np
import pytest
import strew

aggregate = strew.numpy_groupies.aggregate


@pytest.mark.parametrize("func", ["sum", "array", len])
def test_masks_are_refused(func):
    masked = np.ma.masked_array([[0, 0, 1]], [[0, 1, 0]])
    for arguments, name in [
        ((masked, [[1.0, 2.0, 3.0]]), "group_idx"),
        (([[0, 0, 1]], masked), "a"),
        (([0, 0, 1], masked[0].astype("m8[s]")), "a"),
    ]:
        with pytest.raises(TypeError, match=f"{name} must be an array without a mask"):
            aggregate(*arguments, func, axis=1 if name == "group_idx" else None)


DTYPES = "bool int8 int32 int64 uint8 uint64 float16 float32 float64 complex64 complex128".split()
SCALARS = {
    "sum": np.sum,
    "prod": np.prod,
    "min": np.min,
    "max": np.max,
    "mean": np.mean,
    "var": np.var,
    "std": np.std,
    "sumofsquares": lambda v: np.sum(v.real * v.real + v.imag * v.imag),
    "first": lambda v: v[0],
    "last": lambda v: v[-1],
    "len": len,
    "any": np.any,
    "all": np.all,
    "allnan": lambda v: np.isnan(v).all(),
    "anynan": lambda v: np.isnan(v).any(),
}
RUNNING = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummin": np.minimum.accumulate,
    "cummax": np.maximum.accumulate,
    "sort": np.sort,
    "rsort": lambda v: np.sort(v)[::-1],
}


def values(random, dtype, shape, nan=0.0):
    made = random.integers(-4, 5, shape) / (1 if np.dtype(dtype).kind in "iub" else 2)
    if np.dtype(dtype).kind == "u":
        made = abs(made)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * random.integers(-4, 5, shape)
    if np.dtype(dtype).kind in "fc":
        made = np.where(random.random(shape) < nan, np.nan, made)
    return made.astype(dtype)


def wide(v):
    return v.astype(
        {"b": np.int64, "i": np.int64, "u": np.uint64, "f": np.float64, "c": np.complex128}[
            v.dtype.kind
        ]
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "func", [*SCALARS, *(f"nan{name}" for name in SCALARS if not name.endswith("nan"))]
)
def test_one_for_each_group(func, dtype):
    random = np.random.default_rng([len(func), *dtype.encode()])
    for _ in range(20):
        count, size = int(random.integers(1, 40)), int(random.integers(1, 9))
        groups = random.integers(0, size, count)
        a = values(random, dtype, count, 0.2)
        skip = func.startswith("nan")
        name = func.removeprefix("nan")
        fill = (
            0 if a.dtype.kind in "iub" or name in ("len", "any", "all", "allnan", "anynan") else 7.5
        )
        found = aggregate(groups, a, func, size, fill)
        for group in range(size):
            v = wide(a[groups == group])
            v = v[~np.isnan(v)] if skip else v
            expected = SCALARS[name](v) if len(v) else fill
            if name in ("min", "max") and v.dtype.kind == "c" and len(v):
                expected = SCALARS[name](v)
            with np.errstate(all="ignore"):
                expected = np.asarray(expected).astype(found.dtype)
            # NumPy adds pairwise, and strew in order.
            np.testing.assert_allclose(
                found[group], expected, rtol=1e-3 if dtype == "float16" else 1e-6, atol=1e-12
            )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("func", RUNNING)
def test_one_for_each_value(func, dtype):
    random = np.random.default_rng([len(func), *dtype.encode()])
    for _ in range(20):
        count = int(random.integers(1, 40))
        groups, a = random.integers(0, 5, count), values(random, dtype, count)
        found = aggregate(groups, a, func)
        assert found.dtype == a.dtype and found.shape == a.shape
        for group in range(5):
            v = wide(a[groups == group])
            if len(v):
                with np.errstate(all="ignore"):
                    expected = RUNNING[func](v).astype(a.dtype)
                np.testing.assert_allclose(found[groups == group], expected, rtol=1e-3)
    with_nan = np.array([2.0, np.nan, 3.0, 1.0])
    np.testing.assert_array_equal(aggregate([0, 0, 0, 0], with_nan, "nancumsum"), [2, 2, 5, 6])
    np.testing.assert_array_equal(aggregate([0, 0, 0, 0], with_nan, "nancummax"), [2, 2, 3, 3])
    np.testing.assert_array_equal(
        aggregate([0, 0, 0, 0], with_nan, "cumprod"), [2, np.nan, np.nan, np.nan]
    )


def test_sorting_keeps_nan_last():
    a = np.array([3.0, np.nan, 1.0, 2.0])
    np.testing.assert_array_equal(aggregate([0, 0, 0, 1], a, "sort"), [1, 3, np.nan, 2])
    np.testing.assert_array_equal(
        aggregate([0, 0, 0, 1], a, "sort", reverse=True), [3, 1, np.nan, 2]
    )


def test_positions():
    groups, a = np.array([0, 0, 0, 2, 2, 3]), np.array([4.0, 1.0, 1.0, np.nan, 5.0, np.nan])
    np.testing.assert_array_equal(aggregate(groups, a, "argmin", fill_value=-1), [1, -1, -1, -1])
    np.testing.assert_array_equal(aggregate(groups, a, "nanargmin", fill_value=-1), [1, -1, 4, -1])
    both = np.stack([a, -a])
    found = aggregate(groups, both, "nanargmax", fill_value=-1, axis=1)
    np.testing.assert_array_equal(found, [[0, -1, 4, -1], [1, -1, 4, -1]])


@pytest.mark.parametrize("func", ["sum", "std", "first", "cumsum", "sort", "nanmax", "len"])
def test_axes(func):
    random = np.random.default_rng(4)
    a = values(random, "float64", (3, 7, 2), 0.1)
    groups = random.integers(0, 4, 7)
    for axis in (1, -2):
        found = aggregate(groups, a, func, 5, axis=axis)
        for i in range(3):
            for k in range(2):
                np.testing.assert_array_equal(
                    found[i, :, k], aggregate(groups, a[i, :, k], func, 5)
                )
    turned = np.ascontiguousarray(np.moveaxis(a, 1, 0))
    np.testing.assert_array_equal(
        aggregate(groups, turned, func, 5, axis=0), np.moveaxis(found, 1, 0)
    )
    np.testing.assert_array_equal(
        aggregate(groups, np.moveaxis(a, 1, 0), func, 5, axis=0), np.moveaxis(found, 1, 0)
    )


def test_groups_along_two_axes():
    random = np.random.default_rng(6)
    rows, columns, a = random.integers(0, 3, 30), random.integers(0, 4, 30), random.normal(size=30)
    found = aggregate((rows, columns), a, "sum", (3, 5), fill_value=-1)
    assert found.shape == (3, 5) and (found[:, 4] == -1).all()
    for r in range(3):
        for c in range(4):
            v = a[(rows == r) & (columns == c)]
            np.testing.assert_allclose(found[r, c], v.sum() if len(v) else -1)
    turned = aggregate(np.stack([rows, columns]), a, "sum", (3, 5), fill_value=-1, order="F")
    assert turned.flags.f_contiguous
    np.testing.assert_array_equal(turned, found)


def test_types_of_results():
    groups = np.array([0, 1, 1])
    for func, of, to in [
        ("sum", "int8", "int64"),
        ("sum", "bool", "int64"),
        ("sum", "uint8", "uint64"),
        ("sum", "float32", "float32"),
        ("prod", "int8", "int8"),
        ("mean", "int32", "float64"),
        ("mean", "float16", "float16"),
        ("var", "complex64", "float32"),
        ("len", "float32", "int64"),
        ("any", "float32", "bool"),
        ("first", "uint16", "uint16"),
    ]:
        assert aggregate(groups, np.ones(3, of), func).dtype == to, (func, of)
    assert aggregate(groups, np.ones(3, np.uint8), "max", fill_value=-1).dtype == np.int16
    assert aggregate(groups, np.ones(3), "sum", dtype=int).dtype == np.int64
    assert aggregate(groups, 2, "sum").tolist() == [2, 4]
    assert aggregate(groups, 2.5, "prod", 3).tolist() == [2.5, 6.25, 0]
    # Exact beyond what float64 holds.
    assert aggregate([0, 0], np.array([2**62, 1]), "sum").tolist() == [2**62 + 1]


def test_callables():
    groups, a = [0, 2, 2, 0], np.array([1.0, 5.0, 3.0, 2.0])
    assert aggregate(groups, a, np.sum).tolist() == [3, 0, 8]
    assert aggregate(groups, a, lambda v, by: v.max() * by, fill_value=-1, by=2).tolist() == [
        4,
        -1,
        10,
    ]
    arrays = aggregate(groups, a, "array")
    assert [list(v) if np.ndim(v) else v for v in arrays] == [[1, 2], 0, [5, 3]]
    assert aggregate(([0, 1], [1, 1]), [3.0, 4.0], np.median).tolist() == [[0, 3], [0, 4]]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_callables_along_an_axis(axis):
    random = np.random.default_rng(8)
    a = random.normal(size=(3, 4, 5))
    groups = random.integers(0, 3, a.shape[axis])
    lines = np.moveaxis(a, axis, -1)
    found = aggregate(groups, a, np.median, 4, -1, axis=axis)
    arrays = aggregate(groups, a, "array", 4, None, axis=axis)
    assert found.shape == arrays.shape == tuple(np.insert(np.delete(a.shape, axis), axis % 3, 4))
    found, arrays = np.moveaxis(found, axis, -1), np.moveaxis(arrays, axis, -1)
    for place in np.ndindex(lines.shape[:-1]):
        np.testing.assert_array_equal(
            found[place], aggregate(groups, lines[place], np.median, 4, -1)
        )
        expected = aggregate(groups, lines[place], "array", 4, None)
        for group, values_of_group in enumerate(expected):
            np.testing.assert_array_equal(arrays[place][group], values_of_group)
    turned = aggregate(groups, a, np.median, 4, -1, "F", axis=axis)
    assert turned.flags.f_contiguous
    np.testing.assert_array_equal(np.moveaxis(turned, axis, -1), found)


@pytest.mark.parametrize("index", ["uint8", "int64", "uint64"])
@pytest.mark.parametrize(
    "func", ["sum", "nanmean", "len", "argmin", "nanargmax", "cumsum", "sort", "anynan", np.ptp]
)
def test_groups_of_each_line(func, index):
    random = np.random.default_rng(9)
    a = values(random, "float64", (3, 4, 5), 0.2)
    fill = 2 if func != "anynan" else True
    for axis in (0, 1, -1):
        groups = random.integers(0, 4, a.shape).astype(index)
        lines, numbers = np.moveaxis(a, axis, -1), np.moveaxis(groups, axis, -1)
        found = aggregate(groups, a, func, 6, fill, axis=axis)
        assert found.dtype == aggregate([0], a[0, 0, :1], func).dtype
        found = np.moveaxis(found, axis, -1)
        for place in np.ndindex(lines.shape[:-1]):
            expected = aggregate(numbers[place], lines[place], func, 6, fill)
            np.testing.assert_array_equal(found[place], expected)
        # An axis of length 1 stands for all lines along it.
        few = groups[:1] if axis else groups[:, :1]
        all_of_them = np.broadcast_to(few, a.shape)
        np.testing.assert_array_equal(
            aggregate(few, a, func, 6, fill, axis=axis),
            aggregate(all_of_them, a, func, 6, fill, axis=axis),
        )
    turned = aggregate(groups, a, func, 6, fill, "F", axis=axis)
    assert turned.flags.f_contiguous
    np.testing.assert_array_equal(turned, aggregate(groups, a, func, 6, fill, axis=axis))


@pytest.mark.parametrize(
    ("error", "arguments", "options"),
    [
        (ValueError, ([-1, 0], [1, 2]), {}),
        (ValueError, ([5, 0], [1, 2]), {"size": 3}),
        (ValueError, ([0, 1, 2], [1, 2]), {}),
        (ValueError, ([0, 1], [[1, 2]]), {}),
        (ValueError, ([0, 1], [[1, 2]]), {"axis": 2}),
        (ValueError, ([[0, 1], [1, 1]], [1, 2]), {"size": 3}),
        (ValueError, ([[0, 1], [1, -1]], [1, 2]), {}),
        (ValueError, ([0, 1], [1, 2]), {"func": "nansort"}),
        (ValueError, ([0, 1], [1, 2]), {"func": "nothing"}),
        (ValueError, ([0, 1], [1, 2]), {"func": 5}),
        (ValueError, ([0, 2], [1, 2]), {"fill_value": np.nan}),
        (ValueError, ([0, 2], [1, 2]), {"func": "any", "fill_value": 3}),
        (ValueError, ([0, 2], 5), {"func": "mean"}),
        (ValueError, ([0, 2], 5), {"func": "array"}),
        (ValueError, ([0, 2], 5), {"func": np.ptp}),
        (ValueError, ([0, 1, 1], [[1, 2]]), {"func": "array", "axis": 1}),
        (ValueError, ([0, 1], [[1, 2]]), {"func": "array", "axis": 2}),
        (ValueError, ([-1, 1], [[1, 2]]), {"func": "array", "axis": 1}),
        (ValueError, (0, [[1, 2]]), {"func": "array", "axis": 1}),
        (ValueError, ([[0, 1, 1]], [[1, 2]]), {"axis": 1}),
        (ValueError, ([[0, 1], [1, 1]], [[1, 2]]), {"axis": 1}),
        (ValueError, ([[0, -1]], [[1, 2]]), {"axis": 1}),
        (ValueError, ([[0, 3]], [[1, 2]]), {"axis": 1, "size": 3}),
        (ValueError, ([[0, 1]], [[1, 2]]), {"axis": 1, "size": [3, 3]}),
        (ValueError, ([[0, 1]], [[1, 2]]), {"axis": -3}),
        (TypeError, ([[0.5, 1]], [[1, 2]]), {"axis": 1}),
        (ValueError, ([0, 2], [1, 2]), {"order": "K"}),
        (TypeError, ([0.5, 2], [1, 2]), {}),
        (TypeError, ([0, 2], [1, 2]), {"fill_value": None}),
        (TypeError, ([0, 2], [1, 2]), {"func": "argmax", "fill_value": None}),
        (TypeError, ([0, 2], [1, 2]), {"dtype": bool}),
        (TypeError, ([0, 2], [1, 2]), {"func": "len", "dtype": float}),
        (TypeError, ([0, 2], [1j, 2]), {"dtype": float}),
        (TypeError, ([0, 2], [1, 2]), {"by": 3}),
    ],
)
def test_errors(error, arguments, options):
    with pytest.raises(error):
        aggregate(*arguments, **options)


@pytest.mark.parametrize("func", ["sum", "argmax", "cumsum", "array", np.ptp])
@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_no_group_number_needs_a_size(func, shape):
    groups, values = np.zeros(shape, int), np.zeros(0)
    with pytest.raises(ValueError, match=r"group_idx has shape .* must not be empty where size"):
        strew.numpy_groupies.aggregate(groups, values, func)
    if len(shape) == 1:
        made = strew.numpy_groupies.aggregate(groups, values, func, size=3)
        assert len(made) == (0 if func == "cumsum" else 3)
