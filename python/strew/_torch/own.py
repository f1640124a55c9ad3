"""`strew.scatter` and `strew.gather` of tensors that have derivatives.

They are composed of operators of `strew.torch`.
"""

from __future__ import annotations

import operator
from contextlib import nullcontext
from typing import TYPE_CHECKING

import torch

from .. import torch as strew_torch
from .._arrays.dispatch import batch_operators
from .._native.errors import Problem
from .calls import Call, define
from .registry import is_eager, is_on_device, is_plain_on_device, on_device
from .tensors import as_tensor

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

    from torch import Tensor

    from .calls import Batch, Batched


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
        raise Problem(ValueError, "scatter", "out").saying(
            "dim_size and fill_value cannot be combined with out"
        )
    given = src, index
    options = (out, dim_size, reduce, mode, include_self, fill_value, ignore_index, None)
    _check_on_device("strew.scatter", *given, dim, *options)
    src, index, dim = _normalized(src, index, dim)
    if out is not None:
        size = out.shape[dim]
    elif dim_size is not None:
        size = operator.index(dim_size)
    else:
        size = _size(index, ignore_index)
    drops = mode == "drop" or ignore_index is not None
    try:
        index = _index(index, size, mode, ignore_index).expand(src.shape)
    except IndexError:
        _refuse_on_device("strew.scatter", *given, dim, *options)
        raise
    shape = list(src.shape)
    shape[dim] = size + drops
    if out is None:
        identity = 1 if reduce == "prod" else 0
        into = src.new_full(shape, identity if fill_value is None else fill_value)
        include_self = False
    elif not drops:
        into = out
    else:
        shape[dim] = 1
        into = torch.cat([out, out.new_zeros(shape)], dim)
    with _trusting(index):
        if reduce == "assign":
            assign = strew_torch.scatter_ if into is out else strew_torch.scatter
            result = assign(into, dim, index, src)
        else:
            join = strew_torch.scatter_reduce_ if into is out else strew_torch.scatter_reduce
            result = join(into, dim, index, src, reduce, include_self=include_self)
    if drops:
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
    given = src, index
    _check_on_device("strew.gather", *given, dim, mode, fill_value, ignore_index)
    src, index, dim = _normalized(src, index, dim)
    try:
        index = _index(index, src.shape[dim], mode, ignore_index)
    except IndexError:
        _refuse_on_device("strew.gather", *given, dim, mode, fill_value, ignore_index)
        raise
    if mode == "drop" or ignore_index is not None:
        shape = list(src.shape)
        shape[dim] = 1
        fill = src.new_full(shape, 0 if fill_value is None else fill_value)
        src = torch.cat([src, fill], dim)
    with _trusting(index):
        return strew_torch.take_along_dim(src, index, dim)


def _normalized(src: Tensor, index: Tensor, dim: int) -> tuple[Tensor, Tensor, int]:
    """Tensors of the same rank, and an axis that is not negative."""
    src, index = as_tensor(src), as_tensor(index)
    if index.is_floating_point() or index.is_complex() or index.dtype == torch.bool:
        problem = Problem(TypeError, None, "index", str(index.dtype))
        expected = "it must be an integer type"
        raise problem.in_words(f"index has dtype {index.dtype}: {expected}", expected)
    dim = operator.index(dim)
    if not -src.dim() <= dim < src.dim():
        expected = f"it must be an axis of src, which has {src.dim()} dimensions"
        problem = Problem(IndexError, None, "dim", dim, limit=src.dim())
        raise problem.in_words(f"dim = {dim}: {expected}", expected)
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


def _size(index: Tensor, ignore_index: int | None) -> int:
    """One more than the largest index."""
    if batch_operators(index):
        raise Problem(ValueError, "scatter", "size").saying(
            "size is needed under torch.vmap with an index for each sample, because each sample "
            "would have its own number of cells"
        )
    signed, ignored = _signed(index, ignore_index)
    kept = signed if ignored is None else signed[~ignored]
    return int(kept.max()) + 1 if kept.numel() else 0


def _index(index: Tensor, size: int, mode: str, ignore_index: int | None) -> Tensor:
    """The index without the special cases of `mode`, by way of the dispatcher where needed."""
    if mode == "drop" and ignore_index is None and is_plain_on_device((index,)):
        groups = on_device().kept(index)
        if groups is not None and groups.size == size:
            # The rows of a plan. A copy would lose their order, which is kept.
            return index
    run = _resolve if is_eager((index,)) else _own_index
    return run(index, size, mode, ignore_index)


def _trusting(index: Tensor) -> AbstractContextManager[None]:
    """On a GPU, an index that `_resolve` has checked is not checked again: that would wait."""
    if is_plain_on_device((index,)):
        trusting: AbstractContextManager[None] = on_device().trusting()
        return trusting
    return nullcontext()


def _check_on_device(row: str, src: Any, index: Any, *others: Any) -> None:
    """Raises the engine's errors about types, shapes and numbers, of tensors on a GPU."""
    tensors = isinstance(src, torch.Tensor) and isinstance(index, torch.Tensor)
    if tensors and is_plain_on_device((src, index)):
        on_device().check(row, (src, index, *others))


def _refuse_on_device(row: str, src: Any, index: Any, *others: Any) -> None:
    """Raises the engine's error of a wrong index, if it is on a GPU."""
    if isinstance(index, torch.Tensor) and is_on_device(index):
        on_device().refuse(row, (src, index, *others))


def _resolve(index: Tensor, size: int, mode: str, ignore_index: int | None) -> Tensor:
    """An index without the special cases of `mode`.

    Where updates can be dropped, those that are point to `size`, one cell after the last.
    """
    if mode not in ("error", "wrap", "drop", "clip"):
        expected = "it must be error, wrap, drop or clip"
        problem = Problem(ValueError, None, "mode", mode)
        raise problem.in_words(f"mode = {mode!r}: {expected}", expected)
    given = index
    index, ignored = _signed(given, ignore_index)
    if mode == "wrap":
        index = torch.where(index < 0, index + size, index)
    elif mode == "clip" and size > 0:
        index = index.clamp(0, size - 1)
    outside = (index < 0) | (index >= size)
    dropped = outside if mode == "drop" else None
    if ignored is not None:
        dropped = ignored if dropped is None else ignored | dropped
    if dropped is not None:
        index = torch.where(dropped, size, index)
        outside = outside & ~dropped
    # After these two modes nothing is outside. To look for it would wait for a GPU.
    known = mode == "drop" or (mode == "clip" and size > 0)
    if not known and bool(outside.any()):
        at = [int(n) for n in outside.nonzero()[0]]
        # int() of a uint64 beyond int64 overflows.
        value = given[tuple(at)].item()
        problem = Problem(IndexError, None, "index", value, position=tuple(at), limit=size)
        said = f"index {value} is out of bounds with size {size}"
        raise problem.in_words(f"index{at} = {value}: {said}")
    return index


def _resolved(index: Tensor, *rules: Any) -> Tensor:
    found = _resolve(index, *rules)
    # The result of an operator must be a tensor of its own.
    return found.clone() if found is index else found


class OwnIndex(Call):
    schema = "own_index(Tensor index, SymInt size, str mode, int? ignore_index) -> Tensor"
    run = staticmethod(_resolved)

    def empty(self) -> Tensor:
        return torch.empty_like(self.index, dtype=torch.int64)

    def vmap(self, batch: Batch) -> Batched:
        return self.apply(_own_index), batch.dims["index"]


_own_index = define(OwnIndex)
