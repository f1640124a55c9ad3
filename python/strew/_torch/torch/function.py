"""A function of `strew.torch` in torch's dispatcher: an operator, and its form in place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import torch
from torch.jit._builtins import _register_builtin

from ... import torch as public
from ..._strew import Operator
from ..registry import define, has_derivative, is_transformed, library
from ..tensors import as_tensor, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from torch import Tensor

    from ..registry import DerivativesMaker


class Function:
    """An operator by its name, and its parameters after `input` as in a schema.

    It runs strew's operator `of`, by default of the same name, with the arguments that `arrange`
    returns. The form in place has no derivative of its own: the result of the operator is copied
    into `input`. `keeps_input` says that the derivative needs `input` as it was. If `scripted`,
    TorchScript calls the operator for the function of `strew.torch`.
    """

    def __init__(
        self,
        name: str,
        parameters: str,
        derivatives: DerivativesMaker,
        vmap: Callable[..., Any],
        fake: Callable[..., Any] | None = None,
        *,
        of: str | None = None,
        arrange: Callable[..., Any] | None = None,
        in_place: bool = True,
        keeps_input: bool = False,
        scripted: bool = True,
    ) -> None:
        self.kinds = [parameter.split()[0] for parameter in parameters.split(", ")]
        # The dispatcher would leave out arguments that equal their defaults.
        needed = re.sub("=[^,]*", "", parameters)
        self.keeps_input = keeps_input
        self.arrange = arrange or (lambda *arguments: arguments)
        of = of or name
        run = Operator(f"torch.{of}")

        def kernel(*arguments: Any) -> Any:
            return run(*self.arrange(*map(as_argument, arguments)))

        schema = f"{name}(Tensor input, {needed}) -> Tensor"
        self.operator = define(schema, kernel, fake or _like_input, derivatives, vmap)
        if in_place:
            self._define_in_place(name, needed, of)
        if scripted:
            script(of, parameters, self.operator)

    def _define_in_place(self, name: str, needed: str, of: str) -> None:
        self.run_in_place = Operator(f"torch.{of}_")

        def kernel(input: Any, *arguments: Any) -> None:
            # Detached, but not resolved: that could make a copy, and the tensor itself must be
            # written to.
            self.run_in_place(*self.arrange(input.detach(), *map(as_argument, arguments)))

        schema = f"{name}_(Tensor(a!) input, {needed}) -> ()"
        self.operator_in_place = define(schema, kernel, lambda *arguments: None)

    def __call__(self, *arguments: Any) -> Tensor:
        """The operator, for tensors."""
        return self.operator(*arguments)

    def call(self, input: Any, *arguments: Any) -> Tensor:
        """The function of `strew.torch` by way of the dispatcher."""
        return self.operator(as_tensor(input), *self._tensors(arguments))

    def call_(self, input: Any, *arguments: Any) -> Tensor:
        """Its form in place by way of the dispatcher."""
        if not isinstance(input, torch.Tensor):
            # Writing into another library's array cannot be differentiated; the operator raises the
            # error.
            return self.run_in_place(*self.arrange(input, *arguments))
        tensors = self._tensors(arguments)
        if not has_derivative((input, *tensors)) and not is_transformed():
            self.operator_in_place(input, *tensors)
            return input
        # The derivative needs `input` as it was.
        before = input.clone() if self.keeps_input else input
        return input.copy_(self.operator(before, *tensors))

    def _tensors(self, arguments: Sequence[Any]) -> list[Any]:
        return [
            _tensor(kind, argument) for kind, argument in zip(self.kinds, arguments, strict=True)
        ]


def script(function: str, parameters: str, run: Callable[..., Any]) -> None:
    """Makes a function of `strew.torch` known to TorchScript."""
    name = f"torch_{function}"
    _define_script(name, "default", parameters, run)
    if "Tensor?[]" in parameters:
        # TorchScript does not take a list of tensors for a list of optional tensors.
        _define_script(name, "tensors", parameters.replace("Tensor?[]", "Tensor[]"), run)
    _register_builtin(getattr(public, function), f"strew::{name}")


def _define_script(name: str, overload: str, parameters: str, run: Callable[..., Any]) -> None:
    full = name if overload == "default" else f"{name}.{overload}"
    library.define(f"{full}(Tensor input, {parameters}) -> Tensor")
    schema = getattr(getattr(torch.ops.strew, name), overload)._schema

    def complete(*arguments: Any) -> Any:
        left_out = schema.arguments[len(arguments) :]
        return run(*arguments, *(argument.default_value for argument in left_out))

    library.impl(full, complete, "CompositeImplicitAutograd")


def _tensor(kind: str, argument: Any) -> Any:
    if kind == "Tensor":
        return as_tensor(argument)
    if kind == "Tensor?[]" and isinstance(argument, (tuple, list)):
        return [None if one is None else as_tensor(one) for one in argument]
    if kind != "Tensor?[]" and hasattr(argument, "item"):
        # A NumPy number, or a tensor of one element.
        return argument.item()
    return argument


def as_argument(argument: Any) -> Any:
    """An argument as strew's operators take it."""
    if isinstance(argument, torch.Tensor):
        return plain(argument)
    if isinstance(argument, (tuple, list)):
        return [as_argument(one) for one in argument]
    return argument


def _like_input(input: Any, *arguments: Any) -> Tensor:
    return input.new_empty(input.shape)
