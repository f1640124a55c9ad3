"""Keys of any kind as numbers of groups."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as _np

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    _Array: TypeAlias = _np.ndarray[Any, Any]

__all__ = ["factorize"]


def factorize(keys: Any) -> tuple[_Array, Any]:
    """Number the different values of keys, in ascending order.

    Parameters
    ----------
    keys : array, or tuple, list or dict of arrays
        Numbers, strings, dates, or any objects that can be ordered, 1-d: NumPy arrays, masked
        arrays, pandas Series, Index and Categorical, pyarrow arrays, Polars Series, xarray arrays,
        lists. Several of one length (a tuple, a list of arrays, a dict, a pandas or Polars
        DataFrame, a pyarrow Table) are one key of several columns. A list of plain values is one
        column. Categories of pandas are in their own order.

    Returns
    -------
    index : array of int64
        The number of each key's group, for `strew.aggregate` and `strew.scatter`. A missing key
        (None, NaN, NaT, null, masked; of several columns any) has -1: pass ``ignore_index=-1``.
    values : array, or tuple or dict of arrays
        The key of each group: ``values[index]`` are the keys again, but for missing ones. For
        several columns, an array for each, under its name if they have names.

    Raises
    ------
    ValueError, TypeError
        For columns of other lengths, of several dimensions or of one name, and keys that cannot be
        ordered.

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
        raise ValueError(f"factorize: the columns have the names {names}: they must differ")
    if several is None:
        return _one(keys)
    if not several:
        raise ValueError("factorize: there are no keys")
    numbered = [_one(column) for column in several]
    lengths = [len(index) for index, _ in numbered]
    if len(set(lengths)) > 1:
        raise ValueError(f"factorize: the columns have the lengths {lengths}: they must be equal")
    index, groups = _joined(numbered)
    made = [values[places] for (_, values), places in zip(numbered, groups, strict=True)]
    return index, tuple(made) if names is None else dict(zip(names, made, strict=True))


def columns(keys: Any) -> tuple[list[Any] | None, list[Any] | None]:
    """The names of several columns, if they have such, and the columns; None for one column."""
    if _is_of(keys, "pandas", "DataFrame") or _is_of(keys, "polars", "DataFrame"):
        return list(keys.columns), [keys[name] for name in dict.fromkeys(keys.columns)]
    if _is_of(keys, "pyarrow", "Table") or _is_of(keys, "pyarrow", "RecordBatch"):
        return list(keys.column_names), list(keys.columns)
    if isinstance(keys, dict):
        return list(keys), list(keys.values())
    if isinstance(keys, tuple) or (
        isinstance(keys, list) and keys and all(_is_column(one) for one in keys)
    ):
        return None, list(keys)
    return None, None


def _is_of(value: Any, module: str, name: str) -> bool:
    """Whether a value is of a class of a library, which is not imported for that."""
    loaded = sys.modules.get(module)
    kind = getattr(loaded, name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def _is_column(value: Any) -> bool:
    return not isinstance(value, (str, bytes)) and hasattr(value, "__len__")


def _one(column: Any) -> tuple[_Array, _Array]:
    """The numbers of one column, and its different values in ascending order."""
    if _is_of(column, "pyarrow", "ChunkedArray"):
        column = column.combine_chunks()
    if _is_of(column, "pyarrow", "Array"):
        return _of_arrow(column)
    if isinstance(column, _np.ma.MaskedArray):
        return _of_masked(column)
    if _is_of(column, "polars", "Series"):
        # Arrow has no objects.
        objects = str(column.dtype) == "Object"
        return _one(column.to_list()) if objects else _of_arrow(column.to_arrow())
    pandas = sys.modules.get("pandas")
    own = (
        ()
        if pandas is None
        else (pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)
    )
    given = column if isinstance(column, own) else _array(column)
    # pandas rounds long doubles.
    long = given.dtype in (_np.longdouble, _np.clongdouble)
    if pandas is None or given.ndim != 1 or long:
        return _by_sorting(given)
    # By a hash table, which is several times as fast as sorting.
    # pandas would put words behind numbers, but there is no order between them.
    objects = given.dtype == object
    try:
        found, values = pandas.factorize(given, sort=not objects)
    except (TypeError, KeyError):
        # Objects without a hash, and dtypes that pandas does not know.
        return _by_sorting(_np.asarray(given))
    index = found.astype(_np.int64)
    return _sorted(index, _np.asarray(values)) if objects else (index, _np.asarray(values))


def _sorted(index: _Array, values: _Array) -> tuple[_Array, _Array]:
    """The same with the values in ascending order."""
    try:
        order = _np.argsort(values, kind="stable")
    except TypeError as error:
        raise TypeError(f"factorize: the keys cannot be ordered: {error}") from error
    places = _np.full(len(values) + 1, -1, _np.int64)
    places[order] = _np.arange(len(values))
    return places[index], values[order]


def _array(column: Any) -> _Array:
    """A column as an array, in the machine's order of bytes.

    A list becomes an array of objects where another one would make different keys equal.
    """
    made = _np.asarray(column)
    if not hasattr(column, "dtype") and made.ndim == 1 and _merges(made, column):
        made = _np.fromiter(column, object, len(made))
    return made if made.dtype.isnative else made.astype(made.dtype.newbyteorder("="))


def _merges(made: _Array, column: Any) -> bool:
    """Whether an array may have made different keys of a list equal."""
    if made.dtype.kind == "f":
        # From 2^53 on, floats do not tell integers apart.
        large = _np.flatnonzero(abs(made) >= 2.0**53)
        return any(isinstance(column[place], int) for place in large)
    # None is a word in an array of words, and zeros at a word's end are lost.
    if made.dtype.kind == "U":
        return any(not isinstance(key, str) or key.endswith("\0") for key in column)
    if made.dtype.kind == "S":
        return any(not isinstance(key, bytes) or key.endswith(b"\0") for key in column)
    return False


def _by_sorting(keys: _Array) -> tuple[_Array, _Array]:
    _refuse_dimensions(keys)
    missing = _missing(keys)
    try:
        values, numbers = _np.unique(keys[~missing], return_inverse=True)
    except TypeError as error:
        raise TypeError(f"factorize: the keys cannot be ordered: {error}") from error
    index = _np.full(len(keys), -1, _np.int64)
    index[~missing] = numbers
    return index, values


def _missing(keys: _Array) -> _Array:
    if keys.dtype.kind in "fcmM":
        return _np.isnan(keys)
    if keys.dtype.kind == "V" and keys.dtype.names is None:
        # Numbers that NumPy does not know, such as bfloat16.
        return _np.asarray(keys != keys)
    if keys.dtype.kind not in "OT":
        return _np.zeros(len(keys), bool)
    # NaN and NaT are not equal to themselves.
    return _np.fromiter((key is None or bool(key != key) for key in keys), bool, len(keys))


def _refuse_dimensions(column: Any) -> None:
    if column.ndim != 1:
        also = "; tuple(keys.T) has the columns of a matrix" if column.ndim == 2 else ""
        if column.ndim == 0 and column.dtype.kind == "U":
            also = "; pass the column itself, not its name"
        raise ValueError(
            f"factorize: a column of keys has {column.ndim} dimensions: it must have 1{also}"
        )


def _of_masked(column: Any) -> tuple[_Array, _Array]:
    """The numbers of a masked array, in which a masked key is missing."""
    _refuse_dimensions(column)
    missing = _np.ma.getmaskarray(column)
    numbers, values = _one(_np.asarray(column.data)[~missing])
    index = _np.full(len(column), -1, _np.int64)
    index[~missing] = numbers
    return index, values


def _of_arrow(column: Any) -> tuple[_Array, _Array]:
    """The numbers of a pyarrow array: its dictionary is found by a hash table, and then sorted."""
    if hasattr(column, "dictionary") and column.dictionary.null_count:
        # NumPy would make floats of integers with a null.
        column = column.cast(column.type.value_type)
    try:
        encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    except NotImplementedError as error:
        raise TypeError(f"factorize: the keys cannot be ordered: {error}") from error
    words = encoded.dictionary.to_numpy(zero_copy_only=False)
    places, values = _by_sorting(_array(words))
    numbers = encoded.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    # A dictionary may have values that no key has.
    used = _np.zeros(len(values) + 1, bool)
    index = _np.append(places, -1)[numbers]
    used[index] = True
    if not used[:-1].all():
        index = _np.append(_np.cumsum(used[:-1]) - 1, -1)[index]
        values = values[used[:-1]]
    return index, values


def _joined(numbered: list[tuple[_Array, _Array]]) -> tuple[_Array, list[_Array]]:
    """One number for each combination of columns that occurs; and where each column's value is."""
    index, _ = numbered[0]
    groups = [_np.arange(len(numbered[0][1]))]
    for numbers, values in numbered[1:]:
        # The combinations so far times the values of a column are fewer than 2^63: both are at
        # most as many as there are keys.
        missing = (index < 0) | (numbers < 0)
        pairs = _np.where(missing, -1, index * max(len(values), 1) + numbers)
        found, inverse = _np.unique(pairs[~missing], return_inverse=True)
        index = _np.full(len(pairs), -1, _np.int64)
        index[~missing] = inverse
        before, last = _np.divmod(found, max(len(values), 1))
        groups = [*(places[before] for places in groups), last]
    return index, groups
