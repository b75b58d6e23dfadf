"""Which epoch it is, for all processes that share an augmenter."""

import contextlib
import os
import tempfile
import weakref
from typing import Any

import numpy as np

__all__ = ["Epoch"]


class Epoch:
    """A whole number that worker processes see change, forked and spawned ones alike: it lies in a mapped file.

    Where the file is not (another machine, or after the process that made it), it is the number of when it was pickled.
    """

    def __init__(self):
        handle, self._path = tempfile.mkstemp(prefix="liewise-epoch-")
        with os.fdopen(handle, "wb") as file:
            file.write(np.array([-1], np.int64).tobytes())
        self._map: np.ndarray = _mapped(self._path)
        weakref.finalize(self, _remove, self._path, os.getpid())

    @property
    def value(self) -> int | None:
        """The epoch; None until it is set."""
        value = int(self._map[0])
        return None if value < 0 else value

    @value.setter
    def value(self, epoch: int) -> None:
        self._map[0] = epoch

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self._path, "value": int(self._map[0])}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._path = state["path"]
        try:
            self._map = _mapped(self._path)
        except (OSError, ValueError):
            self._map = np.array([state["value"]], np.int64)


def _mapped(path: str) -> np.ndarray:
    return np.memmap(path, np.int64, "r+", shape=(1,))


def _remove(path: str, creator: int) -> None:
    """Remove the file, unless in a fork of the process that made it."""
    if os.getpid() == creator:
        with contextlib.suppress(OSError):  # already gone, or mapped where that forbids it
            os.unlink(path)
