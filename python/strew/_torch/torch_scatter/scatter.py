"""``torch.ops.strew.scatter`` and so on: torch_scatter's scatter functions, with derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..._strew import Operator, _scatter_arg_jvp, _scatter_arg_vjp
from ..registry import Derivatives, batched, define
from ..script import script
from ..tensors import as_tensor, plain, zeros_if_none
from ..torch.scatter_reduce import scatter_reduce_backward, scatter_reduce_tangent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from torch import Tensor

    from ..registry import Batched, Gradients, Saved, Shape, Tangent, Tangents

#: Up to how many elements torch's own gather is faster: 2x at 100,000 of float32, level at 1M.
#: Above, new memory costs torch more than the gather.
_SMALL = 1 << 20

_run = Operator("torch_scatter.scatter")
_run_extreme = {
    "min": Operator("torch_scatter.scatter_min"),
    "max": Operator("torch_scatter.scatter_max"),
}


def expanded(index: Tensor, shape: Shape, dim: int) -> Tensor:
    """The index in `src`'s shape: one axis lies along `dim`, several get axes of 1 on the right."""
    if index.dim() == 1:
        ones = [1] * len(shape)
        ones[dim] = index.numel()
        return index.reshape(ones).expand(shape)
    return index.reshape(index.shape + (1,) * (len(shape) - index.dim())).expand(shape)


def divided(values: Tensor, counts: Tensor) -> Tensor:
    """Values divided by counts, which a 16-bit float could not represent."""
    if values.dtype in (torch.float16, torch.bfloat16):
        return (values.float() / counts).to(values.dtype)
    return values / counts.to(values.dtype)


def _reduce(reduce: str) -> str:
    """The name in `scatter_reduce`."""
    return "prod" if reduce == "mul" else reduce


def _kernel(src: Tensor, index: Tensor, dim: int, dim_size: int | None, reduce: str) -> Tensor:
    return _run(plain(src), index, dim, None, dim_size, reduce)


def _shape(src: Tensor, index: Tensor, dim: int, dim_size: int | None) -> list[Any]:
    shape = list(src.shape)
    if dim_size is None:
        # The number of groups depends on the values of the index.
        dim_size = torch.library.get_ctx().new_dynamic_size()
    shape[dim] = dim_size
    return shape


def _fake(src: Tensor, index: Tensor, dim: int, dim_size: int | None, reduce: str) -> Tensor:
    return src.new_empty(_shape(src, index, dim, dim_size))


class Scatter(Derivatives):
    def __init__(
        self, src: Tensor, index: Tensor, dim: int, dim_size: int | None, reduce: str
    ) -> None:
        self.shape, self.reduce = src.shape, reduce
        self.dim = dim % src.dim()

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        src, index = arguments[:2]
        self.size = results[0].shape[self.dim]
        of_product = self.reduce == "mul"
        return (index, src if of_product else None, results[0] if of_product else None)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        index, src, result = saved
        if self._is_small_gather(index):
            return grad.index_select(self.dim, index), None, None, None, None
        return self._of_src(grad, index, src, result), None, None, None, None

    def _is_small_gather(self, index: Tensor) -> bool:
        """Whether the gradient is a copy of rows, few enough that torch's own call is faster.

        Not where the gradient is differentiated again: torch's sums of 16-bit floats round at each
        step.
        """
        return (
            self.reduce in ("sum", "add")
            and index.dim() == 1
            and index.numel() == self.shape[self.dim]
            and self.shape.numel() <= _SMALL
            and not torch.is_grad_enabled()
        )

    def _of_src(
        self, grad: Tensor, index: Tensor, src: Tensor | None, result: Tensor | None
    ) -> Tensor:
        _, of_src = scatter_reduce_backward(
            grad,
            self.dim,
            expanded(index, self.shape, self.dim),
            None,
            src,
            list(self.shape),
            result,
            _reduce(self.reduce),
            False,
            False,
            True,
        )
        return of_src

    def _counts(self, index: Tensor, grad: Tensor) -> Tensor:
        """The number of elements of each group, at least 1; it broadcasts with `grad`."""
        size = grad.shape[self.dim]
        if index.dim() == 1 and index.numel() == self.shape[self.dim]:
            counts = scatter(torch.ones_like(index, dtype=torch.int64), index, 0, size, "sum")
            shape = [1] * grad.dim()
            shape[self.dim] = size
            return counts.reshape(shape).clamp(min=1)
        ones = torch.ones((), dtype=torch.int64, device=grad.device).expand(self.shape)
        return scatter(ones, index, self.dim, size, "sum").clamp(min=1)

    def forward(
        self,
        saved: Saved,
        src_t: Tangent,
        _index: Any,
        _dim: Any,
        _dim_size: Any,
        _reduce: Any,
    ) -> Tangents:
        index, src, result = saved
        if self.reduce == "mul":
            return self._moved(torch.zeros_like(result), src_t, index, result, src, result, False)
        return scatter(src_t, index, self.dim, self.size, self.reduce)

    def _moved(
        self,
        out_t: Tangent,
        src_t: Tangent,
        index: Tensor,
        out: Any,
        src: Tensor,
        result: Tensor,
        include_self: bool,
    ) -> Tensor:
        """A product's tangent."""
        index = expanded(index, self.shape, self.dim)
        return scatter_reduce_tangent(
            out_t, src_t, out, self.dim, index, src, result, "prod", include_self
        )


def with_batch_axis(
    info: Any, in_dims: Sequence[Any], src: Tensor, index: Tensor, dim: int, dim_size: int | None
) -> tuple[Tensor, Tensor, int]:
    """The arguments with the batch axis in front."""
    if dim_size is None:
        raise ValueError(
            "scatter: dim_size is needed under vmap,"
            " because each sample would have its own number of groups"
        )
    src_dim, index_dim = in_dims[:2]
    rank = src.dim() - (src_dim is not None)
    dim = dim if dim >= 0 else dim + rank
    src = batched(src, src_dim, info.batch_size)
    if index_dim is None and index.dim() == 1:
        return src, index, dim + 1
    rows = batched(index, index_dim, info.batch_size)
    if rows.dim() == 2:
        shape = [rows.shape[0]] + [1] * rank
        shape[dim + 1] = rows.shape[1]
        rows = rows.reshape(shape)
    return src, expanded(rows, src.shape, dim + 1), dim + 1


def _vmap(
    info: Any,
    in_dims: Sequence[Any],
    src: Tensor,
    index: Tensor,
    dim: int,
    dim_size: int | None,
    reduce: str,
) -> Batched:
    src, index, dim = with_batch_axis(info, in_dims, src, index, dim, dim_size)
    return scatter(src, index, dim, dim_size, reduce), 0


def _extreme_vmap(
    info: Any,
    in_dims: Sequence[Any],
    src: Tensor,
    index: Tensor,
    dim: int,
    dim_size: int | None,
    reduce: str,
) -> Batched:
    src, index, dim = with_batch_axis(info, in_dims, src, index, dim, dim_size)
    return scatter_extreme(src, index, dim, dim_size, reduce), (0, 0)


scatter = define(
    "scatter(Tensor src, Tensor index, int dim, SymInt? dim_size, str reduce) -> Tensor",
    _kernel,
    _fake,
    Scatter,
    _vmap,
)


def _extreme_kernel(
    src: Tensor, index: Tensor, dim: int, dim_size: int | None, reduce: str
) -> tuple[Tensor, Tensor]:
    return _run_extreme[reduce](plain(src), index, dim, None, dim_size)


def _extreme_fake(
    src: Tensor, index: Tensor, dim: int, dim_size: int | None, reduce: str
) -> tuple[Tensor, Tensor]:
    shape = _shape(src, index, dim, dim_size)
    return src.new_empty(shape), index.new_empty(shape, dtype=torch.int64)


class Extreme(Derivatives):
    """Derivatives of minima and maxima: only the winner of a group has a gradient."""

    constants = (1,)

    def __init__(
        self, src: Tensor, index: Tensor, dim: int, dim_size: int | None, reduce: str
    ) -> None:
        self.shape = src.shape
        self.dim = dim % src.dim()

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        # With the index, the backward pass finds the elements of a group at once.
        return (results[1], arguments[1])

    def backward(self, saved: Saved, grad: Tensor, _arg: Tensor | None) -> Gradients:
        arg, index = saved
        of_src = scatter_extreme_backward(grad, arg, index, self.dim, self.shape[self.dim])
        return of_src, None, None, None, None

    def forward(self, saved: Saved, src_t: Tangent, *_: Any) -> Tangents:
        arg, _ = saved
        return scatter_extreme_tangent(src_t, arg, self.dim), None


def _extreme_backward(
    grad: Tensor, arg: Tensor, index: Tensor | None, dim: int, along: int
) -> Tensor:
    return _scatter_arg_vjp(plain(grad), arg, index, dim, along)


def _extreme_backward_fake(
    grad: Tensor, arg: Tensor, index: Tensor | None, dim: int, along: int
) -> Tensor:
    shape = list(grad.shape)
    shape[dim] = along
    return grad.new_empty(shape)


class ExtremeBackward(Derivatives):
    """Derivatives of a linear operator."""

    def __init__(
        self, grad: Tensor, arg: Tensor, index: Tensor | None, dim: int, along: int
    ) -> None:
        self.dim, self.along = dim, along

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return arguments[1:3]

    def backward(self, saved: Saved, src_g: Tangent) -> Gradients:
        return scatter_extreme_tangent(src_g, saved[0], self.dim), None, None, None, None

    def forward(self, saved: Saved, grad_t: Tangent, *_: Any) -> Tangents:
        arg, index = saved
        return scatter_extreme_backward(grad_t, arg, index, self.dim, self.along)


def _extreme_tangent(src_t: Tangent, arg: Tensor, dim: int) -> Tensor:
    return _scatter_arg_jvp(plain(src_t), arg, dim)


def _extreme_tangent_fake(src_t: Tangent, arg: Tensor, dim: int) -> Tensor:
    return src_t.new_empty(arg.shape)


class ExtremeTangent(Derivatives):
    """Derivatives of a linear operator."""

    def __init__(self, src_t: Tangent, arg: Tensor, dim: int) -> None:
        self.dim, self.along = dim, src_t.shape[dim]

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (arguments[1],)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        return scatter_extreme_backward(grad, saved[0], None, self.dim, self.along), None, None

    def forward(self, saved: Saved, src_tt: Tangent, *_: Any) -> Tangents:
        return scatter_extreme_tangent(src_tt, saved[0], self.dim)


def _of_positions(
    info: Any, in_dims: Sequence[Any], values: Tensor, arg: Tensor, dim: int
) -> tuple[Tensor, Tensor, int]:
    """The arguments with the batch axis in front."""
    rank = values.dim() - (in_dims[0] is not None)
    values = batched(values, in_dims[0], info.batch_size)
    arg = batched(arg, in_dims[1], info.batch_size)
    return values, arg, dim % rank + 1


def _extreme_backward_vmap(
    info: Any, in_dims: Sequence[Any], grad: Tensor, arg: Tensor, _index: Any, dim: int, along: int
) -> Batched:
    grad, arg, dim = _of_positions(info, in_dims, grad, arg, dim)
    return scatter_extreme_backward(grad, arg, None, dim, along), 0


def _extreme_tangent_vmap(
    info: Any, in_dims: Sequence[Any], src_t: Tangent, arg: Tensor, dim: int
) -> Batched:
    return scatter_extreme_tangent(*_of_positions(info, in_dims, src_t, arg, dim)), 0


scatter_extreme_backward = define(
    "scatter_extreme_backward(Tensor grad, Tensor arg, Tensor? index, int dim, SymInt along)"
    " -> Tensor",
    _extreme_backward,
    _extreme_backward_fake,
    ExtremeBackward,
    _extreme_backward_vmap,
)

scatter_extreme_tangent = define(
    "scatter_extreme_tangent(Tensor src_t, Tensor arg, int dim) -> Tensor",
    _extreme_tangent,
    _extreme_tangent_fake,
    ExtremeTangent,
    _extreme_tangent_vmap,
)

scatter_extreme = define(
    "scatter_extreme(Tensor src, Tensor index, int dim, SymInt? dim_size, str reduce)"
    " -> (Tensor, Tensor)",
    _extreme_kernel,
    _extreme_fake,
    Extreme,
    _extreme_vmap,
)


def _into_kernel(src: Tensor, index: Tensor, dim: int, out: Tensor, reduce: str) -> Tensor:
    found = plain(out).clone(memory_format=torch.contiguous_format)
    return _run(plain(src), index, dim, found, None, reduce)


def _into_fake(src: Tensor, index: Tensor, dim: int, out: Tensor, reduce: str) -> Tensor:
    return out.new_empty(out.shape)


class Into(Scatter):
    """Derivatives of a reduction into `out`."""

    def __init__(self, src: Tensor, index: Tensor, dim: int, out: Tensor, reduce: str) -> None:
        super().__init__(src, index, dim, None, reduce)

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        src, index, _, out, _ = arguments
        of_product = self.reduce == "mul"
        self.size = out.shape[self.dim]
        kept = (src, out, results[0]) if of_product else (None, None, None)
        return (index, *kept)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        index, src, out, result = saved
        if self.reduce == "mul":
            to_src, _, _, to_out, _ = self.wanted
            of_out, of_src = scatter_reduce_backward(
                grad,
                self.dim,
                expanded(index, self.shape, self.dim),
                out,
                src,
                list(self.shape),
                result,
                "prod",
                True,
                to_out,
                to_src,
            )
            return (of_src if to_src else None), None, None, (of_out if to_out else None), None
        of_out = divided(grad, self._counts(index, grad)) if self.reduce == "mean" else grad
        return self._of_src(grad, index, None, None), None, None, of_out, None

    def forward(
        self,
        saved: Saved,
        src_t: Tangent,
        _index: Any,
        _dim: Any,
        out_t: Tangent,
        _reduce: Any,
    ) -> Tangents:
        index, src, out, result = saved
        if self.reduce == "mul":
            out_t, src_t = zeros_if_none(out_t, out), zeros_if_none(src_t, src)
            return self._moved(out_t, src_t, index, out, src, result, True)
        src_t = torch.zeros(self.shape, dtype=out_t.dtype) if src_t is None else src_t
        if out_t is None:
            return scatter(src_t, index, self.dim, self.size, self.reduce)
        return scatter_into(src_t, index, self.dim, out_t, self.reduce)


scatter_into = define(
    "scatter_into(Tensor src, Tensor index, int dim, Tensor out, str reduce) -> Tensor",
    _into_kernel,
    _into_fake,
    Into,
)


def _extreme_into_kernel(
    src: Tensor, index: Tensor, dim: int, out: Tensor, reduce: str
) -> tuple[Tensor, Tensor]:
    found = plain(out).clone(memory_format=torch.contiguous_format)
    return _run_extreme[reduce](plain(src), index, dim, found, None)


def _extreme_into_fake(
    src: Tensor, index: Tensor, dim: int, out: Tensor, reduce: str
) -> tuple[Tensor, Tensor]:
    return out.new_empty(out.shape), index.new_empty(out.shape, dtype=torch.int64)


class ExtremeInto(Extreme):
    def __init__(self, src: Tensor, index: Tensor, dim: int, out: Tensor, reduce: str) -> None:
        super().__init__(src, index, dim, None, reduce)

    def backward(self, saved: Saved, grad: Tensor, arg_g: Tangent) -> Gradients:
        arg, _ = saved
        of_src, *_ = super().backward(saved, grad, arg_g)
        return of_src, None, None, torch.where(arg == self.shape[self.dim], grad, 0), None

    def forward(
        self,
        saved: Saved,
        src_t: Tangent,
        _index: Any,
        _dim: Any,
        out_t: Tangent,
        _reduce: Any,
    ) -> Tangents:
        arg, _ = saved
        found: Any = 0 if src_t is None else super().forward(saved, src_t)[0]
        stays = 0 if out_t is None else torch.where(arg == self.shape[self.dim], out_t, 0)
        return found + stays, None


scatter_extreme_into = define(
    "scatter_extreme_into(Tensor src, Tensor index, int dim, Tensor out, str reduce)"
    " -> (Tensor, Tensor)",
    _extreme_into_kernel,
    _extreme_into_fake,
    ExtremeInto,
)


def call(
    src: Tensor,
    index: Tensor,
    dim: int,
    out: Any,
    dim_size: int | None,
    reduce: str,
    with_arg: bool = False,
) -> Any:
    """torch_scatter's functions by way of the dispatcher."""
    src, index = as_tensor(src), as_tensor(index)
    reduce = "sum" if reduce == "add" else reduce
    if reduce in ("min", "max"):
        if out is None:
            found, arg = scatter_extreme(src, index, dim, dim_size, reduce)
        else:
            found, arg = scatter_extreme_into(src, index, dim, out, reduce)
            found = out.copy_(found)
        return (found, arg) if with_arg else found
    if out is None:
        return scatter(src, index, dim, dim_size, reduce)
    # The derivative needs `out` as it was.
    before = out.clone() if reduce == "mul" else out
    return out.copy_(scatter_into(src, index, dim, before, reduce))


def _script(function: str) -> None:
    """Makes a function of `strew.torch_scatter` known to TorchScript."""
    extreme = function in ("scatter_min", "scatter_max")
    reduce = ', str reduce="sum"' if function == "scatter" else ""
    # The dispatcher leaves out an argument that equals the schema's default.
    default = "sum" if function == "scatter" else function.removeprefix("scatter_")

    def run(
        src: Tensor,
        index: Tensor,
        dim: int = -1,
        out: Any = None,
        dim_size: int | None = None,
        reduce: str = default,
    ) -> Any:
        return call(src, index, dim, out, dim_size, reduce, with_arg=extreme)

    script(
        function,
        f"Tensor src, Tensor index, int dim=-1, Tensor(a!)? out=None, int? dim_size=None{reduce}",
        run,
        "(Tensor, Tensor)" if extreme else "Tensor",
    )


for _function in (
    "scatter",
    "scatter_sum",
    "scatter_add",
    "scatter_mul",
    "scatter_mean",
    "scatter_min",
    "scatter_max",
):
    _script(_function)
