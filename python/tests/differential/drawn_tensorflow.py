"""Random arguments of TensorFlow's operators, by the names of strew's functions, and what
TensorFlow makes of them.
"""

import numpy as np
import tensorflow as tf
from drawn import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTEGERS,
    chance,
    factors,
    one_of,
    orderable,
    ordered,
    places,
    sizes,
    summands,
)

REFUSALS = (tf.errors.InvalidArgumentError, ValueError, IndexError, TypeError)
NUMBERS = [*INTEGERS, *FLOATS, *COMPLEX]
REAL = [*INTEGERS, *FLOATS]
"""What maxima and minima are made of."""
POLICIES = ["", "DEFAULT", "ERROR", "IGNORE"]


def values_for(name):
    """Values of which the result is the same in every order."""
    if name.startswith(("segment", "unsorted")) and name.endswith(("min", "max")):
        return ordered
    if name.endswith(("min", "max", "update", "gather_nd")):
        return orderable
    return factors if name.endswith(("prod", "mul", "div")) else summands


# By windows that tuples name.

BY_TUPLES = {
    "scatter_nd": DTYPES,
    "tensor_scatter_nd_update": DTYPES,
    "tensor_scatter_nd_add": NUMBERS,
    "tensor_scatter_nd_sub": NUMBERS,
    "tensor_scatter_nd_min": REAL,
    "tensor_scatter_nd_max": REAL,
}


def tuples(rng, shape, beyond):
    """Tuples that name windows of an array, and the shape of those windows."""
    entries = int(rng.integers(1, len(shape) + 1))
    batch = sizes(rng, int(rng.integers(1, 3)), 0, 6)
    index = [places(rng, n, batch, beyond=beyond) for n in shape[:entries]]
    return np.stack(index, -1).astype(one_of(rng, ["int32", "int64"])), (*batch, *shape[entries:])


def scatter_by_tuples(rng, name, dtype):
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
    return case | (
        {"shape": shape} if name == "scatter_nd" else {"tensor": values(rng, dtype, shape)}
    )


def gather_by_tuples(rng, name, dtype):
    shape = sizes(rng, int(rng.integers(1, 5)))
    batch_dims = int(rng.integers(0, min(len(shape), 3)))
    indices, _ = tuples(rng, shape[batch_dims:], 0.3)
    if batch_dims:
        indices = np.broadcast_to(indices, (*shape[:batch_dims], *indices.shape)).copy()
    return {
        "params": values_for(name)(rng, dtype, shape),
        "indices": indices,
        "batch_dims": batch_dims,
        "bad_indices_policy": one_of(rng, POLICIES),
    }


def by_tuples(name, case):
    if name == "tensor_scatter_nd_update":
        # The function does not pass the policy on.
        return tf.raw_ops.TensorScatterUpdate(**case).numpy()
    return getattr(tf, name)(**case).numpy()


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


def rows(rng, name, dtype):
    shape = sizes(rng, int(rng.integers(1, 4)))
    of_indices = sizes(rng, int(rng.integers(0, 3)), 0, 6)
    indices = places(rng, shape[0], of_indices, one_of(rng, ["int32", "int64"]), beyond=0.2)
    values = values_for(name)
    ref = values(rng, dtype, shape)
    updates = values(rng, dtype, () if chance(rng, 0.2) else (*of_indices, *shape[1:]))
    if name == "scatter_div" and not (dtype in INTEGERS and chance(rng, 0.1)):
        updates = np.where(updates == 0, np.ones((), updates.dtype), updates)
    return {"ref": ref, "indices": indices, "updates": updates}


def by_rows(name, case):
    variable = tf.Variable(case["ref"])
    return getattr(tf.compat.v1, name)(variable, case["indices"], case["updates"]).numpy()


# Segments.

REDUCTIONS = {"sum": NUMBERS, "mean": NUMBERS, "prod": NUMBERS, "min": REAL, "max": REAL}
SORTED = {f"segment_{name}": dtypes for name, dtypes in REDUCTIONS.items()}
UNSORTED = {f"unsorted_segment_{name}": dtypes for name, dtypes in REDUCTIONS.items()}
UNSORTED |= {"unsorted_segment_mean": REAL, "unsorted_segment_sqrt_n": FLOATS}
SIXTEEN_BITS = {"float16": 2e-2, "bfloat16": 2e-1}
"""Tolerances of sums."""


def segments_that_ascend(rng, name, dtype):
    shape = sizes(rng, int(rng.integers(1, 4)), 0, 12)
    segments = np.sort(rng.integers(0, 9, shape[0]))
    if chance(rng, 0.1):
        segments = places(rng, 9, shape[0], beyond=0.3)
    return {
        "data": values_for(name)(rng, dtype, shape),
        "segment_ids": segments.astype(one_of(rng, ["int32", "int64"])),
    }


def segments_in_any_order(rng, name, dtype):
    shape = sizes(rng, int(rng.integers(1, 4)), 0, 7)
    count = int(rng.integers(0, 7))
    segments = places(rng, count, shape[: int(rng.integers(0, len(shape) + 1))], beyond=0.5)
    if not chance(rng, 0.2) or not count:
        segments = np.where(segments >= count, -1, segments)
    data = values_for(name)(rng, dtype, shape)
    if name == "unsorted_segment_mean" and dtype in INTEGERS:
        data = rng.integers(0, 9, shape).astype(dtype)  # means-of-integers-wrap
    return {
        "data": data,
        "segment_ids": segments.astype(one_of(rng, ["int32", "int64"])),
        "num_segments": count,
    }


def by_segments(name, case):
    return getattr(tf.math, name)(**case).numpy()


def tolerance(name, dtype):
    """How far TensorFlow is from the exact result."""
    if name == "unsorted_segment_sqrt_n":  # square-roots-of-16-bits
        return SIXTEEN_BITS.get(dtype, 0)
    return 0
