"""Every form, element type, reduction and index type: the CPU engine's bits."""

import itertools
from functools import partial

import pytest
import strew
import torch
from bits import COMPLEX, DTYPES, FLOATS, INTEGERS, ON_CARD, check, drawn, index_of
from strew._gpu import operators
from strew._torch.calls import Call

REDUCES = ["sum", "prod", "mean", "amax", "amin"]
INDICES = [torch.int32, torch.int64]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("reduce", REDUCES)
def test_scatter_reduce(dtype, reduce):
    src, index = drawn((9, 7), dtype), index_of((9, 7), 5)
    for include_self, dim in itertools.product((True, False), (0, 1)):
        input = drawn((5, 7) if dim == 0 else (9, 5), dtype, seed=1)

        def call(input, index, src, dim=dim, include_self=include_self):
            return strew.torch.scatter_reduce(
                input, dim, index, src, reduce, include_self=include_self
            )

        check(call, input, index, src)
        # One vector says where whole rows go.
        line = index_of((src.shape[dim],), 5, torch.int32)
        wide = line[:, None] if dim == 0 else line[None]
        check(call, input, wide.expand(src.shape), src)


@pytest.mark.parametrize("index_dtype", INDICES, ids=str)
@pytest.mark.parametrize("shape", [(60,), (0,), (3, 30), (40, 3), (20, 70), (4, 9, 5), (3, 0, 2)])
def test_shapes(shape, index_dtype):
    src = drawn(shape, torch.float32)
    for dim in range(len(shape)):
        index = index_of(shape, 6, index_dtype)
        into = list(shape)
        into[dim] = 6
        input = drawn(into, torch.float32, seed=3)
        check(lambda i, n, s, d=dim: strew.torch.scatter_add(i, d, n, s), input, index, src)
        line = index_of((shape[dim],), 6, index_dtype)
        check(lambda n, s, d=dim: strew.torch_scatter.scatter(s, n, d), line, src)
        check(lambda n, s, d=dim: strew.torch_scatter.scatter_max(s, n, d), index, src)


def test_strides():
    src, index = drawn((30, 8), torch.float64), index_of((30,), 5)
    for one in (src[::2, 1::3], src.t().contiguous().t()[5:20], src[:15].flip(1), src[3:18, 2:3]):
        check(lambda s, n: strew.torch_scatter.scatter(s, n, 0), one, index[: len(one)])
    wide = torch.tensor([[1.0], [2.0]]).expand(2, 4)
    check(lambda s, n: strew.torch_scatter.scatter(s, n, 0), wide, index[:2])
    # A column in the middle of a larger array is written to in place.
    more = drawn((30,), torch.float64)
    check(lambda a, n, s: (strew.torch.scatter_add_(a[:, 2], 0, n, s), a)[1], src, index, more)


def test_index_in_a_corner():
    input, src = drawn((6, 5, 4), torch.float32), drawn((5, 9, 4), torch.float32, seed=2)
    index = index_of((5, 7, 3), 5)
    for reduce in REDUCES:
        check(
            lambda i, n, s, r=reduce: strew.torch.scatter_reduce(i, 1, n, s, r), input, index, src
        )
    check(lambda i, n, s: strew.torch.scatter(i, 1, n, s), input, index, src)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scatter(dtype):
    input, index, src = drawn((5, 4), dtype), index_of((8, 4), 5), drawn((8, 4), dtype, seed=1)
    for reduce in (None, "add", "multiply"):
        check(
            lambda i, n, s, r=reduce: strew.torch.scatter(i, 0, n, s, reduce=r), input, index, src
        )
        check(lambda i, n, r=reduce: strew.torch.scatter(i, 0, n, value=3, reduce=r), input, index)
    check(lambda i, n, s: strew.torch.scatter_(i, 0, n, s), input, index, src)
    check(lambda i, n, s: strew.torch.scatter_add(i, 0, n, s), input, index, src)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_slices(dtype):
    input, index, source = drawn((5, 4), dtype), index_of((7,), 5), drawn((7, 4), dtype, seed=1)
    for alpha in (1, 3):
        check(
            lambda i, n, s, a=alpha: strew.torch.index_add(i, 0, n, s, alpha=a),
            input,
            index,
            source,
        )
    check(lambda i, n, s: strew.torch.index_copy(i, 0, n, s), input, index, source)
    check(lambda i, n: strew.torch.index_fill(i, 0, n - 5, 1), input, index)
    for reduce in ("prod", "mean", "amax", "amin"):
        check(
            lambda i, n, s, r=reduce: strew.torch.index_reduce(i, 0, n, s, r), input, index, source
        )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_put(dtype):
    input, source = drawn((5, 4), dtype), drawn((30,), dtype, seed=1)
    at, mask = index_of((30,), 20) - 10, torch.arange(20).reshape(5, 4) % 3 == 0
    for accumulate in (False, True):
        check(lambda i, n, s, a=accumulate: strew.torch.put(i, n, s, a), input, at, source)
        one, two = torch.tensor([1, -1, 1]), torch.tensor([0, 3, 0], dtype=torch.int32)
        values = source[:3]
        put = partial(strew.torch.index_put, accumulate=accumulate)
        check(lambda i, n, v: put(i, [n], v[0]), input, one, values)
        check(lambda i, n, m, v: put(i, [n, m], v), input, one, two, values)
        check(lambda i, n, v: put(i, [None, n], v), input, two, values)
        check(lambda i, m, v: put(i, [m], v), input, mask, source[: int(mask.sum())])
        check(lambda i, m, v: put(i, [m[:, 0], None], v[0]), input, mask, values)
    check(lambda i, m, s: strew.torch.masked_scatter(i, m, s), input, mask, source)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_gathers(dtype):
    input, index = drawn((5, 4), dtype), index_of((7, 4), 5)
    check(lambda i, n: strew.torch.gather(i, 0, n), input, index)
    check(lambda i, n: strew.torch.take_along_dim(i, n - 5, 0), input, index)
    check(lambda i, n: strew.torch.take_along_dim(i, n), input, index)
    ascending = index_of((6,), 5).sort().values
    check(lambda i, n: strew.torch_scatter.gather_coo(i, n), input, ascending)
    for pointers in ([0, 0, 2, 3, 3, 6], [0, 4, 1, 6, 3, 6]):
        check(strew.torch_scatter.gather_csr, input, torch.tensor(pointers))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool], ids=str)
def test_parts(dtype):
    input, module = drawn((5, 6), dtype), strew.torch
    check(lambda i, s: module.slice_scatter(i, s, 0, 1, 5, 2), input, drawn((2, 6), dtype, 1))
    check(lambda i, s: module.select_scatter(i, s, 1, -2), input, drawn((5,), dtype, 1))
    check(lambda i, s: module.diagonal_scatter(i, s, 2), input, drawn((4,), dtype, 1))
    window = drawn((3, 3), dtype, 1)
    check(lambda i, s: module.as_strided_scatter(i, s, (3, 3), (2, 1)), input, window)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("reduce", ["sum", "mul", "mean", "min", "max"])
def test_torch_scatter(dtype, reduce):
    if dtype.is_complex and reduce in ("min", "max"):
        return
    src, index = drawn((9, 4), dtype), index_of((9,), 5)
    out = drawn((6, 4), dtype, seed=1)
    check(lambda s, n: strew.torch_scatter.scatter(s, n, 0, reduce=reduce), src, index)
    check(lambda s, n, o: strew.torch_scatter.scatter(s, n, 0, o, reduce=reduce), src, index, out)
    whole = index_of((9, 4), 5)
    check(lambda s, n: strew.torch_scatter.scatter(s, n, 0, None, 8, reduce), src, whole)
    if reduce in ("min", "max"):
        run = getattr(strew.torch_scatter, f"scatter_{reduce}")
        check(lambda s, n: run(s, n, 0), src, index)
        check(lambda s, n, o: run(s, n, 0, o), src, index, out)
        check(lambda s, n: run(s, n, 0, None, 8), src, whole)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
def test_segments(dtype, reduce):
    if dtype.is_complex and reduce in ("min", "max"):
        return
    module = strew.torch_scatter
    src, index = drawn((2, 9, 3), dtype), index_of((2, 9), 5).sort().values
    pointers = torch.tensor([[0, 3, 3, 7, 2, 9], [1, 4, 9, 9, 9, 9]])
    coo, csr = (partial(run, reduce=reduce) for run in (module.segment_coo, module.segment_csr))
    check(lambda s, n: coo(s, n), src, index)
    check(lambda s, n: coo(s, n, dim_size=7), src, index[:1])
    check(lambda s, n, o: coo(s, n, o), src, index, drawn((2, 6, 3), dtype, seed=1))
    check(lambda s, p: csr(s, p), src, pointers)
    check(lambda s, p, o: csr(s, p, o), src, pointers[:1], drawn((2, 5, 3), dtype, seed=1))
    if reduce in ("min", "max"):
        coo = getattr(module, f"segment_{reduce}_coo")
        csr = getattr(module, f"segment_{reduce}_csr")
        check(lambda s, n: coo(s, n), src, index)
        check(lambda s, p: csr(s, p), src, pointers)


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, torch.int32], ids=str)
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "max", "min"])
def test_segment_reduce(dtype, reduce):
    data = drawn((2, 9, 3), dtype)
    offsets = torch.tensor([[0, 3, 3, 9], [2, 4, 8, 8]])
    for initial in (None, 2):
        check(
            lambda d, o, i=initial: strew.torch.segment_reduce(
                d, reduce, offsets=o, axis=1, initial=i
            ),
            data,
            offsets,
        )
    lengths = torch.tensor([[4, 0, 5], [1, 1, 7]])
    check(lambda d, n: strew.torch.segment_reduce(d, reduce, lengths=n, axis=1), data, lengths)


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int32, torch.uint8], ids=str)
def test_composites(dtype):
    module = strew.torch_scatter
    for shape, index in (((12,), index_of((12,), 4)), ((12, 3), index_of((12, 3), 4))):
        src = drawn(shape, dtype)
        for run in (
            lambda s, n: module.scatter_std(s, n, 0),
            lambda s, n: module.scatter_std(s, n, 0, unbiased=False),
            lambda s, n: module.scatter_softmax(s, n, 0),
            lambda s, n: module.scatter_log_softmax(s, n, 0, 0.5),
            lambda s, n: module.scatter_logsumexp(s, n, 0),
        ):
            check(run, src, index)
    if dtype.is_floating_point:
        src, out, index = drawn((12,), dtype), drawn((5,), dtype, seed=1), index_of((12,), 4)
        check(lambda s, n, o: module.scatter_std(s, n, 0, o), src, index, out.abs())
        check(lambda s, n, o: module.scatter_logsumexp(s, n, 0, o), src, index, out)


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, torch.int16], ids=str)
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_exact(dtype, reduce):
    for seed, shape in enumerate([(40,), (30, 3), (2, 20)]):
        src = drawn(shape, dtype, seed)
        if seed:
            # Values of all exponents, so that planes far apart are met.
            sizes = torch.randint(-300 // (seed * 9), 300 // (seed * 9), shape)
            src = (src.nan_to_num(0, 1, -1) * 2.0**sizes).to(dtype) if dtype != torch.int16 else src
        index = index_of(shape, 5)
        input = drawn((5, *shape[1:]), dtype, seed)
        for include_self in (True, False):
            check(
                lambda i, n, s, own=include_self: strew.torch.scatter_reduce(
                    i, 0, n, s, reduce, include_self=own, exact=True
                ),
                input,
                index,
                src,
            )


def of_all_sizes(count, dtype):
    """Floats of random bits, so of all exponents, subnormal ones among them; all are finite."""
    made = torch.Generator().manual_seed(7)
    integers = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    bits = torch.randint(-(2**63), 2**63 - 1, (count,), generator=made) >> 64 - 8 * dtype.itemsize
    found = bits.to(integers).view(dtype)
    # The largest are made smaller: few sums overflow.
    found = torch.where(found.isfinite(), found, 1)
    return torch.where(found.abs() > torch.finfo(dtype).max / 512, found / 512, found)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_exact_stretches(dtype, reduce):
    """A lane adds up 64 sorted updates: hot cells fill some of them, and cold ones share one."""
    count, tiny = 400, torch.finfo(dtype).smallest_normal
    wild, tame = of_all_sizes(count, dtype), drawn((count,), torch.float64).nan_to_num(0, 2, -2)
    line = torch.arange(count)
    values = {
        "tame": tame.to(dtype),
        "wild": wild,
        "subnormal": (tame.clamp(-1, 1) * tiny).to(dtype),
        "cancelling": torch.where(line % 2 == 0, wild, -wild.roll(1)),
        # The lowest plane of a window goes down, up by one, and up by two and more.
        "steps": (torch.tensor([1.0, 2.0**-40, 2.0**35, 2.0**-90, 2.0**90])[line % 5]).to(dtype),
        "zeros": torch.tensor([0.0, -0.0], dtype=dtype)[line % 2],
    }
    values["steps"] = values["steps"].nan_to_num(0, 1, -1)
    for place, special in ((3, torch.inf), (70, -torch.inf), (200, torch.nan), (390, torch.inf)):
        values[f"{special} at {place}"] = tame.to(dtype).index_fill(0, torch.tensor(place), special)
    both = torch.tensor([3, 300])
    values["both infinities"] = tame.to(dtype).index_copy(0, both, tame[:2].to(dtype) * torch.inf)
    src = torch.stack([*values.values()], 1)
    indices = {
        "one cell": torch.zeros(count, dtype=torch.int64),
        "two cells": (line * 7) % 100 // 90,
        "runs of 50": line // 50,
        "cells of 2": line % 200,
        "hot and cold": torch.where(line % 3 == 0, line % 40, 5),
    }
    for index in indices.values():
        check(lambda s, n: strew.scatter(s, n, 0, reduce=reduce, exact=True), src, index)
    # An index for each element has one column.
    index = indices["hot and cold"][:, None].expand(src.shape).contiguous()
    index[:, 1::2] = index[:, 1::2] // 2
    input = torch.stack([*values.values()], 1)[:40]
    check(
        lambda i, n, s: strew.torch.scatter_reduce(i, 0, n, s, reduce, exact=True),
        input,
        index,
        src,
    )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_subnormal_numbers(dtype):
    parts = torch.randint(-60, 60, (40,), generator=torch.Generator().manual_seed(3))
    src = (parts.double() * torch.finfo(dtype).smallest_normal / 64).to(dtype)
    for reduce in ("sum", "mean", "mul", "min", "max"):
        check(partial(strew.torch_scatter.scatter, dim=0, reduce=reduce), src, index_of((40,), 5))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_wrapping(dtype):
    src = torch.tensor(torch.iinfo(dtype).max, dtype=dtype).expand(300)
    for reduce in ("sum", "mul", "mean"):
        run = partial(strew.torch_scatter.scatter, dim=0, reduce=reduce)
        check(run, src, index_of((300,), 3))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_autocast(dtype):
    """Autocast changes nothing, as on the CPU."""
    src, index, out = drawn((9, 4), dtype), index_of((9,), 5), drawn((5, 4), torch.float32)
    wide = index[:, None].expand(9, 4)
    with torch.autocast("cuda" if ON_CARD else "cpu", dtype=torch.bfloat16):
        # Another dtype than the destination's is an error.
        check(lambda o, n, s: strew.torch.scatter_add(o, 0, n, s), out, wide, src)
        check(lambda s, n: strew.torch_scatter.scatter_softmax(s, n, 0), src, index)
        check(lambda s, n: strew.torch_scatter.segment_coo(s, n), src, index.sort().values)
        check(lambda s, n: strew.scatter(s, n, 0, reduce="mean"), src, index)
        found = check(lambda s, n: strew.aggregate(s, n, ["var", "max", "median"]), src, index)
    assert {one.dtype for one in found} == {dtype}


def declared(call):
    """All operators of the dispatcher."""
    for one in call.__subclasses__():
        yield one
        yield from declared(one)


def test_every_row_has_a_form():
    rows = {one.row.format(reduce=reduce) for one in declared(Call) for reduce in ("min", "max")}
    assert len(rows) > 30
    for row in rows - {""}:
        assert operators.row(row)
