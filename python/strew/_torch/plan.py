"""A `strew.Plan` under autograd: the way back goes by the plan, too.

That is the first derivative. Where somebody wants another one, or goes through a transform, the
plan's rows become an index for operators of the dispatcher, which have all derivatives."""

# torch is not there where the package is checked.
# mypy: ignore-errors

import torch
from torch.autograd import forward_ad

from .._strew import _plan_scatter_vjp
from .registry import is_eager
from .scatter_reduce import plain

#: What has a gradient that does not depend on values.
_LINEAR = ("sum", "mean", "assign")


def follows(*tensors):
    """Whether a call with these may go by a plan, both ways: plain tensors, all of them."""
    known = all(isinstance(one, torch.Tensor) for one in tensors)
    return known and is_eager(tensors) and forward_ad._current_level < 0


def scatter(plan, input, src, dim, join, include_self, again, in_place=False):
    """`Plan.scatter` with a copy of `input`, or with a new result where that is None.

    `again` makes the same of `input` and `src` with all derivatives.
    """
    if not in_place:
        return _Scatter.apply(input, src, plan, dim, join, include_self, again)
    # What is kept for the gradient must stay as it is.
    before = input if join in _LINEAR else input.clone()
    return input.copy_(_Scatter.apply(before, src, plan, dim, join, include_self, again))


def gather(plan, src, dim, again):
    """`Plan.gather`; `again` makes the same of `src` with all derivatives."""
    return _Gather.apply(src, plan, dim, again)


class _Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, src, plan, dim, join, include_self, again):
        ctx.call = plan, dim, join, include_self, again
        ctx.src_shape, ctx.into = src.shape, input is not None
        options = {}
        if input is not None:
            out = plain(input).clone(memory_format=torch.contiguous_format)
            options = {"out": out, "include_self": include_self}
        result = plan.scatter(plain(src), join, dim=dim, **options)
        if join not in _LINEAR:
            ctx.save_for_backward(input, src, result)
        return result

    @staticmethod
    def backward(ctx, grad):
        plan, dim, join, include_self, again = ctx.call
        if join in _LINEAR:
            # Values do not count, only shapes and the type.
            input, src, result = _any(grad, grad.shape), _any(grad, ctx.src_shape), grad
        else:
            input, src, result = ctx.saved_tensors
        input = input if ctx.into else None
        wanted = ctx.needs_input_grad[:2]
        if torch.is_grad_enabled():
            found = _with_graph(again, (input, src), wanted, grad)
        else:
            same = join == "sum" and include_self
            own = None if input is None or same else plain(input)
            of_input, of_src = _plan_scatter_vjp(
                plan, plain(grad), own, plain(src), plain(result), dim, join, include_self
            )
            found = grad if same and ctx.into else of_input, of_src
        return *(one if want else None for one, want in zip(found, wanted, strict=True)), *(
            None,
        ) * 5


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, src, plan, dim, again):
        ctx.call, ctx.shape = (plan, dim, again), src.shape
        return plan.gather(plain(src), dim=dim)

    @staticmethod
    def backward(ctx, grad):
        plan, dim, again = ctx.call
        if torch.is_grad_enabled():
            (found,) = _with_graph(again, (_any(grad, ctx.shape),), (True,), grad)
        else:
            found = plan.scatter(plain(grad), "sum", dim=dim)
        return found, None, None, None


def _any(like, shape):
    """A tensor whose values do not count."""
    return like.new_zeros(()).expand(shape)


def _with_graph(again, tensors, wanted, grad):
    """Gradients with derivatives of their own."""
    tensors = [
        one.requires_grad_() if want and not one.requires_grad else one
        for one, want in zip(tensors, wanted, strict=True)
    ]
    inputs = [one for one, want in zip(tensors, wanted, strict=True) if want]
    found = iter(torch.autograd.grad(again(*tensors), inputs, grad, create_graph=True))
    return [next(found) if want else None for want in wanted]
