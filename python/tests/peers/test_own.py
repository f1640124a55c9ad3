"""strew.scatter and strew.gather on torch tensors."""

import numpy as np
import pytest
import strew
import torch

REDUCES = ["sum", "mean", "prod", "min", "max", "assign", "exact_sum", "exact_mean"]
MODES = {"error": (0, 4), "wrap": (-4, 4), "drop": (-9, 9), "clip": (-9, 9)}


def problem(mode, seed=0):
    torch.manual_seed(seed)
    src = torch.rand(5, 6, dtype=torch.float64) + 0.5
    return src, torch.randint(*MODES[mode], (5, 6))


def known(result):
    """The result with 0 in place of NaN, of which finite differences say nothing."""
    return result.nan_to_num()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("reduce", REDUCES)
def test_derivatives(reduce, mode):
    src, index = problem(mode)
    for options in ({}, {"fill_value": 3.0}, {"ignore_index": 2}):
        options |= {"dim_size": 4, "mode": mode, "reduce": reduce}
        expected = strew.scatter(src, index, 1, **options)
        assert isinstance(expected, torch.Tensor)

        def run(src, options=options):
            return known(strew.scatter(src, index, 1, **options))

        followed = run(src.clone().requires_grad_())
        torch.testing.assert_close(followed.detach(), known(expected), rtol=0, atol=0)
        assert torch.autograd.gradcheck(run, [src.clone().requires_grad_()])


@pytest.mark.parametrize("mode", MODES)
def test_derivatives_into_an_array_and_of_rows(mode):
    src, index = problem(mode)
    rows = index[:, 0].to(torch.int16)
    out = torch.rand(4, 6, dtype=torch.float64)
    for reduce in ["sum", "mean", "max"]:

        def run(src, out, reduce=reduce):
            return strew.scatter(src, rows, 0, out=out.clone(), reduce=reduce, mode=mode)

        plain = run(src, out)
        given = [src.clone().requires_grad_(), out.clone().requires_grad_()]
        torch.testing.assert_close(run(*given).detach(), plain, rtol=0, atol=0)
        assert torch.autograd.gradcheck(run, given)


@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_gathers(mode):
    src, index = problem(mode)
    for places in (index, index[0], index[:, :1]):

        def run(src, places=places):
            return strew.gather(src, places % 7 if mode == "drop" else places, 1, mode=mode)

        followed = src.clone().requires_grad_()
        torch.testing.assert_close(run(followed).detach(), run(src), rtol=0, atol=0)
        assert torch.autograd.gradcheck(run, [followed])


def test_plans():
    plan = strew.Plan([2, 0, 2, -5], 3, mode="drop")
    src = torch.rand(4, 3, dtype=torch.float64)

    def run(src):
        return known(strew.scatter(src, None, 0, reduce="mean", plan=plan))

    followed = src.clone().requires_grad_()
    torch.testing.assert_close(run(followed).detach(), run(src), rtol=0, atol=0)
    assert torch.autograd.gradcheck(run, [followed])
    back = torch.rand(3, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: strew.gather(x, None, 0, plan=plan), [back])


def test_errors():
    src = torch.ones(3, requires_grad=True)
    with pytest.raises(IndexError, match=r"index\[1\] = 5"):
        strew.scatter(src, [0, 5, 0], dim_size=3)
    with pytest.raises(TypeError, match="integer"):
        strew.scatter(src, torch.ones(3))
    with pytest.raises(ValueError, match="mode"):
        strew.gather(src, [0], mode="no")
    with pytest.raises(IndexError, match="dim"):
        strew.gather(src, [0], 2)


def test_compiled():
    src, index = problem("drop")

    @torch.compile(fullgraph=True)
    def run(src):
        return strew.scatter(src, index, 1, dim_size=4, mode="drop", reduce="max")

    given = src.clone().requires_grad_()
    expected = strew.scatter(src, index, 1, dim_size=4, mode="drop", reduce="max")
    torch.testing.assert_close(run(given).detach(), expected, rtol=0, atol=0, equal_nan=True)
    run(given).nansum().backward()
    assert given.grad.sum() == np.count_nonzero(~np.isnan(expected.numpy()))


@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_exact_forms_of_torch_functions(reduce):
    src, index = problem("error")
    input = torch.zeros(5, 4, dtype=torch.float64)
    plan = strew.Plan(index[0].numpy(), 4)
    rows = index[:1].expand(5, 6)

    def by_index(src):
        return strew.torch.scatter_reduce(input, 1, rows, src, reduce, exact=True)

    def by_plan(src):
        return strew.torch.scatter_reduce(input, 1, None, src, reduce, exact=True, plan=plan)

    out, places = np.zeros((5, 4)), index[0].numpy()
    expected = strew.scatter(src.numpy(), places, 1, out=out, reduce=reduce, exact=True)
    for run in (by_index, by_plan):
        given = src.clone().requires_grad_()
        torch.testing.assert_close(run(given).detach().numpy(), expected, rtol=0, atol=0)
        assert torch.autograd.gradcheck(run, [given])
