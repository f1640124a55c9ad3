"""strew itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import strew
from strew import _strew

from ..workloads import INDEX
from .problem import Problem, Spelling


def version() -> str:
    return strew.__version__


def forget() -> None:
    """Gives back what it keeps of freed results."""
    kept = strew.get_kept_memory()
    strew.set_kept_memory(0)
    strew.set_kept_memory(kept)


def spellings(problem: Problem) -> list[Spelling]:
    """With the workload's own index, and with an int32 one for peers that read such."""
    found = _calls(problem, INDEX)
    if "index" in problem.arrays:
        found += _calls(problem.with_index("int32"), "int32")
    return found


def _calls(problem: Problem, index: str) -> list[Spelling]:
    w = problem.workload
    if w.jit:
        return _jitted(problem, index)
    if w.has_grad:
        return _backward(problem, index)
    if w.form == "slice":
        calls = [_slice(problem)]
    elif w.form == "gather":
        arguments = (problem.src, problem.index, 0)
        calls = [_Call("gather", strew.gather, arguments)]
        calls.append(_Call("openvino.gather", strew.openvino.gather, arguments))
    elif w.reduce == "count":
        calls = [_Call("numpy.bincount", strew.numpy.bincount, (problem.index, None, w.cells))]
    elif w.form == "nd":
        arguments = (problem.src, problem.index, w.out_shape)
        calls = [_Call("mxnet.scatter_nd", strew.mxnet.scatter_nd, arguments)]
    elif w.mode:
        calls = [_by_mode(problem)]
    elif w.in_place:
        calls = [_in_place(problem)]
    elif w.has_input or w.reduce == "amax":
        calls = _reduce(problem)
    else:
        calls = [_new(problem)]
    found = [Spelling(c.name, c.run, _wide, c.reset, index=index) for c in calls]
    if w.above_no_op is not None:
        # The same binding with the same arguments.
        no_ops = [dataclasses.replace(c, function=_strew._noop) for c in calls]
        found += [Spelling("no-op", c.run, counts=False, index=index) for c in no_ops]
    return found


@dataclasses.dataclass(frozen=True)
class _Call:
    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    # Those that can be passed by name only.
    named: dict[str, Any] = dataclasses.field(default_factory=dict)
    reset: Callable[[], None] | None = None

    @property
    def run(self) -> Callable[[], Any]:
        function, arguments, named = self.function, self.arguments, self.named
        if named:
            return lambda: function(*arguments, **named)
        return lambda: function(*arguments)


def _typed(array: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "bfloat16":
        import ml_dtypes

        return array.view(ml_dtypes.bfloat16)
    return array


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _slice(problem: Problem) -> _Call:
    w = problem.workload
    arguments = (problem.input, problem.src, list(w.start), list(w.stop), list(w.step))
    return _Call("openvino.slice_scatter", strew.openvino.slice_scatter, arguments)


def _in_place(problem: Problem) -> _Call:
    """scatter_mul, and scatter_reduce_ for what it does not do."""
    w, start = problem.workload, problem.input
    table = start.copy()

    def reset() -> None:
        np.copyto(table, start)

    if w.reduce == "prod":
        factors = (table, problem.index, problem.src)
        return _Call("mindspore.scatter_mul", strew.mindspore.scatter_mul, factors, reset=reset)
    arguments = (table, w.dim, _full(problem), problem.src, w.reduce)
    return _Call("torch.scatter_reduce_", strew.torch.scatter_reduce_, arguments, reset=reset)


def _new(problem: Problem) -> _Call:
    """A new output that starts from zeros."""
    w = problem.workload
    size: int | None = w.shape[w.dim] if w.form == "elements" else w.cells
    size = size if w.sized else None
    arguments = (_typed(problem.src, w.dtype), problem.index, w.dim, None, size, w.reduce)
    return _Call("torch_scatter.scatter", strew.torch_scatter.scatter, arguments)


def _by_mode(problem: Problem) -> _Call:
    """A new output, with a rule for indices that name no cell."""
    w = problem.workload
    rule = {"ignore_index": w.cells} if w.mode == "ignore" else {"mode": w.mode}
    arguments = (problem.src, problem.index, w.dim)
    named = {"dim_size": w.cells, "reduce": w.reduce, **rule}
    return _Call("scatter", strew.scatter, arguments, named)


def _reduce(problem: Problem) -> list[_Call]:
    """scatter_reduce, into a copy of an input."""
    w = problem.workload
    arguments = (w.dim, _full(problem), problem.src, w.reduce)
    start = problem.input if w.has_input else np.zeros(w.out_shape, w.dtype)
    named = {"include_self": w.include_self is not False}
    call = strew.torch.scatter_reduce
    found = [_Call("torch.scatter_reduce", call, (start, *arguments), named)]
    if not w.has_input:

        def fresh(*arguments: Any) -> np.ndarray:
            return strew.torch.scatter_reduce_(np.zeros(w.out_shape, w.dtype), *arguments)

        found.append(_Call("torch.scatter_reduce_ of zeros", fresh, arguments))
    return found


def _full(problem: Problem) -> np.ndarray:
    """The index in the shape that scatter_reduce wants."""
    if problem.workload.form == "rows":
        return np.broadcast_to(problem.index[:, None], problem.src.shape)
    return problem.index


def _backward(problem: Problem, index: str) -> list[Spelling]:
    """From torch tensors, through their autograd."""
    import torch

    from . import backward

    w = problem.workload
    names = {"sum": "sum", "mean": "mean", "prod": "mul", "amax": "max"}

    def wide(index: torch.Tensor) -> torch.Tensor:
        return index[:, None].expand(-1, w.width)

    def scatter(src: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return strew.torch_scatter.scatter(src, index, 0, None, w.cells, names[w.reduce])

    def scatter_reduce(src: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        zeros = torch.zeros(w.out_shape)
        return strew.torch.scatter_reduce(zeros, 0, wide(index), src, w.reduce, include_self=False)

    def gather(nodes: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        return strew.torch.gather(nodes, 0, wide(source))

    forward = {"torch.scatter_reduce": scatter_reduce, "torch_scatter.scatter": scatter}
    return backward.spellings(problem, backward.Library(forward, gather, scatter), index)


def _jitted(problem: Problem, index: str) -> list[Spelling]:
    """Compiled by JAX, which has indices of 64 bits only where it is told so."""
    import jax
    import jax.numpy as jnp

    from . import jitted

    library = jitted.Library(strew.jax.ops, strew.jax.at_get)
    if index == "int32":
        return jitted.spellings(problem, library, jnp.asarray(problem.index))
    with jax.enable_x64(True):
        found = jitted.spellings(problem, library, jnp.asarray(problem.index))

    def run(inner: Callable[[], Any]) -> Any:
        with jax.enable_x64(True):
            return inner()

    return [dataclasses.replace(s, run=lambda s=s: run(s.run)) for s in found]
