"""torch_scatter (``pytorch_scatter``), the scatter library of graph networks.

`install` makes ``import torch_scatter`` give these functions, for code that cannot be changed.

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

They raise

* IndexError if `dim` is not an axis, or `src` is 0-d,
* NotImplementedError for the mean of bool, and for extremes of complex numbers,
* TypeError for arguments of the wrong kind,
* ValueError for an unknown `reduce`, and a read-only `out`,
* MemoryError if the result does not fit into memory,
* RuntimeError for everything else: shapes that do not expand, dtypes, shared memory, and an index
  out of range (which torch_scatter does not check for mul, min and max).

Torch tensors have derivatives of the first and second order, backward and forward. The derivative
of a product is right with any number of zeros. Of equal extremes the first has all of the gradient.
With `dim_size` the functions run under ``torch.compile(fullgraph=True)`` and ``torch.func``, and
TorchScript knows them once torch and strew have been imported.

The ``segment`` and ``gather`` functions have no `dim`: groups lie along the last axis of `index` or
`indptr`, which may have fewer axes than `src`:

index : array
    For ``_coo``: the group of each element, int32 or int64, ascending along the last axis. A
    ``segment`` function expands it to `src`'s first axes. For a ``gather`` function all of its
    sizes but the last are `src`'s.
indptr : array
    For ``_csr``: where each group begins along the last axis, and where the last one ends, int32 or
    int64, from 0 to the size there. The other axes are expanded to `src`'s first.
out : array, optional
    ``segment_*_coo`` continues reducing into it; all others overwrite it. It is returned.

They raise NotImplementedError, TypeError, ValueError and MemoryError like the others, and
RuntimeError for everything else. That includes an index that does not ascend or is out of range,
and pointers out of range: torch_scatter checks neither, and reads or writes outside its memory.
Torch tensors have derivatives as above; they are right also where pointers overlap, leave gaps or
descend. Under ``torch.compile`` the size of `gather_csr`'s result is known only from its `out`.
"""

from ._composites import scatter_log_softmax, scatter_logsumexp, scatter_softmax, scatter_std
from ._install import install as install
from ._install import uninstall as uninstall
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
]

for _name in __all__:
    # The functions belong to this module, wherever they are defined.
    globals()[_name].__module__ = __name__
