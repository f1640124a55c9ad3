"""strew.aggregate against plain loops over the groups."""

import math

import numpy as np
import pytest
import strew

DTYPES = "bool int8 int32 int64 uint8 uint64 float16 float32 float64 complex64 complex128".split()


def in_order(v, start, join):
    made = start
    for one in v:
        made = join(made, one)
    return made


def variance(v, ddof):
    if len(v) <= ddof:
        return None
    mean = in_order(v.astype(complex), 0, lambda a, b: a + b) / len(v)
    return in_order(abs(v - mean) ** 2, 0.0, lambda a, b: a + b) / (len(v) - ddof)


def moment(v, power):
    return np.sum((v - np.mean(v)) ** power)


def skew(v):
    if len(v) < 3:
        return None
    n, m2 = len(v), moment(v, 2)
    return 0 if m2 == 0 else n * math.sqrt(n - 1) / (n - 2) * moment(v, 3) / m2**1.5


def kurt(v):
    if len(v) < 4:
        return None
    n, m2 = len(v), moment(v, 2)
    if m2 == 0:
        return 0
    rest = (n - 2) * (n - 3)
    return (n * (n + 1) * (n - 1) * moment(v, 4) / m2**2 - 3 * (n - 1) ** 2) / rest


def position(v, best):
    return -1 if np.isnan(v).any() else int(best(v))


def mode(v):
    found, counts = np.unique(v, return_counts=True)
    return found[counts.argmax()]


def log_sum_exp(v):
    v = v.astype(float)
    if np.isnan(v).any() or np.isinf(v.max()):
        return v.max()
    return math.log(in_order([math.exp(x - v.max()) for x in v], 0.0, lambda a, b: a + b)) + v.max()


GROUPS = {
    "sum": (np.sum, 0),
    "prod": (np.prod, 1),
    "sumsq": (lambda v: np.sum((v * v.conj()).real) if v.dtype.kind == "c" else np.sum(v * v), 0),
    "mean": (np.mean, math.nan),
    "var": (lambda v: variance(v, 1), math.nan),
    "std": (lambda v: None if len(v) < 2 else math.sqrt(variance(v, 1)), math.nan),
    "sem": (lambda v: None if len(v) < 2 else math.sqrt(variance(v, 1) / len(v)), math.nan),
    "skew": (lambda v: skew(v.astype(float)), math.nan),
    "kurt": (lambda v: kurt(v.astype(float)), math.nan),
    "min": (np.min, None),
    "max": (np.max, None),
    "first": (lambda v: v[0], None),
    "last": (lambda v: v[-1], None),
    "len": (len, 0),
    "count": (lambda v: int((~np.isnan(v)).sum()), 0),
    "nunique": (lambda v: len(np.unique(v)), 0),
    "any": (np.any, False),
    "all": (np.all, True),
    "anynan": (lambda v: np.isnan(v).any(), False),
    "allnan": (lambda v: np.isnan(v).all(), True),
    "argmin": (lambda v: position(v, np.argmin), -1),
    "argmax": (lambda v: position(v, np.argmax), -1),
    "median": (np.median, math.nan),
    "quantile": (lambda v: np.quantile(v, 0.3), math.nan),
    "mode": (mode, None),
    "logsumexp": (log_sum_exp, math.nan),
}
RUNNING = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummin": np.minimum.accumulate,
    "cummax": np.maximum.accumulate,
    "sort": np.sort,
    "softmax": lambda v: np.exp(v - v.max()) / np.exp(v - v.max()).sum(),
}
REAL = {"median", "quantile", "logsumexp", "softmax", "skew", "kurt"}


def values(random, dtype, shape, nan=0.2):
    dtype = np.dtype(dtype)
    made = random.integers(0 if dtype.kind == "u" else -4, 5, shape) / (
        1 if dtype.kind in "iub" else 2
    )
    if dtype.kind == "c":
        made = made + 1j * random.integers(-2, 3, shape)
    if dtype.kind in "fc":
        made = np.where(random.random(shape) < nan, np.nan, made)
    return made.astype(dtype)


def wide(v):
    return v.astype(
        {"b": np.int64, "i": np.int64, "u": np.uint64, "f": np.float64, "c": np.complex128}[
            v.dtype.kind
        ]
    )


@pytest.mark.parametrize("skipna", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", GROUPS)
def test_one_for_each_group(name, dtype, skipna):
    random = np.random.default_rng([len(name), skipna, *dtype.encode()])
    function, empty = GROUPS[name]
    for _ in range(10):
        count, size = int(random.integers(0, 30)), int(random.integers(1, 7))
        groups, src = random.integers(0, size, count), values(random, dtype, count)
        options = {"size": size, "skipna": skipna, "ddof": 1, "q": 0.3}
        if src.dtype.kind == "c" and name in REAL:
            with pytest.raises(TypeError):
                strew.aggregate(src, groups, name, **options)
            continue
        found = strew.aggregate(src, groups, name, **options)
        assert found.shape == (size,)
        for group in range(size):
            places = np.flatnonzero(groups == group)
            v = wide(src[places])
            if skipna:
                places, v = places[~np.isnan(v)], v[~np.isnan(v)]
            expected = function(v) if len(v) else None
            if name.startswith("arg") and expected not in (None, -1):
                expected = places[expected]
            if expected is None:
                expected = (
                    empty if empty is not None else math.nan if found.dtype.kind in "fc" else 0
                )
            with np.errstate(all="ignore"):
                expected = np.asarray(expected).astype(found.dtype)
            # NumPy adds pairwise, and strew in order.
            np.testing.assert_allclose(
                found[group], expected, rtol=1e-3 if dtype == "float16" else 1e-6, atol=1e-12
            )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", RUNNING)
def test_one_for_each_value(name, dtype):
    random = np.random.default_rng([len(name), *dtype.encode()])
    for _ in range(10):
        groups, src = random.integers(0, 4, 20), values(random, dtype, 20, 0.0)
        if src.dtype.kind == "c" and name in REAL:
            continue
        found = strew.aggregate(src, groups, name)
        assert found.shape == src.shape
        for group in range(4):
            v = wide(src[groups == group])
            if len(v):
                with np.errstate(all="ignore"):
                    expected = RUNNING[name](v.astype(float) if name == "softmax" else v).astype(
                        found.dtype
                    )
                np.testing.assert_allclose(found[groups == group], expected, rtol=1e-3)


def test_running_results_over_nan():
    src = np.array([np.nan, 2.0, np.nan, 1.0])
    for name, kept, skipped in [
        ("cumsum", [np.nan] * 4, [0, 2, 2, 3]),
        ("cumprod", [np.nan] * 4, [1, 2, 2, 2]),
        ("cummax", [np.nan] * 4, [np.nan, 2, 2, 2]),
        ("sort", [1, 2, np.nan, np.nan], [1, 2, np.nan, np.nan]),
    ]:
        np.testing.assert_array_equal(strew.aggregate(src, [0] * 4, name), kept)
        np.testing.assert_array_equal(strew.aggregate(src, [0] * 4, name, skipna=True), skipped)
    shares = strew.aggregate(src, [0] * 4, "softmax", skipna=True, fill_value=-1)
    np.testing.assert_allclose(shares, [-1, np.e / (np.e + 1), -1, 1 / (np.e + 1)])


def test_several_at_once_are_each_alone():
    random = np.random.default_rng(2)
    src, groups = values(random, "float32", (3, 40, 2)), random.integers(0, 9, 40)
    names = [*GROUPS, *RUNNING]
    made = strew.aggregate(src, groups, names, dim=1, size=11, skipna=True)
    plan = strew.Plan(groups, 11)
    for name, one in zip(names, made):
        alone = strew.aggregate(src, groups, name, dim=-2, size=11, skipna=True)
        np.testing.assert_array_equal(one, alone)
        np.testing.assert_array_equal(strew.aggregate(src, plan, name, dim=1, skipna=True), alone)
        for i in range(3):
            for k in range(2):
                line = strew.aggregate(
                    np.ascontiguousarray(src[i, :, k]), groups, name, size=11, skipna=True
                )
                np.testing.assert_array_equal(one[i, :, k], line)


def test_results_have_one_set_of_bits():
    random = np.random.default_rng(8)
    src, groups = random.normal(size=20_000).astype(np.float32), random.integers(0, 300, 20_000)
    before = strew.get_num_threads()
    try:
        made = []
        for threads in (1, 2, 5):
            strew.set_num_threads(threads)
            made.append(
                strew.aggregate(src, groups, ["sum", "std", "median", "logsumexp", "softmax"])
            )
    finally:
        strew.set_num_threads(before)
    for others in made[1:]:
        for a, b in zip(made[0], others):
            assert a.tobytes() == b.tobytes()
    # The loop in float64, rounded once.
    sums = np.zeros(300)
    for group, value in zip(groups, src):
        sums[group] += float(value)
    np.testing.assert_array_equal(made[0][0], sums.astype(np.float32))


def test_what_is_left_out():
    groups, src = np.array([0, 7, 2, 0, 2]), np.array([1.0, 100.0, 3.0, 5.0, 2.0])
    np.testing.assert_array_equal(strew.aggregate(src, groups, "sum", ignore_index=7), [6, 0, 5])
    np.testing.assert_array_equal(
        strew.aggregate(src, groups, "cumsum", ignore_index=7), [1, np.nan, 3, 6, 5]
    )
    np.testing.assert_array_equal(
        strew.aggregate(src, groups, "sum", size=3, mode="drop"), [6, 0, 5]
    )
    np.testing.assert_array_equal(
        strew.aggregate(src, groups, "sum", size=3, mode="clip"), [6, 0, 105]
    )
    np.testing.assert_array_equal(
        strew.aggregate(src, groups - 3, "sum", size=3, mode="wrap", ignore_index=4), [6, 0, 5]
    )
    np.testing.assert_array_equal(
        strew.aggregate(src, groups, "mean", min_count=2, fill_value=-1, size=8)[[0, 7]], [3, -1]
    )
    with pytest.raises(IndexError):
        strew.aggregate(src, groups, "sum", size=2, ignore_index=7)


def test_types_of_results():
    for name, of, to in [
        ("sum", "int8", "int64"),
        ("cumsum", "uint8", "uint64"),
        ("sum", "float16", "float16"),
        ("mean", "bool", "float64"),
        ("var", "complex64", "float32"),
        ("median", "int32", "float64"),
        ("median", "float32", "float32"),
        ("mode", "int8", "int8"),
        ("nunique", "float32", "int64"),
        ("any", "int8", "bool"),
    ]:
        assert strew.aggregate(np.ones(2, of), [0, 0], name).dtype == to
    assert strew.aggregate(np.array([2**62, 1]), [0, 0], "sum").tolist() == [2**62 + 1]


@pytest.mark.parametrize(
    ("error", "arguments", "options"),
    [
        (ValueError, ([1.0], [0, 0], "sum"), {}),
        (ValueError, ([1.0, 2.0], [0, 0], "most"), {}),
        (ValueError, ([1.0, 2.0], [[0, 0]], "sum"), {}),
        (ValueError, ([1.0, 2.0], [0, 0], "quantile"), {"q": 1.5}),
        (ValueError, ([1, 2], [0, 0], "sum"), {"fill_value": float("nan")}),
        (ValueError, ([1, 2], strew.Plan([0, 0]), "sum"), {"size": 3}),
        (IndexError, ([1.0, 2.0], [0, -1], "sum"), {}),
        (IndexError, ([1.0, 2.0], [0, 1], "sum"), {"dim": 1}),
        (TypeError, ([1.0, 2.0], [0.5, 1], "sum"), {}),
        (TypeError, ([1j, 2.0], [0, 1], "median"), {}),
        (TypeError, ([1.0, 2.0], [0, 1], "sum"), {"fill_value": "x"}),
    ],
)
def test_errors(error, arguments, options):
    with pytest.raises(error, match="^aggregate: "):
        strew.aggregate(*arguments, **options)


def test_as_pandas_has_it():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(11)
    src, groups = random.normal(size=400), random.integers(0, 20, 400)
    src[random.random(400) < 0.1] = np.nan
    frame = pandas.Series(src).groupby(groups)
    for name in [
        "sum",
        "mean",
        "var",
        "std",
        "min",
        "max",
        "first",
        "last",
        "median",
        "nunique",
        "count",
        "prod",
    ]:
        found = strew.aggregate(src, groups, name, skipna=True, ddof=1)
        np.testing.assert_allclose(found, getattr(frame, name)().to_numpy(), rtol=1e-9)
    for name in ["cumsum", "cummax"]:
        found = strew.aggregate(src, groups, name, skipna=True)
        expected = getattr(frame, name)().to_numpy()
        np.testing.assert_allclose(found[~np.isnan(src)], expected[~np.isnan(src)], rtol=1e-9)
    found = strew.aggregate(src, groups, "quantile", skipna=True, q=0.25)
    np.testing.assert_allclose(found, frame.quantile(0.25).to_numpy(), rtol=1e-9)


@pytest.mark.parametrize("skipna", [False, True])
def test_threads_and_panels_do_not_show(skipna):
    """More values than one thread takes, groups of all sizes, columns in one panel and in several."""
    words = ["sum", "mean", "std", "min", "argmax", "count", "median", "last"]
    made = np.random.default_rng(11)
    for rows, width, groups in [(60_000, 17, 900), (3_000, 600, 2), (300_000, 1, 70_000)]:
        index = made.integers(0, groups, rows) * made.integers(0, 2, rows)
        values = made.normal(size=(rows, width)).astype(np.float32)
        values[made.integers(0, rows, 20)] = np.nan
        found = {}
        for threads in (1, 2, 5):
            strew.set_num_threads(threads)
            try:
                found[threads] = strew.aggregate(values, index, words, skipna=skipna)
            finally:
                strew.set_num_threads(None)
        for one, two, five, word in zip(*found.values(), words):
            assert one.tobytes() == two.tobytes() == five.tobytes()
            # A column by itself is made in the same order.
            alone = strew.aggregate(values[:, width - 1].copy(), index, word, skipna=skipna)
            assert alone.tobytes() == one[:, -1].tobytes(), word


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e9])
def test_moments_far_from_zero_are_those_of_two_passes(offset):
    random = np.random.default_rng(8)
    groups = random.integers(0, 50, 20_000)
    src = random.gamma(2.0, size=20_000) + offset
    found = strew.aggregate(src, groups, ["var", "std", "sem", "skew", "kurt"], ddof=1)
    for group in range(50):
        v = src[groups == group]
        # The mean's rounding would be of the size of the offset's.
        v = v - v[0]
        var = moment(v, 2) / (len(v) - 1)
        expected = [var, math.sqrt(var), math.sqrt(var / len(v)), skew(v), kurt(v)]
        np.testing.assert_allclose([one[group] for one in found], expected, rtol=1e-12)


def test_moments_are_those_of_pandas():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(9)
    groups, src = random.integers(0, 20, 500), random.normal(size=500)
    grouped = pandas.Series(src).groupby(groups)
    for name in ["var", "std", "sem", "skew"]:
        found = strew.aggregate(src, groups, name, ddof=1)
        np.testing.assert_allclose(found, getattr(grouped, name)(), rtol=1e-12)
    kurt = grouped.apply(lambda one: one.kurt())
    np.testing.assert_allclose(strew.aggregate(src, groups, "kurt"), kurt, rtol=1e-10)
