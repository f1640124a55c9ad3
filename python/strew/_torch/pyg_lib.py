"""`strew.pyg_lib` for TorchScript, and for tensors that strew does not take."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import torch
from torch.jit._builtins import _register_builtin

from .. import pyg_lib as public
from .script import builtin

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_OUT = "Tensor(a!)? out=None"
_SCATTER = f"Tensor src, Tensor index, int dim=-1, {_OUT}, int? dim_size=None"
_COO = f"Tensor src, Tensor index, {_OUT}, int? dim_size=None"
_CSR = f"Tensor src, Tensor indptr, {_OUT}"
_REDUCE = ', str reduce="sum"'
_SOFTMAX = "Tensor src, Tensor index, int dim=-1, int? dim_size=None"

#: The arguments of each function, as TorchScript writes them.
_ARGUMENTS = {
    "scatter": _SCATTER + _REDUCE,
    "segment_coo": _COO + _REDUCE,
    "segment_csr": _CSR + _REDUCE,
    "gather_coo": f"Tensor src, Tensor index, {_OUT}",
    "gather_csr": _CSR,
    "scatter_softmax": _SOFTMAX,
    "scatter_log_softmax": f"{_SOFTMAX}, float eps=1e-12",
    "scatter_std": f"{_SCATTER}, bool unbiased=True",
    "scatter_logsumexp": f"{_SCATTER}, float eps=1e-12",
    "softmax_csr": "Tensor src, Tensor ptr, int dim=0",
    **{f"scatter_{reduce}": _SCATTER for reduce in ("sum", "mul", "mean", "min", "max")},
    **{f"segment_{reduce}_coo": _COO for reduce in ("sum", "mean", "min", "max")},
    **{f"segment_{reduce}_csr": _CSR for reduce in ("sum", "mean", "min", "max")},
}

for _name, _arguments in _ARGUMENTS.items():
    _function = getattr(public, _name)
    _results = "(Tensor, Tensor)" if "_min" in _name or "_max" in _name else "Tensor"
    builtin(f"pyg_lib_{_name}", _function, _arguments, _function, _results)


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
