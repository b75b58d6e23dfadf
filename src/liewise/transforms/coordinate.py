"""One named parameter of a group: its unit, its sign, its random box, and whether it goes round in a circle."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from liewise.errors import TransformError
from liewise.transforms.warp import half_extent

__all__ = ["Coordinate"]

Values = Float[Array, "..."] | Float[np.ndarray, "..."] | np.floating | float | int


@dataclass(frozen=True)
class Coordinate:
    """A coordinate of η, and how people read it.

    Inside, a coordinate is what adds up: shifts in half extents of the frame, rotations in radians, hue in turns,
    logarithms of factors. `to_user` gives pixels ("px"), degrees ("deg", of a coordinate with a period) and factors
    ("factor"); numbers in any other unit are read as they are.

    >>> turn = Coordinate("rotation", "deg", "counter-clockwise", -np.pi, np.pi, period=2 * np.pi)
    >>> round(float(turn.to_user(np.pi / 2)), 3)
    90.0
    """

    name: str
    unit: str  # of the user's values
    positive: str  # what a positive value does to the displayed example
    low: float  # the random box, in η
    high: float
    period: float | None = None  # in η; None for a line
    steps: tuple[float, ...] | None = None  # the only values of a finite coordinate

    def __post_init__(self):
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low <= self.high):
            raise TransformError(f"the box of {self.name!r} needs finite low <= high; got {self.low}, {self.high}")
        if self.period is not None and self.period <= 0:
            raise TransformError(f"the period of {self.name!r} is positive or None; got {self.period}")
        if self.period is not None and self.high - self.low > self.period * (1 + 1e-6):
            raise TransformError(
                f"the box of {self.name!r}, {self.low:g} to {self.high:g}, goes more than once round its period of"
                f" {self.period:g}; boxes are in η, where a rotation is in radians and a hue in turns"
            )

    @property
    def line(self) -> bool:
        """Whether it lies on a line: neither round a circle nor by steps."""
        return self.period is None and self.steps is None

    def to_user(self, eta: Values, size: tuple[int, int] | None = None) -> Values:
        """Express values of η in the user's unit; pixels need the size (height, width) of the images."""
        if self.unit == "factor":
            return jnp.exp(eta) if isinstance(eta, jax.Array) else np.exp(eta)
        return eta * self._per_unit(size)

    def from_user(self, values: Values, size: tuple[int, int] | None = None) -> Values:
        """Express the user's values in η."""
        if self.unit == "factor":
            return jnp.log(values) if isinstance(values, jax.Array) else np.log(values)
        return values / self._per_unit(size)

    def wrap(self, difference: Values) -> Values:
        """Bring a difference of two values to the shortest way round the circle."""
        if self.period is None:
            return difference
        return difference - self.period * jnp.round(difference / self.period)

    def sample(self, key: jax.Array, shape: tuple[int, ...]) -> Float[Array, "..."]:
        """Draw uniformly from the random box."""
        if self.steps is not None:
            return jax.random.choice(key, jnp.asarray(self.steps, jnp.float32), shape)
        return jax.random.uniform(key, shape, minval=self.low, maxval=self.high)

    def _per_unit(self, size: tuple[int, int] | None) -> float:
        if self.unit == "px":
            if size is None:
                raise TransformError(f"{self.name!r} is in pixels: give the images' size (height, width)")
            return half_extent(size)
        if self.unit == "deg":
            if self.period is None:
                raise TransformError(f"{self.name!r} is in degrees, so it needs a period (what a full turn is in η)")
            return 360 / self.period
        return 1.0
