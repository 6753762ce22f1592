"""Commands about a fitted model: report, plot, export, groups, topics, rename, cite; the list of methods."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from latree._util.words import clipped
from latree.cli import common
from latree.errors import InputError

if TYPE_CHECKING:
    from latree.model import LatentTreeModel
    from latree.table import Table

# Rows of each kind that a report with data shows, unless the user asks for another number.
_ROWS = 5


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("data", type=common.data_file, required=False)
@common.new_output("New .html file.", required=True, endings=(".html", ".htm"))
@click.option(
    "--labels",
    type=common.file,
    help="CSV file with a header whose first two columns are the name of a column and its label, for colours; by "
    "default those of the fit.",
)
@click.option(
    "--test",
    type=common.file,
    help="File with other rows, on which the model is scored; they count by the weights of the fit, if it has that "
    "column.",
)
@click.option(
    "--rows",
    type=common.Whole(0, 1000),
    show_default=str(_ROWS),
    help="Number of rows of DATA to show: the most unusual ones, and as many others in words.",
)
@common.identifier
@common.weights
@common.new_rows
def report(model: Path, data: Path | None, out: Path, **options: Any) -> None:
    """Write the report of a model: one offline HTML file.

    MODEL is a model.json or the folder of a fit, DATA the table that it was fitted to. With DATA, the report shows the
    distributions of the columns in the data, too. Without DATA, it shows what the model file contains.

    Example: latree report run/model.json data.csv --id person --out report.html
    """
    from latree._util.files import staged
    from latree._util.progress import progress_bars, stage
    from latree.report.render import report_html, write_report
    from latree.table import read_labels

    if data is None and (given := [name for name in ("test", "weights", "identifier", "rows") if options[name]]):
        option = given[0].replace("identifier", "id")
        raise InputError(f"--{option} needs the data of the fit as the second argument")
    loaded = common.load_model(model)
    if options["labels"]:
        labels = read_labels(options["labels"], loaded.tree.names)
    else:
        labels = dict(loaded.record.labels) if loaded.record else {}
    how = {key: options[key] for key in ("format", "unseen", "names")}
    columns = {key: options[key] for key in ("identifier", "weights")}
    with progress_bars(True):
        with stage("Reading the table"):
            table = common.read_rows(data, loaded, **columns, **how)[0] if data else None
        with stage("Reading the test rows"):
            test = common.read_rows(options["test"], loaded, **how)[0] if options["test"] else None
        rows = _ROWS if options["rows"] is None else options["rows"]
        with stage("Writing the report", at_most=True):
            html = report_html(loaded, table, test=test, labels=labels or None, rows=rows)
    with staged(out, common.may_replace()) as path:
        write_report(path, html)
    click.echo(f"Written to {out}")


@click.command()
@click.argument("tree", type=common.model_file)
@common.new_output("New file whose name ends in .svg, .pdf or .png.", required=True)
@click.option(
    "--layout",
    type=common.Choice(["horizontal", "radial", "unrooted"]),
    default="horizontal",
    show_default=True,
    help="From left to right, in circles around the middle, or without a root (for few columns).",
)
@click.option(
    "--labels",
    type=common.file,
    help="CSV file with a header whose first two columns are the name of a column and its label, for markers.",
)
@click.option("--hidden", is_flag=True, help="Also show the names of the hidden variables.")
@click.option(
    "--ring",
    "rings",
    type=common.Choice(["loading", "stability"]),
    multiple=True,
    help="Show the loading or the stability of each column as a shade before its name. Repeatable.",
)
@click.option("--width", type=click.FloatRange(min=0, min_open=True), help="Width in millimetres.")
@click.option("--font-size", type=click.FloatRange(min=0, min_open=True), help="Size of the names in points.")
@click.option("--no-scale-bar", is_flag=True, help="Leave out the line that shows the scale of edge lengths.")
def plot(
    tree: Path,
    out: Path,
    layout: Any,
    labels: Path | None,
    hidden: bool,
    rings: tuple[Any, ...],
    width: float | None,
    font_size: float | None,
    no_scale_bar: bool,
) -> None:
    """Draw a tree as SVG, PDF or PNG.

    TREE is a model.json, the folder of a fit, or a Newick file. It is drawn as in the report: groups have colours,
    numbers and names, and thick edges mean strong dependence. In the tree of a model, longer edges mean weaker
    dependence; a Newick file has its own edge lengths. Numbers beside edges are their support in per cent, where there
    is room. Columns of your own `--labels` have markers. A PDF and a PNG need matplotlib, an SVG does not.

    Example: latree plot run/model.json --width 90 --font-size 7 --out tree.pdf
    """
    from latree._util.files import staged
    from latree.figure.draw import plot as draw
    from latree.figure.picture import check_ending
    from latree.table import read_labels

    check_ending(out)
    model = common.load_model(tree) if common.is_model(tree) else None
    loaded = common.load_tree(tree) if model is None else model.tree
    groups = read_labels(labels, loaded.names) if labels is not None else None
    try:
        with staged(out, common.may_replace()) as path:
            draw(
                model or loaded,
                path,
                layout=layout,
                labels=groups,
                hidden=hidden,
                rings=rings,
                width=width,
                font_size=font_size,
                scale_bar=not no_scale_bar,
            )
    except ImportError as error:
        raise InputError(f"{out}: {error}") from None
    click.echo(f"Written to {out}")


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
    from latree.export.write import check_ending, export_model

    check_ending(out)
    with staged(out, common.may_replace()) as path:
        export_model(common.load_model(model), path, hidden=hidden)
    click.echo(f"Written to {out}")


@click.command()
@click.argument("model", type=common.model_file)
@common.new_output(
    "New .csv, .tsv or .txt file with one line per column; by default the groups are printed.",
    endings=common.TABLE_ENDINGS,
)
@click.option(
    "--n",
    "n_groups",
    type=common.Whole(min=1),
    help="Cut the tree into this number of groups; by default as at the fit.",
)
@common.as_json
def groups(model: Path, out: Path | None, n_groups: int | None, as_json: bool) -> None:
    """Print the groups of columns of a model.

    MODEL is a model.json or the folder of a fit. Columns with strong loadings come first. With --n, the columns fall
    into any number of groups that the tree allows. The file of --out is the groups.csv of `latree fit`, with the names
    that the model has now.

    Example: latree groups run --n 5
    """
    from latree._util.files import to_json
    from latree.facts.found import facts_of, group_list
    from latree.facts.groups import all_groups
    from latree.facts.text import group_lines, group_table
    from latree.interpret.groups import with_groups, with_n_groups
    from latree.interpret.view import view_of

    loaded = common.load_model(model)
    if not loaded.groups:
        loaded = with_groups(loaded)
    if n_groups is not None:
        try:
            loaded = with_n_groups(loaded, n_groups)
        except InputError as error:
            raise InputError(f"{model}: {error}") from None
    if out is not None:
        with common.rows_output(out) as write:
            write(group_table(facts_of(loaded)))
        click.echo(f"Written to {out}")
    elif as_json:
        click.echo(to_json(group_list(all_groups(view_of(loaded)))), nl=False)
    else:
        click.echo("\n".join(group_lines(facts_of(loaded))))


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("data", type=common.data_file, required=False)
@common.new_output(
    "New .csv, .tsv or .txt file with one line per topic; by default the topics are printed.",
    endings=common.TABLE_ENDINGS,
)
@click.option(
    "--scores",
    is_flag=True,
    help="Instead of topics, the documents that have them: one line per document and topic, with the probability.",
)
@click.option("--words", type=common.Whole(1), default=10, show_default=True, help="Most words of a topic.")
@click.option(
    "--documents", type=common.Whole(0), show_default="3", help="Most typical documents of a topic; needs DATA."
)
@common.identifier
@common.weights
@common.new_rows
@common.as_json
def topics(
    model: Path,
    data: Path | None,
    out: Path | None,
    scores: bool,
    words: int,
    documents: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the topics of documents.

    MODEL is a model.json or the folder of a fit to documents: rows are documents, columns are words. Each topic has the
    share of documents that have it, and its words, those that say the most about it first. Topics that are part of
    another one stand below it. With DATA, such as the documents of the fit, shares are those in DATA, and typical
    documents are listed: those with many words of the topic and few others. The columns of a sparse matrix are those of
    the fit, in the same order, or named by --names. Words that say little about any topic are in none.

    With --scores, a document is listed for a topic if the topic is more probable in it than in a document of which
    nothing is known.

    Example: latree topics run words.npz
    """
    from latree._util.files import to_json
    from latree._util.progress import progress_bars, stage
    from latree.facts.topics import N_DOCUMENTS, topic_facts, topic_lines, topic_table, words_in_no_topic
    from latree.table.formats.text import guarded

    given = {
        "--scores": scores,
        "--documents": documents,
        "--id": options["identifier"],
        "--weights": options["weights"],
    }
    if data is None and (needs := [name for name, value in given.items() if value]):
        raise InputError(f"{needs[0]} needs documents as the second argument")
    if scores and as_json:
        raise InputError("--scores are a table: leave out --json")
    loaded = common.load_model(model)
    with progress_bars(data is not None):
        with stage("Reading the table"):
            table, how = common.read_rows(data, loaded, **options) if data else (None, {})
        with stage("Finding topics"):
            if scores and table is not None:
                found = _topic_scores(loaded, table)
            else:
                facts = topic_facts(loaded, table, words, N_DOCUMENTS if documents is None else documents)
    if scores:
        with common.rows_output(out) as write:
            write([[how["identifier"] or "row", "topic", "probability"]])
            write((name, guarded(topic), f"{probability:.6f}") for name, topic, probability in found)
    elif out is not None:
        with common.rows_output(out) as write:
            write(topic_table(facts, table is not None))
    elif as_json:
        click.echo(to_json(facts), nl=False)
    else:
        click.echo("\n".join(topic_lines(facts, words_in_no_topic(loaded))))
    if out is not None:
        click.echo(f"Written to {out}")


def _topic_scores(model: "LatentTreeModel", table: "Table") -> Iterator[tuple[str, str, float]]:
    """Yield the name of each document with each topic that it has, and how probable that is."""
    import numpy as np

    from latree.interpret.topics import find_topics, topics_in_rows

    topics = find_topics(model)
    found = topics_in_rows(model, topics, table).scores.tocoo()
    names = table.names_of_rows(np.arange(table.n_rows))
    for row, topic, probability in zip(found.row.tolist(), found.col.tolist(), found.data.tolist(), strict=True):
        yield names[row], topics[topic].name, probability


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("names", metavar="[OLD=NEW...]", nargs=-1)
@click.option(
    "--flip",
    "flips",
    metavar="NAME",
    multiple=True,
    help="Let the score of this group or hidden variable count in the other direction; may be repeated.",
)
@click.option(
    "--like",
    type=common.model_file,
    help="Another model of the same questionnaire: flip the groups that count in the opposite direction of its groups.",
)
@common.new_output("New model.json; by default MODEL is replaced.")
@common.quiet
def rename(
    model: Path, names: tuple[str, ...], flips: tuple[str, ...], like: Path | None, out: Path | None, quiet: bool
) -> None:
    """Rename or flip groups and hidden variables of a model.

    MODEL is a model.json or the folder of a fit. OLD is the name of a hidden variable or a group, or the technical name
    of a hidden variable, such as H3. A group and its hidden variable have the same name and are renamed together.
    Reports, scores, figures and exports that are made from the model later have the new names. Either all names are
    changed, or none.

    With --flip, the lowest state of a group becomes the highest one, scores are 1 minus what they were, and loadings
    change their signs. With --like, that is done where it is needed, so that the scores of two samples can be compared.

    Example: latree rename run H3=anxiety "E4, E2 +3=extraversion" --flip anxiety
    """
    from latree._util.files import files_with_names, locked, staged
    from latree.interpret.compare import NothingInCommon, opposite_groups
    from latree.interpret.order import flip

    if not names and not flips and like is None:
        raise InputError("nothing to do: give OLD=NEW, --flip NAME or --like MODEL")
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
            changed = flip(loaded.rename(wanted), flips)
            turned = list(flips)
            if like is not None:
                try:
                    turned += (opposite := opposite_groups(changed, common.load_model(like)))
                except NothingInCommon as error:
                    raise InputError(f"{model} and {like}: {error}") from None
                changed = flip(changed, opposite)
            changed.save(path)
    if not quiet:
        for old, new in wanted.items():
            click.echo(
                f"{clipped(old)} keeps its name: unchanged" if old == new else f"{clipped(old)} is now {clipped(new)}"
            )
        for name in turned:
            click.echo(f"{clipped(name)} counts in the other direction now")
        if like is not None and not turned:
            click.echo(f"all groups count in the same direction as in {like}")
        click.echo(f"Written to {target}.")
        if old_files := files_with_names(target.parent):
            python = f"latree.LatentTree.load({str(target)!r})"
            click.echo(
                f"These files beside it stay as they were: {', '.join(old_files)}. To write new ones: latree report "
                f"{target} DATA --out NEW.html; latree groups {target} --out NEW.csv; in Python, {python}.loadings() "
                "and .profiles()."
            )


def _old_and_new(text: str, model: "LatentTreeModel") -> tuple[str, str]:
    """Divide OLD=NEW at the first sign that stands behind a known name; both names may contain signs of their own."""
    places = [place for place, letter in enumerate(text) if letter == "="]
    if not places:
        raise InputError(f"{text!r:.60} is not of the form OLD=NEW, such as H3=anxiety")
    technical = model.tree.node_names[model.tree.n_observed :]
    known = {*model.hidden_names, *technical, *(group.name for group in model.groups)}
    place = next((place for place in places if text[:place].strip() in known), places[0])
    return text[:place].strip(), text[place + 1 :].strip()


@click.command()
@click.argument("model", type=common.model_file)
@click.option(
    "--format",
    "form",
    type=common.Choice(["text", "markdown", "bibtex"]),
    default="text",
    show_default=True,
    help="A paragraph with its references, as plain text or Markdown; or the entries of the references for BibTeX.",
)
def cite(model: Path, form: Any) -> None:
    """Print a paragraph for a paper: what was done.

    MODEL is a model.json or the folder of a fit. The paragraph has the method, the settings, the versions and the main
    numbers of the fit, and the references of what was used.

    Example: latree cite run --format bibtex
    """
    from latree.facts.citation import cite as cite_facts
    from latree.facts.found import facts_of
    from latree.interpret.groups import with_groups

    loaded = common.load_model(model)
    try:
        click.echo(cite_facts(facts_of(loaded if loaded.groups else with_groups(loaded)), form), nl=False)
    except InputError as error:
        raise InputError(f"{model}: {error}") from None


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
