"""Derivatives, `torch.compile` and `torch.func`. Needs torch: without it this fails, as it should."""

import pytest
import strew
import strew._torch as registered
import torch
from torch.autograd import forward_ad, gradcheck, gradgradcheck

# torch's own forward mode loads decompositions that it compiles in a way that it advises against.
# Its `opcheck` looks at the gradients of tensors that are no leaves.
pytestmark = pytest.mark.filterwarnings(
    "ignore:`torch.jit:FutureWarning", "ignore:The .grad attribute:UserWarning"
)

REDUCES = ["sum", "prod", "mean", "amax", "amin"]
GROUPED = ["sum", "mul", "mean", "min", "max"]


def problem(seed=0, zeros=0):
    """`input`, `index` and `src`, which is larger than the index on both axes; distinct values."""
    made = torch.Generator().manual_seed(seed)
    values = torch.randperm(60, generator=made).double() / 7 - 4.1
    input, src = values[:15].reshape(3, 5), values[15:57].reshape(7, 6)
    index = torch.randint(0, 3, (6, 5), generator=made)
    if zeros:
        src = src.clone()
        src[:zeros, :3] = 0
        index[:zeros, :3] = 1
    return input.clone().requires_grad_(), index, src.clone().requires_grad_()


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", REDUCES)
def test_scatter_reduce(reduce, include_self):
    input, index, src = problem()

    def f(input, src):
        return strew.torch.scatter_reduce(input, 0, index, src, reduce, include_self=include_self)

    assert gradcheck(f, (input, src), check_forward_ad=True)
    assert gradgradcheck(f, (input, src))


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("zeros", [1, 2, 3])
def test_products_with_zeros(zeros, include_self):
    input, index, src = problem(zeros=zeros)

    def f(input, src):
        return strew.torch.scatter_reduce(input, 0, index, src, "prod", include_self=include_self)

    assert gradcheck(f, (input, src), check_forward_ad=True)
    assert gradgradcheck(f, (input, src), check_fwd_over_rev=True)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean"])
def test_complex_numbers(reduce, include_self):
    made = torch.Generator().manual_seed(3)
    input, src = (
        torch.randn(n, generator=made, dtype=torch.complex128).requires_grad_() for n in (3, 6)
    )
    index = torch.tensor([0, 1, 1, 1, 0, 0])

    def f(input, src):
        return strew.torch.scatter_reduce(input, 0, index, src, reduce, include_self=include_self)

    assert gradcheck(f, (input, src), check_forward_ad=True)
    assert gradgradcheck(f, (input, src), check_fwd_over_rev=True)


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("include_self", [True, False])
def test_gradients_are_torch_s(reduce, include_self):
    input, index, src = problem()
    part = src.detach()[:6, :5].clone().requires_grad_()
    torch_s = input.scatter_reduce(0, index, part, reduce, include_self=include_self)
    strew_s = strew.torch.scatter_reduce(input, 0, index, part, reduce, include_self=include_self)
    assert torch.allclose(torch_s, strew_s)
    grad = torch.randn_like(torch_s)
    expected = torch.autograd.grad(torch_s, (input, part), grad)
    found = torch.autograd.grad(strew_s, (input, part), grad)
    for a, b in zip(expected, found, strict=True):
        assert torch.allclose(a, b)


def test_ties_are_shared_but_not_with_an_input_that_does_not_take_part():
    input = torch.tensor([4.0], requires_grad=True)
    src = torch.tensor([4.0, 3.0, 4.0], requires_grad=True)
    index = torch.tensor([0, 0, 0])
    for include_self, of_input, of_src in [
        (True, 1 / 3, [1 / 3, 0, 1 / 3]),
        (False, 0, [0.5, 0, 0.5]),
    ]:
        out = strew.torch.scatter_reduce(input, 0, index, src, "amax", include_self=include_self)
        found = torch.autograd.grad(out.sum(), (input, src))
        assert torch.allclose(found[0], torch.tensor([float(of_input)]))
        assert torch.allclose(found[1], torch.tensor(of_src))


@pytest.mark.parametrize("reduce", GROUPED)
@pytest.mark.parametrize("shape", ["1-d", "full"])
@pytest.mark.parametrize("into", [False, True])
def test_torch_scatter(reduce, shape, into):
    _, index, src = problem()
    index = torch.tensor([2, 0, 0, 2, 1, 2, 0]) if shape == "1-d" else torch.randint(0, 3, (7, 6))
    out = (torch.randperm(18).double().reshape(3, 6) / 5 - 1.73).requires_grad_()

    def f(src, out):
        target = out.clone() if into else None
        return strew.torch_scatter.scatter(src, index, 0, target, 3, reduce)

    inputs = (src, out)
    if not into:
        inputs = (src, out.detach())
    assert gradcheck(f, inputs, check_forward_ad=True)
    assert gradgradcheck(f, inputs)


def test_torch_scatter_products_with_zeros():
    src = torch.tensor([0.0, 2.0, 3.0, 0.0, 0.0, 5.0], dtype=torch.float64, requires_grad=True)
    index = torch.tensor([0, 0, 0, 1, 1, 1])

    def f(src):
        return strew.torch_scatter.scatter_mul(src, index, dim_size=3)

    assert torch.autograd.grad(f(src).sum(), src)[0].tolist() == [6, 0, 0, 0, 0, 0]
    assert gradcheck(f, (src,), check_forward_ad=True)
    assert gradgradcheck(f, (src,))


@pytest.mark.parametrize("reduce", REDUCES)
def test_opcheck(reduce):
    input, index, src = problem()
    arguments = (input, 0, index, src, reduce, True)
    torch.library.opcheck(registered.torch.scatter_reduce.scatter_reduce.overload, arguments)
    plain = (input.detach(), 0, index, src.detach(), reduce, False)
    torch.library.opcheck(registered.torch.scatter_reduce.scatter_reduce_.overload, plain)


@pytest.mark.parametrize("reduce", GROUPED)
def test_opcheck_torch_scatter(reduce):
    _, index, src = problem()
    index = torch.tensor([2, 0, 0, 2, 1, 2, 0])
    into = torch.zeros(3, 6, dtype=torch.float64, requires_grad=True)
    names = (
        ("scatter_extreme", "scatter_extreme_into")
        if reduce in ("min", "max")
        else ("scatter", "scatter_into")
    )
    new, old = (getattr(registered.torch_scatter.scatter, name).overload for name in names)
    torch.library.opcheck(new, (src, index, 0, 3, reduce))
    torch.library.opcheck(old, (src, index, 0, into, reduce))


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("include_self", [True, False])
def test_opcheck_derivatives(reduce, include_self):
    input, index, src = problem(zeros=2)
    grad = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    result = strew.torch.scatter_reduce(
        input, 0, index, src, reduce, include_self=include_self
    ).detach()
    operators = registered.torch.scatter_reduce
    linear = reduce in ("sum", "mean")
    kept = (None, None, [7, 6], None) if linear else (input, src, [7, 6], result)
    for wanted in [(True, True), (False, True), (True, False)]:
        torch.library.opcheck(
            operators.scatter_reduce_backward.overload,
            (grad, 0, index, *kept, reduce, include_self, *wanted),
        )
    if not linear:
        input_t, src_t = (torch.randn_like(of).requires_grad_() for of in (input, src))
        torch.library.opcheck(
            operators.scatter_reduce_tangent.overload,
            (input_t, src_t, input, 0, index, src, result, reduce, include_self),
        )


def test_opcheck_derivatives_of_extremes():
    operators = registered.torch_scatter.scatter
    values = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    arg = torch.randint(0, 5, (3, 5))
    torch.library.opcheck(operators.scatter_extreme_backward.overload, (values, arg, None, 0, 4))
    torch.library.opcheck(operators.scatter_extreme_tangent.overload, (values, arg.clamp(max=3), 0))


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("include_self", [True, False])
def test_one_gradient_is_the_same_without_the_other(reduce, include_self):
    input, index, src = problem(zeros=2 if reduce == "prod" else 0)

    def f(input, src):
        return strew.torch.scatter_reduce(input, 0, index, src, reduce, include_self=include_self)

    grad = torch.randn(3, 5, dtype=torch.float64)
    both = torch.autograd.grad(f(input, src), (input, src), grad)
    assert torch.equal(torch.autograd.grad(f(input, src.detach()), input, grad)[0], both[0])
    assert torch.equal(torch.autograd.grad(f(input.detach(), src), src, grad)[0], both[1])
    assert gradgradcheck(lambda input: f(input, src.detach()), (input,))
    assert gradgradcheck(lambda src: f(input.detach(), src), (src,))


def test_derivatives_of_numbers_without_an_axis():
    input, src = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (2.0, 3.0))
    index = torch.tensor(0)
    for reduce in REDUCES:

        def f(input, src, reduce=reduce):
            return strew.torch.scatter_reduce(input, 0, index, src, reduce)

        assert gradcheck(f, (input, src), check_forward_ad=True, check_batched_grad=True)
        assert gradgradcheck(f, (input, src), check_batched_grad=True)


@pytest.mark.parametrize("reduce", REDUCES)
def test_compiled(reduce):
    input, index, src = problem()

    def f(input, src):
        out = strew.torch.scatter_reduce(input, 0, index, src, reduce)
        return strew.torch_scatter.scatter(out, index[0, :3], 0, dim_size=4, reduce="mean")

    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    expected, found = f(input, src), compiled(input, src)
    assert torch.equal(expected, found)
    of = [torch.autograd.grad(out.square().sum(), (input, src)) for out in (expected, found)]
    for a, b in zip(*of, strict=True):
        assert torch.allclose(a, b)


def test_in_place_is_recorded():
    input, index, src = problem()
    target = input * 2
    assert strew.torch.scatter_reduce_(target, 0, index, src, "sum") is target
    expected = (input * 2).scatter_reduce(0, index, src[:6, :5], "sum")
    assert torch.allclose(target, expected)
    found = torch.autograd.grad(target.square().sum(), (input, src))
    wanted = torch.autograd.grad(expected.square().sum(), (input, src))
    for a, b in zip(found, wanted, strict=True):
        assert torch.allclose(a, b)


@pytest.mark.parametrize("reduce", REDUCES)
def test_func(reduce):
    input, index, src = problem()
    input, src = input.detach(), src.detach()

    def f(input, src):
        return strew.torch.scatter_reduce(input, 0, index, src, reduce).square().sum()

    live = input.clone().requires_grad_()
    expected = torch.autograd.grad(f(live, src), live)[0]
    assert torch.allclose(torch.func.grad(f)(input, src), expected)
    tangent = torch.randn_like(src)
    _, along = torch.func.jvp(lambda src: f(input, src), (src,), (tangent,))
    live = src.clone().requires_grad_()
    assert torch.allclose(along, (torch.autograd.grad(f(input, live), live)[0] * tangent).sum())
    several = torch.stack([input, input * 2, input - 1])
    found = torch.func.vmap(lambda input: strew.torch.scatter_reduce(input, 0, index, src, reduce))(
        several
    )
    one_by_one = [strew.torch.scatter_reduce(input, 0, index, src, reduce) for input in several]
    assert torch.equal(found, torch.stack(one_by_one))
    # Transforms within transforms: what is below one must still be seen by those around it.
    expected = torch.autograd.functional.hessian(lambda input: f(input, src), input)
    assert expected.any()
    for outer in (torch.func.jacfwd, torch.func.jacrev):
        for inner in (torch.func.jacfwd, torch.func.jacrev):
            assert torch.allclose(outer(inner(f))(input, src), expected)


def test_tangents_are_values():
    """Not zeros, as some ways of registering an operator would make them."""
    src = torch.tensor([1.0, 2.0, 4.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(src, torch.tensor([1.0, 10.0, 100.0]))
        out = strew.torch_scatter.scatter(dual, torch.tensor([1, 0, 1]), dim_size=2)
        primal, tangent = forward_ad.unpack_dual(out)
    assert primal.tolist() == [2, 5] and tangent.tolist() == [10, 101]


@pytest.mark.parametrize("reduce", GROUPED)
def test_torch_scatter_in_func(reduce):
    _, _, src = problem()
    src, index = src.detach(), torch.tensor([2, 0, 0, 2, 1, 2, 0])

    def f(src):
        return strew.torch_scatter.scatter(src, index, 0, None, 4, reduce)

    several = torch.stack([src, -src])
    assert torch.equal(torch.func.vmap(f)(several), torch.stack([f(src), f(-src)]))
    indices = torch.stack([index, index.flip(0)])
    found = torch.func.vmap(lambda i: strew.torch_scatter.scatter(src, i, 0, None, 4, reduce))(
        indices
    )
    one_by_one = [strew.torch_scatter.scatter(src, i, 0, None, 4, reduce) for i in indices]
    assert torch.equal(found, torch.stack(one_by_one))
    jacobian = torch.func.jacrev(f)(src)
    assert torch.allclose(jacobian, torch.func.jacfwd(f)(src))
    with pytest.raises(ValueError, match="dim_size"):
        torch.func.vmap(lambda s: strew.torch_scatter.scatter(s, index, 0, None, None, reduce))(
            several
        )


def test_torch_script():
    def f(src: torch.Tensor, index: torch.Tensor):
        out = strew.torch_scatter.scatter(src, index, dim=0, reduce="mean")
        low, where = strew.torch_scatter.scatter_min(src, index, 0)
        total = strew.torch_scatter.scatter(src, index, 0, dim_size=4)
        return (
            strew.torch_scatter.scatter_sum(src, index, out=torch.zeros(4)) + out,
            low,
            where,
            total,
        )

    src, index = torch.tensor([1.0, 3.0, 4.0, 9.0]), torch.tensor([0, 0, 3, 3])
    for a, b in zip(f(src, index), torch.jit.script(f)(src, index), strict=True):
        assert torch.equal(a, b)


def test_what_cannot_be_written_to_is_refused():
    source = torch.nn.Parameter(torch.tensor([5 + 0j, 6 + 1j]))
    input = torch.tensor([1 + 1j, 2 + 2j]).conj()
    with torch.no_grad(), pytest.raises(TypeError, match="conjugate or negative bit"):
        strew.torch.scatter_reduce_(input, 0, torch.tensor([0, 1]), source, "sum")
