"""Puts strew in the place of numpy_groupies' engines, for flox, xarray and other users of them."""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from . import _times

if TYPE_CHECKING:
    from typing import Any

__all__ = ["install", "uninstall"]

#: The names of what strew has.
_OF_GROUPS = "sum prod min max mean var std sumofsquares first last len any all argmin argmax"
_OF_VALUES = "cumsum cumprod cummin cummax"
_WITHOUT_NAN = f"{_OF_GROUPS} {_OF_VALUES}".split()
_FUNCTIONS = frozenset(
    [*_WITHOUT_NAN, *(f"nan{name}" for name in _WITHOUT_NAN), "allnan", "anynan", "array", "sort"]
)

#: Every change, for `uninstall`: a module, the name in it, and the function before.
_changes: list[tuple[ModuleType, str, Any]] = []


class _Installed:
    """What `install` returns: `uninstall` at the end of a ``with`` block."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        uninstall()


def install() -> _Installed:
    """Make numpy_groupies' engines call strew, from now on or for a ``with`` block.

    ``aggregate`` of the package, of ``aggregate_numpy`` and of ``aggregate_numba`` become
    `strew.numpy_groupies.aggregate`, and so do ``aggregate_np`` and ``aggregate_nb``. With them
    flox's ``engine="numpy"`` and ``engine="numba"`` run in strew, and xarray's ``groupby`` if it
    uses flox. What strew does not have (functions of other names, ``out=``, arrays of objects or
    strings) goes to numpy_groupies as before.

    `install` may be called any number of times. Functions that were imported by name before are
    not replaced, nor are numpy_groupies' functions of single names (``numpy_groupies.mean``).

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
    if not _changes:
        engines = ("aggregate_numpy", "aggregate_numba")
        for name in ("aggregate", "aggregate_np", "aggregate_nb"):
            _replace(theirs, name)
        for engine in engines:
            if module := sys.modules.get(f"numpy_groupies.{engine}"):
                _replace(module, "aggregate")
    return _Installed()


def uninstall() -> None:
    """Undo `install`: restore everything that it replaced."""
    while _changes:
        module, name, before = _changes.pop()
        setattr(module, name, before)


def _replace(module: ModuleType, name: str) -> None:
    before = getattr(module, name, None)
    if callable(before):
        _changes.append((module, name, before))
        setattr(module, name, _in_place_of(before))


def _in_place_of(theirs: Any) -> Any:
    """strew's function, with the other one for what strew does not have."""

    from .numpy_groupies import aggregate as ours

    @functools.wraps(theirs)
    def aggregate(group_idx: Any, a: Any, func: Any = "sum", *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is None and _takes(np.asarray(a), func):
            kwargs.pop("out", None)
            return ours(group_idx, a, func, *args, **kwargs)
        return theirs(group_idx, a, func, *args, **kwargs)

    return aggregate


def _takes(a: np.ndarray[Any, Any], func: Any) -> bool:
    """Whether strew has the function, for these values."""
    named = isinstance(func, str)
    if _times.is_time(a):
        return named and _times.takes(a, func)
    return a.dtype.kind in "biufc" and (not named or func in _FUNCTIONS)
