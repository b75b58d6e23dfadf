"""Two of the paper's choices (`004`, section 3.2): a flexible density, and one that looks at the prototype.

The third, full invariance, is in `partial`; one study runs both.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from liewise.datasets import SHAPES, to_unit
from liewise.measure import ranks, uniform_ks
from liewise.report import Curve, Panel, draw_panels
from liewise.sgm import Densities, Density
from liewise.studies.context import Context, Fit
from liewise.studies.outcome import Cell, Measured, Outcome, Picture, Table
from liewise.studies.partial import partial_invariance
from liewise.studies.settings import SETTINGS
from liewise.studies.stage_two import examine, other_density
from liewise.transforms import axis_words

__all__ = ["Ablated", "calibration", "held_out_nats", "run"]

_SETTINGS = ("mnist-affine", "sprites-affine")
_EXAMPLES, _DRAWS = 2000, 255  # held out; draws of each, for ranks
_NAMES = ("spline flow", "Gaussian head", "without x̂")
_COLUMNS = ("coordinate", "spline flow", "Gaussian head", "gain over it", "without x̂", "gain over that")


class Ablated(NamedTuple):
    """A fit with three densities of the same poses."""

    fit: Fit
    densities: tuple[Density, ...]  # in the order of the names
    pose: jax.Array  # [n, dim], of held-out examples
    prototypes: jax.Array  # [n, height, width, channels], of the same


def run(context: Context) -> Outcome:
    """Measure the three choices."""
    ablated = [_ablated(context, context.fit(SETTINGS[name])) for name in _SETTINGS]
    partial = partial_invariance(context)
    likelihoods = tuple(_likelihoods(each) for each in ablated)
    counts = " and ".join(f"{len(each.pose):,}" for each in ablated)
    calibrations = tuple(_calibration_table(each, seed=context.seed) for each in ablated)
    return Outcome(
        {
            "multi-modal": Picture(
                draw_panels([_heart(ablated[1]), *_digits(ablated[0])], across=3),
                "What one prototype's density looks like in the three families. Left, grey: where the poses of held-out"
                " hearts truly lie, in two bands; the Gaussian spends its mass between them, and without the prototype"
                " the bands of all shapes are mixed. Beside it, the rotation of an 8 and of a 6.",
            ),
            **partial.pictures,
        },
        (*likelihoods, *calibrations, *partial.tables),
        (
            f"{counts} held-out examples (test splits), each with its own prototype; log-densities in nats,"
            " of each coordinate given the ones above it (the Gaussian head has no coordinate depend on another).",
            "All three densities are of the same poses and prototypes, by one inference, and trained alike.",
            f"Calibration: the place of each pose among {_DRAWS} draws, which is uniform for a density that is right.",
            *partial.notes,
        ),
    )


def held_out_nats(density: Density, pose: jax.Array, prototypes: jax.Array) -> np.ndarray:
    """Return the mean log-density of each coordinate, in nats; given the ones before, where they matter."""
    terms = density.log_probs_from(density.features(prototypes), pose[:, None])
    return np.asarray(terms, np.float64)[:, 0].mean(0)


def calibration(
    density: Density, pose: jax.Array, prototypes: jax.Array, *, draws: int, seed: int
) -> dict[str, np.ndarray]:
    """Return, for each coordinate on a line or a circle, the ranks of poses among draws."""
    drawn = np.asarray(density.sample(jax.random.key(seed), prototypes, draws))
    return {
        c.name: ranks(drawn[..., place], np.asarray(pose[:, place]), seed=seed, period=c.period)
        for place, c in enumerate(density.coordinates)
    }


def _ablated(context: Context, fit: Fit) -> Ablated:
    config = fit.model.parts_.density.config
    examined = examine(fit, seed=context.seed)
    others = {
        "gaussian": dataclasses.replace(config, family="gaussian"),
        "unconditional": dataclasses.replace(config, conditional=False),
    }
    densities = [other_density(context, fit, name, changed, examined) for name, changed in others.items()]
    split = fit.examples.test[:_EXAMPLES]
    pose, found = fit.model.pose(split), fit.model.prototype(split)
    return Ablated(fit, (fit.model.parts_.density, *densities), jnp.asarray(pose), to_unit(jnp.asarray(found)))


def _likelihoods(ablated: Ablated) -> Table:
    spline, gaussian, blind = (held_out_nats(d, ablated.pose, ablated.prototypes) for d in ablated.densities)

    def row(name: str, place: int | slice) -> tuple[Cell, ...]:
        a, b, c = (float(np.sum(values[place])) for values in (spline, gaussian, blind))
        return name, a, b, Measured(a - b, at_least=0.0), c, Measured(a - c, at_least=0.0)

    rows = [row(c.name, place) for place, c in enumerate(ablated.fit.model.group_.coordinates)]
    title = f"{ablated.fit.setting.title}: held-out log p(η|x̂), nats"
    return Table(title, _COLUMNS, (*rows, row("all", slice(None))))


def _calibration_table(ablated: Ablated, *, seed: int) -> Table:
    found = [calibration(d, ablated.pose, ablated.prototypes, draws=_DRAWS, seed=seed) for d in ablated.densities]
    rows = []
    for name in found[0]:
        each = [of[name] for of in found]
        inside = float(np.mean(np.abs(each[0] - 0.5) <= 0.45))
        rows.append((name, *(uniform_ks(values, 0.0, 1.0) for values in each), inside))
    columns = ("coordinate", *(f"KS, {name}" for name in _NAMES), "in the central 90 %, spline flow")
    return Table(f"{ablated.fit.setting.title}: calibration", columns, tuple(rows))


def _heart(ablated: Ablated) -> Panel:
    """The y-position of hearts, whose prototypes are all alike, so that their poses are a sample of the density."""
    split = ablated.fit.examples.test[:_EXAMPLES]
    hearts = np.flatnonzero(split.labels == SHAPES.index("heart"))
    place = ablated.fit.model.group_.index("shift-y")
    coordinate = ablated.fit.model.group_.coordinates[place]
    true = np.asarray(coordinate.to_user(np.asarray(ablated.pose)[hearts, place], split.image_shape[:2]))
    return dataclasses.replace(_panel(ablated, int(hearts[0]), "shift-y", "sprites: hearts"), true=true)


def _digits(ablated: Ablated) -> list[Panel]:
    split = ablated.fit.examples.test[:_EXAMPLES]
    chosen = [(label, np.flatnonzero(split.labels == label)[0]) for label in (8, 6)]
    return [_panel(ablated, int(place), "rotation", f"MNIST: a {label}") for label, place in chosen]


def _panel(ablated: Ablated, place: int, name: str, title: str) -> Panel:
    group = ablated.fit.model.group_
    curves = []
    for family, density in zip(_NAMES, ablated.densities, strict=True):
        marginal = Densities(density, group, ablated.prototypes[place : place + 1]).marginal(name)
        curves.append(Curve(family, marginal.values, marginal.density[0]))
    coordinate = group.coordinates[group.index(name)]
    period = 360.0 if coordinate.period is not None else None
    return Panel(title, axis_words(name, coordinate.unit), tuple(curves), period=period)
