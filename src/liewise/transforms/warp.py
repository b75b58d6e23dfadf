"""Warping a batch of images, each by a matrix of its own, with a derivative of its own.

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

from liewise.transforms.interpolation import Interpolation, interpolate, slopes, spread

__all__ = ["half_extent", "warp"]

_BLOCK = 16_384  # pixels


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
    return _warp(images, matrices[:, :2, :], interpolation, fill)


@partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _warp(images, matrices, interpolation, fill):
    return interpolate(images, *_points(matrices, images.shape), interpolation, fill)


def _forward(images, matrices, interpolation, fill):
    return _warp(images, matrices, interpolation, fill), (images, matrices)


def _backward(interpolation, fill, kept, cotangent):
    images, matrices = kept

    points = _points(matrices, images.shape)
    slope = slopes(images, *points, interpolation, fill) * cotangent[None]

    def to_images(matrices, cotangent):
        return spread(cotangent, *_points(matrices, cotangent.shape), interpolation)

    return _in_blocks(to_images, matrices, cotangent), _onto_matrices(slope, images.shape)


_warp.defvjp(_forward, _backward)


def _axes(shape) -> tuple[np.ndarray, np.ndarray]:
    """Return the pixel centres along the width and along the height, in pixels from the middle: exact numbers."""
    _, height, width, _ = shape
    x, y = (np.arange(extent, dtype=np.float32) - (extent - 1) / 2 for extent in (width, height))
    return x, y


def _points(matrices: Float[Array, "batch 2 3"], shape):
    """Return where each pixel reads, in pixels from the centre of the top left pixel.

    A matrix product, because XLA computes it once. Were the points cheap arithmetic, XLA would redo it wherever they
    are used, rounded differently; a point next to a pixel's centre would then get the taps of one pixel and the
    weights of its neighbour.
    """
    batch, height, width, _ = shape
    x, y = _axes(shape)
    places = jnp.stack([*jnp.broadcast_arrays(x[None, :], y[:, None]), jnp.ones((height, width))])
    middle = jnp.array([(width - 1) / 2, (height - 1) / 2])[None, :]
    shift = matrices[:, :, 2] * half_extent((height, width)) + middle
    rows = jnp.concatenate([matrices[:, :, :2], shift[:, :, None]], -1).reshape(-1, 3)
    points = jnp.matmul(rows, places.reshape(3, -1), precision=jax.lax.Precision.HIGHEST)
    points = points.reshape(batch, 2, height, width)
    return points[:, 0], points[:, 1]


def _onto_matrices(slope: Float[Array, "two batch height width channels"], shape) -> Float[Array, "batch 2 3"]:
    """Gather the points' cotangents into the matrices', along the width and then along the height.

    The first step is written as a matrix product because XLA would fuse a sum into the loop that makes `slope`,
    which then runs ten times slower.
    """
    _, height, width, channels = shape
    x, y = _axes(shape)
    across = jnp.repeat(jnp.stack([x, np.ones_like(x)], -1), channels, axis=0)
    dot = partial(jnp.matmul, precision=jax.lax.Precision.HIGHEST)
    sums = dot(slope.reshape(-1, width * channels), across).reshape(2, -1, height, 2)
    by_x, by_y, by_one = sums[..., 0].sum(-1), dot(sums[..., 1], y), sums[..., 1].sum(-1)
    return jnp.stack([by_x, by_y, by_one * half_extent((height, width))], -1).swapaxes(0, 1)


def _in_blocks(function, *arrays):
    """Apply a function to a few images at a time, where intermediate results should stay in the cache.

    On a CPU this is five times faster than whole batches: fresh memory costs more than arithmetic. A GPU or TPU
    wants all the work at once.
    """
    batch, height, width, _ = arrays[-1].shape
    blocks = -(-batch * height * width // _BLOCK) if jax.default_backend() == "cpu" else 1
    blocks = min(blocks, batch)
    if blocks <= 1:
        return function(*arrays)
    each = -(-batch // blocks)
    spare = -(-batch // each) * each - batch

    def cut(array):
        array = jnp.pad(array, ((0, spare),) + ((0, 0),) * (array.ndim - 1)) if spare else array
        return array.reshape(-1, each, *array.shape[1:])

    result = jax.lax.map(lambda block: function(*block), tuple(cut(array) for array in arrays))
    return result.reshape(-1, *result.shape[2:])[:batch]
