"""Draws of one coordinate for many examples, brought together though nobody chose where their prototypes stand."""

import numpy as np
from jaxtyping import Float

__all__ = ["aligned", "middles"]

Draws = Float[np.ndarray, "n k"]
Periods = Float[np.ndarray, " n"]
_TAIL = 0.05  # of an example's draws at either end, which do not count for its middle


def aligned(drawn: Draws, periods: Periods | None = None) -> Draws:
    """Return each example's draws relative to its own middle, on a circle between minus and plus half its period.

    >>> aligned(np.array([[0.0, 1.0, 2.0], [5.0, 6.0, 7.0]])).tolist()
    [[-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]]
    """
    away = drawn - middles(drawn, periods)[:, None]
    return away if periods is None else _wrapped(away, periods)


def middles(drawn: Draws, periods: Periods | None = None) -> Float[np.ndarray, " n"]:
    """Return the middle of each example's draws: half way between their 5 % and their 95 % quantiles.

    Unlike a mean or a median it stands still between several modes, whatever their weights, and it is the same for one
    mode as for a band. A circle is opened first, opposite to the shortest arc that holds 90 % of the draws.

    >>> middles(np.array([[170.0, -170.0, 180.0]]), np.array([360.0])).tolist()
    [180.0]
    """
    if periods is None:
        return np.quantile(drawn, [_TAIL, 1 - _TAIL], axis=1).mean(0)
    centre = _arc_centres(drawn, periods)
    line = _wrapped(drawn - centre[:, None], periods)
    return centre + np.quantile(line, [_TAIL, 1 - _TAIL], axis=1).mean(0)


def _arc_centres(drawn: Draws, periods: Periods) -> np.ndarray:
    """The centre of the shortest arc that holds all but both tails."""
    k = drawn.shape[1]
    values = np.sort(np.mod(drawn, periods[:, None]), axis=1)
    held = max(1, int(np.ceil((1 - 2 * _TAIL) * k)))
    twice = np.concatenate([values, values + periods[:, None]], axis=1)
    lengths = twice[:, held - 1 : held - 1 + k] - values
    start = lengths.argmin(1)
    rows = np.arange(len(drawn))
    return values[rows, start] + lengths[rows, start] / 2


def _wrapped(away: Draws, periods: Periods) -> Draws:
    turns = periods[:, None]
    return away - turns * np.round(away / turns)
