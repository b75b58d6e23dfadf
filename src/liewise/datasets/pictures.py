"""Single image files, brought to the shape of images that a model knows."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from liewise.datasets.framing import Framing
from liewise.datasets.image_files import NotAnImage, UnreadableImage, header_of, read_image
from liewise.errors import DataError

__all__ = ["read_images"]


def read_images(
    paths: Sequence[str | Path],
    shape: tuple[int, int, int],
    *,
    resize: str | None = None,
    background: int = 0,
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return images from files as bytes [n, height, width, channels], and notes of what was converted.

    Args:
        paths: the files, of any kind that Pillow reads
        shape: height and width in pixels, and channels (1 or 3), of what is wanted
        resize: "crop", "pad" or "stretch", to bring images of another size to that shape; without it they are refused
        background: grey level from 0 to 255 under transparent pixels and beside padded images
    """
    height, width, channels = shape
    if channels not in (1, 3):
        raise DataError(f"expected a shape with 1 or 3 channels, which image files have; got {channels}")
    framing = Framing.of((height, width), resize or "crop", background)
    images, notes = np.empty((len(paths), *shape), np.uint8), []
    for place, path in enumerate(map(Path, paths)):
        if not path.is_file():
            raise DataError(f"expected an image file; there is none at {path}")
        try:
            image = read_image(path)
            header = header_of(image)
            if resize is None and (header.height, header.width) != (height, width):
                raise DataError(
                    f"expected images of {height}x{width} (height x width); {path} is {header.height}x{header.width}."
                    " Give resize='crop', 'pad' or 'stretch'"
                )
            images[place] = framing.array(image, channels)
        except (UnreadableImage, NotAnImage) as error:
            raise DataError(f"{path} cannot be read as an image: {error}") from error
        said = list(header.conversions)
        if header.channels != channels:
            said.append("made grey" if channels == 1 else "made RGB")
        if (header.height, header.width) != (height, width):
            said.append(f"resized from {header.height}x{header.width} ({resize})")
        notes += [f"{path}: {text}" for text in said]
    return images, tuple(notes)
