"""TensorFlow, eager."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from .problem import Problem, Spelling


def version() -> str:
    return tf.__version__


def spellings(problem: Problem) -> list[Spelling]:
    w = problem.workload
    if problem.threads:
        # Can be said once, and has to be said before the first operation.
        try:
            tf.config.threading.set_intra_op_parallelism_threads(problem.threads)
            tf.config.threading.set_inter_op_parallelism_threads(problem.threads)
        except RuntimeError:
            pass
    src = tf.convert_to_tensor(problem.src)
    if w.form == "slice":
        return [_slice(problem, src)]
    if w.form == "elements":
        return []
    if w.in_place:
        return [_multiply(problem, src)]
    if w.has_input:
        return []
    index = tf.convert_to_tensor(problem.index)
    tuples = tf.convert_to_tensor(problem.index.reshape(-1, w.updates).T)
    if w.form == "nd":
        return [Spelling("scatter_nd", lambda: tf.scatter_nd(tuples, src, w.out_shape), _answer)]
    cells, shape = w.cells, w.out_shape
    if w.reduce == "amax":

        def largest():
            return tf.tensor_scatter_nd_max(tf.zeros(shape), tuples, src)

        return [Spelling("tensor_scatter_nd_max", largest, _answer)]
    unsorted = {"sum": tf.math.unsorted_segment_sum, "mean": tf.math.unsorted_segment_mean}[
        w.reduce
    ]
    found = [Spelling(f"unsorted_segment_{w.reduce}", lambda: unsorted(src, index, cells), _answer)]
    if w.reduce == "sum":
        found.append(
            Spelling("scatter_nd", lambda: tf.scatter_nd(tuples, src, shape), _answer),
        )
    if w.index == "sorted":
        segments = {"sum": tf.math.segment_sum, "mean": tf.math.segment_mean}[w.reduce]
        found.append(Spelling(f"segment_{w.reduce}", lambda: segments(src, index), _answer))
    return found


def _slice(problem: Problem, src: tf.Tensor) -> Spelling:
    w = problem.workload
    start = tf.convert_to_tensor(problem.input)
    lists = [tf.constant(part, tf.int32) for part in (w.start, w.stop, w.step)]

    def run():
        return tf.raw_ops.TensorStridedSliceUpdate(
            input=start, begin=lists[0], end=lists[1], strides=lists[2], value=src
        )

    return Spelling("TensorStridedSliceUpdate", run, _answer)


def _multiply(problem: Problem, src: tf.Tensor) -> Spelling:
    start = tf.convert_to_tensor(problem.input)
    table = tf.Variable(start)
    updates = tf.IndexedSlices(src, tf.convert_to_tensor(problem.index))
    return Spelling(
        "Variable.scatter_mul",
        lambda: table.scatter_mul(updates),
        _answer,
        reset=lambda: table.assign(start),
    )


def _answer(out: tf.Tensor) -> np.ndarray:
    return out.numpy()
