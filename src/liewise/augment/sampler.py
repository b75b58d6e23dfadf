"""A fitted model that needs NumPy alone: poses, prototypes, natural versions, by programs written down from JAX."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from liewise.augment.borders import take, to_pixels, to_units
from liewise.augment.drawing import key_of, split
from liewise.augment.program import Program
from liewise.errors import DataError

__all__ = ["PROGRAMS", "Sampler", "in_chunks"]

PROGRAMS = ("look", "draw", "relate", "act", "read")
_WARPED = 16_384  # values of images that are transformed at a time: what the cache of a core holds
_LOOKED = 32  # examples that are looked at at a time


class Sampler:
    """What one asks of a fitted model, in NumPy; equal to the model to rounding.

    Its programs: `look`: images to poses, prototypes and features; `draw`: features and keys to η; `relate`: η and
    poses to the transformations that take images to other poses; `act`: those on images; `read`: those and poses to η.
    """

    def __init__(self, programs: dict[str, Program], image_shape: Sequence[int], names: Sequence[str]):
        self.programs, self.names = programs, tuple(names)
        height, width, channels = image_shape
        self.image_shape = (height, width, channels)

    def pose(self, images: Any) -> np.ndarray:
        """Return η for each image: what takes its prototype to it."""
        return self.look(take(images, self.image_shape).images)[0]

    def prototype(self, images: Any) -> Any:
        """Return each image with its transformation taken out, in the form it came in."""
        taken = take(images, self.image_shape)
        return taken.give_back(to_pixels(self.look(taken.images)[1], taken.images.dtype))

    def resample(self, images: Any, n: int = 1, *, seed: int = 0) -> np.ndarray:
        """Return n other, equally natural versions of each image: [images, n, height, width, channels]."""
        if n < 1:
            raise DataError(f"expected n >= 1 versions of each image; got {n}")
        given = take(images, self.image_shape).images
        eta, pose = self.draw(given, split(key_of(seed), shape=[len(given)]), n)
        flat = eta.reshape(-1, eta.shape[-1])
        relation = self.programs["relate"](flat, np.repeat(pose, n, 0), b=len(flat))
        made = self.act(relation, np.repeat(given, n, 0))
        return made.reshape(len(given), n, *self.image_shape)

    def look(self, images: np.ndarray) -> list[np.ndarray]:
        """Return the poses, prototypes in [-1, 1] and features of images [n, height, width, channels]."""
        look = self.programs["look"]
        return in_chunks(lambda x: look(to_units(x), b=len(x)), images, size=_LOOKED)

    def draw(self, images: np.ndarray, keys: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return n natural η for each image, by keys of their own, [images, n, dim]; and the images' poses."""
        pose, _, features = self.look(images)
        draw = self.programs["draw"]
        eta = in_chunks(lambda f, k: draw(f, k, b=len(k), n=n), features, keys, size=max(1, 4 * _LOOKED // n))[0]
        return eta, pose

    def act(self, relation: list[np.ndarray], images: np.ndarray, threads: int = 1) -> np.ndarray:
        """Transform images as they are, bytes or floats, each by a transformation of its own."""
        act = self.programs["act"]

        def run(images: np.ndarray, *relation: np.ndarray) -> list[np.ndarray]:
            return [to_pixels(act(*relation, to_units(images), b=len(images))[0], images.dtype)]

        size = max(1, _WARPED // max(1, int(np.prod(self.image_shape))))
        return in_chunks(run, images, *relation, size=size, threads=threads)[0]


def in_chunks(
    function: Callable[..., list[np.ndarray]], *arrays: np.ndarray, size: int, threads: int = 1
) -> list[np.ndarray]:
    """Apply a function to so many rows at a time, in so many threads, and put the results together."""
    starts = range(0, max(1, len(arrays[0])), size)

    def run(start: int) -> list[np.ndarray]:
        return function(*(array[start : start + size] for array in arrays))

    if len(starts) == 1:
        return run(0)
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:  # of this call alone: none is left behind for a fork to trip over
            parts = list(pool.map(run, starts))
    else:
        parts = [run(start) for start in starts]
    return [np.concatenate(rows) for rows in zip(*parts, strict=True)]
