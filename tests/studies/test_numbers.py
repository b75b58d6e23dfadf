"""Each table is made from whatever models there are, and what studies compute themselves is right on known truth."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_studies import SMALL, TinyContext

from liewise import transforms
from liewise.datasets import Factor, Split
from liewise.errors import LiewiseError
from liewise.measure import uniform_ks
from liewise.sgm import Density, DensityConfig, Inference, InferenceConfig, density_training, inference_training
from liewise.studies import study_named
from liewise.studies.ablations import calibration, held_out_nats
from liewise.studies.colours import resampled_colours
from liewise.studies.cost import Clock, reached
from liewise.studies.drawn import Drawn
from liewise.studies.grids import DENSITY, INFERENCE, suggest, with_values
from liewise.studies.partial import Folded
from liewise.studies.rotations import centred, uniformity
from liewise.studies.sprites import bands
from liewise.studies.sweep import scaled, sweep


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pictures", "tables"),
    [
        ("sgm-sprites", {"sprites", "dsprites"}, 4),
        ("sgm-rotations", {"densities"}, 2),
        ("sgm-colours", {"factors"}, 1),
        ("sgm-ablations", {"multi-modal", "partial"}, 5),
        ("sgm-cost", {"curves"}, 1),
        ("sgm-galaxy", {"examples", "marginals"}, 1),
    ],
)
def test_a_study_gives_its_tables_and_pictures(tmp_path, name, pictures, tables):
    outcome = study_named(name).load()(TinyContext(folder=tmp_path, progress="silent"))
    assert set(outcome.pictures) == pictures
    assert len(outcome.tables) == tables
    assert all(table.rows for table in outcome.tables)
    for picture in outcome.pictures.values():
        picture.figure.draw_without_rendering()


@pytest.mark.parametrize("family", ["spline", "gaussian"])
def test_poses_drawn_from_a_density_are_calibrated_for_it_and_no_other(family):
    group = transforms.affine("rotation", "shift-x")
    made, other = (
        Density(group, (8, 8, 1), DensityConfig(features=(8,), head=(8,), conditioner=(8,), family=family), key=key)
        for key in jax.random.split(jax.random.key(0))
    )
    prototypes = jnp.zeros((1500, 8, 8, 1))
    pose = made.sample(jax.random.key(1), prototypes, 1)[:, 0]
    found = calibration(made, pose, prototypes, draws=99, seed=2)
    assert found.keys() == {"rotation", "shift-x"}
    assert all(uniform_ks(values, 0.0, 1.0) < 0.05 for values in found.values())
    off = calibration(other, 0.5 * pose, prototypes, draws=99, seed=2)
    assert max(uniform_ks(values, 0.0, 1.0) for values in off.values()) > 0.1


def test_held_out_nats_add_up_to_the_log_density():
    density = Density(transforms.affine("shift"), (8, 8, 1), SMALL, key=jax.random.key(0))
    prototypes = jax.random.uniform(jax.random.key(1), (5, 8, 8, 1))
    pose = jax.random.normal(jax.random.key(2), (5, 2))
    nats = held_out_nats(density, pose, prototypes)
    assert nats.shape == (2,)
    assert nats.sum() == pytest.approx(float(density.log_prob(pose, prototypes).mean()), rel=1e-5)


def test_resampled_colours_are_the_true_ones_whatever_the_prototypes_are():
    """Prototypes of any hue and saturation: drawn poses that make other true colours are read as just these."""
    rng, group = np.random.default_rng(0), transforms.colour()
    hue, saturation = rng.uniform(0, 108, (2, 4)), rng.uniform(0.6, 0.9, (2, 4))
    pose, made = (
        np.stack([h / 360 + 0.3, np.log(s) - 0.7, np.zeros(4)], -1).astype(np.float32)
        for h, s in zip(hue, saturation, strict=True)
    )
    factors = {"hue": Factor(hue[0], "deg", 360.0), "saturation": Factor(saturation[0], "factor")}
    split = Split(np.zeros((4, 8, 8, 3), np.uint8), factors=factors)
    found = resampled_colours(group, Drawn(split, pose, made[:, None]))
    assert np.allclose(found["hue"][:, 0], hue[1], atol=1e-2)
    assert np.allclose(found["saturation"][:, 0], saturation[1], atol=1e-4)


def test_bands_are_where_the_truth_is():
    true = np.array([-12.0, -7.0, 7.0, 12.0])
    assert bands(np.array([-13.0, -7.0, -6.9, 0.0, 8.0]), true) == (0.4, 0.4, 0.2)


def test_uniform_turns_are_uniform_wherever_the_circle_has_its_zero():
    drawn = np.random.default_rng(0).uniform(-180, 180, (3, 4000)) + np.array([[0.0], [77.0], [500.0]])
    assert (uniformity(drawn) < 0.03).all()
    assert (uniformity(np.abs(drawn[:1]) / 2) > 0.4).all()


def test_densities_are_turned_until_their_modes_are_in_the_middle():
    grid = np.linspace(-180, 180, 9)
    density = np.exp(-(((grid[None] - np.array([[-90.0], [45.0]])) / 40) ** 2))
    density[:, -1] = density[:, 0]
    turned = centred(density)
    assert turned.argmax(1).tolist() == [4, 4]
    assert np.array_equal(turned[:, 0], turned[:, -1])
    assert np.allclose(np.sort(turned[:, :-1]), np.sort(density[:, :-1]))


class Reading(Inference):
    """Finds the angle that an example is."""

    def __call__(self, examples):
        return examples.reshape(-1, 1)


def test_folded_poses_differ_from_the_true_ones_by_parts_of_a_turn():
    angles = jnp.linspace(-3.0, 3.0, 25)
    found = Folded(Reading(transforms.affine("rotation")), 4)(angles.reshape(-1, 1, 1, 1))[:, 0]
    assert float(jnp.abs(found).max()) <= np.pi / 4 + 1e-5
    quarters = (angles - found) / (np.pi / 2)
    assert np.allclose(quarters, np.round(quarters), atol=1e-5)
    assert len(np.unique(np.round(quarters))) == 5
    whole = Folded(Reading(transforms.affine("rotation")), 1)(angles.reshape(-1, 1, 1, 1))[:, 0]
    assert np.allclose(whole, angles)


def test_the_clock_notes_validations_and_the_first_that_is_good_enough_counts():
    clock = Clock()
    for step, loss in ((100, 3.0), (200, 1.0), (300, 1.5)):
        clock.write(step - 50, {"loss": 9.0})
        clock.write(step, {"loss": 9.0, "validation/loss": loss})
    clock.close()
    assert [(loss, step) for _, loss, step in clock.rows] == [(3.0, 100), (1.0, 200), (1.5, 300)]
    rows = [(5.0, 3.0, 100), (9.0, 1.0, 200), (12.0, 1.5, 300)]
    assert reached(rows, 1.5) == (9.0, 200)
    assert reached(rows, 0.5) is None


class Last:
    """A trial that chooses the last of everything."""

    def suggest_categorical(self, name, choices):
        return choices[-1]


def test_a_trial_s_choices_go_where_their_names_are():
    values = suggest(Last(), INFERENCE)
    config, training = with_values(values, InferenceConfig.paper(), inference_training())
    assert (config.blur, training.optimiser.clip_norm, training.optimiser.warmup_fraction) == (3.0, 10.0, 0.2)
    config, training = with_values(suggest(Last(), DENSITY), DensityConfig(), density_training())
    assert (config.layers, config.feature_dropout, training.steps) == (6, 0.2, 60_000)
    assert training.optimiser.learning_rate == 3e-4
    with pytest.raises(LiewiseError, match="neither DensityConfig nor a training has 'colour'"):
        with_values({"colour": 1}, config, training)


def test_a_shorter_sweep_changes_steps_alone():
    assert scaled(DENSITY, 30)["steps"] == [250, 500, 1000, 2000]
    assert scaled(DENSITY, 30)["layers"] == DENSITY["layers"]


def test_a_sweep_tries_no_setting_twice_and_goes_on(tmp_path):
    pytest.importorskip("optuna")
    grid = {"a": [1, 2, 3], "b": [0.1, 0.2]}

    def score(values):
        return values["a"] + values["b"]

    first = sweep(grid, score, tmp_path / "s.db", trials=2, seed=0)
    whole = sweep(grid, score, tmp_path / "s.db", trials=None, seed=0)
    assert (len(first), len(whole)) == (2, 6)
    assert whole[0] == ({"a": 1, "b": 0.1}, 1.1)
    assert len({tuple(values.items()) for values, _ in whole}) == 6


def test_without_optuna_a_sweep_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(LiewiseError, match=r"pip install 'liewise\[sweep\]'"):
        sweep({"a": [1]}, lambda values: 0.0, tmp_path / "s.db", trials=1, seed=0)
