"""What a contender is given and what it gives back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data import aligned
from ..workloads import INDEX, Workload

__all__ = ["Problem", "Spelling"]


@dataclasses.dataclass(frozen=True)
class Problem:
    """A workload with its arrays: `index`, `src`, `input`, `grad` and `source`, as far as it has
    them.

    bfloat16 arrays are uint16 with the same bits.
    """

    workload: Workload
    arrays: dict[str, np.ndarray]
    # 1, or 0 for the library's default.
    threads: int = 0

    @property
    def index(self) -> np.ndarray:
        return self.arrays["index"]

    @property
    def src(self) -> np.ndarray:
        return self.arrays["src"]

    @property
    def grad(self) -> np.ndarray:
        return self.arrays["grad"]

    @property
    def source(self) -> np.ndarray:
        return self.arrays["source"]

    @property
    def input(self) -> np.ndarray:
        return self.arrays["input"]

    def with_index(self, dtype: str) -> Problem:
        """The same with an index of another dtype."""
        index = aligned(self.index.shape, np.dtype(dtype))
        index[...] = self.index
        return dataclasses.replace(self, arrays=self.arrays | {"index": index})

    def slices(self) -> tuple[slice, ...]:
        w = self.workload
        return tuple(map(slice, w.start, w.stop, w.step))


@dataclasses.dataclass(frozen=True)
class Spelling:
    """One way to say a workload in a library."""

    name: str
    # What is timed: it returns when the answer is there.
    run: Callable[[], Any]
    # The answer as NumPy array.
    answer: Callable[[Any], np.ndarray] = np.asarray
    # What is done before each run, outside the time.
    reset: Callable[[], None] | None = None
    # Whether this does the workload at all; a call that does nothing does not.
    counts: bool = True
    # The dtype of the index that it reads: a ratio is between two spellings that read the same.
    index: str = INDEX
