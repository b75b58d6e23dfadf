"""Examples at the border: what is taken, what is refused and why, and giving back what was given."""

from typing import Any

import jax
import numpy as np

from liewise.datasets import Split, load, to_bytes
from liewise.errors import DataError, TransformError
from liewise.transforms import Group

__all__ = ["as_given", "as_images", "as_labels", "held_out_places", "refuse_unfit"]

_FEWEST = 16  # images to learn from
_SMALLEST = 8  # pixels, of a side
_MOST_HELD_OUT = 1024  # images; more would only take time


def as_images(images: Any, *, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Return images as uint8, or float32 in [0, 1], [n, height, width, channels]; of this shape, if one is given."""
    found = images.images if isinstance(images, Split) else _from_array(_as_array(images), shape)
    if shape is not None and found.shape[1:] != tuple(shape):
        raise DataError(f"expected images {_words(shape)}, as the model was fitted to; got {_words(found.shape[1:])}")
    return found


def as_labels(labels: Any, count: int) -> np.ndarray | None:
    """Return classes as an array, one for each of so many images; text where they are neither text nor numbers."""
    if labels is None:
        return None
    array = np.asarray(labels)
    if array.ndim != 1 or len(array) != count:
        shape = len(array) if array.ndim == 1 else f"an array {array.shape}"
        raise DataError(f"expected {count} labels, one an image; got {shape}")
    return array.astype(str) if array.dtype == object else array


def as_given(images: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return images from [-1, 1] as they were given: bytes, or floats in [0, 1]."""
    if dtype == np.uint8:
        return np.asarray(to_bytes(images))
    return np.clip((images + 1) / 2, 0.0, 1.0)


def refuse_unfit(images: np.ndarray, group: Any) -> None:
    """Refuse by name, before any training, images and groups that nothing can be learned from."""
    if not isinstance(group, Group):
        raise TransformError(f"expected a group, as transforms.affine() makes one; got {group!r}")
    if len(images) < _FEWEST:
        raise DataError(f"expected {_FEWEST} images or more to learn from; got {len(images)}")
    height, width = images.shape[1:3]
    if min(height, width) < _SMALLEST:
        raise DataError(f"expected images of {_SMALLEST}x{_SMALLEST} pixels or more; got {height}x{width}")
    constant = Split(images).constant()
    if len(constant) > len(images) // 2:
        raise DataError(
            f"{len(constant)} of {len(images)} images are constant (all pixels the same): nothing can be learned there"
        )
    if images.dtype == np.uint8 and images.max() <= 1:
        raise DataError("expected bytes from 0 to 255; got 0 and 1 alone: give those as booleans or as floats")
    if not np.ptp(images, axis=0).any():
        raise DataError(f"all {len(images)} images are the same: there is nothing that varies")
    group.check(images.shape[1:])
    _refuse_inaction(group, images.shape[1:])
    if all(c.low == c.high for c in group.coordinates):
        raise TransformError(f"the random box of {', '.join(group.names)} has no width: nothing would be transformed")


def held_out_places(count: int, validation: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which of so many images to train on, and which to hold out, at least one each; both in random order."""
    order = np.random.default_rng(seed).permutation(count)
    held = min(_MOST_HELD_OUT, max(1, round(validation * count)), count - 1)
    return order[held:], order[:held]


def _as_array(images: Any) -> np.ndarray:
    try:
        array = np.asarray(images)
    except ValueError as error:  # lists of images that differ in size
        raise DataError(f"expected images of one size, as an array [n, height, width, channels]; {error}") from error
    if array.ndim in (3, 4) and len(array) == 0:
        raise DataError("expected at least one image; got none")
    return array


def _from_array(array: np.ndarray, shape: tuple[int, ...] | None) -> np.ndarray:
    """Take bytes and floats as they are, whichever else are in the batch; `load` knows what else there is."""
    if np.issubdtype(array.dtype, np.floating):
        array = array.astype(np.float32, copy=False)
    if array.ndim == 3 and array.shape[-1] not in (1, 3, 4):  # those look like a single image
        array = array[..., None]
    plain = array.ndim == 4 and (array.shape[-1] in (1, 3) or array.shape[1:] == shape)
    if plain and array.dtype in (np.uint8, np.float32):
        return Split(array).images
    return load(array, constant="keep").train.images


def _refuse_inaction(group: Group, shape: tuple[int, ...]) -> None:
    """Try on no image at all whether the group gives back images."""
    given = jax.ShapeDtypeStruct((1, *shape), np.float32)
    try:
        found = jax.eval_shape(lambda x: group.act(group.identity(), x), given)
    except Exception as error:  # whatever a group of one's own may raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TransformError(f"{type(group).__name__} cannot act on images {_words(shape)}: {reason}") from error
    if getattr(found, "shape", None) != given.shape:
        raise TransformError(f"expected {type(group).__name__} to give back images {_words(shape)}; it does not")


def _words(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
