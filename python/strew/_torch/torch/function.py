"""A function of `strew.torch` in torch's dispatcher: an operator, and one that works in place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import torch
from torch.jit._builtins import _register_builtin

from ... import torch as public
from ..._strew import Operator
from ..registry import define, has_derivative, is_transformed, library
from ..tensors import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from torch import Tensor

    from ..registry import DerivativesMaker


class Function:
    """The operator of a name, with the parameters that follow `input` as in a schema.

    Its arguments go to strew's own operator of that name, or that `of` names, as `arrange` puts
    them. The in-place form has no derivative of its own, a copy of the result has; `keeps_input`
    says that the derivative needs what `input` was. TorchScript takes the operator for the function
    of `strew.torch` if `scripted`.
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
        # The dispatcher would leave out arguments that are defaults.
        needed = re.sub("=[^,]*", "", parameters)
        self.keeps_input = keeps_input
        self.arrange = arrange or (lambda *arguments: arguments)
        of = of or name
        run = Operator(f"torch.{of}")

        def kernel(*arguments: Any) -> Any:
            return run(*self.arrange(*map(taken, arguments)))

        schema = f"{name}(Tensor input, {needed}) -> Tensor"
        self.operator = define(schema, kernel, fake or _like_input, derivatives, vmap)
        if in_place:
            self._define_in_place(name, needed, of)
        if scripted:
            script(of, parameters, self.operator)

    def _define_in_place(self, name: str, needed: str, of: str) -> None:
        self.run_in_place = Operator(f"torch.{of}_")

        def kernel(input: Any, *arguments: Any) -> None:
            # Without its gradient, but not resolved: it would not be the tensor to write to.
            self.run_in_place(*self.arrange(input.detach(), *map(taken, arguments)))

        schema = f"{name}_(Tensor(a!) input, {needed}) -> ()"
        self.operator_in_place = define(schema, kernel, lambda *arguments: None)

    def __call__(self, *arguments: Any) -> Tensor:
        """The operator, for tensors."""
        return self.operator(*arguments)

    def call(self, input: Any, *arguments: Any) -> Tensor:
        """The function of `strew.torch`, for arrays that the dispatcher has to know of."""
        return self.operator(torch.as_tensor(input), *self._tensors(arguments))

    def call_(self, input: Any, *arguments: Any) -> Tensor:
        """Its in-place form, for such."""
        if not isinstance(input, torch.Tensor):
            # What goes there cannot be differentiated: the operator says so.
            return self.run_in_place(*self.arrange(input, *arguments))
        tensors = self._tensors(arguments)
        if not has_derivative((input, *tensors)) and not is_transformed():
            self.operator_in_place(input, *tensors)
            return input
        # What the derivative keeps of the input must stay as it is.
        before = input.clone() if self.keeps_input else input
        return input.copy_(self.operator(before, *tensors))

    def _tensors(self, arguments: Sequence[Any]) -> list[Any]:
        return [
            _tensor(kind, argument) for kind, argument in zip(self.kinds, arguments, strict=True)
        ]


def script(function: str, parameters: str, run: Callable[..., Any]) -> None:
    """Makes a function of `strew.torch` known to TorchScript, which compiles no other Python."""
    name = f"torch_{function}"
    _define_script(name, "default", parameters, run)
    if "Tensor?[]" in parameters:
        # There, a list of tensors is no list of tensors and None.
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
        return torch.as_tensor(argument)
    if kind == "Tensor?[]" and isinstance(argument, (tuple, list)):
        return [None if one is None else torch.as_tensor(one) for one in argument]
    if kind != "Tensor?[]" and hasattr(argument, "item"):
        # A number of NumPy's, or a tensor of one.
        return argument.item()
    return argument


def taken(argument: Any) -> Any:
    """An argument as strew takes it."""
    if isinstance(argument, torch.Tensor):
        return plain(argument)
    if isinstance(argument, (tuple, list)):
        return [taken(one) for one in argument]
    return argument


def _like_input(input: Any, *arguments: Any) -> Tensor:
    return input.new_empty(input.shape)
