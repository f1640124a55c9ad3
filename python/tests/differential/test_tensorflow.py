"""strew.tensorflow against TensorFlow on random arguments. Needs tensorflow, on the CPU."""

import os

import numpy as np
import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow")

import strew  # noqa: E402
from drawn import (  # noqa: E402
    COMPLEX,
    DTYPES,
    FLOATS,
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
    places,
    sizes,
    summands,
)

ours = strew.tensorflow
CASES = 25
REFUSALS = (tf.errors.InvalidArgumentError, ValueError, IndexError, TypeError)
NUMBERS = [*INTEGERS, *FLOATS, *COMPLEX]
REAL = [*INTEGERS, *FLOATS]
"""What maxima and minima are made of."""
POLICIES = ["", "DEFAULT", "ERROR", "IGNORE"]


def ids(operators):
    return [
        pytest.param(name, dtype, id=f"{name}-{dtype}")
        for name, dtypes in operators.items()
        for dtype in dtypes
    ]


def values_for(name):
    """Values of which the result is the same in every order."""
    if name.startswith(("segment", "unsorted")) and name.endswith(("min", "max")):
        return ordered
    if name.endswith(("min", "max", "update", "gather_nd")):
        return orderable
    return factors if name.endswith(("prod", "mul", "div")) else summands


def both(name, case, refusals=REFUSALS):
    """What strew and TensorFlow make of the same arguments."""
    found = outcome(lambda: OURS[name](**case), refusals)
    return found, outcome(lambda: THEIRS[name](**case).numpy(), refusals)


# By windows that tuples name.

TENSOR = [
    "tensor_scatter_nd_update",
    *(f"tensor_scatter_nd_{name}" for name in ("add", "sub", "min", "max")),
]
BY_TUPLES = {
    "scatter_nd": DTYPES,
    "tensor_scatter_nd_update": DTYPES,
    "tensor_scatter_nd_add": NUMBERS,
    "tensor_scatter_nd_sub": NUMBERS,
    "tensor_scatter_nd_min": REAL,
    "tensor_scatter_nd_max": REAL,
}
OURS = {name: getattr(ours, name) for name in ["scatter_nd", *TENSOR, "gather_nd"]}
THEIRS = {name: getattr(tf, name) for name in ["scatter_nd", *TENSOR, "gather_nd"]}
# The function does not pass the policy on.
THEIRS["tensor_scatter_nd_update"] = lambda **options: tf.raw_ops.TensorScatterUpdate(**options)


def tuples(rng, shape, beyond):
    """Tuples that name windows of an array, and the shape of those windows."""
    entries = int(rng.integers(1, len(shape) + 1))
    batch = sizes(rng, int(rng.integers(1, 3)), 0, 6)
    index = [places(rng, n, batch, beyond=beyond) for n in shape[:entries]]
    return np.stack(index, -1).astype(one_of(rng, ["int32", "int64"])), (*batch, *shape[entries:])


@pytest.mark.parametrize(("name", "dtype"), ids(BY_TUPLES))
def test_scatters_by_tuples(name, dtype):
    for rng in drawn([name, dtype], CASES):
        shape = sizes(rng, int(rng.integers(1, 5)))
        indices, window = tuples(rng, shape, 0.3)
        if chance(rng, 0.03):
            window = (*window, 1)
        values = values_for(name)
        case = {
            "indices": indices,
            "updates": values(rng, dtype, window),
            "bad_indices_policy": one_of(rng, POLICIES),
        }
        case |= {"shape": shape} if name == "scatter_nd" else {"tensor": values(rng, dtype, shape)}
        agree(*both(name, case), case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gathers_by_tuples(dtype):
    for rng in drawn(["gather_nd", dtype], CASES):
        shape = sizes(rng, int(rng.integers(1, 5)))
        batch_dims = int(rng.integers(0, min(len(shape), 3)))
        indices, _ = tuples(rng, shape[batch_dims:], 0.3)
        if batch_dims:
            indices = np.broadcast_to(indices, (*shape[:batch_dims], *indices.shape)).copy()
        case = {
            "params": orderable(rng, dtype, shape),
            "indices": indices,
            "batch_dims": batch_dims,
            "bad_indices_policy": one_of(rng, POLICIES),
        }
        found, expected = both("gather_nd", case)
        if 0 in shape and "params is empty" in str(expected):
            continue  # gather_nd-of-nothing
        agree(found, expected, case)


# Rows of a variable.

BY_ROWS = {
    "scatter_update": DTYPES,
    "scatter_add": NUMBERS,
    "scatter_sub": NUMBERS,
    "scatter_mul": NUMBERS,
    "scatter_div": NUMBERS,
    "scatter_min": REAL,
    "scatter_max": REAL,
}


@pytest.mark.parametrize(("name", "dtype"), ids(BY_ROWS))
def test_rows_of_a_variable(name, dtype):
    theirs = getattr(tf.compat.v1, name)
    for rng in drawn([name, dtype], CASES):
        shape = sizes(rng, int(rng.integers(1, 4)))
        of_indices = sizes(rng, int(rng.integers(0, 3)), 0, 6)
        indices = places(rng, shape[0], of_indices, one_of(rng, ["int32", "int64"]), beyond=0.2)
        values = values_for(name)
        ref = values(rng, dtype, shape)
        updates = values(rng, dtype, () if chance(rng, 0.2) else (*of_indices, *shape[1:]))
        if name == "scatter_div" and not (dtype in INTEGERS and chance(rng, 0.1)):
            updates = np.where(updates == 0, np.ones((), updates.dtype), updates)
        case = {"ref": ref, "indices": indices, "updates": updates}
        found = outcome(lambda: getattr(ours, name)(ref.copy(), indices, updates), REFUSALS)
        expected = outcome(lambda: theirs(tf.Variable(ref), indices, updates).numpy(), REFUSALS)
        if not ref.size and not isinstance(found, Exception):
            continue  # indices-of-nothing
        agree(found, expected, case)


# Segments.

REDUCTIONS = {"sum": NUMBERS, "mean": NUMBERS, "prod": NUMBERS, "min": REAL, "max": REAL}
SORTED = {f"segment_{name}": dtypes for name, dtypes in REDUCTIONS.items()}
UNSORTED = {f"unsorted_segment_{name}": dtypes for name, dtypes in REDUCTIONS.items()}
UNSORTED |= {"unsorted_segment_mean": REAL, "unsorted_segment_sqrt_n": FLOATS}


@pytest.mark.parametrize(("name", "dtype"), ids(SORTED))
def test_segments_that_ascend(name, dtype):
    for rng in drawn([name, dtype], CASES):
        shape = sizes(rng, int(rng.integers(1, 4)), 0, 12)
        segments = np.sort(rng.integers(0, 9, shape[0]))
        if chance(rng, 0.1):
            segments = places(rng, 9, shape[0], beyond=0.3)
        case = {
            "data": values_for(name)(rng, dtype, shape),
            "segment_ids": segments.astype(one_of(rng, ["int32", "int64"])),
        }
        found = outcome(lambda: getattr(ours.math, name)(**case), REFUSALS)
        if not case["data"].size and not isinstance(found, Exception):
            continue  # indices-of-nothing
        agree(found, outcome(lambda: getattr(tf.math, name)(**case).numpy(), REFUSALS), case)


SIXTEEN_BITS = {"float16": 2e-2, "bfloat16": 2e-1}
"""Tolerances of sums."""


@pytest.mark.parametrize(("name", "dtype"), ids(UNSORTED))
def test_segments_in_any_order(name, dtype):
    for rng in drawn([name, dtype], CASES):
        shape = sizes(rng, int(rng.integers(1, 4)), 0, 7)
        count = int(rng.integers(0, 7))
        segments = places(rng, count, shape[: int(rng.integers(0, len(shape) + 1))], beyond=0.5)
        if not chance(rng, 0.2) or not count:
            segments = np.where(segments >= count, -1, segments)
        data = values_for(name)(rng, dtype, shape)
        if name == "unsorted_segment_mean" and dtype in INTEGERS:
            data = rng.integers(0, 9, shape).astype(dtype)  # means-of-integers-wrap
        case = {
            "data": data,
            "segment_ids": segments.astype(one_of(rng, ["int32", "int64"])),
            "num_segments": count,
        }
        found = outcome(lambda: getattr(ours.math, name)(**case), REFUSALS)
        expected = outcome(lambda: getattr(tf.math, name)(**case).numpy(), REFUSALS)
        if not data.size and not isinstance(found, Exception):
            continue  # indices-of-nothing
        of = (
            SIXTEEN_BITS[dtype]
            if name == "unsorted_segment_sqrt_n" and dtype in SIXTEEN_BITS
            else 0
        )
        agree(found, expected, case, of, of)  # square-roots-of-16-bits


MEANS = dict.fromkeys(["int8", "int16", "uint8", "uint16"], np.float32) | dict.fromkeys(
    ["int32", "int64", "uint32", "uint64"], np.float64
)


@pytest.mark.parametrize("dtype", MEANS)
def test_means_of_integers(dtype):
    """Thirds and sevenths, which no float holds: the quotient is rounded in the same type."""
    data, segments = np.array([1, 0, 0, 5, 1, 1, 3, 3, 3, 0], dtype), [0, 0, 0] + [2] * 7
    found = ours.math.unsorted_segment_mean(data, segments, 4)
    expected = tf.math.unsorted_segment_mean(data, segments, 4).numpy()
    assert found.dtype == expected.dtype == MEANS[dtype]
    assert found.tobytes() == expected.tobytes()


# Sums that depend on their order. TensorFlow's of 16 bits are rounded at each step.

TOLERANCES = SIXTEEN_BITS | {
    "float32": 1e-5,
    "float64": 1e-13,
    "complex64": 1e-5,
    "complex128": 1e-13,
}


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_sums_of_any_numbers(dtype):
    for rng in drawn(["sums", dtype], CASES):
        count = int(rng.integers(1, 60))
        data, segments = normal(rng, dtype, (count, 3)), rng.integers(0, 4, count)
        case = {"data": data, "segment_ids": segments}
        of = TOLERANCES[dtype]
        found = ours.math.unsorted_segment_sum(data, segments, 4)
        agree(found, tf.math.unsorted_segment_sum(data, segments, 4), case, of, of)
        case["segment_ids"] = segments = np.sort(segments)
        for name in ("sum", "mean", "prod"):
            found = getattr(ours.math, f"segment_{name}")(data, segments)
            agree(found, getattr(tf.math, f"segment_{name}")(data, segments), case, of, of)
        found = ours.scatter_nd(segments[:, None], data, (4, 3))
        agree(found, tf.scatter_nd(segments[:, None], data, (4, 3)), case, of, of)


# What TensorFlow does wrong.


def refused(call):
    return isinstance(outcome(call, REFUSALS), tf.errors.InvalidArgumentError)


def lost(values, columns=1):
    """What becomes of a NaN in a segment's maximum."""
    made = tf.math.segment_max(
        np.array([[v] * columns for v in values]), [0] * len(values)
    ).numpy()[0]
    return not np.isnan(made).any() if columns == 1 else 0 < np.isnan(made).sum() < columns


def root_of_16_bits(total, count):
    data = np.float16([total] + [0] * (count - 1))
    return float(tf.math.unsorted_segment_sqrt_n(data, [0] * count, 1).numpy()[0])


TF = "tensorflow", "2.21.0"
DEFECTS = {
    "indices-of-nothing": Defect(
        "strew",
        "0.1.0",
        "indices are not looked at where rows have no elements; TensorFlow does in scatters of rows and in segments",
        lambda: not ours.scatter_add(np.zeros((1, 0)), np.array([8]), np.zeros((1, 0))).size,
    ),
    "one-tuple": Defect(
        *TF,
        "scatters refuse indices of one dimension, of which the document says that they are one tuple",
        lambda: refused(lambda: tf.scatter_nd([1, 0], [5.0, 6.0, 7.0, 8.0], [2, 1, 4])),
    ),
    "gather_nd-of-nothing": Defect(
        *TF,
        "gather_nd refuses params without elements, even if its policy is to ignore what names nothing",
        lambda: refused(lambda: tf.gather_nd(np.zeros(0), [[0]], bad_indices_policy="IGNORE")),
    ),
    "nan-in-segments": Defect(
        *TF,
        "a NaN in a segment's minimum or maximum is lost unless it comes last, and then in some columns of many",
        lambda: lost([np.nan, 1.0]) and not lost([1.0, np.nan]) and lost([1.0, np.nan], 9),
    ),
    "means-of-integers-wrap": Defect(
        *TF,
        "unsorted_segment_mean of integers divides sums that have wrapped",
        lambda: (
            tf.math.unsorted_segment_mean(np.int32([2**30] * 2), [0, 0], 1).numpy() == [-(2**30)]
        ),
    ),
    "square-roots-of-16-bits": Defect(
        *TF,
        "unsorted_segment_sqrt_n rounds the square root before it divides",
        lambda: root_of_16_bits(3, 3) < np.float16(3 / 3**0.5),
    ),
    "16-bit-sums": Defect(
        *TF,
        "sums of 16-bit floats are rounded at each step",
        lambda: (
            tf.scatter_nd(np.zeros((4096, 1), int), np.ones(4096, np.float16), [1]).numpy()
            == [2048]
        ),
    ),
}


@defects(DEFECTS)
def test_a_defect_is_still_there(defect):
    is_there(defect, strew.__version__ if defect.peer == "strew" else tf.__version__)
