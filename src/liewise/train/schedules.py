"""Numbers that change with the step: each is a function of a step that JAX can trace."""

from collections.abc import Callable

import jax.numpy as jnp
import optax
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from liewise.train.failures import TrainError

__all__ = ["Schedule", "constant", "cosine", "linear", "warmup_cosine"]

Step = Int[Array, ""] | int
Schedule = Callable[..., ArrayLike]


def constant(value: float) -> Schedule:
    """The same value at every step."""
    return lambda step: jnp.full((), value)


def linear(first: float, last: float, steps: int) -> Schedule:
    """A straight line from `first` at step 0 to `last` at step `steps`, and level from there on.

    >>> [float(linear(1.0, 0.0, 4)(step)) for step in (0, 1, 4, 9)]
    [1.0, 0.75, 0.0, 0.0]
    """
    _positive(steps)
    return optax.schedules.linear_schedule(first, last, steps)


def cosine(first: float, last: float, steps: int) -> Schedule:
    """Half a period of a cosine from `first` at step 0 to `last` at step `steps`, level from there on.

    >>> [round(float(cosine(10.0, 1.0, 4)(step)), 3) for step in (0, 2, 4, 9)]
    [10.0, 5.5, 1.0, 1.0]
    """
    _positive(steps)

    def at(step: Step) -> Float[Array, ""]:
        turn = jnp.pi * jnp.clip(jnp.asarray(step, float) / steps, 0.0, 1.0)
        return last + (first - last) * 0.5 * (1.0 + jnp.cos(turn))

    return at


def warmup_cosine(peak: float, steps: int, *, initial: float, final: float, warmup: int) -> Schedule:
    """A line from `initial` up to `peak` over `warmup` steps, then a cosine down to `final` at `steps`."""
    _positive(steps - warmup)
    return optax.schedules.warmup_cosine_decay_schedule(initial, peak, warmup, steps, final)


def _positive(steps: int) -> None:
    if steps < 1:
        raise TrainError(f"expected a schedule of at least one step; got {steps}")
