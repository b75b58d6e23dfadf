"""One image file to one array of bytes, whatever its kind, saying which conversions that took.

Nothing is guessed: what cannot be read raises `UnreadableImage` with the reason.
"""

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import ExifTags, Image, ImageFile, ImageOps, TiffImagePlugin

__all__ = ["Header", "NotAnImage", "UnreadableImage", "header_of", "read_header", "read_image", "upright"]

_GREY = {"1", "L", "LA", "La", "I", "I;16", "I;16B", "I;16L", "I;16N"}
_DEEP_GREY = {"I", "I;16", "I;16B", "I;16L", "I;16N"}
_ALPHA = {"LA", "La", "PA", "RGBA", "RGBa"}
_OTHER_COLOUR = {"CMYK": "CMYK", "YCbCr": "YCbCr", "LAB": "CIELAB", "HSV": "HSV"}
_COLOUR = {"P", "RGB", "RGBX", *_OTHER_COLOUR}
_BROKEN = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    struct.error,
    zlib.error,
)  # Pillow's ways to fail
_TURNED = (5, 6, 7, 8)  # EXIF orientations that exchange height and width


class UnreadableImage(Exception):
    """A file that ought to be an image, and cannot be read as one."""


class NotAnImage(Exception):
    """A file that is no image of any kind known here."""


@dataclass(frozen=True)
class Header:
    """What can be known of an image before its pixels are read."""

    height: int  # pixels, as displayed
    width: int
    channels: int  # 1 grey, 3 colour
    conversions: tuple[str, ...]  # what reading it will have to convert


def read_header(path: Path) -> Header:
    """Return the header of the image in a file."""
    with _opened(path) as image:
        return header_of(image)


def read_image(path: Path) -> Image.Image:
    """Return the image in a file, with its pixels."""
    with _opened(path) as image:
        # else Pillow maps an uncompressed TIFF into memory with height and width exchanged if it is turned
        image.filename = ""
        try:
            image.load()
        except _BROKEN as error:
            raise UnreadableImage(str(error) or type(error).__name__) from error
        return image


def header_of(image: Image.Image) -> Header:
    """Return an image's size as displayed, its channels and the conversions that it will need."""
    try:
        # before the EXIF data, which for a PNG means reading all of it, and then this is forgotten
        deep = any("16" in str(tile[3]) for tile in getattr(image, "tile", ()))
        orientation = image.getexif().get(ExifTags.Base.Orientation, 1)
        conversions = _conversions(image, orientation, deep)
    except _BROKEN as error:
        raise UnreadableImage(str(error) or type(error).__name__) from error
    if image.mode not in _GREY | _ALPHA | _COLOUR:
        raise UnreadableImage(f"pixels of kind {image.mode}, which have no fixed range")
    width, height = _stored_size(image)[::-1] if orientation in _TURNED else image.size
    return Header(height, width, 1 if image.mode in _GREY else 3, conversions)


def upright(image: Image.Image, *, channels: int, background: int) -> Image.Image:
    """Return an image as displayed, as 8-bit grey or RGB, laid on the background where it is transparent."""
    # turned first: what comes without alpha or with fewer bits has lost its EXIF data
    return _flat(ImageOps.exif_transpose(image), background).convert("L" if channels == 1 else "RGB")


def _opened(path: Path) -> ImageFile.ImageFile:
    try:
        return Image.open(path)
    except Image.DecompressionBombError as error:
        raise UnreadableImage(str(error)) from error
    except (OSError, SyntaxError, ValueError) as error:
        # only files that claim to be images can be broken ones
        if path.suffix.lower() in Image.registered_extensions():
            reason = error.strerror if isinstance(error, OSError) else None
            raise UnreadableImage(reason or "cannot be identified as an image") from error
        raise NotAnImage(str(error)) from error


def _stored_size(image: Image.Image) -> tuple[int, int]:
    if isinstance(image, TiffImagePlugin.TiffImageFile):  # its `size` is already that of the image turned upright
        return image.tag_v2[TiffImagePlugin.IMAGEWIDTH], image.tag_v2[TiffImagePlugin.IMAGELENGTH]
    return image.size


def _conversions(image: Image.Image, orientation: int, deep: bool) -> tuple[str, ...]:
    found = []
    if getattr(image, "n_frames", 1) > 1:
        found.append("animated, of which the first frame is taken")
    if orientation != 1:
        found.append("turned upright by EXIF orientation")
    if image.mode == "1":
        found.append("1-bit made 8-bit grey")
    if deep or image.mode in _DEEP_GREY:
        found.append("16-bit reduced to 8")
    if image.mode in {"P", "PA"}:
        found.append("palette made RGB")
    if image.mode in _OTHER_COLOUR:
        found.append(f"{_OTHER_COLOUR[image.mode]} made RGB")
    if image.mode in _ALPHA or "transparency" in image.info:
        found.append("alpha laid on the background")
    return tuple(found)


def _flat(image: Image.Image, background: int) -> Image.Image:
    """Return the image without alpha and without more than 8 bits."""
    if image.mode in _DEEP_GREY:
        deep = np.asarray(image).astype(np.int64)
        if deep.min() < 0 or deep.max() > 65_535:
            raise UnreadableImage(f"grey values {deep.min()} to {deep.max()}, beyond 16 bits")
        return Image.fromarray(((deep + 128) // 257).astype(np.uint8))
    if image.mode in _ALPHA or "transparency" in image.info:
        over = image.convert("RGBA")
        under = Image.new("RGBA", over.size, (background, background, background, 255))
        return Image.alpha_composite(under, over)
    return image
