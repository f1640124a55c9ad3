"""Cells and updates along an axis: where updates go, and what is reduced there."""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import torch

from .arithmetic import signed
from .fold import Grouping, fold, updates_along

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from .._strew import Plan
    from .fold import Reduction, Updates


class Groups:
    """The group of each value along an axis; `size` stands for none."""

    def __init__(self, rows: Tensor, size: int, most: int | None = None) -> None:
        #: `most` is what no row is above.
        self.rows, self.size, self.most = rows, size, size if most is None else most

    def __len__(self) -> int:
        return self.rows.numel()

    @cached_property
    def every(self) -> Grouping:
        """The grouping with one more group, of the values in none."""
        return Grouping.of_index(self.rows, self.size + 1)

    @cached_property
    def grouping(self) -> Grouping:
        every = self.every
        return Grouping(every.order, every.starts[: self.size], every.ends[: self.size])

    def members(self) -> tuple[Tensor, Tensor]:
        """Where each group begins among the positions of the values, and these positions."""
        of = self.grouping
        starts = torch.cat([of.starts, of.ends[-1:]]) if self.size else of.starts.new_zeros(1)
        assert of.order is not None
        return starts, of.order[: int(starts[-1])]


def of_plan(plan: Plan, device: torch.device) -> Groups:
    """The groups of a plan on a device, which are kept."""
    key = id(plan), str(device)
    found = _plans.get(key)
    if found is None:
        rows = plan.gather(np.arange(1, plan.size + 1)) - 1
        rows = torch.as_tensor(np.where(rows < 0, plan.size, rows)).to(device)
        found = plan, Groups(rows, plan.size, plan.size - (plan.dropped == 0))
        while len(_plans) >= _PLANS:
            _plans.pop(next(iter(_plans)), None)
        _plans[key] = found
    return found[1]


def kept(index: Tensor) -> Groups | None:
    """The groups of a plan, if the index is its rows on a device, perhaps repeated.

    Only `of_plan` gives these rows away, and nothing writes to them: such an index is in its range,
    and its order is known.
    """
    if not _plans or index.numel() == 0:
        return None
    memory = index.untyped_storage().data_ptr()
    for _, groups in list(_plans.values()):
        if groups.rows.untyped_storage().data_ptr() == memory:
            return groups
    return None


#: The groups of a plan on a device, by the plan's identity, which lasts as long as it is kept here.
_plans: dict[tuple[int, str], tuple[Plan, Groups]] = {}
_PLANS = 8


class Along:
    """Updates that each say where they go along the axis `dim` of cells of shape `cells`.

    `index` has the shape of the updates: that of the cells, or a leading corner of it, apart from
    `dim`. Of an index that is repeated (by strides of 0) along its last axes, or along all axes but
    `dim`, only the rest is sorted, and whole rows are folded.
    """

    def __init__(
        self, cells: Sequence[int], dim: int, index: Tensor, *, ascends: bool = False
    ) -> None:
        self.cells, self.dim, self.index, self.ascends = tuple(cells), dim, index, ascends
        self.shape = index.shape
        repeated = [
            size == self.cells[axis] and (size == 1 or index.stride(axis) == 0)
            for axis, size in enumerate(index.shape)
        ]
        tail = index.dim()
        while tail > dim + 1 and repeated[tail - 1]:
            tail -= 1
        #: Whether one vector says where whole slices go.
        self.is_vector = tail == dim + 1 and all(repeated[:dim])
        #: The axes that are numbered together.
        self._axes = range(dim, dim + 1) if self.is_vector else range(tail)

    @cached_property
    def numbers(self) -> Tensor:
        """The number of each update's cell, without the axes along which the index is repeated."""
        own = self.index
        for axis in reversed(range(own.dim())):
            if axis not in self._axes:
                own = own.select(axis, 0)
        if self.is_vector:
            return own
        # Row by row: the index counts along its axis, and each place along the others.
        strides = [prod(self.cells[axis + 1 : len(self._axes)]) for axis in self._axes]
        own = own.to(torch.int64) if self.size >= 2**31 else own
        numbers = own * strides[self.dim] if strides[self.dim] != 1 else own
        for axis in self._axes:
            if axis != self.dim and own.shape[axis] > 1:
                line = torch.arange(own.shape[axis], device=own.device) * strides[axis]
                numbers = numbers + line.reshape([-1 if k == axis else 1 for k in self._axes])
        return numbers.reshape(-1)

    @property
    def size(self) -> int:
        """How many cells are numbered."""
        return prod(self.cells[axis] for axis in self._axes)

    @cached_property
    def grouping(self) -> Grouping:
        groups = kept(self.numbers)
        if groups is not None and len(groups) == self.numbers.numel():
            if self.size == groups.size:
                return groups.grouping
            if self.size == groups.size + 1:
                return groups.every
        make = Grouping.of_sorted if self.ascends else Grouping.of_index
        return make(self.numbers, self.size)

    def fold(
        self, out: Tensor, src: Tensor, reduction: Reduction, arg: Tensor | None = None
    ) -> None:
        """Folds updates into `out`, contiguous cells; `arg` becomes the winners' positions."""
        if self.shape.numel() == 0:
            return
        behind = 1 if self.is_vector else prod(self.shape[self.dim + 1 : len(self._axes)])
        places = (behind, self.shape[self.dim])
        fold(out, self._updates(src), self.grouping, reduction, arg, places)

    def assign(self, out: Tensor, src: Tensor) -> Tensor:
        """The cells with the last update of each in its place."""
        if self.shape.numel() == 0:
            return out
        last = self._last()
        given, out, src = out.dtype, signed(out), signed(src)
        if self.is_vector:
            picked = src.index_select(self.dim, last.clamp(min=0))
            last = last.reshape([-1] + [1] * (out.dim() - 1 - self.dim))
            return torch.where(last < 0, out, picked).view(given)
        rows = src.reshape(len(self.numbers), -1).index_select(0, last.clamp(min=0))
        cells = out.reshape(self.size, -1)
        return torch.where(last[:, None] < 0, cells, rows).reshape(out.shape).view(given)

    def _last(self) -> Tensor:
        """The number of the last update of each cell, or -1. Maxima of integers have no order."""
        numbers = self.numbers.to(torch.int64)
        order = torch.arange(len(numbers), device=numbers.device)
        last = order.new_full((self.size,), -1)
        return last.scatter_reduce_(0, numbers, order, "amax")

    def gather(self, cells: Tensor) -> Tensor:
        """The value of each update's cell."""
        return cells.gather(self.dim, self.index.to(torch.int64))

    def counts(self) -> Tensor:
        """How many updates each cell has, in a shape that broadcasts with the cells."""
        numbers = self.numbers.to(torch.int64)
        counts = numbers.new_zeros(self.size)
        counts.scatter_add_(0, numbers, torch.ones_like(numbers))
        if self.is_vector:
            return counts.reshape([-1] + [1] * (len(self.cells) - 1 - self.dim))
        ones = [1] * (len(self.cells) - len(self._axes))
        return counts.reshape([*self.cells[: len(self._axes)], *ones])

    def rows(self, src: Tensor) -> Tensor:
        """The updates as a contiguous matrix with a row for each number."""
        src = src.movedim(self.dim, 0) if self.is_vector else src
        return src.reshape(len(self.numbers), -1).contiguous()

    def rows_of_cells(self, out: Tensor) -> Tensor:
        """The cells as a contiguous matrix with a row for each cell that is numbered."""
        out = out.movedim(self.dim, 0) if self.is_vector else out
        return out.reshape(self.size, -1).contiguous()

    def set_rows_of_cells(self, out: Tensor, rows: Tensor) -> None:
        """Writes that matrix into the cells."""
        moved = out.movedim(self.dim, 0) if self.is_vector else out
        moved.copy_(rows.reshape(moved.shape))

    def _updates(self, src: Tensor) -> Updates:
        if self.is_vector:
            return updates_along(src, self.dim)
        return updates_along(src.reshape(len(self.numbers), -1), 0)
