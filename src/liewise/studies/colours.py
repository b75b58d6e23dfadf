"""The truth recovered on coloured digits: hues and saturations of resampled ones against the ranges they came from.

A resampled digit is the example with its colour changed by what was drawn for the prototype after the example's own
pose was undone. Colours add up (factors in logarithms), so its true factors are the example's plus that change, and no
picture has to be looked at; where the inference puts prototypes does not matter.
"""

import numpy as np

from liewise.measure import relative, spread, wasserstein
from liewise.report import Compared, draw_compared
from liewise.studies.context import Context
from liewise.studies.drawn import Drawn, draw_natural
from liewise.studies.outcome import Measured, Outcome, Picture, Table
from liewise.studies.settings import SETTINGS
from liewise.transforms import Group, axis_words

__all__ = ["resampled_colours", "run"]

_DRAWS = 32  # for each held-out digit
_RANGES = {"hue": 108.0, "saturation": 0.3}  # widths of the true ranges, in the factor's unit
_MOST_W1 = 5.0  # % of the range
_COLUMNS = ("factor", "unit", "digits", "W1", "W1, % of the range", "spread, 95 %", "true spread")


def run(context: Context) -> Outcome:
    """Compare over all digits, and class by class."""
    fit = context.fit(SETTINGS["mnist-colour"])
    drawn = draw_natural(fit, draws=_DRAWS, seed=context.seed)
    found = resampled_colours(fit.model.group_, drawn)
    factors, labels = drawn.split.factors, drawn.split.labels
    assert labels is not None
    rows, compared = [], []
    for name, values in found.items():
        true = factors[name]
        by_class = [
            wasserstein(values[labels == label].ravel(), true.values[labels == label], true.period)
            for label in np.unique(labels)
        ]
        w1 = wasserstein(values.ravel(), true.values, true.period)
        reach = spread(values.ravel(), true.period), spread(true.values, true.period)
        goal = Measured(100 * w1 / _RANGES[name], at_most=_MOST_W1)
        rows.append((name, true.unit, "all", w1, goal, *reach))
        worst = max(by_class)
        rows.append((name, true.unit, "the worst class", worst, 100 * worst / _RANGES[name], None, None))
        compared.append(Compared(name, axis_words(name, true.unit), values.ravel(), true.values, true.period))
    return Outcome(
        {
            "factors": Picture(
                draw_compared([compared]),
                "Hue and saturation of held-out digits, and of their resampled versions: a turn from red, and a factor"
                " of the full saturation.",
            )
        },
        (Table("Resampled digits against the digits they were made from", _COLUMNS, tuple(rows)),),
        (
            f"{len(drawn.split):,} held-out digits, {_DRAWS} versions of each; hue from 0 to 108°, saturation by a"
            " factor from 0.6 to 0.9.",
            f"Sampling alone leaves some {31 / np.sqrt(len(labels)):.1f} % of the range to all of them, and"
            f" {31 / np.sqrt(len(labels) / len(np.unique(labels))):.1f} % to a class.",
        ),
    )


def resampled_colours(group: Group, drawn: Drawn) -> dict[str, np.ndarray]:
    """Return the hue (degrees) and the saturation (a factor) of resampled examples, [n, draws]."""
    change = relative(group, drawn.pose, drawn.eta)
    found = {}
    for name in _RANGES:
        place, true = group.index(name), drawn.split.factors[name]
        coordinate = group.coordinates[place]
        eta = np.asarray(coordinate.from_user(true.values, drawn.split.image_shape[:2]))
        values = np.asarray(coordinate.to_user(eta[:, None] + change[..., place]), np.float64)
        found[name] = values if true.period is None else np.mod(values, true.period)
    return found
