"""Numbers that say how good an answer is."""

from liewise.measure.calibration import ranks
from liewise.measure.factors import SPRITE_FACTORS, relative, resampled_factors
from liewise.measure.invariance import Invariance, Pose, invariance, resultant
from liewise.measure.recovered import Recovered, as_table, recovered_sprites
from liewise.measure.recovery import ks, mass_between, spread, uniform_ks, wasserstein

__all__ = [
    "SPRITE_FACTORS",
    "Invariance",
    "Pose",
    "Recovered",
    "as_table",
    "invariance",
    "ks",
    "mass_between",
    "ranks",
    "recovered_sprites",
    "relative",
    "resampled_factors",
    "resultant",
    "spread",
    "uniform_ks",
    "wasserstein",
]
