"""Random calls against the plain loops of `reference`, bit for bit."""

import numpy as np
import reference
import strew
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES = [*INTEGERS, "float16", "float32", "float64"]
settings.register_profile("strew", deadline=None, max_examples=150)
settings.load_profile("strew")


def elements(dtype):
    if np.dtype(dtype).kind == "f":
        # Few bits, so that sums differ by their order but do not overflow.
        return st.integers(-300, 300).map(lambda n: n / 7)
    return hnp.from_dtype(np.dtype(dtype))


def arrays(dtype, shape):
    drawn = "float64" if np.dtype(dtype).kind == "f" else dtype
    return hnp.arrays(drawn, shape, elements=elements(dtype)).map(lambda a: a.astype(dtype))


@st.composite
def strided(draw, array):
    """The same values, with other strides."""
    axes = draw(st.permutations(range(array.ndim)))
    steps = draw(st.tuples(*[st.sampled_from([1, 2, -1, -2]) for _ in axes]))
    wide = np.zeros([array.shape[a] * abs(steps[a]) for a in axes], array.dtype).transpose(
        np.argsort(axes)
    )
    view = wide[(*(slice(None, None, s) for s in steps), ...)]
    view[...] = array
    return view


def bits(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(expected).tobytes()


@given(st.data())
def test_mxnet_scatter_nd(data):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    depth = data.draw(st.integers(1, len(shape)))
    outer = data.draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=5))
    index_type = data.draw(st.sampled_from([*INTEGERS, "float32"]))
    rows = [
        data.draw(hnp.arrays(index_type, outer, elements=st.integers(0, n - 1)))
        for n in shape[:depth]
    ]
    indices = data.draw(strided(np.stack(rows)))
    dtype = data.draw(st.sampled_from(DTYPES))
    updates = data.draw(strided(data.draw(arrays(dtype, outer + tuple(shape[depth:])))))
    bits(
        strew.mxnet.scatter_nd(updates, indices, shape),
        reference.mxnet_scatter_nd(updates, indices, shape),
    )


@given(st.data())
def test_openvino_slice_scatter(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6))
    dtype = data.draw(st.sampled_from(DTYPES))
    array = data.draw(strided(data.draw(arrays(dtype, shape))))
    count = data.draw(st.integers(0, len(shape)))
    axes = data.draw(st.permutations(range(len(shape))))[:count]
    bound = st.integers(-9, 9) | st.sampled_from([-(2**63), 2**63 - 1])
    start, stop, step = (
        data.draw(st.lists(each, min_size=count, max_size=count))
        for each in (
            bound,
            bound,
            st.integers(-3, 3).filter(bool) | st.sampled_from([-(2**63), 2**63 - 1]),
        )
    )
    where = [slice(None)] * len(shape)
    for axis, *parts in zip(axes, start, stop, step):
        where[axis] = slice(*parts)
    updates = data.draw(strided(data.draw(arrays(dtype, array[tuple(where)].shape))))
    expected = reference.openvino_slice_scatter(array, updates, start, stop, step, axes)
    bits(strew.openvino.slice_scatter(array, updates, start, stop, step, axes), expected)


@given(st.data())
def test_torch_scatter_reduce(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=5))
    dim = data.draw(st.integers(0, len(shape) - 1))
    covered = [data.draw(st.integers(0, 7 if a == dim else n)) for a, n in enumerate(shape)]
    larger = [n + data.draw(st.integers(0, 2)) for n in covered]
    dtype = data.draw(st.sampled_from(DTYPES))
    index_type = data.draw(st.sampled_from(["int32", "int64"]))
    index = data.draw(hnp.arrays(index_type, covered, elements=st.integers(0, shape[dim] - 1)))
    index = data.draw(strided(index))
    src = data.draw(strided(data.draw(arrays(dtype, larger))))
    x = data.draw(strided(data.draw(arrays(dtype, shape))))
    reduce = data.draw(st.sampled_from(["sum", "prod", "mean", "amax", "amin"]))
    include = data.draw(st.booleans())
    expected = reference.torch_scatter_reduce(x, dim, index, src, reduce, include)
    named = dim - data.draw(st.sampled_from([0, len(shape)]))
    bits(strew.torch.scatter_reduce(x, named, index, src, reduce, include_self=include), expected)
    assert strew.torch.scatter_reduce_(x, named, index, src, reduce, include_self=include) is x
    bits(x, expected)


@given(st.data())
def test_mindspore_scatter_mul(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=5))
    outer = data.draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=6))
    # A product of 16-bit floats is rounded once, which a loop over rows does not say.
    dtype = data.draw(st.sampled_from([d for d in DTYPES if d != "float16"]))
    index_type = data.draw(st.sampled_from(["int32", "int64"]))
    indices = data.draw(hnp.arrays(index_type, outer, elements=st.integers(0, shape[0] - 1)))
    x = data.draw(strided(data.draw(arrays(dtype, shape))))
    updates = data.draw(strided(data.draw(arrays(dtype, outer + shape[1:]))))
    expected = x.copy()
    reference.mindspore_scatter_mul(expected, indices, updates)
    assert strew.mindspore.scatter_mul(x, indices, updates) is x
    bits(x, expected)


@given(st.data())
def test_torch_scatter(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=5))
    dim = data.draw(st.integers(0, len(shape) - 1))
    if data.draw(st.booleans()):
        pattern = (shape[dim],)
    else:
        rank = data.draw(st.integers(min(2, len(shape)), len(shape)))
        pattern = tuple(data.draw(st.sampled_from([1, n])) for n in shape[:rank])
        if rank == 1 and pattern != shape:
            pattern = shape
    size = data.draw(st.integers(1, 5))
    index_type = data.draw(st.sampled_from(["int32", "int64"]))
    index = data.draw(hnp.arrays(index_type, pattern, elements=st.integers(0, size - 1)))
    dtype = data.draw(st.sampled_from(DTYPES))
    src = data.draw(strided(data.draw(arrays(dtype, shape))))
    reduce = data.draw(st.sampled_from(["sum", "mul", "mean", "min", "max"]))
    values, where = reference.torch_scatter(src, index, dim, size, reduce)
    if reduce in ("min", "max"):
        # A group whose result is the dtype's extreme counts as empty.
        limits = np.finfo(dtype) if src.dtype.kind == "f" else np.iinfo(dtype)
        lost = (values == (limits.max if reduce == "min" else limits.min)) & (where < shape[dim])
        values[lost], where[lost] = 0, shape[dim]
        out, arg = getattr(strew.torch_scatter, f"scatter_{reduce}")(src, index, dim, None, size)
        bits(arg, where)
        bits(out, values)
    bits(strew.torch_scatter.scatter(src, index, dim, None, size, reduce), values)


@given(st.data())
def test_torch_scatter_goes_on_in_out(data):
    groups = data.draw(st.integers(1, 4))
    dtype = data.draw(st.sampled_from(INTEGERS))
    src = data.draw(arrays(dtype, data.draw(st.integers(0, 9))))
    index = data.draw(hnp.arrays("int64", src.shape, elements=st.integers(0, groups - 1)))
    out = data.draw(strided(data.draw(arrays(dtype, groups))))
    reduce = data.draw(st.sampled_from(["sum", "mul", "min", "max"]))
    joined = np.concatenate([out, src]), np.concatenate([np.arange(groups), index])
    expected, _ = reference.torch_scatter(*joined, 0, groups, reduce)
    assert strew.torch_scatter.scatter(src, index, out=out, reduce=reduce) is out
    bits(out, expected)
