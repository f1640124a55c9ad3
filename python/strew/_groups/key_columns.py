"""One column of keys, of any kind: a number for each different key, in ascending order.

Each kind says how its keys become integers in the order of the keys, or its different keys a list
that is sorted. The engine finds the different integers by a table or a hash table.
"""

from __future__ import annotations

import sys
from importlib import util
from typing import Any, TypeAlias

import numpy as np

from .._native import errors
from .._strew import _join_keys, _number_keys, _number_strings

_Array: TypeAlias = np.ndarray[Any, Any]


class Column:
    """A column of keys."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def numbered(self) -> tuple[_Array, _Array]:
        """The number of each key, -1 for a missing one; and where each number comes first."""
        raise NotImplementedError

    def taken(self, places: _Array) -> Any:
        """The keys at some places, in the kind of the column."""
        raise NotImplementedError

    def plain(self, places: _Array) -> Any:
        """The same as a NumPy array, if NumPy has a dtype for them."""
        return np.asarray(self.taken(places))

    def labels(self, places: _Array) -> Any:
        """The same as labels of pandas: an Index, or what makes one."""
        made = self.plain(places)
        return made if isinstance(made, np.ndarray) else np.array(made.to_pylist(), object)


def column(given: Any) -> Column:
    """A column of keys of any kind."""
    if is_of(given, "pyarrow", "ChunkedArray") or is_of(given, "pyarrow", "Array"):
        return _Arrow(given)
    if isinstance(given, np.ma.MaskedArray):
        return _Numpy(np.asarray(given.data), np.ma.getmaskarray(given))
    if is_of(given, "polars", "Series"):
        return _Polars(given)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(
        given, (pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)
    ):
        return _Pandas(given)
    return _Numpy(_array(given))


def is_of(value: Any, module: str, name: str) -> bool:
    """Whether a value is of a class of a library, which is not imported for that."""
    loaded = sys.modules.get(module)
    kind = getattr(loaded, name, None)
    return isinstance(kind, type) and isinstance(value, kind)


class _Numpy(Column):
    """An array of NumPy, of which some keys may be masked."""

    def __init__(self, keys: _Array, missing: _Array | None = None) -> None:
        super().__init__(keys)
        self.missing = missing
        if keys.ndim != 1:
            also = "; tuple(keys.T) has the columns of a matrix" if keys.ndim == 2 else ""
            if keys.ndim == 0 and keys.dtype.kind == "U":
                also = "; pass the column itself, not its name"
            elif keys.ndim == 0 and keys.dtype.kind == "O":
                also = f", and is no {type(keys[()]).__name__}"
            raise errors.Problem(ValueError, "factorize", "keys").saying(
                f"a column of keys has {keys.ndim} dimensions", f"it must have 1{also}"
            )

    def numbered(self) -> tuple[_Array, _Array]:
        missing = _missing(self.given)
        if self.missing is not None:
            missing = self.missing if missing is None else missing | self.missing
        if missing is None or not missing.any():
            return _different(self.given)
        there = np.flatnonzero(~missing)
        numbers, first = _different(self.given[there])
        index = np.full(len(self.given), -1, np.int64)
        index[there] = numbers
        return index, there[first]

    def taken(self, places: _Array) -> Any:
        keys = self.given[places]
        return keys if keys.dtype.isnative else keys.astype(keys.dtype.newbyteorder("="))


def _different(keys: _Array) -> tuple[_Array, _Array]:
    """The number of each key, of which none is missing, and where each number comes first."""
    words = _words(keys)
    if words is not None:
        return _number_keys(words)
    if keys.dtype == object:
        return _of_objects(keys)
    return _by_sorting(keys)


def _words(keys: _Array) -> _Array | None:
    """Integers in the order of the keys, in one row or several; None for other keys."""
    if not keys.dtype.isnative:
        keys = keys.astype(keys.dtype.newbyteorder("="))
    keys = np.ascontiguousarray(keys)
    kind, size = keys.dtype.kind, keys.dtype.itemsize
    if kind == "b":
        return keys.view(np.uint8)
    if kind in "iu":
        return keys.view(f"{kind}{size}")
    if kind in "mM":
        return keys.view(np.int64)
    if kind in "US" and size:
        word = np.dtype(np.uint32 if kind == "U" else np.uint8)
        return keys.view(word).reshape(len(keys), size // word.itemsize)
    if kind == "f" and size <= 8:
        return _ordered_bits(keys)
    if kind == "c" and size <= 16:
        return _ordered_bits(keys.view(keys.real.dtype)).reshape(len(keys), 2)
    return None


def _ordered_bits(floats: _Array) -> _Array:
    """Integers in the order of floats, of which none is NaN. Both zeros are equal."""
    bits: _Array = (floats + floats.dtype.type(0)).view(f"i{floats.dtype.itemsize}")
    # Of two negative floats that with the larger bits is the smaller one.
    flipped = (bits >> (8 * bits.itemsize - 1)) & np.iinfo(bits.dtype).max
    return np.bitwise_xor(bits, flipped, out=bits)


def _of_objects(keys: _Array) -> tuple[_Array, _Array]:
    """Objects by a hash table, of which the different ones are then sorted."""
    pandas = sys.modules.get("pandas")
    try:
        if pandas is not None:
            numbers, different = pandas.factorize(keys)
            count = len(different)
        else:
            known: dict[Any, int] = {}
            found = (known.setdefault(key, len(known)) for key in keys)
            numbers = np.fromiter(found, np.int64, len(keys))
            count = len(known)
    except TypeError:
        # Objects without a hash.
        return _by_sorting(keys)
    first = _firsts(numbers, count)
    order = _argsort(keys[first])
    return _ranked(numbers, order), first[order]


def _firsts(numbers: _Array, count: int) -> _Array:
    """Where each number comes first. Every number is there."""
    first = np.empty(count, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return first


def _unordered(why: object) -> TypeError:
    """The exception of keys of which none is known to be the smaller one."""
    problem = errors.Problem(TypeError, "factorize", "keys")
    return problem.saying(f"the keys cannot be ordered: {why}")


def _argsort(keys: Any) -> _Array:
    """The order of different keys."""
    try:
        return np.argsort(keys, kind="stable")
    except TypeError as error:
        raise _unordered(error) from error


def _ranked(numbers: _Array, order: _Array) -> _Array:
    """The places of numbers in an order; -1 stays."""
    places = np.full(len(order) + 1, -1, np.int64)
    places[order] = np.arange(len(order))
    return places[numbers]


def _by_sorting(keys: _Array) -> tuple[_Array, _Array]:
    """Keys of any dtype that NumPy sorts."""
    try:
        _, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
    except TypeError as error:
        raise _unordered(error) from error
    return numbers.astype(np.int64, copy=False), first


def _missing(keys: _Array) -> _Array | None:
    """Where keys are missing; None for dtypes without missing values."""
    kind = keys.dtype.kind
    if kind in "fc":
        return np.isnan(keys)
    if kind in "mM":
        return np.isnat(keys)
    if kind == "V" and keys.dtype.names is None:
        # Numbers that NumPy does not know, such as bfloat16.
        return np.asarray(keys != keys)
    if kind == "O" and "pandas" in sys.modules:
        return np.asarray(sys.modules["pandas"].isna(keys))
    if kind in "OT":
        # NaN and NaT are not equal to themselves.
        return np.fromiter((key is None or bool(key != key) for key in keys), bool, len(keys))
    return None


def _array(given: Any) -> _Array:
    """A column as an array.

    A list becomes an array of objects where another one would make different keys equal.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(given, torch.Tensor):
        given = given.detach().resolve_conj().resolve_neg().cpu()
        # NumPy has no bfloat16; float32 has its values.
        given = given.float() if given.dtype == torch.bfloat16 else given
    try:
        made = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        kind = type(given).__name__
        raise errors.Problem(TypeError, "factorize", "keys").saying(
            f"NumPy makes no array of the keys, a {kind}: {error}"
        ) from error
    if not hasattr(given, "dtype") and made.ndim == 1 and _merges(made, given):
        made = np.fromiter(given, object, len(made))
    return made


def _merges(made: _Array, given: Any) -> bool:
    """Whether an array may have made different keys of a list equal."""
    if made.dtype.kind == "f":
        # From 2^53 on, floats do not tell integers apart.
        large = np.flatnonzero(abs(made) >= 2.0**53)
        return any(isinstance(given[place], int) for place in large)
    # None is a word in an array of words, and zeros at a word's end are lost.
    if made.dtype.kind == "U":
        return any(not isinstance(key, str) or key.endswith("\0") for key in given)
    if made.dtype.kind == "S":
        return any(not isinstance(key, bytes) or key.endswith(b"\0") for key in given)
    return False


class _Pandas(Column):
    """A Series, an Index or an array of pandas. Categories are in their own order."""

    def numbered(self) -> tuple[_Array, _Array]:
        pandas: Any = sys.modules["pandas"]
        array = (
            self.given
            if isinstance(self.given, pandas.api.extensions.ExtensionArray)
            else (self.given.array)
        )
        dtype = array.dtype
        if isinstance(dtype, np.dtype):
            return _Numpy(np.asarray(self.given)).numbered()
        if isinstance(dtype, pandas.CategoricalDtype):
            codes = np.asarray(array.codes)
            return _Numpy(codes, codes < 0).numbered()
        if isinstance(dtype, pandas.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow":
            return _Arrow(array.__arrow_array__()).numbered()
        if getattr(dtype, "tz", None) is not None:
            return _Numpy(np.asarray(pandas.DatetimeIndex(array).tz_convert(None))).numbered()
        if hasattr(dtype, "numpy_dtype"):
            missing = np.asarray(array.isna())
            none: Any = {"na_value": dtype.numpy_dtype.type(0)} if missing.any() else {}
            values = array.to_numpy(dtype=dtype.numpy_dtype, copy=False, **none)
            return _Numpy(values, missing).numbered()
        try:
            numbers, different = pandas.factorize(array, sort=True)
        except (TypeError, KeyError) as error:
            raise _unordered(error) from error
        there = np.flatnonzero(numbers >= 0)
        return numbers.astype(np.int64), there[_firsts(numbers[there], len(different))]

    def taken(self, places: _Array) -> Any:
        """An Index with the name of the column."""
        pandas: Any = sys.modules["pandas"]
        array = self.given
        if isinstance(array, (pandas.Series, pandas.Index)):
            array = array.array
        return pandas.Index(array.take(places), name=getattr(self.given, "name", None))

    def labels(self, places: _Array) -> Any:
        return self.taken(places)

    def plain(self, places: _Array) -> Any:
        pandas: Any = sys.modules["pandas"]
        if isinstance(self.given.dtype, pandas.CategoricalDtype):
            return np.asarray(self.taken(places))
        given = self.given.iloc if isinstance(self.given, pandas.Series) else self.given
        return np.asarray(given[places])


class _Arrow(Column):
    """An array of pyarrow. The values of an ordered dictionary are in their own order."""

    def __init__(self, given: Any) -> None:
        pa: Any = sys.modules["pyarrow"]
        super().__init__(given)
        if isinstance(given, pa.ChunkedArray):
            given = given.chunk(0) if given.num_chunks == 1 else given.combine_chunks()
        if isinstance(given, pa.ChunkedArray):
            # Without chunks, or of more than one array holds.
            given = pa.concat_arrays(given.chunks) if given.num_chunks else pa.array([], given.type)
        # pyarrow takes no elements of views.
        views = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
        self.type = given.type
        self.array = given.cast(views[given.type]) if given.type in views else given

    def numbered(self) -> tuple[_Array, _Array]:
        from .._arrays.kinds._pyarrow import is_number, parts

        pa: Any = sys.modules["pyarrow"]
        array = self.array
        if is_number(array.type):
            return _Numpy(*parts("factorize", "keys", array)).numbered()
        if _is_text(array.type):
            return _texts(array)
        try:
            if not isinstance(array, pa.DictionaryArray):
                array = array.dictionary_encode()
        except (NotImplementedError, pa.ArrowException) as error:
            raise _unordered(error) from error
        dictionary = array.dictionary
        if not array.type.ordered:
            ranks = self._ranks(dictionary)
        else:
            ranks = np.arange(len(dictionary))
            if dictionary.null_count:
                ranks[dictionary.is_null().to_numpy(zero_copy_only=False)] = -1
        places = array.indices
        if places.null_count:
            places = places.cast("int64").fill_null(len(ranks))
        codes = np.append(ranks, -1)[places.to_numpy(zero_copy_only=False)]
        return _join_keys([codes], [len(ranks)])

    @staticmethod
    def _ranks(dictionary: Any) -> _Array:
        """The rank of each value of a dictionary; -1 for null."""
        from .._arrays.kinds._pyarrow import is_number

        pa: Any = sys.modules["pyarrow"]
        is_dictionary = isinstance(dictionary, pa.DictionaryArray)
        if is_number(dictionary.type) or _is_text(dictionary.type) or is_dictionary:
            return _Arrow(dictionary).numbered()[0]
        words = dictionary.to_numpy(zero_copy_only=False)
        return _Numpy(np.asarray(words, object)).numbered()[0]

    def taken(self, places: _Array) -> Any:
        pa: Any = sys.modules["pyarrow"]
        taken = self.array.take(pa.array(places))
        return taken if taken.type == self.type else taken.cast(self.type)

    def plain(self, places: _Array) -> Any:
        pa: Any = sys.modules["pyarrow"]
        keys = self.taken(places)
        if pa.types.is_dictionary(keys.type):
            keys = keys.cast(keys.type.value_type)
        if pa.types.is_timestamp(keys.type) and keys.type.tz is not None:
            return keys
        return keys.to_numpy(zero_copy_only=False)


def _is_text(kind: Any) -> bool:
    """Whether a type of pyarrow is of texts, or of strings of bytes of any length."""
    pa: Any = sys.modules["pyarrow"]
    texts = (pa.string(), pa.large_string(), pa.string_view())
    return kind in (*texts, pa.binary(), pa.large_binary(), pa.binary_view())


def _texts(array: Any) -> tuple[_Array, _Array]:
    """The numbers of an array of texts or strings of bytes of pyarrow, read where they lie."""
    kind, count = str(array.type), len(array)
    if not count:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    missing = None
    if array.null_count:
        missing = array.is_null().to_numpy(zero_copy_only=False).view(np.uint8)
    _, places, *memory = array.buffers()
    dtype = np.dtype(np.int64 if kind.startswith("large") else np.int32)
    if kind.endswith("view"):
        at = np.frombuffer(places, np.uint8, 16 * count, 16 * array.offset)
    else:
        at = np.frombuffer(places, dtype, count + 1, dtype.itemsize * array.offset)
    # A buffer without bytes may be none at all.
    parts = [
        np.frombuffer(part, np.uint8) if part and part.size else np.zeros(0, np.uint8)
        for part in memory
    ]
    return _number_strings(at, parts, missing)


class _Polars(Column):
    """A Series of Polars. The values of an Enum are in their own order."""

    def numbered(self) -> tuple[_Array, _Array]:
        pl: Any = sys.modules["polars"]
        keys = self.given
        dtype = keys.dtype
        if dtype in (pl.String, pl.Binary) and util.find_spec("pyarrow"):
            return _texts(keys.to_arrow(compat_level=pl.CompatLevel.newest()))
        if _is_object(dtype):
            return _Numpy(_objects(keys)).numbered()
        if dtype == pl.Null:
            return _Numpy(np.zeros(len(keys)), np.ones(len(keys), bool)).numbered()
        missing = keys.is_null().to_numpy() if keys.null_count() else None
        if dtype == pl.String:
            words = keys.unique().drop_nulls().sort()
            codes = _physical(keys.cast(pl.Enum(words))).astype(np.int64)
            if missing is not None:
                codes[missing] = -1
            return _join_keys([codes], [len(words)])
        if dtype == pl.Categorical:
            numbers, first = _Numpy(_physical(keys), missing).numbered()
            order = keys.gather(first).cast(pl.String).arg_sort().to_numpy()
            return _ranked(numbers, order), first[order]
        if dtype.is_nested():
            raise _unordered(f"they are of the type {dtype}")
        return _Numpy(_physical(keys), missing).numbered()

    def taken(self, places: _Array) -> Any:
        return self.given.gather(places)

    def labels(self, places: _Array) -> Any:
        made = self.plain(places)
        return made if isinstance(made, np.ndarray) else _objects(made)

    def plain(self, places: _Array) -> Any:
        pl: Any = sys.modules["polars"]
        keys = self.taken(places)
        if isinstance(keys.dtype, pl.Datetime) and keys.dtype.time_zone is not None:
            return keys
        return _objects(keys) if _is_object(keys.dtype) else keys.to_numpy()


def _is_object(dtype: Any) -> bool:
    """Whether keys of a type of Polars are objects in NumPy."""
    return str(dtype).partition("(")[0] in ("Object", "Decimal", "Int128", "UInt128", "Binary")


def _physical(keys: Any) -> _Array:
    """The numbers that keys of Polars are stored as; zero for null."""
    numbers = keys.to_physical()
    none = False if str(numbers.dtype) == "Boolean" else 0
    return np.asarray(numbers.fill_null(none).to_numpy())


def _objects(keys: Any) -> _Array:
    """The keys as Python's objects."""
    made = np.empty(len(keys), object)
    made[:] = keys.to_list()
    return made
