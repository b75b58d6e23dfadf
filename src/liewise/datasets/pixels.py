"""Pixels between the border (uint8, or floats in [0, 1]) and the models (floats in [-1, 1])."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt8

from liewise.errors import DataError

__all__ = ["to_bytes", "to_unit"]


def to_unit(
    images: UInt8[Array | np.ndarray, "*shape"] | Float[Array | np.ndarray, "*shape"],
) -> Float[Array, "*shape"]:
    """Return images as float32 in [-1, 1], from uint8 or from floats in [0, 1].

    It can be compiled, so that data rest on the device as bytes and are converted batch by batch.

    >>> to_unit(np.array([0, 255], np.uint8)).tolist()
    [-1.0, 1.0]
    """
    if images.dtype == jnp.uint8:
        return jnp.asarray(images, jnp.float32) * (2.0 / 255.0) - 1.0
    if jnp.issubdtype(images.dtype, jnp.floating):
        return jnp.asarray(images, jnp.float32) * 2.0 - 1.0
    raise DataError(f"expected images as uint8, or floats in [0, 1]; got {images.dtype}")


def to_bytes(images: Float[Array | np.ndarray, "*shape"]) -> UInt8[Array, "*shape"]:
    """Return images as uint8 from floats in [-1, 1], rounded, and clipped where a model overshoots.

    >>> to_bytes(np.array([-1.0, 0.0, 1.2], np.float32)).tolist()
    [0, 128, 255]
    """
    scaled = (jnp.asarray(images, jnp.float32) + 1.0) * 127.5
    # halves go up: jnp.round goes to even, and 0.0 would then depend on how it was computed
    return jnp.clip(jnp.floor(scaled + 0.5), 0.0, 255.0).astype(jnp.uint8)
