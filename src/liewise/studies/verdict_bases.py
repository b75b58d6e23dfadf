"""Images for cases whose truth is known: all in one pose as far as that can be said, with nothing cut by the frame.

Sprites are drawn in one pose. Digits are slanted until their second moments are upright, and clothes are made smaller;
both are put with their centre of mass in the middle. What is left of their own variation belongs to no case's truth.
"""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

from liewise import transforms
from liewise.datasets import SHAPES, Constant, Split, load, to_bytes, to_unit
from liewise.errors import LiewiseError

__all__ = ["BASES", "base_images"]

_SIDE = 28  # pixels
_SMALLER = 0.7  # what clothes are scaled by
_TURNING_DIGITS = (2, 3, 4, 5, 6, 7, 9)  # 0, 1 and 8 look much the same after half a turn
_MOST = 8192  # images at a time
_PLAIN = ("heart", "ellipse", "square", "shapes", "mnist", "fashion")
BASES = (*_PLAIN, *(f"red {name}" for name in ("shapes", "mnist", "fashion")))


def base_images(name: str, count: int, *, data_dir: Path | None, seed: int) -> tuple[Split, tuple[str, ...]]:
    """Return so many images of a base in random order, and the names of its classes."""
    if name not in BASES:
        raise LiewiseError(f"no base {name!r}; there are {', '.join(BASES)}")
    plain = name.removeprefix("red ")
    if plain == "mnist":
        split, classes = _digits(count, data_dir, seed)
    elif plain == "fashion":
        split, classes = _clothes(count, data_dir, seed)
    else:
        split, classes = _sprites(plain, count, seed)
    if name != plain:
        black = np.zeros_like(split.images)
        split = Split(np.concatenate([split.images, black, black], -1), split.labels)
    return split, classes


def _sprites(name: str, count: int, seed: int) -> tuple[Split, tuple[str, ...]]:
    shapes = SHAPES if name == "shapes" else (name,)
    pose = {"scale": Constant(1.0), "orientation": Constant(0.0), "x": Constant(0.5), "y": Constant(0.5)}
    fixed = dict.fromkeys(SHAPES, pose)
    made = load("sprites", n=count, n_test=1, size=_SIDE, seed=seed, shapes=shapes, distributions=fixed).train
    return Split(made.images, made.labels), SHAPES


def _digits(count: int, data_dir: Path | None, seed: int) -> tuple[Split, tuple[str, ...]]:
    data = load("mnist", data_dir=data_dir)
    turning = np.isin(np.asarray(data.train.labels), _TURNING_DIGITS)
    split = data.train.take(turning).shuffled(seed)[:count]
    images = np.asarray(split.images[..., 0], np.float64)
    across, down = np.meshgrid(np.arange(_SIDE), np.arange(_SIDE))
    total = images.sum((1, 2))
    x, y = ((images * axis).sum((1, 2)) / total for axis in (across, down))
    away_x, away_y = across[None] - x[:, None, None], down[None] - y[:, None, None]
    slant = (images * away_x * away_y).sum((1, 2)) / (images * away_y**2).sum((1, 2))
    group = transforms.affine("shift", "shear")
    half = (_SIDE - 1) / 2
    # the slant is taken out about the middle, which moves the centre of mass along
    centre_y = y - half
    eta = np.stack([-(x - half - slant * centre_y) / half, -centre_y / half, slant], 1)
    return Split(_acted(group, eta, split.images), split.labels), data.class_names


def _clothes(count: int, data_dir: Path | None, seed: int) -> tuple[Split, tuple[str, ...]]:
    data = load("fashion-mnist", data_dir=data_dir)
    split = data.train.shuffled(seed)[:count]
    mass = np.asarray(split.images[..., 0], np.float64)
    places = np.linspace(-1, 1, _SIDE)
    total = mass.sum((1, 2))
    centre = np.stack([mass.sum(1) @ places / total, mass.sum(2) @ places / total], 1)
    eta = np.concatenate([-_SMALLER * centre, np.full((len(split), 1), np.log(_SMALLER))], 1)
    return Split(_acted(transforms.affine("shift", "scale"), eta, split.images), split.labels), data.class_names


def _acted(group: transforms.Group, eta: np.ndarray, images: np.ndarray) -> np.ndarray:
    if len(images) > _MOST:
        raise LiewiseError(f"expected {_MOST} images at most; got {len(images)}")
    moved = group.act(group.element(jnp.asarray(eta, jnp.float32)), to_unit(images))
    return np.asarray(to_bytes(moved))
