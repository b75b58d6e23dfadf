"""One example to play with: its orbit under a slider, beside the density that the model gives it."""

from typing import Any

import numpy as np

from liewise.report.page.axes import FRAMES, POINTS, Axis
from liewise.report.page.markup import Html, Section, embedded, tag
from liewise.report.page.pictures import picture, strip
from liewise.report.page.plots import density_plot, outline, ticks
from liewise.report.page.seen import Seen

__all__ = ["explorer"]

_MOST_BYTES = 2_600_000  # of frames, in the page
_SIZES = ((12, 96, 64), (12, 64, 64), (12, 48, 48), (8, 48, 32), (6, 40, 32), (4, 32, 16))  # examples, side, colours


def explorer(seen: Seen) -> Section:
    """Return the section; without a script it shows the first example where it stands itself."""
    count, frames = _frames(seen)
    said = tag(
        "p",
        "The curve says how natural each value is for this one example, given its prototype; the dashed line is where"
        " the example itself stands. Move the slider, or press on the curve, to see what other values look like.",
        id="slide-help",
    )
    thumbs = [_thumb(seen, i) for i in range(count)]
    choices = [_choice(c.name, checked=place == 0) for place, c in enumerate(seen.coordinates)]
    stage = tag("div", _still(seen), _moving(seen), _density(seen), class_="stage")
    parts = (
        said,
        tag("div", *thumbs, class_="thumbs", role="group", aria_label="Examples"),
        tag("fieldset", tag("legend", "Transformation"), *choices, class_="choices"),
        stage,
        embedded("explorer-data", _data(seen, frames)),
    )
    return Section("Explore", "Pick an example, and move it", parts)


def _thumb(seen: Seen, place: int) -> Html:
    image = picture(seen.pictures[place], seen.called(place))
    return tag("button", image, type="button", aria_pressed="false" if place else "true")


def _choice(name: str, *, checked: bool) -> Html:
    return tag("label", tag("input", type="radio", name="coordinate", value=name, checked=checked), tag("span", name))


def _still(seen: Seen) -> Html:
    pictures = {"example": seen.pictures[0], "prototype": seen.prototypes[0]}
    figures = [
        tag("figure", picture(image, f"{name} of the curve", id=f"explore-{name}"), tag("figcaption", name))
        for name, image in pictures.items()
    ]
    return tag("div", *figures, class_="still")


def _moving(seen: Seen) -> Html:
    height, width = seen.size
    frame = picture(seen.pictures[0], f"{seen.called(0)} where it stands itself", id="explore-frame")
    window = tag("div", frame, class_="window", style=f"--shape:{width}/{height}")
    caption = tag("figcaption", "moved along ", tag("b", seen.coordinates[0].name, class_="which"))
    return tag("figure", window, caption, class_="moving")


def _density(seen: Seen) -> Html:
    first = seen.coordinates[0]
    axis, own = seen.axes[first.name], seen.own_place(0, first)
    label = f"density of {first.name} for {seen.called(0)}"
    drawn = density_plot(seen.marginals[first.name][0], axis, label=label, mark=own, class_="tall")
    start = axis.nearest(own)
    place = axis.place(float(axis.frames[start]))
    slider = tag(
        "input",
        type="range",
        id="slide",
        min=0,
        max=len(axis.frames) - 1,
        value=start,
        aria_describedby="slide-help",
    )
    return tag(
        "div",
        tag("div", drawn, tag("div", class_="marker", style=f"left:{place:.2f}%"), class_="plot", id="explore-plot"),
        slider,
        tag("div", ticks(axis, every=2), id="explore-ticks"),
        tag("label", "Move it along ", tag("span", first.name, class_="which"), for_="slide"),
        tag("output", _reading(seen, start), for_="slide", id="reading", aria_live="polite"),
        class_="beside",
    )


def _frames(seen: Seen) -> tuple[int, list[list[str]]]:
    """Return how many examples fit, and for each its frames along each coordinate."""
    raw = [seen.frames(0, c) for c in seen.coordinates]
    fitting = (
        (min(most, len(seen.shown)), side, colours)
        for most, side, colours in _SIZES
        if most * sum(len(strip(frames, side=side, colours=colours)) for frames in raw) <= _MOST_BYTES
    )
    count, side, colours = next(fitting, _SIZES[-1])
    return count, [
        [strip(seen.frames(i, c), side=side, colours=colours) for c in seen.coordinates] for i in range(count)
    ]


def _data(seen: Seen, frames: list[list[str]]) -> dict[str, Any]:
    axes = [seen.axes[c.name] for c in seen.coordinates]
    coordinates = [
        {
            "name": axis.coordinate.name,
            "values": [axis.words(float(v)) for v in axis.frames],
            "places": [round(axis.place(float(v)), 2) for v in axis.frames],
            "ticks": ticks(axis, every=2),
        }
        for axis in axes
    ]
    return {"coordinates": coordinates, "examples": [_example(seen, i, strips) for i, strips in enumerate(frames)]}


def _example(seen: Seen, place: int, strips: list[str]) -> dict[str, Any]:
    curves = []
    for coordinate, frames in zip(seen.coordinates, strips, strict=True):
        axis, density = seen.axes[coordinate.name], seen.marginals[coordinate.name][place]
        own = seen.own_place(place, coordinate)
        curves.append(
            {
                "frames": frames,
                "path": outline(density, axis),
                "natural": [round(float(v), 4) for v in _natural(density, axis)],
                "own": round(axis.place(own), 2),
                "start": axis.nearest(own),
            }
        )
    return {"name": seen.called(place), "prototype": strip(seen.prototypes[place][None]), "curves": curves}


def _natural(density: np.ndarray, axis: Axis) -> np.ndarray:
    """Return how natural each frame is beside the most natural value, from 0 to 1."""
    at_frames = density if axis.finite else density[:: (POINTS - 1) // (FRAMES - 1)]
    return at_frames / np.maximum(density.max(), 1e-12)


def _reading(seen: Seen, frame: int) -> str:
    name = seen.coordinates[0].name
    axis = seen.axes[name]
    natural = _natural(seen.marginals[name][0], axis)[frame]
    return f"{axis.words(float(axis.frames[frame]))}: {natural:.0%} as natural as the most natural value"
