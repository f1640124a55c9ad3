"""The vectors of JAX."""

import functools

import jax
import numpy as np
from drawn import DTYPES
from drawn_jax import AT, SEGMENTS, by_segments, get, segments, taken, update, updated
from sources import Mistake, Source

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)

ORIGIN = f"JAX {jax.__version__}, on the CPU"
RUN = f"jax {jax.__version__}"
REFUSALS = (TypeError, ValueError, IndexError)


def source(op, dtypes, draw, peer, kept):
    return Source(
        op=f"jax.{op}",
        way="",
        origin=RUN,
        dtypes=dtypes,
        draw=draw,
        peer=lambda case: np.asarray(peer(with_index(case))),
        refusals=REFUSALS,
        kept=kept,
    )


def listed(case):
    """A case whose index is the tensors of a list, as vectors have it: `None` if it is more."""
    indices = case["indices"]
    entries = indices if isinstance(indices, tuple) else (indices,)
    named = {}
    for place, entry in enumerate(entries):
        if isinstance(entry, np.ndarray):
            named[f"indices.{place}"] = entry
        elif not isinstance(entry, slice) or entry not in (slice(None), slice(None, None, 1)):
            return None
    return {name: value for name, value in case.items() if name != "indices"} | named


def with_index(case):
    """A case as JAX takes it."""
    if "x" not in case:
        return case
    named = {name: value for name, value in case.items() if name.startswith("indices.")}
    places = {int(name.removeprefix("indices.")): value for name, value in named.items()}
    index = tuple(places.get(place, slice(None)) for place in range(max(places, default=-1) + 1))
    return {name: value for name, value in case.items() if name not in named} | {"indices": index}


def sources():
    for name, dtypes in AT.items():
        yield source(
            f"at_{name}",
            dtypes,
            functools.partial(an_update, name),
            functools.partial(updated, name),
            16,
        )
    yield source("at_get", DTYPES, lambda rng, dtype: listed(get(rng, dtype)), taken, 20)
    for name, dtypes in SEGMENTS.items():
        draw = functools.partial(of_segments, name)
        yield source(f"ops.{name}", dtypes, draw, functools.partial(by_segments, name), 12)


def an_update(name, rng, dtype):
    return listed(update(rng, name, dtype))


def of_segments(name, rng, dtype):
    return segments(rng, name, dtype)


THREE = np.float32([1, 2, 3])
MISTAKES = {
    "at_add": {
        "updates that do not broadcast": {
            "x": THREE,
            "indices.0": np.int64([0, 1]),
            "y": THREE,
            "mode": None,
        },
        "an index of floats": {"x": THREE, "indices.0": THREE, "y": THREE, "mode": None},
        "indices that do not broadcast": {
            "x": np.ones((2, 2), np.float32),
            "indices.0": np.int64([0, 1]),
            "indices.1": np.int64([0, 1, 1]),
            "y": np.float32([1]),
            "mode": None,
        },
        "a mode that there is not": {
            "x": THREE,
            "indices.0": np.int64([0]),
            "y": THREE[:1],
            "mode": "reflect",
        },
    },
    "ops.segment_sum": {
        "too few numbers": {
            "data": THREE,
            "segment_ids": np.int32([0, 1]),
            "num_segments": 2,
        },
        "numbers of floats": {"data": THREE, "segment_ids": THREE, "num_segments": 2},
        "fewer segments than none": {
            "data": THREE,
            "segment_ids": np.int32([0, 1, 1]),
            "num_segments": -1,
        },
    },
}
FUNCTIONS = {
    "at_add": functools.partial(updated, "add"),
    "ops.segment_sum": functools.partial(by_segments, "segment_sum"),
}


def called(name, case):
    return FUNCTIONS[name](with_index(case))


def mistakes():
    for name, cases in MISTAKES.items():
        for what, case in cases.items():
            yield Mistake(
                op=f"jax.{name}",
                what=what.replace(" ", "-"),
                origin=RUN,
                case=case,
                peer=functools.partial(called, name),
                refusals=REFUSALS,
            )
