"""Sprites: they look like the archive's, and their factors are what is seen."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage, stats

from liewise import datasets
from liewise.datasets import SHAPES, SYMMETRY, Constant, Factor, SpriteFactors, Uniform
from liewise.datasets.dsprites import read_rows, row_factors
from liewise.datasets.outlines import REACH
from liewise.datasets.sprite_factors import paper, resolve, to_factors
from liewise.datasets.sprites import balanced_labels, render
from liewise.errors import DataError


def one(shape: str, *, scale=0.9, orientation=0.0, x=0.0, y=0.0, size=64, antialias=True) -> np.ndarray:
    """One sprite [size, size] as floats in [0, 1]."""
    factors = {
        "scale": Factor(np.array([scale]), "factor"),
        "orientation": Factor(np.array([orientation]), "deg", 360.0),
        "x": Factor(np.array([x]), "px"),
        "y": Factor(np.array([y]), "px"),
    }
    label = np.array([SHAPES.index(shape)])
    return render(label, factors, size=size, antialias=antialias)[0, :, :, 0] / 255


def centroid(image: np.ndarray) -> np.ndarray:
    """Row and column of the mean pixel, from the frame's centre."""
    return np.array(ndimage.center_of_mass(image)) - (np.array(image.shape) - 1) / 2


@pytest.mark.parametrize("shape", SHAPES)
def test_x_is_pixels_to_the_right_and_y_pixels_down(shape: str):
    moved = centroid(one(shape, x=7.25, y=-3.5)) - centroid(one(shape))
    np.testing.assert_allclose(moved, [-3.5, 7.25], atol=0.02)


def test_orientation_turns_counter_clockwise_as_displayed():
    # the tip of a heart points down; a quarter turn counter-clockwise points it to the right
    upright, turned = one("heart"), one("heart", orientation=90.0)
    np.testing.assert_allclose(turned, np.rot90(upright), atol=0.01)
    assert upright[32:, 31:33].sum() > upright[:32, 31:33].sum()
    assert turned[31:33, 32:].sum() > turned[31:33, :32].sum()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_looks_the_same_after_its_symmetry_and_not_before(shape: str):
    upright = one(shape, orientation=20.0)
    again = one(shape, orientation=20.0 + SYMMETRY[shape])
    half_way = one(shape, orientation=20.0 + SYMMETRY[shape] / 2)
    np.testing.assert_allclose(again, upright, atol=0.02)
    assert np.abs(half_way - upright).max() > 0.5


@pytest.mark.parametrize("shape", SHAPES)
def test_area_grows_with_the_square_of_scale_and_of_size(shape: str):
    area = one(shape, scale=0.5).sum()
    assert one(shape, scale=1.0).sum() / area == pytest.approx(4, rel=0.01)
    assert one(shape, scale=0.5, size=128).sum() / area == pytest.approx(4, rel=0.01)


@pytest.mark.parametrize("shape", SHAPES)
def test_edges_are_what_averaging_a_finer_image_gives(shape: str):
    coarse = one(shape, orientation=33.0, x=2.3, y=1.7)
    fine = one(shape, orientation=33.0, x=2.3 * 8, y=1.7 * 8, size=512, antialias=False)
    np.testing.assert_allclose(coarse, fine.reshape(64, 8, 64, 8).mean((1, 3)), atol=0.25)  # the notch
    assert np.abs(coarse.sum() - fine.sum() / 64) < 0.01 * coarse.sum()


def test_without_antialiasing_pixels_are_black_or_white_and_agree_at_one_half():
    hard = one("ellipse", orientation=50.0, antialias=False)
    assert set(np.unique(hard)) == {0.0, 1.0}
    assert np.array_equal(hard, one("ellipse", orientation=50.0) >= 0.5)


def test_sprites_beyond_the_frame_are_cut_and_not_wrapped():
    assert one("square", x=32.0)[:, :32].sum() == 0
    assert one("square", x=32.0).sum() == pytest.approx(one("square").sum() / 2, rel=0.03)
    assert one("square", x=-500.0, y=900.0).sum() == 0


def test_no_outline_goes_beyond_its_reach():
    for shape in SHAPES:
        rows, columns = np.nonzero(one(shape, scale=1.0, size=256) > 0)
        assert np.hypot(rows - 127.5, columns - 127.5).max() < 4 * REACH + 1


def test_the_seed_decides_and_splits_differ():
    one_set, same, other = (datasets.load("sprites", n=40, n_test=40, size=16, seed=s) for s in (3, 3, 4))
    assert np.array_equal(one_set.train.images, same.train.images)
    assert not np.array_equal(one_set.train.images, other.train.images)
    assert not np.array_equal(one_set.train.images, one_set.test.images)


def test_shapes_are_in_equal_proportion_and_can_be_chosen():
    data = datasets.load("sprites", n=90, n_test=3, size=16)
    assert np.bincount(data.train.labels).tolist() == [30, 30, 30]
    hearts = datasets.load("sprites", n=9, n_test=3, size=16, shapes=("heart",))
    assert set(hearts.train.labels) == {2}
    assert hearts.class_names == SHAPES


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("factor", [f.name for f in fields(SpriteFactors)])
def test_the_preset_draws_each_factor_of_each_shape_as_the_paper_does(shape: str, factor: str):
    data = datasets.load("sprites", n=6_000, n_test=3, size=16).train
    values = data[data.labels == SHAPES.index(shape)].factors[factor].values
    if factor in "xy":
        values = values / 8 + 0.5
    distribution = getattr(paper()[shape], factor)
    if isinstance(distribution, Constant):
        assert (values == distribution.value).all()
    else:
        assert stats.kstest(values, distribution.cdf).statistic < 0.04  # p = 0.003


def test_given_distributions_replace_those_of_the_preset_and_no_others():
    spec = resolve({"heart": {"orientation": Uniform(10.0, 20.0)}})
    assert spec["heart"].orientation == Uniform(10.0, 20.0)
    assert spec["heart"].scale == paper()["heart"].scale
    assert spec["square"] == paper()["square"]
    whole = resolve({"square": paper()["heart"]})
    assert whole["square"] == paper()["heart"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distributions": "normal"}, "expected distributions to be 'paper', 'uniform', or"),
        ({"distributions": {"star": {}}}, "expected distributions for square, ellipse, heart; got one for 'star'"),
        ({"distributions": {"heart": {"hue": Constant(1.0)}}}, "expected factors scale, .* got 'hue'"),
        ({"distributions": {"heart": {"scale": Constant(-1.0)}}}, "expected scales above 0 and up to 4.7; got -1"),
        ({"shapes": ("star",)}, "expected shapes out of square, ellipse, heart; got star"),
        ({"shapes": ()}, "expected shapes out of square, ellipse, heart; got none"),
        ({"n": 0}, "expected at least one example; got n=0"),
        ({"size": 4}, "expected a size of at least 8 pixels; got 4"),
        ({"colour": "red"}, "unknown option colour for sprites; it knows: n, n_test, size, seed"),
    ],
)
def test_what_cannot_be_made_is_refused_by_name(options: dict, message: str):
    with pytest.raises(DataError, match=message):
        datasets.load("sprites", **options)


@pytest.fixture(scope="module")
def archive_sample(data_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the real archive, spread evenly over it, and their images."""
    path = data_dir / "dsprites" / "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
    if not path.is_file():
        pytest.skip("no dSprites archive here")
    rows = np.random.default_rng(0).choice(737_280, 3_000, replace=False)
    return rows, read_rows(path, rows, (737_280, 64, 64))


def test_sprites_are_the_real_archive_at_its_factor_values(archive_sample):
    rows, real = archive_sample
    labels, factors = row_factors(rows)
    ours = render(labels, to_factors(factors, 64), size=64)[..., 0] >= 128
    both = (ours & (real > 0)).sum((1, 2)) / (ours | (real > 0)).sum((1, 2))
    for label, floor in enumerate((0.999, 0.995, 0.998)):
        assert both[labels == label].mean() > floor
        assert both[labels == label].min() > 0.9


def test_labels_are_balanced_to_within_one():
    counts = np.bincount(balanced_labels(np.random.default_rng(0), 100))
    assert counts.max() - counts.min() <= 1
