"""Contact sheets show what their captions say."""

import numpy as np
import pytest

from liewise import datasets, transforms
from liewise.errors import TransformError
from liewise.report import contact_sheet
from liewise.transforms import describe_value


def images_and_captions(figure):
    axes = [a for sub in figure.subfigs for a in sub.axes if a.images]
    return [(np.asarray(a.images[0].get_array()), a.get_xlabel()) for a in axes]


def test_examples_come_with_labels_and_true_factors():
    data = datasets.load("sprites", n=12, n_test=3, size=32)
    figure = contact_sheet(data, transforms.affine("rotation"), rows=1)
    shown = images_and_captions(figure)
    assert len(shown) == 9 + 9
    for image, caption in shown[:9]:
        index = int(np.flatnonzero((data.train.images[..., 0] == image).all((1, 2)))[0])
        lines = caption.split("\n")
        assert lines[0] == data.class_names[data.train.labels[index]]
        orientation = data.train.factors["orientation"].values[index]
        assert describe_value(orientation, "deg") in caption


def test_orbit_rows_hold_the_example_turned_by_what_the_caption_says():
    data = datasets.load("sprites", n=3, n_test=3, size=32)
    figure = contact_sheet(data, transforms.affine("rotation"), rows=1)
    by_caption = {caption: image.astype(int) for image, caption in images_and_captions(figure)[3:]}
    assert "-135°" in by_caption
    quarter = np.abs(np.rot90(by_caption["0°"]) - by_caption["+90°"])
    assert quarter.max() <= 1  # counter-clockwise as displayed


def test_flips_have_two_tiles():
    data = datasets.load("sprites", n=3, n_test=3, size=32)
    captions = [c for _, c in images_and_captions(contact_sheet(data, transforms.flips("flip-x"), rows=1))]
    assert captions[3:] == ["as it is", "mirrored"]


def test_colour_of_grey_images_is_refused():
    data = datasets.load("sprites", n=3, n_test=3, size=32)
    with pytest.raises(TransformError, match=r"colour needs images \[height, width, 3\]; got \(32, 32, 1\)"):
        contact_sheet(data, transforms.colour())
