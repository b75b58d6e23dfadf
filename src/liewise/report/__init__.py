"""Pictures and pages made from numbers."""

from liewise.report.bands import Band, Block, draw_bands, mosaic
from liewise.report.found import found_table
from liewise.report.machine import Machine
from liewise.report.page import write_report
from liewise.report.picture import write_png
from liewise.report.resampled import resampled_sheet
from liewise.report.sheet import contact_sheet
from liewise.report.wording import describe_value

__all__ = [
    "Band",
    "Block",
    "Machine",
    "contact_sheet",
    "describe_value",
    "draw_bands",
    "found_table",
    "mosaic",
    "resampled_sheet",
    "write_png",
    "write_report",
]
