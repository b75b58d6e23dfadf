"""Warping a batch of images, each by a matrix of its own.

A matrix maps the point where a value is wanted to the point where it is read, so matrices act on the sampling grid:
`warp(warp(x, A), B)` is `warp(x, A @ B)` but for interpolation. Coordinates: x to the right, y down, the origin in the
middle of the image, 1 at the outermost pixel centres of the longer side. (For a square image the corners are at ±1;
for others a rotation stays a rotation.)
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from liewise.errors import TransformError
from liewise.transforms.interpolation import Interpolation, expect_images, sample

__all__ = ["half_extent", "warp"]


def half_extent(size: tuple[int, int]) -> float:
    """Return the pixels that one unit of the coordinates spans, for images of (height, width) pixels."""
    return max((max(size) - 1) / 2, 0.5)


@partial(jax.jit, static_argnames=("interpolation", "fill"))
def warp(
    images: Float[Array, "batch height width channels"],
    matrices: Float[Array, "batch 3 3"],
    *,
    interpolation: Interpolation = "bicubic",
    fill: float = -1.0,
) -> Float[Array, "batch height width channels"]:
    """Resample each image through its affine matrix, reading `fill` outside the frame.

    Gradients flow to the images and to the first two rows of the matrices; memory is linear in the pixels.

    >>> image = jnp.array([[-1.0, -1.0, 1.0], [-1.0, -1.0, -1.0], [-1.0, -1.0, -1.0]])[None, :, :, None]
    >>> one_pixel_left = jnp.eye(3).at[0, 2].set(1.0)[None]  # each pixel reads its right neighbour
    >>> warp(image, one_pixel_left)[0, :, :, 0]
    Array([[-1.,  1., -1.],
           [-1., -1., -1.],
           [-1., -1., -1.]], dtype=float32)
    """
    if matrices.ndim != 3 or matrices.shape[1:] != (3, 3):
        raise TransformError(f"expected matrices [batch, 3, 3]; got {matrices.shape}")
    expect_images(images, len(matrices), "matrices")
    return sample(images, _points(matrices[:, :2], (images.shape[1], images.shape[2])), interpolation, fill)


def _points(matrices: Float[Array, "batch 2 3"], size: tuple[int, int]):
    """Return where each pixel reads, in pixels from the centre of the top left pixel: one matrix product."""
    height, width = size
    middle = np.array([(width - 1) / 2, (height - 1) / 2], np.float32)
    x, y = np.meshgrid(np.arange(width) - middle[0], np.arange(height) - middle[1])  # exact: halves of integers
    places = np.stack([x, y, np.ones_like(x)]).astype(np.float32).reshape(3, -1)
    shift = matrices[:, :, 2:] * half_extent(size) + middle[None, :, None]
    rows = jnp.concatenate([matrices[:, :, :2], shift], -1).reshape(-1, 3)
    return jnp.matmul(rows, places, precision=jax.lax.Precision.HIGHEST).reshape(-1, 2, height, width)
