"""Batches as a function of (seed, step): from data that live on the device, or streamed to it ahead of time.

Both kinds hand the compiled loop some arrays and a cursor, and say how the i-th batch follows from them.
"""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jaxtyping import Array, Int, Shaped

from liewise.train.config import Phase, TrainConfig
from liewise.train.devices import AXIS, gather, memory, sharding
from liewise.train.failures import TrainError
from liewise.train.order import draw

__all__ = ["Feed", "Resident", "Slot", "Streamed", "as_arrays", "examples_of_step", "open_feed"]

Arrays = dict[str, jax.Array]


class Slot(NamedTuple):
    """What the device needs to draw the batches from some step on."""

    arrays: Arrays
    cursor: dict[str, np.uint32]
    room: int  # steps that can be drawn from here on


@runtime_checkable
class Feed(Protocol):
    """Where batches come from."""

    def at(self, step: int) -> Slot:
        """What is needed from this step on."""
        ...

    def batch(self, slot: tuple[Arrays, Any], i: Int[Array, ""], phase: Phase) -> Arrays:
        """The i-th batch from the slot's step on; traced."""
        ...

    def close(self) -> None:
        """Let go of what is held."""
        ...


class Resident:
    """The data live on every device, as they are; a batch is gathered by index."""

    def __init__(self, data: Mapping[str, np.ndarray], config: TrainConfig, mesh: Mesh):
        self._config = config
        self._n = _length(data)
        self._batch_sharding = sharding(mesh, AXIS)
        self._arrays = {name: _whole(rows, mesh) for name, rows in data.items()}

    def at(self, step: int) -> Slot:
        """The data, and the place of the step in the endless stream of epochs."""
        phase = self._config.phase(step)
        cursor = _cursor(self._config, phase, step, self._n)
        return Slot(self._arrays, cursor, phase.stop - step)

    def batch(self, slot: tuple[Arrays, Any], i: Int[Array, ""], phase: Phase) -> Arrays:
        """The i-th batch from the slot's step on."""
        arrays, cursor = slot
        size = phase.batch_size
        positions = i.astype(jnp.uint32) * jnp.uint32(size) + jnp.arange(size, dtype=jnp.uint32)
        chosen = draw(cursor["seed"], cursor["epoch"], cursor["offset"] + positions, self._n)
        rows = {name: array[chosen] for name, array in arrays.items()}
        return lax.with_sharding_constraint(rows, self._batch_sharding)

    def close(self) -> None:
        """Nothing to let go of."""


class Streamed:
    """The data stay on the host; a thread gathers the next buffer of batches while one is in use."""

    def __init__(self, data: Mapping[str, np.ndarray], config: TrainConfig, mesh: Mesh):
        self._data, self._config = data, config
        self._n = _length(data)
        self._sharding = sharding(mesh, None, AXIS)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="liewise-feed")
        self._held: tuple[int, Arrays] | None = None
        self._coming: tuple[int, Future[Arrays]] | None = None

    def at(self, step: int) -> Slot:
        """The buffer that holds the step, and the step's place in it."""
        phase = self._config.phase(step)
        steps = self._steps(phase)
        start = step - (step - phase.start) % steps
        if self._held is None or self._held[0] != start:
            self._held = None  # at most two buffers at a time
            self._held = (start, self._take(start))
            following = min(start + steps, phase.stop)
            if following < self._config.steps:
                self._coming = (following, self._thread.submit(self._load, following))
        cursor = {"first": np.uint32(step - start)}
        return Slot(self._held[1], cursor, min(start + steps, phase.stop) - step)

    def batch(self, slot: tuple[Arrays, Any], i: Int[Array, ""], phase: Phase) -> Arrays:
        """The i-th batch from the slot's step on."""
        arrays, cursor = slot
        return {name: array[cursor["first"] + i.astype(jnp.uint32)] for name, array in arrays.items()}

    def close(self) -> None:
        """Stop the thread."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _steps(self, phase: Phase) -> int:
        row = sum(array.nbytes // self._n for array in self._data.values())
        fit = self._config.stream_bytes // max(1, row * phase.batch_size)
        return max(1, min(fit, self._config.dispatch_steps, phase.stop - phase.start))

    def _take(self, start: int) -> Arrays:
        coming, self._coming = self._coming, None
        if coming is not None and coming[0] == start:
            return coming[1].result()
        return self._load(start)

    def _load(self, start: int) -> Arrays:
        phase = self._config.phase(start)
        shape = (self._steps(phase), phase.batch_size)
        chosen = _draw(_cursor(self._config, phase, start, self._n), shape, self._n)

        def buffer(rows: np.ndarray) -> jax.Array:
            dtype = jax.dtypes.canonicalize_dtype(rows.dtype)
            full = (*shape, *rows.shape[1:])
            return gather(full, self._sharding, lambda index: rows[chosen[index[:2]]].astype(dtype, copy=False))

        return {name: buffer(rows) for name, rows in self._data.items()}


def open_feed(data: Mapping[str, np.ndarray], config: TrainConfig, mesh: Mesh) -> Feed:
    """The data on the device when they fit into their share of its memory, else streamed."""
    limit = memory(mesh) // 3 if config.resident_bytes is None else config.resident_bytes
    size = sum(rows.nbytes for rows in data.values())
    return (Resident if size <= limit else Streamed)(data, config, mesh)


def as_arrays(data: Mapping[str, Any], what: str) -> dict[str, np.ndarray]:
    """The data as NumPy arrays (memory-mapped ones stay so), checked to be numbers and equally long."""
    arrays = {name: np.asanyarray(rows) for name, rows in data.items()}
    if not arrays:
        raise TrainError(f"expected {what} of at least one array; got none")
    for name, rows in arrays.items():
        if rows.ndim == 0 or not _is_numeric(rows.dtype):
            raise TrainError(f"expected {what} of number arrays; got {name!r} of {rows.dtype} {rows.shape}")
    lengths = {name: len(rows) for name, rows in arrays.items()}
    if len(set(lengths.values())) != 1:
        raise TrainError(f"expected {what} of equally long arrays; got lengths {lengths}")
    if not 0 < _length(arrays) < 2**31:
        raise TrainError(f"expected {what} of 1 to 2**31 - 1 examples; got {_length(arrays)}")
    return arrays


def _is_numeric(dtype: np.dtype) -> bool:
    return any(jnp.issubdtype(dtype, kind) for kind in (jnp.number, jnp.bool_))


def examples_of_step(config: TrainConfig, step: int, n: int) -> Int[np.ndarray, " batch"]:
    """Which of n examples the step of this index (from 0) sees."""
    phase = config.phase(step)
    return _draw(_cursor(config, phase, step, n), (1, phase.batch_size), n)[0]


def _length(data: Mapping[str, np.ndarray]) -> int:
    return len(next(iter(data.values())))


def _cursor(config: TrainConfig, phase: Phase, step: int, n: int) -> dict[str, np.uint32]:
    epoch, offset = divmod(phase.drawn(step), n)  # Python's integers do not overflow
    return {"seed": np.uint32(config.seed), "epoch": np.uint32(epoch % 2**32), "offset": np.uint32(offset)}


def _draw(cursor: dict[str, np.uint32], shape: tuple[int, int], n: int) -> Int[np.ndarray, "steps batch"]:
    positions = np.arange(shape[0] * shape[1], dtype=np.uint32).reshape(shape) + cursor["offset"]
    return np.asarray(_draw_on_device(cursor["seed"], cursor["epoch"], positions, n))


_draw_on_device = jax.jit(draw, static_argnums=3)


def _whole(rows: Shaped[np.ndarray, "n ..."], mesh: Mesh) -> jax.Array:
    dtype = jax.dtypes.canonicalize_dtype(rows.dtype)
    return gather(rows.shape, sharding(mesh), lambda index: rows[index].astype(dtype, copy=False))
