"""`strew.aggregate` of tensors that have derivatives.

The results have the same bits as without derivatives: the same kernels compute them. The gradients
are composed of sums of groups, gathers and torch's elementwise operators. These have derivatives
themselves, so second derivatives exist. Gradients are computed in float64 or complex128 and rounded
once.

In the formulas below, g is the gradient of a group's result, or g_i that of the result of value i.
n is the number of values of the group, d_i = x_i - mean, and M_p is the sum of d_i^p in the group.

```text
sum                g
sumsq              2 x_i g
mean               g / n
prod               g * the product of the other values
var, std, sem      2 d_i a_2 g                       a_p is the derivative of the result by M_p
skew               (2 d_i a_2 + 3 (d_i^2 - M_2 / n) a_3) g
kurt               (2 d_i a_2 + 4 (d_i^3 - M_3 / n) a_4) g
logsumexp          y_i g                             y is the softmax
softmax            y_i (g_i - the sum of y_j g_j)
cumsum             the sum of g_j for all j from i on
cumprod            P_i R_i                           P_i is the product of the values before i,
                                                     R_i = g_i + x_{i+1} R_{i+1}
min, max           g / (the number of values that equal the result), for each of them
median, quantile   (1 - t) g for the value below, t g for the value above
all others         g for the value that the result is a copy of
```

The others are first, last, nth, mode, topk, sort, shift, cummin and cummax. Equal values keep their
order: mode, cummin and cummax copy the first of them. The gradient is 0 for values that are left
out, and a fill value gives no gradient. The gradients of std, sem, skew and kurt are 0 where all
values are equal. Of complex numbers, sumsq, var, std and sem are those of the magnitudes, and the
factors of g in prod and cumprod are conjugated, as PyTorch's gradients are.
"""

from __future__ import annotations

import operator
from functools import cached_property
from typing import TYPE_CHECKING

import torch

from .. import torch as strew_torch
from .._arrays.lines import plan_as_index as _plan_as_index
from .._native.options import NAMES as _OPTIONS
from .._own.aggregate import aggregate as strew_aggregate
from .._own.gather import gather as strew_gather
from .._own.scatter import scatter as strew_scatter
from .._strew import Plan, _aggregate, _members
from .on_device import of_plan
from .registry import (
    expect_one_forward_mode,
    has_derivative,
    is_eager,
    is_on_device,
    on_device,
)
from .running import before, product_and_sum
from .tensors import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, SupportsIndex

    from torch import Tensor

    from .calls import Batched, Gradients, Tangents


def aggregate(
    src: Tensor,
    groups: Any,
    make_plan: Callable[[], Plan],
    names: list[str],
    dim: SupportsIndex,
    options: dict[str, Any],
) -> tuple[Tensor, ...]:
    """The results of `names`; `make_plan` returns the plan of `groups`."""
    call = _Call(groups, make_plan, names, dim, options)
    if not names or (is_eager((src,)) and not has_derivative((src,))):
        return call.run(plain(src))
    axis = operator.index(dim)
    if -src.dim() <= axis < src.dim():
        call.dim = axis % src.dim()
    results: tuple[Tensor, ...] = _Aggregate.apply(src, call)
    # The index may be changed before the derivatives are needed.
    _ = call.plan
    return results


class _Call:
    """The arguments of `strew.aggregate` that are not differentiated."""

    def __init__(
        self,
        groups: Any,
        make_plan: Callable[[], Plan],
        names: list[str],
        dim: Any,
        options: dict[str, Any],
    ) -> None:
        self.groups, self.make_plan, self.names, self.dim = groups, make_plan, names, dim
        self.options = options

    @cached_property
    def plan(self) -> Plan:
        return self.make_plan()

    def run(self, src: Tensor) -> tuple[Tensor, ...]:
        if is_on_device(src):
            groups = self.groups
            if isinstance(groups, Plan):
                groups = of_plan(groups, src.device)
            return on_device().aggregate().run(groups, src, self.names, self.dim, self.options)
        return _aggregate(self.groups, src, self.names, self.dim, self.options)

    def of_batch(self) -> _Call:
        """The same call for a batch along a new first axis."""
        return _Call(self.groups, lambda: self.plan, self.names, self.dim + 1, self.options)

    def pullback(self, name: str, src: Tensor, grad: Tensor) -> Tensor:
        """The gradient of `src` for the gradient of one result."""
        groups = _Groups(self, src)
        grad = groups.without_fills(name, grad.to(_wide(grad)))
        found = _PULLBACKS[name](groups, name, grad)
        return found.to(src.dtype)


class _Aggregate(torch.autograd.Function):
    @staticmethod
    def forward(src: Tensor, call: _Call) -> tuple[Tensor, ...]:
        return call.run(plain(src))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, _Call], output: tuple[Tensor, ...]) -> None:
        src, ctx.call = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(src)
        ctx.save_for_forward(src)
        ctx.results = [(one.shape, one.dtype) for one in output]
        constant = [
            one for name, one in zip(ctx.call.names, output, strict=True) if name not in _PULLBACKS
        ]
        ctx.mark_non_differentiable(*constant)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Gradients:
        (src,) = ctx.saved_tensors
        found = [
            ctx.call.pullback(name, src, grad)
            for name, grad in zip(ctx.call.names, gradients, strict=True)
            if grad is not None and name in _PULLBACKS
        ]
        return sum(found[1:], start=found[0]) if found else None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, _: Any) -> Tangents:
        expect_one_forward_mode("strew.aggregate")
        # The saved tensor still has its tangent; a copy that is made here has none.
        src = ctx.saved_tensors[0].clone()
        tangents: list[Tensor | None] = []
        for name, (shape, dtype) in zip(ctx.call.names, ctx.results, strict=True):
            if name not in _PULLBACKS:
                tangents.append(None)
                continue

            def pullback(grad: Tensor, name: str = name) -> Tensor:
                return ctx.call.pullback(name, src, grad)

            # The pullback is linear, so its own pullback is the derivative.
            _, push = torch.func.vjp(pullback, tangent.new_zeros(shape, dtype=dtype))
            tangents.append(push(tangent)[0])
        return tuple(tangents)

    @staticmethod
    def vmap(info: Any, in_dims: Sequence[Any], src: Tensor, call: _Call) -> Batched:
        results = _Aggregate.apply(src.movedim(in_dims[0], 0), call.of_batch())
        several = isinstance(call.options["q"], list)
        axes = tuple(int(name == "quantile" and several) for name in call.names)
        return results, axes


class _Groups:
    """The groups of one call, and what its derivatives are composed of."""

    def __init__(self, call: _Call, src: Tensor) -> None:
        self.plan, self.dim, self.options, self.src = call.plan, call.dim, call.options, src
        self.size: int = call.plan.size
        #: How `strew.scatter`, `strew.gather` and `strew.aggregate` are told of the groups.
        self.index: Any = None
        self.named: dict[str, Any] = {"plan": call.plan}
        #: Where each group begins among the members, and the positions of the members.
        if is_on_device(src):
            groups = of_plan(call.plan, src.device) if isinstance(call.plan, Plan) else call.plan
            self.index, self.named = groups.rows, {"mode": "drop"}
            self.starts, self.members = groups.members()
        else:
            starts, members, _ = _members(call.plan)
            self.starts, self.members = torch.as_tensor(starts), torch.as_tensor(members)
        #: The values that are in no group or are left out as NaN; None if there are none.
        self.left_out: Tensor | None = None
        if len(self.members) < src.shape[self.dim]:
            outside = torch.ones(src.shape[self.dim], dtype=torch.bool, device=src.device)
            self.left_out = self.along(outside.index_fill(0, self.members, False))
        if self.options["skipna"]:
            nan = src.isnan()
            self.left_out = nan if self.left_out is None else nan | self.left_out
        self.values = self.replaced(src.to(_wide(src)), 0)

    def replaced(self, values: Tensor, by: float) -> Tensor:
        """The values, with another one in place of those that are left out."""
        return values if self.left_out is None else torch.where(self.left_out, by, values)

    @cached_property
    def count(self) -> Tensor:
        """The number of values of each group that are not left out, at least 1."""
        if self.options["skipna"]:
            counted = self.sum(self.replaced(torch.ones_like(self.values.real), 0))
        else:
            shape = list(self.src.shape)
            shape[self.dim] = self.size
            counted = self.along(self.starts.diff()).to(torch.float64).expand(shape)
        return counted.clamp(min=1)

    @cached_property
    def places(self) -> Tensor:
        """How many members of its group stand before each member, and how many behind it."""
        sizes = self.starts.diff()
        first = torch.repeat_interleave(self.starts[:-1], sizes)
        before = torch.arange(len(self.members), device=first.device) - first
        behind = torch.repeat_interleave(sizes, sizes) - 1 - before
        return torch.stack([self.along(before), self.along(behind)])

    def along(self, values: Tensor) -> Tensor:
        """1-d values along the axis of the groups."""
        return values.reshape([-1 if k == self.dim else 1 for k in range(self.src.dim())])

    def sum(self, values: Tensor) -> Tensor:
        """The sum of each group."""
        return self.scatter(values, "sum")

    def scatter(self, values: Tensor, reduce: str) -> Tensor:
        """The values of each group reduced."""
        size = None if self.index is None else self.size
        return strew_scatter(
            values, self.index, self.dim, dim_size=size, reduce=reduce, **self.named
        )

    def of(self, values: Tensor) -> Tensor:
        """The value of each element's group."""
        return strew_gather(values, self.index, self.dim, **self.named)

    def spread(self, values: Tensor) -> Tensor:
        """The value of each element's group; 0 for elements that are left out."""
        return self.replaced(self.of(values), 0)

    def in_groups(self, values: Tensor) -> Tensor:
        """The values of the members, one group after the other."""
        return values.index_select(self.dim, self.members)

    def from_groups(self, values: Tensor) -> Tensor:
        """The inverse of `in_groups`; 0 for elements that are in no group."""
        shape = list(values.shape)
        shape[self.dim] = self.src.shape[self.dim]
        return values.new_zeros(shape).index_copy(self.dim, self.members, values)

    def aggregate(self, name: Any, src: Tensor, **options: Any) -> Tensor:
        """Another aggregate of the same groups, by default without any fill value."""
        given = {name: self.options[name] for name in _OPTIONS}
        merged = given | {"min_count": 0, "fill_value": None, "exact": False} | options
        if self.index is None:
            return strew_aggregate(src, self.plan, name, dim=self.dim, **merged)
        merged |= {"size": self.size, "mode": "drop"}
        return strew_aggregate(src, self.index, name, dim=self.dim, **merged)

    def without_fills(self, name: str, grad: Tensor) -> Tensor:
        """The gradient, with zeros for results that are fill values."""
        of_others = name in _FILL_WITHOUT_VALUES or (
            name in _FILL_OF_LEFT_OUT and self.left_out is None
        )
        if of_others and self.options["min_count"] <= 1:
            return grad
        zeros = torch.where(self.src.isnan(), self.src, 0).detach()
        # No aggregate of zeros is -2.
        least = self.options["min_count"]
        filled = self.aggregate(name, zeros, min_count=least, fill_value=-2) == -2
        return torch.where(filled, 0, grad)

    def give(self, positions: Tensor, grad: Tensor) -> Tensor:
        """Adds each gradient to its position along the axis of the groups; -1 is none."""
        shape = list(self.src.shape)
        size = shape[self.dim]
        shape[self.dim] = size + 1
        positions = torch.where(positions < 0, size, positions.long())
        found = strew_torch.scatter_add(grad.new_zeros(shape), self.dim, positions, grad)
        return found.narrow(self.dim, 0, size)

    @cached_property
    def shares(self) -> Tensor:
        """The softmax of the values; 0 for -inf, and for values that are left out."""
        shares = self.aggregate("softmax", self.src.to(torch.float64), fill_value=0)
        return torch.where(self.values > -torch.inf, shares, 0)


def _wide(tensor: Tensor) -> torch.dtype:
    """The dtype of the computation."""
    return torch.complex128 if tensor.is_complex() else torch.float64


def _same(one: Tensor, other: Tensor) -> Tensor:
    return (one == other) | (one.isnan() & other.isnan())


def _sum(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    return groups.spread(grad)


def _sumsq(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    # A sum of squares of complex numbers is real, though its dtype is not.
    return 2 * groups.values * groups.spread(grad.real if grad.is_complex() else grad)


def _mean(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    return groups.spread(grad / groups.count)


def _moments(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    n = groups.count
    d = groups.values - groups.spread(groups.sum(groups.values) / n)
    m2 = groups.sum((d * d.conj()).real if d.is_complex() else d * d)
    varies = m2 > 0
    # Where all values are equal, every slope is 0.
    m2 = torch.where(varies, m2, 1)
    grad = torch.where(varies, grad, 0)
    if name in ("var", "std", "sem"):
        divisor = n - groups.options["ddof"]
        divisor = torch.where(divisor > 0, divisor, 1)
        slope = 1 / divisor if name == "var" else (m2 * divisor).rsqrt() / 2
        slope = slope / n.sqrt() if name == "sem" else slope
        return 2 * d * groups.spread(slope * grad)
    power = 3 if name == "skew" else 4
    lower, total = groups.sum(d ** (power - 1)), groups.sum(d**power)
    if name == "skew":
        scale = n * (n - 1).sqrt() / (n - 2).clamp(min=1)
    else:
        scale = n * (n + 1) * (n - 1) / ((n - 2) * (n - 3)).clamp(min=1)
    # The result is scale * total / m2 ** (power / 2), and a constant.
    slope = scale * m2 ** (-power / 2)
    of_m2 = -power / 2 * slope * total / m2
    of_total = power * (d ** (power - 1) - groups.spread(lower / n))
    return 2 * d * groups.spread(of_m2 * grad) + of_total * groups.spread(slope * grad)


def _logsumexp(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    return groups.shares * groups.spread(grad)


def _softmax(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    weighted = groups.shares * grad
    return weighted - groups.shares * groups.spread(groups.sum(weighted))


def _cumsum(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    # Running sums of the values in the opposite order.
    rows = _plan_as_index(groups.plan)[::-1] if groups.index is None else groups.index.flip(0)
    options: dict[str, Any] = {"size": groups.size, "mode": "drop", "fill_value": 0}
    sums = strew_aggregate(grad.flip(groups.dim), rows, "cumsum", dim=groups.dim, **options)
    return groups.replaced(sums.flip(groups.dim), 0)


def _prod(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    def product(values: Tensor) -> Tensor:
        return groups.scatter(values, "prod")

    # Values that are left out multiply by 1.
    _, pull = torch.func.vjp(product, groups.replaced(groups.values, 1))
    return groups.replaced(pull(grad)[0], 0)


def _cumprod(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    factors = groups.in_groups(groups.replaced(groups.values, 1).conj())
    products, sums = product_and_sum(factors, groups.in_groups(grad), groups.places, groups.dim)
    return groups.replaced(groups.from_groups(products * sums), 0)


def _extreme(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    src = groups.src.detach()
    equal = groups.replaced(_same(src, groups.of(groups.aggregate(name, src))), False)
    sharing = groups.sum(equal.to(torch.float64)).clamp(min=1)
    return torch.where(equal, groups.of(grad / sharing), 0)


def _quantile(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    if not len(groups.members):
        return torch.zeros_like(groups.values)
    q, method = 0.5 if name == "median" else groups.options["q"], groups.options["method"]
    ordered = groups.in_groups(groups.aggregate("argsort", groups.src.detach()))
    first = groups.along(groups.starts[:-1])
    last = groups.count - 1
    found = torch.zeros_like(groups.values)
    fractions = q if isinstance(q, list) else [q]
    gradients = grad.unbind(0) if isinstance(q, list) else (grad,)
    for fraction, one in zip(fractions, gradients, strict=True):
        below, part = _place(fraction * last, None if name == "median" else method)
        for rank, weight in ((below, 1 - part), (torch.minimum(below + 1, last), part)):
            places = (first + rank.long()).clamp(max=len(groups.members) - 1)
            found = found + groups.give(ordered.gather(groups.dim, places), weight * one)
    return found


def _place(at: Tensor, method: str | None) -> tuple[Tensor, Tensor]:
    """The rank below the place of a quantile, and the weight of the value of the next rank."""
    rounded = {"lower": torch.floor, "higher": torch.ceil, "nearest": torch.round}.get(method or "")
    at = at if rounded is None else rounded(at)
    below = at.floor()
    part = at - below
    return below, part.ceil() / 2 if method == "midpoint" else part


def _selected(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    """Of results that are values at a place: the same of the values' positions."""
    size = groups.src.shape[groups.dim]
    line = torch.arange(size, dtype=torch.float64, device=grad.device)
    positions = groups.along(line).expand(groups.src.shape)
    # A shift moves NaN, too.
    skips = groups.options["skipna"] and name != "shift"
    if skips:
        positions = groups.replaced(positions, torch.nan)
    return groups.give(groups.aggregate(name, positions, skipna=skips, fill_value=-1), grad)


def _sorted(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    positions = groups.aggregate(f"arg{name}", groups.src.detach(), fill_value=-1)
    if name == "topk":
        # The axis of the best values lies behind that of the groups.
        end = groups.dim + 1
        positions, grad = positions.flatten(groups.dim, end), grad.flatten(groups.dim, end)
    return groups.give(positions, grad)


def _mode(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    src = groups.src.detach()
    equal = groups.replaced(_same(src, groups.of(groups.aggregate(name, src))), False)
    return groups.give(groups.aggregate("argmax", equal, skipna=False), grad)


def _running_extreme(groups: _Groups, name: str, grad: Tensor) -> Tensor:
    src = groups.src.detach()
    best = groups.in_groups(groups.aggregate(name, src))
    places, _ = groups.places
    # A value is the first of its kind where it is the result, and the one before is another.
    new = (places == 0) | ~_same(best, before(best, 1, 0, groups.places, groups.dim))
    new = new & _same(groups.in_groups(src), best)
    if groups.options["skipna"]:
        new = new & ~groups.in_groups(src.isnan())
    line = torch.arange(len(groups.members), device=new.device)
    member = torch.where(new, groups.along(line), -1)
    if len(groups.members):
        member = member.cummax(groups.dim).values
    positions = torch.where(member < 0, -1, groups.members[member.clamp(min=0)])
    return groups.give(positions, groups.in_groups(grad))


#: With `min_count` up to 1, fill values are the results of groups without values only.
_FILL_WITHOUT_VALUES = frozenset("sum prod sumsq mean min max first last logsumexp".split())
#: The same of values that are left out.
_FILL_OF_LEFT_OUT = frozenset("softmax cumsum cumprod cummin cummax sort".split())

#: The gradient of `src` for that of a result, for each aggregate that has derivatives.
_PULLBACKS: dict[str, Callable[[_Groups, str, Tensor], Tensor]] = {
    "sum": _sum,
    "sumsq": _sumsq,
    "mean": _mean,
    "prod": _prod,
    "var": _moments,
    "std": _moments,
    "sem": _moments,
    "skew": _moments,
    "kurt": _moments,
    "min": _extreme,
    "max": _extreme,
    "first": _selected,
    "last": _selected,
    "nth": _selected,
    "shift": _selected,
    "median": _quantile,
    "quantile": _quantile,
    "mode": _mode,
    "logsumexp": _logsumexp,
    "softmax": _softmax,
    "cumsum": _cumsum,
    "cumprod": _cumprod,
    "cummin": _running_extreme,
    "cummax": _running_extreme,
    "sort": _sorted,
    "topk": _sorted,
}
