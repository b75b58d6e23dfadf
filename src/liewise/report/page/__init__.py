"""The report: one HTML file about a run, which needs nothing else."""

from liewise.report.page.writing import write_report

__all__ = ["write_report"]
