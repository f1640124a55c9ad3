"""The scatter family of tensor operators: exact, deterministic, in every framework's spelling.

Each framework's operators are in the module of its name (`strew.torch`, `strew.jax`, and so on:
``help(strew)`` lists them), with its own argument names, order, defaults and exceptions. None of
the frameworks has to be installed.

>>> import numpy as np
>>> import strew
>>> strew.torch_scatter.scatter(np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]))
array([2., 5.])

Without a framework in mind, use `strew.scatter` and `strew.gather`. They take an index of any
integer dtype, and have an argument for everything that frameworks leave open:

>>> strew.scatter(np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), reduce="max")
array([2., 4.])

Arrays
    NumPy arrays of any stride are taken as they are; so are CPU tensors of every library that
    speaks DLPack (PyTorch, JAX, ...). Lists, tuples and numbers become NumPy arrays. Arrays are not
    copied. A result is an array of the first array argument's library; it is a NumPy array if that
    argument is a list, or if its library cannot take DLPack. (JAX makes 32-bit arrays of 64-bit
    results unless ``jax_enable_x64`` is set.)

    Operators that work in place, and ``out=``, write into the array that is passed and return
    that very object. NumPy arrays that are read-only, JAX arrays and lists cannot be written to.

    Element types are bool, the integers of 8 to 64 bits, float16, bfloat16 (`ml_dtypes` in
    NumPy), float32, float64, complex64 and complex128.

    Memory of the CPU is taken, and torch's CUDA tensors where docs/gpu.md says so (experimental).
    Other tensors on other devices are refused.

    `strew.aggregate`, `strew.scatter` and `strew.gather` also take masked arrays, columns of
    pandas, pyarrow and Polars, arrays of xarray, dates and durations. The result is of that kind. A
    missing value (masked, null, NA, NaT) is left out of its group; docs/inputs.md has the rules.

Derivatives
    Torch tensors have them in `strew.torch`, `strew.torch_scatter` (`strew.torch_scatter.install`
    puts it in torch_scatter's place), `strew.pyg_lib`, `strew.scatter` and `strew.gather`. All
    other functions refuse a tensor that requires a gradient.

Errors
    An error has the class that the framework raises. Arrays that were to be changed in place are
    then unchanged. The attributes `operator`, `argument`, `position`, `value`, `limit` and
    `expected` of an error hold what its message says, and None where it says nothing.

Aggregates
    `strew.aggregate` has what frameworks lack: medians, quantiles, modes, deviations, positions,
    running results, and all of them without NaN. It computes several in one pass over the values.
    With ``by=`` it groups by keys that are strings, dates or several columns, of which
    `strew.factorize` makes the index.

    `strew.Accumulator` takes values chunk by chunk: of files larger than memory, or of several
    processes. `strew.dask` and `strew.cubed` do so for arrays of Dask and Cubed, and
    `strew.flox` has exact sums for flox.

Plans
    An index that is used more than once can be analysed once: see `strew.Plan`.

Memory
    The memory of freed results of 2 MiB or more is kept for later results of about the same size,
    because fresh pages cost more time than most operators. By default that is up to an eighth of
    the free memory, and at most 1 GiB in total. The system can take it back when it is short of
    memory. `set_kept_memory` or the environment's ``STREW_KEPT_MEMORY`` sets another limit, 0 for
    none. `set_memory_limit` or ``STREW_MEMORY_LIMIT`` limits the size of one result or working
    table.

Threads and Ctrl-C
    Results do not depend on the number of threads. Other Python threads go on during a run of
    thousands of elements; a shorter run is over before they could start. Ctrl-C stops a long run
    that makes a new array. A run that writes in place is stopped only before its first write; later
    it runs to its end, and ``KeyboardInterrupt`` follows.

    A run uses all cores, or as many threads as ``STREW_NUM_THREADS``, else ``OMP_NUM_THREADS``,
    says. With ``STREW_PIN_THREADS=1`` in the environment each thread of a run is woken on a
    processor of its own, which helps where the system wakes two on one. ``STREW_ISA``
    (``baseline``, ``avx2``, ``avx512``) runs the loops with less than the best instruction set of
    the computer; results are the same bits. ``with strew.threads(4):`` sets the number of threads
    for a block, ``threads=`` of `strew.Plan` and `strew.Accumulator` for their runs, and
    `strew.show_config` shows what is in force. In a worker of torch's DataLoader a run uses as many
    threads as torch does there, unless one of these says otherwise. ``with strew.progress():``
    shows how far long runs are. The logger "strew" says at the level DEBUG what each call was, its
    strategy and its time.
"""

import os as _os
import sys as _sys
import typing as _typing
from contextlib import suppress as _suppress

from . import _strew as _strew
from . import cubed as cubed
from . import dask as dask
from . import flox as flox
from . import jax as jax
from . import mindspore as mindspore
from . import mxnet as mxnet
from . import numpy as numpy
from . import numpy_groupies as numpy_groupies
from . import onnx as onnx
from . import openvino as openvino
from . import paddle as paddle
from . import pyg_lib as pyg_lib
from . import stablehlo as stablehlo
from . import tensorflow as tensorflow
from . import torch as torch
from . import torch_scatter as torch_scatter
from ._groups.by import Grouped as Grouped
from ._groups.factorize import factorize as factorize
from ._native import hints as _hints
from ._native import picture as _picture
from ._native.config import show_config as show_config
from ._native.errors import ConversionError as ConversionError
from ._native.progress import progress as progress
from ._native.threads import threads as threads
from ._own.aggregate import aggregate as aggregate
from ._own.gather import gather as gather
from ._own.scatter import scatter as scatter
from ._own.tables import GroupPlan as GroupPlan
from ._own.tables import group as group
from ._strew import Accumulator as Accumulator
from ._strew import Plan as Plan
from ._strew import __version__ as __version__
from ._strew import get_kept_memory as get_kept_memory
from ._strew import get_memory_limit as get_memory_limit
from ._strew import get_num_threads as get_num_threads
from ._strew import set_kept_memory as set_kept_memory
from ._strew import set_memory_limit as set_memory_limit
from ._strew import set_num_threads as set_num_threads

# Without the modules of the frameworks: `from strew import *` would hide numpy and torch.
__all__ = [
    "Accumulator",
    "ConversionError",
    "GroupPlan",
    "Grouped",
    "Plan",
    "aggregate",
    "factorize",
    "gather",
    "get_kept_memory",
    "get_memory_limit",
    "get_num_threads",
    "group",
    "progress",
    "scatter",
    "set_kept_memory",
    "set_memory_limit",
    "set_num_threads",
    "show_config",
    "threads",
]

if not _typing.TYPE_CHECKING:
    # Type checkers would take any name for one that there is.
    def __getattr__(name):
        raise _hints.no_such_name(name)


_picture.add_methods()

# The first call looks up NumPy's interface, so make it now. A process forked from another thread
# during that call would wait forever for the calling thread, which a fork does not copy. The same
# holds for the list of modules, where a run looks for torch's DataLoader.
mxnet.scatter_nd([0.0], [[0]], (1,))
get_num_threads()

# No thread pool is made during a fork: the child would wait forever for a thread that the fork did
# not copy.
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(
        before=_strew._before_fork,
        after_in_parent=_strew._after_fork,
        after_in_child=_strew._after_fork,
    )

if "torch" in _sys.modules:
    # torch's compilers must know the operators before they meet them. If this release of torch is
    # too old, the first call that needs derivatives raises the error.
    with _suppress(ImportError):
        from . import _torch as _torch
