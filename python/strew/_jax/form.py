"""Where the elements of a scatter's updates go: what a scatter and its gather share."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Literal

    Combine = Literal["set", "add", "subtract", "multiply", "divide", "min", "max"]


@dataclasses.dataclass(frozen=True)
class Form:
    """What is known of a scatter or gather while JAX traces it.

    `shape` is the shape of a scatter's updates, and of a gather's result. Updates and indices have
    that rank, and sizes of 1 where they are repeated. `walks` says for each of its axes which axis
    of the operand it walks along (-1: none). `axes` says for each index which axis of the operand
    it points along. `own` are the first and the end of the axes that are the index's own.
    """

    operator: str
    shape: tuple[int, ...]
    walks: tuple[int, ...]
    axes: tuple[int, ...]
    own: tuple[int, int]
    negative: Literal["wrap", "drop"]
    out_of_range: Literal["drop", "clip", "error"]
    combine: Combine = "set"

    def has_symbols(self) -> bool:
        """Whether a size is a symbol of `jax.export`."""
        return not all(isinstance(size, int) for size in self.shape)

    def joining(self, combine: Combine) -> Form:
        """The same places with another way to combine an update with an element."""
        return dataclasses.replace(self, combine=combine)

    def batched(self, size: int, operand: bool) -> Form:
        """The same for a batch along a new first axis: of the operand too, or of the rest alone."""
        shift = int(operand)
        return dataclasses.replace(
            self,
            shape=(size, *self.shape),
            walks=(0 if operand else -1, *(w if w < 0 else w + shift for w in self.walks)),
            axes=tuple(axis + shift for axis in self.axes),
            own=(self.own[0] + 1, self.own[1] + 1),
        )

    def attributes(self) -> dict[str, Any]:
        """The attributes of the extension's handlers.

        A size of `jax.export` that is a symbol becomes -1: the handler reads it from an array.
        """
        import numpy as np

        lists = {name: getattr(self, name) for name in ("walks", "axes", "own")}
        lists["shape"] = tuple(n if isinstance(n, int) else -1 for n in self.shape)
        words = {name: getattr(self, name) for name in ("operator", "negative", "out_of_range")}
        arrays = {name: np.array(list_, np.int64) for name, list_ in lists.items()}
        return {**arrays, **words, "combine": self.combine}
