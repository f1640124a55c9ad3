"""strew.tensorflow against TensorFlow on random arguments. Needs tensorflow, on the CPU."""

import os

import numpy as np
import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow")

import strew  # noqa: E402
from drawn import (  # noqa: E402
    DTYPES,
    Defect,
    agree,
    defects,
    drawn,
    is_there,
    normal,
    outcome,
)
from drawn_tensorflow import (  # noqa: E402
    BY_ROWS,
    BY_TUPLES,
    REFUSALS,
    SIXTEEN_BITS,
    SORTED,
    UNSORTED,
    by_rows,
    by_segments,
    by_tuples,
    gather_by_tuples,
    rows,
    scatter_by_tuples,
    segments_in_any_order,
    segments_that_ascend,
    tolerance,
)

ours = strew.tensorflow
CASES = 25


def ids(operators):
    return [
        pytest.param(name, dtype, id=f"{name}-{dtype}")
        for name, dtypes in operators.items()
        for dtype in dtypes
    ]


def both(functions, theirs, name, case):
    """What strew and TensorFlow make of the same arguments."""
    found = outcome(lambda: getattr(functions, name)(**case), REFUSALS)
    return found, outcome(lambda: theirs(name, case), REFUSALS)


@pytest.mark.parametrize(("name", "dtype"), ids(BY_TUPLES))
def test_scatters_by_tuples(name, dtype):
    for rng in drawn([name, dtype], CASES):
        case = scatter_by_tuples(rng, name, dtype)
        agree(*both(ours, by_tuples, name, case), case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gathers_by_tuples(dtype):
    for rng in drawn(["gather_nd", dtype], CASES):
        case = gather_by_tuples(rng, "gather_nd", dtype)
        found, expected = both(ours, by_tuples, "gather_nd", case)
        if not case["params"].size and "params is empty" in str(expected):
            continue  # gather_nd-of-nothing
        agree(found, expected, case)


@pytest.mark.parametrize(("name", "dtype"), ids(BY_ROWS))
def test_rows_of_a_variable(name, dtype):
    for rng in drawn([name, dtype], CASES):
        case = rows(rng, name, dtype)
        expected = outcome(lambda: by_rows(name, case), REFUSALS)
        changed = case | {"ref": case["ref"].copy()}
        found = outcome(lambda: getattr(ours, name)(*changed.values()), REFUSALS)
        if not case["ref"].size and not isinstance(found, Exception):
            continue  # indices-of-nothing
        agree(found, expected, case)


@pytest.mark.parametrize(("name", "dtype"), ids(SORTED))
def test_segments_that_ascend(name, dtype):
    for rng in drawn([name, dtype], CASES):
        case = segments_that_ascend(rng, name, dtype)
        found, expected = both(ours.math, by_segments, name, case)
        if not case["data"].size and not isinstance(found, Exception):
            continue  # indices-of-nothing
        agree(found, expected, case)


@pytest.mark.parametrize(("name", "dtype"), ids(UNSORTED))
def test_segments_in_any_order(name, dtype):
    of = tolerance(name, dtype)
    for rng in drawn([name, dtype], CASES):
        case = segments_in_any_order(rng, name, dtype)
        found, expected = both(ours.math, by_segments, name, case)
        if not case["data"].size and not isinstance(found, Exception):
            continue  # indices-of-nothing
        agree(found, expected, case, of, of)


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
