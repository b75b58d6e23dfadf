"""How far the distribution of a factor that was recovered is from the true one, on a line or on a circle.

A factor with a period lies on a circle, where no place is the first: -180° and 180° are one.
"""

import numpy as np
from jaxtyping import Array, Float

from liewise.errors import DataError

__all__ = ["ks", "mass_between", "spread", "uniform_ks", "wasserstein"]

Sample = Float[np.ndarray | Array, " _"]
_SHARE = 0.95


def ks(sample: Sample, truth: Sample, period: float | None = None) -> float:
    """Return the two-sample Kolmogorov–Smirnov statistic: the greatest gap between the two cumulative distributions.

    A circle is cut open first, in the middle of the widest gap between neighbours in the pooled sample. So the answer
    is the same wherever the circle has its zero, and the mass of a mode is never torn in two while there is an emptier
    place to cut.

    >>> ks(np.array([179.0, -179.0]), np.array([-179.0, 179.0]), period=360.0)
    0.0
    """
    one, other = _checked(sample), _checked(truth)
    if period is not None:
        one, other = _cut(period, one, other)
    return float(np.abs(_gap(one, other, np.concatenate([one, other]))).max())


def wasserstein(sample: Sample, truth: Sample, period: float | None = None) -> float:
    """Return the Wasserstein-1 distance, in the sample's unit: how far mass has to go, on average, to become the truth.

    On a circle mass goes the short way round: the integral of |F - G - m|, where m is the median of F - G along the
    circle (Rabin, Delon and Gousseau, "Transportation distances on the circle", 2011).

    >>> wasserstein(np.array([179.0]), np.array([-178.0]), period=360.0)
    3.0
    """
    one, other = _checked(sample), _checked(truth)
    if period is not None:
        one, other = np.mod(one, period), np.mod(other, period)
    places = np.sort(np.concatenate([one, other]))
    end = places[-1] if period is None else places[0] + period
    lengths = np.diff(np.append(places, end))
    gap = _gap(one, other, places)
    middle = 0.0 if period is None else _weighted_median(gap, lengths)
    return float(np.sum(lengths * np.abs(gap - middle)))


def spread(sample: Sample, period: float | None = None) -> float:
    """Return how wide a sample is: from the 2.5 % to the 97.5 % quantile; on a circle, the shortest arc with 95 %.

    >>> spread(np.array([359.0, 0.0, 2.0]), period=360.0)
    3.0
    """
    values = _checked(sample)
    if period is None:
        low, high = np.quantile(values, [(1 - _SHARE) / 2, (1 + _SHARE) / 2])
        return float(high - low)
    values = np.sort(np.mod(values, period))
    held = int(np.ceil(_SHARE * len(values)))
    twice = np.concatenate([values, values + period])
    return float((twice[held - 1 : held - 1 + len(values)] - values).min())


def mass_between(sample: Sample, low: float, high: float) -> float:
    """Return the share of a sample that lies strictly between two values.

    >>> mass_between(np.array([0.0, 0.5, 1.0, 2.0]), 0.0, 2.0)
    0.5
    """
    values = _checked(sample)
    return float(np.mean((values > low) & (values < high)))


def uniform_ks(sample: Sample, low: float, high: float) -> float:
    """Return the Kolmogorov–Smirnov statistic of a sample against the uniform distribution between two values.

    >>> uniform_ks(np.array([0.25, 0.75]), 0.0, 1.0)
    0.25
    """
    if not low < high:
        raise DataError(f"expected low < high of the uniform distribution; got {low:g} and {high:g}")
    values = np.sort(_checked(sample))
    expected = np.clip((values - low) / (high - low), 0, 1)
    steps = np.arange(len(values) + 1) / len(values)
    return float(np.maximum(steps[1:] - expected, expected - steps[:-1]).max())


def _checked(sample: Sample) -> np.ndarray:
    values = np.asarray(sample, np.float64)
    if not values.size:
        raise DataError("expected a sample of one value or more; got none")
    if not np.isfinite(values).all():
        raise DataError(f"expected finite values; got {(~np.isfinite(values)).sum()} NaN or infinite of {values.size}")
    return values


def _gap(one: np.ndarray, other: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The first cumulative distribution minus the second, just after each place."""
    below = [np.searchsorted(np.sort(s), places, side="right") / len(s) for s in (one, other)]
    return below[0] - below[1]


def _cut(period: float, *samples: np.ndarray) -> list[np.ndarray]:
    """Bring samples on a circle to a line that begins where both are emptiest."""
    around = [np.mod(s, period) for s in samples]
    pooled = np.sort(np.concatenate(around))
    gaps = np.diff(np.append(pooled, pooled[0] + period))
    widest = int(np.argmax(gaps))
    cut = pooled[widest] + gaps[widest] / 2
    return [np.mod(s - cut, period) for s in around]


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])
