"""The grids of `004`, Appendix C.1, as data, and choosing from them as an Optuna trial does.

    import optuna
    from liewise.studies.grids import DENSITY, suggest, with_values

    sampler = optuna.samplers.GridSampler(DENSITY)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: score(*with_values(suggest(trial, DENSITY), config, training)))

`liewise study run sgm-sweep` does this for both stages.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from liewise.errors import LiewiseError
from liewise.train import OptimiserConfig, TrainConfig

__all__ = ["DENSITY", "INFERENCE", "Grid", "Trial", "suggest", "with_values"]

Grid = Mapping[str, Sequence[float | int]]
C = TypeVar("C")

INFERENCE: Grid = {
    "blur": [0.0, 3.0],  # px
    "clip_norm": [3.0, 10.0],
    "learning_rate": [1e-3, 3e-4, 1e-4],
    "initial_multiplier": [3e-2, 1e-2],
    "final_multiplier": [1e-3, 3e-4],
    "warmup_fraction": [0.05, 0.1, 0.2],
}
DENSITY: Grid = {
    "learning_rate": [3e-3, 3e-4],
    "final_multiplier": [0.3, 0.03],
    "steps": [7_500, 15_000, 30_000, 60_000],
    "layers": [4, 5, 6],
    "feature_dropout": [0.05, 0.1, 0.2],
}


@runtime_checkable
class Trial(Protocol):
    """What is needed of an Optuna trial."""

    def suggest_categorical(self, name: str, choices: Any) -> Any:
        """Choose one of several values."""
        ...


def suggest(trial: Trial, grid: Grid) -> dict[str, float | int]:
    """Let a trial choose a value for each name of a grid."""
    return {name: trial.suggest_categorical(name, list(choices)) for name, choices in grid.items()}


def with_values(values: Mapping[str, float | int], config: C, training: TrainConfig) -> tuple[C, TrainConfig]:
    """Return a stage's configuration and training with some values changed, each where its name is found.

    >>> from liewise.sgm import DensityConfig, density_training
    >>> config, training = with_values({"layers": 4, "clip_norm": 3.0}, DensityConfig(), density_training())
    >>> config.layers, training.optimiser.clip_norm
    (4, 3.0)
    """
    places: tuple[Any, ...] = (config, training, training.optimiser)
    shares: list[dict[str, float | int]] = [{}, {}, {}]
    for name, value in values.items():
        owners = [place for place, owner in enumerate(places) if name in _fields(owner)]
        if not owners:
            raise LiewiseError(f"neither {type(config).__name__} nor a training has {name!r}")
        shares[owners[0]][name] = value
    optimiser: OptimiserConfig = dataclasses.replace(training.optimiser, **shares[2])
    changed: Any = dataclasses.replace(places[0], **shares[0])
    return changed, dataclasses.replace(training, optimiser=optimiser, **shares[1])


def _fields(owner: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(owner)}
