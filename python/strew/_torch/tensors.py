"""Tensors as strew's kernels take them, and their shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from typing import Any

    from torch import Tensor

    from .registry import Shape


def as_tensor(array: Any) -> Tensor:
    """The array as a tensor; a shortcut for tensors."""
    return array if isinstance(array, torch.Tensor) else torch.as_tensor(array)


def plain(tensor: Tensor) -> Tensor:
    """The tensor as strew's operators take it: detached, with lazy conj and neg resolved."""
    if tensor.requires_grad:
        tensor = tensor.detach()
    if tensor.is_neg() or tensor.is_conj():
        tensor = tensor.resolve_neg().resolve_conj()
    return tensor


def plain_or_none(tensor: Tensor | None) -> Tensor | None:
    """`plain` of a tensor, None of None."""
    return None if tensor is None else plain(tensor)


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
