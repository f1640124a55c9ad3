"""XLA's C interface as strew declares it, beside the header of the installed jaxlib.

Needs jax and a C compiler: without them this fails, as it should.
"""

import ctypes
import os
import pathlib
import shutil
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import strew
from strew import _strew

HEADER = pathlib.Path(jax.ffi.include_dir(), "xla/ffi/api/c_api.h")
# Names that older headers spell differently.
OLDER = {
    "XLA_FFI_InternalExtension": "XLA_FFI_Extension_Base",
}


def spelled(name):
    """The name as this header has it."""
    older = OLDER.get(name.partition(".")[0])
    if older is None or name.partition(".")[0] in HEADER.read_text():
        return name
    return older + name[len(name.partition(".")[0]) :]


def test_the_layout(tmp_path):
    offsets, constants = _strew._xla_layout()
    lines = []
    for name, _ in offsets:
        struct, _, field = spelled(name).partition(".")
        lines.append(f'printf("%zu\\n", offsetof({struct}, {field.removeprefix("r#")}));')
    lines += [f'printf("%d\\n", (int){name});' for name, _ in constants]
    # Results are read as arguments are.
    lines.append('printf("%d\\n", offsetof(XLA_FFI_Rets, rets) == offsetof(XLA_FFI_Args, args));')
    source = tmp_path / "layout.c"
    body = "\n".join(lines)
    source.write_text(
        f'#include <stdio.h>\n#include "{HEADER}"\nint main(void) {{\n{body}\nreturn 0;\n}}\n'
    )
    compiler = os.environ.get("CC") or shutil.which("cc")
    assert compiler, "a C compiler is needed"
    program = tmp_path / "layout"
    subprocess.run([compiler, source, "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    *found, alike = map(int, printed.split())
    assert found == [value for _, value in (*offsets, *constants)] and alike
    assert len(offsets) > 50 and len(constants) > 20


def test_unknown_handlers():
    with pytest.raises(ValueError, match='no handler "x"'):
        _strew._xla_handler("x")


def called(handler, arguments, result, **attributes):
    """A call that strew itself would not make."""
    name = f"strew_test_{handler}"
    if name not in called.registered:
        jax.ffi.register_ffi_target(name, _strew._xla_handler(handler), platform="cpu")
        called.registered.add(name)
    kind = jax.ShapeDtypeStruct(result.shape, result.dtype)
    return jax.jit(lambda *a: jax.ffi.ffi_call(name, kind)(*a, **attributes))(*arguments)


called.registered = set()


RIGHT = {
    "operator": "test",
    "combine": "add",
    "negative": "wrap",
    "out_of_range": "error",
    "shape": np.array([2, 2]),
    "walks": np.array([-1, 1]),
    "axes": np.array([0]),
    "own": np.array([0, 1]),
}
# Attributes that are none, and whether they are looked at only where an index is out of range.
WRONG = [
    ({"walks": np.zeros(0, np.int64)}, False),
    ({"walks": np.array([0, 1])}, False),
    ({"walks": np.array([-1, 9])}, False),
    ({"axes": np.array([9])}, False),
    ({"axes": np.array([-1])}, False),
    ({"axes": "0"}, False),
    ({"axes": np.array([0], np.int32)}, False),
    ({"own": np.zeros(0, np.int64)}, False),
    ({"shape": np.array([-2, 2])}, False),
    ({"shape": np.array([3, 4])}, False),
    ({"negative": "?"}, True),
    ({"out_of_range": np.int64(3)}, True),
]
LOOKED_AT = ["negative", "out_of_range", "shape", "walks", "axes", "own"]


@pytest.mark.parametrize("handler", ["scatter", "gather"])
def test_meaningless_calls(handler):
    """Each is an error with a message, and the next call is right."""
    x, i = jnp.zeros((3, 2)), jnp.array([[0], [2]])
    y = jnp.ones((2, 2)) if handler == "scatter" else jnp.zeros(())
    result = x if handler == "scatter" else jnp.zeros((2, 2))
    wrong = [([x, y, i + 2 * outside], RIGHT | given) for given, outside in WRONG]
    wrong += [([x, y, i + 2], {k: v for k, v in RIGHT.items() if k != name}) for name in LOOKED_AT]
    others = [i, i], [i.astype(jnp.complex64)], [i - 4], []
    wrong += [([x], RIGHT), *(([x, y, *indices], RIGHT) for indices in others)]
    if handler == "scatter":
        wrong += [([x, y, i], RIGHT | {"combine": "?"}), ([x.astype(int), y, i], RIGHT)]
    for arguments, attributes in wrong:
        with pytest.raises(Exception, match="test: |strew: ") as raised:
            jax.block_until_ready(called(handler, arguments, result, **attributes))
        assert "panicked" not in str(raised.value)
    message = r"test: indices\[1\] = 3: index 3 is out of bounds for dimension 0 with size 3"
    with pytest.raises(Exception, match=message):
        jax.block_until_ready(called(handler, [x, y, jnp.array([[0], [3]])], result, **RIGHT))
    found = called(handler, [x, y, i], result, **RIGHT)
    assert found.sum() == (4 if handler == "scatter" else 0)


def test_a_call_that_does_nothing():
    assert called("nothing", [jnp.zeros(3)], jnp.zeros(3)).shape == (3,)


def test_strew_registers_with_its_version():
    text = jax.jit(strew.jax.at_add).lower(jnp.zeros(3), jnp.array([1]), jnp.ones(1)).as_text()
    assert f"strew_{strew.__version__}_scatter" in text


def test_the_capsule_is_a_function():
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    assert pointer(_strew._xla_handler("scatter"), b"xla._CUSTOM_CALL_TARGET")
