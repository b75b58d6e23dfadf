"""From a prototype to features, and from features and earlier coordinates to the numbers of a density."""

from collections.abc import Sequence
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from liewise.nn import MLP

__all__ = ["Conditioner", "Features", "shrink"]


class Features(eqx.Module):
    """What a density needs to know of a prototype: large images averaged down, then a perceptron."""

    mlp: MLP
    norm: eqx.nn.LayerNorm
    dropout: eqx.nn.Dropout
    side: int | None = eqx.field(static=True)  # pixels, at most

    def __init__(
        self,
        image_shape: tuple[int, int, int],
        sizes: Sequence[int],
        *,
        dropout: float,
        side: int | None,
        key: PRNGKeyArray,
    ):
        """Make one.

        Args:
            image_shape: height, width, channels.
            sizes: of the layers; the last is how many features there are.
            dropout: the rate behind each layer.
            side: images higher or wider than this are averaged down to it; None: never.
            key: for the weights.
        """
        height, width, channels = image_shape
        pixels = _bounded(height, side) * _bounded(width, side) * channels
        self.mlp = MLP([pixels, *sizes], dropout=dropout, key=key)
        self.norm = eqx.nn.LayerNorm(sizes[-1])
        self.dropout = eqx.nn.Dropout(dropout)
        self.side = side

    def __call__(
        self, images: Float[Array, "batch height width channels"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "batch features"]:
        """Look at each image; the key is for dropout."""
        inner, outer = (None, None) if key is None else jax.random.split(key)
        small = shrink(images, self.side)
        raw = self.mlp(small.reshape(len(small), -1), key=inner)
        return self.dropout(jax.vmap(self.norm)(jax.nn.gelu(raw)), key=outer)


class Conditioner(eqx.Module):
    """Dense, gelu, layer norm, dropout as often as there are sizes, then dense, on features and a code side by side.

    The features' share of the first layer is worked out once for all the codes that go with them.
    """

    from_features: eqx.nn.Linear
    from_code: eqx.nn.Linear | None
    norm: eqx.nn.LayerNorm
    dropout: eqx.nn.Dropout
    rest: MLP

    def __init__(
        self,
        features: int,
        code: int,
        sizes: Sequence[int],
        out: int,
        *,
        dropout: float,
        key: PRNGKeyArray,
    ):
        """Make one; its first outputs are small.

        Args:
            features: how many there are.
            code: how many numbers go beside them; may be 0.
            sizes: of the hidden layers, one or more.
            out: how many numbers to predict.
            dropout: the rate behind each hidden layer.
            key: for the weights.
        """
        features_key, code_key, rest_key = jax.random.split(key, 3)
        self.from_features = eqx.nn.Linear(features, sizes[0], key=features_key)
        self.from_code = eqx.nn.Linear(code, sizes[0], use_bias=False, key=code_key) if code else None
        self.norm = eqx.nn.LayerNorm(sizes[0])
        self.dropout = eqx.nn.Dropout(dropout)
        self.rest = MLP([*sizes, out], dropout=dropout, last_scale=0.1, key=rest_key)

    def __call__(
        self,
        features: Float[Array, "batch features"],
        code: Float[Array, "batch n code"],
        *,
        key: PRNGKeyArray | None = None,
    ) -> Float[Array, "batch n out"]:
        """Predict from each code beside the features of its row; the key is for dropout."""
        first, later = (None, None) if key is None else jax.random.split(key)
        assert self.from_features.bias is not None
        hidden = features @ self.from_features.weight.T + self.from_features.bias[None]
        hidden = jnp.broadcast_to(hidden[:, None], (*code.shape[:2], hidden.shape[-1]))
        if self.from_code is not None:
            hidden = hidden + code @ self.from_code.weight.T
        flat = jax.nn.gelu(hidden).reshape(-1, hidden.shape[-1])
        out = self.rest(self.dropout(jax.vmap(self.norm)(flat), key=first), key=later)
        return out.reshape(*code.shape[:2], out.shape[-1])


def shrink(
    images: Float[Array, "batch height width channels"], side: int | None
) -> Float[Array, "batch small_height small_width channels"]:
    """Average images down so that neither side is longer than `side` pixels; smaller ones stay as they are."""
    height, width = images.shape[1:3]
    rows, columns = _areas(height, _bounded(height, side)), _areas(width, _bounded(width, side))
    if rows is not None:
        images = jnp.einsum("sh,bhwc->bswc", rows, images)
    return images if columns is None else jnp.einsum("sw,bhwc->bhsc", columns, images)


def _bounded(length: int, side: int | None) -> int:
    return length if side is None else min(length, side)


def _areas(length: int, short: int) -> Float[np.ndarray, "short length"] | None:
    """How much of each old pixel goes into each new one, where that is not all of itself."""
    if short == length:
        return None
    edges = np.linspace(0, length, short + 1)
    return np.stack([_overlap(low, high, length) for low, high in pairwise(edges)]).astype(np.float32)


def _overlap(low: float, high: float, length: int) -> Float[np.ndarray, " length"]:
    starts = np.arange(length)
    return np.clip(np.minimum(high, starts + 1) - np.maximum(low, starts), 0, None) / (high - low)
