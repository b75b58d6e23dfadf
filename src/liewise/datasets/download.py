"""Fetching a file: from a list of mirrors, resumed where it stopped, checked, and put in place in one move.

Nothing that fails its checksum ever gets the file's name; two processes that want one file fetch it once.
"""

import errno
import gzip
import hashlib
import http.client
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from liewise.errors import DataError

__all__ = ["RemoteFile", "UnreachableError", "checksum", "download", "matches"]

_BLOCK = 1 << 18
_TRIES = 5  # on one mirror in a row that bring nothing new
_TIMEOUT = 30.0  # seconds without a byte
_OWN_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)  # no other mirror would help


@dataclass(frozen=True)
class RemoteFile:
    """One file of a data set, where it can be had, and how to know it.

    Where `of_contents` is true the checksum is that of the unpacked contents of a .gz, so that the same data
    packed again by someone else are still the same data.
    """

    name: str
    urls: tuple[str, ...]  # mirrors, tried in order
    checksum: str  # "sha256:..." or "md5:..."
    size: int  # bytes, about; for the progress bar and the free space
    of_contents: bool = False


class UnreachableError(DataError):
    """No mirror could deliver a file."""


class _TransferError(Exception):
    """One mirror could not deliver."""


def checksum(path: Path, algorithm: str, *, of_contents: bool = False) -> str:
    """Return the checksum of a file, or of what is packed inside it if it is a .gz and that is wanted."""
    digest = hashlib.new(algorithm)
    unpack = of_contents and ".gz" in path.suffixes  # while it is being fetched, .gz.part
    with gzip.open(path, "rb") if unpack else path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def matches(path: Path, file: RemoteFile) -> tuple[bool, str]:
    """Return whether the file at `path` is the one that is meant, and the checksum that was found."""
    algorithm, expected = file.checksum.split(":")
    try:
        found = checksum(path, algorithm, of_contents=file.of_contents)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        return False, f"none, since it cannot be unpacked ({error})"
    return found == expected, found


def download(file: RemoteFile, folder: Path, *, progress: bool = True, timeout: float = _TIMEOUT) -> Path:
    """Fetch a file into a folder and return its path; resumes what an earlier attempt left behind.

    Args:
        file: what to fetch
        folder: where to put it; made if need be
        progress: show a bar on a terminal, one line elsewhere
        timeout: seconds without a byte after which a mirror is given up
    """
    target, part = folder / file.name, folder / f"{file.name}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / f".{file.name}.lock"):
            if not target.is_file():
                _check_space(file, folder, part)
                _from_mirrors(file, part, progress, timeout)
                part.replace(target)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error}") from error
    return target


def _from_mirrors(file: RemoteFile, part: Path, progress: bool, timeout: float) -> None:
    failures = []
    for url in file.urls:
        try:
            with _shown(file, url, progress) as bar:
                _from_mirror(file, url, part, bar, timeout)
            return
        except _TransferError as error:
            failures.append(f"{url} ({error})")
    raise UnreachableError(
        f"could not fetch {file.name} ({file.checksum}{' of its contents' if file.of_contents else ''}) from"
        f" any of: {'; '.join(failures)}. Put the file into {part.parent}, or into a folder that"
        " LIEWISE_DATA_DIR or data_dir points at, and load again"
    )


def _from_mirror(file: RemoteFile, url: str, part: Path, bar: "_Bar", timeout: float) -> None:
    """Fetch into `part` until its checksum is right; start anew once if what was resumed turns out wrong."""
    resumed = _transfer_with_retries(url, part, bar, timeout)
    right, found = matches(part, file)
    if not right and resumed:
        part.unlink()
        _transfer_with_retries(url, part, bar, timeout)
        right, found = matches(part, file)
    if not right:
        part.unlink()
        raise _TransferError(f"wrong contents: expected {file.checksum}, got {found}")


def _transfer_with_retries(url: str, part: Path, bar: "_Bar", timeout: float) -> bool:
    """Transfer until complete, going on where it broke off; return whether any of it was there before."""
    resumed = part.is_file() and part.stat().st_size > 0
    tries = 0
    while True:
        before = part.stat().st_size if part.is_file() else 0
        try:
            _transfer(url, part, before, bar, timeout)
            return resumed
        except HTTPError as error:
            if error.code == 416:  # nothing left to send: the checksum decides
                return True
            raise _TransferError(f"HTTP {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, OSError) and (error.filename is not None or error.errno in _OWN_DISK):
                raise
            now = part.stat().st_size if part.is_file() else 0
            tries = 0 if now > before else tries + 1
            if now == 0 or tries >= _TRIES:
                raise _TransferError(str(getattr(error, "reason", error)) or type(error).__name__) from error
            resumed = True


def _transfer(url: str, part: Path, offset: int, bar: "_Bar", timeout: float) -> None:
    """Ask for the bytes from `offset` on and append them; a server that sends everything starts us anew."""
    headers = {"User-Agent": "liewise"} | ({"Range": f"bytes={offset}-"} if offset else {})
    with urlopen(Request(url, headers=headers), timeout=timeout) as response:
        wanted = f"bytes {offset}-"
        partial = response.status == 206 and response.headers.get("Content-Range", "").startswith(wanted)
        if response.status == 206 and not partial:
            raise _TransferError(f"sent {response.headers.get('Content-Range')!r} when asked for {wanted!r}")
        start = offset if partial else 0
        length = response.headers.get("Content-Length")
        end = None if length is None else start + int(length)
        bar.reset(start, end)
        with part.open("ab" if partial else "wb") as out:
            _copy(response, out, bar)
    if end is not None and part.stat().st_size < end:
        raise ConnectionError(f"broke off after {part.stat().st_size} of {end} bytes")


def _copy(response: http.client.HTTPResponse, out: BinaryIO, bar: "_Bar") -> None:
    while block := response.read1(_BLOCK):
        out.write(block)
        bar.advance(len(block))


def _check_space(file: RemoteFile, folder: Path, part: Path) -> None:
    missing = file.size - (part.stat().st_size if part.is_file() else 0)
    free = shutil.disk_usage(folder).free
    if missing > free:
        raise DataError(
            f"expected {missing / 1e6:,.0f} MB free in {folder} for {file.name}; there are"
            f" {free / 1e6:,.0f} MB (LIEWISE_CACHE names another folder)"
        )


class _Bar:
    """A download's progress, if it is shown."""

    def __init__(self, progress: Progress | None, name: str, size: int):
        self._progress = progress
        self._task = None if progress is None else progress.add_task(name, total=size)

    def reset(self, start: int, end: int | None) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=start)
            if end is not None:
                self._progress.update(self._task, total=end)

    def advance(self, count: int) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task, count)


@contextmanager
def _shown(file: RemoteFile, url: str, progress: bool) -> Iterator[_Bar]:
    """Show a bar on a terminal, one plain line where there is none, nothing when silence is asked for."""
    console = Console(stderr=True)
    if not (progress and console.is_terminal):
        if progress:
            print(f"fetching {file.name} ({file.size / 1e6:,.1f} MB) from {url}", file=sys.stderr)
        yield _Bar(None, file.name, file.size)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TransferSpeedColumn(), TimeRemainingColumn(), console=console) as shown:
        yield _Bar(shown, file.name, file.size)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock between processes; the system lets go of it when the holder ends, however it ends."""
    with path.open("a+b") as handle:
        if sys.platform == "win32":
            import msvcrt

            while True:
                with suppress(OSError):  # it gives up after ten seconds; a download may take longer
                    msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
                    break
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
