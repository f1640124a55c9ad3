"""Indices of uint64 that int64 cannot hold: each is itself, and the one that is ignored no other."""

import numpy as np
import pytest
import strew

LARGE = [2**63 - 1, 2**63, 2**63 + 5, 2**64 - 1]


def scatter(index, **rules):
    return strew.scatter(np.ones(len(index)), index, dim_size=3, **rules).tolist()


def gathered(index, **rules):
    # What is picked, added up by where it stands: 1, 2 and 4 for the three rows.
    made = strew.gather(np.array([1.0, 2.0, 4.0]), index, **rules)
    return [float(int(made.sum()) >> bit & 1) for bit in range(3)]


def aggregate(index, **rules):
    return strew.aggregate(np.ones(len(index)), index, "sum", size=3, **rules).tolist()


def median(index, **rules):
    made = strew.aggregate(np.ones(len(index)), index, "median", size=3, fill_value=0, **rules)
    return made.tolist()


def plan(index, **rules):
    return strew.Plan(index, 3, **rules).scatter(np.ones(len(index))).tolist()


def accumulator(index, **rules):
    acc = strew.Accumulator(3, "sum", **rules)
    acc.update(np.ones(len(index)), index)
    again = strew.Accumulator.from_bytes(acc.to_bytes())
    again.update(np.zeros(len(index)), index)
    return again.result()[0].tolist()


@pytest.mark.parametrize("face", [scatter, gathered, aggregate, median, plan, accumulator])
@pytest.mark.parametrize("mode", ["error", "wrap", "drop", "clip"])
@pytest.mark.parametrize("ignored", LARGE)
def test_one_is_ignored_and_the_others_are_out_of_range(face, mode, ignored):
    for value in LARGE:
        index = np.array([0, value, 1, ignored], np.uint64)
        rules = {"mode": mode, "ignore_index": ignored}
        if value == ignored or mode == "drop":
            assert face(index, **rules) == [1, 1, 0]
        elif mode == "clip":
            assert face(index, **rules) == [1, 1, 1]
        else:
            with pytest.raises(
                IndexError, match=rf"index\[1\] = {value}: index {value} is out of bounds"
            ):
                face(index, **rules)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8"])
@pytest.mark.parametrize("ignored", [-(2**70), -1, 2**63 - 1, 2**64 - 1, 2**64, 2**200])
def test_what_the_dtype_cannot_hold_ignores_nothing(dtype, ignored):
    last = np.iinfo(dtype).max
    index = np.array([0, last, 1], dtype)
    if ignored == last:
        assert scatter(index, ignore_index=ignored) == [1, 1, 0]
    else:
        with pytest.raises(IndexError, match=rf"index\[1\] = {last}"):
            scatter(index, ignore_index=ignored)


@pytest.mark.parametrize(
    "call",
    [
        lambda index: strew.scatter(np.ones(2), index),
        lambda index: strew.aggregate(np.ones(2), index, "sum"),
        lambda index: strew.aggregate(np.ones(2), index, "median"),
        lambda index: strew.Plan(index),
        lambda index: strew.Accumulator(None, "sum").update(np.ones(2), index),
        lambda index: strew.Accumulator(None, "sum", mode="clip").update(np.ones(2), index),
        lambda index: strew.scatter(np.ones(2), index, mode="drop"),
    ],
)
def test_what_is_too_large_for_any_size_is_named(call):
    index = np.array([0, 2**64 - 1], np.uint64)
    said = r"index\[1\] = 18446744073709551615: index 18446744073709551615 is out of bounds .* of any size$"
    with pytest.raises(IndexError, match=said):
        call(index)


def test_sizes_and_axes_beyond_int64_are_named():
    for size in [2**63, 2**64, 2**200]:
        with pytest.raises(ValueError, match=f"size = {min(size, 2**127 - 1)}: "):
            strew.Plan([0], size)
    with pytest.raises(IndexError, match=f"but got {2**70}"):
        strew.scatter(np.ones(2), [0, 1], dim=2**70)
    with pytest.raises(ValueError, match=f"dim_size = -{2**70}: it must be at least 0"):
        strew.scatter(np.ones(2), [0, 1], dim_size=-(2**70))


@pytest.mark.parametrize("mode", ["error", "wrap", "drop", "clip"])
@pytest.mark.parametrize("ignored", [2**63 - 1, 2**64 - 1])
def test_with_gradients_of_torch(mode, ignored):
    torch = pytest.importorskip("torch")
    for value in LARGE:
        index = torch.from_numpy(np.array([0, value, 1, ignored], np.uint64))
        src = torch.ones(4, requires_grad=True)
        rules = {"dim_size": 3, "mode": mode, "ignore_index": ignored}
        if value != ignored and mode in ("error", "wrap"):
            with pytest.raises(
                IndexError, match=rf"index\[1\] = {value}: index {value} is out of bounds"
            ):
                strew.scatter(src, index, **rules)
            continue
        kept = mode == "clip" and value != ignored
        made = strew.scatter(src, index, **rules)
        assert made.tolist() == [1, 1, kept]
        made.sum().backward()
        assert src.grad.tolist() == [1, kept, 1, 0]
    wrong = torch.tensor([-5, 0])
    with pytest.raises(IndexError, match=r"index\[0\] = -5: "):
        strew.scatter(torch.ones(2, requires_grad=True), wrong, dim_size=3, mode="wrap")
