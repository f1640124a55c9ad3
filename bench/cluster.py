"""A Dask cluster on this machine: `strew.dask` beside flox, and a worker that is killed.

    python -m bench.cluster --updates 500M --cells 50M --output-chunk 2M

It needs dask, distributed and flox. Each run has workers of its own, with a limit of memory. It
prints a line of JSON: the time, the peak of each worker's resident memory, and whether the bits are
those of one process that takes the same values chunk by chunk.

The values are made by the tasks, from the number of their chunk: no file is read.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np
import strew
from distributed import Client, LocalCluster

__all__ = ["Work", "expected", "flox_run", "main", "strew_run"]

UNITS = {"K": 10**3, "M": 10**6, "G": 10**9}


@dataclass(frozen=True)
class Work:
    """How much is reduced: updates into cells, and the chunks of both."""

    updates: int
    cells: int
    # Updates in a chunk of the values.
    chunk: int
    # Cells in a chunk of the result.
    output_chunk: int
    memory_limit: str
    reduce: str = "sum"
    # Accumulators that are merged at a time.
    split_every: int = 8

    def lengths(self) -> list[int]:
        """The lengths of the chunks of the values."""
        count, rest = divmod(self.updates, self.chunk)
        return [self.chunk] * count + [rest] * (rest > 0)

    def arrays(self) -> tuple[Any, Any]:
        """The values and the cells, as lazy arrays."""
        made = []
        for one, dtype in ((values, np.float32), (cells, np.int32)):
            parts = [
                da.from_delayed(dask.delayed(one)(number, length, self.cells), (length,), dtype)
                for number, length in enumerate(self.lengths())
            ]
            made.append(da.concatenate(parts))
        return made[0], made[1]


def values(number: int, length: int, _: int) -> Any:
    """The values of a chunk: of many magnitudes, so that another order gives another sum."""
    random = np.random.default_rng([number, 0])
    made = random.standard_normal(length, dtype=np.float32)
    return np.exp2(made * 8, out=made)


def cells(number: int, length: int, size: int) -> Any:
    """The cells of a chunk."""
    return np.random.default_rng([number, 1]).integers(0, size, length, dtype=np.int32)


def digest(block: Any) -> str:
    """What tells whether two chunks have the same bits."""
    return hashlib.blake2b(np.ascontiguousarray(block)).hexdigest()


def expected(work: Work) -> list[str]:
    """The digests of the chunks of the result, made in this process chunk by chunk."""
    state = strew.Accumulator(work.cells, work.reduce, dtype="float32", exact=True)
    for number, length in enumerate(work.lengths()):
        state.update(values(number, length, work.cells), cells(number, length, work.cells))
    (made,) = state.result()
    parts = range(0, work.cells, work.output_chunk)
    return [digest(made[at : at + work.output_chunk]) for at in parts]


@contextlib.contextmanager
def cluster(work: Work, folder: str | None) -> Iterator[Any]:
    """Two workers, each a process of one thread, which keep no memory of freed results."""
    os.environ.setdefault("STREW_KEPT_MEMORY", "0")
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            memory_limit=work.memory_limit,
            dashboard_address=":0",
            local_directory=folder,
        ) as local,
        Client(local) as client,
    ):
        yield client


def peak() -> int:
    """The peak of this process's resident memory, in MB, on Linux."""
    # `getrusage` would tell that of the process that began this one, if it is larger.
    with open("/proc/self/status") as status:
        (line,) = [one for one in status if one.startswith("VmHWM")]
    return int(line.split()[1]) * 1024 // 10**6


def kill_one(client: Any) -> int:
    """Ends a worker as the kernel does when memory is short. Returns its process."""
    process = next(iter(client.run(os.getpid).values()))
    os.kill(process, signal.SIGKILL)
    return int(process)


def timed(client: Any, wanted: list[Any], kill_after: float | None, limit: float) -> dict[str, Any]:
    """Computes all. After `kill_after` seconds, if given, a worker is killed."""
    began = time.perf_counter()
    futures = client.compute(wanted)
    killed = threading.Event()
    timer = threading.Timer(kill_after or 0, lambda: (kill_one(client), killed.set()))
    if kill_after is not None:
        timer.start()
    found: dict[str, Any] = {}
    try:
        digests = [future.result(timeout=limit) for future in futures]
        found = {"digests": digests}
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}"[:300]}
        client.cancel(futures)
    timer.cancel()
    found["seconds"] = round(time.perf_counter() - began, 1)
    found["killed"] = killed.is_set()
    # A worker that is ending has no answer.
    peaks = client.run(peak, on_error="return").values()
    found["worker_peak_mb"] = sorted(one for one in peaks if isinstance(one, int))
    return found


def strew_run(
    work: Work, *, kill_after: float | None = None, limit: float = 1800, folder: str | None = None
) -> dict[str, Any]:
    """The reduction with `strew.dask`."""
    src, index = work.arrays()
    made = strew.dask.aggregate(
        src,
        index,
        work.reduce,
        size=work.cells,
        output_chunks=work.output_chunk,
        split_every=work.split_every,
    )
    wanted = [dask.delayed(digest)(block) for block in made.to_delayed().ravel()]
    with cluster(work, folder) as client:
        return {"library": "strew"} | timed(client, wanted, kill_after, limit)


def flox_run(work: Work, *, limit: float = 1800, folder: str | None = None) -> dict[str, Any]:
    """The same with flox's own sums, which depend on the chunks."""
    import flox
    import pandas as pd

    src, index = work.arrays()
    made, *_ = flox.groupby_reduce(
        src, index, func=work.reduce, expected_groups=pd.RangeIndex(work.cells), method="map-reduce"
    )
    blocks = made.rechunk(work.output_chunk).to_delayed().ravel()
    wanted = [dask.delayed(digest)(block) for block in blocks]
    with cluster(work, folder) as client:
        return {"library": "flox"} | timed(client, wanted, None, limit)


def number(text: str) -> int:
    """A number with K, M or G behind it."""
    return int(float(text.rstrip("KMG")) * UNITS.get(text[-1], 1))


def main(arguments: list[str]) -> None:
    """Runs all, and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=number, default=number("500M"))
    parser.add_argument("--cells", type=number, default=number("50M"))
    parser.add_argument("--chunk", type=number, default=number("16M"), help="updates in a chunk")
    parser.add_argument("--output-chunk", type=number, default=number("2M"))
    parser.add_argument("--memory-limit", default="3GB", help="of each worker")
    parser.add_argument("--limit", type=float, default=1800, help="seconds for each run")
    parser.add_argument("--folder", help="where workers put what memory does not hold")
    given = parser.parse_args(arguments)
    work = Work(given.updates, given.cells, given.chunk, given.output_chunk, given.memory_limit)
    began = time.perf_counter()
    want = expected(work)
    alone = round(time.perf_counter() - began, 1)
    print(json.dumps({"library": "one process", "seconds": alone, "peak_mb": peak()}), flush=True)
    options = {"limit": given.limit, "folder": given.folder}
    first = strew_run(work, **options)
    runs = [
        lambda: first,
        lambda: strew_run(work, kill_after=first["seconds"] / 2, **options),
        functools.partial(flox_run, work, **options),
    ]
    for run in runs:
        found = run()
        found["same_bits"] = found.pop("digests", None) == want
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
