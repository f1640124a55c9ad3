"""``segment_reduce`` in torch's dispatcher.

Its derivatives are those of ``scatter_reduce`` to the groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..._strew import Operator
from ..calls import Call, define
from ..tensors import as_tensor, plain
from .scatter_reduce import scatter_reduce_backward, scatter_reduce_tangent

if TYPE_CHECKING:
    from typing import Any, ClassVar

    from torch import Tensor

    from ..calls import Batch, Batched, Gradients, KeepsFor, Tangents

_NAMES = {"max": "amax", "min": "amin"}


class SegmentReduce(Call):
    schema = (
        "segment_reduce(Tensor data, str reduce, Tensor? lengths, Tensor? offsets, int axis,"
        " bool unsafe, Scalar? initial) -> Tensor"
    )
    row = "torch.segment_reduce"
    integers = ("lengths", "offsets")
    differentiable = ("data",)
    keeps = ("lengths", "offsets", "data", "result")
    keeps_for: ClassVar[KeepsFor] = dict.fromkeys(("sum", "mean"), ("lengths", "offsets"))

    def empty(self) -> Tensor:
        shape = list(self.data.shape)
        shape[self.axis] = self._groups()
        return self.data.new_empty(shape)

    def _groups(self) -> int:
        return self.lengths.shape[-1] if self.offsets is None else self.offsets.shape[-1] - 1

    def prepare(self) -> None:
        self.axis: int = self.axis % max(len(self.data_shape), 1)
        self.name_in_scatter_reduce = _NAMES.get(self.reduce, self.reduce)

    def _index(self) -> Tensor:
        """The group of each element of `data`. Elements of no group are in one more."""
        offsets, shape = self.offsets, self.data_shape
        if offsets is None:
            offsets = torch.nn.functional.pad(self.lengths.cumsum(-1), (1, 0))
        line = torch.arange(shape[self.axis], device=offsets.device)
        places = line.expand(*offsets.shape[:-1], -1).contiguous()
        groups = torch.searchsorted(offsets[..., 1:].contiguous(), places, right=True)
        groups = torch.where(places < offsets[..., :1], offsets.shape[-1] - 1, groups)
        behind = len(shape) - self.axis - 1
        return groups.reshape(*groups.shape, *(1 for _ in range(behind))).expand(shape)

    def _grown(self, cells: Tensor, value: complex = 0) -> Tensor:
        """With one more group, for elements of no group."""
        shape = list(cells.shape)
        shape[self.axis] = 1
        return torch.cat([cells, cells.new_full(shape, value)], self.axis)

    def _of_scatter(self) -> dict[str, Any]:
        """The arguments of the ``scatter_reduce`` to the groups."""
        reduce, result = self.name_in_scatter_reduce, self.result
        # The initial value takes no share of an extreme's gradient, and does not count in a mean.
        include_self = reduce == "prod" and self.initial is not None
        into = None
        if result is not None:
            start = 1 if self.initial is None else self.initial
            into = self._grown(torch.full_like(result, start), start)
            result = self._grown(result)
        return {
            "dim": self.axis,
            "index": self._index(),
            "input": into,
            "src": self.data,
            "result": result,
            "reduce": reduce,
            "include_self": include_self,
        }

    def backward(self, grad: Tensor) -> Gradients:
        _, of_data = self.apply(
            scatter_reduce_backward,
            grad=self._grown(grad),
            src_shape=list(self.data_shape),
            to_input=False,
            to_src=True,
            **self._of_scatter(),
        )
        return of_data

    def forward(self, data_t: Tensor) -> Tangents:
        if self.result is None:
            # A linear operator is its own derivative, apart from the initial value.
            start = None if self.initial is None else 0
            return self.apply(segment_reduce, data=data_t, unsafe=True, initial=start)
        given = self._of_scatter()
        into_t = torch.zeros_like(given["input"])
        found = self.apply(scatter_reduce_tangent, input_t=into_t, src_t=data_t, **given)
        return found.narrow(self.axis, 0, self._groups())

    def vmap(self, batch: Batch) -> Batched:
        rows = {name: batch.rows(name) for name in self.tensors}
        axis = self.axis if self.axis >= 0 else self.axis + batch.rank("data")
        return self.apply(segment_reduce, **rows, axis=axis + 1), 0


segment_reduce = define(SegmentReduce)

_run = Operator("torch.segment_reduce")


def call(
    data: Any,
    reduce: str,
    lengths: Any,
    indices: Any,
    offsets: Any,
    axis: int,
    unsafe: bool,
    initial: Any,
) -> Tensor:
    """``segment_reduce`` by way of the dispatcher."""
    if indices is not None:
        # The operator raises PyTorch's error.
        return _run(plain(data), reduce, lengths, indices, offsets, axis, unsafe, initial)
    lengths, offsets = (None if given is None else as_tensor(given) for given in (lengths, offsets))
    return segment_reduce(as_tensor(data), reduce, lengths, offsets, axis, unsafe, initial)
