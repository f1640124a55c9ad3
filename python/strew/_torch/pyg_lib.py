"""`strew.pyg_lib` for TorchScript, and for tensors that strew does not take."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import torch
from torch.jit._builtins import _register_builtin

from .. import pyg_lib as public
from .script import builtin, builtin_of_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: The arguments of functions that torch_scatter lacks, or that differ from its.
_OTHER_ARGUMENTS = {
    "scatter_log_softmax": (
        "Tensor src, Tensor index, int dim=-1, int? dim_size=None, float eps=1e-12"
    ),
    "softmax_csr": "Tensor src, Tensor ptr, int dim=0",
}

for _name in sorted({getattr(public, name).__name__ for name in public.__all__}):
    _function = getattr(public, _name)
    if _name in _OTHER_ARGUMENTS:
        builtin(f"pyg_lib_{_name}", _function, _OTHER_ARGUMENTS[_name], _function)
    else:
        builtin_of_row(f"pyg_lib_{_name}", _function, f"torch_scatter.{_name}")


def beside(theirs: Callable[..., Any], name: str) -> Callable[..., Any]:
    """strew's function for tensors on the CPU, and pyg_lib's own for all others."""
    ours = getattr(public, name)

    @functools.wraps(ours)
    def call(src: Any, *arguments: Any, **named: Any) -> Any:
        if isinstance(src, torch.Tensor) and src.device.type != "cpu":
            return theirs(src, *arguments, **named)
        return ours(src, *arguments, **named)

    _register_builtin(call, f"strew::pyg_lib_{ours.__name__}")
    return call
