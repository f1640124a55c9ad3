"""What the machine and the program around do: no memory, other processes and interpreters, threads
that meddle, Ctrl-C.

Most of it runs in an interpreter of its own, with a time limit: what hangs or dies is a failure,
not the end of the tests.
"""

import contextlib
import gc
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import strew

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
posix = pytest.mark.skipif(os.name != "posix", reason="forks")

HEAD = """
import multiprocessing, os, resource, sys, threading, time
import numpy as np, strew
M = 1 << 20
def room(mib):
    with open("/proc/self/status") as f:
        size = next(int(line.split()[1]) << 10 for line in f if line.startswith("VmSize"))
    resource.setrlimit(resource.RLIMIT_AS, (size + int(mib * M),) * 2)
"""


def run(code, timeout=60):
    """What the code printed; it must end well and say nothing on the error stream."""
    code = textwrap.dedent(HEAD) + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=timeout
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


# What is set up while there is memory; the call, for which there is too little; what must be as it
# was.
STARVED = {
    "new": ("", "strew.torch_scatter.scatter(F, [0, 1], 0, None, 50 * M)", ""),
    "two": ("", "strew.torch_scatter.scatter_max(F, [0, 1], 0, None, 50 * M)", ""),
    "set": ("x = np.zeros(50 * M, np.int8)", "strew.torch.scatter(x, 0, [0], x[:1])", "x"),
    "in place, a table": (
        "x, i = np.zeros(20 * M, np.float16), np.arange(20 * M); s = np.ones(20 * M, np.float16)",
        "strew.torch.scatter_reduce_(x, 0, i, s, 'mean')", "x",
    ),
    "in place, positions": (
        "i, s, x = np.arange(8 * M), np.ones(8 * M, np.float32), np.zeros(8 * M, np.float32)",
        "strew.torch_scatter.scatter_max(s, i, 0, x)", "x",
    ),
    "in place, a mask": (
        "m, x = np.ones(40 * M, bool), np.zeros(40 * M, np.int8)", "strew.torch.index_put_(x, (m,), x[:1])", "x",
    ),
    "softmax": ("i, s = np.arange(8 * M), np.ones(8 * M, np.float32)", "strew.torch_scatter.scatter_softmax(s, i)", "s"),
    "bincount": ("i = np.arange(8 * M)", "strew.numpy.bincount(i)", "i"),
    "ufunc": ("x, i = np.zeros(8 * M), np.arange(8 * M)", "strew.numpy.add.at(x, i, i.astype(np.int8))", ""),
    "plan": ("i = np.arange(20 * M)", "strew.Plan(i)", "i"),
    "plan as bytes": ("p = strew.Plan(np.arange(20 * M))", "p.to_bytes()", ""),
    "plan from bytes": ("b = strew.Plan(np.arange(20 * M)).to_bytes()", "strew.Plan.from_bytes(b)", ""),
    "plan, grouped": (
        "p, s = strew.Plan(np.arange(8 * M)[::-1] // 2), np.ones(8 * M, np.float32)", "p.reduce(s, ['sum', 'max', 'min'])", "s",
    ),
    "median": ("i, s = np.arange(8 * M) // 3, np.ones(8 * M)", "strew.aggregate(s, i, 'median')", "s"),
    "list": ("l = [0] * (20 * M)", "strew.torch_scatter.scatter(F, l)", ""),
}  # fmt: skip


@linux
@pytest.mark.parametrize("case", STARVED)
def test_memory_that_cannot_be_had_is_a_memory_error(case):
    before, call, same = STARVED[case]
    found = run(f"""
    F = np.ones(2, np.float32)
    {before}
    same = {same or None}
    first = same if same is None else same[:1000].copy()
    # What went before may have left enough that is kept for the next call.
    strew.set_kept_memory(0)
    room(20)
    try:
        {call}
        print("ended")
    except MemoryError as error:
        print("MemoryError", len(str(error)) < 500)
    if first is not None:
        assert (same[:1000] == first).all()
    # There is enough for what is small, and nothing is broken.
    assert strew.torch_scatter.scatter(F, [0, 0]) == 2
    """)
    assert found == ["MemoryError", "True"]


# What makes one Python object of a length, and what it is called on.
FILLED = "a = strew.Accumulator(M, ['sum', 'len']); a.update(np.ones(M), np.arange(M))"
OBJECTS = {
    "plan": ("p = strew.Plan(np.arange(4 * M))", "p.to_bytes()"),
    "plan, pickled": ("p = strew.Plan(np.arange(4 * M))", "pickle.dumps(p)"),
    "accumulator": (FILLED, "a.to_bytes()"),
    "accumulator, pickled": (FILLED, "pickle.dumps(a, 5)"),
    "accumulator, arrays": (FILLED, "a.arrays()"),
}


@linux
@pytest.mark.parametrize("case", OBJECTS)
def test_an_object_that_does_not_fit_is_a_memory_error(case):
    before, call = OBJECTS[case]
    # The first of the two copies of the bytes fits, the second does not, and both do.
    for mib in [4, 20, 28, 36, 52, 400]:
        found = run(f"""
        import pickle
        os.environ["RUST_BACKTRACE"] = "1"
        {before}
        strew.set_kept_memory(0)
        room({mib})
        try:
            {call}
            print("ended")
        except MemoryError:
            print("MemoryError")
        """)
        assert found in (["MemoryError"], ["ended"])
        assert mib != 4 or found == ["MemoryError"]
    assert found == ["ended"]


@linux
@pytest.mark.parametrize(
    "call", ["strew.torch_scatter.scatter_softmax(s, i)", "strew.aggregate(s, i, 'median')"]
)
def test_threads_that_find_no_memory_are_done_without(call):
    # With room for a thread's stack and not for what is local to it, the C library ends the process.
    for kib in [2040, 2048, 2052, 2056, 2060, 2064, 2072, 4112, 65536, 67640, 67648]:
        found = run(f"""
        i, s = np.arange(M) // 3, np.ones(M, np.float32)
        strew.set_kept_memory(0)
        strew.set_num_threads(3)
        room({kib} / 1024)
        try:
            {call}
        except MemoryError:
            pass
        print("ended")
        """)
        assert found == ["ended"]


@linux
@pytest.mark.parametrize(
    "call",
    [
        "strew.mxnet.scatter_nd(F, [[0, 1]], many)",
        "strew.torch.index_put(F, many, F)",
        "strew.torch_scatter.scatter(F, [0, 1], reduce=word)",
        "strew.mxnet.scatter_nd(F, [[0, 7]], (2,), name=word)",
    ],
)
def test_a_long_list_or_word_is_refused_before_it_is_copied(call):
    # It ended the process: the copy could not fail.
    found = run(f"""
    F, many, word = np.ones(2, np.float32), [None] * (10 * M), "x" * (100 * M)
    if "scatter_nd" in {call!r}:
        many = [0] * (10 * M)
    room(60)
    try:
        {call}
    except ValueError as error:
        print(len(str(error)) < 500)
    """)
    assert found == ["True"]


SHARED = """
strew.set_num_threads(2)
src, index = np.ones((1000, 4096), np.float32), np.arange(1000) % 10
def work(n):
    return float(strew.torch_scatter.scatter(src * n, index, dim=0).sum())
"""


@posix
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_processes_of_a_pool(method, tmp_path):
    # From a file, so that spawned processes find the function.
    path = tmp_path / "pooled.py"
    path.write_text(
        HEAD
        + SHARED
        + textwrap.dedent(f"""
    if __name__ == "__main__":
        work(1)
        with multiprocessing.get_context({method!r}).Pool(3) as pool:
            found = pool.map_async(work, range(6)).get(50)
        print(found == [n * src.size for n in range(6)])
    """)
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(path)], capture_output=True, text=True, timeout=60
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("True\n", "")


@posix
def test_a_fork_while_other_threads_run():
    found = run(
        SHARED
        + textwrap.dedent("""
    stop = threading.Event()
    def busy():
        while not stop.is_set():
            work(1)
    threads = [threading.Thread(target=busy) for _ in range(2)]
    for t in threads: t.start()
    wrong = []
    for _ in range(30):
        child = os.fork()
        if child == 0:
            os._exit(0 if work(2) == 2 * src.size and work(3) == 3 * src.size else 1)
        end = time.monotonic() + 20
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > end:
                os.kill(child, 9)
            time.sleep(0.001)
        if ended[1] != 0:
            wrong.append(os.waitstatus_to_exitcode(ended[1]))
    stop.set()
    for t in threads: t.join()
    print(wrong, work(1) == src.size)
    """)
    )
    assert found == ["[]", "True"]


@posix
def test_a_fork_during_the_first_calls():
    # The child waited forever for what another thread had begun to look up: about one of ten did.
    found = run(
        SHARED
        + textwrap.dedent("""
    small = np.ones((300, 4096), np.float32)
    def tiny():
        strew.torch_scatter.scatter(small, index[:300], dim=0)
    def first_calls(wait):
        threads = [threading.Thread(target=tiny) for _ in range(2)]
        for t in threads: t.start()
        begin = time.perf_counter()
        while time.perf_counter() - begin < wait: pass
        child = os.fork()
        if child == 0:
            tiny()
            os._exit(0)
        end = time.monotonic() + 10
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > end:
                os.kill(child, 9)
            time.sleep(0.001)
        for t in threads: t.join()
        return ended[1]
    wrong = 0
    for n in range(60):
        # This process has never called anything, so each of these begins as a new one does.
        child = os.fork()
        if child == 0:
            os._exit(first_calls(n * 2e-5) != 0)
        wrong += os.waitpid(child, 0)[1] != 0
    print(wrong)
    """),
        timeout=120,
    )
    assert found == ["0"]


def test_a_second_interpreter_is_refused():
    # NumPy refuses it, and so does strew: in the first one, it goes on.
    found = run("""
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    other = interpreters.create()
    lines = "try:", "    import strew", "except ImportError:", "    print('refused', flush=True)"
    interpreters.run_string(other, chr(10).join(lines))
    interpreters.destroy(other)
    print(strew.torch_scatter.scatter(np.ones(3), [0, 1, 0]).tolist() == [2.0, 1.0])
    """)
    assert found == ["refused", "True"]


def test_a_python_without_its_lock_is_refused():
    # Here Python only says that it runs without: in one that can, the module turns the lock on
    # unless that is forbidden.
    lines = (
        "import sys; sys._is_gil_enabled = lambda: False\n"
        "try:\n    import strew\nexcept ImportError as error:\n    print(error)"
    )
    said = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, timeout=60)
    assert (said.returncode, said.stderr) == (0, "")
    assert (
        said.stdout
        == "strew needs the interpreter's lock, which PYTHON_GIL=0 and -X gil=0 leave off\n"
    )


def meddled(call, meddle):
    """Makes the call again and again while another thread meddles, for a short while."""
    stop = threading.Event()

    def again():
        while not stop.is_set():
            meddle()

    thread = threading.Thread(target=again)
    thread.start()
    try:
        for _ in range(30):
            call()
    finally:
        stop.set()
        thread.join()


def test_an_index_that_another_thread_writes_to():
    seed = 7
    print("seed", seed)
    rng = np.random.default_rng(seed)
    good, wild = rng.integers(0, 50, 50_000), rng.integers(-(2**62), 2**62, 50_000)
    index = good.copy()
    memory = np.zeros(50 + 2 * 64)
    target, ones = memory[64:-64], np.ones(50_000)
    outcomes = set()

    def call():
        try:
            strew.torch.scatter_reduce_(target, 0, index, ones, "sum")
            outcomes.add("done")
        except RuntimeError as error:
            assert "index" in str(error)
            outcomes.add("refused")

    def meddle():
        index[::7] = wild[::7]
        index[:] = good

    meddled(call, meddle)
    assert outcomes
    # Whatever happened, it happened inside.
    assert not memory[:64].any() and not memory[-64:].any()


def test_a_source_and_a_target_that_another_thread_writes_to():
    index = np.arange(50_000) % 50
    src, memory = np.ones(50_000), np.zeros(50 + 2 * 64)
    target = memory[64:-64]

    def meddle():
        src[:] = 2.0
        target[:] = 0.0

    meddled(lambda: strew.torch.scatter_reduce_(target, 0, index, src, "sum"), meddle)
    assert not memory[:64].any() and not memory[-64:].any()


def test_memory_in_use_is_not_given_back():
    # Somebody who drops or resizes what a call reads gets an error, or waits: it is held.
    buffer = bytearray(np.ones(2_000_000))
    view = np.frombuffer(buffer)
    refused = []

    def meddle():
        try:
            buffer.extend(b"x" * 4096)
        except BufferError:
            refused.append(1)

    meddled(lambda: strew.torch_scatter.scatter(view, np.zeros(len(view), int)), meddle)
    assert refused and len(buffer) == view.nbytes
    held = [np.ones(2_000_000)]
    index = np.zeros(2_000_000, int)
    found = []
    thread = threading.Thread(
        target=lambda: found.append(strew.torch_scatter.scatter(held.pop(), index)[0])
    )
    thread.start()
    while not found:
        np.full(2_000_000, 9.0)  # Takes the memory, if it was given back.
    thread.join()
    assert found == [2_000_000]


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def small_calls():
    """Calls of every kind, small ones, as (call, what it holds on to if it is wrong)."""
    src, index, out, name = np.ones(4), np.zeros(4, int), np.zeros(1), "a label of nobody else's"
    plan = strew.Plan(index)
    wrong = index - 1

    def fails():
        with contextlib.suppress(RuntimeError):
            strew.torch_scatter.scatter(src, wrong, out=out)

    return [src, index, out, name, plan, wrong], [
        lambda: strew.torch_scatter.scatter(src, index),
        lambda: strew.torch_scatter.scatter_max(src, index, -1, out),
        lambda: strew.torch.scatter_reduce_(out, 0, index, src, "sum"),
        lambda: strew.mxnet.scatter_nd(src, index[None], (3,), name),
        lambda: strew.openvino.slice_scatter(src, [1.0, 2.0], [0], [2], [1]),
        lambda: plan.scatter(src, "mean"),
        lambda: strew.torch.index_put(src, (index, ), 1.0),
        fails,
    ]  # fmt: skip


@linux
def test_counts_and_memory_stay_flat_over_100_000_calls():
    things, calls = small_calls()

    def rounds(count):
        for _ in range(count):
            for call in calls:
                call()

    rounds(500)
    gc.collect()
    before, counts = resident(), [sys.getrefcount(thing) for thing in things]
    rounds(100_000 // len(calls))
    gc.collect()
    assert [sys.getrefcount(thing) for thing in things] == counts
    # A leak of 16 bytes per call would be 1.6 MB.
    assert resident() - before < 1 << 20
