"""How each operator of compare.toml is called with cells, an index and updates, all of one axis.

`ADAPTERS` has for each operator, under its framework's words for the ways in which updates join, a function of
`(x, i, y)`, and of the options that its cells name: what becomes of the cells `x` when update `y[k]` goes to cell
`i[k]`. Where a framework makes a new array, `x` only says how long it is. A "get" is of `x[i]`, whatever `y` is.
"""

import functools
import math

import numpy as np
import strew

mx, ov, ms, ts, onnx = strew.mxnet, strew.openvino, strew.mindspore, strew.torch_scatter, strew.onnx
pyg = strew.pyg_lib
tf, jax, hlo, groupies = strew.tensorflow, strew.jax, strew.stablehlo, strew.numpy_groupies
paddle = strew.paddle

FOLDS = ["sum", "add", "mean", "min", "max"]
JOINS = ["add", "sub", "mul", "div", "max", "min", "update"]
OF_EACH_VALUE = ["cumsum", "cumprod", "cummin", "cummax", "sort"]
OF_NUMBERS = [
    "sum",
    "prod",
    "mean",
    "var",
    "std",
    "min",
    "max",
    "first",
    "last",
    "len",
    "any",
    "all",
    "argmin",
    "argmax",
]
# In numpy_groupies these have forms that leave NaN out.
WITH_NAN = [*OF_NUMBERS, "sumofsquares", *OF_EACH_VALUE[:-1]]
GROUPIES = [*WITH_NAN, *(f"nan{word}" for word in WITH_NAN), "allnan", "anynan", "sort", "rsort"]
OF_STREW = ["sumsq", "count", "nunique", "median", "quantile", "mode", "logsumexp", "softmax"]


def one_by_one(function):
    """For what takes a single update: one call after the other."""

    def run(x, i, y, **options):
        for to, update in zip(i, y, strict=True):
            x = function(x, int(to), update, **options)
        return x

    return run


def strided(x, i, y):
    sizes = tuple(y.shape)
    steps = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    return strew.torch.as_strided_scatter(x, y, sizes, steps, i * math.prod(sizes))


def lengths(x, i):
    return np.bincount(i, minlength=len(x))


def pointers(x, i):
    return np.append(0, lengths(x, i).cumsum())


def each(words, function):
    """The same call with another word each time."""
    return {word: functools.partial(function, word) for word in words}


def named(prefix, words, function, module):
    """Operators that begin with their module and what is before the word, in their name."""
    adapters = {}
    for word in words:
        run = getattr(module, f"{prefix.rpartition('.')[2]}{word}")
        adapters[f"{prefix}{word}"] = {word.partition("_c")[0]: functools.partial(function, run)}
    return adapters


def rows(run, x, i, y, **options):
    return run(x, i, y, **options)


def tuples(run, x, i, y, **options):
    return run(x, i[:, None], y, **options)


def first(found):
    return found[0] if isinstance(found, tuple) else found


def torch(form):
    """PyTorch's functions, or those in place."""

    def call(name):
        return getattr(strew.torch, f"{name}{form}")

    def masked(x, i, y):
        mask = np.zeros(len(x), bool)
        mask[i] = True
        return call("masked_scatter")(x, mask, y)

    def reduced(name):
        return lambda word, x, i, y: call(name)(x, 0, i, y, word)

    adapters = {
        "scatter": {"set": lambda x, i, y: call("scatter")(x, 0, i, y)}
        | each(["add", "multiply"], lambda word, x, i, y: call("scatter")(x, 0, i, y, reduce=word)),
        "scatter_add": {"add": lambda x, i, y: call("scatter_add")(x, 0, i, y)},
        "scatter_reduce": each(["sum", "prod", "mean", "amax", "amin"], reduced("scatter_reduce")),
        "index_add": {"add": lambda x, i, y: call("index_add")(x, 0, i, y)},
        "index_reduce": each(["prod", "mean", "amax", "amin"], reduced("index_reduce")),
        "index_copy": {"set": lambda x, i, y: call("index_copy")(x, 0, i, y)},
        "index_fill": {
            "fill": one_by_one(lambda x, i, y: call("index_fill")(x, 0, np.array([i]), y))
        },
        "put": {
            "set": lambda x, i, y: call("put")(x, i, y),
            "accumulate": lambda x, i, y: call("put")(x, i, y, True),
        },
        "index_put": {
            "set": lambda x, i, y: call("index_put")(x, [i], y),
            "accumulate": lambda x, i, y: call("index_put")(x, [i], y, True),
        },
        "masked_scatter": {"set": masked},
    }
    return {f"torch.{name}{form}": adapter for name, adapter in adapters.items()}


def segment_reduce(word, x, i, y, **options):
    return strew.torch.segment_reduce(y, word, lengths=lengths(x, i), **options)


def stablehlo(word, x, i, y, **options):
    numbers = {
        "inserted_window_dims": [0],
        "scatter_dims_to_operand_dims": [0],
        "index_vector_dim": 1,
    }
    return hlo.scatter(x, i[:, None], y, region=word, **numbers, **options)


def at(name):
    function = getattr(strew.numpy, name)
    return lambda x, i, y: function.at(x, i, y) if function.nin == 2 else function.at(x, i)


def bincount(x, i, y, out=False):
    return strew.numpy.bincount(i, y, out=np.zeros(len(x)) if out else None)


def aggregated(word, x, i, y, size=False, **options):
    return groupies.aggregate(i, y, word, size=len(x) if size else None, **options)


def aggregated_by_strew(word, x, i, y, size=False, mode="error", **options):
    return strew.aggregate(
        y, i, word, size=len(x) if size or mode != "error" else None, mode=mode, **options
    )


def scattered_by_strew(word, x, i, y, out=False, **options):
    into = {"out": x} if out else {"dim_size": len(x)}
    return strew.scatter(y, i, 0, reduce=word, **into, **options)


def planned(word, x, i, y, mode="error", out=False):
    return strew.Plan(i, len(x), mode=mode).scatter(y, word, out=x if out else None)


def of_torch_scatter(key, module):
    """The functions of torch_scatter, or those of the same names in pyg_lib."""
    return {
        f"{key}.scatter": each(
            ["sum", "mul", "mean", "min", "max"],
            lambda word, x, i, y, out=False: module.scatter(
                y, i, 0, x if out else None, len(x), word
            ),
        ),
        **named(
            f"{key}.scatter_",
            ["sum", "add", "mul", "mean", "min", "max", "std", "logsumexp"],
            lambda run, x, i, y, out=False: first(run(y, i, 0, x if out else None, len(x))),
            module,
        ),
        **named(f"{key}.scatter_", ["softmax"], lambda run, x, i, y: run(y, i, 0, len(x)), module),
        **named(
            f"{key}.scatter_",
            ["log_softmax"],
            lambda run, x, i, y: run(y, i, 0, dim_size=len(x)),
            module,
        ),
        f"{key}.segment_coo": each(
            ["sum", "mean", "min", "max"],
            lambda word, x, i, y, out=False: module.segment_coo(
                y, i, x if out else None, len(x), word
            ),
        ),
        f"{key}.segment_csr": each(
            ["sum", "mean", "min", "max"],
            lambda word, x, i, y: module.segment_csr(y, pointers(x, i), None, word),
        ),
        **named(
            f"{key}.segment_",
            [f"{word}_coo" for word in FOLDS],
            lambda run, x, i, y, out=False: first(run(y, i, x if out else None, len(x))),
            module,
        ),
        **named(
            f"{key}.segment_",
            [f"{word}_csr" for word in FOLDS],
            lambda run, x, i, y, out=False: first(run(y, pointers(x, i), x if out else None)),
            module,
        ),
        f"{key}.gather_csr": {"set": lambda x, i, y: module.gather_csr(y, np.append(i, i[-1] + 1))},
    }


SCATTERS = {
    "mxnet.scatter_nd": {"set": lambda x, i, y: mx.scatter_nd(y, i[None], x.shape)},
    "mxnet.scatter_set_nd": {"set": lambda x, i, y: mx.scatter_set_nd(x, y, i[None], x.shape)},
    "mxnet.backward_gather_nd": {"add": lambda x, i, y: mx.backward_gather_nd(y, i[None], x.shape)},
    "openvino.scatter_elements_update": each(
        ["none", "sum", "prod", "min", "max", "mean"],
        lambda word, x, i, y: ov.scatter_elements_update(x, i, y, 0, word),
    ),
    "openvino.scatter_nd_update": each(
        ["none", "sum", "sub", "prod", "min", "max"],
        lambda word, x, i, y: ov.scatter_nd_update(x, i[:, None], y, word),
    ),
    "openvino.scatter_update": {"set": lambda x, i, y: ov.scatter_update(x, i, y, 0)},
    "openvino.slice_scatter": {
        "set": one_by_one(lambda x, i, y: ov.slice_scatter(x, y[None], [i], [i + 1], [1])),
    },
    **torch(""),
    **torch("_"),
    "torch.slice_scatter": {
        "set": one_by_one(lambda x, i, y: strew.torch.slice_scatter(x, y[None], 0, i, i + 1)),
    },
    "torch.select_scatter": {
        "set": one_by_one(lambda x, i, y: strew.torch.select_scatter(x, y, 0, i)),
    },
    "torch.diagonal_scatter": {
        # The diagonal of a matrix of one row is one element.
        "set": one_by_one(
            lambda x, i, y: strew.torch.diagonal_scatter(x[None], y[..., None], i)[0]
        ),
    },
    "torch.as_strided_scatter": {"set": one_by_one(strided)},
    "torch.segment_reduce": each(["sum", "prod", "mean", "max", "min"], segment_reduce),
    **named("mindspore.scatter_", JOINS, rows, ms),
    **named("mindspore.scatter_nd_", JOINS, tuples, ms),
    **named("mindspore.tensor_scatter_", JOINS, tuples, ms),
    "mindspore.scatter_nd": {
        "add": lambda x, i, y, **o: ms.scatter_nd(i[:, None], y, x.shape, **o)
    },
    "mindspore.tensor_scatter_elements": each(
        ["none", "add"], lambda word, x, i, y: ms.tensor_scatter_elements(x, i, y, 0, word)
    ),
    "mindspore.scatter": {"none": lambda x, i, y: ms.scatter(x, 0, i, y)},
    **of_torch_scatter("torch_scatter", ts),
    **of_torch_scatter("pyg_lib", pyg),
    "pyg_lib.softmax_csr": {"softmax": lambda x, i, y: pyg.softmax_csr(y, pointers(x, i))},
    "onnx.scatter_elements": each(
        ["none", "add", "mul", "max", "min"],
        lambda word, x, i, y: onnx.scatter_elements(x, i, y, reduction=word),
    ),
    "onnx.scatter_nd": each(
        ["none", "add", "mul", "max", "min"],
        lambda word, x, i, y: onnx.scatter_nd(x, i[:, None], y, word),
    ),
    "onnx.scatter": {"none": lambda x, i, y, **o: onnx.scatter(x, i, y, **o)},
    "onnx.tensor_scatter": {
        "set": one_by_one(
            lambda x, i, y, **o: onnx.tensor_scatter(
                x[None], y[None, None], np.array([i]), axis=1, **o
            )[0]
        )
    },
    "tensorflow.scatter_nd": {
        "add": lambda x, i, y, **o: tf.scatter_nd(i[:, None], y, x.shape, **o)
    },
    **named("tensorflow.tensor_scatter_nd_", ["update", "add", "sub", "min", "max"], tuples, tf),
    **named("tensorflow.scatter_", JOINS, rows, tf),
    **named(
        "tensorflow.math.segment_",
        ["sum", "mean", "prod", "min", "max"],
        lambda run, x, i, y: run(y, i),
        tf.math,
    ),
    **named(
        "tensorflow.math.unsorted_segment_",
        ["sum", "mean", "prod", "min", "max", "sqrt_n"],
        lambda run, x, i, y: run(y, i, len(x)),
        tf.math,
    ),
    "paddle.scatter": {"set": lambda x, i, y: paddle.scatter(x, i, y)},
    "paddle.scatter_nd": {"add": lambda x, i, y: paddle.scatter_nd(i[:, None], y, x.shape)},
    "paddle.scatter_nd_add": {"add": lambda x, i, y: paddle.scatter_nd_add(x, i[:, None], y)},
    "paddle.put_along_axis": each(
        ["assign", "add", "mul", "multiply", "mean", "amax", "amin"],
        lambda word, x, i, y: paddle.put_along_axis(x, i, y, 0, word),
    ),
    "paddle.index_add": {"add": lambda x, i, y: paddle.index_add(x, i, 0, y)},
    "paddle.index_fill": {
        "fill": one_by_one(lambda x, i, y: paddle.index_fill(x, np.array([i]), 0, y))
    },
    **named(
        "paddle.geometric.segment_",
        ["sum", "mean", "min", "max"],
        lambda run, x, i, y: run(y, i),
        paddle.geometric,
    ),
    **named(
        "jax.at_",
        ["set", "add", "subtract", "multiply", "divide", "power", "min", "max"],
        rows,
        jax,
    ),
    **named(
        "jax.ops.segment_",
        ["sum", "prod", "min", "max"],
        lambda run, x, i, y: run(y, i, len(x)),
        jax.ops,
    ),
    "stablehlo.scatter": each(["set", "add", "mul", "max", "min"], stablehlo),
    **{
        f"numpy.{name}.at": {name: at(name)}
        for name in strew.numpy.__all__
        if isinstance(getattr(strew.numpy, name), strew.numpy.ufunc)
    },
    "numpy.put_along_axis": {"set": lambda x, i, y: strew.numpy.put_along_axis(x, i, y, 0)},
    "numpy.bincount": {"sum": bincount},
    "numpy_groupies.aggregate": each(GROUPIES, aggregated),
    "strew.aggregate": each([*OF_NUMBERS, *OF_STREW, *OF_EACH_VALUE], aggregated_by_strew),
    "strew.scatter": each(["sum", "mean", "prod", "min", "max", "assign"], scattered_by_strew),
    "strew.Plan.scatter": each(
        ["sum", "prod", "mean", "min", "max", "amin", "amax", "assign"], planned
    ),
}

GATHERS = {
    "mxnet.gather_nd": lambda x, i, y: mx.gather_nd(x, i[None]),
    "openvino.gather": lambda x, i, y: ov.gather(x, i, 0),
    "openvino.gather_elements": lambda x, i, y: ov.gather_elements(x, i, 0),
    "openvino.gather_nd": lambda x, i, y: ov.gather_nd(x, i[:, None]),
    "torch.gather": lambda x, i, y: strew.torch.gather(x, 0, i),
    "torch.take_along_dim": lambda x, i, y, dim=0: strew.torch.take_along_dim(x, i, dim),
    "torch_scatter.gather_coo": lambda x, i, y: ts.gather_coo(x, i),
    "pyg_lib.gather_coo": lambda x, i, y: pyg.gather_coo(x, i),
    "onnx.gather": lambda x, i, y: onnx.gather(x, i),
    "onnx.gather_elements": lambda x, i, y: onnx.gather_elements(x, i),
    "onnx.gather_nd": lambda x, i, y: onnx.gather_nd(x, i[:, None]),
    "tensorflow.gather_nd": lambda x, i, y, **o: tf.gather_nd(x, i[:, None], **o),
    "paddle.gather": lambda x, i, y: paddle.gather(x, i),
    "paddle.gather_nd": lambda x, i, y: paddle.gather_nd(x, i[:, None]),
    "paddle.take_along_axis": lambda x, i, y: paddle.take_along_axis(x, i, 0),
    "strew.gather": lambda x, i, y, **o: strew.gather(x, i, 0, **o),
    "jax.at_get": lambda x, i, y, **o: jax.at_get(x, i, **o),
}

ADAPTERS = SCATTERS | {name: {"get": call} for name, call in GATHERS.items()}

# Where an index is made of pointers or lengths: the call with one of these that is bad.
BAD_POINTERS = {
    "torch.segment_reduce": [
        lambda bad: strew.torch.segment_reduce([1.0, 2.0, 3.0], "sum", offsets=np.array([0, bad])),
        lambda bad: strew.torch.segment_reduce(
            [1.0, 2.0, 3.0], "sum", lengths=np.array([bad, 3 - bad])
        ),
    ],
}
BAD_POINTERS |= {
    f"{key}.gather_csr": [
        lambda bad, module=module: module.gather_csr([1.0, 2.0, 3.0], np.array([0, bad, 2, 3]))
    ]
    for key, module in (("torch_scatter", ts), ("pyg_lib", pyg))
}
BAD_POINTERS |= {
    f"{module.__name__.removeprefix('strew.')}.{name}": [
        lambda bad, module=module, name=name: getattr(module, name)(
            [1.0, 2.0, 3.0], np.array([0, bad])
        )
    ]
    for module in (ts, pyg)
    for name in module.__all__
    if name.endswith("csr") and not name.startswith("gather")
}

SLICES = {
    "openvino.slice_scatter": lambda x, y, start, stop, step: ov.slice_scatter(
        x, y, [start], [stop], [step]
    ),
    "torch.slice_scatter": lambda x, y, start, stop, step: strew.torch.slice_scatter(
        x, y, 0, start, stop, step
    ),
}
