"""The axis of a coordinate: values relative to what is most natural for each example, with pictures along it."""

import math
from dataclasses import dataclass

import numpy as np

from liewise.transforms import Coordinate, describe_value

__all__ = ["FRAMES", "MINUS", "POINTS", "TILES", "Axis"]

MINUS = "−"  # as it is printed
TILES = 9  # pictures along an axis
FRAMES = 4 * TILES + 1  # of a slider: the pictures' places, and three steps between them
POINTS = 4 * (FRAMES - 1) + 1  # at which densities are drawn
_NICE = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True)
class Axis:
    """Where a coordinate's values lie, from -reach to reach in η; a finite coordinate has its steps instead."""

    coordinate: Coordinate
    size: tuple[int, int]  # pixels: height, width
    reach: float

    @classmethod
    def around(cls, coordinate: Coordinate, size: tuple[int, int], away: np.ndarray) -> "Axis":
        """Return the axis that shows the whole random box, and nearly all of what is natural; once round a circle."""
        if coordinate.period is not None:
            return cls(coordinate, size, coordinate.period / 2)
        wanted = max((coordinate.high - coordinate.low) / 2, float(np.quantile(np.abs(away), 0.998)), 1e-3)
        scale = math.log(1.01) if coordinate.unit == "factor" else float(coordinate.from_user(1.0, size))
        return cls(coordinate, size, _nice(2 * wanted / TILES / scale) * scale * TILES / 2)

    @property
    def finite(self) -> bool:
        """Whether there are only so many values."""
        return self.coordinate.steps is not None

    @property
    def frames(self) -> np.ndarray:
        """The values that a slider goes through, in η."""
        if self.coordinate.steps is not None:
            return np.array(self.coordinate.steps)
        return np.linspace(-self.reach, self.reach, FRAMES)

    @property
    def tiles(self) -> np.ndarray:
        """The frames that are shown along the axis: places among `frames`."""
        return np.arange(len(self.frames)) if self.finite else np.arange(2, FRAMES, 4)

    def nearest(self, value: float) -> int:
        """Return the frame that is nearest to a value: a place among `frames`."""
        return int(np.abs(self.frames - value).argmin())

    @property
    def points(self) -> np.ndarray:
        """The values at which densities are drawn, in η."""
        return self.frames if self.finite else np.linspace(-self.reach, self.reach, POINTS)

    def place(self, value: float) -> float:
        """Return where a value lies on the axis, in per cent; the ends are as far as it goes."""
        if self.finite:
            steps = list(self.frames)
            return 100 * (steps.index(value) + 0.5) / len(steps)
        return 100 * min(1.0, max(0.0, (value / self.reach + 1) / 2))

    def from_user(self, value: float) -> float:
        """Return η of a value in the user's unit."""
        return float(self.coordinate.from_user(value, self.size))

    def words(self, value: float) -> str:
        """Return a value of η as people read it."""
        return describe_value(float(self.coordinate.to_user(value, self.size)), self.coordinate.unit).replace(
            "-", MINUS
        )


def _nice(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(nice * power for nice in _NICE if nice * power >= step * (1 - 1e-9))
