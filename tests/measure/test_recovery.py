"""Distances between distributions: SciPy's on lines, brute force on circles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from liewise.errors import DataError
from liewise.measure import ks, mass_between, spread, uniform_ks, wasserstein

seeds = st.integers(0, 2**31 - 1)
TURN = 360.0


def pair(seed):
    """Two samples of unequal size, with ties."""
    rng = np.random.default_rng(seed)
    one = rng.normal(rng.uniform(-1, 1), rng.uniform(0.2, 2), rng.integers(1, 40)).round(1)
    return one, rng.normal(0, 1, rng.integers(1, 40)).round(1)


def on_circle(seed, size):
    rng = np.random.default_rng(seed)
    return rng.vonmises(rng.uniform(-np.pi, np.pi), rng.uniform(0, 5), size) * TURN / (2 * np.pi)


@given(seeds)
def test_on_a_line_both_distances_are_scipys(seed):
    one, other = pair(seed)
    assert ks(one, other) == pytest.approx(stats.ks_2samp(one, other, method="asymp").statistic)
    assert wasserstein(one, other) == pytest.approx(stats.wasserstein_distance(one, other))


@given(seeds)
def test_the_distance_to_the_uniform_distribution_is_scipys(seed):
    one, _ = pair(seed)
    assert uniform_ks(one, -2.0, 1.0) == pytest.approx(stats.kstest(one, stats.uniform(-2, 3).cdf).statistic)


@given(seeds)
def test_on_a_circle_the_wasserstein_distance_is_that_of_the_best_assignment(seed):
    one, other = on_circle(seed, 12), on_circle(seed + 1, 12)
    ahead = np.mod(one[:, None] - other[None, :], TURN)
    cost = np.minimum(ahead, TURN - ahead)
    best = cost[optimize.linear_sum_assignment(cost)].mean()
    assert wasserstein(one, other, TURN) == pytest.approx(best)


@given(seeds)
def test_on_a_circle_the_statistic_is_one_of_those_of_all_cuts_and_the_cut_is_in_the_widest_gap(seed):
    one, other = on_circle(seed, 12), on_circle(seed + 1, 9)
    places = np.sort(np.mod(np.concatenate([one, other]), TURN))
    gaps = [(after - before) % TURN for before, after in zip(places, np.roll(places, -1), strict=True)]
    cut = places[int(np.argmax(gaps))] + max(gaps) / 2
    expected = stats.ks_2samp(np.mod(one - cut, TURN), np.mod(other - cut, TURN), method="asymp").statistic
    assert ks(one, other, TURN) == pytest.approx(expected)


@given(seeds, st.floats(-1000, 1000))
def test_on_a_circle_it_does_not_matter_where_zero_is(seed, turn):
    one, other = on_circle(seed, 15), on_circle(seed + 1, 10)
    for distance in (ks, wasserstein):
        assert distance(one + turn, other + turn, TURN) == pytest.approx(distance(one, other, TURN), abs=1e-6)
    assert spread(one + turn, TURN) == pytest.approx(spread(one, TURN), abs=1e-6)


def test_a_mode_across_the_seam_is_one_mode():
    rng = np.random.default_rng(0)
    one, other = rng.normal(180, 3, 4000), rng.normal(180, 3, 4000)
    wrapped = np.mod(one + 180, TURN) - 180
    assert ks(wrapped, other, TURN) < 0.04 < 0.4 < ks(wrapped, other)
    assert wasserstein(wrapped, other + 2, TURN) == pytest.approx(2, abs=0.2)
    assert spread(wrapped, TURN) == pytest.approx(2 * 1.96 * 3, rel=0.1)
    assert spread(wrapped) > 350


def test_mass_goes_the_short_way_round():
    assert wasserstein(np.array([1.0, 2.0]), np.array([358.0, 359.0]), TURN) == pytest.approx(3)
    assert wasserstein(np.array([0.0]), np.array([180.0]), TURN) == pytest.approx(180)
    assert wasserstein(np.array([0.0]), np.array([90.0]), 90.0) == pytest.approx(0)


def test_the_spread_holds_the_middle_95_percent():
    values = np.random.default_rng(1).uniform(0, 10, 20_000)
    assert spread(values) == pytest.approx(9.5, abs=0.1)
    assert spread(values, 10.0) == pytest.approx(9.5, abs=0.1)
    assert spread(np.append(np.zeros(99), 180.0), TURN) == 0
    assert spread(np.zeros(1), TURN) == 0


def test_mass_between_bands_leaves_the_bands_out():
    bands = np.concatenate([np.full(48, 0.3), np.full(48, 0.7), np.full(4, 0.5)])
    assert mass_between(bands, 0.3, 0.7) == pytest.approx(0.04)


@pytest.mark.parametrize("distance", [ks, wasserstein])
def test_samples_without_values_or_with_nan_are_refused(distance):
    with pytest.raises(DataError, match="one value or more"):
        distance(np.zeros(0), np.ones(3))
    with pytest.raises(DataError, match="1 NaN or infinite of 3"):
        distance(np.ones(3), np.array([0.0, np.nan, 1.0]))


def test_a_uniform_distribution_needs_a_width():
    with pytest.raises(DataError, match="low < high"):
        uniform_ks(np.ones(3), 1.0, 1.0)
