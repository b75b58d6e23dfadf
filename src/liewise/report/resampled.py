"""Examples, their prototypes, and other versions of them that are as natural."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from liewise.report.tiles import Tile, draw_rows

__all__ = ["resampled_sheet"]

_VERSIONS = 8  # in a row


def resampled_sheet(examples: np.ndarray, prototypes: np.ndarray, versions: np.ndarray, names: Sequence[str]) -> Figure:
    """Draw for each example: itself, its prototype, and natural versions of it.

    Args:
        examples: [n, height, width, channels], as bytes or in [0, 1].
        prototypes: likewise.
        versions: [n, versions, height, width, channels].
        names: what to call each example.
    """
    wide = min(_VERSIONS, versions.shape[1])
    rows: list[list[Tile | None]] = []
    titles = []
    for example, prototype, others, name in zip(examples, prototypes, versions, names, strict=True):
        for start in range(0, len(others), wide):
            head = [None, None] if start else [Tile(example, "example", strong=True), Tile(prototype, "prototype")]
            rows.append([*head, *(Tile(other) for other in others[start : start + wide])])
            titles.append("" if start else _short(name))
    figure = Figure(
        figsize=(1.4 + 1.05 * (wide + 2), 0.45 + 1.15 * len(rows)), layout="constrained", facecolor="white", dpi=150
    )
    title = f"Examples, their prototypes, and {versions.shape[1]} natural versions of each"
    draw_rows(figure, rows, columns=wide + 2, title=title, row_titles=titles)
    return figure


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
