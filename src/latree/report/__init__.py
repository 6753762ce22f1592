"""The report: one HTML file about a model, for people who do not read code."""

from latree.report.render import report_html, write_report

__all__ = ["report_html", "write_report"]
