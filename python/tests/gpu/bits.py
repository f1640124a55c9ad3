"""Results compared bit for bit, and random tensors of values that tell wrong orders apart."""

import os
from contextlib import nullcontext

import strew.gpu
import torch

#: Whether the tests run on a card, and not by the interpreter.
ON_CARD = os.environ.get("STREW_GPU") == "cuda"

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COMPLEX = [torch.complex64, torch.complex128]
UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, *UNSIGNED]
DTYPES = [*FLOATS, *COMPLEX, *INTEGERS, torch.bool]

_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def drawn(shape, dtype, seed=0):
    """Values of all sizes, with NaN, infinities and zeros of both signs."""
    made = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.rand(shape, generator=made) < 0.5
    if dtype.is_complex:
        parts = [drawn(shape, dtype.to_real(), seed + k) for k in (0, 1)]
        return torch.complex(*parts)
    if not dtype.is_floating_point:
        wide = torch.randint(-(2**62), 2**62, shape, generator=made)
        few = torch.randint(0, 3, shape, generator=made)
        return torch.where(few > 0, wide >> 3, few).to(dtype)
    sizes = torch.randint(-3, 4, shape, generator=made)
    values = (torch.randn(shape, generator=made, dtype=torch.float64) * 10.0**sizes).to(dtype)
    kind = torch.randint(0, 40, shape, generator=made)
    for k, special in enumerate([-0.0, 0.0, -0.0, torch.nan, torch.inf, -torch.inf]):
        values = torch.where(kind == k, torch.tensor(special, dtype=dtype), values)
    return values


def index_of(shape, size, dtype=torch.int64, seed=0):
    """Numbers of cells, of which one is hot, one is empty, and some come twice."""
    made = torch.Generator().manual_seed(seed)
    index = torch.randint(0, size, shape, generator=made)
    hot = torch.rand(shape, generator=made) < 0.3
    index = torch.where(hot, 1 % size, index)
    return torch.where(index == size - 2, 0, index).to(dtype)


def same_bits(found, expected):
    """Whether two results are equal, NaN in the same places and all other bits."""
    if isinstance(expected, (tuple, list)):
        return len(found) == len(expected) and all(map(same_bits, found, expected))
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if found.is_complex():
        found, expected = torch.view_as_real(found), torch.view_as_real(expected)
    if found.is_floating_point():
        nan = found.isnan()
        if not torch.equal(nan, expected.isnan()):
            return False
        found, expected = found.masked_fill(nan, 0), expected.masked_fill(nan, 0)
    integers = _INTEGERS[found.dtype.itemsize]
    return torch.equal(found.contiguous().view(integers), expected.contiguous().view(integers))


def check(call, *arguments):
    """Checks that a call has the same bits, or the same error, on both ways."""
    expected, error = outcome(call, *arguments)
    with on_gpu():
        found, other = outcome(call, *map(moved, arguments))
    found = [one.cpu() for one in found] if isinstance(found, (tuple, list)) else found
    found = found.cpu() if isinstance(found, torch.Tensor) else found
    assert other == error
    assert error is not None or same_bits(found, expected), (found, expected)
    return expected


def on_gpu():
    """Lets tensors go the way of a GPU."""
    return nullcontext() if ON_CARD else strew.gpu.interpreted()


def moved(argument):
    """An argument where the GPU's way takes it, with the same strides."""
    if not ON_CARD or not isinstance(argument, torch.Tensor):
        return argument
    flat = torch.empty(0, dtype=argument.dtype).set_(argument.untyped_storage())
    of = (argument.shape, argument.stride(), argument.storage_offset())
    return flat.cuda().as_strided(*of)


def outcome(call, *arguments):
    """The result of a call, or its error."""
    try:
        return call(*(clone(one) for one in arguments)), None
    except Exception as error:
        fields = ("operator", "argument", "position", "value", "limit", "expected")
        return None, (type(error), str(error), *(getattr(error, name, None) for name in fields))


def clone(argument):
    """An argument that a call may write to, of the same strides."""
    if isinstance(argument, torch.Tensor) and 0 not in argument.stride():
        return argument.clone(memory_format=torch.preserve_format)
    return argument
