"""``torch.ops.strew.scatter_softmax`` and so on: torch_scatter's composites, with derivatives.

A derivative is a formula of the result, the elements, and sums of groups: operators that have
derivatives themselves. 16-bit floats are computed in float32 and rounded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..calls import define
from ..registry import expect_one_forward_mode
from ..tensors import as_tensor
from .scatter import OfGroups, group_sizes, scatter, scatter_extreme

if TYPE_CHECKING:
    from typing import Any

    from torch import Tensor

    from ..calls import Gradients, Tangent, Tangents
    from ..tensors import Shape


def wide(tensor: Tensor) -> Tensor:
    """The tensor in the dtype of the computation."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def gathered(values: Tensor, dim: int, index: Tensor, shape: Shape) -> Tensor:
    """The value of each element's group."""
    if index.dim() == 1 and index.numel() == shape[dim]:
        return values.index_select(dim, index)
    if index.dim() == 1:
        index = index.reshape([-1] + [1] * (len(shape) - 1 - dim % len(shape)))
    else:
        index = index.reshape(index.shape + (1,) * (len(shape) - index.dim()))
    return values.gather(dim, index.expand(shape).long())


def _known(dim_size: int | None, index: Tensor) -> Any:
    """The number of groups; None if it is unknown while tracing."""
    if dim_size is not None or torch._C._len_torch_dispatch_stack() > 0:
        return dim_size
    return int(index.max()) + 1 if index.numel() > 0 else 0


class Composite(OfGroups):
    def prepare(self) -> None:
        shape = self.src_shape
        self.dim: int = self.dim % len(shape)
        self.count = 0 if 0 in shape else shape[self.dim]

    def expect_one_forward_mode(self) -> None:
        """Raises under nested forward modes: saved tensors lack the tangent of the outer one."""
        expect_one_forward_mode(f"torch_scatter.{self.name}")

    def of(self, values: Tensor) -> Tensor:
        """The value of each element's group."""
        return gathered(values, self.dim, self.index, self.src_shape)

    def sum(self, values: Tensor) -> Tensor:
        """The sum of each group."""
        return self.apply(scatter, src=values, reduce="sum")

    def with_share_of_eps(self, weights: Tensor, src: Tensor | None) -> Tensor:
        """The weights of elements in a sum to which `eps` times the largest was added."""
        if src is None:
            return weights
        _, arg = self.apply(scatter_extreme, src=src.detach(), reduce="max")
        places = torch.arange(self.count, device=src.device)
        places = places.reshape([-1] + [1] * (src.dim() - 1 - self.dim))
        return weights * (1 + self.eps * (places == self.of(arg)))


def _shows(eps: float, dtype: torch.dtype) -> bool:
    """Whether adding `eps` changes a sum that is at least 1."""
    return eps > torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps


class OfElements(Composite):
    """A composite with a result for each element."""

    keeps: tuple[str, ...] = ("index", "result")

    def empty(self) -> Tensor:
        return self.src.new_empty(self.src.shape)

    def prepare(self) -> None:
        super().prepare()
        self.dim_size: Any = _known(self.dim_size, self.index)


class ScatterSoftmax(OfElements):
    schema = "scatter_softmax(Tensor src, Tensor index, int dim, SymInt? dim_size) -> Tensor"
    row = "torch_scatter.scatter_softmax"

    def backward(self, grad: Tensor) -> Gradients:
        # The Jacobian is symmetric.
        return self.forward(grad)

    def forward(self, src_t: Tensor) -> Tangents:
        self.expect_one_forward_mode()
        if self.count == 0:
            return src_t
        found = wide(self.result)
        weighted = found * wide(src_t)
        return (weighted - found * self.of(self.sum(weighted))).to(src_t.dtype)


class ScatterLogSoftmax(OfElements):
    schema = (
        "scatter_log_softmax(Tensor src, Tensor index, int dim, float eps, SymInt? dim_size)"
        " -> Tensor"
    )
    row = "torch_scatter.scatter_log_softmax"
    keeps_early = True

    def prepare(self) -> None:
        super().prepare()
        if _shows(self.eps, self.src.dtype):
            self.keeps = ("index", "result", "src")

    def _weights(self) -> Tensor:
        return self.with_share_of_eps(wide(self.result).exp(), self.src)

    def backward(self, grad: Tensor) -> Gradients:
        if self.count == 0:
            return grad
        values = wide(grad)
        sums = self.of(self.sum(values))
        return (values - self._weights() * sums).to(grad.dtype)

    def forward(self, src_t: Tensor) -> Tangents:
        self.expect_one_forward_mode()
        if self.count == 0:
            return src_t
        values = wide(src_t)
        sums = self.sum(self._weights() * values)
        return (values - self.of(sums)).to(src_t.dtype)


class IntoGroups(Composite):
    """A composite with a result for each group."""

    differentiable = ("src", "out")
    keeps: tuple[str, ...] = ("index", "src", "result")

    def prepare(self) -> None:
        super().prepare()
        self.dim_size = self.result_shape[self.dim]


class ScatterLogsumexp(IntoGroups):
    schema = (
        "scatter_logsumexp(Tensor src, Tensor index, int dim, Tensor? out, SymInt? dim_size,"
        " float eps) -> Tensor"
    )
    row = "torch_scatter.scatter_logsumexp"
    keeps = ("index", "src", "result", "out")

    def _weights(self) -> Tensor:
        """Each element's share of its group's sum: 0 if the sum or the element is not finite."""
        src, found = self.src, wide(self.result)
        logs = wide(src) - self.of(torch.where(found.isfinite(), found, torch.inf))
        weights = torch.where(src < torch.inf, logs, -torch.inf).exp()
        return self.with_share_of_eps(weights, src if _shows(self.eps, src.dtype) else None)

    def _weight_of_out(self) -> Tensor:
        found, out = wide(self.result), wide(self.out)
        # Where the sum is not finite, the result is the value in `out`.
        stays = (out == found) | (out.isnan() & found.isnan())
        return torch.where(stays, 0, out - found).exp()

    def backward(self, grad: Tensor) -> Gradients:
        of_src, of_out = grad.new_zeros(self.src_shape), None
        values = wide(grad)
        if self.count > 0:
            of_src = (self._weights() * self.of(values)).to(grad.dtype)
        if self.out is not None:
            of_out = (self._weight_of_out() * values).to(grad.dtype)
        return of_src, of_out

    def forward(self, src_t: Tangent, out_t: Tangent) -> Tangents:
        self.expect_one_forward_mode()
        moved = wide(self.result).new_zeros(self.result.shape)
        if src_t is not None and self.count > 0:
            moved = self.sum(self._weights() * wide(src_t))
        if out_t is not None:
            moved = moved + self._weight_of_out() * wide(out_t)
        return moved.to(self.result.dtype)


class ScatterStd(IntoGroups):
    """A standard deviation. At 0 it has a corner; its derivative there is 0."""

    schema = (
        "scatter_std(Tensor src, Tensor index, int dim, Tensor? out, SymInt? dim_size,"
        " bool unbiased) -> Tensor"
    )
    row = "torch_scatter.scatter_std"

    def empty(self) -> Tensor:
        dtype = self.src.dtype if self.src.is_floating_point() else torch.float32
        return self.src.new_empty(self.shape(), dtype=dtype)

    def _slopes(self) -> Tensor:
        """The derivative of a group's deviation by half of its sum of squares."""
        found = wide(self.result)
        counts = group_sizes(self.index, self.dim, self.src_shape, self.dim_size)
        divisor = (counts - int(self.unbiased)).clamp(min=1).to(found.dtype) + 1e-6
        return torch.where(found == 0, 0, 1 / (torch.where(found == 0, 1, found) * divisor))

    def _deviations(self) -> Tensor:
        src = wide(self.src)
        return src - self.of(self.apply(scatter, src=src, reduce="mean"))

    def backward(self, grad: Tensor) -> Gradients:
        slopes = self._slopes() * wide(grad)
        of_src = grad.new_zeros(self.src_shape)
        if self.count > 0:
            of_src = (self._deviations() * self.of(slopes)).to(grad.dtype)
        return of_src, (slopes / 2).to(grad.dtype)

    def forward(self, src_t: Tangent, out_t: Tangent) -> Tangents:
        self.expect_one_forward_mode()
        found = self.result
        moved = wide(found).new_zeros(found.shape)
        if src_t is not None and self.count > 0:
            moved = self.sum(self._deviations() * wide(src_t))
        if out_t is not None:
            moved = moved + wide(out_t) / 2
        return (self._slopes() * moved).to(found.dtype)


scatter_softmax = define(ScatterSoftmax)
scatter_log_softmax = define(ScatterLogSoftmax)
scatter_logsumexp = define(ScatterLogsumexp)
scatter_std = define(ScatterStd)


def std(
    src: Tensor,
    index: Tensor,
    dim: int = -1,
    out: Any = None,
    dim_size: int | None = None,
    unbiased: bool = True,
) -> Tensor:
    """``scatter_std`` by way of the dispatcher."""
    found = scatter_std(as_tensor(src), as_tensor(index), dim, out, dim_size, unbiased)
    return found if out is None else out.copy_(found)


def logsumexp(
    src: Tensor,
    index: Tensor,
    dim: int = -1,
    out: Any = None,
    dim_size: int | None = None,
    eps: float = 1e-12,
) -> Tensor:
    """``scatter_logsumexp`` by way of the dispatcher."""
    # The derivative needs `out` as it was.
    before = None if out is None else out.clone()
    found = scatter_logsumexp(as_tensor(src), as_tensor(index), dim, before, dim_size, eps)
    return found if out is None else out.copy_(found)


def softmax(src: Tensor, index: Tensor, dim: int = -1, dim_size: int | None = None) -> Tensor:
    """``scatter_softmax`` by way of the dispatcher."""
    return scatter_softmax(src, as_tensor(index), dim, dim_size)


def log_softmax(
    src: Tensor, index: Tensor, dim: int = -1, eps: float = 1e-12, dim_size: int | None = None
) -> Tensor:
    """``scatter_log_softmax`` by way of the dispatcher."""
    return scatter_log_softmax(src, as_tensor(index), dim, eps, dim_size)
