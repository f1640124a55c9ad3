"""Makes the functions of `strew.torch_scatter` known to TorchScript."""

from ... import torch_scatter as public
from ..script import builtin_of_row

for _name in public.__all__:
    builtin_of_row(f"torch_scatter_{_name}", getattr(public, _name), f"torch_scatter.{_name}")
