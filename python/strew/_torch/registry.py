"""The library of strew's operators in torch, and what torch does with a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.autograd import forward_ad

from .._arrays import dispatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from torch import Tensor

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
for _key in ("CPU", "CUDA", "XPU"):
    library.impl("snapshot", _copied, _key)
torch.library.register_fake(
    "strew::snapshot", lambda values: values.new_empty(values.shape), lib=library
)


def is_eager(arguments: Sequence[Any]) -> bool:
    """Whether these are plain tensors of the CPU, in a call that nothing but autograd watches."""
    if _is_compiling() or _are_transforms_active() or dispatch.interpreting:
        return False
    if _len_dispatch_stack() > 0 or _is_tracing():
        return False
    return _are_plain(arguments)


# To look these up takes as long as to call them.
_is_compiling = torch.compiler.is_dynamo_compiling
_are_transforms_active = torch._C._are_functorch_transforms_active
_len_dispatch_stack = torch._C._len_torch_dispatch_stack
_is_tracing = torch._C._is_tracing


def _are_plain(arguments: Sequence[Any]) -> bool:
    # One loop, and exact types first: a call of a function for each argument, and `isinstance` with
    # a class of torch, take as long as a small operator.
    for argument in arguments:
        kind = type(argument)
        if kind is _TENSOR or kind is _PARAMETER:
            # The function that `torch.func.vjp` returns is called after its transform has ended.
            if (
                (not argument.is_cpu and dispatch.has_kernels(argument))
                or _is_batched(argument)
                or is_functorch_wrapped_tensor(argument)
            ):
                return False
        elif kind in _NUMBERS:
            continue
        elif isinstance(argument, torch.Tensor) or (kind is list and not _are_plain(argument)):
            return False
    return True


_NUMBERS = frozenset({bool, float, int, str, torch.Size, type(None)})
_TENSOR, _PARAMETER = torch.Tensor, torch.nn.Parameter

# What `torch.autograd.grad(is_grads_batched=True)` makes of gradients: their type is plain.
_is_batched = torch._C._functorch.is_legacy_batchedtensor


def has_derivative(arguments: Sequence[Any]) -> bool:
    """Whether a derivative with respect to one of these is needed."""
    if torch.compiler.is_dynamo_compiling():
        # torch.compile can trace tensors, but not the function below.
        tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
        return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
    return has_eager_derivative(arguments)


def has_eager_derivative(arguments: Sequence[Any]) -> bool:
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


def is_plain_on_device(tensors: Sequence[Tensor]) -> bool:
    """Whether these are plain tensors of a GPU, in a call that nothing but autograd watches."""
    if _is_compiling() or _are_transforms_active():
        return False
    if _len_dispatch_stack() > 0 or _is_tracing() or not all(map(is_on_device, tensors)):
        return False
    return not any(map(_is_batched, tensors))


def is_on_device(tensor: Tensor) -> bool:
    """Whether what runs on a GPU takes the tensor."""
    return not tensor.is_cpu or dispatch.interpreting


def on_device() -> Any:
    """`strew._gpu.operators`, which takes a second to import."""
    from .._gpu import operators

    return operators


def by_device(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    """A function or operator of the engine, or what stands for it on a GPU.

    The first argument is a tensor.
    """

    def call(*arguments: Any) -> Any:
        if not is_on_device(arguments[0]):
            return run(*arguments)
        operators = on_device()
        found = operators.row if "." in name else operators.function
        return found(name)(*arguments)

    return call
