"""strew.cubed: the bits of `strew.aggregate` with ``exact=True``, for all chunks. Needs cubed."""

import pathlib
import re

import cubed
import numpy as np
import pytest
import strew
import strew.cubed as sc

NAMES = ["sum", "mean", "sumsq", "var", "std", "sem", "min", "max", "first", "last"]
NAMES += ["argmin", "argmax", "len", "count", "any", "all", "anynan", "allnan"]
WHOLE = ["sum", "prod", "min", "max", "mean", "first", "argmax"]
COMPLEX = ["sum", "mean", "first", "last", "count"]


def same(got, want):
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert got.tobytes() == np.ascontiguousarray(want).tobytes()


def values(dtype, shape, random):
    if np.dtype(dtype).kind in "iu":
        return random.integers(0, 250, shape).astype(dtype)
    made = random.standard_normal(shape) * np.exp2(random.integers(-12, 12, shape))
    return (made * (1 + 1j)).astype(dtype) if np.dtype(dtype).kind == "c" else made.astype(dtype)


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=str(tmp_path), allowed_mem="500MB", reserved_mem="100MB")


@pytest.mark.parametrize(
    ("dtype", "names"),
    [
        ("float32", NAMES),
        ("float64", NAMES),
        ("float16", NAMES),
        ("int16", WHOLE),
        ("uint8", WHOLE),
        ("complex64", COMPLEX),
    ],
)
@pytest.mark.parametrize(
    ("dim", "chunks", "output_chunks", "every"),
    [
        (0, (130, 2, 3), None, 2),
        (0, (77, 3, 3), (7,) * 7 + (1,), 8),
        (1, (2, 300, 2), 20, 1000),
        (2, (2, 3, 999), 20, 8),
    ],
)
def test_all_chunks_give_the_same_bits(dtype, names, dim, chunks, output_chunks, every, spec):
    random = np.random.default_rng(dim)
    shape = [3, 3, 3]
    shape[dim] = 1000
    src, index = values(dtype, shape, random), random.integers(0, 45, 1000)
    chunked = cubed.from_array(src, chunks=chunks, spec=spec)
    numbers = cubed.from_array(index, chunks=(333,), spec=spec)
    options = {"size": 50, "dim": dim}
    want = strew.aggregate(src, index, names, exact=True, **options)
    made = sc.aggregate(
        chunked, numbers, names, output_chunks=output_chunks, split_every=every, **options
    )
    for lazy, got, wanted in zip(made, cubed.compute(*made), want, strict=True):
        assert (lazy.dtype, lazy.shape) == (wanted.dtype, wanted.shape)
        same(got, wanted)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
def test_values_of_all_magnitudes_fit_in_a_state(dtype, spec):
    with np.errstate(over="ignore"):
        every = np.ldexp(1.0, np.arange(-1074, 1024)).astype(dtype)
    every = every[np.isfinite(every)]
    src = np.concatenate([every, -every[:-1], np.full(40, every[-1])])
    if np.dtype(dtype).kind == "c":
        src = src * (1 - 1j)
    names = ["sum", "mean"] if np.dtype(dtype).kind == "c" else ["sum", "mean", "sumsq", "var"]
    index = np.arange(len(src)) % 3
    chunked = cubed.from_array(src, chunks=(-(-len(src) // 5),), spec=spec)
    made = sc.aggregate(chunked, index, names, size=4, split_every=2)
    want = strew.aggregate(src, index, names, size=4, exact=True)
    for got, wanted in zip(cubed.compute(*made), want, strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("reduce", ["sum", "add", "mean", "amin", "max", "assign", "std", "len"])
def test_scatter(reduce, spec):
    random = np.random.default_rng(5)
    src, index = values("float32", (300, 4), random), random.integers(0, 45, 300)
    chunked = cubed.from_array(src, chunks=(70, 4), spec=spec)
    made = sc.scatter(chunked, index, size=50, reduce=reduce, output_chunks=9)
    sums = reduce in ("sum", "add", "mean")
    same(made.compute(), strew.scatter(src, index, 0, size=50, reduce=reduce, exact=sums))


def test_processes(tmp_path):
    spec = cubed.Spec(work_dir=str(tmp_path), allowed_mem="500MB", executor_name="processes")
    random = np.random.default_rng(8)
    src, index = random.standard_normal(20_000), random.integers(0, 3000, 20_000)
    chunked = cubed.from_array(src, chunks=(1500,), spec=spec)
    made = sc.aggregate(
        chunked, index, ["sum", "std", "argmax"], size=3000, output_chunks=800, split_every=3
    )
    want = strew.aggregate(src, index, ["sum", "std", "argmax"], size=3000, exact=True)
    for got, wanted in zip(cubed.compute(*made), want, strict=True):
        same(got, wanted)


def test_results_go_on_in_cubed(spec):
    src, index = np.arange(12.0).reshape(6, 2), np.array([0, 2, 1, 1, 0, 2])
    chunked = cubed.from_array(src, chunks=(2, 1), spec=spec) * 2
    for every in (2, 9):
        made = sc.aggregate(chunked, index, size=3, split_every=every, output_chunks=2) + 1
        same(made.compute(), strew.scatter(src * 2, index, 0, size=3) + 1)
        low, high = sc.aggregate(chunked, index, ["min", "max"], size=3, split_every=every)
        assert (high - low).compute().tolist() == [[16, 16], [4, 4], [16, 16]]


@pytest.mark.parametrize("mode", ["wrap", "drop", "clip"])
def test_numbers_out_of_range(mode, spec):
    random = np.random.default_rng(6)
    index = random.integers(-50 if mode == "wrap" else -90, 50 if mode == "wrap" else 90, 300)
    src = random.standard_normal(300)
    options = {"size": 50, "mode": mode, "ignore_index": 3, "fill_value": 7, "min_count": 2}
    chunked = cubed.from_array(src, chunks=(70,), spec=spec)
    made = sc.aggregate(chunked, index, "max", output_chunks=9, **options)
    same(made.compute(), strew.aggregate(src, index, "max", **options))


@pytest.mark.parametrize(("count", "size"), [(0, 4), (3, 1)])
def test_little(count, size, spec):
    src, index = np.ones((count, 2)), np.zeros(count, int)
    made = sc.scatter(cubed.from_array(src, chunks=(2, 2), spec=spec), index, size=size)
    same(made.compute(), strew.scatter(src, index, 0, size=size))


def test_chunks_of_the_result(spec):
    src, index = cubed.zeros((100, 4), chunks=(30, 3), spec=spec), np.zeros(100, int)
    assert sc.scatter(src, index, size=10, output_chunks=4).chunks == ((4, 4, 2), (3, 1))
    assert sc.scatter(src, index, size=10, output_chunks=[6, 0, 4]).chunks == ((6, 4), (3, 1))
    assert sc.scatter(src, index, size=10).chunks == ((10,), (3, 1))
    large = sc.scatter(src, index, size=10**7)
    assert len(large.chunks[0]) > 1
    one = sc.scatter(src, index, size=10**7, output_chunks=-1)
    with pytest.raises(ValueError, match="Projected"):
        one.compute()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"reduce": "median"}, ValueError, "it needs all values of a group together"),
        ({"exact": False}, ValueError, "pass exact=True"),
        ({"index": np.zeros(9)}, TypeError, "index has dtype float64"),
        ({"index": np.zeros(8, int)}, ValueError, r"must be \(9,\), as long as axis 0 of src"),
        ({"dim": 1}, ValueError, "dim = 1: src has 1 dimensions"),
        ({"output_chunks": (1, 2)}, ValueError, r"output_chunks = \(1, 2\): the sum is 3"),
        ({"output_chunks": (1, 4)}, ValueError, r"output_chunks = \(1, 4\): Cubed's chunks have"),
    ],
)
@pytest.mark.parametrize("call", [sc.aggregate, sc.scatter])
def test_errors_before_anything_runs(call, arguments, error, message, spec):
    given = {"index": np.zeros(9, int), "size": 5, **arguments}
    with pytest.raises(error, match=f"^{call.__name__}: .*{message}"):
        call(cubed.zeros(9, chunks=4, spec=spec), **given)


def test_runs_of_one(spec):
    with pytest.raises(ValueError, match="^aggregate: split_every = 1: it must be at least 2"):
        sc.aggregate(cubed.zeros(9, spec=spec), np.zeros(9, int), size=5, split_every=1)


def test_a_number_out_of_range_is_named_by_its_position(spec):
    index = np.array([0, 1, 4, 9, 0])
    made = sc.scatter(cubed.ones(5, chunks=2, spec=spec), index, size=5)
    with pytest.raises(IndexError, match=r"^scatter: index\[3\] = 9: index 9 is out of bounds"):
        made.compute()


def test_lists_and_numpy_arrays():
    assert sc.aggregate([1, 2, 3], [0, 1, 0], size=3).compute().tolist() == [4, 2, 0]
    assert sc.scatter(np.ones(3), [0, 1, 0], size=3).compute().tolist() == [2, 1, 0]


def test_the_document():
    text = (pathlib.Path(__file__).resolve().parents[3] / "docs/cubed.md").read_text()
    (example,) = re.findall("```python\n(.*?)```", text, re.DOTALL)
    *setup, first, second, third = example.rstrip().splitlines()
    names = {"nan": np.nan}
    exec("\n".join([*setup, second]), names)
    for line in (first, third):
        call, told = line.split("  # ")
        np.testing.assert_array_equal(np.asarray(eval(call, names)), np.asarray(eval(told, names)))


@pytest.mark.parametrize(("dtype", "bytes_"), [("float16", 41), ("float32", 105), ("float64", 553)])
def test_the_sizes_in_the_document(dtype, bytes_, spec):
    text = (pathlib.Path(__file__).resolve().parents[3] / "docs/cubed.md").read_text()
    assert re.search(rf"{bytes_}( bytes for each group)? if (the values are )?`{dtype}`", text)
    src = cubed.zeros(20, dtype=dtype, chunks=2, spec=spec)
    states = [
        sc.aggregate(src, np.zeros(20, int), size=size, output_chunks=-1, split_every=5)
        for size in (1, 1001)
    ]
    rooms = [
        max(node["target"].nbytes for _, node in one._plan.dag.nodes(data=True) if "target" in node)
        for one in states
    ]
    # Two runs of values, each with its state.
    assert rooms[1] - rooms[0] == 2 * 1000 * bytes_
