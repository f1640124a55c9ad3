"""Keys, masked indices and ``dim=None`` with torch tensors and their gradients. Needs torch."""

import numpy as np
import pytest
import strew
import torch

INDEX = torch.tensor([[0, 1, 0], [1, 1, 2]])


def leaf(*shape):
    count = int(np.prod(shape))
    return torch.arange(1.0, count + 1, dtype=torch.float64).reshape(shape).requires_grad_()


@pytest.mark.parametrize("reduce", ["sum", "std", "median", "cumsum"])
def test_aggregates_of_all_axes(reduce):
    src = leaf(2, 3)
    found = strew.aggregate(src, INDEX, reduce, dim=None)
    expected = strew.aggregate(src.reshape(-1), INDEX.reshape(-1), reduce)
    assert isinstance(found, torch.Tensor) and found.reshape(-1).tolist() == expected.tolist()
    assert found.shape == (src.shape if reduce == "cumsum" else (3,))
    assert torch.autograd.gradcheck(lambda x: strew.aggregate(x, INDEX, reduce, dim=None), (src,))


def test_scatters_and_gathers_of_all_axes():
    src = leaf(2, 3)
    assert torch.autograd.gradcheck(lambda x: strew.scatter(x, INDEX, None, reduce="max"), (src,))
    places = torch.tensor([[5, 0]])
    assert torch.autograd.gradcheck(lambda x: strew.gather(x, places, None), (src,))
    assert strew.gather(src, places, None).tolist() == [[6.0, 1.0]]


def test_keys():
    src = leaf(3)
    keys, mean = strew.aggregate(src, by=["b", "a", "b"], reduce="mean")
    assert (keys.tolist(), mean.tolist()) == (["a", "b"], [2.0, 2.0])
    mean.sum().backward()
    assert src.grad.tolist() == [0.5, 1.0, 0.5]
    keys, total = strew.aggregate(src.detach(), by=torch.tensor([3, 1, 3]))
    assert (keys.tolist(), total.tolist()) == ([1, 3], [2.0, 4.0])


def test_masked_indices():
    src, index = leaf(3), np.ma.array([0, 1, 0], mask=[0, 0, 1])
    total = strew.aggregate(src, index, mode="drop")
    assert isinstance(total, torch.Tensor) and total.tolist() == [1.0, 2.0]
    total.sum().backward()
    assert src.grad.tolist() == [1.0, 1.0, 0.0]


def test_functions_of_groups():
    src = leaf(3).detach()
    found = strew.aggregate(src, [0, 0, 1], lambda group: 1 if len(group) > 1 else 1.5)
    assert (found.dtype, found.tolist()) == (torch.float32, [1.0, 1.5])
    found = strew.aggregate(src, [0, 0, 1], [torch.sum, "max"], dim=None)
    assert [one.tolist() for one in found] == [[3.0, 3.0], [2.0, 3.0]]
