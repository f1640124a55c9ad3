"""Arrays that map files: they are read in place, so memory holds the result alone."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import strew

COUNT, GROUPS = 16_000_000, 5000

# In a process of its own, whose address space may grow by less than an eighth of the inputs.
SCRIPT = """
import resource, sys
import numpy as np
import strew

def address_space():
    (line,) = [one for one in open("/proc/self/status") if one.startswith("VmSize")]
    return int(line.split()[1]) * 1024

strew.set_num_threads(2)
strew.scatter(np.ones(100_000, "float32"), np.arange(100_000) % 7)
src = np.lib.format.open_memmap("src.npy", mode="r")
index = np.lib.format.open_memmap("index.npy", mode="r")
allowed = (src.nbytes + index.nbytes) // 8
resource.setrlimit(resource.RLIMIT_AS, (address_space() + allowed,) * 2)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mapped")
    random = np.random.default_rng(1)
    np.save(folder / "src.npy", random.standard_normal(COUNT, dtype="float32"))
    np.save(folder / "index.npy", random.integers(0, GROUPS, COUNT))
    return folder


def run(folder, lines):
    script = SCRIPT + textwrap.dedent(lines)
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


CALLS = [
    'strew.aggregate(src, index, ["sum", "mean", "std", "max", "argmin", "last", "len", "any"])',
    'strew.aggregate(src, index, ["sum", "var"], exact=True, skipna=True)',
    'strew.aggregate(src.reshape(-1, 2), index[::2], "skew")',
    'strew.scatter(src, index, 0, reduce="sum", size=6000)',
    'strew.scatter(src, index, 0, reduce="mean")',
    'strew.scatter(src, index, 0, reduce="amax")',
    'strew.scatter(src, index, 0, reduce="assign")',
    'strew.scatter(src, index, 0, reduce="sum", exact=True)',
    'taken(strew.Accumulator(5000, ["sum", "kurt"], dtype="float32"))',
]


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
@pytest.mark.parametrize("call", CALLS)
def test_the_bits_are_the_same_and_nothing_is_copied(call, folder):
    taken = """
    def taken(acc):
        for at in range(0, len(src), 300_000):
            acc.update(src[at : at + 300_000], index[at : at + 300_000])
        return acc.result()
    """
    done = run(folder, f"{taken}\n    np.save('made.npy', np.stack({call}))")
    assert done.returncode == 0, done.stderr
    names = {
        "strew": strew,
        "src": np.load(folder / "src.npy"),
        "index": np.load(folder / "index.npy"),
    }
    exec(textwrap.dedent(taken), names)
    want = np.stack(eval(call, names))
    assert np.load(folder / "made.npy").tobytes() == want.tobytes()


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_what_needs_all_values_of_a_group_says_so(folder):
    done = run(folder, 'strew.aggregate(src, index, "median")')
    assert "MemoryError: aggregate: " in done.stderr
