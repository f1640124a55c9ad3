"""What runs on a device in place of the engine's operators and functions."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .._native.errors import Problem
from . import derivatives, scatter_rows, torch_rows
from .run import Runner

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

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


def refusal(name: str) -> Any:
    """The error of what does not run on a device."""
    return Problem(NotImplementedError, name, None).saying(
        "it does not run on this device", "move its tensors with tensor.cpu()"
    )
