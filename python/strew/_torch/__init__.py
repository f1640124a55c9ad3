"""strew's operators in torch's dispatcher, with their derivatives.

Needs torch, and is imported only where torch is in use. Each public module has one here:

* `torch`: the operators of `strew.torch`.
* `torch_scatter`: those of `strew.torch_scatter`; `drop_in` is what its `install` needs besides.
* `pyg_lib`: those of `strew.pyg_lib` for TorchScript, and what ``install(pyg=True)`` puts beside an
  installed pyg_lib.
* `torch_geometric`: the functions that ``strew.torch_scatter.install(pyg=True)`` replaces.
* `own`: `strew.scatter` and `strew.gather`.
* `plan`: the operators that take a `strew.Plan`, and `plan_methods`: the plan's own methods.
* `aggregate`: `strew.aggregate`, with the running sums of `running`; `on_device` on a GPU.

* `samples`: these for one sample of `torch.vmap` after the other.

`calls` declares and registers an operator with its derivatives, once for each. `schemas` writes the
arguments of strew's operators as torch does, and `script` makes functions known to TorchScript.
`registry` has the library of operators and says what torch does with a call, and `tensors` has what
all of them do to tensors.
"""

from . import torch, torch_scatter  # isort: skip  (they define the operators that the others call)
from . import aggregate, on_device, own, plan, plan_methods, pyg_lib, samples, tensors

__all__ = [
    "aggregate",
    "on_device",
    "own",
    "plan",
    "plan_methods",
    "pyg_lib",
    "samples",
    "tensors",
    "torch",
    "torch_scatter",
]
