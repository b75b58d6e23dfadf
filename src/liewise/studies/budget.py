"""Stage 1 within a given time: as many steps as fit into it, with a schedule that ends with them."""

import dataclasses
import json

import numpy as np

from liewise.sgm import Inference, fit_inference
from liewise.studies.context import Context, write_json
from liewise.studies.settings import Recipe

__all__ = ["fit_within"]

_TRIALS = (10, 40)  # steps of two short runs, which tell the time of a step from that of starting


def fit_within(
    context: Context, name: str, recipe: Recipe, images: np.ndarray, seconds: float
) -> tuple[Inference, float]:
    """Train stage 1 for about so many seconds, compilation included; the inference, and how long it took.

    How many steps that is gets written down, so that a run that was cut off goes on with the same.
    """
    folder = context.fit_folder(name)
    plan_file = folder / "budget.json"
    if plan_file.exists():
        plan = json.loads(plan_file.read_text())
    else:
        plan = {"asked": seconds, "steps": _steps(context, recipe, images, seconds)}
        write_json(plan_file, plan)
    result = fit_inference(
        recipe.group,
        images,
        recipe.inference_config,
        _training(context, recipe, plan["steps"]),
        run_dir=folder / "inference",
        progress=context.progress,
    )
    plan.setdefault("seconds", result.seconds)
    write_json(plan_file, plan)
    return result.best, plan["seconds"]


def _steps(context: Context, recipe: Recipe, images: np.ndarray, seconds: float) -> int:
    few, more = (
        fit_inference(
            recipe.group, images, recipe.inference_config, _training(context, recipe, steps), progress="silent"
        ).seconds
        for steps in _TRIALS
    )
    each = max((more - few) / (_TRIALS[1] - _TRIALS[0]), 1e-4)
    start = max(few - _TRIALS[0] * each, 0.0)
    return max(1, round((seconds - start) / each))


def _training(context: Context, recipe: Recipe, steps: int):
    return dataclasses.replace(recipe.inference_training, steps=steps, seed=context.seed)
