"""The scatter family of tensor operators: exact, deterministic, in every framework's spelling.

Each framework's operators are in the module of its name (`strew.torch`, `strew.jax`, and so on:
``help(strew)`` lists them), with its own argument names, order, defaults and exceptions. None of
the frameworks has to be installed.

>>> import numpy as np
>>> import strew
>>> strew.torch_scatter.scatter(np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]))
array([2., 5.])

Who has no framework in mind takes `strew.scatter` and `strew.gather`, which take any integer for an
index and have an argument for everything that frameworks leave open:

>>> strew.scatter(np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), reduce="max")
array([2., 4.])

Arrays
    NumPy arrays of any stride are taken as they are; so are CPU tensors of every library that
    speaks DLPack (PyTorch, JAX, ...). Lists, tuples and numbers become NumPy arrays. Nothing
    that is an array already is copied. Results are arrays of the library of the first array
    argument: NumPy's for lists, and for libraries that cannot take DLPack. (JAX makes 32-bit arrays
    of 64-bit results unless ``jax_enable_x64`` is set.)

    Operators that work in place, and ``out=``, write into the array that is passed and return
    that very object. NumPy arrays that are read-only, JAX arrays and lists cannot be written to.

    Element types are bool, the integers of 8 to 64 bits, float16, bfloat16 (`ml_dtypes` in
    NumPy), float32, float64, complex64 and complex128.

    Only memory of the CPU is taken: a tensor on another device is refused.

Derivatives
    Torch tensors have them in `strew.torch`, `strew.torch_scatter` (`strew.torch_scatter.install`
    puts it in torch_scatter's place), `strew.scatter` and `strew.gather`. Elsewhere a tensor that
    wants one is refused.

Errors
    have the class that the framework raises. On an error, whatever was to be written to in place
    is as it was.

Aggregates
    What frameworks lack (medians, quantiles, modes, deviations, positions, running results, NaN
    left out), several of them in one pass over the values: `strew.aggregate`.

Plans
    An index that is used more than once can be analysed once: see `strew.Plan`.

Memory
    Freed results of 2 MiB or more are kept for the next ones of about their size, up to 1 GiB in
    all, since fresh pages cost more time than most operators do. A system that is short of memory
    takes them back. `set_kept_memory` or the environment's ``STREW_KEPT_MEMORY`` sets another
    limit, 0 for none. `set_memory_limit` or ``STREW_MEMORY_LIMIT`` is about one result or working
    table.

Threads and Ctrl-C
    Results do not depend on the number of threads. Other Python threads go on during a run
    (of thousands of elements: a shorter one is over before they could).
    Ctrl-C stops a long run that makes a new array; one that writes in place is stopped before
    its first write or not at all: then it ends first, and ``KeyboardInterrupt`` follows.
"""

import os as _os
import sys as _sys
from contextlib import suppress as _suppress

from . import _strew as _strew
from . import jax as jax
from . import mindspore as mindspore
from . import mxnet as mxnet
from . import numpy as numpy
from . import numpy_groupies as numpy_groupies
from . import onnx as onnx
from . import openvino as openvino
from . import paddle as paddle
from . import stablehlo as stablehlo
from . import tensorflow as tensorflow
from . import torch as torch
from . import torch_scatter as torch_scatter
from ._aggregate import aggregate as aggregate
from ._errors import ConversionError as ConversionError
from ._scatter import gather as gather
from ._scatter import scatter as scatter
from ._strew import Plan as Plan
from ._strew import __version__ as __version__
from ._strew import get_kept_memory as get_kept_memory
from ._strew import get_memory_limit as get_memory_limit
from ._strew import get_num_threads as get_num_threads
from ._strew import set_kept_memory as set_kept_memory
from ._strew import set_memory_limit as set_memory_limit
from ._strew import set_num_threads as set_num_threads

# NumPy's interface is looked up at the first call. A process that another thread forks just then
# would wait forever for that thread, which it has not.
mxnet.scatter_nd([0.0], [[0]], (1,))

# Nobody makes a pool of threads while a process is forked: its child would wait forever for a
# thread that it has not.
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(
        before=_strew._before_fork,
        after_in_parent=_strew._after_fork,
        after_in_child=_strew._after_fork,
    )

if "torch" in _sys.modules:
    # Its compilers have to know the operators before they meet them. A release that is too old for
    # that says so when it is asked for derivatives.
    with _suppress(ImportError):
        from . import _torch as _torch
