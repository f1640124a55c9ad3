"""What the operators of compare.toml make of the values of a cell, as sequential loops."""

import functools
import itertools
import operator

import numpy as np

MEANING = {
    "add": "sum",
    "accumulate": "sum",
    "subtract": "sub",
    "mul": "prod",
    "multiply": "prod",
    "divide": "div",
    "amax": "max",
    "amin": "min",
    "sumofsquares": "sumsq",
    "len": "count",
    "maximum": "max",
    "minimum": "min",
    "fmax": "max",
    "fmin": "min",
    "none": "set",
    "fill": "set",
    "update": "set",
    "assign": "set",
    "last": "set",
}
"""Of the frameworks' words."""

STEPS = {
    "sum": operator.add,
    "mean": operator.add,
    "sqrt_n": operator.add,
    "sub": operator.sub,
    "prod": operator.mul,
    "div": operator.truediv,
    "power": operator.pow,
    "max": max,
    "min": min,
    "set": lambda held, new: new,
    "first": lambda held, new: held,
}
STATISTICS = {
    "count": len,
    "nunique": lambda values: len({*values}),
    "any": lambda values: any(value != 0 for value in values),
    "all": lambda values: all(value != 0 for value in values),
    "anynan": lambda values: any(map(np.isnan, values)),
    "allnan": lambda values: all(map(np.isnan, values)),
    "median": np.median,
    "quantile": np.median,
    "mode": lambda values: min({*values}, key=lambda value: (-values.count(value), value)),
    "sumsq": lambda values: functools.reduce(operator.add, [value * value for value in values]),
}
OF_VALUES = {
    "cumsum": lambda values: itertools.accumulate(values, operator.add),
    "cumprod": lambda values: itertools.accumulate(values, operator.mul),
    "cummin": lambda values: itertools.accumulate(values, min),
    "cummax": lambda values: itertools.accumulate(values, max),
    "sort": sorted,
    "rsort": lambda values: sorted(values, reverse=True),
    "softmax": None,
    "log_softmax": None,
}
"""Of all of a cell's values, or for each of them."""
ROUNDED = {"sum", "mean", "sqrt_n", "sub", "prod", "div", "sumsq", "std", "var"}
"""What shows the order."""


def folded(case, values):
    """What a cell is of the values that go there, one after the other."""
    if case.meaning in STATISTICS:
        return STATISTICS[case.meaning](values)
    total = functools.reduce(
        STEPS["sum" if case.meaning in ("std", "var") else case.meaning], values
    )
    count = type(total)(len(values))
    if case.meaning == "mean":
        return total / count
    if case.meaning == "sqrt_n":
        return total / np.sqrt(count)
    if case.meaning in ("std", "var"):
        unbiased = case.operator.endswith("scatter_std")
        squares = squares_of_two_passes(values, total / count) if unbiased else welford(values)
        of = max(count - 1, type(count)(1)) if unbiased else count
        if case.operator == "torch_scatter.scatter_std":
            of = count - 1 + 1e-6
        return type(total)(np.sqrt(squares / of) if case.meaning == "std" else squares / of)
    return total


def squares_of_two_passes(values, mean):
    """The sum of the squared differences from the mean."""
    return functools.reduce(operator.add, [(value - mean) * (value - mean) for value in values])


def welford(values):
    """The same in one pass, of the differences from the first value."""
    first, mean, squares = values[0], type(values[0])(0), type(values[0])(0)
    for count, value in enumerate(values, 1):
        apart = (value - first) - mean
        mean += apart / count
        squares += apart * ((value - first) - mean)
    return squares


def looped(case, i, lists):
    """The result of cells whose values these are, at `i`: for each cell, or for each value."""
    if case.meaning in ("argmin", "argmax"):
        pick = np.argmin if case.meaning == "argmin" else np.argmax
        return np.array(
            [np.flatnonzero(i == cell)[pick(values)] for cell, values in enumerate(lists)]
        )
    if case.meaning not in OF_VALUES:
        return np.array([folded(case, values) for values in lists])
    found = np.empty(len(i), type(lists[0][0]))
    for cell, values in enumerate(lists):
        found[i == cell] = list(OF_VALUES[case.meaning](values))
    return found
