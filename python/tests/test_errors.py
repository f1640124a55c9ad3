"""Which exception, and what it says."""

import numpy as np
import pytest
import strew

F = np.array([1.0, 2.0], np.float32)
I = np.array([0, 1])

# call, exception, the message's beginning
CASES = {
    "mxnet index out of range": (
        lambda: strew.mxnet.scatter_nd(F, [[0, 5]], (2,)),
        IndexError,
        r"mxnet\.scatter_nd: indices\[0, 1\] = 5: index 5 is out of bounds for dimension 0 with size 2",
    ),
    "mxnet negative index": (
        lambda: strew.mxnet.scatter_nd(F, [[0, -1]], (2,)),
        IndexError,
        r"mxnet\.scatter_nd: indices\[0, 1\] = -1",
    ),
    "mxnet shape": (
        lambda: strew.mxnet.scatter_nd(F, [[0]], (2,)),
        ValueError,
        "mxnet.scatter_nd: data has shape",
    ),
    "mxnet bool index": (
        lambda: strew.mxnet.scatter_nd(F, [[True, False]], (2,)),
        TypeError,
        "mxnet.scatter_nd: indices has dtype bool",
    ),
    "mxnet label": (
        lambda: strew.mxnet.scatter_nd(F, [[0, 5]], (2,), name="embed"),
        IndexError,
        "mxnet.scatter_nd 'embed': ",
    ),
    "openvino step": (
        lambda: strew.openvino.slice_scatter(F, F, [0], [2], [0]),
        ValueError,
        r"openvino\.slice_scatter: step\[0\] = 0: it must not be 0",
    ),
    "openvino axis": (
        lambda: strew.openvino.slice_scatter(F, F, [0], [2], [1], [1]),
        ValueError,
        r"openvino\.slice_scatter: axes\[0\] = 1",
    ),
    "openvino dtype": (
        lambda: strew.openvino.slice_scatter(F, F.astype(int), [0], [2], [1]),
        TypeError,
        "openvino.slice_scatter: updates has dtype int64",
    ),
    "openvino float start": (
        lambda: strew.openvino.slice_scatter(F, F, [0.0], [2], [1]),
        TypeError,
        r"openvino\.slice_scatter: start\[0\] must be an integer, not float",
    ),
    "openvino float start array": (
        lambda: strew.openvino.slice_scatter(F, F, np.zeros(1), [2], [1]),
        TypeError,
        "openvino.slice_scatter: start has dtype float64",
    ),
    "openvino scalar start": (
        lambda: strew.openvino.slice_scatter(F, F, 0, [2], [1]),
        ValueError,
        "openvino.slice_scatter: start has shape",
    ),
    "torch dim": (
        lambda: strew.torch.scatter_reduce(F, 1, I, F, "sum"),
        IndexError,
        "torch.scatter_reduce: dim = 1: Dimension out of range",
    ),
    "torch index": (
        lambda: strew.torch.scatter_reduce(F, 0, [0, 2], F, "sum"),
        RuntimeError,
        r"torch\.scatter_reduce: index\[1\] = 2: index 2 is out of bounds",
    ),
    "torch dtype": (
        lambda: strew.torch.scatter_reduce(F, 0, I, F.astype(float), "sum"),
        RuntimeError,
        "torch.scatter_reduce: src has dtype float64: Expected self.dtype to be equal to src.dtype",
    ),
    "torch index dtype": (
        lambda: strew.torch.scatter_reduce(F, 0, I.astype(np.int16), F, "sum"),
        RuntimeError,
        "torch.scatter_reduce: index has dtype int16: Expected dtype int32/int64 for index",
    ),
    "torch reduce": (
        lambda: strew.torch.scatter_reduce(F, 0, I, F, "median"),
        RuntimeError,
        "torch.scatter_reduce: reduce = .median.: reduce argument must be either",
    ),
    "torch bool mean": (
        lambda: strew.torch.scatter_reduce([True], 0, [0], [True], "mean"),
        NotImplementedError,
        "torch.scatter_reduce: mean is not defined for dtype bool",
    ),
    "torch in place": (
        lambda: strew.torch.scatter_reduce_(F.copy(), 0, [0, 2], F, "sum"),
        RuntimeError,
        "torch.scatter_reduce_: index",
    ),
    "torch include_self": (
        lambda: strew.torch.scatter_reduce(F, 0, I, F, "sum", include_self=1),
        TypeError,
        "torch.scatter_reduce: include_self must be a bool, not int",
    ),
    "mindspore index": (
        lambda: strew.mindspore.scatter_mul(F.copy(), [2], F[:1]),
        RuntimeError,
        r"mindspore\.scatter_mul: indices\[0\] = 2: ",
    ),
    "mindspore index dtype": (
        lambda: strew.mindspore.scatter_mul(F.copy(), np.array([0], np.int8), F[:1]),
        TypeError,
        "mindspore.scatter_mul: indices has dtype int8",
    ),
    "mindspore shape": (
        lambda: strew.mindspore.scatter_mul(F.copy(), [0, 1], F[:1]),
        ValueError,
        "mindspore.scatter_mul: updates has shape",
    ),
    "torch_scatter 0-d": (
        lambda: strew.torch_scatter.scatter(1.0, [0]),
        IndexError,
        "torch_scatter.scatter: src has shape",
    ),
    "torch_scatter dim": (
        lambda: strew.torch_scatter.scatter(F, I, 1),
        IndexError,
        "torch_scatter.scatter: dim = 1",
    ),
    "torch_scatter reduce": (
        lambda: strew.torch_scatter.scatter(F, I, reduce="median"),
        ValueError,
        "torch_scatter.scatter: reduce = ",
    ),
    "torch_scatter index": (
        lambda: strew.torch_scatter.scatter_min(F, [0, 9], dim_size=3),
        RuntimeError,
        r"torch_scatter\.scatter_min: index\[1\] = 9",
    ),
    "torch_scatter shape": (
        lambda: strew.torch_scatter.scatter(F, [0, 0, 0]),
        RuntimeError,
        "torch_scatter.scatter: index has shape",
    ),
    "torch_scatter complex": (
        lambda: strew.torch_scatter.scatter_max(F.astype(complex), I),
        NotImplementedError,
        "torch_scatter.scatter_max: the maximum is not defined for dtype complex128",
    ),
    "dim of a wrong kind": (
        lambda: strew.torch_scatter.scatter(F, I, 0.0),
        TypeError,
        "torch_scatter.scatter: dim must be an integer, not float",
    ),
    "reduce of a wrong kind": (
        lambda: strew.torch_scatter.scatter(F, I, reduce=3),
        TypeError,
        "torch_scatter.scatter: reduce must be a str, not int",
    ),
    "dim_size of a wrong kind": (
        lambda: strew.torch_scatter.scatter(F, I, dim_size="3"),
        TypeError,
        "torch_scatter.scatter: dim_size must be an integer, not str",
    ),
    "None": (
        lambda: strew.torch_scatter.scatter(None, I),
        TypeError,
        "torch_scatter.scatter: src is missing",
    ),
    "no array": (
        lambda: strew.torch_scatter.scatter({1: 2}, I),
        TypeError,
        "torch_scatter.scatter: src must be an array",
    ),
    "strings": (
        lambda: strew.torch_scatter.scatter("ab", I),
        TypeError,
        "torch_scatter.scatter: src must be an array .* not str",
    ),
    "ragged": (
        lambda: strew.torch_scatter.scatter([[1], [2, 3]], I),
        ValueError,
        "torch_scatter.scatter: src is no array: ",
    ),
    "too large": (
        lambda: strew.torch_scatter.scatter(F, [0, 2**60]),
        MemoryError,
        "torch_scatter.scatter: ",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_class_and_message(case):
    call, exception, message = CASES[case]
    with pytest.raises(Exception) as found:
        call()
    # The class itself: a subclass such as NotImplementedError would pass for a RuntimeError.
    assert found.type is exception
    found.match("^" + message)


@pytest.mark.parametrize("exception", [TypeError, RuntimeError, strew.ConversionError])
def test_a_parameter_is_never_converted(exception):
    x = np.array([1, 2], np.int32)
    with pytest.raises(exception, match="updates has dtype float32"):
        strew.mindspore.scatter_mul(x, I, F)
    assert x.tolist() == [1, 2]


def test_the_conversion_error_is_a_class_of_the_package():
    assert strew.ConversionError.__module__ == "strew"
    with pytest.raises(strew.ConversionError) as found:
        strew.mindspore.scatter_mul(np.zeros(2, bool), I, I)
    assert found.type is strew.ConversionError


def bad_arrays():
    packed = np.zeros(2, np.dtype([("a", "u1"), ("b", "f8")]))
    return {
        "objects": (np.array([1, 2], object), TypeError, "dtype object"),
        "strings": (np.array(["a", "b"]), TypeError, "dtype <U1"),
        "bytes": (np.array([b"a", b"b"]), TypeError, "dtype |S1"),
        "structured": (packed, TypeError, "dtype"),
        "datetime": (np.zeros(2, "M8[s]"), TypeError, "dtype datetime64"),
        "void": (np.zeros(2, "V2"), TypeError, "dtype"),
        "long double": (np.zeros(2, np.clongdouble), TypeError, "dtype"),
    }


@pytest.mark.parametrize("role", ["src", "index", "out"])
@pytest.mark.parametrize("kind", bad_arrays())
def test_an_array_that_is_no_tensor_is_named(kind, role):
    given, exception, message = bad_arrays()[kind]
    arguments = {"src": np.ones(2), "index": I, "out": np.zeros(2), role: given}
    with pytest.raises(
        exception, match=f"^torch_scatter.scatter: {role}.*{message.replace('|', '[|]')}"
    ):
        strew.torch_scatter.scatter(**arguments)


def test_too_many_arguments_for_the_operator():
    from strew._strew import Operator

    with pytest.raises(TypeError, match="arguments must be at most 4, not 5"):
        Operator("mindspore.scatter_mul")(1, 2, 3, 4, 5)
    with pytest.raises(ValueError, match="no operator"):
        Operator("mindspore.scatter_nothing")


def test_an_exception_of_the_argument_comes_through():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise LookupError("gone")

    class BrokenIndex:
        def __index__(self):
            raise LookupError("gone")

    with pytest.raises(LookupError, match="^gone$"):
        strew.torch_scatter.scatter(Broken(), I)
    with pytest.raises(LookupError):
        strew.torch_scatter.scatter(F, I, BrokenIndex())


def test_settings_refuse_nonsense():
    for n in [0, -1]:
        with pytest.raises(ValueError, match=f"n = {n}: it must be at least 1"):
            strew.set_num_threads(n)
    for n in [-1, 2**64]:
        with pytest.raises(ValueError, match="it must be an integer from 0 to"):
            strew.set_memory_limit(n)
        with pytest.raises(ValueError, match="it must be an integer from 0 to"):
            strew.set_kept_memory(n)
    with pytest.raises(TypeError):
        strew.set_num_threads("2")


def test_the_memory_limit_is_kept():
    try:
        strew.set_memory_limit(1000)
        assert strew.get_memory_limit() == 1000
        with pytest.raises(MemoryError, match="needs 8000 bytes, and 1000 are available"):
            strew.torch_scatter.scatter(np.ones(2), I, dim_size=1000)
        assert strew.torch_scatter.scatter(np.ones(2), I, dim_size=100).shape == (100,)
    finally:
        strew.set_memory_limit(None)
    assert strew.get_memory_limit() > 1000


def test_freed_results_are_kept_up_to_a_limit():
    default = strew.get_kept_memory()
    try:
        for limit in (0, 1 << 30):
            strew.set_kept_memory(limit)
            assert strew.get_kept_memory() == limit
            for n in (2, 3):
                out = strew.torch_scatter.scatter(np.full(2, 1.0), np.full(2, n), dim_size=1 << 20)
                assert out[n] == 2 and np.count_nonzero(out) == 1
                del out
    finally:
        strew.set_kept_memory(None)
    assert strew.get_kept_memory() == default
