"""The answer, first: for each coordinate how far natural versions go, in words and as a picture."""

from collections.abc import Sequence
from dataclasses import dataclass

from liewise.report.page.axes import MINUS
from liewise.report.page.markup import Html, Section, tag
from liewise.report.page.plots import density_plot
from liewise.report.page.seen import Seen
from liewise.transforms import Coordinate, describe_value

__all__ = ["Row", "answer", "rows_of", "words"]


@dataclass(frozen=True)
class Row:
    """One line of the answer."""

    coordinate: str
    low: float  # the central 95 %, in the user's unit, relative to each example's middle
    high: float
    box: tuple[float, float]  # what was looked at
    verdict: str = ""  # "absent", "partial", "several modes", "full"
    modes: tuple[float, ...] = ()  # where they are, if there are several
    among: str = "all"  # or a class
    sure: float | None = None  # from 0 to 1
    notes: tuple[str, ...] = ()


def rows_of(seen: Seen) -> list[Row]:
    """Return what was found."""
    summary = seen.model.summary(seen.images, seen.labels, seen.class_names)
    return [
        Row(f.coordinate.name, f.low, f.high, f.box, f.verdict, f.modes, f.among, f.sure, f.notes)
        for f in summary.findings
    ]


def answer(seen: Seen, rows: Sequence[Row]) -> Section:
    """Return the table of all examples, and the same by class folded away below it."""
    overall = [row for row in rows if row.among == "all"]
    by_class = [row for row in rows if row.among != "all"]
    parts = [_table(seen, overall, "Over all examples")]
    if by_class:
        parts.append(tag("details", tag("summary", "The same, class by class"), _table(seen, by_class, "By class")))
    return Section("Answer", "The answer", tuple(parts))


def _table(seen: Seen, rows: Sequence[Row], caption: str) -> Html:
    classes = any(row.among != "all" for row in rows)
    sure = any(row.sure is not None for row in rows)
    titles = ["Transformation", *(["Among"] if classes else []), "What is natural", "Looked at", "Density"]
    titles += ["How sure"] if sure else []
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in titles)))
    body = tag("tbody", *(_line(seen, row, classes=classes, sure=sure) for row in rows))
    return tag("table", tag("caption", caption, class_="unseen"), head, body, class_="answer")


def _line(seen: Seen, row: Row, *, classes: bool, sure: bool) -> Html:
    asked = row.coordinate in seen.axes
    verdict = tag("span", row.verdict, class_=f"verdict {row.verdict.split()[0]}") if row.verdict else None
    notes = [tag("p", note, class_="note") for note in row.notes]
    cells = [tag("th", row.coordinate, scope="row")]
    cells += [tag("td", row.among, data_title="Among")] if classes else []
    cells.append(tag("td", verdict, tag("span", words(seen, row)), *notes))
    cells.append(tag("td", _looked_at(seen, row), data_title="Looked at"))
    cells.append(tag("td", _spark(seen, row) if asked else "", class_="spark"))
    cells += [tag("td", "" if row.sure is None else f"{row.sure:.0%}", data_title="How sure")] if sure else []
    return tag("tr", *cells, class_=None if asked else "quiet")


def words(seen: Seen, row: Row) -> str:
    """Return how far natural versions go."""
    coordinate = seen.group.coordinates[seen.group.index(row.coordinate)]
    if coordinate.steps is not None:
        return f"{row.high:.0%} of natural versions are the other way round"
    within = " to ".join(_value(end, coordinate) for end in (row.low, row.high))
    return (
        f"at {' and '.join(_value(mode, coordinate) for mode in row.modes)}, within {within}" if row.modes else within
    )


def _looked_at(seen: Seen, row: Row) -> str:
    coordinate = seen.group.coordinates[seen.group.index(row.coordinate)]
    if row.box[0] == row.box[1]:
        return "not asked for"
    if coordinate.steps is not None:
        return "both ways"
    return " to ".join(_value(end, coordinate) for end in row.box)


def _value(value: float, coordinate: Coordinate) -> str:
    return describe_value(value, coordinate.unit).replace("-", MINUS)


def _spark(seen: Seen, row: Row) -> Html:
    axis = seen.axes[row.coordinate]
    label = None if row.among == "all" else next((c for c in seen.classes if seen.class_name(c) == row.among), None)
    within = None if axis.finite else (axis.from_user(row.low), axis.from_user(row.high))
    said = f"density of {row.coordinate}, {words(seen, row)}, on an axis from {axis.words(axis.frames[0])}"
    said += f" to {axis.words(axis.frames[-1])}"
    return density_plot(seen.pooled(axis.coordinate, label), axis, label=said, within=within)
