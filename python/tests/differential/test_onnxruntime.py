"""strew.onnx against ONNX Runtime, by models of one node, on random arguments. Needs onnx and
onnxruntime.
"""

import functools

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

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
    one_of,
    orderable,
    ordered,
    outcome,
    places,
    sizes,
    summands,
)

CASES = 25
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


@functools.cache
def session(node, opset, kinds, attributes):
    """The model of a node, ready to run. A kind is an input's dtype and rank."""
    helper = onnx.helper
    inputs = [
        helper.make_tensor_value_info(
            f"in{n}", helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), [None] * rank
        )
        for n, (dtype, rank) in enumerate(kinds)
    ]
    out = helper.make_tensor_value_info("out", inputs[0].type.tensor_type.elem_type, None)
    one = helper.make_node(node, [i.name for i in inputs], ["out"], **dict(attributes))
    graph = helper.make_graph([one], "one", inputs, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    # races-of-scatter_nd
    options.intra_op_num_threads = 1
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def theirs(node, opset, inputs, **attributes):
    """What the runtime makes of them, or how it refuses them."""

    def call():
        kinds = tuple((i.dtype.name, i.ndim) for i in inputs)
        model = session(node, opset, kinds, tuple(attributes.items()))
        return model.run(None, {f"in{n}": i for n, i in enumerate(inputs)})[0]

    # Its exceptions have no base of their own.
    refused = outcome(call, Exception)
    if isinstance(refused, Exception):
        assert type(refused).__module__.startswith("onnxruntime"), refused
        assert "NOT_IMPLEMENTED" not in str(refused), refused
    return refused


def ours(function, *arguments, **options):
    return outcome(lambda: function(*arguments, **options), (ValueError, IndexError, TypeError))


def axis_of(rng, shape):
    return int(rng.integers(-len(shape), len(shape)))


def by_reduction(*operators):
    return [
        pytest.param(*operator, reduction, dtype, id="-".join([*operator, reduction, dtype]))
        for operator in operators
        for reduction, dtypes in REDUCTIONS.items()
        for dtype in dtypes
    ]


@pytest.mark.parametrize(("reduction", "dtype"), by_reduction(()))
def test_scatter_elements(reduction, dtype):
    values = VALUES.get(reduction, orderable)
    for rng in drawn(["ScatterElements", reduction, dtype], CASES):
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
        }
        attributes = {"axis": axis} | ({"reduction": reduction} if opset >= 16 else {})
        expected = theirs("ScatterElements", opset, list(case.values()), **attributes)
        case |= attributes | {"opset": opset}
        agree(ours(strew.onnx.scatter_elements, **case), expected, case)


def tuples(rng, shape, beyond):
    """Tuples that name windows of an array, and the shape of those windows."""
    entries = int(rng.integers(1, len(shape) + 1))
    batch = sizes(rng, int(rng.integers(0, 3)), 0, 6)
    index = [places(rng, n, batch, "int64", True, beyond) for n in shape[:entries]]
    return np.stack(index, -1), (*batch, *shape[entries:])


@pytest.mark.parametrize(("reduction", "dtype"), by_reduction(()))
def test_scatter_nd(reduction, dtype):
    if dtype == "float16" and reduction in ("max", "min"):
        pytest.skip("the runtime has no kernel")
    values = VALUES.get(reduction, orderable)
    for rng in drawn(["ScatterND", reduction, dtype], CASES):
        shape = sizes(rng, int(rng.integers(1, 5)))
        indices, window = tuples(rng, shape, 0.1)
        opset = one_of(rng, OPSETS[reduction])
        case = {
            "data": values(rng, dtype, shape),
            "indices": indices,
            "updates": values(rng, dtype, window),
        }
        attributes = {"reduction": reduction} if opset >= 16 else {}
        expected = theirs("ScatterND", opset, list(case.values()), **attributes)
        case |= attributes | {"opset": opset}
        found = ours(strew.onnx.scatter_nd, **case)
        if not case["data"].size and not isinstance(found, Exception):
            continue  # indices-of-nothing
        agree(found, expected, case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter_under_its_old_name(dtype):
    for rng in drawn(["Scatter", dtype], CASES):
        shape = sizes(rng, int(rng.integers(1, 4)))
        axis = axis_of(rng, shape)
        part = [int(rng.integers(0, n + 1)) for n in shape]
        part[axis] = int(rng.integers(0, 7))
        # Of negative indices version 9 says nothing.
        indices = places(rng, shape[axis], part, one_of(rng, ["int32", "int64"]))
        case = {
            "data": orderable(rng, dtype, shape),
            "indices": indices,
            "updates": orderable(rng, dtype, part),
        }
        expected = theirs("Scatter", 9, list(case.values()), axis=axis)
        case["axis"] = axis
        agree(ours(strew.onnx.scatter, **case, opset=9), expected, case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather(dtype):
    for rng in drawn(["Gather", dtype], CASES):
        shape = sizes(rng, int(rng.integers(1, 5)))
        axis, opset = axis_of(rng, shape), one_of(rng, [11, 13])
        of_indices = sizes(rng, int(rng.integers(0, 3)), 0, 6)
        indices = places(rng, shape[axis], of_indices, one_of(rng, ["int32", "int64"]), True, 0.1)
        case = {"data": orderable(rng, dtype, shape), "indices": indices}
        expected = theirs("Gather", opset, list(case.values()), axis=axis)
        case |= {"axis": axis, "opset": opset}
        agree(ours(strew.onnx.gather, **case), expected, case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_elements(dtype):
    for rng in drawn(["GatherElements", dtype], CASES):
        shape = sizes(rng, int(rng.integers(1, 5)))
        axis, opset = axis_of(rng, shape), one_of(rng, [11, 13])
        part = [int(rng.integers(0, n + 1)) for n in shape]
        part[axis] = int(rng.integers(0, 7))
        indices = places(rng, shape[axis], part, one_of(rng, ["int32", "int64"]), True, 0.1)
        case = {"data": orderable(rng, dtype, shape), "indices": indices}
        expected = theirs("GatherElements", opset, list(case.values()), axis=axis)
        case |= {"axis": axis, "opset": opset}
        agree(ours(strew.onnx.gather_elements, **case), expected, case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_nd(dtype):
    for rng in drawn(["GatherND", dtype], CASES):
        shape = sizes(rng, int(rng.integers(1, 5)))
        opset = one_of(rng, [11, 12, 13])
        batch_dims = 0 if opset == 11 else int(rng.integers(0, min(len(shape), 3)))
        indices, _ = tuples(rng, shape[batch_dims:], 0.1)
        if batch_dims:
            indices = np.broadcast_to(indices, (*shape[:batch_dims], *indices.shape)).copy()
        case = {"data": orderable(rng, dtype, shape), "indices": indices}
        attributes = {} if opset == 11 else {"batch_dims": batch_dims}
        expected = theirs("GatherND", opset, list(case.values()), **attributes)
        case |= attributes | {"opset": opset}
        agree(ours(strew.onnx.gather_nd, **case), expected, case)


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_tensor_scatter(dtype, mode):
    for rng in drawn(["TensorScatter", dtype, mode], CASES):
        shape = sizes(rng, int(rng.integers(3, 5)))
        axis = int(rng.integers(1, len(shape))) - (len(shape) if chance(rng, 0.5) else 0)
        part = list(shape)
        part[axis] = int(rng.integers(0, shape[axis] + 1))
        most = max(shape[axis] - 1 if mode == "circular" else shape[axis] - part[axis], 0)
        write = rng.integers(-1 if chance(rng, 0.1) else 0, most + 1 + chance(rng, 0.1), shape[0])
        case = {"past_cache": orderable(rng, dtype, shape), "update": orderable(rng, dtype, part)}
        if chance(rng, 0.8):
            case["write_indices"] = write
        expected = theirs("TensorScatter", 24, list(case.values()), axis=axis, mode=mode)
        case |= {"axis": axis, "mode": mode}
        agree(ours(strew.onnx.tensor_scatter, **case), expected, case)


# What the runtime, and strew after it, does wrong.


def extreme(node, reduction, updates):
    indices = np.zeros(len(updates), np.int64)
    indices = indices[:, None] if node == "ScatterND" else indices
    return theirs(node, 18, [np.float32([5]), indices, np.float32(updates)], reduction=reduction)[0]


def loses_nan(node, reduction):
    return extreme(node, reduction, [np.nan, 7]) == 7 and np.isnan(
        extreme(node, reduction, [7, np.nan])
    )


ORT = "onnxruntime", "1.31.1"
DEFECTS = {
    "indices-of-nothing": Defect(
        "strew",
        "0.1.0",
        "indices are not looked at where windows have no elements; the runtime's ScatterND does",
        lambda: not strew.onnx.scatter_nd(np.zeros((1, 0)), np.array([[8]]), np.zeros((1, 0))).size,
    ),
    "nan-in-extremes": Defect(
        *ORT,
        "of max and min, NaN stays if it is the last update, and is lost otherwise",
        lambda: all(
            loses_nan(n, r) for n in ("ScatterElements", "ScatterND") for r in ("max", "min")
        ),
    ),
    "races-of-scatter_nd": Defect(
        *ORT,
        "on several threads, ScatterND loses some of the updates that go to the same cell",
        None,
    ),
}


@defects(DEFECTS)
def test_a_defect_is_still_there(defect):
    is_there(defect, strew.__version__ if defect.peer == "strew" else ort.__version__)
