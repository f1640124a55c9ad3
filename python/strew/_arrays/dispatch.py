"""Which calls go through torch's dispatcher, and which are part of a function that JAX traces.

Autograd, `torch.compile`, `torch.jit.trace`, `torch.func` and tensor subclasses only see operators
that are registered with torch's dispatcher, and it finds what runs on a GPU. A call through it
takes some microseconds, so plain tensors of the CPU that none of these watches skip it: they are
taken as arrays, like NumPy's.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy

# Both need their library, and are above this module.
_OF_TORCH = "strew._torch"
_OF_JAX = "strew._jax"

#: Whether tensors of the CPU go the way of those on a GPU: `strew.gpu.interpreted` sets it.
interpreting = False


def above(name: str) -> Any:
    """A module that is above the one that asks for it: by name, when it is needed."""
    # To import takes a microsecond also where there is nothing to do.
    return sys.modules.get(name) or import_module(name)


def torch_operators(first: Any, second: Any = None, third: Any = None) -> Any:
    """`strew._torch` if a call with these arrays must go through torch's dispatcher, else None."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "Tensor"):
        return None
    tensor = torch.Tensor
    if not (isinstance(first, tensor) or isinstance(second, tensor) or isinstance(third, tensor)):
        return None
    if not torch.compiler.is_dynamo_compiling() and is_plain(torch, first, second, third):
        return None
    return above(_OF_TORCH)


def is_plain(torch: Any, *arrays: Any) -> bool:
    """Whether nothing in torch watches what is done with these arrays."""
    tensor = torch.Tensor
    for array in arrays:
        kind: Any = type(array)
        if kind is tensor:
            if array.requires_grad or (not array.is_cpu and has_kernels(array)):
                return False
        elif array is not None and isinstance(array, tensor):
            return False
    return (
        torch.autograd.forward_ad._current_level < 0
        and not torch._C._are_functorch_transforms_active()
        and torch._C._len_torch_dispatch_stack() == 0
        and not torch._C._is_tracing()
        and not interpreting
    )


def device_operators(array: Any) -> Any:
    """`strew._torch` if the array is a tensor that goes the way of those on a GPU, else None."""
    tensor: Any = getattr(sys.modules.get("torch"), "Tensor", ())
    if not isinstance(array, tensor):
        return None
    if not interpreting and (array.is_cpu or not has_kernels(array)):
        return None
    return above(_OF_TORCH)


def has_kernels(tensor: Any) -> bool:
    """Whether strew's operators run on the device of a tensor that is not the CPU's."""
    return tensor.device.type in ("cuda", "xpu")


def batch_operators(*values: Any) -> Any:
    """`strew._torch` if `torch.vmap` runs over one of these, or one in a tuple of these."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "Tensor"):
        return None
    if torch.compiler.is_dynamo_compiling() or not torch._C._are_functorch_transforms_active():
        return None
    if not any(map(is_of_batch, values)):
        return None
    return above(_OF_TORCH)


def without_transform(index: Any) -> Any:
    """An index as a NumPy array, where `torch.func` transforms a call. It has no derivative."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(index, getattr(torch, "Tensor", ())):
        return index
    if torch.compiler.is_dynamo_compiling() or not torch._C._are_functorch_transforms_active():
        return index
    if is_of_batch(index) or torch.is_floating_point(index):
        return index
    return numpy.from_dlpack(unwrapped(index))


def unwrapped(tensor: Any) -> Any:
    """What the transforms of `torch.func` have wrapped."""
    functorch = sys.modules["torch"]._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor


def is_of_batch(value: Any) -> bool:
    """Whether `torch.vmap` runs over a tensor, or one in a list or tuple of these."""
    if isinstance(value, (list, tuple)):
        return any(map(is_of_batch, value))
    torch = sys.modules["torch"]
    functorch = torch._C._functorch
    while isinstance(value, torch.Tensor) and functorch.is_functorch_wrapped_tensor(value):
        if functorch.is_batchedtensor(value):
            return True
        value = functorch.get_unwrapped(value)
    return False


def jax_operators(*values: Any) -> Any:
    """`strew._jax` if JAX traces one of these arrays, or one in a list of these, else None."""
    jax = sys.modules.get("jax")
    core = getattr(jax, "core", None)
    if core is None or not any(_is_traced(core.Tracer, value) for value in values):
        return None
    return above(_OF_JAX)


def of_jax() -> Any:
    """`strew._jax`, which needs jax."""
    return above(_OF_JAX)


def _is_traced(tracer: Any, value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(one, tracer) for one in value)
    return isinstance(value, tracer)
