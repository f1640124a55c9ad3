"""What a call is checked for, by the CPU's own checks: one set of rules and of messages.

Everything but the values of an index is known on the CPU: types, shapes, numbers. The operator's
`explain` checks these on stand-ins, tensors of one element that is repeated, in some 60
microseconds; a call with the same types and shapes is not checked again. Where an index on the
device turns out to be wrong, the operator runs on the CPU with that index and stand-ins for all
values, and raises its own error. Results are made in new memory, so nothing is written by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .._native.errors import Problem
from .._strew import Operator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from torch import Tensor

#: Arguments whose values decide whether a call is right.
_INDICES = frozenset({"index", "indices", "indptr", "lengths", "offsets", "mask"})

#: Calls that were right, without the values of their indices.
_known: dict[Any, None] = {}
_KNOWN_AT_MOST = 4096


class Checked:
    """An operator whose calls are checked."""

    def __init__(self, row: str) -> None:
        self.operator = Operator(row)
        self.row = row
        self.names = [name for name, _, _ in self.operator.arguments]
        #: Whether an argument's strides are checked, and whether it is written to.
        self.strided = [name == "input" and "stride" in self.names for name in self.names]
        self.targets = [kind == "Target" for _, kind, _ in self.operator.arguments]

    def check(self, values: Sequence[Any]) -> None:
        """Raises the operator's error for types, shapes and numbers that do not fit."""
        self._expect_one_device(values)
        key = (self.row, *map(_key, values, self.strided))
        if key in _known:
            return
        self.operator.explain(*self._stand_ins(values, keep=False))
        while len(_known) >= _KNOWN_AT_MOST:
            _known.pop(next(iter(_known)), None)
        _known[key] = None

    def refuse(self, values: Sequence[Any]) -> NoReturn:
        """Raises the operator's error for a wrong index."""
        self.operator(*self._stand_ins(values, keep=True))
        raise Problem(RuntimeError, self.row, None).saying(
            "the index is wrong on its device but not on the CPU",
            "it must not change meanwhile",
        )

    def check_overlap(self, values: Sequence[Any]) -> None:
        """Raises the operator's error where its target shares memory with another argument."""
        target, *others = values
        memory = target.untyped_storage()
        shared = [one for one in others if isinstance(one, torch.Tensor)]
        shared = [one for one in shared if one.untyped_storage().data_ptr() == memory.data_ptr()]
        if not (shared or torch._debug_has_internal_overlap(target)) or target.numel() == 0:
            return
        # The same places in memory that is not touched: a wrong index ends the call before.
        stand_in = torch.UntypedStorage(memory.nbytes())
        given = self._stand_ins(values, keep=False)
        for k, value in enumerate(values):
            if value is target or any(value is one for one in shared):
                place = (value.storage_offset(), value.shape, value.stride())
                given[k] = torch.empty(0, dtype=value.dtype).set_(stand_in, *place)
            elif self.names[k] in _INDICES and isinstance(value, torch.Tensor):
                least = 0 if value.dtype == torch.bool else torch.iinfo(value.dtype).min
                given[k] = torch.full((), least, dtype=value.dtype).expand(value.shape)
        try:
            self.operator(*given)
        except Exception as error:
            if getattr(error, "position", None) is None:
                raise

    def _expect_one_device(self, values: Sequence[Any]) -> None:
        tensors = [
            (name, one)
            for name, value in zip(self.names, values, strict=True)
            for one in (value if isinstance(value, (list, tuple)) else (value,))
            if isinstance(one, torch.Tensor)
        ]
        first, device = tensors[0][0], tensors[0][1].device
        for name, tensor in tensors:
            if tensor.device != device:
                raise Problem(RuntimeError, self.row, name, str(tensor.device)).saying(
                    f"{name} is on {tensor.device}", f"it must be on {device}, as {first} is"
                )

    def _stand_ins(self, values: Sequence[Any], keep: bool) -> list[Any]:
        # A target that is written to may not lie on itself. No memory is taken where none is.
        strided = [a or (keep and b) for a, b in zip(self.strided, self.targets, strict=True)]
        pairs = zip(self.names, strided, values, strict=True)
        unchecked = {"unsafe": True} if not keep and "lengths" in self.names else {}
        return [
            unchecked.get(name, _stand_in(value, strided, keep and name in _INDICES))
            for name, strided, value in pairs
        ]


def _is_mask(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in (torch.bool, torch.uint8)


def _key(value: Any, strided: bool) -> Any:
    if isinstance(value, torch.Tensor):
        return value.dtype, value.shape, value.stride() if strided else None
    if isinstance(value, (list, tuple)):
        # How many elements masks choose says which shape the values may have.
        chosen = tuple(int(one.count_nonzero()) for one in value if _is_mask(one))
        return chosen, tuple(_key(one, strided) for one in value)
    # 1, 1.0 and True are equal, but not the same argument.
    return type(value), value


def _stand_in(value: Any, strided: bool, keep: bool) -> Any:
    if isinstance(value, (list, tuple)):
        return [
            _mask(one) if _is_mask(one) and not keep else _stand_in(one, strided, keep)
            for one in value
        ]
    if not isinstance(value, torch.Tensor):
        return value
    if keep:
        return value.detach().cpu()
    if strided:
        # Memory that nothing has touched takes none.
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
    return torch.zeros((), dtype=value.dtype).expand(value.shape)


def _mask(value: Tensor) -> Tensor:
    """A mask on the CPU that chooses as many elements."""
    made = torch.zeros(value.shape, dtype=value.dtype)
    made.reshape(-1)[: int(value.count_nonzero())] = 1
    return made


def first_and_last(index: Tensor) -> tuple[int, int]:
    """The smallest and the largest number of an index. It waits for the device."""
    low, high = torch.aminmax(index)
    least, most = torch.stack([low, high]).tolist()
    return least, most
