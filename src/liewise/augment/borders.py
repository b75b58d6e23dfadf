"""Images as people have them: taken in whatever form, and given back in the same.

One image or a batch; [height, width], with channels last or first; bytes, or floats in [0, 1]; NumPy arrays, torch
tensors (torchvision's too) and PIL images.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from liewise.errors import DataError

__all__ = ["Taken", "take", "to_pixels", "to_units"]

_SLACK = 1e-3  # how far from [0, 1] floats may be, by rounding
_MODES = {"L": 1, "RGB": 3}  # of PIL images, and their channels


class Taken(NamedTuple):
    """Images as bytes or float32 in [0, 1], [n, height, width, channels], and how to give such an array back."""

    images: np.ndarray
    give_back: Callable[[np.ndarray], Any]


def take(given: Any, shape: Sequence[int]) -> Taken:
    """Take images of this shape (height, width, channels) in any form; refuse others by name."""
    array, wrap = _unwrap(given, shape[2])
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        raise DataError(f"expected images as uint8, or floats in [0, 1]; got {array.dtype}")
    before, to_last, to_given = _layout(array.shape, tuple(shape), first=_module(given).startswith("torch"))
    images = array.reshape(before).transpose(to_last)
    if images.dtype != np.uint8:
        low, high = (float(images.min()), float(images.max())) if images.size else (0.0, 0.0)
        if not (low >= -_SLACK and high <= 1 + _SLACK):  # which NaN is not, either
            raise DataError(
                f"expected floats in [0, 1]; got {low:g} to {high:g}: augment images before they are normalised"
            )
        images = images.astype(np.float32)

    def give_back(made: np.ndarray) -> Any:
        return wrap(np.ascontiguousarray(made.transpose(to_given).reshape(array.shape), array.dtype))

    return Taken(np.ascontiguousarray(images), give_back)


def to_units(images: np.ndarray) -> np.ndarray:
    """Return bytes, or floats in [0, 1], as floats in [-1, 1]."""
    if images.dtype == np.uint8:
        return images * np.float32(2 / 255) - np.float32(1)
    return images * np.float32(2) - np.float32(1)


def to_pixels(made: np.ndarray, dtype: Any) -> np.ndarray:
    """Return floats in [-1, 1] as bytes or as floats in [0, 1], clipped where a model overshoots."""
    if dtype == np.uint8:
        made = made + np.float32(1)
        made *= np.float32(127.5)
        made += np.float32(0.5)  # halves go up
        return np.clip(made, 0, 255, out=made).astype(np.uint8)
    return np.clip((made + np.float32(1)) / 2, 0, 1)


def _module(given: Any) -> str:
    return type(given).__module__.partition(".")[0]


def _unwrap(given: Any, channels: int) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """Return the array inside, and how to put another one there."""
    if _module(given) == "PIL":
        if _MODES.get(given.mode) != channels:
            wanted = next((mode for mode, count in _MODES.items() if count == channels), None)
            advice = f': image.convert("{wanted}") makes it so' if wanted else ", which PIL does not have"
            raise DataError(f"expected an image with {channels} channels{advice}; got the mode {given.mode}")
        pil = sys.modules["PIL.Image"]
        return np.asarray(given), pil.fromarray
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(given, torch.Tensor):
        plain = given.detach().cpu().as_subclass(torch.Tensor)
        array = (plain if plain.dtype != torch.bfloat16 else plain.float()).numpy()
        kind = type(given)

        def wrap(made: np.ndarray) -> Any:
            tensor = torch.from_numpy(made).to(device=given.device, dtype=given.dtype)
            return tensor if kind is torch.Tensor else tensor.as_subclass(kind)

        return array, wrap
    if not hasattr(given, "__array__"):
        raise DataError(f"expected an array, a tensor or a PIL image; got {type(given).__name__}")
    return np.asarray(given), lambda made: made


def _layout(
    got: tuple[int, ...], shape: tuple[int, ...], *, first: bool
) -> tuple[tuple[int, ...], list[int], list[int]]:
    """Find how an array lies: the shape with a batch in front, and the orders of axes to [n, h, w, c] and back.

    Where both orders of channels fit, they are last, unless `first`.
    """
    height, width, channels = shape
    last = ((height, width, channels), [0, 1, 2, 3], [0, 1, 2, 3])
    ahead = ((channels, height, width), [0, 2, 3, 1], [0, 3, 1, 2])
    for one, there, back in (ahead, last) if first else (last, ahead):
        if got == one or (len(got) == 4 and got[1:] == one):
            return (-1 if len(got) == 4 else 1, *one), there, back
    if channels == 1 and got[-2:] == (height, width) and len(got) in (2, 3):
        return (-1, height, width, 1), [0, 1, 2, 3], [0, 1, 2, 3]
    words = "x".join(map(str, shape))
    raise DataError(f"expected one image or a batch of {words} (or {channels}x{height}x{width}), as fitted; got {got}")
