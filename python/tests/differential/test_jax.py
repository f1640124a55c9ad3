"""strew.jax and strew.stablehlo against JAX, and StableHLO's interpreter, on random arguments. Needs
jax, on the CPU.
"""

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import strew  # noqa: E402
from drawn import (  # noqa: E402
    DTYPES,
    INTEGERS,
    Defect,
    agree,
    defects,
    drawn,
    is_there,
    normal,
)
from drawn_jax import (  # noqa: E402
    AT,
    REGIONS,
    SEGMENTS,
    by_segments,
    get,
    power,
    scatter,
    scattered,
    segments,
    taken,
    update,
    updated,
)
from drawn_stablehlo import interpreted  # noqa: E402
from jax import lax  # noqa: E402

CASES = 3
"""Few: every new shape is compiled."""


@pytest.fixture(autouse=True)
def _wide():
    # Most of the time goes to compiling.
    jax.config.update("jax_disable_most_optimizations", True)
    with jax.enable_x64(True):
        yield
    jax.config.update("jax_disable_most_optimizations", False)


def ids(operators):
    return [
        pytest.param(name, dtype, id=f"{name}-{dtype}")
        for name, dtypes in operators.items()
        for dtype in dtypes
    ]


@pytest.mark.parametrize(("name", "dtype"), ids(AT))
def test_updates_of_what_is_indexed(name, dtype):
    for rng in drawn([name, dtype], CASES):
        case = update(rng, name, dtype)
        agree(getattr(strew.jax, f"at_{name}")(**case), updated(name, case), case)


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
        case = power(rng, dtype)
        of = 0 if dtype in INTEGERS else POWERS[dtype]
        agree(strew.jax.at_power(**case), updated("power", case), case, of, of)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_indexed(dtype):
    for rng in drawn(["get", dtype], 2 * CASES):
        case = get(rng, dtype)
        agree(strew.jax.at_get(**case), taken(case), case)


@pytest.mark.parametrize(("name", "dtype"), ids(SEGMENTS))
def test_segments(name, dtype):
    for rng in drawn([name, dtype], CASES):
        case = segments(rng, name, dtype)
        agree(getattr(strew.jax.ops, name)(**case), by_segments(name, case), case)


@pytest.mark.parametrize(
    ("region", "dtype"), ids({name: dtypes for name, (_, dtypes) in REGIONS.items()})
)
def test_scatters_of_any_dimension_numbers(region, dtype):
    for rng in drawn(["stablehlo", region, dtype], CASES):
        case = scatter(rng, region, dtype)
        agree(strew.stablehlo.scatter(**case), scattered(case), case)


@pytest.mark.parametrize(
    ("region", "dtype"), ids({name: dtypes for name, (_, dtypes) in REGIONS.items()})
)
def test_windows_that_are_partly_outside(region, dtype):
    """StableHLO leaves out elements, and XLA windows."""
    for rng in drawn(["interpreter", region, dtype], 5 * CASES):
        case = scatter(rng, region, dtype) | {"out_of_bounds": "element"}
        agree(strew.stablehlo.scatter(**case), interpreted(case), case)


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
