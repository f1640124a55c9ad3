"""Makes strew's functions known to TorchScript.

TorchScript cannot compile their Python, so it gets calls of operators instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.jit._builtins import _register_builtin
from torch.jit._state import _python_cu, _set_jit_function_cache, _try_get_jit_cached_function

from .._strew import Operator
from .registry import library
from .schemas import arguments_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def script(
    name: str,
    function: Callable[..., Any],
    arguments: str,
    run: Callable[..., Any],
    results: str = "Tensor",
) -> None:
    """Makes TorchScript call an operator, which runs `run`, instead of `function`."""
    _define(name, "default", arguments, run, results)
    if "Tensor?[]" in arguments:
        # TorchScript does not take a list of tensors for a list of optional tensors.
        _define(name, "tensors", arguments.replace("Tensor?[]", "Tensor[]"), run, results)
    _register_builtin(function, f"strew::{name}")


def builtin(
    name: str,
    function: Callable[..., Any],
    arguments: str,
    run: Callable[..., Any],
    results: str = "Tensor",
) -> None:
    """The same, also for ``torch.jit.script`` of the function itself."""
    script(name, function, arguments, run, results)
    _scriptable(function, name)


def builtin_of_row(name: str, function: Callable[..., Any], row: str) -> None:
    """Makes TorchScript call a function that has the arguments of strew's operator `row`."""
    arguments = ", ".join(map(str, arguments_of(row)))
    results = "(Tensor, Tensor)" if len(Operator(row).returns) > 1 else "Tensor"
    builtin(name, function, arguments, function, results)


def _define(
    name: str, overload: str, arguments: str, run: Callable[..., Any], results: str
) -> None:
    full = name if overload == "default" else f"{name}.{overload}"
    library.define(f"{full}({arguments}) -> {results}")
    schema = getattr(getattr(torch.ops.strew, name), overload)._schema
    defaults = [argument.default_value for argument in schema.arguments]

    def complete(*given: Any) -> Any:
        # The dispatcher leaves out an argument that equals its default.
        return run(*given, *defaults[len(given) :])

    library.impl(full, complete, "CompositeImplicitAutograd")


def _scriptable(function: Callable[..., Any], name: str) -> None:
    """Lets `torch.jit.script(function)` find it compiled, instead of reading its source."""

    def prepare() -> Callable[..., Any]:
        if _try_get_jit_cached_function(function) is None:
            compiled = f"strew_{name}"
            _python_cu.define(_source(compiled, name))
            _set_jit_function_cache(function, _python_cu.find_function(compiled))
        return function

    # torch asks for this before it compiles anything.
    function.__prepare_scriptable__ = prepare  # type: ignore[attr-defined]


def _source(function: str, operator: str) -> str:
    """A function that calls the operator, as TorchScript writes it."""
    schema = getattr(torch.ops.strew, operator).default._schema

    def parameter(argument: Any) -> str:
        declared = f"{argument.name}: {argument.type.annotation_str}"
        return (
            f"{declared} = {argument.default_value!r}" if argument.has_default_value() else declared
        )

    parameters = ", ".join(map(parameter, schema.arguments))
    passed = ", ".join(argument.name for argument in schema.arguments)
    results = ", ".join(result.type.annotation_str for result in schema.returns)
    results = f"Tuple[{results}]" if len(schema.returns) > 1 else results
    return (
        f"def {function}({parameters}) -> {results}:\n"
        f"    return torch.ops.strew.{operator}({passed})\n"
    )
