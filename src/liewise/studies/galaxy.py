"""Affine maps and colours at once, on photographs: GalaxyMNIST, or images of one's own."""

from liewise.report import draw_bands
from liewise.studies.context import Context, Fit
from liewise.studies.examples import examples_block, pick
from liewise.studies.invariance import COLUMNS, measured, row
from liewise.studies.marginals import marginals_picture
from liewise.studies.outcome import Outcome, Picture, Table
from liewise.studies.settings import galaxy

__all__ = ["run"]

_SHOWN = 6


def run(context: Context) -> Outcome:
    """Fit the product group to the images, and show what was found."""
    setting = galaxy(context.data)
    fit = context.fit(setting)
    found = measured(fit.model.parts_.inference, fit.examples, seed=context.seed)
    line = row(setting.title, found, setting, fit.examples, fit.model.seconds_["inference"])
    density = marginals_picture(fit, pick(fit.examples.test, _SHOWN))
    examples = Picture(
        draw_bands([examples_block(fit, seed=context.seed)]),
        "Held-out images; their prototypes; and versions drawn by the model, one below each image.",
    )
    return Outcome(
        {"examples": examples, "marginals": density},
        (Table("Prototypes of transformed copies", COLUMNS, (line,)),),
        (f"{len(found):,} held-out images, 16 copies of each; {_about(fit)}.",),
    )


def _about(fit: Fit) -> str:
    height, width, channels = fit.examples.train.image_shape
    return f"learned from {len(fit.examples.train):,} images of {height}x{width} pixels, {channels} channels"
