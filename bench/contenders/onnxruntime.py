"""ONNX Runtime: a model of one ScatterND or ScatterElements, run on bound memory."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

from .problem import Problem, Spelling

_REDUCTIONS = {"sum": "add", "amax": "max", "prod": "mul", "assign": "none"}


def version() -> str:
    return ort.__version__


def spellings(problem: Problem) -> list[Spelling]:
    w = problem.workload
    if w.form == "slice" or w.reduce not in _REDUCTIONS or w.dtype != "float32":
        return []
    if w.form == "elements":
        index, src = problem.index, problem.src
        node = ("ScatterElements", {"axis": w.dim})
    else:
        index = np.ascontiguousarray(problem.index.reshape(-1, w.updates).T)
        src = problem.src
        node = ("ScatterND", {})
    feeds = {"index": index, "src": src}
    if w.has_input:
        feeds["data"] = problem.input
    else:
        feeds["shape"] = np.array(w.out_shape, np.int64)
    session = _session(problem, node, feeds)
    binding = session.io_binding()
    for name, array in feeds.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))

    def run(keep=feeds):
        # The binding shares its inputs' memory and does not own it: `keep` does. The output is
        # unbound first, so that each run makes one of its own.
        binding.clear_binding_outputs()
        binding.bind_output("out")
        session.run_with_iobinding(binding)
        return binding.get_outputs()[0]

    return [Spelling(node[0], run, lambda out: out.numpy())]


def _session(problem: Problem, node, feeds: dict[str, np.ndarray]) -> ort.InferenceSession:
    operator, attributes = node
    nodes = []
    if "shape" in feeds:
        # The shape is an input: a constant table would be copied at each run.
        nodes.append(helper.make_node("ConstantOfShape", ["shape"], ["data"]))
    reduction = _REDUCTIONS[problem.workload.reduce]
    attributes = {**attributes, "reduction": reduction}
    nodes.append(helper.make_node(operator, ["data", "index", "src"], ["out"], **attributes))

    def declared(name: str, array: np.ndarray):
        kind = TensorProto.INT64 if array.dtype == np.int64 else TensorProto.FLOAT
        return helper.make_tensor_value_info(name, kind, array.shape)

    inputs = [declared(name, array) for name, array in feeds.items()]
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, problem.workload.out_shape)
    graph = helper.make_graph(nodes, "scatter", inputs, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    options = ort.SessionOptions()
    options.intra_op_num_threads = problem.threads
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
