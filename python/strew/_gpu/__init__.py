"""strew's operators for tensors on a GPU, with the bits of the CPU's.

Needs torch; imported when the first tensor on a device is met. Where Triton is there, folds are its
kernels, else compositions of torch's operators.

* `operators`: what runs for each row of strew's operators, and for derivatives.
* `checks`: errors; `run`: one call.
* `torch_rows`, `scatter_rows`: a form for each row, of `torch` and of `torch_scatter`.
* `derivatives`: what the engine's own derivatives are here.
* `aggregate`, `order`: statistics of groups: those that fold, and those that sort.
* `along`: updates and cells along an axis; `fold`: groups of updates, and folds over them.
* `kernels`: the loops in Triton; `compose`: the same by torch's operators; `exact`: exact sums;
  `arithmetic`: elementwise operations with the engine's bits.
"""

from . import operators

__all__ = ["operators"]
