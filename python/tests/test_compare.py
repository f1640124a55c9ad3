"""compare.toml: every cell of its operators is what they do, every example has its result, and COMPARE.md shows them.

compare.toml says how a cell is written. Each of its phrases has a check here. An empty cell, and "cannot occur", says
nothing. What torch's autograd gives is tested in `peers`.
"""

import builtins
import functools
import itertools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
import pytest
import strew
from compare_adapters import ADAPTERS, BAD_POINTERS, SLICES
from compare_loops import MEANING, OF_VALUES, ROUNDED, folded, looped
from compare_table import CELLS, KNOWN, ROWS, TABLE, ways, words
from compare_write import (
    COLUMNS,
    DOCUMENT,
    FRAMEWORKS,
    Notes,
    clauses,
    document,
    operators,
    shown,
)

CRATE = DOCUMENT.parent / "crates/strew"

DTYPES = {
    "bool": [bool],
    "integers": ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    "floats": [np.float16, ml_dtypes.bfloat16, np.float32, np.float64],
    "complex": [np.complex64, np.complex128],
}
DTYPES = {name: {np.dtype(one) for one in dtypes} for name, dtypes in DTYPES.items()}
EVERY = set().union(*DTYPES.values())

REFUSALS = (IndexError, RuntimeError, TypeError, ValueError, NotImplementedError)


# A case: an operator, and one of its ways.


@dataclass(frozen=True)
class Case:
    operator: str
    word: str
    call: Callable
    phrase: str
    given: str | None = None

    @property
    def adds_to_cells(self):
        """Whether what the cells hold takes part, as it does where untouched ones keep it."""
        return self.given == "out" or shown(CELLS[self.operator].get("untouched", "")) in KEPT

    @property
    def meaning(self):
        word = self.word.removeprefix("nan")
        return MEANING.get(word, word)

    @property
    def is_of_values(self):
        """Whether there is a result for each update, not for each cell."""
        return self.meaning in OF_VALUES

    @property
    def dtype(self):
        """One that it is sure to take."""
        return np.dtype(np.int64 if self.operator in INTEGERS_ONLY else np.float64)

    def run(self, x, i, y, dtype=None):
        dtype = self.dtype if dtype is None else dtype
        return self.call(np.array(x, dtype), np.array(i, np.int64), np.array(y, dtype))


KEPT = {
    "data",
    "self",
    "lhs",
    "input_x",
    "input",
    "tensor",
    "ref",
    "x",
    "a",
    "arr",
    "operand",
    "past_cache",
    "out",
}
"""Whose untouched cells stay."""
INTEGERS_ONLY = {
    f"numpy.{name}.at"
    for name in strew.numpy.__all__
    if re.search("bitwise|shift|invert|power", name)
}
SORTED = re.compile(
    r"torch\.segment|torch\.masked|tensorflow\.math\.segment|paddle\.geometric|torch_scatter\.(segment|gather)|pyg_lib\.segment"
)
WIDE = {"strew.aggregate", "numpy_groupies.aggregate", "numpy.bincount"}
"""Floats are computed in float64."""
WIDE_RESULTS = {
    "strew.aggregate",
    "strew.scatter",
    "numpy_groupies.aggregate",
    "numpy.bincount",
    "torch_scatter.scatter_std",
}
"""Results have other types than the updates, too."""


def cases(name, column):
    """What the cell says of each way of the operator, and under each option."""
    return [Case(name, *way) for way in ways(ADAPTERS[name], CELLS[name].get(column, ""))]


# Indices.


def same(found, expected):
    assert found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


def outside(case, bad):
    """An index that is outside behind one that is not, or before it where they have to ascend."""
    return [bad, 1] if bad < 0 and SORTED.match(case.operator) else [1, bad]


UPDATES = [2, 3], [3, 2], [9, 8], [8, 9]
"""That each of two updates shows, whether they are added to 5, 6 and 7 or compared with them."""


def is_error(case, bad):
    for call in BAD_POINTERS.get(case.operator, []):
        with pytest.raises(REFUSALS, match=r"-?\d"):
            # A pointer may be the size.
            call(bad + (bad > 0))
    if case.operator in BAD_POINTERS:
        return
    x = np.array([5, 6, 7], case.dtype)
    with pytest.raises((IndexError, RuntimeError, ValueError), match=str(bad)):
        i = outside(case, bad) if case.word != "fill" else [bad]
        case.call(x, np.array(i), np.array([2, 3][: len(i)], case.dtype))
    assert x.tolist() == [5, 6, 7]


def is_left_out(case, bad):
    assert case.word != "get", "nothing can be left out of what is picked"
    for y in UPDATES:
        i = outside(case, bad)
        found = case.run([5, 6, 7], i, y)
        kept = slice(i.index(1), i.index(1) + 1) if case.is_of_values else slice(None)
        same(found[kept], case.run([5, 6, 7], [1], [y[i.index(1)]]))


def is_place(place):
    """The index means another one."""

    def check(case, bad):
        i = outside(case, bad)
        for x, y in itertools.product(([5, 6, 7], [-5, -6, -7]), UPDATES):
            same(case.run(x, i, y), case.run(x, [place(one) for one in i], y))

    return check


def is_number(number):
    """What stands where nothing is picked."""

    def check(case, bad):
        assert case.run([5, 6, 7], [bad, 2], [0, 0]).tolist() == [number, 7]

    return check


def is_fill_value(case, bad):
    case = replace(case, call=functools.partial(case.call, fill_value=-4))
    assert case.run([5, 6, 7], [bad, 2], [0, 0]).tolist() == [-4, 7]


def makes_room(case, bad):
    found = case.run([0, 0, 0], [bad, 0], [2, 3])
    if case.is_of_values:
        return
    same(found, case.run([0] * (bad + 1), [bad, 0], [2, 3]))
    assert len(found) == bad + 1


def slices(case, _):
    """All of a size of 4, against Python's."""
    call, steps = SLICES[case.operator], [1, 2, 3, 9]
    steps += [-1, -2, -9] if case.operator == "openvino.slice_scatter" else []
    for start, stop, step in itertools.product(range(-6, 7), range(-6, 7), steps):
        expected = np.arange(4.0)
        updates = 10.0 + np.arange(len(expected[start:stop:step]))
        expected[start:stop:step] = updates
        same(call(np.arange(4.0), updates, start, stop, step), expected)


INDEX = {
    "error": is_error,
    "left out": is_left_out,
    "counts from the end": is_place(lambda i: i % 3),
    "counts from the end, once": is_place(lambda i: i % 3),
    "the nearest": is_place(lambda i: min(max(i, 0), 2)),
    "wraps to 0": is_place(lambda i: i % 3),
    "0": is_number(0),
    "`fill_value`": is_fill_value,
    "bins are added": makes_room,
    "groups are added": makes_room,
    "Python's slice rule": slices,
    "clamped": slices,
}


def negative(case):
    INDEX[case.phrase](case, -1)


def too_large(case):
    INDEX[case.phrase](case, 3)
    INDEX[case.phrase](case, 1000) if case.phrase != "wraps to 0" else None
    below = [
        phrase
        for given, phrase in clauses(CELLS[case.operator].get("below_0", ""))
        if given is None
    ]
    if below in (["counts from the end"], ["counts from the end, once"]) and case.given is None:
        INDEX[case.phrase](case, -4)


# Duplicates.


def in_order(case):
    if case.meaning in ("logsumexp", "softmax", "log_softmax"):
        return adds_exponentials_in_order(case)
    if case.operator.startswith("numpy.") and case.operator.endswith(".at"):
        return as_numpy_in_order(case)
    for dtype, count in [(np.float64, 3000), (np.float32, 64)]:
        random = np.random.default_rng(7)
        i = random.integers(0, 4, count)
        i[-1] = 4
        i = np.sort(i) if SORTED.match(case.operator) else i
        factors = case.meaning in ("prod", "div")
        scale = 0.01 if factors else 10.0 ** random.integers(-6, 6, count)
        y = (factors + scale * random.standard_normal(count)).astype(dtype)
        x = (factors + random.standard_normal(5) / 8).astype(dtype)
        wide = np.float64 if case.operator in WIDE else dtype
        lists = [[wide(value) for value in y[i == cell]] for cell in range(5)]
        if case.adds_to_cells:
            lists = [[wide(own), *values] for own, values in zip(x, lists, strict=True)]
        found, expected = case.run(x, i, y, dtype), looped(case, i, lists)
        same(found, expected.astype(found.dtype))
        if case.meaning in ROUNDED and not (dtype == np.float32 and case.operator in WIDE):
            # Another order has other bits, so that this can fail.
            assert looped(case, i, [values[::-1] for values in lists]).tolist() != expected.tolist()


def adds_exponentials_in_order(case):
    """What 1 does not see, since it is less than half its last bit, but for twenty that come first."""
    small = [-37.0] * 20
    seen = [case.run([0, 0], [1] * len(y), y)[-1] for y in ([0.0], [0.0, *small], [*small, 0.0])]
    if case.meaning in ("softmax", "log_softmax"):
        # That of the 0, wherever it is.
        seen[1] = case.run([0, 0], [1] * 21, [0.0, *small])[0]
    assert seen[0] == seen[1] != seen[2]


def as_numpy_in_order(case):
    random = np.random.default_rng(7)
    i = random.integers(0, 5, 60)
    y = random.integers(0, 4, 60) if case.dtype.kind == "i" else random.standard_normal(60)
    x = (np.arange(5) + 3).astype(case.dtype)
    function, expected = getattr(np, case.word), x.copy()
    function.at(expected, i, y) if function.nin == 2 else function.at(expected, i)
    same(case.run(x, i, y), expected)


def gather_csr(case):
    """The function itself, since an adapter makes its pointers."""
    return getattr(strew, case.operator.partition(".")[0]).gather_csr


def last_stays(case):
    assert case.meaning == "set"
    if case.operator.endswith(".gather_csr"):
        found = gather_csr(case)([7.0, 8.0, 9.0], np.array([0, 3, 1, 3]))
        assert found.tolist() == [7.0, 9.0, 9.0]
        return
    random = np.random.default_rng(7)
    i, y = random.integers(0, 50, 2000), random.standard_normal(2000)
    i[-1] = 49
    found = case.run(np.zeros(50), i, y)
    assert found.tolist() == [y[i == cell][-1] for cell in range(50)]


def exponents_are_multiplied(case):
    random = np.random.default_rng(7)
    for dtype in (np.float64, np.float32, np.int64):
        i, y = random.integers(0, 4, 9), random.integers(1, 3, 9).astype(dtype)
        x = random.integers(2, 4, 5).astype(dtype)
        exponents = [np.prod(y[i == cell], dtype=dtype) for cell in range(5)]
        same(case.run(x, i, y, dtype), np.power(x, np.array(exponents)))


DUPLICATES = {
    "in order": in_order,
    "last stays": last_stays,
    "the exponents are multiplied": exponents_are_multiplied,
}


def duplicates(case):
    DUPLICATES[re.sub("^(added|reduced|aggregated) ", "", case.phrase)](case)


# Untouched cells.


def extreme(case, dtype, infinite=False):
    """The other end of what the type has: where a maximum or minimum starts."""
    lowest = case.meaning == "max"
    if np.dtype(dtype).kind == "f":
        value = np.inf if infinite else np.finfo(dtype).max
        return -value if lowest else value
    return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max


def untouched(case):
    if case.is_of_values:
        return
    if case.operator.endswith(".gather_csr"):
        found = gather_csr(case)([7.0, 8.0], np.array([1, 2, 3]))
        assert found.tolist() == [float(case.phrase), 7.0, 8.0]
        return
    dtypes = [case.dtype]
    if "integer" in case.phrase or "extreme" in case.phrase:
        dtypes = [np.float32, np.float64, np.int8, np.uint16, np.int64]
    for dtype in dtypes:
        found = case.run([5, 6, 7], [0, 2], [1, 2], dtype)
        assert len(found) == 3
        np.testing.assert_array_equal(found[1], stands(case, dtype, found.dtype))


def stands(case, dtype, made):
    if case.phrase in KEPT:
        return 6
    if case.phrase == "NaN, of integers 0":
        return np.nan if made.kind == "f" else 0
    if case.phrase == "the extreme finite value":
        return extreme(case, dtype)
    if case.phrase == "infinity or the extreme integer":
        return extreme(case, dtype, infinite=True)
    return float(case.phrase)


# NaN.


def only_extremes(check):
    def run(case):
        if case.meaning in ("max", "min", "logsumexp"):
            check(case)

    return run


@only_extremes
def nan_propagates(case):
    for y in ([math.nan, 2.0], [2.0, math.nan], [1.0, math.nan, 2.0]):
        assert math.isnan(case.run([1.0], [0] * len(y), y)[0])
    if case.adds_to_cells:
        assert math.isnan(case.run([math.nan], [0, 0], [1.0, 2.0])[0])


@only_extremes
def nan_is_ignored(case):
    for y in ([math.nan, 2.0], [2.0, math.nan], [1.0, math.nan, 2.0]):
        numbers = [value for value in y if not math.isnan(value)]
        same(case.run([1.5], [0] * len(y), y), case.run([1.5], [0] * len(numbers), numbers))


@only_extremes
def nan_in_cells_stays(case):
    assert case.adds_to_cells and math.isnan(case.run([math.nan], [0, 0], [1.0, 2.0])[0])


NAN = {
    "propagates": nan_propagates,
    "ignored": nan_is_ignored,
    **{f"a NaN in {where} stays": nan_in_cells_stays for where in ("data", "tensor", "ref", "arr")},
}


# Means of integers.


def integer_mean(case):
    if case.phrase == "fraction cut off at each step":
        if case.word in ("add", "subtract"):
            found = case.call(np.array([-5, 5]), np.array([0, 0, 1, 1]), np.array([1.75] * 4))
            assert found.tolist() == ([-1, 7] if case.word == "add" else [-7, 1])
        return
    if case.meaning != "mean":
        return
    for values in ([-7, 0], [7, 0], [-1, -1, -3], [5, 6, -3]):
        own = values[:1] if case.adds_to_cells else []
        y = values[len(own) :]
        found = case.run(own or [0], [0] * len(y), y, np.int32)
        mean = sum(values) / len(values)
        if case.phrase == "float64":
            assert found.dtype == np.float64 and found.tolist() == [mean]
        else:
            rounded = {"rounded down": math.floor, "toward zero": math.trunc}[case.phrase](mean)
            assert found.dtype == np.int32 and found.tolist() == [rounded]


# Types.


def taken(phrase):
    """The types that a phrase names: `all but a, b and c`, `not a`, `a and b`."""
    if phrase.startswith(("all but ", "not ")):
        return EVERY - taken(re.sub("^(all but|not) ", "", phrase))
    found = set()
    for word in words(phrase):
        found |= EVERY if word == "all" else DTYPES.get(word) or {np.dtype(word)}
    return found


def dtypes(case):
    if case.phrase == "those of NumPy's function":
        return dtypes_of_numpy(case)
    for dtype in sorted(EVERY, key=str):
        if case.given == "x":
            check_index_dtype(case, dtype, dtype in taken(case.phrase))
            continue
        x, y = ([1, 0, 1], [1, 0]) if dtype == bool else ([4, 1, 3], [2, 1])
        if dtype not in taken(case.phrase):
            with pytest.raises(REFUSALS, match="dtype|type|implemented"):
                case.run(x, [0, 2], y, dtype)
            continue
        found = case.run(x, [0, 2], y, dtype)
        if case.operator not in WIDE_RESULTS and case.word not in ("mean", "sqrt_n"):
            assert found.dtype == dtype
        if (expected := simple(case, x, y)) is not None:
            np.testing.assert_array_equal(
                found[[0, -1]].astype(np.complex128), as_type(expected, dtype, found)
            )


def check_index_dtype(case, dtype, is_taken):
    run = functools.partial(
        case.call.func, np.zeros(2), np.array([1, 0]).astype(dtype), np.array([2.0, 3.0])
    )
    if is_taken:
        assert run().tolist() == [3.0, 2.0]
    else:
        with pytest.raises(TypeError, match="dtype"):
            run()


def simple(case, x, y):
    """What becomes of the first and the last cell, where that is exact in every type."""
    if case.word == "get":
        return [x[0], x[2]]
    if case.meaning in ("logsumexp", "softmax", "log_softmax", "argmin", "argmax"):
        return None
    if case.is_of_values:
        return y
    if not case.adds_to_cells:
        return [folded(case, [update]) for update in y]
    return [folded(case, [own, update]) for own, update in zip(x[::2], y, strict=True)]


def as_type(values, dtype, found):
    values = np.array(values).astype(dtype)
    return (
        (values if found.dtype.kind == "c" else values.real)
        .astype(found.dtype)
        .astype(np.complex128)
    )


def dtypes_of_numpy(case):
    function = getattr(np, case.word)
    for dtype in sorted(EVERY - {np.dtype(ml_dtypes.bfloat16)}, key=str):
        x, i, y = np.array([4, 1, 3], dtype), np.array([0, 2]), np.array([2, 1], dtype)
        expected = x.copy()
        try:
            function.at(expected, i, y) if function.nin == 2 else function.at(expected, i)
        except TypeError:
            with pytest.raises(TypeError):
                case.call(x, i, y)
        else:
            same(case.call(x, i, y), expected)


# Gradients.


def gradient(case):
    """Whether torch's autograd has it. What it gives is looked at in `peers`."""
    of_torch = ("torch.", "torch_scatter.", "pyg_lib.", "strew.")
    if not case.operator.startswith(of_torch):
        assert case.phrase == "none"


CHECKS = {
    "below_0": negative,
    "too_large": too_large,
    "duplicates": duplicates,
    "untouched": untouched,
    "nan": lambda case: NAN[case.phrase](case),
    "integer_mean": integer_mean,
    "dtypes": dtypes,
    "gradient": gradient,
}


def test_every_operator_has_one_row():
    listed = [name for name, _ in ROWS]
    assert sorted(listed) == sorted(KNOWN)
    assert set(listed) <= set(ADAPTERS)


def test_every_column_has_a_check():
    assert [*COLUMNS] == [*CHECKS]
    for named, row in TABLE:
        assert set(row) <= {"names", *CHECKS}, named


def test_operators_are_in_the_section_of_their_module():
    for framework in FRAMEWORKS:
        for row in framework["operator"]:
            assert {name.partition(".")[0] for name in row["names"]} == {framework["key"]}


def words_of_row(row):
    return {word for name, own in ROWS if own is row for word in ADAPTERS[name]}


def test_every_condition_is_of_a_way():
    for named, row in TABLE:
        known = words_of_row(row)
        for column in CHECKS:
            for condition, _ in clauses(row.get(column, "")):
                if condition and "`" not in condition:
                    assert set(words(condition)) <= known, (named, column, condition)


def test_a_cell_is_empty_where_there_is_nothing_to_say():
    for name, cells in ROWS:
        meanings = {MEANING.get(word, word) for word in words_of_row(cells)}
        assert ("nan" in cells) == bool(meanings & {"max", "min", "logsumexp"})
        if name != "torch.segment_reduce" and not name.endswith(".at"):
            # One has no means of integers, others have no means, but round at each step.
            assert ("integer_mean" in cells) == ("mean" in meanings)
        assert ("untouched" in cells) == bool(meanings - {"get", *OF_VALUES})
        assert cells["dtypes"] and cells["gradient"]


@pytest.mark.parametrize("column", CHECKS)
@pytest.mark.parametrize("name", CELLS)
def test_cell(name, column):
    found = cases(name, column)
    assert not found or {case.word for case in found} == {*ADAPTERS[name]}
    for case in found:
        CHECKS[column](case)


# Examples.

EXAMPLES = [
    (framework.get("setup", ""), call, outcome)
    for framework in FRAMEWORKS
    for difference in framework.get("difference", [])
    for call, outcome in difference.get("examples", [])
]


def leaves(result):
    return [np.asarray(one) for one in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("setup, call, outcome", EXAMPLES, ids=[call for _, call, _ in EXAMPLES])
def test_example(setup, call, outcome):
    space = {"np": np, "strew": strew}
    exec(setup, space)
    if outcome.endswith("Error"):
        with pytest.raises(vars(builtins)[outcome], match=r"^\w+\.\w+: "):
            eval(call, space)
        return
    found, expected = leaves(eval(call, space)), leaves(eval(outcome, space))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        if one.dtype.kind in "iu":
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-4)


# The document.


@pytest.mark.skipif(not DOCUMENT.exists(), reason="COMPARE.md is not in the package")
def test_the_document_shows_the_data():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert document(text) == text, "run python python/tests/compare_write.py"


def test_a_cell_shows_all_of_its_clauses():
    assert shown("error") == "error"
    assert shown(["ignored", "a NaN in data stays"]) == "ignored; a NaN in data stays"
    cell = {"otherwise": "0", "add, max, min": "1", '`mode="clip"`': "the nearest"}
    assert shown(cell) == '0; add, max and min: 1; with `mode="clip"`: the nearest'


def test_what_is_said_of_single_ways_stands_below_the_table_once():
    long = {
        "otherwise": "error",
        '`mode="wrap"`': "counts from the end",
        '`mode="drop"`': "left out",
    }
    notes = Notes()
    assert notes.shown(long) == notes.shown(long | {"otherwise": "error"}) == "error¹"
    assert notes.shown({"otherwise": "0", "prod": "1"}) == "0; prod: 1"
    assert notes.shown("cannot occur") == "cannot occur" and notes.shown("") == ""
    assert (
        notes.lines()
        == '\n¹ with `mode="wrap"`: counts from the end; with `mode="drop"`: left out\n'
    )


def test_what_holds_for_all_operators_stands_above_the_table():
    row = {"below_0": "error", "too_large": "error", "dtypes": "all"}
    rows = [
        row | {"names": ["a.b"], "nan": "ignored"},
        row | {"names": ["a.c"], "dtypes": "floats"},
    ]
    text = operators({"key": "a", "operator": rows})
    assert "- index < 0 or too large: error\n- NaN in min/max: ignored\n" in text
    assert text.endswith("| `b` | all |\n| `c` | floats |\n")
    alone = operators({"key": "a", "operator": [row | {"names": ["a.b"], "too_large": "0"}]})
    assert "`b`:\n\n- index < 0: error\n- index too large: 0\n- dtypes: all\n" in alone
