"""What stands between brackets, as NumPy reads it."""

import numpy as np

WHOLE = slice(None)


def split(a, indices):
    """The part of `a` that slices name, and for each of its first axes an array, or None to take it
    whole.

    An ellipsis that stands for no axis keeps arrays apart all the same: then there is an axis of
    size 1 for it, and the third thing is how many of the axes behind it are no array's; otherwise
    None."""
    if not isinstance(indices, tuple):
        if hasattr(indices, "shape") and len(indices.shape) > 0:
            return a, [indices], None
        indices = (indices,)
    if not hasattr(a, "ndim"):
        return a, [None if index is Ellipsis else index for index in indices], None
    entries = [_entry(index) for index in indices]
    taken = sum(axes for axes, _ in entries)
    if sum(index is Ellipsis for _, index in entries) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    advanced = any(hasattr(index, "shape") for _, index in entries)
    basic, listed, behind = [], [], None
    for place, (axes, index) in enumerate(entries):
        if index is Ellipsis:
            rest = max(a.ndim - taken, 0)
            basic += [WHOLE] * rest
            listed += [None] * rest
            sides = [e for _, e in entries[:place]], [e for _, e in entries[place + 1 :]]
            if rest == 0 and advanced and all(any(_points(e) for e in side) for side in sides):
                basic.append(None)
                listed.append(None)
                behind = sum(not _points(e) for e in sides[1])
        elif index is None or isinstance(index, slice):
            basic.append(index)
            listed.append(None)
        elif isinstance(index, bool):
            # True and False stand for a new axis, of which they take the one element, or none.
            basic.append(None)
            listed.append(np.arange(int(index)))
        elif not advanced:
            basic.append(index)
        else:
            basic += [WHOLE] * axes
            listed.append(index if hasattr(index, "shape") else np.asarray(index))
    if any(index is not WHOLE for index in basic):
        # With the ellipsis it is a view, also of one element.
        a = a[(*basic, Ellipsis)]
    return a, listed, behind


def _points(entry):
    return not (entry is None or isinstance(entry, slice))


def _entry(index):
    """How many axes an entry takes, and the entry: a number, an array, or what stands for axes."""
    if index is Ellipsis or index is None:
        return 0, index
    if isinstance(index, slice):
        return 1, index
    if isinstance(index, (bool, np.bool_)):
        return 0, bool(index)
    if isinstance(index, int):
        return 1, index
    if not hasattr(index, "shape"):
        index = np.asarray(index)
        if index.size == 0 and index.dtype == float:
            index = index.astype(np.intp)
    if len(index.shape) > 0:
        return len(index.shape) if "bool" in str(index.dtype) else 1, index
    if "bool" in str(index.dtype):
        return 0, bool(index)
    return 1, index
