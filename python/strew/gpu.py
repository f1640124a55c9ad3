"""Tensors on a GPU: docs/gpu.md says what runs there, and with which bits."""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from ._arrays import dispatch as _dispatch
from ._native.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["interpreted"]


@contextmanager
def interpreted() -> Iterator[None]:
    """Lets torch tensors of the CPU go the way of those on a GPU, by Triton's interpreter.

    For tests, and to look at what runs: it is some thousand times slower. The variable
    ``TRITON_INTERPRET=1`` must be in the environment before strew and torch are imported. It holds
    for all threads of the process.

    Raises
    ------
    RuntimeError
        If ``TRITON_INTERPRET`` is not 1.
    ImportError
        If there is no Triton.

    Examples
    --------
    >>> import strew.gpu
    >>> with strew.gpu.interpreted():  # doctest: +SKIP
    ...     strew.torch_scatter.scatter(src, index)
    """
    if os.environ.get("TRITON_INTERPRET") != "1":
        raise Problem(RuntimeError, "gpu.interpreted", None).saying(
            "TRITON_INTERPRET is not 1", "set it before strew and torch are imported"
        )
    import_module("triton")
    before, _dispatch.interpreting = _dispatch.interpreting, True
    try:
        yield
    finally:
        _dispatch.interpreting = before
