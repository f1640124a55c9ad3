"""The number of threads for a block of code."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import SupportsIndex

from .._strew import get_num_threads as get
from .._strew import set_num_threads as _set
from . import errors

_LARGEST = 2**63 - 1


@contextmanager
def threads(n: SupportsIndex | None) -> Iterator[None]:
    """Let runs in a block use `n` threads; None means the default.

    Afterwards the number is what it was, also after an error. It is one number for the process, as
    with `set_num_threads`: runs of other Python threads in the meantime use it too. Results do not
    depend on it.

    Parameters
    ----------
    n : int or None
        How many threads a run may use: at least 1.

    Raises
    ------
    ValueError, TypeError
        For a number below 1, and for what is no integer. The block does not run then.

    Examples
    --------
    >>> import strew
    >>> with strew.threads(1):
    ...     strew.get_num_threads()
    1
    """
    if n is not None:
        try:
            n = operator.index(n)
        except TypeError:
            kind = type(n).__name__
            raise errors.Problem(TypeError, "threads", "n").saying(
                f"n must be an integer or None, not {kind}"
            ) from None
        if n < 1:
            raise errors.Problem(ValueError, "threads", "n", n).expecting(
                "it must be at least 1, or None"
            )
        if n > _LARGEST:
            raise errors.Problem(ValueError, "threads", "n", n).expecting(
                f"it must be at most {_LARGEST}"
            )
    before = get()
    _set(n)
    try:
        yield
    finally:
        _set(before)
