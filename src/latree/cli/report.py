"""The command that writes reports."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from latree.cli import common
from latree.errors import InputError

if TYPE_CHECKING:
    from latree.model import LatentTreeModel
    from latree.table import Table

# Rows of each kind that a report with data shows, unless the user asks for another number.
_ROWS = 5


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("data", type=common.file, required=False)
@common.new_output("New .html file.", required=True, endings=(".html", ".htm"))
@click.option(
    "--labels",
    type=common.file,
    help="CSV file with a header whose first two columns are the name of a column and its label, for colours; by "
    "default those of the fit.",
)
@click.option(
    "--test",
    type=common.file,
    help="File with other rows, on which the model is scored; they count by the weights of the fit, if it has that "
    "column.",
)
@click.option(
    "--rows",
    type=common.Whole(0, 1000),
    show_default=str(_ROWS),
    help="Number of rows of DATA to show: the most unusual ones, and as many others in words.",
)
@common.identifier
@common.weights
@common.data_format
@common.unseen
def report(model: Path, data: Path | None, out: Path, **options: Any) -> None:
    """Write the report of a model: one HTML file that opens offline.

    MODEL is a model.json or the folder of a fit, DATA the table that it was fitted to. With DATA, the report shows the
    distributions of the columns in the data, too. Without DATA, it shows what the model file contains.

    Example: latree report run/model.json data.csv --id person --out report.html
    """
    from latree._util.terminal import progress_bars
    from latree.report import report_html, write_report
    from latree.table import read_labels

    if data is None and (given := [name for name in ("test", "weights", "identifier", "rows") if options[name]]):
        option = given[0].replace("identifier", "id")
        raise InputError(f"--{option} needs the data of the fit as the second argument")
    loaded = common.load_model(model)
    weights = common.weights_in(data, loaded, options["weights"], options["format"])
    identifier = common.identifier_in(data, loaded, options["identifier"], options["format"])
    if options["labels"]:
        labels = read_labels(options["labels"], loaded.tree.names)
    else:
        labels = dict(loaded.record.labels) if loaded.record else {}
    with progress_bars(True) as stages:
        reading = stages("Reading the table")
        how = {key: options[key] for key in ("format", "unseen")} | {"progress": reading}
        table = _read_rows(loaded, data, identifier=identifier, **weights, **how)
        test_weights = common.weights_in(options["test"], loaded, None, options["format"])
        test = _read_rows(loaded, options["test"], **test_weights, **how)
        writing = stages("Writing the report", at_most=True)
        rows = _ROWS if options["rows"] is None else options["rows"]
        html = report_html(loaded, table, test=test, labels=labels or None, rows=rows, progress=writing)
    write_report(out, html)
    click.echo(f"Written to {out}")


def _read_rows(model: "LatentTreeModel", data: Path | None, **how: Any) -> "Table | None":
    """Read a table with the columns of a model; None without a file."""
    from latree.table import as_table

    if data is None:
        return None
    table = as_table(data, columns=model.columns, **how)
    if table.n_rows == 0:
        raise InputError(f"{data}: no rows, only column names")
    return table
