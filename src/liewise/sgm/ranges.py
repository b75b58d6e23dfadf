"""How far a data set's transformations go: one interval a coordinate, over all examples."""

from dataclasses import dataclass

import jax
import numpy as np

from liewise.sgm.densities import Densities
from liewise.transforms import Coordinate

__all__ = ["Range", "natural_ranges"]

_DRAWS = 128  # of each example
_LEVELS = (0.025, 0.975)


@dataclass(frozen=True)
class Range:
    """The central 95 % of a coordinate, in its user's unit and relative to the middle of each example's own density.

    Of a coordinate with finitely many values: from 0 to the share of natural versions that differ from the example's
    most natural one.
    """

    coordinate: Coordinate
    low: float
    high: float
    box: tuple[float, float]  # what was looked at, in the same unit


def natural_ranges(densities: Densities, *, seed: int = 0) -> tuple[Range, ...]:
    """Return how far natural transformations go, pooled over examples.

    Where a prototype stands is nobody's choice, so each example's draws are taken relative to their own middle: the
    median, or on a circle the mean direction.
    """
    drawn = np.asarray(densities.sample(jax.random.key(seed), _DRAWS))
    return tuple(_range(c, drawn[..., place], densities.size) for place, c in enumerate(densities.coordinates))


def _range(coordinate: Coordinate, drawn: np.ndarray, size: tuple[int, int]) -> Range:
    box = tuple(float(coordinate.to_user(end, size)) for end in (coordinate.low, coordinate.high))
    if coordinate.steps is not None:
        shares = np.stack([(drawn == step).mean(1) for step in coordinate.steps], 1)
        return Range(coordinate, 0.0, float(1 - shares.max(1).mean()), (box[0], box[1]))
    if coordinate.period is None:
        away = drawn - np.median(drawn, axis=1, keepdims=True)
    else:
        turns = 2 * np.pi / coordinate.period
        middle = np.angle(np.exp(1j * turns * drawn).mean(1, keepdims=True)) / turns
        away = np.asarray(coordinate.wrap(drawn - middle))
    low, high = (float(coordinate.to_user(end, size)) for end in np.quantile(away, _LEVELS))
    return Range(coordinate, low, high, (box[0], box[1]))
