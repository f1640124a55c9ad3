"""torch_scatter's functions of groups that are more than one reduction."""

import numpy as np
import pytest
import strew

ts = strew.torch_scatter


def groups(src, index, dim):
    for group in range(index.max() + 1):
        yield group, np.compress(index == group, src, dim)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "uint64"])
@pytest.mark.parametrize("unbiased", [True, False])
def test_std(dtype, unbiased):
    random = np.random.default_rng(1)
    src, index = random.integers(0, 100, (3, 60, 2)).astype(dtype), random.integers(0, 5, 60)
    made = ts.scatter_std(src, index, 1, unbiased=unbiased)
    assert made.dtype == (np.float32 if np.issubdtype(src.dtype, np.integer) else src.dtype)
    for group, part in groups(src.astype("float64"), index, 1):
        expected = part.std(1, ddof=int(unbiased))
        np.testing.assert_allclose(
            made[:, group], expected, rtol=1e-3 if dtype == "float16" else 1e-5
        )


def test_logsumexp():
    random = np.random.default_rng(2)
    src, index = random.normal(size=(60, 2)) * 100, random.integers(0, 5, 60)
    made = ts.scatter_logsumexp(src, index, 0, dim_size=7)
    for group, part in groups(src, index, 0):
        np.testing.assert_allclose(made[group], np.logaddexp.reduce(part, 0), rtol=1e-12)
    assert made[5:].tolist() == [[0, 0]] * 2
    out = np.full((7, 2), -3.0)
    assert ts.scatter_logsumexp(src, index, 0, out) is out
    np.testing.assert_allclose(out[:5], np.logaddexp(made[:5], -3), rtol=1e-12)
    assert out[5:].tolist() == [[-3, -3]] * 2


def test_softmax():
    random = np.random.default_rng(3)
    src, index = random.normal(size=(4, 60)), random.integers(0, 5, 60)
    made, logs = ts.scatter_softmax(src, index), ts.scatter_log_softmax(src, index)
    for group, part in groups(src, index, 1):
        expected = np.exp(part) / np.exp(part).sum(1, keepdims=True)
        np.testing.assert_allclose(made[:, index == group], expected, rtol=1e-12)
        np.testing.assert_allclose(logs[:, index == group], np.log(expected), rtol=1e-10)


def test_the_documented_values():
    src, index = (
        np.array([0.2, 0, 0.2, -2.1, 3.2, 7, -1, -np.inf]),
        np.array([0, 1, 0, 1, 1, 2, 4, 4]),
    )
    expected = [0.5, 0.038978774, 0.5, 0.004773202, 0.95624804, 1, 1, 0]
    np.testing.assert_allclose(ts.scatter_softmax(src, index), expected, rtol=1e-7)
    inf, nan = np.inf, np.nan
    odd = np.array([inf, 1, nan, -inf, -inf, nan, 2], np.float32)
    made = ts.scatter_logsumexp(odd, np.array([0, 0, 1, 2, 3, 4, 4]), dim_size=6)
    assert made.tolist() == [np.finfo(np.float32).max, 0, 0, 0, 2, 0]


def test_what_does_not_fit():
    for call, error, message in [
        (lambda: ts.scatter_softmax([1, 2], [0, 0]), ValueError, "floating-point"),
        (lambda: ts.scatter_logsumexp([True], [0]), ValueError, "floating-point"),
        (lambda: ts.scatter_std([True], [0]), NotImplementedError, "not defined for dtype bool"),
        (lambda: ts.scatter_std([1.0], [3], dim_size=2), RuntimeError, "index 3 is out of bounds"),
        (lambda: ts.scatter_log_softmax([1.0], [-1]), RuntimeError, "index -1 is out of bounds"),
        (lambda: ts.scatter_logsumexp([1.0], [0], eps="1"), TypeError, "eps must be a number"),
        (lambda: ts.scatter_std([1.0], [0], 2), IndexError, "Dimension out of range"),
    ]:
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_bits_do_not_depend_on_threads(threads):
    random = np.random.default_rng(4)
    src = random.normal(size=(3000, 100)).astype(np.float32)
    index = random.integers(0, 200, 3000)
    functions = [ts.scatter_std, ts.scatter_logsumexp, ts.scatter_softmax, ts.scatter_log_softmax]
    before = strew.get_num_threads()
    try:
        strew.set_num_threads(1)
        expected = [function(src, index, 0).tobytes() for function in functions]
        strew.set_num_threads(threads)
        assert [function(src, index, 0).tobytes() for function in functions] == expected
    finally:
        strew.set_num_threads(before)
