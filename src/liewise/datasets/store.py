"""Where the files of named data sets lie: a data directory of the user's, our cache, or still on the net.

A file is checked against its checksum once; a stamp in the cache spares the reading next time.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from liewise.datasets.download import RemoteFile, UnreachableError, download, matches
from liewise.datasets.registry import ENTRIES, Entry
from liewise.errors import DataError

__all__ = ["cache_dir", "ensure", "find", "locate"]

_KNOWN = {file.checksum.split(":")[1] for entry in ENTRIES.values() for file in entry.files}


def cache_dir() -> Path:
    """Return the folder for what is fetched: LIEWISE_CACHE, or the user's cache directory."""
    chosen = os.environ.get("LIEWISE_CACHE")
    return Path(chosen).expanduser() if chosen else user_cache_path("liewise")


def find(entry: Entry, names: tuple[str, ...], data_dir: str | Path | None) -> tuple[Path, ...]:
    """Return where any of these files lies, unchecked: the data directory first, then the cache."""
    root = _data_dir(data_dir)
    mine = () if root is None else (*(root / name for name in (entry.name, *entry.folders)), root)
    paths = (folder / name for folder in (*mine, cache_dir() / entry.name) for name in names)
    return tuple(path for path in paths if path.is_file())


def locate(entry: Entry, file: RemoteFile, data_dir: str | Path | None) -> Path | None:
    """Return where a file lies already, as it is or unpacked, or None; a file that is not it is refused."""
    for path in find(entry, _names(file), data_dir):
        if _checked(path, file):
            return path
        right, found = matches(path, file)
        if right:
            with suppress(OSError):  # a cache that cannot be written costs another check, no more
                _stamp(path, file).parent.mkdir(parents=True, exist_ok=True)
                _stamp(path, file).touch()
            return path
        if path.parent == _data_dir(data_dir) and found in _KNOWN:
            continue  # sets share names of files: this is another set's, loose in the data directory
        what = "contents" if file.of_contents else "file"
        raise DataError(
            f"{path} is not the {file.name} of {entry.name}: expected {what} with {file.checksum}, got"
            f" {found}. Remove it to have it fetched again"
        )
    return None


def ensure(entry: Entry, file: RemoteFile, *, data_dir: str | Path | None, progress: bool) -> Path:
    """Return where a file lies, fetching it into the cache if it lies nowhere yet."""
    here = locate(entry, file, data_dir)
    if here is not None:
        return here
    try:
        return download(file, cache_dir() / entry.name, progress=progress)
    except UnreachableError as error:  # whoever has to carry files here by hand wants to know of all of them
        others = [other for other in entry.files if other != file and not find(entry, _names(other), data_dir)]
        if not others:
            raise
        sources = "; ".join(f"{other.name}, from {' or '.join(other.urls)}" for other in others)
        raise UnreachableError(f"{error}. Of {entry.name} there are missing besides: {sources}") from error


def _data_dir(data_dir: str | Path | None) -> Path | None:
    chosen = data_dir if data_dir is not None else os.environ.get("LIEWISE_DATA_DIR") or None
    if chosen is None:
        return None
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        origin = "data_dir" if data_dir is not None else "LIEWISE_DATA_DIR"
        raise DataError(f"expected {origin} to be a folder; there is none at {folder}")
    return folder


def _names(file: RemoteFile) -> tuple[str, ...]:
    return (file.name, file.name.removesuffix(".gz")) if file.name.endswith(".gz") else (file.name,)


def _checked(path: Path, file: RemoteFile) -> bool:
    """Return whether a file needs no check: stamped, or unpacked from a .gz whose sum alone is known."""
    unpacked = file.name.endswith(".gz") and path.name != file.name
    return (unpacked and not file.of_contents) or _stamp(path, file).is_file()


def _stamp(path: Path, file: RemoteFile) -> Path:
    """Return the stamp of a file as it is now: written to, it gets another."""
    status = path.stat()
    text = f"{path.resolve()} {status.st_size} {status.st_mtime_ns} {file.checksum}"
    return cache_dir() / ".checked" / hashlib.sha256(text.encode()).hexdigest()[:32]
