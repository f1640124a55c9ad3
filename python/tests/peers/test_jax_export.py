"""``jax.export`` of programs with strew's operators, also with symbolic sizes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import strew
from jax import export

(ROWS,) = export.symbolic_shape("rows")
SEGMENTS = strew.jax.ops
WINDOWS = {
    "update_window_dims": [1],
    "inserted_window_dims": [0],
    "scatter_dims_to_operand_dims": [0],
    "index_vector_dim": 1,
}


def square(run):
    return jax.grad(lambda *arrays: (run(*arrays) ** 2).sum())


# A function, and the shapes of its floats and its indices.
PROGRAMS = {
    "static": (lambda x, i: strew.jax.at_add(x, i, 1.0), (4, 3), (2,)),
    "rows": (lambda x, i: strew.jax.at_set(x, (i, 1), 1.0), (ROWS, 3), (2,)),
    "columns": (lambda x, i: SEGMENTS.segment_max(x, i, 3), (4, ROWS), (4,)),
    "slices": (lambda x, i: strew.jax.at_add(x, (slice(1, None), i), 1.0), (ROWS, 3), (2,)),
    "sum of sizes": (lambda x, i: strew.jax.at_add(jnp.tile(x, (2, 1)), i, 1.0), (ROWS, 3), (2,)),
    "indices": (lambda x, i: strew.jax.at_get(x, i, mode="fill"), (4, 3), (ROWS,)),
    "updates": (lambda x, i: strew.jax.at_multiply(x, i, 2.0), (4, 3), (ROWS,)),
    "segments": (lambda x, i: SEGMENTS.segment_sum(x, i, 3), (ROWS, 3), (ROWS,)),
    "as many segments": (
        lambda x, i: SEGMENTS.segment_sum(x, i, x.shape[0], mode="clip"),
        (ROWS, 3),
        (ROWS,),
    ),
    "gradient of set": (
        square(lambda x, i: strew.jax.at_set(jnp.zeros((5, 3)), i, x)),
        (ROWS, 3),
        (ROWS,),
    ),
    "gradient of prod": (
        square(lambda x, i: SEGMENTS.segment_prod(x, i, 3)),
        (ROWS, 3),
        (ROWS,),
    ),
    "gradient of max": (square(lambda x, i: SEGMENTS.segment_max(x, i, 3)), (ROWS, 3), (ROWS,)),
    "vmap": (jax.vmap(lambda x, i: SEGMENTS.segment_sum(x, i, 3)), (ROWS, 4), (ROWS, 4)),
    "stablehlo": (
        lambda x, i: strew.stablehlo.scatter(
            x, i, jnp.ones((i.shape[0], 3)), region="add", **WINDOWS
        ),
        (4, 3),
        (ROWS, 1),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    program, *shapes = PROGRAMS[name]
    kinds = (jnp.float32, jnp.int32)
    allowed = [export.DisabledSafetyCheck.custom_call(one) for one in strew.jax.ffi_targets()]
    described = [jax.ShapeDtypeStruct(*of) for of in zip(shapes, kinds, strict=True)]
    exported = export.export(jax.jit(program), disabled_checks=allowed)(*described)
    for rows in (4, 7, 1):
        rng = np.random.default_rng(rows)
        sizes = [[n if isinstance(n, int) else rows for n in shape] for shape in shapes]
        given = [
            jnp.asarray(rng.integers(0, 3, size), kind)
            for size, kind in zip(sizes, kinds, strict=True)
        ]
        np.testing.assert_array_equal(exported.call(*given), program(*given))


def test_names_that_are_not_allowed():
    described = jax.ShapeDtypeStruct((4,), jnp.float32)
    program = jax.jit(lambda x: strew.jax.at_add(x, 0, 1.0))
    with pytest.raises(ValueError, match=strew.jax.ffi_targets()[0]):
        export.export(program)(described)
