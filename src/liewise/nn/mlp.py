"""The papers' multi-layer perceptron: each layer is dense, gelu, layer norm, dropout (`004`, Appendix C)."""

from collections.abc import Sequence
from itertools import pairwise

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["MLP"]


class MLP(eqx.Module):
    """A perceptron on batches of vectors; the last layer is dense alone."""

    layers: tuple[eqx.nn.Linear, ...]
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
        layers = [eqx.nn.Linear(a, b, key=k) for (a, b), k in zip(pairwise(sizes), keys, strict=True)]
        last = layers[-1]
        layers[-1] = eqx.tree_at(lambda m: (m.weight, m.bias), last, (last.weight * last_scale, last.bias * last_scale))
        self.layers = tuple(layers)
        self.norms = tuple(eqx.nn.LayerNorm(size) for size in sizes[1:-1])
        self.dropout = eqx.nn.Dropout(dropout)

    def __call__(
        self, x: Float[Array, "batch features"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "batch out"]:
        """Apply to each row; the key is for dropout."""
        keys = [None] * len(self.norms) if key is None else jax.random.split(key, len(self.norms))
        for layer, norm, k in zip(self.layers[:-1], self.norms, keys, strict=True):
            x = jax.nn.gelu(x @ layer.weight.T + layer.bias[None])
            x = self.dropout(jax.vmap(norm)(x), key=k)
        last = self.layers[-1]
        return x @ last.weight.T + last.bias[None]
