"""What a check found, as a table on a terminal: what was injected beside what was recovered."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from liewise.sgm import Check, Recovery
from liewise.transforms import describe_value

__all__ = ["check_table"]

_COLUMNS = ("", "injected", "", "found", "", "off, of box", "W1", "KS")
_LEFT = ("injected", "found", "")


def check_table(found: Check) -> RenderableType:
    """Draw a row for each coordinate, the control first, and say how many verdicts are right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in _COLUMNS:
        table.add_column(title, justify="left" if title in _LEFT else "right")
    for title, rows in (("control: nothing injected", found.control), ("injected", found.injected)):
        table.add_row(Text(title, style="bold"))
        for row in rows:
            table.add_row(*_cells(row))
    rows = [*found.control, *found.injected]
    right = sum(row.right for row in rows)
    lines = [f"{right} of {len(rows)} verdicts are right, on {found.prototypes:,} prototypes; {_advice(rows)}"]
    return Group(Padding(table, (1, 0)), *(Text(line) for line in lines))


def _cells(row: Recovery) -> tuple[RenderableType, ...]:
    unit = row.finding.coordinate.unit
    discrete = row.finding.coordinate.steps is not None
    true = f"{row.true_high:.0%} other" if discrete else _ends(row.true_low, row.true_high, unit)
    ours = f"{row.finding.high:.0%} other" if discrete else _ends(row.finding.low, row.finding.high, unit)
    verdict = Text(row.finding.verdict, style="green" if row.right else "bold red")
    name = f"  {row.finding.coordinate.name}"
    return (name, row.expected, true, verdict, ours, f"{row.off:.0%}", f"{row.w1:.2g}", f"{row.ks:.2f}")


def _ends(low: float, high: float, unit: str) -> str:
    return f"{describe_value(low, unit)} … {describe_value(high, unit)}"


def _advice(rows: Sequence[Recovery]) -> str:
    if all(row.right for row in rows):
        return "on such data the method can be trusted as far as this"
    wrong = dict.fromkeys(row.finding.coordinate.name for row in rows if not row.right)
    return f"do not trust what is said of {', '.join(wrong)}, unless it holds with more --steps"
