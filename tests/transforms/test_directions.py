"""Every coordinate does to the displayed picture what it says: rows go down, so a picture's top has the low rows."""

import jax.numpy as jnp
import numpy as np
import pytest

from liewise.transforms import affine, colour, flips

SIZE = 65


def blob(x, y, width=0.12):
    """A soft spot at a place in half extents, x right and y down."""
    axis = np.linspace(-1, 1, SIZE)
    spot = np.exp(-((axis[None, :] - x) ** 2 + (axis[:, None] - y) ** 2) / (2 * width**2))
    return jnp.asarray(2 * spot - 1, jnp.float32)[None, :, :, None]


def centre(image):
    """Where the ink is: columns to the right and rows down, from the middle, in pixels; and its spread in both."""
    ink = (np.asarray(image)[0, :, :, 0] + 1) / 2
    axis = np.arange(SIZE) - (SIZE - 1) / 2
    x, y = (ink * axis[None, :]).sum() / ink.sum(), (ink * axis[:, None]).sum() / ink.sum()
    spread = [np.sqrt((ink * (a - m) ** 2).sum() / ink.sum()) for a, m in ((axis[None, :], x), (axis[:, None], y))]
    return x, y, *spread


def act(group, image, **eta):
    return group.act(group.element(group.eta(**eta)), image)


@pytest.mark.parametrize("chart", ["factored", "exp"])
class TestAffine:
    def test_shifts_go_right_and_down_in_pixels(self, chart):
        group = affine("shift", chart=chart)
        eta = [float(c.from_user(pixels, (SIZE, SIZE))) for c, pixels in zip(group.coordinates, (6, -4), strict=True)]
        x, y, *_ = centre(act(group, blob(0, 0), shift_x=eta[0], shift_y=eta[1]))
        assert (x, y) == pytest.approx((6, -4), abs=1e-2)

    def test_rotation_is_counter_clockwise_in_degrees(self, chart):
        group = affine("rotation", chart=chart)
        quarter = float(group.coordinates[0].from_user(90.0))
        x, y, *_ = centre(act(group, blob(0.5, 0), rotation=quarter))
        assert (x, y) == pytest.approx((0, -16), abs=0.05)  # from the right to the top

    def test_scales_make_larger(self, chart):
        group = affine("scale-x", "scale-y", chart=chart)
        *_, wide, tall = centre(act(group, blob(0, 0), scale_x=np.log(1.5)))
        *_, wide0, tall0 = centre(blob(0, 0))
        assert (wide / wide0, tall / tall0) == pytest.approx((1.5, 1.0), abs=0.01)
        assert float(group.coordinates[0].to_user(np.log(1.5))) == pytest.approx(1.5)

    def test_uniform_scale_makes_both_larger(self, chart):
        group = affine("scale", chart=chart)
        *_, wide, tall = centre(act(group, blob(0, 0), scale=np.log(1.5)))
        *_, wide0, tall0 = centre(blob(0, 0))
        assert (wide / wide0, tall / tall0) == pytest.approx((1.5, 1.5), abs=0.01)

    def test_shear_leans_the_top_to_the_right(self, chart):
        group = affine("shear", chart=chart)
        top, *_ = centre(act(group, blob(0, -0.5), shear=0.5))
        bottom, *_ = centre(act(group, blob(0, 0.5), shear=0.5))
        assert (top, bottom) == pytest.approx((8, -8), abs=0.05)

    def test_rotation_of_a_wide_image_keeps_distances(self, chart):
        group = affine("rotation", chart=chart)
        wide = jnp.pad(blob(0.2, 0), ((0, 0), (0, 0), (30, 30), (0, 0)), constant_values=-1.0)
        turned = group.act(group.element(group.eta(rotation=np.pi / 2)), wide)[:, :, 30:-30]
        x, y, *spread = centre(turned)
        assert (x, y) == pytest.approx((0, -6.4), abs=0.05)
        assert spread[0] == pytest.approx(spread[1], abs=0.02)


def test_factored_shift_moves_the_whole_picture_whatever_else():
    group = affine()
    x, y, *_ = centre(act(group, blob(0, 0), shift_x=0.25, shift_y=-0.125, rotation=2.0, scale_x=0.2, scale_y=-0.2))
    assert (x, y) == pytest.approx((8, -4), abs=0.05)


def test_flips_exchange_sides():
    x, y, *_ = centre(act(flips("flip-x"), blob(0.5, 0.25), flip_x=1.0))
    assert (x, y) == pytest.approx((-16, 8), abs=0.05)
    x, y, *_ = centre(act(flips(), blob(0.5, 0.25), flip_y=1.0))
    assert (x, y) == pytest.approx((16, -8), abs=0.05)


def test_hue_goes_from_red_to_green():
    group = colour()
    red = jnp.array([1.0, -1.0, -1.0]).reshape(1, 1, 1, 3)
    third = float(group.coordinates[0].from_user(120.0))
    np.testing.assert_allclose(act(group, red, hue=third), jnp.array([-1.0, 1, -1]).reshape(1, 1, 1, 3), atol=1e-5)


def test_value_and_saturation_multiply():
    group = colour()
    dull = 2 * jnp.array([0.4, 0.2, 0.2]).reshape(1, 1, 1, 3) - 1
    brighter = (act(group, dull, value=np.log(2)) + 1) / 2
    np.testing.assert_allclose(brighter.ravel(), [0.8, 0.4, 0.4], atol=1e-6)
    vivid = (act(group, dull, saturation=np.log(2)) + 1) / 2
    np.testing.assert_allclose(vivid.ravel(), [0.4, 0.0, 0.0], atol=1e-6)
