"""Where arrays live: the mesh, placing on it, fetching from it, and agreeing with the other processes."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from jaxtyping import PyTree

from liewise.train.failures import TrainError

__all__ = ["agree", "as_mesh", "fetch", "gather", "memory", "place", "sharding", "to_local"]

AXIS = "batch"


def as_mesh(mesh: Mesh | None) -> Mesh:
    """The mesh that a run uses: the one given, or all devices on one axis, `batch`."""
    if mesh is None:
        return jax.make_mesh((jax.device_count(),), (AXIS,), axis_types=(AxisType.Auto,))
    if AXIS not in mesh.axis_names:
        raise TrainError(f"expected a mesh with an axis {AXIS!r}; got axes {mesh.axis_names}")
    return Mesh(mesh.devices, mesh.axis_names, axis_types=(AxisType.Auto,) * len(mesh.axis_names))


def sharding(mesh: Mesh, *axes: str | None) -> NamedSharding:
    """How an array whose leading axes are split over these axes of the mesh lies on it."""
    return NamedSharding(mesh, PartitionSpec(*axes))


def gather(shape: tuple[int, ...], where: NamedSharding, rows: Callable[[Any], np.ndarray]) -> jax.Array:
    """The array of this shape on the mesh; `rows` is asked for those slices only that lie on this machine."""
    return jax.make_array_from_callback(shape, where, rows)


def place(tree: PyTree, mesh: Mesh) -> PyTree:
    """A copy of every array of the tree on every device of the mesh."""
    return jax.tree.map(lambda leaf: _place(leaf, sharding(mesh)), tree)


def _place(leaf: Any, where: NamedSharding) -> jax.Array:
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        data = _place(jax.random.key_data(leaf), where)
        return jax.random.wrap_key_data(data, impl=jax.random.key_impl(leaf))
    host = np.asarray(leaf)
    host = np.array(host, dtype=jax.dtypes.canonicalize_dtype(host.dtype), copy=True)  # donated later on
    return gather(host.shape, where, lambda index: host[index])


def fetch(tree: PyTree) -> PyTree:
    """The tree's arrays, which lie whole on each device, as NumPy arrays."""
    return jax.tree.map(np.asarray, jax.device_get(tree))


def to_local(tree: PyTree) -> PyTree:
    """The tree's arrays as ordinary ones on this process's first device."""
    return jax.tree.map(jnp.array, fetch(tree))


def agree(values: Sequence[int]) -> list[int]:
    """The largest of each number over all processes; devices must be idle."""
    if jax.process_count() == 1:
        return list(values)
    everyone = multihost_utils.process_allgather(np.asarray(values, np.int32))
    return [int(value) for value in np.max(everyone, axis=0)]


def memory(mesh: Mesh) -> int:
    """Bytes that one device of the mesh may use (host memory is shared by the devices that live in it)."""
    device = mesh.local_devices[0]
    stats = device.memory_stats() if device.platform != "cpu" else None
    if stats and "bytes_limit" in stats:
        return int(stats["bytes_limit"])
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // len(mesh.local_devices)
