"""The warp against SciPy and a naive oracle: values, derivatives, borders, memory."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, map_coordinates

from liewise.errors import TransformError
from liewise.transforms import affine, sample, warp

KINDS = ("bilinear", "bicubic")
SHAPES = ((28, 28, 1), (64, 64, 3), (256, 256, 1), (20, 33, 2), (8, 3, 1), (1, 5, 1))


def smooth_images(shape, batch=3, seed=0):
    noise = np.random.default_rng(seed).normal(size=(batch, *shape))
    return np.tanh(2 * gaussian_filter(noise, (0, 1, 1, 0))).astype(np.float32)


def some_matrices(batch=3, seed=0):
    group = affine("shift", "rotation", "scale-x", "scale-y", "shear", box={"shift-x": 0.5, "shear": 0.5})
    return np.asarray(group.element(group.sample(jax.random.key(seed), batch)))


def reading_points(matrix, shape):
    """Where each pixel reads, in pixels, in double precision."""
    height, width, _ = shape
    unit = max((max(height, width) - 1) / 2, 0.5)
    rows, columns = np.mgrid[:height, :width].astype(np.float64)
    places = np.stack([(columns - (width - 1) / 2) / unit, (rows - (height - 1) / 2) / unit, np.ones_like(rows)])
    x, y = np.tensordot(matrix[:2].astype(np.float64), places, 1) * unit
    return x + (width - 1) / 2, y + (height - 1) / 2


def keys_cubic(t):
    """The kernel of Keys (1981) with a = -1/2, straight from its definition."""
    t = np.abs(t)
    near, far = 1.5 * t**3 - 2.5 * t**2 + 1, -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2
    return np.where(t < 1, near, np.where(t < 2, far, 0.0))


def naive_bicubic(image, x, y, fill):
    """Sum the sixteen pixels round each point, in double precision; what is outside the image is fill."""
    height, width, _ = image.shape
    result = np.zeros((*x.shape, image.shape[2]))
    for down in range(-1, 3):
        for right in range(-1, 3):
            i, j = np.floor(y).astype(int) + down, np.floor(x).astype(int) + right
            inside = (i >= 0) & (i < height) & (j >= 0) & (j < width)
            pixel = np.where(inside[..., None], image[i.clip(0, height - 1), j.clip(0, width - 1)], fill)
            result += (keys_cubic(y - i) * keys_cubic(x - j))[..., None] * pixel
    return result


def naive_bilinear(image, x, y, fill):
    channels = [map_coordinates(c, [y, x], order=1, mode="grid-constant", cval=fill) for c in np.moveaxis(image, -1, 0)]
    return np.stack(channels, -1)


NAIVE = {"bilinear": naive_bilinear, "bicubic": naive_bicubic}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fill", [-1.0, 0.3])
def test_warps_match_a_naive_oracle(kind, shape, fill):
    """SciPy's interpolation for bilinear, sixteen pixels summed for bicubic, both at points in double precision."""
    images, matrices = smooth_images(shape), some_matrices(seed=1)
    ours = np.asarray(warp(jnp.asarray(images), jnp.asarray(matrices), interpolation=kind, fill=fill))
    for image, matrix, result in zip(images, matrices, ours, strict=True):
        truth = NAIVE[kind](image.astype(np.float64), *reading_points(matrix, shape), fill)
        # a place among 256 pixels is known in single precision to some 2e-5 of a pixel
        np.testing.assert_allclose(result, truth, atol=1e-5 if max(shape) < 100 else 5e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_interpolation_at_given_points_is_exact_whatever_the_size(kind, shape):
    images = smooth_images(shape)
    points = np.stack([reading_points(m, shape) for m in some_matrices(seed=2)]).astype(np.float32)
    ours = np.asarray(sample(jnp.asarray(images), jnp.asarray(points), kind, 0.3))
    for image, (x, y), result in zip(images, points.astype(np.float64), ours, strict=True):
        np.testing.assert_allclose(result, NAIVE[kind](image.astype(np.float64), x, y, 0.3), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chart", ["factored", "exp"])
@pytest.mark.parametrize("angle", [np.pi, -np.pi])
@pytest.mark.parametrize("shape", [(28, 28, 1), (64, 64, 3), (20, 33, 1)])
def test_half_a_turn_is_the_image_upside_down(kind, chart, angle, shape):
    group = affine("rotation", chart=chart, interpolation=kind)
    images = jnp.asarray(smooth_images(shape))
    turned = group.act(group.element(group.eta(3, rotation=angle)), images)
    np.testing.assert_allclose(turned, images[:, ::-1, ::-1], atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(12, 12, 1), (9, 14, 3), (64, 64, 1)])
def test_derivatives_match_automatic_ones(kind, shape):
    """JAX differentiates the same taps through its gathers, slowly; both must agree, for images and matrices."""
    from liewise.transforms.warp import _points

    plain = sample.fun  # what is differentiated by hand, before it was

    images, matrices = jnp.asarray(smooth_images(shape)), jnp.asarray(some_matrices(seed=2))[:, :2]
    weights = jax.random.normal(jax.random.key(0), images.shape)

    def automatic(images, matrices):
        return jnp.sum(weights * plain(images, _points(matrices, shape[:2]), kind, -1.0))

    def own(images, matrices):
        whole = jnp.concatenate([matrices, jnp.zeros((3, 1, 3)).at[:, 0, 2].set(1)], 1)
        return jnp.sum(weights * warp(images, whole, interpolation=kind))

    both = [jax.jit(jax.grad(f, (0, 1)))(images, matrices) for f in (own, automatic)]
    for a, b in zip(*both, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-4 * float(jnp.abs(b).max()))


@pytest.mark.parametrize("batch", [1, 7, 41])
def test_image_derivative_is_the_transpose_whatever_the_batch(batch):
    """<warp(x), y> = <x, transpose(y)> with fill 0, where the warp is linear; batches are cut into blocks."""
    x, y = jnp.asarray(smooth_images((28, 28, 1), batch)), jnp.asarray(smooth_images((28, 28, 1), batch, seed=5))
    matrices = jnp.asarray(some_matrices(batch))
    value, back = jax.vjp(lambda x: warp(x, matrices, fill=0.0), x)
    np.testing.assert_allclose(jnp.sum(value * y, (1, 2, 3)), jnp.sum(x * back(y)[0], (1, 2, 3)), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_border_is_continuous(kind):
    """A shift of a millionth of a pixel changes next to nothing, wherever it crosses the frame."""
    image = jnp.ones((1, 6, 6, 1))
    for pixels in (-7, -6, -2, -1, 0, 1, 2, 5, 6, 7):
        here = jnp.eye(3).at[0, 2].set(pixels / 2.5)[None]
        there = jnp.eye(3).at[0, 2].set((pixels + 1e-6) / 2.5)[None]
        change = jnp.abs(warp(image, here, interpolation=kind) - warp(image, there, interpolation=kind))
        assert float(change.max()) < 2e-5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(28, 28, 1), (64, 64, 3), (20, 33, 1)])
def test_a_millionth_of_a_pixel_turns_no_column_into_fill(kind, shape):
    """The outermost pixels then read just outside the frame, and are still themselves, slopes included."""
    images = jnp.asarray(smooth_images(shape, batch=1))
    unit = (max(shape) - 1) / 2
    slopes = []
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (0, 0)):
        matrix = jnp.eye(3).at[:2, 2].set(jnp.array([x, y]) * 1e-6 / unit)[None]
        np.testing.assert_allclose(warp(images, matrix, interpolation=kind, fill=-9.0), images, atol=5e-5)
        slopes.append(jax.grad(lambda i, m: warp(i, m, interpolation=kind, fill=-9.0).sum())(images, matrix))
    for slope in slopes:
        np.testing.assert_allclose(slope, jnp.ones_like(images), atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(28, 28, 1), (48, 48, 3), (65, 20, 1)])
def test_a_matrix_next_to_the_identity_changes_next_to_nothing(kind, shape):
    """Points that lie at pixel centres but for rounding must get taps and weights of the same pixel."""
    images = jnp.asarray(smooth_images(shape, 40))
    noise = 1e-7 * jax.random.normal(jax.random.key(0), (40, 3, 3))
    warped = jax.jit(lambda i, m: warp(i, m, interpolation=kind))(images, jnp.eye(3)[None] + noise.at[:, 2].set(0))
    np.testing.assert_allclose(warped, images, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [7, 8, 256])
def test_half_turn_reverses_both_axes(kind, size):
    images = jnp.asarray(smooth_images((size, size, 1)))
    matrices = jnp.broadcast_to(jnp.diag(jnp.array([-1.0, -1.0, 1.0])), (3, 3, 3))
    np.testing.assert_allclose(warp(images, matrices, interpolation=kind), images[:, ::-1, ::-1], atol=2e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_identity_changes_no_bit(kind):
    images = jnp.asarray(smooth_images((28, 28, 3)))
    eye = jnp.broadcast_to(jnp.eye(3), (3, 3, 3))
    np.testing.assert_array_equal(warp(images, eye, interpolation=kind), images)


def test_matrices_act_on_the_grid_so_products_flip():
    images = jnp.asarray(gaussian_filter(smooth_images((64, 64, 1)), (0, 3, 3, 0)))
    a, b = jnp.asarray(some_matrices(seed=3)), jnp.asarray(some_matrices(seed=4))
    twice = warp(warp(images, a), b)
    once = warp(images, a @ b)
    wrong = warp(images, b @ a)
    middle = (slice(None), slice(20, 44), slice(20, 44))
    inside = jnp.abs(twice - once)[middle]
    assert float(jnp.median(inside)) < 5e-3 < 10 * float(jnp.median(jnp.abs(twice - wrong)[middle]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_nan_matrix_gives_nan_and_no_crash(kind):
    images = jnp.ones((2, 8, 8, 1))
    matrices = jnp.stack([jnp.eye(3), jnp.full((3, 3), jnp.nan)])
    result = warp(images, matrices, interpolation=kind)
    assert bool(jnp.isfinite(result[0]).all())
    assert bool(jnp.isnan(result[1]).all())


@pytest.mark.parametrize("kind", KINDS)
def test_points_need_not_be_a_grid(kind):
    """Rings around the middle, as many as wanted: values against SciPy, derivatives against automatic ones."""
    images = jnp.asarray(smooth_images((20, 30, 2)))
    radius, angle = np.meshgrid(np.linspace(0, 18, 5), np.linspace(0, 2 * np.pi, 7), indexing="ij")
    rings = np.stack([14.5 + radius * np.cos(angle), 9.5 + radius * np.sin(angle)]).astype(np.float32)
    points = jnp.asarray(np.stack([rings, rings + 0.3, rings - 0.7]))
    values = sample(images, points, kind, 0.5)
    assert values.shape == (3, 5, 7, 2)
    if kind == "bilinear":
        where = np.asarray(points[1, ::-1], np.float64)
        truth = map_coordinates(np.asarray(images[1, ..., 1]), where, order=1, mode="grid-constant", cval=0.5)
        np.testing.assert_allclose(values[1, ..., 1], truth, atol=1e-5)
    weights = jax.random.normal(jax.random.key(0), values.shape)
    own, automatic = (
        jax.jit(jax.grad(lambda i, p, read=read: jnp.sum(weights * read(i, p, kind, 0.5)), (0, 1)))(images, points)
        for read in (sample, sample.fun)
    )
    for a, b in zip(own, automatic, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)


def test_far_away_reads_fill_with_no_slope():
    images = jnp.asarray(smooth_images((8, 8, 1)))
    far = jnp.broadcast_to(jnp.eye(3).at[0, 2].set(1e6), (3, 3, 3))
    assert bool((warp(images, far, fill=0.25) == 0.25).all())
    slope = jax.grad(lambda m: warp(images, m, fill=0.25).sum())(far)
    assert float(jnp.abs(slope).max()) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", [jnp.sum, lambda values: jnp.sum(values**2)], ids=["sum", "squares"])
def test_memory_grows_with_the_pixels_and_no_faster(kind, loss):
    """Whatever is made of the values: fused into it, every tap of the kernel would be stored for every pixel."""

    def temporary(batch, size):
        images = jnp.zeros((batch, size, size, 1))
        matrices = jnp.zeros((batch, 3, 3))
        step = jax.jit(jax.grad(lambda i, m: loss(warp(i, m, interpolation=kind)), (0, 1)))
        return step.lower(images, matrices).compile().memory_analysis().temp_size_in_bytes

    small, large = temporary(64, 28), temporary(256, 56)
    assert large < 16 * small * 1.5
    assert large < 256 * 56 * 56 * 4 * 12  # at most a dozen copies of the images


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("channels", [1, 3])
def test_single_precision_throughout(kind, channels):
    """Even where JAX is told to use double precision; it would never show any otherwise."""
    images, matrices = jnp.ones((2, 8, 8, channels)), jnp.ones((2, 3, 3))
    slope = jax.grad(lambda i, m: warp(i, m, interpolation=kind).sum(), (0, 1))
    with jax.enable_x64(True):
        assert "f64" not in str(jax.make_jaxpr(slope)(images, matrices))


IMAGES, EYE, POINTS = jnp.zeros((2, 8, 8, 1)), jnp.broadcast_to(jnp.eye(3), (2, 3, 3)), jnp.zeros((2, 2, 5, 5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: warp(IMAGES, jnp.eye(3)), "expected matrices [batch, 3, 3]; got (3, 3)"),
        (lambda: warp(IMAGES, EYE[:, :2]), "expected matrices [batch, 3, 3]; got (2, 2, 3)"),
        (lambda: warp(IMAGES[0], EYE), "channels], one for each of 2 matrices; got (8, 8, 1)"),
        (lambda: warp(IMAGES[:1], EYE), "one for each of 2 matrices; got (1, 8, 8, 1)"),
        (lambda: warp(IMAGES.astype(jnp.uint8), EYE), "expected floats in [-1, 1]; got uint8 (datasets.to_unit"),
        (lambda: warp(IMAGES, EYE, interpolation="nearest"), "is 'bilinear' or 'bicubic'; got 'nearest'"),
        (lambda: sample(IMAGES, POINTS[:, 0]), "expected points [batch, 2, height, width], x before y; got (2, 5, 5)"),
        (lambda: sample(IMAGES, jnp.moveaxis(POINTS, 1, 3)), "x before y; got (2, 5, 5, 2)"),
        (lambda: sample(IMAGES, POINTS[:1]), "one for each of 1 points; got (2, 8, 8, 1)"),
        (lambda: sample(IMAGES, POINTS, "nearest"), "is 'bilinear' or 'bicubic'; got 'nearest'"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(without_annotations, call, message):
    with pytest.raises(TransformError, match=re.escape(message)):
        call()
