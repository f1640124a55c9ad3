"""Reductions of Dask arrays by group, in chunks: the result may be larger than memory, too.

>>> import dask.array as da  # doctest: +SKIP
>>> import strew.dask  # doctest: +SKIP
>>> values = da.random.random(1_000_000_000, chunks=10_000_000)  # doctest: +SKIP
>>> cells = da.random.randint(0, 50_000_000, 1_000_000_000, chunks=10_000_000)  # doctest: +SKIP
>>> strew.dask.scatter(values, cells, size=50_000_000, output_chunks=5_000_000)  # doctest: +SKIP
dask.array<...>

```text
for each chunk of the result:
    for each chunk of the values:
        a strew.Accumulator of the values that belong to the result's chunk
    merge these accumulators as a tree
    round
```

Sums of floats are exact, and rounded once: a sum that depends on the order of its values would have
other bits for other chunks, and for workers that finish in another order. docs/exact.md says what
exact sums cost.

Dask has to be installed: ``pip install "strew[dask]"``.
"""

from __future__ import annotations

import functools as _functools
import itertools as _itertools
from contextlib import contextmanager as _contextmanager
from dataclasses import dataclass as _dataclass
from typing import TYPE_CHECKING, overload

import numpy as _np

from . import _dtypes, _errors, _keys, _masked, _options
from ._strew import Accumulator as _Accumulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, SupportsIndex, TypeAlias

    from ._types import Mode

    _Array: TypeAlias = _np.ndarray[Any, Any]
    _Chunks: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None

_NAMES = {"add": "sum", "mul": "prod", "amin": "min", "amax": "max", "assign": "last"}


def scatter(
    src: Any,
    index: Any,
    dim: SupportsIndex = 0,
    *,
    size: SupportsIndex,
    reduce: str = "sum",
    exact: bool | None = None,
    output_chunks: _Chunks = None,
    mode: Mode = "error",
    ignore_index: SupportsIndex | None = None,
    fill_value: Any = None,
) -> Any:
    """Reduce the elements of a Dask array that share an index along `dim`.

    It is `strew.scatter` into a new array. The values are those of `strew.scatter` with
    ``exact=True``, whatever the chunks, the scheduler and the number of workers.

    Parameters
    ----------
    src : dask.array.Array
        The elements, in chunks of any size along any axis.
    index : dask.array.Array or array of int
        The cell of each element along `dim`: 1-d.
    dim : int
        The axis that `index` lies along.
    size : int
        The size of the result along `dim`.
    reduce : str
        "sum" (or "add"), "mean", "prod" (or "mul"), "min" and "max" (or "amin", "amax"), "assign",
        which copies the last element, or another reduction that `aggregate` takes.
    exact, output_chunks, mode, ignore_index, fill_value
        As for `aggregate`.

    Returns
    -------
    dask.array.Array
        Of `src`'s shape apart from `dim`, and of the dtype that `strew.scatter` gives.
    """
    with _named("scatter"):
        name = _options.text("reduce", reduce)
        if name == "assign" and fill_value is None:
            fill_value = 0
        return _aggregate(
            "scatter",
            src,
            index,
            _NAMES.get(name, name),
            size=size,
            dim=dim,
            exact=exact,
            output_chunks=output_chunks,
            mode=mode,
            ignore_index=ignore_index,
            fill_value=fill_value,
        )


@_contextmanager
def _named(called: str) -> Iterator[None]:
    """Errors begin with the function that was called: parts of it are those of others."""
    try:
        yield
    except (IndexError, TypeError, ValueError) as error:
        for name in ("Accumulator", "aggregate"):
            _errors.rename(error, name, called)
        raise


@overload
def aggregate(
    src: Any,
    index: Any,
    reduce: str = "sum",
    *,
    size: SupportsIndex,
    dim: SupportsIndex = 0,
    exact: bool | None = None,
    output_chunks: _Chunks = None,
    mode: Mode = "error",
    ignore_index: SupportsIndex | None = None,
    skipna: bool = False,
    min_count: SupportsIndex = 1,
    fill_value: Any = None,
    ddof: float = 0,
    split_every: SupportsIndex = 8,
) -> Any: ...
@overload
def aggregate(
    src: Any,
    index: Any,
    reduce: Sequence[str],
    *,
    size: SupportsIndex,
    dim: SupportsIndex = 0,
    exact: bool | None = None,
    output_chunks: _Chunks = None,
    mode: Mode = "error",
    ignore_index: SupportsIndex | None = None,
    skipna: bool = False,
    min_count: SupportsIndex = 1,
    fill_value: Any = None,
    ddof: float = 0,
    split_every: SupportsIndex = 8,
) -> tuple[Any, ...]: ...
def aggregate(
    src: Any,
    index: Any,
    reduce: str | Sequence[str] = "sum",
    *,
    size: SupportsIndex,
    dim: SupportsIndex = 0,
    exact: bool | None = None,
    output_chunks: _Chunks = None,
    mode: Mode = "error",
    ignore_index: SupportsIndex | None = None,
    skipna: bool = False,
    min_count: SupportsIndex = 1,
    fill_value: Any = None,
    ddof: float = 0,
    split_every: SupportsIndex = 8,
) -> Any:
    """Reduce the values of each group of a Dask array, in one way or in several at once.

    Nothing is computed yet: the result is lazy. An index out of range is an error of the
    computation.

    Parameters
    ----------
    src : dask.array.Array
        The values, in chunks of any size along any axis. The sizes must be known. Bytes may be in
        any order.
    index : dask.array.Array or array of int
        The group of each value along `dim`: 1-d.
    reduce : str, or a list or tuple of them
        What `strew.Accumulator` takes and can merge: "sum", "sumsq", "mean", "var", "std", "sem",
        "min", "max", "first", "last", "argmin", "argmax" (positions along `dim`), "len", "count",
        "any", "all", "anynan", "allnan", and "prod" of integers.
    size : int
        The number of groups.
    dim : int
        The axis of `src` that `index` lies along.
    exact : bool, optional
        Whether sums of floats, and what is made of them, are exact. None is True. With False they
        are an error, because their bits would depend on the chunks.
    output_chunks : int or sequence of int, optional
        The size of the result's chunks along `dim`, or of each of them; -1 for one chunk. By
        default they have as many bytes as Dask's "array.chunk-size" says. A task holds one of them
        at a time, as records of 8 to 50 bytes for each group, value of a row and reduction.
    mode : {"error", "wrap", "drop", "clip"}
        What a number outside the groups means, as for `strew.aggregate`.
    ignore_index : int, optional
        Values with this number belong to no group.
    skipna, min_count, fill_value, ddof
        As for `strew.aggregate`.
    split_every : int
        How many records of one chunk of the result are merged by one task.

    Returns
    -------
    dask.array.Array, or a tuple of them for a sequence of names
        Of `src`'s shape, with the groups along `dim`. Other axes have `src`'s chunks.

    Raises
    ------
    ValueError, TypeError
        For shapes and options that do not fit, and reductions that cannot be merged.
    """
    with _named("aggregate"):
        return _aggregate(
            "aggregate",
            src,
            index,
            reduce,
            size=size,
            dim=dim,
            exact=exact,
            output_chunks=output_chunks,
            mode=mode,
            ignore_index=ignore_index,
            skipna=skipna,
            min_count=min_count,
            fill_value=fill_value,
            ddof=ddof,
            split_every=split_every,
        )


def _aggregate(
    called: str,
    src: Any,
    index: Any,
    reduce: str | Sequence[str],
    *,
    size: SupportsIndex,
    dim: SupportsIndex,
    exact: bool | None,
    output_chunks: _Chunks,
    mode: Mode,
    ignore_index: SupportsIndex | None,
    fill_value: Any,
    skipna: bool = False,
    min_count: SupportsIndex = 1,
    ddof: float = 0,
    split_every: SupportsIndex = 8,
) -> Any:
    """`aggregate`, for the function `called`, which errors of the computation name."""
    da = _dask_array()
    src = da.asarray(src)
    index = da.asarray(index)
    axis = _axis(dim, src.ndim)
    groups = _options.integer("size", size, 0)
    every = _options.integer("split_every", split_every, 2)
    if any(_np.isnan(part) for lens in (*src.chunks, *index.chunks) for part in lens):
        raise ValueError(
            "aggregate: the sizes of some chunks are not known: call compute_chunk_sizes() first"
        )
    if index.ndim != 1 or index.shape[0] != src.shape[axis]:
        raise ValueError(
            f"aggregate: index has the shape {index.shape}: "
            f"it must be ({src.shape[axis]},), as long as axis {axis} of src"
        )
    if index.dtype.kind not in "iu":
        # An empty list is of floats.
        if index.size:
            raise TypeError(f"aggregate: index has dtype {index.dtype}: it must be an integer type")
        index = index.astype(_np.int64)
    if mode not in ("error", "wrap", "drop", "clip"):
        raise ValueError(
            f'aggregate: mode = {mode!r}: it must be "error", "wrap", "drop" or "clip"'
        )
    several = isinstance(reduce, (list, tuple))
    reduces: Any = reduce if several else [reduce]
    names = [_options.text("reduce", one) for one in reduces]
    make = _functools.partial(
        _Accumulator,
        reduce=names,
        dtype=src.dtype.name,
        mode="drop",
        skipna=_options.flag("skipna", skipna),
        min_count=_options.integer("min_count", min_count, 0),
        fill_value=fill_value,
        ddof=_options.number("ddof", ddof),
        exact=exact is None or _options.flag("exact", exact),
    )
    if fill_value is not None:
        _dtypes.check_fill("aggregate", fill_value, src, names)
    nothing = make(0)
    # An error if the reductions cannot be merged.
    nothing.merge(make(0))
    dtypes = [one.dtype for one in nothing.result()]
    ignored = _keys.integer_or_none("aggregate", "ignore_index", ignore_index)
    rules = _Rules(called, groups, mode, ignored)
    kept = [lens for at, lens in enumerate(src.chunks) if at != axis]
    chunks = _output_chunks(output_chunks, groups, kept, len(names))
    results = _results(src, index.rechunk((src.chunks[axis],)), axis, make, rules, chunks, every)
    made = tuple(
        da.block(_nested(results, axis, which, dtype)) for which, dtype in enumerate(dtypes)
    )
    return made if several else made[0]


@_dataclass(frozen=True)
class _Rules:
    """Which group a number of the index means."""

    called: str
    size: int
    mode: str
    ignore_index: int | None

    def groups(self, index: _Array, start: int) -> _Array:
        """The group of each number; -1: of none. `start` is the position of the first one."""
        left_out = _np.zeros(index.shape, bool)
        if self.ignore_index is not None:
            left_out = index == self.ignore_index
        below, above = index < 0, index >= self.size
        # Numbers that int64 does not hold are above, and are replaced below.
        found = index.astype(_np.int64)
        if self.mode == "clip" and self.size > 0:
            found[below], found[above] = 0, self.size - 1
        else:
            if self.mode == "wrap":
                below = index < -self.size
            outside = (below | above) & ~left_out
            if self.mode != "drop" and outside.any():
                at = int(outside.argmax())
                raise IndexError(
                    f"{self.called}: index[{start + at}] = {index[at]}: index {index[at]} "
                    f"is out of bounds for dimension 0 with size {self.size}; "
                    'mode="drop" leaves out what has such a number'
                )
            left_out |= outside
            if self.mode == "wrap":
                found = _np.where(found < 0, found + self.size, found)
        found[left_out] = -1
        return found


def _partial(
    src: _Array, index: _Array, axis: int, start: int, first: int, make: Any, rules: _Rules
) -> _Accumulator:
    """The records of one chunk of the values, for one chunk of the result."""
    made: _Accumulator = make()
    _masked.refuse(rules.called, "index", index)
    numbers = _np.asarray(index)
    # A chunk need not have the dtype that its array tells.
    if numbers.size and numbers.dtype.kind not in "iu":
        raise TypeError(
            f"{rules.called}: a chunk of index has dtype {numbers.dtype}: it must be an integer "
            "type"
        )
    # What a worker receives may lie at any address, and files may swap the bytes.
    values = _np.require(src, src.dtype.newbyteorder("="), ["ALIGNED"])
    groups = rules.groups(numbers, start)
    with _named(rules.called):
        made.update(_np.moveaxis(values, axis, 0), groups - first, start=start)
    return made


def _merged(make: Callable[[], _Accumulator], states: Sequence[_Accumulator]) -> _Accumulator:
    """The records of all. The states stay as they are: another task may need them."""
    made = make()
    for state in states:
        made.merge(state)
    return made


def _rounded(state: _Accumulator, axis: int) -> tuple[_Array, ...]:
    return tuple(_np.moveaxis(one, 0, axis) for one in state.result())


def _results(
    src: Any,
    index: Any,
    axis: int,
    make: Any,
    rules: _Rules,
    chunks: Sequence[int],
    every: int,
) -> Any:
    """The results of each block, and their shapes, in an array of the blocks' numbers."""
    import dask

    # The blocks along the axis of the groups lie next to each other.
    blocks, numbers = _np.moveaxis(src.to_delayed(), axis, -1), index.to_delayed()
    lens = src.chunks[axis]
    starts = [0, *_itertools.accumulate(lens)][: len(lens)]
    firsts = [0, *_itertools.accumulate(chunks)][: len(chunks)]
    grid = [len(one) for one in src.chunks]
    grid[axis] = len(chunks)
    found = _np.empty(grid, object)
    partial = dask.delayed(_partial, pure=True, traverse=False)
    merge = dask.delayed(_merged, pure=True)
    finish = dask.delayed(_rounded, pure=True, traverse=False)
    for place in _np.ndindex(*grid):
        cells = chunks[place[axis]]
        shape = [src.chunks[at][number] if at != axis else cells for at, number in enumerate(place)]
        of_row = (*shape[:axis], *shape[axis + 1 :])
        of_block = _functools.partial(make, cells, shape=of_row)
        others, first = (*place[:axis], *place[axis + 1 :]), firsts[place[axis]]
        states = [
            partial(values, groups, axis, start, first, of_block, rules)
            for values, groups, start in zip(blocks[others], numbers, starts, strict=True)
        ]
        while len(states) > 1:
            states = [
                merge(of_block, states[at : at + every]) for at in range(0, len(states), every)
            ]
        found[place] = finish(states[0], axis), tuple(shape)
    return found


def _nested(results: Any, axis: int, which: int, dtype: Any) -> Any:
    """Blocks of one result in nested lists, as `dask.array.block` takes them."""
    import dask.array as da

    blocks = _np.empty(results.shape, object)
    for place in _np.ndindex(*results.shape):
        made, shape = results[place]
        blocks[place] = da.from_delayed(made[which], shape, dtype)
    return blocks.tolist()


def _output_chunks(
    given: _Chunks, size: int, kept: Sequence[Sequence[int]], reduces: int
) -> tuple[int, ...]:
    """The lengths of the result's chunks along the axis of the groups."""
    if given is None:
        import dask.utils

        limit = dask.utils.parse_bytes(dask.config.get("array.chunk-size"))
        row = 8 * reduces
        for lens in kept:
            row *= max(lens, default=1)
        given = max(limit // max(row, 1), 1)
    lengths: Any = given
    if _np.ndim(lengths) == 0:
        length = _options.integer("output_chunks", given, -1)
        if length == 0:
            raise ValueError("aggregate: output_chunks = 0: it must be at least 1, or -1")
        length = max(size, 1) if length < 0 else length
        count, rest = divmod(size, length)
        return (length,) * count + (rest,) * (rest > 0 or size == 0)
    made = tuple(_options.integer(f"output_chunks[{at}]", one, 0) for at, one in enumerate(lengths))
    if not made or sum(made) != size:
        raise ValueError(
            f"aggregate: output_chunks = {made}: the sum is {sum(made)}: it must be size, {size}"
        )
    return made


def _axis(dim: SupportsIndex, rank: int) -> int:
    given = _options.integer("dim", dim)
    if not -rank <= given < rank:
        raise ValueError(f"aggregate: dim = {given}: src has {rank} dimensions")
    return given % rank


def _dask_array() -> Any:
    try:
        import dask.array as da
    except ImportError as error:
        raise ImportError(
            'strew.dask needs Dask\'s arrays: pip install "strew[dask]"', name="dask"
        ) from error
    return da
