"""What strew runs with: for reports of problems, and to see why a run is as fast as it is."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from .._strew import (
    __version__,
    _instruction_set,
    get_kept_memory,
    get_memory_limit,
    get_num_threads,
    operators,
)
from . import errors

# The packages of the frameworks and of the libraries whose arrays are taken.
_PACKAGES = (
    "cubed",
    "dask",
    "flox",
    "jax",
    "jaxlib",
    "mindspore",
    "ml_dtypes",
    "mxnet",
    "numpy_groupies",
    "onnx",
    "onnxruntime",
    "openvino",
    "paddlepaddle",
    "pandas",
    "polars",
    "pyarrow",
    "tensorflow",
    "tensorflow-cpu",
    "torch",
    "torch_geometric",
    "torch_scatter",
    "xarray",
)
_VARIABLES = (
    "STREW_NUM_THREADS",
    "OMP_NUM_THREADS",
    "STREW_PIN_THREADS",
    "STREW_ISA",
    "STREW_MEMORY_LIMIT",
    "STREW_KEPT_MEMORY",
)


@overload
def show_config(mode: Literal["stdout"] = "stdout") -> None: ...
@overload
def show_config(mode: Literal["dicts"]) -> dict[str, dict[str, Any]]: ...
def show_config(mode: Literal["stdout", "dicts"] = "stdout") -> dict[str, dict[str, Any]] | None:
    """Show what strew runs with: versions, instruction set, threads, caches, limits of memory.

    Parameters
    ----------
    mode : {"stdout", "dicts"}
        "stdout" prints, and "dicts" returns, as `numpy.show_config` does.

    Returns
    -------
    dict or None
        With "dicts" a dict of dicts: "strew", "processor", "threads", "caches" (bytes; empty where
        the system does not say), "memory" (bytes), "environment" (the variables that are set),
        "python" and "packages" (the versions of the frameworks and libraries that are installed;
        none is imported).

    Raises
    ------
    ValueError
        For another mode.

    Examples
    --------
    >>> import strew
    >>> sorted(strew.show_config(mode="dicts"))
    ['caches', 'environment', 'memory', 'packages', 'processor', 'python', 'strew', 'threads']
    """
    if mode not in ("stdout", "dicts"):
        raise errors.Problem(ValueError, "show_config", "mode", mode).expecting(
            "it must be stdout or dicts"
        )
    found: dict[str, dict[str, Any]] = {
        "strew": {"version": __version__, "operators": len(operators())},
        "processor": {
            "machine": platform.machine(),
            "system": platform.system(),
            "instruction set": _instruction_set(),
        },
        "threads": {"of a run": get_num_threads(), "processors": os.cpu_count()},
        "caches": _caches(),
        "memory": {
            "limit of one array": get_memory_limit(),
            "kept for the next results": get_kept_memory(),
        },
        "environment": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        "python": {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
            "bits": 64 if sys.maxsize > 2**32 else 32,
        },
        "packages": {"numpy": np.__version__, **_versions()},
    }
    if mode == "dicts":
        return found
    for part, entries in found.items():
        print(f"{part}:")
        for name, value in entries.items():
            print(f"  {name}: {value}")
    return None


def _versions() -> dict[str, str]:
    """The versions of the packages that are installed."""
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _caches() -> dict[str, int]:
    """The bytes of the caches of the first processor, by name: L1d, L1i, L2, L3."""
    found: dict[str, int] = {}
    letters = {"Data": "d", "Instruction": "i"}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = (
                (folder / name).read_text().strip() for name in ("level", "type", "size")
            )
            unit = {"K": 1 << 10, "M": 1 << 20}.get(size[-1:], 1)
            found[f"L{level}{letters.get(kind, '')}"] = int(size.rstrip("KM")) * unit
        except (OSError, ValueError):
            continue
    return found
