"""The answer for people: what was found of every coordinate, of all examples and by class, and reasons to doubt it."""

import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from liewise.errors import LiewiseError, StoreError
from liewise.measure import Finding
from liewise.transforms import describe_value

__all__ = ["Summary"]

_FORMAT = 1
_COLUMNS = ("", "verdict", "from", "to", "modes", "sure", "looked at", "notes")
_LEFT = ("", "verdict", "notes")
_WIDTH = 120  # of the table as text, in letters
_STYLES = {"absent": "dim", "partial": "cyan", "several modes": "magenta", "full": "green"}


@dataclass(frozen=True)
class Summary:
    """What a model found, as an object, a table, sentences and JSON."""

    findings: tuple[Finding, ...]
    warnings: tuple[str, ...] = ()  # reasons to doubt the rest
    health: Mapping[str, float] = field(default_factory=dict)  # of stage 1, as measured on held-out examples

    def finding(self, coordinate: str, among: str = "all") -> Finding:
        """Return what was found of one coordinate, among all examples or those of a class."""
        for finding in self.findings:
            if (finding.coordinate.name, finding.among) == (coordinate, among):
                return finding
        names = ", ".join(dict.fromkeys(f.coordinate.name for f in self.findings))
        groups = ", ".join(dict.fromkeys(f.among for f in self.findings))
        raise LiewiseError(f"no finding on {coordinate!r} among {among!r}; there are {names}, among {groups}")

    def words(self) -> tuple[str, ...]:
        """Return a sentence for each finding, all examples first, then the warnings."""
        return (*(_sentence(finding) for finding in self.findings), *(f"Warning: {text}." for text in self.warnings))

    def table(self) -> RenderableType:
        """Return a table for a terminal: all examples, each class, how well poses were found, and the warnings."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for title in _COLUMNS:
            table.add_column(title, justify="left" if title in _LEFT else "right", no_wrap=title != "notes")
        among = None
        for finding in self.findings:
            if finding.among != among:
                among = finding.among
                title = "all examples" if among == "all" else among
                table.add_row(Text(f"{title} ({_most(self.findings, among):,})", style="bold"))
            table.add_row(*_cells(finding))
        lines = [Text(text) for text in _health(self.health)]
        lines += [Text(f"warning: {text}", style="yellow") for text in self.warnings]
        return Group(Padding(table, (1, 0)), *lines)

    def to_json(self) -> str:
        """Return all of it as JSON; `from_json` reads it."""
        health = {name: value if math.isfinite(value) else None for name, value in self.health.items()}
        content = {
            "format": _FORMAT,
            "findings": [finding.as_dict() for finding in self.findings],
            "warnings": list(self.warnings),
            "health": health,
        }
        return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Summary":
        """Build a summary from what `to_json` wrote."""
        try:
            content: dict[str, Any] = json.loads(text)
            if content["format"] > _FORMAT:
                raise StoreError(f"the summary has format {content['format']}; this version reads up to {_FORMAT}")
            health = {name: math.nan if value is None else value for name, value in content["health"].items()}
            return cls(tuple(map(Finding.from_dict, content["findings"])), tuple(content["warnings"]), health)
        except StoreError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"not a summary: {error}") from error

    def __str__(self) -> str:
        page = Console(file=io.StringIO(), width=_WIDTH, color_system=None)
        page.print(self.table())
        assert isinstance(page.file, io.StringIO)
        return "\n".join(line.rstrip() for line in page.file.getvalue().strip("\n").splitlines())


def _cells(finding: Finding) -> tuple[RenderableType, ...]:
    unit = finding.coordinate.unit
    low, high = (describe_value(end, unit) for end in (finding.low, finding.high))
    if finding.coordinate.steps is not None:
        low, high = "", f"{finding.high:.0%} other"
    modes = ", ".join(describe_value(mode, unit) for mode in finding.modes)
    verdict = Text(finding.verdict, style=_STYLES[finding.verdict])
    rest = (low, high, modes, f"{finding.sure:.2f}", _box(finding), "; ".join(finding.notes))
    return (f"  {finding.coordinate.name}", verdict, *rest)


def _box(finding: Finding) -> str:
    low, high = finding.box
    if low == high:
        return "not asked for"
    if finding.coordinate.steps is not None:
        return "both ways"
    if low == -high:
        return f"±{describe_value(high, finding.coordinate.unit).lstrip('+')}"
    return " … ".join(describe_value(end, finding.coordinate.unit) for end in (low, high))


def _sentence(finding: Finding) -> str:
    name, unit = finding.coordinate.name, finding.coordinate.unit
    who = "" if finding.among == "all" else f"{finding.among}: "
    sure = f"sure: {finding.sure:.2f}"
    notes = "".join(f" {note[0].upper()}{note[1:]}." for note in finding.notes)
    if not finding.examples:
        return f"{who}{name} cannot be told.{notes}"
    if finding.coordinate.steps is not None:
        share = f"{finding.high:.0%} of natural versions are mirrored against the most natural one"
        return f"{who}{name} is {finding.verdict}: {share} ({sure}).{notes}"
    low, high = (describe_value(end, unit) for end in (finding.low, finding.high))
    if finding.verdict == "several modes":
        modes = " and ".join(describe_value(mode, unit) for mode in finding.modes)
        body = f"has several modes, at {modes}, within {low} to {high}"
    elif finding.verdict == "full":
        body = (
            "is full: all of it is natural"
            if finding.coordinate.period
            else f"is full: {low} to {high}, and perhaps further"
        )
    else:
        body = f"is {finding.verdict}: 95 % of natural versions lie between {low} and {high}"
    return f"{who}{name} {body} ({sure}).{notes}"


def _most(findings: tuple[Finding, ...], among: str) -> int:
    return max(finding.examples for finding in findings if finding.among == among)


def _health(health: Mapping[str, float]) -> list[str]:
    if not health:
        return []
    return [
        f"on {health['examples']:.0f} held-out examples: {health['ratio/mean']:.1%} of the variance of transformed"
        f" copies is left in their prototypes (0 is perfect, resampling alone leaves {health['floor/mean']:.1%});"
        f" {health['ink']:.0%} of the ink is kept; the way back errs {health['round trip/plain']:.1f} times as much as"
        " a plain warp"
    ]
