"""The loops that run on a GPU. `order` lists the updates of each cell in their order.

```text
for each cell and column, side by side:
    result = what the cell holds, or the reduction's identity
    for k in starts[cell] .. ends[cell]:
        result = join(result, src[order[k], column])
    out[cell, column] = finish(result, ends[cell] - starts[cell])
```

One lane has one cell and column, so the order of the updates, and with it every bit, is that of the
sequential loop. A column is a place before and behind the axis that is reduced: column `c` lies
`c // inner` outer and `c % inner` inner steps away from the first. Four loads of a lane are in
flight. Cost: the bytes of an update and 8 for its number, once each; the longest cell of a program
decides how long it takes.

No product is fused with a sum: kernels are launched with ``enable_fp_fusion=False``.
"""

import triton
import triton.language as tl


@triton.jit
def join(result, value, take, KIND: tl.constexpr):
    """One step of the sequential loop; where `take` is false, the bits of `result` stay."""
    if KIND == "sum":
        joined = result + value
    elif KIND == "prod":
        joined = result * value
    elif KIND == "max":  # A NaN wins; of equal values, such as -0.0 and 0.0, the first stays.
        joined = tl.where((value > result) | (value != value), value, result)
    elif KIND == "min":
        joined = tl.where((value < result) | (value != value), value, result)
    elif KIND == "strict_max":  # A NaN is left out.
        joined = tl.where(value > result, value, result)
    else:
        joined = tl.where(value < result, value, result)
    return tl.where(take, joined, result)


@triton.jit
def join_with_place(result, winner, value, k, take, KIND: tl.constexpr, FIRST: tl.constexpr):
    """One step of a strict minimum or maximum, and the place in its cell of what won so far."""
    if KIND == "strict_max":
        better = value > result
    else:
        better = value < result
    if FIRST:
        better = better | ((winner < 0) & (value == value))
    better = better & take
    return tl.where(better, value, result), tl.where(better, k, winner)


@triton.jit
def widened(value, TO: tl.constexpr):
    """An element in the type of the computation.

    bfloat16 is widened by integers: Triton's interpreter changes subnormal numbers.
    """
    if value.dtype == tl.bfloat16 and tl.float32 == TO:
        return (value.to(tl.uint16, bitcast=True).to(tl.uint32) << 16).to(tl.float32, bitcast=True)
    else:
        return value.to(TO)


@triton.jit
def rounded(result, TO: tl.constexpr):
    """The result as an element, rounded once to nearest even.

    bfloat16 is rounded by integers: Triton's interpreter cuts the lower bits off.
    """
    if tl.bfloat16 == TO:
        bits = result.to(tl.uint32, bitcast=True)
        up = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        number = tl.where(result == result, up, 0x7FC0)
        return number.to(tl.uint16).to(tl.bfloat16, bitcast=True)
    else:
        return result.to(TO)


@triton.jit
def mean_of(result, count, ELEMENT: tl.constexpr, TOWARD_ZERO: tl.constexpr):
    """A sum divided by a count: of integers rounded down, or toward zero."""
    if result.dtype == tl.float32:
        return tl.div_rn(result, count.to(tl.float32))
    elif result.dtype == tl.float64:
        return result / count.to(tl.float64)
    else:
        # A sum of narrow integers has wrapped before it is divided.
        total = result.to(ELEMENT)
        if tl.uint64 == ELEMENT:
            return (total // count.to(tl.uint64)).to(result.dtype)
        total = total.to(tl.int64)
        quotient = total // count
        rest = total - quotient * count
        # Triton's quotient is rounded toward zero, and its interpreter's down.
        if TOWARD_ZERO:
            quotient = tl.where((rest != 0) & (total < 0) & (rest > 0), quotient + 1, quotient)
        else:
            quotient = tl.where(rest < 0, quotient - 1, quotient)
        return quotient.to(result.dtype)


@triton.jit
def fold(
    src,
    order,
    starts,
    ends,
    out,
    arg,
    cells,
    columns,
    inner,
    src_row,
    src_outer,
    src_inner,
    identity,
    KIND: tl.constexpr,
    FROM_CELL: tl.constexpr,
    MEAN: tl.constexpr,
    MORE: tl.constexpr,
    ZERO_IF_START: tl.constexpr,
    ORDERED: tl.constexpr,
    ARG: tl.constexpr,
    WIDE: tl.constexpr,
    FIRST: tl.constexpr,
    CELLS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Folds CELLS cells of COLUMNS columns. Cells without updates keep what they hold.

    MEAN is "", "down" or "zero", the direction in which integers are rounded. MORE is added to the
    count. ARG: `arg` becomes the number of the update that won. FIRST: the first update that is
    no NaN wins in any case, and a cell without one keeps what it holds.
    """
    program = tl.program_id(0)
    blocks = tl.cdiv(columns, COLUMNS)
    cell = (program // blocks).to(tl.int64) * CELLS + tl.arange(0, CELLS)
    column = program % blocks * COLUMNS + tl.arange(0, COLUMNS)
    lo = tl.load(starts + cell, mask=cell < cells, other=0).to(tl.int64)
    hi = tl.load(ends + cell, mask=cell < cells, other=0).to(tl.int64)
    inside = (lo < hi)[:, None] & (column < columns)[None, :]
    # Divided as they are: a division of 64 bits is a call of a function.
    outer, place = (column // inner).to(tl.int64), (column % inner).to(tl.int64)
    to = (outer * cells * inner + place)[None, :] + (cell * inner)[:, None]
    along = (outer * src_outer + place * src_inner)[None, :]
    nothing = tl.zeros([CELLS, COLUMNS], tl.int64)
    if FROM_CELL:
        result = widened(tl.load(out + to, mask=inside, other=0), WIDE)
    else:
        result = (nothing.to(WIDE) + tl.load(identity)).to(WIDE)
    winner = tl.zeros([CELLS, COLUMNS], tl.int32) - 1
    for k in range(0, tl.max(hi - lo).to(tl.int32), 4):
        at0, at1, at2, at3 = lo + k, lo + k + 1, lo + k + 2, lo + k + 3
        if ORDERED:
            at0 = tl.load(order + at0, mask=lo + k < hi, other=0).to(tl.int64)
            at1 = tl.load(order + at1, mask=lo + k + 1 < hi, other=0).to(tl.int64)
            at2 = tl.load(order + at2, mask=lo + k + 2 < hi, other=0).to(tl.int64)
            at3 = tl.load(order + at3, mask=lo + k + 3 < hi, other=0).to(tl.int64)
        in0 = inside & (lo + k < hi)[:, None]
        in1 = inside & (lo + k + 1 < hi)[:, None]
        in2 = inside & (lo + k + 2 < hi)[:, None]
        in3 = inside & (lo + k + 3 < hi)[:, None]
        x0 = widened(tl.load(src + (at0 * src_row)[:, None] + along, mask=in0, other=0), WIDE)
        x1 = widened(tl.load(src + (at1 * src_row)[:, None] + along, mask=in1, other=0), WIDE)
        x2 = widened(tl.load(src + (at2 * src_row)[:, None] + along, mask=in2, other=0), WIDE)
        x3 = widened(tl.load(src + (at3 * src_row)[:, None] + along, mask=in3, other=0), WIDE)
        if ARG or FIRST:
            result, winner = join_with_place(result, winner, x0, k, in0, KIND, FIRST)
            result, winner = join_with_place(result, winner, x1, k + 1, in1, KIND, FIRST)
            result, winner = join_with_place(result, winner, x2, k + 2, in2, KIND, FIRST)
            result, winner = join_with_place(result, winner, x3, k + 3, in3, KIND, FIRST)
        else:
            result = join(result, x0, in0, KIND)
            result = join(result, x1, in1, KIND)
            result = join(result, x2, in2, KIND)
            result = join(result, x3, in3, KIND)
    ELEMENT: tl.constexpr = out.dtype.element_ty
    if MEAN != "":
        # Cells without updates are not stored: 1 keeps integers from a division by 0.
        count = tl.maximum(hi - lo + MORE, 1)[:, None] + nothing
        result = mean_of(result, count, ELEMENT, MEAN == "zero")
    if ZERO_IF_START:
        start = (nothing.to(WIDE) + tl.load(identity)).to(WIDE)
        result = tl.where(result == start, nothing.to(WIDE), result)
    won = inside & (winner >= 0)
    tl.store(out + to, rounded(result, ELEMENT), mask=won if FIRST else inside)
    if ARG:
        number = lo[:, None] + winner
        if ORDERED:
            number = tl.load(order + number, mask=won, other=0)
        tl.store(arg + to, number, mask=won)


@triton.jit
def lane_of_column(starts, ends, cells, columns, inner, src_outer, src_inner, BLOCK: tl.constexpr):
    """Of a lane with one cell and column: where the cell's updates begin and end, and where the
    column lies in the cells and in an update."""
    element = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    cell, column = element // columns, element % columns
    lo = tl.load(starts + cell, mask=cell < cells, other=0).to(tl.int64)
    hi = tl.load(ends + cell, mask=cell < cells, other=0).to(tl.int64)
    outer, place = column // inner, column % inner
    to = outer * cells * inner + cell * inner + place
    return lo, hi, to, outer * src_outer + place * src_inner


@triton.jit
def fold_products(
    src, order, starts, ends, out, cells, columns, inner, src_row, src_outer, src_inner,
    FROM_CELL: tl.constexpr, ORDERED: tl.constexpr, SKIP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Products of complex numbers, whose parts lie side by side. Strides count parts.

    SKIP: NaN is left out.
    """
    lo, hi, to, along = lane_of_column(
        starts, ends, cells, columns, inner, src_outer, src_inner, BLOCK
    )
    inside = lo < hi
    zero = tl.zeros([BLOCK], out.dtype.element_ty)
    re, im = zero + 1.0, zero
    if FROM_CELL:
        re = tl.load(out + 2 * to, mask=inside, other=1)
        im = tl.load(out + 2 * to + 1, mask=inside, other=0)
    for k in range(0, tl.max(hi - lo)):
        take = lo + k < hi
        at = lo + k
        if ORDERED:
            at = tl.load(order + at, mask=take, other=0).to(tl.int64)
        x = src + at * src_row + along
        x_re = tl.load(x, mask=take, other=1)
        x_im = tl.load(x + 1, mask=take, other=0)
        if SKIP:
            take = take & (x_re == x_re) & (x_im == x_im)
        joined_re = re * x_re - im * x_im
        joined_im = re * x_im + im * x_re
        re = tl.where(take, joined_re, re)
        im = tl.where(take, joined_im, im)
    tl.store(out + 2 * to, re, mask=inside)
    tl.store(out + 2 * to + 1, im, mask=inside)


@triton.jit
def add_planes(
    src, order, numbers, planes, count, columns, stretch,
    ORDERED: tl.constexpr, NUMBERED: tl.constexpr, PLANES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Adds values to the planes of their cells; see `exact`.

    ```text
    for each stretch of the sorted updates and each column, side by side:
        for each update of the stretch:
            if its cell is another one, or its integers are outside the window:
                add the window to the planes of the cell, atomically; empty it, and move it
            add its integers to the window
        add the window to the planes of the cell, atomically
    ```

    A window is of 3 or 4 planes of a cell, of which plane `base` is the first. It takes values
    whose lowest plane is `base` or the next one. The last plane of a cell holds flags: 1 for
    +infinity, 2 for -infinity, 4 for NaN. Cost: an atomic addition for each number of a window that
    is not 0, once for each stretch of a cell unless its values lie more than 32 bits apart.
    """
    lane = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    column = lane % columns
    lo = lane // columns * stretch
    hi = tl.minimum(lo + stretch, count)
    zero = tl.zeros([BLOCK], tl.int64)
    cell, base, flags = zero, zero, zero
    w0, w1, w2, w3 = zero, zero, zero, zero
    # The last turn has no update: it empties the window.
    for k in range(0, stretch + 1):
        row = lo + k
        inside = row < hi
        if ORDERED:
            row = tl.load(order + row, mask=inside, other=0).to(tl.int64)
        to = row
        if NUMBERED:
            to = tl.load(numbers + row, mask=inside, other=0).to(tl.int64)
        value = tl.load(src + row * columns + column, mask=inside, other=0)
        if src.dtype.element_ty == tl.float64:
            bits = value.to(tl.int64, bitcast=True)
            field = (bits >> 52) & 2047
            fraction = bits & 0xFFFFFFFFFFFFF
            m = fraction | tl.where(field > 0, 1 << 52, 0).to(tl.int64)
            special = field == 2047
        else:
            # 16-bit floats are float32 of the same value.
            bits = widened(value, tl.float32).to(tl.int32, bitcast=True).to(tl.int64)
            field = (bits >> 23) & 255
            fraction = bits & 0x7FFFFF
            m = fraction | tl.where(field > 0, 1 << 23, 0).to(tl.int64)
            special = field == 255
        negative = bits < 0
        exponent = tl.maximum(field, 1) - 1
        plane = exponent >> 5
        counts = (m != 0) & (special == 0)
        above = counts & (plane > base + 1)
        below = counts & (plane < base)
        leaves = (inside == 0) | (to != cell) | above | below
        at = planes + (cell * columns + column) * PLANES
        tl.atomic_add(at + base + 1, w0, mask=leaves & (w0 != 0), sem="relaxed")
        tl.atomic_add(at + base + 2, w1, mask=leaves & (w1 != 0), sem="relaxed")
        tl.atomic_add(at + base + 3, w2, mask=leaves & (w2 != 0), sem="relaxed")
        if src.dtype.element_ty == tl.float64:
            tl.atomic_add(at + base + 4, w3, mask=leaves & (w3 != 0), sem="relaxed")
        tl.atomic_or(at + PLANES - 1, flags, mask=leaves & (flags != 0), sem="relaxed")
        base = tl.where(above, plane - 1, tl.where(below, plane, base))
        cell = tl.where(inside, to, cell)
        flag = tl.where(fraction != 0, 4, tl.where(negative, 2, 1)).to(tl.int64)
        flags = tl.where(leaves, 0, flags) | tl.where(special, flag, 0)
        m = tl.where(counts, m, 0)
        shift = exponent & 31
        low = (m << shift) & 0xFFFFFFFF
        middle = (m >> (32 - shift)) & 0xFFFFFFFF
        high = (m >> (63 - shift)) >> 1
        low = tl.where(negative, -low, low)
        middle = tl.where(negative, -middle, middle)
        high = tl.where(negative, -high, high)
        first = plane == base
        w0 = tl.where(leaves, 0, w0) + tl.where(first, low, 0)
        w1 = tl.where(leaves, 0, w1) + tl.where(first, middle, low)
        w2 = tl.where(leaves, 0, w2) + tl.where(first, high, middle)
        w3 = tl.where(leaves, 0, w3) + tl.where(first, 0, high)


@triton.jit
def finish(
    planes, counts, out, cells, columns, BY_COLUMN: tl.constexpr,
    MEAN: tl.constexpr, MORE: tl.constexpr, BASE: tl.constexpr, FRACTION: tl.constexpr,
    LOWEST: tl.constexpr, BITS: tl.constexpr, PLANES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Rounds sums to floats of FRACTION bits whose smallest normal number is 2^LOWEST.

    Plane 1 counts units of 2^BASE. Digits have 32 bits; they are written over the planes. `counts`
    has a number for each cell, BY_COLUMN also for each column.
    """
    element = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    cell = element // columns
    count = tl.load(counts + (element if BY_COLUMN else cell), mask=cell < cells, other=0)
    inside = count > 0
    count = tl.maximum(count, 1) + MORE
    at = planes + element * PLANES
    zero = tl.zeros([BLOCK], tl.int64)
    flags = tl.load(at + PLANES - 1, mask=inside, other=0)
    carry = zero
    for p in range(0, PLANES - 1):
        total = tl.load(at + p, mask=inside, other=0) + carry
        tl.store(at + p, total & 0xFFFFFFFF, mask=inside)
        carry = total >> 32
    tl.debug_barrier()
    negative = carry < 0
    # The absolute value: all bits of a negative number are turned, and 1 is added.
    carry = negative.to(tl.int64)
    for p in range(0, PLANES - 1):
        digit = tl.load(at + p, mask=inside, other=0)
        turned = (digit ^ 0xFFFFFFFF) + carry
        tl.store(at + p, turned & 0xFFFFFFFF, mask=inside & negative)
        carry = turned >> 32
    tl.debug_barrier()
    rest = zero
    top = zero - 1
    lowest = zero + PLANES
    for down in range(0, PLANES - 1):
        p = PLANES - 2 - down
        digit = tl.load(at + p, mask=inside, other=0)
        if MEAN:
            whole = (rest << 32) | digit
            digit = whole // count
            rest = whole - digit * count
            tl.store(at + p, digit, mask=inside)
        some = digit != 0
        top = tl.where(some & (top < 0), p, top)
        lowest = tl.where(some, p, lowest)
    tl.debug_barrier()
    # The 64 bits from the highest one on, and whether any bit lies below them.
    d0 = tl.load(at + top, mask=inside & (top >= 0), other=1).to(tl.uint64)
    d1 = tl.load(at + top - 1, mask=inside & (top >= 1), other=0).to(tl.uint64)
    d2 = tl.load(at + top - 2, mask=inside & (top >= 2), other=0).to(tl.uint64)
    length = tl.zeros([BLOCK], tl.uint64) + 1
    left = d0
    for step in tl.static_range(0, 5):
        longer = left >= (1 << (16 >> step))
        length = tl.where(longer, length + (16 >> step), length)
        left = tl.where(longer, left >> (16 >> step), left)
    bits = (d0 << (64 - length)) | (d1 << (32 - length)) | (d2 >> length)
    below = (d2 << (64 - length)) != 0
    below = below | (lowest < top - 2) | (rest != 0)
    exponent = 32 * (top - 1) + length.to(tl.int64) - 1 + BASE
    # What is dropped of the 64 bits: more of them of a subnormal result.
    drop = 63 - FRACTION + tl.maximum(LOWEST - exponent, 0)
    gone = drop > 64
    drop = tl.minimum(drop, 64).to(tl.uint64)
    kept = (bits >> (drop - 1)) >> 1
    dropped = bits - ((kept << (drop - 1)) << 1)
    half = (tl.zeros([BLOCK], tl.uint64) + 1) << (drop - 1)
    up = (dropped > half) | ((dropped == half) & (below | ((kept & 1) == 1)))
    number = kept.to(tl.int64) + up.to(tl.int64)
    # The highest bit of a normal number is 1 more in the exponent's field.
    field = tl.minimum(tl.maximum(exponent - LOWEST, 0), (1 << (BITS - 1 - FRACTION)) - 2)
    number = tl.where(gone | (top < 0), 0, number + (field << FRACTION))
    largest: tl.constexpr = ((1 << (BITS - 1 - FRACTION)) - 1) << FRACTION
    number = tl.minimum(number, largest)
    negative = tl.where(flags != 0, flags == 2, negative)
    number = tl.where(flags != 0, largest, number)
    number = tl.where((flags & 4) != 0, largest + 1, tl.where(flags == 3, largest + 1, number))
    # Also of a mean that is rounded to zero. A sum of zero is not negative.
    sign = tl.where(negative & (number <= largest), 1, 0).to(tl.int64)
    number = number | (sign << (BITS - 1))
    if BITS == 16:
        number = number.to(tl.int16)
    elif BITS == 32:
        number = number.to(tl.int32)
    tl.store(out + element, number.to(out.dtype.element_ty, bitcast=True), mask=inside)


@triton.jit
def fold_spread(
    src, order, starts, ends, out, cells, columns, inner, src_row, src_outer, src_inner,
    SKIP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sums of squared differences from the mean, of float64, by one pass over each cell.

    Values are counted from the first one of their cell. SKIP: NaN is left out.
    """
    lo, hi, to, along = lane_of_column(
        starts, ends, cells, columns, inner, src_outer, src_inner, BLOCK
    )
    zero = tl.zeros([BLOCK], tl.float64)
    count, first, mean, squares = zero, zero, zero, zero
    for k in range(0, tl.max(hi - lo)):
        inside = lo + k < hi
        at = tl.load(order + lo + k, mask=inside, other=0).to(tl.int64)
        given = tl.load(src + at * src_row + along, mask=inside, other=0)
        take = inside
        if SKIP:
            take = inside & (given == given)
        first = tl.where(take & (count == 0), given, first)
        more = count + 1.0
        value = given - first
        apart = value - mean
        moved = mean + apart / more
        joined = squares + apart * (value - moved)
        # Finite values whose squares overflow have an infinite variance.
        finite = (given - given) == 0
        overflows = (joined != joined) & (squares == squares) & finite
        joined = tl.where(overflows, float("inf"), joined)
        count = tl.where(take, more, count)
        mean = tl.where(take, moved, mean)
        squares = tl.where(take, joined, squares)
    tl.store(out + to, squares, mask=lo < hi)


@triton.jit
def fold_powers(
    src, order, starts, ends, out, cells, columns, inner, src_row, src_outer, src_inner,
    SKIP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sums of second, third and fourth powers of differences from the mean, of float64.

    `out` has those of all cells one after the other. As `fold_spread`, by Terriberry's update.
    """
    lo, hi, to, along = lane_of_column(
        starts, ends, cells, columns, inner, src_outer, src_inner, BLOCK
    )
    zero = tl.zeros([BLOCK], tl.float64)
    count, first, mean = zero, zero, zero
    squares, cubes, fourths = zero, zero, zero
    for k in range(0, tl.max(hi - lo)):
        inside = lo + k < hi
        at = tl.load(order + lo + k, mask=inside, other=0).to(tl.int64)
        given = tl.load(src + at * src_row + along, mask=inside, other=0)
        take = inside
        if SKIP:
            take = inside & (given == given)
        first = tl.where(take & (count == 0), given, first)
        more = count + 1.0
        apart = given - first - mean
        step = apart / more
        square = apart * step * count
        of_count = more * more - 3.0 * more + 3.0
        fourth = square * step * step * of_count + 6.0 * step * step * squares - 4.0 * step * cubes
        cube = square * step * (more - 2.0) - 3.0 * step * squares
        count = tl.where(take, more, count)
        mean = tl.where(take, mean + step, mean)
        squares = tl.where(take, squares + square, squares)
        cubes = tl.where(take, cubes + cube, cubes)
        fourths = tl.where(take, fourths + fourth, fourths)
    size = cells.to(tl.int64) * columns
    tl.store(out + to, squares, mask=lo < hi)
    tl.store(out + size + to, cubes, mask=lo < hi)
    tl.store(out + 2 * size + to, fourths, mask=lo < hi)


@triton.jit
def scan(
    src, order, starts, ends, out, cells, columns, inner, src_row, src_outer, src_inner,
    PROD: tl.constexpr, COMPLEX: tl.constexpr, SKIP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Running sums or products of each cell, written where each value is in `out`.

    `out` has the strides of `src`, which count parts of complex numbers. SKIP: NaN joins nothing.
    """
    lo, hi, _, along = lane_of_column(
        starts, ends, cells, columns, inner, src_outer, src_inner, BLOCK
    )
    zero = tl.zeros([BLOCK], out.dtype.element_ty)
    re, im, x_im = zero, zero, zero
    if PROD:
        re = zero + 1
    begun = lo < 0
    for k in range(0, tl.max(hi - lo)):
        inside = lo + k < hi
        at = tl.load(order + lo + k, mask=inside, other=0).to(tl.int64) * src_row + along
        x_re = tl.load(src + at, mask=inside, other=0)
        take = inside
        if COMPLEX:
            x_im = tl.load(src + at + 1, mask=inside, other=0)
        if SKIP:
            take = inside & (x_re == x_re) & (x_im == x_im)
        if PROD:
            joined_re = re * x_re
            joined_im = im
            if COMPLEX:
                joined_re = joined_re - im * x_im
                joined_im = re * x_im + im * x_re
        else:
            joined_re = re + x_re
            joined_im = im + x_im
        # The first value is not joined: -0.0 stays.
        re = tl.where(take, tl.where(begun, joined_re, x_re), re)
        tl.store(out + at, re, mask=inside)
        if COMPLEX:
            im = tl.where(take, tl.where(begun, joined_im, x_im), im)
            tl.store(out + at + 1, im, mask=inside)
        begun = begun | take
