"""Studies in seconds: a few made examples, small networks, and no data set has to be there."""

from dataclasses import replace

import jax
import numpy as np

from liewise.datasets import Split, coloured, load, rotated
from liewise.sgm import DensityConfig, InferenceConfig, build_inference
from liewise.sgm.density import Density
from liewise.sgm.queries import Parts
from liewise.studies.context import Context, Fit
from liewise.studies.settings import Examples, Recipe, Setting

SMALL = DensityConfig(features=(16, 8), head=(8,), conditioner=(8,), layers=1, bins=4, side=16)
SIDE = 16  # pixels


class FittingContext(Context):
    """Cuts every setting down, and puts sprites in the place of its images."""

    train, test, steps = 96, 40, 3

    def examples(self, setting: Setting) -> Examples:
        group = setting.recipes["small"].group
        made = load("sprites", n=self.train, n_test=self.test, size=SIDE, seed=self.seed)
        parts = [made.train, made.test]
        if "sprites" not in setting.name:
            parts = [Split(part.images, np.arange(len(part)) % 10) for part in parts]
        if setting.name.startswith("mnist-rotated"):
            parts = [rotated(part, float(setting.name.split("-")[-1]), seed=i) for i, part in enumerate(parts)]
        if "hue" in group.names:
            parts = [coloured(part, seed=i) for i, part in enumerate(parts)]
        return Examples(*parts)

    def recipe(self, setting: Setting) -> Recipe:
        recipe = super().recipe(setting)
        return replace(
            recipe,
            inference_config=InferenceConfig(network="plain", hidden=(16,)),  # which compiles sooner
            density_config=SMALL,
            inference_training=replace(recipe.inference_training, steps=self.steps, batch_size=16),
            density_training=replace(recipe.density_training, steps=self.steps, batch_size=16, validate_every=1),
        )


class TinyContext(FittingContext):
    """Does without the fits of whole models: their networks are as they were drawn."""

    def _fit(self, setting: Setting) -> Fit:
        examples, recipe = self.examples(setting), self.recipe(setting)
        model = self.model(recipe)
        one, other = jax.random.split(jax.random.key(self.seed))
        shape = examples.train.image_shape
        inference = build_inference(recipe.group, np.zeros((2, *shape)), recipe.inference_config, key=one)
        model.parts_ = Parts(inference, Density(inference.group, shape, recipe.density_config, key=other))
        model.group_, model.image_shape_ = inference.group, shape
        model.seconds_ = {"inference": 1.0, "density": 1.0}
        return Fit(setting, examples, model, reused=False)
