"""Reading an image between its pixels: bilinear and bicubic, with the derivatives that a warp needs.

The image is taken to go on for ever with a constant fill value, so what is read changes continuously as a point
leaves the frame. Bicubic is the cubic convolution of Keys (1981) with a = -1/2.

Each of the three operations below is one fused loop over the outputs. The forms look roundabout because XLA, left
alone, would store every tap of the kernel for every pixel: two results that share taps, or a sum over channels,
must not be asked for in the same loop.
"""

from typing import Literal

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

__all__ = ["Interpolation", "interpolate", "slopes", "spread"]

Interpolation = Literal["bilinear", "bicubic"]

Points = Float[Array, "batch height width"]
Images = Float[Array, "batch rows columns channels"]


def interpolate(images: Images, x: Points, y: Points, kind: Interpolation, fill: float):
    """Read every image at its points, given in pixels from the centre of its top left pixel."""
    taps = _Taps(images.shape, x, y, kind)
    return _weigh(taps, _padded(images, taps.margin, fill), taps.weights(taps.dx), taps.weights(taps.dy))


def slopes(images: Images, x: Points, y: Points, kind: Interpolation, fill: float):
    """Differentiate `interpolate` by x and by y: an array with the two stacked in front."""
    taps = _Taps(images.shape, x, y, kind)
    which = lax.broadcasted_iota(jnp.int32, (2, *x.shape), 0)

    def choose(first, second):
        return [jnp.where(which == 0, a[None], b[None]) for a, b in zip(first, second, strict=True)]

    along_x = choose(taps.weight_slopes(taps.dx), taps.weights(taps.dx))
    along_y = choose(taps.weights(taps.dy), taps.weight_slopes(taps.dy))
    taps.corner = taps.corner[None] + 0 * which
    return _weigh(taps, _padded(images, taps.margin, fill), along_x, along_y)


def spread(values: Images, x: Points, y: Points, kind: Interpolation):
    """Apply the transpose of `interpolate` as a map of images: each value goes back to the pixels it came from.

    One scatter for each row of the kernel, a row of taps at a time, and the taps are folded together at the end:
    scattering tap by tap costs four times as much.
    """
    batch, rows, columns, channels = values.shape
    taps = _Taps(values.shape, x, y, kind)
    width = jnp.stack(taps.weights(taps.dx), -1)
    corner = taps.corner.reshape(-1)
    total = jnp.zeros((batch * taps.rows * taps.columns, taps.size * channels), values.dtype)
    for j, weight in enumerate(taps.weights(taps.dy)):
        update = (weight[..., None, None] * width[..., None]) * values[..., None, :]
        update = update.reshape(-1, taps.size * channels)
        total = total.at[corner + j * taps.columns].add(update, mode="promise_in_bounds")
    total = total.reshape(batch, taps.rows, taps.columns, taps.size, channels)
    m = taps.margin
    return sum(total[:, m : m + rows, m - i : m - i + columns, i] for i in range(taps.size))


class _Taps:
    """Which pixels of the padded image each point reads, and how far the point lies from them."""

    def __init__(self, shape, x: Points, y: Points, kind: Interpolation):
        batch, rows, columns, _ = shape
        self.weights, self.weight_slopes = _KERNELS[kind]
        self.size = 2 if kind == "bilinear" else 4
        reach = self.size // 2
        self.margin = 2 * reach
        self.rows, self.columns = rows + 2 * self.margin, columns + 2 * self.margin
        column, self.dx = self._split(x, columns, reach)
        row, self.dy = self._split(y, rows, reach)
        first = jnp.arange(batch)[:, None, None] * (self.rows * self.columns)
        self.corner = first + (row + self.margin - reach + 1) * self.columns + (column + self.margin - reach + 1)

    @staticmethod
    def _split(position, extent: int, reach: int):
        """Divide a position into a pixel and the rest; where only fill is read, any such pixel will do."""
        position = jnp.clip(position, -reach - 1, extent + reach - 1)
        pixel = jnp.floor(position)
        index = jnp.clip(pixel.astype(jnp.int32), -reach - 1, extent + reach - 1)  # a NaN has no integer
        return index, position - pixel


def _padded(images: Images, margin: int, fill: float):
    rim = (margin, margin)
    padded = jnp.pad(images, ((0, 0), rim, rim, (0, 0)), constant_values=fill)
    return padded.reshape(-1, images.shape[-1])


def _weigh(taps: _Taps, pixels: Float[Array, "pixels channels"], along_x, along_y):
    total = jnp.zeros((), pixels.dtype)
    for j in range(taps.size):
        line = jnp.zeros((), pixels.dtype)
        for i in range(taps.size):
            tap = pixels.at[taps.corner + (j * taps.columns + i)].get(mode="promise_in_bounds")
            line = line + along_x[i][..., None] * tap
        total = total + along_y[j][..., None] * line
    return total


def _linear(t: jax.Array) -> list[jax.Array]:
    return [1 - t, t]


def _linear_slope(t: jax.Array) -> list[jax.Array]:
    return [-jnp.ones_like(t), jnp.ones_like(t)]


def _cubic(t: jax.Array) -> list[jax.Array]:
    a, b, c = t, t * t, t * t * t
    return [-0.5 * c + b - 0.5 * a, 1.5 * c - 2.5 * b + 1, -1.5 * c + 2 * b + 0.5 * a, 0.5 * c - 0.5 * b]


def _cubic_slope(t: jax.Array) -> list[jax.Array]:
    a, b = t, t * t
    return [-1.5 * b + 2 * a - 0.5, 4.5 * b - 5 * a, -4.5 * b + 4 * a + 0.5, 1.5 * b - a]


_KERNELS = {"bilinear": (_linear, _linear_slope), "bicubic": (_cubic, _cubic_slope)}
