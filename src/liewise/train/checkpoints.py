"""Checkpoints that survive a kill, a full disk and a torn file.

Orbax writes the arrays into a folder of another name; a manifest with the checksum of every file seals it;
one rename makes it a checkpoint. What does not match its manifest is set aside, and the one before is taken.
"""

import contextlib
import errno
import hashlib
import json
import logging
import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
from jaxtyping import PyTree

from liewise.errors import StoreError
from liewise.train.devices import agree
from liewise.train.failures import CheckpointWarning

__all__ = ["Checkpoints", "describe", "difference", "sync"]

_FORMAT = 1
_SEAL = "checkpoint.json"
_MARGIN = 2**20  # bytes; Orbax's own files, and room for other writers
_SAVING, _BROKEN = ".saving-", "broken-"


class Checkpoints:
    """The last few states of a run, in `folder`."""

    def __init__(self, folder: Path, fingerprint: dict[str, Any], keep: int):
        self._folder, self._keep = folder.absolute(), keep
        self._fingerprint = json.loads(json.dumps(fingerprint))  # as it will be read back
        self.last: int | None = None  # the newest step that is safe on disk

    def save(self, step: int, tree: PyTree, notes: dict[str, Any]) -> None:
        """Make the state after `step` steps safe; a failure is a warning, and harms no older checkpoint."""
        if step == self.last:
            return
        try:
            self._save(step, tree, notes)
        except Exception as error:
            reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no reason given'}"
            kept = "there is none before it" if self.last is None else f"the one at step {self.last} is kept"
            warnings.warn(f"no checkpoint at step {step} ({reason}); {kept}", CheckpointWarning, stacklevel=2)
        else:
            self.last = step
        if jax.process_index() == 0:
            self._tidy()

    def restore(self, like: PyTree) -> tuple[PyTree, dict[str, Any]] | None:
        """The newest sound checkpoint, placed as `like`, and its notes; None when there is none."""
        if jax.process_index() == 0:
            self._tidy()
        while True:
            step = agree([self._newest_sound() if jax.process_index() == 0 else -1])[0]
            if step < 0:
                return None
            seal = _read_seal(self._path(step))
            self._refuse_foreign(step, seal)
            try:
                tree = _read(self._path(step) / "state", like)
            except Exception as error:
                self._set_aside(step, f"{type(error).__name__}: {error}")
                continue
            self.last = step
            return tree, {**seal["notes"], "step": step}

    def _save(self, step: int, tree: PyTree, notes: dict[str, Any]) -> None:
        leads = jax.process_index() == 0
        saving = self._folder / f"{_SAVING}{step:09d}"
        with _together():
            if leads:
                saving.mkdir(parents=True)
                _refuse_full(saving, tree)
        with _together():
            _write(saving / "state", tree)
        with _together():
            if leads:
                self._seal(saving, step, notes)

    def _seal(self, saving: Path, step: int, notes: dict[str, Any]) -> None:
        content = {"format": _FORMAT, "fingerprint": self._fingerprint, "notes": notes, "files": _digests(saving)}
        _write_seal(saving, content)
        for path in [*saving.rglob("*"), saving]:
            sync(path)
        final = self._path(step)
        if final.exists():  # from a run that went on from an older one
            os.rename(final, self._folder / f"{_BROKEN}{step:09d}")
        os.rename(saving, final)
        sync(self._folder)

    def _path(self, step: int) -> Path:
        return self._folder / f"{step:09d}"

    def _steps(self) -> list[int]:
        return sorted(int(path.name) for path in self._folder.glob("*") if path.name.isdecimal())

    def _tidy(self) -> None:
        for path in self._folder.glob(f"{_SAVING}*"):
            shutil.rmtree(path, ignore_errors=True)
        for step in self._steps()[: -self._keep]:
            if step != self.last:
                shutil.rmtree(self._path(step), ignore_errors=True)

    def _newest_sound(self) -> int:
        for step in reversed(self._steps()):
            fault = _fault(self._path(step))
            if fault is None:
                return step
            self._set_aside(step, fault)
        return -1

    def _set_aside(self, step: int, fault: str) -> None:
        if jax.process_index() == 0:
            aside = self._folder / f"{_BROKEN}{step:09d}"
            shutil.rmtree(aside, ignore_errors=True)
            os.rename(self._path(step), aside)
            warnings.warn(
                f"the checkpoint at step {step} is damaged ({fault}); it was set aside as {aside.name}, "
                "and the one before is tried",
                CheckpointWarning,
                stacklevel=2,
            )

    def _refuse_foreign(self, step: int, seal: dict[str, Any]) -> None:
        where = f"the checkpoint at step {step} in {self._folder}"
        if seal["format"] > _FORMAT:
            raise StoreError(f"{where} has format {seal['format']}; this version of liewise reads up to {_FORMAT}")
        apart = difference(seal["fingerprint"], self._fingerprint)
        if apart:
            raise StoreError(f"{where} belongs to another run: {apart}; use another run folder, or delete it")


def describe(tree: PyTree) -> dict[str, str]:
    """Each array of a tree, by its path, with its dtype and shape."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {jax.tree_util.keystr(path): f"{leaf.dtype}{list(leaf.shape)}" for path, leaf in leaves}


def sync(path: Path) -> None:
    """Wait until a file or a folder's list of names is on the disk itself."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _together() -> Iterator[None]:
    """What fails on one process fails on all, so that none waits for another for ever."""
    failure: Exception | None = None
    try:
        yield
    except Exception as error:
        failure = error
    failed = agree([int(failure is not None)])[0]
    if failure is not None:
        raise failure
    if failed:
        raise OSError("another process could not write its part")


def _refuse_full(folder: Path, tree: PyTree) -> None:
    """Orbax copes with a disk that fills up, but its threads print pages about it: so look first."""
    needed = sum(leaf.nbytes for leaf in jax.tree.leaves(tree)) + _MARGIN
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: {needed} bytes needed, {free} free")


def _write(folder: Path, tree: PyTree) -> None:
    with _orbax() as checkpointer:
        checkpointer.save(folder, _flat(tree))


def _read(folder: Path, like: PyTree) -> PyTree:
    with _orbax() as checkpointer:
        wanted = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding), like)
        leaves = checkpointer.restore(folder, _flat(wanted))
    return jax.tree.unflatten(jax.tree.structure(like), [leaves[name] for name in _flat(like)])


def _flat(tree: PyTree) -> dict[str, Any]:
    return {f"{i:05d}": leaf for i, leaf in enumerate(jax.tree.leaves(tree))}


@contextlib.contextmanager
def _orbax() -> Iterator[Any]:
    import orbax.checkpoint as ocp  # a third of a second to import, which only runs with a folder need

    logger = logging.getLogger("absl")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with ocp.StandardCheckpointer() as checkpointer:
            yield checkpointer
            checkpointer.wait_until_finished()
    finally:
        logger.setLevel(level)


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _SEAL)
    return {path.relative_to(folder).as_posix(): _digest(path) for path in files}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_seal(folder: Path, content: dict[str, Any]) -> None:
    text = json.dumps(content, sort_keys=True)
    sealed = {"sha256": hashlib.sha256(text.encode()).hexdigest(), "content": content}
    (folder / _SEAL).write_text(json.dumps(sealed, sort_keys=True, indent=1))


def _read_seal(folder: Path) -> dict[str, Any]:
    sealed = json.loads((folder / _SEAL).read_text())
    text = json.dumps(sealed["content"], sort_keys=True)
    if hashlib.sha256(text.encode()).hexdigest() != sealed["sha256"]:
        raise ValueError(f"{_SEAL} does not match its own checksum")
    return sealed["content"]


def _fault(folder: Path) -> str | None:
    """What is wrong with a checkpoint, or None."""
    try:
        expected = _read_seal(folder)["files"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"{_SEAL}: {error}"
    found = _digests(folder)
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            state = "missing" if name not in found else "unknown" if name not in expected else "changed"
            return f"{name} is {state}"
    return None


def difference(there: Any, here: Any, path: str = "") -> str:
    """The first place where two fingerprints differ, in words; empty when they are equal."""
    if isinstance(there, dict) and isinstance(here, dict):
        for name in sorted(there.keys() | here.keys()):
            found = difference(there.get(name, "absent"), here.get(name, "absent"), f"{path} {name}".strip())
            if found:
                return found
        return ""
    return "" if there == here else f"{path} is {there} there and {here} here"
