"""The polar picture: a turn of the image is a roll of its directions."""

import jax.numpy as jnp
import numpy as np
import pytest

from liewise.nn import polar_map, to_polar

ANGLES, RINGS = 16, 5
SIZES = [(12, 12), (13, 13), (9, 14), (15, 8)]
every_size = pytest.mark.parametrize("size", SIZES, ids=str)


def _noise(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def _polar(images):
    return np.asarray(to_polar(jnp.asarray(images), polar_map(images.shape[1:3], ANGLES, RINGS), ANGLES))


def _read(image, y, x):
    """What a lone bilinear look-up finds, nothing being beyond the frame."""
    total = 0.0
    for row in (int(np.floor(y)), int(np.floor(y)) + 1):
        for column in (int(np.floor(x)), int(np.floor(x)) + 1):
            if 0 <= row < image.shape[0] and 0 <= column < image.shape[1]:
                total += (1 - abs(y - row)) * (1 - abs(x - column)) * image[row, column]
    return total


@every_size
def test_every_sample_is_a_bilinear_look_up_weighted_by_the_root_of_its_area(size):
    image = _noise(*size)
    height, width = size
    half = (max(size) - 1) / 2
    wanted = np.zeros((ANGLES, RINGS))
    for k in range(ANGLES):
        for ring in range(RINGS):
            radius, turn = (ring + 0.5) / RINGS * half, 2 * np.pi * k / ANGLES
            place = (height - 1) / 2 - radius * np.sin(turn), (width - 1) / 2 + radius * np.cos(turn)
            wanted[k, ring] = np.sqrt((ring + 0.5) / (RINGS / 2)) * _read(image, *place)
    np.testing.assert_allclose(_polar(image[None, :, :, None])[0], wanted, atol=2e-5)


@every_size
@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_quarter_turn_of_the_image_rolls_the_directions(size, quarters):
    images = _noise(2, *size, 3)
    turned = np.rot90(images, quarters, (1, 2))  # counter-clockwise as displayed
    rolled = np.roll(_polar(images), quarters * ANGLES // 4, 1)
    np.testing.assert_allclose(_polar(turned), rolled, atol=2e-5)


def test_a_mirrored_image_has_its_directions_in_reverse():
    images = _noise(2, 11, 11, 1)
    upside_down = _polar(images[:, ::-1])
    np.testing.assert_allclose(upside_down, np.roll(_polar(images)[:, ::-1], 1, 1), atol=2e-5)


def test_features_of_a_direction_are_its_rings_for_each_channel():
    images = _noise(1, 10, 10, 2)
    one_by_one = np.concatenate([_polar(images[..., c : c + 1]) for c in (0, 1)], -1)
    both = _polar(images).reshape(1, ANGLES, RINGS, 2)
    np.testing.assert_allclose(np.moveaxis(both, -1, 2).reshape(1, ANGLES, -1), one_by_one, atol=1e-5)


def test_squares_add_up_as_over_the_plane():
    """Of a soft blob in the middle, the sum of squares times the area of a mean sample is its energy."""
    y, x = np.mgrid[:41, :41] - 20.0
    blob = np.exp(-(x**2 + y**2) / (2 * 6.0**2)).astype(np.float32)
    rings = 20
    polar = np.asarray(blob.reshape(1, -1) @ polar_map((41, 41), 64, rings))
    area = np.pi * 20.0**2 / (64 * rings)
    assert np.sum(polar**2) * area == pytest.approx(np.sum(blob**2), rel=0.02)


def test_an_image_of_one_pixel_is_read_where_it_is():
    assert np.isfinite(polar_map((1, 1), 4, 2)).all()
    assert polar_map((1, 1), 4, 2).sum() > 0
