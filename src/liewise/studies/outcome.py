"""What a study gives: figures, tables whose numbers may have targets, and notes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from matplotlib.figure import Figure

from liewise.errors import LiewiseError

__all__ = ["Cell", "Measured", "Outcome", "Picture", "Table"]


@dataclass(frozen=True)
class Measured:
    """A number beside its target.

    >>> Measured(0.031, at_most=0.04).words, Measured(0.9, at_least=0.95).met
    ('0.031 (≤ 0.04)', False)
    """

    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool:
        """Whether the target is reached; a NaN reaches none."""
        low = -math.inf if self.at_least is None else self.at_least
        high = math.inf if self.at_most is None else self.at_most
        return low <= self.value <= high

    @property
    def words(self) -> str:
        """The number and the target."""
        bounds = [f"≥ {self.at_least:g}"] if self.at_least is not None else []
        bounds += [f"≤ {self.at_most:g}"] if self.at_most is not None else []
        return f"{cell_words(self.value)} ({', '.join(bounds)})" if bounds else cell_words(self.value)


Cell = str | int | float | Measured | None


@dataclass(frozen=True)
class Table:
    """Rows of numbers and words under columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self):
        wrong = [row for row in self.rows if len(row) != len(self.columns)]
        if wrong:
            raise LiewiseError(
                f"expected {len(self.columns)} cells a row in the table {self.title!r}; got {len(wrong[0])}: {wrong[0]}"
            )

    @property
    def missed(self) -> int:
        """How many targets are not reached."""
        return sum(isinstance(cell, Measured) and not cell.met for row in self.rows for cell in row)


@dataclass(frozen=True)
class Picture:
    """A figure with the sentence that goes below it."""

    figure: Figure
    caption: str


@dataclass(frozen=True)
class Outcome:
    """Everything that a study shows; pictures by the name of their file, without its ending."""

    pictures: Mapping[str, Picture] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()


def cell_words(cell: Cell) -> str:
    """Write a cell for people.

    >>> cell_words(0.01234), cell_words(1234), cell_words(1234.5), cell_words(None)
    ('0.0123', '1,234', '1,234', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, Measured):
        return cell.words
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float) and not math.isfinite(cell):
        return "–"
    if isinstance(cell, int) or abs(cell) >= 1000:
        return f"{cell:,.0f}"
    return f"{cell:.3g}"
