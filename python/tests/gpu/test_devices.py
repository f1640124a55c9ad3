"""Derivatives make their tensors on the device of their arguments.

Without a card the meta device shows it: torch refuses to mix it with the CPU.
"""

import pytest
import torch
from cases import CASES
from strew._arrays import dispatch


@pytest.fixture
def meta(monkeypatch):
    monkeypatch.setattr(dispatch, "has_kernels", lambda tensor: True)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_backward(case, meta):
    moved = [one.to("meta") if isinstance(one, torch.Tensor) else one for one in case.arguments]
    inputs = [
        one.requires_grad_()
        for one in moved
        if isinstance(one, torch.Tensor) and one.is_floating_point()
    ]
    try:
        result = case.function(*moved)
        result = result[0] if isinstance(result, tuple) else result
        gradients = torch.autograd.grad(result.sum(), inputs, create_graph=True, allow_unused=True)
        total = sum(one.square().sum() for one in gradients if one is not None)
        if isinstance(total, torch.Tensor) and total.requires_grad:
            torch.autograd.grad(total, inputs, allow_unused=True)
    except (NotImplementedError, RuntimeError) as error:
        # What depends on values has no meaning there.
        words = ("meta tensors", "data-dependent", "meta tensor", "no data")
        if not any(word in str(error) for word in words) or "same device" in str(error):
            raise
    else:
        assert result.device.type == "meta"
