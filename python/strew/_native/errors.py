"""Exceptions that no class of Python's own is enough for, and the words of others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class ConversionError(TypeError, RuntimeError):
    """An argument would have to be converted to a dtype that it is not converted to.

    MindSpore's document promises a ``RuntimeError`` for it and its releases raise a ``TypeError``;
    this is both.
    """

    __module__ = "strew"


# What a plan has, where `aggregate` takes one.
OWN_OF_PLAN = "size, mode and ignore_index cannot be combined with a plan, which has its own"


def said(error: BaseException) -> str:
    """The message of an error; "" if it has none."""
    return error.args[0] if error.args and isinstance(error.args[0], str) else ""


def rename(error: BaseException, name: str, called: str) -> None:
    """Lets a message that begins with `name` begin with the function that was called."""
    message = said(error)
    if message.startswith(f"{name}:"):
        error.args = (called + message[len(name) :], *error.args[1:])
        if getattr(error, "operator", None) == name:
            error.operator = called  # type: ignore[attr-defined]


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
        name, colon, rest = said(error).partition(": ")
        if colon and column is not None:
            error.args = (f"{name}: column {column!r}: {rest}", *error.args[1:])
        raise


def add(error: BaseException, more: str) -> None:
    """Adds what helps to a message."""
    message = said(error)
    if message and more not in message:
        error.args = (f"{message}; {more}", *error.args[1:])


def explain_outside(error: BaseException, mode: object) -> None:
    """Adds to an error about a number out of bounds which argument leaves such numbers out."""
    message = said(error)
    # What is too large for any size is an error in every mode, where no size is given.
    outside = "is out of bounds" in message and not message.endswith("of any size")
    if mode in ("error", "wrap") and outside:
        add(error, 'mode="drop" leaves out what has such a number')
