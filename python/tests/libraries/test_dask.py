"""strew.dask: the bits of `strew.aggregate` with ``exact=True``, for all chunks. Needs dask."""

import os
import pathlib
import re
import signal
import time

import dask
import dask.array as da
import numpy as np
import pytest
import strew
import strew.dask as sd
from distributed import Client, LocalCluster
from strew._scale import chunked as _chunked

NAMES = ["sum", "mean", "sumsq", "var", "std", "sem", "min", "max", "first", "last"]
NAMES += ["argmin", "argmax", "len", "count", "any", "all", "anynan", "allnan"]
WHOLE = ["sum", "prod", "min", "max", "mean", "first", "argmax"]


def same(got, want):
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert got.tobytes() == np.ascontiguousarray(want).tobytes()


def values(dtype, shape, random):
    if np.dtype(dtype).kind == "i":
        return random.integers(-30_000, 30_000, shape).astype(dtype)
    return (random.standard_normal(shape) * np.exp2(random.integers(-12, 12, shape))).astype(dtype)


@pytest.mark.parametrize(
    ("dtype", "names"),
    [("float32", NAMES), ("float64", NAMES), ("float16", NAMES), ("int16", WHOLE)],
)
@pytest.mark.parametrize(("dim", "chunks"), [(0, (130, 2, 3)), (1, (2, 77, 1)), (2, (2, 3, 999))])
@pytest.mark.parametrize("output_chunks", [None, 20, (7, 40, 3)])
def test_all_chunks_give_the_same_bits(dtype, names, dim, chunks, output_chunks):
    random = np.random.default_rng(dim)
    shape = [3, 3, 3]
    shape[dim] = 1000
    src, index = values(dtype, shape, random), random.integers(0, 45, 1000)
    chunked, numbers = da.from_array(src, chunks=chunks), da.from_array(index, chunks=333)
    options = {"size": 50, "dim": dim}
    made = sd.aggregate(chunked, numbers, names, output_chunks=output_chunks, **options)
    want = strew.aggregate(src, index, names, exact=True, **options)
    for lazy, got, wanted in zip(made, dask.compute(*made), want, strict=True):
        assert (lazy.dtype, lazy.shape) == (wanted.dtype, wanted.shape)
        same(got, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int16", ">f4"])
@pytest.mark.parametrize(("dim", "chunks"), [(0, (130, 2, 1)), (1, (1, 177, 2))])
@pytest.mark.parametrize(
    ("output_chunks", "mode"),
    [(200, "clip"), ([7, 400, 0, 3, 100, 200, 1, 289, 800, 200], "drop")],
)
def test_rows_that_are_sorted_out_first(dtype, dim, chunks, output_chunks, mode):
    random = np.random.default_rng(dim)
    shape = [2, 2, 2]
    shape[dim] = 1000
    src, index = values(dtype, shape, random), random.integers(-1000, 2000, 1000)
    chunked, numbers = da.from_array(src, chunks=chunks), da.from_array(index, chunks=333)
    names = ["sum", "mean", "max", "len", "prod" if dtype == "int16" else "std"]
    options = {"size": 2000, "dim": dim, "mode": mode, "ignore_index": 5, "skipna": True}
    made = sd.aggregate(
        chunked, numbers, names, output_chunks=output_chunks, split_every=3, **options
    )
    assert any("sorted_out" in str(key) for key in made[0].__dask_graph__())
    native = src.astype(src.dtype.newbyteorder("="))
    want = strew.aggregate(native, index, names, exact=True, **options)
    for got, wanted in zip(dask.compute(*made), want, strict=True):
        same(got, wanted)


@pytest.mark.parametrize("reduce", ["sum", "add", "mean", "amin", "max", "assign", "std", "len"])
def test_scatter(reduce):
    random = np.random.default_rng(5)
    src, index = values("float32", (300, 4), random), random.integers(0, 45, 300)
    made = sd.scatter(da.from_array(src, chunks=70), index, size=50, reduce=reduce, output_chunks=9)
    sums = reduce in ("sum", "add", "mean")
    same(made.compute(), strew.scatter(src, index, 0, size=50, reduce=reduce, exact=sums))


@pytest.mark.parametrize("mode", ["error", "wrap", "drop", "clip"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_numbers_out_of_range(mode, dtype):
    random = np.random.default_rng(6)
    low, high = {"error": (0, 50), "wrap": (-50, 50)}.get(mode, (-90, 90))
    index = random.integers(0 if dtype.startswith("u") else low, high, 300).astype(dtype)
    src = random.standard_normal(300)
    options = {"size": 50, "mode": mode, "ignore_index": 3, "fill_value": 7, "min_count": 2}
    made = sd.aggregate(da.from_array(src, chunks=70), index, "max", output_chunks=9, **options)
    same(made.compute(), strew.aggregate(src, index, "max", **options))


def test_options_of_statistics():
    random = np.random.default_rng(7)
    src, index = random.standard_normal(300), random.integers(0, 45, 300)
    src[::7] = np.nan
    for options in [{"skipna": True, "ddof": 1}, {"fill_value": -1.0}, {"min_count": 5}]:
        made = sd.aggregate(da.from_array(src, chunks=70), index, "var", size=50, **options)
        same(made.compute(), strew.aggregate(src, index, "var", size=50, exact=True, **options))


@pytest.mark.parametrize(("count", "size"), [(0, 4), (0, 0), (3, 1)])
def test_nothing(count, size):
    src, index = np.ones((count, 2)), np.zeros(count, int)
    made = sd.scatter(da.from_array(src), index, size=size)
    same(made.compute(), strew.scatter(src, index, 0, size=size))


def test_chunks_of_the_result_are_those_asked_for():
    src, index = da.zeros((100, 4), chunks=(30, 3)), da.zeros(100, dtype=int)
    assert sd.scatter(src, index, size=10, output_chunks=4).chunks == ((4, 4, 2), (3, 1))
    assert sd.scatter(src, index, size=10, output_chunks=[1, 9]).chunks == ((1, 9), (3, 1))
    with dask.config.set({"array.chunk-size": "96 B"}):
        assert sd.scatter(src, index, size=10).chunks == ((4, 4, 2), (3, 1))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"reduce": "median"}, ValueError, "it needs all values of a group together"),
        ({"reduce": "prod"}, ValueError, "prod rounds in the order of the values"),
        ({"exact": False}, ValueError, "pass exact=True"),
        ({"index": np.zeros(9)}, TypeError, "index has dtype float64"),
        ({"index": np.zeros(8, int)}, ValueError, r"must be \(9,\), as long as axis 0 of src"),
        ({"dim": 1}, ValueError, "dim = 1: src has 1 dimensions"),
        ({"mode": "wrong"}, ValueError, "mode = 'wrong'"),
        ({"size": -1}, ValueError, "size = -1: it must be at least 0"),
        ({"split_every": 1}, ValueError, "split_every = 1: it must be at least 2"),
        ({"output_chunks": (1, 2)}, ValueError, r"output_chunks = \(1, 2\): the sum is 3"),
        ({"output_chunks": (2.5, 2.5)}, TypeError, r"output_chunks\[0\] = 2.5"),
        ({"output_chunks": (6, -1)}, ValueError, r"output_chunks\[1\] = -1"),
        ({"output_chunks": ()}, ValueError, r"output_chunks = \(\)"),
        ({"output_chunks": 0}, ValueError, "output_chunks = 0"),
        ({"output_chunks": -2}, ValueError, "output_chunks = -2"),
        ({"output_chunks": "auto"}, TypeError, "output_chunks = 'auto': it must be an integer"),
        ({"size": 5.0}, TypeError, "size = 5.0: it must be an integer"),
        ({"size": 2**63}, ValueError, "size = 9223372036854775808: it must be at most"),
        ({"dim": 0.0}, TypeError, "dim = 0.0: it must be an integer"),
        ({"split_every": None}, TypeError, "split_every = None: it must be an integer"),
        ({"min_count": -1}, ValueError, "min_count = -1: it must be at least 0"),
        ({"skipna": 2}, TypeError, "skipna = 2: it must be True or False"),
        ({"exact": 1}, TypeError, "exact = 1: it must be True or False"),
        ({"ddof": "1"}, TypeError, "ddof = '1': it must be a number"),
        ({"ignore_index": 1.0}, TypeError, "ignore_index must be an integer or None"),
        ({"reduce": np.sum}, TypeError, "it must be a string"),
        ({"reduce": [np.sum]}, TypeError, "it must be a string"),
    ],
)
def test_errors_before_anything_runs(arguments, error, message):
    given = {"index": np.zeros(9, int), "size": 5, **arguments}
    with pytest.raises(error, match=message):
        sd.aggregate(da.zeros(9), **given)


def test_output_chunks_of_any_integers():
    src, index = da.ones(6, chunks=2), np.array([0, 1, 4, 2, 2, 0])
    for given, made in [
        (-1, (5,)),
        (np.int64(2), (2, 2, 1)),
        (np.array([2, 3]), (2, 3)),
        # Dask leaves empty chunks out.
        ([2, 0, 3], (2, 3)),
        (10**18, (5,)),
    ]:
        lazy = sd.aggregate(src, index, size=5, output_chunks=given)
        assert lazy.chunks == (made,)
        assert lazy.compute().tolist() == [2.0, 1.0, 2.0, 0.0, 1.0]
    assert sd.aggregate(da.ones(0), [], size=0, output_chunks=2).chunks == ((0,),)


@pytest.mark.parametrize("dtype", [">f4", ">i8", ">c8", ">f2"])
def test_swapped_bytes(dtype):
    src, index = np.arange(1, 7).astype(dtype), np.array([0, 1, 4, 2, 2, 0])
    made = sd.aggregate(da.from_array(src, chunks=4), index.astype(">i2"), "max", size=5)
    native = src.astype(src.dtype.newbyteorder("="))
    same(made.compute(), strew.aggregate(native, index, "max", size=5))


def test_lists_and_an_empty_one():
    assert sd.aggregate([1, 2, 3], [0, 1, 0], size=3).compute().tolist() == [4, 2, 0]
    assert sd.aggregate([], [], size=3).compute().tolist() == [0.0, 0.0, 0.0]


def test_a_chunk_of_another_dtype_than_its_array():
    index = da.arange(6, chunks=2).map_blocks(lambda block: block * np.nan, dtype=int)
    with pytest.raises(TypeError, match="a chunk of index has dtype float64"):
        sd.aggregate(da.ones(6, chunks=2), index, size=6).compute()


@pytest.mark.parametrize("name", ["src", "index"])
def test_masks_are_refused(name):
    masked = np.ma.masked_array([0, 1, 2], mask=[0, 1, 0])
    arguments = {"src": da.ones(3), "index": np.arange(3), name: da.from_array(masked, chunks=2)}
    with pytest.raises(TypeError, match=f"{name} must be an array without a mask"):
        sd.aggregate(**arguments, size=3).compute()


def test_numbers_and_sizes_that_small_integers_do_not_hold():
    big = np.array([0, 1, 2**63, 2**64 - 1, 2, 0], np.uint64)
    for index in [big, np.array([0, 1, -1, 2, 2, 0], np.int8)]:
        for size in [5, 300]:
            for mode in ["drop", "clip"]:
                made = sd.aggregate(da.ones(6, chunks=2), index, size=size, mode=mode)
                same(made.compute(), strew.aggregate(np.ones(6), index, size=size, mode=mode))


def test_sizes_that_are_not_known():
    src = da.arange(9.0, chunks=4)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        sd.aggregate(src[src > 3], np.zeros(9, int), size=5)


def test_a_number_out_of_range_is_named_by_its_position():
    index = np.array([0, 1, 4, 9, 0])
    made = sd.aggregate(da.ones(5, chunks=2), index, size=5)
    with pytest.raises(IndexError, match=r"index\[3\] = 9: index 9 is out of bounds"):
        made.compute()


def test_a_chunk_that_is_taken_in_several_blocks():
    random = np.random.default_rng(9)
    src, index = random.standard_normal((2, 2_500_000)), random.integers(0, 9, 2_500_000)
    lazy = da.from_array(src, chunks=(2, 2_400_000))
    names = ["sum", "argmin", "last"]
    made = dask.compute(*sd.aggregate(lazy, index, names, size=9, dim=1))
    want = strew.aggregate(src, index, names, size=9, dim=1, exact=True)
    for got, wanted in zip(made, want, strict=True):
        same(got, wanted)
    index[2_200_000] = 9
    with pytest.raises(IndexError, match=r"index\[2200000\] = 9"):
        sd.aggregate(lazy, index, names, size=9, dim=1)[0].compute()


def test_rows_that_come_at_any_address():
    data = np.frombuffer(bytes(1) + np.arange(9.0).tobytes(), np.uint8)[1:].view(float)
    state = strew.Accumulator(9, "sum", exact=True)
    _chunked.take_sorted_out(state, (data, np.arange(9, dtype=np.uint8)), "aggregate")
    assert state.result()[0].tolist() == list(range(9))


def test_dask_knows_how_large_an_accumulator_is():
    sd.scatter(da.ones(9, chunks=4), np.arange(9), size=9).compute(scheduler="synchronous")
    state = strew.Accumulator(10_000, "sum", exact=True)
    state.update(np.ones(10_000), np.arange(10_000))
    assert dask.sizeof.sizeof(state) == state.nbytes > 80_000


def test_a_worker_that_ends_changes_nothing(tmp_path):
    random = np.random.default_rng(8)
    src = random.standard_normal(200_000).astype("float32")
    index = random.integers(0, 30_000, 200_000)
    began = tmp_path / "began"

    def slow(block):
        began.touch()
        return block

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", local_directory=str(tmp_path)
    )
    with cluster, Client(cluster) as client:
        chunked = da.from_array(src, chunks=10_000).map_blocks(slow, dtype=src.dtype)
        made = sd.aggregate(
            chunked, index, ["sum", "std", "argmax"], size=30_000, output_chunks=7000
        )
        future = client.compute(list(made))
        while not began.exists():
            time.sleep(0.01)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        found = client.gather(future)
    want = strew.aggregate(src, index, ["sum", "std", "argmax"], size=30_000, exact=True)
    for got, wanted in zip(found, want, strict=True):
        same(got, wanted)


def test_the_document():
    text = (pathlib.Path(__file__).resolve().parents[3] / "docs/dask.md").read_text()
    example, _ = re.findall("```python\n(.*?)```", text, re.DOTALL)
    *setup, first, second, third = example.rstrip().splitlines()
    names = {"nan": np.nan}
    exec("\n".join([*setup, second]), names)
    for line in (first, third):
        call, told = line.split("  # ")
        got, want = eval(call, names), eval(told, names)
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


REFUSED = {
    "needs all values": {"reduce": "median"},
    "rounds in order": {"reduce": "skew"},
    "no reduction": {"reduce": "foo"},
    "no string": {"reduce": 5},
    "not exact": {"exact": False},
    "fill value": {"fill_value": "x"},
    "fraction": {"fill_value": 1.5, "reduce": "len"},
    "size": {"size": -2},
    "dim": {"dim": 1.5},
    "mode": {"mode": "x"},
    "ignore_index": {"ignore_index": "x"},
    "chunks": {"output_chunks": [1]},
}


@pytest.mark.parametrize("call", [strew.dask.aggregate, strew.dask.scatter])
@pytest.mark.parametrize("kind", REFUSED)
def test_errors_name_the_function_that_was_called(call, kind):
    arguments = {"size": 3, **REFUSED[kind]}
    with pytest.raises((TypeError, ValueError), match=f"^{call.__name__}: "):
        call(da.ones(3, chunks=2), np.arange(3), **arguments)


@pytest.mark.parametrize("call", [strew.dask.aggregate, strew.dask.scatter])
def test_errors_of_the_computation_do_so_too(call):
    lazy = call(da.ones(3, chunks=2), np.arange(3), size=2)
    words = rf'^{call.__name__}: index\[2\] = 2: .* size 2; mode="drop" leaves out'
    with pytest.raises(IndexError, match=words):
        lazy.compute(scheduler="synchronous")
    masked = da.from_array(np.ma.masked_array([1.0, 2], [0, 1]))
    with pytest.raises(TypeError, match=f"^{call.__name__}: "):
        call(masked, [0, 0], size=1).compute(scheduler="synchronous")
