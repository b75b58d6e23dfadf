"""The host's side of a run: what lies on the devices, what is due, and what has been recorded."""

import contextlib
import dataclasses
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh
from jaxtyping import PyTree

from liewise.train.checkpoints import Checkpoints, describe
from liewise.train.config import TrainConfig
from liewise.train.devices import AXIS, agree, as_mesh, fetch, place, to_local
from liewise.train.failures import Interrupted, NonFiniteError, TrainError
from liewise.train.feed import as_arrays, examples_of_step, open_feed
from liewise.train.pace import Pace
from liewise.train.progress import Reporter, open_reporter
from liewise.train.record import Record, Row
from liewise.train.result import Result
from liewise.train.schedules import Schedule
from liewise.train.sinks import Sink
from liewise.train.step import Loss, Outcome, Parts, Program
from liewise.train.validation import Validator

__all__ = ["Flight", "Run"]

# What may differ between a run and its resumption without changing a number.
_FREE = (
    "log_every",
    "checkpoint_every",
    "checkpoint_seconds",
    "keep_checkpoints",
    "dispatch_steps",
    "dispatch_seconds",
    "resident_bytes",
    "stream_bytes",
)


class Flight(NamedTuple):
    """A device call that is under way."""

    first: int  # steps done before it
    steps: int
    outcome: Outcome
    launched: float  # wall time


class Run:
    """One run of the loop; `loop.train` tells the story that these methods are the verbs of."""

    def __init__(
        self,
        model: PyTree,
        loss: Loss,
        data: Mapping[str, Any],
        config: TrainConfig,
        *,
        validation: Mapping[str, Any] | None,
        validation_loss: Loss,
        schedules: Mapping[str, Schedule],
        constants: Mapping[str, PyTree],
        run_dir: str | Path | None,
        mesh: Mesh | None,
    ):
        arrays = as_arrays(data, "data")
        self._config, self._mesh, self._model = config, as_mesh(mesh), model
        self._n = len(next(iter(arrays.values())))
        _refuse_clashes(data=arrays, schedules=schedules, constants=constants)
        _refuse_uneven(config, self._mesh)
        parts = Parts.of(model, constants)
        if not jax.tree.leaves(parts.trained):
            raise TrainError("expected a model with floating-point arrays to train; got one without any")
        self._arrays = place(parts.arrays, self._mesh)
        self._feed = open_feed(arrays, config, self._mesh)
        self._program = Program(loss, parts.static, schedules, config, self._feed, self._mesh)
        self._validator, self._best = None, None
        if validation is not None:
            held_out = as_arrays(validation, "validation data")
            self._validator = Validator(validation_loss, parts.static, schedules, held_out, config, self._mesh)
            self._best = place(parts.trained, self._mesh)
        self._state = place(self._program.begin(parts.trained), self._mesh)
        self._step, self._best_step, self._best_score, self._stale = 0, 0, math.inf, 0
        self._folder = None if run_dir is None else Path(run_dir)
        self._checkpoints = None
        if self._folder is not None:
            fingerprint = _fingerprint(config, model, arrays, validated=validation is not None)
            self._checkpoints = Checkpoints(self._folder / "checkpoints", fingerprint, config.keep_checkpoints)
        self._pace, self._saved_at, self._ready_at = Pace(config), time.monotonic(), 0.0

    @contextlib.contextmanager
    def opened(self, progress: str, sinks: Sequence[Sink]) -> Iterator[None]:
        """Take up where a checkpoint left off; files, threads and sinks are closed at the end."""
        leads = jax.process_index() == 0
        with contextlib.ExitStack() as closing:
            closing.callback(self._feed.close)
            self._open_folder()
            self._resume()
            path = self._folder / "metrics.jsonl" if leads and self._folder is not None else None
            self._record = Record(path, sinks if leads else (), self._step)
            closing.callback(self._record.close)
            self._reporter: Reporter = open_reporter(progress if leads else "silent", self._step, self._config.steps)
            closing.callback(self._reporter.close)
            if self._step:
                self._reporter.say(f"going on from step {self._step}")
            yield

    @property
    def unfinished(self) -> bool:
        """Whether there are steps to do."""
        return self._step < self._config.steps and not self._out_of_patience

    @property
    def _out_of_patience(self) -> bool:
        return self._config.patience is not None and self._stale >= self._config.patience

    def launch(self) -> Flight:
        """Set the devices to the next steps."""
        step = self._step
        self._program.prepare(self._state, self._arrays, step)
        length = agree([self._pace.length])[0]
        count = min(length, self._program.room(step), self._border(step) - step)
        launched = time.monotonic()
        self._state, outcome = self._program.launch(self._state, self._arrays, step, count)
        self._step += count
        return Flight(step, count, outcome, launched)

    def settle(self, flight: Flight | None) -> None:
        """Wait for a device call and record its numbers; raise if they stopped being finite."""
        if flight is None:
            return
        table, done, halted = fetch(flight.outcome)
        now = time.monotonic()
        self._pace.observe(int(done), now - max(flight.launched, self._ready_at))
        self._ready_at = now
        rows = [self._row(flight.first + i + 1, values) for i, values in enumerate(table[:done])]
        for row in rows:
            if row["step"] % self._config.log_every == 0:
                self._record.add(row)
        if halted:
            self._raise_non_finite(flight.first + int(done), table[done])
        if self._is_validated(flight.first + flight.steps):
            self._record.amend(rows[-1])  # written together with what validation will find
        else:
            self._record.flush()
            self._reporter.update(int(rows[-1]["step"]), rows[-1])

    def is_due(self, signum: int) -> bool:
        """Whether something is due for which the devices have to be idle; the same on every process."""
        if jax.process_count() > 1:
            return True  # what is due by one process's clock or signals has to be agreed on
        return self._is_validated(self._step) or self._is_saved(self._step) or signum != 0

    def attend(self, signum: int) -> None:
        """Validate, save and stop, as far as that is due."""
        saved, caught = agree([int(self._is_saved(self._step)), signum])
        if self._is_validated(self._step):
            self._validate()
        if saved or caught:
            self.save()
        if caught:
            where = "nothing was saved, since there is no run folder"
            if self._checkpoints is not None and self._checkpoints.last is not None:
                where = f"run it again to go on from step {self._checkpoints.last}"
            stop = Interrupted(caught, f"stopped after step {self._step}; {where}")
            self._reporter.say(str(stop))
            raise stop

    def save(self) -> None:
        """Make the present state safe; the devices have to be idle."""
        self._record.flush(durably=True)  # no checkpoint may be ahead of its rows
        if self._checkpoints is not None:
            notes = {"best_step": self._best_step, "best_score": self._best_score, "stale": self._stale}
            tree = (self._state.params, self._state.moments, self._best)
            self._checkpoints.save(int(self._state.step), tree, notes)
        self._saved_at = time.monotonic()

    def result(self, seconds: float) -> Result:
        """What the run leaves behind."""
        fixed = eqx.filter(self._model, eqx.is_inexact_array, inverse=True)
        last = eqx.combine(to_local(self._state.params), fixed)
        scored = self._best_score < math.inf
        return Result(
            best=eqx.combine(to_local(self._best), fixed) if scored else last,
            last=last,
            stopped="patience" if self._out_of_patience else "finished",
            step=self._step,
            best_step=self._best_step if scored else self._step,
            best_score=self._best_score if scored else None,
            history=tuple(self._record.rows),
            seconds=seconds,
        )

    def _open_folder(self) -> None:
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                (self._folder / "checkpoints").mkdir(exist_ok=True)
            except OSError as error:
                raise TrainError(f"expected a run folder that can be written to; {error}") from error

    def _resume(self) -> None:
        found = None
        if self._checkpoints is not None:
            found = self._checkpoints.restore((self._state.params, self._state.moments, self._best))
        if found is not None:
            (params, moments, self._best), notes = found
            self._step = notes["step"]
            step = place(np.int32(self._step), self._mesh)
            self._state = self._state._replace(params=params, moments=moments, step=step)
            self._best_step, self._best_score = notes["best_step"], notes["best_score"]
            self._stale = notes["stale"]

    def _validate(self) -> None:
        assert self._validator is not None
        scores = self._validator(self._state.params, self._arrays)
        row: Row = {"step": self._step, **{f"validation/{name}": value for name, value in scores.items()}}
        self._record.amend(row)
        self._record.flush()
        self._reporter.update(self._step, self._record.rows[-1])
        score = scores["loss"]
        if not math.isfinite(score):
            self._fail("the validation loss", self._step, row)
        if score < self._best_score:
            self._best = _copy(self._state.params)
            self._best_step, self._best_score, self._stale = self._step, score, 0
        else:
            self._stale += 1

    def _raise_non_finite(self, step: int, values: np.ndarray) -> None:
        self._fail("the loss or its gradient", step, self._row(step, values))

    def _fail(self, what: str, step: int, row: Row) -> None:
        parts = {name: float(value) for name, value in row.items() if name != "step"}
        self.save()
        where = ""
        if self._folder is not None and jax.process_index() == 0:
            report = self._folder / "nonfinite.json"
            chosen = examples_of_step(self._config, step, self._n) if step < self._config.steps else []
            words = {name: value if math.isfinite(value) else str(value) for name, value in parts.items()}
            report.write_text(json.dumps({"step": step, "parts": words, "examples": [int(i) for i in chosen]}))
            where = f"; that state is saved, the batch is named in {report}"
        numbers = ", ".join(f"{name} {value:.6g}" for name, value in parts.items())
        raise NonFiniteError(f"{what} is not finite after {step} steps ({numbers}){where}", step=step, parts=parts)

    def _row(self, step: int, values: np.ndarray) -> Row:
        return {"step": step, **dict(zip(self._program.names, values.tolist(), strict=True))}

    def _is_validated(self, step: int) -> bool:
        every = self._config.validate_every
        return self._validator is not None and (step % every == 0 or step == self._config.steps)

    def _is_saved(self, step: int) -> bool:
        if self._checkpoints is None:
            return False
        every, seconds = self._config.checkpoint_every, self._config.checkpoint_seconds
        by_step = every is not None and step % every == 0
        return by_step or (seconds is not None and time.monotonic() - self._saved_at >= seconds)

    def _border(self, step: int) -> int:
        """The next step at which something is due."""
        config = self._config
        every = [config.validate_every] if self._validator is not None else []
        if self._checkpoints is not None and config.checkpoint_every is not None:
            every.append(config.checkpoint_every)
        return min([config.steps, *((step // length + 1) * length for length in every)])


_copy = jax.jit(lambda tree: jax.tree.map(lambda leaf: leaf.copy(), tree))


def _fingerprint(
    config: TrainConfig, model: PyTree, data: Mapping[str, np.ndarray], *, validated: bool
) -> dict[str, Any]:
    settings = {name: value for name, value in dataclasses.asdict(config).items() if name not in _FREE}
    arrays = eqx.filter(model, eqx.is_array)
    return {
        "config": settings,
        "model": describe(arrays),
        "data": describe(dict(data)),
        "validated": validated,
    }


def _refuse_clashes(**groups: Mapping[str, Any]) -> None:
    owner: dict[str, str] = {}
    for group, names in groups.items():
        for name in names:
            if name in owner:
                raise TrainError(f"a batch cannot hold {name!r} twice: it is in {owner[name]} and in {group}")
            owner[name] = group


def _refuse_uneven(config: TrainConfig, mesh: Mesh) -> None:
    shares = mesh.shape[AXIS]
    for phase in config.phases:
        if phase.batch_size % shares:
            raise TrainError(
                f"expected a batch size that {shares} devices can share evenly; got {phase.batch_size} "
                f"from step {phase.start} on"
            )
