"""`strew.scatter` and `strew.gather` of tensors that have derivatives.

They are composed of operators of `strew.torch`.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import torch

from .. import torch as strew_torch

if TYPE_CHECKING:
    from typing import Any

    from torch import Tensor


def scatter(
    src: Tensor,
    index: Tensor,
    dim: int,
    out: Tensor | None,
    dim_size: int | None,
    reduce: Any,
    mode: str,
    include_self: bool,
    fill_value: complex | None,
    ignore_index: int | None,
) -> Tensor:
    """`strew.scatter`, where `reduce` is a reduction of `strew.torch` or "assign"."""
    if out is not None and (dim_size is not None or fill_value is not None):
        raise ValueError("scatter: dim_size and fill_value cannot be combined with out")
    src, given, dim = _normalized(src, index, dim)
    given = given.expand(src.shape)
    index, ignored = _signed(given, ignore_index)
    if out is not None:
        size = out.shape[dim]
    elif dim_size is not None:
        size = operator.index(dim_size)
    else:
        kept = index if ignored is None else index[~ignored]
        size = int(kept.max()) + 1 if kept.numel() else 0
    index, dropped = _resolve_mode(given, index, size, mode, ignored)
    shape = list(src.shape)
    shape[dim] = size + (dropped is not None)
    if out is None:
        identity = 1 if reduce == "prod" else 0
        into = src.new_full(shape, identity if fill_value is None else fill_value)
        include_self = False
    elif dropped is None:
        into = out
    else:
        shape[dim] = 1
        into = torch.cat([out, out.new_zeros(shape)], dim)
    if reduce == "assign":
        assign = strew_torch.scatter_ if into is out else strew_torch.scatter
        result = assign(into, dim, index, src)
    else:
        join = strew_torch.scatter_reduce_ if into is out else strew_torch.scatter_reduce
        result = join(into, dim, index, src, reduce, include_self=include_self)
    if dropped is not None:
        result = result.narrow(dim, 0, size)
    return result if out is None or into is out else out.copy_(result)


def gather(
    src: Tensor,
    index: Tensor,
    dim: int,
    mode: str,
    fill_value: complex | None,
    ignore_index: int | None,
) -> Tensor:
    """`strew.gather`."""
    src, given, dim = _normalized(src, index, dim)
    index, ignored = _signed(given, ignore_index)
    index, dropped = _resolve_mode(given, index, src.shape[dim], mode, ignored)
    if dropped is not None:
        shape = list(src.shape)
        shape[dim] = 1
        fill = src.new_full(shape, 0 if fill_value is None else fill_value)
        src = torch.cat([src, fill], dim)
    return strew_torch.take_along_dim(src, index, dim)


def _normalized(src: Tensor, index: Tensor, dim: int) -> tuple[Tensor, Tensor, int]:
    """Tensors of the same rank, and an axis that is not negative."""
    src, index = torch.as_tensor(src), torch.as_tensor(index)
    if index.is_floating_point() or index.is_complex() or index.dtype == torch.bool:
        raise TypeError(f"index has dtype {index.dtype}: it must be an integer type")
    dim = operator.index(dim)
    if not -src.dim() <= dim < src.dim():
        raise IndexError(
            f"dim = {dim}: it must be an axis of src, which has {src.dim()} dimensions"
        )
    dim %= src.dim()
    if index.dim() == 1:
        index = index.reshape([-1 if axis == dim else 1 for axis in range(src.dim())])
    return src, index, dim


def _signed(index: Tensor, ignore_index: int | None) -> tuple[Tensor, Tensor | None]:
    """The index as int64, and which of its elements are ignored.

    What int64 cannot hold becomes the largest int64, which no axis is long enough for.
    """
    unsigned = index.dtype == torch.uint64
    signed = index.view(torch.int64) if unsigned else index.to(torch.int64)
    ignored = None
    if ignore_index is not None:
        wanted = operator.index(ignore_index)
        low, high = (0, 2**64) if unsigned else (-(2**63), 2**63)
        # Bits of values beyond int64 are those of negative ones.
        bits = wanted - 2**64 if unsigned and wanted >= 2**63 else wanted
        ignored = (
            signed == bits if low <= wanted < high else torch.zeros_like(signed, dtype=torch.bool)
        )
    if unsigned:
        signed = torch.where(signed < 0, 2**63 - 1, signed)
    return signed, ignored


def _resolve_mode(
    given: Tensor, index: Tensor, size: int, mode: str, ignored: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """An index without the special cases of `mode`, and which updates are dropped.

    Dropped updates point to `size`, one cell after the last. The second result is None if no
    update can be dropped.
    """
    if mode not in ("error", "wrap", "drop", "clip"):
        raise ValueError(f"mode = {mode!r}: it must be error, wrap, drop or clip")
    dropped = ignored
    if mode == "wrap":
        index = torch.where(index < 0, index + size, index)
    elif mode == "clip" and size > 0:
        index = index.clamp(0, size - 1)
    elif mode == "drop":
        outside = (index < 0) | (index >= size)
        dropped = outside if ignored is None else outside | ignored
    inside = (index >= 0) & (index < size)
    if dropped is not None:
        index = torch.where(dropped, size, index)
        inside = inside | dropped
    if not torch.compiler.is_compiling() and not bool(inside.all()):
        at = [int(n) for n in (~inside).nonzero()[0]]
        # int() of a uint64 beyond int64 overflows.
        value = given[tuple(at)].item()
        raise IndexError(f"index{at} = {value}: index {value} is out of bounds with size {size}")
    return index, dropped
