"""How a run shows itself: a bar on a terminal, plain lines elsewhere, or not at all."""

import sys
import time
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from liewise.train.failures import TrainError

__all__ = ["Reporter", "announce", "open_reporter"]

_LINE_SECONDS = 10.0
_HIDDEN = ("step", "grad_norm", "learning_rate")
_SHOWN = 5


@runtime_checkable
class Reporter(Protocol):
    """Whoever watches a run."""

    def update(self, step: int, values: Mapping[str, float | int]) -> None:
        """So many steps are done, with these numbers at the last of them."""
        ...

    def say(self, text: str) -> None:
        """Something worth a line happened."""
        ...

    def close(self) -> None:
        """The run is over."""
        ...


class _Clock:
    """Steps a second and the time left, judged by the steps done in this process."""

    def __init__(self, steps: int):
        self._steps = steps
        self._began: tuple[int, float] | None = None  # the first steps done: those before include compiling

    def describe(self, step: int) -> str:
        now = time.monotonic()
        if self._began is None:
            self._began = step, now
        first, began = self._began
        if step == first:
            return "-- steps/s"
        rate = (step - first) / max(now - began, 1e-9)
        return f"{rate:.4g} steps/s, {_duration((self._steps - step) / rate)} left"


class Silent:
    """Shows nothing."""

    def update(self, step: int, values: Mapping[str, float | int]) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class Lines:
    """A plain line now and then, for logs."""

    def __init__(self, first: int, steps: int, console: Console):
        self._steps, self._console, self._clock = steps, console, _Clock(steps)
        self._due = time.monotonic()

    def update(self, step: int, values: Mapping[str, float | int]) -> None:
        """Print a line if the last one is a while ago or this step was validated."""
        now = time.monotonic()
        validated = any(name.startswith("validation/") for name in values)
        if now >= self._due or validated or step == self._steps:
            self._due = now + _LINE_SECONDS
            self.say(f"step {step}/{self._steps}  {_numbers(values)}  {self._clock.describe(step)}")

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Nothing to close."""


class Bar:
    """A bar with rate, time left and the main numbers."""

    def __init__(self, first: int, steps: int, console: Console):
        self._clock = _Clock(steps)
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}", markup=False))
        self._bar = Progress(*columns, console=console)
        self._task: TaskID = self._bar.add_task("", total=steps, completed=first, note="compiling")
        self._validated = ""
        self._bar.start()

    def update(self, step: int, values: Mapping[str, float | int]) -> None:
        """Move the bar."""
        if "validation/loss" in values:
            self._validated = f"  validation {values['validation/loss']:.4g}"
        trained = {name: value for name, value in values.items() if not name.startswith("validation/")}
        note = f"{self._clock.describe(step)}  {_numbers(trained)}{self._validated}"
        self._bar.update(self._task, completed=step, note=note)

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._bar.console.print(text, markup=False, highlight=False)

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.stop()


def open_reporter(kind: str, first: int, steps: int, stream: Any = None) -> Reporter:
    """The reporter of a run of `steps` steps that begins at step `first`: auto, bar, lines or silent."""
    if kind == "silent":
        return Silent()
    console = Console(file=sys.stderr if stream is None else stream)
    if kind == "auto":
        kind = "bar" if console.is_terminal else "lines"
    if kind not in ("bar", "lines"):
        raise TrainError(f"expected progress as 'auto', 'bar', 'lines' or 'silent'; got {kind!r}")
    return (Bar if kind == "bar" else Lines)(first, steps, console)


def announce(kind: str, text: str) -> None:
    """Say something between runs, as their progress is shown; `kind` is theirs."""
    reporter = open_reporter("silent" if kind == "silent" else "lines", 0, 0)
    reporter.say(text)
    reporter.close()


def _numbers(values: Mapping[str, float | int]) -> str:
    first = {name: values[name] for name in ("loss", "validation/loss") if name in values}
    shown = [(name, value) for name, value in {**first, **values}.items() if name not in _HIDDEN][:_SHOWN]
    return "  ".join(f"{name} {value:.4g}" for name, value in shown)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
