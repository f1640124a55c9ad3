"""Several keys of strew.aggregate and strew.scatter: against plans of each key and plain loops."""

import math
import pathlib
import re

import numpy as np
import pytest
import strew

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
ROOT = pathlib.Path(__file__).resolve().parents[2]
PER_GROUP = (
    "sum prod sumsq mean var std sem skew kurt min max first last len count nunique any all anynan "
    "allnan argmin argmax median quantile mode logsumexp nth topk argtopk"
).split()
PER_VALUE = "softmax cumsum cumprod cummin cummax cumcount shift rank sort argsort".split()


def rows_by_plans(keys, sizes, mode, ignored):
    """The flat row of each update, from what a plan of each key says."""
    flat, left_out = 0, False
    made = []
    for key, size in zip(keys, sizes):
        plan = strew.Plan(key, size, mode=mode, ignore_index=ignored)
        rows = plan.gather(np.arange(1, plan.size + 1)) - 1
        flat, left_out = flat * plan.size + rows, left_out | (rows < 0)
        made.append(plan.size)
    return np.where(left_out, -1, flat), tuple(made)


@pytest.mark.parametrize("mode", ["error", "wrap", "drop", "clip"])
@pytest.mark.parametrize("ignored", [None, 1, -2])
def test_each_key_means_what_it_means_alone(mode, ignored):
    rng = np.random.default_rng(1)
    low, high = {"error": (0, 4), "wrap": (-4, 4)}.get(mode, (-9, 9))
    for count in (1, 2, 3):
        keys = tuple(rng.integers(low, high, 60) for _ in range(count))
        if mode == "error" and ignored is not None:
            keys = tuple(np.where(rng.random(60) < 0.2, ignored, key) for key in keys)
        src = rng.integers(0, 99, (60, 2))
        for sizes in [(4, 5, 6)[:count], (4, None, 6)[:count]]:
            flat, found_sizes = rows_by_plans(keys, sizes, mode, ignored)
            expected = strew.aggregate(src, flat, size=math.prod(found_sizes), mode="drop")
            expected = expected.reshape(*found_sizes, 2)
            options = {"size": sizes, "mode": mode, "ignore_index": ignored}
            np.testing.assert_array_equal(strew.aggregate(src, keys, **options), expected)
            np.testing.assert_array_equal(strew.scatter(src, keys, 0, **options), expected)
            for reduce in ("std", "nanmax"):
                found = strew.scatter(src, keys, 0, reduce=reduce, **options)
                assert found.shape == expected.shape


def test_against_a_plain_loop():
    rng = np.random.default_rng(2)
    src, a, b = rng.normal(size=200), rng.integers(-2, 5, 200), rng.integers(-5, 4, 200)
    expected = np.zeros((4, 3))
    for value, i, j in zip(src, a, b):
        if 0 <= i < 4 and 0 <= j < 3 and 2 not in (i, j):
            expected[i, j] += value
    options = {"size": (4, 3), "mode": "drop", "ignore_index": 2}
    np.testing.assert_array_equal(strew.aggregate(src, (a, b), **options), expected)
    np.testing.assert_array_equal(strew.scatter(src, (a, b), **options), expected)
    expected[:] = 0
    for value, i, j in zip(src, a, b):
        expected[min(max(i, 0), 3), min(max(j, 0), 2)] += value
    found = strew.aggregate(src, (a, b), size=[4, 3], mode="clip")
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
@pytest.mark.parametrize("name", [*PER_GROUP, *PER_VALUE])
def test_every_reduction_is_that_of_flat_rows(name, dim):
    rng = np.random.default_rng([3, len(name)])
    src = rng.normal(size=(6, 5, 7))
    count = src.shape[dim]
    keys = (rng.integers(0, 2, count), rng.integers(0, 3, count).astype(np.uint8))
    flat = keys[0] * 3 + keys[1]
    fractions = [0.5] if name != "quantile" else [0.5, [0.25, 0.5, 1.0]]
    for q in fractions:
        options = {"dim": dim, "k": 2, "q": q}
        expected = strew.aggregate(src, flat, name, size=6, **options)
        found = strew.aggregate(src, keys, name, size=(2, 3), **options)
        assert found.dtype == expected.dtype
        if name in PER_VALUE:
            assert found.shape == src.shape
        else:
            axis = dim % 3 + (name == "quantile" and q != 0.5)
            assert found.shape[axis : axis + 2] == (2, 3)
            assert found.shape[:axis] == expected.shape[:axis]
        np.testing.assert_array_equal(found.reshape(expected.shape), expected)
        if name in ("topk", "quantile", "std"):
            taken = {"topk": {"k": 2}, "quantile": {"q": q}}.get(name, {})
            one = strew.scatter(src, keys, dim, size=(2, 3), reduce=name, **taken)
            np.testing.assert_array_equal(one, found)


def test_several_reductions_and_callables():
    rng = np.random.default_rng(4)
    src = rng.normal(size=(3, 40))
    keys = tuple(rng.integers(0, size, 40) for size in (2, 3, 2))
    flat, sizes = (keys[0] * 3 + keys[1]) * 2 + keys[2], (2, 3, 2)
    several = ["mean", "cumsum", np.max, lambda v: v.mean(axis=1), lambda v: v[:, :1] * np.ones(4)]
    found = strew.aggregate(src, keys, several, dim=1, size=sizes)
    expected = strew.aggregate(src, flat, several, dim=1, size=12)
    shapes = [(3, *sizes), src.shape, sizes, (3, *sizes), (3, *sizes, 4)]
    assert [one.shape for one in found] == shapes
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one.reshape(other.shape), other)
    (alone,) = strew.aggregate(src, keys, ["mean"], dim=1, size=sizes)
    np.testing.assert_array_equal(alone, found[0])


@pytest.mark.parametrize("one", INTEGERS)
def test_every_integer_is_a_key(one):
    src, other = np.arange(5.0), [0, 1, 1, 0, 1]
    key = np.array([2, 0, 2, 1, 100], one)
    found = strew.aggregate(src, (key, other), ignore_index=100)
    np.testing.assert_array_equal(found, [[0, 1], [3, 0], [0, 2]])
    found = strew.aggregate(src, (other, key), size=(2, 3), mode="drop")
    np.testing.assert_array_equal(found, [[0, 3, 0], [1, 0, 2]])
    if one == "uint64":
        key[4] = 2**64 - 1
        clipped = strew.aggregate(src, (key, other), size=(3, 2), mode="clip")
        np.testing.assert_array_equal(clipped, [[0, 1], [3, 0], [0, 6]])
        with pytest.raises(IndexError, match=r"index\[0\]\[4\] = 18446744073709551615: "):
            strew.aggregate(src, (key, other), size=(3, 2))
        left = strew.aggregate(src, (key, other), size=(3, 2), ignore_index=2**64 - 1)
        np.testing.assert_array_equal(left, [[0, 1], [3, 0], [0, 2]])


def test_a_list_and_a_tuple_of_numbers_are_one_key():
    src = np.array([1.0, 2.0, 4.0])
    for index in ((2, 0, 2), [2, 0, 2], (np.int64(2), 0, 2)):
        np.testing.assert_array_equal(strew.aggregate(src, index), [2, 0, 5])
        np.testing.assert_array_equal(strew.scatter(src, index), [2, 0, 5])
    with pytest.raises(ValueError, match="one dimension"):
        strew.aggregate(src, [[2, 0, 2], [0, 1, 1]])
    np.testing.assert_array_equal(strew.aggregate(src, ([2, 0, 2],)), [2, 0, 5])
    # A list of lists is broadcast, as ever.
    square = np.arange(4.0).reshape(2, 2)
    np.testing.assert_array_equal(strew.scatter(square, [[0, 1], [1, 0]], 0), [[0, 3], [2, 1]])


def test_nothing():
    assert strew.aggregate([], ([], [])).shape == (0, 0)
    assert strew.aggregate([], ([], []), "mean", size=(2, 0)).shape == (2, 0)
    np.testing.assert_array_equal(strew.aggregate([], ([], []), size=(2, 1)), [[0], [0]])
    dropped = strew.aggregate([1.0], ([3], [0]), size=(0, 4), mode="drop")
    assert dropped.shape == (0, 4)
    with pytest.raises(IndexError, match=r"index\[0\]\[0\] = 3.*size 0"):
        strew.aggregate([1.0], ([3], [0]), size=(0, 4))
    assert strew.aggregate([1.0], ([7], [0]), np.ptp, size=(0, 4), mode="drop").shape == (0, 4)


@pytest.mark.parametrize("operator", ["aggregate", "scatter"])
def test_errors_say_which_key(operator):
    function = getattr(strew, operator)
    src, key = np.ones(3), np.array([0, 1, 2])
    for error, words, index, options in [
        (IndexError, r"index\[1\]\[2\] = 2: index 2 is out of bounds for key 1 with size 2",
         (key, key), {"size": (3, 2)}),
        (IndexError, r"index\[0\]\[1\] = -1: index -1 .* key 0", ([0, -1, 0], key), {}),
        (IndexError, r"index\[1\]\[0\] = -4: .* size 3", (key, [-4, 0, 0]),
         {"size": (3, 3), "mode": "wrap"}),
        (ValueError, r"index\[1\] has 2 elements: it must have 3", (key, [0, 1]), {}),
        (ValueError, r"index\[1\] has 2 dimensions", (key, [[0, 1, 1]]), {}),
        (ValueError, r"index\[1\] has 0 dimensions", (key, 3), {}),
        (TypeError, r"index\[0\] has dtype float64: it must be an integer", ([0.0, 1, 2], key), {}),
        (TypeError, r"index\[1\] has dtype bool", (key, key > 1), {}),
        (ValueError, "size = 9: with several keys", (key, key), {"size": 9}),
        (ValueError, r"size = \(3,\): it must have 2 entries", (key, key), {"size": (3,)}),
        (ValueError, r"size\[1\] = -1", (key, key), {"size": (3, -1)}),
        (ValueError, r"size\[0\] = 9223372036854775808", (key, key), {"size": (2**63, 3)}),
        (TypeError, r"size\[1\] must be an integer or None, not float", (key, key),
         {"size": (3, 3.0)}),
        (ValueError, "the product.* at most", (key, key), {"size": (2**32, 2**32)}),
        (MemoryError, "bytes", (key, key), {"size": (2**31, 2**31)}),
        (ValueError, 'mode = "no"', (key, key), {"mode": "no"}),
        (TypeError, "ignore_index must be", (key, key), {"ignore_index": 1.5}),
        (ValueError, r"src has shape|index has shape", (key[:2], key[:2]), {}),
        (IndexError, "dim = 1", (key, key), {"dim": 1}),
    ]:  # fmt: skip
        with pytest.raises(error, match=words) as raised:
            function(src, index, **options)
        assert "swapped" not in str(raised.value)
    with pytest.raises(ValueError, match="out must be None"):
        strew.scatter(src, (key, key), out=np.zeros((3, 3)))
    with pytest.raises(TypeError):
        strew.aggregate(src, key, size=(3,))


def test_torch_tensors_keep_their_library_and_gradients():
    torch = pytest.importorskip("torch")
    src = torch.arange(6.0).reshape(3, 2).requires_grad_()
    keys = (torch.tensor([1, 0, 1]), torch.tensor([2, 0, 2]))
    found = strew.scatter(src, keys, 0, size=(2, 3))
    assert found.shape == (2, 3, 2)
    found[1].sum().backward()
    assert src.grad.tolist() == [[1, 1], [0, 0], [1, 1]]
    made = strew.aggregate(src.detach(), keys, "median")
    assert isinstance(made, torch.Tensor) and made.shape == (2, 3, 2)


def test_the_recipes_of_the_document():
    """The blocks run one after the other."""
    text = (ROOT / "docs/aggregates.md").read_text()
    section = text.partition("## Several keys\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert len(blocks) == 1
    names = {"np": np, "strew": strew}
    for block in blocks:
        exec(block, names)
