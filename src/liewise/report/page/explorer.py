"""One example to play with: its orbit under a slider, beside the density that the model gives it."""

from typing import Any

import numpy as np

from liewise.report.page.axes import FRAMES, POINTS, Axis
from liewise.report.page.markup import Html, embedded, tag
from liewise.report.page.pictures import picture, strip
from liewise.report.page.plots import density_plot, outline, ticks
from liewise.report.page.seen import Seen

__all__ = ["explorer"]

_MOST_BYTES = 2_600_000  # of frames, in the page
_SIZES = ((12, 96, 64), (12, 64, 64), (12, 48, 48), (8, 48, 32), (6, 40, 32), (4, 32, 16))  # examples, side, colours


def explorer(seen: Seen) -> Html:
    """Return the section; without a script it shows the first example at its middle."""
    count, frames = _frames(seen)
    first = seen.coordinates[0]
    axis = seen.axes[first.name]
    middle = axis.start
    thumbs = [
        tag(
            "button",
            picture(seen.pictures[i], seen.called(i)),
            type="button",
            data_example=i,
            aria_pressed="false" if i else "true",
        )
        for i in range(count)
    ]
    choices = [
        tag(
            "label",
            tag("input", type="radio", name="coordinate", value=c.name, checked=c is first),
            tag("span", c.name),
        )
        for c in seen.coordinates
    ]
    shape = seen.size
    still = seen.frames(0, first)[middle]
    slider = tag(
        "input",
        type="range",
        id="slide",
        min=0,
        max=len(axis.frames) - 1,
        value=middle,
        step=1,
        aria_describedby="slide-help",
    )
    stage = tag(
        "div",
        tag(
            "div",
            tag(
                "figure", picture(seen.pictures[0], seen.called(0), id="explore-example"), tag("figcaption", "example")
            ),
            tag(
                "figure",
                picture(seen.prototypes[0], "its prototype", id="explore-prototype"),
                tag("figcaption", "prototype"),
            ),
            class_="still",
        ),
        tag(
            "figure",
            tag(
                "div",
                picture(still, f"{seen.called(0)} at its middle", id="explore-frame"),
                class_="window",
                style=f"--shape:{shape[1]}/{shape[0]}",
            ),
            tag("figcaption", "moved along ", tag("b", first.name, id="explore-name")),
            class_="moving",
        ),
        tag(
            "div",
            tag(
                "div",
                density_plot(
                    seen.marginals[first.name][0],
                    axis,
                    label=f"density of {first.name} for {seen.called(0)}",
                    mark=seen.own_place(0, first),
                    class_="tall",
                ),
                tag("div", class_="marker", style=f"left:{axis.place(axis.frames[middle]):.2f}%"),
                class_="plot",
                id="explore-plot",
            ),
            tag(
                "div",
                tag("label", "Move it along ", tag("span", first.name, class_="which"), for_="slide"),
                slider,
                class_="slide",
            ),
            tag("div", ticks(axis, every=2), id="explore-ticks"),
            tag("output", _reading(seen), for_="slide", id="reading", aria_live="polite"),
            class_="density-side",
        ),
        class_="stage",
    )
    return tag(
        "section",
        tag("h2", "Pick an example, and move it"),
        tag(
            "p",
            "The curve says how natural each value is for this one example, given its prototype; the dashed line is"
            " where the example itself stands. Move the slider to see what the values look like.",
            id="slide-help",
        ),
        tag("div", *thumbs, class_="thumbs", role="group", aria_label="Examples"),
        tag("fieldset", tag("legend", "Transformation"), *choices, class_="choices"),
        stage,
        embedded("explorer-data", _data(seen, count, frames)),
        id="explore",
        class_="wide",
    )


def _frames(seen: Seen) -> tuple[int, list[list[str]]]:
    """Return how many examples fit, and for each its frames along each coordinate."""
    names = seen.coordinates
    raw = [seen.frames(0, c) for c in names]
    for most, side, colours in _SIZES:
        count = min(most, len(seen.shown))
        if count * sum(len(strip(f, side=side, colours=colours)) for f in raw) <= _MOST_BYTES:
            break
    rest = [[seen.frames(i, c) for c in names] for i in range(1, count)]
    return count, [[strip(f, side=side, colours=colours) for f in frames] for frames in [raw, *rest]]


def _data(seen: Seen, count: int, frames: list[list[str]]) -> dict[str, Any]:
    return {
        "coordinates": [
            {
                "name": c.name,
                "values": [seen.axes[c.name].words(v) for v in seen.axes[c.name].frames],
                "places": [round(seen.axes[c.name].place(v), 2) for v in seen.axes[c.name].frames],
                "ticks": ticks(seen.axes[c.name], every=2),
                "start": seen.axes[c.name].start,
            }
            for c in seen.coordinates
        ],
        "examples": [_example(seen, i, frames[i]) for i in range(count)],
    }


def _example(seen: Seen, place: int, frames: list[str]) -> dict[str, Any]:
    curves = []
    for coordinate, strip_ in zip(seen.coordinates, frames, strict=True):
        axis, density = seen.axes[coordinate.name], seen.marginals[coordinate.name][place]
        curves.append(
            {
                "frames": strip_,
                "path": outline(density, axis),
                "natural": [round(float(v), 4) for v in _natural(density, axis)],
                "own": round(axis.place(seen.own_place(place, coordinate)), 2),
            }
        )
    return {"name": seen.called(place), "prototype": strip(seen.prototypes[place][None]), "curves": curves}


def _natural(density: np.ndarray, axis: Axis) -> np.ndarray:
    """Return how natural each frame is beside the most natural value, from 0 to 1."""
    at_frames = density if axis.finite else density[:: (POINTS - 1) // (FRAMES - 1)]
    return at_frames / np.maximum(density.max(), 1e-12)


def _reading(seen: Seen) -> str:
    name = seen.coordinates[0].name
    axis = seen.axes[name]
    at = _natural(seen.marginals[name][0], axis)[axis.start]
    return f"{axis.words(axis.frames[axis.start])}: {at:.0%} as natural as the most natural value"
