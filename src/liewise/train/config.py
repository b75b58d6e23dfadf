"""How a model is trained: sizes, optimiser, validation, checkpoints and the length of a device call."""

import dataclasses
import itertools
import math
from collections.abc import Iterator

from liewise.train.failures import TrainError

__all__ = ["OptimiserConfig", "Phase", "TrainConfig"]


@dataclasses.dataclass(frozen=True)
class OptimiserConfig:
    """AdamW with clipping, a linear warm-up and a cosine decay, in the papers' parametrisation."""

    learning_rate: float = 3e-4  # per step, at its peak
    initial_multiplier: float = 1e-2  # first rate / peak
    final_multiplier: float = 1e-3  # last rate / peak
    warmup_fraction: float = 0.1  # of all steps
    weight_decay: float = 1e-4  # per step and unit of learning rate
    clip_norm: float | None = 10.0  # largest global norm of a gradient; None: unlimited

    def __post_init__(self):
        _require(self.learning_rate > 0, "learning_rate > 0", self.learning_rate)
        for name in ("initial_multiplier", "final_multiplier", "weight_decay"):
            _require(getattr(self, name) >= 0, f"{name} >= 0", getattr(self, name))
        _require(0 <= self.warmup_fraction < 1, "0 <= warmup_fraction < 1", self.warmup_fraction)
        _require(self.clip_norm is None or self.clip_norm > 0, "clip_norm > 0 or None", self.clip_norm)


@dataclasses.dataclass(frozen=True)
class Phase:
    """A stretch of steps that share a batch size."""

    start: int  # steps, inclusive
    stop: int  # steps, exclusive
    batch_size: int  # examples
    position: int  # examples drawn before `start`

    def drawn(self, step: int) -> int:
        """How many examples the steps before `step` have drawn."""
        return self.position + (step - self.start) * self.batch_size


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """Everything about a run that is not the model, the loss or the data."""

    steps: int = 10_000
    batch_size: int = 512  # examples a step, over all devices
    batch_changes: tuple[tuple[int, int], ...] = ()  # (first step, examples a step from there on), ascending
    optimiser: OptimiserConfig = dataclasses.field(default_factory=OptimiserConfig)
    validate_every: int = 500  # steps; without a validation set nothing is validated
    validation_batch_size: int = 512  # examples
    patience: int | None = None  # validations without a better one before stopping; None: never stop early
    log_every: int = 10  # steps between the rows of metrics.jsonl and of the history
    checkpoint_every: int | None = None  # steps; None: by time alone
    checkpoint_seconds: float | None = 60.0  # wall time; None: by steps alone
    keep_checkpoints: int = 3
    dispatch_steps: int = 1024  # most steps that one device call runs
    dispatch_seconds: float | None = 1.0  # wall time that a device call aims at; None: always dispatch_steps
    resident_bytes: int | None = None  # data up to this size live on the device; None: a third of its memory
    stream_bytes: int = 2**27  # size of one buffer of batches (two are held) when data are larger than that
    seed: int = 0

    def __post_init__(self):
        for name in _COUNTS:
            _require(getattr(self, name) >= 1, f"{name} >= 1", getattr(self, name))
        for name in ("patience", "checkpoint_every"):
            value = getattr(self, name)
            _require(value is None or value >= 1, f"{name} >= 1 or None", value)
        for name in ("checkpoint_seconds", "dispatch_seconds"):
            value = getattr(self, name)
            _require(value is None or value > 0, f"{name} > 0 or None", value)
        _require(
            self.resident_bytes is None or self.resident_bytes >= 0,
            "resident_bytes >= 0",
            self.resident_bytes,
        )
        _require(self.steps < 2**31, "steps < 2**31", self.steps)
        _require(0 <= self.seed < 2**31, "0 <= seed < 2**31", self.seed)
        starts = [0, *(start for start, _ in self.batch_changes), self.steps]
        ascending = all(a < b for a, b in itertools.pairwise(starts))
        sizes = [size for _, size in self.batch_changes]
        _require(
            ascending and all(size >= 1 for size in sizes),
            f"batch_changes as (step, size) pairs, steps ascending within 1..{self.steps - 1}, sizes >= 1",
            self.batch_changes,
        )
        largest = self.dispatch_steps * max(self.batch_size, *sizes, 1)
        _require(largest < 2**31, "dispatch_steps * batch size < 2**31", largest)

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The stretches of equal batch size, in order."""
        return tuple(self._phases())

    def _phases(self) -> Iterator[Phase]:
        changes = [(0, self.batch_size), *self.batch_changes]
        stops = [start for start, _ in changes[1:]] + [self.steps]
        position = 0
        for (start, size), stop in zip(changes, stops, strict=True):
            yield Phase(start, stop, size, position)
            position += (stop - start) * size

    def phase(self, step: int) -> Phase:
        """The phase that the step of this index belongs to."""
        return next(phase for phase in self.phases if step < phase.stop)

    @staticmethod
    def steps_for(epochs: float | int, examples: int, batch_size: int) -> int:
        """How many steps see each of `examples` `epochs` times.

        >>> TrainConfig.steps_for(epochs=40, examples=55_000, batch_size=32)
        68750
        """
        return math.ceil(epochs * examples / batch_size)


_COUNTS = (
    "steps",
    "batch_size",
    "validate_every",
    "validation_batch_size",
    "log_every",
    "keep_checkpoints",
    "dispatch_steps",
    "stream_bytes",
)


def _require(holds: bool, expected: str, value: object) -> None:
    if not holds:
        raise TrainError(f"expected {expected}; got {value}")
