"""Pairs of transformations that depend on one another: which, how much, and what it looks like."""

from itertools import combinations
from typing import NamedTuple

import jax
import numpy as np

from liewise.report.bands import mosaic
from liewise.report.page.axes import Axis
from liewise.report.page.markup import Html, Section, tag
from liewise.report.page.pictures import encoded, shaded
from liewise.report.page.relative import away
from liewise.report.page.seen import Seen
from liewise.report.style import FILLS

__all__ = ["Pair", "dependence", "joints", "pairs"]

_DRAWS = 4096  # of each shown example
_BINS = 8  # by rank, a side
_DEPENDENT = 0.2
_MOST = 3  # pairs that are drawn
_CELLS = 45  # of the picture, a side
_STEPS = slice(0, None, 2)  # of an axis' tiles


class Pair(NamedTuple):
    """Two coordinates, and how much they depend on one another for each shown example."""

    first: str
    second: str
    strength: np.ndarray  # [shown], from 0 to 1


def dependence(a: np.ndarray, b: np.ndarray) -> float:
    """Return how much two columns of draws depend on one another: 0 for not at all, 1 for entirely.

    It is √(1 - exp(-2 I)) with the mutual information I between their ranks, less what I is on average between
    columns that have nothing to do with each other; for two normal variables, the size of their correlation.
    """
    rows, columns = _ranked(a), _ranked(b)
    counts = np.histogram2d(rows, columns, (np.arange(_BINS + 1) - 0.5,) * 2)[0] / len(a)
    apart = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True)
    filled = counts > 0
    shared = float((counts[filled] * np.log(counts[filled] / apart[filled])).sum())
    by_chance = (len(np.unique(rows)) - 1) * (len(np.unique(columns)) - 1) / (2 * len(a))
    return float(np.sqrt(1 - np.exp(-2 * max(0.0, shared - by_chance))))


def pairs(seen: Seen) -> tuple[list[Pair], np.ndarray]:
    """Return all pairs, the most dependent first, and the draws relative to each example's middle."""
    drawn = np.asarray(seen.close.sample(jax.random.key(2), _DRAWS))
    middle = seen.middle[seen.shown]
    columns = [away(c, drawn[..., i], middle[:, None, i]) for i, c in enumerate(seen.group.coordinates)]
    relative = np.stack(columns, -1)
    found = []
    for one, other in combinations(seen.coordinates, 2):
        i, j = seen.group.index(one.name), seen.group.index(other.name)
        strength = [dependence(rows[:, i], rows[:, j]) for rows in relative]
        found.append(Pair(one.name, other.name, np.array(strength)))
    return sorted(found, key=lambda pair: -pair.strength.mean()), relative


def joints(seen: Seen) -> Section | None:
    """Return the section; None where there is but one coordinate."""
    found, drawn = pairs(seen)
    if not found:
        return None
    drawable = [pair for pair in found if not any(seen.axes[n].finite for n in pair[:2])]
    dependent = [pair for pair in drawable if pair.strength.mean() >= _DEPENDENT][:_MOST]
    top = found[0]
    said = (
        "Some transformations come together: knowing one tells something about the other."
        if dependent
        else "No two transformations depend on one another much: each can be read by itself. Most so are"
        f" {top.first} and {top.second}, with {top.strength.mean():.2f} on a scale from 0 to 1."
    )
    figures = [_figure(seen, pair, drawn) for pair in dependent]
    return Section("Pairs", "Which transformations depend on one another", (tag("p", said), *figures, _table(found)))


def _figure(seen: Seen, pair: Pair, drawn: np.ndarray) -> Html:
    across, down = seen.axes[pair.first], seen.axes[pair.second]
    place = int(pair.strength.argmax())
    i, j = seen.group.index(pair.first), seen.group.index(pair.second)
    density = np.histogram2d(drawn[place, :, j], drawn[place, :, i], (_edges(down), _edges(across)), density=True)[0]
    name = seen.called(place)
    map_ = tag(
        "img",
        src=shaded(np.sqrt(density[::-1] / max(density.max(), 1e-12)), FILLS[0]),
        alt=f"joint density of {pair.first}, to the right, and {pair.second}, upwards, for {name}",
        width=_CELLS,
        height=_CELLS,
        class_="smooth map",
    )
    grid = tag(
        "img",
        src=encoded(_grid(seen, place, across, down)),
        alt=f"{name} at five values of {pair.first}, to the right, and five of {pair.second}, upwards",
        class_="grid",
    )
    values = [axis.words(float(axis.frames[k])) for axis in (across, down) for k in axis.tiles[_STEPS][[0, -1]]]
    words = (
        f"{pair.first} from {values[0]} to {values[1]} (to the right) and {pair.second} from {values[2]} to {values[3]}"
        f" (upwards), for {name}. Dependence: {pair.strength[place]:.2f} here,"
        f" {pair.strength.mean():.2f} over {len(pair.strength)} examples."
    )
    heading = tag("h3", f"{pair.first} and {pair.second}")
    return tag("figure", heading, tag("div", map_, grid, class_="pair"), tag("figcaption", words), class_="joint")


def _grid(seen: Seen, place: int, across: Axis, down: Axis) -> np.ndarray:
    right, up = across.frames[across.tiles[_STEPS]], down.frames[down.tiles[_STEPS]][::-1]
    ups, rights = (side.ravel() for side in np.meshgrid(up, right, indexing="ij"))
    eta = seen.at(place, **{across.coordinate.name: rights, down.coordinate.name: ups})
    made = seen.posed(place, eta)
    return mosaic(made.reshape(len(up), len(right), *made.shape[1:]))


def _edges(axis: Axis) -> np.ndarray:
    return np.linspace(-axis.reach, axis.reach, _CELLS + 1)


def _table(found: list[Pair]) -> Html:
    titles = ("Pair", "Dependence, mean", "Strongest example")
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in titles)))
    rows = [
        tag(
            "tr",
            tag("th", f"{pair.first} and {pair.second}", scope="row"),
            tag("td", f"{pair.strength.mean():.2f}"),
            tag("td", f"{pair.strength.max():.2f}"),
        )
        for pair in found
    ]
    summary = f"All {len(found)} pairs; 0 is not at all, 1 entirely" if len(found) > 1 else "In numbers"
    return tag("details", tag("summary", summary), tag("table", head, tag("tbody", *rows), class_="numbers"))


def _ranked(values: np.ndarray) -> np.ndarray:
    """Return which of equally full bins each value is in; of a few repeated values, which of them it is."""
    known, places = np.unique(values, return_inverse=True)
    if len(known) <= _BINS:
        return places
    return values.argsort().argsort() * _BINS // len(values)
