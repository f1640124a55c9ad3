"""A plugin of pytest: tensors of the CPU go the way of those on a GPU, by torch's operators.

Kernels and these compositions have the same bits (`test_forms.py`), and these are fast enough for
whole suites.
"""

import os

os.environ["TRITON_INTERPRET"] = "1"

import strew.gpu
from strew._gpu import compose

compose.forced = True
# Kept: it ends when nothing refers to it.
_WAY = strew.gpu.interpreted()
_WAY.__enter__()
