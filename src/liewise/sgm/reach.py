"""The scale of each coordinate for the inference: how far one correction goes, at most."""

import numpy as np
from jaxtyping import Float

from liewise.transforms import Coordinate, Group

__all__ = ["reaches"]

_LEAST = 0.25  # in η, along a coordinate whose box is narrower than that


def reaches(group: Group) -> Float[np.ndarray, " dim"]:
    """Return the reach along each coordinate, in η: half the random box, or an eighth of a circle."""
    return np.array([_reach(c) for c in group.coordinates], np.float32)


def _reach(coordinate: Coordinate) -> float:
    if coordinate.steps is not None:
        return 0.0  # a network that is smooth cannot choose between steps
    if coordinate.period is not None:
        return coordinate.period / 8
    return max((coordinate.high - coordinate.low) / 2, _LEAST)
