"""Commands that use a model: ``score``, ``sample`` and ``impute`` rows."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from latree.cli import common
from latree.errors import InputError

if TYPE_CHECKING:
    from latree.table import Column


@click.command()
@click.argument("model", type=common.file)
@click.argument("data", type=common.file)
@common.unseen
@common.quiet
@common.as_json
def score(model: Path, data: Path, unseen: Any, quiet: bool, as_json: bool) -> None:
    """Print the log-likelihood of new rows.

    MODEL is a model.json, DATA a table with the model's columns (others are passed over). Missing cells are summed out.
    """
    from latree._util.files import to_json
    from latree.cli.terminal import progress_bars

    loaded = common.load_model(model)
    with progress_bars(not quiet) as stages:
        table = loaded.encode(data, unseen=unseen, progress=stages("Reading the table"))
        if table.n_rows == 0:
            raise InputError(f"{data}: no rows, only column names")
        total = loaded.log_likelihood(table.with_progress(stages("Scoring the rows")))
    mean = total / table.n_rows
    if as_json:
        # JSON has no infinity: null stands for rows that the model holds for impossible.
        log_likelihood, mean_log_likelihood = (x if math.isfinite(x) else None for x in (total, mean))
        facts = {"log_likelihood": log_likelihood, "mean_log_likelihood": mean_log_likelihood}
        click.echo(to_json({"rows": table.n_rows, **facts}), nl=False)
    elif not quiet:
        click.echo(f"rows                 {table.n_rows}")
        click.echo(f"log-likelihood       {total:.4f} nats")
        click.echo(f"mean per row         {mean:.6f} nats")
        click.echo(f"mean per cell        {mean / table.n_columns:.6f} nats")


@click.command()
@click.argument("model", type=common.file)
@click.option("--rows", type=click.IntRange(1, 10**9), default=10, show_default=True, help="Number of rows to draw.")
@common.out_file
@common.seed
def sample(model: Path, rows: int, out: Path | None, seed: int) -> None:
    """Draw new rows from a model, as CSV.

    MODEL is a model.json. A column that was cut into bins gets the median of the bin.
    """
    from latree.cli.terminal import progress_bars

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
        _deliver(list(drawn.names), zip(*cells, strict=True), out)


@click.command()
@click.argument("model", type=common.file)
@click.argument("data", type=common.file)
@common.out_file
@common.unseen
def impute(model: Path, data: Path, out: Path | None, unseen: Any) -> None:
    """Fill missing cells with probable values.

    MODEL is a model.json. Each missing cell of DATA gets its most probable value given the row; all other cells, and
    columns that the model does not know, stay as they are. A column that was cut into bins gets the median of the bin.
    With `--unseen missing`, cells that the model never saw are filled, too.
    """
    from latree.cli.terminal import progress_bars
    from latree.table.textfile import is_text_file, read_cells

    if not is_text_file(data):
        raise InputError(f"{data}: only text files (.csv, .tsv, .txt, also with .gz) are filled")
    loaded = common.load_model(model)
    with progress_bars(True) as stages:
        table = loaded.encode(data, unseen=unseen, progress=stages("Reading the table"))
        header, cells = read_cells(data)
        missing = table.codes() < 0
        filled = loaded.complete(table.with_progress(stages("Filling cells"))).codes()
        writing = stages("Writing rows")
        for j, column in enumerate(loaded.columns):
            writing(j, len(loaded.columns))
            labels = _labels(column)
            position = header.index(column.name)
            for i in missing[:, j].nonzero()[0].tolist():
                cells[i][position] = labels[filled[i, j]]
        _deliver(header, cells, out)


def _labels(column: "Column") -> list[str]:
    """Give what stands in a file for each state of a column."""
    from latree.table.raw import label_of

    return [label_of(column.decode(code)) for code in range(column.n_states)]


def _deliver(header: list[str], rows: Iterable[Sequence[str]], out: Path | None) -> None:
    """Print a table, or write it to a new file."""
    from latree._util.files import refuse_existing, write_text
    from latree.table.textfile import write_cells

    if out is None:
        click.echo(write_cells(header, rows), nl=False)
        return
    if out.suffix == ".gz":
        raise InputError(f"{out}: output is written uncompressed; choose a name without .gz")
    refuse_existing(out)  # somebody may have put a file there while we worked
    write_text(out, write_cells(header, rows, "\t" if out.suffix == ".tsv" else ","))
