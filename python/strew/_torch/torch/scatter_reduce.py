"""``torch.ops.strew.scatter_reduce``: PyTorch's ``scatter_reduce``, with correct derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..._strew import Operator, _scatter_prod_double_vjp, _scatter_reduce_jvp, _scatter_reduce_vjp
from ..registry import Derivatives, batched, define, has_derivative, is_transformed
from ..tensors import as_tensor, plain, plain_or_none, zeros_if_none

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from torch import Tensor

    from ..registry import Batched, Gradients, Saved, Shape, Tangent, Tangents

#: Reductions whose derivative does not depend on values.
_LINEAR = ("sum", "mean", "exact_sum", "exact_mean")

_run = Operator("torch.scatter_reduce")
_run_in_place = Operator("torch.scatter_reduce_")


def _kernel(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
) -> Tensor:
    return _run(plain(input), dim, index, plain(src), reduce, include_self)


def _fake(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
) -> Tensor:
    return input.new_empty(input.shape)


class ScatterReduce(Derivatives):
    def __init__(
        self, input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
    ) -> None:
        self.shape, self.src_shape, self.dim = input.shape, src.shape, dim
        self.reduce, self.include_self = reduce, include_self
        self.linear = reduce in _LINEAR

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        input, _, index, src, _, _ = arguments
        if self.linear:
            return (index, None, None, None)
        return (index, input, src, results[0])

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        index, input, src, result = saved
        to_input, _, _, to_src, _, _ = self.wanted
        of_input, of_src = scatter_reduce_backward(
            grad,
            self.dim,
            index,
            input,
            src,
            list(self.src_shape),
            result,
            self.reduce,
            self.include_self,
            to_input,
            to_src,
        )
        return (
            (of_input if to_input else None),
            None,
            None,
            (of_src if to_src else None),
            None,
            None,
        )

    def forward(
        self,
        saved: Saved,
        input_t: Tangent,
        _dim: Any,
        _index: Any,
        src_t: Tangent,
        _reduce: Any,
        _include_self: Any,
    ) -> Tangents:
        index, input, src, result = saved
        like = src_t if input_t is None else input_t
        input_t = like.new_zeros(self.shape) if input_t is None else input_t
        src_t = like.new_zeros(self.src_shape) if src_t is None else src_t
        if self.linear:
            # A linear operator is its own derivative.
            return scatter_reduce(input_t, self.dim, index, src_t, self.reduce, self.include_self)
        return scatter_reduce_tangent(
            input_t, src_t, input, self.dim, index, src, result, self.reduce, self.include_self
        )


def _backward(
    grad: Tensor,
    dim: int,
    index: Tensor,
    input: Tensor | None,
    src: Tensor | None,
    src_shape: Shape,
    result: Tensor | None,
    reduce: str,
    include_self: bool,
    to_input: bool,
    to_src: bool,
) -> tuple[Tensor, Tensor]:
    of_input, of_src = _scatter_reduce_vjp(
        plain(grad),
        dim,
        index,
        plain_or_none(input),
        plain_or_none(src),
        src_shape,
        plain_or_none(result),
        reduce,
        include_self,
        to_input,
        to_src,
    )
    return _or_nothing(of_input, grad), _or_nothing(of_src, grad)


def _or_nothing(gradient: Tensor | None, like: Tensor) -> Tensor:
    """A result must be a tensor: an empty one stands for a gradient that is not needed."""
    return like.new_empty(0) if gradient is None else gradient


def _backward_fake(
    grad: Tensor,
    dim: int,
    index: Tensor,
    input: Tensor | None,
    src: Tensor | None,
    src_shape: Shape,
    result: Tensor | None,
    reduce: str,
    include_self: bool,
    to_input: bool,
    to_src: bool,
) -> tuple[Tensor, Tensor]:
    of_input = grad.new_empty(grad.shape if to_input else (0,))
    return of_input, grad.new_empty(src_shape if to_src else (0,))


class ScatterReduceBackward(Derivatives):
    """The second derivative. Only for a product does it depend on more than the gradient."""

    def __init__(
        self,
        grad: Tensor,
        dim: int,
        index: Tensor,
        input: Tensor | None,
        src: Tensor | None,
        src_shape: Shape,
        result: Tensor | None,
        reduce: str,
        include_self: bool,
        to_input: bool,
        to_src: bool,
    ) -> None:
        self.shape, self.src_shape, self.dim = grad.shape, src_shape, dim
        self.reduce, self.include_self = reduce, include_self
        self.to_input, self.to_src = to_input, to_src

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        grad, _, index, input, src, _, result, *_ = arguments
        return (grad if self.reduce == "prod" else None, index, input, src, result)

    def backward(self, saved: Saved, input_g: Tangent, src_g: Tangent) -> Gradients:
        grad, index, input, src, result = saved
        like = src_g if input_g is None else input_g
        if input_g is None or not self.to_input:
            input_g = like.new_zeros(self.shape)
        if src_g is None or not self.to_src:
            src_g = like.new_zeros(self.src_shape)
        of_input = of_src = None
        if self.reduce == "prod":
            of_grad, of_input, of_src = scatter_prod_backward_backward(
                input_g,
                src_g,
                grad,
                grad if input is None else input,
                self.dim,
                index,
                src,
                self.include_self,
            )
        elif self.reduce in _LINEAR:
            # A linear operator is the transpose of its backward.
            of_grad = scatter_reduce(
                input_g, self.dim, index, src_g, self.reduce, self.include_self
            )
        else:
            of_grad = scatter_reduce_tangent(
                input_g,
                src_g,
                result if input is None else input,
                self.dim,
                index,
                src,
                result,
                self.reduce,
                self.include_self,
            )
        of_input = None if input is None else of_input
        return of_grad, None, None, of_input, of_src, None, None, None, None, None, None

    def forward(
        self,
        saved: Saved,
        grad_t: Tangent,
        _dim: Any,
        _index: Any,
        input_t: Tangent,
        src_t: Tangent,
        *_: Any,
    ) -> Tangents:
        grad, index, input, src, result = saved
        tangents = [t for t in (grad_t, input_t, src_t) if t is not None]
        of_input, of_src = scatter_reduce_backward(
            tangents[0].new_zeros(self.shape) if grad_t is None else grad_t,
            self.dim,
            index,
            input,
            src,
            self.src_shape,
            result,
            self.reduce,
            self.include_self,
            self.to_input,
            self.to_src,
        )
        if self.reduce == "prod" and (input_t is not None or src_t is not None):
            _, moved_input, moved_src = scatter_prod_backward_backward(
                zeros_if_none(input_t, grad),
                zeros_if_none(src_t, src),
                grad,
                grad if input is None else input,
                self.dim,
                index,
                src,
                self.include_self,
            )
            of_input = of_input + moved_input if self.to_input else of_input
            of_src = of_src + moved_src if self.to_src else of_src
        return of_input, of_src


def _tangent(
    input_t: Tangent,
    src_t: Tangent,
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    result: Tensor,
    reduce: str,
    include_self: bool,
) -> Tensor:
    return _scatter_reduce_jvp(
        plain(input_t),
        plain(src_t),
        plain(input),
        dim,
        index,
        plain(src),
        plain(result),
        reduce,
        include_self,
    )


def _tangent_fake(
    input_t: Tangent,
    src_t: Tangent,
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    result: Tensor,
    reduce: str,
    include_self: bool,
) -> Tensor:
    return input.new_empty(input.shape)


class ScatterReduceTangent(Derivatives):
    """The transpose of the backward operator, and for a product the change of its factors."""

    def __init__(
        self,
        input_t: Tangent,
        src_t: Tangent,
        input: Tensor,
        dim: int,
        index: Tensor,
        src: Tensor,
        result: Tensor,
        reduce: str,
        include_self: bool,
    ) -> None:
        self.src_shape, self.dim = src.shape, dim
        self.reduce, self.include_self = reduce, include_self

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        input_t, src_t, input, _, index, src, result, _, _ = arguments
        if self.reduce == "prod":
            return (input_t, src_t, input, index, src, result)
        return (None, None, input, index, src, result)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        input_t, src_t, input, index, src, result = saved
        of_input_t, of_src_t = scatter_reduce_backward(
            grad,
            self.dim,
            index,
            input,
            src,
            list(self.src_shape),
            result,
            self.reduce,
            self.include_self,
            True,
            True,
        )
        of_input = of_src = None
        if self.reduce == "prod":
            _, of_input, of_src = scatter_prod_backward_backward(
                input_t, src_t, grad, input, self.dim, index, src, self.include_self
            )
        return of_input_t, of_src_t, of_input, None, None, of_src, None, None, None

    def forward(
        self,
        saved: Saved,
        input_tt: Tangent,
        src_tt: Tangent,
        input_x: Tangent,
        _dim: Any,
        _index: Any,
        src_x: Tangent,
        *_: Any,
    ) -> Tangents:
        input_t, src_t, input, index, src, result = saved
        found = scatter_reduce_tangent(
            zeros_if_none(input_tt, input),
            zeros_if_none(src_tt, src),
            input,
            self.dim,
            index,
            src,
            result,
            self.reduce,
            self.include_self,
        )
        if self.reduce == "prod" and (input_x is not None or src_x is not None):
            _, turned_input, turned_src = scatter_prod_backward_backward(
                zeros_if_none(input_x, input),
                zeros_if_none(src_x, src),
                torch.ones_like(input),
                input,
                self.dim,
                index,
                src,
                self.include_self,
            )
            moved_input, moved_src = input_t * turned_input.conj(), src_t * turned_src.conj()
            found = found + scatter_reduce(
                moved_input, self.dim, index, moved_src, "sum", self.include_self
            )
        return found


def _prod_backward_backward(
    input_g: Tangent,
    src_g: Tangent,
    grad: Tensor,
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    include_self: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    return _scatter_prod_double_vjp(
        plain(grad),
        plain(input),
        dim,
        index,
        plain(src),
        include_self,
        plain(input_g),
        plain(src_g),
    )


def _prod_backward_backward_fake(
    input_g: Tangent,
    src_g: Tangent,
    grad: Tensor,
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    include_self: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    return grad.new_empty(grad.shape), input.new_empty(input.shape), src.new_empty(src.shape)


class NoThirdDerivative(Derivatives):
    """Raises an error: the second derivative's formulas have steps where factors are 0."""

    def __init__(self, *arguments: Any) -> None:
        pass

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return ()

    def backward(self, saved: Saved, *gradients: Any) -> Gradients:
        raise NotImplementedError("scatter_reduce: a product has no third derivative here")

    forward = backward


def rows_of(
    info: Any, in_dims: Sequence[Any], arguments: Sequence[Any], dim_at: int, like: int
) -> list[Any]:
    """Moves the axis of `torch.func.vmap` to the front of the arguments.

    Each tensor gets at least one axis after it. The operator's axis, argument `dim_at`, counts the
    axes of the argument `like`.
    """

    def row(tensor: Tensor, batch: int | None) -> Tensor:
        tensor = batched(tensor, batch, info.batch_size)
        return tensor if tensor.dim() > 1 else tensor.unsqueeze(1)

    tensors = {
        k: row(a, in_dims[k]) for k, a in enumerate(arguments) if isinstance(a, torch.Tensor)
    }
    rows = [tensors.get(k, argument) for k, argument in enumerate(arguments)]
    rank = rows[like].dim() - 1
    dim = arguments[dim_at]
    rows[dim_at] = (dim if dim >= 0 else dim + rank) + 1
    return rows


def is_scalar(argument: Any, in_dim: int | None) -> bool:
    """Whether an argument has only the axis of `torch.func.vmap`."""
    return argument.dim() == (0 if in_dim is None else 1)


def vmapped(name: str, dim_at: int, *likes: int) -> Callable[..., Batched]:
    """The rule of `torch.func.vmap` for an operator along an axis.

    Its results have the shapes of the arguments `likes`.
    """

    def rule(info: Any, in_dims: Sequence[Any], *arguments: Any) -> Batched:
        found = getattr(torch.ops.strew, name)(*rows_of(info, in_dims, arguments, dim_at, likes[0]))

        def result(found: Any, like: int) -> Tensor:
            return found.squeeze(1) if is_scalar(arguments[like], in_dims[like]) else found

        if len(likes) == 1:
            return result(found, likes[0]), 0
        return tuple(map(result, found, likes)), (0,) * len(likes)

    return rule


def _backward_vmap(info: Any, in_dims: Sequence[Any], *arguments: Any) -> Batched:
    rows = rows_of(info, in_dims, arguments, 1, 0)
    shape, to_input, to_src = arguments[5], *arguments[9:]
    rows[5] = [info.batch_size, *(shape or (1,))]
    of_input, of_src = torch.ops.strew.scatter_reduce_backward(*rows)
    if to_input and is_scalar(arguments[0], in_dims[0]):
        of_input = of_input.squeeze(1)
    if to_src and not shape:
        of_src = of_src.squeeze(1)
    return (of_input, of_src), (0 if to_input else None, 0 if to_src else None)


scatter_reduce = define(
    "scatter_reduce(Tensor input, int dim, Tensor index, Tensor src, str reduce, bool include_self)"
    " -> Tensor",
    _kernel,
    _fake,
    ScatterReduce,
    vmapped("scatter_reduce", 1, 0),
)

scatter_reduce_backward = define(
    "scatter_reduce_backward(Tensor grad, int dim, Tensor index, Tensor? input, Tensor? src,"
    " SymInt[] src_shape, Tensor? result, str reduce, bool include_self, bool to_input,"
    " bool to_src)"
    " -> (Tensor, Tensor)",
    _backward,
    _backward_fake,
    ScatterReduceBackward,
    _backward_vmap,
)

scatter_reduce_tangent = define(
    "scatter_reduce_tangent(Tensor input_t, Tensor src_t, Tensor input, int dim, Tensor index,"
    " Tensor src, Tensor result, str reduce, bool include_self) -> Tensor",
    _tangent,
    _tangent_fake,
    ScatterReduceTangent,
    vmapped("scatter_reduce_tangent", 3, 2),
)

scatter_prod_backward_backward = define(
    "scatter_prod_backward_backward(Tensor input_g, Tensor src_g, Tensor grad, Tensor input,"
    " int dim, Tensor index, Tensor src, bool include_self) -> (Tensor, Tensor, Tensor)",
    _prod_backward_backward,
    _prod_backward_backward_fake,
    NoThirdDerivative,
    vmapped("scatter_prod_backward_backward", 4, 2, 3, 6),
)


def _kernel_in_place(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
) -> None:
    # Detached, but not resolved: that could make a copy, and the tensor itself must be written to.
    _run_in_place(input.detach(), dim, index, plain(src), reduce, include_self)


def _fake_in_place(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
) -> None:
    return None


scatter_reduce_ = define(
    "scatter_reduce_(Tensor(a!) input, int dim, Tensor index, Tensor src, str reduce,"
    " bool include_self) -> ()",
    _kernel_in_place,
    _fake_in_place,
)


def call(input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool) -> Tensor:
    """``scatter_reduce`` by way of the dispatcher."""
    input, index, src = as_tensor(input), as_tensor(index), as_tensor(src)
    return scatter_reduce(input, dim, index, src, reduce, include_self)


def call_(input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool) -> Tensor:
    """``scatter_reduce_`` by way of the dispatcher.

    The operator in place has no derivative: where one is needed, a result is copied into
    `input`.
    """
    if not isinstance(input, torch.Tensor):
        # Writing into another library's array cannot be differentiated; the operator raises the
        # error.
        return _run_in_place(input, dim, index, src, reduce, include_self)
    index, src = as_tensor(index), as_tensor(src)
    if has_derivative((input, src)) or is_transformed():
        # The derivative needs `input` as it was.
        before = input if reduce in _LINEAR else input.clone()
        return input.copy_(scatter_reduce(before, dim, index, src, reduce, include_self))
    scatter_reduce_(input, dim, index, src, reduce, include_self)
    return input
