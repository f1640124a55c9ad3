"""Exceptions that no class of Python's own is enough for."""

__all__ = ["ConversionError"]


class ConversionError(TypeError, RuntimeError):
    """An argument would have to be converted to a dtype that it is not converted to.

    MindSpore's document promises a ``RuntimeError`` for it and its releases raise a ``TypeError``;
    this is both.
    """

    __module__ = "strew"
