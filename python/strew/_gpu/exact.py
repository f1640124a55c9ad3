"""Sums that are rounded once, in any order of the updates: integers per cell.

A float is ``+-m * 2^e`` with an integer m. The planes of a cell are integers of 64 bits, of which
plane p counts units of ``2^(32 (p - 1))`` times the type's smallest number; a value adds 32 bits of
its m to two or three of them. Integers are added atomically, and their sums do not depend on the
order. `finish` carries from plane to plane, divides by the count for a mean, and rounds once.

Memory: 8 bytes times 11 (of 16- and 32-bit floats) or 69 (of float64) for each cell and column.
Fewer than 2^31 updates go to one cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from . import fold
from .fold import Reduction, launch

if TYPE_CHECKING:
    from typing import Any

    from torch import Tensor

    from .along import Along

#: Planes of a cell: the first is for the fraction of a mean, and the last but one for the sign. The
#: last has flags.
_PLANES = {torch.float32: 11, torch.float64: 69}

_LANES = 128


def fold_exactly(along: Along, out: Tensor, src: Tensor, *, mean: bool, from_cell: bool) -> None:
    """Sums or means of updates into `out`, contiguous cells; those without updates stay."""
    if not (out.is_floating_point() or out.is_complex()):
        # Sums of integers are exact.
        reduction = Reduction("sum", from_cell, "down" if mean else "", count_cell=from_cell)
        along.fold(out, src, reduction)
        return
    if along.shape.numel() == 0:
        return
    kernels: Any = fold.kernels
    if kernels is None:
        raise NotImplementedError(
            "strew: exact sums need Triton on this device; move tensors with tensor.cpu()"
        )
    if out.is_complex():
        parts = torch.view_as_real(out)
        for part in (0, 1):
            one = parts[..., part].contiguous()
            fold_exactly(
                along, one, torch.view_as_real(src)[..., part], mean=mean, from_cell=from_cell
            )
            parts[..., part] = one
        return
    _fold(along, out, src, mean, from_cell)


def _fold(along: Along, out: Tensor, src: Tensor, mean: bool, from_cell: bool) -> None:
    import triton

    kernels: Any = fold.kernels
    rows, cells = along.rows(src), along.rows_of_cells(out)
    count, columns = rows.shape
    size = cells.shape[0]
    wide = torch.float64 if out.dtype == torch.float64 else torch.float32
    planes = torch.zeros(size * columns, _PLANES[wide], dtype=torch.int64, device=out.device)
    rounds = {"PLANES": _PLANES[wide], "BLOCK": _LANES}
    numbers = along.numbers.to(torch.int64)
    launch(kernels.add_planes, (triton.cdiv(count * columns, _LANES),), out.device)(
        rows, numbers, planes, count, columns, NUMBERED=True, **rounds
    )
    if from_cell:
        launch(kernels.add_planes, (triton.cdiv(size * columns, _LANES),), out.device)(
            cells, numbers, planes, size, columns, NUMBERED=False, **rounds
        )
    counts = numbers.new_zeros(size)
    counts.scatter_add_(0, numbers, torch.ones_like(numbers))
    info = torch.finfo(out.dtype)
    launch(kernels.finish, (triton.cdiv(size * columns, _LANES),), out.device)(
        planes,
        counts,
        cells,
        size,
        columns,
        MEAN=mean,
        MORE=int(from_cell),
        BASE=-1074 if wide == torch.float64 else -149,
        FRACTION=_FRACTION[out.dtype],
        LOWEST=round(torch.tensor(info.tiny, dtype=torch.float64).log2().item()),
        BITS=info.bits,
        **rounds,
    )
    along.set_rows_of_cells(out, cells)


#: The bits of a float behind the point.
_FRACTION = {torch.float16: 10, torch.bfloat16: 7, torch.float32: 23, torch.float64: 52}
