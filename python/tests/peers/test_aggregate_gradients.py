"""Derivatives of strew.aggregate, and of strew.scatter with its reductions, on torch tensors."""

import itertools

import numpy as np
import pytest
import strew
import torch
from torch.autograd import gradcheck, gradgradcheck

# torch's own forward mode loads decompositions that it compiles in a way that it advises against.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:FutureWarning")

SMOOTH = "sum prod sumsq mean var std sem skew kurt logsumexp softmax cumsum cumprod".split()
SELECTING = "min max first last nth median quantile mode cummin cummax sort shift topk".split()
NAMES = SMOOTH + SELECTING
CONSTANT = "len count nunique any all anynan allnan argmin argmax argsort rank cumcount argtopk"
ROUNDING = "sum mean sumsq var std sem".split()
COMPLEX = [n for n in NAMES if n not in "skew kurt logsumexp softmax median quantile".split()]

# Groups of 5, 0, 1, 4 and 2 values, and one value that belongs to none.
INDEX = np.array([0, 3, 0, 2, 0, 3, -1, 3, 4, 0, 3, 4, 0])

OPTIONS = {
    "plain": {},
    "min_count": {"min_count": 3, "fill_value": 1.0},
    "ddof": {"ddof": 1, "n": -1, "largest": False, "k": 2, "periods": -1, "q": 0.3},
    "several": {"q": [0.0, 0.25, 1.0], "n": 1, "k": 3, "periods": 2, "fill_value": -3.0},
}


def values(seed=0, dtype=torch.float64):
    """Distinct values, in three axes."""
    made = torch.Generator().manual_seed(seed)
    found = torch.randperm(2 * 13 * 2, generator=made).double().reshape(2, 13, 2) / 20 - 1.21
    return found.to(dtype)


def complex_values():
    return torch.complex(values(), values(1))


def with_nan(src):
    """NaN in every group and in one whole group, which only some columns have."""
    hole = torch.zeros(src.shape, dtype=torch.bool)
    hole[0, [0, 1, 5, 8], :] = True
    hole[1, [11, 8, 3], 0] = True
    return torch.where(hole, torch.nan, src)


def follow(name, src, **options):
    """The function of `src`, after a look at its bits, and that it requires grad."""
    options = {"dim": 1, "mode": "drop", "size": 5} | options

    def run(src):
        return strew.aggregate(src, INDEX, name, **options)

    expected, found = run(src), run(src.clone().requires_grad_())
    assert found.requires_grad and not expected.requires_grad
    same_bits(found, expected)
    return run


def same_bits(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    bits = [one.detach().flatten().view(torch.uint8) for one in (found, expected)]
    assert torch.equal(*bits)


def check(run, src, fast=False):
    # Numbers that are not there have no finite differences.
    def finite(src):
        return torch.nan_to_num(run(src))

    src = src.clone().requires_grad_()
    assert gradcheck(finite, (src,), fast_mode=fast)
    assert gradgradcheck(finite, (src,), fast_mode=True)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_derivatives(name, options):
    check(follow(name, values(), **options), values())


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_without_nan(name, options):
    src = with_nan(values())
    run = follow(name, src, skipna=True, **options)
    kept = ~src.isnan()

    def of_kept(part):
        return run(src.masked_scatter(kept, part))

    check(of_kept, src[kept], fast=True)
    left = src.clone().requires_grad_()
    torch.nan_to_num(run(left)).sum().backward()
    assert left.grad[kept].isfinite().all()
    if name not in ("sort", "shift"):
        assert (left.grad[~kept] == 0).all()


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers(name):
    src = complex_values()
    check(follow(name, src, k=2, fill_value=0), src)


@pytest.mark.parametrize("name", ROUNDING)
def test_exact_results_have_the_same_derivatives(name):
    check(follow(name, values(), exact=True), values())


@pytest.mark.parametrize("name", ["prod", "cumprod"])
def test_products_with_zeros(name):
    src = values()
    src[:, [0, 1, 5, 11]] = 0
    src[1, [2, 12]] = 0
    check(follow(name, src), src)


@pytest.mark.parametrize("name", NAMES)
def test_plans_and_every_axis(name):
    src = values(2)
    for dim, axis in itertools.product((0, 2, -2), (False, True)):
        moved = src.movedim(1, dim)
        plan = strew.Plan(INDEX, 5, mode="drop")
        by_plan = strew.aggregate(moved.clone().requires_grad_(), plan, name, dim=dim)
        given = {"axis": dim} if axis else {"dim": dim}
        by_index = strew.aggregate(
            moved.clone().requires_grad_(), INDEX, name, mode="drop", **given
        )
        assert torch.equal(by_plan.nan_to_num(), by_index.nan_to_num())
        if axis:
            check(lambda x: strew.aggregate(x, plan, name, dim=dim), moved, fast=True)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("nan", ["", "nan"])
def test_scatters(name, nan):
    src = values()[0]
    options = {"dim_size": 5, "mode": "drop", "reduce": nan + name}
    if name in ("sum", "prod", "mean", "min", "max"):
        options["reduce"] = "nan" + name
    elif name == "quantile":
        options["q"] = [0.5, 0.2]
    lines = np.stack([INDEX, np.roll(INDEX, 3)], 1)
    for index in (INDEX, lines, torch.tensor(lines)):

        def run(src):
            return strew.scatter(src, index, 0, **options)

        expected, found = run(src), run(src.clone().requires_grad_())
        assert found.requires_grad
        same_bits(found, expected)
        check(run, src, fast=True)


def test_several_at_once():
    src = values().requires_grad_()
    names = ["mean", "argmax", "sum", "cumsum", lambda group: group.sum(1), "count", "rank"]
    results = strew.aggregate(src, INDEX, names, dim=1, size=5, mode="drop")
    assert [one.requires_grad for one in results] == [True, False, True, True, True, False, False]
    single = 0
    for name in names[:1] + names[2:5]:
        one = strew.aggregate(src, INDEX, name, dim=1, size=5, mode="drop")
        single = single + torch.autograd.grad(one.nan_to_num().square().sum(), src)[0]
    total = sum(one.nan_to_num().square().sum() for one in results if one.requires_grad)
    torch.testing.assert_close(torch.autograd.grad(total, src)[0], single)


@pytest.mark.parametrize("name", CONSTANT.split())
def test_results_without_derivatives(name):
    src = values().requires_grad_()
    found = strew.aggregate(src, INDEX, name, dim=1, size=5, mode="drop")
    assert not found.requires_grad
    expected = strew.aggregate(src.detach(), INDEX, name, dim=1, size=5, mode="drop")
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


def test_equal_values():
    src = torch.tensor([2.0, 2.0, 1.0, 2.0, 1.0], requires_grad=True)

    def of(name, **options):
        found = strew.aggregate(src, [0, 0, 0, 0, 0], name, **options)
        weights = torch.arange(1.0, found.numel() + 1).reshape(found.shape)
        return torch.autograd.grad((found * weights).sum(), src)[0].tolist()

    third = pytest.approx(1 / 3)
    assert of("max") == [third, third, 0, third, 0]
    assert of("min") == [0, 0, 0.5, 0, 0.5]
    assert of("median") == [1, 0, 0, 0, 0]
    assert of("mode") == [1, 0, 0, 0, 0]
    assert of("topk", k=2) == [1, 2, 0, 0, 0]
    assert of("sort") == [3, 4, 1, 5, 2]
    assert of("cummax") == [15, 0, 0, 0, 0]
    assert of("cummin") == [1 + 2, 0, 3 + 4 + 5, 0, 0]
    for name in ("std", "sem", "skew", "kurt"):
        same = torch.ones(5, requires_grad=True)
        strew.aggregate(same, [0, 0, 0, 0, 0], name).sum().backward()
        assert same.grad.tolist() == [0, 0, 0, 0, 0]


def test_fill_values_that_are_values():
    src = torch.tensor([5.0, 5.0, 1.0], requires_grad=True)
    for name in NAMES:
        found = strew.aggregate(src, [0, 0, 1], name, min_count=3, fill_value=5)
        assert torch.autograd.grad(found.sum(), src)[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_other_dtypes(name, dtype):
    src = values(dtype=dtype)
    run = follow(name, src)
    grads = []
    for one in (src.clone(), src.double()):
        one.requires_grad_()
        found = run(one)
        (grad,) = torch.autograd.grad(found.nan_to_num().sum(), one)
        assert grad.dtype == one.dtype
        grads.append(grad.to(dtype))
    assert torch.equal(*grads)


@pytest.mark.parametrize("name", NAMES)
def test_forward_mode_and_torch_func(name):
    src = values()[0, :9]
    index = INDEX[:9]

    def run(src):
        found = strew.aggregate(src, index, name, size=5, mode="drop", fill_value=0, k=2)
        return torch.nan_to_num(found)

    def loss(src):
        return run(src).square().sum()

    assert gradcheck(run, (src.clone().requires_grad_(),), check_forward_ad=True)
    followed = src.clone().requires_grad_()
    expected = torch.autograd.grad(loss(followed), followed)[0]
    torch.testing.assert_close(torch.func.grad(loss)(src), expected)
    batch = torch.stack([src, src.flip(0)], 1)
    of_each = torch.stack([torch.func.grad(loss)(one) for one in batch.unbind(1)])
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(loss), 1)(batch), of_each)
    hessian = torch.autograd.functional.hessian(loss, src)
    torch.testing.assert_close(torch.func.hessian(loss)(src), hessian)
    third = torch.func.jvp(torch.func.grad(loss), (src,), (src,))[1]
    torch.testing.assert_close(third, (hessian.reshape(18, 18) @ src.reshape(18)).reshape(9, 2))


def test_nested_forward_modes_are_refused():
    def loss(src):
        return strew.aggregate(src, INDEX, "var", mode="drop").square().sum()

    with pytest.raises(NotImplementedError, match="jacfwd of jacfwd"):
        torch.func.jacfwd(torch.func.jacfwd(loss))(values()[0, :, 0])


# It runs outside the compiled graph, and torch says so.
@pytest.mark.filterwarnings(
    "ignore:Dynamo does not know how to trace:UserWarning",
    "ignore:The .grad attribute:UserWarning",
)
def test_compiled():
    @torch.compile(backend="aot_eager")
    def run(src):
        return strew.aggregate(src * 2, INDEX, "std", dim=1, mode="drop")

    src = values().requires_grad_()
    expected = strew.aggregate(src * 2, INDEX, "std", dim=1, mode="drop")
    found = run(src)
    same_bits(found, expected)
    of = [torch.autograd.grad(one.nan_to_num().sum(), src)[0] for one in (found, expected)]
    torch.testing.assert_close(*of)


def test_functions_of_groups():
    def spread(group):
        return group.max() - group.min()

    check(follow(spread, values()[0, :, 0], dim=0, min_count=2, fill_value=0), values()[0, :, 0])


def test_no_grad_and_an_index_that_changes():
    src = values().requires_grad_()
    index = torch.tensor(INDEX)
    with torch.no_grad():
        assert not strew.aggregate(src, index, "sum", dim=1, mode="drop").requires_grad
    found = strew.aggregate(src, index, "sum", dim=1, mode="drop")
    index.zero_()
    expected = torch.tensor(INDEX >= 0).double()[:, None].expand(2, 13, 2)
    assert torch.equal(torch.autograd.grad(found.sum(), src)[0], expected)


def test_nothing_to_reduce():
    for name in NAMES:
        for shape in ((2, 0, 2), (0, 13, 2)):
            src = torch.ones(shape, dtype=torch.float64, requires_grad=True)
            index = INDEX[: shape[1]]
            found = strew.aggregate(src, index, name, dim=1, size=5, mode="drop")
            assert torch.autograd.grad(found.nan_to_num().sum(), src)[0].shape == shape
        src = torch.ones(13, dtype=torch.float64, requires_grad=True)
        found = strew.aggregate(src, INDEX * 0 - 1, name, size=2, mode="drop")
        assert torch.autograd.grad(found.nan_to_num().sum(), src)[0].tolist() == [0] * 13


def test_errors():
    src = values().requires_grad_()
    with pytest.raises(IndexError, match=r"aggregate: index\[1\] = 7"):
        strew.aggregate(src[0], [0, 7, 0] + [0] * 10, "sum", size=2)
    with pytest.raises(IndexError, match="dim"):
        strew.aggregate(src, INDEX, "sum", dim=3)
    with pytest.raises(ValueError, match="no"):
        strew.aggregate(src, INDEX, "no", dim=1, mode="drop")


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "nearest", "midpoint"])
@pytest.mark.parametrize("q", [0.3, [0.0, 0.25, 0.5, 1.0]])
def test_gradients_of_quantiles_follow_their_method(method, q):
    check(follow("quantile", values(), q=q, method=method), values())


def test_a_q_for_each_group_has_no_derivative():
    q = np.full((1, 5), 0.5)
    found = strew.aggregate(values(), INDEX, "quantile", q=q, dim=1, mode="drop", size=5)
    assert torch.equal(
        found[0].nan_to_num(),
        strew.aggregate(values(), INDEX, "quantile", dim=1, mode="drop", size=5).nan_to_num(),
    )
    with pytest.raises(TypeError, match="a q for each group has no derivative"):
        src = values().requires_grad_()
        strew.aggregate(src, INDEX, "quantile", q=q, dim=1, mode="drop", size=5)
