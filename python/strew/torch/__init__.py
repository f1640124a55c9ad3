"""PyTorch: operators of ``torch`` and ``torch.Tensor``, as functions.

A function whose name ends in ``_`` works in place: it writes into `input`, whatever its strides,
and returns it. Parameters, exceptions and notes are those of the function without ``_``. It raises

* TypeError too if `input` is no array that can be written to (a list, a JAX array),
* ValueError if `input` is read-only,
* RuntimeError if `input` shares memory with itself or another argument.

On an error, `input` is as it was; in PyTorch, elements before the one that is wrong have changed.

A TypeError is raised for an argument of the wrong kind.

Torch tensors have derivatives, backward and forward, of any order (products: two). Every function
is one operator of ``torch.ops.strew`` then, under ``torch.compile`` and ``torch.func`` too. Where
several updates are assigned to one cell, only the last of them, which stays, has a gradient. What
an operator does not read, such as a `src` beyond its index, has the gradient zero.

`scatter`, `scatter_add` and `scatter_reduce`, and their forms in place, have two parameters that
PyTorch has not:

mode : {"error", "wrap", "drop", "clip"}
    What an index means that names no cell. "error": an error. "wrap": negative ones count from the
    end, all others are errors. "drop": the update is left out; this takes a copy of `input`, in
    place too. "clip": the nearest cell.
plan : strew.Plan
    Instead of `index`, which is None: update ``k`` is slice ``k`` of `src` along `dim`, and goes to
    the row that the plan says. It must have as many rows as `input`; errors are those of the plan,
    which has its own mode. Torch tensors that need derivatives take the plan's index, and do not
    gain by it.
"""

from ._gather import (
    gather,
    take_along_dim,
)
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
from ._put import (
    index_put,
    index_put_,
    masked_scatter,
    masked_scatter_,
    put,
    put_,
)
from ._scatter import (
    scatter,
    scatter_,
    scatter_add,
    scatter_add_,
    scatter_reduce,
    scatter_reduce_,
    scatter_reduce_with_arg,
)
from ._segment_reduce import (
    segment_reduce,
)
from ._slices import (
    select_scatter,
    slice_scatter,
)

__all__ = [
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
    # Where the functions are defined is no part of their names.
    globals()[_name].__module__ = __name__
