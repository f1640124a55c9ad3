"""The records of strew.Accumulator as NumPy arrays.

They are compared with what NumPy's functions and fractions make of the values.
"""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import strew
from hypothesis import given, settings
from hypothesis import strategies as st
from strew._own.accumulator import arrays

GROUPS = 5
NAMES = (
    "sum prod sumsq mean var std sem min max first last len count any all "
    "anynan allnan argmin argmax"
).split()
EXACT = "sum mean sumsq var std sem".split()
OF_PLACES = ["first", "last", "argmin", "argmax"]
DTYPES = [
    "bool",
    *[f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)],
    *["float16", "bfloat16", "float32", "float64", "complex64", "complex128"],
]
MIXED = ["sum", "mean", "max", "argmax", "skew", "std", "any", "kurt", "var"]


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def kind(dtype):
    return "f" if dtype == "bfloat16" else np.dtype(dtype).kind


def computed_in(dtype):
    return {"b": "u8", "u": "u8", "i": "i8", "f": "f8", "c": "c16"}[kind(dtype)]


def values(random, dtype, shape, nan=0.1):
    """Small values, in which sums and squares of floats are not rounded."""
    made = random.integers(0, 9, shape).astype(complex)
    if kind(dtype) in "ifc":
        made -= 4
    if kind(dtype) in "fc":
        made /= 4
    if kind(dtype) == "c":
        made = made + 1j * random.integers(-4, 5, shape)
    if kind(dtype) in "fc":
        made[random.random(shape) < nan] = np.nan
    return (made if kind(dtype) == "c" else made.real).astype(dtype_of(dtype))


def at(ufunc, start, groups, src, dtype):
    """What a ufunc makes of the values of each group."""
    made = np.full((GROUPS, *src.shape[1:]), start, dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        ufunc.at(made, groups, src.astype(dtype))
    return made


def ends(dtype):
    """What the minimum and the maximum of no values are."""
    if dtype == "c16":
        return complex(np.inf, np.inf), complex(-np.inf, -np.inf)
    if dtype == "f8":
        return np.inf, -np.inf
    return np.iinfo(dtype).max, np.iinfo(dtype).min


def folds(src, groups, dtype):
    """The records that are one number, by aggregate."""
    wide = computed_in(dtype)
    nan = np.isnan(src) if kind(dtype) in "fc" else np.zeros(src.shape, bool)
    true = (src != 0).astype(bool)
    highest, lowest = ends(wide)
    squares = abs(src.astype("c16")) ** 2 if wide == "c16" else src.astype(wide) ** 2
    return {
        "sum": at(np.add, 0, groups, src, wide),
        "prod": at(np.multiply, 1, groups, src, wide),
        "sumsq": at(np.add, 0, groups, squares, wide),
        "min": at(np.minimum, highest, groups, src, wide),
        "max": at(np.maximum, lowest, groups, src, wide),
        "len": at(np.add, 0, groups, np.ones(src.shape), "i8"),
        "count": at(np.add, 0, groups, ~nan, "i8"),
        "any": at(np.bitwise_or, 0, groups, true, "i8"),
        "all": at(np.bitwise_and, 1, groups, true, "i8"),
        "anynan": at(np.bitwise_or, 0, groups, nan, "i8"),
        "allnan": at(np.bitwise_and, 1, groups, nan, "i8"),
        "present": at(np.bitwise_or, False, groups, np.ones(src.shape), "?"),
    }


def check(found, expected):
    """Rounding aside, as products and squares of complex numbers have it."""
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_records_of_one_number(dtype, shape):
    random = np.random.default_rng(1)
    # The last group is empty.
    groups, src = random.integers(0, GROUPS - 1, 30), values(random, dtype, (30, *shape), 0.02)
    expected = folds(src, groups, dtype)
    for names in [*[[name] for name in expected if name != "present"], list(expected)[:-1]]:
        acc = strew.Accumulator(GROUPS, names, dtype=dtype_of(dtype), shape=shape)
        acc.update(src, groups)
        found = arrays(acc)
        assert [name for name in found if name != "present"] == names
        # Counts are never without a result.
        assert set(found) == {*names, "present"} or not {"min"} & set(names)
        for name, array in found.items():
            check(array, expected[name])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [GROUPS, None])
def test_records_of_values_and_positions(dtype, size):
    random = np.random.default_rng(2)
    groups, src = random.permutation([0, 1, 2, 4] * 9), values(random, dtype, 36)
    acc = strew.Accumulator(size, OF_PLACES, dtype=dtype_of(dtype), skipna=True)
    acc.update(src[:20], groups[:20], start=100)
    acc.update(src[20:], groups[20:])
    found = arrays(acc)
    fields = ("value", "position")
    assert list(found) == [f"{name}.{field}" for name in OF_PLACES for field in fields]
    for group in range(GROUPS):
        nan = np.isnan(src) if kind(dtype) in "fc" else np.zeros(36, bool)
        (places,) = np.nonzero((groups == group) & ~nan)
        own = src[places].astype(computed_in(dtype))
        for name in OF_PLACES:
            value, position = (found[f"{name}.{field}"] for field in fields)
            assert value.dtype == computed_in(dtype) and position.dtype == "i8"
            if not len(own):
                assert position[group] == -1
                continue
            place = {"first": 0, "last": -1, "argmin": own.argmin(), "argmax": own.argmax()}[name]
            assert value[group] == own[place]
            assert position[group] == places[place] + 100


def test_a_nan_has_a_position_of_its_own():
    acc = strew.Accumulator(2, "argmax")
    acc.update(np.array([1.0, np.nan, 2.0]), [0, 0, 0])
    np.testing.assert_array_equal(arrays(acc)["argmax.position"], [-2, -1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_means_and_moments(dtype):
    random = np.random.default_rng(3)
    groups, src = random.integers(0, GROUPS - 1, 60), values(random, dtype, (60, 2), 0)
    names = ["mean", "sem", "var", "mean", "std"] + ["kurt", "skew"] * (kind(dtype) != "c")
    acc = strew.Accumulator(GROUPS, names, dtype=dtype_of(dtype), shape=(2,))
    acc.update(src, groups)
    found = arrays(acc)
    whole, real = kind(dtype) in "bui", kind(dtype) != "c"
    sums = ["mean.sum.low", "mean.sum.high"] if whole else ["mean.sum"]
    moments = ["count", "first", "mean", "squares"]
    expected = [*sums, "mean.count", *[f"sem.{field}" for field in moments]]
    if real:
        expected += [f"kurt.{field}" for field in [*moments, "cubes", "fourths"]]
    assert list(found) == expected
    wide = src.astype("f8" if real else "c16")
    for group in range(GROUPS - 1):
        own = wide[groups == group]
        apart = own - own.mean(0)
        assert (found["mean.count"][group] == len(own)).all()
        if not whole:
            np.testing.assert_array_equal(found["mean.sum"][group], own.sum(0))
        else:
            np.testing.assert_array_equal(found["mean.sum.low"][group].astype("i8"), own.sum(0))
            np.testing.assert_array_equal(
                found["mean.sum.high"][group], np.where(own.sum(0) < 0, -1, 0)
            )
        for name in ["sem", "kurt"][: 1 + real]:
            fields = {field: found[f"{name}.{field}"][group] for field in moments}
            np.testing.assert_array_equal(fields["count"], len(own))
            np.testing.assert_array_equal(fields["first"], own[0])
            np.testing.assert_allclose(fields["mean"] + own[0], own.mean(0), 1e-12, 1e-12)
            np.testing.assert_allclose(fields["squares"], (abs(apart) ** 2).sum(0), 1e-12)
        if real:
            np.testing.assert_allclose(found["kurt.cubes"][group], (apart**3).sum(0), 1e-9, 1e-9)
            np.testing.assert_allclose(found["kurt.fourths"][group], (apart**4).sum(0), 1e-9, 1e-9)
    assert not any(array[-1].any() for array in found.values())


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_sums_of_128_bits(dtype):
    random = np.random.default_rng(4)
    ends = np.iinfo(dtype)
    src = random.integers(ends.min, ends.max, 40, dtype, endpoint=True)
    for part in (src, np.sort(src)[:20], np.sort(src)[20:]):
        acc = strew.Accumulator(1, "mean", dtype=dtype)
        acc.update(part, np.zeros(len(part), int))
        found = arrays(acc)
        low, high = found["mean.sum.low"][0], found["mean.sum.high"][0]
        assert (low.dtype, high.dtype) == ("u8", "i8")
        assert int(high) * 2**64 + int(low) == sum(map(int, part))


def exact_values(random, dtype, shape):
    """Values of all sizes. Those of float64 have squares beyond the range of float64."""
    if kind(dtype) in "bui":
        ends = np.iinfo(dtype) if dtype != "bool" else np.iinfo("i1")
        made = random.integers(ends.min, ends.max, shape, ends.dtype, endpoint=True)
        return made > 0 if dtype == "bool" else made
    high = {"float16": 4, "bfloat16": 120, "float32": 120, "complex64": 120}.get(dtype, 1000)
    parts = [
        np.ldexp(random.standard_normal(shape), random.integers(-high, high, shape))
        for _ in range(2)
    ]
    made = parts[0] + 1j * parts[1] if kind(dtype) == "c" else parts[0]
    return made.astype(dtype_of(dtype))


def sums_of(found, name, cell):
    """An exact sum of a cell, from all its planes."""
    begin = f"exact.{name}.plane."
    numbers = {int(key[len(begin) :]): array for key, array in found.items() if begin in key}
    assert list(numbers) == sorted(numbers)
    units = [Fraction(2) ** (32 * number - 1074) for number in numbers]
    return sum(unit * int(array[cell]) for unit, array in zip(units, numbers.values()))


def squares_of(found, cell):
    """The sum of the squares of a cell, from its three parts."""
    by = Fraction(2) ** 1080
    usual, large, small = (
        sums_of(found, f"squares{part}", cell) for part in ("", ".large", ".small")
    )
    return usual + large * by + small / by


def fraction(value):
    whole = isinstance(value, (bool, np.bool_, np.integer))
    return Fraction(int(value) if whole else float(value))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("names", [*[[name] for name in EXACT], EXACT, ["sumsq", "sum"]])
def test_exact_sums(dtype, names):
    random = np.random.default_rng(5)
    groups, src = random.integers(0, GROUPS - 1, 30), exact_values(random, dtype, (30, 2))
    acc = strew.Accumulator(GROUPS, names, dtype=dtype_of(dtype), shape=(2,), exact=True)
    acc.update(src, groups)
    found = arrays(acc)
    whole, real = kind(dtype) in "bui", kind(dtype) != "c"
    exactly = [name for name in names if not (whole and name in ("sum", "sumsq"))]
    sums = {"sum.real": src.real, "sum.imag": src.imag} if not real else {"sum": src}
    has_sums, has_squares = set(exactly) - {"sumsq"}, set(exactly) - {"sum", "mean"}
    for cell in np.ndindex(GROUPS, 2):
        own = groups == cell[0]
        for name, part in sums.items() if has_sums else ():
            assert sums_of(found, name, cell) == sum(map(fraction, part[own, cell[1]]))
            assert found[f"exact.{name}.flags"][cell] == 0
        if has_squares:
            parts = [src] if real else [src.real, src.imag]
            squares = [fraction(one) ** 2 for part in parts for one in part[own, cell[1]]]
            assert squares_of(found, cell) == sum(squares)
    assert any(".sum" in key for key in found if "exact" in key) == bool(has_sums)
    assert any(".squares" in key for key in found) == bool(has_squares)
    assert ("exact.count" in found) == bool(set(exactly) - {"sum", "sumsq"})
    if "exact.count" in found:
        np.testing.assert_array_equal(
            found["exact.count"], np.repeat(np.bincount(groups, minlength=GROUPS)[:, None], 2, 1)
        )
    for name in set(names) - set(exactly):
        square = name == "sumsq"
        wide = src.astype(computed_in(dtype))
        check(found[name], at(np.add, 0, groups, wide * wide if square else wide, wide.dtype))


def test_flags_of_exact_sums():
    acc = strew.Accumulator(5, "std", exact=True)
    acc.update(np.array([np.nan, np.inf, -np.inf, np.inf, -np.inf, 1]), [0, 1, 2, 3, 3, 4])
    found = arrays(acc)
    np.testing.assert_array_equal(found["exact.sum.flags"], [1, 2, 4, 6, 0])
    np.testing.assert_array_equal(found["exact.squares.flags"], [1, 2, 2, 2, 0])


@given(
    seed=st.integers(0, 2**32),
    dtype=st.sampled_from(["float16", "float32", "float64", "complex64", "complex128", "int64"]),
    names=st.lists(st.sampled_from(EXACT), min_size=1, max_size=3),
    shape=st.sampled_from([(), (2,)]),
)
@settings(max_examples=40, deadline=None)
def test_exact_arrays_add_up_to_those_of_the_merged_accumulator(seed, dtype, names, shape):
    random = np.random.default_rng(seed)
    parts = []
    for start in (0, 50):
        part = strew.Accumulator(GROUPS, names, dtype=dtype, shape=shape, exact=True)
        groups = random.integers(0, GROUPS, 50)
        part.update(exact_values(random, dtype, (50, *shape)), groups, start=start)
        parts.append(part)
    one, other = map(arrays, parts)
    parts[0].merge(parts[1])
    merged = arrays(parts[0])
    added = {
        name: one.get(name, 0) + other.get(name, 0) for name in sorted({*one, *other}, key=plane_of)
    }
    sums = {name.partition(".plane.")[0][len("exact.") :] for name in added if "plane" in name}
    for name in sums:
        for cell in np.ndindex(GROUPS, *shape):
            assert sums_of(merged, name, cell) == sums_of(added, name, cell)
    for name, array in added.items():
        if name == "present":
            np.testing.assert_array_equal(merged[name], one[name] | other[name])
        elif "plane" not in name:
            np.testing.assert_array_equal(merged[name], array)


def plane_of(name):
    """Planes come in the order of their numbers."""
    begin, _, number = name.partition(".plane.")
    return begin, int(number or 0)


@given(
    seed=st.integers(0, 2**32),
    dtype=st.sampled_from(["bool", "int16", "uint64", "float32", "complex128"]),
    skipna=st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_arrays_of_merged_accumulators_are_joined_elementwise(seed, dtype, skipna):
    random = np.random.default_rng(seed)
    joined = {"min": np.minimum, "max": np.maximum, "len": np.add, "count": np.add}
    joined |= {"any": np.bitwise_or, "anynan": np.bitwise_or}
    joined |= {"all": np.bitwise_and, "allnan": np.bitwise_and}
    if kind(dtype) in "bui":
        joined |= {"sum": np.add, "sumsq": np.add, "prod": np.multiply}
    joined["present"] = np.bitwise_or
    parts = []
    for _ in range(2):
        part = strew.Accumulator(GROUPS, list(joined)[:-1], dtype=dtype, skipna=skipna)
        part.update(values(random, dtype, 20), random.integers(0, GROUPS, 20))
        parts.append(part)
    one, other = map(arrays, parts)
    parts[0].merge(parts[1])
    found = arrays(parts[0])
    assert list(found) == list(joined)
    for name, array in found.items():
        np.testing.assert_array_equal(array, joined[name](one[name], other[name]))


@pytest.mark.parametrize("skipna", [False, True])
@pytest.mark.parametrize("min_count", [0, 1, 2, 7])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("fill", [None, 0, 1])
def test_the_table_that_counts_values(skipna, min_count, exact, fill):
    groups, src = np.array([0, 0, 2, 3]), np.array([1, np.nan, np.nan, 2])
    options = {"skipna": skipna, "min_count": min_count, "exact": exact, "fill_value": fill}
    counts = np.array([1, 0, 0, 1] if skipna else [2, 0, 1, 1])
    for names in (["sum"], ["max"], ["len"], ["count", "sum"], ["min", "len", "mean"]):
        acc = strew.Accumulator(None, names, **options)
        acc.update(src, groups)
        found = arrays(acc)
        if min_count > 1:
            np.testing.assert_array_equal(found["len"], counts)
            assert found["len"].dtype == "i8" and "present" not in found
        # A group without values has 0 where the table is not needed.
        elif fill == 1 or {"max", "min"} & set(names):
            np.testing.assert_array_equal(found["present"], counts > 0)
            assert found["present"].dtype == bool
        else:
            assert "present" not in found


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("min_count", [1, 3])
@pytest.mark.parametrize(
    ("size", "shape"), [(0, ()), (None, ()), (None, (2,)), (3, (0,)), (3, (2, 0)), (0, (0, 4))]
)
def test_no_cells(exact, min_count, size, shape):
    options = {"shape": shape, "min_count": min_count, "exact": exact}
    names = [name for name in NAMES if not (exact and name == "prod")]
    acc = strew.Accumulator(size, names, **options)
    found = arrays(acc)
    assert "present" not in found and ("max" in found and "len" in found)
    assert all(array.shape == (size or 0, *shape) for array in found.values())
    with_groups = arrays(strew.Accumulator(2, names, **{**options, "shape": ()}))
    assert [name for name in with_groups if name != "present"] == list(found)


def test_groups_that_come_later():
    acc = strew.Accumulator(None, ["mean", "len"], dtype="int32", mode="drop", ignore_index=1)
    acc.update(np.array([5, 6, 7], "i4"), [0, -3, 1], start=7)
    before = arrays(acc)
    acc.update(np.array([1, 2], "i4"), [4, 0], start=20)
    # Arrays do not change with the accumulator.
    assert before["len"].tolist() == [1]
    found = arrays(acc)
    assert found["len"].tolist() == [2, 0, 0, 0, 1]
    assert found["mean.sum.low"].tolist() == [7, 0, 0, 0, 1]


@pytest.mark.parametrize("exact", [False, True])
def test_arrays_are_views_that_cannot_be_written(exact):
    names = [name for name in MIXED if not (exact and name in ("skew", "kurt"))]
    acc = strew.Accumulator(3, names, shape=(2,), exact=exact, min_count=2)
    acc.update(np.ones((4, 2)), [0, 1, 0, 0])
    found = arrays(acc)
    owners = set()
    for array in found.values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        owner = array
        while isinstance(owner, np.ndarray):
            owner = owner.base
        owners.add(id(owner))
    assert len(owners) == 1 and isinstance(owner, bytes)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "float64"])
@pytest.mark.parametrize("min_count", [1, 2])
def test_arrays_are_all_of_the_records(exact, dtype, min_count):
    names = [name for name in MIXED if not (exact and name in ("skew", "kurt"))]

    def lengths(size):
        acc = strew.Accumulator(size, names, dtype=dtype, exact=exact, min_count=min_count)
        found = arrays(acc)
        return len(acc.to_bytes()), sum(array.nbytes for array in found.values())

    empty, (full, records) = lengths(0), lengths(7)
    assert (full - empty[0], empty[1]) == (records, 0)


@pytest.mark.parametrize("exact", [False, True])
def test_arrays_of_few_groups_of_many(exact):
    acc = strew.Accumulator(10**7, ["sum", "mean", "len"], shape=(2,), exact=exact)
    acc.update(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), [9_999_999, 4, 9_999_999])
    found = arrays(acc)
    np.testing.assert_array_equal(found["groups"], [4, 9_999_999])
    np.testing.assert_array_equal(found["len"], [[1, 1], [2, 2]])
    if exact:
        sums = [sums_of(found, "sum", cell) for cell in np.ndindex(2, 2)]
        assert sums == [3, 4, 6, 8]
    else:
        np.testing.assert_array_equal(found["sum"], [[3, 4], [6, 8]])
