"""Examples in memory: images, their labels if known, and the true factors behind them if known.

Everything that the rest of liewise learns from has this one shape, wherever it came from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from liewise.errors import DataError

__all__ = ["Factor", "Split"]

_CHUNK = 1 << 24  # values checked at a time, so that checking never doubles the memory


@dataclass(frozen=True, eq=False)
class Factor:
    """The true value of one factor for every example, in a user's units.

    Units are called as the coordinates of `transforms` call them: degrees ("deg") turn counter-clockwise as
    displayed, pixels ("px") grow to the right and downwards, a "factor" of 1 changes nothing.

    >>> Factor(np.array([350.0, 10.0]), unit="deg", period=360.0)
    Factor(2 values in deg, period 360)
    """

    values: np.ndarray  # [n] float64
    unit: str
    period: float | None = None  # in `unit`; None where the factor does not come round

    def __post_init__(self):
        """Check the values and keep them as float64."""
        values = np.asarray(self.values, dtype=np.float64)
        if values.ndim != 1:
            raise DataError(f"expected a factor's values as [n]; got {values.shape}")
        if not np.isfinite(values).all():
            count = int((~np.isfinite(values)).sum())
            raise DataError(f"expected finite factor values; got {count} NaN or infinite of {values.size}")
        if self.period is not None and not (np.isfinite(self.period) and self.period > 0):
            raise DataError(f"expected a factor's period to be positive or None; got {self.period}")
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        period = "" if self.period is None else f", period {self.period:g}"
        return f"Factor({len(self)} values in {self.unit}{period})"

    def take(self, indices: slice | np.ndarray) -> "Factor":
        """Return the factor of some of the examples."""
        return Factor(self.values[indices], self.unit, self.period)


@dataclass(frozen=True, eq=False)
class Split:
    """Images [n, height, width, channels], with labels [n] and true factors where they are known.

    Images are uint8, or float32 in [0, 1]; `pixels.to_unit` brings both to the models' [-1, 1].

    >>> split = Split(np.zeros((5, 4, 4, 1), np.uint8), labels=np.array([0, 1, 0, 1, 0]))
    >>> split
    Split(5 images 4x4x1 uint8, labels 0..1)
    >>> len(split[split.labels == 0])
    3
    >>> [len(part) for part in split.divide(2)]
    [3, 2]
    """

    images: np.ndarray  # uint8, or float32 in [0, 1]
    labels: np.ndarray | None = None  # int64, from 0
    factors: Mapping[str, Factor] = field(default_factory=dict)

    def __post_init__(self):
        """Check images, labels and factors against one another."""
        _check_images(self.images)
        if self.labels is not None:
            object.__setattr__(self, "labels", _checked_labels(self.labels, len(self.images)))
        for name, factor in self.factors.items():
            if len(factor) != len(self.images):
                raise DataError(
                    f"expected {len(self.images)} values of factor '{name}', one an image; got {len(factor)}"
                )
        object.__setattr__(self, "factors", MappingProxyType(dict(self.factors)))

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int | np.integer | slice | np.ndarray | list) -> "Split":
        """Return part of the split: a slice, indices, a mask, or one example (still as a split)."""
        if isinstance(index, int | np.integer):
            if not -len(self) <= index < len(self):
                raise IndexError(f"expected an index below {len(self)}; got {index}")
            index = slice(int(index), int(index) + 1 or None)
        return self.take(index)

    def __repr__(self) -> str:
        height, width, channels = self.image_shape
        text = f"{len(self)} images {height}x{width}x{channels} {self.images.dtype}"
        if self.labels is not None:
            text += f", labels {self.labels.min()}..{self.labels.max()}"
        if self.factors:
            text += ", factors " + ", ".join(self.factors)
        return f"Split({text})"

    def __reduce__(self):
        # a mapping proxy cannot be pickled, and worker processes need splits
        return Split, (self.images, self.labels, dict(self.factors))

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Height and width in pixels, and the number of channels."""
        return self.images.shape[1:]

    def take(self, indices: slice | np.ndarray | list) -> "Split":
        """Return the examples at these indices (repeats allowed), this slice, or where this mask is true."""
        picked = indices if isinstance(indices, slice) else _checked_indices(indices, len(self))
        return Split(
            self.images[picked],
            None if self.labels is None else self.labels[picked],
            {name: factor.take(picked) for name, factor in self.factors.items()},
        )

    def divide(self, last: int | float) -> tuple["Split", "Split"]:
        """Return the first examples and the last: `last` is their number, or a fraction below 1.

        Hold out the last 10,000 digits for validation, as the paper does, with `train.divide(10_000)`.
        """
        count = last if isinstance(last, int) else round(last * len(self)) if 0 < last < 1 else -1
        if not 0 < count < len(self):
            raise DataError(
                f"expected a number of last examples between 1 and {len(self) - 1}, or a fraction between"
                f" 0 and 1 that leaves both parts non-empty; got {last}"
            )
        return self[: len(self) - count], self[len(self) - count :]

    def shuffled(self, seed: int) -> "Split":
        """Return the same examples in a random order, the same for the same seed."""
        return self.take(np.random.default_rng(seed).permutation(len(self)))

    def constant(self) -> np.ndarray:
        """Return the indices of images whose pixels are all the same: nothing can be learned from these."""
        step = max(1, _CHUNK // max(1, self.images[0].size))
        flat = [
            (self.images[i : i + step] == self.images[i : i + step, :1, :1]).all(axis=(1, 2, 3))
            for i in range(0, len(self), step)
        ]
        return np.flatnonzero(np.concatenate(flat))


def _check_images(images: object) -> None:
    if not isinstance(images, np.ndarray):
        raise DataError(f"expected images as a NumPy array; got {type(images).__name__}")
    if images.ndim != 4:
        raise DataError(f"expected images [n, height, width, channels]; got {images.shape}")
    if 0 in images.shape:
        raise DataError(f"expected at least one image with at least one pixel; got {images.shape}")
    if images.dtype not in (np.uint8, np.float32):
        raise DataError(f"expected images as uint8, or float32 in [0, 1]; got {images.dtype}")
    if images.dtype == np.float32:
        _check_range(images)


def _check_range(images: np.ndarray) -> None:
    step = max(1, _CHUNK // images[0].size)
    for start in range(0, len(images), step):
        part = images[start : start + step]
        low, high = part.min(), part.max()
        if not (np.isfinite(low) and np.isfinite(high)):
            bad = np.flatnonzero(~np.isfinite(part).all(axis=(1, 2, 3))) + start
            raise DataError(f"expected finite pixels; got NaN or infinity, first in image {bad[0]}")
        if low < 0 or high > 1:
            raise DataError(f"expected float pixels in [0, 1]; got [{low:g}, {high:g}]")


def _checked_labels(labels: object, count: int) -> np.ndarray:
    array = np.asarray(labels)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"expected labels as integers [n]; got {array.dtype} {array.shape}")
    if len(array) != count:
        raise DataError(f"expected {count} labels, one an image; got {len(array)}")
    if array.min() < 0:
        raise DataError(f"expected labels from 0 up; got {array.min()}")
    return array.astype(np.int64)


def _checked_indices(indices: object, count: int) -> np.ndarray:
    array = np.asarray(indices)
    if array.dtype == bool:
        if array.shape != (count,):
            raise DataError(f"expected a mask of {count} values; got {array.shape}")
        array = np.flatnonzero(array)
    if array.ndim != 1 or len(array) == 0 or not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"expected at least one index, as integers [m]; got {array.dtype} {array.shape}")
    if array.min() < -count or array.max() >= count:
        raise DataError(f"expected indices below {count}; got {array.min()} to {array.max()}")
    return array
