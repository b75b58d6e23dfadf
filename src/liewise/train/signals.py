"""SIGTERM and Ctrl-C as a wish that the loop grants at the next safe moment."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Signals"]

_WATCHED = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """While entered, remembers the first signal; a second one acts as it would have without us."""

    def __init__(self) -> None:
        self.caught = 0  # the signal's number; 0: none
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> "Signals":
        if threading.current_thread() is threading.main_thread():  # only there may handlers be set
            for watched in _WATCHED:
                self._previous[watched] = signal.signal(watched, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _note(self, signum: int, frame: FrameType | None) -> None:
        self.caught = signum
        self._restore()

    def _restore(self) -> None:
        while self._previous:
            watched, handler = self._previous.popitem()
            signal.signal(watched, signal.SIG_DFL if handler is None else handler)
