"""The folds by torch's own operators, with the same bits: for devices without Triton.

```text
for k in 0 .. the number of updates of the largest cell:
    of all cells that have a k-th update, at once: result = join(result, that update)
```

Each operator rounds by itself, so that nothing is fused. Cost: some operators over all cells for
each update of the largest cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .arithmetic import signed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from torch import Tensor

    from .fold import Grouping, Reduction, Updates

#: Whether it is taken also where there is Triton: for tests.
forced = False

#: Unsigned integers, which torch hardly computes with.
_UNSIGNED = {torch.uint16: torch.int64, torch.uint32: torch.int64}

_WIDE = {torch.float16: torch.float32, torch.bfloat16: torch.float32}


def fold(
    out: Tensor,
    src: Updates,
    grouping: Grouping,
    reduction: Reduction,
    winners: Tensor | None,
    start: Any,
) -> None:
    """As `fold.fold`, of real numbers; `start` is the identity."""
    if out.dtype == torch.uint64:
        raise NotImplementedError("strew: uint64 needs Triton here; move it with tensor.cpu()")
    wide = _WIDE.get(out.dtype, _UNSIGNED.get(out.dtype, out.dtype))
    cells = _cells(out, src, grouping).to(wide)
    result = cells if reduction.from_cell else torch.full_like(cells, start)
    winner = torch.full_like(result, -1, dtype=torch.int64)
    kind = reduction.kind
    for at, take, value in _steps(src, grouping):
        value = value.to(wide)
        if kind in ("sum", "prod"):
            joined = result + value if kind == "sum" else result * value
        else:
            better = value > result if kind.endswith("max") else value < result
            if not kind.startswith("strict"):
                better = better | (value != value)
            if reduction.first:
                better = better | ((winner < 0) & (value == value))
            winner = torch.where(better & take, at.view(1, -1, 1), winner)
            joined = torch.where(better, value, result)
        result = torch.where(take, joined, result)
    if reduction.mean:
        counts = (grouping.counts + int(reduction.count_cell)).clamp(min=1).view(1, -1, 1)
        if wide.is_floating_point:
            result = result / counts.to(wide)
        else:
            rounding = "floor" if reduction.mean == "down" else "trunc"
            total = result.to(out.dtype).to(torch.int64)
            result = torch.div(total, counts, rounding_mode=rounding)
    if reduction.zero_if_start:
        result = torch.where(result == start, 0, result)
    touched = winner >= 0 if reduction.first else (grouping.counts > 0).view(1, -1, 1)
    found = torch.where(touched, result.to(wide), cells)
    out.copy_(found.reshape(out.shape))
    if winners is not None:
        winners.copy_(winner.view(winners.shape))


def fold_products(out: Tensor, src: Updates, grouping: Grouping, reduction: Reduction) -> None:
    """Products of complex numbers, whose parts lie side by side."""
    re, im = (_cells(part.contiguous(), src, grouping) for part in out.unbind(-1))
    cells = re, im
    if not reduction.from_cell:
        re, im = torch.ones_like(re), torch.zeros_like(im)
    imaginary = src._replace(values=src.values[..., 1])
    pairs = zip(_steps(src, grouping), _steps(imaginary, grouping), strict=True)
    for (_, take, x_re), (_, _, x_im) in pairs:
        if reduction.skips_nan:
            take = take & (x_re == x_re) & (x_im == x_im)
        joined_re = re * x_re - im * x_im
        joined_im = re * x_im + im * x_re
        re, im = torch.where(take, joined_re, re), torch.where(take, joined_im, im)
    touched = (grouping.counts > 0).view(1, -1, 1)
    re, im = torch.where(touched, re, cells[0]), torch.where(touched, im, cells[1])
    out.copy_(torch.stack([re, im], -1).reshape(out.shape))


def fold_spread(out: Tensor, src: Updates, grouping: Grouping, skips_nan: bool) -> None:
    """Sums of squared differences from the mean, by one pass over each cell."""
    count = torch.zeros_like(_cells(out, src, grouping))
    first, mean, squares = count, count, count
    for _, inside, given in _steps(src, grouping):
        take = inside & (given == given) if skips_nan else inside
        first = torch.where(take & (count == 0), given, first)
        more = count + 1.0
        value = given - first
        apart = value - mean
        moved = mean + apart / more
        joined = squares + apart * (value - moved)
        overflows = joined.isnan() & ~squares.isnan() & given.isfinite()
        joined = torch.where(overflows, torch.inf, joined)
        count = torch.where(take, more, count)
        mean, squares = torch.where(take, moved, mean), torch.where(take, joined, squares)
    out.copy_(squares.reshape(out.shape))


def fold_powers(out: Tensor, src: Updates, grouping: Grouping, skips_nan: bool) -> None:
    """Sums of powers of differences from the mean, by one pass over each cell."""
    count = torch.zeros_like(_cells(out[0], src, grouping))
    first = mean = squares = cubes = fourths = count
    for _, inside, given in _steps(src, grouping):
        take = inside & (given == given) if skips_nan else inside
        first = torch.where(take & (count == 0), given, first)
        more = count + 1.0
        step = (apart := given - first - mean) / more
        square = apart * step * count
        of_count = more * more - 3.0 * more + 3.0
        fourth = square * step * step * of_count + 6.0 * step * step * squares - 4.0 * step * cubes
        cube = square * step * (more - 2.0) - 3.0 * step * squares
        count, mean = torch.where(take, more, count), torch.where(take, mean + step, mean)
        squares = torch.where(take, squares + square, squares)
        cubes = torch.where(take, cubes + cube, cubes)
        fourths = torch.where(take, fourths + fourth, fourths)
    out.copy_(torch.stack([squares, cubes, fourths]).reshape(out.shape))


def scan(
    out: Tensor,
    src: Updates,
    grouping: Grouping,
    product: bool,
    skips_nan: bool,
    complexes: bool,
) -> None:
    """Running sums or products; `out` is contiguous, with the parts of complex numbers behind."""
    lines = out.view(src.columns // src.inner, src.length, src.inner, -1)
    parts = src.values.unbind(-1) if complexes else [src.values]
    so_far = [torch.zeros_like(lines[:, :1, :, 0]) for _ in parts]
    so_far[0] = so_far[0] + int(product)
    begun: Any = False
    for steps in zip(*(_steps(src._replace(values=part), grouping) for part in parts), strict=True):
        at, inside = steps[0][:2]
        values = [value for _, _, value in steps]
        take = inside
        for value in values if skips_nan else ():
            take = take & (value == value)
        if not product:
            joined = [one + value for one, value in zip(so_far, values, strict=True)]
        elif not complexes:
            joined = [so_far[0] * values[0]]
        else:
            (re, im), (x_re, x_im) = so_far, values
            joined = [re * x_re - im * x_im, re * x_im + im * x_re]
        begun = torch.as_tensor(begun, device=out.device)
        for part, (one, value) in enumerate(zip(joined, values, strict=True)):
            found = torch.where(begun, one, value)
            so_far[part] = torch.where(take, found, so_far[part])
            some = inside.view(-1)
            lines[:, at[some], :, part] = so_far[part][:, some]
        begun = begun | take


def _cells(out: Tensor, src: Updates, grouping: Grouping) -> Tensor:
    """What the cells hold: outer columns, cells, inner columns."""
    return out.reshape(src.columns // src.inner, grouping.size, src.inner)


def _steps(src: Updates, grouping: Grouping) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """For each turn the update of each cell, whether there is one, and its elements."""
    shape = (src.columns // src.inner, src.length, src.inner)
    steps = (src.outer_step, src.row, src.inner_step)
    values = src.values.as_strided(shape, steps, src.values.storage_offset())
    counts = grouping.counts
    for k in range(int(counts.max())):
        take = counts > k
        place = torch.where(take, grouping.starts + k, 0)
        at = place if grouping.order is None else grouping.order[place]
        at = torch.where(take, at, 0)
        yield at, take.view(1, -1, 1), signed(values)[:, at, :].view(values.dtype)
