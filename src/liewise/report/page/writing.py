"""The page as a whole, and writing it."""

import os
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template

from liewise._version import __version__
from liewise.errors import LiewiseError
from liewise.report.page.answer import Row, answer, rows_of, words
from liewise.report.page.colophon import colophon, duration, reading_guide
from liewise.report.page.explorer import explorer
from liewise.report.page.facts import STAGES, Facts
from liewise.report.page.gallery import gallery, orbits
from liewise.report.page.joints import joints
from liewise.report.page.marginals import marginals
from liewise.report.page.markup import Html, Section, join, tag
from liewise.report.page.seen import Seen
from liewise.report.page.training import training
from liewise.report.style import FILLS, INK, QUIET
from liewise.sgm import SGM
from liewise.train import RunFolder

__all__ = ["write_report"]

_ASSETS = "liewise.report.page"


def write_report(run_dir: str | Path, out: str | Path | None = None) -> Path:
    """Write a run's report: one HTML file that needs nothing else.

    Of a run that is not finished it shows how far training came, and says so.

    Args:
        run_dir: the folder of a run of `liewise fit`, or of `SGM.fit(…, run_dir=…)`.
        out: the file; report.html in the run's folder if left out. One that is there is replaced.
    """
    path = Path(run_dir)
    facts = Facts.of(path)
    target = path / "report.html" if out is None else Path(out)
    _make_room(target)
    _write(target, _unfinished(facts) if facts.result is None else _finished(facts))
    return target


def _finished(facts: Facts) -> str:
    model = SGM.load(facts.path)
    kept = RunFolder(facts.path).examples()
    seen = Seen(model, kept["images"], kept.get("labels"), tuple(facts.about.get("class_names", ())))
    rows = rows_of(seen)
    sections = (
        answer(seen, rows),
        gallery(seen),
        explorer(seen),
        marginals(seen, rows),
        joints(seen),
        orbits(seen),
        training(facts, model.health_),
        colophon(facts, model.seconds_),
    )
    doubts = [tag("p", tag("b", "Warning: "), text, class_="warning") for text in model.warnings_]
    return _page(facts, _headline(seen, rows), doubts, sections, seconds=sum(model.seconds_.values()))


def _unfinished(facts: Facts) -> str:
    stage = next((s for s in STAGES if facts.done(s) < facts.planned(s)), "density")
    said = (
        f"{STAGES[stage]} is at step {facts.done(stage):,} of {facts.planned(stage):,}. There is no model to ask yet,"
        " so this page shows training alone."
    )
    how = " The command below goes on from here." if facts.command else ""
    doubt = tag("p", tag("b", "This run is not finished. "), said, how, class_="warning")
    return _page(facts, "Not known yet.", [doubt], (training(facts, None), colophon(facts, None)))


def _headline(seen: Seen, rows: list[Row]) -> Html:
    """Say all of it in a sentence."""
    overall = [row for row in rows if row.among == "all" and row.coordinate in seen.axes]
    verdicts = dict.fromkeys(row.verdict for row in overall if row.verdict)
    if not verdicts:
        return join(["Natural versions vary by ", _listing([f"{r.coordinate} {words(seen, r)}" for r in overall]), "."])
    parts = [
        join([tag("b", _listing([row.coordinate for row in overall if row.verdict == verdict])), f": {verdict}"])
        for verdict in verdicts
    ]
    return join(["; ".join(parts), "."])


def _listing(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _page(
    facts: Facts,
    headline: str,
    doubts: Sequence[Html],
    sections: Sequence[Section | None],
    *,
    seconds: float | None = None,
) -> str:
    learned = None if seconds is None else f"learned in {duration(seconds)}"
    count = f"{facts.shape[0]:,} images" if facts.shape else None
    shown = [section for section in sections if section is not None]
    asset = {
        name: resources.files(_ASSETS).joinpath(f"page.{name}").read_text("utf-8") for name in ("html", "css", "js")
    }
    return Template(asset["html"]).substitute(
        title=escape(f"Symmetries of {facts.name}"),
        name=escape(facts.name),
        headline=join([headline]),
        subtitle=escape(" · ".join(filter(None, [facts.date, count, learned, f"liewise {__version__}"]))),
        contents=tag("ul", *(tag("li", tag("a", section.name, href=f"#{section.anchor}")) for section in shown)),
        sections=join([*doubts, *(section.html for section in shown), reading_guide()]),
        style=f":root{{--ink:{INK};--quiet:{QUIET};--fill:{FILLS[0]}}}\n{asset['css']}",
        script=asset["js"],
    )


def _make_room(target: Path) -> None:
    """Refuse before the work is done rather than after it."""
    if target.is_dir():
        raise LiewiseError(f"{target} is a folder; name the file to write")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LiewiseError(f"{target} cannot be written: {error.strerror or error}") from error
    if not os.access(target.parent, os.W_OK):
        raise LiewiseError(f"{target} cannot be written: {target.parent} is not yours to write to")


def _write(target: Path, page: str) -> None:
    """Write all of it or nothing."""
    fresh = target.with_name(f".{target.name}")
    try:
        fresh.write_text(page, encoding="utf-8")
        os.replace(fresh, target)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise LiewiseError(f"{target} cannot be written: {error.strerror or error}") from error
