import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import synthetic
from scipy import stats
from synthetic import QUICK, SIDE, SMALL

from liewise import transforms
from liewise.errors import DataError
from liewise.sgm import Density, DensityConfig, fit_density, make_density_loss
from liewise.sgm.fitting import standards

LINE = transforms.affine("shift-x")
CIRCLE = transforms.affine("rotation")
ROWS = 6000
SORTS = np.random.default_rng(0).integers(0, 4, ROWS)
SEAM = np.pi  # where angles jump


def _turns():
    """Uniform, one mode across the seam, absent, two modes: by sort."""
    rng = np.random.default_rng(1)
    ways = [
        rng.uniform(-np.pi, np.pi, ROWS),
        np.pi + 0.1 * rng.normal(size=ROWS),
        0.01 * rng.normal(size=ROWS),
        0.3 * rng.normal(size=ROWS) + np.pi * rng.integers(0, 2, ROWS),
    ]
    return _wrap(np.choose(SORTS, ways))


def _shifts():
    """Uniform, two bands, absent, normal: by sort."""
    rng = np.random.default_rng(2)
    ways = [
        rng.uniform(-0.2, 0.2, ROWS),
        rng.uniform(0.05, 0.2, ROWS) * rng.choice([-1, 1], ROWS),
        0.1 + 0.001 * rng.normal(size=ROWS),
        0.05 * rng.normal(size=ROWS),
    ]
    return np.choose(SORTS, ways)


def _wrap(angles):
    return (angles + np.pi) % (2 * np.pi) - np.pi


def _fit(group, eta, config=SMALL, steps=600, **options):
    training = dataclasses.replace(QUICK, steps=steps)
    eta = np.asarray(eta, np.float32).reshape(ROWS, -1)
    return fit_density(group, synthetic.prototypes(SORTS), eta, config, training, progress="silent", **options)


def _ks(model, truth, sort):
    drawn = np.asarray(model.sample(jax.random.key(7), synthetic.images([sort]), 4000))[0, :, 0]
    return stats.ks_2samp(drawn, truth[sort == SORTS]).statistic, drawn


@pytest.fixture(scope="module")
def turns():
    return _fit(CIRCLE, _turns())


@pytest.fixture(scope="module")
def shifts():
    return _fit(LINE, _shifts())


def test_a_uniform_rotation_is_learned_as_uniform_without_a_seam(turns):
    _, drawn = _ks(turns.best, _turns(), 0)
    assert stats.kstest(drawn, "uniform", (-np.pi, 2 * np.pi)).statistic < 0.05
    eta = jnp.array([[[-SEAM + 1e-4], [SEAM - 1e-4], [0.0]]], jnp.float32)
    low, high, middle = np.exp(turns.best.log_prob_from(turns.best.features(synthetic.images([0])), eta))[0]
    assert low == pytest.approx(high, rel=5e-3)
    assert low == pytest.approx(middle, rel=0.35)


def test_a_mode_across_the_seam_is_one_mode(turns):
    _, drawn = _ks(turns.best, _turns(), 1)
    assert np.abs(np.exp(1j * drawn).mean()) > 0.98
    assert _wrap(drawn - np.pi).std() < 0.15
    assert np.mean(drawn > 0) == pytest.approx(0.5, abs=0.1)


def test_an_absent_rotation_is_learned_as_absent(turns):
    _, drawn = _ks(turns.best, _turns(), 2)
    assert drawn.std() < np.deg2rad(2)


def test_two_modes_on_a_circle_are_two(turns):
    ks, drawn = _ks(turns.best, _turns(), 3)
    assert ks < 0.08
    assert np.mean(np.abs(np.abs(drawn) - np.pi / 2) < 0.4) < 0.02


def test_two_bands_are_learned_with_the_gap_between_them(shifts):
    ks, drawn = _ks(shifts.best, _shifts(), 1)
    assert ks < 0.08
    assert np.mean(np.abs(drawn) < 0.035) < 0.03
    assert np.mean(drawn > 0) == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize(("sort", "spread"), [(0, 0.4 / np.sqrt(12)), (2, 0.001), (3, 0.05)])
def test_a_shift_is_as_wide_as_the_prototype_says(shifts, sort, spread):
    ks, drawn = _ks(shifts.best, _shifts(), sort)
    assert ks < 0.08
    assert drawn.std() == pytest.approx(spread, rel=0.25)


@pytest.mark.parametrize("lack", [{"family": "gaussian"}, {"conditional": False}], ids=["one mode", "blind"])
@pytest.mark.parametrize("group", ["turns", "shifts"])
def test_a_density_that_lacks_something_is_worse_where_it_matters(group, lack, request):
    whole = request.getfixturevalue(group)
    eta, kind = (_turns(), CIRCLE) if group == "turns" else (_shifts(), LINE)
    poorer = _fit(kind, eta, dataclasses.replace(SMALL, **lack), steps=400)
    assert _last(poorer) > _last(whole) + 0.1


def test_later_coordinates_follow_earlier_ones():
    group = transforms.affine("shift-x", "rotation")
    rng = np.random.default_rng(3)
    x = rng.uniform(-0.2, 0.2, ROWS)
    angle = _wrap(np.pi + 5 * x + 0.1 * rng.normal(size=ROWS))
    drawn = np.asarray(
        _fit(group, np.stack([x, angle], 1), steps=400).best.sample(jax.random.key(7), synthetic.images([0]), 2000)
    )[0]
    rest = _wrap(drawn[:, 1] - np.pi - 5 * drawn[:, 0])
    assert np.median(np.abs(rest)) < 0.1
    assert np.abs(drawn[:, 0]).max() < 0.3


def test_steps_are_learned_as_often_as_they_come():
    rng = np.random.default_rng(4)
    flips = rng.random(ROWS) < np.array([0.5, 1.0, 0.0, 0.2])[SORTS]
    model = _fit(transforms.flips("flip-x"), flips, steps=300).best
    drawn = np.asarray(model.sample(jax.random.key(7), synthetic.images([0, 1, 2, 3]), 4000))
    assert np.allclose(drawn.mean((1, 2)), [0.5, 1.0, 0.0, 0.2], atol=0.05)


def test_the_loss_is_the_mean_over_draws_and_the_penalty_their_variance():
    model = Density(CIRCLE, (SIDE, SIDE, 1), SMALL, key=jax.random.key(0))
    prototypes = synthetic.prototypes([0, 1, 2], draws=4)
    eta = np.array([[0.3], [2.0], [-3.0]], np.float32)
    batch = {"prototypes": jnp.asarray(prototypes), "eta": jnp.asarray(eta)}
    each = np.array(
        [
            [model.log_prob(jnp.asarray(e[None]), jnp.asarray(x[None] / 127.5 - 1, jnp.float32))[0] for x in draws]
            for e, draws in zip(eta, prototypes, strict=True)
        ]
    )
    value, metrics = make_density_loss(consistency=3.0)(model, batch, jax.random.key(1))
    assert metrics["nll"] == pytest.approx(-each.mean(), abs=1e-5)
    assert metrics["nats/rotation"] == pytest.approx(-each.mean(), abs=1e-5)
    assert metrics["consistency"] == pytest.approx(each.var(axis=1).mean(), rel=1e-2)
    assert value == pytest.approx(-each.mean() + 3 * each.var(axis=1).mean(), abs=1e-5)


def test_training_leaves_centre_and_scale_alone():
    eta = np.full((ROWS, 1), 0.2)
    eta[::2] = -0.1
    config = dataclasses.replace(SMALL, family="gaussian")
    result = _fit(LINE, eta, config, steps=20)
    centre, scale = standards(LINE, eta, config)
    assert np.array_equal(result.last.standard[0], centre)
    assert np.array_equal(result.last.standard[1], scale)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize(
    "eta",
    [np.linspace(-0.2, 0.2, 999), np.random.default_rng(0).normal(size=999) / 20, np.zeros(999), np.full(999, 0.25)],
    ids=["uniform", "normal", "constant", "at the bound"],
)
def test_data_are_brought_to_where_splines_bend(eta, bounded):
    config = DensityConfig(bounded=bounded)
    centre, scale = standards(LINE, eta[:, None], config)
    model = Density(LINE, (SIDE, SIDE, 1), config, centre=centre, scale=scale, key=jax.random.key(0))
    inner, _ = model._scalars[0].inward(jnp.asarray(eta, jnp.float32), jnp.asarray(centre[0]), jnp.asarray(scale[0]))
    assert np.mean(np.abs(inner) < 3) >= 0.995
    assert np.isfinite(inner).all()


@pytest.mark.parametrize(
    ("prototypes", "eta", "match"),
    [
        (np.zeros((4, 8, 8, 1), np.uint8), np.zeros((4, 1)), r"prototypes as uint8 \[n, draws, .* got uint8 \(4, 8"),
        (np.zeros((0, 2, 8, 8, 1), np.uint8), np.zeros((0, 1)), "prototypes as uint8"),
        (np.zeros((4, 2, 8, 8, 1), np.uint8), np.zeros((3, 1)), r"η \[4, 1\] for shift-x; got \(3, 1\)"),
        (np.zeros((4, 2, 8, 8, 1), np.uint8), np.array([[0], [np.nan], [0], [np.inf]]), "shift-x are not in 2 ex"),
    ],
)
def test_data_out_of_order_are_refused_before_training(prototypes, eta, match):
    with pytest.raises(DataError, match=match):
        fit_density(LINE, prototypes, eta, SMALL, QUICK, progress="silent")


def _last(result):
    """The mean loss of the last steps."""
    return result.curve("nll")[1][-5:].mean()
