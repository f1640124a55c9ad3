"""``torch.ops.strew.scatter_reduce``: PyTorch's ``scatter_reduce``, with the derivatives it ought to have."""

# torch is not there where the package is checked.
# mypy: ignore-errors

import torch

from .._strew import Operator
from .registry import Derivatives, batched, define, has_derivative, is_transformed

_run = Operator("torch.scatter_reduce")
_run_in_place = Operator("torch.scatter_reduce_")


def plain(tensor):
    """The tensor as strew takes it: without a gradient, in memory as it is."""
    if tensor.requires_grad:
        tensor = tensor.detach()
    if tensor.is_neg() or tensor.is_conj():
        tensor = tensor.resolve_neg().resolve_conj()
    return tensor


def _kernel(input, dim, index, src, reduce, include_self):
    return _run(plain(input), dim, index, plain(src), reduce, include_self)


def _fake(input, dim, index, src, reduce, include_self):
    return input.new_empty(input.shape)


class Cells:
    """The cells that an index names along an axis, and the part of a source that goes there."""

    def __init__(self, shape, dim, index, src_shape):
        self.shape, self.src_shape, self.dim = shape, src_shape, dim
        self.empty = index.numel() == 0
        self.index = at_least_1d(index)

    def of(self, values):
        """What the cells hold: one value per update."""
        return at_least_1d(values).gather(self.dim, self.index.long())

    def part(self, src):
        """The updates that are used."""
        return corner(at_least_1d(src), self.index.shape)

    def whole(self, part):
        """A gradient of `src` from that of its part."""
        return grown(part, at_least_1d_shape(self.src_shape)).reshape(self.src_shape)

    def reduced(self, part, reduce="sum", into=None):
        """The updates reduced, into zeros if nothing else is given."""
        if into is None:
            into = part.new_zeros(self.shape)
        found = scatter_reduce(at_least_1d(into), self.dim, self.index, part, reduce, True)
        return found.reshape(self.shape)

    def others(self, values):
        """The values, but zeros in the cells."""
        found = at_least_1d(values).scatter(self.dim, self.index.long(), 0)
        return found.reshape(self.shape)


def at_least_1d(tensor):
    return tensor.reshape(at_least_1d_shape(tensor.shape))


def at_least_1d_shape(shape):
    return shape if len(shape) > 0 else (1,)


def corner(tensor, shape):
    """The leading corner of that shape."""
    for dim, size in enumerate(shape):
        if size != tensor.shape[dim]:
            tensor = tensor.narrow(dim, 0, size)
    return tensor


def grown(tensor, shape):
    """The tensor as the leading corner of zeros of that shape."""
    missing = [wanted - size for wanted, size in zip(shape, tensor.shape, strict=True)]
    if not any(missing):
        return tensor
    pads = [pad for extra in reversed(missing) for pad in (0, extra)]
    return torch.nn.functional.pad(tensor, pads)


class ScatterReduce(Derivatives):
    def __init__(self, input, dim, index, src, reduce, include_self):
        self.shape, self.src_shape, self.dim = input.shape, src.shape, dim
        self.reduce, self.include_self = reduce, include_self
        self.linear = reduce in ("sum", "mean")

    def tensors(self, arguments, results):
        input, _, index, src, reduce, _ = arguments
        if self.linear:
            return (index, None, None, None)
        return (index, input, src, None if reduce == "prod" else results[0])

    def backward(self, saved, grad):
        index, input, src, result = saved
        cells = Cells(self.shape, self.dim, index, self.src_shape)
        if cells.empty:
            return grad, None, None, grad.new_zeros(self.src_shape), None, None
        if self.reduce == "prod":
            of_input, of_src = scatter_prod_backward(
                grad, input, self.dim, index, src, self.include_self
            )
            return of_input, None, None, of_src, None, None
        stays = grad if self.include_self else cells.others(grad)
        if self.reduce == "sum":
            of_input, of_part = stays, cells.of(grad)
        elif self.reduce == "mean":
            shared = divided(grad, self._counts(cells, grad))
            of_input, of_part = shared if self.include_self else stays, cells.of(shared)
        else:
            is_input, is_part, ties = self._ties(cells, input, src, result)
            shared = divided(grad, ties)
            of_input = torch.where(is_input, shared, 0) if self.include_self else stays
            of_part = torch.where(is_part, cells.of(shared), 0)
        return of_input, None, None, cells.whole(of_part), None, None

    def _counts(self, cells, like):
        if self.include_self:
            counts = like.new_ones(self.shape, dtype=torch.int64)
        else:
            counts = like.new_zeros(self.shape, dtype=torch.int64)
        ones = like.new_ones(cells.index.shape, dtype=torch.int64)
        return cells.reduced(ones, into=counts).clamp(min=1)

    def _ties(self, cells, input, src, result):
        """Which elements are as extreme as the result, and how many of them a cell has."""
        is_part = same(cells.part(src), cells.of(result))
        is_input = same(input, result)
        ties = cells.reduced(is_part.long())
        if self.include_self:
            ties = ties + is_input
        return is_input, is_part, ties.clamp(min=1)

    def forward(self, saved, input_t, _dim, _index, src_t, _reduce, _include_self):
        index, input, src, result = saved
        like = src_t if input_t is None else input_t
        input_t = like.new_zeros(self.shape) if input_t is None else input_t
        src_t = like.new_zeros(self.src_shape) if src_t is None else src_t
        cells = Cells(self.shape, self.dim, index, self.src_shape)
        if cells.empty:
            return input_t
        if self.linear:
            # A linear operator is its own derivative.
            return scatter_reduce(input_t, self.dim, index, src_t, self.reduce, self.include_self)
        part_t = cells.part(src_t)
        if self.reduce == "prod":
            of_input, of_part = Product(cells, input, src, self.include_self).factors()
            moved = cells.reduced(part_t * of_part)
            stays = input_t * of_input if self.include_self else cells.others(input_t)
            return stays + moved
        is_input, is_part, ties = self._ties(cells, input, src, result)
        moved = divided(cells.reduced(torch.where(is_part, part_t, 0)), ties)
        if self.include_self:
            return divided(torch.where(is_input, input_t, 0), ties) + moved
        return cells.others(input_t) + moved


def same(a, b):
    return (a == b) | (a.isnan() & b.isnan())


def divided(values, counts):
    """Values by whole numbers, which 16-bit floats could not hold."""
    if values.dtype in (torch.float16, torch.bfloat16):
        return (values.float() / counts).to(values.dtype)
    return values / counts.to(values.dtype)


class Product:
    """What a product of factors is without one of them, or two: zeros are counted, not divided by."""

    def __init__(self, cells, input, src, include_self):
        self.cells, self.include_self = cells, include_self
        self.input, self.part = input, cells.part(src)
        self.none = self.part == 0
        self.input_none = input == 0
        zeros = cells.reduced(self.none.long())
        start = torch.ones_like(input)
        if include_self:
            zeros = zeros + self.input_none
            start = torch.where(self.input_none, 1, input)
        self.zeros = zeros
        self.product = cells.reduced(torch.where(self.none, 1, self.part), "prod", start)

    def _without(self, factor, none, zeros, product):
        one_less = torch.where(zeros == 0, product / torch.where(none, 1, factor), 0)
        return torch.where(none, torch.where(zeros == 1, product, 0), one_less)

    def factors(self):
        """What the input and each update are multiplied with."""
        of_part = self._without(
            self.part, self.none, self.cells.of(self.zeros), self.cells.of(self.product)
        )
        of_input = None
        if self.include_self:
            of_input = self._without(self.input, self.input_none, self.zeros, self.product)
        return of_input, of_part

    def moved(self, input_t, part_t):
        """How `factors` change in a direction."""
        part = torch.where(self.none, 1, self.part)
        ratios = self.cells.reduced(torch.where(self.none, 0, part_t / part))
        lone = self.cells.reduced(torch.where(self.none, part_t, 0))
        of_input = None
        if self.include_self:
            input = torch.where(self.input_none, 1, self.input)
            ratios = ratios + torch.where(self.input_none, 0, input_t / input)
            lone = lone + torch.where(self.input_none, input_t, 0)
            here = (self.zeros, self.product, ratios, lone)
            of_input = _moved(input, self.input_none, input_t, *here)
        there = (self.cells.of(values) for values in (self.zeros, self.product, ratios, lone))
        return of_input, _moved(part, self.none, part_t, *there)


def _moved(factor, none, direction, zeros, product, ratios, lone):
    of_zero = torch.where(zeros == 1, product * ratios, 0)
    of_zero = torch.where(zeros == 2, product * (lone - direction), of_zero)
    rest = product / factor
    of_other = torch.where(zeros == 0, rest * (ratios - direction / factor), 0)
    of_other = torch.where(zeros == 1, rest * lone, of_other)
    return torch.where(none, of_zero, of_other)


def _prod_backward(grad, input, dim, index, src, include_self):
    grad, input, src = plain(grad), plain(input), plain(src)
    cells = Cells(input.shape, dim, index, src.shape)
    of_input, of_part = Product(cells, input, src, include_self).factors()
    of_input = grad * of_input.conj() if include_self else cells.others(grad)
    return of_input.contiguous(), cells.whole(cells.of(grad) * of_part.conj()).contiguous()


def _prod_backward_fake(grad, input, dim, index, src, include_self):
    return input.new_empty(input.shape), src.new_empty(src.shape)


class ScatterProdBackward(Derivatives):
    """The second derivative of a product."""

    def __init__(self, grad, input, dim, index, src, include_self):
        self.dim, self.include_self = dim, include_self

    def tensors(self, arguments, results):
        grad, input, _, index, src, _ = arguments
        return (grad, input, index, src)

    def backward(self, saved, input_g, src_g):
        grad, input, index, src = saved
        of_grad, of_input, of_src = scatter_prod_backward_backward(
            torch.zeros_like(input) if input_g is None else input_g,
            torch.zeros_like(src) if src_g is None else src_g,
            grad,
            input,
            self.dim,
            index,
            src,
            self.include_self,
        )
        return of_grad, of_input, None, None, of_src, None

    def forward(self, saved, grad_t, input_t, _dim, _index, src_t, _include_self):
        grad, input, index, src = saved
        cells = Cells(input.shape, self.dim, index, src.shape)
        product = Product(cells, input, src, self.include_self)
        of_input, of_part = product.factors()
        input_t = torch.zeros_like(input) if input_t is None else input_t
        src_t = torch.zeros_like(src) if src_t is None else src_t
        grad_t = torch.zeros_like(grad) if grad_t is None else grad_t
        moved_input, moved_part = product.moved(input_t, cells.part(src_t))
        of_part, moved_part = of_part.conj(), moved_part.conj()
        out_src = cells.whole(cells.of(grad_t) * of_part + cells.of(grad) * moved_part)
        if self.include_self:
            return grad_t * of_input.conj() + grad * moved_input.conj(), out_src
        return cells.others(grad_t), out_src


def _prod_backward_backward(input_g, src_g, grad, input, dim, index, src, include_self):
    input_g, src_g, grad = plain(input_g), plain(src_g), plain(grad)
    input, src = plain(input), plain(src)
    cells = Cells(input.shape, dim, index, src.shape)
    product = Product(cells, input, src, include_self)
    of_input, of_part = product.factors()
    part_g = cells.part(src_g)
    moved_input, moved_part = product.moved(input_g, part_g)
    of_grad = cells.reduced(part_g * of_part)
    if include_self:
        of_grad = of_grad + input_g * of_input
        moved_input = grad * moved_input.conj()
    else:
        of_grad = of_grad + cells.others(input_g)
        moved_input = torch.zeros_like(input)
    moved_src = cells.whole(cells.of(grad) * moved_part.conj())
    return of_grad.contiguous(), moved_input.contiguous(), moved_src.contiguous()


def _prod_backward_backward_fake(input_g, src_g, grad, input, dim, index, src, include_self):
    return grad.new_empty(grad.shape), input.new_empty(input.shape), src.new_empty(src.shape)


class NoThirdDerivative(Derivatives):
    """An error rather than wrong numbers: the formulas of the second one have steps where factors are 0."""

    def __init__(self, *arguments):
        pass

    def tensors(self, arguments, results):
        return ()

    def backward(self, saved, *gradients):
        raise NotImplementedError("scatter_reduce: a product has no third derivative here")

    forward = backward


def vmapped(name, dim_at, *likes):
    """The rule of `torch.func.vmap` for an operator along an axis, of which the results have the shapes
    of these arguments."""

    def rule(info, in_dims, *arguments):
        def row(tensor, batch):
            tensor = batched(tensor, batch, info.batch_size)
            return tensor if tensor.dim() > 1 else tensor.unsqueeze(1)

        tensors = {k: row(a, in_dims[k]) for k, a in enumerate(arguments) if isinstance(a, torch.Tensor)}
        rows = [tensors.get(k, argument) for k, argument in enumerate(arguments)]
        rank = rows[likes[0]].dim() - 1
        dim = arguments[dim_at]
        rows[dim_at] = (dim if dim >= 0 else dim + rank) + 1
        found = getattr(torch.ops.strew, name)(*rows)

        def result(found, like):
            scalar = arguments[like].dim() == (0 if in_dims[like] is None else 1)
            return found.squeeze(1) if scalar else found

        if len(likes) == 1:
            return result(found, likes[0]), 0
        return tuple(map(result, found, likes)), (0,) * len(likes)

    return rule


scatter_reduce = define(
    "scatter_reduce(Tensor input, int dim, Tensor index, Tensor src, str reduce, bool include_self)"
    " -> Tensor",
    _kernel,
    _fake,
    ScatterReduce,
    vmapped("scatter_reduce", 1, 0),
)

scatter_prod_backward = define(
    "scatter_prod_backward(Tensor grad, Tensor input, int dim, Tensor index, Tensor src,"
    " bool include_self) -> (Tensor, Tensor)",
    _prod_backward,
    _prod_backward_fake,
    ScatterProdBackward,
    vmapped("scatter_prod_backward", 2, 1, 4),
)

scatter_prod_backward_backward = define(
    "scatter_prod_backward_backward(Tensor input_g, Tensor src_g, Tensor grad, Tensor input, int dim,"
    " Tensor index, Tensor src, bool include_self) -> (Tensor, Tensor, Tensor)",
    _prod_backward_backward,
    _prod_backward_backward_fake,
    NoThirdDerivative,
    vmapped("scatter_prod_backward_backward", 4, 2, 3, 6),
)


def _kernel_in_place(input, dim, index, src, reduce, include_self):
    _run_in_place(plain(input), dim, index, plain(src), reduce, include_self)


def _fake_in_place(input, dim, index, src, reduce, include_self):
    return None


scatter_reduce_ = define(
    "scatter_reduce_(Tensor(a!) input, int dim, Tensor index, Tensor src, str reduce,"
    " bool include_self) -> ()",
    _kernel_in_place,
    _fake_in_place,
)


def call(input, dim, index, src, reduce, include_self):
    """``scatter_reduce`` for tensors that the dispatcher has to know of."""
    index, src = torch.as_tensor(index), torch.as_tensor(src)
    return scatter_reduce(input, dim, index, src, reduce, include_self)


def call_(input, dim, index, src, reduce, include_self):
    """``scatter_reduce_`` for such: the operator has no derivative, a copy of the result has."""
    index, src = torch.as_tensor(index), torch.as_tensor(src)
    if has_derivative((input, src)) or is_transformed():
        # What the derivative keeps of the input must stay as it is.
        before = input if reduce in ("sum", "mean") else input.clone()
        return input.copy_(scatter_reduce(before, dim, index, src, reduce, include_self))
    scatter_reduce_(input, dim, index, src, reduce, include_self)
    return input
