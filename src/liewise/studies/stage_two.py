"""Stage 2 alone: other densities of the same poses and prototypes that a fitted model's density learned from."""

from typing import NamedTuple

import jax

from liewise.sgm import Density, DensityConfig, Inference, fit_density
from liewise.sgm.examples import held_out_places
from liewise.sgm.stage_two import Pairs, make_pairs
from liewise.studies.context import Context, Fit

__all__ = ["Examined", "examine", "other_density"]


class Examined(NamedTuple):
    """What an inference makes of a fit's training examples: what is learned from, and what is held out of that."""

    training: Pairs
    validation: Pairs


def examine(fit: Fit, inference: Inference | None = None, *, seed: int) -> Examined:
    """Find poses, and prototypes of transformed copies, by the fit's own inference or by another."""
    model, images = fit.model, fit.examples.train.images
    places = held_out_places(len(images), model.validation, model.seed)
    keys = jax.random.split(jax.random.key(seed))
    return Examined(
        *(
            make_pairs(inference or model.parts_.inference, images[rows], draws=model.draws, key=key)
            for rows, key in zip(places, keys, strict=True)
        )
    )


def other_density(context: Context, fit: Fit, name: str, config: DensityConfig, examined: Examined) -> Density:
    """Fit another density, trained as the fit's own was; it goes into the fit's folder, and is taken from there."""
    training = context.recipe(fit.setting).density_training
    result = fit_density(
        fit.model.group_,
        *examined.training,
        config,
        training,
        validation=examined.validation,
        run_dir=context.fit_folder(fit.setting.name) / name,
        progress=context.progress,
    )
    return result.best
