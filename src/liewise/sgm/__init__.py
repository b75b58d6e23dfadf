"""The Symmetry-aware Generative Model: prototypes by self-supervision, then a density over transformations."""

from liewise.sgm.checking import Check, check
from liewise.sgm.densities import Densities, Joint, Marginal
from liewise.sgm.density import Density
from liewise.sgm.density_config import DensityConfig
from liewise.sgm.fitting import density_loss, density_training, fit_density, make_density_loss, paper_density_training
from liewise.sgm.inference import Equivariant, Inference, Plain, prototypes
from liewise.sgm.inference_config import InferenceConfig, inference_training, paper_inference_training
from liewise.sgm.inference_fitting import build_inference, fit_inference, make_inference_loss
from liewise.sgm.model import SGM
from liewise.sgm.recovery import Recovery, recoveries
from liewise.sgm.summary import Summary

__all__ = [
    "SGM",
    "Check",
    "Densities",
    "Density",
    "DensityConfig",
    "Equivariant",
    "Inference",
    "InferenceConfig",
    "Joint",
    "Marginal",
    "Plain",
    "Recovery",
    "Summary",
    "build_inference",
    "check",
    "density_loss",
    "density_training",
    "fit_density",
    "fit_inference",
    "inference_training",
    "make_density_loss",
    "make_inference_loss",
    "paper_density_training",
    "paper_inference_training",
    "prototypes",
    "recoveries",
]
