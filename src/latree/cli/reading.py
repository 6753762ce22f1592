"""The options that say how commands read tables, and ``latree check``."""

import csv
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from latree.cli import common
from latree.errors import InputError

if TYPE_CHECKING:
    from latree.table import Table

_OPTIONS = (
    click.option(
        "--bins",
        type=common.Whole(0, 64),
        default=None,
        help="Bins of every number, date and time, with equally many rows; by default the rows choose them for each "
        "column. 0 for none.",
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="TEXTS",
        help="Texts or numbers that mark missing cells, separated by commas; they replace NA, N/A, NaN and null.",
    ),
    click.option(
        "--missing-also",
        multiple=True,
        metavar="TEXTS",
        help="More texts or numbers that mark missing cells, beside NA and the others: --missing-also -99,?",
    ),
    click.option(
        "--drop",
        multiple=True,
        metavar="COLUMNS",
        help="Columns to leave out, separated by commas; a name with a comma in double quotes. Repeatable.",
    ),
    click.option("--keep", multiple=True, metavar="COLUMNS", help="The only columns to learn from, like --drop."),
    click.option(
        "--id",
        "identifier",
        metavar="COLUMN",
        help="A column that names the rows: not learned from, but shown in the report and by transform and score.",
    ),
    click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="COLUMN=KIND",
        help="What a column is taken for: number, with bins; ordered, whole numbers as categories in their order; "
        "category, names without an order; or all its values from low to high, as size=S,M,L. Repeatable.",
    ),
    click.option("--weights", metavar="COLUMN", help="The column with the weights of the rows."),
    click.option(
        "--weights-are",
        type=common.Choice(["survey", "counts"]),
        help="What the weights are: survey (the default), a weight says how many people a row stands for, and weights "
        "are scaled to the effective number of rows; or counts, a row of weight 2 counts as two rows.",
    ),
    common.data_format,
    common.names,
    click.option(
        "--counts",
        is_flag=True,
        help="Use the numbers of a sparse matrix; by default only whether they are zero.",
    ),
    click.option("--strict", is_flag=True, help="Refuse columns that say nothing, which are left out otherwise."),
)


def options(command: Any) -> Any:
    """Add the options to a command; it passes their values to :func:`arguments`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def arguments(data: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Take the options out of the values of a command, and return them as arguments of ``as_table``."""
    from dataclasses import fields

    from latree._util.files import read_text
    from latree.table.opening import find_files, open_source
    from latree.table.reading import Reading

    names, weights = values.pop("names"), values.pop("weights")
    taken = {field.name: values.pop(field.name) for field in fields(Reading)}
    if taken["weights_are"] is not None and weights is None:
        raise InputError("--weights-are says what weights are: name their column, too, with --weights")
    taken["weights_are"] = taken["weights_are"] or ("survey" if weights else None)
    if names is not None:
        names = read_text(names).splitlines()
    elif find_files(data, taken["format"])[0].takes_names:
        names = open_source(data, None, format=taken["format"]).names
    lists = {key: taken.pop(key) for key in ("missing", "missing_also", "drop", "keep", "kinds")}
    by_name = any(lists[key] for key in ("drop", "keep", "kinds"))
    known = open_source(data, names, format=taken["format"]).names if by_name else ()
    for key, texts in lists.items():
        if texts and key == "kinds":
            taken[key] = dict(_kind(one, known) for one in texts)
        elif texts:
            taken[key] = [cell for one in texts for cell in split(one, known if key in ("drop", "keep") else ())]
    return {"reading": Reading(**taken), "names": names, "weights": weights}


def split(text: str, known: Iterable[str] = ()) -> list[str]:
    """Return the names in a list that is separated by commas; a text that is a known name is that one."""
    if text in known or not text:
        return [text]
    return [cell.strip() for cell in next(csv.reader([text], skipinitialspace=True))]


def _kind(text: str, known: Sequence[str]) -> tuple[str, str | list[str]]:
    """Return the column and its kind, or its values, of an option like ``age=number`` or ``size=small,large``."""
    # The name of a column may have an equals sign: take the longest name that fits.
    names = [name for name in known if text.startswith(f"{name}=")]
    name, equals, values = (
        (max(names, key=len), "=", text[len(max(names, key=len)) + 1 :]) if names else text.partition("=")
    )
    if not equals or not values:
        raise InputError(
            f"--kind {text!r:.60}: give a column and its kind, as age=number, or its values, as size=S,M,L"
        )
    found = split(values)
    return name, found if len(found) > 1 else found[0]


def tell_oddities(table: "Table", refused: Collection[str]) -> None:
    """Say what is odd about the columns of a table before anything is learned from it, but for those to be refused."""
    from latree.table.findings import ABOUT_TABLE, sentences

    # How the file was read is told already, and what the rows are too few for is told with the result.
    odd = [one for one in table.oddities if one.column not in refused and one.kind not in ABOUT_TABLE]
    for sentence in sentences(odd):
        click.echo(f"note: {sentence}", err=True)


@click.command()
@click.argument("data", type=common.file)
@options
@common.as_json
def check(data: Path, as_json: bool, **options: Any) -> None:
    """Say what is in a table, before a fit.

    DATA is a table as for `latree fit`. For each column: what it is taken for, its number of states, their order, and
    how many cells are missing. Then what a fit would leave out or refuse, and why; identifiers, dates, running numbers,
    duplicates of other columns, numbers such as -99 that may mean missing, and rows like their neighbours. Nothing is
    learned or written.

    Example: latree check data.csv
    """
    from latree._util.files import to_json
    from latree._util.progress import progress_bars, stage
    from latree.table import check as check_table
    from latree.table.formats.text import SEPARATORS
    from latree.table.opening import find_files

    how = arguments(data, options)
    with progress_bars(not as_json), stage("Reading the table"):
        found = check_table(data, **how)
    if not found.n_rows:
        raise InputError(f"{data}: no rows, only column names: add rows")
    can_fit = found.n_remaining >= common.MIN_COLUMNS
    command = common.command_line(str(data), name="fit", more=found.advice) if can_fit else None
    if as_json:
        click.echo(to_json({**found.to_dict(), "command": command}), nl=False)
        return
    click.echo(f"{found}\n")
    if can_fit:
        click.echo(f"To fit a model{', with what helps' if found.advice else ''}:\n  {command}")
        return
    if len(found.columns) == 1 and find_files(data, how["reading"].format)[0].name == "csv":
        click.echo(f"Only one column was found: {SEPARATORS}.")
    remaining = found.n_remaining or "none"
    click.echo(f"A fit needs at least {common.MIN_COLUMNS} columns to learn from, and {remaining} would remain.")
