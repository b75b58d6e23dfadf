"""Examples with their prototypes, and the density of each coordinate beside them."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liewise.report.plots import circle_ticks, new_figure, quiet, show_image
from liewise.report.style import CAPTION, FILLS, INK
from liewise.sgm import Marginal
from liewise.transforms import axis_words

__all__ = ["draw_marginals"]

_ROW, _PLOT = 0.5, 1.25  # inches
_TRUTH = "#f0d9a8"


def draw_marginals(
    examples: np.ndarray,
    prototypes: np.ndarray,
    marginals: Sequence[Marginal],
    *,
    truth: Mapping[str, np.ndarray] | None = None,
) -> Figure:
    """Draw a row for each example: itself, its prototype, and a density for each coordinate.

    Args:
        examples: [n, height, width, channels], as bytes or in [0, 1].
        prototypes: likewise.
        marginals: one for each coordinate.
        truth: by coordinate, where each example's true values lie, [n, 2], in the user's unit; shaded.
    """
    rows, columns = len(examples), 2 + len(marginals)
    figure = new_figure(2 * _ROW + _PLOT * len(marginals), 0.45 + _ROW * rows)
    axes = figure.subplots(rows, columns, squeeze=False, width_ratios=[_ROW, _ROW] + [_PLOT] * len(marginals))
    for row in range(rows):
        show_image(axes[row, 0], examples[row])
        show_image(axes[row, 1], prototypes[row])
        for axis, marginal in zip(axes[row, 2:], marginals, strict=True):
            limits = None if truth is None else truth.get(marginal.coordinate.name)
            _draw(axis, marginal, row, None if limits is None else limits[row], last=row == rows - 1)
    for axis, title in zip(axes[0, :2], ("example", "prototype"), strict=True):
        axis.set_title(title, fontsize=CAPTION, color=INK, pad=3)
    for axis, marginal in zip(axes[0, 2:], marginals, strict=True):
        words = axis_words(marginal.coordinate.name, marginal.coordinate.unit)
        axis.set_title(words, fontsize=CAPTION + 0.5, color=INK, pad=3)
    return figure


def _draw(axis: Axes, marginal: Marginal, row: int, limits: np.ndarray | None, *, last: bool) -> None:
    values, density = marginal.values, marginal.density[row]
    quiet(axis)
    coordinate, colour = marginal.coordinate, FILLS[row % len(FILLS)]
    if coordinate.steps is not None:
        axis.bar(values, density, width=0.5, color=colour)
    else:
        axis.fill_between(values, density, color=colour, alpha=0.35, linewidth=0)
        axis.plot(values, density, color=colour, linewidth=0.9)
        axis.set_xlim(values[0], values[-1])
    if coordinate.period is not None:
        circle_ticks(axis, values[-1] - values[0])
    if limits is not None:
        turn = values[-1] - values[0] if coordinate.period is not None else 0.0
        for shift in {-turn, 0.0, turn}:
            axis.axvspan(limits[0] + shift, limits[1] + shift, color=_TRUTH, linewidth=0, zorder=0)
    axis.set_ylim(0, 1.08 * density.max() if density.max() > 0 else 1)
    if not last:
        axis.set_xticklabels([])
