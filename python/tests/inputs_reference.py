"""Aggregates of values of which some are missing, from aggregates of those that are present."""

import numpy as np
import strew

ALWAYS = "sum prod sumsq nunique any all".split()
OR_MISSING = (
    "mean var std sem skew kurt min max first last nth median quantile mode logsumexp".split()
)
POSITIONS = ["argmin", "argmax"]
IN_PLACE = "softmax cumsum cumprod cummin cummax rank".split()
OTHERS = "len count cumcount anynan allnan shift sort argsort topk argtopk".split()
NAMES = [*ALWAYS, *OR_MISSING, *POSITIONS, *IN_PLACE, *OTHERS]


def expected(name, values, missing, groups, size, **options):
    """The result as an array, and where it is missing: of 1-d values."""
    values, groups = np.asarray(values), np.asarray(groups)
    present = np.flatnonzero(~missing)
    few, of_few = values[present], groups[present]
    counts = np.bincount(of_few, minlength=size)
    if name in ("len", "cumcount"):
        return strew.aggregate(values, groups, name, size=size, **options), None
    if name in ("anynan", "allnan"):
        is_nan = values != values
        floats = np.where(missing | is_nan, np.nan, 0.0)
        return strew.aggregate(floats, groups, name, size=size, **options), None
    if name == "shift":
        return shifted(values, missing, groups, options.get("periods", 1))
    if name in ("sort", "argsort"):
        return ordered(name, values, missing, groups, size)
    made = strew.aggregate(few, of_few, name, size=size, **options)
    if name in ("argmin", "argmax", "argtopk"):
        return np.where(made < 0, -1, np.append(present, -1)[made]), None
    if name in IN_PLACE:
        result = np.zeros(len(values), made.dtype)
        result[present] = made
        return result, missing
    if name == "topk":
        return made, np.arange(options.get("k", 1)) >= counts[:, None]
    if name in OR_MISSING:
        least = {"skew": 3, "kurt": 4, "nth": options.get("n", 0) + 1}.get(name, 1)
        lost = counts < least
        return made, np.broadcast_to(lost, made.shape)
    assert name in ALWAYS or name == "count"
    return made, None


def shifted(values, missing, groups, periods):
    """Each value goes `periods` places on, missing ones too."""
    result, lost = np.zeros_like(values), np.ones(len(values), bool)
    for group in set(groups.tolist()):
        places = np.flatnonzero(groups == group)
        for at, place in enumerate(places):
            if 0 <= at - periods < len(places):
                result[place] = values[places[at - periods]]
                lost[place] = missing[places[at - periods]]
    return result, lost


def ordered(name, values, missing, groups, size):
    """The values of each group in order, missing ones last."""
    from_ = np.zeros(len(values), int)
    for group in range(size):
        places = np.flatnonzero(groups == group)
        present = places[~missing[places]]
        order = present[np.argsort(values[present], kind="stable")]
        from_[places] = [*order, *places[missing[places]]]
    return (from_, None) if name == "argsort" else (values[from_], missing[from_])
