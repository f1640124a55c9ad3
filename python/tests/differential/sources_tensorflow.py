"""The vectors of TensorFlow."""

import functools
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from drawn import DTYPES, FLOATS, summands
from drawn_tensorflow import (
    BY_ROWS,
    BY_TUPLES,
    REFUSALS,
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
from sources import Mistake, Source

ORIGIN = f"TensorFlow {tf.__version__}, on the CPU"
RUN = f"tensorflow {tf.__version__}"


def source(op, name, dtypes, draw, peer, kept=8, **options):
    return Source(
        op=op,
        way="",
        origin=RUN,
        dtypes=dtypes,
        draw=lambda rng, dtype: draw(rng, name, dtype),
        peer=functools.partial(peer, name),
        refusals=REFUSALS,
        kept=kept,
        **options,
    )


def of_nothing(case, made):
    """indices-of-nothing, gather_nd-of-nothing"""
    first = next(case[name] for name in ("params", "ref", "data") if name in case)
    return not first.size and isinstance(made, Exception)


# Gradients.

DIVIDED = ("min", "max", "mean", "sqrt_n")
"""Operators whose gradients are rounded."""


def graded(draw):
    """A case that is in order, and the gradient of its result."""

    def drawn(rng, name, dtype):
        case = draw(rng, name, dtype)
        case.pop("bad_indices_policy", None)
        try:
            made = forward(name, case)
        except REFUSALS:
            return None
        return case | {"grad_out": summands(rng, dtype, made.shape)}

    return drawn


def forward(name, case):
    return getattr(tf.math if name.startswith("unsorted") else tf, name)(**case)


def backward(name, case):
    """What a tape gives to the arguments of floats."""
    arguments = {name: value for name, value in case.items() if name != "grad_out"}
    watched = {
        name: tf.convert_to_tensor(arguments[name])
        for name in ("tensor", "updates", "data")
        if name in arguments
    }
    with tf.GradientTape() as tape:
        tape.watch(list(watched.values()))
        out = forward(name, arguments | watched)
    made = tape.gradient(out, watched, tf.convert_to_tensor(case["grad_out"]))
    return {f"grad_{name}": gradient.numpy() for name, gradient in made.items()}


def differs(name, case, made):
    """Whether TensorFlow gives gradients in another way: an element that is NaN divides 0 by 0, and
    updates that others replace get all of their element's gradient.
    """
    if isinstance(made, Exception) or any(np.isnan(g).any() for g in made.values()):
        return True
    if name != "tensor_scatter_nd_update":
        return False
    tuples = case["indices"].reshape(-1, case["indices"].shape[-1])
    return len(np.unique(tuples, axis=0)) < len(tuples)


def sources():
    for name, dtypes in BY_TUPLES.items():
        yield source(f"tf.{name}", name, dtypes, scatter_by_tuples, by_tuples)
    gather = "gather_nd", DTYPES, gather_by_tuples, by_tuples
    yield source("tf.gather_nd", *gather, differs=of_nothing)
    for name, dtypes in BY_ROWS.items():
        options = {"differs": of_nothing, "in_place": "ref"}
        yield source(f"tf.{name}", name, dtypes, rows, by_rows, **options)
    for name, dtypes in SORTED.items():
        segments = name, dtypes, segments_that_ascend, by_segments
        yield source(f"tf.math.{name}", *segments, differs=of_nothing)
    for name, dtypes in UNSORTED.items():
        segments = name, dtypes, segments_in_any_order, by_segments
        options = {"differs": of_nothing, "tolerance": functools.partial(tolerance, name)}
        yield source(f"tf.math.{name}", *segments, **options)
    for name in [*BY_TUPLES, *UNSORTED]:
        op = f"tf.{'' if name in BY_TUPLES else 'math.'}{name}.grad"
        dtypes = ["float32", "float64"] if name.endswith(DIVIDED) else FLOATS
        draw = graded(scatter_by_tuples if name in BY_TUPLES else segments_in_any_order)
        options = {
            "kept": 3,
            "tolerance": lambda dtype: None,
            "differs": functools.partial(differs, name),
        }
        yield source(op, name, dtypes, draw, backward, **options)


MISTAKES = {
    by_tuples: {
        "scatter_nd": {
            "indices of floats": dict(
                indices=np.float32([[0]]), updates=np.float32([1]), shape=(2,)
            ),
            "updates of another shape": dict(
                indices=np.int32([[0], [1]]), updates=np.int64([1, 2, 3]), shape=(4,)
            ),
            "cells of nothing": dict(
                indices=np.int32([[0]]), updates=np.ones((1, 2), np.float32), shape=(0, 2)
            ),
            "a size below 0": dict(indices=np.int32([[0]]), updates=np.float32([1]), shape=(-2,)),
        },
        "tensor_scatter_nd_add": {
            "bools": dict(
                tensor=np.array([True]), indices=np.int32([[0]]), updates=np.array([True])
            ),
            "tuples longer than the rank": dict(
                tensor=np.int32([1, 2]), indices=np.int32([[0, 0]]), updates=np.int32([1])
            ),
            "an index below 0": dict(
                tensor=np.int32([1, 2]), indices=np.int32([[-1]]), updates=np.int32([1])
            ),
        },
        "tensor_scatter_nd_max": {
            "complex numbers": dict(
                tensor=np.complex64([1]), indices=np.int32([[0]]), updates=np.complex64([1j])
            ),
        },
        "gather_nd": {
            "tuples longer than the rank": dict(
                params=np.int16([1, 2]), indices=np.int64([[0, 0]])
            ),
            "batches of different sizes": dict(
                params=np.ones((2, 3), np.float32), indices=np.zeros((3, 1), int), batch_dims=1
            ),
        },
    },
    by_rows: {
        "scatter_add": {
            "bools": dict(
                ref=np.array([True, False]), indices=np.int32([0]), updates=np.array([True])
            ),
        },
        "scatter_min": {
            "complex numbers": dict(
                ref=np.complex64([1]), indices=np.int32([0]), updates=np.complex64([1j])
            ),
        },
        "scatter_update": {
            "an index that is too large": dict(
                ref=np.int8([1, 2]), indices=np.int64([1, 2]), updates=np.int8([3, 4])
            ),
        },
    },
    by_segments: {
        "segment_sum": {
            "numbers that descend": dict(
                data=np.float32([1, 2, 3]), segment_ids=np.int32([0, 2, 1])
            ),
            "a number below 0": dict(data=np.float32([1, 2]), segment_ids=np.int32([-1, 0])),
            "too few numbers": dict(data=np.float32([1, 2]), segment_ids=np.int32([0])),
            "numbers of two dimensions": dict(
                data=np.ones((2, 2), np.float32), segment_ids=np.int32([[0, 0], [1, 1]])
            ),
            "bools": dict(data=np.array([True]), segment_ids=np.int32([0])),
        },
        "segment_max": {
            "complex numbers": dict(data=np.complex64([1]), segment_ids=np.int32([0])),
        },
        "unsorted_segment_sum": {
            "a number that is too large": dict(
                data=np.int32([1, 2]), segment_ids=np.int32([0, 2]), num_segments=2
            ),
            "numbers of another shape": dict(
                data=np.int32([1, 2]), segment_ids=np.int32([0, 1, 1]), num_segments=2
            ),
            "fewer segments than none": dict(
                data=np.int32([1, 2]), segment_ids=np.int32([0, 1]), num_segments=-1
            ),
        },
        "unsorted_segment_sqrt_n": {
            "integers": dict(data=np.int32([1, 2]), segment_ids=np.int32([0, 1]), num_segments=2),
        },
    },
}


def mistakes():
    for peer, by_name in MISTAKES.items():
        for name, cases in by_name.items():
            for what, case in cases.items():
                yield Mistake(
                    op=f"tf.{'math.' if peer is by_segments else ''}{name}",
                    what=what.replace(" ", "-"),
                    origin=RUN,
                    case=case,
                    peer=functools.partial(peer, name),
                    # What it has no kernel for is not found.
                    refusals=(*REFUSALS, tf.errors.NotFoundError),
                )
