"""What `strew.torch` has and PyTorch lacks: `mode=`, `plan=`, positions of extremes."""

import itertools

import numpy as np
import pytest
import strew

st = strew.torch
MODES = ["error", "wrap", "drop", "clip"]
REDUCES = ["sum", "prod", "mean", "amax", "amin"]


def resolved(value, size, mode):
    """Where an index leads; None: nowhere."""
    if mode == "wrap" and -size <= value < 0:
        return value + size
    if mode == "clip":
        return min(max(value, 0), size - 1)
    return value if 0 <= value < size else None


def naive(input, dim, index, src, mode, join):
    """The updates one by one."""
    out = input.copy()
    for place in np.ndindex(index.shape):
        at = resolved(index[place], input.shape[dim], mode)
        if at is not None:
            cell = (*place[:dim], at, *place[dim + 1 :])
            out[cell] = join(out[cell], src[place])
    return out


def problem(mode, seed=0):
    made = np.random.default_rng(seed)
    low, high = {"error": (0, 3), "wrap": (-3, 3), "drop": (-5, 8), "clip": (-5, 8)}[mode]
    input, src = made.integers(-9, 9, (4, 3)), made.integers(-9, 9, (5, 7))
    return input, made.integers(low, high, (4, 6)), src


FUNCTIONS = {
    "scatter": (st.scatter, st.scatter_, {}, lambda a, b: b),
    "add": (st.scatter, st.scatter_, {"reduce": "add"}, lambda a, b: a + b),
    "scatter_add": (st.scatter_add, st.scatter_add_, {}, lambda a, b: a + b),
    "amax": (st.scatter_reduce, st.scatter_reduce_, {"reduce": "amax"}, max),
    "prod": (st.scatter_reduce, st.scatter_reduce_, {"reduce": "prod"}, lambda a, b: a * b),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_modes(name, mode):
    function, in_place, options, join = FUNCTIONS[name]
    input, index, src = problem(mode)
    expected = naive(input, 1, index, src, mode, join)
    for dim, kind in itertools.product([1, -1], [np.int64, np.int32]):
        found = function(input, dim, index.astype(kind), src, mode=mode, **options)
        assert type(found) is np.ndarray and found.dtype == input.dtype and found.flags.c_contiguous
        np.testing.assert_array_equal(found, expected)
    target = np.asfortranarray(input)
    assert in_place(target, 1, index, src, mode=mode, **options) is target
    np.testing.assert_array_equal(target, expected)


def test_modes_of_a_number_and_of_lists():
    assert st.scatter([1, 2, 3], 0, [-1, 5, 0], value=7, mode="drop").tolist() == [7, 2, 3]
    assert st.scatter([1, 2, 3], 0, [-1, 5, 0], 7, mode="clip").tolist() == [7, 2, 7]
    assert st.scatter([1, 2, 3], 0, [-1, -3], value=7, mode="wrap").tolist() == [7, 2, 7]
    assert st.scatter_add(np.float32(1), 0, 1, np.float32(5), mode="drop") == 1
    assert st.scatter_add(np.float32(1), 0, 1, np.float32(5), mode="clip") == 6


def test_modes_where_there_is_nothing():
    none = np.zeros((0, 2))
    assert st.scatter_add(none, 0, [[3, -1]], np.ones((1, 2)), mode="drop").shape == (0, 2)
    assert st.scatter_add(np.ones(2), 0, np.zeros(0, int), np.ones(0), mode="drop").tolist() == [
        1,
        1,
    ]
    with pytest.raises(RuntimeError, match="out of bounds"):
        st.scatter_add(none, 0, [[0, 0]], np.ones((1, 2)), mode="clip")


def test_errors_of_modes():
    x = np.ones(3)
    with pytest.raises(ValueError, match="mode = 'raise': it must be"):
        st.scatter_add(x, 0, [0], [1.0], mode="raise")
    for value in [3, -4]:
        with pytest.raises(RuntimeError, match="out of bounds"):
            st.scatter_add_(x, 0, [0, value], [1.0, 1.0], mode="wrap")
    with pytest.raises(IndexError):
        st.scatter_add(x, 1, [0], [1.0], mode="drop")
    with pytest.raises(RuntimeError, match="same number of dimensions"):
        st.scatter_add_(x, 0, [[0]], [1.0], mode="drop")
    assert x.tolist() == [1, 1, 1]


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("reduce", REDUCES)
def test_plans(reduce, own):
    made = np.random.default_rng(1)
    input, src, index = made.normal(size=(3, 4)), made.normal(size=(3, 9)), made.integers(-2, 6, 9)
    plan = strew.Plan(index, 4, mode="drop")
    keep = (index >= 0) & (index < 4)
    wide = np.broadcast_to(index[keep], (3, keep.sum()))
    expected = st.scatter_reduce(input, 1, wide, src[:, keep], reduce, include_self=own)
    found = st.scatter_reduce(input, 1, None, src, reduce, include_self=own, plan=plan)
    np.testing.assert_array_equal(found, expected)
    target = input.copy()
    assert st.scatter_reduce_(target, -1, None, src, reduce, include_self=own, plan=plan) is target
    np.testing.assert_array_equal(target, expected)


def test_plans_of_the_others():
    plan, src = strew.Plan([2, 0, 2], 4), np.array([1.0, 5.0, 3.0])
    x = np.full(4, 2.0)
    assert st.scatter(x, 0, None, src, plan=plan).tolist() == [5, 2, 3, 2]
    assert st.scatter(x, 0, None, src, plan=plan, reduce="multiply").tolist() == [10, 2, 6, 2]
    assert st.scatter_add(x, 0, None, src, plan=plan).tolist() == [7, 2, 6, 2]
    assert x.tolist() == [2] * 4
    assert st.scatter_(x, 0, None, src, plan=plan, reduce="add").tolist() == [7, 2, 6, 2]
    for wrong in [
        lambda: st.scatter_add(x, 0, [0], src, plan=plan),
        lambda: st.scatter(x, 0, None, value=1, plan=plan),
        lambda: st.scatter(x, 0, None, src, plan=plan, mode="drop"),
    ]:
        with pytest.raises(TypeError, match="plan needs src"):
            wrong()
    with pytest.raises(ValueError):
        st.scatter_add(x[:3], 0, None, src, plan=plan)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("reduce", ["amax", "amin"])
def test_positions_of_extremes(reduce, own):
    made = np.random.default_rng(2)
    input, index = made.integers(0, 4, (5, 3)).astype(float), made.integers(0, 5, (6, 2))
    src = made.integers(0, 4, (7, 4)).astype(float)
    src[2, 0] = np.nan
    found, arg = st.scatter_reduce_with_arg(input, 0, index, src, reduce, include_self=own)
    np.testing.assert_array_equal(
        found, st.scatter_reduce(input, 0, index, src, reduce, include_self=own)
    )
    assert arg.dtype == np.int64 and arg.shape == input.shape
    for i, j in np.ndindex(input.shape):
        went = [k for k in range(6) if j < 2 and index[k, j] == i]
        winner = found[i, j]
        equal = [
            k for k in went if src[k, j] == winner or (np.isnan(src[k, j]) and np.isnan(winner))
        ]
        expected = equal[0] if equal else 7
        if own and input[i, j] == found[i, j]:
            expected = 7
        assert arg[i, j] == expected


def test_positions_of_few():
    out, arg = st.scatter_reduce_with_arg(np.float64(3), 0, 0, np.float64(5), "amax")
    assert out == 5 and arg == 0 and arg.shape == ()
    out, arg = st.scatter_reduce_with_arg([3, 4], 0, np.zeros(0, int), np.zeros(6, int), "amin")
    assert out.tolist() == [3, 4] and arg.tolist() == [6, 6]
    with pytest.raises(ValueError, match="reduce = 'sum': it must be"):
        st.scatter_reduce_with_arg(np.ones(1), 0, [0], [1.0], "sum")
