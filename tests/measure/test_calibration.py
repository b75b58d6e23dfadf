"""Ranks are uniform for densities that are right, on a line, on a circle and on steps, and tell those that are not."""

import numpy as np
import pytest

from liewise.errors import DataError
from liewise.measure import ranks, uniform_ks

N, K = 2000, 99


def test_true_values_from_the_same_density_have_uniform_ranks():
    rng = np.random.default_rng(0)
    centre = rng.normal(size=(N, 1))
    drawn, true = centre + rng.normal(size=(N, K)), (centre + rng.normal(size=(N, 1)))[:, 0]
    assert uniform_ks(ranks(drawn, true, seed=1), 0.0, 1.0) < 0.04
    assert uniform_ks(ranks(drawn, true + 1.0, seed=1), 0.0, 1.0) > 0.2
    assert uniform_ks(ranks(0.5 * (drawn - centre) + centre, true, seed=1), 0.0, 1.0) > 0.1


def test_on_a_circle_the_place_of_its_zero_does_not_matter():
    rng = np.random.default_rng(1)
    centre = rng.uniform(0, 360, (N, 1))
    drawn, true = centre + 20 * rng.normal(size=(N, K)), (centre + 20 * rng.normal(size=(N, 1)))[:, 0]
    found = ranks(np.mod(drawn, 360), np.mod(true, 360), seed=1, period=360.0)
    assert uniform_ks(found, 0.0, 1.0) < 0.04
    assert np.allclose(found, ranks(np.mod(drawn + 77, 360), np.mod(true + 77, 360), seed=1, period=360.0))


def test_a_circle_that_is_cut_by_few_draws_alone_favours_no_place():
    rng = np.random.default_rng(3)
    drawn, true = rng.uniform(0, 1, (4 * N, 5)), rng.uniform(0, 1, 4 * N)
    assert uniform_ks(ranks(drawn, true, seed=1, period=1.0), 0.0, 1.0) < 0.02


def test_among_equal_values_the_place_is_drawn():
    rng = np.random.default_rng(2)
    drawn, true = rng.integers(0, 2, (N, K)).astype(float), rng.integers(0, 2, N).astype(float)
    assert uniform_ks(ranks(drawn, true, seed=1), 0.0, 1.0) < 0.05


def test_no_draws_are_refused():
    with pytest.raises(DataError, match="one draw or more"):
        ranks(np.zeros((3, 0)), np.zeros(3), seed=0)
