"""Load: 64 threads at mixed operators for some minutes, then processes of every kind. Run by hand:

    python python/tests/load.py --minutes 10

Every result must be, bit for bit, that of one thread alone; memory must stay flat; and something
must always go on: where no call ends for a minute, all stacks are printed and the exit status is 1.
With torch installed, strew also runs in the workers of its DataLoader.
"""

import argparse
import collections
import concurrent.futures
import faulthandler
import multiprocessing
import os
import random
import sys
import threading
import time

import numpy as np
import strew

HANGS = 60.0


def inputs(seed=6):
    """Small and large ones, past the thresholds at which runs are shared out."""
    rng = np.random.default_rng(seed)
    sizes = {"small": (40, 3), "middle": (3000, 33), "large": (60_000, 16)}
    return {
        name: dict(
            src=rng.normal(size=(n, width)).astype(np.float32),
            half=rng.normal(size=(n, width)).astype(np.float16),
            whole=rng.integers(-9, 9, (n, width)),
            index=rng.integers(0, n // 7 + 1, n),
            ascending=np.sort(rng.integers(0, n // 7 + 1, n)),
            size=n // 7 + 1,
        )
        for name, (n, width) in sizes.items()
    }


def cases():
    """All calls by name, with what they give."""
    found = {}
    for size, d in inputs().items():
        found.update({f"{size} {name}": Bound(call) for name, call in calls(d).items()})
    return found


def calls(d):
    """Calls on some inputs, by name; each gives arrays, or the text of the error that it must
    raise.
    """
    scatter, t, s = strew.torch_scatter, strew.torch, strew
    src, half, whole, index, n = d["src"], d["half"], d["whole"], d["index"], d["size"]
    column = np.broadcast_to(index[:, None], src.shape)
    plan = s.Plan(index, n)
    pointers = np.searchsorted(d["ascending"], np.arange(n + 1))

    def into(call, dtype=np.float32, shape=(n, src.shape[1])):
        out = np.ones(shape, dtype)
        call(out)
        return out

    def reduced(src, reduce):
        return lambda: scatter.scatter(src, index, 0, None, n, reduce)

    def refused():
        wrong = index.copy()
        wrong[-1] = n
        try:
            scatter.scatter(src, wrong, 0, None, n)
        except RuntimeError as error:
            return str(error)

    return {
        **{f"scatter {r}": reduced(src, r) for r in ("sum", "mul", "mean", "min", "max")},
        **{f"half {r}": reduced(half, r) for r in ("sum", "mean")},
        "max with positions": lambda: scatter.scatter_max(src, index, 0, None, n),
        "softmax": lambda: scatter.scatter_softmax(src, index, 0),
        "logsumexp": lambda: scatter.scatter_logsumexp(src, index, 0, None, n),
        "std": lambda: scatter.scatter_std(src, index, 0, None, n),
        "csr": lambda: scatter.segment_csr(src, pointers),
        "coo": lambda: scatter.segment_coo(src, d["ascending"], dim_size=n),
        "gather": lambda: t.gather(src, 0, column),
        "scatter_reduce_": lambda: into(lambda out: t.scatter_reduce_(out, 0, column, src, "prod")),
        "index_add": lambda: t.index_add(np.ones((n, src.shape[1]), whole.dtype), 0, index, whole),
        "scatter_nd": lambda: s.mxnet.scatter_nd(src, index[None], (n, src.shape[1])),
        "scatter_mul": lambda: into(lambda out: s.mindspore.scatter_mul(out, index, src)),
        "at": lambda: into(lambda out: s.numpy.add.at(out, index, src)),
        "bincount": lambda: s.numpy.bincount(index, src[:, 0]),
        "plan": lambda: plan.reduce(src, ["sum", "max", "mean"]),
        "median": lambda: s.aggregate(src[:, 0], index, "median"),
        "refused": refused,
    }


class Bound:
    """A call with what it gave on one thread."""

    def __init__(self, call):
        self.call = call
        strew.set_num_threads(1)
        self.expected = as_bytes(call())
        strew.set_num_threads(None)

    def holds(self):
        return as_bytes(self.call()) == self.expected


def as_bytes(result):
    if isinstance(result, str):
        return result
    results = result if isinstance(result, (tuple, list)) else [result]
    return [(r.shape, r.dtype.str, r.tobytes()) for r in map(np.asarray, results)]


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def threads(count, minutes, seed):
    """Runs the threads; gives what was wrong."""
    work = cases()
    names = sorted(work)
    wrong, done = collections.Counter(), [0] * count
    end = time.monotonic() + minutes * 60

    def run(number):
        choose = random.Random(seed + number)
        while time.monotonic() < end and not wrong:
            name = choose.choice(names)
            try:
                if not work[name].holds():
                    wrong[f"{name}: another result"] += 1
            except BaseException as error:
                wrong[f"{name}: {error!r}"] += 1
            done[number] += 1
            if number == 0:
                strew.set_num_threads(choose.choice([1, 2, 3, 8]))

    pool = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(count)]
    for thread in pool:
        thread.start()
    memory, last, since, said = [], 0, time.monotonic(), 0.0
    while any(thread.is_alive() for thread in pool):
        time.sleep(0.5)
        now, total = time.monotonic(), sum(done)
        if total != last:
            last, since = total, now
        elif now - since > HANGS:
            faulthandler.dump_traceback(all_threads=True)
            return [f"nothing has ended for {HANGS} s"]
        if now - said >= min(30.0, minutes * 6):
            said = now
            memory.append(resident())
            print(
                f"{minutes * 60 - (end - now):5.0f} s: {total} calls, {memory[-1]} MiB", flush=True
            )
    for thread in pool:
        thread.join()
    strew.set_num_threads(None)
    print(
        f"{count} threads, {len(names)} calls mixed, seed {seed}: {sum(done)} calls, the idlest thread {min(done)}"
    )
    # The first part is for the pools to fill.
    settled = memory[len(memory) // 4 :]
    if len(settled) > 3 and np.mean(settled[-3:]) - np.mean(settled[:3]) > 64:
        wrong[f"memory grows: {settled}"] += 1
    return list(wrong)


def one_of_each(_):
    """Everything once, in a process of its own; gives what was wrong."""
    return [name for name, call in cases().items() if not call.holds()]


class Items:
    """A data set whose items are made by strew."""

    def __len__(self):
        return 24

    def __getitem__(self, n):
        d = inputs()["middle"]
        return np.asarray(strew.torch_scatter.scatter(d["src"] * n, d["index"], 0, None, d["size"]))


def processes():
    """Pools of every kind of process; gives what was wrong."""
    wrong = one_of_each(0)
    for method in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(3, mp_context=context) as pool:
            results = list(pool.map(one_of_each, range(6), timeout=300))
        print(
            f"6 tasks in a pool of 3 processes, {method}: {'WRONG' if any(results) else 'right'}",
            flush=True,
        )
        wrong += [one for result in results for one in result]
    try:
        import torch.utils.data as data
    except ImportError:
        print("no torch: no DataLoader")
        return wrong
    expected = [Items()[n] for n in range(len(Items()))]
    for method in multiprocessing.get_all_start_methods():
        loader = data.DataLoader(
            Items(), batch_size=4, num_workers=3, multiprocessing_context=method, timeout=120
        )
        found = [item.numpy() for batch in loader for item in batch]
        same = len(found) == len(expected) and all((a == b).all() for a, b in zip(found, expected))
        print(f"a DataLoader with 3 workers, {method}: {'right' if same else 'WRONG'}", flush=True)
        wrong += [] if same else [f"DataLoader, {method}"]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--seed", type=int, default=6)
    given = parser.parse_args()
    wrong = threads(given.threads, given.minutes, given.seed) + processes()
    for what in sorted(set(wrong))[:20]:
        print("wrong:", what)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
