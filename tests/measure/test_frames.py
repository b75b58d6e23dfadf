"""Poses in the data's own frame, whatever the prototypes' poses; and what cannot be seen to change."""

import jax.numpy as jnp
import numpy as np
import pytest

from liewise import datasets, transforms
from liewise.datasets import Constant, to_unit
from liewise.measure import changes, found_for_copies, in_own_frame, own_periods

SIZE = 28
TURN = 2 * np.pi


def sprite(shape, x=0.5, y=0.5, scale=1.0):
    pose = {"scale": Constant(scale), "orientation": Constant(0.0), "x": Constant(x), "y": Constant(y)}
    made = datasets.load("sprites", n=2, n_test=1, size=SIZE, shapes=(shape,), distributions={shape: pose})
    return np.asarray(to_unit(made.train.images))


def disc():
    rows, columns = np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2
    image = np.clip(6.5 - np.hypot(rows, columns), 0, 1) * 2 - 1
    return np.repeat(image[None, :, :, None], 2, 0).astype(np.float32)


def seen_from(group, eta, choice):
    """The same poses for prototypes that were moved by `choice`: x̂ is T_choice of what it was."""
    n, k, dim = eta.shape
    undo = group.inverse(group.element(jnp.repeat(choice, k, 0)))
    both = group.compose(group.element(jnp.asarray(eta.reshape(-1, dim))), undo)
    return np.asarray(group.parameters(both)).reshape(n, k, dim)


def test_widths_are_along_the_examples_own_axes_however_its_prototype_lies():
    group = transforms.affine("rotation", "scale-x", "scale-y").completed()
    rng = np.random.default_rng(0)
    eta = np.zeros((2, 64, group.dim), np.float32)
    eta[..., group.index("scale-x")] = rng.uniform(-0.3, 0.3, (2, 64))
    lying = group.eta(2, rotation=jnp.array([np.pi / 2, 0.7]))
    moved = seen_from(group, eta, lying)
    found = in_own_frame(group, moved, np.full((2, SIZE, SIZE, 1), -1.0, np.float32), {})
    spreads = np.ptp(found, axis=1)
    assert spreads[:, group.index("scale-x")] == pytest.approx(
        np.ptp(eta[..., group.index("scale-x")], axis=1), abs=0.05
    )
    assert np.delete(spreads, group.index("scale-x"), 1).max() < 0.05
    assert np.ptp(moved[0, :, group.index("scale-y")]) > 0.5  # as it looks from a prototype that lies on its side


def test_a_place_is_that_of_the_content_even_where_the_prototype_is_off_the_centre():
    group = transforms.affine("rotation", "shift")
    angles = np.linspace(-3, 3, 50, dtype=np.float32)
    images = sprite("square", x=0.75, y=0.5)  # 3.5 pixels right of the centre
    centre = 0.25 * SIZE / 2 / ((SIZE - 1) / 2)
    eta = np.zeros((2, 50, 3), np.float32)
    eta[..., 2] = angles
    eta[..., 0], eta[..., 1] = 0.2 - centre * np.cos(angles), centre * np.sin(angles)  # it turns, and stays at 0.2
    found = in_own_frame(group, eta, images, {})
    assert np.ptp(found[..., 0], axis=1).max() < 0.01
    assert found[..., 0] == pytest.approx(0.2, abs=0.01)
    assert found[..., 1] == pytest.approx(0.0, abs=0.01)


def test_a_chart_that_cannot_express_a_pose_leaves_it_as_it_is():
    group = transforms.affine("rotation", "scale-x", "scale-y", "shear", chart="exp")
    eta = np.zeros((1, 8, 4), np.float32)
    eta[0, :, 0] = np.linspace(-3.1, 3.1, 8)
    eta[0, :, 1] = 0.5
    assert np.isfinite(in_own_frame(group, eta, np.full((1, 8, 8, 1), -1.0, np.float32), {})).all()


def test_poses_of_copies_are_those_of_the_example_if_the_inference_is_exact():
    group = transforms.affine("shift-x", "scale")
    truth = jnp.array([[0.1, 0.05], [-0.2, 0.1]])

    def pose(copies):  # by centre of mass and size, which are exact for a blob
        mass = (copies[..., 0] + 1) / 2
        places = jnp.linspace(-1, 1, 65)
        total = mass.sum((1, 2))
        x = mass.sum(1) @ places / total
        spread = mass.sum(1) @ places**2 / total - x**2
        return jnp.stack([x, 0.5 * jnp.log(spread / 0.01)], 1)

    y, x = np.mgrid[-1:1:65j, -1:1:65j]
    blob = 2 * np.exp(-(x**2 + y**2) / 0.02) - 1
    examples = group.act(group.element(truth), jnp.asarray(np.repeat(blob[None, :, :, None], 2, 0), jnp.float32))
    there = np.random.default_rng(0).uniform(-0.2, 0.2, (2, 6, 2))
    for back in (None, np.full((2, 2), 0.1)):
        found = found_for_copies(pose, group, np.asarray(examples), there, back)
        assert found.shape == (2, 6, 2)
        assert np.abs(found - np.asarray(truth)[:, None]).max() < 0.01


@pytest.mark.parametrize(("fold", "degrees"), [(1, 360), (2, 180), (3, 120), (4, 90), (6, 60)])
def test_the_part_of_the_circle_after_which_an_example_looks_the_same_is_read_off_its_copies(fold, degrees):
    rng = np.random.default_rng(0)
    found = TURN / fold * rng.integers(0, fold, (30, 12)) + 0.03 * rng.normal(size=(30, 12))
    rotation = transforms.affine("rotation").coordinates[0]
    periods = np.degrees(own_periods(rotation, found))
    assert np.mean(np.isclose(periods, degrees)) > 0.85  # by chance, copies of a few never show one of the ways


def test_an_inference_that_finds_nothing_gives_no_symmetry():
    rotation = transforms.affine("rotation").coordinates[0]
    found = np.random.default_rng(0).uniform(-np.pi, np.pi, (200, 10))
    assert np.mean(np.isclose(own_periods(rotation, found), TURN)) > 0.95


def test_a_disc_does_not_change_when_it_turns_and_other_shapes_do():
    group = transforms.affine("rotation", "shift")
    turning = {name: changes(group, images)[0, 2] for name, images in (("disc", disc()), ("square", sprite("square")))}
    assert turning["disc"] < 0.005
    assert turning["square"] > 0.05
    assert changes(group, disc())[0, :2].min() > 0.05


def test_an_off_centre_disc_changes_only_if_shifts_cannot_undo_it():
    moved = np.roll(disc(), 5, axis=2)
    with_shifts, alone = (
        changes(transforms.affine(*names), moved)[0, -1] for names in (("shift", "rotation"), ("rotation",))
    )
    assert with_shifts < 0.005 < 0.5 < alone


def test_a_grey_image_has_no_hue_and_a_red_one_has():
    group = transforms.colour()
    grey = np.repeat(sprite("heart"), 3, -1)
    red = np.concatenate([grey[..., :1], np.full_like(grey[..., :2], -1)], -1)
    assert changes(group, grey)[0, 0] < 1e-6
    assert changes(group, red)[0, 0] > 0.3
