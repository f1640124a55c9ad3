"""strew.numpy against NumPy itself, bit for bit."""

import warnings
from contextlib import suppress

import numpy as np
import pytest
import strew

BINARY = [
    name for name in strew.numpy.__all__ if getattr(getattr(strew.numpy, name), "nin", 0) == 2
]
UNARY = [name for name in strew.numpy.__all__ if getattr(getattr(strew.numpy, name), "nin", 0) == 1]
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
# What strew rounds once, where NumPy rounds each step.
ONCE = {"add", "subtract", "multiply", "divide"}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def values(random, dtype, shape, low=-9):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return random.integers(0 if dtype.kind == "u" else low, 10, shape).astype(dtype)
    made = random.integers(low, 10, shape) / 2
    if dtype.kind == "c":
        made = made + 1j * random.integers(low, 10, shape) / 2
    special = np.array([np.nan, np.inf, -0.0, 0.0, 1e30])
    return np.where(random.random(shape) < 0.1, special[random.integers(0, 5, shape)], made).astype(
        dtype
    )


def index(random, shape):
    """Something between the brackets."""
    kinds = ["array", "array", "slice", "int", "newaxis", "mask", "ellipsis", "list"]
    entries, axis, batch = [], 0, random.integers(0, 5, random.integers(0, 3)).tolist()
    while axis < len(shape):
        size = shape[axis]
        kind = kinds[random.integers(len(kinds))]
        if kind == "ellipsis":
            if not any(entry is Ellipsis for entry in entries):
                entries.append(Ellipsis)
                axis += random.integers(0, len(shape) - axis)
        elif kind == "newaxis":
            entries.append(None)
        elif kind == "slice":
            step = [1, 2, -1, None][random.integers(4)]
            first = None if random.random() < 0.5 else int(random.integers(size + 1))
            entries.append(slice(first, None, step))
            axis += 1
        elif kind == "mask":
            # Only one: several must name as many places.
            if any(getattr(entry, "dtype", None) == bool for entry in entries):
                continue
            entries.append(random.random(shape[axis : axis + 2]) < 0.5)
            axis += len(shape[axis : axis + 2])
            batch = [int(entries[-1].sum())]
            entries = [
                e if not (isinstance(e, np.ndarray) and e.dtype != bool) else e.ravel()[:1]
                for e in entries
            ]
        elif kind == "int" and size:
            entries.append(int(random.integers(-size, size)))
            axis += 1
        elif size or 0 in batch:
            masked = any(getattr(entry, "dtype", None) == bool for entry in entries)
            wanted = [1] if masked else [n if random.random() < 0.8 else 1 for n in batch]
            made = random.integers(-max(size, 1), max(size, 1), wanted)
            dtype = ["int8", "int64", "int32"][random.integers(3)]
            entries.append(made.tolist() if kind == "list" and made.size else made.astype(dtype))
            axis += 1
        else:
            break
        if random.random() < 0.15:
            break
    return tuple(entries) if len(entries) != 1 or random.random() < 0.5 else entries[0]


def one_by_one(function, a, between, b):
    """The loop that ``at`` is said to be. (NumPy's own takes the rows of a 2-d index with a 1-d `b`
    one element too far.)
    """
    places = np.arange(a.size).reshape(a.shape)[between]
    made = a.copy().reshape(-1)
    for place, by in zip(places.ravel(), np.broadcast_to(b, places.shape).ravel()):
        made[place] = function(made[place : place + 1], np.array([by], b.dtype)).astype(a.dtype)[0]
    return made.reshape(a.shape)


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name, seed):
    random = np.random.default_rng([seed, *name.encode()])
    for _ in range(12):
        shape = random.integers(0, 5, random.integers(1, 4)).tolist()
        of, by = (DTYPES[random.integers(len(DTYPES))] for _ in range(2))
        by = of if random.random() < 0.5 else by
        a, between = values(random, of, shape), index(random, shape)
        try:
            picked = a[between]
        except IndexError:
            with suppress(IndexError, TypeError):
                # What is not indexed at all may be anywhere.
                found = getattr(strew.numpy, name).at(a.copy(), between, 1)
                np.testing.assert_array_equal(found, a)
            continue
        wanted = [n for n in np.shape(picked) if random.random() < 2]
        wanted = [n if random.random() < 0.8 else 1 for n in wanted][
            random.integers(0, len(wanted) + 1) :
        ]
        b = values(random, by, wanted, 0 if name == "power" else -9)
        said = f"{name} of {of}{shape} at {between!r} by {by}{b.tolist()}"
        found = a.copy()
        try:
            getattr(np, name).at(a.copy(), between, b)
            expected = one_by_one(getattr(np, name), a, between, b)
        except (TypeError, ValueError) as error:
            if picked.size:
                with pytest.raises(type(error)):
                    getattr(strew.numpy, name).at(found, between, b)
                np.testing.assert_array_equal(found, a)
            continue
        try:
            assert getattr(strew.numpy, name).at(found, between, b) is found, said
        except ValueError as error:
            raise AssertionError(said + str(picked.shape)) from error
        kind, wide = np.dtype(of).kind, np.result_type(of, by).kind
        if kind in "iub" and (wide in "fc" or name == "divide"):
            continue  # What an integer cannot hold: C leaves it undefined.
        close = (name == "power" and wide in "fc") or (kind == "c" and name in ONCE)
        if close:
            np.testing.assert_allclose(
                found, expected, rtol=2e-3 if of == "float16" else 1e-5, err_msg=said
            )
        else:
            np.testing.assert_array_equal(found, expected, err_msg=said)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one(name, seed):
    random = np.random.default_rng([seed, *name.encode()])
    for dtype in DTYPES:
        shape = random.integers(0, 5, random.integers(1, 4)).tolist()
        a, between = values(random, dtype, shape), index(random, shape)
        expected, found = a.copy(), a.copy()
        try:
            getattr(np, name).at(expected, between)
        except (IndexError, TypeError) as error:
            with pytest.raises(type(error)):
                getattr(strew.numpy, name).at(found, between)
            continue
        assert getattr(strew.numpy, name).at(found, between) is found
        # NumPy's magnitudes are off by a last place here and there.
        close = {"complex64": 1e-6, "complex128": 1e-14}.get(dtype, 0) if name == "absolute" else 0
        np.testing.assert_allclose(
            found, expected, close, err_msg=f"{name} of {dtype}{shape} at {between!r}"
        )


@pytest.mark.parametrize("of", ["int8", "uint16", "int64", "bool"])
@pytest.mark.parametrize("name", BINARY)
def test_floats_into_integers(name, of):
    """Each step is cut off, where the integer can hold it."""
    a, between, b = (
        np.array([3, 5, 1, 7]).astype(of),
        [0, 2, 0, 3, 3],
        np.array([1.5, 2.0, 0.75, 1.0, 2.25]),
    )
    expected, found = a.copy(), a.copy()
    try:
        getattr(np, name).at(expected, between, b)
    except TypeError:
        with pytest.raises(TypeError):
            getattr(strew.numpy, name).at(found, between, b)
        return
    same(getattr(strew.numpy, name).at(found, between, b), expected)


def test_integers_of_all_sizes():
    for name in ["floor_divide", "left_shift", "right_shift", "power", "multiply"]:
        for dtype in DTYPES[1:9]:
            info = np.iinfo(dtype)
            a = np.array([info.min, info.max, 0, 1, info.max // 2, info.max], dtype)
            for by in [
                0,
                1,
                2,
                7,
                8,
                15,
                33,
                64,
                100,
                *([-1, -2] if info.min and name != "power" else []),
            ]:
                b = np.full(6, by, dtype)
                expected, found = a.copy(), a.copy()
                getattr(np, name).at(expected, np.arange(6), b)
                same(getattr(strew.numpy, name).at(found, np.arange(6), b), expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_are_rounded_down_as_numpy_does(dtype):
    random = np.random.default_rng(5)
    a = np.concatenate(
        [random.normal(size=200) * 9, [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -1.0]]
    ).astype(dtype)
    for by in [0.1, -0.1, 3.0, -3.0, 0.0, -0.0, np.inf, -np.inf, np.nan]:
        b = np.full(len(a), by, dtype)
        expected, found = a.copy(), a.copy()
        np.floor_divide.at(expected, np.arange(len(a)), b)
        strew.numpy.floor_divide.at(found, np.arange(len(a)), b)
        same(found, expected)
        np.testing.assert_array_equal(
            np.signbit(found[~np.isnan(found)]), np.signbit(expected[~np.isnan(expected)])
        )


def test_sums_of_16_bit_floats_are_rounded_one_by_one():
    a = np.zeros(1, np.float16)
    strew.numpy.add.at(a, np.zeros(4000, int), np.float16(1))
    assert a == 2048


def test_many_updates():
    random = np.random.default_rng(3)
    places = random.integers(-50, 50, 20_000)
    pairs = ["bitwise_xor int32", "fmax float32", "add float64", "add int8", "logical_xor bool"]
    for name, dtype in map(str.split, pairs):
        a, b = values(random, dtype, 50), values(random, dtype, 20_000)
        expected = a.copy()
        getattr(np, name).at(expected, places, b)
        same(getattr(strew.numpy, name).at(a, places, b), expected)
    # A double that float32 does not hold counts as what it is.
    a = np.zeros(3, np.float32)
    expected = a.copy()
    np.add.at(expected, places % 3, 0.1)
    same(strew.numpy.add.at(a, places % 3, 0.1), expected)


def test_views():
    whole = np.zeros((4, 6))
    part = whole[::2, ::-2].T
    strew.numpy.add.at(part, ([0, 0, 2], [1, 1, 0]), [1.0, 2.0, 4.0])
    assert whole[2, 5] == 3 and whole[0, 1] == 4 and whole.sum() == 7
    strew.numpy.power.at(part, (slice(None), 1), 2)
    assert whole[2, 5] == 9
    # What is added is read before anything changes.
    a = np.arange(1.0, 6)
    same(strew.numpy.add.at(a, np.arange(5), a[::-1]), np.full(5, 6.0))


@pytest.mark.parametrize(
    ("between", "by", "error"),
    [
        ([9], 1, IndexError),
        ([0.5], 1, IndexError),
        ((0, 0), 1, IndexError),
        ([True, False], 1, IndexError),
        ((..., ...), 1, IndexError),
        ([0, 1], [1, 2, 3], ValueError),
        ([0], None, ValueError),
    ],
)
def test_errors(between, by, error):
    for name in ["add", "fmax"]:
        a = np.arange(5.0)
        with pytest.raises(error):
            getattr(strew.numpy, name).at(a, between, by)
        same(a, np.arange(5.0))
    with pytest.raises(ValueError, match="unary"):
        strew.numpy.negative.at(np.zeros(2), [0], 1)
    with pytest.raises(ValueError, match="negative integer powers"):
        strew.numpy.power.at(np.arange(3), [0, 1], [2, -1])
    with pytest.raises(TypeError):
        strew.numpy.subtract.at(np.zeros(2, bool), [0], True)
    read_only = np.zeros(3)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        strew.numpy.add.at(read_only, [0], 1)


@pytest.mark.parametrize("seed", range(60))
def test_put_along_axis(seed):
    random = np.random.default_rng(seed)
    shape = random.integers(1, 5, random.integers(1, 4)).tolist()
    axis = [None, *range(-len(shape), len(shape))][random.integers(2 * len(shape) + 1)]
    of, by = (DTYPES[random.integers(12)] for _ in range(2))
    arr = values(random, of, shape)
    if random.random() < 0.3:
        arr = arr[..., ::-1]
    if axis is None:
        size, wanted = arr.size, [int(random.integers(0, 6))]
    else:
        size = shape[axis]
        wanted = [n if random.random() < 0.7 else 1 for n in shape]
        wanted[axis] = int(random.integers(0, 6))
    indices = random.integers(-size, size, wanted)
    puts = np.nan_to_num(
        values(random, by, [n if random.random() < 0.7 else 1 for n in wanted], 0), posinf=1
    )
    expected, found = arr.copy(), arr.copy()
    puts = np.clip(puts, 0, 100)
    np.put_along_axis(expected, indices, puts, axis)
    assert strew.numpy.put_along_axis(found, indices, puts, axis) is found
    same(found, expected)


def test_put_along_axis_repeats_both():
    arr = np.zeros((1, 3))
    expected = arr.copy()
    indices, puts = np.array([[0], [2]]), np.array([[1], [2]])
    np.put_along_axis(expected, indices, puts, 1)
    same(strew.numpy.put_along_axis(arr, indices, puts, 1), expected)
    for error, wrong in [
        (IndexError, (np.array([[0.0]]), 5, 1)),
        (ValueError, (np.array([0]), 5, 1)),
        (ValueError, (np.array([[0]]), 5, None)),
        (IndexError, (np.array([[7]]), 5, 1)),
        (IndexError, (np.array([[0]]), 5, 3)),
        (ValueError, (np.array([[0, 1]]), np.ones((4, 1)), 1)),
    ]:
        with pytest.raises(error):
            strew.numpy.put_along_axis(arr, *wrong)


@pytest.mark.parametrize("seed", range(20))
def test_bincount(seed):
    random = np.random.default_rng(seed)
    x = random.integers(0, 7, random.integers(0, 40)).astype(
        ["int8", "int64", "uint16", "uint64"][random.integers(4)]
    )
    least = int(random.integers(0, 9))
    same(strew.numpy.bincount(x, minlength=least), np.bincount(x.astype(int), minlength=least))
    weights = np.nan_to_num(values(random, DTYPES[random.integers(12)], len(x)))
    same(strew.numpy.bincount(x, weights, least), np.bincount(x.astype(int), weights, least))


def test_bincount_has_more_than_numpy_s():
    random = np.random.default_rng(1)
    x = random.integers(0, 5, (4, 6, 3))
    found = strew.numpy.bincount(x, axis=1)
    assert found.shape == (4, 5, 3) and found.dtype == np.int64
    for i in range(4):
        for k in range(3):
            same(found[i, :, k], np.bincount(x[i, :, k], minlength=5))
    weights = random.normal(size=x.shape) + 1j * random.normal(size=x.shape)
    found = strew.numpy.bincount(x, weights, axis=-1)
    for i in range(4):
        for k in range(6):
            same(found[i, k].real, np.bincount(x[i, k], weights[i, k].real, 5))
            same(found[i, k].imag, np.bincount(x[i, k], weights[i, k].imag, 5))
    row = random.integers(0, 5, 6)
    out = np.full((4, 7, 3), 9.0)
    assert strew.numpy.bincount(row, weights.real.astype(np.float32), axis=1, out=out) is out
    for i in range(4):
        for k in range(3):
            same(out[i, :, k], np.bincount(row, weights.real[i, :, k].astype(np.float32), 7))
    before = out.copy()
    for error, wrong in [
        (ValueError, {"x": [-1]}),
        (ValueError, {"x": [[0]]}),
        (ValueError, {"x": [0], "weights": [1, 2]}),
        (ValueError, {"x": [0], "minlength": -1}),
        (TypeError, {"x": [0.5]}),
        (IndexError, {"x": [0], "axis": 2}),
        (ValueError, {"x": x + 5, "weights": weights.real, "axis": 1, "out": out}),
        (TypeError, {"x": x, "axis": 1, "out": out}),
    ]:
        with pytest.raises(error):
            strew.numpy.bincount(**wrong)
    same(out, before)
