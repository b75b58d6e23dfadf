"""Fig. 8: test examples, their prototypes, and natural versions of them."""

import numpy as np

from liewise.datasets import Split
from liewise.report import Band, Block, draw_bands
from liewise.studies.context import Context, Fit
from liewise.studies.outcome import Outcome, Picture, Table
from liewise.studies.settings import SETTINGS

__all__ = ["examples_block", "pick", "run"]

_ROWS, _COLUMNS, _SHOWN = ("mnist-affine", "mnist-colour", "dsprites-affine"), 10, 4


def run(context: Context) -> Outcome:
    """Fit the three settings of the figure and draw them side by side."""
    fits = [context.fit(SETTINGS[name]) for name in _ROWS]
    figure = draw_bands([examples_block(fit, seed=context.seed) for fit in fits])
    caption = (
        "Test examples; their prototypes, which should be alike for examples that differ by a transformation alone;"
        " and versions drawn by the model, one below each example, which should look like test examples."
    )
    rows = [(fit.setting.title, float(np.mean(fit.model.log_prob(_some(fit).images))), fit.seconds) for fit in fits]
    table = Table(
        "The models of the figure", ("setting", "log p(η|x̂) of test examples, nats", "fitted in s"), tuple(rows)
    )
    return Outcome({"examples": Picture(figure, caption)}, (table,))


def examples_block(fit: Fit, *, seed: int, columns: int = _COLUMNS) -> Block:
    """Draw two rows of test examples, their prototypes, and as many rows of resampled ones as are shown."""
    shown = pick(fit.examples.test, columns).images
    made = fit.model.resample(shown, _SHOWN, seed=seed)
    return Block(
        fit.setting.title,
        (
            Band("test", shown[None]),
            Band("prototypes", fit.model.prototype(shown)[None]),
            Band("resampled", np.swapaxes(made, 0, 1)),
        ),
    )


def pick(split: Split, count: int, labels: tuple[int, ...] = ()) -> Split:
    """Return the first examples of each class, in the order of the classes; the first ones where there are no labels.

    Args:
        split: to choose from.
        count: of examples, shared out over the classes.
        labels: of the classes; all if not given.
    """
    if split.labels is None:
        return split[:count]
    wanted = labels or tuple(np.unique(split.labels).tolist())
    each = -(-count // len(wanted))
    shares = [
        np.flatnonzero(split.labels == label)[: min(each, count - place * each)]
        for place, label in enumerate(wanted)
        if place * each < count
    ]
    return split[np.concatenate(shares)]


def _some(fit: Fit) -> Split:
    return fit.examples.test[: min(1000, len(fit.examples.test))]
