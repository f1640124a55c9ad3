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

If a chunk of the values has fewer rows than there are groups, few rows share a group, and records
would be larger than the values. Then the rows themselves go on:

```text
for each chunk of the values:
    sort its rows out among the chunks of the result
for each chunk of the result:
    for each run of `split_every` chunks of the values:
        a strew.Accumulator goes on with their rows
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
from typing import TYPE_CHECKING

import numpy as _np

from ._native import errors as _errors
from ._scale import chunked as _chunked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeAlias

    from ._scale.chunked import _Chunks
    from ._strew import Accumulator as _Accumulator

    _Array: TypeAlias = _np.ndarray[Any, Any]

# Reductions that need the positions of the values.
_POSITIONS = frozenset({"first", "last", "argmin", "argmax"})
# Chunks of the result whose rows are taken run by run, one run after the other: with as many, each
# worker of a small cluster has one to go on with.
_MANY_CHUNKS = 8


def _aggregate(
    called: str,
    src: Any,
    index: Any,
    reduce: str | Sequence[str],
    output_chunks: _Chunks,
    **options: Any,
) -> Any:
    """`aggregate`, for the function `called`, which errors of the computation name."""
    with _errors.needing("dask", "Dask's arrays"):
        import dask.array as da
    src, index = da.asarray(src), da.asarray(index)
    if any(_np.isnan(part) for lens in (*src.chunks, *index.chunks) for part in lens):
        raise _errors.Problem(ValueError, "aggregate", "src").saying(
            "the sizes of some chunks are not known: call compute_chunk_sizes() first"
        )
    job = _chunked.job(called, src, index, reduce, **options)
    usual = _functools.partial(_usual_length, src, job)
    chunks = _chunked.lengths(output_chunks, job.rules.size, usual)
    # An empty list is of floats.
    index = index if index.size else index.astype(_np.int64)
    results = _results(src, index.rechunk((src.chunks[job.axis],)), job, chunks)
    made = tuple(
        da.block(_nested(results, job.axis, which, dtype)) for which, dtype in enumerate(job.dtypes)
    )
    return made if job.several else made[0]


@_chunked.public(_chunked.scatter, _aggregate)
def scatter() -> None:
    """Reduce the elements of a Dask array that share an index along `dim`.

    It is `strew.scatter` into a new array. The values are those of `strew.scatter` with
    ``exact=True``, whatever the chunks, the scheduler and the number of workers.

    Parameters
    ----------
    src : dask.array.Array
        The elements, in chunks of any size along any axis.
    index : dask.array.Array or array of int
        The cell of each element along `dim`: 1-d.
    dim, axis : int
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


@_chunked.public(_chunked.aggregate, _aggregate)
def aggregate() -> None:
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
    dim, axis : int
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
        How many accumulators of one chunk of the result are merged by one task, which holds them
        all in memory.

    Returns
    -------
    dask.array.Array, or a tuple of them for a sequence of names
        Of `src`'s shape, with the groups along `dim`. Other axes have `src`'s chunks.

    Raises
    ------
    ValueError, TypeError
        For shapes and options that do not fit, and reductions that cannot be merged.
    """


def _tell_sizes() -> None:
    """Tells Dask in this process how large accumulators are, so that it stores some in time."""
    from dask.sizeof import sizeof

    from ._strew import Accumulator

    sizeof.register(Accumulator, lambda state: state.nbytes)


def _partial(
    src: _Array, index: _Array, start: int, first: int, make: Any, job: _chunked.Job
) -> _Accumulator:
    """The records of one chunk of the values, for one chunk of the result."""
    _tell_sizes()
    made: _Accumulator = make()
    _chunked.take(made, src, index, job, start=start, first=first)
    return made


def _merged(make: Callable[[], _Accumulator], states: Sequence[_Accumulator]) -> _Accumulator:
    """The records of all. The states stay as they are: another task may need them."""
    _tell_sizes()
    made = make()
    for state in states:
        made.merge(state)
    return made


def _with_rows(
    make: Callable[[], _Accumulator],
    state: _Accumulator | None,
    parts: Sequence[tuple[_Array, _Array]],
    called: str,
) -> _Accumulator:
    """The records of `state`, which stays as it is, and of the rows of `parts`."""
    _tell_sizes()
    made = make() if state is None else _merged(make, [state])
    for part in parts:
        _chunked.take_sorted_out(made, part, called)
    return made


def _results(src: Any, index: Any, job: _chunked.Job, chunks: Sequence[int]) -> Any:
    """The results of each block, and their shapes, in an array of the blocks' numbers."""
    import dask

    axis = job.axis
    # The blocks along the axis of the groups lie next to each other.
    blocks, numbers = _np.moveaxis(src.to_delayed(), axis, -1), index.to_delayed()
    states_of = _states_of_rows if _rows_are_smaller(src, job, chunks) else _merged_states
    finish = dask.delayed(_chunked.rounded, pure=True, traverse=False)
    lens = src.chunks[axis]
    starts = [0, *_itertools.accumulate(lens)][: len(lens)]
    others = [*src.chunks[:axis], *src.chunks[axis + 1 :]]
    grid = [len(one) for one in others]
    found = _np.empty([*grid[:axis], len(chunks), *grid[axis:]], object)
    for place in _np.ndindex(*grid):
        row = tuple(one[at] for one, at in zip(others, place, strict=True))
        makes = [_functools.partial(job.make, cells, shape=row) for cells in chunks]
        taken = list(zip(blocks[place], numbers, starts, strict=True))
        for number, state in enumerate(states_of(taken, makes, job, chunks)):
            shape = (*row[:axis], chunks[number], *row[axis:])
            block = (*place[:axis], number, *place[axis:])
            found[block] = finish(state, axis), shape
    return found


def _rows_are_smaller(src: Any, job: _chunked.Job, chunks: Sequence[int]) -> bool:
    """Whether the rows of a chunk of the values are smaller than the records of their groups."""
    few = max(src.chunks[job.axis], default=0) < job.rules.size
    # Rows that were sorted out do not know their positions. With few chunks of the result, few
    # workers would have something to do.
    return few and len(chunks) >= _MANY_CHUNKS and not _POSITIONS.intersection(job.names)


def _merged_states(
    taken: Sequence[tuple[Any, Any, int]],
    makes: Sequence[Callable[[], _Accumulator]],
    job: _chunked.Job,
    chunks: Sequence[int],
) -> Iterator[Any]:
    """The records of each chunk of the result: those of each chunk of the values, merged."""
    import dask

    partial = dask.delayed(_partial, pure=True, traverse=False)
    merge = dask.delayed(_merged, pure=True)
    firsts, every = [0, *_itertools.accumulate(chunks)], job.every
    for make, first in zip(makes, firsts, strict=False):
        states = [
            partial(values, groups, start, first, make, job) for values, groups, start in taken
        ]
        while len(states) > 1:
            states = [merge(make, states[at : at + every]) for at in range(0, len(states), every)]
        yield states[0]


def _states_of_rows(
    taken: Sequence[tuple[Any, Any, int]],
    makes: Sequence[Callable[[], _Accumulator]],
    job: _chunked.Job,
    chunks: Sequence[int],
) -> Iterator[Any]:
    """The records of each chunk of the result, which take its rows run by run."""
    import dask

    sort_out = dask.delayed(_chunked.sorted_out, pure=True, traverse=False, nout=len(chunks))
    go_on = dask.delayed(_with_rows, pure=True)
    sorted_out = [sort_out(*one, job, chunks) for one in taken]
    for number, make in enumerate(makes):
        parts, state = [one[number] for one in sorted_out], None
        for at in range(0, len(parts), job.every):
            state = go_on(make, state, parts[at : at + job.every], job.called)
        yield state


def _nested(results: Any, axis: int, which: int, dtype: Any) -> Any:
    """Blocks of one result in nested lists, as `dask.array.block` takes them."""
    import dask.array as da

    blocks = _np.empty(results.shape, object)
    for place in _np.ndindex(*results.shape):
        made, shape = results[place]
        blocks[place] = da.from_delayed(made[which], shape, dtype)
    return blocks.tolist()


def _usual_length(src: Any, job: _chunked.Job) -> int:
    """The length of the result's chunks that have as many bytes as Dask's setting says."""
    import dask.utils

    limit = dask.utils.parse_bytes(dask.config.get("array.chunk-size"))
    row = 8 * len(job.names)
    for at, lens in enumerate(src.chunks):
        row *= 1 if at == job.axis else max(lens, default=1)
    return int(limit // max(row, 1))
