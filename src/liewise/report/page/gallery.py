"""Examples, their prototypes and natural versions; and whether a prototype is the same whatever happened before."""

import jax
import numpy as np

from liewise.datasets import to_bytes, to_unit
from liewise.report.page.markup import Html, tag
from liewise.report.page.pictures import as_bytes, picture
from liewise.report.page.seen import Seen

__all__ = ["gallery", "orbits"]

_ROWS = 6  # of examples
_ORBITS = 3  # examples that are transformed at random …
_COPIES = 8  # … so many times


def gallery(seen: Seen) -> Html:
    """Return a row for each of some examples: itself, its prototype, natural versions."""
    head = ["Example", "Prototype", "Natural versions, drawn by the model"]
    wide = seen.versions.shape[1]
    titles = [tag("th", t, scope="col", colspan=wide if i == 2 else None) for i, t in enumerate(head)]
    rows = []
    for place in range(min(_ROWS, len(seen.shown))):
        name = seen.called(place)
        cells = [tag("th", picture(seen.pictures[place], name), scope="row")]
        cells.append(tag("td", picture(seen.prototypes[place], f"prototype of {name}"), class_="prototype"))
        versions = enumerate(seen.versions[place], 1)
        cells += [tag("td", picture(v, f"natural version {n} of {name}")) for n, v in versions]
        rows.append(tag("tr", *cells))
    return tag(
        "section",
        tag("h2", "Examples, prototypes, natural versions"),
        tag(
            "p",
            "A prototype is the example with its transformation taken out. From it the model draws other poses that"
            " would have been just as natural: the versions on the right should look as if they came from the same"
            " data.",
        ),
        tag("table", tag("thead", tag("tr", *titles)), tag("tbody", *rows), class_="gallery"),
        id="examples",
    )


def orbits(seen: Seen) -> Html:
    """Return some examples transformed at random, above the prototypes found for those copies."""
    figures = []
    keys = jax.random.split(jax.random.key(1), _ORBITS)
    for place, key in zip(range(min(_ORBITS, len(seen.shown))), keys, strict=False):
        name = seen.called(place)
        copies = _transformed(seen, place, key)
        found = as_bytes(seen.model.prototype(copies))
        tops = [tag("td", picture(c, f"{name}, transformed at random, {n}")) for n, c in enumerate(copies, 1)]
        bottoms = [tag("td", picture(p, f"prototype of copy {n}")) for n, p in enumerate(found, 1)]
        body = tag(
            "tbody",
            tag("tr", tag("th", "copies", scope="row"), *tops),
            tag("tr", tag("th", "proto\xadtypes", scope="row"), *bottoms),
        )
        figures.append(tag("table", tag("caption", name.capitalize()), body, class_="orbit"))
    ratio, floor = (seen.model.health_[f"{name}/mean"] for name in ("ratio", "floor"))
    return tag(
        "section",
        tag("h2", "Does the prototype stay the same?"),
        tag(
            "p",
            "Copies of an example, transformed at random within what was looked at, and below each the prototype found"
            " from that copy alone. The lower row should show one picture, over and over. Measured on"
            f" {seen.model.health_['examples']:.0f} examples, {ratio:.1%} of the copies’ variance is left in their"
            f" prototypes; resampling pixels alone leaves {floor:.1%}.",
        ),
        *figures,
        id="orbits",
    )


def _transformed(seen: Seen, place: int, key: jax.Array) -> np.ndarray:
    group, given = seen.group, seen.images[seen.shown[place]]
    element = group.element(group.sample(key, _COPIES))
    copies = group.act(element, to_unit(np.repeat(given[None], _COPIES, 0)))
    return np.asarray(to_bytes(copies))
