"""compare.toml: the column of gradients, as torch's autograd sees them. Needs torch."""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
import torch
from compare_adapters import ADAPTERS
from compare_table import CELLS, ways

CELL = [0.3, -1.1, 0.7, 2.3]
UPDATES = [1.7, -0.4, 0.9, 2.1, -1.3, 0.6]
INDEX = [0, 0, 1, 1, 1, 3]
"""It ascends, as some have to have it."""
WITHOUT_HOLES = [0, 0, 1, 2, 2, 3]
WITH_MEANS = {"torch.segment_reduce", "strew.aggregate", "strew.scatter"}


@dataclass(frozen=True)
class Case:
    operator: str
    word: str
    call: Callable

    @property
    def index(self):
        # A mean of nothing is NaN, which has no differences.
        return WITHOUT_HOLES if self.operator in WITH_MEANS else INDEX

    def run(self, x, i, y):
        """Forms in place change what is no leaf."""
        return self.call(x * 1, torch.tensor(i), y * 1)

    def gradients(self, x, i, y):
        """To the cells and to the updates; None of what takes no part."""
        x, y = leaf(x), leaf(y)
        return torch.autograd.grad(self.run(x, i, y).sum(), (x, y), allow_unused=True)

    def is_difference(self, x, y):
        """With finite differences, by all that it is asked of."""
        assert torch.autograd.gradcheck(lambda x, y: self.run(x, self.index, y), (leaf(x), leaf(y)))


def leaf(values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def goes_to(case, names):
    """It is what it should be, and it is that of the arguments that are named."""
    case.is_difference(CELL, UPDATES)
    if "out" in names:
        case = replace(case, call=functools.partial(case.call, out=True))
        case.is_difference(CELL, UPDATES)
    of_cells, of_updates = (one is not None for one in case.gradients(CELL, case.index, UPDATES))
    assert of_cells == (case.word == "get" or "self" in names or "out" in names)
    assert of_updates == (case.word != "get")


def goes_to_the_last(case):
    case.is_difference(CELL, UPDATES)
    of_cells, of_updates = case.gradients([0.0, 0.0], [1, 1], [5.0, 7.0])
    assert of_updates.tolist() == [0.0, 1.0]
    # A new array has no cells before.
    assert of_cells is None or of_cells.tolist() == [1.0, 0.0]


def goes_through_zeros(case):
    case.is_difference(CELL, [0.0, 0.0, 3.0, 0.0, -2.0, 0.0])
    _, of_updates = case.gradients([1.0, 1.0], [1, 1], [0.0, 7.0])
    assert of_updates.tolist() == [7.0, 0.0]


def goes_to_winners(weights):
    """Of two extremes among four updates."""

    def check(case):
        case.is_difference(CELL, UPDATES)
        sign = -1.0 if case.word.endswith("min") else 1.0
        _, of_updates = case.gradients(
            [0.0, 0.0], [1] * 4, [sign * one for one in (1.0, 5.0, 5.0, 2.0)]
        )
        assert of_updates.tolist() == [0.0, *weights, 0.0]

    return check


def is_refused(case):
    with pytest.raises(RuntimeError, match="strew does not record gradients here"):
        case.gradients([1.0, 2.0, 3.0], [0, 2], [1.0, 2.0])


def is_constant(case):
    assert not case.run(leaf(CELL), case.index, leaf(UPDATES)).requires_grad


CHECKS = {
    "to the last duplicate": goes_to_the_last,
    "exact with any zeros": goes_through_zeros,
    "ties share equally": goes_to_winners([0.5, 0.5]),
    "to the first winner": goes_to_winners([1.0, 0.0]),
    "none": is_refused,
    "of no result": is_constant,
}


@pytest.mark.parametrize("name", CELLS)
def test_gradient(name):
    listed = ways(ADAPTERS[name], CELLS[name]["gradient"])
    assert {word for word, *_ in listed} == {*ADAPTERS[name]}
    for word, call, phrase, _ in listed:
        case = Case(name, word, call)
        if phrase in CHECKS:
            CHECKS[phrase](case)
        else:
            goes_to(case, re.fullmatch("to ([a-z]+)(?: and ([a-z]+))?", phrase).groups())
