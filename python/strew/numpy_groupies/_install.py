"""Puts strew in the place of numpy_groupies' engines, for flox, xarray and other users of them."""

from __future__ import annotations

import functools
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np

from .._arrays import times

#: The arguments of aggregate after `func`, in their order.
_POSITIONS = ("size", "fill_value", "order", "dtype", "axis")

#: The names of what strew has.
_OF_GROUPS = "sum prod min max mean var std sumofsquares first last len any all argmin argmax"
_OF_VALUES = "cumsum cumprod cummin cummax"
_SQUARES = ("sumofsquares", "nansumofsquares")
_OF_EACH = frozenset("sort cumsum nancumsum cumprod nancumprod cummin cummax".split())
_WITHOUT_NAN = f"{_OF_GROUPS} {_OF_VALUES}".split()
_FUNCTIONS = frozenset(
    [*_WITHOUT_NAN, *(f"nan{name}" for name in _WITHOUT_NAN), "allnan", "anynan", "array", "sort"]
)

#: Every change, for `uninstall`: a module, the name in it, and the function before.
_changes: list[tuple[ModuleType, str, Any]] = []


class _Installed:
    """What `install` returns: undoes it at the end of a ``with`` block, if it changed anything."""

    def __init__(self, changed: bool) -> None:
        self._changed = changed

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        if self._changed:
            uninstall()


def install() -> _Installed:
    """Make numpy_groupies' engines call strew, from now on or for a ``with`` block.

    ``aggregate`` of the package, of ``aggregate_numpy`` and of ``aggregate_numba`` become
    `strew.numpy_groupies.aggregate`, and so do ``aggregate_np`` and ``aggregate_nb``. With them
    flox's ``engine="numpy"`` and ``engine="numba"`` run in strew, and xarray's ``groupby`` if it
    uses flox. What strew does not have (functions of other names, callables, ``out=``, arrays of
    objects or strings) or refuses (a fraction as `fill_value` of integers) goes to numpy_groupies
    as before, and so do deviations and squares of complex numbers, means of them that are not
    finite in one part, means and deviations of integers that are too large for float64, and calls
    without any value. A call without `fill_value` has numpy_groupies' own for the function. Sums of
    small integers have numpy_groupies' dtype.

    `install` may be called any number of times. The end of a ``with`` block within another leaves
    strew in its place. Functions that were imported by name before are not replaced, nor are
    numpy_groupies' functions of single names (``numpy_groupies.mean``).

    Raises
    ------
    ImportError
        If numpy_groupies cannot be imported.

    Examples
    --------
    >>> import strew
    >>> with strew.numpy_groupies.install():  # doctest: +SKIP
    ...     dataset.groupby("time.month").mean()
    """
    try:
        import numpy_groupies as theirs
    except ImportError as error:
        raise ImportError(
            f"strew.numpy_groupies.install() needs numpy_groupies, which cannot be imported: "
            f"{error} (pip install numpy_groupies)"
        ) from error
    changed = not _changes
    if changed:
        engines = [
            module
            for name in ("aggregate_numpy", "aggregate_numba")
            if (module := sys.modules.get(f"numpy_groupies.{name}"))
        ]
        # The engine of numpy answers at once. That of numba is compiled for each function.
        plain = engines[0].aggregate
        for name in ("aggregate", "aggregate_np", "aggregate_nb"):
            _replace(theirs, name, plain)
        for module in engines:
            _replace(module, "aggregate", plain)
    return _Installed(changed)


def uninstall() -> None:
    """Undo `install`: restore everything that it replaced."""
    while _changes:
        module, name, before = _changes.pop()
        setattr(module, name, before)


def _replace(module: ModuleType, name: str, plain: Any) -> None:
    before = getattr(module, name, None)
    if callable(before):
        _changes.append((module, name, before))
        setattr(module, name, _in_place_of(before, plain))


def _in_place_of(theirs: Any, plain: Any) -> Any:
    """strew's function, with the other one for what strew does not have or refuses."""

    from . import _named
    from . import aggregate as ours

    @functools.wraps(theirs)
    def aggregate(group_idx: Any, a: Any, func: Any = "sum", *args: Any, **kwargs: Any) -> Any:
        options = dict(zip(_POSITIONS, args, strict=False)) | kwargs
        # Otherwise an argument is given twice, or strew does not have it.
        known = len(options) == len(args) + len(kwargs) and options.pop("out", None) is None
        # What is wrong in the eyes of strew may have a meaning, or an error of its own.
        with suppress(TypeError, ValueError):
            name, values = _named(func), np.asarray(a)
            if known and _takes(group_idx, values, name, options):
                if "fill_value" not in options:
                    options |= _default_fill(plain, values.dtype, name, options.get("dtype"))
                if name in _SQUARES and values.dtype.kind in "biu":
                    options["dtype"] = options.get("dtype") or np.int64
                if name == "sum" and values.dtype.kind in "biu":
                    options["dtype"] = options.get("dtype") or _dtype_of_sum(values)
                made = ours(group_idx, a, func, **options)
                if not _has_half_a_nan(made, name):
                    return made
        return theirs(group_idx, a, func, *args, **kwargs)

    return aggregate


def _takes(group_idx: Any, a: np.ndarray[Any, Any], name: Any, options: dict[str, Any]) -> bool:
    """Whether strew has the function, for these values, as numpy_groupies has it."""
    # Without groups numpy_groupies raises an error, unless it is told their number.
    if not isinstance(name, str) or not np.size(group_idx):
        return False
    if a.dtype.kind in "mM":
        return times.takes(a, name)
    if name in _OF_EACH and np.ndim(group_idx) > 1 and options.get("axis") is None:
        return False
    if a.dtype.kind == "c" and name.removeprefix("nan") in ("var", "std", "sumofsquares"):
        return False
    if a.dtype.kind in "iu" and _is_too_large(a, name.removeprefix("nan")):
        return False
    return a.dtype.kind in "biufc" and name in _FUNCTIONS


def _is_too_large(a: np.ndarray[Any, Any], name: str) -> bool:
    """Whether float64 may not hold what a statistic of integers is computed from.

    numpy_groupies raises an error then from 0.16 on, if no other way is left.
    """
    if name not in ("mean", "var", "std"):
        return False
    limits = np.iinfo(a.dtype)
    largest = max(-int(limits.min), int(limits.max))
    if name == "mean" and largest * a.size > 2**53:
        largest = max(-int(a.min()), int(a.max()))
    if name == "mean":
        return largest * a.size > 2**53
    return a.dtype.itemsize == 8 and int(a.max()) - int(a.min()) >= 2**63


def _dtype_of_sum(values: np.ndarray[Any, Any]) -> Any:
    """The dtype of sums of bools and integers; None for strew's own, of 64 bits.

    It is a small one that holds the largest value once for each value. The rule is that of the
    release of numpy_groupies.
    """
    if values.dtype.itemsize == 8:
        return None
    for name in ("numpy_groupies.utils_np", "numpy_groupies.utils"):
        rule = getattr(sys.modules.get(name), "check_dtype", None)
        if rule is not None:
            found = np.dtype(rule(None, "sum", np.empty(0, values.dtype), values.size))
            least = 0 if values.dtype.kind == "b" else np.iinfo(values.dtype).min
            # Their dtype may be too small for sums of the smallest value.
            fits = found.kind in "iu" and np.iinfo(found).min <= least * values.size
            return found if fits else None
    return None


def _has_half_a_nan(made: Any, name: str) -> bool:
    """Whether a mean of complex numbers has parts that NumPy's division would make NaN."""
    if name not in ("mean", "nanmean") or not np.iscomplexobj(made):
        return False
    return bool(np.any(np.isfinite(made.real) != np.isfinite(made.imag)))


def _default_fill(plain: Any, dtype: Any, name: str, made: Any) -> dict[str, Any]:
    """What numpy_groupies fills with if it is not told: the result of an empty group.

    It depends on the release, the function and the dtypes.
    """
    if name not in _OF_EACH:
        with suppress(TypeError, ValueError):
            found = plain(np.array([1]), np.ones(1, dtype), name, size=2, dtype=made)[0]
            return {"fill_value": found}
    return {}
