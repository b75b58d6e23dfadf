"""A group of one's own that is quick to compile and loses nothing, images for it, and a model fitted in seconds."""

import jax.numpy as jnp
import numpy as np

from liewise.sgm import SGM, DensityConfig, InferenceConfig
from liewise.train import TrainConfig
from liewise.transforms import Additive, Coordinate

SIDE = 8  # pixels


class Belt(Additive):
    """Images on a conveyor belt that closes, and how bright they are."""

    def act(self, element, examples):
        width = examples.shape[2]
        cycles = jnp.fft.rfftfreq(width)[None, None, :, None] * width
        phases = jnp.exp(-2j * jnp.pi * cycles * element[:, 0, None, None, None])
        moved = jnp.fft.irfft(jnp.fft.rfft(examples, axis=2) * phases, width, axis=2)
        return (moved + 1) * jnp.exp(element[:, 1])[:, None, None, None] - 1


BELT = Belt(
    (
        Coordinate("along", "deg", "to the right", -0.5, 0.5, period=1.0),  # in rounds
        Coordinate("gain", "factor", "brighter", -0.2, 0.2),
    )
)


def images(count=48, seed=0):
    """Bytes [n, 8, 8, 1]: two slow waves a row, so that moving them by parts of a pixel loses nothing."""
    rng = np.random.default_rng(seed)
    around = 2 * np.pi * np.arange(SIDE) / SIDE
    phase, strength = rng.uniform(0, 2 * np.pi, (2, count, SIDE, 1)), rng.uniform(20, 35, (2, count, SIDE, 1))
    waves = strength[0] * np.cos(around + phase[0]) + strength[1] * np.cos(2 * around + phase[1])
    return np.rint(90 + waves)[..., None].astype(np.uint8)


def small_model(group=BELT, **options):
    """Return a model that is not fitted yet, of networks as small as they get, and trainings of a few steps."""
    training = TrainConfig(steps=4, batch_size=16, validate_every=2, validation_batch_size=16)
    return SGM(
        group,
        inference_config=InferenceConfig(hidden=(16,), looks=(1, 1), looks_at_use=(1, 1)),
        density_config=DensityConfig(features=(8,), head=(8,), conditioner=(8,), family="gaussian"),
        inference_training=training,
        density_training=training,
        draws=2,
    ).set_params(**options)
