"""Tensors as strew's kernels take them, and their shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from .registry import may_have_derivative

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from torch import Tensor

    Shape: TypeAlias = Sequence[int]


def as_tensor(array: Any) -> Tensor:
    """The array as a tensor; a shortcut for tensors.

    Memory of another library is copied where a derivative may be wanted: what backward needs must
    be what forward saw, and torch's version counters do not see what others write.
    """
    if isinstance(array, torch.Tensor):
        return array
    if isinstance(array, _WITHOUT_MEMORY):
        return torch.as_tensor(array)
    copies = may_have_derivative()
    if torch.compiler.is_dynamo_compiling():
        tensor = torch.as_tensor(array)
        return torch.ops.strew.snapshot(tensor) if copies else tensor
    values = np.array(array) if copies else np.asarray(array)
    # Torch warns of memory that must not be written to.
    return torch.as_tensor(values if values.flags.writeable else np.array(values))


# Of these torch makes memory of its own.
_WITHOUT_MEMORY = (bool, int, float, complex, list, tuple)


def plain(tensor: Tensor) -> Tensor:
    """The tensor as strew's operators take it: detached, with lazy conj and neg resolved."""
    if tensor.requires_grad:
        tensor = tensor.detach()
    if tensor.is_neg() or tensor.is_conj():
        tensor = tensor.resolve_neg().resolve_conj()
    return tensor


def copied(tensor: Tensor | None) -> Tensor | None:
    """A contiguous copy of a tensor, None of None."""
    return None if tensor is None else plain(tensor).clone(memory_format=torch.contiguous_format)


def batched(tensor: Tensor, dim: int | None, size: int) -> Tensor:
    """The tensor with the axis that `torch.func.vmap` goes along in front."""
    return tensor.expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)


def zeros_if_none(tensor: Tensor | None, like: Tensor) -> Tensor:
    """A gradient or tangent, or zeros of the shape of `like` for None."""
    return torch.zeros_like(like) if tensor is None else tensor


def at_least_1d(tensor: Tensor) -> Tensor:
    return tensor.reshape(at_least_1d_shape(tensor.shape))


def at_least_1d_shape(shape: Shape) -> Shape:
    return shape if len(shape) > 0 else (1,)


def padded_to(tensor: Tensor, shape: Shape) -> Tensor:
    """The tensor as the leading corner of zeros of that shape."""
    missing = [wanted - size for wanted, size in zip(shape, tensor.shape, strict=True)]
    if not any(missing):
        return tensor
    pads = [pad for extra in reversed(missing) for pad in (0, extra)]
    return torch.nn.functional.pad(tensor, pads)
