"""A regression small enough to train in a blink, with dropout and random numbers in its loss."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Net(eqx.Module):
    mlp: eqx.nn.MLP
    dropout: eqx.nn.Dropout

    def __init__(self, width: int = 8):
        self.mlp = eqx.nn.MLP(4, 1, width, 1, key=jax.random.key(3))
        self.dropout = eqx.nn.Dropout(0.2)

    def __call__(self, x, key):
        """A batch of guesses; one key for the batch."""
        return jax.vmap(self.mlp)(self.dropout(x, key=key))[:, 0]


def data(n: int = 96, seed: int = 0) -> dict[str, np.ndarray]:
    pixels = np.random.default_rng(seed).integers(0, 256, (n, 4), dtype=np.uint8)
    return {"x": pixels, "y": (pixels.sum(axis=1) / 512 - 1).astype(np.float32)}


def loss(model: Net, batch: dict[str, Any], key: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
    drop, noise = jax.random.split(key)
    x = batch["x"] / 127.5 - 1.0
    x = x + 0.01 * jax.random.normal(noise, x.shape)
    error = jnp.mean((model(x, drop) - batch["y"]) ** 2)
    return error, {"mse": error, "first": batch["x"][0, 0]}


def same(a: Any, b: Any) -> bool:
    """Whether two models hold bitwise the same arrays."""
    pairs = zip(jax.tree.leaves(eqx.filter(a, eqx.is_array)), jax.tree.leaves(eqx.filter(b, eqx.is_array)), strict=True)
    return all(np.array_equal(x, y) for x, y in pairs)
