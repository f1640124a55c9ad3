"""Derivatives of the methods of `strew.Plan` on torch tensors."""

import numpy as np
import pytest
import strew
import torch
from strew._torch import plan_methods as methods
from torch.autograd import forward_ad, gradcheck, gradgradcheck

# torch's own forward mode loads decompositions that it compiles in a way that it advises against.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:FutureWarning")

REDUCES = "sum mean prod min max amin amax assign exact_sum exact_mean".split()
COMPLEX = "sum mean prod assign exact_sum exact_mean".split()
EXTREMES = "min max amin amax".split()

# Rows of 3, 0, 1, 2 and 0 updates, and one update that is dropped.
INDEX = [0, 3, 0, 2, -1, 3, 0]
ROWS = 5
PLANS = {
    "dropped": strew.Plan(INDEX, ROWS, mode="drop"),
    "all kept": strew.Plan([4, 1, 1, 0, 4, 1, 0], ROWS),
    "sorted": strew.Plan([0, 0, 1, 3, 3, 3, 4], ROWS),
    "none kept": strew.Plan([-1] * 7, ROWS, mode="drop"),
}


@pytest.fixture(params=PLANS.values(), ids=PLANS)
def plan(request):
    return request.param


def values(count=7, dim=0, dtype=torch.float64, seed=0):
    """Distinct values, with `count` of them along `dim`."""
    made = torch.Generator().manual_seed(seed)
    found = torch.randperm(count * 4, generator=made).double().reshape(count, 2, 2) / 20 - 0.73
    return found.movedim(0, dim).to(dtype)


def same_bits(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    bits = [one.detach().contiguous().flatten().view(torch.uint8) for one in (found, expected)]
    assert torch.equal(*bits)


def check(run, *tensors):
    tensors = [one.clone().requires_grad_() for one in tensors]
    forward = not any(one.is_complex() for one in tensors)
    assert gradcheck(run, tensors, check_forward_ad=forward)
    assert gradgradcheck(run, tensors, check_fwd_over_rev=forward, fast_mode=True)


@pytest.mark.parametrize("reduce", REDUCES)
def test_scatter(plan, reduce):
    check(lambda src: methods.scatter(plan, src, reduce, 1), values(dim=1))


def test_gather(plan):
    check(lambda src: methods.gather(plan, src, 1), values(ROWS, 1))


@pytest.mark.parametrize("dim", [0, 2, -1, -3])
def test_every_axis(dim):
    plan = PLANS["dropped"]
    for reduce in REDUCES:
        check(lambda src, reduce=reduce: methods.scatter(plan, src, reduce, dim), values(dim=dim))
    check(lambda src: methods.gather(plan, src, dim), values(ROWS, dim))


def test_reduce(plan):
    check(lambda src: methods.reduce(plan, src, REDUCES, 1), values(dim=1))


@pytest.mark.parametrize("reduce", COMPLEX)
def test_complex_numbers(reduce):
    plan = PLANS["dropped"]
    src = torch.complex(values(), values(seed=1))
    check(lambda src: methods.scatter(plan, src, reduce), src)
    check(lambda src: methods.gather(plan, src), src[:ROWS])


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", REDUCES)
def test_scatter_into_a_tensor(plan, reduce, include_self):
    def run(before, src):
        out = before * 1
        assert methods.scatter(plan, src, reduce, 1, out, include_self) is out
        return out

    check(run, values(ROWS, 1, seed=2) - 0.01, values(dim=1))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("reduce", REDUCES)
def test_bits(plan, reduce, dtype):
    src, before = values(dim=1, dtype=dtype), values(ROWS, 1, dtype, seed=2)
    special = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.0], dtype=dtype)
    src[:, [0, 2, 5, 6], 0] = special
    src[:, [0, 2, 6], 1] = torch.nan
    before[:, :, 1] = special[:2, None]
    expected = plan.scatter(src, reduce, dim=1)
    picked = plan.gather(before, dim=1)
    into = {
        own: plan.scatter(src, reduce, dim=1, out=before.clone(), include_self=own)
        for own in (True, False)
    }
    for run in (watched, dual, transformed):
        found = run(lambda x: methods.scatter(plan, x, reduce, 1), src)
        same_bits(found, expected)
        assert found.is_contiguous()
        same_bits(run(lambda x: methods.reduce(plan, x, ["sum", reduce], 1)[1], src), expected)
        same_bits(run(lambda x: methods.gather(plan, x, 1), before), picked)
        for own, result in into.items():
            same_bits(run(lambda x, own=own: into_clone(plan, x, reduce, before, own), src), result)


def into_clone(plan, src, reduce, before, include_self):
    # A choice that depends on `src` takes part in the transforms that `src` takes part in.
    out = torch.where(torch.ones_like(before, dtype=torch.bool), before, src.sum())
    return methods.scatter(plan, src, reduce, 1, out, include_self)


def watched(run, src):
    found = run(src.clone().requires_grad_())
    assert found.requires_grad
    return found


def dual(run, src):
    with forward_ad.dual_level():
        found = run(forward_ad.make_dual(src, torch.ones_like(src)))
        primal, tangent = forward_ad.unpack_dual(found)
        assert tangent is not None
        return primal.clone()


def transformed(run, src):
    return torch.func.vjp(run, src)[0]


@pytest.mark.parametrize("reduce", EXTREMES)
def test_ties(reduce):
    plan = PLANS["dropped"]
    src = torch.tensor([2.0, 5.0, 2.0, 7.0, 2.0, 5.0, 2.0], requires_grad=True)
    found = methods.scatter(plan, src, reduce)
    first = torch.autograd.grad(found.sum(), src, create_graph=True)[0]
    shared = [1 / 3, 0.5, 1 / 3, 1, 0, 0.5, 1 / 3]
    expected = shared if reduce.startswith("a") else [1, 1, 0, 1, 0, 0, 0]
    assert torch.equal(first, torch.tensor(expected))
    # As the same call with an index does it.
    by_index = torch.func.grad(lambda x: methods.scatter(plan, x, reduce).sum())(src)
    assert torch.equal(first, by_index)


@pytest.mark.parametrize("reduce", EXTREMES)
def test_ties_with_what_a_tensor_holds(reduce):
    # Each row with updates holds the value of these.
    src = torch.tensor([2.0, 5.0, 2.0, 7.0, 2.0, 5.0, 2.0], requires_grad=True)
    before = torch.tensor([2.0, 3.0, 7.0, 5.0, 4.0], requires_grad=True)
    found = methods.scatter(PLANS["dropped"], src, reduce, out=before * 1)
    of_before, of_src = torch.autograd.grad(found.sum(), (before, src))
    if reduce.startswith("a"):
        assert torch.equal(of_before, torch.tensor([1 / 4, 1, 1 / 2, 1 / 3, 1]))
        shared = [1 / 4, 1 / 3, 1 / 4, 1 / 2, 0, 1 / 3, 1 / 4]
        assert torch.equal(of_src, torch.tensor(shared))
    else:
        assert of_before.tolist() == [1] * 5 and of_src.tolist() == [0] * 7


def test_products_with_zeros():
    src = values()
    src[[0, 2, 3], 0] = 0
    src[1, 1] = 0
    check(lambda src: methods.scatter(PLANS["dropped"], src, "prod"), src)


def test_dropped_updates_and_the_last_one():
    src = torch.ones(7, requires_grad=True)
    for reduce in REDUCES:
        found = methods.scatter(PLANS["dropped"], src, reduce)
        of_src = torch.autograd.grad(found.sum(), src)[0]
        assert of_src[4] == 0
        if reduce == "assign":
            assert of_src.tolist() == [0, 0, 0, 1, 0, 1, 1]


@pytest.mark.parametrize("reduce", REDUCES)
def test_transforms(plan, reduce):
    src = values(dim=1)

    def run(src):
        return methods.scatter(plan, src, reduce, 1)

    # By one backward pass for each result.
    expected = torch.autograd.functional.jacobian(run, src)
    assert torch.equal(torch.func.jacrev(run)(src), expected)
    assert torch.allclose(torch.func.jacfwd(run)(src), expected)
    assert torch.equal(torch.autograd.functional.jacobian(run, src, vectorize=True), expected)
    batch = torch.stack([src, -src])
    assert torch.equal(torch.func.vmap(run)(batch), torch.stack([run(src), run(-src)]))
    found = torch.func.hessian(lambda src: run(src).square().sum())(src)
    by_backward = torch.autograd.functional.hessian(lambda src: run(src).square().sum(), src)
    assert torch.allclose(found, by_backward)


def test_transforms_of_gather(plan):
    src = values(ROWS, 1)

    def run(src):
        return methods.gather(plan, src, 1)

    expected = torch.autograd.functional.jacobian(run, src)
    assert torch.equal(torch.func.jacrev(run)(src), expected)
    assert torch.equal(torch.func.jacfwd(run)(src), expected)
    assert torch.equal(torch.autograd.functional.jacobian(run, src, vectorize=True), expected)
    batch = torch.stack([src, -src])
    assert torch.equal(torch.func.vmap(run)(batch), torch.stack([run(src), run(-src)]))


def test_nothing_to_record():
    plan = PLANS["dropped"]
    src, rows = values(), values(ROWS)
    leaf, out = src.clone().requires_grad_(), rows.clone().requires_grad_()
    with torch.no_grad():
        found = [
            methods.scatter(plan, leaf),
            methods.gather(plan, out),
            *methods.reduce(plan, leaf, ["mean", "max"]),
            methods.scatter(plan, torch.nn.Parameter(src, requires_grad=False)),
        ]
        assert methods.scatter(plan, leaf, "sum", out=out) is out
    expected = [
        plan.scatter(src),
        plan.gather(rows),
        *plan.reduce(src, ["mean", "max"]),
        plan.scatter(src),
    ]
    for one, other in zip(found, expected, strict=True):
        assert not one.requires_grad
        same_bits(one, other)
    same_bits(out, plan.scatter(src, out=rows))


def test_the_gradient_goes_by_the_plan(monkeypatch):
    src = values().requires_grad_()
    monkeypatch.setattr(methods, "_rows", None)
    for reduce in REDUCES:
        methods.scatter(PLANS["dropped"], src, reduce).sum().backward()
    methods.gather(PLANS["dropped"], values(ROWS).requires_grad_()).sum().backward()


@pytest.mark.parametrize("record", [True, False])
def test_errors_are_those_without_gradient(record):
    plan = strew.Plan(INDEX, ROWS, mode="drop", name='the "edges"')
    src, out = values().requires_grad_(), torch.zeros(ROWS, 2, 2)
    wrong = [
        lambda x: methods.scatter(plan, x, "sum", 3),
        lambda x: methods.scatter(plan, x[:3]),
        lambda x: methods.scatter(plan, x.sum()),
        lambda x: methods.gather(plan, x),
        lambda x: methods.reduce(plan, x, ["sum"], -4),
        lambda x: methods.scatter(plan, x, out=out),
        lambda x: methods.scatter(plan, x, out=out[1:].double()),
    ]
    for run in wrong:
        messages = []
        for given in (src.detach(), src if record else torch.nn.Parameter(src, False)):
            with pytest.raises((IndexError, ValueError, TypeError)) as raised:
                run(given)
            messages.append((raised.type, str(raised.value)))
        assert messages[0] == messages[1]
    assert out.eq(0).all()


def test_what_cannot_be_written_to():
    plan, src = PLANS["dropped"], values().requires_grad_()
    with pytest.raises(TypeError, match="out must be a torch tensor, as src is, not ndarray"):
        methods.scatter(plan, src, out=np.zeros((ROWS, 2, 2)))
    with pytest.raises(RuntimeError, match="leaf Variable"):
        methods.scatter(plan, src, out=values(ROWS).requires_grad_())


def test_a_source_of_another_library_joins_in():
    before = values(ROWS).requires_grad_()
    out = methods.scatter(PLANS["dropped"], values().numpy(), "prod", out=before * 1)
    expected = PLANS["dropped"].scatter(values(), "prod", out=before.detach() * 1)
    same_bits(out, expected)
    assert torch.autograd.grad(out.sum(), before)[0].shape == before.shape


@pytest.mark.parametrize("reduce", REDUCES)
def test_the_methods_themselves(plan, reduce):
    check(lambda src: plan.scatter(src, reduce, dim=1), values(dim=1))
    check(lambda src: plan.reduce(src, ["sum", reduce], dim=-2), values(dim=1))

    def into(before, src):
        out = before * 1
        assert plan.scatter(src, reduce, dim=1, out=out, include_self=False) is out
        return out

    check(into, values(ROWS, 1, seed=2), values(dim=1))


def test_the_method_gather(plan):
    check(lambda src: plan.gather(src, dim=1), values(ROWS, 1))
    src = values(ROWS)
    (tangent,) = torch.func.jvp(plan.gather, (src,), (src,))[1:]
    assert torch.equal(tangent, plan.gather(src))
    # Parameters without gradient are no plain tensors either.
    with torch.no_grad():
        assert torch.equal(plan.gather(torch.nn.Parameter(src)), plan.gather(src))
    assert torch.equal(plan.gather(torch.nn.Parameter(src, False)), plan.gather(src))


def test_the_methods_take_the_same_names():
    plan, src = PLANS["dropped"], values().requires_grad_()
    with pytest.raises(ValueError, match='reduce = "median"'):
        plan.scatter(src, "median")
    (total,) = plan.reduce(src, "sum")
    assert total.requires_grad
