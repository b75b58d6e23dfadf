"""The Symmetry-aware Generative Model: prototypes by self-supervision, then a density over transformations."""

from liewise.sgm.density import Density
from liewise.sgm.density_config import DensityConfig
from liewise.sgm.fitting import density_loss, density_training, fit_density, make_density_loss, paper_density_training

__all__ = [
    "Density",
    "DensityConfig",
    "density_loss",
    "density_training",
    "fit_density",
    "make_density_loss",
    "paper_density_training",
]
