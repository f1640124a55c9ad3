"""PyTorch tensors in and out. Needs torch: without it this fails, as it should."""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
import strew
import torch

DTYPES = [
    torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32,
    torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    src = torch.tensor([1, 0, 1, 1]).to(dtype)
    out = strew.torch_scatter.scatter(src, torch.tensor([1, 1, 0, 2]))
    assert type(out) is torch.Tensor and out.dtype == dtype
    assert out.tolist() == torch.tensor([1, 1, 1]).to(dtype).tolist()
    out = strew.mxnet.scatter_nd(src, torch.tensor([[3, 0, 4, 3]]), torch.Size([5]))
    assert out.dtype == dtype and out.tolist() == torch.tensor([0, 0, 0, 1, 1]).to(dtype).tolist()


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("dtype", [torch.int64, torch.float64])
def test_scatter_reduce_is_torch_s(dtype, include_self, reduce):
    torch.manual_seed(1)
    x = torch.randint(-9, 9, (5, 6, 7)).to(dtype)
    index = torch.randint(0, 6, (4, 20, 7))
    src = torch.randint(-9, 9, (5, 20, 8)).to(dtype)
    expected = x.scatter_reduce(1, index, src, reduce, include_self=include_self)
    found = strew.torch.scatter_reduce(x, 1, index, src, reduce, include_self=include_self)
    assert torch.equal(found, expected)
    assert strew.torch.scatter_reduce_(x, 1, index, src, reduce, include_self=include_self) is x
    assert torch.equal(x, expected)


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "max", "min"])
@pytest.mark.parametrize("initial", [None, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_segment_reduce_is_torch_s(dtype, initial, reduce):
    torch.manual_seed(2)
    data = torch.randint(-3, 4, (3, 40, 5)).to(dtype)
    data[0, 7, 2], data[1, 20, 0] = torch.nan, -torch.inf
    offsets = torch.randint(0, 41, (3, 9)).sort().values
    offsets[:, 0], offsets[:, -1] = 0, 40
    for groups in [
        {"offsets": offsets[:, 1:-1]},
        {"offsets": offsets.int()},
        {"lengths": offsets.diff()},
    ]:
        expected = torch.segment_reduce(data, reduce, axis=1, initial=initial, **groups)
        found = strew.torch.segment_reduce(data, reduce, axis=1, initial=initial, **groups)
        torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
    short = torch.tensor([[1, 2], [0, 3], [40, 0]])
    expected = torch.segment_reduce(
        data, reduce, lengths=short, axis=-2, unsafe=True, initial=initial
    )
    found = strew.torch.segment_reduce(
        data, reduce, lengths=short, axis=-2, unsafe=True, initial=initial
    )
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_functions_of_groups_are_those_of_torch(dtype):
    torch.manual_seed(3)
    src = torch.randn(2, 50, 3, dtype=dtype)
    index = torch.randint(0, 4, (50,))
    ts = strew.torch_scatter
    std = ts.scatter_std(src, index, 1)
    logs = ts.scatter_logsumexp(src, index, 1)
    softmax, log_softmax = ts.scatter_softmax(src, index, 1), ts.scatter_log_softmax(src, index, 1)
    for group in range(4):
        part = src[:, index == group]
        torch.testing.assert_close(std[:, group], part.std(1), rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(logs[:, group], part.logsumexp(1))
        torch.testing.assert_close(softmax[:, index == group], part.softmax(1))
        torch.testing.assert_close(log_softmax[:, index == group], part.log_softmax(1))


def test_strides_and_offsets():
    whole = torch.arange(24.0).reshape(4, 6)
    src = whole.t()[1::2, 1:]
    out = strew.torch_scatter.scatter(src, torch.tensor([1, 0, 1]), 0)
    assert out.tolist() == torch.stack([src[1], src[0] + src[2]]).tolist()
    target = torch.zeros(4, 6)
    view = target.t()[::2, 1:3]
    strew.mindspore.scatter_mul(view.add_(1), torch.tensor([2]), torch.tensor([[5.0, 7.0]]))
    assert target[1, 4] == 5 and target[2, 4] == 7 and target.sum() == 4 + 12
    expanded = torch.tensor([1.0, 2.0]).expand(3, 2)
    assert strew.torch_scatter.scatter(expanded, torch.tensor([0, 0, 1]), 0).tolist() == [
        [2, 4],
        [1, 2],
    ]


def test_inputs_and_outputs_are_not_copied():
    src = torch.ones(10)
    target = torch.zeros(3)
    at = target.data_ptr()
    assert (
        strew.torch_scatter.scatter(src, torch.zeros(10, dtype=torch.int64), out=target) is target
    )
    assert target.data_ptr() == at and target.tolist() == [10, 0, 0]
    out = strew.torch_scatter.scatter(torch.ones(1000), torch.arange(1000))
    assert out.data_ptr() % 64 == 0
    out += 1
    assert out.sum() == 2000 and not out.requires_grad


def test_both_results_are_tensors():
    out, arg = strew.torch_scatter.scatter_max(
        torch.tensor([1.0, 5.0, 2.0]), torch.tensor([0, 0, 1])
    )
    assert out.tolist() == [5, 2] and arg.tolist() == [1, 2] and arg.dtype == torch.int64


def test_zero_dimensions_and_no_elements():
    out = strew.torch.scatter_reduce(
        torch.tensor(2.0), 0, torch.tensor(0), torch.tensor(3.0), "sum"
    )
    assert out.shape == () and out == 5
    out = strew.torch_scatter.scatter(torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64), 0)
    assert out.shape == (0, 3)


@pytest.mark.parametrize("leaf", [True, False])
def test_a_gradient_is_never_lost(leaf):
    x = torch.ones(3, requires_grad=True)
    x = x if leaf else x * 2
    index = torch.tensor([0, 1, 2])
    message = "strew does not record gradients here: pass tensor.detach()"
    for call in [
        lambda: strew.mxnet.scatter_nd(x, index[None], (3,)),
        lambda: strew.mindspore.scatter_mul(torch.ones(3), index, x),
        lambda: strew.openvino.slice_scatter(torch.ones(3), x, [0], [3], [1]),
    ]:
        with pytest.raises(RuntimeError) as found:
            call()
        assert message in str(found.value)
    for out in [
        strew.torch_scatter.scatter(x, index),
        strew.torch.scatter_reduce(torch.ones(3), 0, index, x, "sum"),
        strew.torch.scatter_reduce_(torch.ones(3), 0, index, x, "sum"),
    ]:
        assert out.requires_grad
    assert not strew.torch_scatter.scatter(x.detach(), index).requires_grad
    with torch.no_grad():
        assert not strew.torch_scatter.scatter(x, index).requires_grad


def test_a_leaf_that_requires_grad_is_not_written_to():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        strew.torch.scatter_reduce_(x, 0, torch.tensor([0]), torch.ones(1), "sum")
    assert x.tolist() == [1, 1, 1]


def test_a_parameter_of_a_model_is_a_tensor_too():
    out = strew.torch_scatter.scatter(torch.nn.Parameter(torch.ones(1)), torch.tensor([0]))
    assert type(out) is torch.Tensor and out.requires_grad

    class Mine(torch.Tensor):
        pass

    mine = torch.ones(2).as_subclass(Mine)
    out = strew.torch_scatter.scatter(mine, torch.tensor([0, 0]))
    assert isinstance(out, torch.Tensor) and out.tolist() == [2]
    out = strew.torch_scatter.scatter(mine.requires_grad_(), torch.tensor([0, 0]))
    assert out.requires_grad


def test_autograd_notices_that_a_tensor_it_keeps_has_changed():
    weight = torch.ones(3, requires_grad=True)
    kept = torch.ones(3)
    y = (weight * kept).sum()
    strew.torch.scatter_reduce_(kept, 0, torch.tensor([0]), torch.tensor([5.0]), "sum")
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    with torch.inference_mode():
        x = torch.ones(3)
        assert strew.torch.scatter_reduce_(x, 0, torch.tensor([0]), torch.ones(1), "sum")[0] == 2


def test_lazy_tensors_are_not_misread():
    x = torch.tensor([1 + 2j, 3 - 4j])
    index = torch.tensor([0, 1])
    for lazy, way in [(x.conj(), "resolve_conj"), (x.conj().imag, "resolve_neg")]:
        assert lazy.is_conj() or lazy.is_neg()
        assert strew.torch_scatter.scatter(lazy, index).tolist() == lazy.tolist()
        with pytest.raises((RuntimeError, TypeError), match="out must be .*negative"):
            strew.torch_scatter.scatter(torch.ones(2).to(lazy.dtype), index, out=lazy)
        ready = getattr(lazy, way)()
        assert strew.torch_scatter.scatter(ready, index).tolist() == lazy.tolist()


def test_a_lazy_clone_does_not_write_through():
    x = torch.ones(3)
    clone = torch._lazy_clone(x)
    strew.torch.scatter_reduce_(clone, 0, torch.tensor([0]), torch.tensor([5.0]), "sum")
    assert clone.tolist() == [6, 1, 1] and x.tolist() == [1, 1, 1]


def test_tensors_of_functional_transforms_are_refused():
    """By operators that have no derivative."""
    index = torch.tensor([[0, 0, 1]])
    for transform in [torch.vmap, lambda f: torch.func.grad(lambda x: f(x).sum())]:
        with pytest.raises((RuntimeError, TypeError), match="torch.func|does not record"):
            transform(lambda x: strew.mxnet.scatter_nd(x, index, (3,)))(torch.ones(2, 3))


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2).to_sparse(),
        lambda: torch.ones(2, device="meta"),
        lambda: torch.ones(2).to(torch.float8_e4m3fn),
        lambda: torch.ones(2).to_mkldnn(),
    ],
)
def test_other_kinds_of_tensors_are_refused(make):
    with pytest.raises((TypeError, ValueError, BufferError, RuntimeError)):
        strew.torch_scatter.scatter(make(), torch.tensor([0, 0]))
    with pytest.raises((TypeError, ValueError, BufferError, RuntimeError)):
        strew.torch_scatter.scatter(torch.ones(2), torch.tensor([0, 0]), out=make())


def test_numbers_may_be_tensors():
    x = torch.ones(2, 3)
    out = strew.torch_scatter.scatter(
        x, torch.tensor([0, 0]), torch.tensor(0), None, torch.tensor(4)
    )
    assert out.shape == (4, 3)
    out = strew.openvino.slice_scatter(
        x, torch.zeros(2, 1), torch.tensor([1]), [2], [1], torch.tensor([-1])
    )
    assert out.tolist() == [[1, 0, 1]] * 2


def test_mixed_with_numpy():
    out = strew.torch_scatter.scatter(torch.ones(3), np.array([0, 0, 1]))
    assert isinstance(out, torch.Tensor)
    out = strew.torch_scatter.scatter(np.ones(3), torch.tensor([0, 0, 1]))
    assert type(out) is np.ndarray
    target = torch.zeros(2)
    assert strew.torch_scatter.scatter(np.ones(3, "f4"), np.array([0, 0, 1]), out=target) is target


def test_errors_are_torch_s():
    x = torch.ones(2)
    for index in [
        torch.tensor([0, 2]),
        torch.tensor([0, -1]),
        torch.tensor([0, 1], dtype=torch.int16),
    ]:
        with pytest.raises(RuntimeError):
            x.scatter_reduce(0, index, x, "sum")
        with pytest.raises(RuntimeError):
            strew.torch.scatter_reduce_(x, 0, index, x + 1, "sum")
    assert x.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="shares memory"):
        strew.torch.scatter_reduce_(x, 0, torch.tensor([0, 1]), x, "sum")


def test_memory_is_given_back():
    src = torch.ones(100)
    strew.torch_scatter.scatter(src, torch.arange(100))
    seen = weakref.ref(src)
    before = sys.getrefcount(src)
    for _ in range(100):
        strew.torch_scatter.scatter(src, torch.arange(100))
    assert sys.getrefcount(src) == before
    del src
    gc.collect()
    assert seen() is None


def test_memory_stays_flat():
    import os

    src, index, target = torch.ones(100_000), torch.arange(100_000), torch.zeros(100_000)

    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def call():
        strew.torch_scatter.scatter(src, index)
        strew.torch.scatter_reduce_(target, 0, index, src, "sum")
        strew.torch_scatter.scatter_min(src, index.clone())

    for _ in range(30):
        call()
    before = resident()
    for _ in range(300):
        call()
    assert resident() - before < 24 << 20


def test_torch_is_not_imported_by_strew():
    code = "import sys, strew; strew.torch_scatter.scatter([1.0], [0]); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_plan():
    index = torch.tensor([1, 0, 1, 3])
    plan = strew.Plan(index, 5)
    src = torch.randn(4, 3)
    for reduce in ["sum", "mean", "prod", "amin", "amax"]:
        out = torch.randn(5, 3)
        expanded = index[:, None].expand(4, 3)
        for include_self in [True, False]:
            expected = out.scatter_reduce(0, expanded, src, reduce, include_self=include_self)
            found = out.clone()
            version = found._version
            assert plan.scatter(src, reduce, out=found, include_self=include_self) is found
            assert found._version > version
            torch.testing.assert_close(found, expected, rtol=0, atol=0)
    made = plan.scatter(src)
    assert isinstance(made, torch.Tensor) and made.dtype == src.dtype
    torch.testing.assert_close(made, torch.zeros(5, 3).index_add(0, index, src), rtol=0, atol=0)
    torch.testing.assert_close(plan.gather(made), made[index], rtol=0, atol=0)
