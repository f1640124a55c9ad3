"""Keys of any kind as numbers of groups."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from .._native import errors
from .._strew import _join_keys
from .key_columns import Column, column, is_of

_Array: TypeAlias = np.ndarray[Any, Any]


def factorize(keys: Any) -> tuple[_Array, Any]:
    """Number the different values of keys, in ascending order.

    Parameters
    ----------
    keys : array, or tuple, list or dict of arrays
        Numbers, strings, dates, or any objects that can be ordered, 1-d: NumPy arrays, masked
        arrays, pandas Series, Index and Categorical, pyarrow arrays, Polars Series, xarray arrays,
        lists. Several of one length (a tuple, a list of arrays, a dict, a pandas or Polars
        DataFrame, a pyarrow Table, a MultiIndex) are one key of several columns. A list of plain
        values is one column. Categories of pandas, the values of a Polars Enum and those of an
        ordered dictionary of pyarrow are in their own order.

    Returns
    -------
    index : array of int64
        The number of each key's group, for `strew.aggregate` and `strew.scatter`. A missing key
        (None, NaN, NaT, null, masked; of several columns any) has -1: pass ``ignore_index=-1``.
    values : array, or tuple or dict of arrays
        The key of each group: ``values[index]`` are the keys again, but for missing ones. For
        several columns, an array for each, under its name if they have names. NumPy arrays, but
        timestamps with a time zone of pyarrow and Polars keep their kind, as NumPy has no zones.

    Raises
    ------
    ValueError, TypeError
        For columns of other lengths, of several dimensions or of one name, keys that cannot be
        ordered, and a list of tuples, which could be rows or columns.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> index, carriers = strew.factorize(np.array(["UA", "AA", "UA", "DL"]))
    >>> index
    array([2, 0, 2, 1])
    >>> strew.aggregate(np.array([5.0, 2.0, 7.0, 1.0]), index, "mean").tolist(), carriers.tolist()
    ([2.0, 1.0, 6.0], ['AA', 'DL', 'UA'])

    Two columns, of which only the pairs that occur are groups:

    >>> index, (years, names) = strew.factorize(([2001, 2000, 2001], ["b", "a", "b"]))
    >>> index, years.tolist(), names.tolist()
    (array([1, 0, 1]), [2000, 2001], ['a', 'b'])
    """
    names, several = columns(keys)
    if names is not None and len(set(names)) < len(names):
        raise errors.Problem(ValueError, "factorize", "keys").saying(
            f"the columns have the names {names}: they must differ"
        )
    index, first, read = numbered([keys] if several is None else several)
    made = [one.plain(first) for one in read]
    if several is None:
        return index, made[0]
    return index, tuple(made) if names is None else dict(zip(names, made, strict=True))


def numbered(keys: list[Any]) -> tuple[_Array, _Array, list[Column]]:
    """The group of each row, where each group comes first, and the columns of the keys.

    A row with a missing key has the group -1. Groups are in the ascending order of the keys.
    """
    if not keys:
        raise errors.Problem(ValueError, "factorize", "keys").saying("there are no keys")
    read = [column(one) for one in keys]
    found = [one.numbered() for one in read]
    if len(found) == 1:
        return *found[0], read
    lengths = [len(index) for index, _ in found]
    if len(set(lengths)) > 1:
        raise errors.Problem(ValueError, "factorize", "keys").saying(
            f"the columns have the lengths {lengths}: they must be equal"
        )
    codes = [np.ascontiguousarray(index, np.int64) for index, _ in found]
    index, first = _join_keys(codes, [len(first) for _, first in found])
    return index, first, read


def columns(keys: Any) -> tuple[list[Any] | None, list[Any] | None]:
    """The names of several columns, if they have such, and the columns; None for one column."""
    if is_of(keys, "pandas", "DataFrame"):
        return list(keys.columns), [keys.iloc[:, at] for at in range(keys.shape[1])]
    if is_of(keys, "polars", "DataFrame"):
        return list(keys.columns), keys.get_columns()
    if is_of(keys, "pyarrow", "Table") or is_of(keys, "pyarrow", "RecordBatch"):
        return list(keys.column_names), list(keys.columns)
    if is_of(keys, "pandas", "MultiIndex"):
        names = [f"level_{at}" if name is None else name for at, name in enumerate(keys.names)]
        return names, [keys.get_level_values(at) for at in range(keys.nlevels)]
    if isinstance(keys, dict):
        return list(keys), list(keys.values())
    if isinstance(keys, list) and keys and all(isinstance(one, tuple) for one in keys):
        raise errors.Problem(ValueError, "factorize", "keys").saying(
            "the keys are a list of tuples, which may be rows or columns: pass a tuple of "
            "columns, such as tuple(keys), or for rows tuple(zip(*keys))"
        )
    if isinstance(keys, tuple) or (
        isinstance(keys, list) and keys and all(_is_column(one) for one in keys)
    ):
        return None, list(keys)
    return None, None


def _is_column(value: Any) -> bool:
    return not isinstance(value, (str, bytes)) and hasattr(value, "__len__")
