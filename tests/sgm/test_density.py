import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import synthetic
from scipy import stats
from synthetic import SIDE

from liewise import train, transforms
from liewise.errors import DataError, LiewiseError
from liewise.sgm import Density, DensityConfig

SHAPE = (SIDE, SIDE, 1)
SMALL = dataclasses.replace(synthetic.SMALL, layers=1)
LINE = transforms.affine("shift-x")
CIRCLE = transforms.affine("rotation")
STEP = transforms.flips("flip-x")
BOTH = transforms.affine("shift-x", "rotation")
MIXED = (*STEP.coordinates, *BOTH.coordinates)
GAUSSIAN = dataclasses.replace(SMALL, family="gaussian")
BOUNDED = dataclasses.replace(SMALL, bounded=True)
BLIND = dataclasses.replace(SMALL, conditional=False)


def _loud(group, config=SMALL, **options):
    """An untrained density whose weights are large enough to make it interesting."""
    model = Density(group, SHAPE, config, key=jax.random.key(0), **options)
    rng = np.random.default_rng(1)
    trained, rest = eqx.partition(model, eqx.is_inexact_array)
    noisy = jax.tree.map(lambda w: w + jnp.asarray(0.15 * rng.normal(size=w.shape), w.dtype), trained)
    return eqx.combine(noisy, rest)


def _grid(coordinate, n=2001):
    """Places all round a circle, or all over a line, and how far apart they are."""
    half = coordinate.period / 2 if coordinate.period else 8 * coordinate.high
    places = np.linspace(-half, half, n, endpoint=coordinate.period is None)
    return places, places[1] - places[0]


@pytest.mark.parametrize("config", [SMALL, GAUSSIAN, BLIND], ids=["spline", "gaussian", "blind"])
@pytest.mark.parametrize("group", [LINE, CIRCLE], ids=["line", "circle"])
def test_a_density_of_one_coordinate_integrates_to_one_and_its_samples_follow_it(group, config):
    model, x = _loud(group, config), synthetic.images([0, 1])
    places, step = _grid(group.coordinates[0], 40_001)
    eta = jnp.broadcast_to(jnp.asarray(places, jnp.float32)[None, :, None], (2, len(places), 1))
    density = np.exp(model.log_prob_from(model.features(x), eta))
    assert np.allclose(density.sum(1) * step, 1, atol=3e-3)
    drawn = np.asarray(model.sample(jax.random.key(3), x, 10_000))[..., 0]
    for one, p in zip(drawn, density, strict=True):
        cdf = np.cumsum(p) * step
        assert stats.kstest(one, lambda v, cdf=cdf: np.interp(v, places, cdf)).statistic < 0.025


def test_a_density_of_two_coordinates_integrates_to_one_and_its_samples_follow_it():
    model, x = _loud(BOTH), synthetic.images([2])
    edges = [np.linspace(-3, 3, 1201), np.linspace(-np.pi, np.pi, 241)]
    middles = [(edge[1:] + edge[:-1]) / 2 for edge in edges]
    eta = jnp.asarray(np.stack(np.meshgrid(*middles, indexing="ij"), -1).reshape(1, -1, 2), jnp.float32)
    density = np.exp(model.log_prob_from(model.features(x), eta)).reshape(1200, 240)
    density *= (6 / 1200) * (2 * np.pi / 240)
    assert density.sum() == pytest.approx(1, abs=0.02)
    drawn = np.asarray(model.sample(jax.random.key(3), x, 10_000))[0]
    counts, _, _ = np.histogram2d(*drawn.T, bins=[edges[0][::120], edges[1][::30]])
    wanted = density.reshape(10, 120, 8, 30).sum((1, 3))
    assert np.abs(counts / 10_000 - wanted).sum() / 2 < 0.05


def test_a_density_of_steps_sums_to_one_and_its_samples_follow_it():
    model, x = _loud(STEP), synthetic.images([0, 1])
    p = np.exp(model.log_prob_from(model.features(x), jnp.broadcast_to(jnp.array([[[0.0], [1.0]]]), (2, 2, 1))))
    assert np.allclose(p.sum(1), 1, atol=1e-5)
    drawn = np.asarray(model.sample(jax.random.key(3), x, 10_000))
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert np.allclose(drawn.mean((1, 2)), p[:, 1], atol=0.02)


def test_what_comes_later_depends_on_the_step_drawn():
    model, x = _loud(MIXED), synthetic.images([0])
    eta = jnp.array([[[0.0, 0.1, 1.0], [1.0, 0.1, 1.0]]])
    terms = model.log_probs_from(model.features(x), eta)
    assert (np.abs(terms[0, 0] - terms[0, 1]) > 1e-3).all()


@pytest.mark.parametrize("config", [SMALL, GAUSSIAN], ids=["spline", "gaussian"])
def test_a_full_turn_changes_nothing(config):
    model, x = _loud(BOTH, config), synthetic.images([0, 1])
    eta = jnp.array([[0.1, -np.pi + 0.01], [0.2, 1.0]], jnp.float32)
    turned = eta + jnp.array([[0.0, 2 * np.pi]], jnp.float32)
    assert np.allclose(model.log_prob(eta, x), model.log_prob(turned, x), atol=1e-3)


def test_a_bounded_density_is_zero_beyond_its_bounds_and_one_within():
    group = LINE.with_box({"shift-x": (-0.1, 0.3)})
    model, x = _loud(group, BOUNDED), synthetic.images([0])
    eta = jnp.linspace(-0.2, 0.4, 12_001)[None, :, None]
    p = np.exp(model.log_prob_from(model.features(x), eta))[0]
    inside = (eta[0, :, 0] > -0.1001) & (eta[0, :, 0] < 0.3001)
    assert p.sum() * (0.6 / 12_000) == pytest.approx(1, abs=0.01)
    assert not p[~inside].any()
    drawn = model.sample(jax.random.key(1), x, 2000)
    assert (drawn >= -0.1).all()
    assert (drawn <= 0.3).all()
    assert np.array_equal(model.within_bounds(jnp.array([[0.9]])), jnp.array([[0.3]], jnp.float32))


@pytest.mark.parametrize("config", [SMALL, GAUSSIAN, BLIND, BOUNDED], ids=["spline", "gaussian", "blind", "bounded"])
def test_a_finite_gradient_reaches_every_parameter(config):
    model = Density(MIXED, SHAPE, config, key=jax.random.key(0))
    eta = jnp.array([[0.0, 0.1, 3.1], [1.0, -0.2, -3.1], [0.0, 9.0, 0.0], [1.0, 0.25, 1.0]])
    eta = model.within_bounds(eta)
    x = synthetic.images([0, 1, 2, 3])
    gradients = eqx.filter_grad(lambda m: jnp.mean(m.log_prob(eta, x, key=jax.random.key(1))))(model)
    named = jax.tree_util.tree_leaves_with_path(eqx.filter(gradients, eqx.is_inexact_array))
    assert len(named) >= 6
    for path, leaf in named:
        assert np.isfinite(leaf).all(), jax.tree_util.keystr(path)
        assert np.any(leaf != 0), jax.tree_util.keystr(path)


def test_features_looked_at_once_answer_like_the_whole():
    model, x = _loud(BOTH), synthetic.images([0, 1, 2])
    eta, log_p = model.sample_and_log_prob(jax.random.key(5), x, 4)
    features = model.features(x)
    assert np.array_equal(eta, model.sample_from(jax.random.key(5), features, 4))
    each = jnp.stack([model.log_prob(eta[:, i], x) for i in range(4)], 1)
    assert np.allclose(each, log_p, atol=1e-4)
    assert np.allclose(model.log_prob_from(features, eta), log_p, atol=1e-5)


def test_dropout_is_on_with_a_key_and_off_without():
    model, x = _loud(LINE, dataclasses.replace(SMALL, feature_dropout=0.5)), synthetic.images([0, 1])
    eta = jnp.array([[0.1], [0.2]])
    noisy = [model.log_prob(eta, x, key=jax.random.key(i)) for i in (0, 1)]
    assert not np.allclose(*noisy)
    assert np.array_equal(model.log_prob(eta, x), model.log_prob(eta, x))


def test_centre_and_scale_move_the_density_with_the_data():
    plain, x = Density(LINE, SHAPE, SMALL, key=jax.random.key(0)), synthetic.images([0])
    moved = Density(LINE, SHAPE, SMALL, centre=np.array([5.0]), scale=np.array([2.0]), key=jax.random.key(0))
    centre, scale = plain.standard
    value = jnp.array([[0.7]])
    there = moved.log_prob(5 + 2 * value, x) + np.log(2)
    assert np.allclose(there, plain.log_prob(centre[None] + scale[None] * value, x) + jnp.log(scale), atol=1e-5)


def test_an_unconditional_density_does_not_look_at_the_prototype():
    eta, x = jnp.array([[0.1, 0.2], [0.1, 0.2]]), synthetic.images([0, 3])
    blind, seeing = _loud(BOTH, BLIND).log_prob(eta, x), _loud(BOTH).log_prob(eta, x)
    assert blind[0] == blind[1]
    assert seeing[0] != seeing[1]


def test_large_prototypes_are_averaged_down():
    config = dataclasses.replace(SMALL, side=5)
    model = Density(LINE, (12, 9, 3), config, key=jax.random.key(0))
    assert model.extractor is not None
    assert model.extractor.mlp.layers[0].weight.size == 5 * 5 * 3 * 32
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.uniform(-1, 1, (2, 12, 9, 3)), jnp.float32)
    flat = jnp.broadcast_to(x.mean((1, 2), keepdims=True), x.shape)
    assert np.allclose(model.features(flat), model.features(flat[:, :, ::-1]), atol=1e-5)
    assert model.features(x).shape == (2, 16)


def test_a_saved_density_answers_the_same(tmp_path):
    model, x = _loud(BOTH, centre=np.array([1.0, 0.0]), scale=np.array([3.0, 1.0])), synthetic.images([0, 1])
    train.save(tmp_path, model, kind="density", config={})
    back = train.load(tmp_path, lambda _: Density(BOTH, SHAPE, SMALL, key=jax.random.key(9)), kind="density")
    eta = jnp.array([[0.3, 0.4], [0.5, -3.0]])
    assert np.array_equal(model.log_prob(eta, x), back.log_prob(eta, x))
    assert np.array_equal(model.standard[1], back.standard[1])


def test_the_papers_sizes():
    model = eqx.filter_eval_shape(
        lambda key: Density(transforms.affine(), (28, 28, 1), DensityConfig.paper(), key=key), jax.random.key(0)
    )
    assert model.extractor is not None
    assert [layer.bias.shape[0] for layer in model.extractor.mlp.layers] == [1024, 512, 512]
    assert [layer.bias.shape[0] for layer in model.head.layers[:-1]] == [256, 256]
    assert all(conditioner.from_features.weight.shape == (256, 512) for conditioner in model.conditioners)


def test_misuse_is_refused_by_name():
    model, x = _loud(BOTH), synthetic.images([0])
    with pytest.raises(DataError, match=r"expected prototypes \[batch, 8, 8, 1\]; got 1, 8, 7, 1"):
        model.features(x[:, :, :7])
    with pytest.raises(DataError, match=r"expected η \[batch, n, 2\] for shift-x, rotation; got 1, 1, 3"):
        model.log_prob(jnp.zeros((1, 3)), x)
    with pytest.raises(DataError, match="image shape"):
        Density(BOTH, (8, 8), SMALL, key=jax.random.key(0))
    with pytest.raises(LiewiseError, match="one coordinate or more"):
        Density((), SHAPE, SMALL, key=jax.random.key(0))
    with pytest.raises(LiewiseError, match="low < high; that of 'shift-x'"):
        Density(LINE.with_box({"shift-x": 0.0}), SHAPE, BOUNDED, key=jax.random.key(0))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"features": ()}, "features as one or more sizes"),
        ({"head": (0,)}, "head as one or more sizes"),
        ({"feature_dropout": 1.0}, "0 <= feature_dropout < 1; got 1.0"),
        ({"bins": 1}, "bins >= 2"),
    ],
)
def test_sizes_that_cannot_be_are_refused(options, match):
    with pytest.raises(LiewiseError, match=match):
        DensityConfig(**options)
