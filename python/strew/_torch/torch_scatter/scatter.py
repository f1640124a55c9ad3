"""``torch.ops.strew.scatter`` and so on: torch_scatter's scatter functions, with derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..._native.errors import Problem
from ..._strew import _scatter_arg_jvp, _scatter_arg_vjp
from ..calls import Call, define
from ..registry import by_device
from ..tensors import as_tensor, zeros_if_none
from ..torch.scatter_reduce import scatter_reduce_backward, scatter_reduce_tangent

if TYPE_CHECKING:
    from typing import Any, ClassVar

    from torch import Tensor

    from ..calls import Batch, Batched, Gradients, KeepsFor, Registered, Tangent, Tangents
    from ..tensors import Shape

#: Up to how many elements torch's own gather is faster: 2x at 100,000 of float32, level at 1M.
#: Above, new memory costs torch more than the gather.
_SMALL = 1 << 20


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


class OfGroups(Call):
    """A call with the groups of `src` along the axis `dim`.

    The result has the size of `out` along this axis, or `dim_size`.
    """

    integers = ("index",)
    differentiable: tuple[str, ...] = ("src",)

    def shape(self) -> list[Any]:
        """The shape of a result with a value for each group."""
        out, shape = getattr(self, "out", None), list(self.src.shape)
        if out is not None:
            shape[self.dim] = out.shape[self.dim]
        elif self.dim_size is not None:
            shape[self.dim] = self.dim_size
        else:
            # The number of groups depends on the values of the index.
            shape[self.dim] = torch.library.get_ctx().new_dynamic_size()
        return shape

    def empty(self) -> Any:
        return self.src.new_empty(self.shape())

    def vmap(self, batch: Batch) -> Batched:
        rows = self._rows(batch)
        out = getattr(self, "out", None)
        if out is not None:
            rows["out"] = batch.rows("out")
        elif self.dim_size is None:
            raise Problem(ValueError, "scatter", "dim_size").saying(
                "dim_size is needed under vmap,"
                " because each sample would have its own number of groups"
            )
        found = self.apply(self.operator, **rows)
        return found, (0,) * len(found) if isinstance(found, tuple) else 0

    def _rows(self, batch: Batch) -> dict[str, Any]:
        rank, src = batch.rank("src"), batch.rows("src")
        dim = (self.dim if self.dim >= 0 else self.dim + rank) + 1
        if self.index.dim() == 1 and not batch.has("index"):
            return {"src": src, "dim": dim}
        index = batch.rows("index")
        if index.dim() == 2:
            shape = [index.shape[0]] + [1] * rank
            shape[dim] = index.shape[1]
            index = index.reshape(shape)
        return {"src": src, "dim": dim, "index": expanded(index, src.shape, dim)}


class Scatter(OfGroups):
    schema = "scatter(Tensor src, Tensor index, int dim, SymInt? dim_size, str reduce) -> Tensor"
    row = "torch_scatter.scatter"
    keeps = ("index",)
    keeps_for: ClassVar[KeepsFor] = {"mul": ("index", "src", "result")}

    def prepare(self) -> None:
        self.dim: int = self.dim % len(self.src_shape)
        self.dim_size = self.result_shape[self.dim]

    def backward(self, grad: Tensor) -> Gradients:
        if self._is_small_gather():
            return grad.index_select(self.dim, self.index)
        return self.of_src(grad)

    def _is_small_gather(self) -> bool:
        """Whether the gradient is a copy of rows, few enough that torch's own call is faster.

        Not where the gradient is differentiated again: torch's sums of 16-bit floats round at each
        step.
        """
        return (
            self.reduce in ("sum", "add")
            and self.index.dim() == 1
            and self.index.numel() == self.src_shape[self.dim]
            and self.src_shape.numel() <= _SMALL
            and not torch.is_grad_enabled()
        )

    def of_src(self, grad: Tensor) -> Tensor:
        _, of_src = self.of_scatter_reduce(
            scatter_reduce_backward,
            grad=grad,
            input=None,
            include_self=False,
            to_input=False,
            to_src=True,
        )
        return of_src

    def of_scatter_reduce(self, derivative: Registered, **given: Any) -> Any:
        """A derivative of ``scatter_reduce``, whose index has `src`'s shape."""
        given["index"] = expanded(self.index, self.src_shape, self.dim)
        given["reduce"] = "prod" if self.reduce == "mul" else self.reduce
        return self.apply(derivative, **given)

    def forward(self, src_t: Tensor) -> Tangents:
        if self.reduce != "mul":
            return self.rerun(src_t)
        given = {"input": self.result, "include_self": False}
        out_t = torch.zeros_like(self.result)
        return self.of_scatter_reduce(scatter_reduce_tangent, input_t=out_t, src_t=src_t, **given)


class ScatterInto(Scatter):
    schema = "scatter_into(Tensor src, Tensor index, int dim, Tensor out, str reduce) -> Tensor"
    differentiable = ("src", "out")
    keeps_for: ClassVar[KeepsFor] = {"mul": ("index", "src", "result", "out")}

    def backward(self, grad: Tensor) -> Gradients:
        if self.reduce == "mul":
            to_src, to_out = self.wanted
            given = {"input": self.out, "include_self": True}
            of_out, of_src = self.of_scatter_reduce(
                scatter_reduce_backward, grad=grad, to_input=to_out, to_src=to_src, **given
            )
            return of_src, of_out
        of_out = divided(grad, self._counts(grad)) if self.reduce == "mean" else grad
        return self.of_src(grad), of_out

    def _counts(self, grad: Tensor) -> Tensor:
        """The number of elements of each group, at least 1; it broadcasts with `grad`."""
        counts = group_sizes(self.index, self.dim, self.src_shape, self.dim_size)
        return counts.clamp(min=1)

    def forward(self, src_t: Tangent, out_t: Tangent) -> Tangents:
        if self.reduce == "mul":
            out_t, src_t = zeros_if_none(out_t, self.out), zeros_if_none(src_t, self.src)
            given = {"input": self.out, "include_self": True}
            return self.of_scatter_reduce(
                scatter_reduce_tangent, input_t=out_t, src_t=src_t, **given
            )
        if out_t is None:
            return self.apply(scatter, src=src_t)
        return self.rerun(*self.with_zeros(src_t, out_t))


def group_sizes(index: Tensor, dim: int, shape: Shape, size: int) -> Tensor:
    """The number of elements of each group, with as many axes as the shape of the elements."""
    if index.dim() == 1 and index.numel() == shape[dim]:
        counts = scatter(torch.ones_like(index, dtype=torch.int64), index, 0, size, "sum")
        return counts.reshape([-1] + [1] * (len(shape) - 1 - dim))
    ones = torch.ones((), dtype=torch.int64, device=index.device).expand(shape)
    return scatter(ones, index, dim, size, "sum")


class ScatterExtreme(OfGroups):
    """Minima or maxima: only the winner of a group has a gradient."""

    schema = (
        "scatter_extreme(Tensor src, Tensor index, int dim, SymInt? dim_size, str reduce)"
        " -> (Tensor, Tensor)"
    )
    row = "torch_scatter.scatter_{reduce}"
    results = ("result", "arg")
    constants = 1
    # With the index, the backward pass finds the elements of a group at once.
    keeps = ("arg", "index")

    def empty(self) -> tuple[Tensor, Tensor]:
        shape = self.shape()
        return self.src.new_empty(shape), self.index.new_empty(shape, dtype=torch.int64)

    def prepare(self) -> None:
        self.dim: int = self.dim % len(self.src_shape)

    def backward(self, grad: Tensor) -> Gradients:
        along = self.src_shape[self.dim]
        return self.apply(scatter_extreme_backward, grad=grad, along=along)

    def forward(self, src_t: Tensor) -> Tangents:
        return self.apply(scatter_extreme_tangent, src_t=src_t)


class ScatterExtremeInto(ScatterExtreme):
    schema = (
        "scatter_extreme_into(Tensor src, Tensor index, int dim, Tensor out, str reduce)"
        " -> (Tensor, Tensor)"
    )
    differentiable = ("src", "out")

    def backward(self, grad: Tensor) -> Gradients:
        return super().backward(grad), self._of_out(grad)

    def _of_out(self, values: Tensor) -> Tensor:
        """Where no element beats the value in `out`, that value is the result."""
        return torch.where(self.arg == self.src_shape[self.dim], values, 0)

    def forward(self, src_t: Tangent, out_t: Tangent) -> Tangents:
        found: Any = 0 if src_t is None else super().forward(src_t)
        return found + (0 if out_t is None else self._of_out(out_t))


class OfPositions(Call):
    """Derivatives of extremes, by the positions of the winners."""

    def vmap(self, batch: Batch) -> Batched:
        (values,) = self.differentiable
        rows = {name: batch.rows(name) for name in (values, "arg")}
        dim = self.dim % batch.rank(values) + 1
        return self.apply(self.operator, **rows, dim=dim, index=None), 0


class ScatterExtremeBackward(OfPositions):
    schema = (
        "scatter_extreme_backward(Tensor grad, Tensor arg, Tensor? index, int dim, SymInt along)"
        " -> Tensor"
    )
    run = staticmethod(by_device("_scatter_arg_vjp", _scatter_arg_vjp))
    integers = ("arg", "index")
    differentiable = ("grad",)
    keeps = ("arg", "index")

    def empty(self) -> Tensor:
        shape = list(self.grad.shape)
        shape[self.dim] = self.along
        return self.grad.new_empty(shape)

    def backward(self, src_g: Tensor) -> Gradients:
        return self.apply(scatter_extreme_tangent, src_t=src_g)


class ScatterExtremeTangent(OfPositions):
    schema = "scatter_extreme_tangent(Tensor src_t, Tensor arg, int dim) -> Tensor"
    run = staticmethod(by_device("_scatter_arg_jvp", _scatter_arg_jvp))
    integers = ("arg",)
    differentiable = ("src_t",)
    keeps = ("arg",)

    def empty(self) -> Tensor:
        return self.src_t.new_empty(self.arg.shape)

    def backward(self, grad: Tensor) -> Gradients:
        along = self.src_t_shape[self.dim]
        return self.apply(scatter_extreme_backward, grad=grad, index=None, along=along)


scatter = define(Scatter)
scatter_into = define(ScatterInto)
scatter_extreme = define(ScatterExtreme)
scatter_extreme_into = define(ScatterExtremeInto)
scatter_extreme_backward = define(ScatterExtremeBackward)
scatter_extreme_tangent = define(ScatterExtremeTangent)


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
