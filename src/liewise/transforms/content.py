"""What a transformation takes from an example for good: what left the frame, or shrank below a pixel."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from liewise.transforms.group import Element, Group

__all__ = ["lost"]

_TINY = 1e-6


def lost(
    group: Group, element: Element, copies: Float[Array, "batch ..."], examples: Float[Array, "batch ..."]
) -> Float[Array, " batch"]:
    """Return how much of each example its transformed copy no longer shows: 0 is nothing, 1 or more is all.

    The squared error of undoing the transformation, over the variance of the example. Interpolation alone loses a few
    thousandths.
    """
    apart = group.act(group.inverse(element), copies) - examples
    rows = examples.reshape(len(examples), -1)
    return jnp.mean(apart.reshape(rows.shape) ** 2, 1) / (jnp.var(rows, 1) + _TINY)
