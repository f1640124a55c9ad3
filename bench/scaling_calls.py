"""What ``strew explain`` says of the rows of the scaling table."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .scaling_rows import ScalingRow

__all__ = ["Part", "explained", "part"]


@dataclasses.dataclass(frozen=True)
class Part:
    """What is counted of a run with a number of threads."""

    bytes: int
    # The strategy, and how it is shared out.
    shared: str


def part(told: dict[str, Any]) -> Part:
    """What a JSON answer of ``strew explain`` says."""
    moved = sum(sum(each.values()) for each in told["bytes"].values())
    plan = told["plan"]
    return Part(moved, f"{plan['strategy']}; {plan['shared out']}")


def explained(
    row: ScalingRow, arrays: dict[str, Any], threads: Iterable[int], folder: Path
) -> list[Part]:
    """What the tool counts with each number of threads; the call's files go into the folder.

    Nothing of calls that torch_scatter does not have.
    """
    words = _words(row, arrays, folder)
    if words is None:
        return []
    command = os.environ.get("STREW_COMMAND", str(Path(sys.executable).with_name("strew")))
    found = []
    for number in threads:
        line = [command, "explain", *words, "--json", "--no-measure"]
        environment = os.environ | {"STREW_NUM_THREADS": str(number)}
        said = subprocess.run(line, cwd=folder, capture_output=True, check=True, env=environment)
        found.append(part(json.loads(said.stdout)))
    return found


def _words(row: ScalingRow, arrays: dict[str, Any], folder: Path) -> list[str] | None:
    """The words behind ``strew explain``."""
    import numpy as np

    w = row.workload
    plain = w.form in ("flat", "rows") and w.sized and not w.has_input and not w.in_place
    # Its maximum gives positions too, and goes another way.
    if not plain or w.reduce in ("count", "amax") or w.dtype == "bfloat16":
        return None
    np.save(folder / "index.npy", arrays["index"])
    # No value is read: a file with a hole is enough.
    np.lib.format.open_memmap(folder / "src.npy", "w+", arrays["src"].dtype, arrays["src"].shape)
    reduce = "mul" if w.reduce == "prod" else w.reduce
    words = ["torch_scatter.scatter", "--dim", "0", "--src", "src.npy", "--index", "index.npy"]
    return [*words, "--dim_size", str(w.cells), "--reduce", reduce]
