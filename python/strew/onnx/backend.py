"""An ``onnx.backend`` that runs models of a single scatter or gather node. Needs `onnx`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from .._native import errors as _errors
from . import (
    gather,
    gather_elements,
    gather_nd,
    scatter,
    scatter_elements,
    scatter_nd,
    tensor_scatter,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "Scatter": scatter,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
    "TensorScatter": tensor_scatter,
}


class StrewRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, model: Any) -> None:
        (self._node,) = model.graph.node
        self._constants = {c.name: onnx.numpy_helper.to_array(c) for c in model.graph.initializer}
        self._inputs = [i.name for i in model.graph.input if i.name not in self._constants]
        self._opset = _opset(model)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any]:
        """The model's only output, in a tuple."""
        values = dict(self._constants)
        values.update(zip(self._inputs, inputs, strict=True))
        return _run(self._node, [values.get(name) for name in self._node.input], self._opset)


class StrewBackend(Backend):
    """The interface of `onnx.backend`: ``prepare``, ``run_model``, ``run_node`` and so on."""

    @classmethod
    def is_compatible(cls, model: Any, device: Any = "CPU", **kwargs: Any) -> bool:
        """Whether the model is a single node that strew has."""
        nodes = model.graph.node
        return len(nodes) == 1 and nodes[0].op_type in _FUNCTIONS and cls.supports_device(device)

    @classmethod
    def prepare(cls, model: Any, device: Any = "CPU", **kwargs: Any) -> StrewRep:
        """The model, checked, ready to run."""
        super().prepare(model, device, **kwargs)
        if not cls.is_compatible(model, device, **kwargs):
            names = [node.op_type for node in model.graph.node]
            raise _errors.Problem(NotImplementedError, "strew.onnx.backend", "model", names).saying(
                f"the model has the nodes {names}; it must be one of {sorted(_FUNCTIONS)}"
            )
        return StrewRep(model)

    @classmethod
    def run_node(
        cls, node: Any, inputs: Any, device: Any = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[Any]:
        """The node's only output, in a tuple."""
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        return _run(node, list(inputs), kwargs.get("opset_version"))

    @classmethod
    def supports_device(cls, device: Any) -> bool:
        """Only the CPU."""
        return device.split(":")[0] == "CPU"


def _run(node: Any, inputs: Any, opset: int | None) -> tuple[Any]:
    if node.op_type not in _FUNCTIONS:
        raise _errors.Problem(
            NotImplementedError, "strew.onnx.backend", "node", node.op_type
        ).saying(f"there is no operator {node.op_type}")
    options = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    options = {name: v.decode() if isinstance(v, bytes) else v for name, v in options.items()}
    if opset is not None:
        options["opset"] = opset
    given = [None if value is None else np.asarray(value) for value in inputs]
    return (_FUNCTIONS[node.op_type](*given, **options),)


def _opset(model: Any) -> int | None:
    versions = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    return versions[0] if versions else None


is_compatible = StrewBackend.is_compatible
prepare = StrewBackend.prepare
run = StrewBackend.run_model
supports_device = StrewBackend.supports_device
