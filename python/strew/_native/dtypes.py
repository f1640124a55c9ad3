"""The dtypes of arrays of any library, and values in another dtype."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from . import errors

_NARROW_INTEGERS = frozenset("int8 int16 int32 uint8 uint16 uint32".split())
_INEXACT = frozenset("float16 bfloat16 float32 float64 complex64 complex128".split())
_INTEGERS = _NARROW_INTEGERS | {"int64", "uint64"}
# The reductions that take `dtype`: those whose results need not have the dtype of `src`.
_WITH_DTYPE = frozenset("sum exact_sum prod mean exact_mean sumsq cumsum cumprod".split())

# Names by NumPy's numbers of types: `numpy.dtype.name` takes longer than small calls do.
_NUMPY: dict[int, str] = {np.dtype(code).num: np.dtype(code).name for code in "?bhilqBHILQefdFD"}


def name_of(src: Any) -> str:
    """The name of an array's dtype, such as "float32"; "" if NumPy cannot tell."""
    dtype = getattr(src, "dtype", None)
    number: int = getattr(dtype, "num", -1)
    known = _NUMPY.get(number)
    if known is not None:
        return known
    if dtype is None:
        try:
            dtype = as_array(src).dtype
        except (TypeError, ValueError, RuntimeError, BufferError, OverflowError):
            # The engine reads the same object and says what is wrong with it.
            return ""
    return _name(dtype)


def as_array(src: Any) -> Any:
    """A NumPy array of numbers, or of an array without a dtype of its own."""
    if hasattr(src, "__dlpack__") and not hasattr(src, "__array__"):
        return np.from_dlpack(src)
    if hasattr(src, "resolve_conj"):
        # Torch conjugates and negates lazily, and NumPy refuses such tensors.
        src = src.resolve_conj().resolve_neg()
    return np.asarray(src)


def is_narrow(name: str) -> bool:
    """Whether sums of this dtype are of 64 bits, which is another dtype."""
    return name == "bool" or name in _NARROW_INTEGERS


def is_inexact(name: str) -> bool:
    """Whether a dtype has NaN."""
    return name in _INEXACT


def is_whole(name: str) -> bool:
    """Whether values of this dtype are integers or bools."""
    return name == "bool" or name in _INTEGERS


def converted(operator: str, src: Any, dtype: Any, reduces: Iterable[str]) -> Any:
    """The values in the dtype that these results are to have.

    Values keep their kind or take a later one: bool, integer, float, complex.
    """
    name, own = _given(operator, dtype), name_of(src)
    if rank(name) < rank(own):
        raise errors.Problem(TypeError, operator, "dtype", name).saying(
            f"dtype = {name}: src has dtype {own}: dtype must be of that kind, or of a "
            "later one of bool, integer, float and complex"
        )
    for reduce in reduces:
        if reduce not in _WITH_DTYPE:
            raise errors.Problem(TypeError, operator, "reduce", reduce).saying(
                f"reduce = {reduce!r} does not take dtype"
            )
        if reduce.endswith("mean") and is_whole(name):
            raise errors.Problem(TypeError, operator, "dtype", name).saying(
                f"dtype = {name}: for a mean it must be a floating-point or complex type"
            )
    return cast(src, name)


# The reductions of integers and bools whose results are floats, and those of any values whose
# results are integers or bools.
_TO_FLOATS = frozenset(
    "mean exact_mean var std sem skew kurt median quantile logsumexp softmax rank".split()
)
_TO_WHOLE = frozenset(
    "len count nunique any all anynan allnan argmin argmax argtopk argsort cumcount".split()
)


def check_fill(
    operator: str, fill_value: Any, src: Any, reduces: Iterable[str], weighted: bool = False
) -> None:
    """Refuses a fill value that a result of integers or bools cannot hold."""
    if isinstance(fill_value, int) and fill_value >= 0:
        return
    made = np.asarray(fill_value)
    if not made.ndim and made.dtype.kind in "if" and made <= -1 and not weighted:
        _refuse_negative(operator, fill_value, name_of(src), reduces)
    # What is no number, and what is no finite one, is refused by the engine.
    if made.ndim or made.dtype.kind != "f" or not np.isfinite(made) or made % 1 == 0:
        return
    whole = is_whole(name_of(src)) and not weighted
    for reduce in reduces:
        if reduce in _TO_WHOLE or (whole and reduce not in _TO_FLOATS):
            raise errors.Problem(ValueError, operator, "fill_value", fill_value).saying(
                f"fill_value = {fill_value!r}: {reduce} of {name_of(src)} gives whole numbers, "
                "so it must be one"
            )


def _refuse_negative(operator: str, fill_value: Any, name: str, reduces: Iterable[str]) -> None:
    """Raises for a negative fill value of an unsigned result."""
    if name.startswith("uint") and any(
        one not in _TO_FLOATS and one not in _TO_WHOLE for one in reduces
    ):
        raise errors.Problem(ValueError, operator, "fill_value", fill_value).saying(
            f"fill_value = {fill_value}: value cannot be converted to type {name} without overflow"
        )


def rounded(operator: str, result: Any, like: Any, fill_value: Any) -> Any:
    """A result in the dtype of `like`; integers wrap, but the fill value must fit."""
    name = name_of(like)
    if name_of(result) == name:
        return result
    if fill_value is not None and name in _INTEGERS:
        limits = np.iinfo(name)
        if not limits.min <= fill_value <= limits.max:
            raise errors.Problem(ValueError, operator, "fill_value", fill_value).saying(
                f"fill_value = {fill_value}: value cannot be converted to type {name} without "
                "overflow"
            )
    return cast(result, name)


def cast(src: Any, name: str) -> Any:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(src, torch.Tensor):
        return src.to(getattr(torch, name))
    array = src if hasattr(src, "astype") else as_array(src)
    return array.astype(name)


def _given(operator: str, dtype: Any) -> str:
    """The name of the dtype that a caller gives: a name, or a dtype of any library."""
    # What pandas has beside NumPy's, and types of pyarrow.
    own = getattr(dtype, "numpy_dtype", None) or dtype
    if hasattr(own, "to_pandas_dtype"):
        with suppress(NotImplementedError):
            own = own.to_pandas_dtype()
    name = own if isinstance(own, str) else _name(own)
    # Polars and pandas write names such as Float32.
    lower = "bool" if name.lower() == "boolean" else name.lower()
    if rank(lower) >= 0:
        return lower
    # Types of Python and NumPy, and short names such as "i4".
    with suppress(TypeError):
        name = np.dtype(own).name
    if rank(name) < 0:
        raise errors.Problem(TypeError, operator, "dtype", dtype).expecting(
            "it must be a dtype of numbers or bools"
        )
    return name


def _name(dtype: Any) -> str:
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        return np.dtype(dtype).name
    name = getattr(dtype, "name", None)
    if isinstance(name, str):
        return name
    # For example "torch.float32".
    return str(dtype).rpartition(".")[2]


def rank(name: str) -> int:
    """The place of a dtype's kind among bool, integer, float and complex; -1 for others."""
    if is_whole(name):
        return int(name != "bool")
    return (2 + name.startswith("complex")) if is_inexact(name) else -1
