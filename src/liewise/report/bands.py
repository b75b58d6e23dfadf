"""Pictures made of rows of examples: bands of them, each with a word beside it, in blocks side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from matplotlib.figure import Figure, SubFigure

from liewise.errors import DataError
from liewise.report.style import CAPTION, INK, QUIET

__all__ = ["Band", "Block", "draw_bands", "mosaic"]

_TILE = 0.42  # inches
_MARGIN = 0.85  # inches, for the words


@dataclass(frozen=True)
class Band:
    """Rows of examples under one heading."""

    title: str
    images: np.ndarray  # [rows, columns, height, width, channels], uint8 or floats in [0, 1]


@dataclass(frozen=True)
class Block:
    """Bands of equal width, one below the other."""

    title: str
    bands: tuple[Band, ...]


def draw_bands(blocks: Sequence[Block], *, across: int | None = None) -> Figure:
    """Draw blocks beside each other, `across` of them in a row (all if not given)."""
    across = len(blocks) if across is None else min(across, len(blocks))
    lines = [blocks[i : i + across] for i in range(0, len(blocks), across)]
    widths = [max(_columns(line[i]) for line in lines if i < len(line)) * _TILE + 0.15 for i in range(across)]
    widths[0] += _MARGIN
    heights = [max(sum(len(band.images) for band in block.bands) for block in line) * _TILE + 0.45 for line in lines]
    figure = Figure(figsize=(sum(widths), sum(heights)), layout="constrained", facecolor="white", dpi=150)
    parts = figure.subfigures(len(lines), across, squeeze=False, width_ratios=widths, height_ratios=heights)
    for line, row in zip(lines, parts, strict=True):
        for place, (block, part) in enumerate(zip(line, row, strict=False)):
            _draw(cast(SubFigure, part), block, named=place == 0)
    return figure


def mosaic(images: np.ndarray, *, gap: int | None = None) -> np.ndarray:
    """Lay images [rows, columns, height, width, channels] out as one, uint8 RGB, with white lines between them."""
    if images.ndim != 5:
        raise DataError(f"expected images [rows, columns, height, width, channels]; got {images.shape}")
    rows, columns, height, width, channels = images.shape
    gap = max(1, height // 24) if gap is None else gap
    pixels = images if images.dtype == np.uint8 else np.rint(np.clip(images, 0, 1) * 255).astype(np.uint8)
    colours = np.repeat(pixels, 3, -1) if channels == 1 else pixels[..., :3]
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), 255, np.uint8)
    for row in range(rows):
        for column in range(columns):
            top, left = row * (height + gap), column * (width + gap)
            sheet[top : top + height, left : left + width] = colours[row, column]
    return sheet


def _columns(block: Block) -> int:
    counts = {band.images.shape[1] for band in block.bands}
    if len(counts) != 1:
        raise DataError(f"expected bands of equal width in a block; got {sorted(counts)} columns")
    return counts.pop()


def _draw(part: SubFigure, block: Block, *, named: bool) -> None:
    part.suptitle(block.title, fontsize=9, color=INK, weight="bold")
    sheets = [mosaic(band.images) for band in block.bands]
    gap = block.bands[0].images.shape[2] // 4
    space = np.full((gap, sheets[0].shape[1], 3), 255, np.uint8)
    axis = part.subplots()
    axis.imshow(np.concatenate([row for sheet in sheets for row in (sheet, space)][:-1]), interpolation="nearest")
    tops = np.cumsum([0, *(len(sheet) + gap for sheet in sheets[:-1])])
    middles = [top + (len(sheet) - 1) / 2 for top, sheet in zip(tops, sheets, strict=True)]
    titles = [band.title for band in block.bands] if named else [""] * len(middles)
    axis.set_yticks(middles, titles, fontsize=CAPTION + 0.5, color=QUIET)
    axis.set(xticks=[], frame_on=False)
    axis.tick_params(length=0)
