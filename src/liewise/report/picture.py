"""Figures as small PNG files: a palette of 256 colours, and fewer pixels where that does not do."""

import io
import os
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

__all__ = ["write_png"]

_MOST_BYTES = 150_000
_RESOLUTIONS = (150, 120, 100, 80, 60)  # dots per inch, tried in turn


def write_png(figure: Figure, path: Path, *, most_bytes: int = _MOST_BYTES) -> Path:
    """Write a figure, as finely as so many bytes allow; the coarsest resolution is written whatever its size."""
    data = b""
    for dpi in _RESOLUTIONS:
        data = _encoded(figure, dpi)
        if len(data) <= most_bytes:
            break
    fresh = path.with_name(f".{path.name}")
    fresh.write_bytes(data)
    os.replace(fresh, path)
    return path


def _encoded(figure: Figure, dpi: int) -> bytes:
    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi)
    drawn.seek(0)
    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, format="PNG", optimize=True)
    return small.getvalue()
