"""Exact sums and means for flox: its groups of chunked arrays, with the same bits for all chunks.

>>> import dask.array as da  # doctest: +SKIP
>>> import flox  # doctest: +SKIP
>>> import strew.flox  # doctest: +SKIP
>>> exact = strew.flox.exact_mean("float32")  # doctest: +SKIP
>>> flox.groupby_reduce(values, months, func=exact, expected_groups=range(12))  # doctest: +SKIP

flox makes partial results of each chunk, and adds up those of all. A partial sum of floats is
rounded, so flox's own sums depend on the chunks. The partial results here are integers: the planes
of an exact sum, which docs/exact.md describes. Adding them rounds nothing. The sum is rounded once,
at the end.

flox has to be installed: ``pip install "strew[flox]"``.
"""

from __future__ import annotations

import functools as _functools
import math as _math
import threading as _threading
from dataclasses import dataclass as _dataclass
from typing import TYPE_CHECKING

import numpy as _np

from ._native import errors as _errors
from ._own import accumulator as _accumulator
from ._strew import Accumulator as _Accumulator

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    import numpy.typing as npt

    _Array: TypeAlias = _np.ndarray[Any, Any]

__all__ = ["exact_mean", "exact_sum"]

_INEXACT = ("float16", "float32", "float64", "complex64", "complex128")
# Plane p counts multiples of 2^(32 p - 1074).
_BITS, _LOWEST, _PLANES = 32, -1074, 68
# Numbers of values that are not finite, by the flag of each.
_FLAGS = {"nan": 1, "inf": 2, "-inf": 4}


def exact_sum(dtype: npt.DTypeLike = "float64", *, skipna: bool = False) -> Any:
    """Make flox's aggregation of sums that are exact and rounded once.

    The bits are those of ``strew.aggregate(..., "sum", exact=True)`` for all chunks, engines,
    methods of flox and schedulers.

    Parameters
    ----------
    dtype : dtype
        The dtype of the values: float16, float32, float64, complex64 or complex128. Sums of
        integers are exact in flox anyway.
    skipna : bool
        Whether NaN is left out, as in flox's "nansum".

    Returns
    -------
    flox.Aggregation
        For `func` of ``flox.groupby_reduce`` and ``flox.xarray.xarray_reduce``. The result has the
        dtype of the values, and 0 for a group without values.

    Raises
    ------
    TypeError
        For another dtype, and in flox for values of another dtype than `dtype`.
    ImportError
        If flox cannot be imported.

    Examples
    --------
    >>> import flox, numpy as np, strew.flox  # doctest: +SKIP
    >>> values = np.array([1e16, 1.0, -1e16, 0.5])  # doctest: +SKIP
    >>> by = np.array([0, 0, 0, 1])  # doctest: +SKIP
    >>> flox.groupby_reduce(values, by, func=strew.flox.exact_sum())[0]  # doctest: +SKIP
    array([1. , 0.5])
    """
    return _aggregation("exact_sum", "sum", dtype, skipna)


def exact_mean(dtype: npt.DTypeLike = "float64", *, skipna: bool = False) -> Any:
    """Make flox's aggregation of means of exact sums, which are rounded once.

    The bits are those of ``strew.aggregate(..., "mean", exact=True)`` for all chunks, engines,
    methods of flox and schedulers.

    Parameters
    ----------
    dtype : dtype
        The dtype of the values: float16, float32, float64, complex64, complex128 or an integer
        type. flox makes int64 of bools.
    skipna : bool
        Whether NaN is left out, as in flox's "nanmean".

    Returns
    -------
    flox.Aggregation
        For `func` of ``flox.groupby_reduce`` and ``flox.xarray.xarray_reduce``. The result has the
        dtype of the values, or float64 for integers, and NaN for a group without values.

    Raises
    ------
    TypeError
        For another dtype, and in flox for values of another dtype than `dtype`.
    ImportError
        If flox cannot be imported.

    Examples
    --------
    >>> import flox, numpy as np, strew.flox  # doctest: +SKIP
    >>> values = np.array([1e16, 1.0, -1e16, 0.5])  # doctest: +SKIP
    >>> by = np.array([0, 0, 0, 1])  # doctest: +SKIP
    >>> flox.groupby_reduce(values, by, func=strew.flox.exact_mean())[0]  # doctest: +SKIP
    array([0.33333333, 0.5       ])
    """
    return _aggregation("exact_mean", "mean", dtype, skipna)


def _aggregation(name: str, reduce: str, dtype: npt.DTypeLike, skipna: bool) -> Any:
    with _errors.needing("flox", "flox"):
        from flox import Aggregation
    of = _np.dtype(dtype).name
    is_whole = of.lstrip("u").startswith("int")
    if of not in _INEXACT and not (is_whole and reduce == "mean"):
        also = "" if reduce == "sum" else " or an integer type"
        raise _errors.Problem(TypeError, name, "dtype", of).saying(
            f"dtype = {of}", f"it must be {', '.join(_INEXACT)}{also}"
        )
    work = _Work(name, reduce, of, bool(skipna))
    parts = work.parts()
    return Aggregation(
        name,
        numpy=work,
        chunk=tuple(_Partial(work, part, is_last=part == parts[-1]) for part in parts),
        combine=("sum",) * len(parts),
        finalize=_functools.partial(_finish, work),
        fill_value=(0,) * len(parts),
        final_fill_value=0 if reduce == "sum" else _np.nan,
        dtypes=(_np.dtype(_np.int64),) * len(parts),
        final_dtype=work.result_dtype(),
    )


@_dataclass(frozen=True)
class _Work:
    """A reduction of values of one dtype. As a function it is that of one array."""

    called: str
    reduce: str
    dtype: str
    skipna: bool

    def result_dtype(self) -> _np.dtype[Any]:
        dtype = _np.dtype(self.dtype)
        return dtype if dtype.kind in "fc" else _np.dtype(_np.float64)

    def sums(self) -> tuple[str, ...]:
        """The exact sums, as `Accumulator.arrays` names them."""
        is_complex = _np.dtype(self.dtype).kind == "c"
        return ("exact.sum.real", "exact.sum.imag") if is_complex else ("exact.sum",)

    def planes(self) -> range:
        """The planes that a sum of values of the dtype may have an entry in."""
        dtype = _np.dtype(self.dtype)
        if dtype.kind in "fc":
            info = _np.finfo(dtype)
            first, last = info.minexp - info.nmant, info.maxexp
        else:
            first, last = 0, 64
        # Entries have a sign, so one of the last plane may reach the next one.
        highest = (last - _LOWEST) // _BITS + 2
        return range((first - _LOWEST) // _BITS, min(highest, _PLANES))

    def parts(self) -> list[str]:
        """The names of the partial results, each of which is an array of integers."""
        found = []
        for name in self.sums():
            found += [f"{name}.plane.{plane}" for plane in self.planes()]
            found += [f"{name}.{flag}" for flag in _FLAGS]
        return found + ["exact.count"] * (self.reduce == "mean")

    def empty(self, size: int, shape: tuple[int, ...]) -> _Accumulator:
        return _Accumulator(
            size, self.reduce, dtype=self.dtype, shape=shape, skipna=self.skipna, exact=True
        )

    def filled(self, group_idx: _Array, array: _Array, size: int) -> _Accumulator:
        """The accumulator of values whose last axis is that of the groups."""
        if array.dtype.name != self.dtype:
            raise _errors.Problem(TypeError, self.called, "dtype", array.dtype.name).saying(
                f"the values are of {array.dtype.name}: make the aggregation for them: "
                f'{self.called}("{array.dtype.name}")'
            )
        values = _np.require(array, array.dtype.newbyteorder("="), ["ALIGNED"])
        made = self.empty(size, array.shape[:-1])
        made.update(_np.moveaxis(values, -1, 0), group_idx)
        return made

    def __call__(
        self,
        group_idx: _Array,
        array: _Array,
        *,
        size: int,
        **_: Any,
    ) -> _Array:
        """The result of an array that is no chunk of a larger one."""
        (made,) = self.filled(group_idx, array, size).result()
        return _np.moveaxis(made, 0, -1)


# The partial results of the chunk at hand: flox asks for one after the other.
_kept = _threading.local()


@_dataclass(frozen=True)
class _Partial:
    """The function of one partial result of a chunk, with the groups along the last axis."""

    work: _Work
    part: str
    is_last: bool

    def __call__(self, group_idx: _Array, array: _Array, *, size: int, **_: Any) -> _Array:
        kept = getattr(_kept, "of", None)
        if kept is None or kept[0] is not group_idx or kept[1] is not array or kept[2] != self.work:
            found = _arrays(self.work, self.work.filled(group_idx, array, size), size, array.shape)
            kept = _kept.of = (group_idx, array, self.work, found)
        if self.is_last:
            _kept.of = None
        found = kept[3]
        nothing = _np.broadcast_to(_np.int64(0), (*array.shape[:-1], size))
        return found.get(self.part, nothing)


def _arrays(
    work: _Work, state: _Accumulator, size: int, shape: tuple[int, ...]
) -> dict[str, _Array]:
    """The parts of an accumulator that are not zero, with the groups along the last axis."""
    given = state.arrays()
    groups = given.pop("groups", None)
    found = {}
    for name, array in given.items():
        if groups is not None:
            whole = _np.zeros((size, *shape[:-1]), array.dtype)
            whole[groups] = array
            array = whole
        array = _np.moveaxis(array, 0, -1)
        if name.endswith(".flags"):
            before = name.removesuffix(".flags")
            for flag, bit in _FLAGS.items():
                found[f"{before}.{flag}"] = (array & bit != 0).astype(_np.int64)
        else:
            found[name] = array.astype(_np.int64)
    return found


def _finish(work: _Work, *parts: _Array, **_: Any) -> _Array:
    """The result of partial results that were added up."""
    shape = parts[0].shape
    found = dict(zip(work.parts(), (_np.asarray(part).reshape(-1) for part in parts), strict=True))
    cells = _math.prod(shape)
    state = _Accumulator.from_bytes(_bytes(work, found, cells))
    return state.result()[0].reshape(shape).astype(work.result_dtype(), copy=False)


def _carried(planes: dict[int, _Array]) -> dict[int, _Array]:
    """Planes that were added up, with entries within 2^31 of zero and without planes of zeros.

    What an entry has beyond that goes to the next plane; the last one keeps it.
    """
    made: dict[int, _Array] = {}
    carry: _Array = _np.zeros(1, _np.int64)
    for plane in range(min(planes, default=_PLANES), _PLANES):
        entries = planes.get(plane, _np.zeros(1, _np.int64)) + carry
        carry = (entries + (1 << (_BITS - 1))) >> _BITS if plane < _PLANES - 1 else carry * 0
        entries = entries - (carry << _BITS)
        if entries.any():
            made[plane] = entries
    return made


def _bytes(work: _Work, found: dict[str, _Array], cells: int) -> bytes:
    """The bytes of an accumulator of some parts, as docs/accumulator.md describes them."""

    def long(number: int) -> bytes:
        return number.to_bytes(8, "little")

    # That all groups have a record comes after the arguments.
    made = [_accumulator.header(work.empty(cells, ())), long(0)]
    for name in work.sums():
        planes = _carried({one: found[f"{name}.plane.{one}"] for one in work.planes()})
        made.append(long(len(planes)))
        for one, entries in planes.items():
            made += [long(one), entries.astype("<i8").tobytes()]
        flags = _np.zeros(cells, _np.uint8)
        for flag, bit in _FLAGS.items():
            flags |= _np.where(found[f"{name}.{flag}"] != 0, bit, 0).astype(_np.uint8)
        made.append(flags.tobytes())
    if work.reduce == "mean":
        counts = found["exact.count"].astype("<i8")
        # The last table says which groups have a value.
        made += [counts.tobytes(), (counts > 0).tobytes()]
    return b"".join(made)
