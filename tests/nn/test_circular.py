"""What lives on a circle: scores roll along, and places are read between the grid and across its seam."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from liewise.nn import CircularNet, circular_mode, correlate

PLACES, FEATURES = 12, 3
NET = CircularNet(PLACES, FEATURES, (8, 5), key=jax.random.key(0))
_net = jax.jit(lambda x: NET(x))
_mode = jax.jit(circular_mode)
_correlate = jax.jit(correlate)


def _noise(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), jnp.float32)


@pytest.mark.parametrize("roll", [1, 5, -2, PLACES])
def test_rolling_the_input_rolls_the_scores(roll):
    x = _noise(4, PLACES, FEATURES)
    scores = _net(x)
    assert float(jnp.std(scores)) > 0.1
    np.testing.assert_allclose(_net(jnp.roll(x, roll, 1)), jnp.roll(scores, roll, 1), atol=1e-5)


def test_a_place_is_scored_by_the_whole_circle_as_it_looks_from_there():
    x = _noise(1, PLACES, FEATURES)
    weight = np.asarray(NET.weight).reshape(PLACES * FEATURES, -1)
    seen = [np.roll(np.asarray(x[0]), -place, 0).reshape(-1) for place in range(PLACES)]  # the place itself first
    alone = jax.jit(lambda rows: NET.head(jax.nn.gelu(rows)))(jnp.asarray(np.stack(seen) @ weight))
    np.testing.assert_allclose(_net(x)[0], alone[:, 0], atol=1e-5)


def test_every_weight_gets_a_gradient():
    x = _noise(4, PLACES, FEATURES)
    slopes = eqx.filter_jit(eqx.filter_grad(lambda net: jnp.sum(net(x) ** 2)))(NET)
    leaves = jax.tree.leaves(eqx.filter(slopes, eqx.is_inexact_array))
    assert len(leaves) == 7
    assert all(np.isfinite(leaf).all() and np.any(leaf != 0) for leaf in leaves)


def _peak(place, sharpness=3.0):
    """Scores round a place on the circle, in units of places."""
    gap = (np.arange(PLACES) - place + PLACES / 2) % PLACES - PLACES / 2
    return jnp.asarray(-sharpness * gap**2 / 2, jnp.float32)[None]


@pytest.mark.parametrize("place", [3.0, 3.5, 6.3, 0.0, -0.5, -0.25, PLACES - 0.75])
def test_a_peak_is_found_between_places_and_across_the_seam(place):
    gap = float(_mode(_peak(place))[0]) * PLACES - place
    assert abs((gap + PLACES / 2) % PLACES - PLACES / 2) < 0.02


def test_a_sharp_peak_is_found_where_it_is_and_a_far_one_does_not_pull():
    scores = jnp.full((1, PLACES), -50.0).at[0, 4].set(50.0).at[0, 10].set(49.0)
    assert float(_mode(scores)[0]) == pytest.approx(4 / PLACES, abs=1e-6)


def test_rolling_the_scores_moves_the_mode_along():
    scores = _noise(20, PLACES, seed=3)
    moved = _mode(jnp.roll(scores, 5, 1)) - _mode(scores)
    np.testing.assert_allclose(np.cos(2 * np.pi * (moved - 5 / PLACES)), 1, atol=1e-5)


def test_a_gradient_pulls_the_mode():
    slope = np.asarray(jax.jit(jax.grad(lambda s: circular_mode(s)[0]))(_peak(3.2, sharpness=1.0)))[0]
    assert (slope[4:6] > 1e-3).all()
    assert (slope[1:3] < -1e-3).all()
    assert not np.any(slope[7:])


@pytest.mark.parametrize("places", [12, 7])
def test_correlating_is_summing_products_for_every_roll(places):
    one, other = _noise(3, places, 2), _noise(3, places, 2, seed=1)
    a, b = np.asarray(one), np.asarray(other)
    wanted = np.array([[(np.roll(x, -d, 0) * y).sum() for d in range(places)] for x, y in zip(a, b, strict=True)])
    np.testing.assert_allclose(_correlate(one, other), wanted, atol=1e-4)
    best = jnp.argmax(_correlate(jnp.roll(one, 3, 1), one), 1)
    assert best.tolist() == [3, 3, 3]
