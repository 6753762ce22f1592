"""The commands about trees and the methods that learn them: compare, methods."""

from pathlib import Path

import click

from latree._util.text import plural
from latree.cli import common
from latree.errors import InputError


@click.command()
@click.argument("first", type=common.file)
@click.argument("second", type=common.file)
@common.quiet
@common.as_json
def compare(first: Path, second: Path, quiet: bool, as_json: bool) -> None:
    """Print the Robinson-Foulds distance between two trees.

    FIRST and SECOND are Newick files or model.json files with the same columns. Removing an edge of a tree splits its
    columns into two groups; the distance is the number of splits that only one of the trees has. If a tree is a forest,
    a split of the other tree counts as shared if every component that it divides has an edge that induces it.

    Example: latree compare run/tree.nwk other.nwk
    """
    from latree._util.files import to_json

    one, other = common.load_tree(first), common.load_tree(second)
    try:
        unshared = one.unshared_splits(other)
    except InputError as error:
        raise InputError(f"{first} and {second}: {error}") from None
    if as_json:
        click.echo(to_json({"robinson_foulds": sum(unshared), "max": one.max_robinson_foulds}), nl=False)
    elif not quiet:
        click.echo(f"Robinson-Foulds {sum(unshared)} of at most {one.max_robinson_foulds}")
        for path, tree, own in zip((first, second), (one, other), unshared, strict=True):
            n_splits = len(tree.splits)
            click.echo(f"{path}: {plural(n_splits, 'split')}, {n_splits - own} shared, {own} only here")


@click.command()
@common.as_json
def methods(as_json: bool) -> None:
    """List the methods that learn trees.

    Prints for each method how it works, what it needs, what kind of tree it returns, and who published it. Give its
    name to `latree fit` as `--method`.

    Example: latree methods
    """
    from latree._util.files import to_json
    from latree.learners.methods import METHODS

    if as_json:
        keys = ("name", "summary", "needs_states", "trees", "reference")
        click.echo(to_json([{key: getattr(method, key) for key in keys} for method in METHODS.values()]), nl=False)
        return
    for method in METHODS.values():
        click.echo(method.name)
        click.echo(f"  how      {method.summary}")
        click.echo(f"  needs    {'the number of hidden states' if method.needs_states else 'a table, nothing else'}")
        click.echo(f"  returns  {method.trees}")
        click.echo(f"  see      {method.reference}")
