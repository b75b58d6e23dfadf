"""Small plots in one style: quiet axes, named with their units, and no more ticks than can be read."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from liewise.report.style import CAPTION, INK, QUIET

__all__ = ["circle_ticks", "new_figure", "quiet", "show_image", "show_legend"]

_RULE = "#c9ced6"


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, in inches."""
    return Figure(figsize=(width, height), layout="constrained", facecolor="white", dpi=150)


def quiet(axis: Axes, *, title: str = "", x: str = "", y: str | None = None, ticks: int = 4) -> None:
    """Style an axis; without a word for y, it has no scale, as densities have none that matters."""
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.spines["bottom"].set_color(_RULE)
    axis.tick_params(labelsize=CAPTION - 0.5, colors=QUIET, length=2, width=0.5, pad=1.5)
    axis.xaxis.set_major_locator(MaxNLocator(ticks, min_n_ticks=2))
    axis.set_title(title, fontsize=CAPTION + 0.5, color=INK, pad=3)
    axis.set_xlabel(x, fontsize=CAPTION, color=QUIET, labelpad=2)
    if y is None:
        axis.set_yticks([])
    else:
        axis.spines["left"].set_visible(True)
        axis.spines["left"].set_color(_RULE)
        axis.yaxis.set_major_locator(MaxNLocator(ticks, min_n_ticks=2))
        axis.set_ylabel(y, fontsize=CAPTION, color=QUIET, labelpad=2)


def circle_ticks(axis: Axes, period: float) -> None:
    """Mark the quarters of a circle."""
    axis.set_xticks(np.arange(-2, 3) * period / 4)


def show_image(axis: Axes, image: np.ndarray) -> None:
    """Show an image [height, width, channels], uint8 or floats in [0, 1], and nothing else."""
    grey = image.shape[-1] == 1
    top = 255 if image.dtype == np.uint8 else 1
    axis.imshow(image[..., 0] if grey else image, cmap="gray", vmin=0, vmax=top, interpolation="nearest")
    axis.set(xticks=[], yticks=[], frame_on=False)


def show_legend(figure: Figure, handles: Sequence[Any]) -> None:
    """Put one legend below all plots."""
    figure.legend(
        handles=list(handles),
        loc="outside lower center",
        ncols=max(1, len(handles)),
        frameon=False,
        fontsize=CAPTION + 0.5,
        labelcolor=QUIET,
    )
