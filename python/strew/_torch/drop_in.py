"""What torch_scatter has besides its operators, for `strew.torch_scatter.install`."""

# torch is not there where the package is checked.
# mypy: ignore-errors

import torch


def broadcast(src: torch.Tensor, other: torch.Tensor, dim: int) -> torch.Tensor:
    """`src` in `other`'s shape: along `dim` if it has one axis, else with axes of 1 on the right."""
    # As TorchScript wants it.
    shape = [1] * other.dim()
    if src.dim() == 1:
        shape[dim] = src.size(0)
    else:
        for axis, size in enumerate(src.size()):
            shape[axis] = size
    return src.reshape(shape).expand(other.size())


def tensor(x, dtype, device):
    """A tensor of numbers, or None for None."""
    return None if x is None else torch.tensor(x, dtype=dtype, device=device)


def _placeholder(*arguments):
    raise ImportError(
        "torch_scatter was built without this operator; strew's functions do not need it"
    )


#: What torch_scatter puts in the place of operators where it is not compiled.
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
