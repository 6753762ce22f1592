"""The command that lists the methods that learn trees."""

import click

from latree.cli import common


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
