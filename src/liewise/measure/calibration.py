"""Whether a density is as sure as it should be: where true values lie among draws from it."""

import numpy as np
from jaxtyping import Array, Float

from liewise.errors import DataError

__all__ = ["ranks"]


def ranks(
    drawn: Float[Array | np.ndarray, "n k"],
    true: Float[Array | np.ndarray, " n"],
    *,
    seed: int,
    period: float | None = None,
) -> Float[np.ndarray, " n"]:
    """Return how far up among its draws each true value lies, between 0 and 1.

    Where true values come from the densities that the draws come from, ranks are uniform (they are the probability
    integral transform, but for the finite number of draws). Among equal values the place is drawn. A circle is cut
    opposite to the mean direction of an example's draws and its true value together, so that none of them is special.

    >>> ranks(np.zeros((1, 999)), np.ones(1), seed=0) > 0.99
    array([ True])
    """
    values, mine = np.asarray(drawn, np.float64), np.asarray(true, np.float64)
    if values.shape[1] < 1:
        raise DataError("expected one draw or more for each example; got none")
    if period is not None:
        turns = 2 * np.pi / period
        together = np.concatenate([values, mine[:, None]], 1)
        start = np.angle(np.exp(1j * turns * together).mean(1)) / turns - period / 2
        values, mine = np.mod(values - start[:, None], period), np.mod(mine - start, period)
    below, equal = (values < mine[:, None]).sum(1), (values == mine[:, None]).sum(1)
    return (below + np.random.default_rng(seed).random(len(mine)) * (equal + 1)) / (values.shape[1] + 1)
