"""How to do it again: the command, the configuration, versions, machine, time, and the data."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from liewise.report.page.facts import Facts
from liewise.report.page.markup import Html, Section, tag

__all__ = ["colophon", "duration", "reading_guide"]


def colophon(facts: Facts, seconds: Mapping[str, float] | None) -> Section:
    """Return the section that lets somebody else get the same numbers."""
    again = (
        tag("pre", tag("code", facts.command), tabindex=0, aria_label="the command")
        if facts.command
        else tag(
            "p",
            "This model was fitted from Python; the configuration below is what ",
            tag("code", "SGM"),
            " was given.",
        )
    )
    configuration = tag(
        "pre", tag("code", json.dumps(facts.settings, indent=1)), tabindex=0, aria_label="configuration"
    )
    parts = (
        again,
        _listed(_data(facts)),
        tag("h3", "When, with what, on what"),
        *(_listed(_circumstances(began)) for began in facts.began),
        None if seconds is None else tag("p", "Time: ", _times(seconds), "."),
        tag("details", tag("summary", "All of the configuration"), configuration),
    )
    return Section("Reproduce", "How to do it again", parts)


def reading_guide() -> Html:
    """Return what the page's words mean."""
    words = {
        "Transformation": "a coordinate of what may happen to an example: a shift in pixels (right, down), a turn in"
        " degrees (counter-clockwise), a factor of size or colour.",
        "Prototype": "the example with its transformation taken out. Where it stands is nobody’s choice; what counts is"
        " that all versions of an example have the same one.",
        "Natural": "as it occurs in the data, as far as the model learned. A range is central: 95 % of natural versions"
        " lie in it, 2.5 % on either side of it.",
        "Looked at": "the random box, within which the model was taught to undo transformations. What goes further than"
        " the box was not looked for.",
        "Density": "how often values occur, beside other values. Every curve is as high as its own highest point, so"
        " compare shapes, not heights.",
        "Dependence": "from 0 (knowing one coordinate says nothing about the other) to 1.",
    }
    items = [part for word, text in words.items() for part in (tag("dt", word), tag("dd", text))]
    return tag("details", tag("summary", "How to read this page"), tag("dl", *items), class_="guide")


def duration(seconds: float) -> str:
    """Write a time as people say it.

    >>> duration(42.0), duration(200.0), duration(7500.0)
    ('42 s', '3 min 20 s', '2 h 5 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _times(seconds: Mapping[str, float]) -> str:
    first, second = seconds["inference"], seconds["density"]
    return f"{duration(first)} for poses and {duration(second)} for densities"


def _data(facts: Facts) -> Iterable[tuple[str, Any]]:
    about = facts.about
    yield "data", facts.name
    if len(facts.shape) == 4:
        count, height, width, channels = facts.shape
        colour = {1: "grey", 3: "colour"}.get(channels, f"{channels} channels")
        yield "images", f"{count:,} of {width} × {height} pixels, {colour}"
    for name in ("split", "source", "licence"):
        yield name, about.get(name)
    for note in about.get("notes", ()):
        yield "note", note
    yield "seed", facts.settings.get("seed")
    yield "fingerprint", facts.settings.get("images", {}).get("sha256", "")[:16]


def _circumstances(began: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    yield "at", began.get("at")
    yield "versions", ", ".join(f"{name} {version}" for name, version in began.get("versions", {}).items())
    yield "machine", f"{began.get('platform')}, {began.get('processors')} processors, {began.get('devices')}"


def _listed(pairs: Iterable[tuple[str, Any]]) -> Html:
    shown = [(name, value) for name, value in pairs if value not in (None, "")]
    return tag("dl", *(part for name, value in shown for part in (tag("dt", name), tag("dd", value))), class_="facts")
