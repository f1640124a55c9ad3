"""A `strew.Plan` under autograd: the backward pass uses the plan, too.

This holds for the first derivative. For others, under a transform, and for a batch of gradients,
the plan's rows become an index for operators of the dispatcher, which have all derivatives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.autograd import forward_ad

from .._strew import _plan_scatter_vjp
from .registry import is_eager, is_plain_on_device
from .tensors import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from torch import Tensor

    from .._strew import Plan
    from .calls import Gradients
    from .tensors import Shape

#: Reductions whose gradient does not depend on values.
_LINEAR = ("sum", "mean", "exact_sum", "exact_mean", "assign")


def supports(*tensors: Any) -> bool:
    """Whether work on these can go by the plan: all must be plain tensors, without tangents."""
    known = all(isinstance(one, torch.Tensor) for one in tensors)
    return known and is_eager(tensors) and forward_ad._current_level < 0


def supports_gather(src: Any) -> bool:
    """The same of a gather, which goes by the plan on a GPU, too."""
    on_device = isinstance(src, torch.Tensor) and is_plain_on_device((src,))
    return supports(src) or (on_device and forward_ad._current_level < 0)


def scatter(
    plan: Plan,
    input: Any,
    src: Tensor,
    dim: int,
    reduce: Any,
    include_self: bool,
    by_index: Callable[..., Tensor],
    in_place: bool = False,
) -> Tensor:
    """`Plan.scatter` into a copy of `input`, or into a new result if that is None.

    `by_index` computes the same from `input` and `src`, with all derivatives.
    """
    if not in_place:
        return _Scatter.apply(input, src, plan, dim, reduce, include_self, by_index)
    # The gradient needs `input` as it was.
    before = input if reduce in _LINEAR else input.clone()
    return input.copy_(_Scatter.apply(before, src, plan, dim, reduce, include_self, by_index))


def gather(plan: Plan, src: Tensor, dim: int, by_index: Callable[..., Tensor]) -> Tensor:
    """`Plan.gather`; `by_index` computes the same from `src`, with all derivatives."""
    return _Gather.apply(src, plan, dim, by_index)


class _Scatter(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        input: Any,
        src: Tensor,
        plan: Plan,
        dim: int,
        reduce: Any,
        include_self: bool,
        by_index: Callable[..., Tensor],
    ) -> Tensor:
        ctx.call = plan, dim, reduce, include_self, by_index
        ctx.src_shape, ctx.into = src.shape, input is not None
        options = {}
        if input is not None:
            out = plain(input).clone(memory_format=torch.contiguous_format)
            options = {"out": out, "include_self": include_self}
        result = plan.scatter(plain(src), reduce, dim=dim, **options)
        if reduce not in _LINEAR:
            ctx.save_for_backward(input, src, result)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Gradients:
        plan, dim, reduce, include_self, by_index = ctx.call
        if reduce in _LINEAR:
            # Only shapes and dtypes matter, not values.
            input, src, result = (
                _placeholder(grad, grad.shape),
                _placeholder(grad, ctx.src_shape),
                grad,
            )
        else:
            input, src, result = ctx.saved_tensors
        input = input if ctx.into else None
        wanted = ctx.needs_input_grad[:2]
        if torch.is_grad_enabled() or not supports(grad):
            of_input, of_src = _with_graph(by_index, (input, src), wanted, grad)
        else:
            # Then the gradient of `input` is the result's.
            same = reduce in ("sum", "exact_sum") and include_self
            own = None if input is None or same else plain(input)
            of_input, of_src = _plan_scatter_vjp(
                plan, plain(grad), own, plain(src), plain(result), dim, reduce, include_self
            )
            of_input = grad if same and ctx.into else of_input
        to_input, to_src = wanted
        none = (None,) * 5
        return (of_input if to_input else None, of_src if to_src else None, *none)


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, src: Tensor, plan: Plan, dim: int, by_index: Callable[..., Tensor]
    ) -> Tensor:
        ctx.call, ctx.shape = (plan, dim, by_index), src.shape
        return plan.gather(plain(src), dim=dim)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Gradients:
        plan, dim, by_index = ctx.call
        if torch.is_grad_enabled() or not supports_gather(grad):
            (found,) = _with_graph(by_index, (_placeholder(grad, ctx.shape),), (True,), grad)
        else:
            found = plan.scatter(plain(grad), "sum", dim=dim)
        return found, None, None, None


def _placeholder(like: Tensor, shape: Shape) -> Tensor:
    """A tensor whose values do not matter; never one of a batch of gradients, as `like` can be."""
    return torch.zeros((), dtype=like.dtype, device=like.device).expand(shape)


def _with_graph(
    by_index: Callable[..., Tensor], tensors: Sequence[Tensor], wanted: Sequence[bool], grad: Tensor
) -> list[Tensor | None]:
    """Gradients by the index, which have derivatives themselves where these are recorded."""
    create_graph = torch.is_grad_enabled()
    tensors = [
        one.requires_grad_() if want and not one.requires_grad else one
        for one, want in zip(tensors, wanted, strict=True)
    ]
    inputs = [one for one, want in zip(tensors, wanted, strict=True) if want]
    with torch.enable_grad():
        result = by_index(*tensors)
    found = iter(torch.autograd.grad(result, inputs, grad, create_graph=create_graph))
    return [next(found) if want else None for want in wanted]
