"""Natural transformations drawn for held-out examples: what most numbers of stage 2 are about."""

from typing import NamedTuple

import jax
import numpy as np

from liewise.datasets import Split
from liewise.studies.context import Fit

__all__ = ["Drawn", "draw_natural"]


class Drawn(NamedTuple):
    """Examples with their poses, and as many transformations of each prototype as were drawn."""

    split: Split
    pose: np.ndarray  # [n, dim]
    eta: np.ndarray  # [n, draws, dim]


def draw_natural(fit: Fit, *, draws: int, seed: int, most: int = 2000) -> Drawn:
    """Draw for the first held-out examples, `most` of them."""
    split = fit.examples.test[:most]
    eta = fit.model.density(split).sample(jax.random.key(seed), draws)
    return Drawn(split, fit.model.pose(split), np.asarray(eta))
