"""Threads, the interpreter's lock, Ctrl-C, leaks."""

import functools
import gc
import os
import pickle
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types

import numpy as np
import pytest
import strew


@pytest.fixture
def threads():
    yield strew.set_num_threads
    strew.set_num_threads(None)


def test_the_number_of_threads_is_kept(threads):
    threads(3)
    assert strew.get_num_threads() == 3
    threads(None)
    assert strew.get_num_threads() >= 1


def test_threads_for_a_block(threads):
    threads(3)
    with strew.threads(2):
        assert strew.get_num_threads() == 2
        with strew.threads(np.int64(1)):
            assert strew.get_num_threads() == 1
        assert strew.get_num_threads() == 2
    assert strew.get_num_threads() == 3
    with pytest.raises(KeyError), strew.threads(1):
        raise KeyError
    assert strew.get_num_threads() == 3
    threads(None)
    default = strew.get_num_threads()
    threads(default + 1)
    with strew.threads(None):
        assert strew.get_num_threads() == default
    assert strew.get_num_threads() == default + 1


@pytest.mark.parametrize(
    ("n", "error", "words"),
    [
        (0, ValueError, "threads: n = 0: it must be at least 1, or None"),
        (1.0, TypeError, "threads: n must be an integer or None, not float"),
        ("2", TypeError, "threads: n must be an integer or None, not str"),
        (2**70, ValueError, "threads: n = 1180591620717411303424: it must be at most"),
    ],
)
def test_numbers_of_threads_that_are_refused(threads, n, error, words):
    threads(3)
    ran = []
    with pytest.raises(error, match=words), strew.threads(n):
        ran.append(1)
    assert not ran and strew.get_num_threads() == 3


def test_the_environment_sets_the_number_of_threads():
    code = "import strew; print(strew.get_num_threads())"
    env = {**os.environ, "STREW_NUM_THREADS": "5"}
    out = subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True)
    assert out.stdout.strip() == b"5"


OPENMP = [
    ({"OMP_NUM_THREADS": "3"}, 3),
    ({"OMP_NUM_THREADS": " 4,2"}, 4),
    ({"OMP_NUM_THREADS": "3", "STREW_NUM_THREADS": "5"}, 5),
    ({"OMP_NUM_THREADS": "0"}, None),
    ({"OMP_NUM_THREADS": "many"}, None),
    ({"OMP_NUM_THREADS": ""}, None),
]


@pytest.mark.parametrize(("given", "expected"), OPENMP)
def test_the_variable_of_openmp_counts_without_an_own_one(given, expected):
    code = "import strew; print(strew.get_num_threads())"
    env = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    default = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    run = [sys.executable, "-c", code]
    out = subprocess.run(run, env={**env, **given}, check=True, capture_output=True)
    expected = default if expected is None else expected
    assert expected is None or int(out.stdout) == expected


def test_threads_of_a_plan_and_an_accumulator(threads):
    # Results do not depend on it; what a run may use is told by `explain`.
    threads(3)
    rng = np.random.default_rng(0)
    index = rng.integers(0, 1000, 200_000)
    src = rng.standard_normal((200_000, 8)).astype(np.float32)
    # Of this many values the runs are grouped, which tells the number of threads.
    used, shape = {}, (200_000, 64)
    for n in (None, 1, 2):
        plan = strew.Plan(index, threads=n)
        told = plan.explain(shape, "float32", ["sum", "max"], measure=False)
        used[n] = int(re.search(r"threads, at most +(\d+)", told)[1])
        again = pickle.loads(pickle.dumps(plan))
        assert again.explain(shape, "float32", ["sum", "max"], measure=False) == told
        results = [plan.reduce(src, ["sum", "max"]), again.reduce(src, ["sum", "max"])]
        acc = strew.Accumulator(1000, ["sum", "max"], dtype="float32", shape=(8,), threads=n)
        acc.update(src, index)
        assert pickle.loads(pickle.dumps(acc)).result()[1].tobytes() == acc.result()[1].tobytes()
        results.append(acc.result())
        if n is None:
            expected = results
        for made, others in zip(results, expected):
            assert [one.tobytes() for one in made] == [one.tobytes() for one in others]
    assert used == {None: 3, 1: 1, 2: 2}
    assert strew.get_num_threads() == 3


def test_a_worker_of_a_data_loader_has_as_many_threads_as_torch():
    code = """
import sys, types
import strew
usual = strew.get_num_threads()
worker = types.SimpleNamespace(_worker_info=None)
torch = types.SimpleNamespace(get_num_threads=lambda: 7)
sys.modules.update({"torch": torch, "torch.utils.data._utils.worker": worker})
told = [strew.get_num_threads() == usual]
worker._worker_info = object()
told.append(strew.get_num_threads())
strew.set_num_threads(5)
told.append(strew.get_num_threads())
strew.set_num_threads(None)
worker._worker_info = None
told.append(strew.get_num_threads() == usual)
print(*told)
"""
    env = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    env["OMP_NUM_THREADS"] = "3"
    for own, expected in ((None, "True 7 5 True"), ("4", "True 4 5 True")):
        with_own = env if own is None else {**env, "STREW_NUM_THREADS": own}
        run = [sys.executable, "-c", code]
        out = subprocess.run(run, env=with_own, check=True, capture_output=True, text=True)
        assert out.stdout.split() == expected.split(), own


@functools.cache
def long_inputs():
    """As much as takes many times longer than from one report to the next one, on any machine."""
    rng, count = np.random.default_rng(1), 1_000_000
    while True:
        count *= 2
        src, index = rng.random(count, np.float32), rng.integers(0, 10**6, count, np.int32)
        began = time.perf_counter()
        with strew.threads(1):
            strew.scatter(src, index, reduce="max")
        if time.perf_counter() - began > 0.4:
            return src, index


def long_run(**options):
    with strew.threads(1):
        return strew.scatter(*long_inputs(), reduce="max", **options)


def test_progress_of_a_long_run():
    told = []
    one = long_run(progress=lambda done, total: told.append((done, total)))
    assert told and all(0 < done <= total for done, total in told)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    with strew.progress(lambda *_: told.append("again")):
        assert one.tobytes() == long_run().tobytes()
        # False in it changes nothing.
        long_run(progress=False)
        many = strew.aggregate(np.ones(2_000_000), np.arange(2_000_000) // 2)
    assert many.sum() == 2_000_000
    count = told.count("again")
    assert count > 0
    long_run()
    assert told.count("again") == count

    def stop(done, total):
        raise RuntimeError(f"enough: {done < total}")

    with pytest.raises(RuntimeError, match="enough: True"):
        long_run(progress=stop)


@pytest.mark.parametrize("reduce", ["mean", "std", "count", "len", "cumsum", "median", "rank"])
def test_progress_of_statistics(reduce):
    told = []
    # Runs of less than 50 ms say nothing.
    for count in (1 << n for n in range(22, 28)):
        src = np.arange(count, dtype=np.uint8)
        index = src * np.uint8(7)
        made = strew.aggregate(src, index, reduce, progress=lambda *how: told.append(how))
        if told:
            break
    assert told and all(0 < done <= total for done, total in told)
    assert made.tobytes() == strew.aggregate(src, index, reduce).tobytes()

    def stop(done, total):
        raise RuntimeError("enough")

    # A run that comes second may take half the time.
    for times in (2, 4, 8):
        try:
            strew.aggregate(np.tile(src, times), np.tile(index, times), reduce, progress=stop)
        except RuntimeError as error:
            assert "enough" in str(error)
            return
    pytest.fail("no run told of its progress")


def test_progress_of_the_making_of_a_plan():
    index = np.arange(20_000_000) * 7919 % 10_000_019
    told = []
    with strew.progress(lambda done, total: told.append((done, total))):
        plan = strew.Plan(index)
    assert told and all(0 < done <= total == 3 * len(index) for done, total in told)
    assert len(plan) == len(index)


def test_a_bar_of_a_long_run(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    long_run(progress=True)
    lines = capsys.readouterr().err.split("\r")
    assert re.fullmatch(r"strew: \d+% of [\d,]+ updates *", lines[1]), lines
    assert not lines[-1].strip()

    made = []

    class Bar:
        def __init__(self, **options):
            self.shown = []
            made.append(self)

        def refresh(self):
            self.shown.append((self.n, self.total))

        def close(self):
            self.shown.append("closed")

    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    long_run(progress=True)
    assert strew.scatter([1.0], [0], progress=True) == strew.gather([1.0], [0], progress=True)
    (bar,) = made
    assert len(bar.shown) > 1 and bar.shown[-1] == "closed"


@pytest.mark.parametrize("reduce", ["sum", "mul", "mean", "min", "max"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int64"])
def test_bits_do_not_depend_on_threads(threads, dtype, reduce):
    rng = np.random.default_rng(4)
    src = (
        rng.normal(1, 0.1, (3000, 33)).astype(dtype)
        if dtype != "int64"
        else rng.integers(-9, 9, (3000, 33))
    )
    index = rng.integers(0, 40, 3000)
    found = set()
    for n in [1, 2, 4]:
        threads(n)
        found.add(strew.torch_scatter.scatter(src, index, 0, None, 40, reduce).tobytes())
    assert len(found) == 1
    assert found.pop() != bytes(40 * 33 * src.itemsize)


def many_updates():
    ones = np.broadcast_to(np.float64(1), (200_000_000,))
    index = np.broadcast_to(np.int64(0), ones.shape)
    assert strew.torch_scatter.scatter(ones, index) == 200_000_000


def few_updates_and_a_large_result():
    out = strew.torch_scatter.scatter_mul(np.uint8([7]), [3], dim_size=600_000_000)
    assert out[2:5].tolist() == [1, 7, 1]


@pytest.mark.parametrize("work", [many_updates, few_updates_and_a_large_result])
def test_other_threads_run_during_a_run(work):
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(time.monotonic())

    runs: list[tuple[float, float]] = []
    thread = threading.Thread(target=tick)
    thread.start()
    try:
        # A machine with memory at hand may run for 30 ms only: several such runs tell as much.
        while sum(end - begin for begin, end in runs) < 0.2:
            begin = time.monotonic()
            work()
            runs.append((begin, time.monotonic()))
    finally:
        stop.set()
        thread.join()
    # A thread that waited for a run would have ticked only at its ends.
    inside = [t for t in ticks for begin, end in runs if begin + 0.01 < t < end - 0.01]
    long = sum(max(end - begin - 0.02, 0) for begin, end in runs)
    assert long > 0.03, "too short runs to tell"
    assert len(inside) >= long / 0.005 / 10


def test_calls_from_many_threads_at_once():
    rng = np.random.default_rng(5)
    src, index = rng.integers(0, 99, 5000), rng.integers(0, 50, 5000)
    expected = np.bincount(index, src, 50)
    wrong = []

    def work():
        for _ in range(50):
            if (strew.torch_scatter.scatter(src, index, dim_size=50) != expected).any():
                wrong.append(1)

    pool = [threading.Thread(target=work) for _ in range(4)]
    for t in pool:
        t.start()
    for t in pool:
        t.join()
    assert not wrong


def interrupted(code, after=0.7):
    """Runs `code` in a new interpreter and sends it Ctrl-C some time after it printed "go"."""
    head = """
    import signal, sys, time
    import numpy as np, strew
    # A parent that ignores Ctrl-C would pass that on.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ones = np.broadcast_to(np.float32(1), (N,)) if (N := 4_000_000_000) else None
    zeros = np.broadcast_to(np.int64(0), (N,))
    def go(): print("go", flush=True)
    """
    code = textwrap.dedent(head) + textwrap.dedent(code)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "go\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        said, _ = process.communicate(timeout=60)
        return said.split(), time.monotonic() - sent
    finally:
        process.kill()
        process.wait()


posix = pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")


@posix
def test_ctrl_c_stops_a_run_with_a_new_output():
    said, seconds = interrupted("""
    go()
    begin = time.monotonic()
    try:
        strew.torch_scatter.scatter(ones, zeros, dim_size=1)
        print("ended")
    except KeyboardInterrupt:
        print("stopped", time.monotonic() - begin)
    """)
    assert said[0] == "stopped"
    assert float(said[1]) > 0.5, "it was not running yet"
    assert seconds < 1.0


@posix
def test_ctrl_c_before_the_first_write_leaves_the_target_alone():
    # Three billion indices are checked before anything is written: that is when it comes. They
    # are zeros that no memory was ever needed for.
    said, seconds = interrupted(
        """
    x = np.array([5.0, 6.0], np.float32)
    zeros = np.zeros(3_000_000_000, np.int32)
    ones = ones[:3_000_000_000]
    go()
    try:
        strew.torch.scatter_reduce_(x, 0, zeros, ones, "sum")
        print("ended")
    except KeyboardInterrupt:
        print("stopped", *x)
    """,
        after=0.3,
    )
    assert said == ["stopped", "5.0", "6.0"]
    assert seconds < 1.0


@posix
def test_ctrl_c_after_the_first_write_waits_for_the_end():
    # A second thread watches the target, and says "go" when it sees the first sums in it.
    said, _ = interrupted(
        """
    n = 400_000_000
    x = np.array([0.0], np.float64)
    one = np.broadcast_to(np.float64(1), (n,))
    def when_written():
        while x[0] == 0:
            time.sleep(0.001)
        go()
    import threading
    threading.Thread(target=when_written, daemon=True).start()
    try:
        strew.torch.scatter_reduce_(x, 0, zeros[:n], one, "sum")
        print("ended")
    except KeyboardInterrupt:
        print("interrupted", int(x[0]))
    """,
        after=0.02,
    )
    assert said == ["interrupted", "400000000"]


@posix
def test_a_signal_handler_of_the_program_runs_during_a_run():
    said, seconds = interrupted("""
    class Enough(Exception): pass
    def handler(*_): raise Enough
    signal.signal(signal.SIGINT, handler)
    go()
    try:
        strew.torch_scatter.scatter(ones, zeros, dim_size=1)
    except Enough:
        print("enough")
    """)
    assert said == ["enough"]
    assert seconds < 1.0


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="asks Linux for the memory")
def test_a_run_does_without_threads_that_cannot_be_had():
    code = """
    import resource
    import numpy as np, strew
    strew.set_num_threads(8)
    x, src = np.zeros((10, 4096), np.float32), np.ones((1000, 4096), np.float32)
    index = np.broadcast_to(np.arange(1000)[:, None] % 10, src.shape)
    with open("/proc/self/status") as f:
        size = next(int(line.split()[1]) << 10 for line in f if line.startswith("VmSize"))
    # A thread needs a stack, and there is no room for one.
    resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 20),) * 2)
    for n in (1, 2):
        strew.torch.scatter_reduce_(x, 0, index, src, "sum")
        assert (x == 100 * n).all()
    print("done")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("done\n", "")


@posix
def test_a_forked_process_runs_on_threads_of_its_own():
    code = """
    import os
    import numpy as np, strew
    strew.set_num_threads(2)
    src = np.ones((1000, 4096), np.float32)
    index = np.arange(1000) % 10
    work = lambda: (strew.torch_scatter.scatter(src, index, dim=0) == 100).all()
    assert work()
    children = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            os._exit(0 if work() else 1)
        children.append(child)
    assert work()
    print([os.waitpid(child, 0)[1] for child in children])
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == (f"{[0] * 8}\n", "")


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def calls():
    src, index = np.ones(100_000), np.zeros(100_000, int)
    target = np.zeros(3)

    def fails():
        with pytest.raises(RuntimeError):
            strew.torch_scatter.scatter(src, index - 1)

    return {
        "new": lambda: strew.torch_scatter.scatter(src, index, dim_size=100_000),
        "two": lambda: strew.torch_scatter.scatter_max(src, index, dim_size=100_000),
        "in place": lambda: strew.torch.scatter_reduce_(target, 0, index, src, "sum"),
        "error": fails,
        "lists": lambda: strew.openvino.slice_scatter(src, [1.0, 2.0], [0], [2], [1]),
        "exported": lambda: np.from_dlpack(
            strew.torch_scatter.scatter(src, index, dim_size=100_000).base
        ),
    }


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="asks Linux for the memory")
@pytest.mark.parametrize("name", calls())
def test_memory_stays_flat(name):
    call = calls()[name]
    for _ in range(20):
        call()
    gc.collect()
    before = resident()
    for _ in range(300):
        call()
    gc.collect()
    # Each call makes, or reads, 800 kB: a leak of one in ten would be 24 MB.
    assert resident() - before < 16 << 20


def test_reference_counts_stay_flat():
    src, index, out = np.ones(10), np.zeros(10, int), np.zeros(1)
    dtypes = [np.dtype(float), np.dtype(np.int64)]
    name = "a label that nobody else has"
    things = [src, index, out, name, *dtypes]

    def call():
        strew.torch_scatter.scatter(src, index)
        strew.torch_scatter.scatter_min(src, index, -1, out)
        strew.mxnet.scatter_nd(src, index[None], (3,), name)
        for wrong in [dict(index=index - 1), dict(index=src), dict(reduce="median"), dict(dim=7)]:
            with pytest.raises((RuntimeError, ValueError, IndexError)):
                strew.torch_scatter.scatter(**{"src": src, "index": index, "out": out, **wrong})

    call()
    gc.collect()
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(1000):
        call()
    gc.collect()
    after = [sys.getrefcount(thing) for thing in things]
    assert all(abs(a - b) < 20 for a, b in zip(after, before)), (before, after)
