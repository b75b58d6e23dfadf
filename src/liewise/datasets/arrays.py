"""Images that are in arrays already: NumPy (or what becomes NumPy), .npy and .npz files. Never a pickle.

Values tell their range: bytes as they are; floats in [0, 1] if none is negative, in [-1, 1] if some are; what
lies beyond is refused, since nobody can know what was meant.
"""

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from liewise.datasets.constant import without_constant
from liewise.datasets.dataset import SPLIT_NAMES, Dataset
from liewise.datasets.framing import counted
from liewise.datasets.split import Split
from liewise.errors import DataError

__all__ = ["IMAGE_KEYS", "LABEL_KEYS", "load_array", "load_npy", "load_npz", "numbered", "to_split"]

IMAGE_KEYS = ("images", "imgs", "image", "x", "X", "data")
LABEL_KEYS = ("labels", "label", "y", "Y", "targets", "target")
_LAYOUTS = ("HWC", "CHW")
_SLACK = 1e-6  # what rounding may add to a float range


def load_array(
    array: object,
    *,
    labels: object = None,
    layout: str | None = None,
    constant: str = "refuse",
    name: str = "array",
) -> Dataset:
    """Load images from an array [n, height, width] or [n, height, width, channels] (or channels first).

    >>> data = load_array(np.arange(2 * 3 * 8 * 8).reshape(2, 3, 8, 8) % 200)
    >>> data.train, data.notes
    (Split(2 images 8x8x3 uint8),
     ('train: channels moved from first to last', 'train: int64 values made bytes'))
    """
    return _dataset(name, {"train": (array, labels)}, layout, constant, source="an array in memory")


def load_npy(path: Path, *, labels: object = None, layout: str | None = None, constant: str = "refuse") -> Dataset:
    """Load images from a .npy file."""
    with _reading(path), path.open("rb") as file:
        array = np.load(file, allow_pickle=False)
    return _dataset(path.stem, {"train": (array, labels)}, layout, constant, source=str(path))


def load_npz(path: Path, *, key: str | None = None, layout: str | None = None, constant: str = "refuse") -> Dataset:
    """Load images, and labels where there are any, from an .npz file.

    Images are found under one of `IMAGE_KEYS` or under `key`, labels under one of `LABEL_KEYS`. For splits,
    the keys carry the split's name in front or behind: `x_train`, `y_train`, `test_images`, `test_labels`.
    """
    with _reading(path), path.open("rb") as file, np.load(file, allow_pickle=False) as held:
        found = _keys(path, held.files, key)
        arrays = {
            name: (held[images], None if labels is None else held[labels]) for name, (images, labels) in found.items()
        }
    return _dataset(path.stem, arrays, layout, constant, source=str(path))


def to_split(images: object, labels: object, layout: str | None) -> tuple[Split, tuple[str, ...], list[str]]:
    """Return a split made of arrays, the class names if labels were text, and notes of what was converted."""
    notes: list[str] = []
    array = _with_channels(np.asarray(images), layout, notes)
    numbers, class_names = numbered(labels, notes)
    return Split(_in_range(array, notes), numbers), class_names, notes


def _dataset(
    name: str, arrays: Mapping[str, tuple[object, object]], layout: str | None, constant: str, source: str
) -> Dataset:
    splits, notes, names = {}, [], ()
    for split_name, (images, labels) in arrays.items():
        split, class_names, said = to_split(images, labels, layout)
        splits[split_name] = without_constant(split, constant, said, str)
        if names and class_names != names:
            raise DataError(f"expected the same class names in every split of {name}; got {names}, {class_names}")
        names = class_names
        notes += [f"{split_name}: {note}" for note in said]
    return Dataset(name, splits, class_names=names, source=source, notes=tuple(notes))


class _reading:
    """Turns what NumPy says of a torn file or a pickle into a named error."""

    def __init__(self, path: Path):
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, DataError):
            return
        if isinstance(error, ValueError) and "pickle" in str(error):
            raise DataError(
                f"{self._path} holds Python objects (a pickle), which liewise never loads: save plain arrays"
            ) from error
        if isinstance(error, zipfile.BadZipFile | zlib.error | ValueError | EOFError | OSError):
            raise DataError(f"{self._path} is torn or not a NumPy file: {error}") from error


def _keys(path: Path, held: list[str], key: str | None) -> dict[str, tuple[str, str | None]]:
    """Return for each split the keys of its images and of its labels."""
    labels = next((name for name in LABEL_KEYS if name in held), None)
    if key is not None:
        if key not in held:
            raise DataError(f"expected key '{key}' in {path}; it holds: {', '.join(held)}")
        return {"train": (key, labels)}
    images = {"train": [name for name in IMAGE_KEYS if name in held]}
    numbers = {"train": [] if labels is None else [labels]}
    for affix, split in SPLIT_NAMES.items():
        for found, names in ((images, IMAGE_KEYS), (numbers, LABEL_KEYS)):
            spelled = [k for name in names for k in (f"{name}_{affix}", f"{affix}_{name}") if k in held]
            found.setdefault(split, []).extend(spelled)
    if not any(images.values()) or any(len(keys) > 1 for keys in images.values()):
        raise DataError(
            f"expected images under exactly one of {', '.join(IMAGE_KEYS)} (or x_train, test_images, ...) in"
            f" {path}; it holds: {', '.join(held) or 'nothing'}. Name the right one with key="
        )
    return {split: (keys[0], next(iter(numbers[split]), None)) for split, keys in images.items() if keys}


def _with_channels(array: np.ndarray, layout: str | None, notes: list[str]) -> np.ndarray:
    """Return the images as [n, height, width, channels], or say why that is ambiguous."""
    if layout is not None and layout not in _LAYOUTS:
        raise DataError(f"expected layout 'HWC' or 'CHW'; got '{layout}'")
    if array.ndim == 3:
        if array.shape[-1] in (1, 3, 4) and layout is None:
            raise DataError(
                f"expected images [n, height, width] or [n, height, width, channels]; {array.shape} looks"
                " like a single image: add an axis in front"
            )
        return array[..., None]
    if array.ndim != 4:
        raise DataError(f"expected images [n, height, width] or [n, height, width, channels]; got {array.shape}")
    first, last = array.shape[1] in (1, 3, 4), array.shape[3] in (1, 3, 4)
    if layout is None and first and last:
        raise DataError(f"channels could be first or last in {array.shape}: say layout='HWC' or 'CHW'")
    if layout is None and not (first or last):
        raise DataError(f"expected 1, 3 or 4 channels, first or last; got {array.shape}")
    if layout == "CHW" or (layout is None and first):
        notes.append("channels moved from first to last")
        array = np.moveaxis(array, 1, 3)
    if array.shape[3] not in (1, 3, 4):
        raise DataError(f"expected 1, 3 or 4 channels; got {array.shape[3]} with layout {layout}")
    return array


def _in_range(array: np.ndarray, notes: list[str]) -> np.ndarray:
    """Return uint8, or float32 in [0, 1], without alpha."""
    if 0 in array.shape:
        raise DataError(f"expected at least one image with at least one pixel; got {array.shape}")
    if array.dtype == bool or np.issubdtype(array.dtype, np.integer):
        array = _from_integers(array, notes)
    elif np.issubdtype(array.dtype, np.floating):
        array = _from_floats(array, notes)
    else:
        raise DataError(f"expected pixels as integers or floats; got {array.dtype}")
    if array.shape[3] == 4:
        notes.append(f"{counted(len(array), 'image')} with alpha laid on black")
        alpha = array[..., 3:] / np.float32(255 if array.dtype == np.uint8 else 1)
        flat = array[..., :3] * alpha
        array = np.rint(flat).astype(np.uint8) if array.dtype == np.uint8 else flat
    return np.ascontiguousarray(array)


def _from_integers(array: np.ndarray, notes: list[str]) -> np.ndarray:
    low, high = int(array.min()), int(array.max())
    if low < 0 or high > 65_535:
        raise DataError(f"expected integer pixels from 0 to 255 (or to 65535); got {low} to {high}")
    if high <= 1:
        notes.append("values 0 and 1 made 0 and 255")
        return array.astype(np.uint8) * np.uint8(255)
    if high > 255:
        notes.append("16-bit values reduced to 8")
        return ((array.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if array.dtype != np.uint8:
        notes.append(f"{array.dtype} values made bytes")
    return array.astype(np.uint8, copy=False)


def _from_floats(array: np.ndarray, notes: list[str]) -> np.ndarray:
    low, high = float(array.min()), float(array.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        bad = np.flatnonzero(~np.isfinite(array).all(axis=(1, 2, 3)))
        raise DataError(
            f"expected finite pixels; got NaN or infinity in {counted(len(bad), 'image')}, first in {bad[0]}"
        )
    if low < -1 - _SLACK or high > 1 + _SLACK:
        advice = ": divide by 255, or give them as uint8" if low >= 0 and high <= 255 else ""
        raise DataError(f"expected float pixels in [0, 1] or in [-1, 1]; got [{low:g}, {high:g}]{advice}")
    array = array.astype(np.float32)
    if low < -_SLACK:
        notes.append("floats in [-1, 1] brought to [0, 1]")
        array = array * np.float32(0.5) + np.float32(0.5)
    return np.clip(array, 0, 1)


def numbered(labels: object, notes: list[str]) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Return labels as integers, and the class names where they were text."""
    if labels is None:
        return None, ()
    array = np.asarray(labels)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.dtype.kind in "US":
        names, numbers = np.unique(array, return_inverse=True)
        notes.append(f"{counted(len(names), 'class name')} from the labels' text")
        return numbers, tuple(str(name) for name in names)
    if array.ndim == 2:
        raise DataError(f"expected labels [n]; got {array.shape}: if they are one-hot, give labels.argmax(1)")
    if np.issubdtype(array.dtype, np.floating) and (array == np.floor(array)).all():
        array = array.astype(np.int64)
    return array, ()
