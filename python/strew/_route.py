"""Which calls go through torch's dispatcher: those that somebody else has to know of.

Autograd, `torch.compile`, `torch.func` and subclasses see the operators that are registered with
the dispatcher, which takes some microseconds; other tensors are taken as arrays, like NumPy's."""

import sys


def dispatcher(first, second=None, third=None):
    """strew's operators for torch if these arrays need them, else None."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "Tensor"):
        return None
    tensor = torch.Tensor
    if not (isinstance(first, tensor) or isinstance(second, tensor) or isinstance(third, tensor)):
        return None
    if not torch.compiler.is_dynamo_compiling() and is_plain(torch, first, second, third):
        return None
    from . import _torch

    return _torch


def is_plain(torch, *arrays):
    """Whether nobody has to know of what is done with these tensors."""
    tensor = torch.Tensor
    for array in arrays:
        if type(array) is tensor:
            if array.requires_grad:
                return False
        elif array is not None and isinstance(array, tensor):
            return False
    return (
        torch.autograd.forward_ad._current_level < 0
        and not torch._C._are_functorch_transforms_active()
        and torch._C._len_torch_dispatch_stack() == 0
    )
