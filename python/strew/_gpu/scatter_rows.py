"""torch_scatter's operators on a device: a form for each row of `strew.torch_scatter`.

A form returns new tensors, also where `out` is given: its values take part, and it is not written
to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .along import Along
from .arithmetic import exp, log, signed, sqrt, widened
from .fold import Reduction
from .torch_rows import fold_runs

if TYPE_CHECKING:
    from typing import Any

    from torch import Tensor

    from .run import Form, Run


def _expanded(index: Tensor, shape: torch.Size, dim: int) -> Tensor:
    """The index in `src`'s shape: a vector lies along `dim`, others get axes of 1 on the right."""
    if index.dim() == 1:
        index = index.reshape([-1 if axis == dim else 1 for axis in range(len(shape))])
    else:
        index = index.reshape(index.shape + (1,) * (len(shape) - index.dim()))
    return index.expand(shape)


def _groups(run: Run) -> Along:
    """The groups of `src` along `dim`, whose index is checked."""
    src = run.src
    dim = run.dim % src.dim()
    index = _expanded(run.index, src.shape, dim)
    shape = list(src.shape)
    if run.out is not None:
        shape = list(run.out.shape)
    elif run.dim_size is not None:
        shape[dim] = run.dim_size
    else:
        shape[dim] = _size(run.index) if index.numel() else 0
    if index.numel():
        run.expect_inside(run.index, shape[dim])
    return Along(shape, dim, index)


def _size(index: Tensor) -> int:
    return max(int(index.max()) + 1, 0) if index.numel() else 0


def reduction_of(reduce: str, out: Any, mean: str = "down") -> Reduction:
    """torch_scatter's reduction of that name; new minima start from the largest finite value."""
    if reduce in ("min", "max"):
        new = out is None
        return Reduction(f"strict_{reduce}", not new, finite=new, zero_if_start=new)
    kind = "prod" if reduce == "mul" else "sum"
    return Reduction(kind, out is not None, mean if reduce == "mean" else "")


def _cells(run: Run, shape: Any, start: float = 0) -> Tensor:
    """What the cells hold before: `out`'s values, or a number."""
    if run.out is not None:
        return run.out.clone(memory_format=torch.contiguous_format)
    return torch.full(shape, start, dtype=run.src.dtype, device=run.src.device)


def scatter(run: Run) -> Tensor:
    return _scatter(run, run.reduce)


def _scatter(run: Run, reduce: str, arg: Tensor | None = None) -> Tensor:
    along = _groups(run)
    start = int(reduce == "mul" and run.src.numel() > 0)
    out = _cells(run, along.cells, start)
    along.fold(out, run.src, reduction_of(reduce, run.out), arg)
    return out


def _extreme(reduce: str) -> Form:
    """The form of a minimum or maximum with positions."""

    def form(run: Run) -> tuple[Tensor, Tensor]:
        along = _groups(run)
        out, arg = _cells(run, along.cells), _no_winners(run, along.cells, along.dim)
        along.fold(out, run.src, reduction_of(reduce, run.out), arg)
        return out, arg

    return form


def _no_winners(run: Run, shape: Any, dim: int) -> Tensor:
    none = run.src.shape[dim]
    return torch.full(tuple(shape), none, dtype=torch.int64, device=run.src.device)


def _coo(run: Run, reduce: str, arg: bool = False) -> Any:
    src, index = run.src, run.index
    dim = index.dim() - 1
    line = index.expand(src.shape[: dim + 1])
    shape = list(src.shape)
    if run.out is not None:
        shape[dim] = run.out.shape[dim]
    elif run.dim_size is not None:
        shape[dim] = run.dim_size
    else:
        last = index[..., -1:] if index.shape[-1] else index
        shape[dim] = _size(last) if line.numel() else 0
    if line.numel():
        _expect_ascending(run, index)
        run.expect_inside(index, shape[dim])
    along = Along(shape, dim, _expanded(line, src.shape, dim), ascends=True)
    out = _cells(run, shape)
    winners = _no_winners(run, shape, dim) if arg else None
    along.fold(out, src, reduction_of(reduce, run.out, mean="zero"), winners)
    return out if winners is None else (out, winners)


def _expect_ascending(run: Run, index: Tensor) -> None:
    if index.shape[-1] > 1:
        run.expect(not bool((index[..., 1:] < index[..., :-1]).any()))


def _csr(run: Run, reduce: str, arg: bool = False) -> Any:
    src, indptr = run.src, run.indptr
    dim = indptr.dim() - 1
    shape = list(src.shape)
    shape[dim] = max(indptr.shape[-1] - 1, 0)
    if run.out is not None:
        shape[dim] = run.out.shape[dim]
    out = src.new_zeros(shape)
    winners = _no_winners(run, shape, dim) if arg else None
    if src.numel() > 0 and out.numel() > 0:
        run.expect_inside(indptr, src.shape[dim] + 1)
        lines = indptr.expand((*src.shape[:dim], indptr.shape[-1]))
        reduction = reduction_of(reduce, None, mean="zero")
        if reduce in ("min", "max"):
            reduction = reduction._replace(finite=False, zero_if_start=False, first=True)
        fold_runs(out, src, dim, lines, reduction, winners)
    return out if winners is None else (out, winners)


def gather_coo(run: Run) -> Tensor:
    src, index = run.src, run.index
    dim = index.dim() - 1
    shape = list(src.shape)
    shape[dim] = index.shape[-1]
    if index.numel():
        _expect_ascending(run, index)
        run.expect_inside(index, src.shape[dim])
    if 0 in shape:
        return _cells(run, shape)
    wide = _expanded(index, torch.Size(shape), dim).to(torch.int64)
    return signed(src).gather(dim, wide).view(src.dtype)


def gather_csr(run: Run) -> Tensor:
    src, indptr = run.src, run.indptr
    dim = indptr.dim() - 1
    shape = list(src.shape)
    if run.out is not None:
        shape[dim] = run.out.shape[dim]
    else:
        shape[dim] = int(indptr.reshape(-1)[-1]) if src.numel() else 0
    out = _cells(run, shape)
    if src.numel() == 0 or indptr.numel() == 0:
        return out
    run.expect_inside(indptr, shape[dim] + 1)
    lines = indptr.expand((*src.shape[:dim], indptr.shape[-1])).to(torch.int64).contiguous()
    owner = _owners(lines, shape[dim])
    wide = _expanded(owner.clamp(min=0), torch.Size(shape), dim)
    picked = signed(src).gather(dim, wide)
    free = _expanded(owner, torch.Size(shape), dim) < 0
    return torch.where(free, signed(out), picked).view(src.dtype)


def _owners(pointers: Tensor, size: int) -> Tensor:
    """The last row that each cell belongs to, or -1; of each line of pointers."""
    # Rows as updates of the cells where they begin and end: of those that cover a cell, the last
    # one is the largest number. Where pointers ascend, a search finds it.
    cells = torch.arange(size, device=pointers.device).expand(*pointers.shape[:-1], size)
    if not bool((pointers[..., 1:] < pointers[..., :-1]).any()):
        owner = torch.searchsorted(pointers, cells.contiguous(), right=True) - 1
        return torch.where(owner >= pointers.shape[-1] - 1, -1, owner)
    owner = torch.full_like(cells, -1)
    for row in range(pointers.shape[-1] - 1):
        first, end = pointers[..., row : row + 1], pointers[..., row + 1 : row + 2]
        owner = torch.where((cells >= first) & (cells < end), row, owner)
    return owner


def _wide(src: Tensor) -> Tensor:
    """The values in the type that a composite is computed in."""
    return widened(src) if src.is_floating_point() else src.to(torch.float64)


def _sums(along: Along, values: Tensor, out: Tensor | None = None) -> Tensor:
    cells = values.new_zeros(along.cells) if out is None else out
    along.fold(cells, values, Reduction("sum", out is not None))
    return cells


def scatter_std(run: Run) -> Tensor:
    along, src = _groups(run), _wide(run.src)
    counts = along.counts().clamp(min=1)
    mean = _sums(along, src) / counts.to(src.dtype)
    away = src - along.gather(mean) if src.numel() else src
    found = _sums(along, away * away, None if run.out is None else _copy(_wide(run.out)))
    divisor = (counts - int(run.unbiased)).clamp(min=1).to(src.dtype) + 1e-6
    dtype = run.src.dtype if run.src.is_floating_point() else torch.float32
    return sqrt(found / divisor).to(dtype)


def _copy(tensor: Tensor) -> Tensor:
    return tensor.clone(memory_format=torch.contiguous_format)


def _exponentials(along: Along, src: Tensor) -> tuple[Tensor, Tensor]:
    """The largest value of each group, and the exponentials of the values without it."""
    most = src.new_zeros(along.cells)
    along.fold(most, src, reduction_of("max", None))
    return most, exp(src - along.gather(most)) if src.numel() else src


def scatter_softmax(run: Run) -> Tensor:
    along, src = _groups(run), _wide(run.src)
    _, found = _exponentials(along, src)
    if src.numel():
        found = found / along.gather(_sums(along, found))
    return found.to(run.src.dtype)


def scatter_log_softmax(run: Run) -> Tensor:
    along, src = _groups(run), _wide(run.src)
    if src.numel() == 0:
        return run.src.clone()
    most, found = _exponentials(along, src)
    logs = log(_sums(along, found) + run.eps)
    return (src - along.gather(most) - along.gather(logs)).to(run.src.dtype)


def scatter_logsumexp(run: Run) -> Tensor:
    along, src = _groups(run), _wide(run.src)
    most = src.new_full(along.cells, -torch.inf)
    along.fold(most, src, Reduction("strict_max", from_cell=True))
    own, before = None, None
    if run.out is not None:
        before = _copy(_wide(run.out))
        own = exp(before - most)
    shares = src
    if src.numel():
        shares = exp(src - along.gather(most))
        shares = torch.where(shares.isnan(), 0, shares)
    found = log(_sums(along, shares, own) + run.eps) + most
    if before is not None:
        found = torch.where(found.isfinite(), found, before)
    else:
        highest = torch.finfo(run.src.dtype).max
        found = torch.where(found == torch.inf, torch.full_like(found, highest), found)
        found = torch.where(found.isfinite(), found, 0)
    return found.to(run.src.dtype)


FORMS: dict[str, Form] = {
    "torch_scatter.scatter": scatter,
    "torch_scatter.scatter_min": _extreme("min"),
    "torch_scatter.scatter_max": _extreme("max"),
    "torch_scatter.segment_coo": lambda run: _coo(run, run.reduce),
    "torch_scatter.segment_min_coo": lambda run: _coo(run, "min", arg=True),
    "torch_scatter.segment_max_coo": lambda run: _coo(run, "max", arg=True),
    "torch_scatter.segment_csr": lambda run: _csr(run, run.reduce),
    "torch_scatter.segment_min_csr": lambda run: _csr(run, "min", arg=True),
    "torch_scatter.segment_max_csr": lambda run: _csr(run, "max", arg=True),
    "torch_scatter.gather_coo": gather_coo,
    "torch_scatter.gather_csr": gather_csr,
    "torch_scatter.scatter_std": scatter_std,
    "torch_scatter.scatter_softmax": scatter_softmax,
    "torch_scatter.scatter_log_softmax": scatter_log_softmax,
    "torch_scatter.scatter_logsumexp": scatter_logsumexp,
}
