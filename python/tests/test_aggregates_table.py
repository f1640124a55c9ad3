"""docs/aggregates.md: its table is what the aggregates do."""

import pathlib
import re

import numpy as np
import pytest
import strew

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/aggregates.md"
LINES = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")]
# The table of aggregates has more columns than that of their options.
LINES = [line for line in LINES if line.count("|") == 8]
COLUMNS = ["of", "type", "computed in", "passes", "NaN", "empty"]
ROWS = {
    name: {column: cell.strip() for column, cell in zip(COLUMNS, cells, strict=True)}
    for names, *cells in (line.strip("|").split("|") for line in LINES)
    for name in re.findall(r"`(\w+)`", names)
}
DTYPES = [
    np.bool_,
    np.int8,
    np.uint32,
    np.int64,
    np.float16,
    np.float32,
    np.float64,
    np.complex64,
    np.complex128,
]


def made(name, src, index=None, **options):
    src = np.asarray(src)
    index = np.zeros(len(src), np.int64) if index is None else index
    return strew.aggregate(src, index, name, **options)


def test_every_aggregate_is_a_row():
    with pytest.raises(ValueError) as error:
        made("most", [1.0])
    known = str(error.value).partition("one of ")[2].split(", ")
    assert sorted(ROWS) == sorted(known)


def wide(dtype):
    if dtype.kind in "biu":
        return np.dtype(np.uint64 if dtype.kind == "u" else np.int64)
    return dtype


def real(dtype):
    if dtype.kind in "biu":
        return np.dtype(np.float64)
    return np.zeros(0, dtype).real.dtype


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("name", ROWS)
def test_types(name, dtype):
    dtype = np.dtype(dtype)
    if "real dtypes" in ROWS[name]["of"] and dtype.kind == "c":
        with pytest.raises(TypeError):
            made(name, np.ones(2, dtype))
        return
    said = ROWS[name]["type"]
    expected = {
        "wide": wide(dtype),
        "real": dtype if dtype.kind == "c" and "complex stay" in said else real(dtype),
        "same": dtype,
    }
    word = re.match(r"\w+", said).group()
    found = made(name, np.ones(2, dtype))
    assert found.dtype == expected.get(word, word)
    usual = (1, 1) if "for each group" in said else (1,)
    assert found.shape == ((2,) if "for each value" in said else usual)


@pytest.mark.parametrize("name", ROWS)
def test_empty(name):
    said = ROWS[name]["empty"]
    if said == "nothing":
        assert made(name, np.zeros(0)).shape == (0,)
        return
    if name in ("any", "all"):
        said = said.split(", ")[name == "all"]
    for dtype in (np.float32, np.int32):
        (_, found) = made(name, np.ones(1, dtype), size=2)
        (few,) = made(name, np.ones(2, dtype), min_count=3)
        if said == "none":
            expected = 0 if found.dtype.kind == "i" else np.nan
        else:
            expected = {"False": False, "True": True}.get(said) if said[0] in "FT" else int(said)
        np.testing.assert_array_equal(np.ravel([found, few]), [expected, expected])


@pytest.mark.parametrize("name", ROWS)
def test_nan(name):
    said = ROWS[name]["NaN"]
    src = np.array([2.0, np.nan, 1.0, 2.0])
    found = made(name, src)
    without = made(name, src[[0, 2, 3]])
    if said == "NaN":
        assert np.isnan(found).all()
    elif said == "NaN, for all":
        assert np.isnan(found).all() and len(found) == 4
    elif said == "NaN, from there on":
        assert np.isnan(found).tolist() == [False, True, True, True]
    elif said == "last":
        last = {"argsort": [2, 0, 3, 1], "rank": [2.5, 4, 1, 2.5]}
        np.testing.assert_array_equal(found, last.get(name, [1, 2, 2, np.nan]))
    elif name == "cumcount":
        assert said == "counts" and found.tolist() == [0, 1, 2, 3]
    elif said.startswith("its position"):
        assert found == [1]
    elif said in ("counts", "counts once"):
        assert found == without + 1
        assert made(name, [np.nan, np.nan]) == (1 if "once" in said else 2)
    elif said == "does not count":
        assert found == without
    elif said == "true":
        assert made(name, [np.nan]) == [True]
    elif said == "-1":
        assert found == [-1]
    else:
        # A value like others.
        assert said.startswith("a value")
        assert np.isnan(made(name, [np.nan, np.nan])).all()
    if not name.startswith("arg") and name != "sort":
        # Positions are those in src, and what is sorted keeps its NaN.
        np.testing.assert_array_equal(made(name, src, skipna=True)[-1], without[-1])
