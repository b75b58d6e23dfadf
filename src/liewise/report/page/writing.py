"""The page as a whole, and writing it."""

import os
import re
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
from liewise.report.page.markup import Html, join, tag
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
    page = _unfinished(facts) if facts.result is None else _finished(facts)
    _write(target, page)
    return target


def _finished(facts: Facts) -> str:
    model = SGM.load(facts.path)
    kept = RunFolder(facts.path).examples()
    seen = Seen(model, kept["images"], kept.get("labels"), tuple(facts.about.get("class_names", ())))
    rows = rows_of(seen)
    doubts = [tag("p", tag("b", "Warning: "), text, class_="warning") for text in model.warnings_]
    sections = [
        *doubts,
        answer(seen, rows),
        gallery(seen),
        explorer(seen),
        marginals(seen, rows),
        joints(seen),
        orbits(seen),
        training(facts, model.health_),
        colophon(facts, model.seconds_),
    ]
    return _page(facts, _headline(seen, rows), sections, seconds=sum(model.seconds_.values()))


def _unfinished(facts: Facts) -> str:
    stage = next((s for s in STAGES if facts.done(s) < facts.planned(s)), "density")
    said = (
        f"This run is not finished: {STAGES[stage].lower()} is at step {facts.done(stage):,} of"
        f" {facts.planned(stage):,}. There is no model to ask yet, so this page shows training alone."
    )
    how = tag("p", "The same command goes on from here.") if facts.command else None
    warning = tag("div", tag("p", tag("b", "Half-trained. "), said), how, class_="warning")
    return _page(facts, "Not known yet.", [warning, training(facts, None), colophon(facts, None)])


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


def _page(facts: Facts, headline: str, sections: Sequence[Html | None], *, seconds: float | None = None) -> str:
    subtitle = [facts.date, f"{facts.shape[0]:,} images" if facts.shape else "", f"liewise {__version__}"]
    if seconds is not None:
        subtitle.insert(2, f"learned in {duration(seconds)}")
    shown = [section for section in sections if section is not None]
    palette = "".join(f"--fill-{i}:{colour};" for i, colour in enumerate(FILLS))
    assets = resources.files(_ASSETS)
    return Template(assets.joinpath("page.html").read_text("utf-8")).substitute(
        title=escape(f"Symmetries of {facts.name}"),
        name=escape(facts.name),
        headline=join([headline]),
        subtitle=escape(" · ".join(filter(None, subtitle))),
        contents=_contents(shown),
        sections=join([*shown, reading_guide()]),
        style=f":root{{--ink:{INK};--quiet:{QUIET};{palette}}}\n" + assets.joinpath("page.css").read_text("utf-8"),
        script=assets.joinpath("page.js").read_text("utf-8"),
    )


def _contents(sections: Sequence[Html]) -> Html:
    """Return links to the sections."""
    found = [re.match(r'<section id="([^"]+)"[^>]*><h2>([^<]+)</h2>', section) for section in sections]
    links = [tag("li", tag("a", Html(match[2]), href=f"#{match[1]}")) for match in found if match]
    return tag("ul", *links)


def _write(target: Path, page: str) -> None:
    """Write all of it or nothing."""
    if target.is_dir():
        raise LiewiseError(f"{target} is a folder; name the file to write")
    fresh = target.with_name(f".{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(page, encoding="utf-8")
        os.replace(fresh, target)
    except OSError as error:
        raise LiewiseError(f"{target} cannot be written: {error.strerror or error}") from error
