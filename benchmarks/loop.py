"""What the training loop costs beyond its bare step, and how a step's memory grows with the batch."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from liewise.train import OptimiserConfig, TrainConfig, train
from liewise.train.optimiser import adamw

_BATCH = 512  # images
_STEPS = 24
_ROUNDS = 5
_MEMORY_BATCHES = (128, 256, 512, 1024, 2048)  # images


def measure() -> list[dict[str, Any]]:
    """The rows of the table: overhead of the loop, growth of its memory."""
    return [_overhead(), *_memory()]


class _Net(eqx.Module):
    layers: tuple[eqx.nn.Linear, ...]

    def __init__(self) -> None:
        sizes = (784, 2048, 1024, 512, 256, 10)
        keys = jax.random.split(jax.random.key(0), len(sizes) - 1)
        pairs = zip(sizes, sizes[1:], keys, strict=False)
        self.layers = tuple(eqx.nn.Linear(a, b, key=key) for a, b, key in pairs)

    def __call__(self, x: jax.Array) -> jax.Array:
        for layer in self.layers[:-1]:
            x = jax.nn.relu(layer(x))
        return self.layers[-1](x)


def _loss(model: Any, batch: dict[str, Any], key: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
    images = batch["images"].reshape(-1, 784) / 127.5 - 1.0
    logits = jax.vmap(model)(images)
    right = jnp.mean(logits.argmax(axis=1) == batch["labels"])
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch["labels"]).mean(), {"accuracy": right}


def _data(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (n, 28, 28), dtype=np.uint8)
    return {"images": images, "labels": rng.integers(0, 10, n).astype(np.int32)}


class _Stopwatch:
    """A sink that notes when the first and the last steps were recorded."""

    def __init__(self) -> None:
        self.times: list[tuple[int, float]] = []

    def write(self, step: int, values: dict[str, float]) -> None:
        self.times.append((step, time.perf_counter()))

    def close(self) -> None:
        pass

    def per_step(self) -> float:
        (first, began), (last, ended) = self.times[0], self.times[-1]
        return (ended - began) / (last - first)


def _overhead() -> dict[str, Any]:
    ratios = []
    bare = _bare()
    for _ in range(_ROUNDS):  # side by side, since other work on the machine comes and goes
        before, ours, after = bare(), _ours(), bare()
        ratios.append(2 * ours / (before + after))
    return {
        "name": "training loop / bare compiled step",
        "value": 100 * (statistics.median(ratios) - 1),
        "unit": "% more time",
        "target": "<= 3",
        "note": f"MLP 784-2048-1024-512-256, batch {_BATCH}, median of {_ROUNDS}: "
        + ", ".join(f"{100 * (ratio - 1):+.1f}" for ratio in sorted(ratios)),
    }


def _bare() -> Any:
    """Seconds per step of a compiled loop over nothing but gradient and update, always on the same batch."""
    params, static = eqx.partition(_Net(), eqx.is_inexact_array)
    optimiser = adamw(OptimiserConfig(), 1000)
    batch = {name: jnp.asarray(rows) for name, rows in _data(_BATCH).items()}

    @jax.jit
    def run(state: Any, batch: dict[str, jax.Array]) -> Any:
        def body(_: int, state: Any) -> Any:
            params, moments = state
            gradient = jax.grad(lambda p: _loss(eqx.combine(p, static), batch, jax.random.key(0))[0])(params)
            updates, moments = optimiser.update(gradient, moments, params)
            return optax.apply_updates(params, updates), moments

        return lax.fori_loop(0, _STEPS, body, state)

    state = (params, optimiser.init(params))
    jax.block_until_ready(run(state, batch))

    def seconds() -> float:
        began = time.perf_counter()
        jax.block_until_ready(run(state, batch))
        return (time.perf_counter() - began) / _STEPS

    return seconds


def _ours() -> float:
    """Seconds per step of the loop as users run it: shuffled batches, metrics, guard, progress, a run folder."""
    watch = _Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        config = TrainConfig(steps=2 * _STEPS, batch_size=_BATCH, log_every=1, checkpoint_seconds=None)
        train(_Net(), _loss, _data(60_000), config, run_dir=Path(folder), progress="silent", sinks=[watch])
    return watch.per_step()


def _memory() -> list[dict[str, Any]]:
    """Temporary memory of a step, as the compiler plans it, against the batch."""
    params, static = eqx.partition(_Net(), eqx.is_inexact_array)
    sizes = []
    for batch_size in _MEMORY_BATCHES:
        batch = {name: jnp.asarray(rows) for name, rows in _data(batch_size).items()}
        gradient = jax.jit(jax.grad(lambda p, b: _loss(eqx.combine(p, static), b, jax.random.key(0))[0]))
        sizes.append(gradient.lower(params, batch).compile().memory_analysis().temp_size_in_bytes)
    (small, large), (few, many) = (sizes[0], sizes[-1]), (_MEMORY_BATCHES[0], _MEMORY_BATCHES[-1])
    slopes = [
        (b - a) / (m - n) for a, b, n, m in zip(sizes, sizes[1:], _MEMORY_BATCHES, _MEMORY_BATCHES[1:], strict=False)
    ]
    return [
        {
            "name": "memory per further image",
            "value": (large - small) / (many - few) / 1024,
            "unit": "KiB",
            "target": "constant",
            "note": f"{slopes}",
        }
    ]
