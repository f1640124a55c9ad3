"""ONNX's own tests of the nodes that strew has, driven with `strew.onnx.backend`. Needs onnx."""

import re
import unittest
import warnings

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx.backend.test import BackendTest  # noqa: E402
from strew.onnx import backend  # noqa: E402

PATTERN = r"test_(scatter|gather|tensor_?scatter)"


def made():
    """A class of unittest's, which pytest would collect if it were a name here."""
    with warnings.catch_warnings():
        # Making the examples of all operators overflows here and there.
        warnings.simplefilter("ignore")
        tests = BackendTest(backend.StrewBackend, __name__).include(PATTERN)
    return tests.test_cases["OnnxBackendNodeModelTest"]


NODES = [made()]
NAMES = sorted(name for name in dir(NODES[0]) if re.match(PATTERN, name) and name.endswith("_cpu"))


@pytest.mark.parametrize("name", NAMES)
def test_a_node_of_onnx_s_own_tests(name):
    result = unittest.TestResult()
    NODES[0](name).run(result)
    assert result.testsRun == 1 and not result.skipped
    assert result.wasSuccessful(), result.errors + result.failures


def test_there_are_some_of_every_operator():
    kinds = (
        "gather",
        "gather_elements",
        "gathernd",
        "scatter",
        "scatter_elements",
        "scatternd",
        "tensorscatter",
    )
    for kind in kinds:
        assert any(re.match(f"test_{kind}_(?!elements)", name) for name in NAMES), kind


def test_a_model_with_constants_and_one_that_is_not_ours():
    helper = onnx.helper
    data, out = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [3]) for name in ("data", "out")
    )
    index = onnx.numpy_helper.from_array(np.array([2, 2]), "index")
    updates = onnx.numpy_helper.from_array(np.array([1, 2], np.float32), "updates")

    def model(op, inputs, **attributes):
        node = helper.make_node(op, inputs, ["out"], **attributes)
        graph = helper.make_graph([node], "one", [data], [out], [index, updates])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])

    prepared = backend.prepare(
        model("ScatterElements", ["data", "index", "updates"], reduction="add")
    )
    assert prepared.run([np.ones(3, np.float32)])[0].tolist() == [1, 1, 4]
    assert not backend.is_compatible(model("Relu", ["data"]))
    with pytest.raises(NotImplementedError, match="the model has the nodes .'Relu'."):
        backend.prepare(model("Relu", ["data"]))
    assert backend.supports_device("CPU") and not backend.supports_device("CUDA:0")
