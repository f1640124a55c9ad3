"""PyTorch: operators of ``torch`` and ``torch.Tensor``, as functions.

A function whose name ends in ``_`` works in place: it writes into `input`, whatever its strides,
and returns it. Parameters, exceptions and notes are those of the function without ``_``. It also
raises

* TypeError if `input` cannot be written to (a list, a JAX array),
* ValueError if `input` is read-only,
* RuntimeError if `input` shares memory with itself or another argument.

On an error, `input` is unchanged. (In PyTorch, elements before the wrong one have changed.)

A TypeError is raised for an argument of the wrong kind.

Torch tensors have derivatives of any order, backward and forward; products have the first two. With
such tensors every function is one operator of ``torch.ops.strew``, also under ``torch.compile`` and
``torch.func``. Where several updates are assigned to one cell, only the last one has a gradient.
What an operator does not read, such as the part of `src` outside the index's shape, has gradient
zero.

`scatter`, `scatter_add` and `scatter_reduce`, and their forms in place, have parameters that
PyTorch lacks:

mode : {"error", "wrap", "drop", "clip"}
    What an index outside the axis means. "error": an error. "wrap": negative indices count from the
    end, others are errors. "drop": the update is skipped; this copies `input`, even in place.
    "clip": the nearest cell.
plan : strew.Plan
    Takes the place of `index`, which must be None. Update ``k`` is slice ``k`` of `src` along
    `dim`, and the plan says which row it goes to. The plan must have as many rows as `input`. It
    has its own mode, and errors are the plan's. Under ``torch.compile``, ``torch.func`` and forward
    mode, and for second derivatives, the plan's index is used instead, which is no faster.
exact : bool
    Of `scatter_add` and `scatter_reduce`: whether a sum or a mean of floats is the float nearest to
    the exact one. Its bits do not depend on the order of the updates.
"""

from ._gather import gather, take_along_dim
from ._index import (
    index_add,
    index_add_,
    index_copy,
    index_copy_,
    index_fill,
    index_fill_,
    index_reduce,
    index_reduce_,
)
from ._put import index_put, index_put_, masked_scatter, masked_scatter_, put, put_
from ._scatter import (
    scatter,
    scatter_,
    scatter_add,
    scatter_add_,
    scatter_reduce,
    scatter_reduce_,
    scatter_reduce_with_arg,
)
from ._segment_reduce import segment_reduce
from ._slices import as_strided_scatter, diagonal_scatter, select_scatter, slice_scatter

__all__ = [
    "as_strided_scatter",
    "diagonal_scatter",
    "gather",
    "index_add",
    "index_add_",
    "index_copy",
    "index_copy_",
    "index_fill",
    "index_fill_",
    "index_put",
    "index_put_",
    "index_reduce",
    "index_reduce_",
    "masked_scatter",
    "masked_scatter_",
    "put",
    "put_",
    "scatter",
    "scatter_",
    "scatter_add",
    "scatter_add_",
    "scatter_reduce",
    "scatter_reduce_",
    "scatter_reduce_with_arg",
    "segment_reduce",
    "select_scatter",
    "slice_scatter",
    "take_along_dim",
]

for _name in __all__:
    # The functions belong to this module, wherever they are defined.
    globals()[_name].__module__ = __name__
