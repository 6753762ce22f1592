"""``latree compare-tables``."""

from pathlib import Path

import click

from latree.cli import common
from latree.cli.reading import split


@click.command()
@click.argument("real", type=common.file)
@click.argument("drawn", type=common.file)
@click.option(
    "--drop",
    multiple=True,
    metavar="COLUMNS",
    help="Columns to leave out, separated by commas, such as names of rows: they tell drawn rows from real ones.",
)
@click.option(
    "--missing-also",
    multiple=True,
    metavar="TEXTS",
    help="Texts or numbers that mark missing cells, beside NA, N/A, NaN and null.",
)
@common.new_output("New .html file for a page with all figures, which opens offline.", endings=(".html",))
@common.seed
@common.quiet
@common.as_json
def compare_tables(
    real: Path,
    drawn: Path,
    drop: tuple[str, ...],
    missing_also: tuple[str, ...],
    out: Path | None,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Compare drawn rows with real ones.

    REAL and DRAWN are tables with the same columns, such as the data of a fit and the rows of `latree sample`; those of
    any other tool will do. Columns that only one of them has are left out. Prints the area under the ROC curve (AUC) of
    a classifier that tells them apart, the distances of the columns' distributions, the pairs of columns whose
    association differs most, how many drawn rows are copies of real ones, and whether they come nearer to real rows
    than these come to each other. Beside them is how large the figures are by chance.

    Example: latree compare-tables data.csv drawn.csv --out quality.html
    """
    from latree._util.files import staged, to_json
    from latree._util.progress import progress_bars, stage
    from latree.quality.comparison import compare_tables as compare

    names = {"drop": drop, "missing_also": missing_also}
    reading = {key: [cell for text in texts for cell in split(text)] for key, texts in names.items()}
    with progress_bars(not (quiet or as_json)), stage("Comparing the tables"):
        found = compare(real, drawn, reading, random_state=seed)
    if out is not None:
        with staged(out, replace=common.may_replace()) as path:
            found.report(path)
    if as_json:
        click.echo(to_json(found.to_dict()), nl=False)
    elif not quiet:
        click.echo(found)
        if out is not None:
            click.echo(f"\nWritten to {out}")
