"""Our own sprites: dSprites' square, ellipse and heart with continuous factors, at any size.

Needs no download. The geometry is that of the official archive, anti-aliased by the distance to the outline.
"""

from collections.abc import Mapping

import numpy as np

from liewise.datasets.dataset import Dataset
from liewise.datasets.outlines import REACH, SHAPES, signed_distance
from liewise.datasets.split import Factor, Split
from liewise.datasets.sprite_factors import draw, resolve, to_factors
from liewise.errors import DataError

__all__ = ["balanced_labels", "load_sprites", "render"]

_CHUNK = 512  # images drawn at a time: bounds the memory
_FRAME = 64  # pixels: the archive's frame, in which outlines and scales are given


def load_sprites(
    *,
    n: int = 10_000,
    n_test: int = 2_000,
    size: int = 64,
    seed: int = 0,
    shapes: tuple[str, ...] = SHAPES,
    distributions: object = "paper",
    antialias: bool = True,
) -> Dataset:
    """Make sprites with known factors: `scale`, `orientation`, and `x`, `y` in pixels from the centre.

    Args:
        n: training images, spread evenly over the shapes
        n_test: test images
        size: height and width, pixels
        seed: the same seed gives the same images
        shapes: which of square, ellipse and heart; labels number all three
        distributions: "paper" (C.3.1), "uniform", or {shape: {factor: distribution}} on top of the paper's
        antialias: grey edges; without it pixels are 0 or 255, as in the archive

    >>> data = load_sprites(n=6, n_test=3, size=32)
    >>> data.train
    Split(6 images 32x32x1 uint8, labels 0..2, factors scale, orientation, x, y)
    """
    spec = resolve(distributions)
    splits = {}
    for stream, (name, count) in enumerate({"train": n, "test": n_test}.items()):
        rng = np.random.default_rng([seed, stream])
        labels = balanced_labels(rng, count, shapes)
        factors = to_factors(draw(rng, labels, spec), size)
        splits[name] = Split(render(labels, factors, size=size, antialias=antialias), labels, factors)
    return Dataset(
        name="sprites",
        splits=splits,
        class_names=SHAPES,
        licence="Apache-2.0 (made by liewise)",
        citation="after dSprites, Matthey et al. 2017",
        source=f"made by liewise, seed {seed}",
    )


def balanced_labels(rng: np.random.Generator, n: int, shapes: tuple[str, ...] = SHAPES) -> np.ndarray:
    """Return n labels in random order, as many of each shape as of any other."""
    unknown = [shape for shape in shapes if shape not in SHAPES]
    if unknown or not shapes:
        raise DataError(f"expected shapes out of {', '.join(SHAPES)}; got {', '.join(shapes) or 'none'}")
    if n < 1:
        raise DataError(f"expected at least one example; got n={n}")
    chosen = np.array([SHAPES.index(shape) for shape in shapes])
    return rng.permutation(chosen[np.arange(n) % len(chosen)])


def render(labels: np.ndarray, factors: Mapping[str, Factor], *, size: int = 64, antialias: bool = True) -> np.ndarray:
    """Draw one sprite a label with these factors: uint8 [n, size, size, 1], white on black."""
    if size < 8:
        raise DataError(f"expected a size of at least 8 pixels; got {size}")
    scale = factors["scale"].values
    if scale.min() <= 0 or scale.max() > _FRAME / REACH:
        raise DataError(
            f"expected scales above 0 and up to {_FRAME / REACH:.1f}; got {scale.min():g} to {scale.max():g}"
        )
    images = np.empty((len(labels), size, size, 1), np.uint8)
    values = np.stack([factors[name].values for name in ("scale", "orientation", "x", "y")], axis=1)
    # one shape at a time, and like sizes together, so that a chunk's window fits its sprites
    order = np.lexsort((scale, labels))
    for label in np.unique(labels):
        mine = order[labels[order] == label]
        for start in range(0, len(mine), _CHUNK):
            chunk = mine[start : start + _CHUNK]
            images[chunk, :, :, 0] = _draw_chunk(SHAPES[label], values[chunk], size, antialias)
    return images


def _draw_chunk(shape: str, values: np.ndarray, size: int, antialias: bool) -> np.ndarray:
    """Draw sprites into windows round their centres, and put the windows into frames."""
    unit = values[:, 0] * (size / _FRAME)  # pixels of the frame for one of the outline's
    angle = np.radians(values[:, 1])
    centre = (size - 1) / 2 + values[:, 2:]  # column, row
    margin = int(np.ceil(unit.max() * REACH)) + 1
    window = 2 * margin + 2
    # a sprite that lies far outside is drawn just outside: it must not be in the frame either way
    corner = np.clip(np.floor(centre).astype(int) - margin, -window, size)
    offsets = np.arange(window)
    dx = (corner[:, 0, None] + offsets - centre[:, 0, None]).astype(np.float32)[:, None, :]
    dy = (corner[:, 1, None] + offsets - centre[:, 1, None]).astype(np.float32)[:, :, None]
    cos, sin, per_pixel = (
        a.astype(np.float32)[:, None, None] for a in (np.cos(angle) / unit, np.sin(angle) / unit, unit)
    )
    distance = signed_distance(shape, cos * dx - sin * dy, sin * dx + cos * dy) * per_pixel
    if antialias:
        coverage = np.clip(0.5 - distance, 0, 1) * np.float32(255) + np.float32(0.5)
    else:
        coverage = (distance <= 0) * np.float32(255)
    frame = np.zeros((len(values), size + 2 * window, size + 2 * window), np.uint8)
    rows, columns = corner[:, 1, None] + window + offsets, corner[:, 0, None] + window + offsets
    frame[np.arange(len(values))[:, None, None], rows[:, :, None], columns[:, None, :]] = coverage
    return frame[:, window:-window, window:-window]
