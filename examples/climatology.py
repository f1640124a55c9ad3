"""Monthly means of a year of hourly fields: xarray alone, with flox, and with strew in flox.

Run it from the project's root, in a fresh virtual environment:

    pip install ".[dask,flox]" xarray zarr matplotlib
    python examples/climatology.py --megabytes 30

It writes the fields as a chunked Zarr store, reads them with Dask, and takes the mean of each month
in four ways, each in a process of its own. The values of all are compared. `climatology.png` shows
two months. docs/dask.md has the times of 2 GB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import strew
import xarray as xr
import zarr
from flox.xarray import xarray_reduce

HOURS = 365 * 24
# A month at most, so that no chunk is large.
HOURS_PER_CHUNK = 30 * 24

WAYS = {
    "xarray": "xarray's own group-by",
    "flox": "flox, its own engine",
    "strew": "flox, strew in the place of its engine",
    "exact": "flox, exact means of strew",
}


def write(path: Path, megabytes: int) -> None:
    """Writes the temperature in kelvin: seasons, days, latitudes and noise."""
    rows = max(int((megabytes * 1e6 / (HOURS * 4 * 2)) ** 0.5), 2)
    latitude = np.linspace(-90, 90, rows, dtype="float32")
    longitude = np.linspace(0, 360, 2 * rows, endpoint=False, dtype="float32")
    group = zarr.open_group(path, mode="w")
    shape = (HOURS, rows, 2 * rows)
    field = group.create_array(
        "temperature",
        shape=shape,
        dtype="float32",
        chunks=(HOURS_PER_CHUNK, max(rows // 2, 1), rows),
        dimension_names=("time", "latitude", "longitude"),
    )
    for name, axis in (("latitude", latitude), ("longitude", longitude)):
        group.create_array(name, data=axis, dimension_names=(name,))
    hours = group.create_array("time", data=np.arange(HOURS), dimension_names=("time",))
    hours.attrs.update(units="hours since 2025-01-01", calendar="proleptic_gregorian")
    random = np.random.default_rng(1)
    for start in range(0, HOURS, HOURS_PER_CHUNK):
        hour = np.arange(start, min(start + HOURS_PER_CHUNK, HOURS), dtype="float32")[:, None, None]
        season = np.cos(2 * np.pi * (hour / 24 - 200) / 365) * np.sin(np.radians(latitude))[:, None]
        day = np.cos(2 * np.pi * (hour / 24 + longitude / 360 - 0.6))
        noise = random.standard_normal((len(hour), *shape[1:]), dtype="float32")
        warmth = 30 * np.cos(np.radians(latitude))[:, None] ** 2
        field[start : start + len(hour)] = 250 + warmth + 15 * season + 5 * day + 3 * noise


def means(way: str, path: Path) -> xr.DataArray:
    """The mean of each month, computed in one of the ways."""
    field = xr.open_zarr(path, chunks={}, consolidated=False).temperature
    if way == "xarray":
        with xr.set_options(use_flox=False):
            return field.groupby("time.month").mean().compute()
    if way == "flox":
        return field.groupby("time.month").mean(engine="flox").compute()
    if way == "strew":
        with strew.numpy_groupies.install():
            return field.groupby("time.month").mean(engine="numpy").compute()
    exact = strew.flox.exact_mean("float32")
    return xarray_reduce(field, field.time.dt.month, func=exact, engine="numpy").compute()


def measure(way: str, path: Path, out: Path) -> None:
    """Computes in this process, and prints the time and the peak of its memory."""
    began = time.perf_counter()
    made = means(way, path).transpose("month", "latitude", "longitude")
    seconds = time.perf_counter() - began
    np.save(out, made.values)
    print(json.dumps({"seconds": seconds, "peak": peak()}))


def peak() -> float:
    """The peak of this process's resident memory, in MB; NaN where it is not known."""
    # `getrusage` would tell that of the process that began this one, if it is larger.
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    found = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    return found[0] * 1024 / 1e6 if found else float("nan")


def compare(path: Path, folder: Path) -> np.ndarray:
    """Runs all ways, and returns the exact means."""
    found = {}
    for way, what in WAYS.items():
        out = folder / f"{way}.npy"
        command = [sys.executable, __file__, "--way", way, "--store", str(path), "--out", str(out)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        told = json.loads(done.stdout.splitlines()[-1])
        found[way] = np.load(out)
        print(f"{what:42} {told['seconds']:7.2f} s {told['peak']:7.0f} MB at most")
    exact = found["exact"]
    for way, made in found.items():
        off = np.abs(made - exact).max()
        print(f"{WAYS[way]:42} at most {off:.1e} K from the exact mean")
        np.testing.assert_allclose(made, exact, rtol=1e-5)
    return exact


def check(path: Path, made: np.ndarray) -> None:
    """Compares two rows of the exact means with those of one call on an array in memory."""
    field = xr.open_zarr(path, consolidated=False).temperature
    month = field.time.dt.month.values - 1
    rows = field.values[:, :2]
    want = strew.aggregate(rows, month, "mean", exact=True)
    assert made[:, :2].tobytes() == np.ascontiguousarray(want).tobytes()


def draw(path: Path, made: np.ndarray, picture: str) -> None:
    """A map of two months."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    store = xr.open_zarr(path, consolidated=False)
    _, places = plt.subplots(1, 2, figsize=(11, 3.2), layout="constrained", sharey=True)
    low, high = made.min(), made.max()
    for place, month, name in zip(places, (0, 6), ("January", "July")):
        shown = place.pcolormesh(
            store.longitude, store.latitude, made[month], vmin=low, vmax=high, cmap="cividis"
        )
        place.set(title=f"Mean temperature in {name}", xlabel="longitude in degrees")
    places[0].set_ylabel("latitude in degrees")
    plt.colorbar(shown, ax=places, label="kelvin")
    plt.savefig(picture, dpi=120)
    print(f"the map is {picture}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=30, help="the size of the fields")
    parser.add_argument("--picture", default="climatology.png")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--store", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        measure(given.way, given.store, given.out)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fields.zarr"
        write(path, given.megabytes)
        made = compare(path, Path(folder))
        check(path, made)
        draw(path, made, given.picture)


if __name__ == "__main__":
    main()
