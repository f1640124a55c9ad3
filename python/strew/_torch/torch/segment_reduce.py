"""``segment_reduce`` in torch's dispatcher.

Its derivatives are those of ``scatter_reduce`` to the groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..._strew import Operator
from ..registry import Derivatives, batched, define
from ..tensors import as_tensor, plain
from .scatter_reduce import scatter_reduce_backward, scatter_reduce_tangent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from torch import Tensor

    from ..registry import Batched, Gradients, Saved, Tangent, Tangents

_run = Operator("torch.segment_reduce")

_NAMES = {"max": "amax", "min": "amin"}


def _kernel(
    data: Tensor,
    reduce: str,
    lengths: Any,
    offsets: Any,
    axis: int,
    unsafe: bool,
    initial: Any,
) -> Tensor:
    return _run(plain(data), reduce, lengths, None, offsets, axis, unsafe, initial)


def _fake(
    data: Tensor,
    reduce: str,
    lengths: Any,
    offsets: Any,
    axis: int,
    unsafe: bool,
    initial: Any,
) -> Tensor:
    shape = list(data.shape)
    shape[axis] = lengths.shape[-1] if offsets is None else offsets.shape[-1] - 1
    return data.new_empty(shape)


class SegmentReduce(Derivatives):
    def __init__(
        self,
        data: Tensor,
        reduce: str,
        lengths: Any,
        offsets: Any,
        axis: int,
        unsafe: bool,
        initial: Any,
    ) -> None:
        self.shape, self.axis = data.shape, axis % max(data.dim(), 1)
        self.reduce, self.initial = _NAMES.get(reduce, reduce), initial
        # The initial value takes no share of an extreme's gradient, and does not count in a mean.
        self.include_self = self.reduce == "prod" and initial is not None

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        data, _, lengths, offsets, *_ = arguments
        linear = self.reduce in ("sum", "mean")
        return (lengths, offsets, *((None, None) if linear else (data, results[0])))

    def _index(self, lengths: Any, offsets: Any) -> Tensor:
        """The group of each element of `data`. Elements of no group are in one more."""
        if offsets is None:
            offsets = torch.nn.functional.pad(lengths.cumsum(-1), (1, 0))
        places = torch.arange(self.shape[self.axis]).expand(*offsets.shape[:-1], -1).contiguous()
        groups = torch.searchsorted(offsets[..., 1:].contiguous(), places, right=True)
        groups = torch.where(places < offsets[..., :1], offsets.shape[-1] - 1, groups)
        behind = len(self.shape) - self.axis - 1
        return groups.reshape(*groups.shape, *(1 for _ in range(behind))).expand(self.shape)

    def _grown(self, cells: Tensor, value: complex = 0) -> Tensor:
        """With one more group, for elements of no group."""
        shape = list(cells.shape)
        shape[self.axis] = 1
        return torch.cat([cells, cells.new_full(shape, value)], self.axis)

    def _cells(self, result: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
        """The initial values of the groups, and their results."""
        if result is None:
            return None, None
        start = 1 if self.initial is None else self.initial
        return self._grown(torch.full_like(result, start), start), self._grown(result)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        lengths, offsets, data, result = saved
        into, result = self._cells(result)
        _, of_data = scatter_reduce_backward(
            self._grown(grad),
            self.axis,
            self._index(lengths, offsets),
            into,
            data,
            list(self.shape),
            result,
            self.reduce,
            self.include_self,
            False,
            True,
        )
        return of_data, None, None, None, None, None, None

    def forward(self, saved: Saved, data_t: Tangent, *_: Any) -> Tangents:
        lengths, offsets, data, result = saved
        groups = lengths.shape[-1] if offsets is None else offsets.shape[-1] - 1
        if result is None:
            # A linear operator is its own derivative, apart from the initial value.
            start = None if self.initial is None else 0
            return segment_reduce(data_t, self.reduce, lengths, offsets, self.axis, True, start)
        into, result = self._cells(result)
        found = scatter_reduce_tangent(
            torch.zeros_like(into),
            data_t,
            into,
            self.axis,
            self._index(lengths, offsets),
            data,
            result,
            self.reduce,
            self.include_self,
        )
        return found.narrow(self.axis, 0, groups)


def _vmap(
    info: Any,
    in_dims: Sequence[Any],
    data: Tensor,
    reduce: str,
    lengths: Any,
    offsets: Any,
    axis: int,
    unsafe: bool,
    initial: Any,
) -> Batched:
    rank = data.dim() - (in_dims[0] is not None)
    data, lengths, offsets = (
        None if tensor is None else batched(tensor, at, info.batch_size)
        for tensor, at in ((data, in_dims[0]), (lengths, in_dims[2]), (offsets, in_dims[3]))
    )
    axis = (axis if axis >= 0 else axis + rank) + 1
    return segment_reduce(data, reduce, lengths, offsets, axis, unsafe, initial), 0


segment_reduce = define(
    "segment_reduce(Tensor data, str reduce, Tensor? lengths, Tensor? offsets, int axis,"
    " bool unsafe, Scalar? initial) -> Tensor",
    _kernel,
    _fake,
    SegmentReduce,
    _vmap,
)


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
