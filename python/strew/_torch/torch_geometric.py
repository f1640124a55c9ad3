"""torch_geometric's ``scatter``, ``segment`` and ``softmax``, for `strew.torch_scatter.install`.

On the CPU torch_geometric uses torch's own scatters. These functions have the same values and
gradients: a minimum or maximum with NaN is NaN, and equal extremes share the gradient. Anything but
plain CPU tensors goes to torch_geometric's functions, and so does what `torch.jit.trace` records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .. import pyg_lib, torch_scatter
from .. import torch as strew_torch
from .script import builtin

if TYPE_CHECKING:
    from typing import Any

    from torch import Tensor

FUNCTIONS = ("scatter", "segment", "softmax")

#: torch_geometric's own functions by name.
theirs: dict[str, Any] = {}

# The name in `scatter_reduce` of what torch_geometric takes as `reduce`.
_TORCH_NAMES: dict[str, Any] = {
    "min": "amin",
    "max": "amax",
    "amin": "amin",
    "amax": "amax",
    "mul": "prod",
}


def _is_plain(tensor: Tensor) -> bool:
    # A trace of strew's operators would keep the size of a result as a constant.
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.device.type == "cpu"
        and not torch._C._is_tracing()
    )


def _fits(src: Tensor, index: Any, dim: int) -> bool:
    if not (_is_plain(src) and _is_plain(index)):
        return False
    return index.dim() == 1 and -src.dim() <= dim < src.dim()


def scatter(
    src: Tensor, index: Any, dim: int = 0, dim_size: int | None = None, reduce: Any = "sum"
) -> Tensor:
    """``torch_geometric.utils.scatter`` by strew."""
    if _fits(src, index, dim):
        # torch_geometric's mean of integers is not rounded.
        if reduce in ("sum", "add") or (reduce == "mean" and src.is_floating_point()):
            return torch_scatter.scatter(src, index, dim, None, dim_size, reduce)
        if reduce in _TORCH_NAMES:
            return _extreme_or_product(src, index, dim % src.dim(), dim_size, reduce)
    return theirs["scatter"](src, index, dim, dim_size, reduce)


def _extreme_or_product(
    src: Tensor, index: Any, dim: int, dim_size: int | None, reduce: Any
) -> Tensor:
    if dim_size is None:
        dim_size = int(index.max()) + 1 if index.numel() > 0 else 0
    shape = (*src.shape[:dim], dim_size, *src.shape[dim + 1 :])
    index = index.reshape([-1] + [1] * (src.dim() - 1 - dim)).expand(src.shape)
    start = src.new_ones(shape) if reduce == "mul" else src.new_zeros(shape)
    reduce = _TORCH_NAMES[reduce]
    return strew_torch.scatter_reduce(start, dim, index, src, reduce, include_self=reduce == "prod")


def segment(src: Tensor, ptr: Tensor, reduce: Any = "sum") -> Tensor:
    """``torch_geometric.utils.segment`` by strew."""
    if _is_plain(src) and _is_plain(ptr) and reduce in ("sum", "add", "mean", "min", "max"):
        return torch_scatter.segment_csr(src, ptr, None, reduce)
    return theirs["segment"](src, ptr, reduce)


def softmax(
    src: Tensor, index: Any = None, ptr: Tensor = None, num_nodes: int | None = None, dim: int = 0
) -> Tensor:
    """``torch_geometric.utils.softmax`` by strew.

    torch_geometric adds 1e-16 to a sum that is at least 1, which changes it in no dtype.
    """
    fits = _fits(src, index if ptr is None else ptr, dim) and src.is_floating_point()
    if fits and ptr is None:
        return torch_scatter.scatter_softmax(src, index, dim, num_nodes)
    # Of pointers torch_geometric takes pyg_lib's softmax where pyg_lib is there.
    if fits and not torch.compiler.is_compiling():
        return pyg_lib.softmax_csr(src, ptr, dim)
    return theirs["softmax"](src, index, ptr, num_nodes, dim)


builtin(
    "torch_geometric_scatter",
    scatter,
    'Tensor src, Tensor index, int dim=0, int? dim_size=None, str reduce="sum"',
    scatter,
)
builtin("torch_geometric_segment", segment, 'Tensor src, Tensor ptr, str reduce="sum"', segment)
builtin(
    "torch_geometric_softmax",
    softmax,
    "Tensor src, Tensor? index=None, Tensor? ptr=None, int? num_nodes=None, int dim=0",
    softmax,
)
