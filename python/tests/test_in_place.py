"""Targets: written in place, returned, and untouched on an error."""

import numpy as np
import pytest
import strew


def calls(target, index=(0, 1), updates=(2.0, 3.0)):
    """Every way to write into `target`, of shape (2,)."""
    scatter = strew.torch_scatter
    yield lambda: strew.torch.scatter_reduce_(target, 0, index, updates, "sum")
    yield lambda: strew.mindspore.scatter_mul(target, index, updates)
    yield lambda: scatter.scatter(updates, index, out=target)
    yield lambda: scatter.scatter_sum(updates, index, out=target)
    yield lambda: scatter.scatter_add(updates, index, out=target)
    yield lambda: scatter.scatter_mul(updates, index, out=target)
    yield lambda: scatter.scatter_mean(updates, index, out=target)
    yield lambda: scatter.scatter_min(updates, index, out=target)[0]
    yield lambda: scatter.scatter_max(updates, index, out=target)[0]
    yield lambda: strew.torch.scatter_(target, 0, index, updates)
    yield lambda: strew.torch.scatter_add_(target, 0, index, updates)


EXPECTED = [
    [12, 23],
    [20, 60],
    [12, 23],
    [12, 23],
    [12, 23],
    [20, 60],
    [12, 23],
    [2, 3],
    [10, 20],
    [2, 3],
    [12, 23],
]
WAYS = range(len(EXPECTED))


@pytest.mark.parametrize("way", WAYS)
def test_the_target_itself_is_returned(way):
    target = np.array([10.0, 20.0])
    assert list(calls(target))[way]() is target
    assert target.tolist() == EXPECTED[way]


@pytest.mark.parametrize("way", WAYS)
def test_a_read_only_target_is_refused(way):
    target = np.array([10.0, 20.0])
    target.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        list(calls(target))[way]()
    assert target.tolist() == [10.0, 20.0]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "target",
    [[10.0, 20.0], (10.0, 20.0), 10.0, np.float64(3), memoryview(bytearray(16)).cast("d"), "ab"],
)
def test_what_is_no_array_is_refused_as_target(way, target):
    with pytest.raises(TypeError, match="must be an array that can be written to in place, not"):
        list(calls(target))[way]()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("index", [[0, 2], [0, -1]])
def test_an_error_leaves_the_target_alone(way, index):
    target = np.array([10.0, 20.0])
    with pytest.raises(RuntimeError, match=r"\[1\] = -?\d.*out of bounds"):
        list(calls(target, index=index))[way]()
    assert target.tolist() == [10.0, 20.0]


@pytest.mark.parametrize("way", WAYS)
def test_shared_memory_is_refused(way):
    memory = np.array([10.0, 20.0, 30.0])
    with pytest.raises(RuntimeError, match="shares memory with"):
        list(calls(memory[:2], updates=memory[1:]))[way]()
    expanded = np.lib.stride_tricks.as_strided(memory, (2,), (0,))
    with pytest.raises(RuntimeError, match="share memory"):
        list(calls(expanded))[way]()
    index = np.array([0, 1])
    with pytest.raises(RuntimeError, match="shares memory with"):
        list(calls(index.view(np.float64), index=index))[way]()
    assert memory.tolist() == [10.0, 20.0, 30.0] and index.tolist() == [0, 1]


def test_a_target_beside_its_inputs_is_fine():
    memory = np.array([10.0, 20.0, 2.0, 3.0])
    strew.torch.scatter_reduce_(memory[:2], 0, [0, 1], memory[2:], "sum")
    assert memory.tolist() == [12.0, 23.0, 2.0, 3.0]


def test_out_decides_the_size():
    out = np.zeros((4, 2))
    result = strew.torch_scatter.scatter([[1.0, 2.0]], [3], 0, out, dim_size=99)
    assert result is out and out[3].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("at", range(4))
def test_a_target_inside_an_index_of_larger_elements(at):
    """Found by fuzzing: the last byte of an index was changed, and the index read once more."""
    memory = np.zeros(16, np.uint8)
    index, target = memory[:4].view(np.int32), memory[at : at + 1].view(bool)
    with pytest.raises(RuntimeError, match="shares memory with index"):
        strew.torch.scatter_reduce_(target, 0, index, np.ones(1, bool), "prod", include_self=False)
    assert not memory.any()
    strew.torch.scatter_reduce_(
        memory[4:5].view(bool), 0, index, np.ones(1, bool), "prod", include_self=False
    )
    assert memory[4] == 1


@pytest.mark.parametrize("updates", [1, 1 << 15])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("reduce", ["sum", "prod"])
def test_cells_that_no_update_reaches_keep_their_bits(dtype, reduce, updates):
    """They go through a table of float32, in which a signalling NaN may become a quiet one."""
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    every = np.arange(1 << 16, dtype=np.uint16)
    target = every.copy().view(dtype)
    one = every[0x3C00:0x3C01].view("float16").astype(dtype)
    index = np.full(updates, 0)
    strew.torch.scatter_reduce_(target, 0, index, np.repeat(one, updates), reduce)
    assert np.array_equal(target.view(np.uint16)[1:], every[1:])
    assert float(target[0]) == (updates if reduce == "sum" else 0)
