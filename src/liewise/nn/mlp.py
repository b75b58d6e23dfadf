"""The papers' multi-layer perceptron: each layer is dense, gelu, layer norm, dropout (`004`, Appendix C)."""

from collections.abc import Sequence
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["MLP", "Dense"]


class Dense(eqx.Module):
    """An affine map of vectors, with uniform weights that keep the size of what passes through."""

    weight: Float[Array, "features out"]
    bias: Float[Array, " out"]

    def __init__(self, features: int, out: int, *, scale: float = 1.0, key: PRNGKeyArray):
        limit = scale / np.sqrt(features)
        self.weight = jax.random.uniform(key, (features, out), minval=-limit, maxval=limit)
        self.bias = jnp.zeros(out)

    def __call__(self, x: Float[Array, "batch features"]) -> Float[Array, "batch out"]:
        """Map each row."""
        return x @ self.weight + self.bias[None]


class MLP(eqx.Module):
    """A perceptron on batches of vectors; the last layer is dense alone."""

    layers: tuple[Dense, ...]
    norms: tuple[eqx.nn.LayerNorm, ...]
    dropout: eqx.nn.Dropout

    def __init__(self, sizes: Sequence[int], *, dropout: float = 0.0, key: PRNGKeyArray, last_scale: float = 1.0):
        """Make one.

        Args:
            sizes: of the input, of each hidden layer, of the output.
            dropout: the rate behind each hidden layer; none in inference mode.
            key: for the weights.
            last_scale: factor on the last layer's first weights; 0 makes a network that begins as zero.
        """
        keys = jax.random.split(key, len(sizes) - 1)
        scales = [1.0] * (len(sizes) - 2) + [last_scale]
        self.layers = tuple(
            Dense(a, b, scale=s, key=k) for (a, b), s, k in zip(pairwise(sizes), scales, keys, strict=True)
        )
        self.norms = tuple(eqx.nn.LayerNorm(size) for size in sizes[1:-1])
        self.dropout = eqx.nn.Dropout(dropout)

    def __call__(
        self, x: Float[Array, "batch features"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "batch out"]:
        """Apply to each row; the key is for dropout."""
        keys = [None] * len(self.norms) if key is None else jax.random.split(key, len(self.norms))
        for layer, norm, k in zip(self.layers[:-1], self.norms, keys, strict=True):
            x = jax.nn.gelu(layer(x))
            x = self.dropout(jax.vmap(norm)(x), key=k)
        return self.layers[-1](x)
