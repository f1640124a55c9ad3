"""strew.Accumulator: chunks, merges, bytes."""

import pathlib
import pickle
import re

import numpy as np
import pytest
import strew
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = (
    "sum prod sumsq mean var std sem skew kurt min max first last len count any all "
    "anynan allnan argmin argmax"
).split()
FREE = "min max first last len count any all anynan allnan argmin argmax".split()
OF_INTEGERS = ["sum", "prod", "sumsq", "mean", *FREE]
DTYPES = ["bool", "int8", "uint64", "float16", "float32", "float64"]


def made(random, dtype, shape):
    src = random.integers(-3, 9, shape).astype(float)
    if np.dtype(dtype).kind == "f":
        src = np.where(random.random(shape) < 0.1, np.nan, src / 7)
    elif np.dtype(dtype).kind in "ub":
        src = abs(src)
    return src.astype(dtype)


def same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@given(
    seed=st.integers(0, 2**32),
    dtype=st.sampled_from(DTYPES),
    skipna=st.booleans(),
    min_count=st.integers(0, 3),
    fill=st.sampled_from([None, 1]),
    size=st.sampled_from([None, 9]),
    cuts=st.lists(st.integers(0, 200), max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_chunks_give_the_bits_of_one_call(seed, dtype, skipna, min_count, fill, size, cuts):
    random = np.random.default_rng(seed)
    groups, src = random.integers(0, 7, 200), made(random, dtype, (200, 2))
    options = {"skipna": skipna, "min_count": min_count, "fill_value": fill, "ddof": 1}
    acc = strew.Accumulator(size, NAMES, dtype=dtype, shape=(2,), **options)
    for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), 200], strict=True):
        index = groups[begin:end]
        if random.random() < 0.3:
            index = strew.Plan(index, size)
        acc.update(src[begin:end], index)
        if random.random() < 0.3:
            acc = pickle.loads(pickle.dumps(acc, int(random.integers(2, 6))))
    same(acc.result(), strew.aggregate(src, groups, NAMES, size=size, **options))
    assert acc.position == 200


@given(
    seed=st.integers(0, 2**32),
    dtype=st.sampled_from(DTYPES),
    skipna=st.booleans(),
    cuts=st.lists(st.integers(0, 100), min_size=3, max_size=5),
)
@settings(max_examples=60, deadline=None)
def test_merges_give_what_one_call_gives(seed, dtype, skipna, cuts):
    random = np.random.default_rng(seed)
    groups, src = random.integers(0, 7, 100), made(random, dtype, 100)
    names = FREE if np.dtype(dtype).kind == "f" else OF_INTEGERS

    def part(begin, end):
        acc = strew.Accumulator(7, names, dtype=dtype, skipna=skipna)
        acc.update(src[begin:end], groups[begin:end], start=begin)
        return acc

    parts = list(map(part, [0, *sorted(cuts)], [*sorted(cuts), 100]))
    while len(parts) > 1:
        taken = parts.pop(random.integers(len(parts)))
        parts[random.integers(len(parts))].merge(taken)
    same(parts[0].result(), strew.aggregate(src, groups, names, size=7, skipna=skipna))


@pytest.mark.parametrize("name", ["sum", "mean", "var", "kurt"])
def test_what_depends_on_the_order_is_not_merged(name):
    acc = strew.Accumulator(3, name)
    with pytest.raises(ValueError, match="order of the values"):
        acc.merge(strew.Accumulator(3, name))


def test_accumulators_that_differ_are_not_merged():
    acc = strew.Accumulator(3, "len")
    for other, what in [
        (strew.Accumulator(4, "len"), "size"),
        (strew.Accumulator(3, "count"), "reduce"),
        (strew.Accumulator(3, "len", dtype="int8"), "dtype"),
        (strew.Accumulator(3, "len", shape=(1,)), "shape"),
        (strew.Accumulator(3, "len", mode="drop"), "mode"),
        (strew.Accumulator(3, "len", skipna=True), "skipna"),
        (strew.Accumulator(3, "len", fill_value=2), "fill_value"),
    ]:
        with pytest.raises(ValueError, match=what):
            acc.merge(other)
    with pytest.raises(ValueError, match="another one"):
        acc.merge(acc)
    firsts = [strew.Accumulator(3, "first", dtype="int64") for _ in range(2)]
    for first in firsts:
        first.update([1, 2], [0, 1], start=5)
    with pytest.raises(ValueError, match="position 5"):
        firsts[0].merge(firsts[1])


def test_an_update_that_fails_changes_nothing():
    acc = strew.Accumulator(3, ["sum", "argmax"], dtype="float32", shape=(2,))
    src = np.ones((3, 2), np.float32)
    acc.update(src, [0, 1, 1])
    before = acc.to_bytes()
    for error, arguments, options in [
        (IndexError, (src, [0, 3, 0]), {}),
        (IndexError, (src, [0, 0, -1]), {}),
        (ValueError, (src, [0, 1]), {}),
        (ValueError, (src, [[0], [1], [1]]), {}),
        (ValueError, (src[:, :1], [0, 1, 2]), {}),
        (TypeError, (src.astype(float), [0, 1, 2]), {}),
        (TypeError, (src, [0.0, 1.0, 2.0]), {}),
        (ValueError, (src, strew.Plan([0, 1, 2], 4)), {}),
        (ValueError, (src, [0, 1, 2]), {"start": 2}),
        (ValueError, (src, [0, 1, 2]), {"start": -1}),
        (ValueError, (src, [0, 1, 2]), {"start": 2**70}),
        (TypeError, (src, [0, 1, 2]), {"start": 1.5}),
    ]:
        with pytest.raises(error, match="Accumulator"):
            acc.update(*arguments, **options)
        assert acc.to_bytes() == before


def test_arguments_that_do_not_fit_are_errors():
    for error, arguments, options in [
        (ValueError, (3, "median"), {}),
        (ValueError, (3, "cumsum"), {}),
        (ValueError, (3, []), {}),
        (ValueError, (3, "most"), {}),
        (TypeError, (3, "skew"), {"dtype": "complex64"}),
        (ValueError, (3, "sum"), {"dtype": "float99"}),
        (ValueError, (None, "sum"), {"mode": "wrap"}),
        (ValueError, (3, "sum"), {"mode": "most"}),
        (ValueError, (-1, "sum"), {}),
        (ValueError, (3, "sum"), {"shape": (2**40, 2**40)}),
        (TypeError, (3, "sum"), {"fill_value": "one"}),
    ]:
        with pytest.raises(error, match="Accumulator|aggregate"):
            strew.Accumulator(*arguments, **options)


def test_what_it_says_of_itself():
    acc = strew.Accumulator(None, ["var", "std", "len"], dtype=np.float32, shape=(2,))
    assert acc.size == 0 and acc.nbytes == 0
    acc.update(np.zeros((2, 2), np.float32), [4, 0])
    assert (acc.size, acc.reduce, acc.dtype) == (5, ("var", "std", "len"), "float32")
    assert (acc.shape, acc.position) == ((2,), 2)
    assert acc.nbytes >= 5 * 2 * (32 + 8)
    assert repr(acc) == "strew.Accumulator(var, std, len of 5 groups, 2 updates)"


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("size", [10**6, None])
def test_few_groups_of_many(size, exact):
    random = np.random.default_rng(3)
    names = ["sum", "std", "first", "argmax", "count"]
    acc = strew.Accumulator(size, names, shape=(2,), exact=exact)
    few = np.sort(random.choice(10**6, 50, replace=False))
    few[-1] = 10**6 - 1
    src, index = random.standard_normal((400, 2)), np.append(random.choice(few, 399), few)[:400]
    index[0] = few[-1]
    for chunk in np.split(np.arange(400), [7, 150]):
        acc.update(src[chunk], index[chunk])
        acc = pickle.loads(pickle.dumps(acc))
    assert acc.size == 10**6 and acc.nbytes < 200_000
    expected = strew.aggregate(src, index, names, dim=0, size=10**6, exact=exact)
    same(acc.result(), expected)
    # As soon as many groups have values, all have a record.
    more = random.permutation(10**6)[:300_000]
    acc.update(np.ones((len(more), 2)), more)
    assert acc.nbytes > 10**6
    src, index = np.append(src, np.ones((len(more), 2)), 0), np.append(index, more)
    same(acc.result(), strew.aggregate(src, index, names, dim=0, size=10**6, exact=exact))


@pytest.mark.parametrize("kinds", ["few few", "few all", "all few"])
def test_merging_few_groups_of_many(kinds):
    random = np.random.default_rng(4)
    names, parts, chunks = ["sum", "mean", "len"], [], []
    for kind in kinds.split():
        count = 30 if kind == "few" else 500_000
        src, index = random.standard_normal(count), random.integers(0, 10**6, count)
        chunks.append((src, index))
        parts.append(strew.Accumulator(10**6, names, exact=True))
        parts[-1].update(src, index)
    parts[0].merge(parts[1])
    src, index = (np.concatenate(both) for both in zip(*chunks, strict=True))
    same(parts[0].result(), strew.aggregate(src, index, names, size=10**6, exact=True))
    assert (parts[0].nbytes < 10**5) == (kinds == "few few")


def test_more_groups_than_memory_has_room_for():
    acc = strew.Accumulator(2**60, "sum")
    acc.update([1.0, 2.0], [2**59, 5])
    assert acc.size == 2**60 and acc.nbytes < 10**4
    with pytest.raises(MemoryError, match="Accumulator"):
        acc.result()


def test_modes_and_ignored_numbers():
    for mode, index in [("wrap", [-1, 0, 1]), ("drop", [-1, 9, 1]), ("clip", [-5, 9, 1])]:
        acc = strew.Accumulator(3, "sum", dtype="int64", mode=mode, ignore_index=1)
        acc.update([1, 2, 4], index)
        options = {"size": 3, "mode": mode, "ignore_index": 1}
        same(acc.result(), [strew.aggregate([1, 2, 4], index, "sum", **options)])


def test_hostile_bytes():
    acc = strew.Accumulator(4, NAMES, dtype="float64", min_count=2, ignore_index=7)
    acc.update([1.0, np.nan, 2.0], [0, 1, 1])
    data = acc.to_bytes()
    assert strew.Accumulator.from_bytes(data).to_bytes() == data
    for cut in range(len(data)):
        with pytest.raises(ValueError):
            strew.Accumulator.from_bytes(data[:cut])
    with pytest.raises(ValueError):
        strew.Accumulator.from_bytes(data + b"x")
    random = np.random.default_rng(1)
    for _ in range(3000):
        changed = bytearray(data)
        for _ in range(random.integers(1, 3)):
            changed[random.integers(min(len(data), 600))] ^= 1 << random.integers(8)
        try:
            read = strew.Accumulator.from_bytes(bytes(changed))
        except (ValueError, TypeError, MemoryError):
            continue
        assert read.to_bytes() == bytes(changed)
        read.result()


def test_pickles_with_bytes_of_their_own():
    acc = strew.Accumulator(1000, ["sum", "mean"], exact=True)
    acc.update(np.array([0.1, 0.2, 1e300]), [3, 3, 999])
    buffers = []
    pickled = pickle.dumps(acc, 5, buffer_callback=buffers.append)
    assert len(buffers) == 1
    assert len(pickled) < 200
    for held in (buffers, [bytearray(buffers[0])], [memoryview(buffers[0])]):
        same(pickle.loads(pickled, buffers=held).result(), acc.result())
    for wrong in (5, "bytes", None):
        with pytest.raises(TypeError):
            strew.Accumulator.from_bytes(wrong)


def test_the_examples_of_the_document():
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs/accumulator.md").read_text()
    names = {"nan": np.nan}
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 3
    for example in examples:
        *lines, last = example.strip().splitlines()
        call, _, comment = last.partition("  # ")
        exec("\n".join(lines), names)
        for found, expected in zip(eval(call, names), eval(comment, names), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("reduce", "dtype", "name"),
    [("max", "int64", "max"), (["mean", "len"], "float32", "len"), ("any", "bool", "any")],
)
def test_a_fill_value_with_a_fraction_is_refused_for_whole_results(reduce, dtype, name):
    message = (
        f"^Accumulator: fill_value = 1.5: {name} of {dtype} gives whole numbers, so it must be one$"
    )
    with pytest.raises(ValueError, match=message):
        strew.Accumulator(4, reduce, dtype=dtype, fill_value=1.5)
    assert strew.Accumulator(2, "mean", dtype="int64", fill_value=1.5).result()[0].tolist() == [
        1.5,
        1.5,
    ]
    assert strew.Accumulator(2, "max", dtype="int64", fill_value=2.0).result()[0].tolist() == [2, 2]
