"""The commands that apply a model to rows: score, sample."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from latree._util.words import plural, quoted
from latree.cli import common
from latree.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from latree.table import Block, Column


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("data", type=common.file)
@common.new_output("New .csv, .tsv or .txt file with the log-likelihood of each row.", endings=common.TABLE_ENDINGS)
@common.identifier
@common.weights
@common.data_format
@common.unseen
@common.quiet
@common.as_json
def score(
    model: Path,
    data: Path,
    out: Path | None,
    identifier: str | None,
    weights: str | None,
    format: str | None,
    unseen: Any,
    quiet: bool,
    as_json: bool,
) -> None:
    """Print the log-likelihood of rows.

    MODEL is a model.json or the folder of a fit, DATA a table with the columns of the model; other columns are ignored.
    Missing cells are summed out. The result is in nats: the sum over all rows, and its mean per row and per cell that
    is not missing. Rows count by their weights, if they have some. With --out, there is also one line for each row,
    with its name: the lower, the more unusual is it.

    Example: latree score run/model.json new.csv
    """
    import numpy as np

    from latree._util.files import to_json
    from latree._util.terminal import progress_bars
    from latree.table import as_table

    loaded = common.load_model(model)
    with progress_bars(not quiet) as stages:
        identifier = common.identifier_in(data, loaded, identifier, format)
        weighting = common.weights_in(data, loaded, weights, format)
        table = as_table(
            data,
            columns=loaded.columns,
            identifier=identifier,
            format=format,
            unseen=unseen,
            progress=stages("Reading the table"),
            **weighting,
        )
        if table.n_rows == 0:
            raise InputError(f"{data}: no rows, only column names")
        total = loaded.log_likelihood(table.with_progress(stages("Scoring the rows")))
        if out is not None:
            names = table.names_of_rows(np.arange(table.n_rows))
            scores = loaded.log_likelihood_rows(table).tolist()
            with common.rows_output(out) as write:
                write([[identifier or "row", "log-likelihood"]])
                write([name, f"{score:.4f}"] for name, score in zip(names, scores, strict=True))
    mean = total / table.total_weight
    if as_json:
        # JSON has no infinity: null means that some row is impossible under the model.
        log_likelihood, mean_log_likelihood = (x if math.isfinite(x) else None for x in (total, mean))
        facts = {"log_likelihood": log_likelihood, "mean_log_likelihood": mean_log_likelihood}
        weighting = {"weights": weighting["weights"], "effective_rows": table.total_weight}
        click.echo(to_json({"rows": table.n_rows, **weighting, **facts}), nl=False)
    elif not quiet:
        weighted = ""
        if weighting["weights"]:
            weighted = f", which count as {table.total_weight:.1f} by the weights of {quoted(weighting['weights'])}"
        click.echo(f"rows                 {table.n_rows}{weighted}")
        click.echo(f"log-likelihood       {total:.4f} nats")
        click.echo(f"mean per row         {mean:.6f} nats")
        n_present = float(np.asarray(table.sum(_present_cells)))
        if n_present:
            click.echo(f"mean per cell        {total / n_present:.6f} nats (without missing cells)")
        if out is not None:
            click.echo(f"Written to {out}: {plural(table.n_rows, 'row')}")


@click.command()
@click.argument("model", type=common.model_file)
@click.option("--rows", type=common.Whole(1, 10**9), default=10, show_default=True, help="Number of rows to draw.")
@common.out_file
@common.seed
def sample(model: Path, rows: int, out: Path | None, seed: int) -> None:
    """Draw new rows from a model, as CSV.

    MODEL is a model.json or the folder of a fit. A numeric column that was binned gets the median of the drawn bin.

    Example: latree sample run/model.json --rows 1000 --out new.csv
    """
    from latree._util.terminal import progress_bars

    loaded = common.load_model(model)
    with progress_bars(True) as stages:
        drawn = loaded.sample(rows, seed, stages("Drawing rows"))
        writing = stages("Writing rows")
        codes = drawn.codes()
        cells = []
        for done, column in enumerate(loaded.columns):
            writing(done, len(loaded.columns))
            labels = _labels(column)
            cells.append([labels[code] for code in codes[:, done].tolist()])
        with common.rows_output(out) as write:
            write([drawn.names, *zip(*cells, strict=True)])
    if out is not None:
        click.echo(f"Written to {out}: {plural(rows, 'row')}")


def _present_cells(block: "Block") -> "NDArray[Any]":
    """Return the number of cells that are not missing, times the weights of their rows."""
    import numpy as np

    from latree.table.chunks import missing_code

    present = (block.codes != missing_code(block.codes)).sum(axis=1)
    return np.asarray(present.sum() if block.weights is None else present @ block.weights)


def _labels(column: "Column") -> list[str]:
    """Return the text of each state of a column in a file."""
    from latree.table.raw import label_of

    return [label_of(column.decode(code)) for code in range(column.n_states)]
