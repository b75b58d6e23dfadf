"""Values of a coordinate relative to an example's middle, since where a prototype stands is nobody's choice."""

import numpy as np

from liewise.transforms import Coordinate

__all__ = ["away", "middles", "moved", "share_on_grid"]

Values = np.ndarray | np.floating | float
_MOST_MODES = 6  # round a circle, at equal distances
_CLEARLY = 0.8  # of the strongest harmonic: a lower one that comes up to that is preferred
_SMOOTHING = 1.2  # grid points


def middles(coordinate: Coordinate, drawn: np.ndarray) -> np.ndarray:
    """Return the middle of each row of draws [n, draws], in η.

    That is the median, and the most frequent value of a finite coordinate. On a circle it is the mean direction; where
    modes oppose one another there is none, and the middle is that of the strongest mode.
    """
    if coordinate.steps is not None:
        counts = np.stack([(drawn == step).sum(1) for step in coordinate.steps], 1)
        return np.array(coordinate.steps, np.float32)[counts.argmax(1)]
    if coordinate.period is None:
        return np.median(drawn, axis=1)
    return np.array([_direction(row, coordinate.period) for row in drawn])


def away(coordinate: Coordinate, values: Values, middle: Values) -> np.ndarray:
    """Return values relative to middles that broadcast against them, the short way round a circle."""
    if coordinate.steps is not None:
        return _turned(coordinate.steps, np.asarray(values), np.asarray(middle), -1)
    return np.asarray(coordinate.wrap(values - middle))


def moved(coordinate: Coordinate, middle: Values, values: np.ndarray) -> np.ndarray:
    """Return the η of values relative to a middle: `away` undone."""
    if coordinate.steps is not None:
        return _turned(coordinate.steps, np.asarray(middle), values, 1)
    return np.asarray(coordinate.wrap(middle + values))


def share_on_grid(values: np.ndarray, grid: np.ndarray, coordinate: Coordinate) -> np.ndarray:
    """Return the density of values [any] per unit of η on an even grid, a little smoothed; on steps, probabilities."""
    if coordinate.steps is not None:
        return np.array([(values == step).mean() for step in grid])
    width = grid[1] - grid[0]
    edges = np.append(grid - width / 2, grid[-1] + width / 2)
    counts = np.histogram(values, edges)[0].astype(float)
    kernel = np.exp(-0.5 * (np.arange(-5, 6) / _SMOOTHING) ** 2)
    kernel /= kernel.sum()
    if coordinate.period is None:
        smooth = np.convolve(counts, kernel, mode="same")
    else:  # the grid's first point is its last
        ring = counts[:-1].copy()
        ring[0] += counts[-1]
        wrapped = np.convolve(np.concatenate([ring[-5:], ring, ring[:5]]), kernel, mode="valid")
        smooth = np.append(wrapped, wrapped[0])
    return smooth / (values.size * width)


def _direction(drawn: np.ndarray, period: float) -> float:
    angles = drawn * (2 * np.pi / period)
    harmonics = [np.exp(1j * k * angles).mean() for k in range(1, _MOST_MODES + 1)]
    lengths = np.abs(harmonics)
    k = int(np.argmax(lengths >= _CLEARLY * lengths.max())) + 1
    ways = np.angle(harmonics[k - 1]) / k + 2 * np.pi * np.arange(k) / k
    near = np.cos(angles[None] - ways[:, None]) > np.cos(np.pi / (2 * k))
    best = ways[int(near.sum(1).argmax())]
    return float(np.angle(np.exp(1j * best)) * period / (2 * np.pi))


def _turned(steps: tuple[float, ...], values: np.ndarray, by: np.ndarray, sign: int) -> np.ndarray:
    """Count steps round: two steps are a mirroring and nothing."""
    known = np.array(steps, np.float32)
    places = np.abs(values[..., None] - known).argmin(-1) + sign * np.abs(by[..., None] - known).argmin(-1)
    return np.asarray(known[places % len(known)])
