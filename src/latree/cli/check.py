"""The command that says what is in a table, before a fit."""

from pathlib import Path
from typing import Any

import click

from latree.cli import common, reading
from latree.errors import InputError


@click.command()
@click.argument("data", type=common.file)
@reading.options
@common.as_json
def check(data: Path, as_json: bool, **options: Any) -> None:
    """Say what is in a table, before a fit.

    DATA is a table as for `latree fit`. For each column: what it is taken for, its number of states, their order, and
    how many cells are missing. Then what a fit would leave out or refuse, and why; identifiers, dates, running numbers,
    duplicates of other columns, and numbers such as -99 that may mean missing. Nothing is learned or written.

    Example: latree check data.csv
    """
    from latree._util.files import to_json
    from latree._util.terminal import progress_bars
    from latree.table import check as check_table
    from latree.table.formats import find_files
    from latree.table.textfile import SEPARATORS

    arguments = reading.arguments(data, options)
    arguments.pop("strict")
    with progress_bars(not as_json) as stages:
        found = check_table(data, progress=stages("Reading the table"), **arguments)
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
    if len(found.columns) == 1 and find_files(data, arguments["format"])[0].name == "csv":
        click.echo(f"Only one column was found: {SEPARATORS}.")
    remaining = found.n_remaining or "none"
    click.echo(f"A fit needs at least {common.MIN_COLUMNS} columns to learn from, and {remaining} would remain.")
