"""Reductions of Cubed arrays by group, in chunks: the result may be larger than memory, too.

>>> import cubed  # doctest: +SKIP
>>> import strew.cubed  # doctest: +SKIP
>>> values = cubed.from_zarr("values.zarr")  # doctest: +SKIP
>>> cells = cubed.from_zarr("cells.zarr")  # doctest: +SKIP
>>> strew.cubed.scatter(values, cells, size=50_000_000)  # doctest: +SKIP
cubed.Array<...>

The results are those of `strew.dask`, bit by bit.

```text
for each chunk of the result, for each run of `split_every` chunks of the values:
    a strew.Accumulator takes the values that belong to the result's chunk
while there are several states: merge runs of `split_every` of them
round
```

Cubed's tasks pass arrays of one size on to each other, through storage. So a state is written as
the bytes of its accumulator, in an array that has room for the largest state. docs/cubed.md says
how large that is.

Cubed has to be installed: ``pip install "strew[cubed]"``.
"""

from __future__ import annotations

import functools as _functools
import math as _math
from dataclasses import dataclass as _dataclass
from typing import TYPE_CHECKING

import numpy as _np

from ._native import errors as _errors
from ._scale import chunked as _chunked
from ._strew import Accumulator as _Accumulator

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

    from ._scale.chunked import _Chunks

    _Array: TypeAlias = _np.ndarray[Any, Any]

# Bytes before the state's own: their number.
_LENGTH = 8
# Room for the positions that a state has taken.
_POSITIONS = 4096
# How many states' memory a task that merges may take: two accumulators, the bytes that it reads,
# those of the next state, and those that it writes, with a copy of each for the storage.
_STATES = 8


def _aggregate(
    called: str,
    src: Any,
    index: Any,
    reduce: str | Sequence[str],
    output_chunks: _Chunks,
    **options: Any,
) -> Any:
    """`aggregate`, for the function `called`, which errors of the computation name."""
    with _errors.needing("cubed", "Cubed"):
        import cubed as xp
    chunked = isinstance(index, xp.Array)
    if not isinstance(src, xp.Array):
        # Arrays of one computation must have one spec.
        src = xp.from_array(_np.asarray(src), spec=index.spec if chunked else None)
    index = index if chunked else _chunked.index_array(index)
    job = _chunked.job(called, src, index, reduce, **options)
    length = max(1, *src.chunks[job.axis])
    if chunked:
        # An empty array may be of floats.
        index = index if index.size else xp.astype(index, _np.int64)
        index = xp.rechunk(index, (length,))
    else:
        index = xp.from_array(index, (length,), spec=src.spec)
    record = _record(job, src.dtype)
    usual = _functools.partial(_usual_length, src, job, record)
    chunks = _regular(_chunked.lengths(output_chunks, job.rules.size, usual))
    work = _Work(job, src.chunks, chunks, record)
    made = _folded(src, index, work)
    while not isinstance(made, tuple):
        made = _merged(made, work)
    return made if job.several else made[0]


@_chunked.public(_chunked.scatter, _aggregate)
def scatter() -> None:
    """Reduce the elements of a Cubed array that share an index along `dim`.

    It is `strew.scatter` into a new array. The values are those of `strew.scatter` with
    ``exact=True``, whatever the chunks and the executor.

    Parameters
    ----------
    src : cubed.Array
        The elements, in chunks of any size along any axis.
    index : cubed.Array or array of int
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
    cubed.Array
        Of `src`'s shape apart from `dim`, and of the dtype that `strew.scatter` gives.
    """


@_chunked.public(_chunked.aggregate, _aggregate)
def aggregate() -> None:
    """Reduce the values of each group of a Cubed array, in one way or in several at once.

    Nothing is computed yet: the result is lazy. An index out of range is an error of the
    computation.

    Parameters
    ----------
    src : cubed.Array
        The values, in chunks of any size along any axis. Bytes may be in any order.
    index : cubed.Array or array of int
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
        The size of the result's chunks along `dim`, or of each of them; -1 for one chunk. All but
        the last one have the same size. By default they are as large as the memory allows that
        `cubed.Spec` gives to a task.
    mode : {"error", "wrap", "drop", "clip"}
        What a number outside the groups means, as for `strew.aggregate`.
    ignore_index : int, optional
        Values with this number belong to no group.
    skipna, min_count, fill_value, ddof
        As for `strew.aggregate`.
    split_every : int
        How many chunks of values one task takes, one after the other, and how many states one task
        merges. With at least as many as there are chunks of values no state is stored.

    Returns
    -------
    cubed.Array, or a tuple of them for a sequence of names
        Of `src`'s shape, with the groups along `dim`. Other axes have `src`'s chunks.

    Raises
    ------
    ValueError, TypeError
        For shapes and options that do not fit, and reductions that cannot be merged.
    """


def _regular(chunks: tuple[int, ...]) -> tuple[int, ...]:
    """Chunks without empty ones, which must have one size, but for the last one."""
    made = tuple(one for one in chunks if one) or (0,)
    if any(one != made[0] for one in made[:-1]) or made[-1] > made[0]:
        raise _errors.Problem(ValueError, "aggregate", "output_chunks", chunks).saying(
            f"output_chunks = {chunks}: Cubed's chunks have one size, and the last one may "
            "be smaller"
        )
    return made


@_dataclass(frozen=True)
class _Work:
    """What the tasks know: the reduction, and the chunks of the values and of the result."""

    job: _chunked.Job
    src_chunks: tuple[tuple[int, ...], ...]
    chunks: tuple[int, ...]
    # The largest size of a record, in bytes, and of what stands before the records.
    record: tuple[int, int]

    def result_chunks(self) -> tuple[tuple[int, ...], ...]:
        axis = self.job.axis
        return (*self.src_chunks[:axis], self.chunks, *self.src_chunks[axis + 1 :])

    def room(self) -> int:
        """The largest size of a state, in bytes."""
        cells = _math.prod(max(lens) for lens in self.result_chunks())
        each, before = self.record
        return cells * each + before

    def start(self, number: int) -> int:
        """The position of the first value of a chunk of the values."""
        return sum(self.src_chunks[self.job.axis][:number])

    def nothing(self, place: Sequence[int]) -> _Accumulator:
        """The accumulator of a chunk of the result, without values."""
        axis = self.job.axis
        shape = [lens[at] for lens, at in zip(self.result_chunks(), place, strict=True)]
        return self.job.make(shape[axis], shape=(*shape[:axis], *shape[axis + 1 :]))

    def written(self, state: _Accumulator, is_last: bool) -> Any:
        """What a task gives: the results, or the state as an array of bytes."""
        if is_last:
            made = _chunked.rounded(state, self.job.axis)
            return made if len(made) > 1 else made[0]
        data = _np.frombuffer(state.to_bytes(), _np.uint8)
        found = _np.zeros(self.room(), _np.uint8)
        found[:_LENGTH] = _np.frombuffer(len(data).to_bytes(_LENGTH, "little"), _np.uint8)
        found[_LENGTH : _LENGTH + len(data)] = data
        return found.reshape((*[1] * len(self.src_chunks), 1, -1))


def _read(written: _Array) -> _Accumulator:
    """The state that `_Work.written` gave."""
    data = _np.ascontiguousarray(written).reshape(-1)
    length = int.from_bytes(data[:_LENGTH].tobytes(), "little")
    return _Accumulator.from_bytes(data[_LENGTH : _LENGTH + length])


def _fold(
    values: Iterable[_Array],
    numbers: Iterable[_Array],
    *,
    block_id: tuple[int, ...],
    work: _Work,
    is_last: bool,
) -> Any:
    """One run of chunks of the values, for one chunk of the result."""
    place = block_id[: len(work.src_chunks)]
    run = 0 if is_last else block_id[len(place)]
    state, first = work.nothing(place), sum(work.chunks[: place[work.job.axis]])
    for at, (src, index) in enumerate(zip(values, numbers, strict=True), run * work.job.every):
        _chunked.take(state, src, index, work.job, start=work.start(at), first=first)
    return work.written(state, is_last)


def _merge(states: Iterable[_Array], *, work: _Work, is_last: bool) -> Any:
    """One run of states of one chunk of the result."""
    made: _Accumulator | None = None
    for state in map(_read, states):
        if made is None:
            made = state
        else:
            made.merge(state)
    assert made is not None
    return work.written(made, is_last)


def _folded(src: Any, index: Any, work: _Work) -> Any:
    """The states of runs of the values; the results, as a tuple, if there is one run."""
    from cubed.primitive.blockwise import ChunkKey, FunctionArgs

    axis, count = work.job.axis, src.numblocks[work.job.axis]

    def keys(out: Any) -> Any:
        place = out.coords[: src.ndim]
        run = _run(out.coords[src.ndim :], work.job.every, count)
        values = (ChunkKey(src.name, (*place[:axis], at, *place[axis + 1 :])) for at in run)
        numbers = (ChunkKey(index.name, (at,)) for at in run)
        return FunctionArgs(values, numbers, output_name=out.name)

    memory = 2 * src.chunkmem + index.chunkmem + _chunked.MEMORY + 2 * work.room()
    return _tasks(_fold, keys, (src, index), work, -(-count // work.job.every), memory)


def _merged(states: Any, work: _Work) -> Any:
    """The states of runs of states; the results, as a tuple, if there is one run."""
    from cubed.primitive.blockwise import ChunkKey, FunctionArgs

    rank, before = len(work.src_chunks), states.numblocks[-2]

    def keys(out: Any) -> Any:
        run = _run(out.coords[rank:], work.job.every, before)
        found = (ChunkKey(states.name, (*out.coords[:rank], at, 0)) for at in run)
        return FunctionArgs(found, output_name=out.name)

    memory = (_STATES - 4) * work.room()
    return _tasks(_merge, keys, (states,), work, -(-before // work.job.every), memory)


def _run(rest: tuple[int, ...], every: int, count: int) -> range:
    """The numbers of the `count` inputs that a task reads, from the end of its coordinates."""
    first = rest[0] * every if rest else 0
    return range(first, min(first + every, count))


def _tasks(
    function: Any, keys: Any, arrays: tuple[Any, ...], work: _Work, states: int, memory: int
) -> Any:
    """An array of `states` states for each chunk of the result; for one, the results instead."""
    from cubed.core.ops import general_blockwise

    is_last = states == 1
    chunks: tuple[tuple[int, ...], ...] = work.result_chunks()
    dtypes = list(work.job.dtypes)
    if is_last:
        memory += sum(dtype.itemsize for dtype in dtypes) * _math.prod(map(max, chunks))
    else:
        chunks = (*[(1,) * len(lens) for lens in chunks], (1,) * states, (work.room(),))
        dtypes = [_np.dtype(_np.uint8)]
    made = general_blockwise(
        function,
        keys,
        *arrays,
        shapes=[tuple(map(sum, chunks))] * len(dtypes),
        dtypes=dtypes,
        chunkss=[chunks] * len(dtypes),
        target_stores=[None] * len(dtypes) if len(dtypes) > 1 else None,
        num_input_blocks=(work.job.every,) * len(arrays),
        extra_projected_mem=memory,
        extra_func_kwargs={"work": work, "is_last": is_last},
        # A task that gives several results cannot be joined with one that takes a single one.
        fusable_with_successors=len(dtypes) == 1,
        op_name="strew",
    )
    return made if not is_last or isinstance(made, tuple) else (made,)


def _record(job: _chunked.Job, dtype: Any) -> tuple[int, int]:
    """The largest size of a record, and of what stands before the records, in bytes."""
    values = _np.ones(1, dtype)
    if dtype.kind in "fc":
        # Their sum has an entry in every plane of exact sums that the dtype can touch.
        with _np.errstate(over="ignore"):
            powers = _np.ldexp(1.0, _np.arange(-1074, 1024, 5)).astype(dtype)
        powers = powers[_np.isfinite(powers)] * dtype.type(1 if dtype.kind == "f" else 1 + 1j)
        values = _np.concatenate([powers, powers * (1 + _np.finfo(dtype).eps)])
    sizes = []
    for cells in (1, 2):
        state = job.make(cells)
        for cell in range(cells):
            state.update(values, _np.full(values.shape, cell))
        sizes.append(len(state.to_bytes()))
        sums = sum(name.endswith(".flags") for name in state.arrays())
    # A sum of many values may reach two planes more. A state of few groups has their numbers.
    return sizes[1] - sizes[0] + 2 * 8 * sums + 8, sizes[0] + _POSITIONS + _LENGTH


def _usual_length(src: Any, job: _chunked.Job, record: tuple[int, int]) -> int:
    """The length of the result's chunks whose states fit in the memory of a task."""
    free = src.spec.allowed_mem - (src.spec.reserved_mem or 0) - 4 * src.chunkmem
    row = _STATES * record[0]
    for at, lens in enumerate(src.chunks):
        row *= 1 if at == job.axis else max(lens, default=1)
    return int(free // max(row, 1))
