"""Random cases that strew and another library are both given, and what it means that they agree.

`drawn` yields the generators of a test's cases and prints the seed of each: the last line that a
failing test has printed makes its case again. STREW_DRAWS="1000:200" draws the cases from number
1000 on, 200 of each test.

What a library is known to do wrong is a `Defect` in the table of its tests, by name. Cases that it
spoils are not compared, and the defect is shown to be there still: when it is mended, its test
fails, and it goes.
"""

import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
FLOATS = "float16 bfloat16 float32 float64".split()
COMPLEX = "complex64 complex128".split()
DTYPES = ["bool", *INTEGERS, *FLOATS, *COMPLEX]


@dataclass(frozen=True)
class Defect:
    """What release `version` of `peer` does wrong, and a call that is true while it does.

    One that does not show each time has no such call.
    """

    peer: str
    version: str
    what: str
    shown: Callable[[], bool] | None


def defects(table):
    """The parameters of a test that calls `is_there` for each."""
    return pytest.mark.parametrize(
        "defect", [pytest.param(defect, id=name) for name, defect in table.items()]
    )


def is_there(defect, release):
    assert release == defect.version, (
        f"look for the defects of {defect.peer} {release}, and name that release"
    )
    assert defect.shown is None or defect.shown(), f"{defect.peer} has mended it: {defect.what}"


def seed_of(name, number):
    return [number, zlib.crc32(str(name).encode())]


def drawn(name, count):
    """Random generators, the same ones for the same name."""
    first, _, given = os.environ.get("STREW_DRAWS", "0").partition(":")
    for number in range(int(first), int(first) + int(given or count)):
        seed = seed_of(name, number)
        print(f"case {number}: np.random.default_rng({seed})")
        yield np.random.default_rng(seed)


def dtype_of(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def chance(rng, probability):
    return bool(rng.random() < probability)


def one_of(rng, choices):
    choices = list(choices)
    return choices[rng.integers(len(choices))]


def sizes(rng, rank, low=1, high=5):
    """A shape; now and then it has an axis of no elements."""
    shape = [int(n) for n in rng.integers(low, high, rank)]
    if rank and chance(rng, 0.05):
        shape[rng.integers(rank)] = 0
    return tuple(shape)


def summands(rng, dtype, shape):
    """Numbers of which the sums of some hundred are exact in every order and every dtype, integers
    by wrapping.
    """
    dtype = dtype_of(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.4)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        wide = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        return np.where(
            rng.random(shape) < 0.7, np.asarray(rng.integers(0, 9, shape)).astype(dtype), wide
        )
    made = np.asarray(rng.integers(-2, 3, shape))
    if dtype.kind == "c":
        return (made + 1j * rng.integers(-2, 3, shape)).astype(dtype)
    return made.astype(dtype)


def factors(rng, dtype, shape):
    """Numbers of which the products are exact in every order: powers of two and few of them beside
    ones.
    """
    dtype = dtype_of(dtype)
    if dtype.kind in "biu":
        return summands(rng, dtype.name, shape)
    choices = [1, 1, 1, 1, -1, 2, 0.5, 0]
    if dtype.kind == "c":
        choices += [1j, -1j]
    return np.asarray(rng.choice(np.array(choices), shape)).astype(dtype)


def ordered(rng, dtype, shape):
    """As `orderable`, without NaN."""
    return orderable(rng, dtype, shape, 0.0)


def orderable(rng, dtype, shape, nan=0.15):
    """Numbers with duplicates, and extremes: infinities and NaN, or the dtype's limits."""
    dtype = dtype_of(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        made = np.asarray(rng.integers(0 if dtype.kind == "u" else -5, 6, shape)).astype(dtype)
        extreme = np.where(
            rng.random(shape) < 0.5, np.array(limits.min, dtype), np.array(limits.max, dtype)
        )
        return np.where(rng.random(shape) < 0.1, extreme, made)
    made = np.asarray(rng.integers(-5, 6, shape) / 2)
    made = np.where(rng.random(shape) < 0.1, np.inf * rng.choice([-1, 1], shape), made)
    made = np.where(rng.random(shape) < nan, np.nan, made)
    if dtype.kind == "c":
        made = made + 1j * (rng.integers(-5, 6, shape) / 2)
    return made.astype(dtype)


def normal(rng, dtype, shape):
    """Floats and complex numbers whose sums depend on their order."""
    made = np.asarray(rng.normal(size=shape))
    return (made + 1j * rng.normal(size=shape) if dtype_of(dtype).kind == "c" else made).astype(
        dtype_of(dtype)
    )


def places(rng, size, shape, dtype="int64", negative=False, beyond=0.0):
    """Indices of an axis, with duplicates; negative ones that count from the end, and some that
    name nothing.
    """
    signed = np.dtype(dtype).kind == "i"
    made = np.asarray(rng.integers(-size if negative and signed else 0, max(size, 1), shape))
    if chance(rng, beyond):
        below = rng.integers(-9, 0, shape) - (size if negative else 0)
        above = rng.integers(size, size + 9, shape)
        outside = np.where(rng.random(shape) < 0.5, below if signed else above, above)
        made = np.where(rng.random(shape) < 0.2, outside, made)
    return made.astype(dtype)


def outcome(call, refusals):
    """What a call returns, or the exception by which it refuses its arguments."""
    try:
        return call()
    except refusals as refusal:
        return refusal


def agree(found, expected, case, rtol=0.0, atol=0.0):
    """Both refuse, or both have the same dtype, shape and values: the same bits unless there is a
    tolerance.
    """
    if isinstance(expected, Exception) or isinstance(found, Exception):
        both = isinstance(expected, Exception) and isinstance(found, Exception)
        assert both, f"{described(case)}\nstrew: {told_of(found)}\npeer: {told_of(expected)}"
        return
    found, expected = np.asarray(found), np.asarray(expected)
    told = f"{described(case)}\nstrew: {found!r}\npeer: {expected!r}"
    assert found.dtype == expected.dtype, told
    assert found.shape == expected.shape, told
    if rtol or atol:
        wide = np.complex128 if found.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(
            found.astype(wide), expected.astype(wide), rtol, atol, err_msg=told
        )
    else:
        assert bits(found) == bits(expected), told


def bits(array):
    """An array's bytes, in which every NaN is the same, and of complex numbers zeros of either
    sign.
    """
    if array.dtype.kind == "c":
        # A product's zeros have signs that depend on how it is made.
        array = np.array(array, order="C").reshape(-1).view(array.real.dtype) + 0
    array = np.array(array)
    # bfloat16 is of no kind that NumPy knows.
    if array.dtype.kind not in "biuO":
        array[np.isnan(array.astype(np.float64))] = np.nan
    return array.tobytes()


def described(case):
    return "\n".join(f"{name} = {value!r}" for name, value in case.items())


def told_of(result):
    return f"{type(result).__name__}: {result}" if isinstance(result, Exception) else repr(result)
