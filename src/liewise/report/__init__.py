"""Pictures and pages made from numbers."""

from liewise.report.bands import Band, Block, draw_bands, mosaic
from liewise.report.checked import check_table
from liewise.report.compared import Compared, draw_compared
from liewise.report.curves import Curve, Panel, draw_curves, draw_panels
from liewise.report.machine import Machine
from liewise.report.marginals import draw_marginals
from liewise.report.page import write_report
from liewise.report.picture import write_png
from liewise.report.resampled import resampled_sheet
from liewise.report.sheet import contact_sheet

__all__ = [
    "Band",
    "Block",
    "Compared",
    "Curve",
    "Machine",
    "Panel",
    "check_table",
    "contact_sheet",
    "draw_bands",
    "draw_compared",
    "draw_curves",
    "draw_marginals",
    "draw_panels",
    "mosaic",
    "resampled_sheet",
    "write_png",
    "write_report",
]
