"""Commands about questionnaires: ask."""

from pathlib import Path

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
