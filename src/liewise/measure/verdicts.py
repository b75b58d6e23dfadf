"""What draws of a coordinate say: absent, partial, several modes or full, by one stated rule (docs/verdicts.md)."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from liewise.errors import DataError
from liewise.measure.alignment import aligned
from liewise.measure.outline import Outline
from liewise.transforms import Coordinate

__all__ = ["Finding", "Rule", "Verdict", "judge", "resolution", "width"]

Verdict = Literal["absent", "partial", "several modes", "full"]
Draws = Float[np.ndarray, "n k"]
_RESAMPLES = 200
_WORTH_SAYING = 0.15  # of the examples
_MOVED = 4 / 3  # the constants of the rule are multiplied or divided by up to this much


@dataclass(frozen=True)
class Rule:
    """The constants of the rule."""

    resolution: float = 1.0  # times what nobody would call a transformation: what is no wider is absent
    noise: float = 1.3  # times the inference's own noise: likewise
    sparse: float = 0.05  # of the highest density: draws at places that are sparser are stray ...
    stray: float = 0.05  # ... but no more of them than this share
    covered: float = 0.4  # of an even share: what the emptiest sixth of a full circle holds at least
    reached: float = 0.9  # of the box's width: what an interval on a line has at least if it is full
    valley: float = 0.6  # of the lower of two peaks: between two modes the density falls below that
    peak: float = 0.1  # of the highest density: what a mode has at least
    mass: float = 0.08  # of the draws: what a mode holds at least

    def moved(self, rng: np.random.Generator) -> "Rule":
        """Return the rule with each constant a little larger or smaller."""
        factors = np.exp(rng.uniform(-1, 1, len(dataclasses.fields(self))) * math.log(_MOVED))
        values = zip(dataclasses.asdict(self).items(), factors, strict=True)
        return Rule(**{name: float(value * factor) for (name, value), factor in values})


@dataclass(frozen=True)
class Finding:
    """What was found of one coordinate, among all examples or those of one class.

    Numbers are in the coordinate's user's unit and relative to the middle of each example's own density. A coordinate
    with finitely many values goes from 0 to the share of natural versions that differ from an example's most natural.
    """

    coordinate: Coordinate
    among: str  # "all", or the name of a class
    verdict: Verdict
    low: float  # the central 95 %
    high: float
    modes: tuple[float, ...]  # where they are, if there are several
    box: tuple[float, float]  # what was looked at
    sure: float  # 0 to 1: how often the verdict stays when examples and constants change, times what is identifiable
    examples: int
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Finding":
        """Build it again from what `as_dict` gave, or JSON made of it."""
        given = dict(values["coordinate"])
        given["steps"] = None if given["steps"] is None else tuple(given["steps"])
        rest = {name: tuple(values[name]) for name in ("modes", "box", "notes")}
        return cls(**{**values, **rest, "coordinate": Coordinate(**given)})


def resolution(coordinate: Coordinate, size: tuple[int, int]) -> float:
    """Return how wide an interval is, in η, that nobody would call a transformation: it counts as absent.

    10 degrees from end to end, one pixel or 2 % of the image's longer side, a factor of 1.1; 5 % of the box otherwise.
    """
    if coordinate.unit == "px":
        return float(coordinate.from_user(max(1.0, 0.02 * max(size)), size))
    if coordinate.unit == "deg" and coordinate.period is not None:
        return float(coordinate.from_user(10.0, size))
    if coordinate.unit == "factor":
        return math.log(1.1)
    return 0.05 * (coordinate.high - coordinate.low)


def width(drawn: Draws, periods: np.ndarray | None = None, rule: Rule | None = None) -> float:
    """Return the width of the central 95 % of draws relative to their examples' middles, stray ones left out."""
    rule = rule or Rule()
    outline = Outline.of(aligned(drawn, periods), periods)
    low, high = outline.interval(outline.pooled(), sparse=rule.sparse, stray=rule.stray)
    return high - low


def judge(
    coordinate: Coordinate,
    drawn: Float[np.ndarray, "..."],
    *,
    size: tuple[int, int],
    among: str = "all",
    periods: Float[np.ndarray, " n"] | None = None,
    noise: float = 0.0,
    trust: float = 1.0,
    notes: tuple[str, ...] = (),
    rule: Rule | None = None,
    seed: int = 0,
) -> Finding:
    """Judge the draws of one coordinate.

    Args:
        coordinate: of which they are, in η.
        drawn: natural values, as many for each example.
        size: of the images, height and width.
        among: which examples these are.
        periods: after how much each example looks the same, on a circle; the coordinate's own period if not given.
        noise: the width, in η, that the inference's own noise explains.
        trust: between 0 and 1; what `sure` is multiplied by.
        notes: to go with the finding.
        rule: the constants.
        seed: for the resamples behind `sure`.
    """
    if drawn.ndim != 2 or 0 in drawn.shape:
        raise DataError(f"expected draws [examples, draws] of {coordinate.name}; got {drawn.shape}")
    if not np.isfinite(drawn).all():
        raise DataError(f"expected finite draws of {coordinate.name}; got {np.sum(~np.isfinite(drawn))} that are not")
    rule, rng = rule or Rule(), np.random.default_rng(seed)
    drawn = np.asarray(drawn, np.float64)
    if coordinate.steps is not None:
        case: _Case = _Steps(coordinate, drawn)
    else:
        if coordinate.period is not None and periods is None:
            periods = np.full(len(drawn), coordinate.period)
        outline = Outline.of(aligned(drawn, periods), periods)
        case = _Range(coordinate, outline, resolution(coordinate, size), noise)
    verdict, low, high, modes = case.settle(np.ones(len(drawn)), rule)
    resting = case.resting
    if verdict != "absent" and resting >= _WORTH_SAYING:
        notes = (*notes, f"{resting:.0%} of the examples hardly vary")
    chosen = rng.multinomial(len(drawn), np.full(len(drawn), 1 / len(drawn)), size=_RESAMPLES).astype(np.float64)
    same = np.mean([case.settle(weights, rule.moved(rng))[0] == verdict for weights in chosen])
    if coordinate.steps is None:
        low, high, *modes = (float(coordinate.to_user(value, size)) for value in (low, high, *modes))
    box = tuple(float(coordinate.to_user(end, size)) for end in (coordinate.low, coordinate.high))
    return Finding(
        coordinate, among, verdict, low, high, tuple(modes), (box[0], box[1]), float(same * trust), len(drawn), notes
    )


Settled = tuple[Verdict, float, float, tuple[float, ...]]  # the verdict, the interval, the modes if there are several


@dataclass(frozen=True)
class _Range:
    """Draws on a line or a circle."""

    coordinate: Coordinate
    outline: Outline
    resolution: float
    noise: float

    @property
    def resting(self) -> float:
        """The share of examples that are absent by themselves."""
        return float(np.mean(self.outline.widths() <= self._still(Rule())))

    def settle(self, weights: np.ndarray, rule: Rule) -> Settled:
        """Apply the rule to examples with weights."""
        pooled = self.outline.pooled(weights)
        low, high = self.outline.interval(pooled, sparse=rule.sparse, stray=rule.stray)
        still = self._still(rule)
        if high - low <= still:
            return "absent", low, high, ()
        if self.outline.closed and self.outline.emptiest_sixth(weights) >= rule.covered:
            return "full", low, high, ()
        modes = self.outline.modes(pooled, valley=rule.valley, peak=rule.peak, mass=rule.mass, apart=still)
        if len(modes) > 1:
            return "several modes", low, high, modes
        looked_at = self.coordinate.high - self.coordinate.low
        if not self.outline.closed and 0 < rule.reached * looked_at <= high - low:
            return "full", low, high, ()
        return "partial", low, high, ()

    def _still(self, rule: Rule) -> float:
        """How wide an interval is that counts as absent."""
        return max(rule.resolution * self.resolution, rule.noise * self.noise)


@dataclass(frozen=True)
class _Steps:
    """Draws of finitely many values."""

    coordinate: Coordinate
    drawn: np.ndarray

    @property
    def resting(self) -> float:
        """The share of examples that are absent by themselves."""
        same = np.stack([(self.drawn == step).mean(1) for step in self.coordinate.steps or ()], 1)
        return float(np.mean(same.max(1) >= 1 - Rule().stray))

    def settle(self, weights: np.ndarray, rule: Rule) -> Settled:
        """Apply the rule to examples with weights: full if the rarest value has a good part of an even share."""
        steps = self.coordinate.steps or ()
        shares = np.sort(np.stack([(self.drawn == step).mean(1) for step in steps], 1), axis=1)
        mean = weights @ shares / weights.sum()
        apart = float(1 - mean[-1])
        if apart <= rule.stray:
            return "absent", 0.0, apart, ()
        return ("full" if mean[0] * len(steps) >= rule.covered else "partial"), 0.0, apart, ()


_Case = _Range | _Steps
