"""Reading images between their pixels: bilinear and bicubic, with a derivative of its own.

The image is taken to go on for ever with a constant fill value, so what is read changes continuously as a point
leaves the frame. Bicubic is the cubic convolution of Keys (1981) with a = -1/2.

The forms look roundabout because XLA, left alone, would store every tap of the kernel for every pixel: two results
that share taps, or a sum over channels, must not be asked for in the loop that reads them.
"""

from functools import partial
from typing import Literal, get_args

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from liewise.errors import TransformError

__all__ = ["Interpolation", "expect_images", "expect_interpolation", "sample"]

Interpolation = Literal["bilinear", "bicubic"]

Points = Float[Array, "batch 2 height width"]
Images = Float[Array, "batch rows columns channels"]
Values = Float[Array, "batch height width channels"]

_BLOCK = 16_384  # pixels


@partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def sample(images: Images, points: Points, kind: Interpolation = "bicubic", fill: float = -1.0) -> Values:
    """Read every image at its points: x and y in pixels from the centre of its top left pixel.

    Gradients flow to the images and to the points, in reverse mode.

    The points are kept from being fused into what uses them. Where they are cheap arithmetic, XLA would redo it in
    each place, rounded differently, and a point next to a pixel's centre could get the taps of one pixel and the
    weights of its neighbour.

    >>> image = jnp.array([[0.0, 1.0], [2.0, 3.0]])[None, :, :, None]
    >>> sample(image, jnp.array([0.5, 1.0]).reshape(1, 2, 1, 1), "bilinear").ravel()
    Array([2.5], dtype=float32)
    """
    expect_interpolation(kind)
    if points.ndim != 4 or points.shape[1] != 2:
        raise TransformError(f"expected points [batch, 2, height, width], x before y; got {points.shape}")
    expect_images(images, len(points), "points")
    with jax.named_scope(f"liewise.sample:{kind}:{float(fill)!r}"):  # by which profiles and exports know it
        return _alone(partial(_interpolate, kind=kind, fill=fill), images, points)


def _interpolate(images: Images, points: Points, *, kind: Interpolation, fill: float) -> Values:
    taps = _Taps(images.shape, points, kind)
    return _weigh(taps, _padded(images, taps.margin, fill), taps.weights(taps.dx), taps.weights(taps.dy))


def expect_images(images, batch: int, what: str = "elements") -> None:
    """Refuse what is not a batch of images of floats, as many as there are of something else."""
    if images.ndim != 4 or len(images) != batch:
        raise TransformError(
            f"expected images [batch, height, width, channels], one for each of {batch} {what}; got {images.shape}"
        )
    if not jnp.issubdtype(images.dtype, jnp.floating):
        raise TransformError(f"expected floats in [-1, 1]; got {images.dtype} (datasets.to_unit converts)")


def expect_interpolation(kind) -> None:
    """Refuse a kind of interpolation that there is not."""
    if kind not in get_args(Interpolation):
        raise TransformError(f"interpolation is 'bilinear' or 'bicubic'; got {kind!r}")


def _forward(images, points, kind, fill):
    return sample(images, points, kind, fill), (images, points)


def _backward(kind, fill, kept, cotangent):
    images, points = kept
    to_images = _in_blocks(partial(_spread, kind=kind, shape=images.shape[1:]), cotangent, points)
    return to_images, _alone(partial(_to_points, kind=kind, fill=fill), images, points, cotangent)


sample.defvjp(_forward, _backward)


def _to_points(images: Images, points: Points, cotangent: Values, *, kind: Interpolation, fill: float) -> Points:
    """Weigh the slopes of what is read, by x and by y, with the cotangent; the two lie behind the batch."""
    taps = _Taps(images.shape, points, kind)
    which = lax.broadcasted_iota(jnp.int32, points.shape, 1)

    def choose(first, second):
        return [jnp.where(which == 0, a[:, None], b[:, None]) for a, b in zip(first, second, strict=True)]

    along_x = choose(taps.weight_slopes(taps.dx), taps.weights(taps.dx))
    along_y = choose(taps.weights(taps.dy), taps.weight_slopes(taps.dy))
    taps.corner = taps.corner[:, None] + 0 * which
    return _sum_channels(_weigh(taps, _padded(images, taps.margin, fill), along_x, along_y) * cotangent[:, None])


def _sum_channels(values: Float[Array, "*shape channels"]) -> Float[Array, "*shape"]:
    """Sum the last axis, as a matrix product: a plain sum would be fused into the loop before it."""
    if values.shape[-1] == 1:
        return values[..., 0]
    ones = jnp.ones((values.shape[-1], 1), values.dtype)
    total = jnp.matmul(values.reshape(-1, values.shape[-1]), ones, precision=lax.Precision.HIGHEST)
    return total.reshape(values.shape[:-1])


def _spread(values: Values, points: Points, *, kind: Interpolation, shape: tuple[int, int, int]) -> Images:
    """Apply the transpose of `sample` as a map of images: each value goes back to the pixels it came from.

    One scatter for each row of the kernel, a row of taps at a time, and the taps are folded together at the end:
    scattering tap by tap costs four times as much.
    """
    rows, columns, channels = shape
    batch = values.shape[0]
    taps = _Taps((batch, *shape), points, kind)
    width = jnp.stack(taps.weights(taps.dx), -1)
    corner = taps.corner.reshape(batch, -1)
    total = jnp.zeros((batch, taps.rows * taps.columns, taps.size * channels), values.dtype)
    for j, weight in enumerate(taps.weights(taps.dy)):
        update = (weight[..., None, None] * width[..., None]) * values[..., None, :]
        total = _add(total, corner + j * taps.columns, update.reshape(batch, -1, taps.size * channels))
    total = total.reshape(batch, taps.rows, taps.columns, taps.size, channels)
    m = taps.margin
    parts = [total[:, m : m + rows, m - i : m - i + columns, i] for i in range(taps.size)]
    return jnp.sum(jnp.stack(parts), 0)


def _alone(function, *arrays):
    """Apply a function as a piece of its own on a CPU, where it must not be fused into what uses its result.

    A sum of squares of what is read, say, would otherwise store every tap: 85 ms instead of 5 for 512 28×28 images.
    The condition is one that the compiler does not see through; barriers alone are gone before it fuses.
    """
    if jax.default_backend() != "cpu":
        return function(*arrays)
    result = jax.eval_shape(function, *arrays)
    always, *arrays = lax.optimization_barrier((jnp.array(True), *arrays))
    return lax.cond(always, function, lambda *_: jnp.zeros(result.shape, result.dtype), *arrays)


def _in_blocks(function, *arrays):
    """Apply a function to a few images at a time, so that its intermediate results stay in the cache.

    On a CPU this is five times faster than whole batches: fresh memory costs more than arithmetic. A GPU or TPU
    wants all the work at once.
    """
    batch, height, width = arrays[0].shape[:3]
    blocks = -(-batch * height * width // _BLOCK) if jax.default_backend() == "cpu" else 1
    blocks = min(blocks, batch)
    if blocks <= 1:
        return function(*arrays)
    each = -(-batch // blocks)
    spare = -(-batch // each) * each - batch

    def cut(array):
        array = jnp.pad(array, ((0, spare),) + ((0, 0),) * (array.ndim - 1)) if spare else array
        return array.reshape(-1, each, *array.shape[1:])

    result = lax.map(lambda block: function(*block), tuple(cut(array) for array in arrays))
    return result.reshape(-1, *result.shape[2:])[:batch]


class _Taps:
    """Which pixels of the padded image each point reads, and how far the point lies from them."""

    def __init__(self, shape: tuple[int, ...], points: Points, kind: Interpolation):
        _, rows, columns, _ = shape
        points = lax.optimization_barrier(points)  # see `sample`
        self.weights, self.weight_slopes = _KERNELS[kind]
        self.size = 2 if kind == "bilinear" else 4
        reach = self.size // 2
        self.margin = 2 * reach
        self.rows, self.columns = rows + 2 * self.margin, columns + 2 * self.margin
        column, self.dx = self._split(points[:, 0], columns, reach)
        row, self.dy = self._split(points[:, 1], rows, reach)
        self.corner = (row + self.margin - reach + 1) * self.columns + (column + self.margin - reach + 1)

    @staticmethod
    def _split(position, extent: int, reach: int):
        """Divide a position into a pixel and the rest; where only fill is read, any such pixel will do."""
        position = jnp.clip(position, -reach - 1, extent + reach - 1)
        pixel = jnp.floor(position)
        index = jnp.clip(pixel.astype(jnp.int32), -reach - 1, extent + reach - 1)  # a NaN has no integer
        return index, position - pixel


def _padded(images: Images, margin: int, fill: float):
    rim = (margin, margin)
    padded = jnp.pad(images, ((0, 0), rim, rim, (0, 0)), constant_values=jnp.asarray(fill, images.dtype))
    return padded.reshape(len(images), -1, images.shape[-1])


def _weigh(taps: _Taps, pixels: Float[Array, "batch pixels channels"], along_x, along_y):
    total = jnp.zeros((), pixels.dtype)
    for j in range(taps.size):
        line = jnp.zeros((), pixels.dtype)
        for i in range(taps.size):
            tap = _read(pixels, taps.corner + (j * taps.columns + i))
            line = line + along_x[i][..., None] * tap
        total = total + along_y[j][..., None] * line
    return total


# Each image is indexed on its own: a batch that is shared out over devices then needs no exchange between them, and
# indices stay small whatever the batch.
_read = jax.vmap(lambda pixels, index: pixels.at[index].get(mode="promise_in_bounds"))
_add = jax.vmap(lambda pixels, index, update: pixels.at[index].add(update, mode="promise_in_bounds"))


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
