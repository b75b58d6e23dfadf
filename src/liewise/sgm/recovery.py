"""How well transformations are recovered that were injected, and so are known."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from liewise.datasets import Split
from liewise.errors import DataError
from liewise.measure import Finding, Verdict, aligned, judge, ks, wasserstein
from liewise.sgm.queries import Parts
from liewise.sgm.summarising import Evidence, summarise
from liewise.transforms import Coordinate

__all__ = ["Recovery", "recoveries"]

_TRUTHS = 256  # values of the truth that stand for it


@dataclass(frozen=True)
class Recovery:
    """What was found of a coordinate, beside what was injected; values in its user's unit."""

    expected: Verdict
    true_low: float  # the central 95 % of what was injected, relative to its middle
    true_high: float
    off: float  # the larger error of the two ends, over the width of the box, or of the circle
    w1: float  # Wasserstein-1 distance between what was found and what was injected
    ks: float  # Kolmogorov–Smirnov statistic of the two
    finding: Finding

    @property
    def right(self) -> bool:
        """Whether the verdict is as expected."""
        return self.finding.verdict == self.expected

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Recovery":
        """Build it again from what `as_dict` gave, or JSON made of it."""
        return cls(**{**values, "finding": Finding.from_dict(values["finding"])})


def recoveries(
    parts: Parts,
    made: Split,
    class_names: Sequence[str] = (),
    *,
    health: dict[str, float],
    by_class: bool = False,
    expected: Mapping[tuple[str, str], Verdict] | None = None,
    seed: int = 0,
) -> tuple[Recovery, ...]:
    """Compare what a model finds in made examples with the factors that they were made by.

    Angles count modulo what the model found each example to look the same after, in the truth as well.

    Args:
        parts: the fitted model.
        made: examples with their factors, as `datasets.transformed` makes them; not the ones that were trained on.
        class_names: of the labels.
        health: of the model.
        by_class: whether each class had distributions of its own; else all examples are judged together.
        expected: the right verdicts, by coordinate and class or "all"; what the rule says of the truth if not given.
        seed: of everything that is random.
    """
    if not made.factors:
        raise DataError("expected examples with the factors that they were made by; got none")
    labels = made.labels if by_class else None
    summary, evidence = summarise(parts, made.images, labels, class_names, health=health, seed=seed)
    size = (made.image_shape[0], made.image_shape[1])
    found = []
    for finding in summary.findings:
        if finding.coordinate.name not in made.factors or by_class == (finding.among == "all"):
            continue
        rows = _rows(made, class_names, finding.among)
        wanted = (expected or {}).get((finding.coordinate.name, finding.among))
        found.append(_recovery(finding, parts, evidence, made, rows, wanted, size))
    return tuple(found)


def _rows(made: Split, class_names: Sequence[str], among: str) -> np.ndarray:
    if among == "all" or made.labels is None:
        return np.ones(len(made), bool)
    return made.labels == list(class_names).index(among)


def _recovery(
    finding: Finding,
    parts: Parts,
    evidence: Evidence,
    made: Split,
    rows: np.ndarray,
    expected: Verdict | None,
    size: tuple[int, int],
) -> Recovery:
    c, place = finding.coordinate, parts.inference.group.index(finding.coordinate.name)
    values = np.asarray(c.from_user(made.factors[c.name].values[rows], size), np.float64)
    mine = rows[evidence.chosen] & (evidence.seen[:, place] | ~evidence.seen[:, place].any())
    natural = evidence.natural[mine][..., place].astype(np.float64)
    if c.steps is not None:
        share = float(1 - max(np.mean(values == step) for step in c.steps))
        drawn = np.repeat(values[None], 2, 0)
        expected = expected or judge(c, drawn, size=size).verdict
        off = abs(share - finding.high)
        return Recovery(expected, 0.0, share, off, off, off, finding)
    periods = evidence.periods[c.name][mine] if c.name in evidence.periods else None
    spaced = np.sort(values)[np.linspace(0, len(values) - 1, _TRUTHS).round().astype(int)]
    truths = np.repeat(spaced[None], len(natural), 0)
    expected = expected or judge(c, truths, size=size, periods=periods).verdict
    true, ours = aligned(truths, periods), aligned(natural, periods)
    ends = [float(end) for end in np.quantile(true, [0.025, 0.975])]
    across = _across(c, periods)
    off = max(abs(_eta(c, value, size) - end) for value, end in zip((finding.low, finding.high), ends, strict=True))
    one, other = (np.asarray(c.to_user(sample.ravel(), size)) for sample in (ours, true))
    user = tuple(float(c.to_user(end, size)) for end in ends)
    return Recovery(expected, user[0], user[1], off / across, wasserstein(one, other), ks(one, other), finding)


def _across(coordinate: Coordinate, periods: np.ndarray | None) -> float:
    """The width of what was looked at; where that is nothing, of the usual box."""
    widths = [coordinate.high - coordinate.low or 0.5]
    return min(widths if periods is None else [*widths, float(periods.max())])


def _eta(coordinate: Coordinate, value: float, size: tuple[int, int]) -> float:
    return float(coordinate.from_user(value, size))
