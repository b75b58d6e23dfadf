"""Studies in seconds: a few examples, a few steps, small networks."""

from dataclasses import replace

import numpy as np

from liewise.sgm import DensityConfig
from liewise.studies.context import Context
from liewise.studies.settings import Examples, Recipe, Setting

SMALL = DensityConfig(features=(16, 8), head=(8,), conditioner=(8,), layers=1, bins=4, side=16)


class TinyContext(Context):
    """Cuts every setting down."""

    train, test, steps = 96, 40, 3

    def examples(self, setting: Setting) -> Examples:
        whole = super().examples(setting)
        return Examples(_spread(whole.train, self.train), _spread(whole.test, self.test))

    def recipe(self, setting: Setting) -> Recipe:
        recipe = super().recipe(setting)
        hidden = (16,) if recipe.inference_config.network == "equivariant" else recipe.inference_config.hidden
        return replace(
            recipe,
            inference_config=replace(recipe.inference_config, hidden=hidden, looks=(1, 1), looks_at_use=(1, 1)),
            density_config=SMALL,
            inference_training=replace(recipe.inference_training, steps=self.steps, batch_size=16),
            density_training=replace(recipe.density_training, steps=self.steps, batch_size=16),
        )


def _spread(split, count):
    return split[np.linspace(0, len(split) - 1, min(count, len(split))).astype(int)]
