"""Operators of torch's dispatcher: a kernel, the shapes of its results, and its derivatives.

``torch.library.register_autograd`` has no forward mode: a dual number that goes through an operator
registered with it silently loses its tangent. The operators registered here have both modes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch._C._functorch import is_functorch_wrapped_tensor
from torch._functorch.autograd_function import enable_single_level_autograd_function
from torch.autograd import forward_ad

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from torch import Tensor

    # What `Derivatives.tensors` gave, as `backward` and `forward` get it.
    Saved: TypeAlias = Sequence[Any]
    # A gradient for each argument of the operator, and a tangent for each result.
    Gradients: TypeAlias = tuple[Tensor | None, ...]
    Tangents: TypeAlias = Tensor | tuple[Tensor | None, ...]
    # One of these: a tensor, or None for zeros.
    Tangent: TypeAlias = Any
    # What a rule of `torch.func.vmap` returns: results, and the batch axis of each.
    Batched: TypeAlias = tuple[Any, Any]
    Shape: TypeAlias = Sequence[int]
    # A class of derivatives, or a function that chooses one by the arguments.
    DerivativesMaker: TypeAlias = Any

if not hasattr(torch.library, "register_vmap"):
    raise ImportError(
        f"strew's derivatives need torch 2.5 or newer, and this is {torch.__version__}: "
        "pass tensor.detach(), or install a newer one"
    )

library = torch.library.Library("strew", "DEF")


def _copied(values: Tensor) -> Tensor:
    return values.clone(memory_format=torch.contiguous_format)


# An operator of its own: a compiled backward pass may repeat a clone, from memory that has changed.
library.define("snapshot(Tensor values) -> Tensor")
library.impl("snapshot", _copied, "CPU")
torch.library.register_fake(
    "strew::snapshot", lambda values: values.new_empty(values.shape), lib=library
)


class Derivatives:
    """The derivatives of one call of an operator.

    It is made of the operator's arguments, and keeps those that are not tensors. `tensors` returns
    the tensors to save. `backward` gets these and the gradients of the results, and returns a
    gradient for each argument. `forward` gets these and the tangents of the arguments, and returns
    one for each result. None stands for zero. Both are composed of operators that have derivatives
    themselves.
    """

    #: The results that have no derivative, by number.
    constants: tuple[int, ...] = ()

    #: For each argument, whether its gradient is needed; set before `backward`.
    wanted: Sequence[bool] = ()

    def __init__(self, *arguments: Any) -> None:
        raise NotImplementedError

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        raise NotImplementedError

    def backward(self, saved: Saved, *gradients: Any) -> Gradients:
        raise NotImplementedError

    def forward(self, saved: Saved, *tangents: Any) -> Tangents:
        raise NotImplementedError


class Registered:
    """An operator of the dispatcher; a call that only autograd watches goes past the dispatcher."""

    def __init__(
        self, overload: Any, kernel: Callable[..., Any], derivatives: DerivativesMaker | None
    ) -> None:
        self.overload = overload
        self._kernel = kernel
        self._function = None if derivatives is None else _function(kernel, derivatives)

    def __call__(self, *arguments: Any) -> Any:
        if not is_eager(arguments):
            return self.overload(*arguments)
        if self._function is not None and _has_eager_derivative(arguments):
            return self._function.apply(*arguments)
        return self._kernel(*arguments)


def is_eager(arguments: Sequence[Any]) -> bool:
    """Whether these are plain tensors, in a call that nothing but autograd watches."""
    if torch.compiler.is_dynamo_compiling() or torch._C._are_functorch_transforms_active():
        return False
    if torch._C._len_torch_dispatch_stack() > 0 or torch._C._is_tracing():
        return False
    return _are_plain(arguments)


def _are_plain(arguments: Sequence[Any]) -> bool:
    # One loop, and numbers first: a call of a function for each argument, and `isinstance` with a
    # class of torch, take as long as a small operator.
    for argument in arguments:
        kind = type(argument)
        if kind in _NUMBERS:
            continue
        if kind in _PLAIN:
            # The function that `torch.func.vjp` returns is called after its transform has ended.
            if _is_batched(argument) or is_functorch_wrapped_tensor(argument):
                return False
        elif isinstance(argument, torch.Tensor) or (kind is list and not _are_plain(argument)):
            return False
    return True


_NUMBERS = frozenset({bool, float, int, str, type(None)})
_PLAIN = frozenset({torch.Tensor, torch.nn.Parameter})

# What `torch.autograd.grad(is_grads_batched=True)` makes of gradients: their type is plain.
_is_batched = torch._C._functorch.is_legacy_batchedtensor


def has_derivative(arguments: Sequence[Any]) -> bool:
    """Whether a derivative with respect to one of these is needed."""
    if torch.compiler.is_dynamo_compiling():
        # torch.compile can trace tensors, but not the function below.
        tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
        return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
    return _has_eager_derivative(arguments)


def _has_eager_derivative(arguments: Sequence[Any]) -> bool:
    """The same where nothing is compiled."""
    if forward_ad._current_level >= 0:
        return True
    return torch.is_grad_enabled() and _any_requires_grad(*arguments)


def _one_requires_grad(*arguments: Any) -> bool:
    return any(
        _one_requires_grad(*argument)
        if isinstance(argument, (list, tuple))
        else isinstance(argument, torch.Tensor) and argument.requires_grad
        for argument in arguments
    )


# Older releases of torch do not have it.
_any_requires_grad = getattr(torch._C, "_any_requires_grad", _one_requires_grad)


def may_have_derivative() -> bool:
    """Whether a derivative can be recorded now."""
    if torch.is_grad_enabled():
        return True
    if torch.compiler.is_dynamo_compiling():
        return False
    return forward_ad._current_level >= 0 or torch._C._are_functorch_transforms_active()


def is_transformed() -> bool:
    """Whether `torch.func` transforms this call: it has no rule for operators without results."""
    return not torch.compiler.is_dynamo_compiling() and torch._C._are_functorch_transforms_active()


def expect_one_forward_mode(name: str) -> None:
    """Raises under nested forward modes: saved tensors lack the tangent of the outer one."""
    stack = torch._C._functorch.get_interpreter_stack() or ()
    if sum(level.key() == torch._C._functorch.TransformType.Jvp for level in stack) > 1:
        raise NotImplementedError(
            f"{name}: forward mode cannot be nested (jacfwd of jacfwd): "
            "take torch.func.hessian, or jacrev for either"
        )


def define(
    schema: str,
    kernel: Callable[..., Any],
    fake: Callable[..., Any],
    derivatives: DerivativesMaker | None = None,
    vmap: Callable[..., Any] | None = None,
) -> Registered:
    """Registers an operator; returns it."""
    name = schema.partition("(")[0]
    library.define(schema)
    library.impl(name, kernel, "CPU")
    torch.library.register_fake(f"strew::{name}", fake, lib=library)
    overload = getattr(torch.ops.strew, name).default
    if derivatives is not None:
        library.impl(name, _autograd(overload, derivatives), "Autograd")
    if vmap is not None:
        torch.library.register_vmap(f"strew::{name}", vmap, lib=library)
    return Registered(overload, kernel, derivatives)


def batched(tensor: Tensor, dim: int | None, size: int) -> Tensor:
    """The tensor with the axis that `torch.func.vmap` goes along in front."""
    return tensor.expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)


def _function(run: Callable[..., Any], derivatives: DerivativesMaker) -> Any:
    # Not `torch.autograd.Function`, which would go through all of `torch.func`'s transforms again:
    # the dispatcher brings a call to the level of one of them, and calls past it have none.
    class Function(torch.autograd.function._SingleLevelFunction):
        @staticmethod
        def forward(ctx: Any, *arguments: Any) -> Any:
            output = run(*arguments)
            results = output if isinstance(output, tuple) else (output,)
            ctx.set_materialize_grads(False)
            ctx.count = len(arguments)
            ctx.derivatives = derivatives(*arguments)
            kept = ctx.derivatives.tensors(arguments, results)
            ctx.save_for_backward(*kept)
            if forward_ad._current_level >= 0:
                ctx.save_for_forward(*kept)
            if ctx.derivatives.constants:
                ctx.mark_non_differentiable(*[results[k] for k in ctx.derivatives.constants])
            return output

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Gradients:
            if gradients[0] is None and all(gradient is None for gradient in gradients):
                return (None,) * ctx.count
            ctx.derivatives.wanted = ctx.needs_input_grad
            return ctx.derivatives.backward(ctx.saved_tensors, *gradients)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Tangents:
            return ctx.derivatives.forward(ctx.saved_tensors, *tangents)

    return Function


def _autograd(overload: Any, derivatives: DerivativesMaker) -> Callable[..., Any]:
    """The dispatcher's kernel for autograd."""

    def below(*arguments: Any) -> Any:
        with torch._C._AutoDispatchBelowAutograd():
            if not torch._C._are_functorch_transforms_active():
                return overload(*arguments)
            # The function below has switched off what the outer transforms need.
            with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
                return overload(*arguments)

    function = _function(below, derivatives)

    def kernel(*arguments: Any) -> Any:
        if not has_derivative(arguments):
            return below(*arguments)
        with enable_single_level_autograd_function():
            return function.apply(*arguments)

    return kernel
