"""Prototypes of four sorts, told apart at a glance, and quick settings to learn a density of them."""

import jax.numpy as jnp
import numpy as np

from liewise.sgm import DensityConfig
from liewise.train import OptimiserConfig, TrainConfig

SIDE = 8  # pixels
SMALL = DensityConfig(
    features=(32, 16), feature_dropout=0.0, head=(32,), conditioner=(32,), conditioner_dropout=0.0, bins=8
)
QUICK = TrainConfig(
    steps=500,
    batch_size=256,
    dispatch_seconds=None,
    optimiser=OptimiserConfig(
        learning_rate=3e-3, initial_multiplier=0.1, final_multiplier=0.01, warmup_fraction=0.05, clip_norm=2.0
    ),
)


def prototypes(sorts, draws=1, seed=0):
    """Bytes [n, draws, 8, 8, 1]: a bright row, in a place of its own for each sort, in noise."""
    sorts = np.asarray(sorts)
    pixels = np.random.default_rng(seed).integers(0, 20, (len(sorts), draws, SIDE, SIDE, 1))
    pixels[np.arange(len(sorts)), :, sorts] += 200
    return pixels.astype(np.uint8)


def images(sorts):
    """The same as a model takes them."""
    return jnp.asarray(prototypes(sorts)[:, 0] / 127.5 - 1, jnp.float32)
