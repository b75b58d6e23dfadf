"""Sets made from others by transformations that we choose, so that the truth is known.

Each example is transformed once, for good; the parameters become factors, in a user's units.
"""

from collections.abc import Mapping

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt8

from liewise import transforms
from liewise.datasets.distributions import Constant, Distribution, Uniform
from liewise.datasets.pixels import to_bytes, to_unit
from liewise.datasets.split import Factor, Split
from liewise.errors import DataError

__all__ = ["coloured", "rotated", "transformed"]

_BATCH = 512  # examples transformed at a time


def rotated(split: Split, degrees: float, *, seed: int) -> Split:
    """Turn every example once, by U(-degrees, degrees); the factor `rotation` says by how much.

    >>> base = Split(np.zeros((4, 8, 8, 1), np.uint8))
    >>> rotated(base, 15.0, seed=0)
    Split(4 images 8x8x1 uint8, factors rotation)
    """
    if not 0 <= degrees <= 180:
        raise DataError(f"expected degrees from 0 to 180; got {degrees}")
    angle = Uniform(-degrees, degrees) if degrees else Constant(0.0)
    return transformed(split, transforms.affine("rotation"), {"rotation": angle}, seed=seed)


def coloured(
    split: Split,
    *,
    hue: tuple[float, float] = (0.0, 108.0),
    saturation: tuple[float, float] = (0.6, 0.9),
    seed: int,
) -> Split:
    """Give every example a colour, as section 4 of the paper does with MNIST.

    Args:
        split: grey images, which become red ones first; images that have colour keep it
        hue: range of the turn in degrees, from red towards green; the paper's 0 to 0.6 pi
        saturation: range of the factor
        seed: the same seed gives the same colours

    >>> coloured(Split(np.full((4, 8, 8, 1), 200, np.uint8)), seed=0)
    Split(4 images 8x8x3 uint8, factors hue, saturation)
    """
    images = split.images
    if images.shape[-1] == 1:
        images = np.concatenate([images, np.zeros_like(images), np.zeros_like(images)], axis=-1)
    group = transforms.colour("hue", "saturation")
    distributions: dict[str, Distribution] = {"hue": Uniform(*hue), "saturation": Uniform(*saturation)}
    return transformed(Split(images, split.labels, split.factors), group, distributions, seed=seed)


def transformed(
    split: Split,
    group: transforms.Group,
    distributions: Mapping[str, Distribution] | Mapping[int, Mapping[str, Distribution]],
    *,
    seed: int,
) -> Split:
    """Transform every example once, by parameters drawn from the given distributions, which become factors.

    Factors that the split had before stay, and describe the examples as they were before.

    Args:
        split: the examples
        group: what may happen to them
        distributions: for coordinates by name, in degrees, pixels and factors; or such a mapping for each label.
            Coordinates and labels that are not named are left alone
        seed: the same seed draws the same parameters

    >>> base = Split(np.zeros((4, 8, 8, 1), np.uint8), np.array([0, 0, 1, 1]))
    >>> made = transformed(base, transforms.affine("shift"), {1: {"shift-x": Constant(3.0)}}, seed=0)
    >>> made.factors["shift-x"].values.round(3).tolist()
    [0.0, 0.0, 3.0, 3.0]
    """
    group.check(split.image_shape)
    taken = [name for name in group.names if name in split.factors]
    if taken:
        raise DataError(
            f"the examples have a factor '{taken[0]}' already: transform the ones they were made from, with one"
            " group for everything"
        )
    factors = _drawn(split, group, distributions, np.random.default_rng(seed))
    size = split.image_shape[:2]
    columns = [np.asarray(c.from_user(factors[c.name].values, size), np.float32) for c in group.coordinates]
    images = _acted(group, np.stack(columns, axis=1), split.images)
    return Split(images, split.labels, {**split.factors, **factors})


def _drawn(
    split: Split, group: transforms.Group, distributions: Mapping, rng: np.random.Generator
) -> dict[str, Factor]:
    """Draw every coordinate's values, in the user's units; where nothing is given, what changes nothing."""
    size = split.image_shape[:2]
    values = {c.name: np.full(len(split), float(c.to_user(0.0, size))) for c in group.coordinates}
    for rows, given in _by_rows(split, distributions):
        for name, distribution in given.items():
            group.index(name)  # refuses unknown names, with those that there are
            values[name][rows] = distribution.sample(rng, len(rows))
    factors = {}
    for c in group.coordinates:
        _check(c, values[c.name])
        period = None if c.period is None else float(c.to_user(c.period, size))
        factors[c.name] = Factor(values[c.name], c.unit, period)
    return factors


def _by_rows(split: Split, distributions: Mapping) -> list[tuple[np.ndarray, Mapping[str, Distribution]]]:
    """Return which rows follow which distributions."""
    keys = list(distributions)
    if keys and all(isinstance(key, str) for key in keys):
        return [(np.arange(len(split)), distributions)]
    if not keys or not all(isinstance(key, int | np.integer) for key in keys):
        raise DataError(f"expected distributions by coordinate, or by label and coordinate; got keys {keys}")
    if split.labels is None:
        raise DataError("expected labels, since the distributions are given by label; the split has none")
    absent = [int(key) for key in keys if key not in split.labels]
    if absent:
        raise DataError(f"expected labels of the split, {np.unique(split.labels).tolist()}; got {absent[0]}")
    return [(np.flatnonzero(split.labels == key), given) for key, given in distributions.items()]


def _check(coordinate: transforms.Coordinate, values: np.ndarray) -> None:
    if coordinate.unit == "factor" and values.min() <= 0:
        raise DataError(f"expected factors above 0 for {coordinate.name}; got {values.min():g}")
    if coordinate.steps is not None and not np.isin(values, coordinate.steps).all():
        raise DataError(f"expected {coordinate.name} to be one of {coordinate.steps}; got {values.tolist()[:5]}")


def _acted(group: transforms.Group, eta: np.ndarray, images: np.ndarray) -> np.ndarray:
    made = np.empty(images.shape, np.uint8)
    for start in range(0, len(images), _BATCH):
        # the last batch is filled up, so that one compilation serves all
        rows = np.minimum(np.arange(start, start + _BATCH), len(images) - 1)
        count = min(_BATCH, len(images) - start)
        made[start : start + count] = _act(group, jnp.asarray(eta[rows]), jnp.asarray(images[rows]))[:count]
    return made


@eqx.filter_jit
def _act(
    group: transforms.Group,
    eta: Float[Array, "batch dim"],
    images: UInt8[Array, "batch height width channels"] | Float[Array, "batch height width channels"],
) -> UInt8[Array, "batch height width channels"]:
    return to_bytes(group.act(group.element(eta), to_unit(images)))
