"""Queries of densities, on untrained networks (whose densities are as good as any) and against grids and samples."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from liewise import transforms
from liewise.errors import LiewiseError, TransformError
from liewise.sgm import Densities, Density, DensityConfig, Marginal
from liewise.sgm.densities import _peaks
from liewise.transforms import product

SHAPE = (9, 17, 3)
GROUP = product(transforms.affine("shift-x", "rotation", "scale"), transforms.colour("hue"))
CONFIG = DensityConfig(features=(8,), head=(8,), conditioner=(8,), layers=1, bins=4)
PROTOTYPES = jax.random.uniform(jax.random.key(0), (3, *SHAPE), minval=-1.0)


def densities(group, config=CONFIG, **options):
    return Densities(Density(group, SHAPE, config, key=jax.random.key(1), **options), group, PROTOTYPES)


@pytest.fixture(scope="module")
def all_kinds():
    return densities(GROUP)


@pytest.fixture(scope="module")
def turns():
    return densities(transforms.affine("rotation"))


def near(direction):
    """Densities of a rotation close to one direction: a model whose draws and log-densities are known."""
    found = densities(transforms.affine("rotation"), DensityConfig(features=(8,), head=(8,), family="gaussian"))
    sharp = 4.0  # the length of the vector that the base is given by
    vector = jnp.array([sharp * np.cos(direction) - 0.05, sharp * np.sin(direction)], jnp.float32)
    found._model = _with_base(found._model, vector)
    return found


def _with_base(model, vector):
    last = model.head.layers[-1]
    model = eqx.tree_at(lambda m: m.head.layers[-1].weight, model, jnp.zeros_like(last.weight))
    return eqx.tree_at(lambda m: m.head.layers[-1].bias, model, vector)


@pytest.mark.parametrize("name", GROUP.names)
def test_a_marginal_integrates_to_one_in_its_users_unit(all_kinds, name):
    found = all_kinds.marginal(name, points=361)
    assert (found.coordinate.name, found.density.shape) == (name, (3, 361))
    assert np.trapezoid(found.density, found.values) == pytest.approx(np.ones(3), abs=0.02)


def test_marginals_are_in_pixels_degrees_and_factors(all_kinds):
    width = {name: np.ptp(all_kinds.marginal(name, points=51).values) for name in GROUP.names}
    assert (width["rotation"], width["hue"]) == pytest.approx((360, 360))
    assert 2 < width["shift-x"] < 20  # of a frame that is 17 pixels wide
    assert all_kinds.marginal("scale", points=51).values.min() > 0


@pytest.mark.parametrize("name", GROUP.names)
def test_a_marginal_is_the_histogram_of_samples(all_kinds, name):
    found = all_kinds.marginal(name, points=41)
    drawn = np.asarray(all_kinds.sample(jax.random.key(5), 8000))[..., GROUP.index(name)]
    drawn = np.asarray(found.coordinate.to_user(drawn, SHAPE[:2]))
    middles = (found.values[::4][1:] + found.values[::4][:-1]) / 2
    for row, density in zip(drawn, found.density, strict=True):
        counts = np.histogram(row, found.values[::4])[0] / len(row)
        expected = np.interp(middles, found.values, density) * np.diff(found.values[::4])
        assert np.abs(counts - expected).max() < 0.03


def test_a_single_coordinates_log_prob_integrates_to_one_and_is_its_marginal(turns):
    grid = np.linspace(-np.pi, np.pi, 181)
    rows = [np.full((3, 1), eta, np.float32) for eta in grid]
    density = np.exp(np.stack([turns.log_prob(row) for row in rows], 1))
    assert np.trapezoid(density, grid) == pytest.approx(np.ones(3), abs=0.01)
    marginal = turns.marginal("rotation")
    assert marginal.density * 180 / np.pi == pytest.approx(density, rel=1e-3)


def test_a_finite_coordinates_marginal_is_its_probabilities():
    found = densities(transforms.flips("flip-x"))
    marginal = found.marginal("flip-x")
    assert marginal.values.tolist() == [0.0, 1.0]
    assert marginal.density.sum(1) == pytest.approx(np.ones(3), abs=1e-5)
    assert np.asarray(found.sample(jax.random.key(5), 4000)).mean((1, 2)) == pytest.approx(
        marginal.density[:, 1], abs=0.03
    )


@pytest.mark.parametrize("direction", [0.4, np.pi, -np.pi + 0.1])
def test_quantiles_and_modes_know_that_the_seam_is_no_edge(direction):
    found = near(direction)
    low, middle, high = found.quantiles("rotation").T
    assert np.cos(np.deg2rad(middle) - direction).min() > 0.999
    drawn = np.asarray(found.sample(jax.random.key(5), 4000))[0, :, 0]
    away = np.rad2deg(np.angle(np.exp(1j * (drawn - direction))))
    assert (low - middle, high - middle) == (
        pytest.approx(np.full(3, np.quantile(away, 0.025)), abs=2.5),
        pytest.approx(np.full(3, np.quantile(away, 0.975)), abs=2.5),
    )
    assert (high - low).max() < 90
    for modes in found.modes("rotation"):
        assert len(modes) == 1
        assert np.cos(np.deg2rad(modes[0]) - direction) > 0.999


def test_quantiles_have_a_column_for_each_level_and_rise(all_kinds):
    found = all_kinds.quantiles("scale", (0.1, 0.3, 0.9))
    assert found.shape == (3, 3)
    assert (np.diff(found) > 0).all()


def test_a_joint_marginal_sums_to_one_and_to_its_own_marginals(all_kinds):
    joint = all_kinds.joint("shift-x", "hue", cells=20, samples=2048)
    assert joint.density.shape == (3, 20, 20)
    assert [c.name for c in joint.coordinates] == ["shift-x", "hue"]
    assert [len(edges) for edges in joint.values] == [21, 21]
    assert joint.density.sum((1, 2)) == pytest.approx(np.ones(3))
    drawn = np.asarray(all_kinds.sample(jax.random.key(0), 2048))
    hue = np.histogram(drawn[1, :, 3] * 360, joint.values[1])[0] / 2048
    assert joint.density[1].sum(0) == pytest.approx(hue, abs=2e-3)


def test_a_joint_marginal_of_what_never_varies_is_one_cell():
    absent = densities(transforms.product(transforms.affine("rotation"), transforms.flips("flip-x")))
    absent.sample = lambda key, n: jnp.zeros((3, n, 2))
    joint = absent.joint("rotation", "flip-x", cells=4, samples=16)
    assert joint.density.max((1, 2)) == pytest.approx(np.ones(3))


def test_samples_depend_on_the_key_alone(turns):
    one = turns.sample(jax.random.key(3), 10)
    assert one.shape == (3, 10, 1)
    assert np.array_equal(one, turns.sample(jax.random.key(3), 10))
    assert not np.array_equal(one, turns.sample(jax.random.key(4), 10))


def bumps(*places, width=12.0, points=181):
    grid = np.linspace(-180, 180, points)
    away = grid[:, None] - np.array(places)[None]
    away = (away + 180) % 360 - 180
    heights = np.linspace(1, 0.8, len(places))
    return grid, (heights * np.exp(-0.5 * (away / width) ** 2)).sum(1)


@pytest.mark.parametrize(
    "places",
    [(10.0,), (180.0,), (0.0, 180.0), (-170.0, 100.0), (-120.0, 0.0, 120.0)],
    ids=lambda places: f"{len(places)}",
)
def test_modes_are_as_many_as_there_are_bumps_the_highest_first(places):
    grid, density = bumps(*places)
    found = Marginal(transforms.affine("rotation").coordinates[0], grid, density[None]).modes()[0]
    assert len(found) == len(places)
    assert np.abs((found - np.array(places) + 180) % 360 - 180).max() <= 2


def test_ripples_are_no_modes_and_neither_is_what_is_low():
    grid, density = bumps(0.0, 25.0)  # they run into one another
    low = 0.05 * bumps(150.0)[1]
    coordinate = transforms.affine("rotation").coordinates[0]
    assert len(Marginal(coordinate, grid, (density + low)[None]).modes()[0]) == 1


def test_on_a_line_the_ends_are_far_apart():
    _, density = bumps(180.0)
    assert len(_peaks(density, closed=True)) == 1
    assert len(_peaks(density, closed=False)) == 2


def test_a_density_on_one_point_has_no_modes():
    with pytest.raises(LiewiseError, match="fewer than two points has no modes"):
        _peaks(np.ones(1), closed=False)


def test_an_unknown_coordinate_is_named(turns):
    for ask in (turns.marginal, turns.quantiles, turns.modes, lambda name: turns.joint("rotation", name)):
        with pytest.raises(TransformError, match="no coordinate 'twist'; this group has rotation"):
            ask("twist")
