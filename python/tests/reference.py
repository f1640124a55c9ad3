"""The operators as plain loops, typed from their frameworks' rules, sharing nothing with strew.

Only exact arithmetic is compared with them: integers, and floats in the sequential order.
"""

import numpy as np


def mxnet_scatter_nd(data, indices, shape):
    out = np.zeros(shape, data.dtype)
    for y in np.ndindex(indices.shape[1:]):
        out[tuple(int(indices[(m, *y)]) for m in range(indices.shape[0]))] = data[y]
    return out


def openvino_slice_scatter(data, updates, start, stop, step, axes=None):
    axes = range(len(start)) if axes is None else [a % data.ndim for a in axes]
    where = [slice(None)] * data.ndim
    for a, b, e, s in zip(axes, start, stop, step):
        where[a] = slice(b, e, s)
    # Python's slice reads stop=-1 going backwards as "the last element" too.
    out = data.copy()
    assert out[tuple(where)].shape == updates.shape
    out[tuple(where)] = updates
    return out


def torch_scatter_reduce(input, dim, index, src, reduce, include_self=True):
    out = input.copy()
    hits = {}
    for at in np.ndindex(index.shape):
        to = list(at)
        to[dim] = int(index[at])
        hits.setdefault(tuple(to), []).append(src[at])
    for to, values in hits.items():
        if include_self:
            values = [input[to], *values]
        out[to] = _fold(values, reduce, out.dtype)
    return out


def _fold(values, reduce, dtype):
    names = {"amax": "max", "amin": "min", "mul": "prod", "add": "sum"}
    reduce = names.get(reduce, reduce)
    wide = np.float32 if dtype == np.float16 else dtype
    with np.errstate(over="ignore", invalid="ignore"):
        if reduce in ("max", "min"):
            best = values[0]
            for value in values[1:]:
                if value != value or (value > best if reduce == "max" else value < best):
                    best = value if best == best else best
            return best
        total = np.array(1 if reduce == "prod" else 0, wide)
        for value in values:
            value = np.array(value, wide)
            total = total * value if reduce == "prod" else total + value
        if reduce == "mean":
            count = np.array(len(values), wide)
            total = total // count if dtype.kind in "iu" else total / count
        return total.astype(dtype)


def mindspore_scatter_mul(input_x, indices, updates):
    for at in np.ndindex(indices.shape):
        row = int(indices[at])
        with np.errstate(over="ignore"):
            input_x[row] = input_x[row] * updates[at].astype(input_x.dtype)


def torch_scatter(src, index, dim, dim_size, reduce):
    """Without NaN and infinities: their rules have tests of their own."""
    if index.ndim == 1:
        index = index.reshape([-1 if a == dim else 1 for a in range(src.ndim)][: dim + 1])
    index = index.reshape(index.shape + (1,) * (src.ndim - index.ndim))
    index = np.broadcast_to(index, src.shape)
    shape = list(src.shape)
    shape[dim] = dim_size
    empty = 1 if reduce == "mul" and src.size else 0
    out = np.full(shape, empty, src.dtype)
    arg = np.full(shape, src.shape[dim], np.int64)
    hits = {}
    for at in np.ndindex(src.shape):
        to = list(at)
        to[dim] = int(index[at])
        hits.setdefault(tuple(to), []).append((src[at], at[dim]))
    for to, found in hits.items():
        values = [value for value, _ in found]
        out[to] = _fold(values, reduce, out.dtype)
        if reduce in ("min", "max"):
            arg[to] = next(where for value, where in found if value == out[to])
    return out, arg
