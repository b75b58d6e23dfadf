"""A sweep of the grids of Appendix C.1 by Optuna: stage 1, and stage 2 given the best of stage 1."""

import dataclasses
import importlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from liewise.datasets import Split, load
from liewise.errors import LiewiseError
from liewise.sgm import Inference, fit_density, fit_inference
from liewise.sgm.stage_two import make_pairs
from liewise.studies.context import Context
from liewise.studies.grids import DENSITY, INFERENCE, Grid, suggest, with_values
from liewise.studies.outcome import Outcome, Table
from liewise.studies.settings import SETTINGS, Recipe

__all__ = ["run", "scaled", "sweep"]

_TRIALS = {"small": 4, "paper": None}  # of each stage; None: the whole grid
_SHORTER = {"small": 30, "paper": 1}  # times fewer steps than the grid and the presets have
_VALIDATION = 10_000  # C.1: the last digits of the training set, for sweeps alone
_DRAWS = 5

Score = Callable[[dict[str, float | int]], float]


def run(context: Context) -> Outcome:
    """Sweep stage 1, then stage 2; a sweep that was cut off goes on."""
    _optuna()  # refused before any data are read
    recipe = context.recipe(SETTINGS["mnist-affine"])
    training, validation = _digits(context)
    shorter = _SHORTER[context.scale]

    def first(values: dict[str, float | int]) -> float:
        return _fitted(context, recipe, values, training, validation, shorter)[1]

    folder, trials = context.fit_folder("sweep"), _TRIALS[context.scale]
    found = sweep(INFERENCE, first, folder / "inference.db", trials=trials, seed=context.seed)
    inference, _ = _fitted(context, recipe, found[0][0], training, validation, shorter)
    keys = jax.random.split(jax.random.key(context.seed))
    pairs, held_out = (
        make_pairs(inference, split.images, draws=_DRAWS, key=key)
        for split, key in zip((training, validation), keys, strict=True)
    )
    grid = scaled(DENSITY, shorter)

    def second(values: dict[str, float | int]) -> float:
        config, asked = with_values(values, recipe.density_config, recipe.density_training)
        asked = dataclasses.replace(asked, seed=context.seed)
        result = fit_density(inference.group, *pairs, config, asked, validation=held_out, progress=context.progress)
        return _best(result.best_score)

    others = sweep(grid, second, folder / "density.db", trials=trials, seed=context.seed)
    return Outcome(
        {},
        (_table("Stage 1: loss on digits held out for sweeps", found), _table("Stage 2: -log p(η|x̂), nats", others)),
        (
            f"{len(found)} of {_size(INFERENCE)} settings of stage 1 and {len(others)} of {_size(grid)} of stage 2, the"
            f" best first, learned from {len(training):,} digits and scored on {len(validation):,} others.",
            f"Trainings are {shorter} times shorter than the grid's." if shorter > 1 else "Trainings are the grid's.",
        ),
    )


def sweep(
    grid: Grid, score: Score, database: Path, *, trials: int | None, seed: int
) -> list[tuple[dict[str, float | int], float]]:
    """Score settings of a grid, in random order and none twice; return them with their scores, the lowest first.

    Args:
        grid: names and choices.
        score: what is to be low.
        database: where Optuna keeps trials; those that are there count.
        trials: how many, those that are there included; the whole grid if not given.
        seed: of the order.
    """
    optuna = _optuna()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    database.parent.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(
        study_name="sweep",
        storage=f"sqlite:///{database}",
        sampler=optuna.samplers.GridSampler({name: list(choices) for name, choices in grid.items()}, seed=seed),
        load_if_exists=True,
    )
    done = [trial for trial in study.trials if trial.state.is_finished()]
    left = (_size(grid) if trials is None else min(trials, _size(grid))) - len(done)
    if left > 0:
        study.optimize(lambda trial: score(suggest(trial, grid)), n_trials=left)
    found = [(dict(trial.params), float(trial.value)) for trial in study.trials if trial.value is not None]
    return sorted(found, key=lambda pair: pair[1])


def scaled(grid: Grid, shorter: int) -> Grid:
    """Return a grid whose numbers of steps are so many times smaller."""
    return {
        name: [max(1, round(choice / shorter)) for choice in choices] if name == "steps" else choices
        for name, choices in grid.items()
    }


def _digits(context: Context) -> tuple[Split, Split]:
    """C.1: the last digits of the training set are for sweeps; the model learns from the others."""
    digits = load("mnist", data_dir=context.data_dir).train
    return digits.divide(_VALIDATION)


def _fitted(
    context: Context,
    recipe: Recipe,
    values: dict[str, float | int],
    training: Split,
    validation: Split,
    shorter: int,
) -> tuple[Inference, float]:
    config, asked = with_values(values, recipe.inference_config, recipe.inference_training)
    steps = max(1, round(asked.steps / shorter))
    result = fit_inference(
        recipe.group,
        training.images,
        config,
        dataclasses.replace(asked, steps=steps, seed=context.seed),
        validation=validation.images,
        progress=context.progress,
    )
    return result.best, _best(result.best_score)


def _table(title: str, found: list[tuple[dict[str, float | int], float]]) -> Table:
    names = tuple(found[0][0])
    return Table(title, (*names, "score"), tuple((*(values[name] for name in names), score) for values, score in found))


def _size(grid: Grid) -> int:
    return int(np.prod([len(choices) for choices in grid.values()]))


def _best(score: float | None) -> float:
    return math.nan if score is None else score


def _optuna() -> Any:
    try:
        return importlib.import_module("optuna")
    except ImportError as error:
        raise LiewiseError("sweeps need Optuna, an extra: pip install 'liewise[sweep]'") from error
