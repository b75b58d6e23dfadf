"""Layers on signals that live on a circle, and reading a place on it: what rolls the input rolls the output."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from liewise.nn.mlp import MLP

__all__ = ["CircularNet", "circular_mode", "correlate"]


class CircularNet(eqx.Module):
    """One score for each place on a circle: a perceptron that sees the whole circle as it looks from there.

    The first layer is a circular convolution as wide as the circle, done as one matrix product: on CPUs that is an
    order faster than several narrow ones, and it sees both sides of everything at once.
    """

    weight: Float[Array, "places features hidden"]
    head: MLP

    def __init__(self, places: int, features: int, hidden: tuple[int, int], *, key: PRNGKeyArray):
        first, rest = jax.random.split(key)
        self.weight = jax.random.normal(first, (places, features, hidden[0])) / np.sqrt(places * features)
        self.head = MLP((hidden[0], hidden[1], 1), key=rest)

    def __call__(self, x: Float[Array, "batch places features"]) -> Float[Array, "batch places"]:
        """Score every place."""
        batch, places, features = x.shape
        rolled = jnp.stack([jnp.roll(self.weight, place, 0) for place in range(places)], 2)
        seen = x.reshape(batch, places * features) @ rolled.reshape(places * features, -1)
        return self.head(jax.nn.gelu(seen).reshape(batch * places, -1)).reshape(batch, places)


def circular_mode(scores: Float[Array, "batch places"], reach: int = 2) -> Float[Array, " batch"]:
    """Return where on the circle, in turns, the best score is: a soft maximum over places near the hard one."""
    places = scores.shape[1]
    best = jnp.argmax(scores, 1)
    near = np.arange(-reach, reach + 1)
    around = (best[:, None] + near[None]) % places
    weight = jax.nn.softmax(jnp.take_along_axis(scores, around, 1), axis=1)
    return (best + weight @ near.astype(np.float32)) / places


def correlate(
    one: Float[Array, "batch places features"], other: Float[Array, "batch places features"]
) -> Float[Array, "batch places"]:
    """Return the sum over places and features of one(k + d) · other(k), for every roll d."""
    a, b = jnp.fft.rfft(one, axis=1), jnp.fft.rfft(other, axis=1)
    return jnp.fft.irfft(jnp.sum(a * jnp.conj(b), -1), one.shape[1], axis=1)
