"""The official dSprites archive, drawn from as asked; 3 GB of pixels that are never all in memory.

Rows are found by their factors: the archive orders shape, scale, orientation, x, y, the last fastest.
"""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from liewise.datasets.dataset import Dataset
from liewise.datasets.outlines import SHAPES
from liewise.datasets.registry import Entry
from liewise.datasets.split import Split
from liewise.datasets.sprite_factors import draw, resolve, to_factors
from liewise.datasets.sprites import balanced_labels
from liewise.datasets.store import ensure
from liewise.errors import DataError

__all__ = ["load_dsprites", "read_rows", "row_factors"]

_GRID = (3, 6, 40, 32, 32)  # shapes, scales, orientations, x, y
_ORIENTATIONS = _GRID[2] - 1  # distinct ones: the last is a whole turn, the first again
_SIZE = 64  # pixels
_SLICE_BYTES = 1 << 24  # inflated at a time


def load_dsprites(
    entry: Entry,
    *,
    data_dir: str | Path | None,
    progress: bool,
    n: int = 10_000,
    n_test: int = 2_000,
    seed: int = 0,
    shapes: tuple[str, ...] = SHAPES,
    distributions: object = "paper",
) -> Dataset:
    """Draw rows of the archive, with replacement, and their true factors.

    Args:
        entry: dSprites' entry in the registry
        data_dir: where to look first
        progress: whether fetching shows its progress
        n: training images, spread evenly over the shapes
        n_test: test images; the archive is a grid, so that some may be in both
        seed: the same seed draws the same rows
        shapes: which of square, ellipse and heart; labels number all three
        distributions: "paper" (C.3.1), {shape: {factor: distribution}} on top of the paper's, or "uniform"
            over the archive's rows; what is drawn is taken to the nearest value that the archive has
    """
    path = ensure(entry, entry.files[0], data_dir=data_dir, progress=progress)
    rows = []
    for stream, count in enumerate((n, n_test)):
        rng = np.random.default_rng([seed, stream])
        rows.append(_draw_rows(rng, balanced_labels(rng, count, shapes), distributions))
    # both splits in one pass: inflating the archive is what takes the time
    images = read_rows(path, np.concatenate(rows), (int(np.prod(_GRID)), _SIZE, _SIZE))
    images *= 255  # the archive's pixels are 0 and 1
    splits = {}
    for name, drawn, part in zip(("train", "test"), rows, np.split(images[..., None], [n]), strict=True):
        labels, factors = row_factors(drawn)
        splits[name] = Split(part, labels, to_factors(factors, _SIZE))
    repeats = [len(drawn) - len(np.unique(drawn)) for drawn in rows]
    return entry.dataset(
        splits,
        source=f"{entry.homepage}, drawn with seed {seed}",
        notes=(f"drawn with replacement: {repeats[0]:,} repeated rows in train, {repeats[1]:,} in test",),
    )


def row_factors(rows: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the label and the factors of these rows, as the archive gives them but for degrees."""
    shape, scale, orientation, x, y = np.unravel_index(rows, _GRID)
    return shape, {
        "scale": 0.5 + 0.1 * scale,
        "orientation": orientation * (360.0 / _ORIENTATIONS),
        "x": x / (_GRID[3] - 1),
        "y": y / (_GRID[4] - 1),
    }


def _draw_rows(rng: np.random.Generator, labels: np.ndarray, distributions: object) -> np.ndarray:
    if distributions == "uniform":
        return labels * int(np.prod(_GRID[1:])) + rng.integers(0, int(np.prod(_GRID[1:])), len(labels))
    drawn = draw(rng, labels, resolve(distributions))
    step = 360.0 / _ORIENTATIONS
    index = (
        labels,
        np.rint((drawn["scale"] - 0.5) * 10),
        np.mod(np.rint(drawn["orientation"] / step), _ORIENTATIONS),
        np.rint(drawn["x"] * (_GRID[3] - 1)),
        np.rint(drawn["y"] * (_GRID[4] - 1)),
    )
    for name, values, count in zip(("scale", "orientation", "x", "y"), index[1:], _GRID[1:], strict=True):
        if values.min() < 0 or values.max() >= count:
            raise DataError(f"expected {name} within the archive's range; got {_outside(drawn[name])}")
    return np.ravel_multi_index(tuple(values.astype(np.int64) for values in index), _GRID)


def _outside(values: np.ndarray) -> str:
    return f"{values.min():g} to {values.max():g} (the archive has scales 0.5 to 1, positions 0 to 1)"


def read_rows(path: Path, rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return these rows, in this order, of the array `imgs` in an .npz, inflating it slice by slice.

    Reads no further than the last row asked for. The archive's `metadata` is a pickle, and is never opened.
    """
    wanted, inverse = np.unique(rows, return_inverse=True)
    picked = np.empty((len(wanted), *shape[1:]), np.uint8)
    try:
        with zipfile.ZipFile(path) as archive, archive.open("imgs.npy") as stream:
            _check_header(path, stream, shape)
            _pick(stream, wanted, picked)
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, zlib.error) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is torn or not the dSprites archive: {error}") from error
    return picked[inverse]


def _check_header(path: Path, stream: Any, shape: tuple[int, ...]) -> None:
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise DataError(f"expected 'imgs' of {path} in version 1.0 of .npy; got {version}")
    found, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if found != shape or fortran or dtype != np.uint8:
        raise DataError(f"expected 'imgs' as uint8 {shape} in {path}; got {dtype} {found}")


def _pick(stream: Any, wanted: np.ndarray, picked: np.ndarray) -> None:
    row_bytes = int(np.prod(picked.shape[1:]))
    step = max(1, _SLICE_BYTES // row_bytes)
    start = 0
    for first in range(0, int(wanted[-1]) + 1, step):
        stop = int(np.searchsorted(wanted, first + step))
        count = min(step, int(wanted[-1]) + 1 - first)
        data = stream.read(count * row_bytes)
        if len(data) < count * row_bytes:
            raise EOFError(f"'imgs' ends after row {first + len(data) // row_bytes}")
        block = np.frombuffer(data, np.uint8).reshape(count, *picked.shape[1:])
        picked[start:stop] = block[wanted[start:stop] - first]
        start = stop
