"""The truth recovered, as a table: for each shape and factor, resampled sprites against those they were made from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from liewise.datasets import SHAPES, SYMMETRY, Split
from liewise.measure.factors import SPRITE_FACTORS, DrawnEta, PoseEta, resampled_factors
from liewise.measure.recovery import ks, spread, wasserstein
from liewise.transforms import Group

__all__ = ["Recovered", "as_table", "recovered_sprites"]


_SAME = 1e-3  # in the factor's unit: values nearer than that are one


@dataclass(frozen=True)
class Recovered:
    """How the distribution of one factor of one shape was recovered; lengths in the factor's unit."""

    shape: str
    factor: str
    unit: str
    sprites: int  # of this shape
    ks: float  # Kolmogorov–Smirnov statistic, 0 to 1
    w1: float  # Wasserstein-1 distance
    spread: float  # width of the resampled factors, 95 %
    true_spread: float


def recovered_sprites(
    group: Group, pose_eta: PoseEta, drawn_eta: DrawnEta, split: Split, *, stepped: bool = False
) -> list[Recovered]:
    """Compare the factors of resampled sprites with the true ones, a row for each shape that is there and each factor.

    Args:
        group: one that moves pixels, or its product with others.
        pose_eta: of each example of the split, as the inference finds it.
        drawn_eta: k for each example's prototype, as the density draws them.
        split: sprites, with their labels and true factors.
        stepped: whether true factors go in equal steps, as those of dSprites do. For KS and W1 the resampled ones are
            then taken to the nearest step, as they were when the sprites were drawn; spreads are as they are.
    """
    resampled = resampled_factors(group, pose_eta, drawn_eta, split)
    rows = []
    for label, shape in enumerate(SHAPES):
        mine = split.labels == label
        if not mine.any():
            continue
        for name in SPRITE_FACTORS:
            found, true = resampled[name][mine].ravel(), split.factors[name].values[mine]
            period = SYMMETRY[shape] if name == "orientation" else None
            one, other = found, true
            if stepped:
                one, other = (_nearest_steps(v, split.factors[name].values, period) for v in (found, true))
            rows.append(
                Recovered(
                    shape=shape,
                    factor=name,
                    unit=split.factors[name].unit,
                    sprites=int(mine.sum()),
                    ks=ks(one, other, period),
                    w1=wasserstein(one, other, period),
                    spread=spread(found, period),
                    true_spread=spread(true, period),
                )
            )
    return rows


def as_table(rows: Sequence[Recovered]) -> list[str]:
    """Return lines of text: a heading, and a line for each row.

    >>> for line in as_table([Recovered("heart", "x", "px", 50, 0.041, 0.3, 11.9, 12.2)]):
    ...     print(line)
    shape    factor       unit    sprites     KS      W1   spread     true
    heart    x            px           50  0.041   0.300   11.900   12.200
    """
    heading = f"{'shape':<8} {'factor':<12} {'unit':<7} {'sprites':>7} {'KS':>6} {'W1':>7} {'spread':>8} {'true':>8}"
    return [
        heading,
        *(
            f"{r.shape:<8} {r.factor:<12} {r.unit:<7} {r.sprites:>7} {r.ks:>6.3f} {r.w1:>7.3f} {r.spread:>8.3f}"
            f" {r.true_spread:>8.3f}"
            for r in rows
        ),
    ]


def _nearest_steps(found: np.ndarray, values: np.ndarray, period: float | None) -> np.ndarray:
    """Take what was found to the nearest of the equal steps that these values go in; steps go on beyond them."""
    seen = np.unique(values if period is None else np.mod(values, period))
    apart = np.diff(seen)
    apart = apart[apart > _SAME]
    if not len(apart):
        return np.full_like(found, seen[0])
    reach = seen[-1] - seen[0]
    step = reach / np.rint(reach / apart.min())
    nearest = seen[0] + step * np.rint((found - seen[0]) / step)
    if period is not None:
        nearest = np.mod(nearest + step / 4, period) - step / 4  # no step lies at the cut
    return nearest.round(6)  # equal steps are equal numbers
