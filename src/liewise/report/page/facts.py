"""What a run's folder says by itself, without its model: what was asked for, how training went, how to do it again."""

import datetime
import json
import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from liewise.errors import StoreError
from liewise.train import RunFolder

__all__ = ["STAGES", "Curve", "Facts"]

STAGES = {"inference": "Finding poses", "density": "Learning densities"}  # sub-folders, in order

Curve = tuple[np.ndarray, np.ndarray]  # steps, values


@dataclass(frozen=True)
class Facts:
    """A run's configuration, result and metrics."""

    path: Path
    config: dict[str, Any]
    result: dict[str, Any] | None  # None: the run is not finished
    rows: dict[str, list[dict[str, float]]]  # by stage

    @classmethod
    def of(cls, path: Path) -> "Facts":
        """Read a run's folder; one that holds no run of a model that the page knows is refused."""
        folder = RunFolder(path)
        if not path.is_dir():
            raise StoreError(f"no run in {path}: there is no such folder")
        config = folder.read()
        kind = config["settings"].get("model")
        if kind != "sgm":
            raise StoreError(f"the run in {path} is of {kind!r}; a report needs one of `liewise fit`")
        try:
            result = folder.result() if folder.finished else None
        except ValueError as error:
            raise StoreError(f"{path / 'result.json'} is torn: {error}") from error
        return cls(path, config, result, {stage: _rows(path / stage / "metrics.jsonl") for stage in STAGES})

    @property
    def about(self) -> dict[str, Any]:
        """Where the data came from; empty for a run that was not begun on the command line."""
        return self.config.get("about", {}).get("data", {})

    @property
    def settings(self) -> dict[str, Any]:
        """What was asked for."""
        return self.config["settings"]

    @property
    def name(self) -> str:
        """What the data are called."""
        return str(self.about.get("name") or "a data set")

    @property
    def began(self) -> list[dict[str, Any]]:
        """When, with which versions and on what the run began and went on."""
        return self.config.get("began", [])

    @property
    def date(self) -> str:
        """The day on which the run began."""
        return "" if not self.began else f"{datetime.datetime.fromisoformat(self.began[0]['at']):%-d %B %Y}"

    @property
    def shape(self) -> tuple[int, ...]:
        """Of all the images: how many, height, width, channels."""
        return tuple(self.settings.get("images", {}).get("shape", ()))

    def planned(self, stage: str) -> int:
        """Return how many steps a stage was to have."""
        return int(self.settings[f"{stage}_training"]["steps"])

    def done(self, stage: str) -> int:
        """Return how many steps of a stage have been recorded."""
        return int(self.rows[stage][-1]["step"]) if self.rows[stage] else 0

    def curve(self, stage: str, name: str) -> Curve:
        """Return the steps at which a number was recorded, and what it was."""
        rows = [(row["step"], row[name]) for row in self.rows[stage] if math.isfinite(row.get(name, math.nan))]
        return np.array([step for step, _ in rows], float), np.array([value for _, value in rows], float)

    @property
    def command(self) -> str | None:
        """The command that makes the same run; None for one that was not begun on the command line."""
        given = self.about
        if "given" not in given:
            return None
        words = ["liewise", "fit", given["given"]]
        for name, value in given.get("options", {}).items():
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
        words += ["--split", given["split"]]
        if self.config["about"].get("transforms"):
            words += ["--transforms", self.config["about"]["transforms"]]
        words += ["--steps", str(self.planned("inference")), "--density-steps", str(self.planned("density"))]
        words += ["--seed", str(self.settings["seed"]), "--out", str(self.path)]
        return shlex.join(words)


def _rows(path: Path) -> list[dict[str, float]]:
    """Read metrics as far as they are whole: a run that is going on may be writing the last row."""
    if not path.exists():
        return []
    found = []
    for line in path.read_text().splitlines():
        try:
            row = json.loads(line)
            found.append({name: math.nan if value is None else float(value) for name, value in row.items()})
        except (ValueError, TypeError, AttributeError):
            break
    return [row for row in found if "step" in row]
