"""The records of an accumulator as NumPy arrays: `strew.Accumulator.arrays`.

They are read from what `to_bytes` writes. docs/accumulator.md describes both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from .._strew import Accumulator

    _Array: TypeAlias = np.ndarray[Any, Any]
    _Arrays: TypeAlias = dict[str, _Array]

# Aggregates whose record is the value.
_VALUES = ("sum", "prod", "sumsq", "min", "max")
# Aggregates whose record is an integer.
_INTEGERS = ("len", "count", "any", "all", "anynan", "allnan")
# Aggregates whose record is a value and its position.
_PLACED = ("first", "last", "argmin", "argmax")
# Each of these groups of aggregates shares one table.
_SPREADS = ("var", "std", "sem")
_SHAPES = ("skew", "kurt")
# Aggregates that `exact=True` keeps in one table of exact sums.
_EXACT = ("sum", "sumsq", "mean", "var", "std", "sem")
# Those of them whose records are the same without `exact=True` if the values are integers.
_EXACT_ANYWAY = ("sum", "sumsq")


def arrays(acc: Accumulator) -> _Arrays:
    """The records of an accumulator by name, as read-only arrays of the shape (size, *shape).

    If only some groups have a record, the first axis is that of `groups`, which are their numbers.
    They share the memory of one copy of the records, and do not change with the accumulator.
    """
    # All is read from the bytes: the accumulator may go on in another thread.
    rest = _Rest(acc.to_bytes())
    header = _read_header(rest)
    found: _Arrays = {}
    # Only some groups have a record.
    if rest.long():
        found["groups"] = rest.array((rest.long(),), "<i8")
        header = header._replace(shape=(*found["groups"].shape, *header.shape[1:]))
    for name, names in _tables(header).items():
        if name == "exact":
            found.update(_read_exact(rest, header, set(names)))
        else:
            found.update(_read_table(rest, header, name))
    if header.min_count > 1:
        # If "len" is wanted too, the arrays are equal, and the first one stays.
        found.setdefault("len", rest.array(header.shape, "<i8"))
    elif rest.left():
        # This table is the last one, and only some results need it.
        found["present"] = rest.array(header.shape, "?")
    return found


def header(acc: Accumulator) -> bytes:
    """What the bytes of an accumulator say before they say which groups have a record."""
    data = acc.to_bytes()
    rest = _Rest(data)
    _read_header(rest)
    return data[: len(data) - rest.left()]


class _Header(NamedTuple):
    """What the bytes say before the records, as far as the records depend on it."""

    # The dtype that values are computed in.
    values: str
    # That of each array: the groups, then the axes of one value.
    shape: tuple[int, ...]
    min_count: int
    exact: bool
    names: list[str]

    def whole(self) -> bool:
        """Whether values are integers or bools."""
        return self.values in ("<i8", "<u8")


class _Rest:
    """Bytes that are read from the front."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]

    def long(self) -> int:
        return int.from_bytes(self.take(8), "little")

    def text(self) -> str:
        return self.take(self.long()).decode()

    def array(self, shape: tuple[int, ...], dtype: Any) -> _Array:
        """An array that is a view of the bytes."""
        made: _Array = np.ndarray(shape, dtype, self._data, self._at)
        self._at += made.nbytes
        return made


def _read_header(rest: _Rest) -> _Header:
    # What the bytes are, and their version.
    rest.take(2 * 8)
    values = _computed_in(rest.text())
    shape = [rest.long() for _ in range(rest.long())]
    # Whether the size was given.
    rest.take(8)
    groups = rest.long()
    # Four numbers about numbers that name no group, and `skipna`.
    rest.take(5 * 8)
    min_count = rest.long()
    # `ddof`.
    rest.take(8)
    exact = rest.long() == 1
    # The fill value.
    rest.take(3 * 8)
    names = [rest.text() for _ in range(rest.long())]
    # The positions taken.
    rest.take(rest.long() * 2 * 8)
    return _Header(values, (groups, *shape), min_count, exact, names)


def _computed_in(dtype: str) -> str:
    """The dtype that values of another are computed in."""
    if dtype == "bool" or dtype.startswith("uint"):
        return "<u8"
    if dtype.startswith("int"):
        return "<i8"
    return "<c16" if dtype.startswith("complex") else "<f8"


def _tables(header: _Header) -> dict[str, list[str]]:
    """The names of the tables in their order, and the aggregates that are made of each."""
    made: dict[str, list[str]] = {}
    for name in header.names:
        shared: tuple[str, ...] = ()
        table = name
        if header.exact and name in _EXACT and not (header.whole() and name in _EXACT_ANYWAY):
            table = "exact"
        elif name in _SPREADS:
            shared = _SPREADS
        elif name in _SHAPES:
            shared = _SHAPES
        # A table has the name that was asked for first.
        table = next((known for known in made if known in shared), table)
        made.setdefault(table, []).append(name)
    return made


def _read_table(rest: _Rest, header: _Header, name: str) -> _Arrays:
    if name in _VALUES:
        return {name: rest.array(header.shape, header.values)}
    if name in _INTEGERS:
        return {name: rest.array(header.shape, "<i8")}
    fields = _fields(header, name)
    records = rest.array(header.shape, np.dtype(list(fields.items())))
    return {f"{name}.{field}": records[field] for field in fields}


def _fields(header: _Header, name: str) -> dict[str, str]:
    """The names and dtypes of the fields of a record."""
    values = header.values
    if name in _PLACED:
        return {"value": values, "position": "<i8"}
    if name == "mean":
        # NumPy has no integers of 128 bits.
        halves = {"sum.low": "<u8", "sum.high": "<i8"}
        return {**(halves if header.whole() else {"sum": values}), "count": "<u8"}
    means = "<f8" if header.whole() else values
    spread = {"count": "<f8", "first": means, "mean": means, "squares": "<f8"}
    return spread if name in _SPREADS else {**spread, "cubes": "<f8", "fourths": "<f8"}


def _read_exact(rest: _Rest, header: _Header, names: set[str]) -> _Arrays:
    """The parts of a table of exact sums that some aggregates are made of."""
    sums: list[str] = []
    if names - {"sumsq"}:
        sums += ["sum.real", "sum.imag"] if header.values == "<c16" else ["sum"]
    if names - {"sum", "mean"}:
        sums += ["squares", "squares.large", "squares.small"]
    found: _Arrays = {}
    for name in sums:
        for _ in range(rest.long()):
            number = rest.long()
            found[f"exact.{name}.plane.{number}"] = rest.array(header.shape, "<i8")
        found[f"exact.{name}.flags"] = rest.array(header.shape, "u1")
    if names - {"sum", "sumsq"}:
        found["exact.count"] = rest.array(header.shape, "<u8")
    return found
