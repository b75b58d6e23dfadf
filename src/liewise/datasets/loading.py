"""The one way in: a name, a path, an array or a table, and out comes a `Dataset`."""

import inspect
from collections.abc import Callable
from pathlib import Path

from liewise.datasets.arrays import load_array, load_npy, load_npz
from liewise.datasets.dataset import Dataset
from liewise.datasets.dsprites import load_dsprites
from liewise.datasets.folder import load_folder
from liewise.datasets.hdf5 import load_galaxy_mnist, load_patch_camelyon
from liewise.datasets.huggingface import is_huggingface, load_huggingface
from liewise.datasets.idx import load_idx
from liewise.datasets.listing import entry_named
from liewise.datasets.registry import ENTRIES
from liewise.datasets.sprites import load_sprites
from liewise.datasets.svhn import load_svhn
from liewise.errors import DataError

__all__ = ["load"]

_NAMED: dict[str, Callable[..., Dataset]] = {
    "mnist": load_idx,
    "fashion-mnist": load_idx,
    "svhn": load_svhn,
    "dsprites": load_dsprites,
    "galaxy-mnist": load_galaxy_mnist,
    "patch-camelyon": load_patch_camelyon,
}
_FILES: dict[str, Callable[..., Dataset]] = {".npz": load_npz, ".npy": load_npy}
_OURS = ("entry", "data_dir", "progress")  # parameters that are not the user's options


def load(source: object, *, data_dir: str | Path | None = None, progress: bool = True, **options: object) -> Dataset:
    """Load a data set: by name, from the user's own files, or from memory.

    Args:
        source: a name of `catalogue()`; the path of a folder of images, of an .npz or of an .npy file; an
            array [n, height, width] or [n, height, width, channels]; a table of Hugging Face's `datasets`
        data_dir: where the files of named sets are looked for first; else LIEWISE_DATA_DIR, then the cache
        progress: whether fetching shows its progress
        **options: those of the source, e.g. `n` and `size` for "sprites", `size` and `resize` for a folder

    >>> load("sprites", n=3, n_test=3, size=16).class_names
    ('square', 'ellipse', 'heart')
    """
    if isinstance(source, str | Path):
        return _from_text(source, data_dir, progress, options)
    if is_huggingface(source):
        return _call(load_huggingface, "a table of the datasets library", options, source)
    if hasattr(source, "__array__"):
        return _call(load_array, "an array", options, source)
    raise DataError(
        "expected the name of a data set, a path, an array or a table of the datasets library; got"
        f" {type(source).__name__}"
    )


def _from_text(source: str | Path, data_dir: str | Path | None, progress: bool, options: dict[str, object]) -> Dataset:
    if source == "sprites":
        return _call(load_sprites, "sprites", options)
    if isinstance(source, str) and source in ENTRIES:
        loader = _NAMED[source]
        return _call(loader, source, options, ENTRIES[source], data_dir=data_dir, progress=progress)
    path = Path(source).expanduser()
    if path.is_dir():
        return _call(load_folder, "a folder", options, path)
    kind = path.suffix.lower()
    if path.is_file() and kind in _FILES:
        return _call(_FILES[kind], f"an {kind} file", options, path)
    if path.is_file():
        raise DataError(f"expected a folder of images, an .npz or an .npy file; got {path}")
    if isinstance(source, Path) or kind in _FILES or len(path.parts) > 1:
        raise DataError(f"expected a folder of images, an .npz or an .npy file; there is nothing at {path}")
    entry_named(source)
    raise AssertionError("unreachable: known names were handled above")


def _call(
    loader: Callable[..., Dataset], what: str, options: dict[str, object], *args: object, **ours: object
) -> Dataset:
    """Call a loader after checking that it knows the options."""
    known = [
        parameter.name
        for parameter in inspect.signature(loader).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name not in _OURS
    ]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise DataError(f"unknown option {', '.join(unknown)} for {what}; it knows: {', '.join(known) or 'none'}")
    return loader(*args, **ours, **options)
