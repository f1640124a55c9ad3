"""What stands between the brackets of ``x.at[...]``."""

import numpy as np

from .._beyond import _given
from .._indexing import WHOLE, split


def updated(operator, x, indices, y, mode):
    """A copy of `x` with `y` joined to what is indexed."""
    if not _has_slices(indices):
        return operator(x, _listed(indices), y, mode)
    out = np.array(x)
    part, listed, behind = split(out, _arrays(indices))
    if behind is not None:
        y = np.asarray(y)
        y = y[(..., None, *[WHOLE] * behind)] if y.ndim >= behind else y
    part[...] = operator(part, listed, y, mode)
    return _given(out, x, False)


def taken(operator, x, indices, mode, fill_value):
    """What is indexed."""
    if not _has_slices(indices):
        return operator(x, _listed(indices), mode, fill_value)
    part, listed, behind = split(np.asarray(x), _arrays(indices))
    found = operator(part, listed, mode, fill_value)
    return _given(found if behind is None else found.squeeze(-1 - behind), x, False)


def _listed(indices):
    several = isinstance(indices, tuple) or (isinstance(indices, list) and _holds_arrays(indices))
    return list(indices) if several else [indices]


def _holds_arrays(indices):
    return any(index is None or hasattr(index, "shape") for index in indices)


def _has_slices(indices):
    entries = indices if isinstance(indices, (tuple, list)) else (indices,)
    return any(isinstance(index, slice) or index is Ellipsis for index in entries)


def _arrays(indices):
    """The entries as a tuple; a number is an array, of which one that is out of range is no error."""
    entries = indices if isinstance(indices, (tuple, list)) else (indices,)
    number = (int, np.integer)
    whole = (isinstance(index, number) and not isinstance(index, bool) for index in entries)
    return tuple(
        np.asarray(index) if is_number else index for index, is_number in zip(entries, whole)
    )
