"""Examples that are known beforehand: recognised by their pixels, with transformations drawn for each in store."""

import hashlib
from collections.abc import Sequence

import numpy as np

from liewise.augment.borders import to_pixels, to_units

__all__ = ["Pool", "fingerprints"]


class Pool:
    """For each of some images its pose, and transformations that take it to other natural poses."""

    def __init__(self, images: np.ndarray, pose: np.ndarray, relations: Sequence[np.ndarray]):
        """Make one.

        Args:
            images: [n, height, width, channels], bytes or floats in [0, 1].
            pose: [n, dim].
            relations: the leaves of the transformations, [n, draws, ...].
        """
        prints = fingerprints(images)
        self.order = np.argsort(prints, kind="stable")
        self.prints = prints[self.order]
        self.pose = pose
        self.draws = relations[0].shape[1]
        self.shapes = [leaf.shape[2:] for leaf in relations]
        flat = np.concatenate([leaf.reshape(*leaf.shape[:2], -1) for leaf in relations], -1)
        self.template = flat[0, 0].copy()  # many entries are the same everywhere, such as the last row of a matrix
        self.varying = np.flatnonzero((flat != self.template).any((0, 1)))
        self.stored = np.ascontiguousarray(flat[..., self.varying])

    def __len__(self) -> int:
        return len(self.prints)

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return sum(array.nbytes for array in (self.order, self.prints, self.pose, self.stored))

    def find(self, prints: np.ndarray) -> np.ndarray:
        """Return which of the pool's images have these fingerprints; -1: none."""
        place = np.searchsorted(self.prints, prints).clip(0, len(self.prints) - 1)
        return np.where(self.prints[place] == prints, self.order[place], -1)

    def relation(self, rows: np.ndarray, draws: np.ndarray) -> list[np.ndarray]:
        """Return the leaves of one stored transformation for each row."""
        flat = np.broadcast_to(self.template, (len(rows), len(self.template))).copy()
        flat[:, self.varying] = self.stored[rows, draws]
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])[:-1]
        parts = np.split(flat, ends, axis=1)
        return [part.reshape(-1, *shape) for part, shape in zip(parts, self.shapes, strict=True)]


def fingerprints(images: np.ndarray) -> np.ndarray:
    """Return 64 bits that tell images apart, as bytes or to the nearest byte where they are floats."""
    if images.dtype != np.uint8:
        images = to_pixels(to_units(images), np.uint8)
    prints = (hashlib.blake2b(image, digest_size=8).digest() for image in np.ascontiguousarray(images))
    return np.frombuffer(b"".join(prints), np.uint64)
