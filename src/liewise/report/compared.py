"""What was found beside what is true: two distributions in a plot, as many plots as there are factors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from liewise.report.plots import new_figure, quiet, show_legend
from liewise.report.style import FILLS

__all__ = ["Compared", "draw_compared"]

_TRUE = "#cfd5dd"
_BINS = 36


@dataclass(frozen=True)
class Compared:
    """Two samples of one factor."""

    title: str
    axis: str  # the factor, with its unit
    found: np.ndarray
    true: np.ndarray
    period: float | None = None


def draw_compared(rows: Sequence[Sequence[Compared]], *, found: str = "resampled") -> Figure:
    """Draw histograms of equal area: what is true filled, what was found as a line."""
    columns = max(map(len, rows))
    figure = new_figure(1.75 * columns + 0.2, 1.25 * len(rows) + 0.35)
    axes = figure.subplots(len(rows), columns, squeeze=False)
    for row, line in zip(axes, rows, strict=True):
        for axis in row[len(line) :]:
            axis.set_axis_off()
        for axis, compared in zip(row, line, strict=False):
            _draw(axis, compared)
    show_legend(figure, [Patch(color=_TRUE, label="true"), Line2D([], [], color=FILLS[0], label=found)])
    return figure


def _draw(axis: Axes, compared: Compared) -> None:
    true, found = _on_a_line(compared)
    low, high = np.quantile(np.concatenate([true, found]), [0.002, 0.998])
    rim = max(0.06 * (high - low), 1e-3)
    edges = np.linspace(min(low, true.min()) - rim, max(high, true.max()) + rim, _BINS + 1)
    axis.hist(true, edges, density=True, color=_TRUE)
    axis.hist(found, edges, density=True, histtype="step", color=FILLS[0], linewidth=1.1)
    axis.set_xlim(edges[0], edges[-1])
    quiet(axis, title=compared.title, x=compared.axis)


def _on_a_line(compared: Compared) -> tuple[np.ndarray, np.ndarray]:
    """Cut a circle opposite to the middle of what is true; from 0 on where that has no middle."""
    if compared.period is None:
        return compared.true, compared.found
    mean = np.exp(2j * np.pi * compared.true / compared.period).mean()
    middle = np.angle(mean) / (2 * np.pi) if abs(mean) > 0.1 else 0.5
    start = (middle - 0.5) * compared.period
    one, other = (start + np.mod(values - start, compared.period) for values in (compared.true, compared.found))
    return one, other
