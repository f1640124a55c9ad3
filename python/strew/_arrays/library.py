"""Arrays of NumPy's as arrays of the library, and on the devices, of another array."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def from_numpy(like: Any, array: Any) -> Any:
    """A NumPy array as one of the library of `like`; itself if that takes none."""
    if type(like) is np.ndarray:
        return array
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(like, torch.Tensor):
        return torch.as_tensor(np.ascontiguousarray(array).reshape(array.shape))
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and isinstance(like, (tensorflow.Tensor, tensorflow.Variable)):
        return tensorflow.convert_to_tensor(array)
    namespace = getattr(like, "__array_namespace__", None)
    if namespace is not None:
        made = namespace().asarray(array)
        jax = sys.modules.get("jax")
        is_jax = jax is not None and isinstance(like, jax.Array)
        return on_devices_of(made, like) if is_jax else made
    if not hasattr(like, "__dlpack__"):
        return array
    root = sys.modules.get(type(like).__module__.partition(".")[0])
    from_dlpack = getattr(root, "from_dlpack", None)
    return array if from_dlpack is None else from_dlpack(array)


def on_devices_of(made: Any, like: Any) -> Any:
    """An array of JAX's on the devices of another one.

    If that is divided among several, an array of the same shape is divided alike, and any other one
    is repeated on all of them.
    """
    import jax

    sharding = like.sharding
    if made.sharding == sharding:
        return made
    if len(sharding.device_set) == 1:
        return jax.device_put(made, next(iter(sharding.device_set)))
    if made.shape == like.shape:
        return jax.device_put(made, sharding)
    mesh = getattr(sharding, "mesh", None)
    if not isinstance(mesh, jax.sharding.Mesh):
        devices = sorted(sharding.device_set, key=lambda device: device.id)
        mesh = jax.sharding.Mesh(np.array(devices), ("devices",))
    return jax.device_put(made, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))
