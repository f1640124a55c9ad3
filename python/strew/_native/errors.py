"""How strew raises: every exception carries what it says, as those of the engine do.

They have these attributes, which are None where there is nothing to say:

operator : str
    The function that was called.
argument : str
    The argument at fault.
position : tuple of int
    The place of an element of the argument.
value : object
    What was found: a number, a string, a dtype by its name, a shape, or the text of another object.
limit : int
    What the value has to stay below: a size, or a number of dimensions.
expected : str
    What is allowed, as the message says it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# What an error keeps as it is.
_PLAIN = (bool, int, float, complex, str, tuple)


class ConversionError(TypeError, RuntimeError):
    """An argument would have to be converted to a dtype that it is not converted to.

    MindSpore's document promises a ``RuntimeError`` for it and its releases raise a ``TypeError``;
    this is both.
    """

    __module__ = "strew"


class Problem:
    """What is wrong with an argument, which makes an exception of a class."""

    def __init__(
        self,
        kind: type[Exception],
        operator: str | None,
        argument: str | None,
        value: Any = None,
        *,
        position: tuple[int, ...] | None = None,
        limit: int | None = None,
    ) -> None:
        self.kind, self.operator, self.argument, self.value = kind, operator, argument, value
        self.position, self.limit = position, limit

    def saying(self, said: str, expected: str | None = None) -> Any:
        """The exception whose message is ``operator: said: expected``."""
        said = f"{said}: {expected}" if expected else said
        return self.in_words(f"{self.operator}: {said}", expected)

    def in_words(self, message: str, expected: str | None = None) -> Any:
        """The exception with a message as it is, as Python or NumPy words it."""
        made: Any = self.kind(message)
        made.operator, made.argument, made.position = self.operator, self.argument, self.position
        # An error goes from one process to another, and does not keep arrays.
        is_plain = self.value is None or isinstance(self.value, _PLAIN)
        made.value = self.value if is_plain else repr(self.value)
        made.limit, made.expected = self.limit, expected
        return made

    def expecting(self, expected: str) -> Any:
        """The exception that says the value of the argument."""
        return self.saying(f"{self.argument} = {self.value!r}", expected)

    def has_dtype(self, expected: str) -> Any:
        """The exception of a value that is a dtype."""
        self.value = str(self.value)
        return self.saying(f"{self.argument} has dtype {self.value}", expected)

    def has_shape(self, expected: str) -> Any:
        """The exception of a value that is a shape."""
        said = f"{self.argument} has shape {self.value}"
        self.value = tuple(self.value)
        return self.saying(said, expected)


def no_axis(
    operator: str,
    given: Any,
    rank: int,
    kind: type[Exception] = IndexError,
) -> Any:
    """The exception of a `dim` that is not an axis of `src`."""
    problem = Problem(kind, operator, "dim", given, limit=rank)
    return problem.saying(f"dim = {given}: src has {rank} dimensions")


def outside(
    operator: str, argument: str, at: int, value: Any, size: int, along: str = "dimension 0"
) -> IndexError:
    """The exception of a number in an index that names no cell."""
    problem = Problem(IndexError, operator, argument, int(value), position=(at,), limit=size)
    said = f"index {value} is out of bounds for {along} with size {size}"
    return problem.saying(f"{argument}[{at}] = {value}: {said}")


def own_of_plan(operator: str) -> ValueError:
    """The exception of arguments beside a plan that `aggregate` takes as its index."""
    return Problem(ValueError, operator, "index").saying(
        "size, mode and ignore_index cannot be combined with a plan, which has its own"
    )


@contextmanager
def needing(module: str, what: str) -> Iterator[None]:
    """Says how to install what a module of strew imports."""
    try:
        yield
    except ImportError as error:
        said = f'strew.{module} needs {what}: pip install "strew[{module}]"'
        raise ImportError(said, name=module) from error


def said(error: BaseException) -> str:
    """The message of an error; "" if it has none."""
    return error.args[0] if error.args and isinstance(error.args[0], str) else ""


def operator_of(error: BaseException) -> str:
    """The function that an error is of. One about memory has it in its message alone."""
    return getattr(error, "operator", None) or said(error).partition(":")[0]


def rename(error: Any, name: str, called: str, argument: str | None = None) -> None:
    """Lets an error of the operator `name` be one of the function that was called.

    `argument` is what that function calls the argument at fault, if it has another name there.
    """
    if operator_of(error) == name:
        message = said(error)
        shown = called if argument is None else f"{called}: {argument}"
        error.args = (shown + message[len(name) :], *error.args[1:])
        if hasattr(error, "operator"):
            error.operator, error.argument = called, argument or error.argument


@contextmanager
def called(name: str, function: str) -> Iterator[None]:
    """Lets messages that begin with `name` begin with the function that was called."""
    try:
        yield
    except (TypeError, ValueError) as error:
        rename(error, name, function)
        raise


@contextmanager
def of_column(column: Any) -> Iterator[None]:
    """Names a column in the errors about it."""
    try:
        yield
    except (IndexError, OverflowError, TypeError, ValueError) as error:
        operator = getattr(error, "operator", None)
        if operator is not None and column is not None:
            rest = said(error).removeprefix(operator)
            error.args = (f"{operator}: column {column!r}{rest}", *error.args[1:])
        raise


def add(error: BaseException, more: str) -> None:
    """Adds what helps to a message."""
    message = said(error)
    if message and more not in message:
        error.args = (f"{message}; {more}", *error.args[1:])


def explain_outside(error: BaseException, mode: object) -> None:
    """Adds to an error about a number out of bounds which argument leaves such numbers out."""
    # What is too large for any size is an error in every mode: there is no limit then.
    position, limit = getattr(error, "position", None), getattr(error, "limit", None)
    if mode in ("error", "wrap") and position is not None and limit is not None:
        add(error, 'mode="drop" leaves out what has such a number')
