"""How each transformation varies: over all examples, by class, and example by example."""

import numpy as np

from liewise.report.page.answer import Row
from liewise.report.page.markup import Html, tag
from liewise.report.page.pictures import picture
from liewise.report.page.plots import density_plot, ticks
from liewise.report.page.seen import Seen
from liewise.transforms import Coordinate

__all__ = ["marginals"]

_EXAMPLES = 6  # with a line of their own
_CLASSES = 12


def marginals(seen: Seen, rows: list[Row]) -> Html:
    """Return a figure for each coordinate."""
    found = {row.coordinate: row for row in rows if row.among == "all"}
    return tag(
        "section",
        tag("h2", "How each transformation varies"),
        tag(
            "p",
            "Where a prototype happens to stand is nobody’s choice, so every example is measured from the middle of its"
            " own natural versions: zero is the middle. High means natural. The pictures show one example moved to the"
            " values below them, nothing else changed.",
        ),
        *(_figure(seen, c, found[c.name]) for c in seen.coordinates),
        id="transformations",
    )


def _figure(seen: Seen, coordinate: Coordinate, row: Row) -> Html:
    axis = seen.axes[coordinate.name]
    within = None if axis.finite else (axis.from_user(row.low), axis.from_user(row.high))
    place = _telling(seen, coordinate)
    whole = density_plot(
        seen.pooled(coordinate),
        axis,
        label=f"density of {coordinate.name} over all {len(seen.images):,} examples",
        within=within,
        class_="tall",
    )
    frames = seen.frames(place, coordinate)[axis.tiles]
    words = [axis.words(v) for v in axis.frames[axis.tiles]]
    tiles = [picture(f, f"{seen.called(place)} at {coordinate.name} {w}") for f, w in zip(frames, words, strict=True)]
    parts = [
        tag("h3", coordinate.name, tag("small", _direction(coordinate))),
        tag("div", whole, class_="plot"),
        tag("div", *tiles, class_="tiles", style=f"--n:{len(tiles)}"),
        ticks(axis, every=2),
    ]
    if seen.classes:
        parts.append(_ridges("By class", [_class_line(seen, coordinate, c) for c in seen.classes[:_CLASSES]]))
    lines = [_example_line(seen, coordinate, i) for i in range(min(_EXAMPLES, len(seen.shown)))]
    parts.append(_ridges("Example by example", lines))
    return tag("figure", *parts, class_="marginal", id=f"marginal-{coordinate.name}")


def _direction(coordinate: Coordinate) -> str:
    return coordinate.positive if coordinate.steps is not None else f"+ is {coordinate.positive}"


def _telling(seen: Seen, coordinate: Coordinate) -> int:
    """Return the shown example on which the transformation shows the most."""
    changes = [
        np.abs(np.diff(seen.frames(place, coordinate)[seen.axes[coordinate.name].tiles].astype(float), axis=0)).mean()
        for place in range(min(4, len(seen.shown)))
    ]
    return int(np.argmax(changes))


def _ridges(title: str, lines: list[Html]) -> Html:
    return tag("div", tag("h4", title), *lines, class_="ridges")


def _class_line(seen: Seen, coordinate: Coordinate, label: int) -> Html:
    name = seen.class_name(label)
    drawn = density_plot(
        seen.pooled(coordinate, label), seen.axes[coordinate.name], label=f"density of {coordinate.name} among {name}"
    )
    return tag("div", tag("span", name), drawn, class_="ridge named")


def _example_line(seen: Seen, coordinate: Coordinate, place: int) -> Html:
    name = seen.called(place)
    drawn = density_plot(
        seen.marginals[coordinate.name][place],
        seen.axes[coordinate.name],
        label=f"density of {coordinate.name} for {name}; the line is where it stands itself",
        mark=seen.own_place(place, coordinate),
    )
    return tag("div", picture(seen.pictures[place], name), drawn, class_="ridge")
