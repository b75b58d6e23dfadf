"""Figs. 10, 15 and 16: what is natural for single digits, coordinate by coordinate."""

import numpy as np

from liewise.datasets import Split
from liewise.report import draw_marginals
from liewise.studies.context import Context, Fit
from liewise.studies.examples import pick
from liewise.studies.outcome import Outcome, Picture, Table
from liewise.studies.settings import SETTINGS
from liewise.transforms import Coordinate

__all__ = ["colours", "few_digits", "many_digits", "marginals_picture", "true_ranges"]

_FEW, _MANY = (0, 1, 2, 6, 8, 9), 20
_HUE, _SATURATION = (0.0, 108.0), (0.6, 0.9)  # section 4: degrees, factors
_CAPTION = (
    "Test examples, their prototypes, and the density of each coordinate given the prototype, whatever the others are."
    " Where a prototype stands is nobody's choice, so it is a density's width and its modes that say something."
)


def few_digits(context: Context) -> Outcome:
    """Fig. 10: one digit of each of some classes, affine."""
    return _outcome(context.fit(SETTINGS["mnist-affine"]), len(_FEW), _FEW)


def many_digits(context: Context) -> Outcome:
    """Fig. 15: two digits of each class, affine."""
    return _outcome(context.fit(SETTINGS["mnist-affine"]), _MANY)


def colours(context: Context) -> Outcome:
    """Fig. 16: coloured digits, with what is true shaded."""
    fit = context.fit(SETTINGS["mnist-colour"])
    shown = pick(fit.examples.test, 10)
    truth = true_ranges(fit, shown)
    picture = marginals_picture(fit, shown, truth=truth)
    caption = (
        f"{_CAPTION} Shaded: where each example's hue ({_HUE[0]:g}° to {_HUE[1]:g}°) and saturation"
        f" ({_SATURATION[0]:g} to {_SATURATION[1]:g}) truly lie, as its prototype sees it. Value was not changed."
    )
    return Outcome({"marginals": Picture(picture.figure, caption)}, (_modes(fit, shown),))


def marginals_picture(fit: Fit, shown: Split, *, truth: dict[str, np.ndarray] | None = None) -> Picture:
    """Draw the coordinates that were asked for; what completes the group is left out."""
    density = fit.model.density(shown)
    marginals = [density.marginal(c.name) for c in _asked(fit)]
    figure = draw_marginals(shown.images, fit.model.prototype(shown), marginals, truth=truth)
    return Picture(figure, _CAPTION)


def true_ranges(fit: Fit, shown: Split) -> dict[str, np.ndarray]:
    """Return where hue and saturation of each example's versions truly lie, [n, 2], as its prototype sees them.

    An example with the hue h and the pose η has a prototype that η turns into it; so what turns the prototype into a
    version with the hue h' is η + h' - h. Factors go likewise, by quotients.
    """
    pose, factors = fit.model.pose(shown), shown.factors
    hue, saturation = (
        np.asarray(c.to_user(pose[:, fit.model.group_.index(c.name)], shown.image_shape[:2]))
        for c in fit.model.group_.coordinates
        if c.name in ("hue", "saturation")
    )
    turned = (hue - factors["hue"].values)[:, None] + np.array(_HUE)
    return {
        "hue": turned - 360 * np.round(turned.mean(1, keepdims=True) / 360),
        "saturation": (saturation / factors["saturation"].values)[:, None] * np.array(_SATURATION),
    }


def _asked(fit: Fit) -> list[Coordinate]:
    return [c for c in fit.model.group_.coordinates if c.low < c.high]


def _outcome(fit: Fit, count: int, labels: tuple[int, ...] = ()) -> Outcome:
    shown = pick(fit.examples.test, count, labels)
    return Outcome({"marginals": marginals_picture(fit, shown)}, (_modes(fit, shown),))


def _modes(fit: Fit, shown: Split) -> Table:
    """Say how wide each density is, and how many modes there are."""
    density = fit.model.density(shown)
    rows = []
    for c in _asked(fit):
        low, high = density.quantiles(c.name, (0.025, 0.975)).T
        counts = [len(modes) for modes in density.modes(c.name)]
        width = high / low if c.unit == "factor" else high - low
        rows.append((c.name, c.unit, *(float(v) for v in (width.min(), np.median(width), width.max())), _tally(counts)))
    return Table(
        f"Widths (95 %) and modes of the {len(shown)} densities drawn",
        ("coordinate", "unit", "narrowest", "median", "widest", "modes: examples"),
        tuple(rows),
    )


def _tally(counts: list[int]) -> str:
    return ", ".join(f"{modes}: {counts.count(modes)}" for modes in sorted(set(counts)))
