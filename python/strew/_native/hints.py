"""What helps after a mistake: the reduction, the argument or the function that was meant."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

import numpy as np

from .._strew import Plan
from . import errors

# Calls by the names that people know their jobs by. docs/which.md has all of them.
_JOBS = {
    "crosstab": "strew.aggregate(index=(rows, columns), reduce='len')",
    "embedding": "strew.gather(table, tokens, axis=0)",
    "group_by": "strew.aggregate(values, by=keys, reduce='mean')",
    "groupby": "strew.aggregate(values, by=keys, reduce='mean')",
    "histogram": "strew.scatter(weights, np.digitize(values, edges) - 1, size=len(edges) - 1, "
    "mode='drop')",
    "histogram2d": "strew.aggregate(index=(x_bin, y_bin), reduce='len')",
    "index_select": "strew.gather(values, index, axis=0)",
    "one_hot": "strew.torch.scatter(np.zeros((len(labels), classes)), 1, labels[:, None], 1.0)",
    "pivot_table": "strew.aggregate(values, (rows, columns), 'mean')",
    "take": "strew.gather(values, index, axis=0)",
    "unique": "strew.factorize(keys)",
    "value_counts": "strew.aggregate(by=keys, reduce='len')",
}


# Names of reductions that people look for as functions.
_REDUCTIONS = ("count", "max", "mean", "median", "min", "prod", "quantile", "std", "sum", "var")


def explain(error: BaseException, src: Any, index: Any) -> None:
    """Adds to an error which reduction, axis or function was meant, where that can be told."""
    fields: list[Any] = [getattr(error, name, None) for name in ("argument", "value", "expected")]
    argument, value, expected = fields
    one_of = "it must be one of "
    if argument == "reduce" and expected and expected.startswith(one_of):
        known = expected.removeprefix(one_of).partition(";")[0].split(", ")
        _add(error, _reduction(value.strip('"'), known))
    elif isinstance(error, MemoryError):
        _add(error, _many_groups(index))
    elif isinstance(error, TypeError) and argument == "src":
        _add(error, "pass one column of it" if hasattr(src, "columns") else None)
    elif isinstance(error, TypeError) and argument == "index":
        _add(error, _keys(index))
    elif isinstance(value, tuple) and argument in ("src", "index"):
        _add(error, _axis(src, index))


def _add(error: BaseException, hint: str | None) -> None:
    if hint is not None:
        errors.add(error, hint)


def _reduction(name: str, known: list[str]) -> str | None:
    """The reduction and the option that are meant by a name that is none."""
    for before, option in (("nan", "skipna"), ("exact_", "exact")):
        if name.startswith(before) and name.removeprefix(before) in known:
            plain = name.removeprefix(before)
            return f'strew.aggregate takes reduce="{plain}" with {option}=True'
    return None


def _many_groups(index: Any) -> str | None:
    """That groups can be numbered, if their numbers are far more than there are values."""
    numbers = _array(index)
    if numbers is None or numbers.dtype.kind not in "iu" or not numbers.size:
        return None
    if int(numbers.max()) < 8 * numbers.size:
        return None
    return (
        "the largest number of a group makes so many cells: strew.factorize numbers only the "
        "groups that occur"
    )


def _keys(index: Any) -> str | None:
    """That strings and the like are no numbers of groups."""
    found = _array(index)
    if found is None or found.dtype.kind not in "OSTUMm":
        return None
    return "groups by keys are for strew.aggregate(values, by=keys); strew.factorize numbers them"


def _axis(src: Any, index: Any) -> str | None:
    """The axis that has as many values as the index has numbers."""
    rows = _array(index)
    if rows is None or rows.ndim != 1:
        return None
    with suppress(AttributeError, TypeError):
        fits = [axis for axis, size in enumerate(src.shape) if size == len(rows)]
        if fits and len(src.shape) > 1:
            return f"src has {len(rows)} along axis {fits[0]}: pass axis={fits[0]}"
    return None


def _array(index: Any) -> np.ndarray[Any, Any] | None:
    """An index as an array; None if it is a plan, several keys, or nothing that NumPy takes."""
    if index is None or isinstance(index, (Plan, tuple)):
        return None
    try:
        return np.asarray(index)
    except Exception:
        # The error is about this.
        return None


def no_such_name(name: str) -> AttributeError:
    """The error about a name that the package does not have, with the one that does its job."""
    said = f"module 'strew' has no attribute {name!r}"
    hints = [_JOBS[name]] if name in _JOBS else []
    if name in _REDUCTIONS:
        hints.append(f"strew.aggregate(values, groups, '{name}')")
    if not name.startswith("_"):
        hints += _in_modules(name)[:3]
    if hints:
        said += f": use {' or '.join(hints)}"
    return AttributeError(said, name=name, obj=sys.modules["strew"])


def _in_modules(name: str) -> list[str]:
    """Where the modules of the frameworks have a function of this name."""
    public = [module for module in sys.modules if module.startswith("strew.")]
    public = sorted((module for module in public if "._" not in module), key=_familiar_first)
    lists = ((module, getattr(sys.modules[module], "__all__", ())) for module in public)
    return [f"{module}.{name}" for module, names in lists if name in names]


def _familiar_first(module: str) -> tuple[bool, str]:
    return (module.split(".")[1] not in ("numpy", "torch", "torch_scatter", "jax"), module)
