"""The commands about trees and the methods that learn them: compare, methods."""

from pathlib import Path

import click

from latree.cli import common
from latree.errors import InputError


@click.command()
@click.argument("first", type=common.file)
@click.argument("second", type=common.file)
@common.quiet
@common.as_json
def compare(first: Path, second: Path, quiet: bool, as_json: bool) -> None:
    """Print the distance of two trees.

    FIRST and SECOND are Newick files or model.json files; the distance is Robinson and Foulds's: the number of
    partitions of the columns, by removing an edge, that only one of the trees implies. Where a tree falls into parts,
    an edge of the other counts as shared if what it does to each part that it cuts is implied there.
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
            n = len(tree.splits)
            click.echo(f"{path}: {n} partition{'' if n == 1 else 's'}, {n - own} shared, {own} only here")


@click.command()
@common.as_json
def methods(as_json: bool) -> None:
    """List the learners of trees.

    For each: what it needs, what it returns, and who described it.
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
