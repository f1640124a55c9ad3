"""pyg_lib's ``ops``: scatter, segment, gather and softmax, in the place of torch_scatter.

``strew.torch_scatter.install(pyg=True)`` makes ``import pyg_lib`` give these functions. pyg_lib's
other functions, such as its samplers and matrix products, have no place here.

The ``scatter`` functions share these arguments:

src : array
    The elements to reduce: one or more dimensions, any dtype.
index : array
    The group of each element along `dim`: int32 or int64, not negative. A 1-d index lies along
    `dim`; an index of more dimensions gets axes of size 1 on the right. Then it is expanded to
    `src`'s shape.
dim : int, default -1
    The axis that `index` points along; negative from the end.
out : array, optional
    An array to continue reducing into, in place; it is returned. It has `src`'s dtype, and `src`'s
    shape apart from `dim`.
dim_size : int, optional
    The size of the result along `dim`, where `out` is not given. By default ``index.max() + 1``, or
    0 for an empty index.

The ``segment`` and ``gather`` functions have no `dim`: groups lie along the last axis of `index` or
`indptr`, which may have fewer axes than `src`:

index : array
    For ``_coo``: the group of each element, int32 or int64. For a ``segment`` function it ascends
    along the last axis, and is expanded to `src`'s first axes. For a ``gather`` function all of its
    sizes but the last are `src`'s.
indptr : array
    For ``_csr``: where each group begins along the last axis, and where the last one ends, int32 or
    int64, from 0 to the size there. The other axes are expanded to `src`'s first. Where pointers
    descend, the row has no elements.
out : array, optional
    Sums, minima and maxima continue from its values. Means and gathers overwrite it. It is
    returned.

They raise

* IndexError if `dim` is not an axis, or `src` is 0-d,
* NotImplementedError for the mean of bool, and for extremes of complex numbers,
* TypeError for arguments of the wrong kind,
* ValueError for an unknown `reduce`, a read-only `out`, and where only floats are taken,
* MemoryError if the result does not fit into memory,
* RuntimeError for everything else: shapes that do not expand, dtypes, shared memory, and an index
  or a pointer out of range, which pyg_lib does not check.

Torch tensors have derivatives of the first and second order, backward and forward, also to `out`.
The derivative of a product is right with any number of zeros. Of equal extremes the first has all
of the gradient. TorchScript knows the functions once torch and strew have been imported.

Source of the semantics: pyg_lib 0.9.0, ``pyg_lib/ops/__init__.py`` and ``pyg_lib/csrc/ops``.
COMPARE.md lists where strew differs.
"""

from ._composites import (
    scatter_log_softmax,
    scatter_logsumexp,
    scatter_softmax,
    scatter_std,
    softmax_csr,
)
from ._scatter import (
    scatter,
    scatter_add,
    scatter_max,
    scatter_mean,
    scatter_min,
    scatter_mul,
    scatter_sum,
)
from ._segments import (
    gather_coo,
    gather_csr,
    segment_add_coo,
    segment_add_csr,
    segment_coo,
    segment_csr,
    segment_max_coo,
    segment_max_csr,
    segment_mean_coo,
    segment_mean_csr,
    segment_min_coo,
    segment_min_csr,
    segment_sum_coo,
    segment_sum_csr,
)

__all__ = [
    "gather_coo",
    "gather_csr",
    "scatter",
    "scatter_add",
    "scatter_log_softmax",
    "scatter_logsumexp",
    "scatter_max",
    "scatter_mean",
    "scatter_min",
    "scatter_mul",
    "scatter_softmax",
    "scatter_std",
    "scatter_sum",
    "segment_add_coo",
    "segment_add_csr",
    "segment_coo",
    "segment_csr",
    "segment_max_coo",
    "segment_max_csr",
    "segment_mean_coo",
    "segment_mean_csr",
    "segment_min_coo",
    "segment_min_csr",
    "segment_sum_coo",
    "segment_sum_csr",
    "softmax_csr",
]

for _name in __all__:
    # The functions belong to this module, wherever they are defined.
    globals()[_name].__module__ = __name__
