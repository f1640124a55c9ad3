"""What waits for a device, what sorts, and what is added atomically: results do not show it."""

import numpy as np
import pytest
import strew
import torch
from bits import ON_CARD, check, drawn, index_of, moved, on_gpu


@pytest.fixture
def no_waiting(monkeypatch):
    """Refuses to read a tensor's values from Python, which waits for its device."""

    def refused(*arguments):
        raise AssertionError("this waits for the device")

    def refuse():
        for name in ("__bool__", "__int__", "__float__", "__index__", "item", "tolist", "cpu"):
            monkeypatch.setattr(torch.Tensor, name, refused)

    yield refuse
    monkeypatch.undo()


@pytest.mark.parametrize("mode", ["drop", "clip"])
def test_modes_without_errors_do_not_wait(mode, no_waiting):
    src, index = moved(drawn((20, 2), torch.float32)), moved(index_of((20,), 6))
    strew.scatter(src, index, 0, size=6, mode=mode)
    with on_gpu():
        # What it is checked for is the same the second time.
        strew.scatter(src, index, 0, size=6, mode=mode)
        no_waiting()
        strew.scatter(src, index, 0, size=6, mode=mode)
        strew.gather(src, index % 7, 0, mode=mode)


@pytest.mark.parametrize("mode", ["error", "wrap"])
def test_modes_with_errors_wait_once(mode, no_waiting, monkeypatch):
    src, index = moved(drawn((20, 2), torch.float32)), moved(index_of((20,), 6))
    waits = []
    with on_gpu():
        strew.scatter(src, index, 0, size=6, mode=mode)
        of_bool = torch.Tensor.__bool__
        no_waiting()
        monkeypatch.setattr(torch.Tensor, "__bool__", lambda one: waits.append(one) or of_bool(one))
        strew.scatter(src, index, 0, size=6, mode=mode)
    assert len(waits) == 1


S = strew.torch
#: Calls by a plan of 20 updates of 6 rows.
BY_PLAN = {
    **{
        f"scatter_reduce {name}": lambda o, s, p, n=name: S.scatter_reduce(o, 0, None, s, n, plan=p)
        for name in ("sum", "mean", "prod", "amax")
    },
    "scatter_add": lambda o, s, p: S.scatter_add(o, 0, None, s, plan=p),
    "scatter_add exact": lambda o, s, p: S.scatter_add(o, 0, None, s, plan=p, exact=True),
    # The gradients of assignments sort the winners.
    "scatter": lambda o, s, p: S.scatter(o.detach(), 0, None, s.detach(), plan=p) + o.sum() * 0,
    **{
        f"Plan.scatter {name}": lambda o, s, p, n=name: p.scatter(s, n)
        for name in ("sum", "mean", "prod", "amin", "max")
    },
    "Plan.gather": lambda o, s, p: p.gather(o),
    "strew.scatter": lambda o, s, p: strew.scatter(s, None, 0, plan=p, reduce="mean"),
    "strew.gather": lambda o, s, p: strew.gather(o, None, 0, plan=p),
    "strew.aggregate": lambda o, s, p: strew.aggregate(s, p, "mean"),
    "strew.aggregate std": lambda o, s, p: strew.aggregate(s, p, "std"),
}


@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize("name", BY_PLAN)
def test_plans_sort_once(name, drops, monkeypatch):
    index = index_of((20,), 6)
    plan = strew.Plan(torch.where(index == 2, 9, index) if drops else index, 6, mode="drop")
    assert bool(plan.dropped) == drops
    out, src = torch.rand(6, 3), torch.rand(20, 3)
    sort, sorts = torch.sort, []
    monkeypatch.setattr(torch, "sort", lambda *a, **k: sorts.append(1) or sort(*a, **k))

    def run(out, src, weights):
        out, src = out.requires_grad_(), src.requires_grad_()
        found = BY_PLAN[name](out, src, plan)
        gradients = torch.autograd.grad(
            (found * weights[: len(found)]).sum(), [out, src], allow_unused=True
        )
        return [found.detach(), *(one for one in gradients if one is not None)]

    for turn in range(2):
        check(run, out, src, torch.rand(20, 3))
        assert len(sorts) <= 1 or turn == 0
        sorts = sorts[:1]


@pytest.mark.skipif(ON_CARD, reason="the interpreter counts")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_hot_cells_have_few_atomic_additions(dtype, monkeypatch):
    builder = pytest.importorskip("triton.runtime.interpreter").InterpreterBuilder
    original, counted = builder.create_atomic_rmw, []

    def count(self, operation, pointers, values, mask, *more):
        counted.append(np.count_nonzero(mask.data))
        return original(self, operation, pointers, values, mask, *more)

    monkeypatch.setattr(builder, "create_atomic_rmw", count)
    src = torch.rand(640, dtype=dtype, generator=torch.Generator().manual_seed(1)) + 1
    check(lambda s, n: strew.scatter(s, n, 0, exact=True), src, torch.zeros(640, dtype=torch.int64))
    # Ten stretches of 64 updates with two or three integers each, where each update had as many.
    assert 0 < sum(counted) <= 30
