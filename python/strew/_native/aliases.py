"""Arguments that have two names."""

from __future__ import annotations

from typing import Any

from . import errors


def one_of(
    operator: str,
    names: tuple[str, str],
    given: tuple[Any, Any],
    default: Any,
    absent: Any = None,
) -> Any:
    """The value of an argument by either name.

    `default` is that of the first name, and `absent` that of the second one.
    """
    value, other = given
    if other is absent:
        return value
    if value != default:
        raise errors.Problem(TypeError, operator, names[1]).saying(
            f"{names[0]} and {names[1]} are one argument: give one of them"
        )
    return other
