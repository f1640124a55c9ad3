"""``torch.ops.strew.scatter_reduce``: PyTorch's ``scatter_reduce``, with the derivatives it ought
to have.
"""

# torch is not there where the package is checked.
# mypy: ignore-errors

import torch

from .._strew import (
    Operator,
    _scatter_prod_double_vjp,
    _scatter_reduce_jvp,
    _scatter_reduce_vjp,
)
from .registry import Derivatives, batched, define, has_derivative, is_transformed

_run = Operator("torch.scatter_reduce")
_run_in_place = Operator("torch.scatter_reduce_")


def tensor(array):
    """The array as a tensor, faster where it is one."""
    return array if isinstance(array, torch.Tensor) else torch.as_tensor(array)


def plain(tensor):
    """The tensor as strew takes it: without a gradient, in memory as it is."""
    if tensor.requires_grad:
        tensor = tensor.detach()
    if tensor.is_neg() or tensor.is_conj():
        tensor = tensor.resolve_neg().resolve_conj()
    return tensor


def some(tensor):
    """Likewise, if there is one."""
    return None if tensor is None else plain(tensor)


def zeros_if_none(tensor, like):
    """A gradient or tangent of the shape of a tensor."""
    return torch.zeros_like(like) if tensor is None else tensor


def _kernel(input, dim, index, src, reduce, include_self):
    return _run(plain(input), dim, index, plain(src), reduce, include_self)


def _fake(input, dim, index, src, reduce, include_self):
    return input.new_empty(input.shape)


class ScatterReduce(Derivatives):
    def __init__(self, input, dim, index, src, reduce, include_self):
        self.shape, self.src_shape, self.dim = input.shape, src.shape, dim
        self.reduce, self.include_self = reduce, include_self
        self.linear = reduce in ("sum", "mean")

    def tensors(self, arguments, results):
        input, _, index, src, _, _ = arguments
        if self.linear:
            return (index, None, None, None)
        return (index, input, src, results[0])

    def backward(self, saved, grad):
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

    def forward(self, saved, input_t, _dim, _index, src_t, _reduce, _include_self):
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
    grad, dim, index, input, src, src_shape, result, reduce, include_self, to_input, to_src
):
    of_input, of_src = _scatter_reduce_vjp(
        plain(grad),
        dim,
        index,
        some(input),
        some(src),
        src_shape,
        some(result),
        reduce,
        include_self,
        to_input,
        to_src,
    )
    return _or_nothing(of_input, grad), _or_nothing(of_src, grad)


def _or_nothing(gradient, like):
    """An operator's result is a tensor: one that is not wanted has no element."""
    return like.new_empty(0) if gradient is None else gradient


def _backward_fake(
    grad, dim, index, input, src, src_shape, result, reduce, include_self, to_input, to_src
):
    of_input = grad.new_empty(grad.shape if to_input else (0,))
    return of_input, grad.new_empty(src_shape if to_src else (0,))


class ScatterReduceBackward(Derivatives):
    """The second derivative: all arguments but the gradient move a product only."""

    def __init__(
        self,
        grad,
        dim,
        index,
        input,
        src,
        src_shape,
        result,
        reduce,
        include_self,
        to_input,
        to_src,
    ):
        self.shape, self.src_shape, self.dim = grad.shape, src_shape, dim
        self.reduce, self.include_self = reduce, include_self
        self.to_input, self.to_src = to_input, to_src

    def tensors(self, arguments, results):
        grad, _, index, input, src, _, result, *_ = arguments
        return (grad if self.reduce == "prod" else None, index, input, src, result)

    def backward(self, saved, input_g, src_g):
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
        elif self.reduce in ("sum", "mean"):
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

    def forward(self, saved, grad_t, _dim, _index, input_t, src_t, *_):
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


def _tangent(input_t, src_t, input, dim, index, src, result, reduce, include_self):
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


def _tangent_fake(input_t, src_t, input, dim, index, src, result, reduce, include_self):
    return input.new_empty(input.shape)


class ScatterReduceTangent(Derivatives):
    """The transpose of the backward, and what moves that of a product."""

    def __init__(self, input_t, src_t, input, dim, index, src, result, reduce, include_self):
        self.src_shape, self.dim = src.shape, dim
        self.reduce, self.include_self = reduce, include_self

    def tensors(self, arguments, results):
        input_t, src_t, input, _, index, src, result, _, _ = arguments
        if self.reduce == "prod":
            return (input_t, src_t, input, index, src, result)
        return (None, None, input, index, src, result)

    def backward(self, saved, grad):
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

    def forward(self, saved, input_tt, src_tt, input_x, _dim, _index, src_x, *_):
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


def _prod_backward_backward(input_g, src_g, grad, input, dim, index, src, include_self):
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


def _prod_backward_backward_fake(input_g, src_g, grad, input, dim, index, src, include_self):
    return grad.new_empty(grad.shape), input.new_empty(input.shape), src.new_empty(src.shape)


class NoThirdDerivative(Derivatives):
    """An error rather than wrong numbers: the formulas of the second one have steps where factors
    are 0.
    """

    def __init__(self, *arguments):
        pass

    def tensors(self, arguments, results):
        return ()

    def backward(self, saved, *gradients):
        raise NotImplementedError("scatter_reduce: a product has no third derivative here")

    forward = backward


def rows_of(info, in_dims, arguments, dim_at, like):
    """The arguments with the axis of `torch.func.vmap` in front, and behind it one at least. The
    axis of the operator is one of the argument `like`."""

    def row(tensor, batch):
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


def is_scalar(argument, in_dim):
    """Whether an argument has no axis but the one of `torch.func.vmap`."""
    return argument.dim() == (0 if in_dim is None else 1)


def vmapped(name, dim_at, *likes):
    """The rule of `torch.func.vmap` for an operator along an axis, of which the results have the
    shapes of these arguments."""

    def rule(info, in_dims, *arguments):
        found = getattr(torch.ops.strew, name)(*rows_of(info, in_dims, arguments, dim_at, likes[0]))

        def result(found, like):
            return found.squeeze(1) if is_scalar(arguments[like], in_dims[like]) else found

        if len(likes) == 1:
            return result(found, likes[0]), 0
        return tuple(map(result, found, likes)), (0,) * len(likes)

    return rule


def _backward_vmap(info, in_dims, *arguments):
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
    " SymInt[] src_shape, Tensor? result, str reduce, bool include_self, bool to_input, bool to_src)"
    " -> (Tensor, Tensor)",
    _backward,
    _backward_fake,
    ScatterReduceBackward,
    _backward_vmap,
)

scatter_reduce_tangent = define(
    "scatter_reduce_tangent(Tensor input_t, Tensor src_t, Tensor input, int dim, Tensor index, Tensor src,"
    " Tensor result, str reduce, bool include_self) -> Tensor",
    _tangent,
    _tangent_fake,
    ScatterReduceTangent,
    vmapped("scatter_reduce_tangent", 3, 2),
)

scatter_prod_backward_backward = define(
    "scatter_prod_backward_backward(Tensor input_g, Tensor src_g, Tensor grad, Tensor input, int dim,"
    " Tensor index, Tensor src, bool include_self) -> (Tensor, Tensor, Tensor)",
    _prod_backward_backward,
    _prod_backward_backward_fake,
    NoThirdDerivative,
    vmapped("scatter_prod_backward_backward", 4, 2, 3, 6),
)


def _kernel_in_place(input, dim, index, src, reduce, include_self):
    # Without its gradient, but not resolved: it would not be the tensor to write to.
    _run_in_place(input.detach(), dim, index, plain(src), reduce, include_self)


def _fake_in_place(input, dim, index, src, reduce, include_self):
    return None


scatter_reduce_ = define(
    "scatter_reduce_(Tensor(a!) input, int dim, Tensor index, Tensor src, str reduce,"
    " bool include_self) -> ()",
    _kernel_in_place,
    _fake_in_place,
)


def call(input, dim, index, src, reduce, include_self):
    """``scatter_reduce`` for tensors that the dispatcher has to know of."""
    input, index, src = tensor(input), tensor(index), tensor(src)
    return scatter_reduce(input, dim, index, src, reduce, include_self)


def call_(input, dim, index, src, reduce, include_self):
    """``scatter_reduce_`` for such: the operator has no derivative, a copy of the result has."""
    if not isinstance(input, torch.Tensor):
        # What goes there cannot be differentiated: the operator says so.
        return _run_in_place(input, dim, index, src, reduce, include_self)
    index, src = tensor(index), tensor(src)
    if has_derivative((input, src)) or is_transformed():
        # What the derivative keeps of the input must stay as it is.
        before = input if reduce in ("sum", "mean") else input.clone()
        return input.copy_(scatter_reduce(before, dim, index, src, reduce, include_self))
    scatter_reduce_(input, dim, index, src, reduce, include_self)
    return input
