"""How far long runs are: a bar for people, calls for programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .._strew import _set_progress as _set
from . import errors


@contextmanager
def progress(show: bool | Callable[[int, int], object] = True) -> Iterator[None]:
    """Show how far the long runs in a block are.

    Runs of a million elements or more are shown, from their first 50 milliseconds on: those of
    `strew.scatter`, `strew.gather`, `strew.aggregate`, plans and the functions of the frameworks.
    The making of a `strew.Plan` is told while the index is read, and after each of its two further
    passes. It holds for what this Python thread calls. A Python function as reduction, the lists of
    a plan's groups and `strew.Accumulator.update` do not say how far they are. `strew.scatter`,
    `strew.gather` and `strew.aggregate` have an argument `progress` that does the same for one
    call.

    Parameters
    ----------
    show : bool or callable
        True: a bar of tqdm, or a line on standard error if tqdm is not installed. It is removed in
        the end. A callable: it is called about 20 times a second with two integers, how many
        updates are done and how many there are. Where a run is shared out among threads, these are
        the updates of the calling thread; a run of several passes counts each of them. An exception
        that it raises stops the run, as Ctrl-C does. False: nothing is shown.

    Raises
    ------
    TypeError
        If `show` is neither a bool nor a callable. The block does not run then.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> with strew.progress():
    ...     total = strew.aggregate(np.ones(2_000_000), np.zeros(2_000_000, int))
    >>> total
    array([2000000.])
    """
    if not (isinstance(show, bool) or callable(show)):
        kind = type(show).__name__
        raise errors.Problem(TypeError, "progress", "show").saying(
            f"show must be a bool or a callable, not {kind}"
        )
    bar = _bar() if show is True else None
    before = _set(bar if isinstance(show, bool) else show)
    try:
        yield
    finally:
        _set(before)
        if bar is not None:
            bar.close()


def _bar() -> _Bar | _Line:
    """What shows a run to people."""
    try:
        tqdm = import_module("tqdm.auto")
    except ImportError:
        return _Line()
    return _Bar(tqdm.tqdm)


class _Bar:
    """A bar of tqdm, from the first call on."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        """Draws how far the run is."""
        if self._bar is None:
            self._bar = self._make(unit=" updates", unit_scale=True, leave=False)
        self._bar.total = total
        self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.close()


class _Line:
    """A line on standard error."""

    _length = 0

    def __call__(self, done: int, total: int) -> None:
        """Writes how far the run is."""
        self._write(f"strew: {100 * done // max(total, 1)}% of {total:,} updates")

    def close(self) -> None:
        """Removes the line."""
        if self._length:
            self._write("")
            sys.stderr.write("\r")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._length))
        sys.stderr.flush()
        self._length = len(text)
