"""A function of tensors, run for one sample of `torch.vmap` after the other.

Its derivatives are those of the function for one sample. They are functions of this kind again, so
that all transforms of `torch.func` can be nested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from torch import Tensor

    from .calls import Batched, Gradients, Tangents

    # Takes tensors, and returns a tuple of them.
    Function = Callable[..., tuple[Tensor, ...]]


def each(function: Callable[..., Any], *values: Any) -> Any:
    """What a function returns of values of which some are tensors of a batch, or hold such."""
    leaves, form = tree_flatten(values)
    places = [at for at, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    several: list[bool] = []

    def run(*tensors: Tensor) -> tuple[Tensor, ...]:
        given = list(leaves)
        for at, tensor in zip(places, tensors, strict=True):
            given[at] = tensor
        made = function(*tree_unflatten(given, form))
        several.append(isinstance(made, tuple))
        return made if isinstance(made, tuple) else (made,)

    found = _Samples.apply(run, *(leaves[at] for at in places))
    return found if several[-1] else found[0]


class _Samples(torch.autograd.Function):
    @staticmethod
    def forward(function: Function, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tuple(function(*tensors))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.function, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.known = [_is_inexact(one) for one in output]
        ctx.mark_non_differentiable(*(one for one in output if not _is_inexact(one)))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Gradients:
        tensors = ctx.saved_tensors
        wanted = [at for at, want in enumerate(ctx.needs_input_grad[1:]) if want]
        given = [one for one, known in zip(gradients, ctx.known, strict=True) if known]
        pull = _pullback(ctx.function, wanted, len(tensors))
        found: list[Tensor | None] = [None] * (1 + len(tensors))
        for at, gradient in zip(wanted, _Samples.apply(pull, *tensors, *given), strict=True):
            found[1 + at] = gradient
        return tuple(found)

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Tangents:
        tensors = ctx.saved_tensors
        moved = [at for at, tangent in enumerate(tangents) if tangent is not None]
        push = _pushforward(ctx.function, moved, len(tensors))
        given = iter(_Samples.apply(push, *tensors, *(tangents[at] for at in moved)))
        return tuple(next(given) if known else None for known in ctx.known)

    @staticmethod
    def vmap(info: Any, in_dims: Sequence[Any], function: Function, *tensors: Tensor) -> Batched:
        if info.batch_size == 0:
            raise ValueError("strew: torch.vmap over an index for each of no samples")
        made = [
            _Samples.apply(
                function,
                *(
                    tensor if dim is None else tensor.select(dim, sample)
                    for tensor, dim in zip(tensors, in_dims[1:], strict=True)
                ),
            )
            for sample in range(info.batch_size)
        ]
        return tuple(map(torch.stack, zip(*made, strict=True))), (0,) * len(made[0])


def _is_inexact(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _of(function: Function, chosen: Sequence[int], tensors: Sequence[Tensor]) -> Function:
    """The function of some of its tensors, and its results that have derivatives."""

    def run(*values: Tensor) -> tuple[Tensor, ...]:
        given = list(tensors)
        for at, value in zip(chosen, values, strict=True):
            given[at] = value
        return tuple(one for one in function(*given) if _is_inexact(one))

    return run


def _pullback(function: Function, wanted: Sequence[int], count: int) -> Function:
    """From the tensors and the gradients of the results, the gradients of the wanted tensors."""

    def run(*arguments: Tensor) -> tuple[Tensor, ...]:
        tensors, gradients = arguments[:count], arguments[count:]
        of_wanted = _of(function, wanted, tensors)
        _, pull = torch.func.vjp(of_wanted, *(tensors[at] for at in wanted))
        return tuple(pull(tuple(gradients)))

    return run


def _pushforward(function: Function, moved: Sequence[int], count: int) -> Function:
    """From the tensors and their tangents, the tangents of the results."""

    def run(*arguments: Tensor) -> tuple[Tensor, ...]:
        tensors, tangents = arguments[:count], arguments[count:]
        of_moved = _of(function, moved, tensors)
        primals = tuple(tensors[at] for at in moved)
        _, found = torch.func.jvp(of_moved, primals, tuple(tangents))
        return tuple(found)

    return run
