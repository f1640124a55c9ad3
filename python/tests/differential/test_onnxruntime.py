"""strew.onnx against ONNX Runtime, by models of one node, on random arguments. Needs onnx and
onnxruntime.
"""

import numpy as np
import pytest

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

import strew  # noqa: E402
from drawn import Defect, agree, defects, drawn, is_there, outcome  # noqa: E402
from drawn_onnx import (  # noqa: E402
    DTYPES,
    REDUCTIONS,
    gather,
    gather_elements,
    gather_nd,
    has_kernel,
    scatter,
    scatter_elements,
    scatter_nd,
    tensor_scatter,
    theirs,
)

CASES = 25


def ours(function, case):
    return outcome(lambda: function(**case), (ValueError, IndexError, TypeError))


by_reduction = pytest.mark.parametrize(
    ("reduction", "dtype"),
    [
        pytest.param(reduction, dtype, id=f"{reduction}-{dtype}")
        for reduction, dtypes in REDUCTIONS.items()
        for dtype in dtypes
    ],
)


@by_reduction
def test_scatter_elements(reduction, dtype):
    for rng in drawn(["ScatterElements", reduction, dtype], CASES):
        case = scatter_elements(rng, reduction, dtype)
        expected = theirs("ScatterElements", case)
        agree(ours(strew.onnx.scatter_elements, case), expected, case)


@by_reduction
def test_scatter_nd(reduction, dtype):
    if not has_kernel("ScatterND", reduction, dtype):
        pytest.skip("the runtime has no kernel")
    for rng in drawn(["ScatterND", reduction, dtype], CASES):
        case = scatter_nd(rng, reduction, dtype)
        expected = theirs("ScatterND", case)
        found = ours(strew.onnx.scatter_nd, case)
        if not case["data"].size and not isinstance(found, Exception):
            continue  # indices-of-nothing
        agree(found, expected, case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter_under_its_old_name(dtype):
    for rng in drawn(["Scatter", dtype], CASES):
        case = scatter(rng, dtype)
        agree(ours(strew.onnx.scatter, case), theirs("Scatter", case), case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather(dtype):
    for rng in drawn(["Gather", dtype], CASES):
        case = gather(rng, dtype)
        agree(ours(strew.onnx.gather, case), theirs("Gather", case), case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_elements(dtype):
    for rng in drawn(["GatherElements", dtype], CASES):
        case = gather_elements(rng, dtype)
        agree(ours(strew.onnx.gather_elements, case), theirs("GatherElements", case), case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_nd(dtype):
    for rng in drawn(["GatherND", dtype], CASES):
        case = gather_nd(rng, dtype)
        agree(ours(strew.onnx.gather_nd, case), theirs("GatherND", case), case)


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_tensor_scatter(dtype, mode):
    for rng in drawn(["TensorScatter", dtype, mode], CASES):
        case = tensor_scatter(rng, mode, dtype)
        agree(ours(strew.onnx.tensor_scatter, case), theirs("TensorScatter", case), case)


# What the runtime, and strew after it, does wrong.


def extreme(node, reduction, updates):
    indices = np.zeros(len(updates), np.int64)
    indices = indices[:, None] if node == "ScatterND" else indices
    case = {"data": np.float32([5]), "indices": indices, "updates": np.float32(updates)}
    return theirs(node, case | {"reduction": reduction, "opset": 18})[0]


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
