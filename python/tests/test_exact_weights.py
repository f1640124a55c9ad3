"""Exact weighted sums and means against fractions."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import strew

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [
    *map(np.dtype, "bool int8 int32 int64 uint64 float16 float32 float64".split()),
    BFLOAT16,
]
WEIGHTS = "bool uint8 int64 float32 float64".split()
BOTH = ["sum", "mean"]


def nearest(exact, dtype):
    """The number of a float type that is nearest to a fraction; of two, the even one."""
    try:
        near = exact.numerator / exact.denominator
    except OverflowError:
        near = np.inf if exact > 0 else -np.inf
    with np.errstate(over="ignore"):
        found = np.array(near).astype(dtype)
    if dtype == np.float64 or not np.isfinite(found.astype(float)):
        return found
    around = [found] + [np.nextafter(found, np.array(to, dtype)) for to in (-np.inf, np.inf)]
    bits = np.dtype(f"u{dtype.itemsize}")

    def worse(one):
        return abs(Fraction(float(one)) - exact), int(np.asarray(one).view(bits)) & 1

    return min((one for one in around if np.isfinite(one.astype(float))), key=worse)


def expected(values, weights, dtype):
    """The sum and the mean of one group, both of this dtype; no mean is NaN."""
    pairs = list(zip(values.tolist(), weights.tolist()))
    total = sum((Fraction(weight) for _, weight in pairs), Fraction(0))
    found = sum((Fraction(value) * Fraction(weight) for value, weight in pairs), Fraction(0))
    return nearest(found, dtype), nearest(found / total, dtype) if total else np.array(np.nan)


def drawn(rng, dtype, count, kind):
    """Values that are ordinary, of many magnitudes, of any magnitude, or often ties."""
    if dtype.kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low, high = (limits.min, limits.max) if kind == "any" else (0, 9)
        return rng.integers(low, high, count, dtype=dtype, endpoint=True)
    made = rng.normal(size=count)
    if kind == "many":
        made *= 2.0 ** rng.integers(-20, 20, count)
    elif kind == "any" and dtype == np.float64:
        made *= 2.0 ** rng.integers(-1060, 1000, count)
    elif kind == "ties":
        made = np.round(made * 4) / 4
    with np.errstate(over="ignore"):
        made = made.astype(dtype)
    return np.where(np.isfinite(made.astype(float)), made, np.ones(1, dtype))


@pytest.mark.parametrize("kind", ["ordinary", "many", "any", "ties"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_against_fractions(dtype, kind):
    rng = np.random.default_rng(1)
    for kind_of_weights in WEIGHTS:
        src, index = drawn(rng, dtype, 60, kind), rng.integers(0, 7, 60)
        weights = drawn(rng, np.dtype(kind_of_weights), 60, kind)
        found = strew.aggregate(src, index, BOTH, size=8, weights=weights, exact=True)
        kept = dtype if dtype.kind in "fV" else np.dtype(np.float64)
        for group in range(8):
            those = index == group
            right = expected(src[those], weights[those], kept)
            for one, other in zip(found, right):
                assert one.dtype == kept
                np.testing.assert_array_equal(float(one[group]), float(other))


def test_every_order_gives_the_same_bits():
    rng = np.random.default_rng(2)
    src, weights = rng.normal(size=(2, 1000, 3)) * 10.0 ** rng.integers(-9, 9, (2, 1000, 3))
    index = rng.integers(0, 5, 1000)
    found = strew.aggregate(src, index, BOTH, weights=weights, exact=True)
    for _ in range(5):
        order = rng.permutation(1000)
        again = strew.aggregate(src[order], index[order], BOTH, weights=weights[order], exact=True)
        for one, other in zip(found, again):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_shapes_plans_keys_and_modes(dim):
    rng = np.random.default_rng(3)
    src, weights = rng.normal(size=(2, 4, 5, 6))
    index = rng.integers(-2, 4, src.shape[dim])
    rules = {"size": 3, "mode": "drop"}
    found = strew.aggregate(src, index, "mean", dim=dim, weights=weights, exact=True, **rules)
    lines = np.moveaxis(src, dim, -1), np.moveaxis(weights, dim, -1)
    for at in np.ndindex(lines[0].shape[:2]):
        for group in range(3):
            those = index == group
            _, mean = expected(lines[0][at][those], lines[1][at][those], src.dtype)
            np.testing.assert_array_equal(np.moveaxis(found, dim, -1)[at][group], mean)
    plan = strew.Plan(index, **rules)
    again = strew.aggregate(src, plan, "mean", dim=dim, weights=weights, exact=True)
    np.testing.assert_array_equal(again, found)
    keys = (index % 2, index % 3)
    options = {"dim": dim, "weights": 2, "exact": True}
    found = strew.aggregate(src, keys, "mean", size=(2, 3), **options)
    flat = strew.aggregate(src, index % 2 * 3 + index % 3, "mean", size=6, **options)
    np.testing.assert_array_equal(found.reshape(flat.shape), flat)


def test_parts_of_complex_numbers():
    rng = np.random.default_rng(4)
    for dtype in (np.complex64, np.complex128):
        src = (rng.normal(size=50) + 1j * rng.normal(size=50)).astype(dtype)
        weights, index = rng.random(50), rng.integers(0, 4, 50)
        found = strew.aggregate(src, index, BOTH, weights=weights, exact=True)
        for part in ("real", "imag"):
            alone = strew.aggregate(getattr(src, part), index, BOTH, weights=weights, exact=True)
            for one, other in zip(found, alone):
                assert one.dtype == dtype
                np.testing.assert_array_equal(getattr(one, part), other)


def test_no_values():
    for shape in ((0,), (0, 3), (4, 0)):
        src, index = np.zeros(shape), np.zeros(shape[0], int)
        total, mean = strew.aggregate(src, index, BOTH, size=2, weights=np.ones(shape), exact=True)
        np.testing.assert_array_equal(total, np.zeros((2, *shape[1:])))
        np.testing.assert_array_equal(mean, np.full((2, *shape[1:]), np.nan))
    for one in strew.aggregate([], [], BOTH, size=0, weights=[], exact=True):
        assert one.shape == (0,)


def test_what_is_not_finite():
    nan, inf = np.nan, np.inf
    cases = [
        ([inf, 2.0], [2.0, 1.0], inf, inf),
        ([inf, -inf], [1.0, 1.0], nan, nan),
        ([inf, 1.0], [0.0, 1.0], nan, nan),
        ([nan, 1.0], [1.0, 1.0], nan, nan),
        ([2.0, 1.0], [nan, 1.0], nan, nan),
        ([2.0, 1.0], [inf, 1.0], inf, nan),
        # Products and sums that are too large, of means that are not.
        ([1e308, 1e308], [1e10, 1e10], inf, 1e308),
        ([1e308, 1e308], [1.0, 1.0], inf, 1e308),
        ([-1e308, 1e308], [1e10, 1e10], 0.0, 0.0),
        # Products that are too small.
        ([5e-324, 5e-324], [0.5, 0.5], 5e-324, 5e-324),
    ]
    for values, weights, total, mean in cases:
        found = strew.aggregate(values, [0, 0], BOTH, weights=weights, exact=True)
        np.testing.assert_array_equal([one[0] for one in found], [total, mean])
    mean = strew.aggregate([0.0, -0.0], [0, 0], "mean", weights=[-1, -1], exact=True)
    assert mean[0] == 0 and not np.signbit(mean[0])


def test_skipna_min_count_and_fill_values():
    src, index = np.array([1.0, np.nan, 3.0, 4.0, 6.0]), [0, 0, 0, 1, 1]
    found = strew.aggregate(
        src, index, ["sum", "mean", "count", "len"], size=3,
        weights=[1.0, 5.0, 3.0, 2.0, -2.0], skipna=True, fill_value=-1, exact=True,
    )  # fmt: skip
    for one, other in zip(found, [[10, -4, -1], [2.5, -1, -1], [2, 2, -1], [2, 2, -1]]):
        np.testing.assert_array_equal(one, other)
    few = strew.aggregate(src, index, "mean", weights=[1] * 5, skipna=True, min_count=3, exact=True)
    np.testing.assert_array_equal(few, [np.nan, np.nan])


@pytest.mark.parametrize("name", ["var", "std"])
def test_variances_refuse_it(name):
    with pytest.raises(ValueError, match=rf"^aggregate: exact = True: {name} with weights"):
        strew.aggregate([1.0, 2.0], [0, 0], ["sum", name], weights=[1, 1], exact=True)
