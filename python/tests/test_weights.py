"""Weighted aggregates against NumPy and plain loops."""

import math
import pathlib
import re

import ml_dtypes
import numpy as np
import pytest
import strew

NAMES = ["sum", "mean", "var", "std", "count", "len"]
DTYPES = "bool int8 int64 uint64 float16 float32 float64 complex64 complex128".split()
ROOT = pathlib.Path(__file__).resolve().parents[2]


def naive(values, weights, name, ddof=0):
    """One group's result; None if it has none."""
    if name in ("count", "len"):
        return len(values) if name == "len" else int((~np.isnan(values)).sum())
    total = math.fsum(weights)
    sums = sum(w * x for w, x in zip(weights.tolist(), values.tolist()))
    if name == "sum":
        return sums
    if total == 0:
        return None
    mean = sums / total
    if name == "mean":
        return mean
    squares = sum(w * abs(x - mean) ** 2 for w, x in zip(weights.tolist(), values.tolist()))
    if total - ddof <= 0:
        return None
    var = squares / (total - ddof)
    return var if name == "var" else math.sqrt(var)


def drawn(rng, dtype, shape):
    made = rng.integers(0, 2 if dtype == "bool" else 9, shape).astype(float)
    if np.dtype(dtype).kind in "fc":
        made = made / 7 + (1j * rng.integers(0, 9, shape) if np.dtype(dtype).kind == "c" else 0)
    return made.astype(dtype)


@pytest.mark.parametrize("ddof", [0, 1, 0.5])
@pytest.mark.parametrize("dtype", DTYPES)
def test_against_a_plain_loop(dtype, ddof):
    rng = np.random.default_rng(1)
    wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
    for kind in ("float64", "float32", "int32", "bool"):
        src, index = drawn(rng, dtype, 80), rng.integers(0, 12, 80)
        weights = rng.integers(0, 4, 80).astype(kind)
        found = strew.aggregate(src, index, NAMES, size=13, weights=weights, ddof=ddof)
        for name, one in zip(NAMES, found):
            alone = strew.aggregate(src, index, name, size=13, weights=weights, ddof=ddof)
            assert alone.tobytes() == one.tobytes()
            plain = strew.aggregate(src, index, name, size=13)
            if name in ("count", "len", "mean", "var", "std"):
                assert one.dtype == plain.dtype
            else:
                assert one.dtype == (src.dtype if src.dtype.kind in "fc" else np.float64)
            for group in range(13):
                those = index == group
                expected = naive(src[those].astype(wide), weights[those].astype(float), name, ddof)
                if not those.any() and name not in ("count", "len"):
                    expected = 0 if name == "sum" else None
                expected = np.nan if expected is None else expected
                rtol = 1e-12 if one.dtype.itemsize > 4 and dtype != "complex64" else 1e-6
                rtol = 1e-3 if dtype == "float16" else rtol
                np.testing.assert_allclose(one[group], expected, rtol=rtol, atol=1e-12)


def test_means_are_those_of_numpy_average():
    rng = np.random.default_rng(2)
    src, weights, index = rng.normal(size=(3, 300)), rng.random(300), rng.integers(0, 9, 300)
    found = strew.aggregate(src, index, "mean", dim=1, weights=weights)
    for group in range(9):
        those = index == group
        expected = np.average(src[:, those], axis=1, weights=weights[those])
        np.testing.assert_allclose(found[:, group], expected, rtol=1e-10)


def test_sums_are_those_of_bincount():
    rng = np.random.default_rng(3)
    src, weights, index = rng.normal(size=500), rng.random(500), rng.integers(0, 20, 500)
    found = strew.aggregate(src, index, "sum", weights=weights)
    np.testing.assert_array_equal(found, np.bincount(index, src * weights))
    ones = strew.aggregate(np.ones(500, int), index, "sum", weights=weights)
    np.testing.assert_array_equal(ones, np.bincount(index, weights))


def test_weights_count_how_often_a_value_is_there():
    rng = np.random.default_rng(4)
    src, times, index = rng.normal(size=90) + 1e6, rng.integers(0, 5, 90), rng.integers(0, 7, 90)
    names = ["sum", "mean", "var", "std"]
    for ddof in (0, 1):
        found = strew.aggregate(src, index, names, weights=times, ddof=ddof)
        expected = strew.aggregate(src.repeat(times), index.repeat(times), names, ddof=ddof)
        for one, other in zip(found, expected):
            np.testing.assert_allclose(one, other, rtol=1e-9)
        # pandas and NumPy know these as `fweights`.
        cov = [np.cov(src[index == g], fweights=times[index == g], ddof=ddof) for g in range(7)]
        np.testing.assert_allclose(found[2], cov, rtol=1e-7)


def test_variances_far_from_zero_lose_no_digits():
    rng = np.random.default_rng(5)
    src, weights, index = rng.normal(size=400), rng.random(400), rng.integers(0, 5, 400)
    near = strew.aggregate(src, index, "var", weights=weights)
    # The offset itself rounds the values: by 2^-30 or so.
    far = strew.aggregate(src + 1e6 - 1e6, index, "var", weights=weights)
    np.testing.assert_allclose(
        strew.aggregate(src + 1e6, index, "var", weights=weights), far, rtol=1e-12
    )
    np.testing.assert_allclose(near, far, rtol=1e-8)
    equal = strew.aggregate(np.full(400, 0.1), index, ["var", "std"], weights=weights)
    for one in equal:
        assert (one >= 0).all() and (one < 1e-15).all()


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_shapes_of_weights(dim):
    rng = np.random.default_rng(6)
    src = rng.normal(size=(4, 5, 6))
    count = src.shape[dim]
    index, along = rng.integers(0, 3, count), rng.random(count)
    whole = np.broadcast_to(np.moveaxis(np.broadcast_to(along, (1, 1, count)), 2, dim), src.shape)
    options = {"dim": dim, "size": 4, "ddof": 0.1}
    first = strew.aggregate(src, index, NAMES, weights=along, **options)
    again = strew.aggregate(src, index, NAMES, weights=whole, **options)
    column = np.moveaxis(along.reshape(1, 1, count), 2, dim)
    third = strew.aggregate(src, index, NAMES, weights=column.tolist(), **options)
    for one, two, three in zip(first, again, third):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)
    each = rng.random(src.shape)
    found = strew.aggregate(src, index, "var", weights=each, **options)
    lines = np.moveaxis(src, dim, -1), np.moveaxis(each, dim, -1)
    for at in np.ndindex(lines[0].shape[:2]):
        line = strew.aggregate(lines[0][at], index, "var", weights=lines[1][at], size=4, ddof=0.1)
        np.testing.assert_array_equal(np.moveaxis(found, dim, -1)[at], line)
    alike = strew.aggregate(src, index, "mean", weights=2, **options)
    plain = strew.aggregate(src, index, "mean", **options)
    np.testing.assert_allclose(alike, plain, rtol=1e-12)


def test_nan_and_weights_that_sum_to_zero():
    nan = np.nan
    src, index = np.array([1.0, nan, 3.0, 4.0, 6.0]), np.array([0, 0, 0, 1, 1])
    weights = [1.0, 5.0, 3.0, 2.0, -2.0]
    total, mean, var, count, length = strew.aggregate(
        src, index, ["sum", "mean", "var", "count", "len"], weights=weights
    )
    np.testing.assert_array_equal(total, [nan, -4])
    np.testing.assert_array_equal(mean, [nan, nan])
    np.testing.assert_array_equal(var, [nan, nan])
    assert count.tolist() == [2, 2] and length.tolist() == [3, 2]
    filled = strew.aggregate(
        src, index, ["sum", "mean", "var", "count", "len"],
        weights=weights, skipna=True, fill_value=-1, size=3,
    )  # fmt: skip
    expected = [[10, -4, -1], [2.5, -1, -1], [0.75, -1, -1], [2, 2, -1], [2, 2, -1]]
    for one, other in zip(filled, expected):
        np.testing.assert_array_equal(one, other)
    several = strew.aggregate(src, index, "mean", weights=[1] * 5, skipna=True, min_count=3)
    np.testing.assert_array_equal(several, [nan, nan])
    # A NaN among the weights is not left out.
    found = strew.aggregate([1.0, 2.0], [0, 0], NAMES, weights=[nan, 1], skipna=True, fill_value=7)
    np.testing.assert_array_equal([one[0] for one in found], [nan, nan, nan, nan, 2, 2])
    # Nor is an infinite value.
    found = strew.aggregate([np.inf, 2.0], [0, 0], NAMES, weights=[2, 1])
    np.testing.assert_array_equal([one[0] for one in found], [np.inf, np.inf, nan, nan, 2, 2])
    one = strew.aggregate([1.0, 2.0], [0, 0], "var", weights=[0.5, 0.5], ddof=1, fill_value=-3)
    assert one.tolist() == [-3]


def test_plans_keys_modes_and_lists():
    rng = np.random.default_rng(7)
    src, weights, index = rng.normal(size=60), rng.random(60), rng.integers(-2, 8, 60)
    kept = (index >= 0) & (index < 6) & (index != 3)
    expected = strew.aggregate(src[kept], index[kept], NAMES, size=6, weights=weights[kept])
    rules = {"size": 6, "mode": "drop", "ignore_index": 3}
    for found in (
        strew.aggregate(src, index, NAMES, weights=weights, **rules),
        strew.aggregate(src, strew.Plan(index, **rules), NAMES, weights=weights),
        strew.aggregate(src.tolist(), index.tolist(), NAMES, weights=weights.tolist(), **rules),
    ):
        for one, other in zip(found, expected):
            np.testing.assert_array_equal(one, other)
    keys = (index % 2, index % 3)
    found = strew.aggregate(src, keys, NAMES, weights=weights, size=(2, 4))
    flat = strew.aggregate(src, keys[0] * 4 + keys[1], NAMES, weights=weights, size=8)
    for one, other in zip(found, flat):
        np.testing.assert_array_equal(one, other.reshape(2, 4))


def test_bfloat16():
    src = np.array([1, 2, 4], ml_dtypes.bfloat16)
    weights = np.array([1, 3, 2], ml_dtypes.bfloat16)
    mean, var = strew.aggregate(src, [0, 0, 1], ["mean", "var"], weights=weights)
    assert mean.dtype == var.dtype == src.dtype
    assert mean.tolist() == [1.75, 4] and var.tolist() == [0.1875, 0]


@pytest.mark.parametrize("name", ["prod", "sem", "median", "max", "cumsum", "any", "topk", np.max])
def test_other_reductions_refuse_weights(name):
    for reduce in (name, ["sum", name]):
        with pytest.raises(ValueError, match="only sum, mean, var and std"):
            strew.aggregate([1.0, 2.0], [0, 0], reduce, weights=[1, 1])


@pytest.mark.parametrize(
    ("error", "words", "options"),
    [
        (ValueError, r"weights has shape \(2,\): it must have 3", {"weights": [1, 2]}),
        (ValueError, r"weights has shape \(2, 3\)", {"weights": np.ones((2, 3))}),
        (ValueError, r"weights has shape \(1,\)", {"weights": [1]}),
        (TypeError, "weights has dtype complex128", {"weights": [1j, 2, 3]}),
        (TypeError, "weights has dtype", {"weights": ["a", "b", "c"]}),
        (TypeError, "fill_value", {"weights": [1, 2, 3], "fill_value": "x"}),
        (IndexError, "dim", {"weights": [1, 2, 3], "dim": 1}),
        (IndexError, r"index\[2\] = 2", {"weights": [1, 2, 3], "size": 2}),
    ],
)
def test_errors(error, words, options):
    for reduce in ("mean", ["var", "sum"]):
        with pytest.raises(error, match=rf"^aggregate: .*{words}"):
            strew.aggregate([1.0, 2.0, 3.0], [0, 1, 2], reduce, **options)


def test_scatter_does_not_take_them():
    for reduce in ("sum", "std"):
        with pytest.raises(TypeError, match="weights"):
            strew.scatter([1.0, 2.0], [0, 0], reduce=reduce, weights=[1, 1])


def test_torch_tensors_stay_tensors():
    torch = pytest.importorskip("torch")
    src, weights = torch.tensor([1.0, 2.0, 6.0]), torch.tensor([1.0, 1.0, 2.0])
    mean, count = strew.aggregate(src, torch.tensor([0, 0, 0]), ["mean", "count"], weights=weights)
    assert isinstance(mean, torch.Tensor) and mean.dtype == torch.float32
    assert mean.tolist() == [3.75] and count.tolist() == [3]
    # NumPy has no such type.
    with pytest.raises(TypeError, match="^aggregate: src is no NumPy array"):
        strew.aggregate(src.bfloat16(), [0, 0, 0], weights=[1, 1, 1])
    with pytest.raises(TypeError, match="^aggregate: weights is no NumPy array"):
        strew.aggregate(src, [0, 0, 0], weights=weights.clone().requires_grad_())


def test_the_recipes_of_the_document():
    """The blocks run one after the other."""
    text = (ROOT / "docs/aggregates.md").read_text()
    section = text.partition("## Weights\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert len(blocks) == 1
    for block in blocks:
        exec(block, {"np": np, "strew": strew})
