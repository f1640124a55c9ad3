"""A function of `strew.torch` in torch's dispatcher: an operator, and its form in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ... import torch as public
from ..._strew import Operator
from ..calls import define, define_in_place, picks_for
from ..registry import has_derivative, is_transformed
from ..schemas import arguments_of
from ..script import script
from ..tensors import as_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from torch import Tensor

    from ..calls import Call, Registered

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
        kinds = [_KINDS.get(argument.type, _NUMBER) for argument in arguments]
        self.converts = [(k, *kind) for k, kind in enumerate(kinds)]
        # The dispatcher would leave out arguments that equal their defaults.
        needed = ", ".join(f"{argument.type} {argument.name}" for argument in arguments)
        call.schema = f"{name}(Tensor input, {needed}) -> Tensor"
        self.operator: Registered = define(call)
        self.names, self.pick = call.names, self.operator.pick
        self.reduce_at = self.names.index("reduce") - 1 if keeps_input else None
        if in_place:
            schema = f"{name}_(Tensor(a!) input, {needed}) -> ()"
            self.operator_in_place: Registered = define_in_place(schema, f"{row}_")
            self.run_in_place = Operator(f"{row}_")
            self.picks = picks_for(self.run_in_place, self.names)
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
            return self.run_in_place(*self.picks((input, *arguments, None)))
        tensors = self._tensors(arguments)
        if not has_derivative((input, *tensors)) and not is_transformed():
            self.operator_in_place(input, *tensors)
            return input
        # The derivative may need `input` as it was.
        keeps = self.reduce_at is not None and arguments[self.reduce_at] not in LINEAR
        return input.copy_(self.operator(input.clone() if keeps else input, *tensors))

    def _tensors(self, arguments: Sequence[Any]) -> list[Any]:
        values = list(arguments)
        for k, known, convert in self.converts:
            if type(values[k]) not in known:
                values[k] = convert(values[k])
        return values


def _number(argument: Any) -> Any:
    """A number of NumPy, or a tensor of one element, as a number of Python."""
    return argument.item() if hasattr(argument, "item") else argument


def _list(argument: Any) -> Any:
    if not isinstance(argument, (tuple, list)):
        return argument
    return [None if one is None else as_tensor(one) for one in argument]


#: By an argument's type in the schema: the types that need no conversion, and the conversion. All
#: others are numbers and names.
_KINDS: dict[str, tuple[frozenset[type], Callable[[Any], Any]]] = {
    "Tensor": (frozenset({torch.Tensor, torch.nn.Parameter}), as_tensor),
    "Tensor?[]": (frozenset(), _list),
}
_NUMBER = frozenset({bool, complex, float, int, str, type(None)}), _number
