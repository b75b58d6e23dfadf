"""Fig. 17: sprites and where they are, resampled ones and where those are."""

import numpy as np
from matplotlib.axes import Axes

from liewise.datasets import SHAPES
from liewise.measure import resampled_factors
from liewise.report import mosaic
from liewise.report.plots import new_figure, quiet, show_image
from liewise.studies.context import Context, Fit
from liewise.studies.drawn import Drawn, draw_natural
from liewise.studies.outcome import Outcome, Picture, Table
from liewise.studies.settings import SETTINGS

__all__ = ["run"]

_SIDE = 5  # sprites in a row of a sheet, and rows
_DRAWS = 8  # for each held-out sprite
_Places = tuple[np.ndarray, np.ndarray]  # x and y
_CELLS = 32  # of a histogram, each way: the archive's positions


def run(context: Context) -> Outcome:
    """Draw a row for each shape."""
    fit = context.fit(SETTINGS["dsprites-affine"])
    drawn = draw_natural(fit, draws=_DRAWS, seed=context.seed)
    factors = resampled_factors(fit.model.group_, drawn.pose, drawn.eta, drawn.split)
    figure = new_figure(7.0, 1.85 * len(SHAPES))
    axes = figure.subplots(len(SHAPES), 4, squeeze=False)
    rows = []
    for label, (shape, row) in enumerate(zip(SHAPES, axes, strict=True)):
        mine = drawn.split.labels == label
        found = factors["x"][mine].ravel(), factors["y"][mine].ravel()
        true = drawn.split.factors["x"].values[mine], drawn.split.factors["y"].values[mine]
        _draw_row(row, fit, drawn, mine, found, true, seed=context.seed)
        row[0].set_title(f"{shape}: test", fontsize=8)
        rows.append((shape, int(mine.sum()), *_reach(true), *_reach(found)))
    caption = (
        "For each shape: held-out sprites, their positions, resampled versions of the same sprites, and the positions"
        " of those. The last two should be like the first two."
    )
    columns = ("shape", "sprites", "true x", "true y", "resampled x", "resampled y")
    table = Table("Positions, px from the middle: where 95 % of them lie", columns, tuple(rows))
    notes = (f"{len(drawn.split):,} held-out sprites, {_DRAWS} versions of each.",)
    return Outcome({"positions": Picture(figure, caption)}, (table,), notes)


def _draw_row(
    row: np.ndarray, fit: Fit, drawn: Drawn, mine: np.ndarray, found: _Places, true: _Places, *, seed: int
) -> None:
    shown = drawn.split.images[mine][: _SIDE**2]
    versions = fit.model.resample(shown, 1, seed=seed)[:, 0]
    reach = drawn.split.image_shape[0] / 2
    for axis, images in ((row[0], shown), (row[2], versions)):
        show_image(axis, mosaic(_squared(images)))
    for axis, places, title in ((row[1], true, "positions"), (row[3], found, "positions of these")):
        _draw_places(axis, places, reach)
        axis.set_title(title, fontsize=8)
    row[2].set_title("resampled", fontsize=8)


def _draw_places(axis: Axes, places: _Places, reach: float) -> None:
    edges = np.linspace(-reach, reach, _CELLS + 1)
    counts, _, _ = np.histogram2d(*places, edges)
    axis.imshow(counts.T, extent=(-reach, reach, reach, -reach), cmap="Blues", interpolation="nearest")
    quiet(axis, x="x, px", y="y, px")


def _squared(images: np.ndarray) -> np.ndarray:
    """Lay images out in rows; what does not fill the sheet is left white."""
    blank = np.full((_SIDE**2 - len(images), *images.shape[1:]), images.dtype.type(255))
    return np.concatenate([images, blank]).reshape(_SIDE, _SIDE, *images.shape[1:])


def _reach(places: _Places) -> list[str]:
    return [" to ".join(f"{end:.1f}" for end in np.quantile(values, (0.025, 0.975))) for values in places]
