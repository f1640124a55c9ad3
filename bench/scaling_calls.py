"""The rows of the scaling table as calls of ``strew explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .scaling_rows import ScalingRow

__all__ = ["explained"]


def explained(row: ScalingRow, arrays: dict[str, Any], folder: Path) -> list[str] | None:
    """The words behind ``strew explain``, whose files are put into the folder.

    Nothing of calls that torch_scatter does not have.
    """
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
