"""Plausible mistakes: what an error says of the function, the argument, the value and the remedy."""

import numpy as np
import pytest
import strew

VALUES = np.array([1.0, 2.0, 3.0, 4.0])
INDEX = np.array([0, 1, 0, 1])
PLAN = strew.Plan(INDEX)
NEGATIVE = [0, -1, 0, 1]
LEFT_OUT = 'mode="drop" leaves out what has such a number'


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
    (
        lambda: strew.aggregate(VALUES, PLAN, size=3),
        ValueError,
        "aggregate: size, mode and ignore_index cannot be combined with a plan",
        "",
    ),
    # A dialect's dtype.
    (
        lambda: strew.numpy_groupies.aggregate(INDEX, VALUES, dtype="float7"),
        TypeError,
        "numpy_groupies.aggregate: dtype = 'float7': ",
        "",
    ),
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
