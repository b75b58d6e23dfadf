"""Images as text: PNG files with a palette, written into the page itself."""

import base64
import io
from typing import Any

import numpy as np
from PIL import Image

from liewise.report.bands import mosaic
from liewise.report.page.markup import Html, tag

__all__ = ["as_bytes", "encoded", "picture", "shaded", "strip"]

_SMOOTH_FROM = 96  # pixels: smaller images are shown with their pixels, larger ones smoothly


def as_bytes(images: np.ndarray) -> np.ndarray:
    """Return images as bytes, from bytes or from floats in [0, 1]; of other channels than grey or RGB, the first."""
    shown = images if images.shape[-1] in (1, 3, 4) else images[..., :1]
    return shown if shown.dtype == np.uint8 else np.rint(np.clip(shown, 0, 1) * 255).astype(np.uint8)


def encoded(pixels: np.ndarray, *, colours: int = 128) -> str:
    """Return RGB pixels [height, width, 3] as a PNG in a data URI."""
    with Image.fromarray(pixels) as whole:
        return _uri(whole.quantize(colours, dither=Image.Dither.NONE))


def strip(images: np.ndarray, *, side: int | None = None, colours: int = 64) -> str:
    """Return images [n, height, width, channels], one below the other, as one PNG; no side longer than that."""
    column = mosaic(as_bytes(images)[:, None], gap=0)
    height, width = images.shape[1:3]
    share = 1 if side is None else min(1, side / max(height, width))
    if share < 1:
        size = (round(width * share), len(images) * round(height * share))
        with Image.fromarray(column) as whole:
            column = np.asarray(whole.resize(size, Image.Resampling.BOX))
    return encoded(column, colours=colours)


def shaded(levels: np.ndarray, colour: str) -> str:
    """Return numbers in [0, 1] as how much of a colour there is: it looks the same on any ground."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    pixels = np.empty((*levels.shape, 4), np.uint8)
    pixels[..., :3] = red, green, blue
    pixels[..., 3] = np.rint(255 * np.clip(levels, 0, 1))
    with Image.fromarray(pixels, "RGBA") as whole:
        return _uri(whole)


def picture(image: np.ndarray, alt: str, **attributes: Any) -> Html:
    """Return one image [height, width, channels] as an element."""
    height, width = image.shape[:2]
    smooth = "smooth" if min(height, width) >= _SMOOTH_FROM else None
    source = encoded(mosaic(as_bytes(image)[None, None], gap=0))
    kinds = " ".join(filter(None, (attributes.pop("class_", None), smooth))) or None
    return tag("img", src=source, alt=alt, width=width, height=height, class_=kinds, **attributes)


def _uri(image: Image.Image) -> str:
    data = io.BytesIO()
    image.save(data, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()
