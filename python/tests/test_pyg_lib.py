"""`strew.pyg_lib` with NumPy arrays; compare.toml has what every function does, `peers` the derivatives."""

import numpy as np
import pytest
import strew

pyg = strew.pyg_lib
INDEX, PTR = [0, 0, 2], [0, 2, 2, 3]
WHERE = {name: PTR if name.endswith("_csr") else INDEX for name in pyg.__all__}


@pytest.mark.parametrize("name", pyg.__all__)
def test_masked_arrays_are_refused(name):
    masked = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
    with pytest.raises(TypeError, match=rf"^pyg_lib\.{getattr(pyg, name).__name__}: .*mask"):
        getattr(pyg, name)(masked, WHERE[name])


def into(name, src, out):
    """The function's values, written to `out`."""
    found = getattr(pyg, name)(src, WHERE[name], out=out)
    assert (found[0] if isinstance(found, tuple) else found) is out
    return out


INTO = [name for name in pyg.__all__ if "softmax" not in name and name != "gather_csr"]


@pytest.mark.parametrize("name", INTO)
@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_out_of_any_layout(name, dtype):
    src = np.array([[1, 2], [7, 3], [4, -5]], dtype)
    kept = np.array([[2, 3], [1, 1], [0, 9]], dtype)
    options = {"dim": 0} if name.startswith("scatter") else {}
    expected, found = kept.copy(), np.zeros((6, 4), dtype)[::-2, 1::2]
    found[...] = kept
    call = getattr(pyg, name)
    call(src, WHERE[name], out=expected, **options)
    call(src[::-1].copy()[::-1], WHERE[name], out=found, **options)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", INTO)
def test_a_read_only_out_is_refused(name):
    out = np.array([7.0, 8.0, 9.0])
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        into(name, [1.0, 2.0, 3.0], out)
    assert out.tolist() == [7, 8, 9]


def test_lists_and_ranks():
    assert pyg.softmax_csr([[0.0, 0.0, 3.0]], [0, 2, 3], -1).tolist() == [[0.5, 0.5, 1.0]]
    assert pyg.segment_sum_csr(
        [[1, 2], [3, 4]], [[0, 1, 2]], out=np.ones((2, 2), int)
    ).tolist() == [
        [2, 3],
        [4, 5],
    ]
    for call in (pyg.scatter_std, pyg.scatter_logsumexp, pyg.softmax_csr):
        with pytest.raises(IndexError, match=r"^pyg_lib\.\w+: "):
            call(np.float64(1), [0])
    with pytest.raises(RuntimeError, match=r"^pyg_lib\.segment_sum_csr: indptr has shape \[1, 2\]"):
        pyg.segment_sum_csr([1.0, 2.0], [[0, 2]], np.zeros(1))


def test_one_hundred_thousand_rows():
    random = np.random.default_rng(5)
    src = random.standard_normal((100_000, 3)).astype(np.float32)
    pointers = np.sort(random.integers(0, len(src) + 1, 20_001))
    out = random.standard_normal((20_000, 3)).astype(np.float32)
    rows = np.repeat(np.arange(20_000), np.diff(pointers))
    part = src[pointers[0] : pointers[-1]]
    expected = out.copy()
    np.add.at(expected, rows, part)
    assert pyg.segment_sum_csr(src, pointers, out) is out
    assert out.tobytes() == expected.tobytes()
    expected = np.zeros_like(src)
    expected[pointers[0] : pointers[-1]] = pyg.scatter_softmax(part, rows, 0, 20_000)
    assert pyg.softmax_csr(src, pointers).tobytes() == expected.tobytes()
