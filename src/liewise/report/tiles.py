"""Pictures in rows, each with a caption: what the sheets are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure, SubFigure

from liewise.report.style import CAPTION, INK, QUIET

__all__ = ["Tile", "draw_rows"]


@dataclass(frozen=True)
class Tile:
    """A picture and what is said below it."""

    image: np.ndarray
    caption: str = ""
    strong: bool = False


def draw_rows(
    figure: Figure | SubFigure,
    rows: Sequence[Sequence[Tile | None]],
    *,
    columns: int,
    title: str = "",
    row_titles: Sequence[str] = (),
) -> None:
    """Draw rows of tiles, a place left free for None."""
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=INK, weight="bold")
    axes = figure.subplots(len(rows), columns, squeeze=False)
    for row, tiles in zip(axes, rows, strict=True):
        for place, axis in enumerate(row):
            axis.set(xticks=[], yticks=[], frame_on=False)
            tile = tiles[place] if place < len(tiles) else None
            if tile is not None:
                _draw(axis, tile)
    for row, text in zip(axes, row_titles, strict=False):
        row[0].set_ylabel(text, rotation=0, ha="right", va="center", fontsize=CAPTION + 0.5, color=INK)


def _draw(axis: Any, tile: Tile) -> None:
    grey = tile.image.shape[-1] == 1
    image = tile.image[..., 0] if grey else tile.image[..., :3]
    top = 255 if image.dtype == np.uint8 else 1
    axis.imshow(image, cmap="gray", vmin=0, vmax=top, interpolation="nearest")
    weight, colour = ("bold", INK) if tile.strong else ("normal", QUIET)
    axis.set_xlabel(tile.caption, fontsize=CAPTION, labelpad=2.5, color=colour, weight=weight)
