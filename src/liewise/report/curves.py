"""Curves in one plot, each with its name at its end, or several plots of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liewise.report.plots import circle_ticks, new_figure, quiet, show_legend
from liewise.report.style import FILLS, QUIET

__all__ = ["Curve", "Panel", "draw_curves", "draw_panels"]


@dataclass(frozen=True)
class Curve:
    """Values over something, with a name."""

    name: str
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Panel:
    """Densities of one thing by several models, and a sample of what is true if that is known."""

    title: str
    axis: str  # what is below the plot, with its unit
    curves: tuple[Curve, ...]
    true: np.ndarray | None = None
    period: float | None = None


def draw_curves(
    curves: Sequence[Curve],
    *,
    x: str,
    y: str,
    level: float | None = None,
    limits: tuple[float | None, float | None] | None = None,
    upright: float | None = None,
    log: bool = False,
) -> Figure:
    """Draw curves in one plot.

    Args:
        curves: in the order of the legend.
        x: what is below the plot.
        y: what is beside it.
        level: of a dashed line across.
        limits: of y; from zero to the highest if not given.
        upright: of a dashed line upwards.
        log: whether y is logarithmic.
    """
    figure = new_figure(4.6, 2.6)
    axis = figure.subplots()
    for place, curve in enumerate(curves):
        axis.plot(curve.x, curve.y, color=_colour(place), linewidth=1.2, marker="o", markersize=2)
    if level is not None:
        axis.axhline(level, color=QUIET, linewidth=0.8, linestyle=(0, (4, 3)))
    if upright is not None:
        axis.axvline(upright, color=QUIET, linewidth=0.8, linestyle=(0, (4, 3)))
    quiet(axis, x=x, y=y, ticks=6)
    if log:
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")
    axis.set_ylim(*(limits or (None if log else 0.0, None)))
    show_legend(figure, _handles([curve.name for curve in curves]))
    return figure


def draw_panels(panels: Sequence[Panel], *, across: int) -> Figure:
    """Draw plots of densities, `across` of them in a row; the curves of each have the same names."""
    lines = -(-len(panels) // across)
    figure = new_figure(1.75 * across + 0.2, 1.35 * lines + 0.35)
    axes = figure.subplots(lines, across, squeeze=False).ravel()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis, panel in zip(axes, panels, strict=False):
        _draw(axis, panel)
    names = [curve.name for curve in panels[0].curves]
    show_legend(figure, _handles(names))
    return figure


def _draw(axis: Axes, panel: Panel) -> None:
    if panel.true is not None:
        axis.hist(panel.true, 48, density=True, color="#cfd5dd")
    for place, curve in enumerate(panel.curves):
        axis.plot(curve.x, curve.y, color=_colour(place), linewidth=1.1)
    quiet(axis, title=panel.title, x=panel.axis)
    axis.set_ylim(0, None)
    if panel.period is not None:
        circle_ticks(axis, panel.period)


def _handles(names: Sequence[str]) -> list[Line2D]:
    return [Line2D([], [], color=_colour(place), label=name) for place, name in enumerate(names)]


def _colour(place: int) -> str:
    return FILLS[place % len(FILLS)]
