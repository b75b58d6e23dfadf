"""How often the rule's verdicts are right, on made cases; each case is kept as soon as it is done."""

import dataclasses
import hashlib
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from liewise import transforms
from liewise.datasets import Split, to_json, transformed
from liewise.errors import LiewiseWarning
from liewise.measure import Verdict
from liewise.sgm import SGM, Recovery, density_training, inference_training, recoveries
from liewise.studies.context import Context, write_json
from liewise.studies.outcome import Measured, Outcome, Table
from liewise.studies.registry import Scale
from liewise.studies.verdict_bases import base_images
from liewise.studies.verdict_cases import DEVELOPMENT, HELD_OUT, Case
from liewise.train import announce
from liewise.transforms import describe_value

__all__ = ["develop", "run", "run_cases"]

_RIGHT = 0.95  # of the verdicts
_ENDS = 0.10  # of the box: how far off an interval's end may be
_FRESH = 256  # examples that the model has not seen, by which it is judged
_SEEDS = {"development": 1000, "held out": 2000}  # of the first case's data
_COLUMNS = ("case", "base", "among", "coordinate", "truth", "found", "sure", "true ends", "ends found", "off, of box")


@dataclasses.dataclass(frozen=True)
class _Budget:
    examples: int
    steps: int
    density_steps: int
    batch_size: int


_BUDGETS: dict[Scale, _Budget] = {
    "small": _Budget(2000, 250, 300, 128),
    "paper": _Budget(7500, 2500, 3000, 256),
}


def run(context: Context) -> Outcome:
    """Report on the held-out list."""
    return _outcome(run_cases(context, HELD_OUT, "held out"), "held out")


def develop(context: Context) -> Outcome:
    """Report on the list on which the rule may be tuned."""
    return _outcome(run_cases(context, DEVELOPMENT, "development"), "development")


def run_cases(context: Context, cases: Sequence[Case], which: str) -> list[tuple[Case, tuple[Recovery, ...]]]:
    """Fit and judge each case, or read what was found when it was done before."""
    name = f"verdicts-{which.replace(' ', '-')}-{context.scale}-seed{context.seed}"
    folder, done = context.folder / "cases" / name, []
    for number, case in enumerate(cases):
        path = folder / f"{number:02d}.json"
        about = _about(case, context)
        found = _kept(path, about)
        if found is None:
            announce(context.progress, f"case {number + 1} of {len(cases)}: {case.base}, {case.transforms}")
            found = _judged(context, case, seed=_SEEDS[which] + number + 10_000 * context.seed)
            write_json(path, {"about": about, "found": [row.as_dict() for row in found]})
        done.append((case, found))
    return done


def _judged(context: Context, case: Case, *, seed: int) -> tuple[Recovery, ...]:
    budget = _BUDGETS[context.scale]
    count = budget.examples + _FRESH
    base, classes = base_images(case.base, count, data_dir=context.data_dir, seed=seed)
    if case.by_class and base.labels is not None:
        base = base.take(np.flatnonzero(np.isin(base.labels, list(case.by_class))))
    group = transforms.parse(case.transforms, base.image_shape[:2])
    made = _made(case, base, group, seed)
    model = SGM(
        group,
        inference_training=inference_training(budget.steps, batch_size=budget.batch_size),
        density_training=density_training(budget.density_steps),
        seed=seed,
    )
    fresh = min(_FRESH, len(made) // 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LiewiseWarning)  # the fits are short on purpose
        model.fit(made[fresh:].images, progress="silent")
    return recoveries(
        model.parts_,
        made[:fresh],
        classes,
        health=model.health_,
        by_class=bool(case.by_class),
        expected=_expected(case, classes),
        seed=seed,
    )


def _made(case: Case, base: Split, group: transforms.Group, seed: int) -> Split:
    if not case.by_class:
        return transformed(base, group, {name: given[1] for name, given in case.given.items()}, seed=seed)
    each = {label: {name: given[1] for name, given in of.items()} for label, of in case.by_class.items()}
    return transformed(base, group, each, seed=seed)


def _expected(case: Case, classes: Sequence[str]) -> dict[tuple[str, str], Verdict]:
    expected: dict[tuple[str, str], Verdict] = {(name, "all"): given[0] for name, given in case.given.items()}
    for label, of in case.by_class.items():
        expected |= {(name, classes[label]): given[0] for name, given in of.items()}
    return expected


def _about(case: Case, context: Context) -> dict[str, Any]:
    """Say what a result is of, so that one of a case that was changed since is not taken for it."""
    plain = {
        "base": case.base,
        "transforms": case.transforms,
        "given": {name: [verdict, to_json(given)] for name, (verdict, given) in case.given.items()},
        "by_class": {
            str(label): {name: [verdict, to_json(given)] for name, (verdict, given) in of.items()}
            for label, of in case.by_class.items()
        },
        "budget": dataclasses.asdict(_BUDGETS[context.scale]),
    }
    return plain | {"digest": hashlib.sha256(json.dumps(plain).encode()).hexdigest()[:16]}


def _kept(path: Path, about: dict[str, Any]) -> tuple[Recovery, ...] | None:
    try:
        content = json.loads(path.read_text())
        if content["about"]["digest"] != about["digest"]:
            return None
        return tuple(map(Recovery.from_dict, content["found"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not done, or torn: it is done again


def _outcome(done: Sequence[tuple[Case, tuple[Recovery, ...]]], which: str) -> Outcome:
    pairs = [(number, case, row) for number, (case, found) in enumerate(done, 1) for row in found if _asked(case, row)]
    rows = [row for _, _, row in pairs]
    right = float(np.mean([row.right for row in rows]))
    whole = float(np.mean([all(r.right for r in found if _asked(case, r)) for case, found in done]))
    near = float(np.mean([row.off <= _ENDS for row in rows]))
    accuracy = Table(
        f"Verdicts on made cases, {which}",
        ("cases", "verdicts", "right", "cases with all right", "interval ends within 10 % of the box"),
        ((len(done), len(rows), Measured(right, at_least=_RIGHT), whole, Measured(near, at_least=_RIGHT)),),
    )
    each = Table("Case by case", _COLUMNS, tuple(_line(number, case, row) for number, case, row in pairs))
    notes = (
        "Ends are relative to the middle of what is natural for an example. Angles count modulo what a shape looks the"
        " same after.",
        "The truth is what was injected. Digits were slanted upright and clothes centred before, but what is left of"
        " their own variation in pose counts as an error.",
    )
    return Outcome({}, (accuracy, each), notes)


def _asked(case: Case, row: Recovery) -> bool:
    """Whether the case says what is right; coordinates that complete the group have no verdict of their own."""
    return row.finding.coordinate.name in {*case.given, *(name for of in case.by_class.values() for name in of)}


def _line(number: int, case: Case, row: Recovery) -> tuple[str | int | float | Measured, ...]:
    c, finding = row.finding.coordinate, row.finding
    true, ours = ((row.true_low, row.true_high), (finding.low, finding.high))
    if c.steps is None:
        ends = [" … ".join(describe_value(end, c.unit) for end in pair) for pair in (true, ours)]
    else:
        ends = [f"{pair[1]:.0%} other" for pair in (true, ours)]
    found = finding.verdict if row.right else f"{finding.verdict} ✗"
    return (
        number,
        case.base,
        finding.among,
        c.name,
        row.expected,
        found,
        round(finding.sure, 2),
        *ends,
        Measured(row.off, at_most=_ENDS),
    )
