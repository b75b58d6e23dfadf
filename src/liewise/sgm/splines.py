"""Bijections of one variable: rational-quadratic splines on a line, and on a circle, where no place is special.

All are FlowJAX bijections, to be run from the data to the noise; both ways are in closed form.
Splines: https://arxiv.org/abs/1906.04032; on circles: https://arxiv.org/abs/2002.02428.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from flowjax.bijections import AbstractBijection, Chain, RationalQuadraticSpline
from flowjax.utils import get_ravelled_pytree_constructor
from jaxtyping import Array, Float
from paramax import Parameterize
from paramax.utils import inv_softplus

__all__ = [
    "INTERVAL",
    "Bend",
    "CircularSpline",
    "Spline",
    "bend",
    "circle_splines",
    "evaluate",
    "invert",
    "line_splines",
]

INTERVAL = 3.0  # splines on a line bend [-3, 3] and leave the rest as it is (`004`, Appendix C)
_GOLDEN = 2.399963  # radians; multiples of it never gather on a circle
_LEAST = 1e-3  # the least slope at a knot; the least width and height of a bin, as a share of the interval


class Spline(RationalQuadraticSpline):
    """FlowJAX's spline on an interval, with an inverse that rounding cannot make NaN, however steep the slopes."""

    def __init__(self, bins: int, half_width: float):
        """Make the identity on [-half_width, half_width], cut into bins."""
        super().__init__(knots=bins - 1, interval=half_width, min_derivative=_LEAST, min_width=_LEAST * 2 * half_width)

    def inverse_and_log_det(self, y, condition=None):
        """Solve the quadratic of the bin that y is in; outside the interval, y itself."""
        low, high = self.interval
        inside = jnp.clip(y, low, high)
        k = jnp.clip(jnp.searchsorted(self.y_pos, inside) - 1, 0, len(self.y_pos) - 2)
        width, height = self.x_pos[k + 1] - self.x_pos[k], self.y_pos[k + 1] - self.y_pos[k]
        rise, slope = inside - self.y_pos[k], height / width
        excess = rise * (self.derivatives[k + 1] + self.derivatives[k] - 2 * slope)
        a = height * (slope - self.derivatives[k]) + excess
        b = height * self.derivatives[k] - excess
        root = jnp.sqrt(jnp.maximum(b**2 + 4 * a * slope * rise, 0.0))
        share = jnp.clip(2 * slope * rise / jnp.maximum(b + root, 1e-30), 0.0, 1.0)
        x = jnp.where((y >= low) & (y <= high), self.x_pos[k] + share * width, y)
        return x, -self.transform_and_log_det(x)[1]


class CircularSpline(AbstractBijection):
    """A smooth bijection of the circle [-half_period, half_period): turn, bend, turn back.

    The spline has the same slope on both sides of the seam, so that a density has no step there; the turn, which is a
    parameter like the others, puts the point that the spline holds fixed anywhere.
    """

    spline: Spline
    offset: Float[Array, ""]  # by how much to turn, in the units of the circle
    half_period: float = eqx.field(static=True)
    shape = ()
    cond_shape = None

    def __init__(self, *, bins: int, half_period: float = np.pi, offset: float = 0.0):
        """Make the identity.

        Args:
            bins: stretches between knots, all round.
            half_period: half of the circumference.
            offset: where the fixed point begins: at minus this.
        """
        spline = Spline(bins, half_period)
        slopes = Parameterize(_closed_slopes, jnp.full(bins, inv_softplus(1 - _LEAST)))
        self.spline = eqx.tree_at(lambda s: s.derivatives, spline, slopes)
        self.offset = jnp.asarray(offset, jnp.float32)
        self.half_period = half_period

    def transform_and_log_det(self, x, condition=None):
        """Bend x; the log of the slope."""
        y, log_det = self.spline.transform_and_log_det(self._wrap(x + self.offset))
        return self._wrap(y - self.offset), log_det

    def inverse_and_log_det(self, y, condition=None):
        """Undo the bending; the log of the slope of that."""
        x, log_det = self.spline.inverse_and_log_det(self._wrap(y + self.offset))
        return self._wrap(x - self.offset), log_det

    def _wrap(self, x):
        """Bring x into the circle; rounding may not push it out, where the spline is not defined."""
        wrapped = x - 2 * self.half_period * jnp.floor(x / (2 * self.half_period) + 0.5)
        return jnp.clip(wrapped, -self.half_period, self.half_period)


class Bend(NamedTuple):
    """How to make a bijection from one vector, zeros giving the identity; and how long the vector is."""

    make: Callable[[Array], AbstractBijection]
    size: int


def bend(identity: AbstractBijection) -> Bend:
    """Make bijections of the form of this one, which is the identity."""
    return Bend(*get_ravelled_pytree_constructor(identity, eqx.is_inexact_array))


@functools.cache
def line_splines(layers: int, bins: int) -> Bend:
    """Splines on [-3, 3], one after another; the end slopes are free."""
    with jax.ensure_compile_time_eval():
        return bend(Chain([Spline(bins, INTERVAL) for _ in range(layers)]))


@functools.cache
def circle_splines(layers: int, bins: int) -> Bend:
    """Splines on [-π, π), one after another, each with its fixed point elsewhere."""
    with jax.ensure_compile_time_eval():
        return bend(Chain([CircularSpline(bins=bins, offset=float(_GOLDEN * i)) for i in range(1, layers + 1)]))


def evaluate(
    family: Bend, parameters: Float[Array, "*rows parameters"], x: Float[Array, "*rows"]
) -> tuple[Float[Array, "*rows"], Float[Array, "*rows"]]:
    """Send each x through a bijection with parameters of its own: the results, and the logs of the slopes."""
    return _over_rows(lambda p, v: family.make(p).transform_and_log_det(v), parameters, x)


def invert(
    family: Bend, parameters: Float[Array, "*rows parameters"], y: Float[Array, "*rows"]
) -> Float[Array, "*rows"]:
    """Find what `evaluate` sends to each y."""
    return _over_rows(lambda p, v: family.make(p).inverse_and_log_det(v), parameters, y)[0]


def _over_rows(function, parameters, values):
    flat = jax.vmap(function)(parameters.reshape(-1, parameters.shape[-1]), values.reshape(-1))
    return flat[0].reshape(values.shape), flat[1].reshape(values.shape)


def _closed_slopes(raw: Float[Array, " bins"]) -> Float[Array, " knots"]:
    """Slopes at the knots from one end of the circle to the other, which is the same place."""
    slopes = jax.nn.softplus(raw) + _LEAST
    return jnp.concatenate([slopes, slopes[:1]])
