"""The arguments of strew's operators, as torch writes them in a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .._strew import Operator

if TYPE_CHECKING:
    from collections.abc import Iterable

_TYPES = {
    "Bool": "bool",
    "Int": "int",
    "Integers": "SymInt[]",
    "Scalar": "Scalar",
    "Target": "Tensor(a!)",
    "Tensor": "Tensor",
    "Tensors": "Tensor?[]",
    "Text": "str",
}


class Argument(NamedTuple):
    """An argument: its type, and its default, which is None if it must be passed."""

    name: str
    type: str
    default: str | None

    def __str__(self) -> str:
        declared = f"{self.type} {self.name}"
        return declared if self.default is None else f"{declared}={self.default}"


def arguments_of(row: str, without: Iterable[str] = (), **changed: str) -> list[Argument]:
    """The arguments of an operator of strew, apart from those in `without`.

    `changed` are arguments that differ from strew's: "type", or "type=default".
    """
    found = []
    for name, kind, default in Operator(row).arguments:
        if name in changed:
            of, _, given = changed[name].partition("=")
            found.append(Argument(name, of, given or None))
        elif name not in without:
            found.append(_argument(name, kind, default))
    return found


def _argument(name: str, kind: str, default: str | None) -> Argument:
    of = _TYPES[kind]
    if default == "None":
        of += "?"
    elif kind == "Text" and default is not None:
        default = f'"{default}"'
    elif kind == "Scalar" and default is not None and "e" in default:
        of = "float"
    return Argument(name, of, default)
