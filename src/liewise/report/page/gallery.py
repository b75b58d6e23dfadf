"""Examples, their prototypes and natural versions; and whether a prototype is the same whatever happened before."""

from liewise.report.page.markup import Section, tag
from liewise.report.page.pictures import picture
from liewise.report.page.seen import Seen

__all__ = ["gallery", "orbits"]

_ROWS = 6  # of examples


def gallery(seen: Seen) -> Section:
    """Return a row for each of some examples: itself, its prototype, natural versions."""
    head = ["Ex\xadample", "Proto\xadtype", "Natural versions, drawn by the model"]
    titles = [tag("th", t, scope="col", colspan=len(seen.versions(0)) if i == 2 else None) for i, t in enumerate(head)]
    rows = []
    for place in range(min(_ROWS, len(seen.shown))):
        name = seen.called(place)
        cells = [tag("th", picture(seen.pictures[place], name), scope="row")]
        cells.append(tag("td", picture(seen.prototypes[place], f"prototype of {name}"), class_="prototype"))
        versions = enumerate(seen.versions(place), 1)
        cells += [tag("td", picture(v, f"natural version {n} of {name}")) for n, v in versions]
        rows.append(tag("tr", *cells))
    said = tag(
        "p",
        "A prototype is the example with its transformation taken out. From it the model draws other poses that would"
        " have been just as natural: they should look as if they came from the same data.",
    )
    table = tag("table", tag("thead", tag("tr", *titles)), tag("tbody", *rows), class_="gallery")
    return Section("Examples", "Examples, prototypes, natural versions", (said, table))


def orbits(seen: Seen) -> Section:
    """Return some examples transformed at random, above the prototypes found for those copies."""
    figures = []
    for place, (copies, found) in enumerate(zip(seen.copies, seen.prototypes_of_copies, strict=True)):
        name = seen.called(place)
        tops = [tag("td", picture(c, f"{name}, transformed at random, {n}")) for n, c in enumerate(copies, 1)]
        bottoms = [tag("td", picture(p, f"prototype of copy {n}")) for n, p in enumerate(found, 1)]
        body = tag(
            "tbody",
            tag("tr", tag("th", "copies", scope="row"), *tops),
            tag("tr", tag("th", "proto\xadtypes", scope="row"), *bottoms),
        )
        figures.append(tag("table", tag("caption", name.capitalize()), body, class_="orbit"))
    ratio, floor = (seen.model.health_[f"{name}/mean"] for name in ("ratio", "floor"))
    said = tag(
        "p",
        "Copies of an example, transformed at random within what was looked at, and below each the prototype found from"
        " that copy alone. The lower row should show one picture, over and over. Measured on"
        f" {seen.model.health_['examples']:.0f} examples, {ratio:.1%} of the copies’ variance is left in their"
        f" prototypes; resampling pixels alone leaves {floor:.1%}.",
    )
    return Section("Prototypes", "Does the prototype stay the same?", (said, *figures))
