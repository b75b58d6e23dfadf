"""Affine maps of the plane as 3×3 matrices: exponential, logarithm and inverse, batched and differentiable.

All are written out for the affine case: general routines branch or iterate, and are an order slower on a batch of
small matrices.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

__all__ = ["exp", "from_rows", "inverse", "log", "multiply"]

_QUARTER_TURN = np.array([[0.0, 1.0], [-1.0, 0.0]], np.float32)  # counter-clockwise as displayed, y being down

Matrices = Float[Array, "batch 3 3"]
_DOUBLINGS = 6  # norms of up to about 8 are then halved to 1/8, where 7 terms reach single precision


def from_rows(rows: Float[Array, "batch 2 3"]) -> Matrices:
    """Add the row (0, 0, 1) below."""
    last = jnp.broadcast_to(jnp.array([[[0.0, 0.0, 1.0]]]), (rows.shape[0], 1, 3))
    return jnp.concatenate([rows, last], 1)


def multiply(a: Float[Array, "batch n k"], b: Float[Array, "batch k m"]) -> Float[Array, "batch n m"]:
    """Multiply in full precision, also where matrix units would round to fewer bits."""
    return jnp.sum(a[:, :, :, None] * b[:, None, :, :], 2)


def inverse(matrices: Matrices) -> Matrices:
    """Invert affine matrices."""
    linear, shift = matrices[:, :2, :2], matrices[:, :2, 2:]
    back = _inverse2(linear)
    return from_rows(jnp.concatenate([back, -multiply(back, shift)], 2))


def exp(algebra: Float[Array, "batch 2 3"]) -> Matrices:
    """Exponentiate [[A, t], [0, 0]].

    Doubles E = exp - 1 rather than exp itself, which keeps small transformations exact to the last bit.
    """
    linear, shift = _expm1(algebra[:, :, :2], algebra[:, :, 2:])
    eye = jnp.eye(2)[None]
    return from_rows(jnp.concatenate([linear + eye, shift], 2))


def log(matrices: Matrices) -> Float[Array, "batch 2 3"]:
    """Return the principal logarithm of affine matrices; NaN where there is no real one."""
    linear, shift = matrices[:, :2, :2], matrices[:, :2, 2:]
    linear_log = _log2(linear)
    eye = jnp.broadcast_to(jnp.eye(2)[None], linear.shape)
    _, spread = _expm1(linear_log, eye)  # exp maps t to spread @ t
    return jnp.concatenate([linear_log, multiply(_inverse2(spread), shift)], 2)


def _expm1(linear: Float[Array, "batch 2 2"], shift: Float[Array, "batch 2 k"]):
    """Return exp(A) - 1 and the top right of exp([[A, t], [0, 0]])."""
    linear, shift = linear / 2**_DOUBLINGS, shift / 2**_DOUBLINGS
    e, s = linear, shift
    power, power_shift = linear, shift
    for order in range(2, 8):
        power, power_shift = multiply(linear, power) / order, multiply(linear, power_shift) / order
        e, s = e + power, s + power_shift
    for _ in range(_DOUBLINGS):
        e, s = 2 * e + multiply(e, e), 2 * s + multiply(e, s)
    return e, s


def _log2(linear: Float[Array, "batch 2 2"]) -> Float[Array, "batch 2 2"]:
    """Take the logarithm of 2×2 matrices, elliptic (a turn) or hyperbolic (a stretch).

    With d the determinant, L/√d = c + N where N has no trace and N² = c² - 1; then log L = log √d + (θ/sin θ) N with
    c = cos θ, and θ imaginary for c > 1.
    """
    determinant = linear[:, 0, 0] * linear[:, 1, 1] - linear[:, 0, 1] * linear[:, 1, 0]
    has_root = determinant > 0
    root = jnp.sqrt(jnp.where(has_root, determinant, 1.0))
    unit = linear / root[:, None, None]
    c = (unit[:, 0, 0] + unit[:, 1, 1]) / 2
    traceless = unit - c[:, None, None] * jnp.eye(2)[None]
    square = traceless[:, 0, 0] ** 2 + traceless[:, 0, 1] * traceless[:, 1, 0]  # c² - 1, without cancellation
    near = (jnp.abs(square) < 1e-6) & (c > 0)
    elliptic = (square < 0) & ~near
    hyperbolic = (square > 0) & ~near
    sine = jnp.sqrt(jnp.where(elliptic | hyperbolic, jnp.abs(square), 1.0))
    ratio = jnp.where(elliptic, jnp.arctan2(sine, c) / sine, jnp.arcsinh(sine) / sine)
    ratio = jnp.where(near, 1 - square / 6, ratio)
    half_turn = (c < 0) & ~elliptic & (jnp.max(jnp.abs(traceless), (1, 2)) < 1e-6)
    turned = jnp.where(half_turn[:, None, None], np.pi * _QUARTER_TURN[None], ratio[:, None, None] * traceless)
    value = turned + jnp.log(root)[:, None, None] * jnp.eye(2)[None]
    exists = has_root & ((c > 0) | elliptic | half_turn)
    return jnp.where(exists[:, None, None], value, np.nan)


def _inverse2(m: Float[Array, "batch 2 2"]) -> Float[Array, "batch 2 2"]:
    determinant = m[:, 0, 0] * m[:, 1, 1] - m[:, 0, 1] * m[:, 1, 0]
    flipped = jnp.stack([m[:, 1, 1], -m[:, 0, 1], -m[:, 1, 0], m[:, 0, 0]], -1).reshape(-1, 2, 2)
    return flipped / determinant[:, None, None]
