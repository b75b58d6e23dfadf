"""The losses say what a few naive lines say, and vanish where all is found."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from liewise import datasets, transforms
from liewise.sgm.estimators import Ways
from liewise.sgm.losses import agreement, agreement_in_view, distance_from_natural, round_trip, ways_agreement

GROUP = transforms.affine()


def images(n: int = 3):
    return datasets.to_unit(datasets.load("sprites", n=n, size=24).train.images)


def drawn(views: int, n: int = 3):
    return [GROUP.element(GROUP.sample(key, n)) for key in map(jax.random.key, range(views))]


def whole(views: int, n: int = 3):
    return [jnp.ones(n)] * views


def squared(one, other):
    return np.mean((np.asarray(one) - np.asarray(other)) ** 2, (1, 2, 3))


def test_views_that_agree_on_any_prototype_cost_nothing():
    off = GROUP.element(GROUP.sample(jax.random.key(3), 3))
    np.testing.assert_allclose(agreement(GROUP, images(), [off, off, off], whole(3)), 0.0, atol=1e-6)


@pytest.mark.parametrize(("views", "pairs"), [(2, [(0, 1)]), (3, [(0, 1), (1, 2), (2, 0)])])
def test_agreement_compares_each_view_with_the_next(views: int, pairs: list[tuple[int, int]]):
    examples, to_prototype = images(), drawn(views)
    expected = [
        squared(GROUP.act(GROUP.compose(GROUP.inverse(to_prototype[j]), to_prototype[i]), examples), examples)
        for i, j in pairs
    ]
    np.testing.assert_allclose(agreement(GROUP, examples, to_prototype, whole(views)), np.mean(expected), rtol=1e-5)


def test_a_view_that_kept_nothing_does_not_count():
    examples, to_prototype = images(), drawn(2)
    kept = [jnp.array([1.0, 1.0, 0.0]), jnp.array([1.0, 0.5, 1.0])]
    each = [agreement(GROUP, examples[i : i + 1], [e[i : i + 1] for e in to_prototype], whole(2, 1)) for i in range(2)]
    expected = (each[0] + 0.5 * each[1]) / 1.5
    np.testing.assert_allclose(agreement(GROUP, examples, to_prototype, kept), expected, rtol=1e-4)


def test_in_view_a_star_compares_the_example_with_every_copy_and_a_ring_neighbours():
    examples, poses = images(), drawn(3)
    views = [GROUP.act(pose, examples) for pose in poses]

    def pair(i, j):
        return squared(GROUP.act(GROUP.compose(poses[j], GROUP.inverse(poses[i])), views[i]), views[j])

    star, ring = [pair(1, 0), pair(2, 0)], [pair(0, 1), pair(1, 2), pair(2, 0)]
    np.testing.assert_allclose(agreement_in_view(GROUP, views, poses, star=True), np.mean(star, 0), rtol=1e-5)
    np.testing.assert_allclose(agreement_in_view(GROUP, views, poses), np.mean(ring, 0), rtol=1e-5)


def test_the_distance_from_natural_is_a_sum_of_squares_along_lines_alone():
    eta = GROUP.eta(1, shift_x=0.1, rotation=2.0, scale_x=-0.2)
    found = distance_from_natural(GROUP, GROUP.element(eta))
    expected = ((0.1 / 0.25) ** 2 + (0.2 / 0.25) ** 2) / 5  # coordinates
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_the_round_trip_is_the_prototype_first_and_then_back():
    examples, pose = images(), drawn(1)[0]
    there = GROUP.act(GROUP.inverse(pose), examples)
    np.testing.assert_allclose(round_trip(GROUP, examples, pose), squared(GROUP.act(pose, there), examples), rtol=1e-5)


def ways(key, sides: int = 2, places: int = 5):
    signal, scores = jax.random.split(key)
    return Ways(jax.random.normal(signal, (4, sides, places, 3)), jax.random.normal(scores, (4, sides, places)))


def test_agreement_of_ways_is_the_expected_distance_over_all_pairs_of_ways():
    one, other = ways(jax.random.key(0)), ways(jax.random.key(1))
    # the sides of an example show the same content, so they have the same energy
    one, other = (
        w._replace(signal=w.signal / jnp.sqrt(jnp.sum(w.signal**2, (2, 3), keepdims=True))) for w in (one, other)
    )
    p, q = (np.asarray(jax.nn.softmax(w.scores.reshape(4, -1), 1)).reshape(4, 2, 5) for w in (one, other))
    chosen, blind = np.zeros(4), np.zeros(4)
    for n, i, j, k, m in itertools.product(range(4), range(2), range(2), range(5), range(5)):
        a, b = np.roll(one.signal[n, i], -k, 0), np.roll(other.signal[n, j], -m, 0)
        apart = np.sum((a - b) ** 2) / 2
        chosen[n] += p[n, i, k] * q[n, j, m] * apart
        blind[n] += apart / 100
    np.testing.assert_allclose(ways_agreement(one, other), chosen / blind.mean(), rtol=1e-4)


def test_ways_that_are_sure_and_right_cost_nothing_and_ways_that_do_not_care_cost_one():
    signal = jax.random.normal(jax.random.key(0), (4, 1, 8, 3))
    sure = jnp.full((4, 1, 8), -20.0).at[:, :, 0].set(20.0)
    one = Ways(signal, sure)
    turned = Ways(jnp.roll(signal, 3, 2), jnp.roll(sure, 3, 2))
    np.testing.assert_allclose(ways_agreement(one, turned), 0.0, atol=1e-4)
    blind = [Ways(s, jnp.zeros((4, 1, 8))) for s in (one.signal, turned.signal)]
    assert float(jnp.mean(ways_agreement(*blind))) == pytest.approx(1.0, abs=1e-4)
