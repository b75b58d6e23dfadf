"""The mean loss over a validation set: fixed batches, fixed keys, dropout off, schedules at their end."""

from collections.abc import Iterator, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Float, Int, PyTree, UInt32

from liewise.train.config import TrainConfig
from liewise.train.devices import AXIS, fetch, gather, memory, sharding
from liewise.train.feed import Arrays
from liewise.train.schedules import Schedule
from liewise.train.step import Loss, Parts, metric_names

__all__ = ["Validator"]

_STREAM = 2**32 - 1  # no step has this index, so validation's keys are its own


class Validator:
    """Scores parameters on the same batches with the same keys each time, so that scores can be compared."""

    def __init__(
        self,
        loss: Loss,
        static: PyTree,
        schedules: Mapping[str, Schedule],
        data: Mapping[str, np.ndarray],
        config: TrainConfig,
        mesh: Mesh,
    ):
        self._loss, self._static, self._schedules = loss, static, schedules
        self._data, self._config, self._mesh = data, config, mesh
        self._n = len(next(iter(data.values())))
        limit = memory(mesh) // 10 if config.resident_bytes is None else config.resident_bytes
        self._held = list(self._batches()) if sum(rows.nbytes for rows in data.values()) <= limit else None
        self._add = jax.jit(self._added, out_shardings=sharding(mesh), donate_argnums=0)
        self._names: tuple[str, ...] = ()

    def __call__(self, params: PyTree, arrays: PyTree) -> dict[str, float]:
        """The loss and its metrics, averaged over all validation examples."""
        seed = np.uint32(self._config.seed)
        totals: Any = None
        for index, rows in enumerate(self._held or self._batches()):
            if totals is None:
                returned = jax.eval_shape(self._evaluate, params, arrays, rows, jnp.int32(0), seed)
                self._names = ("loss", *metric_names(returned))
                totals = np.zeros(len(self._names), np.float32)
            totals = self._add(totals, params, arrays, rows, np.int32(index), seed)
        means = fetch(totals) / self._n
        return {name: float(mean) for name, mean in zip(self._names, means, strict=True)}

    def _batches(self) -> Iterator[Arrays]:
        size = self._config.validation_batch_size
        for start in range(0, self._n, size):
            yield {name: self._put(rows[start : start + size]) for name, rows in self._data.items()}

    def _put(self, rows: np.ndarray) -> jax.Array:
        even = len(rows) % self._mesh.shape[AXIS] == 0  # the last batch may be too small to be shared out
        where = sharding(self._mesh, AXIS) if even else sharding(self._mesh)
        host = np.asarray(rows, jax.dtypes.canonicalize_dtype(rows.dtype))
        return gather(host.shape, where, lambda index: host[index])

    def _added(
        self,
        totals: Float[Array, " names"],
        params: PyTree,
        arrays: PyTree,
        rows: Arrays,
        index: Int[Array, ""],
        seed: UInt32[Array, ""],
    ) -> Float[Array, " names"]:
        value, parts = self._evaluate(params, arrays, rows, index, seed)
        columns = {**parts, "loss": value}
        row = jnp.stack([jnp.asarray(columns[name], jnp.float32) for name in self._names])
        return totals + row * len(next(iter(rows.values())))

    def _evaluate(self, params: PyTree, arrays: PyTree, rows: Arrays, index: Any, seed: Any) -> Any:
        model, constants = Parts(params, arrays, self._static).join()
        values = {name: schedule(self._config.steps) for name, schedule in self._schedules.items()}
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), np.uint32(_STREAM)), index)
        return self._loss(eqx.nn.inference_mode(model), {**rows, **values, **constants}, key)
