"""Groups by keys of any kind: `aggregate` with ``by=``."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._arrays.kinds._held import Groups
from .._native import errors
from .._native import options as _options
from .._strew import Plan
from . import any_kind, no_values
from .factorize import columns as _columns
from .factorize import numbered
from .long_line import Call, names_of
from .reduce import of_arrays


class Grouped(NamedTuple):
    """The groups of keys: what `strew.aggregate` with ``by=`` gives.

    Attributes
    ----------
    keys : array, or tuple or dict of arrays
        The key of each group in ascending order, as `strew.factorize` gives it. Of several columns
        an array for each, under its name if they have names.
    values : array, or tuple of arrays
        The results, of which entry ``k`` along `dim` is that of ``keys[k]``.

    Examples
    --------
    >>> import strew
    >>> keys, total = strew.aggregate([5.0, 2.0, 7.0], by=["b", "a", "b"])
    >>> dict(zip(keys.tolist(), total.tolist()))
    {'a': 2.0, 'b': 12.0}
    """

    keys: Any
    values: Any


# The strew module is its public place, also in pickles.
Grouped.__module__ = "strew"


def grouped(
    src: Any,
    by: Any,
    reduces: list[Any],
    several: bool,
    dim: Any,
    dtype: Any,
    weights: Any,
    options: dict[str, Any],
) -> Grouped:
    """The groups of keys and their results; `aggregate` describes the arguments."""
    index, keys, groups = of_keys(by)
    if src is None:
        src = no_values.stand_in(index)
    size = groups.count
    if dim is None or weights is not None or any_kind.needed(src, index):
        names = names_of(reduces)
        call = Call(
            operator="aggregate",
            run=of_arrays,
            index=index,
            reduces=reduces,
            names=names,
            dim=dim,
            size=size,
            mode="drop",
            ignore_index=None,
            dtype=dtype,
            weights=weights,
            options=options,
        )
        made = any_kind.reduced(call, src, groups)
    else:
        if options["fill_missing"]:
            options = _options.without_missing(options, src)
        made = of_arrays(src, index, reduces, dim, size, "drop", None, dtype, weights, options)
    return Grouped(keys, made if several else made[0])


def of_keys(
    by: Any, called: str = "aggregate", argument: str | None = "by"
) -> tuple[Any, Any, Groups]:
    """The group of each key, -1 for a missing one, the keys of the groups, and their labels.

    `called` is the function that was called, and `argument` what it calls the keys.
    """
    try:
        names, columns = _columns(by)
        if names is not None and len(set(names)) < len(names):
            raise errors.Problem(ValueError, "factorize", "keys").saying(
                f"the columns have the names {names}: they must differ"
            )
        one = columns is None
        columns = [by] if columns is None else columns
        index, first, read = numbered(columns)
    except (TypeError, ValueError) as error:
        errors.rename(error, "factorize", called, argument)
        raise
    keys: Any = tuple(column.plain(first) for column in read)
    if names is not None:
        keys = dict(zip(names, keys, strict=True))
    elif one:
        keys = keys[0]
    labels = [column.labels(first) for column in read]
    if names is None:
        names = [getattr(column, "name", None) for column in columns]
    return index, keys, Groups(names, columns, labels, len(first))


def of_index(index: Any) -> Groups:
    """The names that the keys of an index have, and the labels of a plan of keys."""
    labels: Groups | None = getattr(index, "labels", None) if isinstance(index, Plan) else None
    if labels is not None:
        return labels
    columns = list(index) if isinstance(index, tuple) else [index]
    return Groups([getattr(column, "name", None) for column in columns], columns)


def refuse_beside(index: Any, size: Any, mode: Any, ignore_index: Any) -> None:
    """Raises for arguments about an index beside keys, which make one."""
    given = {
        "index": index is not None,
        "size": size is not None,
        "mode": mode != "error",
        "ignore_index": ignore_index is not None,
    }
    names = [name for name, is_given in given.items() if is_given]
    if names:
        raise errors.Problem(ValueError, "aggregate", names[0]).saying(
            f"by makes the index of its keys: {' and '.join(names)} cannot be combined with it"
        )
