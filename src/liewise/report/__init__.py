"""Pictures and pages made from numbers."""

from liewise.report.bands import Band, Block, draw_bands, mosaic
from liewise.report.checked import check_table
from liewise.report.machine import Machine
from liewise.report.picture import write_png
from liewise.report.resampled import resampled_sheet
from liewise.report.sheet import contact_sheet

__all__ = [
    "Band",
    "Block",
    "Machine",
    "check_table",
    "contact_sheet",
    "draw_bands",
    "mosaic",
    "resampled_sheet",
    "write_png",
]
