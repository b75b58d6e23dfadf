"""A model that need not be trained to be asked: small networks with loud weights, and images to ask about."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from liewise import SGM, transforms
from liewise.sgm import Density, DensityConfig, InferenceConfig, build_inference
from liewise.sgm.queries import Parts

SIDE = 12  # pixels
CONFIG = InferenceConfig(hidden=(16,), looks=(1, 1), looks_at_use=(2, 1))
SMALL = DensityConfig(features=(16, 8), head=(8,), conditioner=(8,), layers=1, bins=4)


def images(count, channels=1, seed=0):
    """Bytes [count, 12, 12, channels]: smooth blobs, each in a place of its own, and each with an arm on one side."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:SIDE, :SIDE]
    middle = rng.uniform(4, 7, (count, 2, 1, 1))
    width = rng.uniform(4, 12, (count, 1, 1))
    blobs = np.exp(-((y - middle[:, 0]) ** 2 + 2 * (x - middle[:, 1]) ** 2) / width)
    arms = np.exp(-((y - middle[:, 0] - 2.5) ** 2 + (x - middle[:, 1] - 1.5) ** 2) / 1.5)
    blobs = np.clip(0.8 * blobs + 0.6 * arms, 0, 1)
    return (blobs[..., None] * rng.uniform(120, 255, (count, 1, 1, channels))).astype(np.uint8)


def model(group=None, channels=1):
    """A model as `fit` would have left it."""
    group = transforms.affine("rotation", "shift") if group is None else group
    made = SGM(group, inference_config=CONFIG, density_config=SMALL)
    shape = (SIDE, SIDE, channels)
    some = images(8, channels) / np.float32(127.5) - 1
    inference = build_inference(group, some, CONFIG, key=jax.random.key(0))
    density = Density(inference.group, shape, SMALL, key=jax.random.key(1))
    made.parts_ = _loud(Parts(inference, density))
    made.group_, made.image_shape_ = inference.group, shape
    return made


def _loud(parts):
    rng = np.random.default_rng(1)
    trained, rest = eqx.partition(parts, eqx.is_inexact_array)
    noisy = jax.tree.map(lambda w: w + jnp.asarray(0.05 * rng.normal(size=w.shape), w.dtype), trained)
    return eqx.combine(noisy, rest)
