"""What there is to load by name, where it lies now, and fetching it beforehand."""

import difflib
from dataclasses import dataclass
from pathlib import Path

from liewise.datasets.registry import ENTRIES, Entry
from liewise.datasets.store import cache_dir, ensure, find
from liewise.errors import DataError

__all__ = ["CatalogueEntry", "catalogue", "entry_named", "fetch"]


@dataclass(frozen=True)
class CatalogueEntry:
    """One line of the catalogue."""

    name: str
    summary: str
    sizes: str  # images per split, and their shape
    licence: str
    download_size: int  # bytes, about; 0 where it is built in
    place: str  # "built in", "data dir", "part in data dir", "cache" or "to fetch"
    homepage: str


def catalogue(*, data_dir: str | Path | None = None) -> tuple[CatalogueEntry, ...]:
    """Return every data set that `load` knows by name, and where it lies now.

    >>> catalogue()[0].name, catalogue()[0].place
    ('sprites', 'built in')
    """
    return tuple(
        CatalogueEntry(
            name=entry.name,
            summary=entry.summary,
            sizes=entry.sizes,
            licence=entry.licence,
            download_size=entry.download_size,
            place=_place(entry, data_dir),
            homepage=entry.homepage,
        )
        for entry in ENTRIES.values()
    )


def fetch(name: str, *, data_dir: str | Path | None = None, progress: bool = True) -> tuple[Path, ...]:
    """Return the files of a named data set, fetched into the cache where they do not lie anywhere yet.

    A set that is built in has none.
    """
    entry = entry_named(name)
    return tuple(ensure(entry, file, data_dir=data_dir, progress=progress) for file in entry.files)


def entry_named(name: str) -> Entry:
    """Return the registered data set of this name, or say which there are."""
    if name in ENTRIES:
        return ENTRIES[name]
    close = difflib.get_close_matches(name.lower().replace("_", "-"), ENTRIES, n=1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    raise DataError(
        f"unknown data set '{name}'.{hint} Known: {', '.join(ENTRIES)}; or the path of a folder of images,"
        " of an .npz or of an .npy file"
    )


def _place(entry: Entry, data_dir: str | Path | None) -> str:
    if not entry.files:
        return "built in"
    found = [find(entry, (file.name, file.name.removesuffix(".gz")), data_dir) for file in entry.files]
    if all(found):
        return "cache" if all(paths[0].is_relative_to(cache_dir()) for paths in found) else "data dir"
    stand_in = [find(entry, (name,), data_dir) for name in entry.substitutes]
    return "part in data dir" if stand_in and all(stand_in) else "to fetch"
