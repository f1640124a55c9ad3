"""Plausible mistakes: what an error says of the function, the argument, the value and the remedy."""

import numpy as np
import pytest
import strew

VALUES = np.array([1.0, 2.0, 3.0, 4.0])
INDEX = np.array([0, 1, 0, 1])
PLAN = strew.Plan(INDEX)
NEGATIVE = [0, -1, 0, 1]
LEFT_OUT = 'mode="drop" leaves out what has such a number'


def accumulator(**options):
    return strew.Accumulator(3, "sum", **options)


MISTAKES = [
    # Numbers that name no row.
    (
        lambda: strew.scatter(VALUES, NEGATIVE),
        IndexError,
        "strew.scatter: index[1] = -1: ",
        LEFT_OUT,
    ),
    (lambda: strew.aggregate(VALUES, NEGATIVE), IndexError, "aggregate: index[1] = -1: ", LEFT_OUT),
    (lambda: strew.gather(VALUES, [0, 9]), IndexError, "strew.gather: index[1] = 9: ", LEFT_OUT),
    (lambda: strew.Plan(NEGATIVE), IndexError, "Plan: index[1] = -1: ", LEFT_OUT),
    (lambda: strew.Plan([0, 5], 3, mode="wrap"), IndexError, "Plan: index[1] = 5: ", LEFT_OUT),
    (
        lambda: accumulator().update(VALUES, NEGATIVE),
        IndexError,
        "Accumulator: index[1] = -1: ",
        LEFT_OUT,
    ),
    # What is made of the values.
    (
        lambda: strew.scatter(VALUES, INDEX, reduce="summ"),
        ValueError,
        'scatter: reduce = "summ": it must be one of sum, ',
        "argtopk",
    ),
    (
        lambda: strew.scatter(VALUES, INDEX, reduce=None),
        TypeError,
        "scatter: reduce has None: it must be a name, a function, or a list of them",
        "",
    ),
    (lambda: strew.aggregate(VALUES, INDEX, 3), TypeError, "aggregate: reduce has 3: ", "a name"),
    (
        lambda: strew.aggregate(VALUES, INDEX, ["sum", 3]),
        TypeError,
        "aggregate: reduce has 3: ",
        "a name",
    ),
    (lambda: PLAN.scatter(VALUES, None), TypeError, "Plan.scatter: reduce must be a str", "None"),
    (
        lambda: PLAN.scatter(VALUES, ["sum"]),
        TypeError,
        "Plan.scatter: reduce must be a str",
        "list",
    ),
    (
        lambda: PLAN.scatter_with_arg(VALUES, 3),
        TypeError,
        "Plan.scatter_with_arg: reduce must be a str",
        "int",
    ),
    (lambda: strew.Accumulator(3, 3), TypeError, "Accumulator: reduce must be a str or a ", "int"),
    (lambda: strew.Accumulator(3, [3]), TypeError, "Accumulator: reduce[0] must be a str", "int"),
    (
        lambda: strew.torch_scatter.scatter(VALUES, INDEX, reduce=None),
        TypeError,
        "torch_scatter.scatter: reduce must be a str, not None: leave it out for sum",
        "",
    ),
    # The axis.
    (
        lambda: strew.torch_scatter.scatter(VALUES, INDEX, None),
        TypeError,
        "torch_scatter.scatter: dim must be an integer, not None: leave it out for -1",
        "",
    ),
    (lambda: PLAN.scatter(VALUES, dim=None), TypeError, "Plan.scatter: dim must be an ", "None"),
    (
        lambda: PLAN.reduce(VALUES, "sum", dim=0.5),
        TypeError,
        "Plan.reduce: dim must be an ",
        "float",
    ),
    (lambda: PLAN.gather(VALUES, dim=None), TypeError, "Plan.gather: dim must be an ", "None"),
    (
        lambda: PLAN.scatter(VALUES, dim=2**70),
        ValueError,
        "Plan.scatter: dim = 1180591620717411303424: it must be an integer of 64 bits",
        "",
    ),
    # Plans.
    (
        lambda: strew.scatter(VALUES, PLAN),
        TypeError,
        "strew.scatter: index must be an array",
        "a plan is passed as plan=, with index=None",
    ),
    (
        lambda: strew.gather(VALUES, PLAN),
        TypeError,
        "strew.gather: index must be an array",
        "a plan is passed as plan=, with index=None",
    ),
    (lambda: strew.gather(VALUES, None, plan=PLAN), ValueError, "gather: src has shape [4]", "2"),
    (lambda: PLAN.gather(VALUES), ValueError, "Plan: src has shape [4]", "must be 2"),
    (
        lambda: strew.aggregate(VALUES, PLAN, size=3),
        ValueError,
        "aggregate: size, mode and ignore_index cannot be combined with a plan",
        "",
    ),
    (lambda: strew.Plan([0], mode=None), TypeError, "Plan: mode must be a str", "None"),
    (lambda: strew.Plan([0], name=3), TypeError, "Plan: name must be a str", "int"),
    (lambda: strew.Plan([0], threads=0), ValueError, "Plan: threads = 0: ", "at least 1"),
    (
        lambda: PLAN.scatter(VALUES, out=np.zeros(2), include_self="no"),
        TypeError,
        "Plan.scatter: include_self must be a bool",
        "str",
    ),
    (lambda: PLAN.explain(4), TypeError, "Plan.explain: shape must be a sequence of sizes", "int"),
    (lambda: PLAN.explain((4,), measure=2), TypeError, "Plan.explain: measure must be a ", "int"),
    (lambda: strew.Plan.from_bytes("x"), TypeError, "Plan.from_bytes: data must be bytes", "str"),
    # Accumulators.
    (lambda: accumulator(shape=3), TypeError, "Accumulator: shape must be a sequence of ", "int"),
    (lambda: accumulator(shape=(-1,)), ValueError, "Accumulator: shape = (-1,): ", "at least 0"),
    (lambda: accumulator(min_count=-1), ValueError, "Accumulator: min_count = -1: ", "at least 0"),
    (lambda: accumulator(min_count=1.5), TypeError, "Accumulator: min_count must be an ", "float"),
    (lambda: accumulator(ddof="x"), TypeError, "Accumulator: ddof must be a number", "str"),
    (lambda: accumulator(skipna="x"), TypeError, "Accumulator: skipna must be a bool", "str"),
    (lambda: accumulator(exact=1), TypeError, "Accumulator: exact must be a bool", "int"),
    (lambda: accumulator(mode=None), TypeError, "Accumulator: mode must be a str", "None"),
    (lambda: accumulator(threads="2"), TypeError, "Accumulator: threads must be an integer", "str"),
    (lambda: accumulator().merge(3), TypeError, "Accumulator: other must be an Accumulator", "int"),
    (
        lambda: strew.Accumulator.from_bytes("x"),
        TypeError,
        "Accumulator.from_bytes: data must be bytes or another buffer",
        "str",
    ),
    # Settings, and a dialect's dtype.
    (lambda: strew.set_num_threads(0), ValueError, "set_num_threads: n = 0: ", "at least 1"),
    (lambda: strew.set_num_threads("2"), TypeError, "set_num_threads: n must be an ", "str"),
    (lambda: strew.set_memory_limit("2G"), TypeError, "set_memory_limit: bytes must be an ", "str"),
    (lambda: strew.set_kept_memory(-1), ValueError, "set_kept_memory: bytes = -1: ", "from 0 to"),
    (
        lambda: strew.numpy_groupies.aggregate(INDEX, VALUES, dtype="float7"),
        TypeError,
        "numpy_groupies.aggregate: dtype = 'float7': ",
        "",
    ),
    (lambda: strew.progress("x").__enter__(), TypeError, "progress: show must be a bool", "str"),
]


@pytest.mark.parametrize(("call", "kind", "begins", "has"), MISTAKES)
def test_an_error_says_what_is_wrong_and_what_helps(call, kind, begins, has):
    with pytest.raises(kind) as caught:
        call()
    said = str(caught.value)
    assert said.startswith(begins) and has in said, said
    # Each thing once.
    assert said.count("leaves out") <= 1


def test_an_error_of_an_objects_own_stays():
    class Odd:
        def __index__(self):
            raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        PLAN.scatter(VALUES, dim=Odd())
