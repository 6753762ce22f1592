"""The report: one HTML file about a model, for people who do not read code."""

from collections.abc import Mapping
from pathlib import Path

from latree._util.files import refuse_existing, write_text
from latree._util.progress import Progress, no_progress
from latree.model import LatentTreeModel
from latree.report.facts import report_facts
from latree.report.render import render
from latree.table import Table

__all__ = ["report_facts", "report_html", "write_report"]


def report_html(
    model: LatentTreeModel,
    table: Table | None = None,
    *,
    test: Table | None = None,
    labels: Mapping[str, str] | None = None,
    rows: int = 0,
    progress: Progress = no_progress,
) -> str:
    """Give the report of a model as HTML; the parameters are those of :func:`latree.report.facts.report_facts`."""
    return render(report_facts(model, table, test=test, labels=labels, rows=rows, progress=progress))


def write_report(path: Path, html: str) -> None:
    """Write a report to a new file, whole or not at all."""
    refuse_existing(path)
    write_text(path, html)
