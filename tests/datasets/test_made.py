"""Made sets: the factors say what is seen."""

import colorsys

import numpy as np
import pytest
from scipy import ndimage, stats

from liewise import datasets, transforms
from liewise.datasets import Constant, Factor, Mixture, Split, Uniform, coloured, made, rotated, transformed
from liewise.errors import DataError, TransformError


def blobs(n: int = 20, size: int = 33) -> Split:
    """Smooth grey blobs to the right of the centre, in two classes."""
    rows, columns = np.mgrid[:size, :size] - (size - 1) / 2
    blob = np.exp(-((columns - 6) ** 2 + rows**2) / 12)
    images = np.repeat(np.rint(255 * blob).astype(np.uint8)[None, :, :, None], n, axis=0)
    return Split(images, np.arange(n) % 2, {"brightness": Factor(np.ones(n), "factor")})


def centroids(split: Split) -> tuple[np.ndarray, np.ndarray]:
    """How far right of the centre and how far below it the mean pixel lies."""
    centres = [ndimage.center_of_mass(image) for image in split.images[..., 0].astype(float)]
    rows, columns = (np.array(centres) - (split.image_shape[0] - 1) / 2).T
    return columns, rows


def test_rotation_is_counter_clockwise_as_displayed_by_the_degrees_of_its_factor():
    turned = rotated(blobs(), 180.0, seed=0)
    right, down = centroids(turned)
    seen = np.degrees(np.arctan2(-down, right))
    truth = turned.factors["rotation"]
    assert (truth.unit, truth.period) == ("deg", 360.0)
    np.testing.assert_allclose(seen, truth.values, atol=1.0)


def test_rotations_are_uniform_and_drawn_once_by_the_seed():
    split = Split(np.zeros((2_000, 8, 8, 1), np.uint8))
    one, same, other = (rotated(split, 15.0, seed=s).factors["rotation"].values for s in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert stats.kstest(one, Uniform(-15.0, 15.0).cdf).statistic < 0.04  # p = 0.003


def test_a_rotation_by_nothing_leaves_the_images_as_they_are():
    assert np.array_equal(rotated(blobs(), 0.0, seed=0).images, blobs().images)


def test_shifts_are_pixels_to_the_right_and_down():
    given = {"shift-x": Constant(-3.0), "shift-y": Uniform(2.0, 4.0)}
    moved = transformed(blobs(), transforms.affine("shift"), given, seed=0)
    before, after = centroids(blobs()), centroids(moved)
    np.testing.assert_allclose(after[0] - before[0], -3.0, atol=0.1)
    np.testing.assert_allclose(after[1] - before[1], moved.factors["shift-y"].values, atol=0.1)


def test_scales_are_factors_and_what_is_not_named_is_left_alone():
    group = transforms.affine("scale", "rotation")
    larger = transformed(blobs(), group, {"scale": Constant(1.25)}, seed=0)
    np.testing.assert_allclose(centroids(larger)[0], 1.25 * centroids(blobs())[0], atol=0.1)
    assert (larger.factors["scale"].values == 1.25).all()
    assert (larger.factors["rotation"].values == 0.0).all()


def test_each_class_can_have_its_own_distribution():
    given = {0: {"rotation": Mixture((Uniform(40.0, 50.0), Uniform(-50.0, -40.0)), (0.5, 0.5))}}
    made_split = transformed(blobs(), transforms.affine("rotation"), given, seed=0)
    angles = np.abs(made_split.factors["rotation"].values)
    assert ((angles[::2] >= 40) & (angles[::2] <= 50)).all()
    assert (angles[1::2] == 0).all()
    assert np.array_equal(made_split.images[1::2], blobs().images[1::2])


def test_grey_becomes_red_and_is_coloured_within_the_papers_ranges():
    made_split = coloured(blobs(), seed=0)
    assert made_split.image_shape == (33, 33, 3)
    brightest = made_split.images.reshape(20, -1, 3)[:, blobs().images[0].argmax()] / 255
    hsv = np.array([colorsys.rgb_to_hsv(*pixel) for pixel in brightest])
    np.testing.assert_allclose(360 * hsv[:, 0], made_split.factors["hue"].values, atol=1.0)
    np.testing.assert_allclose(hsv[:, 1], made_split.factors["saturation"].values, atol=0.01)
    assert made_split.factors["hue"].values.max() <= 108.0
    assert made_split.factors["saturation"].values.min() >= 0.6


def test_labels_and_factors_of_the_base_stay_and_colour_can_follow_rotation():
    both = coloured(rotated(blobs(), 90.0, seed=0), seed=1)
    assert set(both.factors) == {"brightness", "rotation", "hue", "saturation"}
    assert np.array_equal(both.labels, blobs().labels)


def test_floats_are_accepted_and_give_the_same_bytes():
    base = blobs()
    floats = Split(base.images.astype(np.float32) / 255, base.labels)
    ours, theirs = (rotated(split, 30.0, seed=0).images.astype(int) for split in (base, floats))
    assert np.abs(ours - theirs).max() <= 1


def test_batches_of_any_number_are_compiled_once(monkeypatch: pytest.MonkeyPatch):
    compiled = []

    class Watched(transforms.Additive):
        """Notes each time it is traced."""

        def act(self, element, examples):
            compiled.append(examples.shape)
            return examples + element[:, :, None, None]

    group = Watched((transforms.Coordinate("lift", "factor", "brighter", -1.0, 1.0),))
    monkeypatch.setattr(made, "_BATCH", 8)
    for n in (3, 8, 20):
        lifted = transformed(blobs(n), group, {"lift": Constant(1.0)}, seed=0)
        assert np.array_equal(lifted.images, blobs(n).images)
    assert compiled == [(8, 33, 33, 1)]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda s: rotated(s, 200.0, seed=0), DataError, "expected degrees from 0 to 180; got 200"),
        (lambda s: rotated(rotated(s, 5.0, seed=0), 5.0, seed=0), DataError, "a factor 'rotation' already"),
        (lambda s: _by(s, {}), DataError, r"expected distributions by coordinate.*got keys \[\]"),
        (lambda s: _by(s, {"rotation": Constant(1.0), 1: {}}), DataError, "expected distributions by coordinate"),
        (lambda s: _by(s, {"hue": Constant(1.0)}), TransformError, "no coordinate 'hue'"),
        (lambda s: _by(s, {7: {"scale": Constant(1.0)}}), DataError, r"labels of the split, \[0, 1\]; got 7"),
        (lambda s: _by(Split(s.images), {0: {}}), DataError, "expected labels, since"),
        (lambda s: _by(s, {"scale": Constant(-1.0)}), DataError, "expected factors above 0 for scale; got -1"),
        (
            lambda s: transformed(s, transforms.flips("flip-x"), {"flip-x": Constant(0.3)}, seed=0),
            DataError,
            r"expected flip-x to be one of \(0.0, 1.0\)",
        ),
        (lambda s: transformed(s, transforms.colour(), {}, seed=0), TransformError, r"images \[height, width, 3\]"),
    ],
)
def test_what_cannot_be_made_is_refused_by_name(make, error, message: str):
    with pytest.raises(error, match=message):
        make(blobs())


def _by(split: Split, distributions: dict) -> Split:
    return transformed(split, transforms.affine("rotation", "scale"), distributions, seed=0)


def test_flips_take_their_two_values():
    given = {"flip-x": Mixture((Constant(0.0), Constant(1.0)), (0.5, 0.5))}
    flipped = transformed(blobs(), transforms.flips("flip-x"), given, seed=0)
    right = centroids(flipped)[0] > 0
    assert np.array_equal(right, flipped.factors["flip-x"].values == 0)
    assert 0 < right.sum() < 20


def test_sprites_can_be_made_into_others():
    base = datasets.load("sprites", n=12, n_test=3, size=32).train
    assert set(rotated(base, 10.0, seed=0).factors) == {"scale", "orientation", "x", "y", "rotation"}
