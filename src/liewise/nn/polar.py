"""Images read round their centre: a fixed linear map from pixels to rings, so that a turn becomes a roll."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

__all__ = ["polar_map", "to_polar"]


def polar_map(size: tuple[int, int], angles: int, rings: int) -> Float[np.ndarray, "pixels samples"]:
    """Return the matrix that reads (height, width) pixels, bilinearly, at `angles` directions on `rings` circles.

    Directions go counter-clockwise as displayed, from the right; rings lie evenly up to the edge of the longer side.
    Samples are ordered by direction, then ring, and weighted by the root of the area they stand for, so that squared
    differences add up as over the plane.
    """
    height, width = size
    half = max((max(size) - 1) / 2, 0.5)
    radius = (np.arange(rings) + 0.5) / rings * half
    turn = 2 * np.pi * np.arange(angles) / angles
    x = (width - 1) / 2 + radius[None, :] * np.cos(turn)[:, None]
    y = (height - 1) / 2 - radius[None, :] * np.sin(turn)[:, None]
    weight = np.broadcast_to(np.sqrt(radius / radius.mean()), x.shape).ravel()
    matrix = np.zeros((height * width, angles * rings), np.float32)
    left, top = np.floor(x).astype(int).ravel(), np.floor(y).astype(int).ravel()
    along, down = x.ravel() - left, y.ravel() - top
    sample = np.arange(angles * rings)
    for column, row, share in (
        (left, top, (1 - along) * (1 - down)),
        (left + 1, top, along * (1 - down)),
        (left, top + 1, (1 - along) * down),
        (left + 1, top + 1, along * down),
    ):
        inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        np.add.at(matrix, ((row * width + column)[inside], sample[inside]), (share * weight)[inside])
    return matrix


def to_polar(
    images: Float[Array, "batch height width channels"], matrix: Float[np.ndarray, "pixels samples"], angles: int
) -> Float[Array, "batch angles features"]:
    """Apply a `polar_map`; rings and channels become the features of a direction."""
    batch, height, width, channels = images.shape
    rows = jnp.moveaxis(images.reshape(batch, height * width, channels), 1, 2).reshape(-1, height * width)
    read = (rows @ matrix).reshape(batch, channels, angles, -1)
    return jnp.moveaxis(read, 1, -1).reshape(batch, angles, -1)
