"""The truth recovered on sprites: factors of resampled ones against those they were drawn with."""

import numpy as np

from liewise.datasets import SHAPES, SYMMETRY, Split
from liewise.errors import LiewiseError
from liewise.measure import SPRITE_FACTORS, Recovered, mass_between, recovered_sprites, resampled_factors
from liewise.report import Compared, draw_compared
from liewise.studies.context import Context, Fit
from liewise.studies.drawn import draw_natural
from liewise.studies.outcome import Cell, Measured, Outcome, Picture, Table
from liewise.studies.settings import SETTINGS
from liewise.transforms import axis_words

__all__ = ["bands", "run"]

_DRAWS = 16  # for each held-out sprite
_MOST_KS, _MOST_TURNED, _MOST_BETWEEN, _LEAST_SHARE = 0.08, 3.0, 0.03, 0.3
_HEART = SHAPES.index("heart")
_COLUMNS = ("shape", "factor", "unit", "KS", "W1", "spread, 95 %", "true spread")
Factors = dict[str, np.ndarray]  # by name, [n, draws]


def run(context: Context) -> Outcome:
    """Measure on our own sprites, and on dSprites if they are there."""
    pictures, tables, notes = {}, [], []
    for name in ("sprites-affine", "dsprites-affine"):
        setting = SETTINGS[name]
        try:
            fit = context.fit(setting)
        except LiewiseError as error:
            notes.append(f"{setting.title} is left out: {error}")
            continue
        picture, found, count = _measured(fit, seed=context.seed)
        pictures[name.split("-")[0]] = picture
        tables += found
        notes.append(f"{setting.title}: {count:,} held-out sprites, {_DRAWS} versions of each.")
    return Outcome(
        pictures,
        tuple(tables),
        (
            *notes,
            "Orientations are compared modulo the shape's own symmetry: 90° for a square, 180° for an ellipse.",
            "A factor that does not vary has no KS with a target: any spread at all, however small, brings it near 1.",
            "dSprites has but some values of each factor. There, factors of resampled sprites are taken to the nearest"
            " of these for KS and W1, as they were when the sprites were drawn; spreads are as they are.",
        ),
    )


def bands(found: np.ndarray, true: np.ndarray) -> tuple[float, float, float]:
    """Return the shares of a sample in the lower band, between the bands, and in the upper one.

    The bands are where the true values lie, below zero and above.
    """
    low, high = float(true[true < 0].max()), float(true[true > 0].min())
    return float(np.mean(found <= low)), mass_between(found, low, high), float(np.mean(found >= high))


def _measured(fit: Fit, *, seed: int) -> tuple[Picture, list[Table], int]:
    drawn = draw_natural(fit, draws=_DRAWS, seed=seed)
    group, split = fit.model.group_, drawn.split
    factors = resampled_factors(group, drawn.pose, drawn.eta, split)
    stepped = fit.setting.name.startswith("dsprites")
    rows = recovered_sprites(group, drawn.pose, drawn.eta, split, stepped=stepped)
    title = fit.setting.title
    tables = [
        Table(f"{title}: resampled factors against true ones", _COLUMNS, tuple(_row(r) for r in rows)),
        _hearts(title, factors, split),
    ]
    caption = f"{title}: true factors of held-out examples, and factors of their resampled versions."
    return Picture(draw_compared(_compared(factors, split)), caption), tables, len(split)


def _row(found: Recovered) -> tuple[Cell, ...]:
    varies = found.true_spread > 0
    turned = Measured(found.spread, at_most=_MOST_TURNED) if not varies else found.spread
    ks = Measured(found.ks, at_most=_MOST_KS) if varies else None
    return found.shape, found.factor, found.unit, ks, found.w1, turned, found.true_spread


def _hearts(title: str, factors: Factors, split: Split) -> Table:
    mine = split.labels == _HEART
    above, between, below = bands(factors["y"][mine].ravel(), split.factors["y"].values[mine])
    row = (
        Measured(above, at_least=_LEAST_SHARE),
        Measured(between, at_most=_MOST_BETWEEN),
        Measured(below, at_least=_LEAST_SHARE),
    )
    return Table(f"{title}: the heart's two bands", ("share above", "between them", "below"), (row,))


def _compared(factors: Factors, split: Split) -> list[list[Compared]]:
    rows = []
    for label, shape in enumerate(SHAPES):
        mine = split.labels == label
        row = []
        for name in SPRITE_FACTORS:
            true = split.factors[name]
            period = SYMMETRY[shape] if name == "orientation" else None
            axis = axis_words(name, true.unit)
            row.append(Compared(shape, axis, factors[name][mine].ravel(), true.values[mine], period))
        rows.append(row)
    return rows
