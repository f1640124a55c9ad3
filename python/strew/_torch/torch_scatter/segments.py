"""``torch.ops.strew.segment_coo`` and so on: segments and gathers, with derivatives.

Sums and gathers are each other's derivatives. Pointers may overlap, so that an element feeds
several rows. `spread_csr` is the derivative of a sum over such runs. `gather_csr_backward` is the
derivative of a copy to them, where the last copy to a cell stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..._arrays.places import places
from ..._strew import Operator
from ..registry import Derivatives, batched, define
from ..script import script
from ..tensors import as_tensor, plain
from .scatter import divided, scatter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from torch import Tensor

    from ..registry import Batched, Gradients, Saved, Shape, Tangent, Tangents

_run_scatter = Operator("torch_scatter.scatter")
_run_segment_coo = Operator("torch_scatter.segment_coo")
_run_segment_csr = Operator("torch_scatter.segment_csr")
_run_gather_coo = Operator("torch_scatter.gather_coo")
_run_gather_csr = Operator("torch_scatter.gather_csr")
_run_extreme_coo = {
    "min": Operator("torch_scatter.segment_min_coo"),
    "max": Operator("torch_scatter.segment_max_coo"),
}
_run_extreme_csr = {
    "min": Operator("torch_scatter.segment_min_csr"),
    "max": Operator("torch_scatter.segment_max_csr"),
}


def copied(out: Tensor | None) -> Tensor | None:
    """A copy of `out`: an operator with a derivative must not change its arguments."""
    return None if out is None else plain(out).clone(memory_format=torch.contiguous_format)


def _resized(shape: Shape, dim: int, size: int) -> tuple[int, ...]:
    return (*shape[:dim], size, *shape[dim + 1 :])


def _trailing(values: Tensor, like: Tensor) -> Tensor:
    """The values with axes of size 1 appended, up to the rank of `like`."""
    return values.reshape(values.shape + (1,) * (like.dim() - values.dim()))


def _dynamic_size() -> Any:
    # The number of rows depends on the values of the index.
    return torch.library.get_ctx().new_dynamic_size()


def _vmapped(operator: str, size_at: int | None = None) -> Callable[..., Batched]:
    """The rule of `torch.func.vmap`: all tensors get the batch axis in front, also the index."""

    def rule(info: Any, in_dims: Sequence[Any], *arguments: Any) -> Batched:
        size_given = size_at is None or arguments[size_at] is not None
        if not size_given and in_dims[1] is not None and arguments[2] is None:
            raise ValueError(
                f"{operator}: out or the size of the result is needed under vmap,"
                " because each sample of the index would give another size"
            )
        found = getattr(torch.ops.strew, operator)(
            *(
                batched(argument, dim, info.batch_size)
                if isinstance(argument, torch.Tensor)
                else argument
                for argument, dim in zip(arguments, in_dims, strict=True)
            )
        )
        return found, (0,) * len(found) if isinstance(found, tuple) else 0

    return rule


class Segments(Derivatives):
    """Sums and means of a row's elements, which are linear."""

    def counts(self, index: Tensor) -> Tensor:
        """How many elements each row has, at least 1."""
        raise NotImplementedError

    def spread(self, index: Tensor, shared: Tensor) -> Tensor:
        """The gradient of each element: that of its row."""
        raise NotImplementedError

    def of_out(self, shared: Tensor) -> Tensor | None:
        """The gradient of `out`."""
        raise NotImplementedError

    def __init__(self, src: Tensor, index: Tensor, out: Tensor | None, *rest: Any) -> None:
        self.shape, self.dim, self.reduce = src.shape, index.dim() - 1, rest[-1]
        self.into, self.unused = out is not None, (None,) * len(rest)

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        self.size = results[0].shape[self.dim]
        return (arguments[1],)

    def shared(self, index: Tensor, grad: Tensor) -> Tensor:
        """The gradient of each row's sum."""
        return divided(grad, _trailing(self.counts(index), grad)) if self.reduce == "mean" else grad

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        (index,) = saved
        shared = self.shared(index, grad)
        empty = 0 in self.shape
        of_src = grad.new_zeros(self.shape) if empty else self.spread(index, shared)
        return of_src, None, self.of_out(shared) if self.into else None, *self.unused


class SegmentsCoo(Segments):
    def counts(self, index: Tensor) -> Tensor:
        index = index.expand(*index.shape[:-1], self.shape[self.dim])
        ones = torch.ones((), dtype=torch.int64, device=index.device).expand(index.shape)
        return segment_coo(ones, index, None, self.size, "sum").clamp(min=1)

    def spread(self, index: Tensor, shared: Tensor) -> Tensor:
        return gather_coo(shared, index.expand(self.shape[: self.dim + 1]), None)

    def of_out(self, shared: Tensor) -> Tensor:
        return shared

    def forward(
        self,
        saved: Saved,
        src_t: Tangent,
        _index: Any,
        out_t: Tangent,
        _size: Any,
        _reduce: Any,
    ) -> Tangents:
        (index,) = saved
        if src_t is None:
            src_t = out_t.new_zeros(self.shape)
        return segment_coo(src_t, index, out_t, self.size, self.reduce)


class SegmentsCsr(Segments):
    def counts(self, indptr: Tensor) -> Tensor:
        return (indptr[..., 1:] - indptr[..., :-1]).clamp(min=1)

    def spread(self, indptr: Tensor, shared: Tensor) -> Tensor:
        return spread_csr(shared, indptr, self.shape[self.dim])

    def of_out(self, shared: Tensor) -> Tensor | None:
        # `out` is overwritten.
        return None

    def forward(
        self, saved: Saved, src_t: Tangent, _indptr: Any, out_t: Tangent, _reduce: Any
    ) -> Tangents:
        (indptr,) = saved
        if src_t is None or 0 in self.shape:
            like = out_t if src_t is None else src_t
            return like.new_zeros(_resized(self.shape, self.dim, self.size))
        return segment_csr(src_t, indptr, None, self.reduce)


class Winners(Derivatives):
    """Minima and maxima: the first winner of a row gets its gradient.

    An element may win several rows.
    """

    constants = (1,)

    def __init__(self, src: Tensor, index: Tensor, out: Tensor | None, *rest: Any) -> None:
        self.shape, self.dim = src.shape, index.dim() - 1
        self.into, self.unused = out is not None, (None,) * len(rest)

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (results[1],)

    def backward(self, saved: Saved, grad: Tensor, _arg: Tensor | None) -> Gradients:
        (arg,) = saved
        size = self.shape[self.dim]
        # `arg` of rows without a winner is the position after the last one.
        found = scatter(grad, arg, self.dim, size + 1, "sum").narrow(self.dim, 0, size)
        return found, None, self.of_out(arg, grad) if self.into else None, *self.unused

    def of_out(self, arg: Tensor, values: Tensor) -> Tensor | None:
        return None

    def forward(
        self, saved: Saved, src_t: Tangent, _index: Any, out_t: Tangent, *_: Any
    ) -> Tangents:
        (arg,) = saved
        size = self.shape[self.dim]
        stays = None if out_t is None else self.of_out(arg, out_t)
        if src_t is None or size == 0:
            like = out_t if src_t is None else src_t
            return like.new_zeros(arg.shape) if stays is None else stays, None
        found = torch.where(arg < size, src_t.gather(self.dim, arg.clamp(max=size - 1)), 0)
        return found if stays is None else found + stays, None


class WinnersCoo(Winners):
    def of_out(self, arg: Tensor, values: Tensor) -> Tensor:
        """Where no element beats the value in `out`, that value is the result."""
        return torch.where(arg == self.shape[self.dim], values, 0)


def _coo_shape(src: Tensor, index: Tensor, out: Tensor | None, dim_size: int | None) -> Shape:
    if out is not None:
        return out.shape
    return _resized(src.shape, index.dim() - 1, _dynamic_size() if dim_size is None else dim_size)


def _csr_shape(src: Tensor, indptr: Tensor, out: Tensor | None) -> Shape:
    if out is not None:
        return out.shape
    return _resized(src.shape, indptr.dim() - 1, max(indptr.shape[-1] - 1, 0))


def _segment_coo(
    src: Tensor, index: Tensor, out: Tensor | None, dim_size: int | None, reduce: str
) -> Tensor:
    return _run_segment_coo(plain(src), index, copied(out), dim_size, reduce)


def _segment_coo_fake(
    src: Tensor, index: Tensor, out: Tensor | None, dim_size: int | None, reduce: str
) -> Tensor:
    return src.new_empty(_coo_shape(src, index, out, dim_size))


segment_coo = define(
    "segment_coo(Tensor src, Tensor index, Tensor? out, SymInt? dim_size, str reduce) -> Tensor",
    _segment_coo,
    _segment_coo_fake,
    SegmentsCoo,
    _vmapped("segment_coo", 3),
)


def _segment_coo_extreme(
    src: Tensor, index: Tensor, out: Tensor | None, dim_size: int | None, reduce: str
) -> tuple[Tensor, Tensor]:
    return _run_extreme_coo[reduce](plain(src), index, copied(out), dim_size)


def _segment_coo_extreme_fake(
    src: Tensor, index: Tensor, out: Tensor | None, dim_size: int | None, reduce: str
) -> tuple[Tensor, Tensor]:
    shape = _coo_shape(src, index, out, dim_size)
    return src.new_empty(shape), index.new_empty(shape, dtype=torch.int64)


segment_coo_extreme = define(
    "segment_coo_extreme(Tensor src, Tensor index, Tensor? out, SymInt? dim_size, str reduce)"
    " -> (Tensor, Tensor)",
    _segment_coo_extreme,
    _segment_coo_extreme_fake,
    WinnersCoo,
    _vmapped("segment_coo_extreme", 3),
)


def _segment_csr(src: Tensor, indptr: Tensor, out: Tensor | None, reduce: str) -> Tensor:
    return _run_segment_csr(plain(src), indptr, copied(out), reduce)


def _segment_csr_fake(src: Tensor, indptr: Tensor, out: Tensor | None, reduce: str) -> Tensor:
    return src.new_empty(_csr_shape(src, indptr, out))


segment_csr = define(
    "segment_csr(Tensor src, Tensor indptr, Tensor? out, str reduce) -> Tensor",
    _segment_csr,
    _segment_csr_fake,
    SegmentsCsr,
    _vmapped("segment_csr"),
)


def _segment_csr_extreme(
    src: Tensor, indptr: Tensor, out: Tensor | None, reduce: str
) -> tuple[Tensor, Tensor]:
    return _run_extreme_csr[reduce](plain(src), indptr, copied(out))


def _segment_csr_extreme_fake(
    src: Tensor, indptr: Tensor, out: Tensor | None, reduce: str
) -> tuple[Tensor, Tensor]:
    shape = _csr_shape(src, indptr, out)
    return src.new_empty(shape), indptr.new_empty(shape, dtype=torch.int64)


segment_csr_extreme = define(
    "segment_csr_extreme(Tensor src, Tensor indptr, Tensor? out, str reduce) -> (Tensor, Tensor)",
    _segment_csr_extreme,
    _segment_csr_extreme_fake,
    Winners,
    _vmapped("segment_csr_extreme"),
)


class GatherCoo(Derivatives):
    def __init__(self, src: Tensor, index: Tensor, out: Tensor | None) -> None:
        self.shape, self.size = src.shape, src.shape[index.dim() - 1]

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (arguments[1],)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        (index,) = saved
        if 0 in self.shape:
            return grad.new_zeros(self.shape), None, None
        return segment_coo(grad, index, None, self.size, "sum"), None, None

    def forward(self, saved: Saved, src_t: Tangent, _index: Any, out_t: Tangent) -> Tangents:
        (index,) = saved
        return torch.zeros_like(out_t) if src_t is None else gather_coo(src_t, index, None)


def _gather_coo(src: Tensor, index: Tensor, out: Tensor | None) -> Tensor:
    return _run_gather_coo(plain(src), index, copied(out))


def _gather_coo_fake(src: Tensor, index: Tensor, out: Tensor | None) -> Tensor:
    dim = index.dim() - 1
    return src.new_empty(_resized(src.shape, dim, index.shape[dim]) if out is None else out.shape)


gather_coo = define(
    "gather_coo(Tensor src, Tensor index, Tensor? out) -> Tensor",
    _gather_coo,
    _gather_coo_fake,
    GatherCoo,
    _vmapped("gather_coo"),
)


class GatherCsr(Derivatives):
    def __init__(self, src: Tensor, indptr: Tensor, out: Tensor | None, size: int | None) -> None:
        self.shape, self.dim, self.into = src.shape, indptr.dim() - 1, out is not None

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        self.size = results[0].shape[self.dim]
        return (arguments[1],)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        (indptr,) = saved
        nothing = grad.new_zeros(self.shape)
        of_src = nothing if 0 in self.shape else gather_csr_backward(grad, indptr)
        # Cells that no row was copied to have `out`'s values.
        of_out = gather_csr(nothing, indptr, grad, None) if self.into else None
        return of_src, None, of_out, None

    def forward(
        self, saved: Saved, src_t: Tangent, _indptr: Any, out_t: Tangent, _size: Any
    ) -> Tangents:
        (indptr,) = saved
        if src_t is None:
            src_t = out_t.new_zeros(self.shape)
        return gather_csr(src_t, indptr, out_t, self.size)


def _gather_csr(src: Tensor, indptr: Tensor, out: Tensor | None, size: int | None) -> Tensor:
    """Copies rows to cells; other cells have `out`'s values, or 0."""
    found = copied(out)
    if found is None and size is not None and not (src.numel() > 0 and _ends_at(indptr, size)):
        found = src.new_zeros(_resized(src.shape, indptr.dim() - 1, size))
    return _run_gather_csr(plain(src), indptr, found)


def _ends_at(indptr: Tensor, size: int) -> bool:
    """Whether the operator would find the same size: then zeros need not be written first."""
    return indptr.numel() > 0 and int(indptr[(-1,) * indptr.dim()]) == size


def _gather_csr_fake(src: Tensor, indptr: Tensor, out: Tensor | None, size: int | None) -> Tensor:
    if out is not None:
        return out.new_empty(out.shape)
    return src.new_empty(
        _resized(src.shape, indptr.dim() - 1, _dynamic_size() if size is None else size)
    )


gather_csr = define(
    "gather_csr(Tensor src, Tensor indptr, Tensor? out, SymInt? size) -> Tensor",
    _gather_csr,
    _gather_csr_fake,
    GatherCsr,
    _vmapped("gather_csr", 3),
)


def _ascends(indptr: Tensor) -> bool:
    """Whether pointers ascend, so that no cell is in two rows."""
    return bool((indptr[..., 1:] >= indptr[..., :-1]).all())


class GatherCsrBackward(Derivatives):
    """Derivatives of sums over the cells in which a row's copy stayed."""

    def __init__(self, grad: Tensor, indptr: Tensor) -> None:
        self.size = grad.shape[indptr.dim() - 1]

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (arguments[1],)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        (indptr,) = saved
        return gather_csr(grad, indptr, None, self.size), None

    def forward(self, saved: Saved, grad_t: Tangent, _indptr: Any) -> Tangents:
        (indptr,) = saved
        return gather_csr_backward(grad_t, indptr)


def _gather_csr_backward(grad: Tensor, indptr: Tensor) -> Tensor:
    grad = plain(grad)
    if _ascends(indptr):
        return _run_segment_csr(grad, indptr, None, "sum")
    dim, rows = indptr.dim() - 1, indptr.shape[-1] - 1
    numbers = torch.arange(rows, device=indptr.device).expand(*grad.shape[:dim], rows)
    # Cells that no row was copied to belong to an extra row after the last.
    owners = torch.full(grad.shape[: dim + 1], rows, device=indptr.device)
    _run_gather_csr(numbers, indptr, owners)
    return _run_scatter(grad, owners, dim, None, rows + 1, "sum").narrow(dim, 0, rows).contiguous()


def _gather_csr_backward_fake(grad: Tensor, indptr: Tensor) -> Tensor:
    return grad.new_empty(_csr_shape(grad, indptr, None))


gather_csr_backward = define(
    "gather_csr_backward(Tensor grad, Tensor indptr) -> Tensor",
    _gather_csr_backward,
    _gather_csr_backward_fake,
    GatherCsrBackward,
    _vmapped("gather_csr_backward"),
)


class SpreadCsr(Derivatives):
    def __init__(self, src: Tensor, indptr: Tensor, size: int) -> None:
        self.size = size

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (arguments[1],)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        (indptr,) = saved
        return segment_csr(grad, indptr, None, "sum"), None, None

    def forward(self, saved: Saved, src_t: Tangent, _indptr: Any, _size: Any) -> Tangents:
        (indptr,) = saved
        return spread_csr(src_t, indptr, self.size)


def _spread_csr(src: Tensor, indptr: Tensor, size: int) -> Tensor:
    """Adds each row to the cells from its pointer to the next."""
    src, dim = plain(src), indptr.dim() - 1
    shape = _resized(src.shape, dim, size)
    if _ascends(indptr):
        return _gather_csr(src, indptr, None, size)
    rows, cells = places(torch, indptr.expand(*src.shape[:dim], -1).long(), size)
    updates = src.reshape(src.shape[: dim + 1].numel(), src.shape[dim + 1 :].numel()).index_select(
        0, rows
    )
    return _run_scatter(updates, cells, 0, None, src.shape[:dim].numel() * size, "sum").reshape(
        shape
    )


def _spread_csr_fake(src: Tensor, indptr: Tensor, size: int) -> Tensor:
    return src.new_empty(_resized(src.shape, indptr.dim() - 1, size))


spread_csr = define(
    "spread_csr(Tensor src, Tensor indptr, SymInt size) -> Tensor",
    _spread_csr,
    _spread_csr_fake,
    SpreadCsr,
    _vmapped("spread_csr"),
)


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


def _script_segments(reduce: str) -> None:
    with_arg = reduce in ("min", "max")
    results = "(Tensor, Tensor)" if with_arg else "Tensor"

    def coo(
        src: Tensor, index: Tensor, out: Tensor | None = None, dim_size: int | None = None
    ) -> Any:
        return call_coo(src, index, out, dim_size, reduce, with_arg)

    def csr(src: Tensor, indptr: Tensor, out: Tensor | None = None) -> Any:
        return call_csr(src, indptr, out, reduce, with_arg)

    script(f"segment_{reduce}_coo", f"{_COO}, int? dim_size=None", coo, results)
    script(f"segment_{reduce}_csr", _CSR, csr, results)


_COO = "Tensor src, Tensor index, Tensor(a!)? out=None"
_CSR = "Tensor src, Tensor indptr, Tensor(a!)? out=None"


def _scripted_coo(
    src: Tensor,
    index: Tensor,
    out: Tensor | None = None,
    dim_size: int | None = None,
    reduce: str = "sum",
) -> Any:
    return call_coo(src, index, out, dim_size, reduce)


def _scripted_csr(
    src: Tensor, indptr: Tensor, out: Tensor | None = None, reduce: str = "sum"
) -> Any:
    return call_csr(src, indptr, out, reduce)


def _scripted_gather_coo(src: Tensor, index: Tensor, out: Tensor | None = None) -> Tensor:
    return call_gather_coo(src, index, out)


def _scripted_gather_csr(src: Tensor, indptr: Tensor, out: Tensor | None = None) -> Tensor:
    return call_gather_csr(src, indptr, out)


script("segment_coo", f'{_COO}, int? dim_size=None, str reduce="sum"', _scripted_coo)
script("segment_csr", f'{_CSR}, str reduce="sum"', _scripted_csr)
script("gather_coo", _COO, _scripted_gather_coo)
script("gather_csr", _CSR, _scripted_gather_csr)
for _reduce in ("sum", "add", "mean", "min", "max"):
    _script_segments(_reduce)
