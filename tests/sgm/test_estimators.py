"""Estimators move along with the example: by as much as it was moved, and in the same direction."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from liewise import datasets, transforms
from liewise.sgm.estimators import HueCircle, Mirrors, Place, RotationCircle, Tint, Ways

SPATIAL = transforms.affine("shift", "rotation", "scale-x", "scale-y")


def sprites(n: int = 4, size: int = 33):
    """Hearts near the middle, so that small moves lose nothing at the frame, with a spot that breaks their symmetry."""
    here = {"x": datasets.Constant(0.5), "y": datasets.Constant(0.5), "scale": datasets.Constant(0.6)}
    turned = {"heart": here | {"orientation": datasets.Uniform(0.0, 360.0)}}
    split = datasets.load("sprites", n=n, size=size, shapes=("heart",), distributions=turned).train
    middle = size // 2
    return datasets.to_unit(split.images).at[:, middle - 3 : middle, middle + 1 : middle + 4].set(0.0)


def colours(n: int = 5, size: int = 9):
    """Images of a few hues, with saturation and value far from their ends."""
    first, saturation, value = jax.random.uniform(jax.random.key(0), (3, n, 1, 1))
    hue = first + 0.1 * jnp.linspace(0, 1, size)[None, None, :] ** 2
    planes = (jnp.mod(hue, 1.0), 0.4 + 0.1 * saturation, 0.4 + 0.1 * value)
    hsv = jnp.stack([jnp.broadcast_to(plane, (n, size, size)) for plane in planes], -1)
    return 2 * transforms.hsv_to_rgb(hsv) - 1


def moved(images, **values):
    eta = SPATIAL.eta(len(images), **{name: jnp.full(len(images), v) for name, v in values.items()})
    return SPATIAL.act(SPATIAL.element(eta), images)


@pytest.mark.parametrize(("name", "by"), [("shift-x", 0.125), ("shift-y", -0.1875)])
def test_the_place_moves_by_whole_pixels_as_the_example_does(name: str, by: float):
    images = sprites()
    place = Place(transforms.affine("shift"), images)
    before, after = place(images), place(moved(images, **{name.replace("-", "_"): by}))
    for coordinate in ("shift-x", "shift-y"):
        expected = by if coordinate == name else 0.0
        np.testing.assert_allclose(after[coordinate] - before[coordinate], expected, atol=1e-5)


def test_the_size_grows_by_the_factor_that_the_example_does():
    images = sprites()
    place = Place(transforms.affine("scale"), images)
    grown = place(moved(images, scale_x=0.2, scale_y=0.2))["scale"] - place(images)["scale"]
    np.testing.assert_allclose(grown, 0.2, atol=0.03)  # pixels are not points


def test_the_size_is_not_told_where_one_axis_alone_can_scale():
    images = sprites()
    assert set(Place(transforms.affine("shift-x", "scale-x"), images)(images)) == {"shift-x"}
    assert set(Place(transforms.affine("scale-x", "scale-y"), images)(images)) == {"scale-x", "scale-y"}


def test_where_scales_differ_widely_what_is_left_is_round():
    group = transforms.affine("scale-x", "scale-y", "shear", box=dict.fromkeys(("scale-x", "scale-y", "shear"), 0.75))
    images = sprites()
    place = Place(group, images)
    stretched = group.act(group.element(group.eta(4, scale_x=0.3, scale_y=-0.2, shear=0.3)), images)
    found = place(stretched)
    undone = group.act(group.inverse(group.element(jnp.stack([found[n] for n in group.names], -1))), stretched)
    left = place(undone)
    for name in group.names:
        np.testing.assert_allclose(left[name], 0.0, atol=0.03)


@pytest.mark.parametrize(("name", "place"), [("saturation", 0), ("value", 1)])
def test_the_tint_changes_by_the_factor_that_the_example_does(name: str, place: int):
    images, group = colours(), transforms.colour()
    tint = Tint(("saturation", "value"), images)
    eta = group.eta(len(images), **{name: jnp.full(len(images), 0.3)})
    before, after = tint(images), tint(group.act(group.element(eta), images))
    change = [after[n] - before[n] for n in ("saturation", "value")]
    np.testing.assert_allclose(change[place], 0.3, atol=0.01)
    np.testing.assert_allclose(change[1 - place], 0.0, atol=0.01)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_the_rotation_found_turns_by_quarters_as_the_example_does(quarters: int):
    images = sprites()
    circle = RotationCircle(None, 1, key=jax.random.key(0))
    before, after = circle(images)[0]["rotation"], circle(jnp.rot90(images, quarters, (1, 2)))[0]["rotation"]
    turned = (after - before) / (2 * np.pi) - quarters / 4
    np.testing.assert_allclose(turned - np.round(turned), 0.0, atol=1e-3)


def test_a_mirrored_example_is_found_to_be_mirrored_and_turned_the_other_way():
    images, group = sprites(), transforms.product(transforms.affine("rotation"), transforms.flips("flip-x"))
    circle = RotationCircle("flip-x", 1, key=jax.random.key(0))
    found = [circle(x)[0] for x in (images, images[:, :, ::-1])]
    elements = [group.element(jnp.stack([f[n] for n in group.names], -1)) for f in found]
    mirror = group.element(group.eta(len(images), flip_x=jnp.ones(len(images))))
    undone = [group.act(group.inverse(e), x) for e, x in zip(elements, (images, images[:, :, ::-1]), strict=True)]
    np.testing.assert_allclose(undone[0], undone[1], atol=1e-4)
    np.testing.assert_allclose(group.distance(elements[1], group.compose(mirror, elements[0])), 0.0, atol=1e-3)


def test_mirrors_bring_every_mirror_image_to_the_same_side():
    images = sprites()
    mirrors = Mirrors(("flip-x", "flip-y"), images[0].size, key=jax.random.key(0))
    group = transforms.flips("flip-x", "flip-y")
    for view in (images, images[:, :, ::-1], images[:, ::-1], images[:, ::-1, ::-1]):
        found = mirrors(view)[0]
        pose = group.element(jnp.stack([found[n] for n in group.names], -1))
        sides = group.act(group.inverse(pose), view)
        first = mirrors(images)[0]
        expected = group.act(group.inverse(group.element(jnp.stack([first[n] for n in group.names], -1))), images)
        np.testing.assert_allclose(sides, expected, atol=1e-6)


def test_the_hue_found_turns_with_the_colours():
    images, group = colours(), transforms.colour("hue")
    circle = HueCircle(key=jax.random.key(0))
    by = 5 / 32  # whole bins: what lies between is as good as the histogram
    turned = group.act(group.element(jnp.full((len(images), 1), by)), images)
    change = circle(turned)[0]["hue"] - circle(images)[0]["hue"] - by
    np.testing.assert_allclose(change - np.round(change), 0.0, atol=2e-3)


def certain(sides: int, places: int, side: int, place: int):
    """All but sure of one way."""
    scores = jnp.full((1, sides, places), -30.0).at[0, side, place].set(30.0)
    return Ways(jnp.zeros((1, sides, places, 1)), scores)


def one(**values: float):
    return {name.replace("_", "-"): jnp.array([value]) for name, value in values.items()}


def test_nothing_is_missed_by_the_way_that_undoes_the_move_and_most_by_the_opposite_one():
    circle = RotationCircle(None, 1, key=jax.random.key(0))
    quarter = one(rotation=np.pi / 2)
    assert float(circle.missed(certain(1, 32, 0, 8), quarter)[0]) == pytest.approx(0.0, abs=1e-5)
    assert float(circle.missed(certain(1, 32, 0, 24), quarter)[0]) == pytest.approx(2.0, abs=1e-5)
    hue = HueCircle(key=jax.random.key(0))
    assert float(hue.missed(certain(1, 32, 0, 8), one(hue=0.25))[0]) == pytest.approx(0.0, abs=1e-5)


def test_a_mirrored_move_is_undone_on_the_other_side_only():
    circle = RotationCircle("flip-x", 1, key=jax.random.key(0))
    move = one(rotation=-np.pi / 2, flip_x=1.0)
    assert float(circle.missed(certain(2, 32, 1, 8), move)[0]) == pytest.approx(0.0, abs=1e-5)
    assert float(circle.missed(certain(2, 32, 0, 8), move)[0]) == pytest.approx(2.0, abs=1e-5)
    mirrors = Mirrors(("flip-x", "flip-y"), 4, key=jax.random.key(0))
    assert float(mirrors.missed(certain(4, 1, 1, 0), one(flip_x=0.0, flip_y=1.0))[0]) == pytest.approx(0.0, abs=1e-5)
    assert float(mirrors.missed(certain(4, 1, 1, 0), one(flip_x=1.0, flip_y=0.0))[0]) == pytest.approx(2.0, abs=1e-5)
