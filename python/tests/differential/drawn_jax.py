"""Random arguments of JAX's operators, by the names of strew's functions, and what JAX makes of
them.
"""

import jax
import jax.numpy as jnp
import numpy as np
from drawn import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTEGERS,
    chance,
    factors,
    one_of,
    orderable,
    places,
    sizes,
    summands,
)
from jax import lax

NUMBERS = [*INTEGERS, *FLOATS, *COMPLEX]
REAL = ["bool", *INTEGERS, *FLOATS]


def compiled(function, *arrays):
    """What a function returns, as one program: quicker than compiling each of its steps."""
    return jax.jit(function)(*map(jnp.asarray, arrays))


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


def update(rng, name, dtype):
    values = values_for(name)
    shape, indices, mode = drawn_places(rng)
    y_shape = broadcast_to(rng, within(shape, indices))
    x, y = values(rng, dtype, shape), values(rng, dtype, y_shape)
    if name == "divide":
        y = np.where(y == 0, np.ones((), y.dtype), y)
    return {"x": x, "indices": indices, "y": y, "mode": mode}


def power(rng, dtype):
    shape, indices, mode = drawn_places(rng)
    y_shape = broadcast_to(rng, within(shape, indices))
    x = rng.integers(0 if dtype.startswith("u") else -3, 4, shape).astype(dtype)
    y = rng.integers(0, 3, y_shape).astype(dtype)
    if dtype not in INTEGERS:
        # Infinity, fractions, and NaN where a negative number has one of these.
        y = (y / np.array(2, dtype)).astype(dtype)
    return {"x": x, "indices": indices, "y": y, "mode": mode}


def updated(name, case):
    indices, mode = case["indices"], case["mode"]
    return compiled(lambda x, y: getattr(x.at[indices], name)(y, mode=mode), case["x"], case["y"])


def get(rng, dtype):
    shape, indices, mode = drawn_places(rng)
    x = orderable(rng, dtype, shape)
    case = {"x": x, "indices": indices, "mode": mode}
    if mode == "fill" and chance(rng, 0.5):
        case["fill_value"] = int(rng.integers(0, 2))
    return case


def taken(case):
    options = {name: case[name] for name in ("mode", "fill_value") if name in case}
    return compiled(lambda x: x.at[case["indices"]].get(**options), case["x"])


# jax.ops

SEGMENTS = {
    "segment_sum": NUMBERS,
    "segment_prod": NUMBERS,
    "segment_min": REAL,
    "segment_max": REAL,
}


def segments(rng, name, dtype):
    shape = sizes(rng, int(rng.integers(1, 4)), 1, 9)
    ids = places(rng, 5, shape[0], one_of(rng, INTEGERS), beyond=0.5)
    count = int(rng.integers(0, 7)) if chance(rng, 0.8) or not shape[0] else None
    if count is None and ids.max() < -1:
        count = 0  # JAX counts fewer segments than none, and refuses
    return {
        "data": values_for(name)(rng, dtype, shape),
        "segment_ids": ids,
        "num_segments": count,
    }


def by_segments(name, case):
    function, count = getattr(jax.ops, name), case["num_segments"]
    if count is None:
        return function(**case)
    # How many segments there are must be known when it is compiled.
    return compiled(lambda d, s: function(d, s, count), case["data"], case["segment_ids"])


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


def scatter(rng, region, dtype):
    values = {"add": summands, "mul": factors}.get(region, orderable)
    operand, indices, updates, options = dimension_numbers(rng, dtype, values)
    behind = range(updates.ndim - len(options["update_window_dims"]), updates.ndim)
    if region == "set" and updates.size and options["update_window_dims"] != [*behind]:
        updates[...] = updates.flat[-1]  # order-of-windows
    behind = indices.ndim - 1
    if indices.shape[-1] == 1 and chance(rng, 0.5):
        indices, vectors = indices[..., 0], behind
    else:
        vectors = int(rng.integers(0, behind + 1))
        indices = np.ascontiguousarray(np.moveaxis(indices, -1, vectors))
        options["scatter_indices_batching_dims"] = [
            axis + (axis >= vectors) for axis in options["scatter_indices_batching_dims"]
        ]
    options |= {"index_vector_dim": vectors, "region": region}
    return {"operand": operand, "indices": indices, "updates": updates} | options


def scattered(case):
    """What JAX makes of them, whose indices have the axis of index vectors behind."""
    indices, vectors = case["indices"], case["index_vector_dim"]
    if vectors == indices.ndim:
        indices = indices[..., None]
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(case["update_window_dims"]),
        inserted_window_dims=tuple(case["inserted_window_dims"]),
        scatter_dims_to_operand_dims=tuple(case["scatter_dims_to_operand_dims"]),
        operand_batching_dims=tuple(case["input_batching_dims"]),
        scatter_indices_batching_dims=tuple(
            axis - (axis > vectors) for axis in case["scatter_indices_batching_dims"]
        ),
    )
    function, _ = REGIONS[case["region"]]
    return compiled(
        lambda *arrays: function(*arrays, numbers, mode=lax.GatherScatterMode.FILL_OR_DROP),
        case["operand"],
        np.moveaxis(indices, vectors, -1),
        case["updates"],
    )
