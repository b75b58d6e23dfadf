"""The third of the paper's choices (`004`, section 3.2): prototypes that are fully invariant, or in part only.

Digits are turned by anything, so that the truth is known: all turns are natural, for every digit. Our network's
rotations are equivariant by construction, and a narrower random box would not make them less so; so its answer is
folded instead: known only up to a turn of 360°/k, which leaves each orbit k prototypes. Nothing else differs.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from liewise.datasets import to_unit
from liewise.measure import spread
from liewise.report import Curve, Panel, draw_panels
from liewise.sgm import Densities, Density, Inference, prototypes
from liewise.sgm.stage_two import in_batches
from liewise.studies.context import Context, Fit
from liewise.studies.outcome import Cell, Measured, Outcome, Picture, Table
from liewise.studies.rotations import uniformity
from liewise.studies.settings import mnist_rotated
from liewise.studies.stage_two import examine, other_density

__all__ = ["Folded", "partial_invariance"]

_FOLDS = (1, 2, 4)  # prototypes of an orbit
_EXAMPLES, _DRAWS = 500, 2048  # held out; draws of each
_MOST_KS = 0.05
_COLUMNS = (
    "prototypes of an orbit",
    "width, 95 %, °",
    "true width, °",
    "KS against all turns alike",
    "turns never drawn, %",
)


class Folded(Inference):
    """An inference whose rotations are known up to a part of a turn only: partial invariance by construction."""

    inner: Inference
    folds: int = eqx.field(static=True)

    def __init__(self, inner: Inference, folds: int):
        """Wrap an inference of a group with a rotation."""
        self.group, self.inner, self.folds = inner.group, inner, folds

    def __call__(self, examples: Float[Array, "batch ..."]) -> Float[Array, "batch dim"]:
        """Return the smallest of the poses that differ by such a part of a turn."""
        eta, place = self.inner(examples), self.group.index("rotation")
        part = 2 * jnp.pi / self.folds
        return eta.at[:, place].add(-part * jnp.round(eta[:, place] / part))


def partial_invariance(context: Context) -> Outcome:
    """Learn densities given fully and partially invariant prototypes of digits turned by anything."""
    fit = context.fit(mnist_rotated(180.0))
    images = fit.examples.test.images[:_EXAMPLES]
    rows, panels = [], []
    for folds in _FOLDS:
        inference = Folded(fit.model.parts_.inference, folds)
        density = fit.model.parts_.density if folds == 1 else _learned(context, fit, inference)
        found = Densities(density, inference.group, _prototypes(inference, images))
        drawn = np.degrees(np.asarray(found.sample(jax.random.key(context.seed), _DRAWS), np.float64))[..., 0]
        rows.append(_row(folds, drawn))
        marginal = found.marginal("rotation")
        title = "one prototype: full" if folds == 1 else f"{folds} prototypes: partial"
        learned = Curve("learned", marginal.values, marginal.density[0])
        true = Curve("true", marginal.values, np.full(len(marginal.values), 1 / 360))
        panels.append(Panel(title, "rotation, °", (learned, true), period=360.0))
    caption = (
        "The density of rotation of one digit, where all turns are natural. Only given a fully invariant prototype does"
        " it say so; where an orbit has several prototypes, each has but its share of the turns."
    )
    title = (
        "Digits turned by anything: rotations natural for a prototype, if prototypes are invariant in full or in part"
    )
    return Outcome(
        {"partial": Picture(draw_panels(panels, across=len(panels)), caption)},
        (Table(title, _COLUMNS, tuple(rows)),),
        (
            f"Partial invariance: {len(images)} held-out digits, {_DRAWS:,} draws of each. Several prototypes to an"
            " orbit are made by folding the rotations of one inference: a narrower box would leave ours equivariant.",
        ),
    )


def _learned(context: Context, fit: Fit, inference: Folded) -> Density:
    examined = examine(fit, inference, seed=context.seed)
    config = fit.model.parts_.density.config
    return other_density(context, fit, f"folded-{inference.folds}", config, examined)


def _prototypes(inference: Inference, images: np.ndarray) -> jax.Array:
    return jnp.asarray(in_batches(lambda x: prototypes(inference, to_unit(x))[1], images))


def _row(folds: int, drawn: np.ndarray) -> tuple[Cell, ...]:
    width = float(np.mean([spread(row, 360.0) for row in drawn]))
    ks = float(uniformity(drawn).mean())
    reached = np.mean([np.histogram(np.mod(row, 360.0), 36, (0, 360))[0] > 0 for row in drawn])
    goal = Measured(ks, at_most=_MOST_KS) if folds == 1 else ks
    return folds, width, 0.95 * 360, goal, 100 * (1 - float(reached))
