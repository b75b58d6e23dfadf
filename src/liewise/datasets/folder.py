"""A folder of the user's own images: class sub-folders are labels, train/test/val folders are splits.

Every file is either an example, or named and counted in an error or in the notes; none is dropped in silence.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from liewise.datasets.constant import without_constant
from liewise.datasets.dataset import SPLIT_NAMES, Dataset
from liewise.datasets.framing import Framing, check_sizes, conversion_notes, counted, some
from liewise.datasets.image_files import Header, NotAnImage, UnreadableImage, read_header, read_image
from liewise.datasets.split import Split
from liewise.errors import DataError

__all__ = ["load_folder"]

_SYSTEM_FILES = {"thumbs.db", "desktop.ini", "__macosx"}


def load_folder(
    folder: Path,
    *,
    size: int | tuple[int, int] | None = None,
    resize: str = "crop",
    background: int = 0,
    skip_unreadable: bool = False,
    constant: str = "refuse",
) -> Dataset:
    """Load the images of a folder and everything below it.

    Args:
        folder: images, or class sub-folders, or train/test/val folders of either
        size: height and width in pixels to bring every image to; needed where sizes are mixed
        resize: "crop" (fill the size, cut what is over), "pad" (fit into it) or "stretch"
        background: grey level from 0 to 255 under transparent pixels and beside padded images
        skip_unreadable: leave broken images out, with a note of how many, in place of an error
        constant: what to do with images of one colour: "refuse", "skip" or "keep"
    """
    framing = Framing.of(size, resize, background)
    notes: list[str] = []
    files = _files_by_split(folder, notes)
    class_names = _class_names(folder, files)
    headers, broken = _headers(folder, [path for pairs in files.values() for _, path in pairs], notes)
    if broken and not skip_unreadable:
        raise _unreadable(folder, broken)
    files = {name: [pair for pair in pairs if pair[1] in headers] for name, pairs in files.items()}
    for name, pairs in files.items():
        if not pairs and broken:
            raise _unreadable(folder, broken)
        if not pairs:
            within = f" in its '{name}' folder" if len(files) > 1 else ""
            raise DataError(f"expected images in {folder}; found none{within}")
    check_sizes(headers.values(), framing)
    notes += conversion_notes(headers.values(), framing)
    splits = {}
    for name, pairs in files.items():
        split, kept = _decoded(folder, pairs, headers, class_names, framing, broken)
        splits[name] = without_constant(
            split, constant, notes, lambda index, kept=kept: str(kept[index].relative_to(folder))
        )
    if broken and not skip_unreadable:
        raise _unreadable(folder, broken)
    if broken:
        notes.append(f"{counted(len(broken), 'unreadable image')} skipped: {_reasons(folder, broken)}")
    return Dataset(folder.name, splits, class_names=class_names, source=str(folder), notes=tuple(notes))


def _files_by_split(folder: Path, notes: list[str]) -> dict[str, list[tuple[str | None, Path]]]:
    """Return for each split its files, each with the name of its class folder or None."""
    everything = sorted(_below(folder), key=lambda path: path.relative_to(folder).as_posix())
    hidden = [path for path in everything if _is_file(path) and _is_hidden(path.relative_to(folder))]
    if hidden:
        notes.append(f"{counted(len(hidden), 'hidden or system file')} ignored")
    files = [path for path in everything if _is_file(path) and not _is_hidden(path.relative_to(folder))]
    if not files:
        raise DataError(f"expected images in {folder}; it is empty" + (" but for hidden files" if hidden else ""))
    tops = [path for path in everything if path.is_dir() and path.parent == folder and not _is_hidden(Path(path.name))]
    named = [path for path in tops if path.name.lower() in SPLIT_NAMES]
    if not named:
        return {"train": _with_labels(folder, files)}
    loose = [path.name for path in (*tops, *files) if path.parent == folder and path not in named]
    if loose:
        raise DataError(
            f"expected only train, test and val folders in {folder} beside {named[0].name}; got also {some(loose)}"
        )
    splits: dict[str, list[tuple[str | None, Path]]] = {}
    for top in sorted(named, key=lambda path: list(SPLIT_NAMES).index(path.name.lower())):
        if SPLIT_NAMES[top.name.lower()] in splits:
            raise DataError(f"expected one folder for each split in {folder}; got {some([p.name for p in named])}")
        splits[SPLIT_NAMES[top.name.lower()]] = _with_labels(top, [path for path in files if path.is_relative_to(top)])
    return splits


def _below(folder: Path) -> Iterator[Path]:
    """Find every file and folder below, those behind links as well."""

    def refuse(error: OSError) -> None:
        raise DataError(f"cannot look into {error.filename}: {error.strerror}") from error

    for root, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        here = Path(root)
        if here.is_symlink() and here.resolve() in [above.resolve() for above in here.parents]:
            raise DataError(f"{here} is a link to a folder that it lies in, and so without an end: remove it")
        yield from (here / name for name in (*folders, *names))


def _is_file(path: Path) -> bool:
    return path.is_file() or not path.exists()  # a link that leads nowhere is a file that cannot be read


def _is_hidden(relative: Path) -> bool:
    return any(part.startswith(".") or part.lower() in _SYSTEM_FILES for part in relative.parts)


def _with_labels(folder: Path, files: list[Path]) -> list[tuple[str | None, Path]]:
    parts = [path.relative_to(folder).parts for path in files]
    return [(part[0] if len(part) > 1 else None, path) for part, path in zip(parts, files, strict=True)]


def _class_names(folder: Path, files: dict[str, list[tuple[str | None, Path]]]) -> tuple[str, ...]:
    """Return the classes over all splits; files beside class folders count only if they are images."""
    every = [pair for pairs in files.values() for pair in pairs]
    names = sorted({name for name, _ in every if name is not None})
    loose = [path for name, path in every if name is None and path.suffix.lower() in Image.registered_extensions()]
    if names and loose:
        raise DataError(
            f"expected images in class sub-folders, or without any, in {folder}; {len(loose)} lie beside"
            f" the class folders {some(names)}: {some([path.name for path in loose])}"
        )
    return tuple(names)


def _headers(folder: Path, paths: list[Path], notes: list[str]) -> tuple[dict[Path, Header], dict[Path, str]]:
    """Return the headers of what can be opened, and the reasons of what ought to be an image and cannot."""
    headers: dict[Path, Header] = {}
    broken: dict[Path, str] = {}
    others: list[str] = []
    for path in paths:
        try:
            headers[path] = read_header(path)
        except NotAnImage:
            others.append(str(path.relative_to(folder)))
        except UnreadableImage as error:
            broken[path] = str(error)
    if others:
        notes.append(f"{counted(len(others), 'file')} of other kinds ignored: {some(others)}")
    return headers, broken


def _decoded(
    folder: Path,
    pairs: list[tuple[str | None, Path]],
    headers: dict[Path, Header],
    class_names: tuple[str, ...],
    framing: Framing,
    broken: dict[Path, str],
) -> tuple[Split, list[Path]]:
    """Return the split of these files and the files themselves, less those that turn out to be broken."""
    first = next(iter(headers.values()))
    height, width = framing.size or (first.height, first.width)
    channels = max(header.channels for header in headers.values())
    images = np.empty((len(pairs), height, width, channels), np.uint8)
    kept: list[tuple[str | None, Path]] = []
    for label, path in pairs:
        try:
            images[len(kept)] = framing.array(read_image(path), channels)
            kept.append((label, path))
        except UnreadableImage as error:
            broken[path] = str(error)
    if not kept:
        raise _unreadable(folder, broken)
    labels = np.array([class_names.index(label) for label, _ in kept if label]) if class_names else None
    return Split(images[: len(kept)], labels), [path for _, path in kept]


def _unreadable(folder: Path, broken: dict[Path, str]) -> DataError:
    return DataError(
        f"{counted(len(broken), 'image')} in {folder} cannot be read: {_reasons(folder, broken)}. Mend or remove them,"
        " or leave them out with skip_unreadable=True"
    )


def _reasons(folder: Path, broken: dict[Path, str]) -> str:
    return some([f"{path.relative_to(folder)} ({reason})" for path, reason in broken.items()])
