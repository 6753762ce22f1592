"""The command that writes a model for other programs."""

from pathlib import Path

import click

from latree.cli import common


@click.command()
@click.argument("model", type=common.model_file)
@common.new_output(
    "New file whose name ends in .nwk, .nex, .graphml, .dot, .bif, .xmlbif, .bifxml or .json.", required=True
)
@click.option(
    "--hidden", is_flag=True, help="In .nwk and .nex: name the hidden variables. All other formats always have them."
)
def export(model: Path, out: Path, hidden: bool) -> None:
    """Write a model for other programs.

    MODEL is a model.json or the folder of a fit. The ending of the file's name chooses the format:

    \b
    .nwk               Newick, a tree for FigTree, iTOL, R's ape, ...
    .nex               NEXUS, the same for SplitsTree, PAUP*, ...
    .graphml           a graph for Gephi, Cytoscape, yEd, igraph, networkx
    .dot               a graph for Graphviz
    .bif               a Bayesian network for pgmpy, pyAgrum, bnlearn, ...
    .xmlbif, .bifxml   the same in XML, with all names as they are
    .json              a graph for d3 and for your own programs

    Example: latree export run/model.json --out tree.graphml
    """  # noqa: D301 - \b tells click to keep the lines of the list
    from latree._util.files import staged
    from latree.export import export_model
    from latree.export.write import check_ending

    check_ending(out)
    with staged(out, common.may_replace()) as path:
        export_model(common.load_model(model), path, hidden=hidden)
    click.echo(f"Written to {out}")
