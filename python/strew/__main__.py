"""The command ``strew``, also as ``python -m strew``."""

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING

from . import _strew

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, as the program ``strew`` does.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the program's name; by default what this process was started with.

    Returns
    -------
    int
        The exit status: 0, or 2 for an error, which one line of standard error describes.

    Notes
    -----
    The output goes to the process's standard output, and not to `sys.stdout`. Ctrl-C ends the
    process, also after a call that has returned. Call this where the process ends with it.

    Examples
    --------
    >>> import subprocess, sys
    >>> line = [sys.executable, "-m", "strew", "ops", "torch.no_such_operator"]
    >>> subprocess.run(line, capture_output=True).returncode
    2
    """
    return _strew._command(["strew", *(_sys.argv[1:] if arguments is None else arguments)])


if __name__ == "__main__":
    _sys.exit(main())
