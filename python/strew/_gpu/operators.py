"""What runs on a device in place of the engine's operators and functions."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .._native.errors import Problem
from . import derivatives, scatter_rows, torch_rows
from .along import kept as kept
from .along import of_plan as of_plan
from .checks import Checked
from .fold import fold, updates_along
from .run import Runner
from .run import trusting as trusting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

    from torch import Tensor

_FORMS = torch_rows.FORMS | scatter_rows.FORMS


@cache
def row(name: str) -> Callable[..., Any]:
    """What runs a row of strew's operators; takes its arguments in their order."""
    form = _FORMS.get(name) or _FORMS.get(name.removesuffix("_"))
    if form is None:
        raise refusal(name)
    return Runner(name, form)


def function(name: str) -> Callable[..., Any]:
    """What stands for a function of `strew._strew`."""
    found = getattr(derivatives, name.removeprefix("_"), None)
    if found is None:
        raise refusal(name)
    run: Callable[..., Any] = found
    return run


def aggregate() -> Any:
    """The module of statistics of groups."""
    from . import aggregate as found

    return found


def fold_groups(
    cells: Tensor, src: Tensor, dim: int, groups: Any, reduce: str, include_self: bool
) -> None:
    """Folds the values of groups into contiguous cells; those without values stay."""
    reduction = torch_rows.reduction_of(reduce, include_self)
    fold(cells, updates_along(src, dim), groups.grouping, reduction)


def check(name: str, values: Sequence[Any]) -> None:
    """Raises the CPU's errors of an operator about types, shapes and numbers."""
    _checked(name).check(values)


@cache
def _checked(name: str) -> Checked:
    return Checked(name)


def refuse(name: str, values: Sequence[Any]) -> NoReturn:
    """Raises the CPU's error of an operator that was given a wrong index."""
    _checked(name).refuse(values)


def refusal(name: str) -> Any:
    """The error of what does not run on a device."""
    return Problem(NotImplementedError, name, None).saying(
        "it does not run on this device", "move its tensors with tensor.cpu()"
    )
