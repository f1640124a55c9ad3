"""Writes the vectors of TensorFlow, ONNX, JAX and StableHLO: cases that these tests draw, and what
the frameworks make of them.

    python python/tests/differential/vectors.py conformance              # all four files
    python python/tests/differential/vectors.py conformance tensorflow

Of many small cases of an operator those are kept that show the most: each dtype, word, rank and
refusal once. Needs what these tests need (requirements.txt). The same releases write the same files.
"""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
from drawn import one_of, outcome, seed_of

DRAWS = 120
"""Cases of an operator to choose from."""
MOST = 40
"""Elements of a case's arrays."""
FILES = ["tensorflow", "onnx", "jax", "stablehlo"]


def with_arrays(case):
    """A case in which NumPy's scalars are arrays."""
    return {
        name: np.asarray(value) if isinstance(value, np.generic) else value
        for name, value in case.items()
    }


def arrays_of(case):
    return {name: value for name, value in case.items() if isinstance(value, np.ndarray)}


def features(case, made):
    """What a case shows, as words."""
    if isinstance(made, Exception):
        yield f"rare: {type(made).__name__}"
        return
    empty = [name for name, array in arrays_of(case).items() if not array.size]
    if empty:
        yield from (f"rare: no {name}" for name in empty)
        return
    for name, value in case.items():
        match value:
            case np.ndarray():
                yield f"{name}: {value.dtype}"
                yield f"{name}: rank {value.ndim}"
                yield f"{name}: {'many' if value.size > 5 else 'few'}"
                if value.dtype.kind == "i" and value.min() < 0:
                    yield f"{name}: below 0"
                if value.dtype.kind not in "biu" and np.isnan(value).any():
                    yield f"{name}: NaN"
            case str() | bool() | None:
                yield f"{name}: {value}"
            case int():
                yield f"{name}: {np.sign(value)}"
            case _:
                yield f"{name}: {len(value)} numbers"


def worth(words):
    """Cases of one rare thing show few others, and would come last."""
    return sum(5 if word.startswith("rare") else 1 for word in words)


def chosen(source):
    """Cases that together show the most, with their numbers and results."""
    found = []
    for number in range(DRAWS):
        rng = np.random.default_rng(seed_of(["vectors", source.op, source.way], number))
        dtype = one_of(rng, source.dtypes)
        case = source.draw(rng, dtype)
        if case is None:
            continue
        case = with_arrays(case)
        if sum(array.size for array in arrays_of(case).values()) > MOST:
            continue
        made = outcome(lambda: source.peer(case), source.refusals)
        if not source.differs(case, made):
            found.append((number, dtype, case, made, {*features(case, made)}))
    seen, kept = set(), []
    while found and len(kept) < source.kept:
        best = max(found, key=lambda one: worth(one[-1] - seen))
        seen |= best[-1]
        kept.append(best)
        found = [one for one in found if one is not best]
    return [one[:-1] for one in sorted(kept, key=lambda one: one[0])]


def number_of(value):
    """A float as short as its dtype needs."""
    if not np.isfinite(value):
        return "nan" if np.isnan(value) else "inf" if value > 0 else "-inf"
    wide = float(str(value))
    return int(wide) if wide.is_integer() and abs(wide) < 2**53 and str(wide) != "-0.0" else wide


def element(value):
    match value.dtype.kind:
        case "b" | "i" | "u":
            return value.item()
        case "c":
            return [number_of(value.real), number_of(value.imag)]
        case _:
            return number_of(value)


def tensor(array):
    array = np.asarray(array)
    return {
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "data": [element(value) for value in array.reshape(-1)],
    }


def call(case):
    """A case's arguments as a vector has them."""
    given = {name: value for name, value in case.items() if not isinstance(value, np.ndarray)}
    params = {name: value for name, value in given.items() if value is not None}
    inputs = {name: tensor(array) for name, array in arrays_of(case).items()}
    return {"params": params, "inputs": inputs}


def refused(error):
    return {"error": {"kind": type(error).__name__}}


def expected(source, dtype, made):
    """What a vector says of a result."""
    if isinstance(made, Exception):
        return refused(made)
    by_name = made if isinstance(made, dict) else {"out": made}
    if source.in_place:
        by_name[source.in_place] = made
    of = source.tolerance(dtype)
    # A complex product's zeros have signs that depend on how it is made.
    is_exact = of == 0 and all(
        np.asarray(array).dtype.kind not in "biuc" for array in by_name.values()
    )
    tol = {"tol": {"rtol": of, "atol": of}} if of or is_exact else {}
    return {"expect": {name: tensor(array) for name, array in by_name.items()}} | tol


def vectors(sources, mistakes):
    for source in sources:
        told = {"origin": source.origin, "evidence": "peer-run"}
        for number, dtype, case, made in chosen(source):
            way = "refused" if isinstance(made, Exception) else "drawn"
            name = "/".join(
                part for part in (source.op, source.way, way, f"{dtype}-{number}") if part
            )
            yield {"id": name, "op": source.op} | call(case) | expected(source, dtype, made) | told
    for mistake in mistakes:
        case = with_arrays(mistake.case)
        made = outcome(lambda: mistake.peer(case), mistake.refusals)
        assert isinstance(made, Exception), f"{mistake.op} takes {mistake.what}: {made}"
        name = {"id": f"{mistake.op}/refused/{mistake.what}", "op": mistake.op}
        told = {"origin": mistake.origin, "evidence": "peer-run"}
        yield name | call(case) | refused(made) | told


def write(folder, framework):
    module = importlib.import_module(f"sources_{framework}")
    meta = {
        "schema": 1,
        "origin": module.ORIGIN,
        "note": "written by python/tests/differential/vectors.py: inputs and outputs only",
    }
    lines = [json.dumps(one) for one in vectors(module.sources(), module.mistakes())]
    text = f'{{"meta": {json.dumps(meta)}, "cases": [\n' + ",\n".join(lines) + "\n]}\n"
    path = Path(folder, f"{framework}.json")
    path.write_text(text)
    print(f"{path}: {len(lines)} cases, {len(text)} bytes")


if __name__ == "__main__":
    folder, *frameworks = sys.argv[1:]
    for framework in frameworks or FILES:
        write(folder, framework)
