"""A function of `strew.torch` in torch's dispatcher: an operator, and its form in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ... import torch as public
from ..._strew import Operator
from ..calls import define, define_in_place, order_of
from ..registry import has_derivative, is_transformed
from ..schemas import arguments_of
from ..script import script
from ..tensors import as_tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from torch import Tensor

    from ..calls import Call

#: Reductions whose derivative does not depend on values. None is an assignment.
LINEAR = ("sum", "mean", "exact_sum", "exact_mean", None)


class Function:
    """An operator, whose arguments are those of strew's operator `call.row`.

    `without` are arguments that it lacks, and `changed` those with another type or default. The
    form in place has no derivative of its own: the result of the operator is copied into `input`.
    `keeps_input` says that the derivative needs `input` as it was, unless `reduce` is linear. If
    `scripted`, TorchScript calls the operator for the function of `strew.torch`.
    """

    def __init__(
        self,
        call: type[Call],
        name: str | None = None,
        *,
        without: Iterable[str] = (),
        in_place: bool = True,
        keeps_input: bool = False,
        scripted: bool = True,
        **changed: str,
    ) -> None:
        row = str(call.row)
        function = row.removeprefix("torch.")
        name = name or function
        _, *arguments = arguments_of(row, without, **changed)
        self.types = [argument.type for argument in arguments]
        # The dispatcher would leave out arguments that equal their defaults.
        needed = ", ".join(f"{argument.type} {argument.name}" for argument in arguments)
        call.schema = f"{name}(Tensor input, {needed}) -> Tensor"
        self.operator = define(call)
        self.names = call.names
        self.reduce_at = self.names.index("reduce") - 1 if keeps_input else None
        if in_place:
            schema = f"{name}_(Tensor(a!) input, {needed}) -> ()"
            self.operator_in_place = define_in_place(schema, f"{row}_")
            self.run_in_place = Operator(f"{row}_")
            self.order = order_of(self.run_in_place, self.names)
        if scripted:
            listed = ", ".join(map(str, ("Tensor input", *arguments)))
            script(f"torch_{function}", getattr(public, function), listed, self.operator)

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
            given = (input, *arguments)
            return self.run_in_place(*[None if at is None else given[at] for at in self.order])
        tensors = self._tensors(arguments)
        if not has_derivative((input, *tensors)) and not is_transformed():
            self.operator_in_place(input, *tensors)
            return input
        # The derivative may need `input` as it was.
        keeps = self.reduce_at is not None and arguments[self.reduce_at] not in LINEAR
        return input.copy_(self.operator(input.clone() if keeps else input, *tensors))

    def _tensors(self, arguments: Sequence[Any]) -> list[Any]:
        return [_tensor(of, argument) for of, argument in zip(self.types, arguments, strict=True)]


def _tensor(of: str, argument: Any) -> Any:
    if of == "Tensor":
        return as_tensor(argument)
    if of == "Tensor?[]" and isinstance(argument, (tuple, list)):
        return [None if one is None else as_tensor(one) for one in argument]
    if of != "Tensor?[]" and hasattr(argument, "item"):
        # A NumPy number, or a tensor of one element.
        return argument.item()
    return argument
