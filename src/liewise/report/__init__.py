"""Pictures and pages made from numbers."""

from liewise.report.sheet import contact_sheet
from liewise.report.wording import describe_value

__all__ = ["contact_sheet", "describe_value"]
