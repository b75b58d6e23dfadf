"""Pictures and pages made from numbers."""

from liewise.report.bands import Band, Block, draw_bands, mosaic
from liewise.report.compared import Compared, draw_compared
from liewise.report.curves import Curve, Panel, draw_curves, draw_panels
from liewise.report.found import found_table
from liewise.report.machine import Machine
from liewise.report.marginals import draw_marginals
from liewise.report.picture import write_png
from liewise.report.resampled import resampled_sheet
from liewise.report.sheet import contact_sheet
from liewise.report.wording import axis_words, describe_value

__all__ = [
    "Band",
    "Block",
    "Compared",
    "Curve",
    "Machine",
    "Panel",
    "axis_words",
    "contact_sheet",
    "describe_value",
    "draw_bands",
    "draw_compared",
    "draw_curves",
    "draw_marginals",
    "draw_panels",
    "found_table",
    "mosaic",
    "resampled_sheet",
    "write_png",
]
