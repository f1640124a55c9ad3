"""What `strew.dask` and `strew.cubed` share: their arguments, checked, and the work of one task.

```text
for each chunk of the result:
    for each chunk of the values:
        a strew.Accumulator of the values that belong to the result's chunk
    merge these accumulators as a tree
    round
```

The two differ in how tasks are told to a scheduler, and in how an accumulator gets from one task
to another.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from .._arrays import masked
from .._groups import keys
from .._native import dtypes as _dtypes
from .._native import errors, options
from .._native.aliases import one_of
from .._native.functions import implemented_by
from .._strew import Accumulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, SupportsIndex, TypeAlias

    from .._native.types import Mode

    _Array: TypeAlias = np.ndarray[Any, Any]
    _Chunks: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None

_Function = TypeVar("_Function", bound="Callable[..., Any]")

# Numbers of an index that are looked at together.
_BLOCK = 1 << 20
# What `take` needs besides the values and the accumulator: 40 bytes for each of these numbers.
MEMORY = 40 * _BLOCK

_NAMES = {"add": "sum", "mul": "prod", "amin": "min", "amax": "max", "assign": "last"}


@contextmanager
def naming(called: str) -> Iterator[None]:
    """Errors begin with the function that was called: parts of it are those of others."""
    try:
        yield
    except (IndexError, TypeError, ValueError) as error:
        for name in ("Accumulator", "aggregate"):
            errors.rename(error, name, called)
        raise


def scatter(
    src: Any,
    index: Any,
    dim: SupportsIndex = 0,
    *,
    size: SupportsIndex,
    axis: SupportsIndex | None = None,
    reduce: str = "sum",
    exact: bool | None = None,
    output_chunks: _Chunks = None,
    mode: Mode = "error",
    ignore_index: SupportsIndex | None = None,
    fill_value: Any = None,
) -> Any:
    """The arguments of a module's `scatter`, by name."""
    return locals()


def aggregate(
    src: Any,
    index: Any,
    reduce: str | Sequence[str] = "sum",
    *,
    size: SupportsIndex,
    dim: SupportsIndex = 0,
    axis: SupportsIndex | None = None,
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
    """The arguments of a module's `aggregate`, by name."""
    return locals()


def public(model: _Function, run: Callable[..., Any]) -> Callable[[Callable[[], None]], _Function]:
    """Makes a module's `scatter` or `aggregate`, which gives `run` its arguments by name."""
    called = str(model.__name__)

    def call(*arguments: Any, **named: Any) -> Any:
        given = model(*arguments, **named)
        with naming(called):
            if called == "scatter":
                given["reduce"], given["fill_value"] = of_scatter(
                    given["reduce"], given["fill_value"]
                )
            dims = given["dim"], given.pop("axis")
            given["dim"] = one_of("aggregate", ("dim", "axis"), dims, 0)
            return run(called, **given)

    return implemented_by(call, model)


def of_scatter(reduce: Any, fill_value: Any) -> tuple[str, Any]:
    """The aggregate that a reduction of `scatter` is, and the fill value."""
    name = options.text("reduce", reduce)
    if name == "assign" and fill_value is None:
        fill_value = 0
    return _NAMES.get(name, name), fill_value


@dataclass(frozen=True)
class Job:
    """A reduction whose arguments were checked."""

    # The function that errors of the computation name.
    called: str
    axis: int
    # How many records of one chunk of the result are merged by one task.
    every: int
    # An accumulator, from its size and shape.
    make: Callable[..., Accumulator]
    rules: Rules
    names: tuple[str, ...]
    # Of each result.
    dtypes: tuple[Any, ...]
    # Whether the results are a tuple.
    several: bool


def job(
    called: str,
    src: Any,
    index: Any,
    reduce: str | Sequence[str],
    *,
    size: SupportsIndex,
    dim: SupportsIndex,
    exact: bool | None,
    mode: Mode,
    ignore_index: SupportsIndex | None,
    fill_value: Any,
    skipna: bool = False,
    min_count: SupportsIndex = 1,
    ddof: float = 0,
    split_every: SupportsIndex = 8,
) -> Job:
    """The arguments of `aggregate`, checked, for a chunked `src` and `index`."""
    if src.dtype.kind in "mM":
        unit = np.datetime_data(src.dtype)[0]
        raise errors.Problem(TypeError, "aggregate", "src", str(src.dtype)).saying(
            f"src has dtype {src.dtype}: dates and durations have no chunked form: pass "
            f"their integers, src.view('int64'), which are in the unit {unit!r} (NaT is the "
            "smallest one)"
        )
    axis = _axis(dim, src.ndim)
    groups = options.integer("size", size, 0)
    every = options.integer("split_every", split_every, 2)
    _check_index(src, index, axis)
    if mode not in ("error", "wrap", "drop", "clip"):
        raise errors.Problem(ValueError, "aggregate", "mode", mode).expecting(
            'it must be "error", "wrap", "drop" or "clip"'
        )
    several = isinstance(reduce, (list, tuple))
    reduces: Any = reduce if several else [reduce]
    names = [options.text("reduce", one) for one in reduces]
    make = functools.partial(
        Accumulator,
        reduce=names,
        dtype=src.dtype.name,
        mode="drop",
        skipna=options.flag("skipna", skipna),
        min_count=options.integer("min_count", min_count, 0),
        fill_value=fill_value,
        ddof=options.number("ddof", ddof),
        exact=exact is None or options.flag("exact", exact),
    )
    if fill_value is not None:
        _dtypes.check_fill("aggregate", fill_value, src, names)
    nothing = make(0)
    # An error if the reductions cannot be merged.
    nothing.merge(make(0))
    dtypes = tuple(one.dtype for one in nothing.result())
    ignored = keys.integer_or_none("aggregate", "ignore_index", ignore_index)
    rules = Rules(called, groups, mode, ignored)
    return Job(called, axis, every, make, rules, tuple(names), dtypes, several)


def index_array(index: Any) -> _Array:
    """An index that is no chunked array, as an array."""
    made = np.asarray(index)
    # An empty list is of floats.
    return made if made.size or made.dtype.kind in "iu" else made.astype(np.int64)


def _check_index(src: Any, index: Any, axis: int) -> None:
    if index.ndim != 1 or index.shape[0] != src.shape[axis]:
        raise errors.Problem(ValueError, "aggregate", "index", index.shape).saying(
            f"index has the shape {index.shape}",
            f"it must be ({src.shape[axis]},), as long as axis {axis} of src",
        )
    if index.dtype.kind not in "iu" and index.size:
        raise errors.Problem(TypeError, "aggregate", "index", index.dtype).has_dtype(
            "it must be an integer type"
        )


def _axis(dim: SupportsIndex, rank: int) -> int:
    given = options.integer("dim", dim)
    if not -rank <= given < rank:
        raise errors.no_axis("aggregate", given, rank, ValueError)
    return given % rank


def lengths(given: _Chunks, size: int, usual: Callable[[], int]) -> tuple[int, ...]:
    """The lengths of the result's chunks along the axis of the groups.

    `usual` is asked for the length if none is given.
    """
    wanted: Any = max(usual(), 1) if given is None else given
    if np.ndim(wanted) == 0:
        length = options.integer("output_chunks", wanted, -1)
        if length == 0:
            raise errors.Problem(ValueError, "aggregate", "output_chunks").saying(
                "output_chunks = 0", "it must be at least 1, or -1"
            )
        length = max(size, 1) if length < 0 else length
        count, rest = divmod(size, length)
        return (length,) * count + (rest,) * (rest > 0 or size == 0)
    made = tuple(options.integer(f"output_chunks[{at}]", one, 0) for at, one in enumerate(wanted))
    if not made or sum(made) != size:
        raise errors.Problem(ValueError, "aggregate", "output_chunks", made).saying(
            f"output_chunks = {made}: the sum is {sum(made)}", f"it must be size, {size}"
        )
    return made


@dataclass(frozen=True)
class Rules:
    """Which group a number of the index means."""

    called: str
    size: int
    mode: str
    ignore_index: int | None

    def groups(self, index: _Array, start: int) -> _Array:
        """The group of each number; -1: of none. `start` is the position of the first one."""
        inside = index.size > 0 and index.min() >= 0 and index.max() < self.size
        if inside and self.ignore_index is None:
            return index.astype(np.int64)
        left_out = np.zeros(index.shape, bool)
        if self.ignore_index is not None:
            left_out = index == self.ignore_index
        below, above = index < 0, index >= self.size
        # Numbers that int64 does not hold are above, and are replaced below.
        found = index.astype(np.int64)
        if self.mode == "clip" and self.size > 0:
            found[below], found[above] = 0, self.size - 1
        else:
            if self.mode == "wrap":
                below = index < -self.size
            outside = (below | above) & ~left_out
            if self.mode != "drop" and outside.any():
                at = int(outside.argmax())
                error = errors.outside(self.called, "index", start + at, index[at], self.size)
                errors.explain_outside(error, "error")
                raise error
            left_out |= outside
            if self.mode == "wrap":
                found = np.where(found < 0, found + self.size, found)
        found[left_out] = -1
        return found


def take(
    into: Accumulator, src: _Array, index: _Array, job: Job, *, start: int, first: int
) -> None:
    """Takes one chunk of the values, for one chunk of the result, which begins at `first`."""
    for values, groups, at in _blocks(src, index, job, start):
        with naming(job.called):
            into.update(values, groups - first, start=at)


def sorted_out(
    src: _Array, index: _Array, start: int, job: Job, chunks: Sequence[int]
) -> list[tuple[_Array, _Array]]:
    """The rows of one chunk of the values, and their groups, for each chunk of the result.

    The groups are counted from the first one of the chunk.
    """
    ends = np.cumsum(chunks)
    parts: list[tuple[list[_Array], list[_Array]]] = [([], []) for _ in chunks]
    for values, groups, _ in _blocks(src, index, job, start):
        # Rows of no group come last, and are left out.
        which = np.searchsorted(ends, groups, "right").astype(np.min_scalar_type(len(ends)))
        which[groups < 0] = len(ends)
        order = np.argsort(which, kind="stable")
        bounds = np.searchsorted(which[order], np.arange(len(ends) + 1))
        for part, (rows, numbers) in enumerate(parts):
            of_part = order[bounds[part] : bounds[part + 1]]
            local = groups[of_part] - (ends[part] - chunks[part])
            rows.append(values[of_part])
            numbers.append(local.astype(np.min_scalar_type(max(chunks[part], 1))))
    return [(np.concatenate(rows), np.concatenate(numbers)) for rows, numbers in parts]


def take_sorted_out(into: Accumulator, part: tuple[_Array, _Array], called: str) -> None:
    """Takes what `sorted_out` gave for one chunk of the result."""
    # What a worker receives may lie at any address.
    values, groups = (np.require(one, requirements=["ALIGNED"]) for one in part)
    with naming(called):
        for at in range(0, max(len(groups), 1), _BLOCK):
            into.update(values[at : at + _BLOCK], groups[at : at + _BLOCK])


def _blocks(
    src: _Array, index: _Array, job: Job, start: int
) -> Iterator[tuple[_Array, _Array, int]]:
    """The rows of one chunk of the values block by block, their groups, and their position."""
    rules = job.rules
    masked.refuse(rules.called, "index", index)
    numbers = np.asarray(index)
    # A chunk need not have the dtype that its array tells.
    if numbers.size and numbers.dtype.kind not in "iu":
        raise errors.Problem(TypeError, rules.called, "index", str(numbers.dtype)).saying(
            f"a chunk of index has dtype {numbers.dtype}", "it must be an integer type"
        )
    # What a worker receives may lie at any address, and files may swap the bytes.
    values = np.moveaxis(np.require(src, src.dtype.newbyteorder("="), ["ALIGNED"]), job.axis, 0)
    # At least once, so that an empty chunk of another dtype is an error, too.
    for at in range(0, max(len(numbers), 1), _BLOCK):
        groups = rules.groups(numbers[at : at + _BLOCK], start + at)
        yield values[at : at + _BLOCK], groups, start + at


def rounded(state: Accumulator, axis: int) -> tuple[_Array, ...]:
    """The results, with the groups along `axis`."""
    return tuple(np.moveaxis(one, 0, axis) for one in state.result())
