"""SVHN's cropped digits: the official .mat files, or idx files of part of them in a data directory."""

from pathlib import Path

import numpy as np
from scipy.io import loadmat

from liewise.datasets.dataset import Dataset
from liewise.datasets.idx import idx_split
from liewise.datasets.registry import Entry
from liewise.datasets.split import Split
from liewise.datasets.store import ensure, find, locate
from liewise.errors import DataError

__all__ = ["load_svhn", "read_mat"]

_OFFICIAL = {"train": 73_257, "test": 26_032}  # images


def load_svhn(entry: Entry, *, data_dir: str | Path | None, progress: bool) -> Dataset:
    """Load SVHN; the official files are preferred, a stand-in in the data directory is noted."""
    here = all(locate(entry, file, data_dir) for file in entry.files)
    stand_in = [find(entry, (name,), data_dir) for name in entry.substitutes]
    notes: tuple[str, ...] = ()
    if not here and all(stand_in):
        images, labels, test_images, test_labels = (paths[0] for paths in stand_in)
        splits = {"train": idx_split(images, labels), "test": idx_split(test_images, test_labels)}
        notes = tuple(
            f"{name}: {len(split):,} of the official {_OFFICIAL[name]:,} images, from {images.parent}"
            for name, split in splits.items()
        )
    else:
        paths = [ensure(entry, file, data_dir=data_dir, progress=progress) for file in entry.files]
        splits = {name: read_mat(path) for name, path in zip(_OFFICIAL, paths, strict=True)}
    return entry.dataset(splits, notes=notes)


def read_mat(path: Path) -> Split:
    """Return the images X [height, width, 3, n] and labels y [n, 1] of a .mat file; its label 10 is a 0."""
    try:
        held = loadmat(path, variable_names=("X", "y"))
        images, labels = held["X"], held["y"]
    except (ValueError, KeyError, OSError, NotImplementedError, TypeError) as error:
        raise DataError(f"expected a .mat file with X and y at {path}: {error}") from error
    if images.ndim != 4 or labels.size != images.shape[3]:
        raise DataError(f"expected X [height, width, 3, n] and y [n, 1] in {path}; got {images.shape}, {labels.shape}")
    return Split(np.ascontiguousarray(np.moveaxis(images, 3, 0)), labels.reshape(-1).astype(np.int64) % 10)
