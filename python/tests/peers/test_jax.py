"""JAX arrays in and out. Needs jax: without it this fails, as it should."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import strew

DTYPES = "bool int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 float32 complex64".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    src = jnp.array([1, 0, 1, 1]).astype(dtype)
    out = strew.torch_scatter.scatter(src, jnp.array([1, 1, 0, 2]))
    assert isinstance(out, jax.Array) and out.dtype == dtype
    assert out.tolist() == jnp.array([1, 1, 1]).astype(dtype).tolist()
    out = strew.mxnet.scatter_nd(src, jnp.array([[3, 0, 4, 3]]), (5,))
    assert out.dtype == dtype and out.tolist() == jnp.array([0, 0, 0, 1, 1]).astype(dtype).tolist()


def test_64_bits():
    # Without x64, JAX itself narrows the positions.
    assert strew.torch_scatter.scatter_max(jnp.array([1.0]), jnp.array([0]))[1].dtype == jnp.int32
    with jax.enable_x64(True):
        out, arg = strew.torch_scatter.scatter_max(jnp.array([1.0, 5.0, 2.0]), jnp.array([0, 0, 1]))
        assert out.dtype == jnp.float64 and out.tolist() == [5, 2]
        assert arg.dtype == jnp.int64 and arg.tolist() == [1, 2]


def test_inputs_and_outputs_are_not_copied():
    seen = {}
    true = jnp.from_dlpack

    def spy(source):
        seen["at"] = np.from_dlpack(source).ctypes.data
        return true(source)

    jnp.from_dlpack = spy
    try:
        out = strew.torch_scatter.scatter(jnp.ones(10_000), jnp.arange(10_000))
    finally:
        jnp.from_dlpack = true
    assert out.unsafe_buffer_pointer() == seen["at"]
    assert seen["at"] % 64 == 0 and out.sum() == 10_000


def test_the_same_sums_as_jax():
    rng = np.random.default_rng(1)
    src, ids = rng.integers(-9, 9, (500, 7)), rng.integers(0, 20, 500)
    expected = jax.ops.segment_sum(jnp.array(src), jnp.array(ids), 20)
    found = strew.torch_scatter.scatter(jnp.array(src), jnp.array(ids), 0, None, 20)
    assert (found == expected).all()


def test_results_go_on_in_jax():
    out = strew.torch_scatter.scatter(jnp.arange(8.0), jnp.array([0, 1] * 4))
    assert jax.jit(lambda x: (x * 2).sum())(out) == 56


def test_zero_dimensions_and_no_elements():
    out = strew.torch.scatter_reduce(jnp.array(2.0), 0, jnp.array(0), jnp.array(3.0), "sum")
    assert out.shape == () and out == 5
    out = strew.torch_scatter.scatter(jnp.zeros((0, 3)), jnp.zeros(0, int), 0)
    assert isinstance(out, jax.Array) and out.shape == (0, 3)


def test_a_jax_array_is_no_target():
    x = jnp.zeros(3)
    for call in [
        lambda: strew.torch.scatter_reduce_(x, 0, [0], [1.0], "sum"),
        lambda: strew.mindspore.scatter_mul(x, [0], [1.0]),
        lambda: strew.torch_scatter.scatter([1.0], [0], out=x),
    ]:
        with pytest.raises(TypeError, match="a JAX array, which is immutable"):
            call()
    assert x.tolist() == [0, 0, 0]


def test_a_traced_array_is_refused():
    for transform in [jax.jit, jax.vmap, lambda f: jax.grad(lambda x: f(x).sum())]:
        with pytest.raises(
            TypeError, match="src must be an array that has its values .* being traced"
        ):
            transform(lambda x: strew.torch_scatter.scatter(x, [0, 0, 1]))(jnp.ones((3, 3)))


def test_mixed_with_numpy():
    assert isinstance(strew.torch_scatter.scatter(jnp.ones(3), np.array([0, 0, 1])), jax.Array)
    out = np.zeros(2, np.float32)
    assert strew.torch_scatter.scatter(jnp.ones(3), jnp.array([0, 0, 1]), out=out) is out
    assert out.tolist() == [2, 1]


def test_a_plan():
    plan = strew.Plan(jnp.array([1, 0, 1]))
    out = plan.scatter(jnp.array([1.0, 2.0, 5.0]), "mean")
    assert isinstance(out, jax.Array) and out.tolist() == [2, 3]
    total, most = plan.reduce(jnp.arange(3), ["sum", "max"])
    assert isinstance(total, jax.Array) and total.tolist() == [1, 2] and most.tolist() == [1, 2]
    assert (plan.gather(out) == out[jnp.array([1, 0, 1])]).all()
    with pytest.raises(TypeError, match="a JAX array, which is immutable"):
        plan.scatter(jnp.ones(3), out=jnp.ones(2))


@pytest.mark.parametrize("dtype", DTYPES[1:])
@pytest.mark.parametrize("index", [[0, 0, -1], [[1], [0], [1]], ...], ids=str)
def test_powers(dtype, index):
    at = index if index is ... else jnp.array(index)
    x, y = jnp.array([2, 3, 1]).astype(dtype), jnp.array([2, 1, 2]).astype(dtype)
    y = y if index is ... else y.reshape(at.shape)
    found, expected = strew.jax.at_power(x, at, y), x.at[at].power(y)
    assert isinstance(found, jax.Array) and (found.dtype, found.shape) == (x.dtype, x.shape)
    np.testing.assert_allclose(
        np.asarray(found, np.complex64), np.asarray(expected, np.complex64), 1e-5
    )


def test_powers_that_are_refused():
    with pytest.raises(TypeError, match=r"^jax.at_power: x has dtype bool"):
        strew.jax.at_power(jnp.array([True]), jnp.array([0]), jnp.array([True]))
    with pytest.raises(TypeError):
        jnp.array([True]).at[jnp.array([0])].power(jnp.array([True]))
    with pytest.raises(ValueError, match=r"^jax.at_power: x\[1\] would be raised to the power -2"):
        strew.jax.at_power(np.array([1, 2]), np.array([1, 1]), np.array([-2, 1]))
    with pytest.raises(TypeError, match=r"^jax.at_power: "):
        strew.jax.at_power(np.array([1, 2]), np.array([1]), np.array([0.5]))
    with pytest.raises(ValueError, match=r"^jax.at_power: "):
        strew.jax.at_power(np.array([1, 2]), np.array([1]), np.array([1, 2, 3]))
    with pytest.raises(ValueError, match=r"^jax.at_power: mode"):
        strew.jax.at_power(np.array([1, 2]), np.array([1]), 2, mode="x")


INDEX, PTR = np.array([0, 0, 2]), np.array([0, 2, 2, 3])


@pytest.mark.parametrize("dtype", ["int32", "float32", "bfloat16"])
@pytest.mark.parametrize("name", strew.pyg_lib.__all__)
def test_pyg_lib_as_of_numpy(name, dtype):
    call = getattr(strew.pyg_lib, name)
    src, where = jnp.array([1, 6, -3]).astype(dtype), PTR if name.endswith("_csr") else INDEX
    try:
        expected = call(np.asarray(src), where)
    except ValueError:
        assert dtype == "int32"
        with pytest.raises(ValueError, match=f"pyg_lib.{name}: src has dtype int32"):
            call(src, where)
        return
    for given in (where, jnp.array(where)):
        found = call(src, given)
        for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected))):
            assert isinstance(one, jax.Array) and one.tolist() == other.tolist()
