"""What a density of one coordinate is: a base whose numbers a network predicts, behind splines that it predicts too."""

import dataclasses
from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from liewise.sgm.splines import Bend, evaluate, invert
from liewise.transforms import Coordinate

__all__ = ["Numbers", "Scalar", "Values"]

Values = Float[Array, "*rows"]
Numbers = Float[Array, "*rows numbers"]
Bends = Float[Array, "*rows bends"]


@dataclasses.dataclass(frozen=True)
class Scalar(ABC):
    """A density of one coordinate: a base, whose numbers come first, behind `layers` splines."""

    coordinate: Coordinate
    layers: int
    bins: int

    @property
    @abstractmethod
    def base_size(self) -> int:
        """How many numbers the base needs."""

    @property
    @abstractmethod
    def code_size(self) -> int:
        """How many numbers tell a network the value."""

    @abstractmethod
    def inward(self, eta: Values, centre: Float[Array, ""], scale: Float[Array, ""]) -> tuple[Values, Values]:
        """Bring η to its form inside; the log of the slope."""

    @abstractmethod
    def outward(self, value: Values, centre: Float[Array, ""], scale: Float[Array, ""]) -> Values:
        """Bring a value from inside back to η."""

    @abstractmethod
    def encode(self, value: Values) -> Numbers:
        """Write a value inside as a network takes it."""

    @abstractmethod
    def base_log_prob(self, base: Numbers, noise: Values) -> Values:
        """Return the log-density of the base."""

    @abstractmethod
    def base_sample(self, key: PRNGKeyArray, base: Numbers) -> Values:
        """Draw from the base."""

    def standard(self, eta: Float[np.ndarray, " n"]) -> tuple[float, float]:
        """Take from data the centre and the scale that `inward` needs."""
        return 0.0, 1.0

    def within(self, eta: Values) -> Values:
        """Bring η to the nearest value that is possible at all."""
        return eta

    @property
    def bend(self) -> Bend | None:
        """The splines between a value and the noise of the base; None: there are none."""
        return None

    @property
    def spline_size(self) -> int:
        """How many numbers the splines need."""
        return 0 if self.bend is None else self.bend.size

    def log_prob(self, base: Numbers, splines: Bends, value: Values) -> Values:
        """Return the log-density of a value inside."""
        if self.bend is None:
            return self.base_log_prob(base, value)
        noise, log_det = evaluate(self.bend, splines, value)
        return self.base_log_prob(base, noise) + log_det

    def sample(self, key: PRNGKeyArray, base: Numbers, splines: Bends) -> Values:
        """Draw a value inside."""
        noise = self.base_sample(key, base)
        return noise if self.bend is None else invert(self.bend, splines, noise)
