"""HTML from Python: elements as strings in which everything that is not markup has been escaped."""

import html
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = ["Html", "Section", "embedded", "join", "tag"]

_VOID = ("img", "input", "br", "path", "line", "rect")


class Html(str):
    """Markup that is safe as it is."""


class Section(NamedTuple):
    """A part of the page, with a short name for the list of contents."""

    name: str
    title: str
    parts: "tuple[Html | None, ...]"

    @property
    def anchor(self) -> str:
        """The id by which links and the script find it."""
        return self.name.lower()

    @property
    def html(self) -> Html:
        """The element."""
        return tag("section", tag("h2", self.title), *self.parts, id=self.anchor)


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """Return an element. Children are escaped unless they are markup; None and False leave a child or attribute out.

    Underscores at an attribute's end are dropped and others become dashes: `class_`, `aria_label`.

    >>> tag("p", "a < b", tag("br"), class_="note", hidden=True)
    '<p class="note" hidden>a &lt; b<br></p>'
    """
    written = "".join(_attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{written}>" if name in _VOID[:3] else f"<{name}{written}/>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[Any]) -> Html:
    """Return children one after the other."""
    return Html("".join(_escaped(child) for child in children if child is not None and child is not False))


def embedded(name: str, value: Any) -> Html:
    """Return data for the page's script, in a form in which no text of theirs can end the element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return Html(f'<script type="application/json" id="{name}">{text}</script>')


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'


def _escaped(child: Any) -> str:
    return child if isinstance(child, Html) else html.escape(str(child), quote=False)
