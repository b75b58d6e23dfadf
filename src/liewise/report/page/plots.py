"""Curves as inline SVG. They stretch to the width there is; words beside them are HTML, and keep their size."""

from collections.abc import Sequence

import numpy as np

from liewise.report.page.axes import Axis
from liewise.report.page.facts import Curve
from liewise.report.page.markup import Html, join, tag

__all__ = ["chart", "density_plot", "outline", "ticks"]

_WIDE, _HIGH = 1000.0, 100.0  # the SVG's own units


def outline(density: np.ndarray, axis: Axis) -> str:
    """Return the SVG path under a density, as high as its own highest point."""
    heights = _HIGH * (1 - 0.94 * np.clip(density / max(float(density.max()), 1e-12), 0, 1))
    if axis.finite:
        width = _WIDE / len(density)
        bars = [(i * width + 0.15 * width, (i + 1) * width - 0.15 * width, h) for i, h in enumerate(heights)]
        return "".join(f"M{left:.0f} {_HIGH:.0f}V{top:.1f}H{right:.0f}V{_HIGH:.0f}Z" for left, right, top in bars)
    places = np.linspace(0, _WIDE, len(density))
    line = "L".join(f"{x:.0f} {y:.1f}" for x, y in zip(places, heights, strict=True))
    return f"M0 {_HIGH:.0f}L{line}L{_WIDE:.0f} {_HIGH:.0f}Z"


def density_plot(
    density: np.ndarray,
    axis: Axis,
    *,
    label: str,
    within: tuple[float, float] | None = None,
    mark: float | None = None,
    class_: str = "",
) -> Html:
    """Return a density along an axis.

    Args:
        density: at the axis' points.
        axis: of the coordinate.
        label: what a screen reader says.
        within: an interval that is shaded, in η.
        mark: a value that is marked, in η.
        class_: more classes.
    """
    shapes = [tag("path", d=outline(density, axis), class_="area")]
    if within is not None and not axis.finite:
        left, right = (axis.place(end) * _WIDE / 100 for end in within)
        shapes.insert(0, tag("rect", class_="within", x=f"{left:.0f}", y=0, width=f"{right - left:.0f}", height=_HIGH))
    if mark is not None:
        x = f"{axis.place(mark) * _WIDE / 100:.0f}"
        shapes.append(tag("line", class_="own", x1=x, x2=x, y1=0, y2=_HIGH))
    return _svg(shapes, label, f"density {class_}".strip())


def ticks(axis: Axis, *, every: int = 1) -> Html:
    """Return what is written below an axis: the values of its pictures, or every so manieth of them from the middle."""
    places = list(axis.tiles)
    middle = len(places) // 2
    values = axis.frames[places]
    shown = [axis.finite or (i - middle) % every == 0 for i in range(len(places))]
    words = [tag("span", axis.words(v) if show else "") for v, show in zip(values, shown, strict=True)]
    return tag("div", *words, class_="ticks", style=f"--n:{len(words)}")


def chart(curves: Sequence[tuple[str, Curve]], *, steps: int, title: str) -> Html:
    """Return curves over training steps, the first as a line and the second, measured on held-out examples, as dots.

    The vertical range leaves out the first tenth of the steps where that is far above the rest.
    """
    known = [(name, curve) for name, curve in curves if len(curve[0])]
    if not known:
        return tag("p", f"{title}: nothing was recorded yet.", class_="quiet")
    later = np.concatenate([values[steps_ > 0.1 * steps_.max()] for _, (steps_, values) in known])
    first = np.concatenate([values for _, (_, values) in known])
    low = float(first.min())
    high = min(float(first.max()), low + 1.6 * max(float(later.max()) - low, 1e-9))
    span = max(high - low, 1e-9)
    shapes, legend = [], []
    for place, (name, (at, values)) in enumerate(known):
        x = _WIDE * at / max(steps, 1)
        y = _HIGH * (0.96 - 0.92 * np.clip((values - low) / span, 0, 1.04))
        points = [f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True)]
        path = "M" + "L".join(points) if place == 0 else "".join(f"M{point}h0" for point in points)
        shapes.append(tag("path", d=path, class_="line" if place == 0 else "dots"))
        legend.append(tag("span", f"{name} {values[-1]:.3g}", class_="key line" if place == 0 else "key dots"))
    summary = "; ".join(f"{name} from {v[0]:.3g} to {v[-1]:.3g}" for name, (_, v) in known)
    ends = tag("div", tag("span", f"{high:.3g}"), tag("span", f"{low:.3g}"), class_="ends", aria_hidden="true")
    foot = tag("div", tag("span", "0"), tag("span", f"{steps:,} steps"), class_="foot", aria_hidden="true")
    drawn = _svg(shapes, f"{title} over {steps:,} steps: {summary}.", "curves")
    return tag("figure", tag("figcaption", tag("b", title), *legend), ends, drawn, foot, class_="chart")


def _svg(shapes: Sequence[Html], label: str, class_: str) -> Html:
    box = f"0 0 {_WIDE:.0f} {_HIGH:.0f}"
    inner = join(shapes)
    return tag("svg", inner, viewBox=box, preserveAspectRatio="none", role="img", aria_label=label, class_=class_)
