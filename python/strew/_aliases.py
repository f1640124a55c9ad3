"""Arguments that have two names."""

from __future__ import annotations

from typing import Any


def one_of(operator: str, names: tuple[str, str], given: tuple[Any, Any], default: Any) -> Any:
    """The value of an argument by either name; `default` is that of the first one."""
    value, other = given
    if other is None:
        return value
    if value != default:
        raise TypeError(f"{operator}: {names[0]} and {names[1]} are one argument: give one of them")
    return other
