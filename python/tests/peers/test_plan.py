"""A plan under autograd: the derivatives of the same call with an index."""

import numpy as np
import pytest
import strew
import strew.torch as st
import torch
from strew._torch import plan as planned

# torch's own forward mode loads decompositions that it compiles in a way that it advises against.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:FutureWarning")

JOINS = ["sum", "prod", "mean", "amax", "amin"]
INDEX = torch.tensor([1, -1, 0, 1, 3])
KEPT = INDEX >= 0


def tensors(dtype=torch.float64):
    """An input and a source with equal values, zeros and an update that is left out."""
    generator = torch.Generator().manual_seed(5)
    values = torch.randint(-2, 3, (9, 3), generator=generator).to(dtype)
    return values[:4].requires_grad_(), values[4:].clone().requires_grad_()


def by_index(join, include_self, input, src):
    index = INDEX[KEPT][:, None].expand(-1, 3)
    return st.scatter_reduce(input, 0, index, src[KEPT], join, include_self=include_self)


def by_plan(join, include_self, input, src):
    plan = strew.Plan(INDEX, 4, mode="drop")
    return st.scatter_reduce(input, 0, None, src, join, include_self=include_self, plan=plan)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("join", JOINS)
def test_gradients_are_those_of_an_index(join, include_self, dtype):
    found = []
    for run in (by_index, by_plan):
        input, src = tensors(dtype)
        result = run(join, include_self, input, src)
        grad = torch.arange(12, dtype=dtype).reshape(4, 3) - 5
        found.append((result.detach(), *torch.autograd.grad(result, (input, src), grad)))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("join", JOINS)
def test_second_derivatives(join, include_self):
    generator = torch.Generator().manual_seed(7)
    input, src = (
        torch.rand(n, 3, dtype=torch.float64, generator=generator).requires_grad_() for n in (4, 5)
    )

    def run(input, src):
        return by_plan(join, include_self, input, src)

    assert torch.autograd.gradcheck(run, (input, src), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(run, (input, src))


def test_slices_and_new_results():
    plan, dtype = strew.Plan([2, 0, 2], 3), torch.complex128
    input, src = (torch.rand(3, 2, dtype=dtype, requires_grad=True) for _ in range(2))
    for run in (
        lambda x, s: st.scatter(x, 0, None, s, plan=plan),
        lambda x, s: strew.scatter(s, None, 0, plan=plan) * x,
        lambda x, s: strew.scatter(s, None, 0, reduce="prod", plan=plan) * x,
        lambda x, s: strew.gather(s, None, 0, plan=plan) * x,
    ):
        assert torch.autograd.gradcheck(run, (input, src))
        assert torch.autograd.gradgradcheck(run, (input, src))


@pytest.mark.parametrize("join", JOINS)
def test_in_place(join):
    index, plan = torch.tensor([1, 0, 1, 3, 0]), strew.Plan([1, 0, 1, 3, 0], 4)
    found = []
    for options in ({"index": index[:, None].expand(-1, 3)}, {"index": None, "plan": plan}):
        input, src = tensors()
        target = input * 2
        assert st.scatter_reduce_(target, 0, src=src, reduce=join, **options) is target
        found.append((target.detach(), *torch.autograd.grad(target.square().sum(), (input, src))))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_an_input_that_is_no_tensor():
    _, src = tensors()
    found, expected = (run("sum", True, np.zeros((4, 3)), src) for run in (by_plan, by_index))
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_both_ways_go_by_the_plan(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return vjp(*arguments)

    vjp = planned._plan_scatter_vjp
    monkeypatch.setattr(planned, "_plan_scatter_vjp", counted)
    monkeypatch.setattr("strew._own.extensions._plan_as_index", None)
    by_plan("mean", True, *tensors()).sum().backward()
    assert len(calls) == 1
