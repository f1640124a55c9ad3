"""Names of torch_scatter that are not operators, for `strew.torch_scatter.install`."""

from typing import Any, NoReturn

import torch
from torch import Tensor


def broadcast(src: Tensor, other: Tensor, dim: int) -> Tensor:
    """`src` in `other`'s shape: one axis lies along `dim`, several get axes of 1 on the right."""
    # TorchScript compiles this, and does not know annotations that are strings.
    shape = [1] * other.dim()
    if src.dim() == 1:
        shape[dim] = src.size(0)
    else:
        for axis, size in enumerate(src.size()):
            shape[axis] = size
    return src.reshape(shape).expand(other.size())


def tensor(x: Any, dtype: torch.dtype, device: Any) -> Tensor | None:
    """A tensor of numbers, or None for None."""
    return None if x is None else torch.tensor(x, dtype=dtype, device=device)


def _placeholder(*arguments: Any) -> NoReturn:
    raise ImportError(
        "torch_scatter was built without this operator; strew's functions do not need it"
    )


#: What torch_scatter has in place of operators that it was built without.
PLACEHOLDERS = {
    "cuda_version_placeholder": lambda: -1,
    "scatter_placeholder": _placeholder,
    "scatter_arg_placeholder": _placeholder,
    "segment_coo_placeholder": _placeholder,
    "segment_coo_arg_placeholder": _placeholder,
    "segment_csr_placeholder": _placeholder,
    "segment_csr_arg_placeholder": _placeholder,
    "gather_coo_placeholder": _placeholder,
    "gather_csr_placeholder": _placeholder,
}

#: What torch_scatter's own tests are parametrised with. strew runs on CPU.
TESTING = {
    "reductions": ["sum", "add", "mean", "min", "max"],
    "dtypes": [torch.half, torch.bfloat16, torch.float, torch.double, torch.int, torch.long],
    "grad_dtypes": [torch.float, torch.double],
    "devices": [torch.device("cpu")],
    "tensor": tensor,
}
