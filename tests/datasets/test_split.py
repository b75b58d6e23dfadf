"""Splits and data sets: what they check, and how they are taken apart."""

import copy
import pickle

import numpy as np
import pytest

from liewise.datasets import Dataset, Factor, MissingSplitError, Split
from liewise.datasets.split import _check_images
from liewise.errors import DataError

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (10, 6, 5, 3), dtype=np.uint8)


def split() -> Split:
    """Ten images whose label and factor are their index."""
    return Split(IMAGES, np.arange(10), {"angle": Factor(10.0 * np.arange(10), "deg", 360.0)})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"images": IMAGES[0]}, r"expected images \[n, height, width, channels\]; got \(6, 5, 3\)"),
        ({"images": IMAGES[:0]}, r"expected at least one image with at least one pixel; got \(0, 6, 5, 3\)"),
        ({"images": IMAGES.astype(np.int64)}, r"expected images as uint8, or float32 in \[0, 1\]; got int64"),
        ({"images": IMAGES.astype(np.float32)}, r"expected float pixels in \[0, 1\]; got \[0, 255\]"),
        ({"images": np.full((2, 3, 3, 1), np.nan, np.float32)}, "NaN or infinity, first in image 0"),
        ({"images": np.full((2, 3, 3, 1), np.inf, np.float32)}, "NaN or infinity, first in image 0"),
        ({"labels": np.arange(9)}, "expected 10 labels, one an image; got 9"),
        ({"labels": np.arange(10.0)}, r"expected labels as integers \[n\]; got float64 \(10,\)"),
        ({"labels": np.eye(10, dtype=int)}, r"expected labels as integers \[n\]; got int64 \(10, 10\)"),
        ({"labels": np.arange(10) - 1}, "expected labels from 0 up; got -1"),
        ({"factors": {"x": Factor(np.zeros(3), "px")}}, "expected 10 values of factor 'x', one an image; got 3"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(fields: dict, message: str):
    with pytest.raises(DataError, match=message):
        Split(**({"images": IMAGES} | fields))


def test_a_list_is_refused_where_no_type_checker_runs():
    with pytest.raises(DataError, match="expected images as a NumPy array; got list"):
        _check_images(IMAGES.tolist())


@pytest.mark.parametrize(
    ("values", "period", "message"),
    [
        (np.zeros((2, 2)), None, r"expected a factor's values as \[n\]; got \(2, 2\)"),
        (np.array([0, np.nan]), None, "expected finite factor values; got 1 NaN or infinite of 2"),
        (np.zeros(2), 0.0, "expected a factor's period to be positive or None; got 0"),
    ],
)
def test_a_factor_that_is_no_factor_is_refused(values, period, message: str):
    with pytest.raises(DataError, match=message):
        Factor(values, "deg", period)


@pytest.mark.parametrize("index", [slice(2, 5), np.array([4, 1, 1]), [0, -1], np.arange(10) % 3 == 0])
def test_taking_examples_keeps_images_labels_and_factors_together(index):
    part = split()[index]
    rows = np.arange(10)[index]
    assert np.array_equal(part.labels, rows)
    assert np.array_equal(part.images, IMAGES[rows])
    assert np.array_equal(part.factors["angle"].values, 10.0 * rows)
    assert part.factors["angle"].period == 360.0


def test_one_index_gives_a_split_of_one_and_iteration_ends():
    assert np.array_equal(split()[-1].images, IMAGES[-1:])
    assert [int(part.labels[0]) for part in split()] == list(range(10))
    with pytest.raises(IndexError, match="expected an index below 10; got 10"):
        split()[10]


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        (np.array([10]), "expected indices below 10; got 10 to 10"),
        (np.array([], int), "expected at least one index"),
        (np.array([0.5]), "expected at least one index, as integers"),
        (np.ones(3, bool), r"expected a mask of 10 values; got \(3,\)"),
        (np.zeros(10, bool), "expected at least one index"),
    ],
)
def test_indices_that_pick_nothing_or_too_much_are_refused(indices, message: str):
    with pytest.raises(DataError, match=message):
        split().take(indices)


@pytest.mark.parametrize(("last", "sizes"), [(3, [7, 3]), (0.2, [8, 2]), (9, [1, 9])])
def test_the_last_examples_are_held_out(last, sizes):
    first, held_out = split().divide(last)
    assert [len(first), len(held_out)] == sizes
    assert np.array_equal(np.concatenate([first.labels, held_out.labels]), np.arange(10))


@pytest.mark.parametrize("last", [0, 10, -1, 1.0, 0.0, 0.01])
def test_a_division_that_leaves_nothing_is_refused(last):
    with pytest.raises(DataError, match=f"expected a number of last examples between 1 and 9.*got {last}"):
        split().divide(last)


def test_shuffling_is_a_permutation_that_the_seed_decides():
    one, same, other = split().shuffled(1), split().shuffled(1), split().shuffled(2)
    assert np.array_equal(one.labels, same.labels)
    assert not np.array_equal(one.labels, other.labels)
    assert sorted(one.labels) == list(range(10))
    assert np.array_equal(one.images, IMAGES[one.labels])


def test_constant_images_are_found():
    images = IMAGES.copy()
    images[3], images[7] = 0, np.array([1, 2, 3], np.uint8)
    assert Split(images).constant().tolist() == [3, 7]


def data() -> Dataset:
    """A set with a training and a test split."""
    return Dataset("digits", {"train": split(), "test": split()[:2]}, class_names=tuple("0123456789"))


def test_splits_are_attributes_and_items():
    assert data().train is not None
    assert len(data()["test"]) == len(data().test) == 2


def test_a_missing_split_lists_those_that_are_there():
    with pytest.raises(MissingSplitError, match="data set 'digits' has no split 'val'; it has: train, test"):
        _ = data().val
    assert not hasattr(data(), "val")


def test_data_sets_survive_copying_and_pickling():
    for again in (copy.deepcopy(data()), pickle.loads(pickle.dumps(data()))):
        assert np.array_equal(again.train.images, IMAGES)
        assert again.train.factors["angle"].unit == "deg"
        assert again.class_names == data().class_names


def test_a_set_without_splits_or_with_too_few_class_names_is_refused():
    with pytest.raises(DataError, match="expected at least one split in data set 'none'; got none"):
        Dataset("none", {})
    with pytest.raises(DataError, match=r"expected labels below 2, .* split 'train' of 'few' goes up to 9"):
        Dataset("few", {"train": split()}, class_names=("a", "b"))


def test_nothing_can_be_put_into_a_split_afterwards():
    with pytest.raises(TypeError):
        split().factors["new"] = Factor(np.zeros(10), "px")  # pyright: ignore
