"""One training loop for every model: it knows a loss, some data and a configuration, and no model."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jax.sharding import Mesh
from jaxtyping import PyTree

from liewise.train.config import TrainConfig
from liewise.train.result import Result
from liewise.train.run import Flight, Run
from liewise.train.schedules import Schedule
from liewise.train.signals import Signals
from liewise.train.sinks import Sink
from liewise.train.step import Loss

__all__ = ["train"]


def train(
    model: PyTree,
    loss: Loss,
    data: Mapping[str, Any],
    config: TrainConfig,
    *,
    validation: Mapping[str, Any] | None = None,
    validation_loss: Loss | None = None,
    schedules: Mapping[str, Schedule] | None = None,
    constants: Mapping[str, PyTree] | None = None,
    run_dir: str | Path | None = None,
    mesh: Mesh | None = None,
    progress: str = "auto",
    sinks: Sequence[Sink] = (),
) -> Result:
    """Train a model, or go on from where a run in `run_dir` was cut off.

    Args:
        model: any Equinox pytree; its inexact arrays are trained, everything else stays.
        loss: `loss(model, batch, key) -> (scalar, dict of scalars)`.
        data: arrays of equal length; a batch holds some rows of each, in their own dtype, by name.
        config: sizes, optimiser, validation, checkpoints.
        validation: like `data`; scored every `config.validate_every` steps with dropout off.
        validation_loss: what to score by, if not by `loss`.
        schedules: functions of the step; a batch holds their values by name. In validation they stand at
            their last value, so that scores can be compared.
        constants: pytrees that a batch holds whole, by name, and that are not trained: a frozen model, say.
        run_dir: where checkpoints and metrics.jsonl go; without it, nothing is written.
        mesh: devices to share each batch out over, along the axis `batch`; all of them by default.
        progress: "bar", "lines", "silent", or "auto": a bar on a terminal, otherwise lines.
        sinks: further places for the numbers.
    """
    began = time.monotonic()
    run = Run(
        model,
        loss,
        data,
        config,
        validation=validation,
        validation_loss=validation_loss or loss,
        schedules=schedules or {},
        constants=constants or {},
        run_dir=run_dir,
        mesh=mesh,
    )
    with Signals() as signals, run.opened(progress, sinks):
        behind: Flight | None = None
        while run.unfinished:
            ahead = run.launch()  # the device starts on the next steps ...
            run.settle(behind)  # ... while the host records the last ones
            behind = ahead
            if run.is_due(signals.caught):
                run.settle(ahead)
                behind = None
                run.attend(signals.caught)
        run.settle(behind)
        run.save()
    return run.result(time.monotonic() - began)
