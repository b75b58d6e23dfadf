"""The numbers of a run: rows kept in memory, appended to metrics.jsonl, and handed to the sinks."""

import json
import math
import os
import warnings
from collections.abc import Sequence
from pathlib import Path

from liewise.train.failures import CheckpointWarning
from liewise.train.sinks import Sink

__all__ = ["Record", "Row"]

Row = dict[str, float | int]


class Record:
    """One row per logged step; a step never appears twice, however often a run is resumed."""

    def __init__(self, path: Path | None, sinks: Sequence[Sink], step: int):
        self.rows: list[Row] = []
        self._path, self._sinks = path, sinks
        self._size = 0  # bytes of the file that are known to be whole rows
        self._written = 0  # rows that are in the file and the sinks
        if path is not None and path.exists():
            self._cut_back(path, step)

    def add(self, row: Row) -> None:
        """Take a row in; it is written by the next `flush`, and may be amended until then."""
        self.rows.append(row)

    def amend(self, row: Row) -> None:
        """Add values to the last row, if it is of the same step; otherwise take them in as a row."""
        if self.rows and self.rows[-1]["step"] == row["step"]:
            self.rows[-1].update(row)
        else:
            self.rows.append(row)

    def flush(self, *, durably: bool = False) -> None:
        """Write what is new; a full disk is a warning, and the rows are tried again later."""
        new = self.rows[self._written :]
        if self._path is not None and (new or durably) and not self._append(self._path, new, durably):
            return
        self._written = len(self.rows)
        for sink in self._sinks:
            for row in new:
                sink.write(int(row["step"]), {name: value for name, value in row.items() if name != "step"})

    def close(self) -> None:
        """Write what is new and close the sinks."""
        self.flush()
        for sink in self._sinks:
            sink.close()

    def _append(self, path: Path, rows: Sequence[Row], durably: bool) -> bool:
        data = "".join(json.dumps(_strict(row), allow_nan=False) + "\n" for row in rows).encode()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            with path.open("r+b") as file:
                file.truncate(self._size)  # a row cut short by a full disk goes
                file.seek(self._size)
                file.write(data)
                file.flush()
                if durably:
                    os.fsync(file.fileno())
        except OSError as error:
            warnings.warn(f"{path} was not written ({error}); it will be tried again", CheckpointWarning, stacklevel=2)
            return False
        self._size += len(data)
        return True

    def _cut_back(self, path: Path, step: int) -> None:
        """Read the rows up to `step` and forget the rest: those steps will be done again."""
        for line in path.read_bytes().splitlines(keepends=True):
            row = _parse(line)
            if row is None or row["step"] > step:
                break
            self.rows.append(row)
            self._size += len(line)
        os.truncate(path, self._size)
        self._written = len(self.rows)


def _strict(row: Row) -> dict[str, float | int | None]:
    """JSON knows no NaN."""
    return {name: value if math.isfinite(value) else None for name, value in row.items()}


def _parse(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
        row["step"] = int(row["step"])
    except (ValueError, KeyError, TypeError):
        return None
    if not line.endswith(b"\n"):
        return None
    return {name: math.nan if value is None else value for name, value in row.items()}
