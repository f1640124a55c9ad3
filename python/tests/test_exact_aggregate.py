"""Exact aggregates: those of fractions, rounded once, whatever the order, the chunks and the merges."""

import math
import pickle
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import strew

NAMES = ["sum", "mean", "sumsq", "var", "std", "sem"]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
DTYPES = [*FLOATS, np.complex64, np.complex128]
INTEGERS = [np.bool_, np.int8, np.int64, np.uint64]
KINDS = ["ordinary", "magnitudes", "cancelling", "subnormal", "huge", "tiny", "equal", "zeros"]
SPECIAL = [math.inf, -math.inf, math.nan, -0.0, 0.0]


def real_of(dtype):
    """The type of the real parts."""
    return {np.complex64: np.float32, np.complex128: np.float64}.get(dtype, dtype)


def drawn(kind, dtype, shape, rng):
    """Random finite values of a kind."""
    if dtype in INTEGERS:
        return drawn_integers(kind, dtype, shape, rng)
    if real_of(dtype) is not dtype:
        parts = [drawn(kind, real_of(dtype), shape, rng) for _ in range(2)]
        made = np.empty(shape, dtype)
        made.real, made.imag = parts
        return made
    info = ml_dtypes.finfo(dtype)
    low, high = int(info.minexp), int(info.maxexp)
    mantissas = rng.uniform(1, 2, shape) * rng.choice([-1, 1], shape)
    made = {
        "ordinary": lambda: rng.normal(3, 1, shape),
        "magnitudes": lambda: np.ldexp(mantissas, rng.integers(low - info.nmant, high, shape)),
        "cancelling": lambda: mantissas * rng.choice([1.0, 2.0 ** (high - 2), 2.0**low], shape),
        "subnormal": lambda: np.ldexp(
            rng.integers(-9, 10, shape).astype(float), low - int(info.nmant)
        ),
        # Squares of these are beyond the type's range, and sums of them for some.
        "huge": lambda: np.ldexp(mantissas, rng.integers(high // 2, high, shape)),
        "tiny": lambda: np.ldexp(mantissas, rng.integers(low - info.nmant, low // 2, shape)),
        "equal": lambda: np.full(shape, rng.normal()),
        "zeros": lambda: rng.choice([0.0, -0.0], shape),
    }[kind]()
    with np.errstate(all="ignore"):
        made = np.asarray(made).astype(dtype)
        finite = np.isfinite(made.astype(np.float64))
    if kind == "cancelling" and made.size > 1:
        # Half of the values are the others with the other sign.
        flat = made.reshape(-1)
        half = flat.size // 3
        flat[half : 2 * half] = -flat[:half]
    return np.where(finite, made, np.ones_like(made)).astype(dtype)


def drawn_integers(kind, dtype, shape, rng):
    if dtype is np.bool_:
        return rng.random(shape) < 0.6
    info = np.iinfo(dtype)
    if kind == "huge":
        return info.max - rng.integers(0, 100, shape).astype(dtype)
    if kind in ("equal", "zeros"):
        return np.full(shape, info.max - 1 if kind == "equal" else 0, dtype)
    if kind == "ordinary":
        return rng.integers(0, 100, shape).astype(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def parts_of(value):
    """The real and the imaginary part as Python's numbers."""
    if isinstance(value, (np.integer, np.bool_)):
        return int(value), 0
    value = complex(value)
    return value.real, value.imag


def is_finite(value):
    return all(map(math.isfinite, parts_of(value)))


def halfway(one, other):
    """The number between two neighbours; the one beyond the largest is a power of two."""
    numbers = []
    for value in (one, other):
        if np.isinf(value):
            numbers.append(Fraction(2) ** int(ml_dtypes.finfo(value.dtype).maxexp))
            numbers[-1] *= -1 if value < 0 else 1
        else:
            numbers.append(Fraction(float(value)))
    return sum(numbers) / 2


def is_nearest(found, exact, root=False):
    """Whether a float is the one nearest to a fraction, or to its root; of two the even one."""
    if np.isnan(found):
        return False
    even = int.from_bytes(np.asarray(found).tobytes(), "little") % 2 == 0
    kind = type(found)
    if not np.isinf(found):
        with np.errstate(over="ignore"):
            below, above = (np.nextafter(found, kind(to)) for to in (-math.inf, math.inf))
        low, high = halfway(found, below), halfway(found, above)
    else:
        # Of an overflow the tie goes to infinity, as if the largest number were odd.
        last = np.nextafter(found, kind(0))
        bound = halfway(found, last)
        even, low, high = True, *((bound, None) if bound > 0 else (None, bound))
    if root:
        # A root is not negative: it is compared by its square.
        low = None if low is None or low <= 0 else low * low
        high = None if high is None else high * high
    enough = low is None or exact > low or (exact == low and even)
    return enough and (high is None or exact < high or (exact == high and even))


def wrapped(number, dtype):
    """An integer in 64 bits."""
    number %= 2**64
    return number - 2**64 if dtype == np.int64 and number >= 2**63 else number


def check(found, group, name, ddof, dtype):
    """Compares one result with the fractions; `group` is what counts of the group's values."""
    parts = [[one[part] for one in map(parts_of, group)] for part in (0, 1)]
    if name in ("sum", "sumsq") and dtype in INTEGERS:
        powers = [one if name == "sum" else one * one for one in parts[0]]
        assert int(found) == wrapped(sum(powers), found.dtype)
        return
    if name in ("sum", "mean"):
        for some, made in zip(parts, (found.real, found.imag)):
            if not all(map(math.isfinite, some)):
                np.testing.assert_equal(
                    float(made), float(sum(x for x in some if not is_finite(x)))
                )
                continue
            exact = sum(map(Fraction, some), Fraction(0))
            exact /= len(group) if name == "mean" else 1
            nearest(made, exact)
        return
    if name == "sumsq" and np.iscomplexobj(found):
        assert found.imag == 0 and not np.signbit(found.imag)
        found = found.real
    finite = all(map(is_finite, group))
    every = [part for both in parts for part in both]
    if name == "sumsq" and not finite:
        expected = math.nan if any(map(math.isnan, every)) else math.inf
        np.testing.assert_equal(float(found), expected)
        return
    if not finite:
        assert np.isnan(found)
        return
    squares = sum((Fraction(part) ** 2 for part in every), Fraction(0))
    if name == "sumsq":
        nearest(found, squares)
        return
    n = len(group)
    means = [sum(map(Fraction, some), Fraction(0)) / n for some in parts]
    exact = squares - n * sum(mean**2 for mean in means)
    assert exact == sum(
        (Fraction(part) - mean) ** 2 for some, mean in zip(parts, means) for part in some
    )
    exact /= n - Fraction(ddof)
    nearest(found, exact / n if name == "sem" else exact, root=name != "var")


def nearest(found, exact, root=False):
    found = found[()] if isinstance(found, np.ndarray) else found
    assert is_nearest(found, exact, root), (found, float(found).hex(), exact, root)
    if exact == 0:
        assert not np.signbit(found)
    if found.dtype == np.float64 and not root:
        try:
            expected = float(exact)
        except OverflowError:
            expected = math.inf if exact > 0 else -math.inf
        assert float(found) == expected


def compare(src, index, size, dtype, skipna=False, ddof=0, min_count=1, fill_value=None):
    """All exact aggregates of a call, each result against the fractions."""
    options = {"skipna": skipna, "ddof": ddof, "min_count": min_count, "fill_value": fill_value}
    made = strew.aggregate(src, index, NAMES, size=size, exact=True, **options)
    for name, one in zip(NAMES, made):
        alone = strew.aggregate(src, index, name, size=size, exact=True, **options)
        same_bits(alone, one)
        assert one.shape == (size,)
        for cell in range(size):
            group = [v for v in src[index == cell] if not (skipna and np.isnan(v))]
            short = len(group) < max(min_count, 1)
            if short or (name in ("var", "std", "sem") and len(group) <= ddof):
                usual = 0 if name in ("sum", "sumsq") else math.nan
                expected = usual if fill_value is None else fill_value
                np.testing.assert_equal(complex(one[cell]), complex(expected))
                continue
            check(one[cell], group, name, ddof, dtype)
    return made


def same_bits(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [*DTYPES, *INTEGERS])
def test_results_are_fractions_rounded_once(dtype, kind):
    rng = np.random.default_rng(21)
    for count, size, ddof in [
        (0, 2, 0),
        (1, 2, 0),
        (5, 2, 1),
        (60, 9, 0),
        (60, 9, 0.5),
        (90, 4, 1),
    ]:
        src, index = drawn(kind, dtype, count, rng), rng.integers(0, size, count)
        made = compare(src, index, size, dtype, ddof=ddof)
        order = rng.permutation(count)
        again = strew.aggregate(src[order], index[order], NAMES, size=size, ddof=ddof, exact=True)
        for one, other in zip(made, again):
            same_bits(one, other)


@pytest.mark.parametrize("skipna", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_infinities_and_nan(dtype, skipna):
    rng = np.random.default_rng(22)
    for kind in ("ordinary", "magnitudes", "huge"):
        for share in (0.05, 0.5, 1.0):
            src, index = drawn(kind, dtype, 80, rng), rng.integers(0, 20, 80)
            special = rng.choice(SPECIAL, 80).astype(dtype)
            if real_of(dtype) is not dtype:
                special.imag = np.where(rng.random(80) < 0.5, 1, rng.choice(SPECIAL, 80))
            src = np.where(rng.random(80) < share, special, src)
            compare(src, index, 21, dtype, skipna=skipna, ddof=1)
            compare(src, index, 21, dtype, skipna=skipna, min_count=3, fill_value=-1)
            compare(src, index, 21, dtype, skipna=skipna, min_count=0, ddof=0.5, fill_value=2)


@pytest.mark.parametrize("dtype", [*DTYPES, *INTEGERS])
def test_columns_orders_and_threads_show_in_no_bit(dtype):
    rng = np.random.default_rng(23)
    for kind, shape, size in [
        ("ordinary", (60_000,), 50),
        ("magnitudes", (3_000,), 900),
        ("magnitudes", (400, 17), 30),
    ]:
        src, index = drawn(kind, dtype, shape, rng), rng.integers(0, size, shape[0])
        expected = strew.aggregate(src, index, NAMES, size=size, ddof=1, exact=True)
        threads = strew.get_num_threads()
        try:
            for number in (1, 2, 5):
                strew.set_num_threads(number)
                for order in (np.argsort(index), rng.permutation(shape[0])):
                    plan = strew.Plan(index[order], size)
                    for by in (index[order], plan):
                        found = strew.aggregate(
                            src[order],
                            by,
                            NAMES,
                            size=None if by is plan else size,
                            ddof=1,
                            exact=True,
                        )
                        for one, other in zip(found, expected):
                            same_bits(one, other)
        finally:
            strew.set_num_threads(threads)
        if len(shape) == 2:
            for column in (0, 16):
                alone = strew.aggregate(
                    src[:, column].copy(), index, NAMES, size=size, ddof=1, exact=True
                )
                for one, other in zip(alone, expected):
                    same_bits(one, np.ascontiguousarray(other[:, column]))
            across = strew.aggregate(
                np.asfortranarray(src.T), index, NAMES, dim=1, size=size, ddof=1, exact=True
            )
            for one, other in zip(across, expected):
                same_bits(np.ascontiguousarray(one.T), other)


def test_squares_beyond_float64():
    big, small = np.finfo(float).max, 5e-324
    for src in (
        [big, -big],
        [big, big],
        [big, big, -big],
        [big, np.nextafter(big, 0)],
        [small, -small],
        [small] * 3,
        [1e-170, 3e-170, 1e-180],
        [2.0**-480, np.nextafter(2.0**-480, 0), 2.0**-481],
        [2.0**500, np.nextafter(2.0**500, 0), 2.0**-1074],
        [2.0**-538, 3 * 2.0**-538],
        [1e154, 1.5e154, -1e154],
        [big, small],
        [1 + 2.0**-52, 1.0, 1 - 2.0**-53],
    ):
        src = np.array(src)
        for ddof in (0, 1, 0.5, -1, 1e-300):
            compare(src, np.zeros(len(src), int), 1, np.float64, ddof=ddof)


def test_a_variance_that_two_passes_do_not_get_right():
    """Means that are no floats, differences in the last place, and a large offset."""
    rng = np.random.default_rng(24)
    for offset in (1e9, 1e15, 2.0**53, -1e300):
        src = offset + rng.integers(0, 3, 50) * np.spacing(abs(offset))
        compare(src, rng.integers(0, 4, 50), 4, np.float64, ddof=1)


def test_sums_of_integers_wrap_and_means_do_not():
    src, index = np.array([2**63, 2**63, 2**64 - 1, 1], np.uint64), np.array([0, 0, 1, 1])
    total, mean = strew.aggregate(src, index, ["sum", "mean"], exact=True)
    assert total.tolist() == [0, 0] and mean.tolist() == [2.0**63, 2.0**63]
    src = np.array([-(2**63), -(2**63), 2**63 - 1, 2**63 - 1])
    compare(src, index, 2, np.int64, ddof=1)


@pytest.mark.parametrize(
    "name", ["prod", "skew", "kurt", "logsumexp", "softmax", "cumsum", "cumprod"]
)
def test_reductions_that_round_refuse_it(name):
    with pytest.raises(ValueError, match=r"^aggregate: exact = true: \w+ rounds"):
        strew.aggregate([1.0, 2.0], [0, 0], name, exact=True)
    with pytest.raises(ValueError, match="exact"):
        strew.aggregate([1.0, 2.0], [0, 0], ["sum", name], exact=True)


def test_reductions_that_do_not_round_are_the_usual_ones():
    rng = np.random.default_rng(25)
    src, index = rng.normal(size=50), rng.integers(0, 6, 50)
    names = ["min", "max", "first", "last", "count", "argmax", "median", "nunique", "cummax"]
    for name in names:
        found = strew.aggregate(src, index, name, exact=True)
        same_bits(found, strew.aggregate(src, index, name))
    mixed = strew.aggregate(src, index, ["std", "median", "sum", "rank"], exact=True)
    same_bits(mixed[0], strew.aggregate(src, index, "std", exact=True))
    same_bits(mixed[1], strew.aggregate(src, index, "median"))
    same_bits(mixed[2], strew.aggregate(src, index, "sum", exact=True))


def test_values_left_out_and_wrong_numbers():
    src, index = np.array([0.1, 0.2, 0.3, 1e300]), np.array([0, 0, 0, 9])
    for options in ({"mode": "drop", "size": 1}, {"ignore_index": 9}):
        found = strew.aggregate(src, index, ["sum", "std"], exact=True, **options)
        assert [one.shape for one in found] == [(1,), (1,)]
        nearest(found[0][0], sum(map(Fraction, src[:3].tolist())))
    with pytest.raises(IndexError):
        strew.aggregate(src, index, "sum", size=3, exact=True)
    for wrong in (1, "yes", None):
        with pytest.raises(TypeError, match="exact"):
            strew.aggregate(src, index, "sum", exact=wrong)


def accumulated(src, index, order, rng, dtype, size=None, **options):
    """Chunks of values in some order: into one accumulator, written and read on the way."""
    shape = src.shape[1:]
    acc = strew.Accumulator(size, NAMES, dtype=dtype, shape=shape, exact=True, **options)
    cuts = np.sort(rng.integers(0, len(order) + 1, int(rng.integers(0, 6))))
    for chunk in np.split(order, cuts):
        acc.update(src[chunk], index[chunk])
        if rng.random() < 0.3:
            acc = pickle.loads(pickle.dumps(acc, int(rng.integers(2, 6))))
        if rng.random() < 0.3:
            acc = strew.Accumulator.from_bytes(acc.to_bytes())
    return acc


@pytest.mark.parametrize("kind", [*KINDS, "special"])
@pytest.mark.parametrize("dtype", [*DTYPES, *INTEGERS])
def test_chunks_and_merges_give_the_bits_of_one_call(dtype, kind):
    rng = np.random.default_rng(26)
    for round in range(6):
        options = [
            {},
            {"ddof": 1, "skipna": True},
            {"ddof": 0.5, "min_count": 3, "fill_value": 7},
        ][round % 3]
        size, shape = [(5, (120,)), (40, (120,)), (6, (70, 3))][round % 3]
        src = drawn("magnitudes" if kind == "special" else kind, dtype, shape, rng)
        if kind == "special" and dtype not in INTEGERS:
            src = np.where(rng.random(shape) < 0.1, rng.choice(SPECIAL, shape).astype(dtype), src)
        index = rng.integers(0, size, shape[0])
        expected = strew.aggregate(src, index, NAMES, size=size, exact=True, **options)
        given = size if round % 2 else None
        acc = accumulated(src, index, rng.permutation(shape[0]), rng, dtype, given, **options)
        for one, other in zip(acc.result(), expected):
            same_bits(one, other[: len(one)])
        # Parts of the values, merged as a random tree.
        order = rng.permutation(shape[0])
        parts = np.split(order, np.sort(rng.integers(0, shape[0], int(rng.integers(1, 9)))))
        trees = [accumulated(src, index, part, rng, dtype, size, **options) for part in parts]
        while len(trees) > 1:
            taken = trees.pop(int(rng.integers(len(trees))))
            into = trees[int(rng.integers(len(trees)))]
            into.merge(taken)
        found = trees[0].result()
        for one, other in zip(found, expected):
            same_bits(one, other)
        # A result does not change what it is made from.
        for one, other in zip(trees[0].result(), found):
            same_bits(one, other)
        read = strew.Accumulator.from_bytes(trees[0].to_bytes())
        assert read.to_bytes() == trees[0].to_bytes()


def test_accumulators_of_one_exact_aggregate():
    """Each name keeps only the parts that it needs."""
    rng = np.random.default_rng(27)
    src, index = drawn("magnitudes", np.float64, 200, rng), rng.integers(0, 9, 200)
    for name in NAMES:
        parts = []
        for half in (slice(0, 90), slice(90, 200)):
            parts.append(strew.Accumulator(9, name, exact=True))
            parts[-1].update(src[half], index[half])
        parts[0].merge(pickle.loads(pickle.dumps(parts[1])))
        same_bits(parts[0].result()[0], strew.aggregate(src, index, name, size=9, exact=True))


def test_exact_and_rounded_accumulators_are_not_merged():
    exact, rounded = (strew.Accumulator(3, "sum", exact=one) for one in (True, False))
    for one, other in ((exact, rounded), (rounded, exact)):
        with pytest.raises(ValueError):
            one.merge(other)
    with pytest.raises(ValueError, match="skew"):
        strew.Accumulator(3, "skew", exact=True)


def test_hostile_bytes_of_exact_sums():
    acc = strew.Accumulator(4, NAMES, exact=True)
    acc.update([1.0, 1e300, -1e-300, np.inf], [0, 1, 1, 2])
    data = acc.to_bytes()
    for cut in range(0, len(data), 7):
        with pytest.raises(ValueError):
            strew.Accumulator.from_bytes(data[:cut])
    rng = np.random.default_rng(28)
    for _ in range(2000):
        changed = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            changed[rng.integers(len(data))] = rng.integers(256)
        try:
            read = strew.Accumulator.from_bytes(bytes(changed))
        except (ValueError, TypeError, MemoryError):
            continue
        read.result()
        read.update([1.0, 2.0], [0, 3])
        read.result()
