"""Aggregates with options, and functions of groups: against NumPy, loops and pandas."""

import numpy as np
import pytest
import strew

DTYPES = "bool int8 int64 uint8 uint64 float16 float32 float64 complex64 complex128".split()
PER_VALUE = ["rank", "argsort", "cumcount", "shift"]


def drawn(seed, dtype="float64", count=None, nan=0.2):
    """Groups of a few different values, some of them NaN and -0.0, and how many groups there are."""
    random = np.random.default_rng([seed, *str(dtype).encode()])
    dtype = np.dtype(dtype)
    count = int(random.integers(0, 40)) if count is None else count
    size = int(random.integers(1, 7))
    src = random.integers(0 if dtype.kind == "u" else -3, 4, count).astype(dtype)
    if dtype.kind == "c":
        src = src + 1j * random.integers(-2, 3, count)
    if dtype.kind in "fc":
        src = np.where(random.random(count) < nan, np.nan, np.where(src == 0, -src, src))
    return random.integers(0, size, count), src.astype(dtype), size


def none(dtype):
    return np.nan if np.dtype(dtype).kind in "fc" else 0


def ranks(values, method):
    """Each value's rank, NaN last and equal to NaN."""
    order = np.argsort(values, kind="stable")
    _, run, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    if method == "ordinal":
        made = np.empty(len(values))
        made[order] = np.arange(1, len(values) + 1)
        return made
    first = last - counts + 1
    by_run = {"min": first, "max": last, "average": (first + last) / 2}
    return (np.arange(1, len(last) + 1) if method == "dense" else by_run[method])[run]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_ranks(method, dtype):
    for seed in range(20):
        groups, src, size = drawn(seed, dtype)
        found = strew.aggregate(src, groups, "rank", size=size, method=method)
        skipped = strew.aggregate(src, groups, "rank", size=size, method=method, skipna=True)
        assert found.dtype == np.float64
        for group in range(size):
            expected = ranks(src[groups == group], method)
            np.testing.assert_array_equal(found[groups == group], expected)
            expected = np.where(np.isnan(src[groups == group]), np.nan, expected)
            np.testing.assert_array_equal(skipped[groups == group], expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_places_and_shifts(dtype):
    for seed in range(20):
        groups, src, size = drawn(seed, dtype)
        names = ["argsort", "cumcount"]
        places, counts = strew.aggregate(src, groups, names, size=size)
        assert places.dtype == counts.dtype == np.int64
        np.testing.assert_array_equal(src[places], strew.aggregate(src, groups, "sort", size=size))
        periods = seed % 7 - 3
        shifted = strew.aggregate(src, groups, "shift", size=size, periods=periods)
        assert shifted.dtype == src.dtype
        for group in range(size):
            own = np.flatnonzero(groups == group)
            order = np.argsort(src[own], kind="stable")
            np.testing.assert_array_equal(places[own], own[order])
            np.testing.assert_array_equal(counts[own], np.arange(len(own)))
            expected = np.full(len(own), none(dtype), dtype)
            for k in range(len(own)):
                if 0 <= k - periods < len(own):
                    expected[k] = src[own][k - periods]
            np.testing.assert_array_equal(shifted[own], expected)


@pytest.mark.parametrize("skipna", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_nth_and_the_best(dtype, skipna):
    for seed in range(20):
        groups, src, size = drawn(seed, dtype)
        n, k, largest = seed % 7 - 3, 1 + seed % 4, seed % 3 > 0
        options = {"size": size, "skipna": skipna, "n": n, "k": k, "largest": largest}
        names = ["nth", "topk", "argtopk"]
        nth, best, places = strew.aggregate(src, groups, names, **options)
        assert nth.dtype == best.dtype == src.dtype and places.dtype == np.int64
        assert best.shape == places.shape == (size, k)
        for group in range(size):
            own = np.flatnonzero(groups == group)
            own = own[~np.isnan(src[own])] if skipna else own
            there = -len(own) <= n < len(own)
            np.testing.assert_array_equal(nth[group], src[own][n] if there else none(dtype))
            # A stable descending order.
            order = np.argsort(src[own][::-1], kind="stable")[::-1]
            order = len(own) - 1 - order if largest else np.argsort(src[own], kind="stable")
            expected = own[order[:k]]
            np.testing.assert_array_equal(places[group, : len(expected)], expected)
            np.testing.assert_array_equal(best[group, : len(expected)], src[expected])
            assert (places[group, len(expected) :] == -1).all()
            rest = best[group, len(expected) :]
            np.testing.assert_array_equal(rest, np.full(len(rest), none(dtype), dtype))


def test_several_quantiles():
    for seed in range(20):
        groups, src, size = drawn(seed, "float32")
        q = np.random.default_rng(seed).random(seed % 9)
        found = strew.aggregate(src, groups, "quantile", size=size, skipna=True, q=q)
        assert found.shape == (len(q), size) and found.dtype == np.float32
        for n, one in enumerate(q):
            alone = strew.aggregate(src, groups, "quantile", size=size, skipna=True, q=one)
            np.testing.assert_array_equal(found[n], alone)
        for group in range(size):
            own = src[(groups == group) & ~np.isnan(src)].astype(float)
            expected = np.quantile(own, q) if len(own) else np.full(len(q), np.nan)
            np.testing.assert_array_equal(found[:, group], expected.astype(np.float32))


def test_order_statistics_have_the_bits_of_sorted_groups():
    """Many values of few groups, and all that shares the order of one group."""
    random = np.random.default_rng(3)
    src = np.round(random.normal(size=30_000), 2)
    assert (np.signbit(src) & (src == 0)).any()
    for values in [src, abs(src), (src * 100).astype(np.int64), src.astype(np.float16)]:
        groups = random.integers(0, 20, len(values))
        names = ["median", "quantile", "mode", "nunique", "sort", "topk"]
        q = [0.0, 0.1, 0.25, 0.5, 0.77, 1.0]
        made = dict(zip(names, strew.aggregate(values, groups, names, q=q, k=5)))
        for group in range(20):
            own = values[groups == group]
            ordered = np.sort(own.astype(float) if own.dtype.kind == "f" else own, kind="stable")
            number = made["median"][group]
            assert number == np.median(ordered).astype(number.dtype)
            expected = np.quantile(ordered, q).astype(number.dtype)
            np.testing.assert_array_equal(made["quantile"][:, group], expected)
            found, counts = np.unique(own, return_counts=True)
            assert made["mode"][group] == found[counts.argmax()]
            assert made["nunique"][group] == len(found)
            assert made["sort"][groups == group].tobytes() == ordered.astype(own.dtype).tobytes()
            np.testing.assert_array_equal(made["topk"][group], ordered[:-6:-1].astype(own.dtype))


def test_several_axes_are_each_line():
    random = np.random.default_rng(4)
    src, groups = random.integers(0, 9, (3, 25, 2)).astype(np.float32), random.integers(0, 4, 25)
    src[random.random(src.shape) < 0.1] = np.nan
    plan, options = strew.Plan(groups, 5), {"q": [0.2, 0.9], "k": 3, "n": -2, "skipna": True}
    names = [*PER_VALUE, "nth", "topk", "argtopk", "quantile"]
    made = strew.aggregate(src, plan, names, dim=1, **options)
    for name, one in zip(names, made):
        alone = strew.aggregate(src, groups, name, dim=-2, size=5, **options)
        np.testing.assert_array_equal(one, alone)
        word = f"nan{name}"
        rest = {key: value for key, value in options.items() if key != "skipna"}
        by_index = strew.scatter(src, groups, 1, dim_size=5, reduce=word, **rest)
        np.testing.assert_array_equal(by_index, one)
        # Every line with an index of its own, which is the same.
        index = np.broadcast_to(groups[:, None], src.shape)
        lines = strew.scatter(src, index, 1, dim_size=5, reduce=word, **rest)
        np.testing.assert_array_equal(lines, one)
        for i in range(3):
            for j in range(2):
                line = strew.aggregate(src[i, :, j].copy(), plan, name, **options)
                part = one[:, i, :, j] if name == "quantile" else one[i, :, ..., j]
                part = one[i, :, j] if "topk" in name and one.ndim == 3 else part
                np.testing.assert_array_equal(part, line)


def test_threads_do_not_show():
    random = np.random.default_rng(5)
    groups, src = random.integers(0, 900, 100_000), random.integers(0, 50, 100_000) / 8
    names = ["nth", "topk", "argtopk", "quantile"]
    made = []
    for threads in (1, 2, 5):
        strew.set_num_threads(threads)
        try:
            made.append(strew.aggregate(src, groups, names, k=4, q=[0.1, 0.6], size=950))
        finally:
            strew.set_num_threads(None)
    for one, *others in zip(*made):
        assert all(one.tobytes() == other.tobytes() for other in others)


def test_what_is_left_out_gets_the_fill_value():
    groups, src = np.array([0, 7, 2, 0]), np.array([3.0, 100.0, 3.0, 1.0])
    for name, expected in [
        ("rank", [2, -5, 1, 1]),
        ("argsort", [3, -5, 2, 0]),
        ("cumcount", [0, -5, 0, 1]),
        ("shift", [-5, -5, -5, 3]),
    ]:
        found = strew.aggregate(src, groups, name, ignore_index=7, fill_value=-5)
        np.testing.assert_array_equal(found, expected)
        few = strew.aggregate(src, groups, name, ignore_index=7, fill_value=-5, min_count=2)
        assert few[2] == -5 and few[3] == expected[3]


def test_a_function_of_each_group():
    random = np.random.default_rng(6)
    groups, src = random.integers(0, 5, 60), random.normal(size=(3, 60, 2))
    plan = strew.Plan(groups, 7)
    made, most = strew.aggregate(src, plan, [lambda v: np.median(v, 1), "max"], dim=1)
    np.testing.assert_array_equal(made, strew.aggregate(src, plan, "median", dim=1))
    np.testing.assert_array_equal(most, strew.aggregate(src, plan, "max", dim=1))
    seen = []
    numbers = strew.aggregate(src[0, :, 0], groups, lambda v: seen.append(v) or len(v), size=7)
    assert numbers.dtype.kind == "i" and numbers[5:].tolist() == [0, 0] and len(seen) == 5
    np.testing.assert_array_equal(numbers, np.bincount(groups, minlength=7))
    for group, values in enumerate(seen):
        np.testing.assert_array_equal(values, src[0, groups == group, 0])
    pairs = strew.aggregate(src[0, :, 0], groups, lambda v: v[:2], size=6, fill_value=-1)
    assert pairs.shape == (6, 2) and pairs[5].tolist() == [-1, -1]
    dropped = strew.aggregate(src[0, :, 0], groups, len, size=2, mode="drop", min_count=10**6)
    np.testing.assert_array_equal(dropped, [np.nan, np.nan])
    found = strew.scatter(src, groups, 1, dim_size=7, reduce=lambda v: v.sum(1))
    np.testing.assert_array_equal(
        found,
        np.stack(
            [src[:, groups == g].sum(1) if g < 5 else np.full((3, 2), np.nan) for g in range(7)], 1
        ),
    )
    index = random.integers(0, 4, (3, 8))
    lines = strew.scatter(src[:, :8, 0], index, 1, dim_size=4, reduce=np.max, fill_value=0)
    np.testing.assert_array_equal(
        lines, strew.scatter(src[:, :8, 0], index, 1, dim_size=4, reduce="max", fill_value=0)
    )
    assert strew.aggregate([], [], len).shape == (0,)


@pytest.mark.parametrize(
    ("error", "words", "reduce", "options"),
    [
        (ValueError, "k = 0: it must be at least 1", "topk", {"k": 0}),
        (ValueError, "k = -2: it must be at least 1", "topk", {"k": -2}),
        (ValueError, "k = 9223372036854775808: it must be at most", "topk", {"k": 2**63}),
        (ValueError, "min_count = -1: it must be at least 0", "sum", {"min_count": -1}),
        (TypeError, "k = 1.5: it must be an integer", "topk", {"k": 1.5}),
        (TypeError, "periods = None: it must be an integer", "shift", {"periods": None}),
        (TypeError, "n = 'x': it must be an integer", "nth", {"n": "x"}),
        (TypeError, "method = 3: it must be a string", "rank", {"method": 3}),
        (TypeError, "largest = 1: it must be True or False", "topk", {"largest": 1}),
        (TypeError, "ddof = 'x': it must be a number", "var", {"ddof": "x"}),
        (TypeError, "ddof = '1': it must be a number", "var", {"ddof": "1"}),
        (TypeError, "ddof = 1000.*: it must be a number", "var", {"ddof": 10**400}),
        (MemoryError, "bytes", "topk", {"k": 2**62}),
        (ValueError, "q = 1.5: it must be from 0 to 1", "quantile", {"q": [0.5, 1.5]}),
        (ValueError, "q has 3 dimensions", "quantile", {"q": [[[0.5]]]}),
        (
            ValueError,
            'method = "first": of a rank it must be one of average',
            "rank",
            {"method": "first"},
        ),
        (ValueError, "skipna", len, {"skipna": True}),
        (ValueError, r"shape \(2,\) for group 1: it must be \(1,\)", lambda v: v, {}),
        (
            ValueError,
            "fill_value = 0.5: the results are of int64",
            len,
            {"fill_value": 0.5, "size": 3},
        ),
        (ValueError, "fill_value = 'x'", len, {"fill_value": "x", "size": 3}),
        (ValueError, "fill_value = inf", len, {"fill_value": float("inf"), "size": 3}),
        (ValueError, "fill_value = 1j: the results are of float64", sum, {"fill_value": 1j}),
        (IndexError, "dim = 1", len, {"dim": 1}),
    ],
)
def test_errors(error, words, reduce, options):
    with pytest.raises(error, match=f"^aggregate: .*{words}"):
        strew.aggregate([1.0, 2.0, 3.0], [0, 1, 1], reduce, **options)


def test_errors_of_a_function():
    with pytest.raises(IndexError, match=r"^aggregate: index\[1\] = 9"):
        strew.aggregate([1.0, 2.0], [0, 9], len, size=3)
    with pytest.raises(ValueError, match="must be 2"):
        strew.aggregate([1.0], [0, 1], len)
    with pytest.raises(TypeError, match="does not take q"):
        strew.scatter([1.0], [0], q=0.5)
    with pytest.raises(ZeroDivisionError):
        strew.aggregate([1.0], [0], lambda v: 1 // 0)


def test_as_pandas_has_it():
    pandas = pytest.importorskip("pandas")
    for seed in range(30):
        groups, src, size = drawn(seed, count=60)
        series = pandas.Series(src)
        grouped = series.groupby(pandas.Categorical(groups, range(size)), observed=False)
        options = {"size": size, "skipna": True}
        for method in ["average", "min", "max", "dense", "first"]:
            word = "ordinal" if method == "first" else method
            found = strew.aggregate(src, groups, "rank", method=word, **options)
            np.testing.assert_array_equal(found, grouped.rank(method=method))
            found = strew.aggregate(src, groups, "rank", method=word, size=size)
            expected = grouped.rank(method=method, na_option="bottom")
            np.testing.assert_array_equal(found, expected)
        found = strew.aggregate(src, groups, "cumcount", size=size)
        np.testing.assert_array_equal(found, grouped.cumcount())
        for n in (-3, -1, 0, 2):
            found = strew.aggregate(src, groups, "shift", size=size, periods=n)
            np.testing.assert_array_equal(found, grouped.shift(n))
            expected = grouped.nth(n, dropna="any")
            found = strew.aggregate(src, groups, "nth", n=n, **options)
            np.testing.assert_array_equal(found[groups[expected.index]], expected)
        found = strew.aggregate(src, groups, "quantile", q=[0.2, 0.5], **options)
        expected = grouped.quantile([0.2, 0.5]).to_numpy().reshape(size, 2)
        np.testing.assert_allclose(found.T, expected, rtol=1e-14)
        for largest, name in [(True, "nlargest"), (False, "nsmallest")]:
            options |= {"k": 3, "largest": largest}
            best, places = strew.aggregate(src, groups, ["topk", "argtopk"], **options)
            expected = getattr(series.groupby(groups), name)(3).dropna()
            assert expected.index.get_level_values(1).tolist() == places[places >= 0].tolist()
            np.testing.assert_array_equal(best[places >= 0], expected)
        found = strew.aggregate(src, groups, np.ptp, size=size)
        expected = series.groupby(groups).apply(lambda v: np.ptp(v.to_numpy()))
        np.testing.assert_array_equal(found[np.unique(groups)], expected)
