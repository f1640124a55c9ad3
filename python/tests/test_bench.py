"""The bench, where a mistake in it would mislead: its answers, its sums, its data files."""

import dataclasses
import itertools
import os
import re

import ml_dtypes
import numpy as np
import pytest
import strew

from bench import (
    data,
    group_statistics,
    plans,
    reference,
    report,
    run,
    scaling,
    scaling_calls,
    scaling_rows,
    summary,
    sweep,
    workloads,
)
from bench.contenders import plain, problem
from bench.contenders import strew as contender
from bench.contenders.table import CONTENDERS, PLAIN

ALL = workloads.read()
ENVIRONMENTS = workloads.FILE.parent / "environments"


def test_every_workload_names_contenders_that_exist():
    for w in ALL.values():
        unknown = {*w.peers, *w.reach_of} - set(CONTENDERS)
        assert not unknown, w.name
        assert set(w.reach_of) <= set(w.peers), w.name
        # There is no work that has no plain loop.
        assert PLAIN in w.peers, w.name


def test_every_contender_has_an_environment_and_a_module():
    for entry in CONTENDERS.values():
        assert (ENVIRONMENTS / f"{entry.environment}.txt").exists()
        module = ENVIRONMENTS.parent / "contenders" / f"{entry.environment}.py"
        assert {"def version(", "def spellings("} <= set(
            re.findall(r"^def \w+\(", module.read_text(), re.MULTILINE)
        )
    names = {path.name.split(".")[0] for path in ENVIRONMENTS.glob("*.txt")}
    assert names == {c.environment for c in CONTENDERS.values()}


def test_every_package_is_pinned():
    for path in ENVIRONMENTS.glob("*.txt"):
        for line in path.read_text().splitlines():
            assert line.startswith("#") or re.fullmatch(r"[\w.-]+==[\w.]+", line), (path, line)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ('form = "heap"', "form = 'heap' is none of"),
        ('form = "rows"', "form 'rows' needs 'updates'"),
        ('form = "flat"\nspeed = 1', "unexpected keyword argument 'speed'"),
    ],
)
def test_a_workload_that_is_wrong_is_named(tmp_path, entry, why):
    head = 'name = "X"\ntitle = ""\nreduce = "sum"\ndtype = "float32"\nseed = 1\n'
    head += "peers = []\nreads = []\nwrites = []\n"
    path = tmp_path / "workloads.toml"
    path.write_text(f"[[workload]]\n{head}{entry}\n")
    with pytest.raises(ValueError, match=f"X: .*{why}"):
        workloads.read(path)


def test_selection():
    chosen = workloads.select(ALL, ["W4", "W5*"])
    assert [w.name for w in chosen] == ["W4", "W5a", "W5b"]
    assert workloads.select(ALL, []) == list(ALL.values())
    with pytest.raises(ValueError, match="no workload is called 'W77'"):
        workloads.select(ALL, ["W77"])


def test_bytes_moved():
    assert ALL["W2a"].bytes_moved() == (2_000_000 * (8 + 256), 200_000 * 256)
    assert ALL["W5a"].bytes_moved() == (4096 * 4096 * 4 + 2048 * 2048 * 4, 4096 * 4096 * 4)


def small(name, **changes):
    """A workload with few elements."""
    w = ALL[name]
    sizes = {
        "flat": {"updates": 60, "cells": 9},
        "rows": {"updates": 40, "cells": 7, "width": min(w.width, 3)},
        "elements": {"shape": (4, 3, 5)},
        "edges": {"updates": 40, "cells": 7, "width": 3},
        "gather": {"updates": 40, "cells": 7},
        "nd": {"updates": 9, "shape": (4, 5), "width": 2},
        "slice": {
            "shape": (9, 8),
            "start": tuple(8 * n // size for n, size in zip(w.start, w.shape, strict=False)),
            "stop": tuple(8 * n // size for n, size in zip(w.stop, w.shape, strict=False)),
        },
    }
    return dataclasses.replace(w, **(sizes[w.form] | changes))


def brute(w, arrays):
    """The workload as a loop over its updates, in exact numbers."""
    if w.reduce == "count":
        return np.array([sum(arrays["index"] == cell) for cell in range(w.cells)])
    src = arrays["src"].astype(np.float64)
    if w.form == "gather":
        return np.stack([src[at] for at in arrays["index"]])
    if w.has_grad:
        return brute_back(w, arrays, src)
    start = arrays.get("input")
    out = np.zeros(w.out_shape) if start is None else start.astype(np.float64)
    if w.form == "slice":
        ranges = map(range, w.start, w.stop, w.step)
        for at, cell in zip(np.ndindex(src.shape), itertools.product(*ranges), strict=True):
            out[cell] = src[at]
        return out
    if start is None and w.reduce == "prod":
        out[...] = 1
    first, counts = set(), np.zeros(w.out_shape)
    for at in np.ndindex(src.shape):
        if w.form == "elements":
            cell = (*at[: w.dim], arrays["index"][at], *at[w.dim + 1 :])
        elif w.form == "nd":
            cell = (*arrays["index"][:, at[0]], *at[1:])
        else:
            cell = (arrays["index"][at[0]], *at[1:])
            if w.mode == "drop" and cell[0] >= w.cells:
                continue
        counts[cell] += 1
        fresh = w.reduce == "assign" or (w.include_self is False and cell not in first)
        first.add(cell)
        if fresh:
            out[cell] = src[at]
        elif w.reduce == "prod":
            out[cell] *= src[at]
        elif w.reduce == "amax":
            out[cell] = max(out[cell], src[at])
        else:
            out[cell] += src[at]
    return out / np.maximum(counts, 1) if w.reduce == "mean" else out


def brute_back(w, arrays, src):
    """Likewise what goes back, or there and back."""
    index, grad = arrays["index"], arrays["grad"].astype(np.float64)
    if w.form == "edges":
        out = np.zeros((2, *src.shape))
        for source, target in zip(arrays["source"], index, strict=True):
            out[0, target] += src[source]
            out[1, source] += grad[target]
        return out
    out = np.zeros(src.shape)
    for at, column in np.ndindex(src.shape):
        cell = index[at]
        others = [k for k in np.flatnonzero(index == cell) if k != at]
        rest = src[others, column]
        if w.reduce == "sum":
            factor = 1
        elif w.reduce == "mean":
            factor = 1 / (len(others) + 1)
        elif w.reduce == "prod":
            factor = rest.prod()
        else:
            factor = float(src[at, column] > rest.max(initial=0))
        out[at, column] = grad[cell, column] * factor
    if w.timed == "both":
        forth = np.zeros(w.out_shape)
        np.add.at(forth, index, src)
        return np.concatenate([forth, out])
    return out


@pytest.mark.parametrize("name", list(ALL))
def test_right_answers_are_those_of_the_loop(tmp_path, name):
    w = small(name)
    files = data.prepare(w, tmp_path)
    arrays = {k: data.numbers(data.load(path), w.dtype) for k, path in files.items()}
    right = brute(w, arrays)
    np.testing.assert_allclose(arrays["expected"].astype(np.float64), right, rtol=1e-15)
    assert reference.wrong(w, right, arrays["expected"]) is None
    # A lost update shows. (A factor of 1 would not.)
    if w.form not in ("slice", "nd", "gather") and w.reduce in ("sum", "mean"):
        lost = np.argmax(np.abs(right) > 0)
        off = right.reshape(-1).copy()
        off[lost] += 1 if w.values == "exact" else 1000 * reference.ulp(off[lost], w.dtype)
        assert reference.wrong(w, off.reshape(right.shape), arrays["expected"]) is not None


@pytest.mark.parametrize("name", list(ALL))
def test_strew_says_every_workload_and_with_both_indices(tmp_path, name):
    w = small(name)
    if w.has_grad or w.jit:
        pytest.importorskip("jax" if w.jit else "torch")
    files = data.prepare(w, tmp_path)
    arrays = {k: data.load(path) for k, path in files.items()}
    expected = arrays.pop("expected")
    said = contender.spellings(problem.Problem(w, arrays))
    for spelling in said:
        if spelling.reset is not None:
            spelling.reset()
        out = spelling.run()
        if spelling.counts:
            assert reference.wrong(w, spelling.answer(out), expected) is None, spelling.name
        else:
            assert out is None and w.above_no_op is not None
    indices = {workloads.INDEX} if w.form == "slice" else {workloads.INDEX, "int32"}
    assert {s.index for s in said if s.counts} == indices
    assert any(not s.counts for s in said) is (w.above_no_op is not None)


@pytest.mark.skipif(plain.VARIABLE not in os.environ, reason="cargo xtask test compiles the loops")
@pytest.mark.parametrize("name", list(ALL))
def test_plain_loops_say_every_workload(tmp_path, name):
    # Of their own width: there are loops for rows of some widths.
    w = small(name, **({"width": ALL[name].width} if ALL[name].form in ("rows", "gather") else {}))
    files = data.prepare(w, tmp_path)
    arrays = {k: data.load(path) for k, path in files.items()}
    expected = arrays.pop("expected")
    said = plain.spellings(problem.Problem(w, arrays))
    known = w.form in ("rows", "gather") and not w.has_grad and w.width in (2, 4, 8, 16)
    assert len(said) == 1 + (known or (w.form == "flat" and w.include_self is False))
    for spelling in said:
        # Neither a call nor what it leaves behind changes the next one.
        for _ in range(2):
            if spelling.reset is not None:
                spelling.reset()
            answer = spelling.answer(spelling.run())
            assert reference.wrong(w, answer, expected) is None, spelling.name


def test_another_index_has_the_same_values():
    index = np.array([[3, 1], [0, 2]])
    narrow = problem.Problem(ALL["W2a"], {"index": index}).with_index("int32").index
    assert narrow.dtype == np.int32 and narrow.tolist() == index.tolist()


def test_workloads_that_share_an_array_share_its_file(tmp_path):
    one, two = (data.prepare(small(name), tmp_path) for name in ("W2a", "W2a-self"))
    assert one["src"] == two["src"] and one["index"] == two["index"]
    assert one["expected"] != two["expected"]


def test_answers_are_off_by_ulps():
    f16 = dataclasses.replace(small("W7-f16"), ulps=1)
    exact = np.array([1000.2, 1.0])
    assert reference.wrong(f16, np.array([1000.5, 1.0]), exact) is None
    assert reference.wrong(f16, np.array([1001.0, 1.0]), exact) == "1 of 2 elements, by up to 1"
    assert reference.wrong(f16, np.array([np.nan, 1.0]), exact) is not None
    assert reference.wrong(f16, exact[:1], exact) == "shape (1,) instead of (2,)"
    assert reference.ulp(np.array([1.0, 0.99]), "float32").tolist() == [2**-23, 2**-24]
    np.testing.assert_array_equal(reference.ulp(np.array([1.0, 3.0]), "bfloat16"), [2**-7, 2**-6])


def test_bfloat16_is_rounded_to_nearest_even():
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    stored = data.bytes_of_bfloat16(values)
    np.testing.assert_array_equal(
        stored.view(ml_dtypes.bfloat16), values.astype(ml_dtypes.bfloat16)
    )
    np.testing.assert_array_equal(
        data.numbers(stored, "bfloat16"), values.astype(ml_dtypes.bfloat16).astype(np.float32)
    )


def test_rough_values_show_the_order_of_additions():
    src = data.rough(np.ones(1000, np.float32), "float32")
    assert np.add.accumulate(src)[-1] != np.add.accumulate(src[::-1])[-1]
    assert data.bits(src) != data.bits(src[::-1]) and data.bits(src) == data.bits(src.copy())


def entry(contender, *seconds, **more):
    return summary.Entry(contender, more.pop("spelling", "f"), seconds=list(seconds), **more)


def test_the_best_peer_is_the_right_one_with_the_smallest_ratio():
    entries = [
        entry("strew", 2.0, 1.0, 9.0),
        entry("jax", 1.0, 1.0, 1.0, wrong="1 of 2 elements"),
        entry("numpy", 5.0, 6.0, 7.0, spelling="slow"),
        entry("numpy", 3.0, 4.0, 5.0, spelling="fast"),
        entry("torch", 8.0, 8.0, 8.0),
        entry("torch-hugepages", 1.0, 1.0, 1.0),
        entry("openvino", failed="the process died"),
    ]
    row = summary.row(ALL["W1a"], 1, entries)
    assert row.best is entries[3]
    # Medians: 4 to 2.
    assert row.ratio(row.best) == 2.0
    assert row.reached is True
    assert row.ratio(row.peers["torch-hugepages"]) == 0.5
    assert row.wrong == {"jax": "f: 1 of 2 elements"}
    assert row.failed == {"openvino": "f: the process died"}


def test_plain_is_no_peer():
    entries = [entry("strew", 2.0), entry("plain", 1.0), entry("numpy", 3.0)]
    row = summary.row(ALL["W1a"], 1, entries)
    assert row.plain is entries[1] and row.ratio(row.plain) == 0.5
    assert row.best is entries[2] and set(row.peers) == {"numpy"}
    # Nor is strew to be as fast as it in order to reach what it has to.
    assert row.reached is True
    row = summary.row(ALL["W1a"], 1, [entry("strew", 2.0), entry("plain", 1.0, wrong="x")])
    assert row.plain is None and row.best is None and row.wrong == {"plain": "f: x"}


def test_nothing_is_to_be_reached_where_plain_loops_have_been_faster():
    for w in ALL.values():
        row = summary.row(w, 1, [entry("strew", 2.0), entry("numpy", 1.0)])
        assert (row.reach is None) is (w.name.startswith("P") or w.name.startswith("W9")), w.name


def test_ratios_are_between_indices_of_one_dtype():
    entries = [
        entry("strew", 2.0),
        entry("strew", 1.0, index="int32"),
        entry("numpy", 3.0),
        entry("jax", 2.5, spelling="wide"),
        entry("jax", 2.0, spelling="narrow", index="int32"),
    ]
    row = summary.row(ALL["W1a"], 1, entries)
    assert row.strew is entries[0]
    assert row.ratio(entries[2]) == 1.5 and row.ratio(entries[4]) == 2.0
    # It takes less time than numpy, and is behind by more; its other spelling is behind by less.
    assert row.peers["jax"] is entries[3] and row.best is entries[3]
    row = summary.row(ALL["W1a"], 1, entries[:3] + entries[4:])
    assert row.peers["jax"] is entries[4] and row.best is entries[2]
    # strew has no int32: then there is nothing to compare with.
    row = summary.row(ALL["W1a"], 1, [entries[0], entries[4]])
    assert row.ratio(row.best) is None and row.reached is None


def test_another_index_is_measured_for_peers_that_read_it():
    wide, narrow = entry("strew"), entry("strew", index="int32")
    jax, twin = entry("jax", index="int32"), entry("strew", index="int32", twin="W7-f32")
    no_op = entry("strew", index="int32", counts=False)
    entries = [wide, narrow, jax, twin, no_op]
    assert [run._needed(e, entries) for e in entries] == [True, True, True, False, False]
    entries.remove(jax)
    assert [run._needed(e, entries) for e in entries] == [True, False, False, False]


def test_a_wrong_spelling_is_told_even_if_another_is_right():
    entries = [entry("strew", 1.0), entry("jax", 3.0), entry("jax", 1.0, spelling="g", wrong="x")]
    row = summary.row(ALL["W1a"], 1, entries)
    assert row.best is entries[1] and row.wrong == {"jax": "g: x"}


def test_a_wrong_strew_is_no_result():
    row = summary.row(ALL["W1a"], 1, [entry("strew", 1.0, wrong="x"), entry("numpy", 2.0)])
    assert row.strew is None and row.ratio(row.best) is None and row.reached is None


def test_strew_must_be_right_and_have_the_same_bits():
    right = [entry("strew", 1.0, bits="abc"), entry("jax", 1.0, wrong="half of it")]
    one, two = (run.Run("W1a", threads, right) for threads in (1, 2))
    assert run.problems([one, two]) == []
    other = run.Run("W1a", 2, [entry("strew", 1.0, bits="abd", index="int32")])
    assert run.problems([one, other]) == [
        "W1a: f has other bits with 2 threads, int32 index than with 1 threads, int64 index"
    ]
    wrong = run.Run("W1b", 1, [entry("strew", 1.0, wrong="half of it")])
    assert run.problems([one, wrong]) == ["W1b, 1 threads, int64 index: f: half of it"]


def test_what_is_to_be_reached_depends_on_threads():
    entries = [entry("strew", 1.0), entry("numpy", 1.05)]
    assert summary.row(ALL["W1a"], 1, entries).reached is False
    assert summary.row(ALL["W1a"], 2, entries).reached is True


def said(row):
    return [(claim.text, claim.holds) for claim in row.claims()]


def test_twins_and_calls_that_do_nothing():
    entries = [
        entry("strew", 1.2, spelling="itself"),
        entry("strew", 1.0, spelling="other", twin="W1a-self"),
    ]
    row = summary.row(ALL["W1a-noself"], 1, entries)
    assert row.strew is entries[0] and row.twin is entries[1]
    assert said(row) == [("1.20 times the time of W1a-self, at most 1.1", False)]
    entries = [entry("strew", 2e-6), entry("strew", 1e-6, counts=False, spelling="no-op")]
    row = summary.row(ALL["W9"], 1, entries)
    assert row.strew is entries[0]
    assert said(row) == [("1.00 us above a call that does nothing, at most 1.5", True)]


def test_the_bound_is_what_takes_longest_at_the_highest_rates():
    rates = {"read": 2e6, "write": 1.2e6, "copy": 2e6, "update": 3e6}
    # 192 MB are read, 4 kB written.
    assert summary.bound(ALL["W1a"], rates) == 96.0
    w = dataclasses.replace(ALL["W5b"], shape=(1000, 1000), start=(0, 0), stop=(500, 500))
    # 5 MB are read, 4 MB written.
    assert summary.bound(w, rates) == 3.0
    assert summary.bound(ALL["W9"], rates) is None
    assert summary.bound(w, None) is None


def told(entries, name="W1a"):
    """The report on one row, and what it missed."""
    rows = [summary.row(ALL[name], 1, entries)]
    machine = {"processor": "Some CPU", "processors": 2, "instructions": "x", "memory": 1}
    machine |= {"python": "3"}
    bandwidth = {"1": dict.fromkeys(["read", "write", "copy", "update"], 1e12)}
    results = {"date": "d", "machine": machine, "versions": {"numpy": "2"}, "repeat": 7}
    text = report.markdown(rows, results | {"bandwidth": bandwidth}, "chart.svg")
    return text, report.missed(rows)


def test_the_report_says_what_is_wrong_and_what_is_reached():
    entries = [
        entry("strew", 1e-3),
        entry("numpy", 2e-3),
        entry("plain", 3e-3),
        entry("jax", 1e-4, wrong="half of it"),
        entry("tensorflow", failed="the process died"),
    ]
    text, missed = told(entries)
    line = next(line for line in text.splitlines() if line.startswith("| W1a"))
    assert "| 1.00 ms (1.00-1.00) | numpy 2.00 ms (2.00-2.00) | **2.00** | 3.00 |" in line
    assert "| W1a | 2.00 | wrong | failed |" in text
    assert "time / strew's: **2.00**, over 1 of 1 rows, on Some CPU." in text
    assert "- W1a, 1 thread: jax, f: half of it" in text
    assert "- W1a, 1 thread: tensorflow gave no answer: f: the process died" in text
    assert f"- W1a: {ALL['W1a'].waits}" in text
    assert missed == []


def test_the_report_marks_ratios_of_another_index():
    entries = [entry("strew", 2e-3), entry("strew", 1e-3, index="int32")]
    entries += [entry("numpy", 9e-3), entry("jax", 0.9e-3, index="int32")]
    text, missed = told(entries)
    assert "|  | workload | strew | strew, int32 | best correct peer |" in text
    times = "2.00 ms (2.00-2.00) | 1.00 ms (1.00-1.00) | jax (int32) 0.90 ms (0.90-0.90)"
    assert f"{times} | **0.90** (int32), to reach 1.1 |" in text
    assert "| W1a | 4.50 | 0.90 (int32) |" in text
    assert missed == ["W1a, 1 thread: jax (int32) / strew = 0.90, to reach 1.1"]


def test_the_report_says_what_a_call_costs():
    entries = [entry("strew", 3e-6), entry("strew", 1e-6, counts=False, spelling="no-op")]
    text, missed = told(entries, "W9")
    assert "| 3.00 us (3.00-3.00) |" in text
    assert "| W9 | us above a call that does nothing | at most 1.5 | **2.00** |" in text
    assert missed == ["W9, 1 thread: 2.00 us above a call that does nothing, at most 1.5"]


def test_ratios_and_targets_of_all_threads_stand_together():
    one = [entry("strew", 1e-3), entry("torch", 2e-3), entry("jax", 3e-3, wrong="x")]
    two = [entry("strew", 1e-3), entry("torch", 4e-3), entry("jax", 3e-3, wrong="x")]
    rows = [summary.row(ALL["W5a"], 1, one), summary.row(ALL["W5a"], 2, two)]
    machine = dict.fromkeys(["processor", "processors", "instructions", "memory", "python"], "x")
    results = {"date": "d", "machine": machine, "versions": {}, "repeat": 7, "bandwidth": {}}
    text = report.markdown(rows, results, None)
    assert "Peer's time / strew's with 1 thread and 2 threads" in text
    assert "| W5a | 2.00, 4.00 | wrong |" in text
    assert "- W5a, 1 thread and 2 threads: jax, f: x" in text
    # The title of a workload stands in the first table.
    assert text.count(ALL["W5a"].title) == 1
    assert report._together(["2.00 (int32)", "3.00 (int32)"]) == "2.00, 3.00 (int32)"
    assert report._together(["2.00", ""]) == "2.00, -" and report._together(["", ""]) == ""


def test_the_largest_step():
    line = sweep.Line("cells, x", "cells", True, {"1": {}, "2": {}, "3": {}})
    assert sweep.largest_step(line, {"1": 1.0, "2": 3.0, "3": 1.5}) == (3.0, "1", "2")
    dtypes = sweep.Line("dtype", "dtype", False, {"int8": {}, "uint8": {}, "float64": {}})
    # Of different sizes: not compared.
    assert sweep.largest_step(dtypes, {"int8": 1.0, "uint8": 2.0, "float64": 9.0})[0] == 2.0
    assert set(sweep.DTYPES) == set(sweep.LINES["dtype, values"].points)
    assert len(sweep.DTYPES) == 15


def test_statistics_are_summed_up_by_function():
    quick, whole = group_statistics.points(True), group_statistics.points(False)
    assert set(quick) < set(whole)
    first, *others = quick
    seconds = {point: {"strew": 0.001, "pandas": 0.004, "polars": 0.002} for point in quick}
    seconds[first] = {"strew": 0.001, "strew.numpy_groupies": 0.0001, "pandas": 0.0005}
    seconds[others[-1]] = {"strew": 0.001}
    seconds[others[0]] |= {"plain": 0.0015}
    text = group_statistics.markdown({1: seconds}, {"pandas": "3.0"})

    def described(point):
        return str(point).removeprefix(f"{point.function}, ")

    assert f"| 0.50 | {described(first)} |" in text
    of_first = next(
        line for line in text.splitlines() if line.startswith(f"| {described(first)} |")
    )
    assert of_first.startswith(f"| {described(first)} | 1 (0.50) |")
    of_last = [
        line for line in text.splitlines() if line.startswith(f"| {described(others[-1])} |")
    ]
    assert " 1 |" in of_last[-1]
    assert "pandas 3.0" in text
    of_function = next(line for line in text.splitlines() if f"| {others[0].function} |" in line)
    assert of_function.endswith("| 1.50 | 1.50 |")


@pytest.mark.skipif(plain.VARIABLE not in os.environ, reason="cargo xtask test compiles the loops")
@pytest.mark.parametrize("function", group_statistics.FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_plain_loops_of_statistics_are_right(function, dtype):
    rng = np.random.default_rng(0)
    src, index = rng.integers(0, 4, 500).astype(dtype), rng.integers(0, 20, 500)
    loop = plain.statistic(function, src, index, 20)
    if function in ("median", "quantile"):
        assert loop is None
        return
    expected = strew.aggregate(src, index, function, size=20)
    np.testing.assert_allclose(loop(), expected, rtol=1e-6)


def test_plans_that_are_slower_are_listed():
    ratios = dict.fromkeys(plans.POINTS, 0.9)
    ratios[plans.POINTS[0]] = 1.5
    text = plans.markdown({1: ratios, 2: dict.fromkeys(plans.POINTS, 1.0)}, 1 << 24)
    assert "300 pairs, half of them below 0.90; 1 above 1.03" in text
    assert f"- {plans.POINTS[0]}: 1.50" in text
    assert "300 pairs, half of them below 1.00; 0 above 1.03" in text
    assert text.count("| rows of 8 | zipf |") == 2


@pytest.mark.parametrize("skew", scaling_rows.SKEWS)
def test_a_skewed_index_is_what_its_name_says(skew):
    updates, cells = 3 * scaling_rows.BLOCK // 2, 1000
    index = scaling_rows.skewed(skew, updates, cells)
    assert len(index) == updates and index.min() >= 0 and index.max() < cells
    steps, most = np.diff(index), np.bincount(index).max() / updates
    blocks = np.diff(index[: scaling_rows.BLOCK]), np.diff(index[scaling_rows.BLOCK :])
    expected = {
        # The first term of the zeta function's sum, as a part of it.
        "zipf 1.1": 0.18 < most < 0.19,
        "zipf 1.3": 0.28 < most < 0.31,
        "zipf 2.0": 0.59 < most < 0.63,
        "half in one cell": 0.49 < most < 0.51,
        "sorted": (steps >= 0).all(),
        "sorted by blocks": all((block >= 0).all() for block in blocks) and steps.min() < 0,
        "reversed": (steps <= 0).all(),
        "constant": most == 1,
    }
    assert expected[skew]


def measured(*milliseconds):
    """A row that took so long with each number of threads, and is shared out."""
    found = [scaling.Cost(ms / 1e3, ms / 1e3, 0.5) for ms in milliseconds]
    parts = [scaling_calls.Part(2_000_000, "in-order; shared") for _ in scaling.THREADS]
    return scaling.Measured(found, parts)


def test_rows_of_scaling_need_numpy_alone():
    workloads_of_rows = [row.workload for row in scaling_rows.rows()]
    assert {w.name for w in workloads_of_rows} > {"W1a", "W2b", "W3c", "W4", "W5a", "P8"}
    assert not any(w.jit or w.has_grad or w.calls > 1 for w in workloads_of_rows)


def test_processor_time_that_grows_is_bold():
    first, second, *_ = scaling_rows.rows()
    assert len({row.name for row in scaling_rows.rows()}) == len(list(scaling_rows.rows()))
    grows, level = measured(10, 10, 14, 14.9), measured(10, 12, 12, 14)
    assert scaling.over(grows.costs) == [16]
    text = scaling.markdown([(first, grows), (second, level)], 3)
    assert "2 rows; 1 grow by more" in text
    assert f"| {first.name} | 10.0 | 1.00 | **1.40** | 1.49 | 50% |" in text
    assert f"| {second.name} | 10.0 | 1.20 | 1.20 | 1.40 | 50% | 12.0 | 2 | A |" in text
    assert "  - A: in-order; shared\n" in text


def test_how_a_run_is_shared_out_has_a_letter_and_its_threads():
    assert scaling._kind("grouped; 40 threads each") == ("grouped; threads each", "40")
    assert scaling._kind("in-order; no, one thread") == ("in-order; no, one thread", "")


def test_what_is_counted_is_what_the_tool_says():
    moves = {"src": {"read": 5, "written": 0, "touched first": 2}, "out": {"read": 1}}
    plan = {"strategy": "grouped", "shared out": "by destination"}
    found = scaling_calls.part({"bytes": moves, "plan": plan})
    assert found == scaling_calls.Part(8, "grouped; by destination")


def test_scaling_measures_every_number_of_threads():
    row = next(row for row in scaling_rows.rows() if row.name == "W1a")
    arrays = {"src": np.ones(1000, np.float32), "index": np.arange(1000) % 7}
    small = dataclasses.replace(row.workload, updates=1000, cells=7)
    [spelling, *_] = contender.spellings(problem.Problem(small, arrays, 0))
    found = scaling.costs(spelling, 2)
    assert len(found) == len(scaling.THREADS)
    assert all(cost.processor > 0 and 0 <= cost.busiest <= 1 for cost in found)
