"""What errors of strew's own functions say: which function it was, and what to pass instead."""

import numpy as np
import pytest
import strew

ONES = np.array([1, 2])
PLACES = np.array([0, 2])


@pytest.mark.parametrize(
    "reduce", ["sum", "max", "first", "mode", "cumsum", "len", "argmin", "any"]
)
@pytest.mark.parametrize("fill", [1.5, np.float32(0.25), np.array(-0.5)])
def test_a_fraction_is_no_fill_value_of_integers(reduce, fill):
    with pytest.raises(ValueError, match=f"^aggregate: fill_value = .*: {reduce} of int64 gives"):
        strew.aggregate(ONES, PLACES, reduce, fill_value=fill)


@pytest.mark.parametrize("reduce", ["sum", "max", "assign"])
def test_nor_in_scatter_and_gather(reduce):
    with pytest.raises(ValueError, match=r"^scatter: fill_value = 1.5: .* gives whole numbers"):
        strew.scatter(ONES, PLACES, reduce=reduce, fill_value=1.5)
    with pytest.raises(ValueError, match=r"^gather: fill_value = 1.5: .* gives whole numbers"):
        strew.gather(ONES, [0, 9], mode="drop", fill_value=1.5)


def test_a_fraction_for_results_that_hold_it():
    assert strew.aggregate(ONES, PLACES, "mean", fill_value=1.5).tolist() == [1, 1.5, 2]
    assert strew.aggregate(ONES, PLACES, "max", fill_value=4.0).tolist() == [1, 4, 2]
    assert strew.scatter(ONES, PLACES, dtype=float, fill_value=1.5).tolist() == [1, 1.5, 2]
    assert strew.aggregate(ONES, PLACES, dtype=float, fill_value=1.5).tolist() == [1, 1.5, 2]
    weighted = strew.aggregate(ONES, PLACES, weights=[1, 1], fill_value=1.5)
    assert weighted.tolist() == [1, 1.5, 2]
    with pytest.raises(ValueError, match=r"^aggregate: fill_value = 1.5: len of float64"):
        strew.aggregate(ONES.astype(float), PLACES, ["sum", "len"], fill_value=1.5)


OUTSIDE = {
    "aggregate": lambda **how: strew.aggregate(ONES, [0, -1], **how),
    "a function": lambda **how: strew.aggregate(ONES, [0, -1], np.ptp, **how),
    "weights": lambda **how: strew.aggregate(ONES, [0, -1], weights=[1, 2], **how),
    "keys": lambda **how: strew.aggregate(ONES, ([0, 0], [0, -1]), **how),
    "all axes": lambda **how: strew.aggregate(ONES, [0, -1], dim=None, **how),
    "scatter": lambda **how: strew.scatter(ONES, [0, -1], **how),
    "lines": lambda **how: strew.scatter(ONES[None], [[0, -1]], reduce="median", **how),
    "gather": lambda **how: strew.gather(ONES, [0, -1], **how),
}


@pytest.mark.parametrize("call", OUTSIDE)
def test_a_number_out_of_bounds(call):
    with pytest.raises(IndexError, match=r'bounds .*; mode="drop" leaves out') as caught:
        OUTSIDE[call]()
    assert not str(caught.value).startswith("Plan")
    OUTSIDE[call](mode="drop")


@pytest.mark.parametrize("dim", [0.0, "0", [0], np.zeros(1)])
@pytest.mark.parametrize("how", [{}, {"weights": [1, 2]}, {"reduce": np.ptp}, {"reduce": "std"}])
def test_a_dim_that_is_no_integer(dim, how):
    words = r": dim = .*: it must be an integer$"
    with pytest.raises(TypeError, match="^aggregate" + words):
        strew.aggregate(ONES, PLACES, dim=dim, **how)
    if "weights" not in how:
        with pytest.raises(TypeError, match="^scatter" + words):
            strew.scatter(ONES, PLACES, dim, **how)
    with pytest.raises(TypeError, match="^gather" + words):
        strew.gather(ONES, [0, 1], dim)


def test_a_plan_has_its_own_index():
    plan = strew.Plan(PLACES)
    for call in (strew.scatter, strew.gather):
        with pytest.raises(ValueError, match=f"^{call.__name__}: .*: pass index=None with plan"):
            call(np.ones(3), PLACES, plan=plan)
        with pytest.raises(ValueError, match=f"^{call.__name__}: .* cannot be combined with plan"):
            call(np.ones(3), None, mode="drop", plan=plan)


@pytest.mark.parametrize("how", [{}, {"weights": [1, 2, 3]}, {"reduce": np.ptp}])
def test_the_called_function_is_named(how):
    for index in ([[0, 1]], [0.5, 1], [0, 1, 2], strew.Plan([0, 1, 2])):
        with pytest.raises((TypeError, ValueError), match=r"^aggregate: "):
            strew.aggregate(ONES, index, **how)


RESULTS = {
    "integers and floats": (lambda v: 1 if len(v) > 1 else 1.5, float, [1.0, 1.5, np.nan]),
    "floats and integers": (lambda v: 1.5 if len(v) > 1 else 1, float, [1.5, 1.0, np.nan]),
    "narrow and wide": (
        lambda v: np.int8(1) if len(v) > 1 else np.int64(2**40),
        np.int64,
        [1, 2**40, 0],
    ),
    "bools and integers": (lambda v: True if len(v) > 1 else 7, np.int64, [1, 7, 0]),
    "complex": (lambda v: 1.5 if len(v) > 1 else 2j, complex, [1.5, 2j, np.nan]),
    "float32 and float16": (
        lambda v: np.float16(1) if len(v) > 1 else np.float32(1 / 3),
        np.float32,
        [1, np.float32(1 / 3), np.nan],
    ),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_the_dtype_of_a_function_holds_all_results(kind):
    function, dtype, expected = RESULTS[kind]
    found = strew.aggregate(np.array([1.0, 2.0, 3.0]), [0, 0, 1], function, size=3)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.array(expected, dtype))


def test_results_without_a_common_dtype():
    def mixed(values):
        return np.datetime64("2020") if len(values) > 1 else 1.5

    with pytest.raises(TypeError, match=r"^aggregate: reduce returns arrays of .* and of "):
        strew.aggregate([1.0, 2.0, 3.0], [0, 0, 1], mixed)
