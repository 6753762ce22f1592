"""Commands about questionnaires: ask, short, items."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from latree.cli import common
from latree.errors import InputError


@click.command()
@click.argument("model", type=common.model_file)
@common.new_output("New .html file.", required=True, endings=(".html", ".htm"))
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME",
    help="A group whose score matters; may be given several times. By default all.",
)
@click.option("--items", type=common.Whole(min=1), help="Stop after this number of answers.")
@click.option(
    "--reliability",
    type=common.Number(0, 1, min_open=True, max_open=True),
    help="Ask no more about a group whose score has this reliability, such as 0.8: the share of its variance that the "
    "answers explain.",
)
@click.option("--title", help="Heading of the page.  [default: Questions]")
def ask(
    model: Path, out: Path, groups: tuple[str, ...], items: int | None, reliability: float | None, title: str | None
) -> None:
    """Write a page that asks the right next question.

    MODEL is a model.json or the folder of a fit. The page is one HTML file that works offline, also on a phone. Each
    question is the column whose answer is expected to lower the variance of the scores most, given the answers so far.
    It shows the score of each group with its standard error, and saves the answers as CSV, which `latree transform`
    reads. Answers stay in the page: nothing is sent or stored.

    Questions are the descriptions of columns, such as the labels of variables of SPSS, or else their names.

    Example: latree ask run --items 10 --out ask.html
    """
    from latree._util.files import staged, write_text
    from latree.report.ask import DEFAULT_TITLE, ask_html

    loaded = common.load_model(model)
    try:
        page = ask_html(
            loaded, groups=groups or None, items=items, reliability=reliability, title=title or DEFAULT_TITLE
        )
    except InputError as error:
        raise InputError(f"{model}: {error}") from None
    with staged(out, common.may_replace()) as path:
        write_text(path, page)
    click.echo(f"Written to {out}")


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("data", type=common.data_file)
@click.option(
    "--items",
    type=common.Whole(min=1),
    help="The number of columns; by default the smallest with which every score shares 90 % of its variance with the "
    "score from all columns.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMNS",
    help="Columns that must stay, separated by commas; a name with a comma in double quotes. Repeatable.",
)
@click.option("--drop", multiple=True, metavar="COLUMNS", help="Columns that must go, like --keep.")
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME",
    help="A group whose score matters; may be given several times. By default all.",
)
@common.new_output("New .csv, .tsv or .txt file with one line per length and group.", endings=common.TABLE_ENDINGS)
@common.weights
@common.new_rows
@common.quiet
@common.as_json
def short(
    model: Path,
    data: Path,
    items: int | None,
    keep: Sequence[str],
    drop: Sequence[str],
    groups: Sequence[str],
    out: Path | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Choose the columns of a shorter questionnaire.

    MODEL is a model.json or the folder of a fit, DATA a table with its columns, such as that of the fit. Columns are
    chosen such that the scores of `latree transform` from these columns are as near as possible to those from all. For
    each group of columns are printed:

    - the correlation of the short score with the full score, in the same answers. As one is a part of the other, it is
    higher than if both forms were answered separately: this is in the column "apart";

    - the reliability of both scores, and the share of rows that have the same state.

    The same, as a mean over the groups, is printed for other lengths. All of this is measured on rows that had no part
    in choosing the columns.

    Example: latree short run data.csv --items 10
    """
    from latree._util.progress import progress_bars, stage
    from latree.cli.reading import split
    from latree.facts.short import short_facts, short_lines, short_table

    loaded = common.load_model(model)
    known = loaded.tree.names
    lists = {
        name: [column for text in texts for column in split(text, known)]
        for name, texts in (("keep", keep), ("drop", drop))
    }
    with progress_bars(not quiet):
        with stage("Reading the table"):
            table, _ = common.read_rows(data, loaded, **options)
        with stage("Choosing columns"):
            facts = short_facts(loaded, table, items, **lists, groups=groups or None)
    common.tell(facts, short_lines(facts), short_table(facts), out, as_json, quiet)


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("data", type=common.data_file)
@common.new_output("New .csv, .tsv or .txt file with one line per column.", endings=common.TABLE_ENDINGS)
@common.weights
@common.new_rows
@common.quiet
@common.as_json
def items(model: Path, data: Path, out: Path | None, quiet: bool, as_json: bool, **options: Any) -> None:
    """Say of each column what it adds to the score of its group.

    MODEL is a model.json or the folder of a fit, DATA a table with its columns, such as that of the fit. For each
    column are printed its loading, its correlation with the sum of the other columns of its group, Cronbach's alpha and
    the reliability of the score without it, the shares of missing cells and of answers at the lowest and the highest
    value, how often it comes again in its group in parts of the rows, and a verdict:

    - belongs to G: in at least half of the searches on parts of the rows it is found there, or, in a fit with --groups,
    it fits G better;

    - fits no group clearly: it is found in no group in half of them;

    - says little: it is in no group, or its correlation with the sum of the others is below 0.3;

    - redundant with X: both say the same thing beyond their group, and X has the stronger loading;

    - keep: none of these; "keep, reversed" if it falls when its group rises: reverse it before you add up answers.

    If more than 80 % give the lowest answer, or the highest, or if alpha rises without the item, that is said, too.

    Example: latree items run data.csv --out items.csv
    """
    from latree._util.progress import progress_bars, stage
    from latree.facts.items import item_facts, item_lines, item_table

    loaded = common.load_model(model)
    with progress_bars(not quiet):
        with stage("Reading the table"):
            table, _ = common.read_rows(data, loaded, **options)
        with stage("Looking at the columns"):
            facts = item_facts(loaded, table)
    common.tell(facts, item_lines(facts), item_table(facts), out, as_json, quiet)
