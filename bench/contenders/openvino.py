"""OpenVINO: a model of one operator on shared input memory. It reuses its output's memory."""

from __future__ import annotations

import numpy as np
import openvino as ov
from openvino import opset15 as ops

from .problem import Problem, Spelling

_REDUCTIONS = {"sum": "sum", "amax": "max", "prod": "prod", "assign": "none"}


def version() -> str:
    return ov.__version__.split("-")[0]


def spellings(problem: Problem) -> list[Spelling]:
    w = problem.workload
    if w.reduce not in _REDUCTIONS or w.dtype != "float32":
        return []
    start = problem.input if w.has_input else np.zeros(w.out_shape, np.float32)
    feeds = {"data": start, "src": problem.src}
    if w.form not in ("slice", "elements"):
        feeds["index"] = np.ascontiguousarray(problem.index.reshape(-1, w.updates).T)
    elif w.form == "elements":
        feeds["index"] = problem.index
    given = {name: ops.parameter(array.shape, array.dtype) for name, array in feeds.items()}
    reduction = _REDUCTIONS[w.reduce]
    if w.form == "slice":
        lists = [np.array(part, np.int64) for part in (w.start, w.stop, w.step)]
        node = ops.slice_scatter(given["data"], given["src"], *map(ops.constant, lists))
    elif w.form == "elements":
        node = ops.scatter_elements_update(
            given["data"], given["index"], given["src"], w.dim, reduction
        )
    else:
        node = ops.scatter_nd_update(given["data"], given["index"], given["src"], reduction)
    # Whatever the processor could do in bfloat16.
    config = {"INFERENCE_PRECISION_HINT": "f32"}
    if problem.threads:
        config["INFERENCE_NUM_THREADS"] = str(problem.threads)
    model = ov.Model([node], list(given.values()))
    request = ov.Core().compile_model(model, "CPU", config).create_infer_request()
    for number, array in enumerate(feeds.values()):
        request.set_input_tensor(number, ov.Tensor(array, shared_memory=True))

    def run(keep=feeds):
        # The request shares its inputs' memory and does not own it: `keep` does.
        request.infer()
        return request

    return [Spelling(node.get_type_name(), run, lambda r: r.get_output_tensor(0).data)]
