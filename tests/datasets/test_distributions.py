"""Distributions of factors: samples agree with the distribution function, JSON gives them back."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from liewise.datasets import Constant, Mixture, TruncatedNormal, Uniform, from_json, to_json
from liewise.errors import DataError

EXAMPLES = [
    Uniform(-1.0, 2.5),
    TruncatedNormal(0.65, 0.15, 0.5, 0.85),
    TruncatedNormal(0.0, 1.0, 3.0, 5.0),
    Mixture((Uniform(0.1, 0.3), Uniform(0.7, 0.9)), (0.5, 0.5)),
    Mixture((Uniform(0.0, 1.0), Mixture((Uniform(2.0, 3.0), Uniform(4.0, 5.0)), (0.9, 0.1))), (0.25, 0.75)),
]


@pytest.mark.parametrize("distribution", EXAMPLES, ids=repr)
def test_samples_agree_with_the_distribution_function(distribution):
    samples = distribution.sample(np.random.default_rng(0), 20_000)
    assert samples.shape == (20_000,)
    assert stats.kstest(samples, distribution.cdf).statistic < 0.012  # p = 0.006


@pytest.mark.parametrize("distribution", [*EXAMPLES, Constant(0.3)], ids=repr)
def test_json_gives_the_same_distribution_back(distribution):
    assert from_json(json.loads(json.dumps(to_json(distribution)))) == distribution


@given(st.floats(-3, 3), st.floats(0.05, 3), st.floats(-4, 0), st.floats(0.1, 4))
def test_the_truncated_normal_agrees_with_scipy(mean: float, sigma: float, low: float, width: float):
    try:
        ours = TruncatedNormal(mean, sigma, low, low + width)
    except DataError:
        return  # nothing of the normal is left
    theirs = stats.truncnorm((low - mean) / sigma, (low + width - mean) / sigma, loc=mean, scale=sigma)
    x = np.linspace(low - 1, low + width + 1, 50)
    np.testing.assert_allclose(ours.cdf(x), theirs.cdf(x), atol=1e-5)


def test_a_constant_is_a_step_and_uses_no_randomness():
    rng = np.random.default_rng(0)
    assert Constant(2.0).sample(rng, 3).tolist() == [2.0, 2.0, 2.0]
    assert Constant(2.0).cdf(np.array([1.9, 2.0, 2.1])).tolist() == [0.0, 1.0, 1.0]
    assert rng.random() == np.random.default_rng(0).random()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Uniform(1.0, 1.0), "expected low < high; got Uniform.* use Constant"),
        (lambda: Uniform(0.0, float("nan")), "expected high to be a finite number; got nan"),
        (lambda: Constant(float("inf")), "expected value to be a finite number; got inf"),
        (lambda: TruncatedNormal(0.0, 1.0, 2.0, 1.0), "expected low < high"),
        (lambda: TruncatedNormal(0.0, 0.0, 0.0, 1.0), "expected a positive sigma"),
        (lambda: TruncatedNormal(0.0, 0.1, 8.0, 9.0), "nothing is left"),
        (lambda: Mixture((), ()), "expected as many weights as parts, at least one; got 0 parts, 0 weights"),
        (lambda: Mixture((Constant(1.0),), (0.5,)), "expected positive weights that sum to 1"),
        (lambda: Mixture((Constant(1.0), Constant(2.0)), (1.5, -0.5)), "expected positive weights"),
        (lambda: from_json({"kind": "cauchy"}), "expected a distribution's kind, one of uniform.*got 'cauchy'"),
        (lambda: from_json({"kind": "uniform", "low": 0.0}), r"expected \['high', 'low'\] for a uniform"),
    ],
)
def test_what_is_no_distribution_is_refused(make, message: str):
    with pytest.raises(DataError, match=message):
        make()
