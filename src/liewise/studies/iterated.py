"""Fig. 11: the prototype of a prototype, and so on; a perfect inference would find nothing to do after the first."""

import jax
import numpy as np

from liewise.measure import invariance
from liewise.report import Band, Block, Curve, draw_bands, draw_curves
from liewise.studies.context import Context, Fit
from liewise.studies.examples import pick
from liewise.studies.outcome import Measured, Outcome, Picture, Table
from liewise.studies.settings import SETTINGS

__all__ = ["chains", "run"]

_EXAMPLES, _COPIES = 1000, 2  # held out; the copies are not needed here
_ITERATIONS, _SHOWN = 6, 10
_MOST_MOVED = 1.0  # % of the range; the paper's is about 5


def run(context: Context) -> Outcome:
    """Follow digits over some iterations."""
    fit = context.fit(SETTINGS["mnist-affine"])
    inference = fit.model.parts_.inference
    held_out = fit.examples.test.images[:_EXAMPLES]
    key = jax.random.key(context.seed)
    found = invariance(inference, inference.group, held_out, key=key, copies=_COPIES, iterations=_ITERATIONS)
    movement = {name: 100 * values for name, values in found.movement.items()}
    curves = [Curve(name, np.arange(_ITERATIONS), values) for name, values in movement.items()]
    figure = draw_curves(curves, x="iteration", y="mean |η|, % of the range", level=_MOST_MOVED, log=True)
    return Outcome(
        {
            "chains": Picture(
                draw_bands([_block(fit)]),
                "Test examples above; below each its prototype, the prototype of that, and so on.",
            ),
            "movement": Picture(
                figure,
                "How far the pose is from none, on average: of the example (0), of its prototype (1), of the prototype"
                " of that (2), … The dashed line is 1 % of the range, where the paper's network stays at about 5 %.",
            ),
        },
        (_table(movement),),
        (
            f"{len(held_out):,} held-out examples; the range is the width of the random box.",
            "The paper counts in parts of what is found for the example itself; that is the last column.",
        ),
    )


def chains(fit: Fit, images: np.ndarray, count: int) -> np.ndarray:
    """Return images in [0, 1] and their prototypes, over and over, [count + 1, n, height, width, channels]."""
    chain = [images.astype(np.float32) / 255 if images.dtype == np.uint8 else images]
    for _ in range(count):
        chain.append(fit.model.prototype(chain[-1]))
    return np.stack(chain)


def _block(fit: Fit) -> Block:
    chain = chains(fit, pick(fit.examples.test, _SHOWN).images, _ITERATIONS - 1)
    return Block(fit.setting.title, (Band("test", chain[:1]), Band("prototypes", chain[1:])))


def _table(movement: dict[str, np.ndarray]) -> Table:
    rows = []
    for name, values in movement.items():
        worst = float(values[1:].max())
        goal = Measured(worst, at_most=_MOST_MOVED)
        rows.append((name, *(float(value) for value in values), goal, 100 * float(values[-1] / values[0])))
    steps = tuple(str(i) for i in range(_ITERATIONS))
    columns = ("coordinate", *steps, "most, after the first", "last, % of the first")
    return Table("Mean |η| at each iteration, % of the range", columns, tuple(rows))
