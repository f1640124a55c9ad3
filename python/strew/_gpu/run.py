"""One call of an operator on a device."""

from __future__ import annotations

from contextlib import contextmanager
from threading import local
from typing import TYPE_CHECKING

import torch

from .along import kept
from .checks import Checked, first_and_last

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, NoReturn, TypeAlias

    from torch import Tensor

    Form: TypeAlias = Callable[["Run"], Any]


_trusted = local()


@contextmanager
def trusting() -> Iterator[None]:
    """Takes indices as they are: those that were just made from others are in their range."""
    before, _trusted.on = getattr(_trusted, "on", False), True
    try:
        yield
    finally:
        _trusted.on = before


class Run:
    """A call, with its arguments as attributes; an argument that is left out is None."""

    #: Of rows of torch_scatter without this argument.
    out: Tensor | None = None

    if TYPE_CHECKING:

        def __getattr__(self, argument: str) -> Any: ...

    def __init__(self, checked: Checked, values: Sequence[Any]) -> None:
        self._checked, self._values = checked, values
        self.__dict__.update(zip(checked.names, values, strict=True))

    def refuse(self) -> NoReturn:
        """Raises the CPU's error for a wrong index."""
        self._checked.refuse(self._values)

    def expect(self, right: bool) -> None:
        """Raises the CPU's error for a wrong index unless it is right."""
        if not right:
            self.refuse()

    def expect_inside(self, index: Tensor, size: int, low: int = 0) -> None:
        """Refuses numbers that are not from `low` to `size - 1`."""
        groups = kept(index)
        if groups is not None and groups.most < size:
            return
        if index.numel() and not getattr(_trusted, "on", False):
            least, most = first_and_last(index)
            self.expect(low <= least and most < size)


class Runner:
    """What `Operator` is on the CPU: takes a row's arguments in their order."""

    def __init__(self, row: str, form: Form) -> None:
        self.form = form
        self.in_place = row.startswith("torch.") and row.endswith("_")
        self.checked = Checked(row)

    def __call__(self, *values: Any) -> Any:
        values = tuple(_resolved(value) for value in values)
        self.checked.check(values)
        if self.in_place:
            self.checked.check_overlap(values)
        made = self.form(Run(self.checked, values))
        if self.in_place:
            return values[0].copy_(made)
        return made


def _resolved(value: Any) -> Any:
    """A tensor without lazy conj and neg, apart from derivatives."""
    if isinstance(value, torch.Tensor):
        return value.detach().resolve_conj().resolve_neg()
    return [_resolved(one) for one in value] if isinstance(value, (list, tuple)) else value
