"""Arrays of other libraries, without one: a class that wraps a NumPy array behind DLPack."""

import ctypes
import gc
import sys
import types
import weakref

import numpy as np
import pytest
import strew


class Foreign:
    """Speaks DLPack and nothing else."""

    def __init__(self, array, *, device=(1, 0), versions=True, module=None):
        self.array = array
        self.device = device
        self.versions = versions
        self.asked = []
        if module is not None:
            self.__array_namespace__ = lambda: module

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        self.asked.append(options)
        if options and not self.versions:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(**options)


class Library(types.SimpleNamespace):
    """Makes `Foreign` arrays of what it is given."""

    def __init__(self):
        super().__init__(taken=[])

    def from_dlpack(self, source):
        self.taken.append(source)
        return Foreign(np.from_dlpack(source), module=self)

    def array(self, *arguments, **options):
        return Foreign(np.array(*arguments), module=self, **options)


def test_in_and_out_without_a_copy():
    library = Library()
    src = library.array([1.0, 2.0, 4.0])
    out = strew.torch_scatter.scatter(src, library.array([1, 0, 1]))
    assert type(out) is Foreign and len(library.taken) == 1
    assert out.array.tolist() == [2.0, 5.0]
    assert src.asked == [{"max_version": (1, 0)}]
    # Aligned so that every consumer can take it as it is.
    assert out.array.ctypes.data % 64 == 0


def test_both_results_go_to_the_library():
    library = Library()
    out, arg = strew.torch_scatter.scatter_max(library.array([1, 5, 2]), [0, 0, 1])
    assert out.array.tolist() == [5, 2] and arg.array.tolist() == [1, 2]
    assert arg.array.dtype == np.int64 and len(library.taken) == 2


def test_a_library_that_knows_no_versions():
    library = Library()
    src = library.array([1.0, 2.0], versions=False)
    out = strew.torch_scatter.scatter(src, [0, 0])
    assert out.array.tolist() == [3.0]
    assert src.asked == [{"max_version": (1, 0)}, {}]


def test_the_first_array_decides():
    library = Library()
    src, index = library.array([1.0, 2.0]), library.array([0, 0])
    assert type(strew.torch_scatter.scatter(src.array, index)) is np.ndarray
    for undecided in [[1.0, 2.0], (1, 2)]:
        assert type(strew.torch_scatter.scatter(undecided, index)) is Foreign
    for undecided in [3, np.int64(3), np.float64(3)]:
        x = np.asarray(undecided)
        out = strew.torch.scatter_reduce(undecided, 0, 0, library.array(x), "sum")
        assert type(out) is Foreign and out.array == 6
    out = np.zeros(1)
    assert strew.torch_scatter.scatter(src, index, out=out) is out
    target = library.array([5.0])
    assert strew.torch_scatter.scatter(src.array, index, out=target) is target
    assert target.array.tolist() == [8.0]
    # The positions go where the target is at home.
    out, arg = strew.torch_scatter.scatter_max(src.array, [0, 0], out=target)
    assert out is target and type(arg) is Foreign and arg.array.tolist() == [2]


def test_a_library_that_cannot_take_dlpack_gets_numpy():
    out = strew.torch_scatter.scatter(Foreign(np.ones(3)), [0, 0, 1])
    assert type(out) is np.ndarray and out.tolist() == [2.0, 1.0]


def test_a_library_is_found_by_its_module():
    library = types.ModuleType("some_arrays")
    library.from_dlpack = lambda source: ("made", np.from_dlpack(source).tolist())

    class Array(Foreign):
        __module__ = "some_arrays.core"

    sys.modules["some_arrays"] = library
    try:
        assert strew.torch_scatter.scatter(Array(np.ones(3)), [0, 0, 1]) == ("made", [2.0, 1.0])
    finally:
        del sys.modules["some_arrays"]


@pytest.mark.parametrize(
    "dtype",
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split(),
)
def test_dtypes_strides_and_offsets(dtype):
    library = Library()
    whole = np.array([[9, 1, 9, 0], [9, 1, 9, 1], [9, 0, 9, 1]]).astype(dtype)
    src = Foreign(whole[::-1, 1::2], module=library)
    out = strew.torch_scatter.scatter(src, Foreign(np.array([2, 0, 2])), 0)
    assert out.array.dtype == dtype
    expected = np.zeros((3, 2), dtype)
    expected[0] = whole[1, 1::2]
    expected[2] = whole[2, 1::2] + whole[0, 1::2]
    np.testing.assert_array_equal(out.array, expected)


def test_in_place():
    x = np.zeros((4, 3))
    target = Foreign(x[::2, ::-1])
    assert strew.torch.scatter_reduce_(target, 1, [[0], [2]], [[5.0], [7.0]], "sum") is target
    assert x.tolist() == [[0, 0, 5], [0, 0, 0], [7, 0, 0], [0, 0, 0]]


def test_a_read_only_tensor_is_read_but_not_written():
    frozen = np.array([1.0, 2.0])
    frozen.setflags(write=False)
    assert strew.torch_scatter.scatter(Foreign(frozen), [0, 0]).tolist() == [3.0]
    with pytest.raises(ValueError, match="torch_scatter.scatter: out is read-only"):
        strew.torch_scatter.scatter([1.0], [0], out=Foreign(frozen))
    assert frozen.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("device", [(2, 0), (8, 0), (10, 1), (13, 0)])
def test_another_device_is_refused(device):
    with pytest.raises(
        ValueError, match="torch_scatter.scatter: index: it is on a device that is not the CPU"
    ):
        strew.torch_scatter.scatter([1.0], Foreign(np.array([0]), device=device))


def test_host_memory_of_an_accelerator_is_taken():
    pinned = Foreign(np.array([1.0, 2.0]), device=(3, 0))
    assert strew.torch_scatter.scatter(pinned, [0, 0]).tolist() == [3.0]


def test_an_exception_of_the_library_comes_through():
    class Broken(Foreign):
        def __dlpack__(self, **options):
            raise BufferError("not today")

    with pytest.raises(BufferError, match="not today"):
        strew.torch_scatter.scatter(Broken(np.ones(1)), [0])

    class NoCapsule(Foreign):
        def __dlpack__(self, **options):
            return 7

    with pytest.raises((TypeError, ValueError)):
        strew.torch_scatter.scatter(NoCapsule(np.ones(1)), [0])


def test_a_capsule_is_not_used_twice():
    class Twice(Foreign):
        def __dlpack__(self, **options):
            self.capsule = getattr(self, "capsule", None) or self.array.__dlpack__(**options)
            return self.capsule

    twice = Twice(np.ones(2))
    assert strew.torch_scatter.scatter(twice, [0, 0]).tolist() == [2.0]
    with pytest.raises((ValueError, BufferError, TypeError)):
        strew.torch_scatter.scatter(twice, [0, 0])


class Tensor(ctypes.Structure):
    """The protocol's unversioned tensor, to say things that NumPy never says."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Handmade:
    """An exporter whose every field can be chosen; counts how often it is deleted."""

    def __init__(
        self, array, shape, strides=None, *, code=2, bits=64, lanes=1, offset=0, data=None
    ):
        self.array, self.deleted = array, 0
        self._delete = DELETER(self._count)
        self._shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self._strides = strides and (ctypes.c_int64 * len(strides))(*strides)
        data = array.ctypes.data if data is None else data
        self._tensor = Tensor(
            data, 1, 0, len(shape), code, bits, lanes, self._shape, self._strides, offset, None,
            ctypes.cast(self._delete, ctypes.c_void_p),
        )  # fmt: skip

    def _count(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = (
            ctypes.py_object,
            [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
        )
        return new(ctypes.addressof(self._tensor), b"dltensor", None)


def test_null_strides_are_row_major():
    src = Handmade(np.arange(6.0), (3, 2))
    assert strew.torch_scatter.scatter(src, [1, 0, 1], 0).tolist() == [[2, 3], [4, 6]]
    assert src.deleted == 1


def test_the_byte_offset_counts():
    src = Handmade(np.arange(6.0), (2,), (2,), offset=8)
    assert strew.torch_scatter.scatter(src, [0, 0]).tolist() == [4.0]
    assert src.deleted == 1


def test_zero_dimensions_and_no_elements():
    zero = Handmade(np.array([7.0]), ())
    assert strew.torch.scatter_reduce(zero, 0, 0, 1.0, "sum") == 8.0
    none = Handmade(np.zeros(1), (0, 3), data=0)
    assert strew.torch_scatter.scatter(none, [], 0).shape == (0, 3)
    assert (zero.deleted, none.deleted) == (1, 1)


@pytest.mark.parametrize(
    ("wrong", "exception", "message"),
    [
        (dict(lanes=4), TypeError, "src: it has elements that strew does not know"),
        (dict(code=8, bits=8), TypeError, "src: it has elements that strew does not know"),
        (dict(bits=48), TypeError, "src: it has elements that strew does not know"),
        (dict(shape=(-1,)), ValueError, "src: its DLPack description is wrong"),
        (dict(shape=(2**62, 2**62)), ValueError, "src: its DLPack description is wrong"),
        (dict(strides=(2**61,)), ValueError, "src: its DLPack description is wrong"),
        (dict(offset=4), ValueError, "src: the data is not aligned to 8 bytes"),
        (dict(offset=2**63), ValueError, "src: its DLPack description is wrong"),
        (dict(data=0), ValueError, "src: .*null"),
    ],
)
def test_a_wrong_description_is_refused_and_given_back(wrong, exception, message):
    options = {"shape": (3,), "strides": (1,), **wrong}
    if len(options["shape"]) != len(options["strides"]):
        options["strides"] = None
    src = Handmade(np.arange(3.0), **options)
    with pytest.raises(exception, match=f"^torch_scatter.scatter: {message}"):
        strew.torch_scatter.scatter(src, [0, 0, 0])
    assert src.deleted == 1


def test_memory_is_given_back_after_the_call_and_after_an_error():
    array = np.ones(3)
    seen = weakref.ref(array)
    src = Foreign(array)
    del array
    strew.torch_scatter.scatter(src, [0, 0, 1])
    with pytest.raises(RuntimeError):
        strew.torch_scatter.scatter(src, [0, 0, -1])
    del src
    gc.collect()
    assert seen() is None


def test_a_result_outlives_everything_else():
    library = Library()
    out = strew.torch_scatter.scatter(library.array(np.ones(1000)), np.arange(1000)).array
    library.taken.clear()
    gc.collect()
    np.ones(1000) * 3  # Reuses memory that would have been freed too early.
    assert out.tolist() == [1.0] * 1000


def test_a_result_can_be_exported_either_way():
    base = strew.torch_scatter.scatter([1.0, 2.0], [1, 0]).base
    assert base.__dlpack_device__() == (1, 0)
    assert "dltensor_versioned" in repr(base.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(base.__dlpack__())
    assert np.from_dlpack(base).tolist() == [2.0, 1.0]
    for options in [{"copy": True}, {"dl_device": (2, 0)}]:
        with pytest.raises(BufferError):
            base.__dlpack__(**options)
