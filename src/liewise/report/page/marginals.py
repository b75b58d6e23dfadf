"""How each transformation varies: over all examples, by class, and example by example."""

import numpy as np

from liewise.report.page.answer import Row
from liewise.report.page.markup import Html, Section, tag
from liewise.report.page.pictures import picture
from liewise.report.page.plots import density_plot, ticks
from liewise.report.page.seen import Label, Seen
from liewise.transforms import Coordinate

__all__ = ["marginals"]

_EXAMPLES = 6  # with a line of their own
_CLASSES = 12


def marginals(seen: Seen, rows: list[Row]) -> Section:
    """Return a figure for each coordinate."""
    found = {row.coordinate: row for row in rows if row.among == "all"}
    said = tag(
        "p",
        "Where a prototype happens to stand is nobody’s choice, so every example is measured from the middle of its own"
        " natural versions: zero is the middle. High means natural; shaded is the central 95 % over all examples. The"
        " pictures show one example moved to the values below them, and nothing else changed. A dashed line is where an"
        " example itself stands.",
    )
    figures = [_figure(seen, c, found[c.name]) for c in seen.coordinates]
    return Section("Transformations", "How each transformation varies", (said, *figures))


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
    lead = tag(
        "div", whole, tag("div", *tiles, class_="tiles", style=f"--n:{len(tiles)}"), ticks(axis, every=2), class_="lead"
    )
    lines = [*_line("All", lead)]
    if seen.classes:
        lines.append(tag("h4", "By class"))
        lines += [part for label in seen.classes[:_CLASSES] for part in _class_line(seen, coordinate, label)]
    lines.append(tag("h4", "Example by example"))
    lines += [part for i in range(min(_EXAMPLES, len(seen.shown))) for part in _example_line(seen, coordinate, i)]
    heading = tag("h3", coordinate.name, tag("small", _direction(coordinate)))
    return tag("figure", heading, tag("div", *lines, class_="lines"), class_="marginal")


def _direction(coordinate: Coordinate) -> str:
    return coordinate.positive if coordinate.steps is not None else f"+ is {coordinate.positive}"


def _telling(seen: Seen, coordinate: Coordinate) -> int:
    """Return the shown example on which the transformation shows the most."""
    changes = [
        np.abs(np.diff(seen.frames(place, coordinate)[seen.axes[coordinate.name].tiles].astype(float), axis=0)).mean()
        for place in range(min(4, len(seen.shown)))
    ]
    return int(np.argmax(changes))


def _class_line(seen: Seen, coordinate: Coordinate, label: Label) -> tuple[Html, Html]:
    name = seen.class_name(label)
    said = f"density of {coordinate.name} among {name}"
    return _line(name, density_plot(seen.pooled(coordinate, label), seen.axes[coordinate.name], label=said))


def _example_line(seen: Seen, coordinate: Coordinate, place: int) -> tuple[Html, Html]:
    name = seen.called(place)
    drawn = density_plot(
        seen.marginals[coordinate.name][place],
        seen.axes[coordinate.name],
        label=f"density of {coordinate.name} for {name}; the line is where it stands itself",
        mark=seen.own_place(place, coordinate),
    )
    return _line(picture(seen.pictures[place], name), drawn)


def _line(name: Html | str, drawn: Html) -> tuple[Html, Html]:
    """Return a name and what is drawn beside it; all that is drawn in a figure has the same axis."""
    return tag("div", name, class_="name"), drawn
