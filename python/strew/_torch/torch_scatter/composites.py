"""``torch.ops.strew.scatter_softmax`` and so on: torch_scatter's composites, with derivatives.

A derivative is a formula of the result, the elements, and sums of groups: operators that have
derivatives themselves. 16-bit floats are computed in float32 and rounded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..._strew import Operator
from ..registry import Derivatives, batched, define, expect_one_forward_mode
from ..script import script
from ..tensors import as_tensor, plain
from .scatter import scatter, scatter_extreme, with_batch_axis
from .segments import copied

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from torch import Tensor

    from ..registry import Batched, Gradients, Saved, Shape, Tangent, Tangents

_run_softmax = Operator("torch_scatter.scatter_softmax")
_run_log_softmax = Operator("torch_scatter.scatter_log_softmax")
_run_logsumexp = Operator("torch_scatter.scatter_logsumexp")
_run_std = Operator("torch_scatter.scatter_std")


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


def _shape(src: Tensor, index: Tensor, dim: int, out: Any, dim_size: int | None) -> list[Any]:
    """The shape of a result with a value for each group."""
    shape = list(src.shape)
    if out is not None:
        dim_size = out.shape[dim]
    elif dim_size is None:
        # The number of groups depends on the values of the index.
        dim_size = torch.library.get_ctx().new_dynamic_size()
    shape[dim] = dim_size
    return shape


def _known(dim_size: int | None, index: Tensor) -> Any:
    """The number of groups; None if it is unknown while tracing."""
    if dim_size is not None or torch._C._len_torch_dispatch_stack() > 0:
        return dim_size
    return int(index.max()) + 1 if index.numel() > 0 else 0


class Grouped(Derivatives):
    """Derivatives of a composite."""

    def __init__(self, src: Tensor, index: Tensor, dim: int) -> None:
        self.shape, self.dim = src.shape, dim % src.dim()
        # The number of groups. Some classes learn it only from the result.
        self.size: Any = None
        self.count = 0 if 0 in src.shape else src.shape[self.dim]

    def expect_one_forward_mode(self) -> None:
        """Raises under nested forward modes: saved tensors lack the tangent of the outer one."""
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(self).__name__)
        expect_one_forward_mode(f"torch_scatter.scatter{name}")

    def of(self, values: Tensor, index: Tensor) -> Tensor:
        """The value of each element's group."""
        return gathered(values, self.dim, index, self.shape)

    def sum(self, values: Tensor, index: Tensor) -> Tensor:
        return scatter(values, index, self.dim, self.size, "sum")

    def with_share_of_eps(
        self, weights: Tensor, eps: float, src: Tensor | None, index: Tensor
    ) -> Tensor:
        """The weights of elements in a sum to which `eps` times the largest was added."""
        if src is None:
            return weights
        _, arg = scatter_extreme(src.detach(), index, self.dim, self.size, "max")
        places = torch.arange(self.count, device=src.device)
        places = places.reshape([-1] + [1] * (src.dim() - 1 - self.dim))
        return weights * (1 + eps * (places == self.of(arg, index)))


def _shows(eps: float, dtype: torch.dtype) -> bool:
    """Whether adding `eps` changes a sum that is at least 1."""
    return eps > torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps


def _softmax(src: Tensor, index: Tensor, dim: int, dim_size: int | None) -> Tensor:
    return _run_softmax(plain(src), index, dim, dim_size)


def _softmax_fake(src: Tensor, index: Tensor, dim: int, dim_size: int | None) -> Tensor:
    return src.new_empty(src.shape)


class Softmax(Grouped):
    def __init__(self, src: Tensor, index: Tensor, dim: int, dim_size: int | None) -> None:
        super().__init__(src, index, dim)
        self.size = _known(dim_size, index)

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (arguments[1], results[0])

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        return self.forward(saved, grad), None, None, None

    def forward(self, saved: Saved, src_t: Tangent, *_: Any) -> Tangents:
        # The Jacobian is symmetric.
        self.expect_one_forward_mode()
        if self.count == 0:
            return src_t
        index, found = saved[0], wide(saved[1])
        weighted = found * wide(src_t)
        return (weighted - found * self.of(self.sum(weighted, index), index)).to(src_t.dtype)


def _softmax_vmap(
    info: Any, in_dims: Sequence[Any], src: Tensor, index: Tensor, dim: int, dim_size: int | None
) -> Batched:
    src, index, dim = with_batch_axis(info, in_dims, src, index, dim, dim_size)
    return scatter_softmax(src, index, dim, dim_size), 0


scatter_softmax = define(
    "scatter_softmax(Tensor src, Tensor index, int dim, SymInt? dim_size) -> Tensor",
    _softmax,
    _softmax_fake,
    Softmax,
    _softmax_vmap,
)


def _log_softmax(src: Tensor, index: Tensor, dim: int, eps: float, dim_size: int | None) -> Tensor:
    return _run_log_softmax(plain(src), index, dim, eps, dim_size)


def _log_softmax_fake(
    src: Tensor, index: Tensor, dim: int, eps: float, dim_size: int | None
) -> Tensor:
    return src.new_empty(src.shape)


class LogSoftmax(Grouped):
    def __init__(
        self, src: Tensor, index: Tensor, dim: int, eps: float, dim_size: int | None
    ) -> None:
        super().__init__(src, index, dim)
        self.size, self.eps = _known(dim_size, index), eps

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        src, index = arguments[:2]
        return (index, results[0], src if _shows(self.eps, src.dtype) else None)

    def _weights(self, saved: Saved) -> Tensor:
        index, found, src = saved
        return self.with_share_of_eps(wide(found).exp(), self.eps, src, index)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        found = grad
        if self.count > 0:
            index, values = saved[0], wide(grad)
            sums = self.of(self.sum(values, index), index)
            found = (values - self._weights(saved) * sums).to(grad.dtype)
        return found, None, None, None, None

    def forward(self, saved: Saved, src_t: Tangent, *_: Any) -> Tangents:
        self.expect_one_forward_mode()
        if self.count == 0:
            return src_t
        index, values = saved[0], wide(src_t)
        sums = self.sum(self._weights(saved) * values, index)
        return (values - self.of(sums, index)).to(src_t.dtype)


def _log_softmax_vmap(
    info: Any,
    in_dims: Sequence[Any],
    src: Tensor,
    index: Tensor,
    dim: int,
    eps: float,
    dim_size: int | None,
) -> Batched:
    src, index, dim = with_batch_axis(info, in_dims, src, index, dim, dim_size)
    return scatter_log_softmax(src, index, dim, eps, dim_size), 0


scatter_log_softmax = define(
    "scatter_log_softmax(Tensor src, Tensor index, int dim, float eps, SymInt? dim_size) -> Tensor",
    _log_softmax,
    _log_softmax_fake,
    LogSoftmax,
    _log_softmax_vmap,
)


def _logsumexp(
    src: Tensor, index: Tensor, dim: int, out: Any, dim_size: int | None, eps: float
) -> Tensor:
    return _run_logsumexp(plain(src), index, dim, copied(out), dim_size, eps)


def _logsumexp_fake(
    src: Tensor, index: Tensor, dim: int, out: Any, dim_size: int | None, eps: float
) -> Tensor:
    return src.new_empty(_shape(src, index, dim, out, dim_size))


class Logsumexp(Grouped):
    def __init__(
        self,
        src: Tensor,
        index: Tensor,
        dim: int,
        out: Any,
        dim_size: int | None,
        eps: float,
    ) -> None:
        super().__init__(src, index, dim)
        self.eps = eps

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        src, index, _, out = arguments[:4]
        self.size = results[0].shape[self.dim]
        return (index, src, results[0], out)

    def _weights(self, saved: Saved) -> Tensor:
        """Each element's share of its group's sum: 0 if the sum or the element is not finite."""
        index, src, found, _ = saved
        found = wide(found)
        logs = wide(src) - self.of(torch.where(found.isfinite(), found, torch.inf), index)
        weights = torch.where(src < torch.inf, logs, -torch.inf).exp()
        shown = src if _shows(self.eps, src.dtype) else None
        return self.with_share_of_eps(weights, self.eps, shown, index)

    def _weight_of_out(self, saved: Saved) -> Tensor:
        _, _, found, out = saved
        found, out = wide(found), wide(out)
        # Where the sum is not finite, the result is the value in `out`.
        stays = (out == found) | (out.isnan() & found.isnan())
        return torch.where(stays, 0, out - found).exp()

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        of_src, of_out = grad.new_zeros(self.shape), None
        values = wide(grad)
        if self.count > 0:
            of_src = (self._weights(saved) * self.of(values, saved[0])).to(grad.dtype)
        if saved[3] is not None:
            of_out = (self._weight_of_out(saved) * values).to(grad.dtype)
        return of_src, None, None, of_out, None, None

    def forward(
        self,
        saved: Saved,
        src_t: Tangent,
        _index: Any,
        _dim: Any,
        out_t: Tangent,
        *_: Any,
    ) -> Tangents:
        self.expect_one_forward_mode()
        index, _, found, _ = saved
        moved = wide(found).new_zeros(found.shape)
        if src_t is not None and self.count > 0:
            moved = self.sum(self._weights(saved) * wide(src_t), index)
        if out_t is not None:
            moved = moved + self._weight_of_out(saved) * wide(out_t)
        return moved.to(found.dtype)


def _logsumexp_vmap(
    info: Any,
    in_dims: Sequence[Any],
    src: Tensor,
    index: Tensor,
    dim: int,
    out: Any,
    dim_size: int | None,
    eps: float,
) -> Batched:
    known = dim_size if out is None else 0
    src, index, dim = with_batch_axis(info, in_dims, src, index, dim, known)
    out = None if out is None else batched(out, in_dims[3], info.batch_size)
    return scatter_logsumexp(src, index, dim, out, dim_size, eps), 0


scatter_logsumexp = define(
    "scatter_logsumexp(Tensor src, Tensor index, int dim, Tensor? out, SymInt? dim_size,"
    " float eps) -> Tensor",
    _logsumexp,
    _logsumexp_fake,
    Logsumexp,
    _logsumexp_vmap,
)


def _counts(index: Tensor, dim: int, shape: Shape, size: int) -> Tensor:
    """The number of elements of each group, with as many axes as the shape."""
    if index.dim() == 1 and index.numel() == shape[dim]:
        counts = scatter(torch.ones_like(index, dtype=torch.int64), index, 0, size, "sum")
        return counts.reshape([-1] + [1] * (len(shape) - 1 - dim))
    ones = torch.ones((), dtype=torch.int64, device=index.device).expand(shape)
    return scatter(ones, index, dim, size, "sum")


def _divisor(counts: Tensor, unbiased: bool) -> Tensor:
    return (counts - int(unbiased)).clamp(min=1)


def _std(
    src: Tensor, index: Tensor, dim: int, out: Any, dim_size: int | None, unbiased: bool
) -> Tensor:
    return _run_std(plain(src), index, dim, copied(out), dim_size, unbiased)


def _std_fake(
    src: Tensor, index: Tensor, dim: int, out: Any, dim_size: int | None, unbiased: bool
) -> Tensor:
    dtype = src.dtype if src.is_floating_point() else torch.float32
    return src.new_empty(_shape(src, index, dim, out, dim_size), dtype=dtype)


class Std(Grouped):
    """Derivatives of a standard deviation. At 0 it has a corner; its derivative there is 0."""

    def __init__(
        self,
        src: Tensor,
        index: Tensor,
        dim: int,
        out: Any,
        dim_size: int | None,
        unbiased: bool,
    ) -> None:
        super().__init__(src, index, dim)
        self.unbiased, self.into = unbiased, out is not None

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        self.size = results[0].shape[self.dim]
        return (arguments[1], arguments[0], results[0])

    def _slopes(self, saved: Saved) -> Tensor:
        """The derivative of a group's deviation by half of its sum of squares."""
        index, _, found = saved
        found = wide(found)
        divisor = _divisor(_counts(index, self.dim, self.shape, self.size), self.unbiased)
        divisor = divisor.to(found.dtype) + 1e-6
        return torch.where(found == 0, 0, 1 / (torch.where(found == 0, 1, found) * divisor))

    def _deviations(self, saved: Saved) -> Tensor:
        index, src, _ = saved
        src = wide(src)
        return src - self.of(scatter(src, index, self.dim, self.size, "mean"), index)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        slopes = self._slopes(saved) * wide(grad)
        of_src = grad.new_zeros(self.shape)
        if self.count > 0:
            of_src = (self._deviations(saved) * self.of(slopes, saved[0])).to(grad.dtype)
        of_out = (slopes / 2).to(grad.dtype) if self.into else None
        return of_src, None, None, of_out, None, None

    def forward(
        self,
        saved: Saved,
        src_t: Tangent,
        _index: Any,
        _dim: Any,
        out_t: Tangent,
        *_: Any,
    ) -> Tangents:
        self.expect_one_forward_mode()
        index, _, found = saved
        moved = wide(found).new_zeros(found.shape)
        if src_t is not None and self.count > 0:
            moved = self.sum(self._deviations(saved) * wide(src_t), index)
        if out_t is not None:
            moved = moved + wide(out_t) / 2
        return (self._slopes(saved) * moved).to(found.dtype)


def _std_vmap(
    info: Any,
    in_dims: Sequence[Any],
    src: Tensor,
    index: Tensor,
    dim: int,
    out: Any,
    dim_size: int | None,
    unbiased: bool,
) -> Batched:
    known = dim_size if out is None else 0
    src, index, dim = with_batch_axis(info, in_dims, src, index, dim, known)
    out = None if out is None else batched(out, in_dims[3], info.batch_size)
    return scatter_std(src, index, dim, out, dim_size, unbiased), 0


scatter_std = define(
    "scatter_std(Tensor src, Tensor index, int dim, Tensor? out, SymInt? dim_size,"
    " bool unbiased) -> Tensor",
    _std,
    _std_fake,
    Std,
    _std_vmap,
)


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


_ELEMENTS = "Tensor src, Tensor index, int dim=-1"
_INTO = f"{_ELEMENTS}, Tensor(a!)? out=None, int? dim_size=None"
script("scatter_std", f"{_INTO}, bool unbiased=True", std)
script("scatter_logsumexp", f"{_INTO}, float eps=1e-12", logsumexp)
script("scatter_softmax", f"{_ELEMENTS}, int? dim_size=None", softmax)
script("scatter_log_softmax", f"{_ELEMENTS}, float eps=1e-12, int? dim_size=None", log_softmax)
