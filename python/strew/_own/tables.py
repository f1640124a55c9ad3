"""`aggregate` and `group` of frames: the groups are rows with equal keys, and a frame comes out.

```text
strew.aggregate(frame, by=keys, reduce=wanted)
    keys    -> columns of keys -> the group of each row         (_groups/factorize)
    wanted  -> for each column the reductions and the results' names
    columns -> values and where they are missing -> results     (_arrays/kinds, _groups/missing)
    a frame of the keys of the groups and the results
```
"""

from __future__ import annotations

import difflib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from .._arrays.frames import find
from .._arrays.kinds import find as find_column
from .._arrays.kinds._held import Groups, Made
from .._arrays.lines import plan_as_index
from .._groups import any_kind
from .._groups import by as keys_of
from .._groups.factorize import columns as _columns
from .._groups.factorize import numbered
from .._groups.key_columns import column as key_column
from .._groups.long_line import Call
from .._groups.long_line import names_of as _names_of
from .._groups.reduce import PER_VALUE, of_arrays
from .._native import errors
from .._native import options as _options
from .._strew import Plan

if TYPE_CHECKING:
    from typing import Any

    from .._arrays.frames import Frame

# Reductions of columns whose values are no numbers: they need an order, or to be told apart.
_OF_TEXT = frozenset("min max first last nth mode count nunique len".split())
_PICKED = frozenset("min max first last nth mode".split())
# Those that need neither.
_UNORDERED = frozenset("first last nth count len".split())


class GroupPlan(Plan):
    """A `strew.Plan` of the groups of keys, which it knows: what `strew.group` gives.

    Attributes
    ----------
    keys : frame, array, or tuple or dict of arrays
        The key of each group, in ascending order.
    """

    keys: Any
    labels: Groups

    def __reduce__(self) -> Any:
        return _again, (self.to_bytes(), self.keys, self.labels)


# The strew module is its public place, also in pickles.
GroupPlan.__module__ = "strew"


def _planned(index: Any, keys: Any, labels: Groups) -> GroupPlan:
    plan = GroupPlan(index, labels.count, mode="drop")
    # Columns of all rows are not needed any more.
    plan.keys, plan.labels = keys, Groups(labels.names, (), labels.keys, labels.count)
    return plan


def _again(data: bytes, keys: Any, labels: Groups) -> GroupPlan:
    read = Plan.from_bytes(data)
    index = np.asarray(read.gather(np.arange(1, read.size + 1))) - 1
    return _planned(index, keys, labels)


def group(frame: Any, by: Any = None) -> GroupPlan:
    """Analyse the groups of keys once, for many calls of `strew.aggregate`.

    Parameters
    ----------
    frame : frame, or keys
        A data frame of pandas, Polars or pyarrow. Or, without `by`, keys as `strew.factorize` takes
        them.
    by : name, list of names, or keys
        The columns that are the keys, or keys of any kind with one for each row.

    Returns
    -------
    GroupPlan
        A `strew.Plan`, whose attribute ``keys`` has the key of each group in ascending order: a
        frame of the same library, or of keys alone what `strew.factorize` gives. Rows with a
        missing key belong to no group.

    Raises
    ------
    ValueError, TypeError
        As for `strew.aggregate`.

    Examples
    --------
    >>> import strew
    >>> plan = strew.group(["UA", "AA", "UA"])
    >>> plan.keys.tolist(), strew.aggregate([5.0, 2.0, 7.0], plan, "mean").tolist()
    (['AA', 'UA'], [2.0, 6.0])
    """
    if by is None:
        return _planned(*keys_of.of_keys(frame, "group", None))
    with errors.called("aggregate", "group"):
        reader = find(frame)
        if reader is None:
            kind = type(frame).__name__
            raise errors.Problem(TypeError, "aggregate", "frame").saying(
                f"frame is a {kind}: by= names columns of a frame of pandas, Polars or pyarrow; "
                "keys alone are passed as group(keys)"
            )
        read = reader(frame)
        found = _read_keys(read, by)
        labels = Groups(found.names, (), [one.labels(found.first) for one in found.columns])
        labels.count = len(found.first)
        return _planned(found.index, read.made(found.taken(), per_row=False), labels)


@dataclass
class _Keys:
    """The columns of keys of a frame, and the groups of its rows."""

    names: list[Any]
    columns: list[Any]
    index: Any
    first: Any

    def taken(self) -> dict[Any, Any]:
        """The keys of the groups, as columns of the frame's library where they come from it."""
        taken = (column.taken(self.first) for column in self.columns)
        return dict(zip(self.names, taken, strict=True))


@dataclass(frozen=True)
class _Wanted:
    """One reduction of one column; the column None stands for the rows."""

    column: Any
    reduce: Any
    result: Any


def aggregate(
    src: Any,
    by: Any,
    index: Any,
    reduce: Any,
    dim: Any,
    size: Any,
    mode: Any,
    ignore_index: Any,
    dtype: Any,
    weights: Any,
    options: dict[str, Any],
) -> Any:
    """The groups of a frame's rows as a frame; `strew.aggregate` describes the arguments."""
    if dim not in (0, None):
        raise errors.Problem(ValueError, "aggregate", "dim", dim).saying(
            f"dim = {dim!r}: a frame is reduced along its rows", "it must be 0"
        )
    frame = cast("Any", find(src))(src)
    keys: _Keys | None = None
    shown: dict[Any, Any] = {}
    if by is not None:
        keys = _read_keys(frame, by)
        index, size, mode = keys.index, len(keys.first), "drop"
        shown = keys.taken()
    elif isinstance(index, GroupPlan):
        known = find(index.keys)
        if known is not None:
            of_keys = known(index.keys)
            shown = {name: of_keys.column(name) for name in of_keys.names}
    elif isinstance(index, str) or (
        isinstance(index, list) and index and all(isinstance(one, str) for one in index)
    ):
        raise errors.Problem(TypeError, "aggregate", "index", index).saying(
            f"index = {index!r}: names of columns are passed as by="
        )
    used = set(shown) if keys is None else set(keys.names)
    if isinstance(weights, str) or (weights is not None and _is_name(frame, weights)):
        used |= {weights}
        weights = _column(frame, "weights", weights)
    frame.check_labels("weights", weights)
    frame.check_labels("index", index)
    wanted = _wanted(frame, reduce, used)
    per_row = _per_row(wanted)
    if per_row and keys is not None:
        shown = {name: one.given for name, one in zip(keys.names, keys.columns, strict=True)}
    elif per_row and shown:
        rows = np.asarray(plan_as_index(index))
        shown = {name: _at(column, rows) for name, column in shown.items()}
    found: dict[int, list[tuple[Any, Any]]] = {}
    for column in dict.fromkeys(one.column for one in wanted):
        places = [at for at, one in enumerate(wanted) if one.column == column]
        reduces = [wanted[at].reduce for at in places]
        values = _stand_in(frame) if column is None else _column(frame, "reduce", column)
        call = Call(
            operator="aggregate",
            run=of_arrays,
            index=index,
            reduces=reduces,
            names=_names_of(reduces),
            dim=0,
            size=size,
            mode=mode,
            ignore_index=ignore_index,
            dtype=dtype,
            weights=None if column is None else weights,
            options=options,
        )
        with errors.of_column(column):
            results = _reduced(call, values)
        for at, (kind, result) in zip(places, results, strict=True):
            if per_row and not kind.nullable:
                result = _without_group(result, index)
            parts = _parts(wanted[at], result, options)
            found[at] = [(name, kind.out(part, Groups())) for name, part in parts]
    made = dict(shown)
    for at in range(len(wanted)):
        for name, column in found[at]:
            if name in made:
                raise _of_one_name(name, name in shown)
            made[name] = column
    return frame.made(made, per_row)


def _at(column: Any, rows: Any) -> Any:
    """The entries of a column at some rows; missing where a row is negative."""
    none = rows < 0
    if not none.any():
        return key_column(column).taken(rows)
    # A table without rows has none to stand for what is missing.
    if not len(column):
        raise errors.Problem(ValueError, "aggregate", "index").saying(
            "index has no groups, so the rows have no keys: pass the keys as by="
        )
    return _without(key_column(column).taken(np.where(none, 0, rows)), none)


def _reduced(call: Call, column: Any) -> list[tuple[Any, Made]]:
    """The results of a column, and the kind that makes columns of them."""
    if find_column(column) is not None:
        try:
            return any_kind.made(call, column)
        except TypeError:
            if not set(call.names) <= _OF_TEXT or call.weights is not None:
                _check_names(call)
                raise
    return _of_text(call, column)


def _check_names(call: Call) -> None:
    """Raises if a reduction is none, whatever the values are."""
    nothing = np.zeros(0), np.zeros(0, np.int64)
    named = [one for one in call.reduces if isinstance(one, str)]
    of_arrays(*nothing, named, 0, 0, "error", None, None, None, _options.PLAIN)


def _of_text(call: Call, column: Any) -> list[tuple[Any, Made]]:
    """Results of values that are no numbers, by the numbers that their order gives them."""
    keys = key_column(column)
    if set(call.names) <= _UNORDERED:
        # These need no order: the number of a value is its row.
        first = np.arange(len(column))
        values = np.ma.MaskedArray(first, _is_missing(column))
    else:
        try:
            numbers, first = keys.numbered()
        except TypeError as error:
            named = ", ".join(name for name in call.names if name not in _UNORDERED)
            raise errors.Problem(TypeError, "aggregate", "reduce").saying(
                f"{named}: these values have no order that tells which is the smallest or "
                "whether two are equal"
            ) from error
        values = np.ma.MaskedArray(numbers, numbers < 0)
    found = []
    for name, (kind, made) in zip(call.names, any_kind.made(call, values), strict=True):
        if name in _PICKED:
            kind = _Picked(keys, first)
        found.append((kind, made))
    return [(kind if isinstance(kind, _Picked) else _Like(column), made) for kind, made in found]


class _Picked:
    """Makes a column of the values that results are numbers of."""

    nullable = True

    def __init__(self, keys: Any, first: Any) -> None:
        self.keys, self.first = keys, first

    def out(self, made: Made, groups: Groups) -> Any:
        none = made.missing
        places = np.append(self.first, 0)[made.values]
        column = self.keys.taken(places)
        return column if none is None or not none.any() else _without(column, none)


class _Like:
    """Makes a column of numbers in the library of another column."""

    nullable = True

    def __init__(self, column: Any) -> None:
        self.column = column

    def out(self, made: Made, groups: Groups) -> Any:
        return _numbers_like(self.column, made.values)


def _numbers_like(column: Any, values: Any) -> Any:
    module = type(column).__module__.partition(".")[0]
    if module == "polars":
        pl: Any = sys.modules["polars"]
        return pl.Series(values)
    if module == "pyarrow":
        pa: Any = sys.modules["pyarrow"]
        return pa.array(values)
    return values


def _is_missing(column: Any) -> Any:
    """Where values of any kind are missing."""
    module = type(column).__module__.partition(".")[0]
    if module == "polars":
        return column.is_null().to_numpy()
    if module == "pyarrow":
        return np.asarray(column.is_null())
    pandas: Any = sys.modules["pandas"]
    return np.asarray(pandas.isna(column))


def _without(column: Any, missing: Any) -> Any:
    """A column with missing values at some places."""
    module = type(column).__module__.partition(".")[0]
    if module == "polars":
        pl: Any = sys.modules["polars"]
        return pl.select(pl.when(pl.Series(~missing)).then(column)).to_series()
    if module == "pyarrow":
        pa: Any = sys.modules["pyarrow"]
        return column.take(pa.array(np.arange(len(missing)), mask=missing))
    return column.array.take(np.where(missing, -1, np.arange(len(missing))), allow_fill=True)


def _stand_in(frame: Frame) -> Any:
    """Values for the rows: a column of any kind of the frame's library."""
    return _numbers_like(frame.at(0), np.zeros(frame.rows, np.uint8)) if frame.names else None


def _per_row(wanted: list[_Wanted]) -> bool:
    """Whether there is one result for each row."""
    per_row = [isinstance(one.reduce, str) and one.reduce in PER_VALUE for one in wanted]
    if any(per_row) and not all(per_row):
        names = [one.reduce for one in wanted]
        each, other = names[per_row.index(True)], names[per_row.index(False)]
        raise errors.Problem(ValueError, "aggregate", "reduce").saying(
            f"{each!r} has one result for each row, and {other!r} one for each group: one "
            "frame cannot hold both"
        )
    return any(per_row)


def _without_group(made: Made, index: Any) -> Made:
    """Results of rows, of which those without a group have none: integers become floats."""
    if made.values.dtype.kind not in "iub" or isinstance(index, Plan):
        return made
    none = np.asarray(index) < 0
    return Made(made.values.astype(np.float64), none, made.axes) if none.any() else made


def _parts(wanted: _Wanted, made: Made, options: dict[str, Any]) -> list[tuple[Any, Made]]:
    """A result of several columns, such as those of several fractions, column by column."""
    name = wanted.result
    if made.values.ndim == 1:
        return [(name, made)]
    if made.values.ndim != 2:
        raise errors.Problem(ValueError, "aggregate", "reduce", wanted.reduce).saying(
            f"{wanted.reduce!r} makes results of {made.values.ndim - 1} dimensions"
        )
    values, missing = made.values, made.missing
    if "quantile" in made.axes:
        q = options["q"]
        names = [f"{name}_{one:g}" for one in q] if np.ndim(q) == 1 else []
        names = names or [f"{name}_{at}" for at in range(len(values))]
    else:
        values, missing = values.T, None if missing is None else missing.T
        names = [f"{name}[{at}]" for at in range(len(values))]
    lost = [None] * len(values) if missing is None else list(missing)
    return [
        (one, Made(np.ascontiguousarray(part), none, ["group"]))
        for one, part, none in zip(names, values, lost, strict=True)
    ]


def _is_name(frame: Frame, given: Any) -> bool:
    """Whether something names a column of a frame, or a level of its index."""
    try:
        hash(given)
    except TypeError:
        return False
    return given in frame.names or frame.level(given) is not None


def _column(frame: Frame, argument: str, name: Any) -> Any:
    """A column by its name."""
    names = frame.names
    if names.count(name) > 1:
        raise errors.Problem(ValueError, "aggregate", argument, name).saying(
            f"{argument} names the column {name!r}, of which there are {names.count(name)}: "
            "their names must differ"
        )
    if name in names:
        return frame.column(name)
    level = frame.level(name)
    if level is not None:
        return level
    close = difflib.get_close_matches(str(name), map(str, names), 1)
    shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
    shown = f"the columns are {shown}" if names else "the frame has no columns"
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise errors.Problem(ValueError, "aggregate", argument, name).saying(
        f"{argument} names the column {name!r}, which is not there: {shown}{hint}"
    )


def _read_keys(frame: Frame, by: Any) -> _Keys:
    """The keys of a frame's rows."""
    names, columns = _named(frame, by)
    if len(set(names)) < len(names):
        raise errors.Problem(ValueError, "aggregate", "by").saying(
            f"by names the columns {names}: they must differ"
        )
    try:
        index, first, read = numbered(columns)
    except (TypeError, ValueError) as error:
        errors.rename(error, "factorize", "aggregate", "by")
        raise
    if len(index) != frame.rows:
        raise errors.Problem(ValueError, "aggregate", "by").saying(
            f"by has {len(index)} keys", f"it must have {frame.rows}, one for each row"
        )
    return _Keys(names, read, index, first)


def _named(frame: Frame, by: Any) -> tuple[list[Any], list[Any]]:
    """The names of the key columns, and the columns."""
    if isinstance(by, str) or _is_name(frame, by):
        return [by], [_column(frame, "by", by)]
    if callable(by) and not hasattr(by, "__len__"):
        raise errors.Problem(TypeError, "aggregate", "by").saying(
            "by is a function", "it must be names of columns, or keys"
        )
    if isinstance(by, (list, tuple)) and by:
        is_name = [isinstance(one, str) or _is_name(frame, one) for one in by]
        if any(is_name) and (all(is_name) or len(by) != frame.rows):
            for one, named in zip(by, is_name, strict=True):
                if not named:
                    frame.check_labels("by", one)
            found = [
                _column(frame, "by", one) if named else one
                for one, named in zip(by, is_name, strict=True)
            ]
            names = [one if named else None for one, named in zip(by, is_name, strict=True)]
            return _with_names(names, found), found
    names_of, columns = _columns(by)
    if columns is None:
        columns = [by]
    for one in columns:
        frame.check_labels("by", one)
    return _with_names(names_of or [None] * len(columns), columns), columns


def _with_names(names: list[Any], columns: list[Any]) -> list[Any]:
    """Names for all key columns: their own, or "key" and so on."""
    found = [
        getattr(column, "name", None) if name is None else name
        for name, column in zip(names, columns, strict=True)
    ]
    one = "key" if len(columns) == 1 else None
    return [
        (one or f"key_{at}") if name is None or name == "" else name
        for at, name in enumerate(found)
    ]


def _wanted(frame: Frame, reduce: Any, used: set[Any]) -> list[_Wanted]:
    """What is to be made of which column, under which name."""
    if isinstance(reduce, str) and reduce == "len":
        return [_Wanted(None, "len", "len")]
    if not isinstance(reduce, dict):
        reduces = _reductions(reduce)
        columns = [name for name in frame.names if name not in used]
        return _distinct([one for name in columns for one in _of_column(name, reduces)])
    found: list[_Wanted] = []
    for name, given in reduce.items():
        if hasattr(given, "aggfunc"):
            # A NamedAgg of pandas.
            given = (given.column, given.aggfunc)
        if isinstance(given, tuple):
            if len(given) != 2:
                raise errors.Problem(ValueError, "aggregate", "reduce").saying(
                    f"reduce[{name!r}] = {given!r}: a tuple must be a column and a reduction; "
                    "several reductions of a column are a list"
                )
            column, one = given
            _column(frame, f"reduce[{name!r}]", column)
            if not (isinstance(one, str) or callable(one)):
                raise errors.Problem(TypeError, "aggregate", "reduce").saying(
                    f"reduce[{name!r}] = {given!r}: its second entry must be the name of a "
                    "reduction, or a function"
                )
            found.append(_Wanted(column, one, name))
        elif isinstance(given, str) and given == "len" and not _is_name(frame, name):
            found.append(_Wanted(None, "len", name))
        else:
            _column(frame, "reduce", name)
            found += _of_column(name, _reductions(given))
    return _distinct(found)


def _reductions(given: Any) -> list[Any]:
    return [given] if isinstance(given, str) or callable(given) else _options.reductions(given)


def _of_column(column: Any, reduces: list[Any]) -> list[_Wanted]:
    """The reductions of a column: one has the column's name, several have their own behind it."""
    if len(reduces) == 1:
        return [_Wanted(column, reduces[0], column)]
    shown = "_".join(map(str, column)) if isinstance(column, tuple) else column
    names = [one if isinstance(one, str) else getattr(one, "__name__", "") for one in reduces]
    return [
        _Wanted(column, one, f"{shown}_{name}") for one, name in zip(reduces, names, strict=True)
    ]


def _distinct(wanted: list[_Wanted]) -> list[_Wanted]:
    names = [one.result for one in wanted]
    for name in names:
        if names.count(name) > 1:
            raise _of_one_name(name, False)
    return wanted


def _of_one_name(name: Any, is_key: bool) -> ValueError:
    """The error of results that have one name."""
    what = "a key and a result" if is_key else "two columns of the result"
    return errors.Problem(ValueError, "aggregate", "reduce", name).saying(
        f"{what} have the name {name!r}: name the results, as in "
        'reduce={"name": ("column", "mean")}'
    )
