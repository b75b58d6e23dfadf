"""Factors of resampled sprites follow from group elements, and are those that one sees in the picture."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from liewise import datasets, transforms
from liewise.datasets import SHAPES, SYMMETRY, Factor, Split, to_unit
from liewise.errors import DataError, TransformError
from liewise.measure import as_table, recovered_sprites, relative, resampled_factors

SIZE = 64
HALF = (SIZE - 1) / 2
GROUP = transforms.affine("shift", "rotation", "scale")


def sprites(scale=0.7, orientation=25.0, x=5.0, y=-3.0, labels=(0, 1, 2)):
    """One sprite of each shape with these factors."""
    values = {"scale": (scale, "factor", None), "orientation": (orientation, "deg", 360.0)}
    values |= {"x": (x, "px", None), "y": (y, "px", None)}
    factors = {name: Factor(np.full(len(labels), v), unit, period) for name, (v, unit, period) in values.items()}
    return Split(datasets.render(np.array(labels), factors, size=SIZE), np.array(labels), factors)


def poses(n, seed=0, group=GROUP):
    low, high = group.box
    return jnp.asarray(np.random.default_rng(seed).uniform(low, high, (n, group.dim)), jnp.float32)


@eqx.filter_jit
def moved_by(pose, eta, group=GROUP):
    """The η of first what takes the prototype to the example, and then a transformation of the example."""
    return group.parameters(group.compose(group.element(eta), group.element(pose)))[:, None]


def test_what_is_drawn_as_it_was_found_has_the_true_factors():
    split = sprites()
    pose = poses(3)
    found = resampled_factors(GROUP, pose, jnp.repeat(pose[:, None], 4, axis=1), split)
    for name in ("scale", "x", "y"):
        np.testing.assert_allclose(found[name], np.repeat(split.factors[name].values[:, None], 4, 1), atol=1e-4)
    expected = np.array([[25.0 % SYMMETRY[shape]] for shape in SHAPES])
    np.testing.assert_allclose(found["orientation"], np.repeat(expected, 4, 1), atol=1e-3)


@pytest.mark.parametrize(
    ("eta", "factors"),
    [
        ({"shift_x": 4 / HALF}, {"x": 9.0}),
        ({"shift_y": 4 / HALF}, {"y": 1.0}),
        ({"rotation": np.radians(30)}, {"orientation": 55.0, "x": 5 * np.cos(np.pi / 6) - 1.5, "y": -5.0981}),
        ({"rotation": np.pi / 2}, {"orientation": 115.0, "x": -3.0, "y": -5.0}),  # right goes up, up goes left
        ({"scale": np.log(1.2)}, {"scale": 0.84, "x": 6.0, "y": -3.6}),
    ],
    ids=["right", "down", "thirty degrees", "quarter turn", "larger"],
)
def test_a_known_transformation_moves_the_factors_as_it_should(eta, factors):
    split, pose = sprites(), poses(3)
    found = resampled_factors(GROUP, pose, moved_by(pose, GROUP.eta(3, **eta)), split)
    expected = {"scale": 0.7, "orientation": 25.0, "x": 5.0, "y": -3.0} | factors
    for name in ("scale", "x", "y"):
        np.testing.assert_allclose(found[name], expected[name], atol=1e-3)
    symmetry = np.array([[SYMMETRY[shape]] for shape in SHAPES])
    np.testing.assert_allclose(found["orientation"], np.mod(expected["orientation"], symmetry), atol=1e-2)


def test_a_sprite_drawn_with_the_factors_looks_like_the_resampled_picture():
    split, pose = sprites(scale=0.6, x=3.0, y=2.0), poses(3)
    drawn = moved_by(pose, GROUP.eta(3, rotation=2.0, scale=0.2, shift_x=0.1, shift_y=-0.15))
    found = resampled_factors(GROUP, pose, drawn, split)
    factors = {name: Factor(found[name][:, 0], split.factors[name].unit) for name in found}
    drawn_again = to_unit(datasets.render(split.labels, factors, size=SIZE))
    element = GROUP.compose(GROUP.element(drawn[:, 0]), GROUP.inverse(GROUP.element(pose)))
    resampled = GROUP.act(element, to_unit(split.images))
    apart = np.mean((np.asarray(resampled) - drawn_again) ** 2, axis=(1, 2, 3))
    moved = np.mean((np.asarray(resampled) - to_unit(split.images)) ** 2, axis=(1, 2, 3))
    assert (apart < 0.05 * moved).all()


def test_unequal_scales_keep_the_area_and_the_nearest_rotation():
    group = transforms.affine("scale-x", "scale-y")
    split = sprites(orientation=0.0, x=2.0, y=2.0)
    drawn = np.tile(np.log(np.array([2.0, 0.5], np.float32)), (3, 1, 1))
    found = resampled_factors(group, np.zeros((3, 2), np.float32), drawn, split)
    np.testing.assert_allclose(found["scale"], 0.7, rtol=1e-5)
    np.testing.assert_allclose(np.cos(np.radians(found["orientation"])), 1, atol=1e-6)
    np.testing.assert_allclose(np.stack([found["x"], found["y"]], -1), [[[4.0, 1.0]]] * 3, rtol=1e-5)


def test_a_mirror_image_turns_the_other_way():
    group = transforms.product(transforms.affine("shift", "rotation"), transforms.flips("flip-x"))
    split = sprites(orientation=25.0, x=5.0)
    found = resampled_factors(group, np.zeros((3, 4), np.float32), group.eta(3, flip_x=1.0)[:, None], split)
    np.testing.assert_allclose(found["orientation"][:, 0], [65.0, 155.0, 335.0], atol=1e-3)
    np.testing.assert_allclose(found["x"], -5.0, atol=1e-4)


def test_colours_leave_the_factors_alone():
    group = transforms.product(transforms.colour("hue"), GROUP)
    pose = poses(3, group=group)
    drawn = pose[:, None] + jnp.array([[[0.2, 0, 0, 0, 0]]])
    found = resampled_factors(group, pose, drawn, sprites())
    np.testing.assert_allclose(found["x"], 5.0, atol=1e-4)
    np.testing.assert_allclose(found["scale"], 0.7, atol=1e-5)


def test_the_relative_transformation_takes_the_example_to_its_resampled_version():
    pose = poses(5)
    turned = moved_by(pose, GROUP.eta(5, rotation=0.7, shift_x=0.1))
    drawn = jnp.concatenate([turned, pose[:, None]], axis=1)
    found = relative(GROUP, pose, drawn)
    np.testing.assert_allclose(found[:, 0], np.tile([0.1, 0, 0.7, 0], (5, 1)), atol=1e-5)
    np.testing.assert_allclose(found[:, 1], 0, atol=1e-5)


def test_the_relative_rotation_is_a_difference_of_angles():
    group = transforms.affine("rotation")
    found = relative(group, np.float32([[3.0]]), np.float32([[[-3.0], [1.0]]]))
    np.testing.assert_allclose(found[0, :, 0], [2 * np.pi - 6, -2.0], atol=1e-5)


def test_a_perfect_model_recovers_every_factor_of_every_shape():
    split = datasets.load("sprites", n=600, n_test=3, size=SIZE, seed=3).train
    pose = poses(len(split))
    rows = recovered_sprites(GROUP, pose, jnp.repeat(pose[:, None], 3, axis=1), split)
    assert [(r.shape, r.factor) for r in rows[:5]] == [
        *(("square", name) for name in ("scale", "orientation", "x", "y")),
        ("ellipse", "scale"),
    ]
    assert len(rows) == 12
    # the true orientation of the heart is one number: rounding decides on which side of it the others fall
    varied = [r for r in rows if (r.shape, r.factor) != ("heart", "orientation")]
    assert max(r.ks for r in varied) < 0.05
    assert max(r.w1 for r in rows) < 1e-2
    assert [r.spread for r in rows] == pytest.approx([r.true_spread for r in rows], rel=0.05, abs=1e-2)


def test_factors_in_steps_are_compared_at_the_steps():
    """What lies within half a step of the truth is the truth; without steps the same is half an atom's mass off."""
    rng = np.random.default_rng(0)
    step = {"scale": 0.1, "orientation": 360 / 39, "x": 32 / 31, "y": 32 / 31}
    places = {"scale": (5, 10), "orientation": (0, 39), "x": (-8, 9), "y": (-8, 9)}
    labels = np.repeat([0, 1, 2], 400)
    values = {name: step[name] * rng.integers(low, high, len(labels)) for name, (low, high) in places.items()}
    units = {"scale": ("factor", None), "orientation": ("deg", 360.0), "x": ("px", None), "y": ("px", None)}
    factors = {name: Factor(values[name], *units[name]) for name in step}
    split = Split(np.zeros((len(labels), SIZE, SIZE, 1), np.uint8), labels, factors)
    pose = np.zeros((len(labels), 4), np.float32)
    off = rng.normal(0, 0.003, (len(labels), 1, 4)).astype(np.float32)
    plain, stepped = (recovered_sprites(GROUP, pose, off, split, stepped=stepped) for stepped in (False, True))
    assert max(r.ks for r in stepped) < 0.02
    assert max(r.w1 for r in stepped if r.factor != "orientation") < 0.02
    assert min(r.ks for r in plain if r.factor == "scale") > 0.07
    assert [r.spread for r in stepped] == [r.spread for r in plain]


def test_a_model_that_turns_what_does_not_turn_is_told():
    split = datasets.load("sprites", n=60, n_test=3, size=SIZE, seed=3, shapes=("heart",)).train
    pose = np.zeros((60, 4), np.float32)
    drawn = GROUP.eta(60, rotation=jnp.linspace(-0.5, 0.5, 60))[:, None]
    rows = {r.factor: r for r in recovered_sprites(GROUP, pose, drawn, split)}
    assert {r.shape for r in rows.values()} == {"heart"}
    assert rows["orientation"].true_spread == 0
    assert rows["orientation"].spread == pytest.approx(np.degrees(0.95), abs=2)
    assert rows["orientation"].w1 == pytest.approx(np.degrees(0.25), abs=1)
    assert rows["scale"].w1 < 1e-5


def test_the_table_has_a_line_for_each_row_in_columns():
    pose = poses(3)
    lines = as_table(recovered_sprites(GROUP, pose, pose[:, None], sprites()))
    assert len(lines) == 13
    assert len({len(line) for line in lines}) == 1
    assert lines[2].split()[:4] == ["square", "orientation", "deg", "1"]


def test_what_is_not_sprites_is_refused_by_name():
    pose, split = poses(3), sprites()
    with pytest.raises(DataError, match="labels and factors scale, orientation"):
        resampled_factors(GROUP, pose, pose[:, None], Split(split.images, split.labels))
    with pytest.raises(DataError, match="each of 3 sprites; got 2"):
        resampled_factors(GROUP, pose[:2], pose[:2, None], split)
    with pytest.raises(TransformError, match="group of hue only"):
        resampled_factors(transforms.colour("hue"), pose[:, :1], pose[:, None, :1], split)
    with pytest.raises(DataError, match="labels of square, ellipse, heart"):
        resampled_factors(GROUP, pose, pose[:, None], Split(split.images, split.labels + 1, split.factors))
