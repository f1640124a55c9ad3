"""Groups by keys of any kind: `aggregate` with ``by=``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import _errors
from ._factorize import factorize as _factorize

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Grouped"]


class Grouped(NamedTuple):
    """The groups of keys: what `strew.aggregate` with ``by=`` gives.

    Attributes
    ----------
    keys : array, or tuple or dict of arrays
        The key of each group in ascending order, as `strew.factorize` gives it. Of several columns
        an array for each, under its name if they have names.
    values : array, or tuple of arrays
        The results, of which entry ``k`` along `dim` is that of ``keys[k]``.

    Examples
    --------
    >>> import strew
    >>> keys, total = strew.aggregate([5.0, 2.0, 7.0], by=["b", "a", "b"])
    >>> dict(zip(keys.tolist(), total.tolist()))
    {'a': 2.0, 'b': 12.0}
    """

    keys: Any
    values: Any


# The strew module is its public place, also in pickles.
Grouped.__module__ = "strew"


def numbered(by: Any) -> tuple[Any, Any, int]:
    """The group of each key, -1 for a missing one; the keys of the groups; and how many."""
    try:
        index, keys = _factorize(by)
    except (TypeError, ValueError) as error:
        _errors.rename(error, "factorize", "aggregate: by")
        raise
    first = keys
    if isinstance(keys, dict):
        first = next(iter(keys.values()))
    elif isinstance(keys, tuple):
        first = keys[0]
    return index, keys, len(first)


def refuse_beside(index: Any, size: Any, mode: Any, ignore_index: Any) -> None:
    """Raises for arguments about an index beside keys, which make one."""
    given = {
        "index": index is not None,
        "size": size is not None,
        "mode": mode != "error",
        "ignore_index": ignore_index is not None,
    }
    names = [name for name, is_given in given.items() if is_given]
    if names:
        raise ValueError(
            f"aggregate: by makes the index of its keys: {' and '.join(names)} cannot be combined "
            "with it"
        )
