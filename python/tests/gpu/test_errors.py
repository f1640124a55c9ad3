"""Errors on a GPU are the CPU's: class, message and fields; and nothing is written."""

import pytest
import strew
import torch
from bits import check, drawn, moved, on_gpu, outcome
from strew._gpu.checks import Checked

S, TS = strew.torch, strew.torch_scatter
SRC, ROWS = drawn((6, 3), torch.float32), drawn((4, 3), torch.float32, seed=1)


def numbers(*values, dtype=torch.int64):
    return torch.tensor(values, dtype=dtype)


GOOD = numbers(0, 1, 1, 3, 0, 2)
WIDE = GOOD[:, None].expand(6, 3)
BAD = [numbers(0, 1, 4, 9, 0, 2), numbers(0, -1, 1, 3, 0, 2), numbers(0, 1, 1, 3, 0, 2**40)]
CALLS = {
    "scatter_add": lambda i, n, s: S.scatter_add(i, 0, n, s),
    "scatter_add_": lambda i, n, s: S.scatter_add_(i, 0, n, s),
    "scatter_reduce": lambda i, n, s: S.scatter_reduce(i, 0, n, s, "mean"),
    "scatter": lambda i, n, s: S.scatter(i, 0, n, s),
    "gather": lambda i, n, s: S.gather(i, 0, n),
    "take_along_dim": lambda i, n, s: S.take_along_dim(i, n + 5, 0),
    "index_add": lambda i, n, s: S.index_add(i, 0, n[:, 0], s),
    "index_copy_": lambda i, n, s: S.index_copy_(i, 0, n[:, 0], s),
    "index_fill": lambda i, n, s: S.index_fill(i, 0, n[:, 0] * 3, 1.0),
    "index_put": lambda i, n, s: S.index_put(i, [n[:, 0] * 3], s),
    "put": lambda i, n, s: S.put(i, n * 9, s),
    "torch_scatter.scatter": lambda i, n, s: TS.scatter(s, n, 0, dim_size=4),
    "torch_scatter.scatter out": lambda i, n, s: TS.scatter(s, n, 0, i),
    "torch_scatter.scatter_max": lambda i, n, s: TS.scatter_max(s, n, 0, dim_size=4),
    "torch_scatter.scatter_std": lambda i, n, s: TS.scatter_std(s, n, 0, dim_size=4),
    "torch_scatter.scatter_softmax": lambda i, n, s: TS.scatter_softmax(s, n, 0, 4),
    "torch_scatter.segment_coo": lambda i, n, s: TS.segment_coo(s, n[:, 0], dim_size=4),
    "torch_scatter.segment_csr": lambda i, n, s: TS.segment_csr(s, n[:, 0] * 2),
    "torch_scatter.gather_coo": lambda i, n, s: TS.gather_coo(i, n[:, 0]),
    "strew.scatter": lambda i, n, s: strew.scatter(s, n, 0, size=4),
    "strew.scatter wrap": lambda i, n, s: strew.scatter(s, n * 3, 0, size=4, mode="wrap"),
    "strew.gather": lambda i, n, s: strew.gather(i, n, 0),
    "strew.aggregate": lambda i, n, s: strew.aggregate(s, n[:, 0], ["sum"], size=4),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_index(name):
    for bad in BAD:
        check(CALLS[name], ROWS, bad[:, None].expand(6, 3), SRC)


@pytest.mark.parametrize("name", CALLS)
def test_other_wrong_arguments(name):
    call = CALLS[name]
    for index in (WIDE.to(torch.int16), WIDE.to(torch.float32), WIDE[:5], WIDE[:, :2]):
        check(call, ROWS, index, SRC)
    check(call, ROWS.double(), WIDE, SRC)
    check(call, ROWS[:, :2], WIDE, SRC)


@pytest.mark.parametrize("name", [name for name in CALLS if "_" in name and name.endswith("_")])
def test_nothing_is_written(name):
    into = moved(ROWS.clone())
    with on_gpu():
        _, error = outcome(
            lambda: CALLS[name](into, moved(BAD[0][:, None]).expand(6, 3), moved(SRC))
        )
    assert error is not None and torch.equal(into.cpu(), ROWS)


def test_shared_memory_and_options():
    check(lambda i: S.scatter_add_(i, 0, torch.zeros_like(i, dtype=torch.int64), i), ROWS)
    check(lambda i, n, s: S.scatter_reduce(i, 0, n, s, "median"), ROWS, WIDE, SRC)
    check(lambda i, n, s: S.scatter_add(i, 5, n, s), ROWS, WIDE, SRC)
    check(lambda i, n, s: TS.scatter(s, n, 0, reduce="best"), ROWS, WIDE, SRC)
    check(lambda d, n: S.segment_reduce(d, "sum", lengths=n), SRC[:, 0], numbers(2, 3))
    check(lambda d, n: S.segment_reduce(d, "sum", lengths=n), SRC[:, 0], numbers(-1, 7))
    check(lambda d, n: S.segment_reduce(d, "sum", offsets=n), SRC[:, 0], numbers(0, 4, 3, 6))
    check(lambda i, m, s: S.masked_scatter(i, m, s), ROWS, ROWS < 9, SRC[:1])
    check(lambda s, n: strew.scatter(s, n, 0, mode="best"), SRC, GOOD)
    check(lambda s, n: strew.aggregate(s, n, "best"), SRC, GOOD)
    check(lambda s, n: strew.aggregate(s, n, "sum", fill_value="x"), SRC, GOOD)


def test_tensors_on_two_devices():
    checked = Checked("torch.scatter_add")
    with pytest.raises(RuntimeError, match=r"src is on meta: it must be on cpu, as input is"):
        checked.check((ROWS, 0, WIDE, SRC.to("meta")))
