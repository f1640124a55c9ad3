"""Arrays that lie and arguments that make no sense: an error that names them, and nothing changed.

What no consumer can find out (a pointer to memory that is not there) is the producer's to get
right; SECURITY.md says so.
"""

import ctypes
import itertools

import numpy as np
import pytest
import strew
from test_dlpack import Foreign, Handmade
from test_in_place import WAYS, calls

I = np.array([0, 1])
F = np.array([1.0, 2.0])
scatter = strew.torch_scatter.scatter


def capsule(name):
    """A capsule of that name, of memory that is never looked at."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    return new(ctypes.addressof(MEMORY), name, None)


MEMORY = ctypes.create_string_buffer(256)


class Liar:
    """Answers the protocol's two questions with whatever it is given."""

    def __init__(self, answer, device=(1, 0)):
        self.answer, self.device = answer, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        return self.answer


@pytest.mark.parametrize("role", ["src", "index", "out"])
@pytest.mark.parametrize("kind", ["None", "number", "list", "capsule", "used", "used_versioned"])
def test_what_is_no_tensor_is_named(kind, role):
    # The argument was not named.
    answer = {
        "None": None, "number": 7, "list": [1.0], "capsule": capsule(b"evil"), "used": capsule(b"used_dltensor"),
        "used_versioned": capsule(b"used_dltensor_versioned"),
    }[kind]  # fmt: skip
    arguments = {"src": F, "index": I, "out": np.zeros(2), role: Liar(answer)}
    with pytest.raises(
        (TypeError, ValueError),
        match=f"^torch_scatter.scatter: {role}: its __dlpack__ gives nothing",
    ):
        scatter(**arguments)


@pytest.mark.parametrize(
    "device", [None, 7, "cpu", (), (1,), (1, 0, 0), ("a", "b"), (10**30, 0), (1, 10**30), (1.0, 0)]
)
def test_a_device_that_is_none_is_named(device):
    with pytest.raises(
        TypeError, match="^torch_scatter.scatter: src: its __dlpack_device__ gives no tuple of two"
    ):
        scatter(Liar(None, device), I)


def test_the_device_of_the_tensor_counts_too():
    lie = Handmade(F, (2,), (1,))
    lie._tensor.device_type = 2
    with pytest.raises(ValueError, match="src: it is on a device that is not the CPU"):
        scatter(lie, I)
    assert lie.deleted == 1


@pytest.mark.parametrize(
    "exception", [LookupError, SystemExit, KeyboardInterrupt, RecursionError, MemoryError]
)
@pytest.mark.parametrize("where", ["__dlpack__", "__dlpack_device__", "__array_namespace__"])
def test_what_an_array_raises_comes_through(where, exception):
    def fail(*_, **__):
        raise exception("on purpose")

    broken = type("Broken", (Foreign,), {where: fail})(F.copy())
    with pytest.raises(exception, match="on purpose"):
        scatter(broken, I)


def test_attributes_that_raise():
    class Everywhere:
        def __getattr__(self, name):
            raise ZeroDivisionError(name)

    class Array(np.ndarray):
        def __getattribute__(self, name):
            raise ZeroDivisionError(name)

    for broken in [Everywhere(), F.view(Array)]:
        with pytest.raises(ZeroDivisionError):
            scatter(broken, I)


@pytest.mark.parametrize(
    ("field", "value"),
    [("ndim", -1), ("ndim", -(2**31)), ("shape", None), ("bits", 0), ("bits", 255), ("lanes", 0), ("code", 255),
     ("data", 1), ("data", None), ("byte_offset", 1), ("byte_offset", 2**64 - 1)],
)  # fmt: skip
def test_a_field_that_lies(field, value):
    lie = Handmade(F, (2,), (1,))
    setattr(lie._tensor, field, value)
    with pytest.raises((ValueError, TypeError), match="^torch_scatter.scatter: src: "):
        scatter(lie, I)
    assert lie.deleted == 1


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((2**31, 2**31, 2), (0, 0, 0)), ((2**62,), (0,)), ((2**63 - 1,), (0,)), ((2,), (-(2**63),)), ((2,), (2**63 - 1,)),
     ((2,), (-(2**61),)), ((-(2**63),), (1,)), ((2, -1), (1, 1))],
)  # fmt: skip
def test_sizes_and_strides_beyond_the_address_space(shape, strides):
    lie = Handmade(F, shape, strides)
    with pytest.raises(ValueError, match="^torch_scatter.scatter: src: "):
        scatter(lie, [0, 0], 0)
    assert lie.deleted == 1


def test_strides_that_are_odd_but_true():
    assert scatter(Handmade(F, (2,), (-1,), offset=8), [0, 1]).tolist() == [2.0, 1.0]
    assert scatter(Handmade(F, (2,), (0,)), [0, 0]).tolist() == [2.0]
    without = Handmade(F, (2,), (1,))
    without._tensor.deleter = None
    assert scatter(without, [0, 0]).tolist() == [3.0]


@pytest.mark.parametrize(
    "interface",
    [7, {}, {"shape": (2,), "typestr": "<f8", "data": (0, False), "version": 3},
     {"shape": (-2,), "typestr": "<f8", "data": (F.ctypes.data, False), "version": 3},
     {"shape": (2**62, 2**62), "typestr": "<f8", "data": (F.ctypes.data, False), "version": 3},
     {"shape": (2,), "typestr": "<z8", "data": (F.ctypes.data, False), "version": 3}],
)  # fmt: skip
def test_an_array_interface_with_wrong_sizes(interface):
    class Array:
        __array_interface__ = interface

    with pytest.raises((TypeError, ValueError, RuntimeError), match="^torch_scatter.scatter: "):
        scatter(Array(), I)
    with pytest.raises((TypeError, ValueError, RuntimeError), match="^torch_scatter.scatter: "):
        scatter(F, Array())


@pytest.mark.parametrize("junk", ["text", 7, None, [1.0], object()])
def test_an_array_method_that_returns_junk(junk):
    class Array:
        def __array__(self, *_, **__):
            return junk

    with pytest.raises((TypeError, ValueError), match="^torch_scatter.scatter: index is no array"):
        scatter(F, Array())


def test_bools_of_other_bytes_are_true():
    odd = np.array([0, 1, 2, 255, 128], np.uint8).view(bool)
    groups = [0, 0, 1, 1, 1]
    for reduce, expected in [
        ("sum", [1, 1, 0]),
        ("mul", [0, 1, 1]),
        ("min", [0, 1, 0]),
        ("max", [1, 1, 0]),
    ]:
        assert scatter(odd, groups, 0, None, 3, reduce).tolist() == [bool(v) for v in expected]
    assert strew.torch.index_put(np.zeros(5), (odd,), 1.0).tolist() == [0, 1, 1, 1, 1]


@pytest.mark.parametrize("rank", [0, 1, 31, 32, 33, 63, 64])
def test_every_rank_that_numpy_has(rank):
    x = np.full((1,) * rank, 2.0)
    index = np.zeros((1,) * rank, int)
    assert strew.torch.scatter_reduce(x, 0, index, x, "sum").tolist() == (x * 2).tolist()
    assert strew.torch.scatter_reduce_(x, -1, index, x.copy(), "prod").item() == 4.0


@pytest.mark.parametrize("rank", [65, 200, 1000])
def test_more_dimensions_than_numpy_has(rank):
    many = Handmade(F, (1,) * rank, (1,) * rank)
    index = Handmade(np.zeros(1, int), (1,) * rank, (1,) * rank, code=0)
    with pytest.raises((ValueError, RuntimeError), match="dimension"):
        strew.torch.scatter_reduce(many, 0, index, F[:1].reshape(()), "sum")
    nested = 1.0
    for _ in range(rank):
        nested = [nested]
    with pytest.raises(ValueError, match="src is no array"):
        scatter(nested, [0])


def views_of(memory):
    """All views of two elements, with any step that fits, backwards too."""
    for step in (1, 2, 3):
        for start in range(len(memory) - step):
            yield memory[start : start + step + 1 : step]
            yield memory[start : start + step + 1 : step][::-1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("role", ["updates", "index"])
def test_a_target_over_its_inputs_in_every_position(way, role):
    start = (
        np.array([0, 1, 0, 1, 1, 0])
        if role == "index"
        else np.array([10.0, 20.0, 2.0, 3.0, 5.0, 7.0])
    )
    refused = done = 0
    for one, two in itertools.product(range(len(list(views_of(start)))), repeat=2):
        memory = start.copy()
        target, given = list(views_of(memory))[one], list(views_of(memory))[two]
        options = {role: given, **({"updates": np.array([2, 3])} if role == "index" else {})}
        apart = target.copy()
        list(calls(apart, **{k: v.copy() for k, v in options.items()}))[way]()
        try:
            list(calls(target, **options))[way]()
        except RuntimeError as error:
            assert "shares memory with" in str(error)
            assert memory.tolist() == start.tolist()
            refused += 1
        else:
            assert not np.shares_memory(target, given)
            assert target.tolist() == apart.tolist()
            done += 1
    assert refused > 300 and done > 50


def test_no_position_of_out_hurts_a_gather():
    for one, two in itertools.product(range(24), repeat=2):
        views = list(views_of(np.arange(6.0)))
        out, data = views[one], views[two]
        expected = data[::-1].tolist()
        try:
            strew.mxnet.gather_nd(data, [[1, 0]], out=out)
        except ValueError as error:
            assert "shares memory with" in str(error) and data[::-1].tolist() == expected
        else:
            assert out.tolist() == expected


HUGE = 10**400
NAN = float("nan")


@pytest.mark.parametrize("dim", [HUGE, -HUGE, 2**63, -(2**63) - 1, 2, -2])
def test_axes_that_no_tensor_has(dim):
    with pytest.raises(IndexError, match=r"^torch_scatter\.scatter: dim = "):
        scatter(F, I, dim)


@pytest.mark.parametrize(
    "dim", [NAN, 0.0, "0", b"0", [0], (0,), {}, object, 1j, np.float64(0), np.array([0, 1])]
)
def test_axes_of_another_kind(dim):
    with pytest.raises(TypeError, match=r"^torch_scatter\.scatter: dim must be an integer"):
        scatter(F, I, dim)


@pytest.mark.parametrize("size", [2**63, HUGE, 2**61, 2**62])
def test_sizes_that_overflow(size):
    with pytest.raises(MemoryError, match="bytes"):
        scatter(F, I, 0, None, size)
    with pytest.raises(MemoryError, match="bytes"):
        strew.mxnet.scatter_nd(F, [I, I], (size, size))
    with pytest.raises(ValueError, match="at least 0"):
        strew.mxnet.scatter_nd(F, [I], (-size,))


@pytest.mark.parametrize(
    "word", [3, b"sum", None.__class__, ["sum"], "\ud800", "sum\0", "", "x" * 1000]
)
def test_words_that_are_none(word):
    with pytest.raises((TypeError, ValueError), match=r"^torch_scatter\.scatter: reduce "):
        scatter(F, I, reduce=word)


def itself():
    endless = []
    endless.append(endless)
    return endless


@pytest.mark.parametrize(
    "index", [[NAN, 0.0], [2**64, 0], [HUGE, 0], ["0", "1"], [None, 0], itself(), {0, 1}, b"01"]
)
def test_indices_that_are_none(index):
    with pytest.raises(
        (TypeError, ValueError, RuntimeError), match=r"^torch_scatter\.scatter: index"
    ):
        scatter(F, index)
    with pytest.raises(
        TypeError, match=r"^mxnet\.scatter_nd: shape\[0\] must be an integer, not list"
    ):
        strew.mxnet.scatter_nd(F, [I], itself())


@pytest.mark.parametrize("value", [NAN, np.inf, -np.inf, 1e300, -1e300, 2.0, -1.0])
def test_floats_that_are_no_index(value):
    with pytest.raises(IndexError, match=r"^mxnet\.scatter_nd: indices\[0, 1\]"):
        strew.mxnet.scatter_nd(F, [[0.0, value]], (2,))


def test_integers_whose_methods_raise():
    class Integer(int):
        def __index__(self):
            raise LookupError("never asked: it is an int")

        __int__ = __index__

    # As everywhere in Python, an int is what it holds.
    assert scatter(F, I, Integer(0), None, Integer(3)).tolist() == [1.0, 2.0, 0.0]

    class Other:
        def __index__(self):
            raise LookupError("on purpose")

    for call in [
        lambda: scatter(F, I, Other()),
        lambda: strew.mxnet.scatter_nd(F, [I], (Other(),)),
        lambda: strew.Plan([0, 1], Other()),
    ]:
        with pytest.raises(LookupError, match="on purpose"):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda n: strew.mxnet.scatter_nd(F, [I], [0] * n),
        lambda n: strew.mxnet.scatter_nd(F, [I], (0,) * n),
        lambda n: strew.openvino.slice_scatter(F, F, [0] * n, [1], [1]),
        lambda n: strew.torch.index_put(F, [None] * n, F),
        lambda n: strew.torch.index_put(F, (None,) * n, F),
        lambda n: scatter(F, I, reduce="x" * n),
        lambda n: strew.mxnet.scatter_nd(F, [I], (2,), name="x" * n),
        lambda n: strew.Plan(I, name="x" * n),
        lambda n: strew.Plan(I, mode="x" * n),
        lambda n: strew.Plan(I).scatter(F, "x" * n),
        lambda n: strew.Plan(I).reduce(F, ["sum"] * n),
        lambda n: strew.Plan(I).reduce(F, itertools.repeat("sum", n)),
    ],
)
def test_what_is_longer_than_anything_means(call):
    # Memory for it was taken without asking, and more for the message: to run out of it ended the
    # process.
    with pytest.raises(ValueError, match="it must have at most 65536") as found:
        call(70_000)
    assert len(str(found.value)) < 200


def test_a_label_is_one_line():
    with pytest.raises(IndexError) as found:
        strew.mxnet.scatter_nd(F, [[0, 9]], (2,), name="a\nb\x1b[2J")
    assert str(found.value).startswith(r"mxnet.scatter_nd 'a\nb\u{1b}[2J': indices[0, 1] = 9")
