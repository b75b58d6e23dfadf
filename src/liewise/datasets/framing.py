"""Images of one size: either they agree, or they are all brought to the size that was asked for."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageOps

from liewise.datasets.image_files import Header, upright
from liewise.errors import DataError

__all__ = ["Framing", "check_sizes", "conversion_notes", "counted", "some"]

_NAMED = 5  # names in a message before it says how many more there are
_RESIZES = ("crop", "pad", "stretch")


@dataclass(frozen=True)
class Framing:
    """How every image is brought to one size."""

    size: tuple[int, int] | None  # height, width in pixels; None: as they are, all alike
    resize: str  # crop, pad or stretch
    background: int  # grey level 0 to 255 under transparent pixels and beside padded images

    @classmethod
    def of(cls, size: int | tuple[int, int] | None, resize: str, background: int) -> "Framing":
        """Return the framing after checking what was asked for."""
        if resize not in _RESIZES:
            raise DataError(f"expected resize to be one of {', '.join(_RESIZES)}; got '{resize}'")
        if not 0 <= background <= 255:
            raise DataError(f"expected a background from 0 to 255; got {background}")
        height, width = (size, size) if size is None or isinstance(size, int) else size
        if height is None or width is None:
            return cls(None, resize, background)
        if height < 1 or width < 1:
            raise DataError(f"expected a size of at least one pixel; got {size}")
        return cls((height, width), resize, background)

    def array(self, image: Image.Image, channels: int) -> np.ndarray:
        """Return the image's bytes [height, width, channels], upright and at the size asked for."""
        flat = self._resized(upright(image, channels=channels, background=self.background))
        return np.asarray(flat).reshape(flat.height, flat.width, channels)

    def _resized(self, image: Image.Image) -> Image.Image:
        if self.size is None or image.size == self.size[::-1]:
            return image
        method = Image.Resampling.LANCZOS
        size = (self.size[1], self.size[0])
        if self.resize == "stretch":
            return image.resize(size, method)
        if self.resize == "crop":
            return ImageOps.fit(image, size, method)
        level = self.background
        return ImageOps.pad(image, size, method, color=level if image.mode == "L" else (level, level, level))


def check_sizes(headers: Iterable[Header], framing: Framing) -> None:
    """Refuse images of several sizes, with the count of each, unless a size was asked for."""
    counts = Counter((header.height, header.width) for header in headers)
    if framing.size is None and len(counts) > 1:
        listed = [f"{count} of {height}x{width}" for (height, width), count in counts.most_common()]
        raise DataError(
            f"expected images of one size; got {some(listed)} (height x width). Give size=(height, width),"
            " and resize='crop', 'pad' or 'stretch'"
        )


def conversion_notes(headers: Iterable[Header], framing: Framing) -> list[str]:
    """Return what reading these images converts, with counts."""
    headers = list(headers)
    counts = Counter(conversion for header in headers for conversion in header.conversions)
    grey = sum(header.channels == 1 for header in headers)
    if grey < len(headers):
        counts["grey made RGB, since others have colour"] = grey
    if framing.size is not None:
        changed = sum((header.height, header.width) != framing.size for header in headers)
        counts[f"resized to {framing.size[0]}x{framing.size[1]} ({framing.resize})"] = changed
    return [f"{counted(count, 'image')} {conversion}" for conversion, count in counts.items() if count]


def counted(count: int, noun: str) -> str:
    """Return how many there are of something, in words.

    >>> counted(1, "image"), counted(1200, "image")
    ('1 image', '1,200 images')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def some(names: list[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
