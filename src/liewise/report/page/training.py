"""How training went: curves, the numbers that say whether to believe the rest, and what to doubt."""

from collections.abc import Mapping

from liewise.report.page.facts import STAGES, Facts
from liewise.report.page.markup import Html, Section, tag
from liewise.report.page.plots import chart

__all__ = ["health_table", "training"]

_CURVES = {  # what is drawn of each stage: its title, and the metric by name
    "inference": (
        ("Loss", "loss"),
        ("Prototypes of two copies disagree by", "agreement"),
        ("Round trip", "round_trip"),
    ),
    "density": (("Loss, in nats", "loss"),),
}


def training(facts: Facts, health: Mapping[str, float] | None) -> Section:
    """Return the curves, and the health of a model that there is."""
    parts = [part for stage in STAGES for part in _stage(facts, stage)]
    return Section("Training", "Training", (*parts, None if health is None else health_table(health)))


def _stage(facts: Facts, stage: str) -> list[Html]:
    planned, done = facts.planned(stage), facts.done(stage)
    ending = f"{done:,} of {planned:,} steps"
    if facts.result is not None and facts.result.get(stage, {}).get("stopped") == "patience":
        ending += "; it stopped early, since held-out examples no longer gained"
    heading = tag("h3", STAGES[stage], tag("small", ending))
    if not facts.rows[stage]:
        return [heading, tag("p", "Nothing was recorded yet.")]
    nats = sorted({name for row in facts.rows[stage] for name in row if name.startswith("nats/")})
    charts = [_chart(facts, stage, title, name) for title, name in _CURVES[stage]]
    single = [_chart(facts, stage, f"{name.removeprefix('nats/')}, in nats", name) for name in nats]
    folded = tag("details", tag("summary", "Coordinate by coordinate"), tag("div", *single, class_="charts"))
    return [heading, tag("div", *charts, class_="charts"), *([folded] if single else [])]


def _chart(facts: Facts, stage: str, title: str, name: str) -> Html:
    curves = [("training", facts.curve(stage, name)), ("held out", facts.curve(stage, f"validation/{name}"))]
    return chart(curves, steps=max(facts.done(stage), 1), title=title)


def health_table(health: Mapping[str, float]) -> Html:
    """Return the numbers measured on held-out examples, each with what it ought to be."""
    lines = [
        (
            "Variance left in prototypes",
            f"{health['ratio/mean']:.1%}",
            f"0 is perfect, 100 % is none; resampling pixels alone leaves {health['floor/mean']:.1%}",
        ),
        ("Ink that prototypes keep", f"{health['ink']:.0%}", "near 100 %: an empty prototype would be invariant too"),
        (
            "Error of the way back",
            f"{health['round trip/plain']:.1f} ×",
            "near 1 ×: as much as a plain warp there and back errs",
        ),
    ]
    for name, value in health.items():
        coordinate, _, what = name.rpartition("/")
        if what == "consistent":
            lines.append(
                (
                    f"Examples whose {coordinate} is found alike",
                    f"{value:.0%}",
                    "100 %, but for what looks the same when turned",
                )
            )
        if what == "moved":
            lines.append(
                (f"Left of {coordinate} in prototypes", f"{value:.1%} of the box", "0: a prototype’s own is none")
            )
    titles = ("Measured", "Is", "Ought to be")
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in titles)))
    rows = [tag("tr", tag("th", n, scope="row"), tag("td", v), tag("td", o, class_="quiet")) for n, v, o in lines]
    caption = f"Health, measured on {health['examples']:.0f} held-out examples"
    return tag("table", tag("caption", caption), head, tag("tbody", *rows), class_="numbers")
