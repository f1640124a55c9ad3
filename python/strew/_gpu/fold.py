"""Updates grouped by their cells, and the folds over them.

`Grouping` is the one sort of a call; `fold` launches the kernels, or composes torch's operators
where there is no Triton. Both give the bits of the sequential loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from . import compose
from .arithmetic import signed

try:
    import triton
    import triton.language as tl

    from . import kernels as kernels
except ImportError:  # A build of torch for a device that Triton does not know.
    kernels = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from torch import Tensor

#: What sums and products of narrow elements accumulate in; all others in their own type.
_WIDE = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.int8: torch.int32,
    torch.int16: torch.int32,
    torch.uint8: torch.int32,
    torch.uint16: torch.int32,
}

#: Lanes of a program: four warps.
_LANES = 128


class Reduction(NamedTuple):
    """How the updates of a cell make its result."""

    #: "sum", "prod", "max" and "min" (NaN wins), "strict_max" and "strict_min" (NaN is left out).
    kind: str
    #: Whether what the cell holds is where it starts; otherwise the identity.
    from_cell: bool = False
    #: Whether the sum is divided by the number of updates; "down" and "zero" round integers.
    mean: str = ""
    #: Whether what the cell holds counts as one more in a mean.
    count_cell: bool = False
    #: Of "strict_max" and "strict_min": whether the identity is finite, and a result that equals it
    #: becomes 0.
    finite: bool = False
    zero_if_start: bool = False
    #: Whether the first update that is no NaN wins in any case; without one a cell stays.
    first: bool = False
    #: Of products of complex numbers: whether NaN is left out.
    skips_nan: bool = False


class Grouping:
    """The updates of each cell, in their order."""

    def __init__(self, order: Tensor | None, starts: Tensor, ends: Tensor) -> None:
        #: The update's number at each place; None if updates lie in the order of their cells.
        self.order = order
        #: Where the updates of each cell begin and end among these places.
        self.starts, self.ends = starts, ends

    @classmethod
    def of_index(cls, index: Tensor, size: int) -> Grouping:
        """Of the cell's number of each update, which must be below `size`."""
        index = index.reshape(-1)
        # The radix sort takes a pass for each byte of a key.
        key = torch.int64 if size > 2**31 else torch.int32 if size > 2**15 else torch.int16
        key = torch.uint8 if size <= 256 else key
        ordered, order = torch.sort(index.to(key), stable=True)
        return cls(order, *_edges(ordered, size))

    @classmethod
    def of_sorted(cls, index: Tensor, size: int) -> Grouping:
        """The same of an index that ascends."""
        return cls(None, *_edges(index.reshape(-1), size))

    @property
    def size(self) -> int:
        return self.starts.numel()

    @property
    def counts(self) -> Tensor:
        """How many updates each cell has."""
        return (self.ends - self.starts).clamp(min=0)


def _edges(ordered: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Where each number begins and ends in a list that ascends."""
    numbers = torch.arange(size, dtype=ordered.dtype, device=ordered.device)
    starts = torch.searchsorted(ordered, numbers)
    offsets = torch.cat([starts, starts.new_full((1,), ordered.numel())])
    return offsets[:-1], offsets[1:]


class Updates(NamedTuple):
    """Elements of updates: column `c` of update `u` lies at ``u * row + (c // inner) * outer_step +
    (c % inner) * inner_step`` behind the first. Strides count elements."""

    values: Tensor
    length: int
    columns: int
    inner: int
    row: int
    outer_step: int
    inner_step: int


def updates_along(src: Tensor, dim: int) -> Updates:
    """The slices of a tensor along an axis."""
    before, behind = src.shape[:dim], src.shape[dim + 1 :]
    outer, inner = before.numel(), behind.numel()
    view = _as_three(src, outer, inner, dim)
    steps = (view.stride(1), view.stride(0), view.stride(2))
    return Updates(view, src.shape[dim], outer * inner, max(inner, 1), *steps)


def _as_three(src: Tensor, outer: int, inner: int, dim: int) -> Tensor:
    """The axes before and behind one axis as one axis each, without a copy where there is a way."""
    shape = (outer, src.shape[dim], inner)
    try:
        return src.view(shape)
    except RuntimeError:
        return src.contiguous().view(shape)


def fold(
    out: Tensor,
    src: Updates,
    grouping: Grouping,
    reduction: Reduction,
    arg: Tensor | None = None,
    places: tuple[int, int] = (1, 1),
) -> None:
    """Folds updates into `out`, a contiguous tensor whose cells lie ``inner`` elements apart.

    Cells without updates keep what they hold. `arg` gets the winners' positions: update ``u`` has
    ``(u // places[0]) % places[1]``.
    """
    if out.numel() == 0 or src.columns == 0 or src.values.numel() == 0:
        return
    out_, values = out, src.values
    if out.dtype == torch.bool:
        # A logical "or" is a maximum and "and" a minimum. The start of a strict one is no bool.
        kind = {"sum": "max", "prod": "min"}.get(reduction.kind, reduction.kind)
        reduction = reduction._replace(kind=kind, mean="")
        out, values = out.to(torch.int8), values.to(torch.int8)
        src = src._replace(values=values)
        src = _packed(src)
    elif out.is_complex():
        values = values.resolve_conj().resolve_neg()
        out, src = torch.view_as_real(out), _with_parts(src._replace(values=values))
        if reduction.kind == "prod":
            by_parts = compose.fold_products if composes() else _launch_products
            by_parts(out, src, grouping, reduction)
            return
        src = _parts(src)
    by = compose.fold if composes() else _launch
    winners = None if arg is None else torch.full_like(arg, -1)
    by(out, src, grouping, reduction, winners, start_of(out_.dtype, reduction))
    if arg is not None and winners is not None:
        positions = torch.div(winners, places[0], rounding_mode="floor") % places[1]
        arg.copy_(torch.where(winners < 0, arg, positions))
    if out_.dtype == torch.bool:
        out_.copy_(out)


def _packed(src: Updates) -> Updates:
    """The updates after a conversion that has packed them."""
    three = src.values  # Or four: the parts of complex numbers.
    return src._replace(row=three.stride(1), outer_step=three.stride(0), inner_step=three.stride(2))


def _with_parts(src: Updates) -> Updates:
    """Complex updates as pairs of parts, which strides count."""
    src = src._replace(values=torch.view_as_real(src.values), row=2 * src.row)
    return src._replace(outer_step=2 * src.outer_step, inner_step=2 * src.inner_step)


def _parts(src: Updates) -> Updates:
    """Complex columns as twice as many real ones."""
    if src.inner > 1 and src.inner_step != 2:
        # The parts are one more inner axis, which needs one step between all inner elements.
        src = _packed(src._replace(values=src.values.contiguous()))
    return src._replace(columns=2 * src.columns, inner=2 * src.inner, inner_step=1)


def composes() -> bool:
    """Whether folds are composed of torch's operators."""
    return kernels is None or compose.forced


def start_of(dtype: torch.dtype, reduction: Reduction) -> Any:
    """The value from which a cell starts, where that is not what it holds."""
    kind = reduction.kind
    if kind in ("sum", "prod"):
        return int(kind == "prod")
    largest = kind.endswith("max")
    if dtype == torch.bool:
        # Finite: one below or above both bools.
        start = 0 if largest else 1
        return start + (1 - 2 * largest) * reduction.finite
    if dtype.is_floating_point:
        most = torch.finfo(dtype).max if reduction.finite else float("inf")
        return -most if largest else most
    info = torch.iinfo(dtype)
    return info.min if largest else info.max


def wide_of(dtype: torch.dtype) -> torch.dtype:
    """What elements of a type accumulate in."""
    return _WIDE.get(dtype, dtype)


def launch(kernel: Any, grid: tuple[int], device: torch.device) -> Callable[..., None]:
    """Runs a kernel on a device, which need not be the current one."""

    def run(*arguments: Any, **constants: Any) -> None:
        # Fused products and sums would be rounded once.
        constants["enable_fp_fusion"] = False
        if device.type == "cpu":
            kernel[grid](*arguments, **constants)
            return
        with getattr(torch, device.type).device(device):
            kernel[grid](*arguments, **constants)

    return run


def _launch(
    out: Tensor,
    src: Updates,
    grouping: Grouping,
    reduction: Reduction,
    winners: Tensor | None,
    start: Any,
) -> None:
    wide = wide_of(out.dtype)
    columns = min(triton.next_power_of_2(src.columns), 2 * _LANES)
    cells = max(1, _LANES // columns)
    grid = (triton.cdiv(grouping.size, cells) * triton.cdiv(src.columns, columns),)
    launch(kernels.fold, grid, out.device)(
        src.values,
        grouping.starts if grouping.order is None else grouping.order,
        grouping.starts,
        grouping.ends,
        out,
        out if winners is None else winners,
        grouping.size,
        src.columns,
        src.inner,
        src.row,
        src.outer_step,
        src.inner_step,
        torch.full((1,), start, dtype=wide, device=out.device),
        KIND=reduction.kind,
        FROM_CELL=reduction.from_cell,
        MEAN=reduction.mean,
        MORE=int(reduction.count_cell),
        ZERO_IF_START=reduction.zero_if_start,
        ORDERED=grouping.order is not None,
        ARG=winners is not None,
        FIRST=reduction.first,
        WIDE=getattr(tl, str(wide).removeprefix("torch.")),
        CELLS=cells,
        COLUMNS=columns,
        num_warps=max(1, cells * columns // 64),
    )


def _by_column(
    kernel: Any, out: Tensor, src: Updates, grouping: Grouping, **constants: Any
) -> None:
    """Launches a kernel of which a lane has one cell and column."""
    grid = (triton.cdiv(grouping.size * src.columns, _LANES),)
    launch(kernel, grid, out.device)(
        src.values,
        grouping.starts if grouping.order is None else grouping.order,
        grouping.starts,
        grouping.ends,
        out,
        grouping.size,
        src.columns,
        src.inner,
        src.row,
        src.outer_step,
        src.inner_step,
        BLOCK=_LANES,
        **constants,
    )


def _launch_products(out: Tensor, src: Updates, grouping: Grouping, reduction: Reduction) -> None:
    constants = {"FROM_CELL": reduction.from_cell, "ORDERED": grouping.order is not None}
    constants["SKIP"] = reduction.skips_nan
    _by_column(kernels.fold_products, out, src, grouping, **constants)


def fold_spread(out: Tensor, src: Updates, grouping: Grouping, skips_nan: bool) -> None:
    """Sums of squared differences from the mean, of float64 into float64."""
    if out.numel() == 0 or src.values.numel() == 0:
        return
    if composes():
        compose.fold_spread(out, src, grouping, skips_nan)
    else:
        _by_column(kernels.fold_spread, out, src, grouping, SKIP=skips_nan)


def fold_powers(out: Tensor, src: Updates, grouping: Grouping, skips_nan: bool) -> None:
    """Sums of second, third and fourth powers of differences from the mean, of float64.

    `out` has the three in front of the axes of the cells.
    """
    if out.numel() == 0 or src.values.numel() == 0:
        return
    if composes():
        compose.fold_powers(out, src, grouping, skips_nan)
    else:
        _by_column(kernels.fold_powers, out, src, grouping, SKIP=skips_nan)


def scan(src: Tensor, dim: int, grouping: Grouping, product: bool, skips_nan: bool) -> Tensor:
    """Running sums or products of values of 64 bits, or of two such parts, along an axis.

    The result is 0 for values in no cell.
    """
    given, complexes = src.dtype, src.is_complex()
    src = signed(src.resolve_conj().resolve_neg()).contiguous()
    out, updates = torch.zeros_like(src), updates_along(src, dim)
    if src.numel() == 0 or grouping.size == 0:
        return out.view(given)
    to = out
    if complexes:
        updates, to = _with_parts(updates), torch.view_as_real(out)
    if composes():
        compose.scan(to, updates, grouping, product, skips_nan, complexes)
    else:
        constants = {"PROD": product, "COMPLEX": complexes, "SKIP": skips_nan}
        _by_column(kernels.scan, to, updates, grouping, **constants)
    return out.view(given)
