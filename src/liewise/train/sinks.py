"""Other places for the numbers of a run: TensorBoard and Weights & Biases, each an extra."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

from liewise.train.failures import TrainError

__all__ = ["Sink", "TensorBoard", "WandB"]


@runtime_checkable
class Sink(Protocol):
    """Anything that takes numbers by step."""

    def write(self, step: int, values: dict[str, float]) -> None:
        """Take the numbers of one step; steps come in ascending order."""
        ...

    def close(self) -> None:
        """The run is over."""
        ...


class TensorBoard:
    """Writes event files that `tensorboard --logdir` shows."""

    def __init__(self, folder: str | Path):
        self._writer = _extra("tensorboardX", "tensorboard").SummaryWriter(str(folder))

    def write(self, step: int, values: dict[str, float]) -> None:
        """Take the numbers of one step."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Write what is left and close the file."""
        self._writer.close()


class WandB:
    """Logs to a Weights & Biases run; keywords (project, name, mode, config, ...) go to `wandb.init`."""

    def __init__(self, **keywords: Any):
        self._run = _extra("wandb", "wandb").init(**keywords)

    def write(self, step: int, values: dict[str, float]) -> None:
        """Take the numbers of one step."""
        self._run.log(values, step=step)

    def close(self) -> None:
        """Mark the run as finished."""
        self._run.finish()


def _extra(module: str, extra: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise TrainError(f"this sink needs {module}: pip install 'liewise[{extra}]'") from error
