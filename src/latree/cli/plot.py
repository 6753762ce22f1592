"""The command that draws trees."""

from pathlib import Path
from typing import Any

import click

from latree.cli import common
from latree.errors import InputError


@click.command()
@click.argument("tree", type=common.model_file)
@common.new_output("New file whose name ends in .svg or .png.", required=True)
@click.option(
    "--layout",
    type=common.Choice(["radial", "unrooted", "horizontal"]),
    default="radial",
    show_default=True,
    help="In circles around the middle, without a root (for few columns), or from left to right.",
)
@click.option(
    "--labels",
    type=common.file,
    help="CSV file with a header whose first two columns are the name of a column and its label, for colours.",
)
@click.option("--hidden", is_flag=True, help="Also show the names of the hidden variables.")
def plot(tree: Path, out: Path, layout: Any, labels: Path | None, hidden: bool) -> None:
    """Draw a tree as SVG or PNG.

    TREE is a model.json, the folder of a fit, or a Newick file. In the tree of a model, longer edges mean weaker
    dependence; a Newick file has its own edge lengths. Numbers beside edges are their support in per cent, where there
    is room. Columns have the colours of their groups, as in the report, or of your own `--labels`. A PNG needs
    matplotlib, an SVG does not.

    Example: latree plot run/model.json --out tree.svg
    """
    from latree._util.files import staged
    from latree.figure import plot as draw
    from latree.figure.picture import check_ending
    from latree.table import read_labels

    check_ending(out)
    model = common.load_model(tree) if common.is_model(tree) else None
    loaded = common.load_tree(tree) if model is None else model.tree
    groups = read_labels(labels, loaded.names) if labels is not None else None
    try:
        with staged(out, common.may_replace()) as path:
            draw(model or loaded, path, layout=layout, labels=groups, hidden=hidden)
    except ImportError as error:
        raise InputError(f"{out}: {error}") from None
    click.echo(f"Written to {out}")
