"""The idx format of MNIST, and the data sets that come in it: MNIST and Fashion-MNIST."""

import gzip
import zlib
from pathlib import Path

import numpy as np

from liewise.datasets.dataset import Dataset
from liewise.datasets.registry import Entry
from liewise.datasets.split import Split
from liewise.datasets.store import ensure
from liewise.errors import DataError

__all__ = ["idx_split", "load_idx", "read_idx"]

_HEADER_BYTES = 4


def load_idx(entry: Entry, *, data_dir: str | Path | None, progress: bool) -> Dataset:
    """Load MNIST or Fashion-MNIST."""
    paths = [ensure(entry, file, data_dir=data_dir, progress=progress) for file in entry.files]
    return entry.dataset({"train": idx_split(paths[0], paths[1]), "test": idx_split(paths[2], paths[3])})


def idx_split(images: Path, labels: Path) -> Split:
    """Return the split whose images and labels lie in these two files; grey images get their channel axis."""
    array = read_idx(images)
    return Split(array[..., None] if array.ndim == 3 else array, read_idx(labels).astype(np.int64))


def read_idx(path: Path) -> np.ndarray:
    """Return the bytes of an idx file, packed or not, in the shape that its header says."""
    try:
        with gzip.open(path, "rb") if path.name.endswith(".gz") else path.open("rb") as stream:
            data = stream.read()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path} is torn or not a .gz file: {error}") from error
    if len(data) < _HEADER_BYTES or data[:3] != b"\x00\x00\x08":
        raise DataError(f"expected an idx file of bytes (00 00 08 ..); {path} starts with {data[:4].hex(' ')}")
    rank = data[3]
    start = _HEADER_BYTES * (1 + rank)
    shape = tuple(np.frombuffer(data, ">u4", rank, _HEADER_BYTES).tolist()) if len(data) >= start else ()
    if not shape or len(data) - start != np.prod(shape, dtype=np.int64):
        raise DataError(f"{path} is torn: its header promises {shape} bytes, it holds {max(0, len(data) - start)}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape).copy()  # writable
