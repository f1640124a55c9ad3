"""Kernels beside the compositions of torch's operators: the same bits."""

import itertools

import pytest
import torch
from bits import COMPLEX, DTYPES, drawn, index_of, moved, same_bits
from strew._gpu import compose
from strew._gpu.fold import Grouping, Reduction, fold, fold_powers, fold_spread, scan, updates_along

KINDS = ["sum", "prod", "max", "min", "strict_max", "strict_min"]


@pytest.mark.parametrize("dtype", [one for one in DTYPES if one != torch.uint64], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_folds(dtype, kind, composed):
    if dtype in COMPLEX and kind not in ("sum", "prod"):
        return
    means = ("", "down", "zero") if kind == "sum" else ("",)
    for (shape, dim), mean, own in itertools.product(
        [((30,), 0), ((30, 3), 0), ((2, 30, 5), 1)], means, (False, True)
    ):
        src, into = drawn(shape, dtype), list(shape)
        into[dim] = 6
        grouping = Grouping.of_index(moved(index_of((30,), 6)), 6)
        strict = kind.startswith("strict")
        reduction = Reduction(kind, own, mean, own, first=strict and own)
        found = []
        for forced in (True, False):
            compose.forced = forced
            out = moved(drawn(into, dtype, seed=1)).contiguous()
            arg = torch.full_like(out, -1, dtype=torch.int64) if strict else None
            fold(out, updates_along(moved(src), dim), grouping, reduction, arg, (1, 30))
            found.append((out,) if arg is None else (out, arg))
        assert same_bits(*found)


@pytest.mark.parametrize("skips", [False, True])
@pytest.mark.parametrize("run", [fold_spread, fold_powers])
def test_moments(run, skips, composed):
    src = drawn((2, 30, 5), torch.float64)
    grouping, found = Grouping.of_index(moved(index_of((30,), 6)), 6), []
    for forced in (True, False):
        compose.forced = forced
        lead = (3,) if run is fold_powers else ()
        out = moved(torch.zeros(*lead, 2, 6, 5, dtype=torch.float64))
        run(out, updates_along(moved(src), 1), grouping, skips)
        found.append(out)
    assert same_bits(*found)


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.complex128], ids=str)
@pytest.mark.parametrize("product", [False, True])
@pytest.mark.parametrize("skips", [False, True])
def test_scans(dtype, product, skips, composed):
    src = moved(drawn((2, 30, 5), dtype))
    grouping, found = Grouping.of_index(moved(index_of((30,), 6)), 6), []
    for forced in (True, False):
        compose.forced = forced
        found.append(scan(src, 1, grouping, product, skips))
    assert same_bits(*found)
