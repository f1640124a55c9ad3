"""``torch.ops.strew.segment_coo`` and so on: segments and gathers, with derivatives.

Sums and gathers are each other's derivatives. Pointers may overlap, so that an element feeds
several rows. `spread_csr` is the derivative of a sum over such runs. `gather_csr_backward` is the
derivative of a copy to them, where the last copy to a cell stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..._arrays.places import OnDevice, places
from ..._native.errors import Problem
from ..._strew import Operator
from ..calls import Call, define
from ..registry import by_device
from ..tensors import as_tensor, copied
from .scatter import divided, scatter

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from torch import Tensor

    from ..calls import Batch, Batched, Gradients, Tangent, Tangents
    from ..tensors import Shape


def _run(row: str) -> Callable[..., Any]:
    return by_device(row, Operator(row))


_run_scatter = _run("torch_scatter.scatter")
_run_segment_csr = _run("torch_scatter.segment_csr")
_run_gather_csr = _run("torch_scatter.gather_csr")


def _resized(shape: Shape, dim: int, size: int) -> tuple[int, ...]:
    return (*shape[:dim], size, *shape[dim + 1 :])


def _trailing(values: Tensor, like: Tensor) -> Tensor:
    """The values with axes of size 1 appended, up to the rank of `like`."""
    return values.reshape(values.shape + (1,) * (like.dim() - values.dim()))


class OfRows(Call):
    """A call of which `index`, or `indptr`, says how the elements belong to rows.

    Rows lie along its last axis.
    """

    integers = ("index", "indptr")
    differentiable: tuple[str, ...] = ("src", "out")

    #: The argument that says the size of the result along the axis of the rows, if there is one.
    size_argument: str | None = None

    @property
    def along(self) -> int:
        """The axis of the rows."""
        raise NotImplementedError

    def prepare(self) -> None:
        self.dim = self.along

    def empty(self) -> Any:
        out = getattr(self, "out", None)
        if out is not None:
            return self.src.new_empty(out.shape)
        size = self.count_rows()
        if size is None:
            # The number of rows depends on the values of the index.
            size = torch.library.get_ctx().new_dynamic_size()
        return self.src.new_empty(_resized(self.src.shape, self.along, size))

    def count_rows(self) -> int | None:
        """The size of the result along the axis of the rows, where there is no `out`."""
        return getattr(self, self.size_argument or "")

    def vmap(self, batch: Batch) -> Batched:
        """All tensors get the batch axis in front, also the index."""
        of_size = self.size_argument is not None and getattr(self, "out", None) is None
        if of_size and self.count_rows() is None and batch.has(self.names[1]):
            raise Problem(ValueError, self.name, "out").saying(
                "out or the size of the result is needed under vmap,"
                " because each sample of the index would give another size"
            )
        found = self.apply(self.operator, **{name: batch.rows(name) for name in self.tensors})
        return found, (0,) * len(found) if isinstance(found, tuple) else 0


class Coo(OfRows):
    keeps: tuple[str, ...] = ("index",)

    @property
    def along(self) -> int:
        return self.index.dim() - 1


class Csr(OfRows):
    keeps: tuple[str, ...] = ("indptr",)

    @property
    def along(self) -> int:
        return self.indptr.dim() - 1


class ToRows(Csr):
    """A call with a result for each row."""

    def count_rows(self) -> int:
        return max(self.indptr.shape[-1] - 1, 0)


class Segments(OfRows):
    """Sums and means of a row's elements, which are linear."""

    def prepare(self) -> None:
        self.dim = self.along
        self.dim_size = self.result_shape[self.dim]

    def counts(self) -> Tensor:
        """How many elements each row has, at least 1."""
        raise NotImplementedError

    def spread(self, shared: Tensor) -> Tensor:
        """The gradient of each element: that of its row."""
        raise NotImplementedError

    def backward(self, grad: Tensor) -> Gradients:
        # The gradient of each row's sum.
        if self.reduce == "mean":
            grad = divided(grad, _trailing(self.counts(), grad))
        of_src = grad.new_zeros(self.src_shape) if 0 in self.src_shape else self.spread(grad)
        return of_src, self.of_out(grad)

    def of_out(self, shared: Tensor) -> Tensor | None:
        """The gradient of `out`."""
        raise NotImplementedError


class SegmentCoo(Segments, Coo):
    schema = (
        "segment_coo(Tensor src, Tensor index, Tensor? out, SymInt? dim_size, str reduce) -> Tensor"
    )
    row = "torch_scatter.segment_coo"
    size_argument = "dim_size"

    def counts(self) -> Tensor:
        index = self.index.expand(*self.index.shape[:-1], self.src_shape[self.dim])
        ones = torch.ones((), dtype=torch.int64, device=index.device).expand(index.shape)
        return segment_coo(ones, index, None, self.dim_size, "sum").clamp(min=1)

    def spread(self, shared: Tensor) -> Tensor:
        return gather_coo(shared, self.index.expand(self.src_shape[: self.dim + 1]), None)

    def of_out(self, shared: Tensor) -> Tensor:
        return shared

    def forward(self, src_t: Tangent, out_t: Tangent) -> Tangents:
        src_t = self.zeros(out_t, "src") if src_t is None else src_t
        return self.rerun(src_t, out_t)


class SegmentCsr(Segments, ToRows):
    """`out` is overwritten, so its gradient is 0."""

    schema = "segment_csr(Tensor src, Tensor indptr, Tensor? out, str reduce) -> Tensor"
    row = "torch_scatter.segment_csr"

    def counts(self) -> Tensor:
        return (self.indptr[..., 1:] - self.indptr[..., :-1]).clamp(min=1)

    def spread(self, shared: Tensor) -> Tensor:
        return spread_csr(shared, self.indptr, self.src_shape[self.dim])

    def of_out(self, shared: Tensor) -> None:
        return None

    def forward(self, src_t: Tangent, out_t: Tangent) -> Tangents:
        if src_t is None or 0 in self.src_shape:
            like = out_t if src_t is None else src_t
            return like.new_zeros(_resized(self.src_shape, self.dim, self.dim_size))
        return self.rerun(src_t, None)


class Winners(OfRows):
    """Minima and maxima: the first winner of a row gets its gradient.

    An element may win several rows.
    """

    results = ("result", "arg")
    constants = 1
    keeps: tuple[str, ...] = ("arg",)
    # The axis is that of the index, which is not kept.
    keeps_early = True

    def empty(self) -> tuple[Tensor, Tensor]:
        values = super().empty()
        return values, values.new_empty(values.shape, dtype=torch.int64)

    def backward(self, grad: Tensor) -> Gradients:
        size = self.src_shape[self.dim]
        # `arg` of rows without a winner is the position after the last one.
        found = scatter(grad, self.arg, self.dim, size + 1, "sum").narrow(self.dim, 0, size)
        return found, self.of_out(grad) if self.wanted[1] else None

    def of_out(self, values: Tensor) -> Tensor | None:
        return None

    def forward(self, src_t: Tangent, out_t: Tangent) -> Tangents:
        arg, size = self.arg, self.src_shape[self.dim]
        stays = None if out_t is None else self.of_out(out_t)
        if src_t is None or size == 0:
            like = out_t if src_t is None else src_t
            return like.new_zeros(arg.shape) if stays is None else stays
        found = torch.where(arg < size, src_t.gather(self.dim, arg.clamp(max=size - 1)), 0)
        return found if stays is None else found + stays


class SegmentCooExtreme(Winners, Coo):
    schema = (
        "segment_coo_extreme(Tensor src, Tensor index, Tensor? out, SymInt? dim_size, str reduce)"
        " -> (Tensor, Tensor)"
    )
    row = "torch_scatter.segment_{reduce}_coo"
    size_argument = "dim_size"

    def of_out(self, values: Tensor) -> Tensor:
        """Where no element beats the value in `out`, that value is the result."""
        return torch.where(self.arg == self.src_shape[self.dim], values, 0)


class SegmentCsrExtreme(Winners, ToRows):
    schema = (
        "segment_csr_extreme(Tensor src, Tensor indptr, Tensor? out, str reduce)"
        " -> (Tensor, Tensor)"
    )
    row = "torch_scatter.segment_{reduce}_csr"


class GatherCoo(Coo):
    schema = "gather_coo(Tensor src, Tensor index, Tensor? out) -> Tensor"
    row = "torch_scatter.gather_coo"

    def count_rows(self) -> int:
        return self.index.shape[self.along]

    def backward(self, grad: Tensor) -> Gradients:
        if 0 in self.src_shape:
            return grad.new_zeros(self.src_shape), None
        return segment_coo(grad, self.index, None, self.src_shape[self.dim], "sum"), None

    def forward(self, src_t: Tangent, out_t: Tangent) -> Tangents:
        return torch.zeros_like(out_t) if src_t is None else self.rerun(src_t, None)


def _gather_csr(src: Tensor, indptr: Tensor, out: Tensor | None, size: int | None) -> Tensor:
    """Copies rows to cells; other cells have `out`'s values, or 0."""
    found = copied(out)
    if found is None and size is not None and not (src.numel() > 0 and _ends_at(indptr, size)):
        found = src.new_zeros(_resized(src.shape, indptr.dim() - 1, size))
    return _run_gather_csr(src, indptr, found)


def _ends_at(indptr: Tensor, size: int) -> bool:
    """Whether the operator would find the same size: then zeros need not be written first."""
    return indptr.numel() > 0 and int(indptr[(-1,) * indptr.dim()]) == size


class GatherCsr(Csr):
    schema = "gather_csr(Tensor src, Tensor indptr, Tensor? out, SymInt? size) -> Tensor"
    run = staticmethod(_gather_csr)
    size_argument = "size"

    def prepare(self) -> None:
        super().prepare()
        self.size = self.result_shape[self.dim]

    def backward(self, grad: Tensor) -> Gradients:
        nothing = grad.new_zeros(self.src_shape)
        of_src = nothing if 0 in self.src_shape else gather_csr_backward(grad, self.indptr)
        # Cells that no row was copied to have `out`'s values.
        return of_src, gather_csr(nothing, self.indptr, grad, None) if self.wanted[1] else None

    def forward(self, src_t: Tangent, out_t: Tangent) -> Tangents:
        src_t = self.zeros(out_t, "src") if src_t is None else src_t
        return self.rerun(src_t, out_t)


def _ascends(indptr: Tensor) -> bool:
    """Whether pointers ascend, so that no cell is in two rows."""
    return bool((indptr[..., 1:] >= indptr[..., :-1]).all())


def _gather_csr_backward(grad: Tensor, indptr: Tensor) -> Tensor:
    if _ascends(indptr):
        return _run_segment_csr(grad, indptr, None, "sum")
    dim, rows = indptr.dim() - 1, indptr.shape[-1] - 1
    numbers = torch.arange(rows, device=indptr.device).expand(*grad.shape[:dim], rows)
    # Cells that no row was copied to belong to an extra row after the last.
    owners = torch.full(grad.shape[: dim + 1], rows, device=indptr.device)
    owners = _run_gather_csr(numbers, indptr, owners)
    return _run_scatter(grad, owners, dim, None, rows + 1, "sum").narrow(dim, 0, rows).contiguous()


class GatherCsrBackward(ToRows):
    """Sums over the cells in which a row's copy stayed."""

    schema = "gather_csr_backward(Tensor grad, Tensor indptr) -> Tensor"
    run = staticmethod(_gather_csr_backward)
    differentiable = ("grad",)

    def empty(self) -> Tensor:
        return self.grad.new_empty(_resized(self.grad.shape, self.along, self.count_rows()))

    def prepare(self) -> None:
        super().prepare()
        self.size = self.grad_shape[self.dim]

    def backward(self, grad: Tensor) -> Gradients:
        return gather_csr(grad, self.indptr, None, self.size)


def _spread_csr(src: Tensor, indptr: Tensor, size: int) -> Tensor:
    """Adds each row to the cells from its pointer to the next."""
    dim = indptr.dim() - 1
    shape = _resized(src.shape, dim, size)
    if _ascends(indptr):
        return _gather_csr(src, indptr, None, size)
    arrays = OnDevice(torch, indptr.device)
    rows, cells = places(arrays, indptr.expand(*src.shape[:dim], -1).long(), size)
    updates = src.reshape(src.shape[: dim + 1].numel(), src.shape[dim + 1 :].numel()).index_select(
        0, rows
    )
    return _run_scatter(updates, cells, 0, None, src.shape[:dim].numel() * size, "sum").reshape(
        shape
    )


class SpreadCsr(Csr):
    schema = "spread_csr(Tensor src, Tensor indptr, SymInt size) -> Tensor"
    run = staticmethod(_spread_csr)
    size_argument = "size"
    differentiable = ("src",)

    def backward(self, grad: Tensor) -> Gradients:
        return segment_csr(grad, self.indptr, None, "sum")


segment_coo = define(SegmentCoo)
segment_coo_extreme = define(SegmentCooExtreme)
segment_csr = define(SegmentCsr)
segment_csr_extreme = define(SegmentCsrExtreme)
gather_coo = define(GatherCoo)
gather_csr = define(GatherCsr)
gather_csr_backward = define(GatherCsrBackward)
spread_csr = define(SpreadCsr)


def _into(out: Tensor | None, found: Any, with_arg: bool = False) -> Any:
    """What a function of torch_scatter returns: `out` itself if it is given."""
    if not isinstance(found, tuple):
        return found if out is None else out.copy_(found)
    values = found[0] if out is None else out.copy_(found[0])
    return (values, found[1]) if with_arg else values


def call_coo(
    src: Tensor,
    index: Tensor,
    out: Tensor | None,
    dim_size: int | None,
    reduce: str,
    with_arg: bool = False,
) -> Any:
    """``segment_coo`` by way of the dispatcher."""
    run = segment_coo_extreme if reduce in ("min", "max") else segment_coo
    return _into(out, run(as_tensor(src), as_tensor(index), out, dim_size, reduce), with_arg)


def call_csr(
    src: Tensor, indptr: Tensor, out: Tensor | None, reduce: str, with_arg: bool = False
) -> Any:
    """``segment_csr`` by way of the dispatcher."""
    run = segment_csr_extreme if reduce in ("min", "max") else segment_csr
    return _into(out, run(as_tensor(src), as_tensor(indptr), out, reduce), with_arg)


def call_gather_coo(src: Tensor, index: Tensor, out: Tensor | None) -> Tensor:
    """``gather_coo`` by way of the dispatcher."""
    return _into(out, gather_coo(as_tensor(src), as_tensor(index), out))


def call_gather_csr(src: Tensor, indptr: Tensor, out: Tensor | None) -> Tensor:
    """``gather_csr`` by way of the dispatcher."""
    return _into(out, gather_csr(as_tensor(src), as_tensor(indptr), out, None))
