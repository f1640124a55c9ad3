"""`strew.torch_scatter.install`, in processes of their own. Needs torch and torch_geometric."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]

#: A module that imports by name what it uses, as most do.
CLIENT = """
from torch_scatter import scatter, segment_csr
from torch_scatter.composite import scatter_softmax
from torch_scatter.utils import broadcast
"""

#: An installed torch_scatter that is not strew's.
FOREIGN = """
def scatter(*_): raise AssertionError("not strew's")
def segment_csr(*_): raise AssertionError("not strew's")
"""


def run(script, folder):
    """Runs a script that may import modules of a folder."""
    first = f"import sys\nsys.path.insert(0, {str(folder)!r})\n"
    (folder / "script.py").write_text(first + script)  # TorchScript reads sources.
    done = subprocess.run(
        [sys.executable, str(folder / "script.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "client.py").write_text(CLIENT)
    return tmp_path


def test_the_whole_surface(folder):
    script = """
import importlib.util, strew
strew.torch_scatter.install()
strew.torch_scatter.install()
import torch, torch_scatter, client
import torch_scatter.composite.softmax, torch_scatter.segment_coo
from torch_scatter.scatter import scatter_mul
from torch_scatter.segment_csr import gather_csr, segment_mean_csr
from torch_scatter.segment_coo import gather_coo, segment_max_coo
from torch_scatter.composite.std import scatter_std
from torch_scatter.placeholder import scatter_placeholder
from torch_scatter.testing import devices, dtypes, reductions, tensor
assert torch_scatter.__version__ == "2.1.2" and importlib.util.find_spec("torch_scatter") is not None
assert client.scatter is strew.torch_scatter.scatter is torch_scatter.scatter
assert client.scatter_softmax is strew.torch_scatter.scatter_softmax
assert all(hasattr(torch_scatter, name) for name in torch_scatter.__all__) and len(torch_scatter.__all__) == 26
namespace = {}
exec("from torch_scatter import *", namespace)
assert namespace["segment_csr"] is strew.torch_scatter.segment_csr
index = torch.tensor([0, 2, 1])
assert client.broadcast(index, torch.zeros(2, 3, 4), 1).shape == (2, 3, 4)
assert client.broadcast(index[None], torch.zeros(1, 3, 4), -1).tolist() == index[None, :, None].expand(1, 3, 4).tolist()
assert torch_scatter.scatter(torch.ones(3), index).tolist() == [1, 1, 1]
try:
    scatter_placeholder()
except ImportError:
    pass
try:
    import torch_scatter.nonsense
except ModuleNotFoundError:
    pass

def f(src: torch.Tensor, index: torch.Tensor):
    wide = torch_scatter.utils.broadcast(index, src, 0)
    return torch_scatter.scatter(src, wide, dim=0), torch_scatter.composite.scatter_softmax(src, wide, 0)

for a, b in zip(f(torch.ones(3, 2), index), torch.jit.script(f)(torch.ones(3, 2), index)):
    assert torch.equal(a, b)
strew.torch_scatter.uninstall()
assert "torch_scatter" not in sys.modules and "torch_scatter.composite" not in sys.modules
"""
    run(script, folder)


def test_in_the_place_of_one_that_is_loaded(folder):
    (folder / "torch_scatter").mkdir()
    (folder / "torch_scatter" / "__init__.py").write_text(FOREIGN)
    (folder / "client.py").write_text(
        "from torch_scatter import scatter\nimport torch_scatter as whole"
    )
    script = """
import client, strew, torch
theirs = client.scatter
strew.torch_scatter.install()
assert client.scatter is strew.torch_scatter.scatter
assert client.whole.segment_csr(torch.ones(3), torch.tensor([0, 3])).tolist() == [3]
strew.torch_scatter.uninstall()
import torch_scatter
assert client.scatter is theirs and client.whole is torch_scatter and torch_scatter.scatter is theirs
"""
    run(script, folder)


BEFORE = "import strew\nstrew.torch_scatter.install(pyg=True)\n"
AFTER = "import torch_geometric.nn, torch_geometric.utils, client\n" + BEFORE


@pytest.mark.parametrize("order", [BEFORE, AFTER], ids=["before", "after"])
def test_torch_geometric(order, folder):
    (folder / "client.py").write_text("from torch_geometric.utils import scatter, segment, softmax")
    script = """
import torch, client, torch_geometric.typing
import strew._torch.torch_geometric as ours
from torch_geometric.nn.aggr import base
from torch_geometric.nn.conv import gat_conv
assert torch_geometric.typing.WITH_TORCH_SCATTER
assert torch_geometric.typing.torch_scatter.segment_csr is strew.torch_scatter.segment_csr
for module, name in [(client, "scatter"), (client, "segment"), (client, "softmax"), (base, "scatter"),
                     (base, "segment"), (gat_conv, "softmax"), (torch_geometric.utils, "scatter")]:
    assert getattr(module, name) is getattr(ours, name), (module, name)
strew.torch_scatter.install(pyg=True)
torch.manual_seed(0)
src = torch.randn(50, 3, 4)
src[7, 1, 2], src[9, 0] = torch.nan, 2
index = torch.randint(0, 6, (50,))
for reduce in ["sum", "add", "mean", "min", "max", "amin", "amax", "mul", "any"]:
    for x, dim, size in [(src, 0, None), (src, 0, 9), (src.transpose(0, 1), 1, 9), (src.transpose(0, 2), -1, 9),
                         ((src.nan_to_num() * 10).int(), 0, None), (src[:0], 0, 3)]:
        i = index[: x.shape[dim]]
        a, b = ours.theirs["scatter"](x, i, dim, size, reduce), client.scatter(x, i, dim, size, reduce)
        assert a.dtype == b.dtype and (reduce == "any" or torch.allclose(a, b, equal_nan=True, rtol=1e-4)), reduce
    if reduce != "any":
        leaf = src.nan_to_num().requires_grad_()
        grads = [torch.autograd.grad(f(leaf, index, 0, 9, reduce).square().sum(), leaf)[0]
                 for f in (ours.theirs["scatter"], client.scatter)]
        assert torch.allclose(*grads, rtol=1e-4), reduce
leaf = torch.randn(50, 3).requires_grad_()
weights = torch.randn(50, 3)
ptr = torch.tensor([0, 10, 10, 44, 50])
for arguments in [(index, None, None, 0), (index, None, 8, 0), (None, ptr, None, 0)]:
    a, b = (f(leaf, *arguments) for f in (ours.theirs["softmax"], client.softmax))
    assert torch.allclose(a, b)
    grads = [torch.autograd.grad((x * weights).sum(), leaf)[0] for x in (a, b)]
    assert torch.allclose(*grads, atol=1e-6)
assert torch.allclose(client.segment(leaf, ptr, "mean")[0], leaf[:10].mean(0))
for bad in [(src, index[None]), (src, index, 5)]:
    try:
        client.scatter(*bad)
    except ValueError:
        continue
    raise AssertionError("torch_geometric refuses it")
model = torch_geometric.nn.GAT(3, 4, num_layers=2)
edges = torch.randint(0, 50, (2, 200))
with_strew = model(leaf, edges)
strew.torch_scatter.uninstall()
assert client.softmax is torch_geometric.utils.softmax is ours.theirs["softmax"]
assert torch.allclose(with_strew, model(leaf, edges), atol=1e-6)
"""
    run(order + script, folder)


def test_pyg_lib_where_there_is_none(folder):
    (folder / "client.py").write_text("import torch_geometric.typing\n")
    script = """
import client, strew, torch
strew.torch_scatter.install(pyg=True)
strew.torch_scatter.install(pyg=True)
import pyg_lib, pyg_lib.ops, torch_geometric.typing
from pyg_lib.ops import segment_csr, softmax_csr
from torch_geometric.testing import has_package
assert pyg_lib.ops.scatter_add is strew.pyg_lib.scatter_sum and softmax_csr is strew.pyg_lib.softmax_csr
assert sorted(pyg_lib.ops.__all__) == strew.pyg_lib.__all__
assert torch_geometric.typing.pyg_lib is pyg_lib
assert not torch_geometric.typing.WITH_PYG_LIB and not has_package("pyg_lib")
try:
    pyg_lib.sampler
except AttributeError as error:
    assert "strew's pyg_lib has no 'sampler'" in str(error)

def f(src: torch.Tensor, ptr: torch.Tensor):
    return segment_csr(src, ptr, reduce="max")

assert torch.jit.script(f)(torch.ones(3), torch.tensor([0, 3])).tolist() == [1]
strew.torch_scatter.uninstall()
assert "pyg_lib" not in sys.modules and torch_geometric.typing.pyg_lib is not pyg_lib
"""
    run(script, folder)


PYG_LIB = """
__all__ = ["index_sort", "scatter_add", "scatter_sum"]
def index_sort(inputs): return "theirs"
def scatter_sum(src, index, dim=-1, out=None, dim_size=None): return "theirs"
scatter_add = scatter_sum
"""


def test_pyg_lib_that_is_installed(folder):
    (folder / "pyg_lib").mkdir()
    (folder / "pyg_lib" / "__init__.py").write_text("import pyg_lib.ops")
    (folder / "pyg_lib" / "ops.py").write_text(PYG_LIB)
    (folder / "client.py").write_text(
        "from pyg_lib.ops import index_sort, scatter_add, scatter_sum"
    )
    script = """
import client, strew, torch
theirs = [client.scatter_sum]  # No name of a module.
for _ in range(2):
    strew.torch_scatter.install(pyg=True)
    strew.torch_scatter.install(pyg=True)
    import pyg_lib
    assert client.scatter_sum is client.scatter_add is pyg_lib.ops.scatter_sum is not theirs[0]
    assert client.index_sort([]) == "theirs" and not hasattr(pyg_lib.ops, "softmax_csr")
    src, index = torch.ones(3), torch.tensor([0, 1, 1])
    assert client.scatter_sum(src, index).tolist() == [1, 2]
    # Another device than the CPU.
    assert client.scatter_sum(src.to("meta"), index) == "theirs"

    def f(src: torch.Tensor, index: torch.Tensor):
        return pyg_lib.ops.scatter_sum(src, index, dim_size=3)

    assert torch.jit.script(f)(src, index).tolist() == [1, 2, 0]
    strew.torch_scatter.uninstall()
    assert client.scatter_sum is client.scatter_add is pyg_lib.ops.scatter_add is theirs[0]
"""
    run(script, folder)


def test_traces_have_sizes_of_their_own(folder):
    script = """
import strew, torch
strew.torch_scatter.install(pyg=True)
from torch_geometric.utils import scatter
traced = torch.jit.trace(lambda x, i: scatter(x, i, 0, x.size(0)), (torch.ones(3), torch.tensor([0, 0, 2])))
assert traced(torch.ones(5), torch.tensor([0, 4, 4, 4, 2])).tolist() == [1, 0, 1, 0, 3]
"""
    run(script, folder)


def test_errors_say_what_to_do(folder):
    (folder / "torch_geometric").mkdir()
    (folder / "torch_geometric" / "__init__.py").write_text("raise ImportError('broken')")
    script = """
import strew
try:
    strew.torch_scatter.install(pyg=True)
except ImportError as error:
    assert "install(pyg=True) needs torch_geometric" in str(error) and "pip install" in str(error)
else:
    raise AssertionError("no error")
assert "torch_scatter" not in sys.modules
"""
    run(script, folder)


def test_the_example():
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/gnn.py"), "--small"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same weights bit for bit" in done.stdout and "max of messages" in done.stdout
