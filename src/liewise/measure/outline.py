"""The outline of a distribution that many examples share: pooled histograms, their intervals and their modes."""

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.ndimage import gaussian_filter1d

__all__ = ["Outline"]

_CELLS = 512
_SIXTHS = 60  # cells round the circle for the emptiest sixth
_SMOOTH = 0.03  # of the width of the central 95 %: standard deviation of the kernel
_OUTER = 0.002  # of the draws at either end of a line go to its last cells
_LEVELS = (0.025, 0.975)
_OWN_LEVELS = (0.05, 0.95)  # of a single example, whose few draws say little about its tails


class _Mode(NamedTuple):
    first: int  # cells, both included
    last: int
    mass: float


@dataclass(frozen=True, eq=False)
class Outline:
    """Histograms of draws relative to the middles of their examples, one an example, so that examples can be weighed.

    A circle is cut where each example is emptiest. Examples that look the same after different parts of it have
    circles of different lengths: `turns` counts on all of them alike, from one end to the other.
    """

    counts: Float[np.ndarray, "n cells"]
    edges: Float[np.ndarray, " _"]
    turns: Float[np.ndarray, "n _"] | None  # None: a line

    @classmethod
    def of(cls, away: Float[np.ndarray, "n k"], periods: Float[np.ndarray, " n"] | None = None) -> "Outline":
        """Count draws, given relative to the middles of their examples."""
        if periods is None:
            low, high = np.quantile(away, [_OUTER, 1 - _OUTER])
            rim = 0.1 * (high - low) + 1e-6
            low, high = low - rim, high + rim
        else:
            low, high = -periods.max() / 2, periods.max() / 2
        turns = None if periods is None else _counted(away / periods[:, None], -0.5, 0.5, _SIXTHS)
        return cls(_counted(away, low, high, _CELLS), np.linspace(low, high, _CELLS + 1), turns)

    @property
    def closed(self) -> bool:
        """Whether it lies on a circle."""
        return self.turns is not None

    def pooled(self, weights: Float[np.ndarray, " n"] | None = None) -> Float[np.ndarray, " cells"]:
        """Return the shares of draws in each cell, over examples with these weights."""
        weights = np.ones(len(self.counts)) if weights is None else weights
        return weights @ self.counts / weights.sum()

    def interval(self, pooled: Float[np.ndarray, " cells"], *, sparse: float, stray: float) -> tuple[float, float]:
        """Return the central 95 % once stray draws are left out: those where the density is sparse, within limits."""
        smooth = self._smoothed(pooled)
        order = np.argsort(smooth)
        left_out = (np.cumsum(pooled[order]) <= stray) & (smooth[order] < sparse * smooth.max())
        kept = pooled.copy()
        kept[order[left_out]] = 0
        return self._quantiles(kept)

    def widths(self) -> Float[np.ndarray, " n"]:
        """Return how wide the central 90 % of each example's draws are."""
        below = np.cumsum(self.counts, axis=1)
        first, last = ((below < level).sum(1) for level in _OWN_LEVELS)
        return (last - first) * (self.edges[1] - self.edges[0])

    def emptiest_sixth(self, weights: Float[np.ndarray, " n"]) -> float:
        """Return what the emptiest sixth of the circle holds, over an even share."""
        assert self.turns is not None
        pooled = weights @ self.turns / weights.sum()
        sixth = _SIXTHS // 6
        running = np.convolve(np.append(pooled, pooled[: sixth - 1]), np.ones(sixth), "valid")
        return float(6 * running.min() / pooled.sum())

    def modes(
        self, pooled: Float[np.ndarray, " cells"], *, valley: float, peak: float, mass: float, apart: float
    ) -> tuple[float, ...]:
        """Return the medians of the modes, in ascending order.

        Args:
            pooled: shares of the cells.
            valley: between two modes the density falls below this part of the lower peak.
            peak: a mode is at least this part of the highest density high.
            mass: a mode holds at least this share of the draws.
            apart: modes are further apart than this.
        """
        smooth = self._smoothed(pooled)
        start = int(smooth.argmin()) if self.closed else 0
        smooth, shares = np.roll(smooth, -start), np.roll(pooled, -start)
        tops = [top for top in _tops(smooth) if smooth[top] >= peak * smooth.max()]
        tops = _parted(smooth, tops, valley)
        found = _territories(smooth, shares, tops)
        while len(found) > 1 and min(m.mass for m in found) < mass:
            tops.pop(min(range(len(found)), key=lambda i: found[i].mass))
            found = _territories(smooth, shares, tops)
        centres = [self._centre(shares, mode, start) for mode in found]
        kept: list[float] = []
        for centre in centres:
            if all(self._distance(centre, other) > apart for other in kept):
                kept.append(centre)
        return tuple(sorted(kept))

    def _smoothed(self, pooled: np.ndarray) -> np.ndarray:
        low, high = self._quantiles(pooled)
        cells = max(1.0, _SMOOTH * (high - low) / (self.edges[1] - self.edges[0]))
        return gaussian_filter1d(pooled, cells, mode="wrap" if self.closed else "constant")

    def _quantiles(self, shares: np.ndarray) -> tuple[float, float]:
        below = np.concatenate([[0.0], np.cumsum(shares)])
        low, high = np.interp(np.array(_LEVELS) * below[-1], below, self.edges)
        return float(low), float(high)

    def _centre(self, shares: np.ndarray, mode: _Mode, start: int) -> float:
        """The median of a mode, back where it was before the circle was rolled."""
        cells = np.arange(mode.first, mode.last + 1)
        below = np.cumsum(shares[cells])
        step = self.edges[1] - self.edges[0]
        place = self.edges[0] + step * (cells[np.searchsorted(below, below[-1] / 2)] + start + 0.5)
        span = self.edges[-1] - self.edges[0]
        return float(place - span if place > self.edges[-1] else place)

    def _distance(self, one: float, other: float) -> float:
        gap, span = abs(one - other), self.edges[-1] - self.edges[0]
        return min(gap, span - gap) if self.closed else gap


def _counted(values: np.ndarray, low: float, high: float, cells: int) -> np.ndarray:
    """Shares of each row's values in equal cells; what lies beyond the ends counts in the last."""
    place = np.clip(((values - low) * (cells / (high - low))).astype(int), 0, cells - 1)
    place += cells * np.arange(len(values))[:, None]
    return np.bincount(place.ravel(), minlength=cells * len(values)).reshape(len(values), cells) / values.shape[1]


def _tops(smooth: np.ndarray) -> list[int]:
    """Local maxima, the first cell of a plateau, in ascending order."""
    padded = np.concatenate([[-1.0], smooth, [-1.0]])
    return np.flatnonzero((padded[1:-1] > padded[:-2]) & (padded[1:-1] >= padded[2:])).tolist()


def _parted(smooth: np.ndarray, tops: list[int], valley: float) -> list[int]:
    """Of two maxima without a valley between them, keep the higher."""
    kept: list[int] = []
    for top in sorted(tops, key=lambda i: -smooth[i]):
        between = (smooth[min(top, other) : max(top, other) + 1].min() for other in kept)
        if all(lowest < valley * smooth[top] for lowest in between):
            kept.append(top)
    return sorted(kept)


def _territories(smooth: np.ndarray, shares: np.ndarray, tops: list[int]) -> list[_Mode]:
    """Divide the cells among the modes at the lowest places between them."""
    cuts = [a + int(smooth[a : b + 1].argmin()) for a, b in itertools.pairwise(tops)]
    firsts, lasts = [0, *(cut + 1 for cut in cuts)], [*cuts, len(smooth) - 1]
    return [_Mode(a, b, float(shares[a : b + 1].sum())) for a, b in zip(firsts, lasts, strict=True)]
