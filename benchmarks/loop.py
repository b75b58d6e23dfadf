"""What the training loop costs beyond its bare step, and how a step's memory grows with the batch."""

import itertools
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from liewise.train import OptimiserConfig, TrainConfig, train
from liewise.train.devices import as_mesh, place
from liewise.train.feed import open_feed
from liewise.train.optimiser import adamw
from liewise.train.step import Parts, Program

_BATCH = 512  # images
_STEPS = 8  # per device call
_CALLS = 8  # per round
_ROUNDS = 4
_MEMORY_BATCHES = (128, 256, 512, 1024, 2048, 4096, 8192)  # images


def measure() -> list[dict[str, Any]]:
    """The rows of the table: overhead of the loop, growth of its memory."""
    return [_overhead(), _memory()]


class _Net(eqx.Module):
    layers: tuple[eqx.nn.Linear, ...]

    def __init__(self) -> None:
        sizes = (784, 2048, 1024, 512, 256, 10)
        keys = jax.random.split(jax.random.key(0), len(sizes) - 1)
        pairs = zip(itertools.pairwise(sizes), keys, strict=False)
        self.layers = tuple(eqx.nn.Linear(a, b, key=key) for (a, b), key in pairs)

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
    """A sink that notes when each device call was recorded."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def write(self, step: int, values: dict[str, float]) -> None:
        self.times.append(time.perf_counter())

    def close(self) -> None:
        pass


def _overhead() -> dict[str, Any]:
    bare, ours = [], []
    run_bare = _bare()
    for _ in range(_ROUNDS):  # in turns, since other work on the machine comes and goes
        bare += [run_bare() for _ in range(_CALLS)]
        ours += _ours()
    slow, fast = (statistics.quantiles(times, n=4)[0] for times in (ours, bare))
    return {
        "name": "training loop / bare compiled step",
        "value": 100 * (slow / fast - 1),
        "unit": "% more time",
        "target": 3.0,
        "note": f"MLP 784-2048-1024-512-256, batch {_BATCH}: {1e3 * slow:.1f} ms against {1e3 * fast:.1f} ms a "
        f"step, lower quartiles of {len(ours)} and {len(bare)} calls of {_STEPS} steps",
    }


def _bare() -> Any:
    """Seconds per step of a compiled loop over nothing but gradient and update, always on the same batch."""
    params, static = eqx.partition(_Net(), eqx.is_inexact_array)
    optimiser = adamw(OptimiserConfig(), 1000)
    batch = {name: jnp.asarray(rows) for name, rows in _data(_BATCH).items()}

    @partial(jax.jit, donate_argnums=0)
    def run(state: Any, batch: dict[str, jax.Array]) -> Any:
        def body(_: int, state: Any) -> Any:
            params, moments = state
            gradient = jax.grad(lambda p: _loss(eqx.combine(p, static), batch, jax.random.key(0))[0])(params)
            updates, moments = optimiser.update(gradient, moments, params)
            return optax.apply_updates(params, updates), moments

        return lax.fori_loop(0, _STEPS, body, state)

    state = jax.block_until_ready(run((params, optimiser.init(params)), batch))

    def seconds() -> float:
        nonlocal state
        began = time.perf_counter()
        state = jax.block_until_ready(run(state, batch))
        return (time.perf_counter() - began) / _STEPS

    return seconds


def _ours() -> list[float]:
    """Seconds per step of the loop as users run it: shuffled batches, metrics, guard, a run folder."""
    watch = _Stopwatch()
    config = TrainConfig(
        steps=(_CALLS + 2) * _STEPS,
        batch_size=_BATCH,
        log_every=_STEPS,
        dispatch_steps=_STEPS,
        dispatch_seconds=None,
        checkpoint_seconds=None,
    )
    with tempfile.TemporaryDirectory() as folder:
        train(_Net(), _loss, _data(60_000), config, run_dir=Path(folder), progress="silent", sinks=[watch])
    return [(b - a) / _STEPS for a, b in itertools.pairwise(watch.times)]


def _memory() -> dict[str, Any]:
    """Temporary memory of the loop's own compiled step, as the compiler plans it, against the batch."""
    sizes = [_step_bytes(n) for n in _MEMORY_BATCHES]
    growth = max(b / a for a, b in itertools.pairwise(sizes))
    return {
        "name": "memory of a step, twice the batch / once",
        "value": growth,
        "unit": "x",
        "target": 2.0,
        "note": "largest of the doublings; "
        + ", ".join(f"{n}: {size / 2**20:.1f} MiB" for n, size in zip(_MEMORY_BATCHES, sizes, strict=True)),
    }


def _step_bytes(batch_size: int) -> int:
    config = TrainConfig(steps=_STEPS, batch_size=batch_size, dispatch_steps=_STEPS)
    mesh, parts = as_mesh(None), Parts.of(_Net(), {})
    feed = open_feed(_data(_BATCH), config, mesh)
    program = Program(_loss, parts.static, {}, config, feed, mesh)
    program.prepare(place(program.begin(parts.trained), mesh), place(parts.arrays, mesh), 0)
    return program.memory(0)
