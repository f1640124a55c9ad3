"""The vectors of StableHLO: of XLA by way of JAX, and of StableHLO's own interpreter where the two
differ, in windows that are partly outside.
"""

import functools

import jax
import numpy as np
from drawn_jax import REGIONS, scatter, scattered
from drawn_stablehlo import REFUSALS, VERSION, interpreted, verified
from sources import Mistake, Source

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)

ORIGIN = f"XLA of JAX {jax.__version__}, and StableHLO's interpreter {VERSION}"
INTERPRETER = f"stablehlo {VERSION}: the interpreter"


def sources():
    for region, (function, dtypes) in REGIONS.items():
        yield Source(
            op="stablehlo.scatter",
            way=region,
            origin=f"jax {jax.__version__}: lax.{function.__name__}",
            dtypes=dtypes,
            draw=functools.partial(drawn, region),
            peer=lambda case: np.asarray(scattered(case)),
            refusals=(),
            kept=14,
        )
        yield Source(
            op="stablehlo.scatter",
            way=f"{region}-by-element",
            origin=INTERPRETER,
            dtypes=dtypes,
            draw=functools.partial(by_element, region),
            peer=interpreted,
            refusals=(),
            kept=8,
        )


def drawn(region, rng, dtype):
    return scatter(rng, region, dtype)


def by_element(region, rng, dtype):
    return scatter(rng, region, dtype) | {"out_of_bounds": "element"}


def mistakes():
    rows = {
        "operand": np.zeros((3, 2), np.float32),
        "indices": np.int64([[0], [2]]),
        "updates": np.ones((2, 2), np.float32),
        "update_window_dims": [1],
        "inserted_window_dims": [0],
        "scatter_dims_to_operand_dims": [0],
        "index_vector_dim": 1,
        "region": "add",
    }
    batches = {
        "operand": np.zeros((2, 3), np.float32),
        "indices": np.int64([[0], [2]]),
        "updates": np.ones(2, np.float32),
        "inserted_window_dims": [1],
        "input_batching_dims": [0],
        "scatter_indices_batching_dims": [0],
        "scatter_dims_to_operand_dims": [1],
        "index_vector_dim": 1,
        "region": "set",
    }
    cases = {
        "updates of another rank": rows | {"updates": np.ones(2, np.float32)},
        "updates of another shape": rows | {"updates": np.ones((3, 2), np.float32)},
        "windows longer than the operand": rows | {"updates": np.ones((2, 3), np.float32)},
        "indices of floats": rows | {"indices": np.float32([[0], [2]])},
        "a window's axis twice": rows | {"update_window_dims": [1, 1]},
        "a window's axis that is not there": rows | {"update_window_dims": [2]},
        "an inserted axis that is not there": rows | {"inserted_window_dims": [2]},
        "inserted axes that descend": rows
        | {"inserted_window_dims": [1, 0], "update_window_dims": []},
        "an axis without a role": rows | {"inserted_window_dims": []},
        "an index vector's axis that is not there": rows | {"index_vector_dim": 3},
        "numbers that point nowhere": rows | {"scatter_dims_to_operand_dims": [2]},
        "fewer axes than numbers": rows | {"scatter_dims_to_operand_dims": []},
        "a batch's axis that is also inserted": batches | {"inserted_window_dims": [0, 1]},
        "a batch's axis that is pointed into": batches | {"scatter_dims_to_operand_dims": [0]},
        "batches of different sizes": batches | {"operand": np.zeros((3, 3), np.float32)},
        "a batch's axis of vectors": batches | {"scatter_indices_batching_dims": [1]},
        "batches of one side": batches | {"scatter_indices_batching_dims": []},
    }
    for what, case in cases.items():
        yield Mistake(
            op="stablehlo.scatter",
            what=what.replace(" ", "-").replace("'", ""),
            origin=INTERPRETER,
            case=case,
            peer=verified,
            refusals=REFUSALS,
        )
