"""A run's folder: what was asked for, with what, and whether it is done; so that a run goes on, or is left alone.

`config.json` says what is fitted to what, and comes first; `result.json` comes last. Between them lie checkpoints,
metrics, the model, and a few examples: all that a report needs.
"""

import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from liewise._version import __version__
from liewise.errors import StoreError
from liewise.train.checkpoints import difference
from liewise.train.store import replace

__all__ = ["RunFolder", "fingerprint"]

_FORMAT = 1
_CONFIG, _RESULT, _EXAMPLES = "config.json", "result.json", "examples.npz"
_PACKAGES = ("jax", "jaxlib", "equinox", "flowjax", "optax", "numpy")


@dataclass(frozen=True)
class RunFolder:
    """A folder that holds one run."""

    path: Path
    about: Mapping[str, Any] = field(default_factory=dict)  # what else config.json says: where the data came from
    force: bool = False  # start anew where the folder holds a run

    @property
    def finished(self) -> bool:
        """Whether the run that the folder holds is done."""
        return (self.path / _RESULT).exists()

    @property
    def exists(self) -> bool:
        """Whether the folder holds a run, of whatever kind and state."""
        return self.path.is_dir() and _is_run(self.path)

    def claim(self, settings: Mapping[str, Any]) -> bool:
        """Take the folder for the run of these settings: begin it, or go on with it; return whether it goes on.

        A folder with anything else in it is refused; one with another run as well, unless `force` replaces it.
        """
        settings = json.loads(json.dumps(settings))  # as it will be read back
        if self.path.exists() and not self.path.is_dir():
            raise StoreError(f"expected a folder for the run; {self.path} is a file")
        used = self.path.exists() and any(self.path.iterdir())
        if used and not _is_run(self.path):
            raise StoreError(f"{self.path} is not empty and holds no run of liewise: name a folder of its own")
        if used and self.force:
            _clear(self.path)
            used = False
        config = {"format": _FORMAT, "settings": settings, "about": dict(self.about), "began": []}
        if used:
            config = _read(self.path)
            apart = difference(config["settings"], settings)
            if apart:
                raise StoreError(
                    f"{self.path} holds another run: {apart}; name another folder, or replace it by --force"
                )
            if self.finished:
                return True
        config["began"].append(_circumstances())
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            replace(self.path / _CONFIG, json.dumps(config, indent=1).encode())
        except OSError as error:
            raise StoreError(f"expected a run folder that can be written to; {error}") from error
        return used

    def read(self) -> dict[str, Any]:
        """Return config.json: settings, about, and with what the run began and went on."""
        return _read(self.path)

    def result(self) -> dict[str, Any]:
        """Return what `finish` was given; a run of another version, or one that is not finished, is refused."""
        self.read()
        if not self.finished:
            raise StoreError(f"the run in {self.path} is not finished: give the same command again, and it goes on")
        return json.loads((self.path / _RESULT).read_text())

    def keep_examples(self, **arrays: np.ndarray) -> None:
        """Keep some of the examples, by name, for whoever looks at the run when the data are gone."""
        unfinished = self.path / f".{_EXAMPLES}"
        with unfinished.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
        os.replace(unfinished, self.path / _EXAMPLES)

    def examples(self) -> dict[str, np.ndarray]:
        """Return the examples that were kept."""
        try:
            with np.load(self.path / _EXAMPLES) as kept:
                return dict(kept)
        except (OSError, ValueError, EOFError) as error:
            raise StoreError(f"{self.path / _EXAMPLES} is missing or torn: {error}") from error

    def finish(self, result: Mapping[str, Any]) -> None:
        """Say that the run is done, and let go of what only going on with it needs."""
        replace(self.path / _RESULT, json.dumps(dict(result), indent=1, allow_nan=False).encode())
        for checkpoints in self.path.glob("*/checkpoints"):
            shutil.rmtree(checkpoints, ignore_errors=True)


def fingerprint(array: np.ndarray) -> dict[str, Any]:
    """Return what tells an array from others, in a few plain values."""
    digest = hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()
    return {"shape": list(array.shape), "dtype": str(array.dtype), "sha256": digest}


def _is_run(path: Path) -> bool:
    try:
        return isinstance(_parsed(path), dict)
    except (OSError, ValueError):
        return False


def _parsed(path: Path) -> dict[str, Any] | None:
    """The contents of config.json; None if they are not those of a run."""
    found = json.loads((path / _CONFIG).read_bytes())
    ours = isinstance(found, dict) and isinstance(found.get("format"), int)
    return found if ours and isinstance(found.get("settings"), dict) else None


def _read(path: Path) -> dict[str, Any]:
    try:
        found = _parsed(path)
    except FileNotFoundError as error:
        raise StoreError(f"no run in {path}: there is no {_CONFIG}") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{path / _CONFIG} is torn or not that of a run: {error}") from error
    if found is None:
        raise StoreError(f"{path / _CONFIG} is not that of a run")
    if found["format"] > _FORMAT:
        raise StoreError(
            f"the run in {path} has format {found['format']}; this is liewise {__version__},"
            f" which reads up to {_FORMAT}: upgrade it"
        )
    return found


def _clear(path: Path) -> None:
    """Empty a run's folder; what says that it is one goes last."""
    for child in sorted(path.iterdir(), key=lambda child: child.name == _CONFIG):
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child)
        else:
            child.unlink()


def _circumstances() -> dict[str, Any]:
    """When, with which versions, on what."""
    versions = {"liewise": __version__, "python": platform.python_version()}
    device = jax.devices()[0]
    return {
        "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": versions | {name: importlib.metadata.version(name) for name in _PACKAGES},
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "devices": f"{jax.device_count()} x {device.device_kind}",
    }
