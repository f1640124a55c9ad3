"""strew.aggregate against pandas' groupby on random arguments. Needs pandas."""

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")

import strew  # noqa: E402
from drawn import (  # noqa: E402
    INTEGERS,
    Defect,
    agree,
    chance,
    defects,
    drawn,
    factors,
    is_there,
    normal,
    orderable,
    ordered,
    summands,
)

CASES = 20
FLOATS = ["float32", "float64"]
NUMBERS = [*INTEGERS, *FLOATS]
EXTREMES = ["bool", *NUMBERS]


def quarters(rng, dtype, shape):
    """Of these, also the means and middles of integers are exact."""
    return (rng.integers(0, 21, shape) / (4 if np.dtype(dtype).kind == "f" else 1)).astype(dtype)


def drawn_groups(rng, values, dtype):
    """The group of each value, values of one or two axes, and how many groups there are."""
    rows, count = int(rng.integers(1, 40)), int(rng.integers(1, 7))
    shape = (rows, int(rng.integers(1, 4))) if chance(rng, 0.4) else (rows,)
    made = values(rng, dtype, shape)
    if made.dtype.kind == "f":
        made = np.where(rng.random(shape) < 0.2, np.array(np.nan, made.dtype), made)
    return rng.integers(0, count, rows), made, count


def grouped(groups, values, count):
    """pandas' groups. Those without values are among them if the result can say that they have
    none.
    """
    frame = pandas.DataFrame(values) if values.ndim == 2 else pandas.Series(values)
    if values.dtype.kind == "f":
        groups = pandas.Categorical(groups, categories=range(count))
    return frame.groupby(groups, observed=False)


DTYPE_OF_VALUES = ["sum", "prod", "mean", "var", "std", "median", "quantile", "cumsum", "cumprod"]


def compare(rng, name, dtype, values, theirs, running=False, tolerance=0.0, **options):
    """`theirs` makes of pandas' groups what strew's aggregate of that name is."""
    groups, src, count = drawn_groups(rng, values, dtype)
    case = {"index": groups, "src": src, "reduce": name, "size": count, "skipna": True} | options
    found = strew.aggregate(**case)
    expected = theirs(grouped(groups, src, count)).to_numpy()
    if running and src.dtype.kind == "f":
        # pandas leaves NaN where it was; strew has what is so far there.
        found[np.isnan(src)] = np.nan
    elif src.dtype.kind != "f" and not running:
        found = found[np.unique(groups)]
    if name in DTYPE_OF_VALUES:
        expected = expected.astype(found.dtype)  # dtypes-of-values
    agree(found, expected, case, tolerance, tolerance)


def ids(operators):
    return [
        pytest.param(name, *rest, dtype, id=f"{name}-{dtype}")
        for name, (*rest, dtypes) in operators.items()
        for dtype in dtypes
    ]


EXACT = {
    # What it is made of, pandas' method, dtypes.
    "sum": (summands, "sum", ["bool", *NUMBERS]),
    "prod": (factors, "prod", NUMBERS),
    "mean": (quarters, "mean", NUMBERS),
    "min": (orderable, "min", EXTREMES),
    "max": (orderable, "max", EXTREMES),
    "first": (orderable, "first", EXTREMES),
    "last": (orderable, "last", EXTREMES),
    "median": (quarters, "median", NUMBERS),
    "count": (orderable, "count", EXTREMES),
    "len": (orderable, "size", EXTREMES),
    "nunique": (orderable, "nunique", EXTREMES),
    "any": (orderable, "any", EXTREMES),
    "all": (orderable, "all", EXTREMES),
}


@pytest.mark.parametrize(("name", "values", "method", "dtype"), ids(EXACT))
def test_one_for_each_group(name, values, method, dtype):
    for rng in drawn([name, dtype], CASES):
        if name == "len":
            # It is one number for a group of rows.
            groups, src, count = drawn_groups(rng, values, dtype)
            found = strew.aggregate(src, groups, "len", size=count)
            expected = grouped(groups, src, count).size().to_numpy()
            found = found if src.dtype.kind == "f" else found[np.unique(groups)]
            expected = np.broadcast_to(expected.reshape(-1, *[1] * (src.ndim - 1)), found.shape)
            agree(found, expected, {"index": groups, "src": src})
        else:
            compare(rng, name, dtype, values, lambda groups: getattr(groups, method)())


STRICT = ["sum", "prod", "mean", "min", "max", "first", "last", "median"]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", STRICT)
def test_of_nan_nan_is_made(name, dtype):
    values, method, _ = EXACT[name]
    for rng in drawn(["strict", name, dtype], CASES):
        compare(
            rng,
            name,
            dtype,
            values,
            lambda groups: getattr(groups, method)(skipna=False),
            skipna=False,
        )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "first", "last"])
def test_of_too_few_nothing_is_made(name, dtype):
    values, method, _ = EXACT[name]
    for rng in drawn(["few", name, dtype], CASES):
        least = int(rng.integers(1, 8))
        compare(
            rng,
            name,
            dtype,
            values,
            lambda groups, least=least: getattr(groups, method)(min_count=least),
            min_count=least,
            fill_value=np.nan,
        )


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["var", "std"])
def test_deviations(name, dtype):
    for rng in drawn([name, dtype], CASES):
        ddof = int(rng.integers(0, 3))
        compare(
            rng,
            name,
            dtype,
            quarters,
            lambda groups, ddof=ddof: getattr(groups, name)(ddof=ddof),
            tolerance=1e-6 if dtype == "float32" else 1e-12,
            ddof=ddof,
            fill_value=np.nan,
        )


@pytest.mark.parametrize("dtype", NUMBERS)
def test_quantiles(dtype):
    for rng in drawn(["quantile", dtype], CASES):
        q = float(rng.choice([0, 0.25, 0.5, 1, rng.random()]))
        tolerance = 1e-6 if dtype == "float32" else 1e-13
        compare(
            rng,
            "quantile",
            dtype,
            quarters,
            lambda groups, q=q: groups.quantile(q),
            tolerance=tolerance,
            q=q,
        )


@pytest.mark.parametrize("dtype", FLOATS)
def test_different_values_with_nan_among_them(dtype):
    for rng in drawn(["nunique with NaN", dtype], CASES):
        compare(
            rng,
            "nunique",
            dtype,
            orderable,
            lambda groups: groups.nunique(dropna=False),
            skipna=False,
        )


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_positions(name, dtype):
    for rng in drawn([name, dtype], CASES):
        groups = rng.integers(0, 5, int(rng.integers(1, 40)))
        src = ordered(rng, dtype, groups.shape)
        case = {"index": groups, "src": src, "reduce": name}
        expected = getattr(pandas.Series(src).groupby(groups), name.replace("arg", "idx"))()
        agree(strew.aggregate(**case)[np.unique(groups)], expected.to_numpy(), case)


RUNNING = {"cumsum": summands, "cumprod": factors, "cummin": ordered, "cummax": ordered}


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", RUNNING)
def test_one_for_each_value(name, dtype):
    for rng in drawn([name, dtype], CASES):
        compare(rng, name, dtype, RUNNING[name], lambda groups: getattr(groups, name)(), True)


TOLERANCES = {"float32": 2e-5, "float64": 1e-12}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "std", "median"])
def test_of_any_numbers(name, dtype):
    options = {"ddof": 1, "fill_value": np.nan} if name in ("var", "std") else {}
    for rng in drawn(["any", name, dtype], CASES):
        compare(
            rng,
            name,
            dtype,
            normal,
            lambda groups: getattr(groups, name)(),
            tolerance=TOLERANCES[dtype],
            **options,
        )


# What pandas does wrong.


def of_group(values, method):
    return getattr(pandas.Series(values).groupby([0] * len(values)), method)()


DEFECTS = {
    "dtypes-of-values": Defect(
        "pandas",
        "3.1.1",
        "a sum's dtype depends on whether the values that come out fit, and a mean's likewise",
        lambda: (
            of_group(np.int8([127, 1]), "sum").dtype != of_group(np.int8([126, 1]), "sum").dtype
        ),
    ),
}


@defects(DEFECTS)
def test_a_defect_is_still_there(defect):
    is_there(defect, pandas.__version__)
