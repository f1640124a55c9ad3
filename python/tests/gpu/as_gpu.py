"""A plugin of pytest: tensors of the CPU go the way of those on a GPU, by torch's operators.

Kernels and these compositions have the same bits (`test_forms.py`), and these are fast enough for
whole suites.
"""

import os

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import strew.gpu
import torch
from strew._gpu import compose

compose.forced = True
# Kept: it ends when nothing refers to it.
_WAY = strew.gpu.interpreted()
_WAY.__enter__()


def pytest_collection_modifyitems(items):
    for module in {item.module for item in items}:
        # On a device an index is a tensor there.
        if isinstance(getattr(module, "INDEX", None), np.ndarray):
            module.INDEX = torch.as_tensor(module.INDEX)
