"""HSV against the standard library's, and finite gradients at every awkward colour."""

import colorsys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from liewise.transforms import colour, hsv_to_rgb, rgb_to_hsv

bytes_of_colours = arrays(np.uint8, (16, 3), elements=st.integers(0, 255))
AWKWARD = np.array(
    [
        *([0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5 + 1e-7]),  # no hue, or hardly
        *([1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]),  # the corners
        *([1e-8, 0, 0], [1e-38, 1e-39, 0], [-0.01, -0.02, -0.01], [1.02, 1.0, 1.01]),  # bicubic overshoots
    ],
    np.float32,
)


@given(bytes_of_colours)
def test_hsv_matches_the_standard_library(colours):
    rgb = colours.astype(np.float32) / 255
    truth = np.array([colorsys.rgb_to_hsv(*map(float, c)) for c in rgb])
    ours = np.asarray(rgb_to_hsv(jnp.asarray(rgb)))
    turn = ours[:, 0] - truth[:, 0]
    np.testing.assert_allclose(turn - np.round(turn), 0, atol=1e-5)
    np.testing.assert_allclose(ours[:, 1:], truth[:, 1:], atol=1e-5)
    np.testing.assert_allclose(hsv_to_rgb(jnp.asarray(ours)), rgb, atol=1e-5)


@pytest.mark.parametrize("function", [rgb_to_hsv, hsv_to_rgb])
def test_conversions_have_finite_gradients_everywhere(function):
    jacobian = jax.jit(jax.vmap(jax.jacrev(function)))(jnp.asarray(AWKWARD))
    assert bool(jnp.isfinite(jacobian).all())


def test_action_has_finite_and_moderate_gradients_everywhere():
    group = colour()
    images = 2 * jnp.asarray(AWKWARD)[:, None, None, :] - 1

    def changed(eta, images):
        return group.act(group.element(eta), images).sum()

    eta = group.sample(jax.random.key(0), len(AWKWARD))
    slopes = jax.jit(jax.grad(changed, (0, 1)))(eta, images)
    assert all(bool(jnp.isfinite(slope).all()) for slope in slopes)
    assert float(jnp.abs(slopes[0]).max()) < 50


def test_clipped_saturation_still_has_a_gradient():
    """Without passing the clip, a colour that is fully saturated could never come back."""
    group = colour("saturation")
    red = jnp.array([1.0, -1.0, -1.0]).reshape(1, 1, 1, 3)
    slope = jax.grad(lambda e: group.act(e, red)[0, 0, 0, 1])(jnp.array([[1.0]]))
    assert abs(float(slope[0, 0])) > 0.1


def test_grey_stays_grey_under_any_hue():
    grey = jnp.full((4, 2, 2, 3), 0.2)
    group = colour("hue")
    np.testing.assert_allclose(group.act(group.sample(jax.random.key(0), 4), grey), grey, atol=1e-6)
