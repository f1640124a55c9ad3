"""`strew.jax` inside JAX's transformations, beside JAX's own functions. Needs jax."""

import functools
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import strew
from jax.test_util import check_grads
from jax_arrays import close, some, x64

OPERATORS = "set add subtract multiply divide min max power".split()
DTYPES = "bool int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 float32 complex64".split()
MODES = [None, "drop", "fill", "clip", "promise_in_bounds"]
SEGMENTS = ["sum", "prod", "min", "max"]


def at(operator):
    return getattr(strew.jax, f"at_{operator}")


# JAX has no sums and products of bools.
OF_BOOLS = {"add": "max", "multiply": "min", "sum": "max", "prod": "min"}


def own(operator, x, i, y, mode=None):
    """JAX's own."""
    operator = OF_BOOLS.get(operator, operator) if x.dtype == bool else operator
    return getattr(x.at[i], operator)(y, mode=mode)


def is_defined(operator, dtype):
    kind = jnp.dtype(dtype).kind
    if dtype == "bool":
        return operator in ("set", "add", "multiply", "min", "max")
    if operator == "divide":
        return dtype.startswith(("float", "bfloat", "complex"))
    return not (kind == "c" and operator in ("min", "max"))


CASES = [(o, d) for o in OPERATORS for d in DTYPES if is_defined(o, d)]


@pytest.mark.parametrize(("operator", "dtype"), CASES)
def test_values(operator, dtype):
    rng = np.random.default_rng(1)
    x, y = some(rng, (5, 3), dtype), some(rng, (8, 3), dtype, 1, 2 + (operator != "power"))
    i = jnp.asarray(rng.integers(-5, 5, 8))
    found = jax.jit(at(operator))(x, i, y)
    # XLA rounds 16-bit floats after each step; strew at the end.
    close(found, own(operator, x, i, y), 0.05 if dtype.endswith("float16") else 1e-5)
    if operator != "power":
        assert (found == at(operator)(x, i, y)).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_modes(operator, mode):
    rng = np.random.default_rng(2)
    x, y = some(rng, (5, 3), "float32"), some(rng, (8, 3), "float32", 1, 3)
    # An index out of bounds is what is promised not to be there.
    i = jnp.asarray(
        rng.integers(-5, 5, 8) if mode == "promise_in_bounds" else rng.integers(-9, 9, 8)
    )
    found = jax.jit(functools.partial(at(operator), mode=mode))(x, i, y)
    close(found, own(operator, x, i, y, mode))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_gathers(dtype, mode):
    rng = np.random.default_rng(3)
    x, i = some(rng, (5, 3), dtype), jnp.asarray(rng.integers(-9, 9, 8))
    found = jax.jit(functools.partial(strew.jax.at_get, mode=mode))(x, i)
    expected = x.at[i].get(mode=mode if mode in ("drop", "fill") else "clip")
    close(found, expected, 0)


def test_a_fill_value():
    x, i = jnp.arange(3.0), jnp.array([0, 7, -4, 1])
    found = jax.jit(lambda x: strew.jax.at_get(x, i, mode="fill", fill_value=-1))(x)
    assert found.tolist() == [0, -1, -1, 1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduce", SEGMENTS)
def test_segments(reduce, dtype):
    if dtype == "complex64" and reduce in ("min", "max"):
        return
    rng = np.random.default_rng(4)
    data, ids = some(rng, (20, 2), dtype), jnp.asarray(rng.integers(-1, 7, 20))
    ours = getattr(strew.jax.ops, f"segment_{reduce}")
    theirs = getattr(
        jax.ops, f"segment_{OF_BOOLS[reduce] if dtype == 'bool' and reduce in OF_BOOLS else reduce}"
    )
    found = jax.jit(lambda d, i: ours(d, i, 6))(data, ids)
    close(found, theirs(data, ids, 6), 0.05 if dtype.endswith("float16") else 1e-5)
    assert (found == ours(data, ids, 6)).all()
    # Where the numbers are known, there are as many segments as they say.
    assert jax.jit(lambda d: ours(d, ids))(data).shape == (7, 2)
    close(jax.jit(lambda d: ours(d[:, 0], ids, 6))(data), found[:, 0])


@pytest.mark.parametrize("reduce", SEGMENTS)
def test_gradients_of_segments(reduce):
    rng = np.random.default_rng(5)
    ours = getattr(strew.jax.ops, f"segment_{reduce}")
    ids = jnp.asarray(rng.integers(-1, 7, 20))
    with x64():
        data = jnp.asarray(rng.standard_normal((20, 2)))
        check_grads(lambda d: jnp.tanh(ours(d, ids, 7)[:5]), (data,), 2)


def of_two(operator, mode=None, i=None):
    """A smooth function of `x` and `y`, with cells that several updates share."""
    i = jnp.array([1, -1, 0, 1, 9, 2]) if i is None else i
    return lambda x, y: jnp.tanh(at(operator)(x, i, y, mode=mode))


def operands(rng, rows=6):
    x, y = rng.standard_normal((4, 3)), rng.standard_normal((rows, 3))
    # Powers and quotients stay far from zero.
    return jnp.asarray(np.abs(x) + 0.5), jnp.asarray(np.abs(y) + 0.5)


@pytest.mark.parametrize("mode", [None, "clip"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_gradients(operator, mode):
    # Both directions, and of those again.
    with x64():
        values = operands(np.random.default_rng(6))
        check_grads(of_two(operator, mode), values, 2, rtol=1e-4, atol=1e-4)
        check_grads(jax.jit(of_two(operator, mode)), values, 2, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("operator", ["set", "add", "subtract", "min", "max"])
def test_the_gradients_of_jax(operator):
    rng = np.random.default_rng(7)
    # Many equal values: minima and maxima share their gradient.
    x, y = some(rng, (5, 2), "float32"), some(rng, (12, 2), "float32")
    i, w = jnp.asarray(rng.integers(-9, 9, 12)), jnp.asarray(rng.standard_normal((5, 2)))
    for argument in (0, 1):
        ours = jax.grad(lambda *a: (at(operator)(a[0], i, a[1]) * w).sum(), argument)(x, y)
        theirs = jax.grad(lambda *a: (own(operator, a[0], i, a[1]) * w).sum(), argument)(x, y)
        close(ours, theirs)


@pytest.mark.parametrize("mode", [None, "clip", "fill"])
def test_gradients_of_gathers(mode):
    i = jnp.array([[0, 9], [-1, 1]])
    with x64():
        x = jnp.asarray(np.random.default_rng(8).standard_normal((4, 3)))
        f = functools.partial(strew.jax.at_get, mode=mode, fill_value=0 if mode else None)
        check_grads(lambda x: jnp.sin(f(x, i)), (x,), 2)


@pytest.mark.parametrize("operator", ["set", "add", "min", "divide"])
def test_products_with_hessians(operator):
    i, (x, y) = jnp.array([1, -1, 0, 1, 9, 2]), operands(np.random.default_rng(9))

    def f(apply, y):
        return (apply(x, i, y) ** 3).sum()

    def product(apply):
        return jax.jit(lambda y, v: jax.jvp(jax.grad(functools.partial(f, apply)), (y,), (v,))[1])

    theirs = functools.partial(own, operator)
    if operator == "divide":
        # JAX has no derivative of a product: another way to write it.
        def theirs(x, i, y):
            return x * jnp.exp(-jnp.zeros_like(x).at[i].add(jnp.log(y)))

    close(product(at(operator))(y, y * 0.3), product(theirs)(y, y * 0.3), 1e-3)


@pytest.mark.parametrize(
    "axes", [(0, 0, 0), (None, 0, 0), (0, None, None), (None, None, 1), (2, 1, 0)]
)
@pytest.mark.parametrize("operator", OPERATORS)
def test_batches(operator, axes):
    rng = np.random.default_rng(10)
    plain = (
        some(rng, (5, 3), "float32"),
        jnp.asarray(rng.integers(-9, 9, 8)),
        some(rng, (8, 3), "float32", 1, 3),
    )
    arrays = [
        p if axis is None else jnp.stack([jnp.roll(p, k) for k in range(4)], axis)
        for p, axis in zip(plain, axes)
    ]
    ours, theirs = at(operator), functools.partial(own, operator)
    close(jax.jit(jax.vmap(ours, axes))(*arrays), jax.vmap(theirs, axes)(*arrays))
    # Batches of batches.
    close(
        jax.vmap(jax.vmap(ours, axes), (None, 0, None))(
            arrays[0], jnp.stack([arrays[1]] * 2), arrays[2]
        ),
        jax.vmap(jax.vmap(theirs, axes), (None, 0, None))(
            arrays[0], jnp.stack([arrays[1]] * 2), arrays[2]
        ),
    )


@pytest.mark.parametrize("axes", [(0, 0), (None, 0), (1, None)])
def test_batches_of_gathers(axes):
    rng = np.random.default_rng(11)
    plain = some(rng, (5, 3), "float32"), jnp.asarray(rng.integers(-9, 9, 8))
    arrays = [p if a is None else jnp.stack([p, p + 1, p - 1], a) for p, a in zip(plain, axes)]
    close(
        jax.vmap(strew.jax.at_get, axes)(*arrays),
        jax.vmap(lambda x, i: x.at[i].get(mode="clip"), axes)(*arrays),
    )


def test_batches_of_segments():
    rng = np.random.default_rng(12)
    data, ids = some(rng, (4, 20, 2), "float32"), jnp.asarray(rng.integers(-1, 7, (4, 20)))
    for axes in [(0, 0), (0, None), (None, 0)]:
        given = data if axes[0] == 0 else data[0], ids if axes[1] == 0 else ids[0]
        for reduce in SEGMENTS:
            ours, theirs = (getattr(m.ops, f"segment_{reduce}") for m in (strew.jax, jax))
            close(
                jax.vmap(lambda d, i: ours(d, i, 6), axes)(*given),
                jax.vmap(lambda d, i: theirs(d, i, 6), axes)(*given),
            )


@pytest.mark.parametrize("operator", ["set", "add", "max"])
def test_gradients_of_a_batch(operator):
    rng = np.random.default_rng(13)
    x, y = jnp.asarray(rng.standard_normal((3, 5, 2))), jnp.asarray(rng.standard_normal((3, 8, 2)))
    i = jnp.asarray(rng.integers(-9, 9, (3, 8)))

    def gradients(apply):
        f = jax.grad(lambda x, i, y: jnp.sin(apply(x, i, y)).sum(), (0, 2))
        return jax.jit(jax.vmap(f))(x, i, y)

    for ours, theirs in zip(gradients(at(operator)), gradients(functools.partial(own, operator))):
        close(ours, theirs)


def test_loops_and_rematerialisation():
    rng = np.random.default_rng(14)
    x, i = jnp.asarray(rng.standard_normal((6, 2))), jnp.asarray(rng.integers(0, 6, (5, 9)))

    def run(add, get, x):
        def step(x, i):
            return add(x, i, jnp.tanh(get(x, i[::-1]))), x.sum()

        return jax.lax.scan(jax.checkpoint(step), x, i)[0].sum()

    ours = functools.partial(run, strew.jax.at_add, strew.jax.at_get)
    theirs = functools.partial(run, lambda x, i, y: x.at[i].add(y), lambda x, i: x[i])
    close(jax.jit(ours)(x), theirs(x), 1e-4)
    close(jax.jit(jax.grad(ours))(x), jax.grad(theirs)(x), 1e-4)
    looped = jax.lax.fori_loop(0, 5, lambda k, x: strew.jax.at_add(x, i[k], 1.0), x)
    close(looped, x.at[i.ravel()].add(1.0))
    either = jax.jit(
        lambda c, x: jax.lax.cond(c, lambda x: strew.jax.at_set(x, i[0], 0.0), lambda x: x, x)
    )
    close(either(True, x), x.at[i[0]].set(0))


INDICES = [
    0,
    -1,
    (1, 2),
    (np.array([0, 3, 0]),),
    (np.array([0, 3, 0]), np.array([1, 2, 1])),
    (np.array([[0], [3]]), np.array([1, 2])),
    (np.array([0, 3]), slice(None), np.array([1, 2])),
    (slice(None), np.array([2, 0])),
    (slice(1, None, 2), np.array([2, 0, 2])),
    (slice(None, None, -1), 1),
    (..., np.array([1, 1, 0])),
    (np.array([0, 1]), ..., np.array([1, 0])),
    (None, np.array([2, 2]), slice(1, 3)),
    (1, None, slice(None), np.array([1, 0])),
    np.array([True, False, True, True]),
    (np.array([True, False, True, True]), np.array([0, 2, 2])),
    (slice(None), np.eye(3, 2, dtype=bool)),
    slice(1, 3),
    ...,
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indices(index):
    x = jnp.arange(24.0).reshape(4, 3, 2)
    y = jnp.asarray(np.random.default_rng(15).standard_normal(x[index].shape))
    for operator in ("set", "add", "max"):
        close(jax.jit(lambda x: at(operator)(x, index, y))(x), own(operator, x, index, y))
        ours = jax.grad(lambda x, y: (at(operator)(x, index, y) ** 2).sum(), (0, 1))(x, y)
        theirs = jax.grad(lambda x, y: (own(operator, x, index, y) ** 2).sum(), (0, 1))(x, y)
        for one, other in zip(ours, theirs):
            close(one, other)
    close(jax.jit(lambda x: strew.jax.at_get(x, index))(x), x[index])
    close(jax.jit(lambda x: at("add")(x, index, 2.0))(x), x.at[index].add(2.0))


def test_a_list_of_indices():
    x = jnp.zeros((3, 2))
    found = jax.jit(lambda x, i: strew.jax.at_add(x, [slice(None), i], 1.0))(x, jnp.array([1, 1]))
    assert found.tolist() == [[0, 2]] * 3


def test_64_bits():
    with x64():
        for dtype in (jnp.int64, jnp.uint64, jnp.float64, jnp.complex128):
            x, i = jnp.ones((3, 2), dtype), jnp.array([2, 0, 2])
            found = jax.jit(strew.jax.at_add)(x, i, jnp.ones((3, 2), dtype))
            assert found.dtype == dtype and found[:, 0].tolist() == [2, 1, 3]
    # A number that has no place in 32 bits stays out of bounds.
    far = np.array([2**32, 1, -(2**32)])
    assert jax.jit(lambda x: strew.jax.at_add(x, far, 1.0))(jnp.zeros(3)).tolist() == [0, 1, 0]
    ids = np.array([2**33, 1, -5])
    assert jax.jit(lambda d: strew.jax.ops.segment_sum(d, ids, 2))(jnp.ones(3)).tolist() == [0, 1]


@pytest.mark.parametrize("index", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_types_of_indices(index):
    i = jnp.array([1, 1, 3]).astype(index)
    assert jax.jit(strew.jax.at_add)(jnp.zeros(4), i, jnp.ones(3)).tolist() == [0, 2, 0, 1]
    found = jax.jit(lambda d, i: strew.jax.ops.segment_sum(d, i, 4))(jnp.ones(3), i)
    assert found.tolist() == [0, 2, 0, 1]


def test_nothing_to_do():
    none = jnp.zeros(0, int)
    assert jax.jit(strew.jax.at_add)(jnp.ones((3, 2)), none, jnp.ones((0, 2))).sum() == 6
    assert jax.jit(strew.jax.at_add)(jnp.ones((0, 2)), none, jnp.ones((0, 2))).shape == (0, 2)
    assert jax.jit(strew.jax.at_add)(jnp.ones((0, 2)), jnp.array([0, 1]), 1.0).shape == (0, 2)
    found = jax.jit(lambda d, i: strew.jax.ops.segment_max(d, i, 2))(jnp.ones((0, 2)), none)
    assert (found == -jnp.inf).all()
    assert jax.jit(strew.jax.at_get)(jnp.ones((3, 2)), none).shape == (0, 2)
    assert jax.jit(lambda x: strew.jax.at_add(x, (), 1.0))(jnp.zeros(())) == 1


def test_large():
    rng = np.random.default_rng(16)
    x, y = (
        jnp.zeros((20_000, 8)),
        jnp.asarray(rng.integers(-9, 9, (400_000, 8))).astype(jnp.float32),
    )
    i = jnp.asarray(rng.integers(-9, 30_000, 400_000))
    expected = np.asarray(x.at[i].add(y))
    threads = strew.get_num_threads()
    try:
        for count in (1, 2, 8):
            strew.set_num_threads(count)
            np.testing.assert_array_equal(jax.jit(strew.jax.at_add)(x, i, y), expected)
    finally:
        strew.set_num_threads(threads)
    np.testing.assert_array_equal(jax.jit(strew.jax.at_get)(y, i), y.at[i].get(mode="clip"))


def test_the_operand_is_not_copied_where_it_is_given_away():
    x, i = jnp.zeros(100_000), jnp.array([1, 1])
    place = x.unsafe_buffer_pointer()
    found = jax.jit(strew.jax.at_add, donate_argnums=0)(x, i, jnp.ones(2))
    assert found.unsafe_buffer_pointer() == place and found[1] == 2
    x = jnp.zeros(100_000)
    jax.jit(strew.jax.at_add)(x, i, jnp.ones(2))
    assert not x.any()


def test_a_panic_is_an_error():
    handler = strew._strew._xla_handler("panics")
    jax.ffi.register_ffi_target("strew_test_panics", handler, platform="cpu")
    call = jax.ffi.ffi_call("strew_test_panics", jax.ShapeDtypeStruct((2,), jnp.float32))
    with pytest.raises(Exception, match="strew: a defect in strew: a handler panicked"):
        jax.block_until_ready(jax.jit(lambda: call())())
    # The process and the engine go on.
    assert jax.jit(strew.jax.at_add)(jnp.zeros(2), jnp.array([1]), 1.0).tolist() == [0, 1]


def test_an_operand_that_is_also_the_updates():
    x = jnp.arange(5.0)
    found = jax.jit(lambda x: strew.jax.at_add(x, jnp.arange(5)[::-1], x), donate_argnums=0)(x)
    assert found.tolist() == [4, 4, 4, 4, 4]


def test_many_threads():
    i = jnp.asarray(np.random.default_rng(17).integers(0, 50, 2000))
    f = jax.jit(lambda x, y: strew.jax.at_add(x, i, y))
    x, y = jnp.zeros((50, 4)), jnp.ones((2000, 4))
    expected, wrong = f(x, y), []

    def work():
        for _ in range(50):
            wrong.extend([1] * int((f(x, y) != expected).any()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("mode", [None, "clip"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_other_platforms(operator, mode, monkeypatch):
    """XLA's own scatter and gather stand in for the extension there."""
    import strew._jax.at
    import strew._jax.lowering as by

    rng = np.random.default_rng(20)
    x, y = some(rng, (5, 3), "float32"), some(rng, (8, 3), "float32", 1, 3)
    i = jnp.asarray(rng.integers(-9, 9, 8))
    f, get = (functools.partial(g, mode=mode) for g in (at(operator), strew.jax.at_get))
    for traced in (jax.jit(f).trace(x, i, y), jax.jit(get).trace(x, i)):
        text = traced.lower(lowering_platforms=("cuda",)).as_text()
        assert f"strew_{strew.__version__}" not in text
    expected = jax.jit(f)(x, i, y), jax.jit(get)(x, i)
    module = strew._jax.at
    monkeypatch.setattr(
        module, "scatter", lambda o, u, i, form: by.scatter_by_xla(o, u, *i, form=form)
    )
    monkeypatch.setattr(
        module, "gather", lambda o, v, i, form: by.gather_by_xla(o, v, *i, form=form)
    )
    close(jax.jit(lambda *a: f(*a))(x, i, y), expected[0])
    close(jax.jit(lambda *a: get(*a))(x, i), expected[1])


def test_segments_on_other_platforms(monkeypatch):
    import strew._jax.lowering as by
    import strew._jax.segments

    data, ids = jnp.arange(6.0), jnp.array([1, -1, 0, 9, 1, -3])
    monkeypatch.setattr(
        strew._jax.segments, "scatter", lambda o, u, i, form: by.scatter_by_xla(o, u, *i, form=form)
    )
    found = jax.jit(lambda d, i: strew.jax.ops.segment_max(d, i, 3))(data, ids)
    assert found.tolist() == [2, 4, -jnp.inf]


def test_what_is_not_traced_is_no_part_of_the_program():
    known = jnp.zeros(3), jnp.array([1]), jnp.ones(1)
    f = jax.jit(lambda x: x + strew.jax.at_add(*known))
    assert f(jnp.zeros(3)).tolist() == [0, 1, 0] and "strew" not in f.lower(jnp.zeros(3)).as_text()


WRONG = [
    (lambda x: strew.jax.at_add(x, jnp.array([0]), jnp.ones((2, 5))), ValueError),
    (lambda x: strew.jax.at_add(x, jnp.array([0.5]), 1.0), TypeError),
    (lambda x: strew.jax.at_add(x, (jnp.array([0]),) * 3, 1.0), ValueError),
    (lambda x: strew.jax.at_add(x.astype(jnp.int32), jnp.array([0]), jnp.ones(1)), TypeError),
    (lambda x: strew.jax.at_divide(x.astype(jnp.int32), jnp.array([0]), 1), TypeError),
    (lambda x: strew.jax.at_subtract(x > 0, jnp.array([0]), True), TypeError),
    (lambda x: strew.jax.at_power(x > 0, jnp.array([0]), True), TypeError),
    (lambda x: strew.jax.at_min(x.astype(jnp.complex64), jnp.array([0]), jnp.ones(1)), TypeError),
    (lambda x: strew.jax.at_set(x, jnp.array([0]), 1.0, mode="error?"), ValueError),
    (lambda x: strew.jax.at_get(x, jnp.array([0]), mode="error?"), ValueError),
    (lambda x: strew.jax.ops.segment_sum(x, jnp.array([0]), 2), ValueError),
    (lambda x: strew.jax.ops.segment_sum(x, x[:, 0], 2), TypeError),
    (lambda x: strew.jax.ops.segment_sum(x, jnp.array([0, 1, 2]), -2), ValueError),
]


@pytest.mark.parametrize(("call", "kind"), WRONG)
def test_wrong_arguments(call, kind):
    x = jnp.ones((3, 2))
    with pytest.raises(kind) as traced:
        jax.jit(call)(x)
    assert str(traced.value).startswith(("jax.at_", "jax.ops."))
    with pytest.raises(kind) as eager:
        call(x)
    assert str(traced.value) == str(eager.value)


NUMBERS = [True, 3, -1, 300, 1.5, 1e9, 2j, jnp.asarray(1.5), jnp.asarray(3)]


@pytest.mark.filterwarnings("error:scatter inputs")
@pytest.mark.parametrize("y", NUMBERS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_without_a_dtype(dtype, y):
    """Of any kind of array they take the dtype that JAX gives them, or are refused."""
    x, i = jnp.ones(3).astype(dtype), jnp.array([2, 0])
    for index in (i, (..., i)):
        calls = [
            lambda: jax.jit(lambda x: strew.jax.at_set(x, index, y))(x),
            lambda: strew.jax.at_set(x, index, y),
            lambda: strew.jax.at_set(np.asarray(x), index, y),
        ]
        try:
            expected = x.at[index].set(y)
        except FutureWarning:
            for call in calls:
                with pytest.raises(TypeError, match="^jax.at_set: y has dtype"):
                    call()
        else:
            for call in calls:
                found = call()
                assert found.dtype == dtype and (found == expected).all()


def test_what_must_be_known():
    x = jnp.ones(3)
    with pytest.raises(TypeError, match=r"^jax.at_add: indices has a mask whose values are not"):
        jax.jit(lambda x, m: strew.jax.at_add(x, m, 1.0))(x, x > 0)
    with pytest.raises(ValueError, match=r"^jax.ops.segment_sum: num_segments must be given"):
        jax.jit(strew.jax.ops.segment_sum)(x, jnp.array([0, 1, 0]))


def test_an_index_out_of_range_that_is_an_error():
    x, i = jnp.ones(3), jnp.array([0, 3])
    message = r"jax.at_{}: indices\[1\] = 3: index 3 is out of bounds for dimension 0 with size 3"
    for name, call in [
        ("add", lambda x, i: strew.jax.at_add(x, i, 1.0, mode="error")),
        ("get", lambda x, i: strew.jax.at_get(x, i, mode="error")),
    ]:
        with pytest.raises(Exception, match=message.format(name)):
            jax.block_until_ready(jax.jit(call)(x, i))
        # A right one goes on, also with negative numbers.
        jax.block_until_ready(jax.jit(call)(x, i - 1))
    with pytest.raises(ValueError, match=message.format("add")):
        strew.jax.at_add(x, i, x[:2], mode="error")
    with pytest.raises(ValueError, match=message.format("get")):
        strew.jax.at_get(x, i, mode="error")
    close(
        jax.grad(lambda x: strew.jax.at_get(x, i - 1, mode="error").sum())(x),
        jnp.array([0.0, 0, 2]),
    )


def numbers(**given):
    lists = "update_window_dims inserted_window_dims input_batching_dims scatter_indices_batching_dims scatter_dims_to_operand_dims"
    return {**dict.fromkeys(lists.split(), ()), **given}


STABLEHLO = [
    # Rows.
    (
        (5, 3),
        (4, 1),
        (4, 3),
        numbers(
            update_window_dims=[1],
            inserted_window_dims=[0],
            scatter_dims_to_operand_dims=[0],
            index_vector_dim=1,
        ),
    ),
    # Numbers that are vectors of one.
    (
        (5, 3),
        (4,),
        (4, 3),
        numbers(
            update_window_dims=[1],
            inserted_window_dims=[0],
            scatter_dims_to_operand_dims=[0],
            index_vector_dim=1,
        ),
    ),
    # Windows in the middle, with both axes of theirs.
    (
        (6, 7),
        (4, 2),
        (2, 4, 3),
        numbers(update_window_dims=[0, 2], scatter_dims_to_operand_dims=[1, 0], index_vector_dim=1),
    ),
    # Vectors along the first axis, and a window of one.
    (
        (6, 7),
        (2, 4),
        (4, 1, 3),
        numbers(update_window_dims=[1, 2], scatter_dims_to_operand_dims=[0, 1], index_vector_dim=0),
    ),
    # Batches.
    (
        (2, 6, 3),
        (4, 2, 1),
        (4, 2, 3),
        numbers(
            update_window_dims=[2],
            inserted_window_dims=[1],
            input_batching_dims=[0],
            scatter_indices_batching_dims=[1],
            scatter_dims_to_operand_dims=[1],
            index_vector_dim=2,
        ),
    ),
    # Without an index.
    ((6,), (4, 0), (4, 3), numbers(update_window_dims=[1], index_vector_dim=1)),
]


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
@pytest.mark.parametrize("out_of_bounds", ["window", "element"])
@pytest.mark.parametrize("region", ["set", "add", "mul", "max", "min"])
@pytest.mark.parametrize("case", STABLEHLO)
def test_stablehlo(case, region, out_of_bounds, dtype):
    rng = np.random.default_rng(18)
    operand, indices, updates, given = case
    operand, updates = (
        jnp.asarray(rng.standard_normal(shape).astype(np.float32)) for shape in (operand, updates)
    )
    indices = jnp.asarray(rng.integers(-3, 9, indices)).astype(dtype)
    f = functools.partial(
        strew.stablehlo.scatter, region=region, out_of_bounds=out_of_bounds, **given
    )
    np.testing.assert_array_equal(
        jax.jit(f)(operand, indices, updates), f(operand, indices, updates)
    )
    batch = jnp.stack([operand, operand + 1]), jnp.stack([updates, updates - 1])
    found = jax.vmap(f, (0, None, 0))(batch[0], indices, batch[1])
    np.testing.assert_array_equal(found[1], f(batch[0][1], indices, batch[1][1]))


@pytest.mark.parametrize("region", ["set", "add", "mul", "max", "min"])
@pytest.mark.parametrize("case", STABLEHLO)
def test_gradients_of_stablehlo(case, region):
    rng = np.random.default_rng(19)
    operand, indices, updates, given = case
    indices = jnp.asarray(rng.integers(-3, 9, indices))
    with x64():
        operand, updates = (jnp.asarray(rng.standard_normal(shape)) for shape in (operand, updates))
        f = functools.partial(strew.stablehlo.scatter, region=region, **given)
        check_grads(lambda o, u: jnp.sin(f(o, indices, u)), (operand, updates), 2)


def test_wrong_dimension_numbers():
    given = numbers(update_window_dims=[3], index_vector_dim=1)
    with pytest.raises(ValueError, match=r"^stablehlo.scatter: update_window_dims\[0\] = 3"):
        jax.jit(lambda x: strew.stablehlo.scatter(x, jnp.array([0]), x, **given))(jnp.ones(3))
