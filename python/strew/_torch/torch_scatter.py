"""``torch.ops.strew.scatter`` and its kin: torch_scatter's functions, with their derivatives."""

# torch is not there where the package is checked.
# mypy: ignore-errors

import torch

from .._strew import Operator, _scatter_arg_jvp, _scatter_arg_vjp
from .registry import Derivatives, batched, define, library
from .scatter_reduce import plain, scatter_reduce_backward, scatter_reduce_tangent, zeros_if_none

_run = Operator("torch_scatter.scatter")
_run_extreme = {
    "min": Operator("torch_scatter.scatter_min"),
    "max": Operator("torch_scatter.scatter_max"),
}


def expanded(index, shape, dim):
    """The index in `src`'s shape: along `dim` if it has one axis, else with axes of 1 on the right."""
    if index.dim() == 1:
        ones = [1] * len(shape)
        ones[dim] = index.numel()
        return index.reshape(ones).expand(shape)
    return index.reshape(index.shape + (1,) * (len(shape) - index.dim())).expand(shape)


def divided(values, counts):
    """Values by whole numbers, which 16-bit floats could not hold."""
    if values.dtype in (torch.float16, torch.bfloat16):
        return (values.float() / counts).to(values.dtype)
    return values / counts.to(values.dtype)


def _reduce(reduce):
    """The name in `scatter_reduce`."""
    return "prod" if reduce == "mul" else reduce


def _kernel(src, index, dim, dim_size, reduce):
    return _run(plain(src), index, dim, None, dim_size, reduce)


def _shape(src, index, dim, dim_size):
    shape = list(src.shape)
    if dim_size is None:
        # How many groups there are is known only when the index is.
        dim_size = torch.library.get_ctx().new_dynamic_size()
    shape[dim] = dim_size
    return shape


def _fake(src, index, dim, dim_size, reduce):
    return src.new_empty(_shape(src, index, dim, dim_size))


class Scatter(Derivatives):
    def __init__(self, src, index, dim, dim_size, reduce):
        self.shape, self.reduce = src.shape, reduce
        self.dim = dim % src.dim()

    def tensors(self, arguments, results):
        src, index = arguments[:2]
        self.size = results[0].shape[self.dim]
        of_product = self.reduce == "mul"
        return (index, src if of_product else None, results[0] if of_product else None)

    def backward(self, saved, grad):
        index, src, result = saved
        return self._of_src(grad, index, src, result), None, None, None, None

    def _of_src(self, grad, index, src, result):
        _, of_src = scatter_reduce_backward(
            grad,
            self.dim,
            expanded(index, self.shape, self.dim),
            None,
            src,
            list(self.shape),
            result,
            _reduce(self.reduce),
            False,
            False,
            True,
        )
        return of_src

    def _counts(self, index, grad):
        """How many elements each group has: in an axis of its own if the index has."""
        size = grad.shape[self.dim]
        if index.dim() == 1 and index.numel() == self.shape[self.dim]:
            counts = scatter(torch.ones_like(index, dtype=torch.int64), index, 0, size, "sum")
            shape = [1] * grad.dim()
            shape[self.dim] = size
            return counts.reshape(shape).clamp(min=1)
        ones = torch.ones((), dtype=torch.int64, device=grad.device).expand(self.shape)
        return scatter(ones, index, self.dim, size, "sum").clamp(min=1)

    def forward(self, saved, src_t, _index, _dim, _dim_size, _reduce):
        index, src, result = saved
        if self.reduce == "mul":
            return self._moved(torch.zeros_like(result), src_t, index, result, src, result, False)
        return scatter(src_t, index, self.dim, self.size, self.reduce)

    def _moved(self, out_t, src_t, index, out, src, result, include_self):
        """A product's tangent."""
        index = expanded(index, self.shape, self.dim)
        return scatter_reduce_tangent(
            out_t, src_t, out, self.dim, index, src, result, "prod", include_self
        )


def _batched(info, in_dims, src, index, dim, dim_size):
    """The arguments with an axis more, in front."""
    if dim_size is None:
        raise ValueError(
            "scatter: dim_size is needed under vmap: groups differ from sample to sample"
        )
    src_dim, index_dim = in_dims[:2]
    rank = src.dim() - (src_dim is not None)
    dim = dim if dim >= 0 else dim + rank
    src = batched(src, src_dim, info.batch_size)
    if index_dim is None and index.dim() == 1:
        return src, index, dim + 1
    rows = batched(index, index_dim, info.batch_size)
    if rows.dim() == 2:
        shape = [rows.shape[0]] + [1] * rank
        shape[dim + 1] = rows.shape[1]
        rows = rows.reshape(shape)
    return src, expanded(rows, src.shape, dim + 1), dim + 1


def _vmap(info, in_dims, src, index, dim, dim_size, reduce):
    src, index, dim = _batched(info, in_dims, src, index, dim, dim_size)
    return scatter(src, index, dim, dim_size, reduce), 0


def _extreme_vmap(info, in_dims, src, index, dim, dim_size, reduce):
    src, index, dim = _batched(info, in_dims, src, index, dim, dim_size)
    return scatter_extreme(src, index, dim, dim_size, reduce), (0, 0)


scatter = define(
    "scatter(Tensor src, Tensor index, int dim, SymInt? dim_size, str reduce) -> Tensor",
    _kernel,
    _fake,
    Scatter,
    _vmap,
)


def _extreme_kernel(src, index, dim, dim_size, reduce):
    return _run_extreme[reduce](plain(src), index, dim, None, dim_size)


def _extreme_fake(src, index, dim, dim_size, reduce):
    shape = _shape(src, index, dim, dim_size)
    return src.new_empty(shape), index.new_empty(shape, dtype=torch.int64)


class Extreme(Derivatives):
    """Only the winner of a group has a gradient."""

    constants = (1,)

    def __init__(self, src, index, dim, dim_size, reduce):
        self.shape = src.shape
        self.dim = dim % src.dim()

    def tensors(self, arguments, results):
        # Who knows the index finds the elements of a group at once.
        return (results[1], arguments[1])

    def backward(self, saved, grad, _arg):
        arg, index = saved
        of_src = scatter_extreme_backward(grad, arg, index, self.dim, self.shape[self.dim])
        return of_src, None, None, None, None

    def forward(self, saved, src_t, *_):
        arg, _ = saved
        return scatter_extreme_tangent(src_t, arg, self.dim), None


def _extreme_backward(grad, arg, index, dim, along):
    return _scatter_arg_vjp(plain(grad), arg, index, dim, along)


def _extreme_backward_fake(grad, arg, index, dim, along):
    shape = list(grad.shape)
    shape[dim] = along
    return grad.new_empty(shape)


class ExtremeBackward(Derivatives):
    """It is linear."""

    def __init__(self, grad, arg, index, dim, along):
        self.dim, self.along = dim, along

    def tensors(self, arguments, results):
        return arguments[1:3]

    def backward(self, saved, src_g):
        return scatter_extreme_tangent(src_g, saved[0], self.dim), None, None, None, None

    def forward(self, saved, grad_t, *_):
        arg, index = saved
        return scatter_extreme_backward(grad_t, arg, index, self.dim, self.along)


def _extreme_tangent(src_t, arg, dim):
    return _scatter_arg_jvp(plain(src_t), arg, dim)


def _extreme_tangent_fake(src_t, arg, dim):
    return src_t.new_empty(arg.shape)


class ExtremeTangent(Derivatives):
    """Likewise."""

    def __init__(self, src_t, arg, dim):
        self.dim, self.along = dim, src_t.shape[dim]

    def tensors(self, arguments, results):
        return (arguments[1],)

    def backward(self, saved, grad):
        return scatter_extreme_backward(grad, saved[0], None, self.dim, self.along), None, None

    def forward(self, saved, src_tt, *_):
        return scatter_extreme_tangent(src_tt, saved[0], self.dim)


def _of_positions(info, in_dims, values, arg, dim):
    """The arguments with an axis more, in front."""
    rank = values.dim() - (in_dims[0] is not None)
    values = batched(values, in_dims[0], info.batch_size)
    arg = batched(arg, in_dims[1], info.batch_size)
    return values, arg, dim % rank + 1


def _extreme_backward_vmap(info, in_dims, grad, arg, _index, dim, along):
    grad, arg, dim = _of_positions(info, in_dims, grad, arg, dim)
    return scatter_extreme_backward(grad, arg, None, dim, along), 0


def _extreme_tangent_vmap(info, in_dims, src_t, arg, dim):
    return scatter_extreme_tangent(*_of_positions(info, in_dims, src_t, arg, dim)), 0


scatter_extreme_backward = define(
    "scatter_extreme_backward(Tensor grad, Tensor arg, Tensor? index, int dim, SymInt along)"
    " -> Tensor",
    _extreme_backward,
    _extreme_backward_fake,
    ExtremeBackward,
    _extreme_backward_vmap,
)

scatter_extreme_tangent = define(
    "scatter_extreme_tangent(Tensor src_t, Tensor arg, int dim) -> Tensor",
    _extreme_tangent,
    _extreme_tangent_fake,
    ExtremeTangent,
    _extreme_tangent_vmap,
)

scatter_extreme = define(
    "scatter_extreme(Tensor src, Tensor index, int dim, SymInt? dim_size, str reduce)"
    " -> (Tensor, Tensor)",
    _extreme_kernel,
    _extreme_fake,
    Extreme,
    _extreme_vmap,
)


def _into_kernel(src, index, dim, out, reduce):
    found = plain(out).clone(memory_format=torch.contiguous_format)
    return _run(plain(src), index, dim, found, None, reduce)


def _into_fake(src, index, dim, out, reduce):
    return out.new_empty(out.shape)


class Into(Scatter):
    """Of a reduction that goes on from what there is."""

    def __init__(self, src, index, dim, out, reduce):
        super().__init__(src, index, dim, None, reduce)

    def tensors(self, arguments, results):
        src, index, _, out, _ = arguments
        of_product = self.reduce == "mul"
        self.size = out.shape[self.dim]
        kept = (src, out, results[0]) if of_product else (None, None, None)
        return (index, *kept)

    def backward(self, saved, grad):
        index, src, out, result = saved
        if self.reduce == "mul":
            to_src, _, _, to_out, _ = self.wanted
            of_out, of_src = scatter_reduce_backward(
                grad,
                self.dim,
                expanded(index, self.shape, self.dim),
                out,
                src,
                list(self.shape),
                result,
                "prod",
                True,
                to_out,
                to_src,
            )
            return (of_src if to_src else None), None, None, (of_out if to_out else None), None
        of_out = divided(grad, self._counts(index, grad)) if self.reduce == "mean" else grad
        return self._of_src(grad, index, None, None), None, None, of_out, None

    def forward(self, saved, src_t, _index, _dim, out_t, _reduce):
        index, src, out, result = saved
        if self.reduce == "mul":
            out_t, src_t = zeros_if_none(out_t, out), zeros_if_none(src_t, src)
            return self._moved(out_t, src_t, index, out, src, result, True)
        src_t = torch.zeros(self.shape, dtype=out_t.dtype) if src_t is None else src_t
        if out_t is None:
            return scatter(src_t, index, self.dim, self.size, self.reduce)
        return scatter_into(src_t, index, self.dim, out_t, self.reduce)


scatter_into = define(
    "scatter_into(Tensor src, Tensor index, int dim, Tensor out, str reduce) -> Tensor",
    _into_kernel,
    _into_fake,
    Into,
)


def _extreme_into_kernel(src, index, dim, out, reduce):
    found = plain(out).clone(memory_format=torch.contiguous_format)
    return _run_extreme[reduce](plain(src), index, dim, found, None)


def _extreme_into_fake(src, index, dim, out, reduce):
    return out.new_empty(out.shape), index.new_empty(out.shape, dtype=torch.int64)


class ExtremeInto(Extreme):
    def __init__(self, src, index, dim, out, reduce):
        super().__init__(src, index, dim, None, reduce)

    def backward(self, saved, grad, arg_g):
        arg, _ = saved
        of_src, *_ = super().backward(saved, grad, arg_g)
        return of_src, None, None, torch.where(arg == self.shape[self.dim], grad, 0), None

    def forward(self, saved, src_t, _index, _dim, out_t, _reduce):
        arg, _ = saved
        found = 0 if src_t is None else super().forward(saved, src_t)[0]
        stays = 0 if out_t is None else torch.where(arg == self.shape[self.dim], out_t, 0)
        return found + stays, None


scatter_extreme_into = define(
    "scatter_extreme_into(Tensor src, Tensor index, int dim, Tensor out, str reduce)"
    " -> (Tensor, Tensor)",
    _extreme_into_kernel,
    _extreme_into_fake,
    ExtremeInto,
)


def call(src, index, dim, out, dim_size, reduce, with_arg=False):
    """torch_scatter's functions for tensors that the dispatcher has to know of."""
    index = torch.as_tensor(index)
    reduce = "sum" if reduce == "add" else reduce
    if reduce in ("min", "max"):
        if out is None:
            found, arg = scatter_extreme(src, index, dim, dim_size, reduce)
        else:
            found, arg = scatter_extreme_into(src, index, dim, out, reduce)
            found = out.copy_(found)
        return (found, arg) if with_arg else found
    if out is None:
        return scatter(src, index, dim, dim_size, reduce)
    # What the derivative keeps of it must stay as it is.
    before = out.clone() if reduce == "mul" else out
    return out.copy_(scatter_into(src, index, dim, before, reduce))


def _script(function):
    """Makes a function of `strew.torch_scatter` known to TorchScript, which compiles no other
    Python.
    """
    from torch.jit._builtins import _register_builtin

    from .. import torch_scatter as public

    extreme = function in ("scatter_min", "scatter_max")
    reduce = ', str reduce="sum"' if function == "scatter" else ""
    result = "(Tensor, Tensor)" if extreme else "Tensor"
    name = f"torch_scatter_{function}"
    library.define(
        f"{name}(Tensor src, Tensor index, int dim=-1, Tensor(a!)? out=None, int? dim_size=None{reduce})"
        f" -> {result}"
    )

    # The dispatcher leaves out what is the schema's default.
    default = "sum" if function == "scatter" else function.removeprefix("scatter_")

    def run(src, index, dim=-1, out=None, dim_size=None, reduce=default):
        return call(src, index, dim, out, dim_size, reduce, with_arg=extreme)

    library.impl(name, run, "CompositeImplicitAutograd")
    _register_builtin(getattr(public, function), f"strew::{name}")


for _function in (
    "scatter",
    "scatter_sum",
    "scatter_add",
    "scatter_mul",
    "scatter_mean",
    "scatter_min",
    "scatter_max",
):
    _script(_function)
