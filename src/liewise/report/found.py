"""What a fitted model found, as a table on a terminal."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from liewise.report.wording import describe_value
from liewise.sgm import Range

__all__ = ["found_table"]


def found_table(natural: Sequence[Range], health: Mapping[str, float], warnings: Sequence[str] = ()) -> RenderableType:
    """Draw a row for each coordinate, a line on how well prototypes were found, and a line for each warning.

    Args:
        natural: how far each coordinate goes.
        health: of the model, as measured on held-out examples.
        warnings: reasons to doubt the rest.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for title in ("natural, central 95 %", "from", "to", "looked at"):
        table.add_column(title, justify="left" if title == "natural, central 95 %" else "right")
    for row in natural:
        table.add_row(row.coordinate.name, *_ends(row), _box(row))
    lines = [Text(_health(health)), *(Text(f"warning: {text}", style="yellow") for text in warnings)]
    return Group(Padding(table, (1, 0)), *lines)


def _ends(row: Range) -> tuple[str, str]:
    if row.coordinate.steps is not None:
        return "", f"{row.high:.0%} the other way"
    return describe_value(row.low, row.coordinate.unit), describe_value(row.high, row.coordinate.unit)


def _box(row: Range) -> str:
    low, high = row.box
    if low == high:
        return "not asked for"
    if row.coordinate.steps is not None:
        return "both ways"
    return " … ".join(describe_value(end, row.coordinate.unit) for end in (low, high))


def _health(health: Mapping[str, float]) -> str:
    return (
        f"on {health['examples']:.0f} held-out examples: {health['ratio/mean']:.1%} of the variance of transformed"
        f" copies is left in their prototypes (0 is perfect, resampling alone leaves {health['floor/mean']:.1%});"
        f" {health['ink']:.0%} of the ink is kept; the way back errs {health['round trip/plain']:.1f} times as much as"
        " a plain warp"
    )
