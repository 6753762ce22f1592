"""The commands about the groups of a model and the names of its hidden variables: groups, rename."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from latree._util.words import clipped
from latree.cli import common
from latree.errors import InputError

if TYPE_CHECKING:
    from latree.model import LatentTreeModel


@click.command()
@click.argument("model", type=common.model_file)
@common.new_output(
    "New .csv, .tsv or .txt file with one line per column; by default the groups are printed.",
    endings=common.TABLE_ENDINGS,
)
@common.as_json
def groups(model: Path, out: Path | None, as_json: bool) -> None:
    """Print the groups of columns of a model.

    MODEL is a model.json or the folder of a fit. Columns with strong loadings come first. The file of --out is the
    groups.csv of `latree fit`, with the names that the model has now.

    Example: latree groups run/model.json
    """
    from latree._util.files import to_json
    from latree.explain import with_groups
    from latree.explain.overview import group_facts, group_lines, group_table

    loaded = common.load_model(model)
    if not loaded.groups:
        loaded = with_groups(loaded)
    if out is not None:
        with common.rows_output(out) as write:
            write(group_table(loaded))
        click.echo(f"Written to {out}")
    elif as_json:
        click.echo(to_json(group_facts(loaded)), nl=False)
    else:
        click.echo("\n".join(group_lines(loaded)))


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("names", metavar="OLD=NEW...", nargs=-1, required=True)
@common.new_output("New model.json; by default MODEL is replaced.")
@common.quiet
def rename(model: Path, names: tuple[str, ...], out: Path | None, quiet: bool) -> None:
    """Rename hidden variables and groups of a model.

    MODEL is a model.json or the folder of a fit. OLD is the name of a hidden variable or a group, or the technical name
    of a hidden variable, such as H3. A group and its hidden variable have the same name and are renamed together.
    Reports, scores, figures and exports that are made from the model later have the new names. Either all names are
    changed, or none.

    Example: latree rename run/model.json H3=anxiety "E4, E2 +3=extraversion"
    """
    from latree._util.files import locked, staged

    target = out or model
    with nullcontext() if out else locked(model):  # nobody else changes the model between reading and writing
        loaded = common.load_model(model)
        wanted: dict[str, str] = {}
        for text in names:
            old, new = _old_and_new(text, loaded)
            if old in wanted:
                raise InputError(f"{old!r:.60} is to be renamed twice; give it one new name")
            wanted[old] = new
        with staged(target, replace=out is None or common.may_replace()) as path:
            loaded.rename(wanted).save(path)
    if not quiet:
        for old, new in wanted.items():
            click.echo(
                f"{clipped(old)} keeps its name: unchanged" if old == new else f"{clipped(old)} is now {clipped(new)}"
            )
        click.echo(f"Written to {target}. Files that were made before, such as report.html, keep the old names.")


def _old_and_new(text: str, model: "LatentTreeModel") -> tuple[str, str]:
    """Divide OLD=NEW at the first sign that stands behind a known name; both names may contain signs of their own."""
    places = [place for place, letter in enumerate(text) if letter == "="]
    if not places:
        raise InputError(f"{text!r:.60} is not of the form OLD=NEW, such as H3=anxiety")
    technical = model.tree.node_names[model.tree.n_observed :]
    known = {*model.hidden_names, *technical, *(group.name for group in model.groups)}
    place = next((place for place in places if text[:place].strip() in known), places[0])
    return text[:place].strip(), text[place + 1 :].strip()
