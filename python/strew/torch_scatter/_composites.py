"""Standard deviation, logsumexp and softmax of elements that share an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._arrays.dispatch import torch_operators
from .._strew import Operator

if TYPE_CHECKING:
    from typing import SupportsIndex

    from .._native.types import Array, ArrayLike, Numbers

_scatter_std = Operator("torch_scatter.scatter_std")
_scatter_logsumexp = Operator("torch_scatter.scatter_logsumexp")
_scatter_softmax = Operator("torch_scatter.scatter_softmax")
_scatter_log_softmax = Operator("torch_scatter.scatter_log_softmax")


def scatter_std(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    unbiased: bool = True,
) -> Array:
    """Find the standard deviation of the elements of each group; see the module.

    With n elements it is ``sqrt(sum((x - mean)**2) / (max(d, 1) + 1e-6))``, where d is ``n - 1`` if
    `unbiased`, else n. With `out`, the values in it are added to the sums of squares, and the
    result is written to it. Groups without elements are 0.

    16-bit floats are computed in float32 and rounded once; the result for integers is float32.

    >>> import strew
    >>> strew.torch_scatter.scatter_std([1.0, 3.0, 4.0], [2, 2, 0], unbiased=False).round(5)
    array([0., 0., 1.])
    """
    if operators := torch_operators(src, out):
        return operators.torch_scatter.composites.std(src, index, dim, out, dim_size, unbiased)
    return _scatter_std(src, index, dim, out, dim_size, unbiased)


def scatter_logsumexp(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    eps: float = 1e-12,
) -> Array:
    """Find the logarithm of the summed exponentials of the elements of each group; see the module.

    With m the largest element of a group it is ``log(sum(exp(x - m)) + eps) + m``, where NaN is
    left out. `src` must be of floats. With `out`, each value in it counts as one more element, and
    stays where the result would be infinite or NaN.

    Without `out`, groups without elements are 0, and so are groups of only -inf and NaN. The result
    of a group with inf is the dtype's largest finite value. 16-bit floats are computed in float32
    and rounded once.

    >>> import strew
    >>> strew.torch_scatter.scatter_logsumexp([0.0, 0.0, 5.0], [0, 0, 2]).round(5)
    array([0.69315, 0.     , 5.     ])
    """
    if operators := torch_operators(src, out):
        return operators.torch_scatter.composites.logsumexp(src, index, dim, out, dim_size, eps)
    return _scatter_logsumexp(src, index, dim, out, dim_size, eps)


def scatter_softmax(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """Softmax within each group: the exponential of each element, divided by its group's sum.

    The result has `src`'s shape; `src` must be of floats. The largest element of a group, as
    `scatter_max` gives it, is subtracted first. The result is NaN for a group of only -inf, and for
    a group with NaN or inf. 16-bit floats are computed in float32 and rounded once.

    >>> import strew
    >>> strew.torch_scatter.scatter_softmax([7.0, 1.0, 7.0], [0, 2, 0])
    array([0.5, 1. , 0.5])
    """
    if operators := torch_operators(src):
        return operators.torch_scatter.composites.softmax(src, index, dim, dim_size)
    return _scatter_softmax(src, index, dim, dim_size)


def scatter_log_softmax(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    eps: float = 1e-12,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """Find the logarithm of the softmax of each element; see `scatter_softmax`.

    With m the largest element of a group it is ``x - m - log(sum(exp(x - m)) + eps)``.

    >>> import strew
    >>> strew.torch_scatter.scatter_log_softmax([7.0, 7.0], [0, 0]).round(5)
    array([-0.69315, -0.69315])
    """
    if operators := torch_operators(src):
        return operators.torch_scatter.composites.log_softmax(src, index, dim, eps, dim_size)
    return _scatter_log_softmax(src, index, dim, eps, dim_size)
