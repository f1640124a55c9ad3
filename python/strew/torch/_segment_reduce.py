"""``segment_reduce``: groups that lie one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._arrays.dispatch import torch_operators
from .._strew import Operator

if TYPE_CHECKING:
    from typing import Literal, SupportsIndex

    from .._native.types import Array, ArrayLike, Numbers, Scalar

_segment_reduce = Operator("torch.segment_reduce")


def segment_reduce(
    data: Array | Numbers,
    reduce: Literal["sum", "prod", "mean", "max", "min", "amax", "amin"],
    *,
    lengths: ArrayLike | None = None,
    indices: ArrayLike | None = None,
    offsets: ArrayLike | None = None,
    axis: SupportsIndex = 0,
    unsafe: bool = False,
    initial: Scalar | None = None,
) -> Array:
    """Reduce consecutive groups of `data` along `axis`.

    Parameters
    ----------
    data : array
        One or more dimensions, any dtype; floats only for "mean", no complex numbers for "max" and
        "min".
    reduce : str
        "sum", "prod", "mean", "max" (or "amax") or "min" (or "amin"). NaN propagates.
    lengths : array
        The number of elements of each group: int32 or int64. Groups are numbered along its last
        axis, and its sizes before that are `data`'s. Lengths must add up to `data`'s size along
        `axis`.
    indices : None
        PyTorch has an argument of this name, and refuses it.
    offsets : array
        Instead of `lengths`: where each group begins, and where the last one ends. If both are
        given, `offsets` is used.
    axis : int, default 0
        The axis of the groups; negative from the end.
    unsafe : bool, default False
        Whether `lengths` may add up to less than the size, so that the last elements are left out.
        Nothing outside `data` is ever read.
    initial : number, optional
        The value that each group starts from. By default a sum starts from 0, a product from 1, a
        maximum from -inf (or the lowest integer) and a minimum from inf (or the largest). An empty
        group has that value; the mean of one is NaN without `initial`.

    Returns
    -------
    array
        Of `data`'s dtype and shape, but along `axis` with a row for each group.

    Raises
    ------
    IndexError
        If `axis` is out of range.
    NotImplementedError
        For a mean of integers or bool, and an extreme of complex numbers.
    RuntimeError
        For everything else.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> data = np.array([1.0, 2.0, 4.0, 8.0])
    >>> strew.torch.segment_reduce(data, "sum", lengths=[1, 0, 3])
    array([ 1.,  0., 14.])
    >>> strew.torch.segment_reduce(data, "max", offsets=[0, 2, 4], initial=5)
    array([5., 8.])
    """
    if operators := torch_operators(data):
        return operators.torch.segment_reduce.call(
            data, reduce, lengths, indices, offsets, axis, unsafe, initial
        )
    return _segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe, initial)
