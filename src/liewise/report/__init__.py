"""Pictures and pages made from numbers."""

from liewise.report.found import found_table
from liewise.report.resampled import resampled_sheet
from liewise.report.sheet import contact_sheet
from liewise.report.wording import describe_value

__all__ = ["contact_sheet", "describe_value", "found_table", "resampled_sheet"]
