"""Models for keeps: safetensors for the arrays, JSON for the rest, and nothing in either that could run.

The JSON names the file of arrays and its checksum, and is replaced in one stroke: a folder holds the old
model or the new one, never half of each.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import safetensors.numpy
from jaxtyping import PyTree

from liewise._version import __version__
from liewise.errors import StoreError
from liewise.train.checkpoints import sync

__all__ = ["load", "read_config", "replace", "save"]

_FORMAT = 1
_HEAD = "model.json"
_NATIVE = frozenset(
    [
        "bool",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "float32",
        "float64",
    ]
)


def save(folder: str | Path, tree: PyTree, *, kind: str, config: Mapping[str, Any]) -> None:
    """Write a model's arrays and the configuration that rebuilds the rest of it."""
    folder = Path(folder)
    arrays = {name: _to_host(leaf) for name, leaf in _named(tree).items()}
    tensors = safetensors.numpy.save({name: _as_native(array) for name, array in arrays.items()})
    digest = hashlib.sha256(tensors).hexdigest()
    head = {
        "format": _FORMAT,
        "liewise": __version__,
        "kind": kind,
        "config": dict(config),
        "file": f"arrays-{digest[:16]}.safetensors",
        "sha256": digest,
        "arrays": {name: _describe(leaf) for name, leaf in _named(tree).items()},
    }
    try:
        text = json.dumps(head, indent=1, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreError(f"expected a configuration that JSON can hold; {error}") from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace(folder / head["file"], tensors)
        replace(folder / _HEAD, text.encode())
    except OSError as error:
        raise StoreError(f"the model was not saved in {folder} ({error}); what was there before still is") from error
    for stale in folder.glob("arrays-*.safetensors"):
        if stale.name != head["file"]:
            stale.unlink(missing_ok=True)


def read_config(folder: str | Path, *, kind: str | None = None) -> dict[str, Any]:
    """The configuration of a saved model; a model of another kind than `kind` is refused."""
    return _read_head(Path(folder), kind)["config"]


def load(folder: str | Path, build: Callable[[dict[str, Any]], PyTree], *, kind: str | None = None) -> PyTree:
    """A saved model: `build(config)` makes one of its form, whose arrays are replaced by those on disk."""
    folder = Path(folder)
    head = _read_head(folder, kind)
    like = build(head["config"])
    wanted = {name: _describe(leaf) for name, leaf in _named(like).items()}
    _refuse_other_arrays(folder, head["arrays"], wanted)
    found = _read_arrays(folder, head)
    stored = {name: _describe(_as_native(_to_host(leaf))) for name, leaf in _named(like).items()}
    _refuse_other_arrays(folder, {name: _describe(array) for name, array in found.items()}, stored)
    leaves, structure = jax.tree.flatten(eqx.filter(like, eqx.is_array))
    names = list(_named(like))
    loaded = [_from_host(found[name], leaf) for name, leaf in zip(names, leaves, strict=True)]
    return eqx.combine(jax.tree.unflatten(structure, loaded), like)


def _named(tree: PyTree) -> dict[str, Any]:
    """The arrays of a tree by their path."""
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter(tree, eqx.is_array))
    return {jax.tree_util.keystr(path): leaf for path, leaf in leaves}


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _describe(leaf: Any) -> dict[str, Any]:
    return {"dtype": str(leaf.dtype), "shape": list(leaf.shape)}


def _to_host(leaf: Any) -> np.ndarray:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _from_host(array: np.ndarray, like: Any) -> Any:
    if _is_key(like):
        return jax.random.wrap_key_data(jnp.asarray(array), impl=jax.random.key_impl(like))
    dtype = np.dtype(like.dtype)
    restored = array if dtype.name in _NATIVE else array.reshape(-1).view(dtype).reshape(like.shape)
    return jnp.asarray(restored) if isinstance(like, jax.Array) else np.array(restored)


def _as_native(array: np.ndarray) -> np.ndarray:
    """A dtype that safetensors does not know travels as its bytes."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    return array if array.dtype.name in _NATIVE else array.reshape(-1).view(np.uint8)


def replace(path: Path, data: bytes) -> None:
    """Write a file in one stroke: the old content or the new, whatever happens."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync(path.parent)


def _read_head(folder: Path, kind: str | None) -> dict[str, Any]:
    path = folder / _HEAD
    try:
        head = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise StoreError(f"no model in {folder}: there is no {_HEAD}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} is torn or not a model of liewise: {error}") from error
    if not (isinstance(head, dict) and isinstance(head.get("format"), int)):
        raise StoreError(f"{path} is not a model of liewise: it states no format")
    if head["format"] > _FORMAT:
        raise StoreError(
            f"{path} has format {head['format']}, by liewise {head.get('liewise', 'unknown')}; "
            f"this is liewise {__version__}, which reads up to {_FORMAT}: upgrade it"
        )
    expected = {"kind": str, "config": dict, "file": str, "sha256": str, "arrays": dict}
    for name, form in expected.items():
        if not isinstance(head.get(name), form):
            raise StoreError(f"{path} is torn or not a model of liewise: its {name!r} is not a {form.__name__}")
    if kind is not None and head["kind"] != kind:
        raise StoreError(f"expected a model of kind {kind!r} in {folder}; got {head['kind']!r}")
    return head


def _read_arrays(folder: Path, head: Mapping[str, Any]) -> dict[str, np.ndarray]:
    path = folder / head["file"]
    if path.name != head["file"]:
        raise StoreError(f"{folder / _HEAD} points outside its folder, to {head['file']!r}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StoreError(f"the model in {folder} lacks its arrays: {error}") from error
    if hashlib.sha256(data).hexdigest() != head["sha256"]:
        raise StoreError(f"{path} is torn or changed: its checksum is not the one in {_HEAD}")
    try:
        return safetensors.numpy.load(data)
    except Exception as error:  # the Rust library has its own exception types
        raise StoreError(f"{path} is not a safetensors file: {error}") from error


def _refuse_other_arrays(folder: Path, there: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name in sorted(there.keys() | wanted.keys()):
        if name not in there:
            raise StoreError(f"the model in {folder} lacks the array {name}")
        if name not in wanted:
            raise StoreError(f"the model in {folder} has an array {name} that this model does not have")
        if there[name] != wanted[name]:
            raise StoreError(f"expected {name} as {_words(wanted[name])} in {folder}; got {_words(there[name])}")


def _words(described: Any) -> str:
    return f"{described['dtype']}{described['shape']}" if isinstance(described, dict) else str(described)
