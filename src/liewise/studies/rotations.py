"""Digits turned by more have wider densities of rotation, and digits turned by anything have uniform ones."""

import jax
import numpy as np

from liewise.measure import spread, uniform_ks
from liewise.report import Curve, Panel, draw_panels
from liewise.studies.context import Context, Fit
from liewise.studies.examples import pick
from liewise.studies.outcome import Cell, Measured, Outcome, Picture, Table
from liewise.studies.settings import mnist_rotated

__all__ = ["centred", "run", "uniformity", "widths"]

_ADDED = (15.0, 45.0, 90.0, 180.0)  # degrees either way
_EXAMPLES, _SHOWN = 1000, 300  # held out
_DRAWS, _MANY = 512, 2048  # for each of them
_MOST_KS = 0.05


def run(context: Context) -> Outcome:
    """Fit one model for each width that is added."""
    fits = [context.fit(mnist_rotated(degrees)) for degrees in _ADDED]
    found = [widths(fit, draws=_DRAWS, seed=context.seed) for fit in fits]
    classes = sorted(set.intersection(*(set(by_class) for by_class in found)))
    titles = [fit.setting.title for fit in fits]
    widening = Table(
        "Width of p(rotation | prototype), °: the shortest arc with 95 %, mean over examples",
        ("digit", *(f"±{degrees:g}°" for degrees in _ADDED), "least growth", "slope"),
        tuple(_row(label, [by_class[label] for by_class in found]) for label in classes),
    )
    uniform = Table(
        f"{titles[-1]}: each example's own density against the uniform one",
        ("KS, mean over examples", "KS, worst class", "KS, all draws together"),
        (_uniform_row(fits[-1], seed=context.seed),),
    )
    return Outcome(
        {"densities": _picture(fits, classes)},
        (widening, uniform),
        (
            f"{min(_EXAMPLES, len(fits[0].examples.test)):,} held-out digits, {_DRAWS} draws of each; {_MANY:,} for KS,"
            f" of which sampling alone leaves {0.87 / np.sqrt(_MANY):.3f} to each example.",
            "Growth is from one added width to the next, the least of the three. The slope is of the width over 1.9"
            " times the degrees added either way, the arc that has 95 % of those: 1 where the width grows as what was"
            " added does, less for digits that look alike after half a turn, which have a second mode from the start.",
        ),
    )


def widths(fit: Fit, *, draws: int, seed: int) -> dict[int, float]:
    """Return the mean width of each class's densities of rotation, in degrees."""
    labels, drawn = _rotations(fit, draws, seed)
    return _by_class(labels, np.array([spread(row, 360.0) for row in drawn]))


def uniformity(drawn: np.ndarray) -> np.ndarray:
    """Return each example's Kolmogorov–Smirnov statistic against the uniform density; degrees, [n, draws]."""
    return np.array([uniform_ks(np.mod(row, 360.0), 0.0, 360.0) for row in drawn])


def centred(density: np.ndarray) -> np.ndarray:
    """Turn densities on a grid once round the circle, [n, points], so that each one's highest mode is in the middle.

    The last point is the first again, and stays so.
    """
    around = density[:, :-1]
    half = around.shape[1] // 2
    turned = np.stack([np.roll(row, half - int(np.argmax(row))) for row in around])
    return np.concatenate([turned, turned[:, :1]], 1)


def _rotations(fit: Fit, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw rotations, in degrees, for held-out examples, and say of which class these are."""
    split = fit.examples.test[:_EXAMPLES]
    assert split.labels is not None
    place = fit.model.group_.index("rotation")
    drawn = fit.model.density(split).sample(jax.random.key(seed), draws)
    return split.labels, np.degrees(np.asarray(drawn[..., place], np.float64))


def _by_class(labels: np.ndarray, values: np.ndarray) -> dict[int, float]:
    return {int(label): float(values[labels == label].mean()) for label in np.unique(labels)}


def _row(label: int, values: list[float]) -> tuple[Cell, ...]:
    slope = float(np.polyfit(1.9 * np.array(_ADDED), values, 1)[0])
    return str(label), *values, Measured(float(np.diff(values).min()), at_least=0.0), slope


def _uniform_row(fit: Fit, *, seed: int) -> tuple[Cell, ...]:
    labels, drawn = _rotations(fit, _MANY, seed)
    each = uniformity(drawn)
    worst = max(_by_class(labels, each).values())
    pooled = uniform_ks(np.mod(drawn, 360.0).ravel(), 0.0, 360.0)
    return Measured(float(each.mean()), at_most=_MOST_KS), worst, Measured(pooled, at_most=_MOST_KS)


def _picture(fits: list[Fit], classes: list[int]) -> Picture:
    curves: dict[int, list[Curve]] = {label: [] for label in classes}
    for degrees, fit in zip(_ADDED, fits, strict=True):
        shown = pick(fit.examples.test, _SHOWN)
        marginal = fit.model.density(shown).marginal("rotation")
        turned = centred(marginal.density)
        for label in classes:
            mean = turned[shown.labels == label].mean(0)
            curves[label].append(Curve(f"±{degrees:g}°", marginal.values, mean))
    panels = [Panel(f"digit {label}", "rotation, °", tuple(of), period=360.0) for label, of in curves.items()]
    return Picture(
        draw_panels(panels, across=5),
        "The density of rotation given the prototype, turned so that its highest mode is at 0 and averaged over"
        " held-out examples of a class, for digits turned by up to so many degrees on top of their own slant.",
    )
