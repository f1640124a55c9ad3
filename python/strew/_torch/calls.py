"""Declares operators of torch's dispatcher: one class for each, which is a call of it.

A subclass of `Call` says its schema, what it runs, which arguments have a derivative, and how the
derivatives are computed. An instance has the arguments of one call as attributes, by the schema's
names, so that no method lists them again:

```python
class Add(Call):
    schema = "add(Tensor input, int dim, Tensor index, Tensor src) -> Tensor"
    row = "torch.scatter_add"  # strew's operator, which takes arguments of these names
    differentiable = ("input", "src")  # it is linear in them, so that `forward` is the call again
    keeps = ("index",)  # the tensors that derivatives need
    like = ("input",)  # the result has the shape and the dtype of `input`

    def backward(self, grad):  # returns a gradient for each differentiable argument
        return grad, self.apply(gather, input=grad)  # `dim` and `index` are those of this call


add = define(Add)
```

`define` makes the schema, the kernels of CPU and GPU, the fake kernel, backward and forward mode,
and the rule of `torch.func.vmap`. ``torch.library.register_autograd`` has no forward mode: a dual
number that goes through an operator registered with it silently loses its tangent.
"""

from __future__ import annotations

import os
from dataclasses import make_dataclass
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING

import torch
from torch._functorch.autograd_function import enable_single_level_autograd_function
from torch.autograd import forward_ad

from .._strew import Operator
from .registry import (
    has_derivative,
    has_eager_derivative,
    is_eager,
    is_on_device,
    library,
    on_device,
)
from .tensors import batched, copied, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, ClassVar, TypeAlias

    from torch import Tensor

    # Names of tensors for values of an argument.
    KeepsFor: TypeAlias = Mapping[str | None, tuple[str, ...]]
    # A gradient for each differentiable argument; a single one alone. None stands for zero.
    Gradients: TypeAlias = Tensor | Sequence[Tensor | None] | None
    # A tangent for each result; a single one alone, also if others have no derivative.
    Tangents: TypeAlias = Tensor | Sequence[Tensor | None] | None
    # One of these: a tensor, or None for zeros.
    Tangent: TypeAlias = Any
    # What a rule of `torch.func.vmap` returns: results, and the batch axis of each.
    Batched: TypeAlias = tuple[Any, Any]


class Call:
    """A call of an operator, and by its subclass the declaration of the operator."""

    #: Names and types of arguments and results, as torch writes them.
    schema: str = ""

    #: The operator of strew that runs, where "{reduce}" stands for "min" or "max", the argument
    #: `reduce`. Arguments of the same names are handed on. One that it would write to is copied.
    row: str = ""

    #: Instead of `row`: what runs, of the schema's arguments in their order.
    run: Callable[..., Any] | None = None

    #: Tensors of integers that go to the kernel as they are. Of others it is found out whether they
    #: have a derivative, or a lazy conj or neg, which takes 0.4 microseconds.
    integers: tuple[str, ...] = ()

    #: The arguments with a derivative. The shape of an argument `x` is kept as `x_shape`, that of
    #: the first result as `result_shape`.
    differentiable: tuple[str, ...] = ()

    #: For each result an argument of the same shape and dtype. None: `empty` makes the results.
    like: tuple[str, ...] | None = None

    #: The names of the results.
    results: tuple[str, ...] = ("result",)

    #: How many of the results, at their end, have no derivative.
    constants: int = 0

    #: The tensors that derivatives need: of arguments and results.
    keeps: tuple[str, ...] = ()

    #: The same for some values of the argument `reduce`.
    keeps_for: ClassVar[KeepsFor] = {}

    #: Whether what is kept depends on more than that, so that `prepare` and `kept` see a whole call
    #: at its end. To make one takes 2 microseconds of a small call, so others do it in backward.
    keeps_early = False

    #: For each differentiable argument, whether its gradient is needed; set before `backward`, if
    #: there are several.
    wanted: Sequence[bool] = ()

    # These are set by `define`: the operator, its name, its arguments' names, and those of tensors.
    operator: Registered
    name: str
    names: tuple[str, ...]
    tensors: tuple[str, ...]

    if TYPE_CHECKING:

        def __init__(self, *arguments: Any) -> None: ...

        def __getattr__(self, argument: str) -> Any: ...

    def prepare(self) -> None:
        """Computes what derivatives need, before each of them, from what was kept.

        With `keeps_early` it is called once, before anything is kept, and the attributes that it
        sets are kept. None of them may be a tensor.
        """

    def kept(self) -> Sequence[Tensor | None]:
        """The tensors to save."""
        return list(map(self.__dict__.__getitem__, self.keeps))

    def restore(self, saved: Sequence[Any]) -> None:
        """Sets the tensors that were saved. All others are None."""
        own = self.__dict__
        for k, name in enumerate(self.keeps):
            own[name] = saved[k]

    def backward(self, *gradients: Any) -> Gradients:
        """The gradient of each differentiable argument, from those of the results."""
        raise NotImplementedError

    def forward(self, *tangents: Any) -> Tangents:
        """The tangent of each result, from those of the differentiable arguments.

        This one is for linear operators.
        """
        return self.rerun(*self.with_zeros(*tangents))

    def empty(self) -> Any:
        """Results of the right shapes and dtypes, whose values do not matter."""
        like = [getattr(self, name) for name in self.like or ()]
        made = tuple(one.new_empty(one.shape) for one in like)
        return made[0] if len(made) == 1 else made

    def vmap(self, batch: Batch) -> Batched:
        """The results for a batch, and the axis of the batch in each."""
        raise NotImplementedError

    def apply(self, operator: Any, **given: Any) -> Any:
        """Calls an operator with these arguments; others are this call's, by name."""
        return operator(*operator.pick({**self.__dict__, **given}))

    def rerun(self, *tensors: Any) -> Any:
        """The operator with other differentiable arguments."""
        return self.apply(self.operator, **dict(zip(self.differentiable, tensors, strict=True)))

    def with_zeros(self, *tangents: Tangent) -> list[Tensor]:
        """The tangents of the differentiable arguments, with zeros for None."""
        like = next(tangent for tangent in tangents if tangent is not None)
        return [
            self.zeros(like, name) if tangent is None else tangent
            for name, tangent in zip(self.differentiable, tangents, strict=True)
        ]

    def zeros(self, like: Tensor, name: str) -> Tensor:
        """Zeros of the shape of a differentiable argument `x`, and of `x_dtype` if that is set."""
        shape, dtype = getattr(self, f"{name}_shape"), getattr(self, f"{name}_dtype", None)
        return like.new_zeros(shape, dtype=dtype)


class Batch:
    """What `torch.func.vmap` tells of a call: the number of samples, and where they are."""

    def __init__(self, call: Call, size: int, dims: Sequence[Any]) -> None:
        self.call, self.size = call, size
        self.dims = dict(zip(call.names, dims, strict=True))

    def has(self, name: str) -> bool:
        """Whether the argument is another one for each sample."""
        return self.dims[name] is not None

    def rank(self, name: str) -> int:
        """The rank of an argument in one sample."""
        return getattr(self.call, name).dim() - self.has(name)

    def rows(self, name: str) -> Any:
        """An argument with the axis of the batch in front; None if it is None."""
        tensor = getattr(self.call, name)
        return None if tensor is None else batched(tensor, self.dims[name], self.size)

    def matrix(self, name: str) -> Tensor:
        """The same with at least one axis after that of the batch."""
        rows = self.rows(name)
        return rows if rows.dim() > 1 else rows.unsqueeze(1)

    def axis(self, dim: int, name: str) -> int:
        """An axis of an argument, counted with the axis of the batch in front."""
        return (dim if dim >= 0 else dim + max(self.rank(name), 1)) + 1


class AlongAxis(Call):
    """A call along the axis `dim`, whose tensors have the same rank. Results are as `like` says."""

    def vmap(self, batch: Batch) -> Batched:
        like = self.like or ()
        rows = {name: batch.matrix(name) for name in self.tensors}
        found = self.apply(self.operator, **rows, dim=batch.axis(self.dim, like[0]))
        if len(like) == 1:
            return found if batch.rank(like[0]) > 0 else found.squeeze(1), 0
        several = zip(found, like, strict=True)
        found = tuple(one if batch.rank(name) > 0 else one.squeeze(1) for one, name in several)
        return found, (0,) * len(found)


class Registered:
    """An operator of the dispatcher; a call that only autograd watches goes past the dispatcher."""

    def __init__(
        self,
        schema: str,
        kernel: Callable[..., Any],
        elsewhere: Callable[..., Any],
        call: type[Call] | None,
    ) -> None:
        name = schema.partition("(")[0]
        library.impl(name, _either(kernel, elsewhere) if _INTERPRETS else kernel, "CPU")
        for key in ("CUDA", "XPU"):
            library.impl(name, elsewhere, key)
        self.overload = getattr(torch.ops.strew, name).default
        #: Finds the arguments in a dictionary.
        self.pick = itemgetter(*(argument.name for argument in self.overload._schema.arguments))
        self._kernel, self._function = kernel, None
        if call is not None and call.differentiable:
            self._function = _function(kernel, call)
            library.impl(name, _autograd(self.overload, call), "Autograd")

    def __call__(self, *arguments: Any) -> Any:
        if not is_eager(arguments):
            return self.overload(*arguments)
        if self._function is not None and has_eager_derivative(arguments):
            return self._function.apply(*arguments)
        return self._kernel(*arguments)


#: Whether Triton interprets its kernels, so that `strew.gpu.interpreted` can be used.
_INTERPRETS = os.environ.get("TRITON_INTERPRET") == "1"


def _either(kernel: Callable[..., Any], elsewhere: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of the CPU; within `strew.gpu.interpreted` that of the GPU."""

    def chosen(*arguments: Any) -> Any:
        first = next(one for one in arguments if isinstance(one, torch.Tensor))
        return (elsewhere if is_on_device(first) else kernel)(*arguments)

    return chosen


def _later(make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """A kernel that is made at its first call."""
    made = cache(make)
    return lambda *arguments: made()(*arguments)


class InPlace(Registered):
    """An operator that writes to its first argument."""

    def __call__(self, *arguments: Any) -> Any:
        if is_eager(arguments):
            return self._kernel(*arguments)
        target = arguments[0]
        # What torch.compile traces has no lazy bits, and it cannot ask for them.
        lazy = not torch.compiler.is_dynamo_compiling() and (target.is_conj() or target.is_neg())
        if lazy:
            # The dispatcher would write to a copy. The kernel of the CPU raises the error.
            target = torch.empty(target.shape, dtype=target.dtype).conj()
            return self._kernel(target, *arguments[1:])
        return self.overload(*arguments)


def define(call: type[Call]) -> Registered:
    """Registers the operator that a class declares; returns it."""
    name, kinds = _declare(call.schema)
    call.name, call.names = name, tuple(kinds)
    # It sets the arguments as attributes. A loop over their names takes 0.6 microseconds more.
    call.__init__ = make_dataclass("Arguments", kinds).__init__  # type: ignore[method-assign,misc]
    call.tensors = tuple(name for name, kind in kinds.items() if kind in _PREPARED)
    kernel = _kernel(call, kinds)
    # A function chooses by its tensors itself.
    elsewhere = kernel
    if call.run is None:
        elsewhere = _later(lambda: _kernel(call, kinds, on_device().row))
    call.operator = Registered(call.schema, kernel, elsewhere, call)

    def fake(*arguments: Any) -> Any:
        return call(*arguments).empty()

    torch.library.register_fake(f"strew::{name}", fake, lib=library)
    if call.vmap is not Call.vmap:

        def vmap(info: Any, in_dims: Sequence[Any], *arguments: Any) -> Batched:
            one = call(*arguments)
            return one.vmap(Batch(one, info.batch_size, in_dims))

        torch.library.register_vmap(f"strew::{name}", vmap, lib=library)
    return call.operator


def define_in_place(schema: str, row: str) -> Registered:
    """Registers an operator that writes to its first argument. It has no derivative."""
    name, kinds = _declare(schema)
    # Detached, but not resolved: that could make a copy, and the tensor itself must be written to.
    prepared = {name: _PREPARED[kind] for name, kind in kinds.items() if kind in _PREPARED}

    def running(find: Callable[[str], Any]) -> Callable[..., None]:
        run = _of_row(row, tuple(kinds), prepared, torch.Tensor.detach, find)

        def kernel(*arguments: Any) -> None:
            run(*arguments)

        return kernel

    torch.library.register_fake(f"strew::{name}", lambda *arguments: None, lib=library)
    elsewhere = _later(lambda: running(on_device().row))
    return InPlace(schema, running(Operator), elsewhere, None)


def _declare(schema: str) -> tuple[str, dict[str, str]]:
    """Adds a schema to the library. Returns the operator's name, and its arguments' types."""
    name = schema.partition("(")[0]
    library.define(schema)
    arguments = getattr(torch.ops.strew, name).default._schema.arguments
    return name, {argument.name: argument.type.annotation_str for argument in arguments}


def as_argument(argument: Any) -> Any:
    """An argument as strew's operators take it."""
    if isinstance(argument, torch.Tensor):
        return plain(argument)
    if isinstance(argument, (tuple, list)):
        return [as_argument(one) for one in argument]
    return argument


def _kernel(
    call: type[Call], kinds: Mapping[str, str], find: Callable[[str], Any] = Operator
) -> Callable[..., Any]:
    """What runs the declared operator or function, of plain tensors; `find` finds an operator."""
    prepared = {
        name: _PREPARED[kind]
        for name, kind in kinds.items()
        if kind in _PREPARED and name not in call.integers
    }
    if call.run is not None:
        steps = [(call.names.index(name), prepare) for name, prepare in prepared.items()]
        return _prepared(call.run, steps)
    if "{reduce}" not in call.row:
        return _of_row(call.row, call.names, prepared, find=find)
    at = call.names.index("reduce")
    of = {
        reduce: _of_row(call.row.format(reduce=reduce), call.names, prepared, find=find)
        for reduce in ("min", "max")
    }
    return lambda *arguments: of[arguments[at]](*arguments)


def _prepared(
    run: Callable[..., Any], steps: Sequence[tuple[int, Callable[[Any], Any]]]
) -> Callable[..., Any]:
    def kernel(*arguments: Any) -> Any:
        values = list(arguments)
        for k, prepare in steps:
            if values[k] is not None:
                values[k] = prepare(values[k])
        return run(*values)

    return kernel


def _of_row(
    row: str,
    names: Sequence[str],
    prepared: Mapping[str, Callable[[Any], Any]],
    target: Callable[[Any], Any] = copied,
    find: Callable[[str], Any] = Operator,
) -> Callable[..., Any]:
    """An operator of strew, as `find` finds it. `target` prepares the argument that it writes to.

    An operator with a derivative must not change its arguments, so `target` is a copy by default.
    """
    declared, operator = Operator(row), find(row)
    pick = picks_for(declared, names)
    steps = [
        (k, target if kind == "Target" else prepared[name])
        for k, (name, kind, _) in enumerate(declared.arguments)
        if name in prepared
    ]

    if [name for name, _, _ in declared.arguments] == list(names):
        return _prepared(operator, steps)
    if steps == [(0, plain)]:
        # The same as below, without a list.
        return lambda first, *others: operator(*pick((plain(first), *others, None)))

    def kernel(*arguments: Any) -> Any:
        values = list(pick((*arguments, None)))
        for k, prepare in steps:
            if values[k] is not None:
                values[k] = prepare(values[k])
        return operator(*values)

    return kernel


def picks_for(operator: Operator, names: Sequence[str]) -> Callable[[Any], Any]:
    """Finds an operator's arguments among those of `names`, and None for others at their end."""
    return itemgetter(
        *(names.index(name) if name in names else -1 for name, _, _ in operator.arguments)
    )


#: How a tensor is prepared for strew's operators, by the schema's type.
_PREPARED: dict[str, Callable[[Any], Any]] = {
    "Tensor": plain,
    "Optional[Tensor]": plain,
    "List[Optional[Tensor]]": as_argument,
}


def _function(run: Callable[..., Any], of: type[Call]) -> Any:
    names, results, constants = of.names, of.results, of.constants
    places = [names.index(name) for name in of.differentiable]
    wanted_of = itemgetter(*places)
    # What stands around the gradient where only one argument has any.
    before, behind = (None,) * places[0], (None,) * (len(names) - places[0] - 1)
    has_one_result = len(results) == 1
    forgotten = dict.fromkeys((*of.tensors, *results))
    count, single, early = len(names), len(places) == 1, of.keeps_early

    # What is kept beside tensors, by name: shapes, and other arguments (one may be called so).
    others = [name for name in names if name not in of.tensors]
    others_of = _getter([names.index(name) for name in others])
    of_shapes = [f"{name}_shape" for name in of.differentiable]
    kept_names = ("result_shape", *of_shapes, *others)
    # The tensors that are kept, and the names of all that a restored call has.
    both = (*names, *results)

    def keeping(kept: Sequence[str]) -> Any:
        return _getter(map(both.index, kept)), (*forgotten, *kept_names, *kept)

    keeps_of = {key: keeping(kept) for key, kept in of.keeps_for.items()}
    usual = keeping(() if early else of.keeps)
    reduce_at = names.index("reduce") if keeps_of else None
    reduce_kept_at = kept_names.index("reduce") if keeps_of else 0
    nothing = (None,) * len(forgotten)

    def begun(ctx: Any, arguments: Sequence[Any], output: Any) -> Sequence[Any]:
        """Keeps all but tensors; returns the tensors to save."""
        first = output if has_one_result else output[0]
        shapes = [None if arguments[at] is None else arguments[at].shape for at in places]
        ctx.call = (first.shape, *shapes, *others_of(arguments))
        tensors_of = usual[0]
        if reduce_at is not None:
            tensors_of = keeps_of.get(arguments[reduce_at], usual)[0]
        return tensors_of((*arguments, output) if has_one_result else (*arguments, *output))

    def begun_early(ctx: Any, arguments: Sequence[Any], output: Any) -> Sequence[Any]:
        call = of(*arguments)
        own = call.__dict__
        own.update(zip(results, (output,) if has_one_result else output, strict=True))
        for name, at in zip(of_shapes, places, strict=True):
            if arguments[at] is not None:
                own[name] = arguments[at].shape
        call.prepare()
        saved = call.kept()
        # What was saved must not be referred to in another way: that would be a cycle.
        own.update(forgotten)
        ctx.call = own
        return saved

    # Not `torch.autograd.Function`, which would go through all of `torch.func`'s transforms again:
    # the dispatcher brings a call to the level of one of them, and calls past it have none.
    class Function(torch.autograd.function._SingleLevelFunction):
        @staticmethod
        def forward(ctx: Any, *arguments: Any) -> Any:
            output = run(*arguments)
            ctx.set_materialize_grads(False)
            saved = begun_early(ctx, arguments, output) if early else begun(ctx, arguments, output)
            ctx.save_for_backward(*saved)
            if forward_ad._current_level >= 0:
                ctx.save_for_forward(*saved)
            if constants:
                ctx.mark_non_differentiable(*output[-constants:])
            return output

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            if gradients[0] is None and all(gradient is None for gradient in gradients):
                return (None,) * count
            call = restored(ctx)
            if constants:
                gradients = gradients[:-constants]
            if single:
                return (*before, call.backward(*gradients), *behind)
            call.wanted = wanted = wanted_of(ctx.needs_input_grad)
            found: Any = call.backward(*gradients)
            output = [None] * count
            for k, at in enumerate(places):
                if wanted[k]:
                    output[at] = found[k]
            return tuple(output)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            found = restored(ctx).forward(*[tangents[at] for at in places])
            return (found, *(None,) * constants) if constants else found

    def restored(ctx: Any) -> Call:
        # Another one for each time, which has the tensors only as long as it is in use.
        call = of.__new__(of)
        own = call.__dict__
        if early:
            own.update(ctx.call)
            call.restore(ctx.saved_tensors)
            return call
        kept = ctx.call
        all_names = usual[1]
        if reduce_at is not None:
            all_names = keeps_of.get(kept[reduce_kept_at], usual)[1]
        # One update: three of them take as long as the rest.
        own.update(zip(all_names, (*nothing, *kept, *ctx.saved_tensors), strict=True))
        call.prepare()
        return call

    return Function


def _getter(places: Iterable[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Finds some elements of a sequence, however few."""
    places = list(places)
    if len(places) > 1:
        return itemgetter(*places)
    if not places:
        return lambda all_: ()
    (at,) = places
    return lambda all_: (all_[at],)


def _autograd(overload: Any, call: type[Call]) -> Callable[..., Any]:
    """The dispatcher's kernel for autograd."""

    def below(*arguments: Any) -> Any:
        with torch._C._AutoDispatchBelowAutograd():
            if not torch._C._are_functorch_transforms_active():
                return overload(*arguments)
            # The function below has switched off what the outer transforms need.
            with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
                return overload(*arguments)

    function = _function(below, call)

    def kernel(*arguments: Any) -> Any:
        if not has_derivative(arguments):
            return below(*arguments)
        with enable_single_level_autograd_function():
            return function.apply(*arguments)

    return kernel
