"""The three kinds of coordinate that a density knows: on a line, on a circle, and with finitely many values.

Inside, a line is standardised, a circle is an angle in [-π, π), and a finite coordinate is the place among its steps.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from liewise.sgm.scalar import Numbers, Scalar, Values
from liewise.sgm.splines import circle_splines, line_splines
from liewise.transforms import Coordinate

__all__ = ["Circle", "Line", "Steps", "scalar"]

_FLOOR = 1e-3  # the smallest scale of a base, standardised or in radians
_UNIT = 0.5413  # softplus of it is 1
_TURNS = np.arange(-4, 5) * 2 * np.pi  # enough of them for the widest wrapped normal
_EDGE = 1e-6  # how close to its bounds, as a share of their distance, a bounded value is told apart


@dataclasses.dataclass(frozen=True)
class Line(Scalar):
    """A coordinate on a line, all of it or between bounds: a normal behind splines on [-3, 3]."""

    bounded: bool = False

    @property
    def base_size(self):
        """Mean and scale."""
        return 2

    @property
    def code_size(self):
        """The value."""
        return 1

    @property
    def bend(self):
        """Splines that bend [-3, 3]."""
        return line_splines(self.layers, self.bins) if self.layers else None

    def standard(self, eta):
        """Leave one in a thousand out at either end; of the rest, the mean, and a scale that 2.8 of hold them all."""
        values = np.asarray(eta, float)
        if self.bounded:
            share = np.clip((values - self.coordinate.low) / self._width, _EDGE, 1 - _EDGE)
            values = np.log(share) - np.log1p(-share)
        low, high = np.quantile(values, (0.001, 0.999))
        held = np.clip(values, low, high)
        centre = held.mean()
        least = 0.05 if self.bounded else 1e-3 * (self._width or 1.0)  # of a coordinate that never varies
        return float(centre), float(max(held.std(), max(high - centre, centre - low) / 2.8, least))

    def within(self, eta):
        """Clip to the bounds, if there are any."""
        return jnp.clip(eta, self.coordinate.low, self.coordinate.high) if self.bounded else eta

    @property
    def _width(self) -> float:
        return self.coordinate.high - self.coordinate.low

    def inward(self, eta, centre, scale):
        """Take the bounds off, if there are any, and standardise; beyond bounds the log of the slope is -inf."""
        if not self.bounded:
            return (eta - centre) / scale, jnp.full_like(eta, -1.0) * jnp.log(scale)
        share = (eta - self.coordinate.low) / self._width
        inside = (share >= -_EDGE) & (share <= 1 + _EDGE)
        share = jnp.clip(share, _EDGE, 1 - _EDGE)
        log_det = -jnp.log(share) - jnp.log1p(-share) - jnp.log(self._width * scale)
        return (jnp.log(share) - jnp.log1p(-share) - centre) / scale, jnp.where(inside, log_det, -jnp.inf)

    def outward(self, value, centre, scale):
        """Undo the standardisation and put the bounds back."""
        wide = value * scale + centre
        if not self.bounded:
            return wide
        low, high = self.coordinate.low, self.coordinate.high
        return jnp.clip(low + (high - low) * jax.nn.sigmoid(wide), low, high)

    def encode(self, value):
        """Clip, so that one wild example cannot lead the network astray."""
        return jnp.clip(value, -5.0, 5.0)[..., None]

    def base_log_prob(self, base, noise):
        """Return a normal's log-density."""
        scale = _scale(base)
        return -0.5 * ((noise - base[..., 0]) / scale) ** 2 - jnp.log(scale) - 0.5 * np.log(2 * np.pi)

    def base_sample(self, key, base):
        """Draw from the normal."""
        return base[..., 0] + _scale(base) * jax.random.normal(key, base.shape[:-1])


@dataclasses.dataclass(frozen=True)
class Circle(Scalar):
    """A coordinate on a circle: a wrapped normal, which can be uniform, behind periodic splines.

    The base is given by a vector: where it points to is the mean, and the longer it is the narrower; a short one is the
    uniform distribution, which nothing special happens at.
    """

    @property
    def base_size(self):
        """A vector."""
        return 2

    @property
    def code_size(self):
        """Cosine and sine."""
        return 2

    @property
    def bend(self):
        """Splines that bend the circle."""
        return circle_splines(self.layers, self.bins) if self.layers else None

    def inward(self, eta, centre, scale):
        """Turn η into an angle of the middle turn."""
        per_unit = 2 * np.pi / self._period
        angle = (eta - self._period * jnp.floor(eta / self._period + 0.5)) * per_unit
        return jnp.clip(angle, -np.pi, np.pi), jnp.full_like(eta, np.log(per_unit))

    def outward(self, value, centre, scale):
        """Turn an angle into η."""
        return _wrap(value) * (self._period / (2 * np.pi))

    def encode(self, value):
        """Give the point on the unit circle."""
        return jnp.stack([jnp.cos(value), jnp.sin(value)], -1)

    def base_log_prob(self, base, noise):
        """Return a wrapped normal's log-density, summed over turns."""
        mean, scale = _direction(base)
        gaps = _wrap(noise - mean)[..., None] + jnp.asarray(_TURNS, jnp.float32).reshape((1,) * noise.ndim + (-1,))
        exponents = -0.5 * (gaps / scale[..., None]) ** 2
        return jax.nn.logsumexp(exponents, axis=-1) - jnp.log(scale) - 0.5 * np.log(2 * np.pi)

    def base_sample(self, key, base):
        """Draw from the wrapped normal."""
        mean, scale = _direction(base)
        return _wrap(mean + scale * jax.random.normal(key, base.shape[:-1]))

    @property
    def _period(self) -> float:
        assert self.coordinate.period is not None
        return self.coordinate.period


@dataclasses.dataclass(frozen=True)
class Steps(Scalar):
    """A coordinate with finitely many values: a categorical distribution; η is read as the nearest of them."""

    @property
    def base_size(self):
        """One number a step."""
        return len(self._steps)

    @property
    def code_size(self):
        """One number a step."""
        return len(self._steps)

    def inward(self, eta, centre, scale):
        """Find the nearest step; probabilities have no slope."""
        gaps = jnp.abs(eta[..., None] - self._row(eta.ndim))
        return jnp.argmin(gaps, -1).astype(jnp.float32), jnp.zeros_like(eta)

    def outward(self, value, centre, scale):
        """Look the step up."""
        return jnp.asarray(self._steps, jnp.float32)[value.astype(jnp.int32)]

    def encode(self, value):
        """Give a one for the step and zeros for the others."""
        return jax.nn.one_hot(value.astype(jnp.int32), len(self._steps))

    def base_log_prob(self, base, noise):
        """Return the log of the step's probability."""
        return jnp.sum(jax.nn.log_softmax(base) * self.encode(noise), -1)

    def base_sample(self, key, base):
        """Draw a step."""
        return jax.random.categorical(key, base).astype(jnp.float32)

    def _row(self, ndim: int) -> Float[Array, "..."]:
        return jnp.asarray(self._steps, jnp.float32).reshape((1,) * ndim + (-1,))

    @property
    def _steps(self) -> tuple[float, ...]:
        assert self.coordinate.steps is not None
        return self.coordinate.steps


def scalar(coordinate: Coordinate, layers: int, bins: int, *, bounded: bool = False) -> Scalar:
    """The density that suits a coordinate."""
    if coordinate.steps is not None:
        return Steps(coordinate, layers, bins)
    if coordinate.period is not None:
        return Circle(coordinate, layers, bins)
    return Line(coordinate, layers, bins, bounded)


def _scale(base: Numbers) -> Values:
    return jax.nn.softplus(base[..., 1] + _UNIT) + _FLOOR


def _direction(base: Numbers) -> tuple[Values, Values]:
    """The mean and scale of a wrapped normal; a vector of zeros is all but uniform."""
    x, y = base[..., 0] + 0.05, base[..., 1]  # not quite nothing, which points nowhere
    square = x**2 + y**2
    nowhere = square < 1e-8
    mean = jnp.arctan2(jnp.where(nowhere, 0.0, y), jnp.where(nowhere, 1.0, x))
    length = jnp.clip(jnp.sqrt(jnp.where(nowhere, 1e-8, square)), None, 12.0)
    strength = length * jnp.exp(length)
    return mean, jnp.sqrt(jnp.log1p(strength**-2)) + _FLOOR


def _wrap(angle: Values) -> Values:
    return angle - 2 * np.pi * jnp.floor(angle / (2 * np.pi) + 0.5)
