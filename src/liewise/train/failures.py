"""What can stop a training run, and the warning for what must not stop it."""

import signal

from liewise.errors import LiewiseError

__all__ = ["CheckpointWarning", "Interrupted", "NonFiniteError", "TrainError"]


class TrainError(LiewiseError):
    """A configuration, a data set, a loss or a mesh that the loop cannot work with."""


class NonFiniteError(TrainError):
    """The loss or its gradient stopped being finite; the state is the last one that was."""

    def __init__(self, message: str, *, step: int, parts: dict[str, float]):
        super().__init__(message)
        self.step = step  # steps done when it happened: the offending batch is that of this index
        self.parts = parts  # what the loss and its metrics were there


class CheckpointWarning(UserWarning):
    """Something could not be written or read back; training goes on from the last good state."""


class Interrupted(SystemExit):
    """A signal ended the run in good order; the exit status is the shell's, 128 + signal."""

    def __init__(self, signum: int, message: str):
        super().__init__(128 + signum)
        self.signum = signum
        self.message = message

    def __str__(self) -> str:
        return f"{signal.Signals(self.signum).name}: {self.message}"
