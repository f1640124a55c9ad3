"""Functions of one signature, each with its own name and documentation."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def like(
    model: _Function, make: Callable[[str], Callable[..., Any]]
) -> Callable[[Callable[[], None]], _Function]:
    """A decorator for the other members of a family of operators, which are called like `model`.

    It takes a function without arguments and code, for its name and its documentation. `make`
    returns the function of an operator, by that name.
    """

    def member(named: Callable[[], None]) -> _Function:
        function: Any = update_wrapper(make(named.__name__), named)
        del function.__wrapped__
        function.__annotations__ = model.__annotations__
        return function

    return member


def implemented_by(
    function: Callable[..., Any], model: _Function
) -> Callable[[Callable[[], None]], _Function]:
    """A decorator that gives `function`, which takes any arguments, the signature of `model`.

    It takes a function as `like` does.
    """

    def public(named: Callable[[], None]) -> _Function:
        result: Any = update_wrapper(function, named)
        result.__wrapped__, result.__annotations__ = model, model.__annotations__
        return result

    return public
