"""`strew.aggregate` and `strew.Plan` with tensors on a GPU.

A plan is made of an index on the CPU. Its rows, the order of its updates and where each row begins
are copied to a device once and kept (`_gpu.along.of_plan`): later runs sort nothing and do not wait
for the device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from .._arrays.dispatch import unwrapped
from .._native.errors import Problem
from .._strew import Plan
from . import own
from .registry import has_derivative, is_plain_on_device, on_device

if TYPE_CHECKING:
    from typing import Any

    from torch import Tensor


def groups(src: Tensor, index: Any, size: Any, mode: Any, ignore_index: Any) -> Any:
    """The groups that an index on the same device names."""
    if not isinstance(index, torch.Tensor) or index.device != src.device:
        where = str(index.device) if isinstance(index, torch.Tensor) else type(index).__name__
        raise Problem(TypeError, "aggregate", "index", where).saying(
            f"index is {where}", f"it must be a tensor on {src.device}, as src is"
        )
    checked = index.dim() == 1 and not (index.is_floating_point() or index.is_complex())
    if not checked or index.dtype == torch.bool or mode not in ("error", "wrap", "drop", "clip"):
        # They are wrong: the plan raises its error.
        Plan(index.cpu(), size, mode=mode, ignore_index=ignore_index)
    if not torch.compiler.is_dynamo_compiling() and torch._C._are_functorch_transforms_active():
        # What is made of an index has no derivative, and outlives the transforms.
        with torch._C._DisableFuncTorch():
            return _groups(unwrapped(index), size, mode, ignore_index)
    return _groups(index, size, mode, ignore_index)


def _groups(index: Tensor, size: Any, mode: Any, ignore_index: Any) -> Any:
    count = own._size(index, ignore_index) if size is None else int(size)
    if mode == "drop" and ignore_index is None and is_plain_on_device((index,)):
        groups = on_device().kept(index)
        if groups is not None and groups.size == count:
            return groups
    try:
        rows = own._resolve(index, count, mode, ignore_index)
    except IndexError:
        Plan(index.cpu(), size, mode=mode, ignore_index=ignore_index)
        raise
    return on_device().aggregate().Groups(rows, count)


def check_lines(src: Tensor, index: Any) -> None:
    """Refuses an index of which each line along an axis has its own."""
    if isinstance(index, torch.Tensor) and index.dim() != 1 and src.dim() > 1:
        raise on_device().aggregate().refuse_with("an index with several axes")


def check_arguments(has_functions: bool, weights: Any, options: dict[str, Any]) -> None:
    """Refuses what is not taken on a device."""
    refuse = on_device().aggregate().refuse_with
    if has_functions:
        raise refuse("a function of the values of a group")
    if weights is not None:
        raise refuse("weights")
    if isinstance(options["q"], np.ndarray):
        raise refuse("q of each group")


def of_plan(plan: Plan, device: torch.device) -> Any:
    """The groups of a plan on a device."""
    return on_device().of_plan(plan, device)


def rows_of_plan(plan: Plan, device: torch.device) -> Tensor:
    """The row of each of a plan's updates; `plan.size` for those that it drops."""
    rows: Tensor = of_plan(plan, device).rows
    return rows


def is_direct(*tensors: Tensor) -> bool:
    """Whether nothing in torch needs to know of a call with these tensors of a GPU."""
    return is_plain_on_device(tensors) and not has_derivative(tensors)


def folds(reduce: Any) -> bool:
    """Whether a plan's reduction is one fold of the groups that the device keeps."""
    return reduce in ("sum", "mean", "prod", "amin", "amax")


def plan_scatter(
    plan: Plan,
    src: Tensor,
    reduce: str,
    dim: int,
    out: Tensor | None = None,
    include_self: bool = False,
) -> Tensor:
    """`Plan.scatter`, into a copy of `out` or new cells."""
    if out is None:
        shape = list(src.shape)
        shape[dim] = plan.size
        cells = torch.full(shape, int(reduce == "prod"), dtype=src.dtype, device=src.device)
    else:
        cells = out.detach().clone(memory_format=torch.contiguous_format)
    on_device().fold_groups(cells, src, dim, of_plan(plan, src.device), reduce, include_self)
    return cells


def plan_gather(plan: Plan, src: Tensor, dim: int) -> Tensor:
    """`Plan.gather`: 0 for updates that the plan drops."""
    rows = of_plan(plan, src.device).rows
    found = src.index_select(dim, rows.clamp(max=max(plan.size - 1, 0)))
    if plan.dropped:
        line = rows.reshape([-1] + [1] * (src.dim() - 1 - dim))
        found = torch.where(line == plan.size, 0, found)
    return found
