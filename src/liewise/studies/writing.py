"""An outcome on the terminal, in a folder, and as a page of the documentation."""

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from liewise.report.machine import Machine
from liewise.report.picture import write_png
from liewise.studies.outcome import Cell, Measured, Outcome, Table, cell_words
from liewise.studies.registry import Study

__all__ = ["print_tables", "write_outcome", "write_page"]


def print_tables(outcome: Outcome, console: Console) -> None:
    """Print the tables, what misses its target in red, and the notes."""
    for table in outcome.tables:
        shown = RichTable(*table.columns, title=table.title, title_justify="left", box=None, header_style="bold")
        for row in table.rows:
            shown.add_row(*(_marked(cell) for cell in row))
        console.print(shown)
        if table.missed:
            console.print(f"[red]{table.missed} of its numbers miss{'es' * (table.missed == 1)} the target[/red]")
    for note in outcome.notes:
        console.print(f"[dim]{note}[/dim]")


def write_outcome(outcome: Outcome, folder: Path, *, about: dict[str, Any]) -> list[Path]:
    """Write pictures as PNG, tables as Markdown and JSON, and all that is known of the run."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [write_png(picture.figure, folder / f"{name}.png") for name, picture in outcome.pictures.items()]
    tables = folder / "tables.md"
    _replace(tables, "\n".join([*_sections(outcome.tables), *_notes(outcome), ""]))
    numbers = folder / "outcome.json"
    content = {**about, "tables": [_plain(table) for table in outcome.tables], "notes": list(outcome.notes)}
    _replace(numbers, json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    return [*written, tables, numbers]


def write_page(
    outcome: Outcome, study: Study, folder: Path, *, command: str, scale: str, seed: int, seconds: float, fits: str
) -> Path:
    """Write the page of the documentation, with its pictures beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"# {study.title}", "", study.shows, ""]
    for name, picture in outcome.pictures.items():
        file = write_png(picture.figure, folder / f"{study.name}-{name}.png")
        lines += [f"![{picture.caption}]({file.name})", "", f"*{picture.caption}*", ""]
    lines += [*_sections(outcome.tables), *_notes(outcome), ""]
    lines += ["```", command, "```", ""]
    lines += [f"Scale `{scale}`, seed {seed}, {_duration(seconds)} in all{fits}, on {Machine.here().words}.", ""]
    page = folder / f"{study.name}.md"
    _replace(page, "\n".join(lines))
    return page


def _marked(cell: Cell) -> str:
    words = cell_words(cell)
    return f"[red]{words}[/red]" if isinstance(cell, Measured) and not cell.met else words


def _sections(tables: Sequence[Table]) -> list[str]:
    lines = []
    for table in tables:
        lines += [
            f"**{table.title}**",
            "",
            f"| {' | '.join(map(_escaped, table.columns))} |",
            "|" + "---|" * len(table.columns),
        ]
        lines += [f"| {' | '.join(_markdown(cell) for cell in row)} |" for row in table.rows]
        lines += (
            ["", f"What misses its target is **bold**: {table.missed} of the numbers.", ""] if table.missed else [""]
        )
    return lines


def _markdown(cell: Cell) -> str:
    words = _escaped(cell_words(cell))
    return f"**{words}**" if isinstance(cell, Measured) and not cell.met else words


def _escaped(words: str) -> str:
    return words.replace("|", "\\|")


def _notes(outcome: Outcome) -> list[str]:
    return [f"- {note}" for note in outcome.notes]


def _plain(table: Table) -> dict[str, Any]:
    rows = [dict(zip(table.columns, map(_value, row), strict=True)) for row in table.rows]
    return {"title": table.title, "missed": table.missed, "rows": rows}


def _value(cell: Cell) -> Any:
    if isinstance(cell, Measured):
        bounds = {"at_most": cell.at_most, "at_least": cell.at_least}
        return {"value": _value(cell.value), "met": cell.met} | {k: v for k, v in bounds.items() if v is not None}
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def _replace(path: Path, text: str) -> None:
    """Write a file in one stroke, so that a killed run leaves no half of one."""
    fresh = path.with_name(f".{path.name}")
    fresh.write_text(text)
    os.replace(fresh, path)
