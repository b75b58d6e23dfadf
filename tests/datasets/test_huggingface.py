"""Tables of Hugging Face's library, by a stand-in that can do what we ask of one."""

import numpy as np
import pytest
from PIL import Image as Picture

from liewise import datasets
from liewise.errors import DataError

RNG = np.random.default_rng(0)


class Image:
    """The feature of a column of images."""


class ClassLabel:
    """The feature of a column of labels."""

    names = ("cat", "dog")


class Value:
    """The feature of any other column."""


class Table:
    """A table with features, column names and rows."""

    def __init__(self, features: dict, rows: list[dict]):
        self.features, self._rows = features, rows
        self.column_names = list(features)

    def __iter__(self):
        return iter(self._rows)


def picture(height: int = 8, width: int = 8, mode: str = "RGB") -> Picture.Image:
    """A picture of some pixels."""
    return Picture.fromarray(RNG.integers(0, 256, (height, width, 3), dtype=np.uint8)).convert(mode)


def table(pictures: list, **features) -> Table:
    """A table of pictures and alternating labels."""
    rows = [{"picture": p, "label": index % 2, "id": index} for index, p in enumerate(pictures)]
    return Table({"picture": Image(), "label": ClassLabel(), "id": Value()} | features, rows)


def test_columns_are_found_by_their_features():
    pictures = [picture() for _ in range(3)]
    data = datasets.load(table(pictures))
    assert np.array_equal(data.train.images, np.stack([np.asarray(p) for p in pictures]))
    assert data.train.labels.tolist() == [0, 1, 0]
    assert data.class_names == ("cat", "dog")
    assert data.name == "huggingface"


def test_a_dictionary_of_tables_is_splits():
    both = {"train": table([picture()] * 2), "validation": table([picture()])}
    data = datasets.load(both)
    assert {name: len(split) for name, split in data.splits.items()} == {"train": 2, "val": 1}


def test_text_in_a_column_of_labels_names_the_classes():
    rows = [{"picture": picture(), "kind": kind} for kind in ("dog", "ant", "dog")]
    data = datasets.load(Table({"picture": Image(), "kind": Value()}, rows), label="kind")
    assert data.train.labels.tolist() == [1, 0, 1]
    assert data.class_names == ("ant", "dog")
    assert data.notes == ("train: 2 class names from the labels' text",)


def named(*names: str) -> ClassLabel:
    """A feature of labels with other names."""
    feature = ClassLabel()
    feature.names = names
    return feature


def test_pictures_are_converted_and_resized_as_files_are():
    mixed = table([picture(), picture(mode="L"), picture(mode="RGBA")])
    data = datasets.load(mixed)
    assert data.train.images.shape == (3, 8, 8, 3)
    assert data.notes == (
        "train: 1 image alpha laid on the background",
        "train: 1 image grey made RGB, since others have colour",
    )
    sizes = table([picture(), picture(4, 6)])
    with pytest.raises(DataError, match="expected images of one size; got 1 of 8x8, 1 of 4x6"):
        datasets.load(sizes)
    assert datasets.load(sizes, size=5, resize="stretch").train.image_shape == (5, 5, 3)


def test_arrays_in_a_column_are_read_as_arrays_are():
    rows = [{"picture": RNG.integers(0, 256, (8, 8)).tolist()} for _ in range(3)]
    data = datasets.load(Table({"picture": Value()}, rows), image="picture")
    assert data.train.images.shape == (3, 8, 8, 1)
    assert data.train.labels is None
    assert data.notes == ("train: int64 values made bytes",)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (table([picture()], id=Image()), {}, "expected one column of images; got picture, id. Name one with image="),
        (table([picture()], picture=Value()), {}, "expected a column of images; got picture, label, id"),
        (table([picture()]), {"image": "photo"}, "expected image='photo' to be one of picture, label, id"),
        (table([picture()]), {"label": "kind"}, "expected label='kind' to be one of picture, label, id"),
        (table([picture(), None]), {}, "expected an image in every row of 'picture'; none in 1"),
        (table([]), {}, "none in an empty table"),
        (table([picture(mode="F")]), {}, "column 'picture' holds an image that cannot be read: pixels of kind F"),
        (table([np.zeros((8, 8)), np.zeros((8, 9))]), {}, r"images of one shape; got \(8, 8\), \(8, 9\)"),
        (table([picture()]), {"labels": 1}, "unknown option labels for a table of the datasets library"),
        ({"val": table([picture()]), "validation": table([picture()])}, {}, "one table for each split; got val, valid"),
        (
            {"train": table([picture()]), "test": table([picture()], label=named("dog", "cat"))},
            {},
            r"the same class names in every split; got \('cat', 'dog'\), \('dog', 'cat'\)",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(source, options: dict, message: str):
    with pytest.raises(DataError, match=message):
        datasets.load(source, **options)
