"""`aggregate`, `scatter` and `gather` of masked arrays, columns, labelled arrays and dates.

The values become an array (`_arrays/kinds`) and are reduced. The results take the kind of the
values.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._arrays import kinds, times
from .._arrays.kinds._held import Groups, Made, mask
from .._arrays.library import from_numpy
from .._arrays.swapped import explain as explain_swapped
from .._native import errors, hints, options
from .._strew import Plan
from . import flat as _flat
from . import functions
from . import missing as _missing
from .apply import no_skipna
from .reduce import PER_VALUE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .._arrays.kinds._held import Held
    from .long_line import Call

_array = np.ndarray


def needed(src: Any, index: Any) -> bool:
    """Whether the values or the index are of such a kind."""
    # Short calls take about as long as all else here: most are of arrays.
    kind = type(src)
    if (src.dtype.kind in "mM") if kind is _array else kinds.find(src) is not None:
        return True
    kind = type(index)
    return kind is not _array and kind is not Plan and kinds.is_index(index)


def reduced(call: Call, src: Any, groups: Groups) -> tuple[Any, ...]:
    """The results of a call, whose `dim` may be None, in the kind of `src`."""
    with _named_errors(call, src):
        return _reduced(call, src, groups)


@contextmanager
def _named_errors(call: Call, src: Any) -> Iterator[None]:
    """Errors that name the function that was called, and say what helps."""
    try:
        yield
    except (IndexError, TypeError, ValueError) as error:
        for inner in ("Plan", "aggregate"):
            errors.rename(error, inner, call.operator)
        errors.explain_outside(error, call.mode)
        hints.explain(error, src, call.index)
        if not isinstance(error, IndexError):
            explain_swapped(error, src, call.index)
        raise


def _reduced(call: Call, src: Any, groups: Groups) -> tuple[Any, ...]:
    operator = call.operator
    reader = kinds.find(src)
    held = None if reader is None else reader(operator, "src", src)
    if held is not None:
        call = replace(call, dim=held.kind.axis(operator, call.dim))
        _check_labels(call, held, groups)
    call = replace(
        call,
        index=kinds.index(operator, call.index, call.mode),
        weights=kinds.weights(operator, call.weights),
    )
    if call.dim is None:
        return _of_all_axes(call, src, held, groups)
    if type(call.dim) is not int:
        call = replace(call, dim=options.integer("dim", call.dim, operator=operator))
    if held is None:
        return call.of_arrays(src)
    return tuple(held.kind.out(made, groups) for made in _made(call, held))


def made(call: Call, column: Any) -> list[tuple[Any, Made]]:
    """The results of a column that has a kind, each with what gives it back in that kind."""
    with _named_errors(call, column):
        reader = kinds.find(column)
        assert reader is not None
        held = reader(call.operator, "src", column)
        call = replace(
            call,
            index=kinds.index(call.operator, call.index, call.mode),
            weights=kinds.weights(call.operator, call.weights),
        )
        return [(held.kind, one) for one in _made(call, held)]


def into(call: Call, src: Any, out: Any) -> Any:
    """The result of a call that reduces into `out` in place, and returns it."""
    with _named_errors(call, src):
        return _into(call, src, out)


def _into(call: Call, src: Any, out: Any) -> Any:
    reader = kinds.find(src)
    held = None if reader is None else reader(call.operator, "src", src)
    index = call.index
    if held is not None:
        call = replace(call, dim=held.kind.axis(call.operator, call.dim))
        _check_labels(call, held, Groups((), [index]))
        if held.values.dtype.kind in "mM":
            raise errors.Problem(TypeError, call.operator, "out").saying(
                f"values of {held.values.dtype} make a new array: out must be None"
            )
    call = replace(call, index=kinds.index(call.operator, index, call.mode))
    if held is not None and call.names != ["assign"] and call.options["nan_by_kind"]:
        held = _missing.with_nan_missing(held)
    values = src if held is None else held.values
    missing = None if held is None else held.missing
    if call.dim is None:
        values, shape = _flat.values(values)
        call = replace(call, index=_flat.index(call.operator, call.index, shape), dim=0)
        missing = None if missing is None else missing.reshape(-1)
    if missing is not None:
        if call.names == ["assign"]:
            place = ", ".join(map(str, np.argwhere(missing)[0]))
            raise errors.Problem(ValueError, call.operator, "src").saying(
                f"src[{place}] is missing, but out has no missing values: fill it"
            )
        shape_of_out = np.shape(out)
        if len(shape_of_out) == missing.ndim and -missing.ndim <= call.dim < missing.ndim:
            size = shape_of_out[call.dim] if call.size is None else call.size
            call = _missing.of_present(replace(call, size=size), missing)
    return call.of_arrays(values)[0]


def _of_all_axes(call: Call, src: Any, held: Held | None, groups: Groups) -> tuple[Any, ...]:
    """The results for all axes at once."""
    flat, shape = _flat.values(src if held is None else held.values)
    call = replace(
        call,
        index=_flat.index(call.operator, call.index, shape),
        weights=_flat.weights(call.operator, call.weights, shape),
        dim=0,
    )
    if held is None:
        flat_results = (
            one.reshape(shape) if name in PER_VALUE else one
            for name, one in zip(call.names, call.of_arrays(flat), strict=True)
        )
        return tuple(
            from_numpy(src, one) if isinstance(one, np.ndarray) else one for one in flat_results
        )
    missing = None if held.missing is None else held.missing.reshape(-1)
    found = []
    results = _made(call, replace(held, values=flat, missing=missing))
    for name, made in zip(call.names, results, strict=True):
        if name in PER_VALUE:
            lost = None if made.missing is None else made.missing.reshape(shape)
            made = Made(made.values.reshape(shape), lost, list(range(len(shape))))
        found.append(held.kind.out(made, groups))
    return tuple(found)


def _made(call: Call, held: Held) -> list[Made]:
    """The results of reductions by name, and of functions."""
    if not any(map(callable, call.reduces)):
        return _missing.reduced(call, held)
    if call.weights is not None:
        raise errors.Problem(ValueError, "aggregate", "weights").saying(
            "a callable reduce takes no weights: only sum, mean, var and std do"
        )
    if call.options["skipna"]:
        raise no_skipna()
    if call.dtype is not None:
        raise errors.Problem(TypeError, "aggregate", "dtype").saying(
            "a callable reduce does not take dtype"
        )
    found: list[Made] = []
    for reduce, name in zip(call.reduces, call.names, strict=True):
        if callable(reduce):
            of_kind = _missing.with_nan_missing(held) if call.options["nan_by_kind"] else held
            found.append(functions.apply(call, of_kind, reduce))
        else:
            found += _missing.reduced(replace(call, reduces=[reduce], names=[name]), held)
    return found


def _check_labels(call: Call, held: Held, groups: Groups) -> None:
    """Refuses arguments whose labels differ from those of the values."""
    name = "index" if groups.keys is None else "by"
    for column in groups.columns:
        held.kind.check_labels(call.operator, name, column, call.dim)
    held.kind.check_labels(call.operator, "weights", call.weights, call.dim)


def gathered(
    run: Callable[[Any, Any, Any, Any], Any],
    src: Any,
    index: Any,
    dim: Any,
    mode: Any,
    fill_value: Any,
) -> Any:
    """What `run(src, index, dim, fill_value)` picks, in the kind of `src`, missing values too."""
    reader = kinds.find(src)
    if reader is None:
        return run(src, kinds.index("gather", index, mode), dim, fill_value)
    held = reader("gather", "src", src)
    dim = held.kind.axis("gather", dim)
    held.kind.check_labels("gather", "index", index, dim)
    index = kinds.index("gather", index, mode)
    values, missing = held.values, held.missing
    own = values.dtype.newbyteorder("=")
    is_time = own.kind in "mM"
    if is_time:
        values = values.astype(own, copy=False).view(np.int64)
        fill_value = None if fill_value is None else times.fill("gather", fill_value, own)
    if fill_value is None and held.kind.nan_is_missing and values.dtype.kind in "fc":
        fill_value = np.nan
    made = np.asarray(run(values, index, dim, fill_value))
    lost = None
    if is_time or held.kind.nullable:
        # Missing where the value is, and where nothing is picked.
        none = np.zeros(values.shape, bool) if missing is None else missing
        lost = mask(np.asarray(run(none, index, dim, fill_value is None)))
    axes: list[int | str] = list(range(made.ndim))
    if dim is None:
        axes = [f"dim_{at}" for at in range(made.ndim)]
    else:
        axes[options.integer("dim", dim, operator="gather") % made.ndim] = "group"
    return held.kind.out(Made(made.view(own) if is_time else made, lost, axes), Groups())
