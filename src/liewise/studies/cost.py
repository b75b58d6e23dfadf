"""What stage 2 costs: wall time until held-out likelihood is all but as good as it gets."""

import dataclasses
import time
from collections.abc import Sequence

import numpy as np

from liewise.report import Curve, draw_curves
from liewise.sgm import fit_density
from liewise.studies.context import Context, Fit
from liewise.studies.outcome import Cell, Measured, Outcome, Picture, Table
from liewise.studies.settings import SETTINGS
from liewise.studies.stage_two import Examined, examine

__all__ = ["Clock", "reached", "run"]

_SETTINGS = ("mnist-affine", "sprites-affine")
_NEAR = 0.05  # nats a coordinate
_MOST_SECONDS = 180.0
_LONGER = 2  # times the steps, to see where it converges
_COLUMNS = (
    "setting",
    "converged, nats a coordinate",
    "default's best",
    "within 0.05 after, s",
    "steps",
    "whole run, s",
)


class Clock:
    """Notes when each validation was done; a sink of the training loop."""

    def __init__(self):
        self._began = time.monotonic()
        self.rows: list[tuple[float, float, int]] = []  # seconds, validation loss, step

    def write(self, step: int, values: dict[str, float]) -> None:
        """Take the numbers of one step."""
        if "validation/loss" in values:
            self.rows.append((time.monotonic() - self._began, values["validation/loss"], step))

    def close(self) -> None:
        """Nothing is left to do."""


def run(context: Context) -> Outcome:
    """Time the default training of stage 2, and train for longer to see what it converges to."""
    rows, curves = [], []
    for name in _SETTINGS:
        fit = context.fit(SETTINGS[name])
        examined = examine(fit, seed=context.seed)
        default, longer = (_timed(context, fit, examined, times) for times in (1, _LONGER))
        dim = fit.model.group_.dim
        converged = min(loss for _, loss, _ in (*default, *longer)) / dim
        rows.append(_row(fit, default, converged, dim))
        seconds, losses, _ = np.array(default).T
        curves.append(Curve(fit.setting.title, seconds, losses / dim - converged))
    figure = draw_curves(
        curves,
        x="seconds, compilation included",
        y="nats a coordinate, above converged",
        level=_NEAR,
        limits=(0, 1),
        upright=_MOST_SECONDS,
    )
    caption = (
        "The default training of stage 2 on held-out examples: how far it is from where it converges. It should come"
        f" below {_NEAR:g} nats a coordinate (dashed, across) within {_MOST_SECONDS:.0f} s (dashed, upwards)."
    )
    notes = (
        "Nats are of -log p(η|x̂), mean over held-out training images and five prototypes of each; validated every"
        f" 100 steps. Converged is the best of this run and of one with {_LONGER} times the steps; neither stops"
        " early.",
        "Times are of the training alone, from its call on: poses and prototypes are found before.",
    )
    return Outcome({"curves": Picture(figure, caption)}, (Table("Stage 2", _COLUMNS, tuple(rows)),), notes)


def reached(rows: Sequence[tuple[float, float, int]], level: float) -> tuple[float, int] | None:
    """Return when the loss first came to a level, in seconds and steps; None if it never did."""
    return next(((seconds, step) for seconds, loss, step in rows if loss <= level), None)


def _timed(context: Context, fit: Fit, examined: Examined, times: int) -> list[tuple[float, float, int]]:
    training = context.recipe(fit.setting).density_training
    clock = Clock()
    fit_density(
        fit.model.group_,
        *examined.training,
        fit.model.parts_.density.config,
        dataclasses.replace(training, steps=times * training.steps, patience=None, seed=context.seed),
        validation=examined.validation,
        progress=context.progress,
        sinks=(clock,),
    )
    return clock.rows


def _row(fit: Fit, rows: list[tuple[float, float, int]], converged: float, dim: int) -> tuple[Cell, ...]:
    seconds, steps = reached(rows, (converged + _NEAR) * dim) or (float("nan"), None)
    best = min(loss for _, loss, _ in rows) / dim
    return fit.setting.title, converged, best, Measured(seconds, at_most=_MOST_SECONDS), steps, rows[-1][0]
