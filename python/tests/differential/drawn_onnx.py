"""Random arguments of ONNX's operators, by the names of strew's functions, and what ONNX Runtime
makes of them, by models of one node.
"""

import functools

import numpy as np
import onnx
import onnxruntime as ort
from drawn import (
    INTEGERS,
    chance,
    factors,
    one_of,
    orderable,
    ordered,
    outcome,
    places,
    sizes,
    summands,
)

DTYPES = ["bool", *INTEGERS, "float16", "float32", "float64"]
"""What the runtime takes: neither bfloat16 nor complex numbers."""
REDUCTIONS = {
    "none": DTYPES,
    "add": [dtype for dtype in DTYPES if dtype != "float16"],
    "mul": [dtype for dtype in DTYPES if dtype != "float16"],
    "max": [dtype for dtype in DTYPES if dtype != "bool"],
    "min": [dtype for dtype in DTYPES if dtype != "bool"],
}
OPSETS = {"none": [11, 13, 16, 18], "add": [16, 18], "mul": [16, 18], "max": [18], "min": [18]}
# Without NaN: nan-in-extremes.
VALUES = {"add": summands, "mul": factors, "max": ordered, "min": ordered}
ATTRIBUTES = ["axis", "reduction", "batch_dims", "mode"]


def has_kernel(node, reduction, dtype):
    """Whether the runtime joins numbers of a dtype in this way."""
    by_tuples = node == "ScatterND" and reduction in ("max", "min")
    return dtype in REDUCTIONS[reduction] and not (by_tuples and dtype == "float16")


def model_of(node, opset, kinds, attributes):
    """The model of a node. A kind is an input's dtype and rank."""
    helper = onnx.helper
    inputs = [
        helper.make_tensor_value_info(
            f"in{n}", helper.np_dtype_to_tensor_dtype(dtype), [None] * rank
        )
        for n, (dtype, rank) in enumerate(kinds)
    ]
    out = helper.make_tensor_value_info("out", inputs[0].type.tensor_type.elem_type, None)
    one = helper.make_node(node, [i.name for i in inputs], ["out"], **dict(attributes))
    graph = helper.make_graph([one], "one", inputs, [out])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


@functools.cache
def session(node, opset, kinds, attributes):
    """The model of a node, ready to run."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    # races-of-scatter_nd
    options.intra_op_num_threads = 1
    return ort.InferenceSession(
        model_of(node, opset, kinds, attributes).SerializeToString(),
        options,
        providers=["CPUExecutionProvider"],
    )


def parts(case):
    """The arrays of a case, its attributes, and its version of the operator set."""
    inputs = [value for value in case.values() if isinstance(value, np.ndarray)]
    kinds = tuple((i.dtype, i.ndim) for i in inputs)
    attributes = tuple((name, case[name]) for name in ATTRIBUTES if name in case)
    return inputs, kinds, attributes, case.get("opset", 24)


def theirs(node, case):
    """What the runtime makes of them, or how it refuses them."""

    def call():
        inputs, kinds, attributes, version = parts(case)
        model = session(node, version, kinds, attributes)
        return model.run(None, {f"in{n}": i for n, i in enumerate(inputs)})[0]

    # Its exceptions have no base of their own.
    refused = outcome(call, Exception)
    if isinstance(refused, Exception):
        assert type(refused).__module__.startswith("onnxruntime"), refused
        assert "NOT_IMPLEMENTED" not in str(refused), refused
    return refused


def axis_of(rng, shape):
    return int(rng.integers(-len(shape), len(shape)))


def scatter_elements(rng, reduction, dtype):
    values = VALUES.get(reduction, orderable)
    shape = sizes(rng, int(rng.integers(1, 5)))
    axis = axis_of(rng, shape)
    part = [int(rng.integers(0 if chance(rng, 0.1) else min(n, 1), n + 1)) for n in shape]
    part[axis] = int(rng.integers(0, 7))
    if chance(rng, 0.03):
        part[0] += 9
    indices = places(rng, shape[axis], part, one_of(rng, ["int32", "int64"]), True, beyond=0.1)
    opset = one_of(rng, OPSETS[reduction])
    case = {
        "data": values(rng, dtype, shape),
        "indices": indices,
        "updates": values(rng, dtype, part),
        "axis": axis,
    }
    return case | ({"reduction": reduction} if opset >= 16 else {}) | {"opset": opset}


def tuples(rng, shape, beyond):
    """Tuples that name windows of an array, and the shape of those windows."""
    entries = int(rng.integers(1, len(shape) + 1))
    batch = sizes(rng, int(rng.integers(0, 3)), 0, 6)
    index = [places(rng, n, batch, "int64", True, beyond) for n in shape[:entries]]
    return np.stack(index, -1), (*batch, *shape[entries:])


def scatter_nd(rng, reduction, dtype):
    values = VALUES.get(reduction, orderable)
    shape = sizes(rng, int(rng.integers(1, 5)))
    indices, window = tuples(rng, shape, 0.1)
    opset = one_of(rng, OPSETS[reduction])
    case = {
        "data": values(rng, dtype, shape),
        "indices": indices,
        "updates": values(rng, dtype, window),
    }
    return case | ({"reduction": reduction} if opset >= 16 else {}) | {"opset": opset}


def scatter(rng, dtype):
    shape = sizes(rng, int(rng.integers(1, 4)))
    axis = axis_of(rng, shape)
    part = [int(rng.integers(0, n + 1)) for n in shape]
    part[axis] = int(rng.integers(0, 7))
    # Of negative indices version 9 says nothing.
    indices = places(rng, shape[axis], part, one_of(rng, ["int32", "int64"]))
    return {
        "data": orderable(rng, dtype, shape),
        "indices": indices,
        "updates": orderable(rng, dtype, part),
        "axis": axis,
        "opset": 9,
    }


def gather(rng, dtype):
    shape = sizes(rng, int(rng.integers(1, 5)))
    axis, opset = axis_of(rng, shape), one_of(rng, [11, 13])
    of_indices = sizes(rng, int(rng.integers(0, 3)), 0, 6)
    indices = places(rng, shape[axis], of_indices, one_of(rng, ["int32", "int64"]), True, 0.1)
    return {
        "data": orderable(rng, dtype, shape),
        "indices": indices,
        "axis": axis,
        "opset": opset,
    }


def gather_elements(rng, dtype):
    shape = sizes(rng, int(rng.integers(1, 5)))
    axis, opset = axis_of(rng, shape), one_of(rng, [11, 13])
    part = [int(rng.integers(0, n + 1)) for n in shape]
    part[axis] = int(rng.integers(0, 7))
    indices = places(rng, shape[axis], part, one_of(rng, ["int32", "int64"]), True, 0.1)
    return {
        "data": orderable(rng, dtype, shape),
        "indices": indices,
        "axis": axis,
        "opset": opset,
    }


def gather_nd(rng, dtype):
    shape = sizes(rng, int(rng.integers(1, 5)))
    opset = one_of(rng, [11, 12, 13])
    batch_dims = 0 if opset == 11 else int(rng.integers(0, min(len(shape), 3)))
    indices, _ = tuples(rng, shape[batch_dims:], 0.1)
    if batch_dims:
        indices = np.broadcast_to(indices, (*shape[:batch_dims], *indices.shape)).copy()
    case = {"data": orderable(rng, dtype, shape), "indices": indices}
    return case | ({} if opset == 11 else {"batch_dims": batch_dims}) | {"opset": opset}


def tensor_scatter(rng, mode, dtype):
    shape = sizes(rng, int(rng.integers(3, 5)))
    axis = int(rng.integers(1, len(shape))) - (len(shape) if chance(rng, 0.5) else 0)
    part = list(shape)
    part[axis] = int(rng.integers(0, shape[axis] + 1))
    most = max(shape[axis] - 1 if mode == "circular" else shape[axis] - part[axis], 0)
    write = rng.integers(-1 if chance(rng, 0.1) else 0, most + 1 + chance(rng, 0.1), shape[0])
    case = {"past_cache": orderable(rng, dtype, shape), "update": orderable(rng, dtype, part)}
    if chance(rng, 0.8):
        case["write_indices"] = write
    return case | {"axis": axis, "mode": mode}
