"""A contact sheet: what a data set looks like, and what each transformation does to one of its examples."""

from collections.abc import Sequence
from typing import cast

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure, SubFigure

from liewise.datasets import Dataset, Split, to_bytes, to_unit
from liewise.report.tiles import Tile, draw_rows
from liewise.transforms import Coordinate, Group, describe_value

__all__ = ["contact_sheet"]

_COLUMNS = 9


def contact_sheet(data: Dataset, group: Group, *, split: str | None = None, rows: int = 3, seed: int = 0) -> Figure:
    """Draw examples with their labels and true factors, and below them one example's orbit, a row a coordinate.

    Args:
        data: where the examples come from.
        group: what is done to the example; each row goes through the random box of one coordinate.
        split: the split that is shown; the first if not given.
        rows: rows of examples.
        seed: which examples.
    """
    name = split or next(iter(data.splits))
    shown = data[name]
    group.check(shown.image_shape)
    chosen = np.random.default_rng(seed).choice(len(shown), min(len(shown), rows * _COLUMNS), replace=False)
    examples = _examples(data, shown, np.sort(chosen))
    orbits = _orbits(shown.images[chosen[0]], group)

    example_rows = -(-len(examples) // _COLUMNS)
    lines = 1 + max((tile.caption.count("\n") for tile in examples), default=0)
    heights = [example_rows * (1.13 + 0.12 * lines) + 0.3, len(orbits) * 1.15 + 0.3]
    figure = Figure(figsize=(10.5, sum(heights)), layout="constrained", facecolor="white", dpi=150)
    upper, lower = cast("Sequence[SubFigure]", figure.subfigures(2, 1, height_ratios=heights))
    rows_shown = [examples[i : i + _COLUMNS] for i in range(0, len(examples), _COLUMNS)]
    draw_rows(upper, rows_shown, columns=_COLUMNS, title=_titled(data, name, shown))
    titles = [f"{c.name}\n({c.positive if c.steps else f'+ is {c.positive}'})" for c in group.coordinates]
    title = "One example under each transformation, through its random box"
    draw_rows(lower, orbits, columns=_COLUMNS, title=title, row_titles=titles)
    return figure


def _examples(data: Dataset, split: Split, chosen: np.ndarray) -> list[Tile]:
    return [Tile(split.images[i], _caption(data, split, i)) for i in chosen.tolist()]


def _caption(data: Dataset, split: Split, index: int) -> str:
    lines = []
    if split.labels is not None:
        label = int(split.labels[index])
        named = data.class_names and 0 <= label < len(data.class_names)
        lines.append(data.class_names[label] if named else f"class {label}")
    lines += [describe_value(float(f.values[index]), f.unit) for f in list(split.factors.values())[:4]]
    if len(lines) > 3:
        lines = [lines[0], *("  ".join(lines[i : i + 2]) for i in range(1, len(lines), 2))]
    return "\n".join(lines)


def _orbits(image: np.ndarray, group: Group) -> list[list[Tile]]:
    """Sweep every coordinate through its box, the others at zero; compiled once, one batch a coordinate."""
    size = (image.shape[0], image.shape[1])
    rows = []
    for place, coordinate in enumerate(group.coordinates):
        values = _sweep(coordinate)
        eta = jnp.zeros((len(values), group.dim)).at[:, place].set(values)
        copies = jnp.broadcast_to(to_unit(image)[None], (len(values), *image.shape))
        swept = np.asarray(to_bytes(group.act(group.element(eta), copies)))
        captions = [describe_value(float(coordinate.to_user(v, size)), coordinate.unit) for v in values]
        rows.append([Tile(s, c, strong=bool(v == 0)) for s, c, v in zip(swept, captions, values, strict=True)])
    return rows


def _sweep(coordinate: Coordinate) -> np.ndarray:
    if coordinate.steps is not None:
        return np.array(coordinate.steps)
    values = np.linspace(coordinate.low, coordinate.high, _COLUMNS)
    return np.where(np.abs(values) < 1e-9, 0.0, values)


def _titled(data: Dataset, name: str, split: Split) -> str:
    height, width, channels = split.image_shape
    colour = {1: "grey", 3: "colour"}.get(channels, f"{channels} channels")
    factors = f"; true {', '.join(split.factors)}" if split.factors else ""
    return f"{data.name}, {name}: {len(split):,} images of {width}×{height}, {colour}{factors}"
