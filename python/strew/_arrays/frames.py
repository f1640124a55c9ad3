"""Tables: frames of pandas, Polars and pyarrow, and what speaks the Arrow PyCapsule interface.

`find` says how a frame is read. Its columns are read by `kinds`, and a new frame of the same
library is made of columns.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

from .._native import errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    _Reader: TypeAlias = Callable[[Any], "Frame"]

# How objects of a class are read; None: they are no frames.
_KNOWN: dict[type, _Reader | None] = {}

# Classes that stand for rows that are not there yet, by their library, and what makes them rows.
_LAZY = {
    ("polars", "LazyFrame"): "call .collect() first",
    ("polars", "GroupBy"): "pass the frame, and the keys as by=",
    ("pandas", "DataFrameGroupBy"): "pass the frame, and the keys as by=",
    ("pandas", "SeriesGroupBy"): "pass the column, and the keys as by=",
    ("narwhals", "LazyFrame"): "call .collect() first",
    ("dask", "DataFrame"): "call .compute() first, or pass arrays to strew.dask.aggregate",
    ("dask_expr", "DataFrame"): "call .compute() first, or pass arrays to strew.dask.aggregate",
    ("pyspark", "DataFrame"): "call .toArrow() first",
    ("pyarrow", "TableGroupBy"): "pass the table, and the keys as by=",
    ("pyarrow", "Dataset"): "call .to_table() first",
}


class Frame:
    """A frame: its columns by their names, and new frames of its library."""

    def __init__(self, given: Any) -> None:
        self.given = given

    @property
    def names(self) -> list[Any]:
        """The names of the columns."""
        raise NotImplementedError

    @property
    def rows(self) -> int:
        return len(self.given)

    def at(self, place: int) -> Any:
        """The column at a place."""
        raise NotImplementedError

    def column(self, name: Any) -> Any:
        """The column of a name that the frame has, and no other column."""
        return self.at(self.names.index(name))

    def level(self, name: Any) -> Any:
        """A key of that name that is no column; None if there is none."""
        return None

    def check_labels(self, name: str, other: Any) -> None:
        """Raises if another argument has labels that differ from those of the rows."""

    def made(self, columns: dict[Any, Any], per_row: bool) -> Any:
        """A frame of columns; `per_row` if it has the rows of this one."""
        raise NotImplementedError


def find(value: Any) -> _Reader | None:
    """How a value is read; None if it is no frame."""
    kind = type(value)
    try:
        return _KNOWN[kind]
    except KeyError:
        found = _KNOWN[kind] = _learned(kind)
        return found


def _learned(kind: type) -> _Reader | None:
    for base in kind.__mro__:
        library, name = base.__module__.partition(".")[0], base.__name__
        why = _LAZY.get((library, name))
        if why is not None:
            return _refused(f"{library}'s {name}", why)
        found = _READERS.get((library, name))
        if found is not None:
            return found
    # A column speaks that interface, too: it has a dtype or a type, and a frame has neither.
    is_stream = hasattr(kind, "__arrow_c_stream__")
    is_column = any(hasattr(kind, name) for name in ("dtype", "type", "__array__"))
    return _of_stream if is_stream and not is_column else None


def _refused(what: str, why: str) -> _Reader:
    def read(given: Any) -> Frame:
        raise errors.Problem(TypeError, "aggregate", "src").saying(
            f"src is {what}, whose rows are not at hand: {why}"
        )

    return read


class _Pandas(Frame):
    @property
    def names(self) -> list[Any]:
        return list(self.given.columns)

    def at(self, place: int) -> Any:
        return self.given.iloc[:, place]

    def level(self, name: Any) -> Any:
        index = self.given.index
        if name not in index.names:
            return None
        # Without labels: they are the index itself.
        return sys.modules["pandas"].Series(index.get_level_values(name).array, name=name)

    def check_labels(self, name: str, other: Any) -> None:
        from .kinds._pandas import check_labels

        check_labels("aggregate", name, other, self.given)

    def made(self, columns: dict[Any, Any], per_row: bool) -> Any:
        pandas: Any = sys.modules["pandas"]
        arrays = {name: getattr(column, "array", column) for name, column in columns.items()}
        return pandas.DataFrame(arrays, index=self.given.index if per_row else None)


class _Polars(Frame):
    @property
    def names(self) -> list[Any]:
        return list(self.given.columns)

    def at(self, place: int) -> Any:
        return self.given.to_series(place)

    def made(self, columns: dict[Any, Any], per_row: bool) -> Any:
        pl: Any = sys.modules["polars"]
        return pl.DataFrame([pl.Series(name, column) for name, column in columns.items()])


class _Arrow(Frame):
    @property
    def names(self) -> list[Any]:
        return list(self.given.column_names)

    @property
    def rows(self) -> int:
        return int(self.given.num_rows)

    def at(self, place: int) -> Any:
        return self.given.column(place)

    def made(self, columns: dict[Any, Any], per_row: bool) -> Any:
        pa: Any = sys.modules["pyarrow"]
        if isinstance(self.given, pa.RecordBatch):
            return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
        return pa.table(list(columns.values()), names=list(columns))


_READERS: dict[tuple[str, str], _Reader] = {
    ("pandas", "DataFrame"): _Pandas,
    ("polars", "DataFrame"): _Polars,
    ("pyarrow", "Table"): _Arrow,
    ("pyarrow", "RecordBatch"): _Arrow,
}


def _of_stream(given: Any) -> Frame:
    """A frame of another library, read by pyarrow or by Polars without a copy."""
    for library, read in (("pyarrow", "table"), ("polars", "DataFrame")):
        try:
            module = importlib.import_module(library)
        except ImportError:
            continue
        frame = getattr(module, read)(given)
        reader = find(frame)
        assert reader is not None
        return reader(frame)
    kind = type(given).__name__
    raise errors.Problem(TypeError, "aggregate", "src").saying(
        f"to read a {kind}, pyarrow or polars must be installed"
    )
