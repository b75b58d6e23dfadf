"""Numbers that say how good an answer is."""

from liewise.measure.alignment import aligned, middles
from liewise.measure.calibration import ranks
from liewise.measure.factors import SPRITE_FACTORS, relative, resampled_factors
from liewise.measure.frames import changes, fill_of, found_for_copies, in_own_frame, own_periods
from liewise.measure.invariance import Invariance, Pose, invariance, resultant
from liewise.measure.recovered import Recovered, as_table, recovered_sprites
from liewise.measure.recovery import ks, mass_between, spread, uniform_ks, wasserstein
from liewise.measure.verdicts import Finding, Rule, Verdict, judge, resolution, width

__all__ = [
    "SPRITE_FACTORS",
    "Finding",
    "Invariance",
    "Pose",
    "Recovered",
    "Rule",
    "Verdict",
    "aligned",
    "as_table",
    "changes",
    "fill_of",
    "found_for_copies",
    "in_own_frame",
    "invariance",
    "judge",
    "ks",
    "mass_between",
    "middles",
    "own_periods",
    "ranks",
    "recovered_sprites",
    "relative",
    "resampled_factors",
    "resolution",
    "resultant",
    "spread",
    "uniform_ks",
    "wasserstein",
    "width",
]
