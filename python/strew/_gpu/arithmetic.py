"""Arithmetic with the CPU engine's bits, one rounded operation of torch after the other.

torch compiles each operator by itself, so that no product is fused with a sum. 16-bit floats are
computed in float32. Products and quotients of complex numbers are computed in their parts, because
torch's own may be fused. `exp` and `log` are those of the Rust crate `libm`, which the engine uses:
FreeBSD's, by way of musl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from torch import Tensor


#: Integers of the same size that torch has all operators for.
_SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


def signed(tensor: Tensor) -> Tensor:
    """The bits as a type that torch has all operators for."""
    return tensor.view(_SIGNED[tensor.dtype]) if tensor.dtype in _SIGNED else tensor


def widened(tensor: Tensor) -> Tensor:
    """The tensor in the type that it is computed in."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def times(left: Tensor, right: Tensor) -> Tensor:
    """A product in the type of `left`."""
    if left.dtype == torch.bool:
        return left & right
    a, b = widened(left), widened(right)
    if not (a.is_complex() or b.is_complex()):
        return (a * b).to(left.dtype)
    re = a.real * b.real - a.imag * b.imag
    return torch.complex(re, a.real * b.imag + a.imag * b.real)


def over(left: Tensor, right: Tensor) -> Tensor:
    """A quotient, in the type that it is computed in."""
    if not left.is_complex():
        return left / right
    norm = right.real * right.real + right.imag * right.imag
    re = left.real * right.real + left.imag * right.imag
    im = left.imag * right.real - left.real * right.imag
    return torch.complex(re / norm, im / norm)


def per_count(values: Tensor, counts: Tensor) -> Tensor:
    """Values divided by counts, which are at least 1."""
    if values.is_complex():
        counts = counts.to(values.real.dtype)
        return torch.complex(values.real / counts, values.imag / counts)
    return values / counts.to(values.dtype)


def sqrt(values: Tensor) -> Tensor:
    """Square roots, rounded correctly: torch's on the CPU may be off by one bit."""
    return values.sqrt() if not values.is_cpu else torch.from_numpy(np.sqrt(values.numpy()))


def _bits(value: Tensor) -> Tensor:
    return value.view(torch.int64 if value.dtype == torch.float64 else torch.int32)


def _polynomial(x: Tensor, *factors: float) -> Tensor:
    """``x * (a + x * (b + ...))``."""
    total = x * factors[-1]
    for factor in reversed(factors[:-1]):
        total = x * (total + factor)
    return total


def _times_power(value: Tensor, power: Tensor) -> Tensor:
    """``value * 2**power``, rounded once: the first of two steps leaves no subnormal number."""
    double = value.dtype == torch.float64
    bias, shift = (1023, 52) if double else (127, 23)
    first = power >> 1
    for step in (first, power - first):
        value = value * ((step + bias) << shift).view(value.dtype)
    return value


_EXP = {
    torch.float32: (
        (6.9314575195e-01, 1.4286067653e-06, 1.4426950216e00),
        (1.6666625440e-1, -2.7667332906e-3),
        (88.722839, -103.972084),
    ),
    torch.float64: (
        (6.93147180369123816490e-01, 1.90821492927058770002e-10, 1.44269504088896338700e00),
        (
            1.66666666666666019037e-01,
            -2.77777777770155933842e-03,
            6.61375632143793436117e-05,
            -1.65339022054652515390e-06,
            4.13813679705723846039e-08,
        ),
        (709.782712893383973096, -745.13321910194110842),
    ),
}


def exp(x: Tensor) -> Tensor:
    """The exponential of float32 or float64."""
    (high, low, inverse), factors, (most, least) = _EXP[x.dtype]
    integers = torch.int64 if x.dtype == torch.float64 else torch.int32
    regular = (x <= most) & (x >= least)
    safe = torch.where(regular, x, 0)
    # Comparisons are those of the upper bits, as in the original.
    size = _bits(safe.abs()) >> (32 if x.dtype == torch.float64 else 0)
    tiny, half, three_halves = _EXP_STEPS[x.dtype]
    sign = torch.signbit(safe)
    rounded = (inverse * safe + torch.where(sign, -0.5, 0.5).to(x.dtype)).to(integers)
    one = torch.where(sign, -1, 1).to(integers)
    power = torch.where(size > three_halves, rounded, one)
    power = torch.where(size > half, power, 0)
    count = power.to(x.dtype)
    reduced = power != 0
    hi = torch.where(reduced, safe - count * high, safe)
    lo = torch.where(reduced, count * low, 0)
    r = torch.where(reduced, hi - lo, safe)
    c = r - _polynomial(r * r, *factors)
    y = (r * c / (2.0 - c) - lo + hi) + 1.0
    y = torch.where(reduced, _times_power(y, power), y)
    y = torch.where(size > tiny, y, safe + 1.0)
    y = torch.where(x > most, torch.inf, torch.where(x < least, 0, y))
    return torch.where(x.isnan(), x, y)


#: The upper bits of 2^-13 or 2^-28, of half of ln 2, and of one and a half of it.
_EXP_STEPS = {
    torch.float32: (0x39000000, 0x3EB17218, 0x3F851592),
    torch.float64: (0x3E300000, 0x3FD62E42, 0x3FF0A2B1),
}

_LOG = {
    torch.float32: (
        (6.9313812256e-01, 9.0580006145e-06),
        (0.40000972152, 0.24279078841),
        (0.66666662693, 0.28498786688),
        (25, 23, 127, 0x3F800000, 0x3F3504F3, 0),
    ),
    torch.float64: (
        (6.93147180369123816490e-01, 1.90821492927058770002e-10),
        (3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01),
        (
            6.666666666666735130e-01,
            2.857142874366239149e-01,
            1.818357216161805012e-01,
            1.479819860511658591e-01,
        ),
        (54, 20, 1023, 0x3FF00000, 0x3FE6A09E, 32),
    ),
}


def log(x: Tensor) -> Tensor:
    """The logarithm of float32 or float64."""
    (ln2_high, ln2_low), even, odd, (up, shift, bias, one, root, rest) = _LOG[x.dtype]
    subnormal = (x > 0) & (x < torch.finfo(x.dtype).tiny)
    regular = (x > 0) & (x < torch.inf)
    safe = torch.where(regular, torch.where(subnormal, x * 2.0**up, x), 1)
    bits = _bits(safe)
    upper = (bits >> rest) + (one - root)
    power = (upper >> shift) - bias - torch.where(subnormal, up, 0).to(bits.dtype)
    upper = (upper & ((1 << shift) - 1)) + root
    bits = (upper << rest) | (bits & ((1 << rest) - 1))
    f = bits.view(x.dtype) - 1.0
    half_square = 0.5 * f * f
    s = f / (f + 2.0)
    z = s * s
    w = z * z
    t1 = _polynomial(w, *even)
    t2 = z * (_polynomial(w, *odd[1:]) + odd[0])
    r = t2 + t1
    count = power.to(x.dtype)
    y = s * (half_square + r) + count * ln2_low - half_square + f + count * ln2_high
    y = torch.where(x == 1, 0, y)
    y = torch.where(x == 0, -torch.inf, torch.where(x == torch.inf, x, y))
    return torch.where((x < 0) | x.isnan(), torch.nan, y)
