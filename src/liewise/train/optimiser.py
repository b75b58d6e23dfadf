"""AdamW as the papers use it: clipped by global norm, warmed up linearly, decayed by a cosine."""

import optax

from liewise.train.config import OptimiserConfig
from liewise.train.schedules import Schedule, constant, warmup_cosine

__all__ = ["adamw", "learning_rate"]


def learning_rate(config: OptimiserConfig, steps: int) -> Schedule:
    """The learning rate as a function of the step, for a run of `steps` steps."""
    peak = config.learning_rate
    warmup = min(round(config.warmup_fraction * steps), steps - 1)
    if config.initial_multiplier == config.final_multiplier == 1:
        return constant(peak)
    initial, final = config.initial_multiplier * peak, config.final_multiplier * peak
    return warmup_cosine(peak, steps, initial=initial, final=final, warmup=warmup)


def adamw(config: OptimiserConfig, steps: int) -> optax.GradientTransformation:
    """The optimiser for a run of `steps` steps."""
    clip = optax.identity() if config.clip_norm is None else optax.clip_by_global_norm(config.clip_norm)
    rate = learning_rate(config, steps)
    return optax.chain(clip, optax.adamw(rate, weight_decay=config.weight_decay))
