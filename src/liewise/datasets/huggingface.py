"""Data sets held by Hugging Face's library `datasets`: one table, or a dictionary of splits.

They are known by what they can do, so that the library is imported by whoever made them and not by us.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image

from liewise.datasets.arrays import numbered, to_split
from liewise.datasets.constant import without_constant
from liewise.datasets.dataset import SPLIT_NAMES, Dataset
from liewise.datasets.framing import Framing, check_sizes, conversion_notes, some
from liewise.datasets.image_files import UnreadableImage, header_of
from liewise.datasets.split import Split
from liewise.errors import DataError

__all__ = ["is_huggingface", "load_huggingface"]

_IMAGE_FEATURES = ("Image", "Array2D", "Array3D")


def is_huggingface(source: object) -> bool:
    """Return whether this is a table of the library's, or a dictionary of such."""
    if isinstance(source, Mapping):
        return bool(source) and all(is_huggingface(table) for table in source.values())
    return hasattr(source, "features") and hasattr(source, "column_names")


def load_huggingface(
    source: Any,
    *,
    image: str | None = None,
    label: str | None = None,
    size: int | tuple[int, int] | None = None,
    resize: str = "crop",
    background: int = 0,
    constant: str = "refuse",
) -> Dataset:
    """Load images and labels from a table's columns, found by their features or named.

    Args:
        source: a `datasets.Dataset` or `datasets.DatasetDict`
        image: the column of images, where there are several
        label: the column of labels, where there are several
        size: height and width in pixels to bring every image to; needed where sizes are mixed
        resize: "crop", "pad" or "stretch"
        background: grey level from 0 to 255 under transparent pixels and beside padded images
        constant: what to do with images of one colour: "refuse", "skip" or "keep"
    """
    tables = dict(source) if isinstance(source, Mapping) else {"train": source}
    framing = Framing.of(size, resize, background)
    splits, notes, names = {}, [], ()
    for table_name, table in tables.items():
        split_name = SPLIT_NAMES.get(table_name, table_name)
        if split_name in splits:
            raise DataError(f"expected one table for each split; got {', '.join(tables)}")
        said: list[str] = []
        images = _column(table, image, _IMAGE_FEATURES, "image")
        labels = _column(table, label, ("ClassLabel",), "label")
        if images is None:
            raise DataError(f"expected a column of images; got {', '.join(table.column_names)}. Name it with image=")
        split, from_text = _split(table, images, labels, framing, said)
        splits[split_name] = without_constant(split, constant, said, str)
        found = from_text or (tuple(getattr(table.features[labels], "names", ())) if labels else ())
        if names and found and found != names:
            raise DataError(f"expected the same class names in every split; got {names}, {found}")
        names = found or names
        notes += [f"{split_name}: {note}" for note in said]
    info = getattr(next(iter(tables.values())), "info", None)
    return Dataset(
        name=getattr(info, "dataset_name", None) or "huggingface",
        splits=splits,
        class_names=names,
        licence=getattr(info, "license", None) or "",
        citation=getattr(info, "citation", None) or "",
        source=getattr(info, "homepage", None) or "a table of the datasets library",
        notes=tuple(notes),
    )


def _column(table: Any, chosen: str | None, kinds: tuple[str, ...], what: str) -> str | None:
    if chosen is not None:
        if chosen not in table.column_names:
            raise DataError(f"expected {what}='{chosen}' to be one of {', '.join(table.column_names)}")
        return chosen
    found = [name for name, feature in table.features.items() if type(feature).__name__ in kinds]
    if len(found) > 1:
        raise DataError(f"expected one column of {what}s; got {', '.join(found)}. Name one with {what}=")
    return found[0] if found else None


def _split(
    table: Any, images: str, labels: str | None, framing: Framing, notes: list[str]
) -> tuple[Split, tuple[str, ...]]:
    """Return the split of a table, and the class names if labels were text."""
    rows = [(row[images], None if labels is None else row[labels]) for row in table]
    given = None if labels is None else [label for _, label in rows]
    missing = [str(index) for index, (picture, _) in enumerate(rows) if picture is None]
    if missing or not rows:
        raise DataError(f"expected an image in every row of '{images}'; none in {some(missing) or 'an empty table'}")
    pictures = [picture for picture, _ in rows]
    if not all(isinstance(picture, Image.Image) for picture in pictures):
        split, names, said = to_split(_stacked(pictures), given, None)
        notes += said
        return split, names
    try:
        headers = [header_of(picture) for picture in pictures]
    except UnreadableImage as error:
        raise DataError(f"column '{images}' holds an image that cannot be read: {error}") from error
    check_sizes(headers, framing)
    notes += conversion_notes(headers, framing)
    channels = max(header.channels for header in headers)
    numbers, names = numbered(given, notes)
    return Split(np.stack([framing.array(picture, channels) for picture in pictures]), numbers), names


def _stacked(pictures: list) -> np.ndarray:
    shapes = sorted({np.shape(picture) for picture in pictures})
    if len(shapes) > 1:
        raise DataError(f"expected images of one shape; got {some([str(shape) for shape in shapes])}")
    return np.stack([np.asarray(picture) for picture in pictures])
