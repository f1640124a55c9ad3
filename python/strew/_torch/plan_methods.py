"""The methods of `strew.Plan` for tensors that have derivatives.

The results have the same bits as without derivatives. The first derivative uses the plan. Second
derivatives, dual numbers and transforms use an index that is made from the plan.

Sums, means and their exact forms share one rule, that of linear operators. Equal values share the
gradient of "amin" and "amax". The first winner takes that of "min" and "max", and the last update
takes that of "assign". Updates that the plan drops have the gradient 0.
"""

from __future__ import annotations

import json
import operator
from typing import TYPE_CHECKING

import numpy as np
import torch

from .. import torch as strew_torch
from .._arrays.lines import plan_as_index
from .._native.errors import Problem
from . import on_device, own
from . import plan as planned
from .registry import has_derivative, is_eager
from .tensors import as_tensor, plain
from .torch_scatter.scatter import scatter_extreme

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, SupportsIndex

    from torch import Tensor

    from .._strew import Plan

#: Reductions whose gradient goes to the first winner.
_FIRST_WINS = ("min", "max")


def gather(plan: Plan, src: Tensor, dim: SupportsIndex = 0) -> Tensor:
    """`Plan.gather`."""
    if _is_direct(src):
        return plan.gather(_detached(src), dim=dim)
    if on_device.is_direct(src):
        return on_device.plan_gather(plan, src.detach(), _axis(plan, "src", src, dim, plan.size))
    dim = _axis(plan, "src", src, dim, plan.size)

    def by_index(src: Tensor) -> Tensor:
        return own.gather(src, _rows(plan, src), dim, "drop", None, None)

    if planned.supports_gather(src):
        return planned.gather(plan, src, dim, by_index)
    return by_index(src)


def scatter(
    plan: Plan,
    src: Any,
    reduce: Any = "sum",
    dim: SupportsIndex = 0,
    out: Any = None,
    include_self: bool = True,
) -> Tensor:
    """`Plan.scatter`."""
    if out is not None:
        return _scatter_into(plan, src, reduce, dim, out, include_self)
    if _is_direct(src):
        return plan.scatter(_detached(src), reduce, dim=dim)
    dim = _axis(plan, "src", src, dim, len(plan))
    if on_device.is_direct(src) and on_device.folds(reduce):
        return on_device.plan_scatter(plan, src.detach(), reduce, dim)

    def by_index(_: Any, src: Tensor) -> Tensor:
        if reduce in _FIRST_WINS:
            return _extreme(plan, src, reduce, dim)[0].contiguous()
        rows, size = _rows(plan, src), plan.size
        return own.scatter(
            src, rows, dim, None, size, reduce, "drop", True, None, None
        ).contiguous()

    if planned.supports(src):
        return planned.scatter(plan, None, src, dim, reduce, True, by_index)
    return by_index(None, src)


def reduce(
    plan: Plan, src: Tensor, reduces: Sequence[Any], dim: SupportsIndex = 0
) -> tuple[Tensor, ...]:
    """`Plan.reduce`. With derivatives, each reduction is a trip over the source of its own."""
    if _is_direct(src):
        return plan.reduce(_detached(src), reduces, dim=dim)
    return tuple(scatter(plan, src, name, dim) for name in reduces)


def _scatter_into(
    plan: Plan, src: Any, reduce: Any, dim: SupportsIndex, out: Any, include_self: bool
) -> Tensor:
    """`Plan.scatter` into `out`, in place."""
    if not isinstance(out, torch.Tensor):
        raise Problem(TypeError, _name(plan), "out", type(out).__name__).saying(
            f"out must be a torch tensor, as src is, not {type(out).__name__}",
            "derivatives cannot be followed into it (pass src.detach())",
        )
    if not isinstance(src, torch.Tensor):
        src = as_tensor(np.asarray(src))
    if _is_direct(src, out):
        target = out.detach()
        plan.scatter(_detached(src), reduce, dim=dim, out=target, include_self=include_self)
        return out
    dim = _axis(plan, "src", src, dim, len(plan))
    _expect_target(plan, src, dim, out)
    if on_device.is_direct(src, out) and on_device.folds(reduce):
        found = on_device.plan_scatter(plan, src.detach(), reduce, dim, out, include_self)
        return out.copy_(found)
    if reduce in _FIRST_WINS:
        return out.copy_(_extreme_into(plan, src, reduce, dim, out, include_self))
    index: Any = None
    if reduce == "assign":
        return strew_torch.scatter_(out, dim, index, src, plan=plan)
    exact = reduce.startswith("exact_")
    name = reduce.removeprefix("exact_")
    return strew_torch.scatter_reduce_(
        out, dim, index, src, name, include_self=include_self, plan=plan, exact=exact
    )


def _extreme(plan: Plan, src: Tensor, reduce: str, dim: int) -> tuple[Tensor, Tensor]:
    """Minima or maxima as in torch_scatter, and their positions; ``len(plan)`` for none."""
    rows = _rows(plan, src)
    # The row of dropped updates is one more at the end, which the results leave out.
    values, arg = scatter_extreme(src, rows, dim, plan.size + 1, reduce)
    return values.narrow(dim, 0, plan.size), arg.narrow(dim, 0, plan.size)


def _extreme_into(
    plan: Plan, src: Tensor, reduce: str, dim: int, out: Tensor, include_self: bool
) -> Tensor:
    """What `out` holds afterwards, as a new tensor."""
    before = out.clone()
    values, arg = _extreme(plan, src, reduce, dim)
    found = arg < len(plan)
    if include_self:
        # What `out` holds comes before all updates, so it wins against equal ones.
        better = values > before if reduce == "max" else values < before
        return torch.where(found & better, values, before)
    # A row of nothing but NaN holds what a reduction starts with.
    values = torch.where(found, values, _worst(src.dtype, reduce))
    touched = torch.zeros(plan.size + 1, dtype=torch.bool, device=src.device)
    touched[_rows(plan, src)] = True
    line = [-1 if axis == dim else 1 for axis in range(src.dim())]
    # The row of dropped updates is the last one here.
    return torch.where(touched[:-1].reshape(line), values, before)


def _worst(dtype: torch.dtype, reduce: str) -> Any:
    """The value that every other one wins against."""
    if dtype == torch.bool:
        return reduce == "min"
    if dtype.is_floating_point:
        return float("-inf" if reduce == "max" else "inf")
    info = torch.iinfo(dtype)
    return info.min if reduce == "max" else info.max


def _is_direct(*tensors: Tensor) -> bool:
    """Whether nothing in torch needs to know of a call with these."""
    return is_eager(tensors) and not has_derivative(tensors)


def _detached(tensor: Tensor) -> Tensor:
    """The tensor as the plan's own methods take it without coming back here."""
    return plain(tensor.detach())


def _rows(plan: Plan, beside: Tensor) -> Tensor:
    """The row of each update, on the device of a tensor; the plan's size for dropped ones."""
    rows = plan_as_index(plan, beside)
    if isinstance(rows, np.ndarray):
        rows = torch.as_tensor(np.where(rows < 0, plan.size, rows))
    return rows


def _axis(plan: Plan, argument: str, tensor: Tensor, dim: SupportsIndex, size: int) -> int:
    """The axis, not negative; raises what the plan's own methods raise."""
    axis, rank = operator.index(dim), max(tensor.dim(), 1)
    if not -rank <= axis < rank:
        raise Problem(IndexError, _name(plan), "dim", axis, limit=rank).expecting(
            "Dimension out of range "
            f"(expected to be in range of [{-rank}, {rank - 1}], but got {axis})"
        )
    axis %= rank
    shape = list(tensor.shape)
    if not shape or shape[axis] != size:
        raise Problem(ValueError, _name(plan), argument, shape).has_shape(
            f"its size along dimension {axis} must be {size}"
        )
    return axis


def _expect_target(plan: Plan, src: Tensor, dim: int, out: Tensor) -> None:
    """Refuses an `out` of another dtype or shape than the result's."""
    shape = list(src.shape)
    shape[dim] = plan.size
    if out.dtype != src.dtype:
        found, wanted = (str(one.dtype).removeprefix("torch.") for one in (out, src))
        raise Problem(TypeError, _name(plan), "out", found).has_dtype(
            f"it must be src's dtype, {wanted}"
        )
    if list(out.shape) != shape:
        raise Problem(ValueError, _name(plan), "out", list(out.shape)).has_shape(
            f"it must be {shape}"
        )


def _name(plan: Plan) -> str:
    """What errors of the plan begin with."""
    return "Plan" if plan.name is None else f"Plan {json.dumps(plan.name, ensure_ascii=False)}"
