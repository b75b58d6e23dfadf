"""The data sets that come as HDF5: GalaxyMNIST and PatchCamelyon. Needs h5py, from the extra `hdf5`."""

import gzip
import importlib
import os
import shutil
import zlib
from pathlib import Path
from types import ModuleType

import numpy as np

from liewise.datasets.dataset import Dataset
from liewise.datasets.download import RemoteFile
from liewise.datasets.registry import Entry
from liewise.datasets.split import Split
from liewise.datasets.store import cache_dir, ensure
from liewise.errors import DataError

__all__ = ["load_galaxy_mnist", "load_patch_camelyon", "read_hdf5"]


def load_galaxy_mnist(
    entry: Entry,
    *,
    data_dir: str | Path | None,
    progress: bool,
    splits: tuple[str, ...] = ("train", "test"),
    n: int | None = None,
) -> Dataset:
    """Load GalaxyMNIST: the splits asked for, and of each the first n images."""
    files = {name: (index, index) for index, name in enumerate(("train", "test"))}
    return _load(entry, files, ("images", "labels"), splits, n, data_dir, progress)


def load_patch_camelyon(
    entry: Entry,
    *,
    data_dir: str | Path | None,
    progress: bool,
    splits: tuple[str, ...] = ("train", "val", "test"),
    n: int | None = None,
) -> Dataset:
    """Load PatchCamelyon: the splits asked for (the others are not fetched), the first n images of each."""
    files = {name: (2 * index, 2 * index + 1) for index, name in enumerate(("train", "val", "test"))}
    return _load(entry, files, ("x", "y"), splits, n, data_dir, progress)


def read_hdf5(path: Path, key: str, n: int | None = None) -> np.ndarray:
    """Return the array under `key` of an HDF5 file, or its first n rows."""
    h5py = _h5py()
    try:
        with h5py.File(path, "r") as file:
            if key not in file:
                raise DataError(f"expected '{key}' in {path}; it holds: {', '.join(file) or 'nothing'}")
            return np.asarray(file[key][:n])
    except OSError as error:
        raise DataError(f"{path} is torn or not an HDF5 file: {error}") from error


def _load(
    entry: Entry,
    files: dict[str, tuple[int, int]],
    keys: tuple[str, str],
    splits: tuple[str, ...],
    n: int | None,
    data_dir: str | Path | None,
    progress: bool,
) -> Dataset:
    _h5py()  # before anything is fetched
    unknown = [name for name in splits if name not in files]
    if unknown or not splits:
        raise DataError(f"expected splits of {entry.name} out of {', '.join(files)}; got {splits!r}")
    if n is not None and n < 1:
        raise DataError(f"expected at least one example a split; got n={n}")
    loaded = {}
    for name in splits:
        images, labels = (
            read_hdf5(_unpacked(entry, entry.files[index], data_dir, progress), key, n)
            for index, key in zip(files[name], keys, strict=True)
        )
        loaded[name] = Split(images, labels.reshape(-1).astype(np.int64))
    return entry.dataset(loaded, notes=() if n is None else (f"the first {n:,} images of each split",))


def _unpacked(entry: Entry, file: RemoteFile, data_dir: str | Path | None, progress: bool) -> Path:
    """Return the file without its .gz, since HDF5 is read at random; unpacked once, into the cache."""
    packed = ensure(entry, file, data_dir=data_dir, progress=progress)
    if not packed.name.endswith(".gz"):
        return packed
    target = cache_dir() / entry.name / packed.name.removesuffix(".gz")
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        try:
            with gzip.open(packed, "rb") as source, part.open("wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
            part.replace(target)
        except (OSError, EOFError, zlib.error) as error:
            part.unlink(missing_ok=True)
            raise DataError(f"cannot unpack {packed} to {target}: {error}") from error
    return target


def _h5py() -> ModuleType:
    try:
        return importlib.import_module("h5py")
    except ImportError as error:
        raise DataError("this data set comes as HDF5 and needs h5py: pip install 'liewise[hdf5]'") from error
