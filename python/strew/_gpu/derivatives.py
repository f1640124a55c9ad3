"""The derivatives of `scatter_reduce` and of extremes that the engine computes, on a device.

The formulas are those of the engine (`crates/strew/src/grad`), one rounded operation after the
other. A cell has the factors f_1, ..., f_n of a product: its updates and, where it counts, what it
held. P is the product of those that are not zero, z the number of zeros, w_i the weight of a
factor, and for a direction t S is the sum of t_j / f_j over the factors that are not zero, and T
the sum of t_j over those that are:

```text
w_i = P / f_i if z = 0,     P if z = 1 and f_i is the zero,     0 otherwise

the change of w_i in the direction t:
f_i not zero:   (P / f_i) (S - t_i / f_i)   if z = 0,     (P / f_i) T     if z = 1,     0 otherwise
f_i zero:        P S                        if z = 1,      P (T - t_i)    if z = 2,     0 otherwise
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .along import Along
from .arithmetic import over, per_count, times, widened
from .fold import Reduction
from .torch_rows import reduction_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from torch import Tensor

#: Reductions whose derivative does not depend on values.
_LINEAR = ("sum", "mean", "exact_sum", "exact_mean")


def _line(tensor: Tensor) -> Tensor:
    return tensor.reshape(1) if tensor.dim() == 0 else tensor


class _Case:
    """A call of `scatter_reduce`: its cells, and the part of `src` that the index covers."""

    def __init__(self, cells: Tensor, dim: int, index: Tensor, include_self: bool) -> None:
        self.shape, self.include_self = cells.shape, include_self
        index, flat = _line(index.detach()), _line(cells)
        self.is_empty = index.numel() == 0
        if self.is_empty:
            # An empty index of any shape reaches nothing.
            index = index.new_empty([0] * flat.dim())
        self.along = Along(flat.shape, dim % flat.dim(), index)

    def cells(self, tensor: Tensor) -> Tensor:
        return widened(_line(tensor.detach().resolve_conj().resolve_neg())).contiguous()

    def corner(self, src: Tensor) -> Tensor:
        """What of a tensor of `src`'s shape is read, in the type of the computation."""
        src = widened(_line(src.detach().resolve_conj().resolve_neg()))
        if self.is_empty:
            return src.new_empty(self.along.shape)
        return src[tuple(slice(size) for size in self.along.shape)]

    def whole(self, read: Tensor, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        """A gradient of `src` from that of what is read of it."""
        full = read.new_zeros(tuple(shape) or (1,), dtype=dtype)
        if not self.is_empty:
            full[tuple(slice(size) for size in read.shape)] = read.to(dtype)
        return full.reshape(tuple(shape))

    def to_cells(self, values: Tensor, dtype: torch.dtype) -> Tensor:
        return values.to(dtype).reshape(self.shape)

    @property
    def counts(self) -> Tensor:
        if self.is_empty:
            return torch.zeros((), dtype=torch.int64, device=self.along.index.device)
        return self.along.counts()

    def gather(self, cells: Tensor) -> Tensor:
        return cells.new_empty(self.along.shape) if self.is_empty else self.along.gather(cells)

    def joined(self, cells: Tensor, updates: Tensor, kind: str = "sum") -> Tensor:
        """Cells with updates joined to what they hold."""
        out = cells.clone(memory_format=torch.contiguous_format)
        self.along.fold(out, updates, Reduction(kind, from_cell=True))
        return out

    def passed_by(self, grad: Tensor) -> Tensor:
        """What passes by the updates, where these replace what cells held."""
        return torch.where(self.counts > 0, 0, grad)


def scatter_reduce_vjp(
    grad: Tensor,
    dim: int,
    index: Tensor,
    input: Tensor | None,
    src: Tensor | None,
    src_shape: Sequence[int],
    result: Tensor | None,
    reduce: str,
    include_self: bool,
    to_input: bool,
    to_src: bool,
) -> tuple[Tensor | None, Tensor | None]:
    """As `_scatter_reduce_vjp` on the CPU."""
    case, dtype = _Case(grad, dim, index, include_self), grad.dtype
    grads = case.cells(grad)
    if reduce in _LINEAR:
        own, each = _of_linear(case, grads, reduce.endswith("mean"))
    else:
        held = case.cells(input) if include_self and input is not None else None
        read = case.corner(src)
        if reduce == "prod":
            own, each = _of_product(case, grads, held, read)
        else:
            own, each = _of_ties(case, grads, held, read, case.cells(result))
    return (
        case.to_cells(own, dtype).clone() if to_input else None,
        case.whole(each, src_shape, dtype) if to_src else None,
    )


def _of_linear(case: _Case, grads: Tensor, mean: bool) -> tuple[Tensor, Tensor]:
    shares = grads
    if mean:
        counts = case.counts + int(case.include_self)
        shares = per_count(grads, counts.clamp(min=1))
    return shares if case.include_self else case.passed_by(grads), case.gather(shares)


def _ties(values: Tensor, results: Tensor) -> Tensor:
    return (values == results) | (values.isnan() & results.isnan())


def _of_ties(
    case: _Case, grads: Tensor, held: Tensor | None, read: Tensor, results: Tensor
) -> tuple[Tensor, Tensor]:
    tied = _ties(read, case.gather(results))
    counts = torch.zeros(results.shape, dtype=torch.int64, device=results.device)
    if held is not None:
        counts = _ties(held, results).to(torch.int64)
    counts = case.joined(counts, tied.to(torch.int64))
    shares = grads / counts.to(grads.dtype)
    own = case.passed_by(grads)
    if held is not None:
        own = torch.where(_ties(held, results), shares, 0)
    return own, torch.where(tied, case.gather(shares), 0)


class _Products:
    """P and z of all cells, and what follows from them."""

    def __init__(self, case: _Case, held: Tensor | None, read: Tensor) -> None:
        self.case, self.held, self.read = case, held, read
        like = torch.ones(case.along.cells, dtype=read.dtype, device=read.device)
        start = like if held is None else torch.where(held == 0, 1, held)
        self.product = case.joined(start, torch.where(read == 0, 1, read), "prod")
        zeros = torch.zeros_like(like, dtype=torch.int64)
        if held is not None:
            zeros = (held == 0).to(torch.int64)
        self.zeros = case.joined(zeros, (read == 0).to(torch.int64))

    def weights(self) -> Tensor:
        """The weight of each update."""
        of = self.case.gather
        return _weight(of(self.product), of(self.zeros), self.read)

    def own_weights(self) -> Tensor:
        """The weight of what each cell held: 1 where no update goes."""
        assert self.held is not None
        weights = _weight(self.product, self.zeros, self.held)
        return torch.where(self.case.counts > 0, weights, 1)

    def moved(self, own: Tensor, each: Tensor) -> Tensor:
        """The tangents of the products."""
        cells = torch.zeros_like(own)
        if self.held is not None:
            cells = times(own, self.own_weights())
        cells = self.case.joined(cells, times(each, self.weights()))
        return torch.where(self.case.counts > 0, cells, own)

    def turned(self, own: Tensor, each: Tensor) -> tuple[Tensor | None, Tensor]:
        """How weights change in a direction: those of what cells held, and of updates."""
        quotients, tangents = torch.zeros_like(own), torch.zeros_like(own)
        if self.held is not None:
            quotients = torch.where(self.held == 0, 0, over(own, self.held))
            tangents = torch.where(self.held == 0, own, 0)
        of_each = torch.where(self.read == 0, 0, over(each, self.read))
        quotients = self.case.joined(quotients, of_each)
        tangents = self.case.joined(tangents, torch.where(self.read == 0, each, 0))
        of = self.case.gather
        product, zeros = self.product, self.zeros
        turned = _turn(of(product), of(zeros), of(quotients), of(tangents), self.read, each)
        if self.held is None:
            return None, turned
        turned_own = _turn(product, zeros, quotients, tangents, self.held, own)
        return torch.where(self.case.counts > 0, turned_own, 0), turned


def _weight(product: Tensor, zeros: Tensor, factor: Tensor) -> Tensor:
    alone = (zeros == 1) & (factor == 0)
    return torch.where(zeros == 0, over(product, factor), torch.where(alone, product, 0))


def _turn(
    product: Tensor,
    zeros: Tensor,
    quotients: Tensor,
    tangents: Tensor,
    factor: Tensor,
    t: Tensor,
) -> Tensor:
    is_zero, others = factor == 0, over(product, factor)
    found = torch.where(
        (zeros == 0) & ~is_zero, times(others, quotients - over(t, factor)), torch.zeros_like(t)
    )
    found = torch.where((zeros == 1) & ~is_zero, times(others, tangents), found)
    found = torch.where((zeros == 1) & is_zero, times(product, quotients), found)
    return torch.where((zeros == 2) & is_zero, times(product, tangents - t), found)


def _times_conj(values: Tensor, weights: Tensor) -> Tensor:
    return times(values, weights.conj().resolve_conj())


def _of_product(
    case: _Case, grads: Tensor, held: Tensor | None, read: Tensor
) -> tuple[Tensor, Tensor]:
    products = _Products(case, held, read)
    own = case.passed_by(grads)
    if held is not None:
        weighted = _times_conj(grads, _weight(products.product, products.zeros, held))
        own = torch.where(case.counts > 0, weighted, grads)
    return own, _times_conj(case.gather(grads), products.weights())


def scatter_reduce_jvp(
    input_t: Tensor,
    src_t: Tensor,
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    result: Tensor,
    reduce: str,
    include_self: bool,
) -> Tensor:
    """As `_scatter_reduce_jvp` on the CPU."""
    case = _Case(input, dim, index, include_self)
    own, each = case.cells(input_t), case.corner(src_t)
    if reduce in _LINEAR:
        out = _line(input_t).clone(memory_format=torch.contiguous_format)
        name = reduce.removeprefix("exact_")
        read = case.corner(src_t).to(src_t.dtype)
        case.along.fold(out, read, reduction_of(name, include_self))
        return out.reshape(case.shape)
    held = case.cells(input) if include_self else None
    if reduce == "prod":
        moved = _Products(case, held, case.corner(src)).moved(own, each)
    else:
        moved = _moved_by_ties(case, own, each, held, case.corner(src), case.cells(result))
    return case.to_cells(moved, input.dtype)


def _moved_by_ties(
    case: _Case, own: Tensor, each: Tensor, held: Tensor | None, read: Tensor, results: Tensor
) -> Tensor:
    tied = _ties(read, case.gather(results))
    counts = torch.zeros(results.shape, dtype=torch.int64, device=results.device)
    cells = torch.zeros_like(own)
    if held is not None:
        counts = _ties(held, results).to(torch.int64)
        cells = torch.where(counts == 1, own, 0)
    counts = case.joined(counts, tied.to(torch.int64))
    cells = case.joined(cells, torch.where(tied, each, 0))
    cells = torch.where(counts > 0, per_count(cells, counts.clamp(min=1)), 0)
    return torch.where(case.counts > 0, cells, own)


def scatter_prod_double_vjp(
    grad: Tensor,
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    include_self: bool,
    input_g: Tensor,
    src_g: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """As `_scatter_prod_double_vjp` on the CPU."""
    case, dtype = _Case(input, dim, index, include_self), grad.dtype
    grads, held = case.cells(grad), case.cells(input) if include_self else None
    products = _Products(case, held, case.corner(src))
    own, each = case.cells(input_g), case.corner(src_g)
    to_grad = products.moved(own, each)
    turned_own, turned = products.turned(own, each)
    to_src = _times_conj(case.gather(grads), turned)
    to_own = torch.zeros_like(grads)
    if turned_own is not None:
        to_own = torch.where(case.counts > 0, _times_conj(grads, turned_own), 0)
    return (
        case.to_cells(to_grad, dtype),
        case.to_cells(to_own, dtype),
        case.whole(to_src, src.shape, dtype),
    )


def scatter_arg_vjp(grad: Tensor, arg: Tensor, index: Any, dim: int, along: int) -> Tensor:
    """As `_scatter_arg_vjp` on the CPU: each cell's gradient goes to its winner."""
    dim %= grad.dim()
    shape = list(grad.shape)
    # `along` stands for no winner: one more place, which is left out.
    shape[dim] = along + 1
    out = grad.new_zeros(shape)
    return Along(shape, dim, arg).assign(out, grad).narrow(dim, 0, along).contiguous()


def scatter_arg_jvp(src_t: Tensor, arg: Tensor, dim: int) -> Tensor:
    """As `_scatter_arg_jvp` on the CPU: each cell's tangent is its winner's, or 0."""
    dim %= src_t.dim()
    size = src_t.shape[dim]
    if size == 0 or arg.numel() == 0:
        return src_t.new_zeros(arg.shape)
    found = src_t.gather(dim, arg.clamp(max=size - 1))
    return torch.where(arg < size, found, 0)
