"""The command that writes reports."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from latree.cli import common
from latree.errors import InputError

if TYPE_CHECKING:
    from latree._util.progress import Progress
    from latree.model import LatentTreeModel
    from latree.table import Table


@click.command()
@click.argument("model", type=common.file)
@click.argument("data", type=common.file, required=False)
@click.option(
    "--out", type=common.file, callback=common.refuse_existing_out, required=True, help="New file, such as report.html."
)
@click.option(
    "--labels",
    type=common.file,
    help="CSV file with headings whose first two columns are a column's name and its label, for colours.",
)
@click.option("--test", type=common.file, help="Other rows, which the model is scored on.")
@click.option(
    "--rows",
    type=click.IntRange(0, 1000),
    default=0,
    show_default=True,
    help="How many rows of DATA to look at closely.",
)
@click.option("--weights", metavar="COLUMN", help="The column that holds the rows' weights; as in the fit by default.")
@common.unseen
def report(model: Path, data: Path | None, out: Path, **options: Any) -> None:
    """Write the report of a model: one HTML file that opens offline.

    MODEL is a model.json, DATA the table that it was fitted to. With DATA the report has the columns' own
    distributions and a comparison with simpler models; without, what the model knows.
    """
    from latree.cli.terminal import progress_bars
    from latree.report import report_html, write_report
    from latree.table import read_labels

    if data is None and (needy := [name for name in ("test", "rows", "weights") if options[name]]):
        raise InputError(f"--{needy[0]} needs the data that the model was fitted to, as the second argument")
    loaded = common.load_model(model)
    weights = options["weights"] or (loaded.record.weights if loaded.record else None)
    labels = read_labels(options["labels"], loaded.tree.names) if options["labels"] else None
    with progress_bars(True) as stages:
        reading = stages("Reading the table")
        table = _rows_of(loaded, data, options["unseen"], weights, reading)
        test = _rows_of(loaded, options["test"], options["unseen"], None, reading)
        writing = stages("Writing the report", at_most=True)
        html = report_html(loaded, table, test=test, labels=labels, rows=options["rows"], progress=writing)
    write_report(out, html)


def _rows_of(
    model: "LatentTreeModel", data: Path | None, unseen: Any, weights: str | None, progress: "Progress"
) -> "Table | None":
    """Read rows of a model's columns; none for no file."""
    from latree.table import as_table

    if data is None:
        return None
    table = as_table(data, columns=model.columns, unseen=unseen, weights=weights, progress=progress)
    if table.n_rows == 0:
        raise InputError(f"{data}: no rows, only column names")
    return table
