"""Workloads: what ``workloads.toml`` says, checked."""

from __future__ import annotations

import dataclasses
import fnmatch
import math
from pathlib import Path
from typing import Any, Literal

__all__ = ["FILE", "INDEX", "Workload", "from_json", "read", "select"]

FILE = Path(__file__).with_name("workloads.toml")

# The dtype of the workloads' indices. Contenders that want another one say so.
INDEX = "int64"

Form = Literal["flat", "rows", "elements", "nd", "slice", "edges", "gather"]

_CHOICES = {
    "form": ("flat", "rows", "elements", "nd", "slice", "edges", "gather"),
    "reduce": ("sum", "mean", "amax", "prod", "assign", "count"),
    "index": ("", "uniform", "zipf", "sorted", "unique"),
    "mode": ("", "drop", "wrap", "clip", "ignore"),
    "values": ("exact", "near-one", "distinct"),
    "timed": ("forward", "backward", "both"),
}

# What each form cannot do without.
_NEEDS = {
    "flat": ("updates", "cells", "index"),
    "rows": ("updates", "cells", "width", "index"),
    "elements": ("shape", "index"),
    "nd": ("updates", "shape", "width", "index"),
    "slice": ("shape", "start", "stop", "step"),
    "edges": ("updates", "cells", "width", "index"),
    "gather": ("updates", "cells", "width", "index"),
}


@dataclasses.dataclass(frozen=True)
class Workload:
    """One entry of the file, whose head explains the fields."""

    name: str
    title: str
    form: Form
    reduce: str
    dtype: str
    seed: int
    peers: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    updates: int = 0
    cells: int = 0
    width: int = 1
    shape: tuple[int, ...] = ()
    dim: int = 0
    index: str = ""
    mode: str = ""
    outside: float = 0.0
    start: tuple[int, ...] = ()
    stop: tuple[int, ...] = ()
    step: tuple[int, ...] = ()
    include_self: bool | None = None
    in_place: bool = False
    sized: bool = True
    values: str = "exact"
    timed: str = "forward"
    jit: bool = False
    ulps: int = 0
    calls: int = 1
    twin: str | None = None
    at_most: tuple[float, float] | None = None
    above_no_op: float | None = None
    reach: tuple[float, float] | None = None
    reach_of: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    waits: str = ""

    @property
    def src_shape(self) -> tuple[int, ...]:
        match self.form:
            case "flat":
                return (self.updates,)
            case "rows" | "nd":
                return (self.updates, self.width)
            case "elements":
                return self.shape
            case "edges" | "gather":
                return (self.cells, self.width)
            case _:
                axes = zip(self.start, self.stop, self.step, strict=True)
                return tuple(len(range(*axis)) for axis in axes)

    @property
    def index_shape(self) -> tuple[int, ...]:
        match self.form:
            case "nd":
                return (len(self.shape), self.updates)
            case "elements":
                return self.shape
            case "slice":
                return (0,)
            case _:
                return (self.updates,)

    @property
    def out_shape(self) -> tuple[int, ...]:
        match self.form:
            case "flat":
                return (self.cells,)
            case "rows" | "edges":
                return (self.cells, self.width)
            case "gather":
                return (self.updates, self.width)
            case "nd":
                return (*self.shape, self.width)
            case _:
                return self.shape

    @property
    def has_input(self) -> bool:
        return self.include_self is not None or self.form == "slice"

    @property
    def has_grad(self) -> bool:
        """Whether there is a gradient of the output, to be taken back."""
        return self.timed != "forward" or self.form == "edges"

    def bytes_moved(self) -> tuple[int, int]:
        """How much has to be read and written, at the least."""
        item = {"float16": 2, "bfloat16": 2, "float64": 8, "int64": 8}.get(self.dtype, 4)
        size = {
            "index": math.prod(self.index_shape) * 8,
            "src": math.prod(self.src_shape) * item,
            "input": math.prod(self.out_shape) * item,
            "out": math.prod(self.out_shape) * item,
            "grad": math.prod(self.out_shape) * item,
            "source": math.prod(self.index_shape) * 8,
        }
        return sum(size[a] for a in self.reads), sum(size[a] for a in self.writes)


def from_json(entry: dict[str, Any]) -> Workload:
    """A workload from its fields, where sequences are lists."""
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}
    ratios = fields.pop("reach_of", {})
    fields["reach_of"] = {peer: tuple(pair) for peer, pair in ratios.items()}
    return Workload(**fields)


def _checked(entry: dict[str, Any]) -> Workload:
    name = entry.get("name", "a workload without a name")
    try:
        workload = from_json({"include_self" if k == "self" else k: v for k, v in entry.items()})
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from None
    for field, choices in _CHOICES.items():
        if (value := getattr(workload, field)) not in choices:
            raise ValueError(f"{name}: {field} = {value!r} is none of {', '.join(choices)}")
    for field in _NEEDS[workload.form]:
        if not getattr(workload, field):
            raise ValueError(f"{name}: form {workload.form!r} needs {field!r}")
    if (workload.twin is None) != (workload.at_most is None):
        raise ValueError(f"{name}: 'twin' and 'at_most' go together")
    # Never slower than any peer.
    if workload.reach is None and workload.above_no_op is None:
        workload = dataclasses.replace(workload, reach=(1.0, 1.0))
    return workload


def read(path: Path = FILE) -> dict[str, Workload]:
    """All workloads by their names, in the order of the file."""
    # Only the driver reads the file; a contender's Python may be too old to have the module.
    try:
        import tomllib
    except ModuleNotFoundError:
        import tomli as tomllib  # type: ignore[no-redef]
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["workload"]
    workloads: dict[str, Workload] = {}
    for workload in map(_checked, entries):
        if workload.name in workloads:
            raise ValueError(f"{workload.name} is there twice")
        workloads[workload.name] = workload
    for workload in workloads.values():
        if workload.twin is not None and workload.twin not in workloads:
            raise ValueError(f"{workload.name}: there is no twin {workload.twin!r}")
    return workloads


def select(workloads: dict[str, Workload], patterns: list[str]) -> list[Workload]:
    """Those whose names match one of the patterns (``W1a``, ``W2*``); all for none."""
    for pattern in patterns:
        if not fnmatch.filter(workloads, pattern):
            raise ValueError(f"no workload is called {pattern!r}: {', '.join(workloads)}")
    wanted = {name for p in patterns or ["*"] for name in fnmatch.filter(workloads, p)}
    return [w for w in workloads.values() if w.name in wanted]
