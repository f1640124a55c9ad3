"""``torch.ops.strew.scatter_reduce``: PyTorch's ``scatter_reduce``, with correct derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..._strew import _scatter_prod_double_vjp, _scatter_reduce_jvp, _scatter_reduce_vjp
from ..calls import AlongAxis, Call, define
from ..registry import by_device
from .function import LINEAR, Function

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

    from torch import Tensor

    from ..calls import Batch, Batched, Gradients, KeepsFor, Tangent, Tangents

_vjp = by_device("_scatter_reduce_vjp", _scatter_reduce_vjp)
_jvp = by_device("_scatter_reduce_jvp", _scatter_reduce_jvp)
_double_vjp = by_device("_scatter_prod_double_vjp", _scatter_prod_double_vjp)


class ScatterReduce(AlongAxis):
    row = "torch.scatter_reduce"
    integers: tuple[str, ...] = ("index",)
    differentiable = ("input", "src")
    like = ("input",)
    keeps: tuple[str, ...] = ("index", "input", "src", "result")
    keeps_for: ClassVar[KeepsFor] = dict.fromkeys(LINEAR, ("index",))

    def backward(self, grad: Tensor) -> Gradients:
        to_input, to_src = self.wanted
        return self.apply(scatter_reduce_backward, grad=grad, to_input=to_input, to_src=to_src)

    def forward(self, *tangents: Tangent) -> Tangents:
        input_t, src_t = self.with_zeros(*tangents)
        if self.reduce in LINEAR:
            # A linear operator is its own derivative.
            return self.apply(scatter_reduce, input=input_t, src=src_t)
        return self.apply(scatter_reduce_tangent, input_t=input_t, src_t=src_t)


class ScatterReduceBackward(Call):
    """The gradients of `input` and `src`.

    Only for a product does the second derivative depend on more than `grad`.
    """

    schema = (
        "scatter_reduce_backward(Tensor grad, int dim, Tensor index, Tensor? input, Tensor? src,"
        " SymInt[] src_shape, Tensor? result, str reduce, bool include_self, bool to_input,"
        " bool to_src) -> (Tensor, Tensor)"
    )
    integers = ("index",)
    differentiable = ("grad", "input", "src")
    results = ("of_input", "of_src")
    keeps = ("index", "input", "src", "result")
    keeps_for: ClassVar[KeepsFor] = {"prod": (*keeps, "grad")}

    @staticmethod
    def run(*arguments: Any) -> tuple[Tensor, Tensor]:
        of_input, of_src = _vjp(*arguments)
        # A result must be a tensor: an empty one stands for a gradient that is not needed.
        if of_input is None:
            of_input = arguments[0].new_empty(0)
        if of_src is None:
            of_src = arguments[0].new_empty(0)
        return of_input, of_src

    def empty(self) -> tuple[Tensor, Tensor]:
        of_input = self.grad.new_empty(self.grad.shape if self.to_input else (0,))
        return of_input, self.grad.new_empty(self.src_shape if self.to_src else (0,))

    def prepare(self) -> None:
        self.into = self.input is not None

    def backward(self, input_g: Tangent, src_g: Tangent) -> Gradients:
        like = src_g if input_g is None else input_g
        if input_g is None or not self.to_input:
            input_g = self.zeros(like, "grad")
        if src_g is None or not self.to_src:
            src_g = like.new_zeros(self.src_shape)
        if self.reduce == "prod":
            return self._of_product(input_g, src_g)
        if self.reduce in LINEAR:
            # A linear operator is the transpose of its backward.
            return self.apply(scatter_reduce, input=input_g, src=src_g), None, None
        into = self.input if self.into else self.result
        of_grad = self.apply(scatter_reduce_tangent, input_t=input_g, src_t=src_g, input=into)
        return of_grad, None, None

    def _of_product(self, input_g: Tensor, src_g: Tensor) -> Sequence[Tensor]:
        into = self.input if self.into else self.grad
        return self.apply(scatter_prod_backward_backward, input_g=input_g, src_g=src_g, input=into)

    def forward(self, grad_t: Tangent, input_t: Tangent, src_t: Tangent) -> Tangents:
        like = next(one for one in (grad_t, input_t, src_t) if one is not None)
        grad = self.zeros(like, "grad") if grad_t is None else grad_t
        of_input, of_src = self.apply(scatter_reduce_backward, grad=grad)
        if self.reduce == "prod" and (input_t is not None or src_t is not None):
            input_t = self.zeros(like, "grad") if input_t is None else input_t
            src_t = self.zeros(like, "src") if src_t is None else src_t
            _, moved_input, moved_src = self._of_product(input_t, src_t)
            of_input = of_input + moved_input if self.to_input else of_input
            of_src = of_src + moved_src if self.to_src else of_src
        return of_input, of_src

    def vmap(self, batch: Batch) -> Batched:
        rows: dict[str, Any] = {
            name: batch.matrix(name) for name in self.tensors if getattr(self, name) is not None
        }
        rows["src_shape"] = [batch.size, *(self.src_shape or (1,))]
        rows["dim"] = batch.axis(self.dim, "grad")
        of_input, of_src = self.apply(scatter_reduce_backward, **rows)
        if self.to_input and batch.rank("grad") == 0:
            of_input = of_input.squeeze(1)
        if self.to_src and not self.src_shape:
            of_src = of_src.squeeze(1)
        return (of_input, of_src), (0 if self.to_input else None, 0 if self.to_src else None)


class ScatterReduceTangent(AlongAxis):
    """The transpose of the backward operator, and for a product the change of its factors."""

    schema = (
        "scatter_reduce_tangent(Tensor input_t, Tensor src_t, Tensor input, int dim, Tensor index,"
        " Tensor src, Tensor result, str reduce, bool include_self) -> Tensor"
    )
    run = staticmethod(_jvp)
    integers = ("index",)
    differentiable = ("input_t", "src_t", "input", "src")
    like = ("input",)
    keeps = ("index", "input", "src", "result")
    keeps_for: ClassVar[KeepsFor] = {"prod": (*keeps, "input_t", "src_t")}

    def backward(self, grad: Tensor) -> Gradients:
        of_tangents = self.apply(scatter_reduce_backward, grad=grad, to_input=True, to_src=True)
        if self.reduce != "prod":
            return *of_tangents, None, None
        _, *of_factors = self.apply(
            scatter_prod_backward_backward, input_g=self.input_t, src_g=self.src_t, grad=grad
        )
        return *of_tangents, *of_factors

    def forward(
        self, input_tt: Tangent, src_tt: Tangent, input_x: Tangent, src_x: Tangent
    ) -> Tangents:
        like = next(one for one in (input_tt, src_tt, input_x, src_x) if one is not None)

        def or_zeros(tangent: Tangent, name: str) -> Tensor:
            return self.zeros(like, name) if tangent is None else tangent

        found = self.apply(
            scatter_reduce_tangent,
            input_t=or_zeros(input_tt, "input"),
            src_t=or_zeros(src_tt, "src"),
        )
        if self.reduce == "prod" and (input_x is not None or src_x is not None):
            _, turned_input, turned_src = self.apply(
                scatter_prod_backward_backward,
                input_g=or_zeros(input_x, "input"),
                src_g=or_zeros(src_x, "src"),
                grad=torch.ones_like(self.input),
            )
            moved_input = self.input_t * turned_input.conj()
            moved_src = self.src_t * turned_src.conj()
            found = found + self.apply(
                scatter_reduce, input=moved_input, src=moved_src, reduce="sum"
            )
        return found


class ScatterProdBackwardBackward(AlongAxis):
    """The gradients of `grad`, `input` and `src` of a product's backward operator.

    It has no derivative: its formulas have steps where factors are 0.
    """

    schema = (
        "scatter_prod_backward_backward(Tensor input_g, Tensor src_g, Tensor grad, Tensor input,"
        " int dim, Tensor index, Tensor src, bool include_self) -> (Tensor, Tensor, Tensor)"
    )
    integers = ("index",)
    differentiable = ("input_g", "src_g", "grad", "input", "src")
    like = ("grad", "input", "src")
    results = ("of_grad", "of_input", "of_src")

    @staticmethod
    def run(input_g: Tensor, src_g: Tensor, *others: Any) -> tuple[Tensor, Tensor, Tensor]:
        arguments: Any = (*others, input_g, src_g)
        return _double_vjp(*arguments)

    def backward(self, *gradients: Any) -> Gradients:
        raise NotImplementedError("scatter_reduce: a product has no third derivative here")

    forward = backward


_function = Function(ScatterReduce, keeps_input=True)
scatter_reduce, scatter_reduce_ = _function.operator, _function.operator_in_place
call, call_ = _function.call, _function.call_
scatter_reduce_backward = define(ScatterReduceBackward)
scatter_reduce_tangent = define(ScatterReduceTangent)
scatter_prod_backward_backward = define(ScatterProdBackwardBackward)
