"""Sums that are rounded once, in any order of the updates: integers per cell.

A float is ``+-m * 2^e`` with an integer m. The planes of a cell are integers of 64 bits, of which
plane p counts units of ``2^(32 (p - 1))`` times the type's smallest number; a value adds 32 bits of
its m to two or three of them. Sums of integers do not depend on the order. `add_planes` adds up
stretches of updates that are sorted by their cells, and adds these sums to the planes atomically.
`finish` carries from plane to plane, divides by the count for a mean, and rounds once.

Memory: 8 bytes times 11 (of 16- and 32-bit floats) or 69 (of float64) for each cell and column.
Fewer than 2^31 updates go to one cell; of updates that are given as two parts, fewer than 2^30.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from . import fold
from .fold import Reduction, launch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from torch import Tensor

    from .along import Along

#: Planes of a cell: the first is for the fraction of a mean, and the last but one for the sign. The
#: last has flags.
_PLANES = {torch.float32: 11, torch.float64: 69}

_LANES = 128

#: How many updates a lane adds up. A cell with n of them gets about 3 n / 64 atomic additions.
_STRETCH = 64


def fold_exactly(
    along: Along,
    out: Tensor,
    *src: Tensor,
    mean: bool,
    from_cell: bool,
    counts: Tensor | None = None,
) -> None:
    """Sums or means of updates into `out`, contiguous cells; those without updates stay.

    An update of floats may be given as several, of which it is the sum. `counts` has the shape of
    `out`, and says how many updates a cell has, if that differs by column.
    """
    if not (out.is_floating_point() or out.is_complex()):
        # Sums of integers are exact.
        reduction = Reduction("sum", from_cell, "down" if mean else "", count_cell=from_cell)
        along.fold(out, src[0], reduction)
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
            _fold(
                along,
                one,
                [torch.view_as_real(given)[..., part] for given in src],
                mean,
                from_cell,
                counts,
            )
            parts[..., part] = one
        return
    _fold(along, out, src, mean, from_cell, counts)


def _fold(
    along: Along,
    out: Tensor,
    src: Sequence[Tensor],
    mean: bool,
    from_cell: bool,
    counts: Tensor | None,
) -> None:
    import triton

    kernels: Any = fold.kernels
    cells = along.rows_of_cells(out)
    size, columns = cells.shape
    wide = torch.float64 if src[0].dtype == torch.float64 else torch.float32
    planes = torch.zeros(size * columns, _PLANES[wide], dtype=torch.int64, device=out.device)
    rounds = {"PLANES": _PLANES[wide], "BLOCK": _LANES}
    grouping, numbers = along.grouping, along.numbers.contiguous()

    def add(values: Tensor, stretch: int, **constants: bool) -> None:
        order = numbers if grouping.order is None else grouping.order
        lanes = triton.cdiv(len(values), stretch) * columns
        launch(kernels.add_planes, (triton.cdiv(lanes, _LANES),), out.device)(
            values, order, numbers, planes, len(values), columns, stretch, **constants, **rounds
        )

    stretch = min(_STRETCH, len(numbers))
    for given in src:
        add(along.rows(given), stretch, ORDERED=grouping.order is not None, NUMBERED=True)
    if from_cell:
        add(cells, 1, ORDERED=False, NUMBERED=False)
    info = torch.finfo(out.dtype)
    launch(kernels.finish, (triton.cdiv(size * columns, _LANES),), out.device)(
        planes,
        grouping.counts if counts is None else along.rows_of_cells(counts),
        cells,
        size,
        columns,
        BY_COLUMN=counts is not None,
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
