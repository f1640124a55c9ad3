"""Shapes of tensors that an operator takes apart and puts together again."""

# torch is not there where the package is checked.
# mypy: ignore-errors

import torch


def at_least_1d(tensor):
    return tensor.reshape(at_least_1d_shape(tensor.shape))


def at_least_1d_shape(shape):
    return shape if len(shape) > 0 else (1,)


def grown(tensor, shape):
    """The tensor as the leading corner of zeros of that shape."""
    missing = [wanted - size for wanted, size in zip(shape, tensor.shape, strict=True)]
    if not any(missing):
        return tensor
    pads = [pad for extra in reversed(missing) for pad in (0, extra)]
    return torch.nn.functional.pad(tensor, pads)
