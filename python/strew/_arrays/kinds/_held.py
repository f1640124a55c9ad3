"""What a kind is read as, and what it takes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    _Array: TypeAlias = np.ndarray[Any, Any]
    # An axis of the values by its number, or a new one by its name.
    _Axes: TypeAlias = Sequence[int | str]


@dataclass(frozen=True)
class Made:
    """A result: an array, and where it has no value.

    `axes` says for each of its axes which axis of the values it is; an axis that the values do not
    have has a name: "group", or "group_0" and so on for several keys, "quantile", "k".
    """

    values: _Array
    missing: _Array | None
    axes: _Axes

    @property
    def is_per_value(self) -> bool:
        """Whether there is one result for each value."""
        return all(isinstance(axis, int) for axis in self.axes)

    def filled(self) -> _Array:
        """The array with NaN or NaT where there is no value."""
        if self.missing is None or self.values.dtype.kind not in "fcmM":
            return self.values
        none: Any = "NaT" if self.values.dtype.kind in "mM" else np.nan
        return np.where(self.missing, np.array(none, self.values.dtype), self.values)

    def masked(self) -> Any:
        """The array as a masked one."""
        return np.ma.MaskedArray(
            self.values, np.ma.nomask if self.missing is None else self.missing
        )


@dataclass
class Groups:
    """What is known of groups beside their numbers."""

    # The names of the keys that they are made of; None for one without a name.
    names: Sequence[Any] = ()
    # The keys of all values, for each column.
    columns: Sequence[Any] = ()
    # The key of each group, for each column; None for groups by number.
    keys: Sequence[Any] | None = None
    # How many there are, for groups by keys.
    count: int = 0


class Kind:
    """A kind of values: that of one object, whose labels results may keep."""

    # Whether a result that has no value can be missing, whatever its dtype is.
    nullable = False
    # Whether NaN is how the kind marks a missing value.
    nan_is_missing = False
    # The unit of durations between dates, for a kind that has no durations of days.
    unit_of_days: str | None = None

    def out(self, made: Made, groups: Groups) -> Any:
        """A result in this kind."""
        raise NotImplementedError

    def part(self, places: _Array, axis: int) -> Any:
        """The values at some places along an axis, in this kind."""
        raise NotImplementedError

    def axis(self, operator: str, dim: Any) -> Any:
        """The number of the axis that `dim` names, if the kind has names of axes; else `dim`."""
        return dim

    def check_labels(self, operator: str, name: str, other: Any, axis: Any) -> None:
        """Raises if another argument has labels that differ from those of the values.

        `axis` is that of the values along which the groups lie; None: all.
        """


@dataclass(frozen=True)
class Held:
    """Values of some kind: as an array, and where they are missing (None: nowhere).

    The array is the memory of the values wherever it can be. It holds anything where they are
    missing.
    """

    values: _Array
    missing: _Array | None
    kind: Kind


def mask(missing: _Array) -> _Array | None:
    """Where values are missing; None if that is nowhere."""
    return missing if missing.any() else None
