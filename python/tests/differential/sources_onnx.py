"""The vectors of ONNX: of ONNX Runtime, and of ONNX's reference where that has no kernel."""

import functools
import warnings

import numpy as np
import onnx
import onnxruntime as ort
from drawn import COMPLEX
from drawn_onnx import (
    DTYPES,
    REDUCTIONS,
    gather,
    gather_elements,
    gather_nd,
    has_kernel,
    model_of,
    parts,
    scatter,
    scatter_elements,
    scatter_nd,
    tensor_scatter,
    theirs,
)
from onnx.reference import ReferenceEvaluator
from sources import Mistake, Source

ORIGIN = f"ONNX Runtime {ort.__version__} and the reference evaluator of ONNX {onnx.__version__}"
OTHERS = ["bfloat16", *COMPLEX]
"""Of what the runtime has no kernels."""
BY_REDUCTION = {"ScatterElements": scatter_elements, "ScatterND": scatter_nd}
OF_DTYPES = {
    "Scatter": scatter,
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
}


def referred(node, case):
    inputs, kinds, attributes, opset = parts(case)
    model = ReferenceEvaluator(model_of(node, opset, kinds, attributes))
    return model.run(None, {f"in{n}": i for n, i in enumerate(inputs)})[0]


def of_nothing(case, made):
    """indices-of-nothing"""
    return not case["data"].size and isinstance(made, Exception)


def is_refused(node, case, made):
    """Whether the reference fails, or the runtime refuses the same of another dtype: the reference
    looks at neither indices nor shapes.
    """
    first = next(iter(case.values())).dtype
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        known = {
            name: value.astype(np.float32) if getattr(value, "dtype", None) == first else value
            for name, value in case.items()
        }
    return isinstance(made, Exception) or isinstance(theirs(node, known), Exception)


def of_runtime(node, way, dtypes, draw, **options):
    return Source(
        op=f"onnx.{node}",
        way=way,
        origin=f"onnxruntime {ort.__version__}",
        dtypes=dtypes,
        draw=draw,
        peer=functools.partial(theirs, node),
        refusals=(),
        kept=8,
        **options,
    )


def of_reference(node, way, dtypes, draw):
    return Source(
        op=f"onnx.{node}",
        way=way,
        origin=f"onnx {onnx.__version__}: onnx.reference",
        dtypes=dtypes,
        draw=draw,
        peer=functools.partial(referred, node),
        refusals=(Exception,),
        kept=3,
        differs=functools.partial(is_refused, node),
    )


def sources():
    for node, function in BY_REDUCTION.items():
        for reduction in REDUCTIONS:
            options = {"differs": of_nothing} if node == "ScatterND" else {}
            draw = functools.partial(of_reduction, function, reduction)
            known = [dtype for dtype in DTYPES if has_kernel(node, reduction, dtype)]
            yield of_runtime(node, reduction, known, draw, **options)
            others = [dtype for dtype in [*DTYPES, *OTHERS] if dtype not in known]
            if reduction in ("max", "min"):
                others = [dtype for dtype in others if dtype not in COMPLEX]
            yield of_reference(node, reduction, others, draw)
    for node, draw in OF_DTYPES.items():
        yield of_runtime(node, "", DTYPES, draw)
        yield of_reference(node, "", OTHERS, draw)
    for mode in ("linear", "circular"):
        draw = functools.partial(of_reduction, tensor_scatter, mode)
        yield of_runtime("TensorScatter", mode, DTYPES, draw)
        yield of_reference("TensorScatter", mode, OTHERS, draw)


def of_reduction(function, reduction, rng, dtype):
    return function(rng, reduction, dtype)


FLOATS = np.float32([1, 2, 3])
SQUARE = np.float32([[1, 2], [3, 4]])
CACHE = np.zeros((2, 3, 1), np.float32)
MISTAKES = {
    "ScatterElements": {
        "an axis that is not there": dict(
            data=FLOATS, indices=np.int64([0]), updates=FLOATS[:1], axis=1, opset=18
        ),
        "indices of another rank": dict(
            data=SQUARE, indices=np.int64([0]), updates=FLOATS[:1], axis=0, opset=18
        ),
        "updates of another shape": dict(
            data=FLOATS, indices=np.int64([0, 1]), updates=FLOATS[:1], axis=0, opset=18
        ),
        "an index that is too large": dict(
            data=FLOATS, indices=np.int32([0, 3]), updates=FLOATS[:2], axis=0, opset=18
        ),
        "an index too far below 0": dict(
            data=FLOATS, indices=np.int32([-3, -4]), updates=FLOATS[:2], axis=0, opset=18
        ),
        "indices of int16": dict(
            data=FLOATS, indices=np.int16([0]), updates=FLOATS[:1], axis=0, opset=18
        ),
        "updates of another dtype": dict(
            data=FLOATS, indices=np.int64([0]), updates=np.float64([1]), axis=0, opset=18
        ),
        "a reduction that came later": dict(
            data=FLOATS,
            indices=np.int64([0]),
            updates=FLOATS[:1],
            axis=0,
            reduction="add",
            opset=13,
        ),
    },
    "ScatterND": {
        "tuples longer than the rank": dict(
            data=FLOATS, indices=np.int64([[0, 0]]), updates=FLOATS[:1], opset=18
        ),
        "updates of another shape": dict(
            data=SQUARE, indices=np.int64([[0]]), updates=FLOATS[:1], opset=18
        ),
        "an index that is too large": dict(
            data=SQUARE, indices=np.int64([[2]]), updates=SQUARE[:1], opset=18
        ),
        "an index too far below 0": dict(
            data=SQUARE, indices=np.int64([[0, -3]]), updates=FLOATS[:1], opset=18
        ),
        "indices of int32": dict(
            data=FLOATS, indices=np.int32([[0]]), updates=FLOATS[:1], opset=18
        ),
    },
    "Gather": {
        "an axis that is not there": dict(data=SQUARE, indices=np.int64([0]), axis=-3, opset=13),
        "an index that is too large": dict(data=SQUARE, indices=np.int64(2), axis=1, opset=13),
        "indices of floats": dict(data=SQUARE, indices=FLOATS, axis=0, opset=13),
    },
    "GatherElements": {
        "indices of another rank": dict(data=SQUARE, indices=np.int64([0]), axis=0, opset=13),
        "an index too far below 0": dict(
            data=SQUARE, indices=np.int64([[0, -3]]), axis=0, opset=13
        ),
        "more indices than data beside the axis": dict(
            data=SQUARE, indices=np.zeros((3, 1), int), axis=1, opset=13
        ),
    },
    "GatherND": {
        "tuples longer than the rank": dict(data=FLOATS, indices=np.int64([[0, 0]]), opset=13),
        "batches of different sizes": dict(
            data=SQUARE, indices=np.zeros((3, 1), int), batch_dims=1, opset=13
        ),
    },
    "TensorScatter": {
        "the axis of batches": dict(past_cache=CACHE, update=CACHE[:, :1], axis=0),
        "an update longer than the cache": dict(
            past_cache=CACHE, update=np.zeros((2, 4, 1), np.float32), axis=1
        ),
        "a begin below 0": dict(
            past_cache=CACHE,
            update=CACHE[:, :1],
            write_indices=np.int64([0, -1]),
            axis=1,
        ),
        "an update that ends behind the cache": dict(
            past_cache=CACHE,
            update=CACHE[:, :2],
            write_indices=np.int64([0, 2]),
            axis=1,
        ),
        "a mode that there is not": dict(
            past_cache=CACHE, update=CACHE[:, :1], axis=1, mode="reflect"
        ),
    },
}


def mistakes():
    for node, cases in MISTAKES.items():
        for what, case in cases.items():
            yield Mistake(
                op=f"onnx.{node}",
                what=what.replace(" ", "-"),
                origin=f"onnxruntime {ort.__version__}",
                case=case,
                peer=functools.partial(theirs, node),
                refusals=(),
            )
