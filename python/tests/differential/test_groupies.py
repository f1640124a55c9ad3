"""strew.numpy_groupies against numpy_groupies on random arguments. Needs numpy_groupies, and numba
for some of them.
"""

import numpy as np
import pytest

groupies = pytest.importorskip("numpy_groupies")

import strew  # noqa: E402
from drawn import (  # noqa: E402
    COMPLEX,
    INTEGERS,
    Defect,
    agree,
    chance,
    defects,
    drawn,
    factors,
    is_there,
    normal,
    one_of,
    orderable,
    ordered,
    outcome,
    summands,
)

CASES = 20
FLOATS = ["float16", "float32", "float64"]
DTYPES = ["bool", *INTEGERS, *FLOATS, *COMPLEX]
REFUSALS = (ValueError, TypeError, NotImplementedError)

ours = strew.numpy_groupies.aggregate
theirs = groupies.aggregate_np


def quarters(rng, dtype, shape):
    """Of these, means are exact, and sums of squares in 8 bits too."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    made = np.asarray(
        rng.integers(0, 2 if dtype.itemsize == 1 else 9, shape) / (4 if dtype.kind in "fc" else 1)
    )
    return (made + 1j * rng.integers(-4, 5, shape) if dtype.kind == "c" else made).astype(dtype)


FUNCTIONS = {
    "sum": summands,
    "prod": factors,
    "min": ordered,
    "max": ordered,
    "mean": quarters,
    "var": quarters,
    "std": quarters,
    "sumofsquares": quarters,
    "first": orderable,
    "last": orderable,
    "len": orderable,
    "any": orderable,
    "all": orderable,
    "argmin": ordered,
    "argmax": ordered,
    "cumsum": summands,
    "sort": ordered,
}
NAN_FORMS = {f"nan{name}": values for name, values in FUNCTIONS.items() if name != "sort"}
ALL = FUNCTIONS | NAN_FORMS | {"allnan": orderable, "anynan": orderable}
FLAGS = ["any", "all", "allnan", "anynan"]
RUNNING = {"cumprod": factors, "cummin": ordered, "cummax": ordered}
SUMS_OF_INTEGERS = {"i": "int64", "u": "uint64", "b": "int64"}
TOLERANCES = {"float16": 2e-3, "float32": 1e-6, "complex64": 1e-6}


def with_nan(rng, values):
    if values.dtype.kind not in "fc":
        return values
    return np.where(rng.random(values.shape) < 0.2, np.array(np.nan, values.dtype), values)


def options_for(rng, func, dtype, count):
    """Arguments of the function by name."""
    name = func.removeprefix("nan")
    options = {"func": func}
    if chance(rng, 0.5):
        options["size"] = count + int(rng.integers(0, 3))
    if name in FLAGS or dtype == "bool":
        options["fill_value"] = bool(rng.integers(0, 2))
    else:
        options["fill_value"] = int(rng.integers(0 if np.dtype(dtype).kind == "u" else -1, 4))
    if name in ("var", "std"):
        options["ddof"] = int(rng.integers(0, 3))
    if name == "sort":
        options["reverse"] = chance(rng, 0.5)
    if name in ("sum", "sumofsquares") and np.dtype(dtype).kind in SUMS_OF_INTEGERS:
        options["dtype"] = SUMS_OF_INTEGERS[np.dtype(dtype).kind]  # dtypes-of-sums
    return options


def compare(case, theirs=theirs, dtype="float64"):
    found = outcome(lambda: ours(**case), REFUSALS)
    with np.errstate(all="ignore"):
        expected = outcome(lambda: theirs(**case), REFUSALS)
    name = case["func"].removeprefix("nan")
    if name == "sumofsquares" and np.iscomplexobj(found):
        assert not found.imag.any()
        found = found.real
    tolerance = TOLERANCES.get(dtype, 1e-12) if name in ("var", "std", "mean") else 0
    agree(found, expected, case, tolerance, tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("func", ALL)
def test_functions(func, dtype):
    for rng in drawn([func, dtype], CASES):
        count = int(rng.integers(1, 7))
        groups = rng.integers(0, count, int(rng.integers(1, 40)), one_of(rng, INTEGERS))
        a = with_nan(rng, ALL[func](rng, dtype, groups.shape))
        compare({"group_idx": groups, "a": a} | options_for(rng, func, dtype, count), dtype=dtype)


@pytest.mark.parametrize("func", ALL)
def test_along_an_axis(func):
    for rng in drawn(["axis", func], CASES):
        dtype = one_of(rng, DTYPES)
        shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(2, 4))))
        axis, count = int(rng.integers(-len(shape), len(shape))), int(rng.integers(1, 5))
        groups = rng.integers(0, count, shape[axis])
        a = with_nan(rng, ALL[func](rng, dtype, shape))
        case = {"group_idx": groups, "a": a, "axis": axis, "order": one_of(rng, "CF")}
        case |= options_for(rng, func, dtype, count)
        if "arg" in func:
            case["fill_value"] = -1  # positions-like-the-fill
        compare(case, dtype=dtype)


@pytest.mark.parametrize("func", [*ALL, np.ptp, "array"])
def test_groups_of_each_line(func):
    for rng in drawn(["lines", str(func)], CASES):
        shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(2, 4))))
        axis = int(rng.integers(-len(shape), len(shape)))
        groups = rng.integers(0, 4, [1 if chance(rng, 0.2) else n for n in shape])
        a = with_nan(rng, ALL.get(func, quarters)(rng, "float64", shape))
        case = {"group_idx": groups, "a": a, "axis": axis, "order": one_of(rng, "CF")}
        if func in ALL:
            case |= options_for(rng, func, "float64", 4)
            if "arg" in func:
                case["fill_value"] = -1  # positions-like-the-fill
            compare(case)
        else:
            case |= {"func": func, "fill_value": -1}
            found, expected = ours(**case), theirs(**case)
            assert found.shape == expected.shape
            for one, other in zip(found.ravel(), expected.ravel(), strict=True):
                agree(one, other, case)


@pytest.mark.parametrize("func", [name for name in ALL if "cum" not in name and name != "sort"])
def test_groups_along_two_axes(func):
    for rng in drawn(["two axes", func], CASES):
        dtype = one_of(rng, DTYPES)
        groups = rng.integers(0, 4, (2, int(rng.integers(1, 30))))
        a = with_nan(rng, ALL[func](rng, dtype, groups.shape[1:]))
        case = {"group_idx": groups, "a": a, "order": one_of(rng, "CF")} | options_for(
            rng, func, dtype, 4
        )
        if "size" in case:
            case["size"] = [int(n) for n in rng.integers(4, 7, 2)]
        compare(case, dtype=dtype)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("func", [*RUNNING, *(f"nan{name}" for name in RUNNING)])
def test_what_only_numba_has(func, dtype):
    pytest.importorskip("numba")
    for rng in drawn([func, dtype], CASES):
        count = int(rng.integers(1, 7))
        groups = rng.integers(0, count, int(rng.integers(1, 40)))
        a = with_nan(rng, RUNNING[func.removeprefix("nan")](rng, dtype, groups.shape))
        case = {"group_idx": groups, "a": a, "func": func, "fill_value": 1 if "prod" in func else 0}
        found, expected = ours(**case), groupies.aggregate_nb(**case)
        agree(found, expected, case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_and_callables(dtype):
    for rng in drawn(["array", dtype], CASES):
        groups = rng.integers(0, 5, int(rng.integers(1, 20)))
        a = quarters(rng, dtype, groups.shape)
        case = {"group_idx": groups, "a": a, "func": "array", "fill_value": 0, "size": 6}
        for found, expected in zip(ours(**case), theirs(**case), strict=True):
            agree(found, expected, case)
        if dtype in [*INTEGERS, *FLOATS]:
            case |= {"func": np.ptp, "fill_value": -1}
            agree(ours(**case), theirs(**case), case)


@pytest.mark.parametrize("func", ["sum", "prod", "len", "mean"])
def test_one_number_for_all(func):
    for rng in drawn(["number", func], CASES):
        groups = rng.integers(0, 5, int(rng.integers(1, 20)))
        a = one_of(rng, [2, 2.5, 1])
        case = {"group_idx": groups, "a": a, "func": func, "fill_value": 0}
        case |= {"dtype": "int64"} if func == "sum" and isinstance(a, int) else {}
        compare(case)


def test_what_is_refused():
    for rng in drawn(["refused"], 10 * CASES):
        groups = rng.integers(-1 if chance(rng, 0.3) else 0, 5, int(rng.integers(1, 9)))
        case = {
            "group_idx": groups,
            "a": quarters(rng, one_of(rng, DTYPES), groups.shape),
            "func": "first",
        }
        case["fill_value"] = one_of(rng, [0, 1])
        if chance(rng, 0.3):
            case["size"] = int(rng.integers(1, 6))
        if chance(rng, 0.1):
            case["a"] = case["a"][1:]
        if chance(rng, 0.1):
            case["group_idx"] = groups.astype(np.float64)
        compare(case)


SUMS = {"float32": 1e-4, "float64": 1e-12, "complex64": 1e-4, "complex128": 1e-12}


@pytest.mark.parametrize("dtype", SUMS)
@pytest.mark.parametrize("func", ["sum", "mean", "prod", "var", "std", "sumofsquares", "cumsum"])
def test_of_any_numbers(func, dtype):
    for rng in drawn(["any", func, dtype], CASES):
        groups = rng.integers(0, 4, int(rng.integers(1, 60)))
        case = {
            "group_idx": groups,
            "a": normal(rng, dtype, groups.shape),
            "func": func,
            "fill_value": 0,
        }
        found = ours(**case)
        found = found.real if func == "sumofsquares" else found
        agree(found, theirs(**case), case, SUMS[dtype], SUMS[dtype])


# What numpy_groupies does wrong.

GROUPIES = ("numpy_groupies", "0.16.0")
DEFECTS = {
    "positions-like-the-fill": Defect(
        *GROUPIES,
        "with an axis, the position of the value whose number in the whole array is fill_value becomes fill_value",
        lambda: (
            theirs([0], np.arange(4).reshape(1, 4), "argmin", fill_value=2, axis=0).tolist()
            == [[0, 0, 2, 0]]
        ),
    ),
    "dtypes-of-sums": Defect(
        *GROUPIES,
        "the dtype of a sum of integers depends on how many there are, and is float32 for uint64",
        lambda: theirs([0] * 5, np.uint64([1] * 5), "sum").dtype == np.float32,
    ),
}


@defects(DEFECTS)
def test_a_defect_is_still_there(defect):
    is_there(defect, groupies.__version__)
