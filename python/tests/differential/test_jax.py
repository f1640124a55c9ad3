"""strew.jax and strew.stablehlo against JAX on random arguments. Needs jax, on the CPU."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import strew  # noqa: E402
from drawn import (  # noqa: E402
    COMPLEX,
    DTYPES,
    FLOATS,
    INTEGERS,
    Defect,
    agree,
    chance,
    defects,
    drawn,
    factors,
    is_there,
    normal,
    one_of,
    orderable,
    places,
    sizes,
    summands,
)
from jax import lax  # noqa: E402

CASES = 3
"""Few: every new shape is compiled."""
NUMBERS = [*INTEGERS, *FLOATS, *COMPLEX]
REAL = ["bool", *INTEGERS, *FLOATS]


@pytest.fixture(autouse=True)
def _wide():
    # Most of the time goes to compiling.
    jax.config.update("jax_disable_most_optimizations", True)
    with jax.enable_x64(True):
        yield
    jax.config.update("jax_disable_most_optimizations", False)


def compiled(function, *arrays):
    """What a function returns, as one program: quicker than compiling each of its steps."""
    return jax.jit(function)(*map(jnp.asarray, arrays))


def ids(operators):
    return [
        pytest.param(name, dtype, id=f"{name}-{dtype}")
        for name, dtypes in operators.items()
        for dtype in dtypes
    ]


def values_for(name):
    """Values of which the result is the same in every order."""
    if name.endswith(("min", "max", "set", "get")):
        return orderable
    return summands if name.endswith(("add", "subtract", "sum")) else factors


# x.at[..]

AT = {
    "set": DTYPES,
    "add": NUMBERS,
    "subtract": NUMBERS,
    "multiply": NUMBERS,
    "divide": [*FLOATS, *COMPLEX],
    "min": REAL,
    "max": REAL,
}


def brackets(rng, shape, beyond):
    """What stands between them: numbers and arrays of them, a mask, or those among slices."""

    def numbers(size, of):
        return places(rng, size, of, one_of(rng, INTEGERS[1:4]), True, beyond)

    form = one_of(rng, ["array", "arrays", "mask", "first mask", "slices", "ellipsis", "new axis"])
    of = sizes(rng, int(rng.integers(0, 3)), 0, 5)
    if form == "mask":
        return rng.random(shape) < 0.4
    if form == "first mask":
        return rng.random(shape[:1]) < 0.4
    if form == "array":
        return numbers(shape[0], of)
    if form == "arrays":
        thin = tuple(1 if chance(rng, 0.3) else n for n in of)
        return tuple(
            numbers(n, thin if chance(rng, 0.5) else of)
            for n in shape[: int(rng.integers(1, len(shape) + 1))]
        )
    entries = []
    for size in shape[: int(rng.integers(1, len(shape) + 1))]:
        ends = [None if chance(rng, 0.3) else int(n) for n in rng.integers(-size - 1, size + 2, 2)]
        entries.append(
            numbers(size, of) if chance(rng, 0.5) else slice(*ends, one_of(rng, [None, 1, 2, -1]))
        )
    if form == "ellipsis":
        entries.insert(
            int(rng.integers(0, len(entries) + 1)) if len(entries) == len(shape) else len(entries),
            ...,
        )
    elif form == "new axis" or not any(isinstance(entry, slice) for entry in entries):
        entries.insert(int(rng.integers(0, len(entries) + 1)), None)
        # Without a slice among them, None takes an axis whole.
        entries.append(...)
    return tuple(entries)


def within(shape, indices):
    """The shape of what they mean."""
    listed = indices if isinstance(indices, tuple) else (indices,)
    is_number = [isinstance(entry, np.ndarray) and entry.dtype != bool for entry in listed]
    return np.zeros([max(n, 1) for n in shape])[
        tuple(
            np.zeros_like(entry) if number else entry
            for entry, number in zip(listed, is_number, strict=True)
        )
    ].shape


def drawn_places(rng):
    """A shape, indices into it, and a mode that they may have."""
    shape = sizes(rng, int(rng.integers(1, 4)))
    if 0 in shape:
        shape = tuple(max(n, 1) for n in shape)
    mode = one_of(rng, [None, "drop", "fill", "clip", "promise_in_bounds"])
    return shape, brackets(rng, shape, 0.0 if mode == "promise_in_bounds" else 0.5), mode


def broadcast_to(rng, shape):
    """A shape that broadcasts to it."""
    if chance(rng, 0.5):
        return shape
    return tuple(
        1 if chance(rng, 0.3) else n for n in shape[int(rng.integers(0, len(shape) + 1)) :]
    )


@pytest.mark.parametrize(("name", "dtype"), ids(AT))
def test_updates_of_what_is_indexed(name, dtype):
    values = values_for(name)
    for rng in drawn([name, dtype], CASES):
        shape, indices, mode = drawn_places(rng)
        y_shape = broadcast_to(rng, within(shape, indices))
        x, y = values(rng, dtype, shape), values(rng, dtype, y_shape)
        if name == "divide":
            y = np.where(y == 0, np.ones((), y.dtype), y)
        case = {"x": x, "indices": indices, "y": y, "mode": mode}
        found = getattr(strew.jax, f"at_{name}")(x, indices, y, mode=mode)
        agree(found, compiled(lambda x, y: getattr(x.at[indices], name)(y, mode=mode), x, y), case)


POWERS = dict.fromkeys([*INTEGERS, "float64"], 1e-14) | {
    "float32": 1e-6,
    "complex64": 1e-5,
    "complex128": 1e-13,
    "float16": 2e-3,
    "bfloat16": 2e-2,
}
"""Tolerances: XLA has a power of its own. Those of integers have the same bits."""


@pytest.mark.parametrize("dtype", POWERS)
def test_powers_of_what_is_indexed(dtype):
    for rng in drawn(["power", dtype], 2 * CASES):
        shape, indices, mode = drawn_places(rng)
        y_shape = broadcast_to(rng, within(shape, indices))
        x = rng.integers(0 if dtype.startswith("u") else -3, 4, shape).astype(dtype)
        y = rng.integers(0, 3, y_shape).astype(dtype)
        if dtype not in INTEGERS:
            # Infinity, fractions, and NaN where a negative number has one of these.
            y = (y / np.array(2, dtype)).astype(dtype)
        case = {"x": x, "indices": indices, "y": y, "mode": mode}
        found = strew.jax.at_power(x, indices, y, mode=mode)
        expected = compiled(lambda x, y: x.at[indices].power(y, mode=mode), x, y)
        whole = dtype in INTEGERS
        agree(found, expected, case, *((0, 0) if whole else (POWERS[dtype], POWERS[dtype])))


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_indexed(dtype):
    for rng in drawn(["get", dtype], 2 * CASES):
        shape, indices, mode = drawn_places(rng)
        x = orderable(rng, dtype, shape)
        case = {"x": x, "indices": indices, "mode": mode}
        options = (
            {"fill_value": int(rng.integers(0, 2))} if mode == "fill" and chance(rng, 0.5) else {}
        )
        found = strew.jax.at_get(x, indices, mode=mode, **options)
        agree(found, compiled(lambda x: x.at[indices].get(mode=mode, **options), x), case | options)


# jax.ops

SEGMENTS = {
    "segment_sum": NUMBERS,
    "segment_prod": NUMBERS,
    "segment_min": REAL,
    "segment_max": REAL,
}


@pytest.mark.parametrize(("name", "dtype"), ids(SEGMENTS))
def test_segments(name, dtype):
    for rng in drawn([name, dtype], CASES):
        shape = sizes(rng, int(rng.integers(1, 4)), 1, 9)
        segments = places(rng, 5, shape[0], one_of(rng, INTEGERS), beyond=0.5)
        count = int(rng.integers(0, 7)) if chance(rng, 0.8) or not shape[0] else None
        case = {
            "data": values_for(name)(rng, dtype, shape),
            "segment_ids": segments,
            "num_segments": count,
        }
        theirs = getattr(jax.ops, name)
        # How many segments there are must be known when it is compiled.
        expected = (
            theirs(**case)
            if count is None
            else compiled(lambda d, s: theirs(d, s, count), case["data"], segments)
        )
        agree(getattr(strew.jax.ops, name)(**case), expected, case)


# stablehlo.scatter

REGIONS = {
    "set": (lax.scatter, DTYPES),
    "add": (lax.scatter_add, NUMBERS),
    "mul": (lax.scatter_mul, NUMBERS),
    "min": (lax.scatter_min, REAL),
    "max": (lax.scatter_max, REAL),
}


def subset(rng, of, count):
    return sorted(int(n) for n in rng.choice(of, count, replace=False)) if count else []


def dimension_numbers(rng, dtype, values):
    """Arrays with dimension numbers that fit, and where JAX's indices have the axis of index
    vectors: behind.
    """
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 5))))
    axes = list(range(len(shape)))
    batching = subset(rng, axes, int(rng.integers(0, min(len(shape), 3))))
    rest = [axis for axis in axes if axis not in batching]
    inserted = subset(rng, rest, int(rng.integers(0, len(rest) + 1)))
    pointed = [int(n) for n in rng.permutation(rest)[: int(rng.integers(1, len(rest) + 1))]]
    window = [axis for axis in rest if axis not in inserted]
    window_sizes = [
        int(rng.integers(0 if chance(rng, 0.05) else 1, shape[axis] + 1)) for axis in window
    ]
    # The indices' axes, without that of vectors: some go hand in hand with the operand's, in
    # another order.
    scatter_sizes = [int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3)))]
    hand_in_hand: list = [None] * len(scatter_sizes)
    for number in rng.permutation(len(batching)):
        at = int(rng.integers(0, len(scatter_sizes) + 1))
        scatter_sizes.insert(at, shape[batching[number]])
        hand_in_hand.insert(at, int(number))
    with_batching = [hand_in_hand.index(number) for number in range(len(batching))]
    starts = [places(rng, max(shape[axis] - 1, 1), scatter_sizes, beyond=0.3) for axis in pointed]
    indices = np.stack(starts, -1).astype(one_of(rng, INTEGERS[:4]))
    update_rank = len(scatter_sizes) + len(window)
    update_window_dims = subset(rng, range(update_rank), len(window))
    of_scatter, of_window = iter(scatter_sizes), iter(window_sizes)
    update_shape = [
        next(of_window if axis in update_window_dims else of_scatter) for axis in range(update_rank)
    ]
    options = {
        "update_window_dims": update_window_dims,
        "inserted_window_dims": inserted,
        "input_batching_dims": batching,
        "scatter_indices_batching_dims": with_batching,
        "scatter_dims_to_operand_dims": pointed,
    }
    return values(rng, dtype, shape), indices, values(rng, dtype, update_shape), options


@pytest.mark.parametrize(
    ("region", "dtype"), ids({name: dtypes for name, (_, dtypes) in REGIONS.items()})
)
def test_scatters_of_any_dimension_numbers(region, dtype):
    values = {"add": summands, "mul": factors}.get(region, orderable)
    for rng in drawn(["stablehlo", region, dtype], CASES):
        operand, indices, updates, options = dimension_numbers(rng, dtype, values)
        behind = range(updates.ndim - len(options["update_window_dims"]), updates.ndim)
        if region == "set" and updates.size and options["update_window_dims"] != [*behind]:
            updates[...] = updates.flat[-1]  # order-of-windows
        numbers = lax.ScatterDimensionNumbers(
            update_window_dims=tuple(options["update_window_dims"]),
            inserted_window_dims=tuple(options["inserted_window_dims"]),
            scatter_dims_to_operand_dims=tuple(options["scatter_dims_to_operand_dims"]),
            operand_batching_dims=tuple(options["input_batching_dims"]),
            scatter_indices_batching_dims=tuple(options["scatter_indices_batching_dims"]),
        )
        expected = compiled(
            lambda *arrays: REGIONS[region][0](
                *arrays, numbers, mode=lax.GatherScatterMode.FILL_OR_DROP
            ),
            *(operand, indices, updates),
        )
        behind = indices.ndim - 1
        if indices.shape[-1] == 1 and chance(rng, 0.5):
            indices, vectors = indices[..., 0], behind
        else:
            vectors = int(rng.integers(0, behind + 1))
            indices = np.ascontiguousarray(np.moveaxis(indices, -1, vectors))
            with_batching = options["scatter_indices_batching_dims"]
            options["scatter_indices_batching_dims"] = [
                axis + (axis >= vectors) for axis in with_batching
            ]
        options |= {"index_vector_dim": vectors, "region": region}
        case = {"operand": operand, "indices": indices, "updates": updates} | options
        agree(strew.stablehlo.scatter(**case), expected, case)


# Sums that depend on their order.

TOLERANCES = {
    "float16": 2e-2,
    "bfloat16": 2e-1,
    "float32": 1e-5,
    "float64": 1e-13,
    "complex64": 1e-5,
}


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_sums_of_any_numbers(dtype):
    for rng in drawn(["sums", dtype], CASES):
        data, segments = normal(rng, dtype, (50, 3)), rng.integers(-1, 6, 50)
        case = {"data": data, "segment_ids": segments, "num_segments": 5}
        of = TOLERANCES[dtype]
        agree(strew.jax.ops.segment_sum(**case), jax.ops.segment_sum(**case), case, of, of)
        x = normal(rng, dtype, (5, 3))
        case = {"x": x, "indices": segments, "y": data}
        agree(strew.jax.at_add(**case), jnp.asarray(x).at[segments].add(data), case, of, of)


# What JAX does wrong, or otherwise where it may.


def last_of_overlapping():
    """Windows of two that begin at 0 and 1, along the updates' first axis."""
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=(0,), inserted_window_dims=(), scatter_dims_to_operand_dims=(0,)
    )
    return lax.scatter(
        jnp.zeros(3), jnp.array([[0], [1]]), jnp.array([[1.0, 2.0], [3.0, 4.0]]), numbers
    )[1]


DEFECTS = {
    "order-of-windows": Defect(
        "jax",
        "0.10.2",
        "of windows that overlap the last one stays, which is not always the last in the order of the updates",
        lambda: last_of_overlapping() == 2,
    ),
    "16-bit-sums": Defect(
        "jax",
        "0.10.2",
        "sums of 16-bit floats are rounded at each step",
        lambda: (
            jax.ops.segment_sum(jnp.ones(4096, jnp.float16), jnp.zeros(4096, int), 1)[0] == 2048
        ),
    ),
}


@defects(DEFECTS)
def test_a_defect_is_still_there(defect):
    is_there(defect, jax.__version__)
