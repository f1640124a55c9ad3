"""Exact sums and means: those of fractions, whatever the order."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import strew

FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
KINDS = ["normal", "many magnitudes", "cancelling", "bits"]


def values(kind, dtype, shape, rng):
    """Random values of a kind."""
    if kind == "bits":
        size = np.dtype(dtype).itemsize
        bits = rng.integers(0, 256, size=(int(np.prod(shape)), size), dtype=np.uint8)
        made = bits.view(dtype).reshape(shape)
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(made.astype(np.float64)), made, np.ones_like(made))
    made = rng.normal(size=shape)
    if kind == "many magnitudes":
        made = made * np.exp2(rng.integers(-12, 12, size=shape))
    if kind == "cancelling":
        made = np.where(rng.random(shape) < 0.5, np.abs(made), -np.abs(made)) * 1e4
    with np.errstate(all="ignore"):
        return made.astype(dtype)


def nearest(sum_of, dtype):
    """The number of a type that is nearest to a fraction; of two, the even one."""
    info = ml_dtypes.finfo(dtype)
    digits = info.nmant + 1
    if sum_of == 0:
        return dtype(0)
    size = abs(sum_of)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > size
    last = max(exponent, info.minexp) - digits + 1
    rounded = Fraction(round(size / Fraction(2) ** last)) * Fraction(2) ** last
    infinite = rounded >= Fraction(2) ** int(info.maxexp)
    made = math.inf if infinite else float(rounded)
    return dtype(-made if sum_of < 0 else made)


def same_bits(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_and_means_are_those_of_fractions(dtype, kind):
    rng = np.random.default_rng(5)
    for count, cells in [(1, 3), (40, 3), (3000, 700)]:
        src, index = values(kind, dtype, count, rng), rng.integers(0, cells, count)
        sums, means = [], []
        for cell in range(cells):
            those = [Fraction(float(value)) for value in src[index == cell]]
            sums.append(nearest(sum(those, Fraction(0)), dtype))
            means.append(nearest(sum(those, Fraction(0)) / max(len(those), 1), dtype))
        for reduce, expected in [("sum", sums), ("mean", means)]:
            expected = np.array(expected, dtype)
            found = strew.scatter(src, index, dim_size=cells, reduce=reduce, exact=True)
            plan = strew.Plan(index, cells)
            same_bits(plan.scatter(src, f"exact_{reduce}"), expected)
            if reduce == "mean":
                expected[np.bincount(index, minlength=cells) == 0] = np.nan
            same_bits(found, expected)
            same_bits(strew.scatter(src, None, plan=plan, reduce=reduce, exact=True), expected)


@pytest.mark.parametrize("dtype", [*FLOATS, np.complex64, np.complex128])
def test_the_order_and_the_threads_change_no_bit(dtype):
    rng = np.random.default_rng(6)
    for shape, cells in [((200_000,), 50), ((200_000,), 90_000), ((20_000, 24), 900)]:
        src = values("many magnitudes", np.float64, shape, rng).astype(dtype)
        if np.dtype(dtype).kind == "c":
            src = src * dtype(1 + 3j)
        index = rng.integers(0, cells, shape[0])
        order = rng.permutation(shape[0])
        by_row = np.argsort(index, kind="stable")
        expected = strew.scatter(src, index, 0, dim_size=cells, exact=True)
        threads = strew.get_num_threads()
        try:
            for number in (1, 2, 3, 8):
                strew.set_num_threads(number)
                for some in (slice(None), order, by_row):
                    same_bits(
                        strew.scatter(src[some], index[some], 0, dim_size=cells, exact=True),
                        expected,
                    )
        finally:
            strew.set_num_threads(threads)
        # In chunks, each rounded on its own, the sum is another one; in one call it is not.
        twice = strew.scatter(
            np.concatenate([src, src]),
            np.concatenate([index, index]),
            0,
            dim_size=cells,
            exact=True,
        )
        with np.errstate(over="ignore"):
            same_bits(twice, expected * dtype(2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize(("cells", "outliers"), [(1000, 0), (1000, 5), (300_000, 5)])
def test_threads_share_many_values(dtype, index_dtype, cells, outliers):
    """As many as two threads share out along the values, few of them outside of the window."""
    rng = np.random.default_rng(11)
    src = rng.normal(size=4_000_000).astype(dtype)
    src[1_000_000 : 1_000_000 + outliers] *= 1e-30
    index = rng.integers(0, cells, size=len(src)).astype(index_dtype)
    made = {}
    for threads in (1, 2, 3):
        strew.set_num_threads(threads)
        try:
            for reduce in ("exact_sum", "exact_mean"):
                made[threads, reduce] = strew.scatter(src, index, size=cells, reduce=reduce)
            with pytest.raises(IndexError, match=rf"index\[\d+\] = {cells - 1}"):
                strew.scatter(src, index, size=cells - 1, exact=True)
        finally:
            strew.set_num_threads(None)
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(cells + 1))
    for cell in (0, 1, 7, index[1_000_000], index[1_000_001], cells - 1):
        group = src[order[starts[cell] : starts[cell + 1]]]
        exact = sum(map(Fraction, group.tolist()))
        if len(group):
            assert nearest(exact, dtype) == made[1, "exact_sum"][cell]
            assert nearest(exact / len(group), dtype) == made[1, "exact_mean"][cell]
    for (_, reduce), got in made.items():
        assert got.tobytes() == made[1, reduce].tobytes()


def test_float64_sums_are_those_of_fsum():
    rng = np.random.default_rng(7)
    src = values("bits", np.float64, 5000, rng) * 1e-20
    index = rng.integers(0, 60, 5000)
    expected = np.array([math.fsum(src[index == cell]) for cell in range(60)])
    same_bits(strew.scatter(src, index, exact=True), expected)


def test_special_values():
    inf, nan = math.inf, math.nan
    src = np.array([inf, 1.0, -inf, inf, nan, -0.0, -0.0, 1e308, 1e308, -1e308])
    index = np.array([0, 0, 1, 1, 2, 3, 3, 4, 4, 4])
    found = strew.scatter(src, index, exact=True)
    np.testing.assert_array_equal(found, [inf, nan, nan, 0.0, 1e308])
    assert math.copysign(1, found[3]) == 1


@pytest.mark.parametrize("include_self", [True, False])
def test_into_an_array(include_self):
    out = np.array([1e16, -0.0, 3.0, 5.0])
    src, index = np.array([1.0, -1e16, 1.0, 0.5]), np.array([0, 0, 0, 2])
    held = out.copy()
    returned = strew.scatter(src, index, out=out, include_self=include_self, exact=True)
    assert returned is out
    expected = [2.0, -0.0, 3.5, 5.0] if include_self else [math.fsum(src[:3]), -0.0, 0.5, 5.0]
    same_bits(out, np.array(expected))
    means = held.copy()
    strew.scatter(src, index, out=means, reduce="mean", include_self=include_self, exact=True)
    expected = [0.5, -0.0, 1.75, 5.0] if include_self else [math.fsum(src[:3]) / 3, -0.0, 0.5, 5.0]
    same_bits(means, np.array(expected))


def test_integers_are_exact_anyway():
    src, index = np.array([200, 100, 7], np.uint8), [0, 0, 1]
    for reduce in ("sum", "mean"):
        expected = strew.scatter(src, index, reduce=reduce)
        same_bits(strew.scatter(src, index, reduce=reduce, exact=True), expected)


@pytest.mark.parametrize("reduce", ["max", "prod", "assign", "std"])
def test_only_sums_and_means_are_exact(reduce):
    out = np.zeros(2)
    with pytest.raises(ValueError, match="exact"):
        strew.scatter(np.ones(2), [0, 1], reduce=reduce, exact=True, out=out)
    np.testing.assert_array_equal(out, 0)


def test_a_wrong_index_changes_nothing():
    out = np.ones(3)
    with pytest.raises(IndexError, match="3"):
        strew.scatter(np.ones(4), [0, 1, 3, 2], out=out, exact=True)
    np.testing.assert_array_equal(out, 1)


def test_pytorch_functions_of_arrays():
    rng = np.random.default_rng(8)
    src = values("many magnitudes", np.float32, (50, 4), rng)
    index = rng.integers(0, 3, (50, 4))
    input = np.zeros((3, 4), np.float32)
    expected = strew.scatter(src, index, 0, dim_size=3, exact=True)
    same_bits(strew.torch.scatter_add(input, 0, index, src, exact=True), expected)
    same_bits(strew.torch.scatter_reduce(input, 0, index, src, "sum", exact=True), expected)
    mean = strew.torch.scatter_reduce(
        input, 0, index, src, "mean", include_self=False, exact=True, mode="wrap"
    )
    same_bits(mean, strew.scatter(src, index, 0, dim_size=3, reduce="mean", exact=True))
    same_bits(strew.torch.scatter_add_(input, 0, index, src, exact=True), expected)
    with pytest.raises(ValueError, match="amax"):
        strew.torch.scatter_reduce(input, 0, index, src, "amax", exact=True)
