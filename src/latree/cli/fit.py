"""The commands that learn a model: fit, and the demo."""

import shlex
from contextlib import nullcontext
from dataclasses import replace
from glob import has_magic
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from latree._util.words import plural
from latree.cli import common, reading
from latree.errors import InputError
from latree.settings import Goal, Representatives, Resolve, Settings

if TYPE_CHECKING:
    from latree.learn import Learned
    from latree.model.record import Origin
    from latree.table import Table

# A longer profiles.csv is not written: spreadsheets open about a million lines, and people read fewer.
_MAX_PROFILE_LINES = 100_000
# A loadings.csv with more numbers is not written: it has a column for every hidden variable. The loading of each column
# on its own hidden variable is in groups.csv.
_MAX_LOADINGS = 1_000_000


@click.command()
@click.argument("data", type=common.file)
@common.new_output(
    "New folder for report.html, report.txt, groups.csv, loadings.csv, profiles.csv, tree.nwk, model.json, "
    "summary.json.",
    required=True,
    folder=True,
)
@click.option("--method", default=Settings.method, show_default=True, help="Learner of the tree; see `latree methods`.")
@click.option(
    "--goal",
    type=common.Choice(get_args(Goal)),
    default=Settings.goal,
    show_default=True,
    help="What the model is for: explain, the hidden variables that are there, with few states; or predict, to score, "
    "sample and fill in rows, with the tree and the states that predict new rows best.",
)
@click.option(
    "--resolve",
    type=common.Choice(get_args(Resolve)),
    default=Settings.resolve,
    show_default=True,
    help="Edges between hidden variables to keep (auto): tested, those that the rows show and that come again in parts "
    "of the rows; or all, for a binary tree as in the paper.",
)
@click.option(
    "--states",
    "n_states",
    type=common.OrAuto(common.Whole(1, 1000), "integer"),
    default="auto",
    show_default=True,
    help="Number of states of every hidden variable; the method spectral needs it.",
)
@click.option(
    "--representatives",
    type=common.Choice(get_args(Representatives)),
    default=Settings.representatives,
    show_default=True,
    help="Which leaf represents a branch in a quartet test (tensor).",
)
@reading.options
@click.option(
    "--labels",
    type=common.file,
    help="CSV file with a header whose first two columns are the name of a column and its label. A group is named "
    "by a label if most of its columns have it, and most columns with it are in the group; the report has colours.",
)
@click.option(
    "--groups",
    "key",
    type=common.file,
    help="CSV file with a header whose first two columns are the name of a column and its group, if you have groups in "
    "mind: the model has these groups and no others, and the report says how well they fit.",
)
@click.option(
    "--texts",
    type=common.file,
    help="CSV file with a header whose first two columns are the name of a column and a longer text, such as the "
    "wording of a question: reports and groups.csv show it. A third column with the name answers may have names of "
    "answers by their codes, such as 1=never; 2=often. A codebook that has more columns will do.",
)
@click.option(
    "--smoothing",
    type=common.OrAuto(common.Number(min=0), "number"),
    default="auto",
    show_default=True,
    help="Pseudo-rows per cell of a conditional probability table.",
)
@click.option(
    "--resamples",
    "n_resamples",
    type=common.Whole(min=0),
    default=Settings.n_resamples,
    show_default=True,
    help="Random halves of the rows in which everything is learned again (auto), for the support of edges and the "
    "stability of groups. More make both more exact and take longer; 0 for "
    "neither, and for a tree with all edges that the rows show.",
)
@click.option(
    "--bootstrap",
    type=common.Whole(min=0),
    default=Settings.bootstrap,
    show_default=True,
    help="Bootstrap replicates of the rows, for consensus.nwk and the support of the edges of any method.",
)
@click.option(
    "--max-iter",
    type=common.Whole(min=1),
    default=Settings.max_iter,
    show_default=True,
    help="Most iterations of EM.",
)
@click.option(
    "--tol",
    type=common.Number(min=0),
    default=Settings.tol,
    show_default=True,
    help="EM stops when an iteration gains less than this, in nats per cell.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="Dask scheduler whose workers read and keep the Parquet files: tcp://..."
)
@common.checkpoint
@common.seed
@common.quiet
@common.as_json
def fit(
    data: Path,
    out: Path,
    as_json: bool,
    quiet: bool,
    scheduler: str | None,
    checkpoint: Path | None,
    seed: int,
    **options: Any,
) -> None:
    """Learn a tree, fit a model on it and write a report.

    DATA is a table: a text file (CSV) whose first line names the columns, a Parquet, SPSS or Excel file, or a file of
    another format that --format lists. It is only read. A pattern in quotes means several files, such as
    'folder/*.parquet'. Text and Parquet files may be larger than memory.

    Example: latree fit data.csv --id person --drop day,place --out run
    """
    from latree._util.progress import progress_bars, stage
    from latree.learners.methods import find_method
    from latree.model.record import Origin
    from latree.table import as_table, read_labels
    from latree.table.labels import read_codebook, read_groups, with_questions
    from latree.table.opening import dask_module

    how_to_read = reading.arguments(data, options)
    labels_file, texts_file, key_file = (options.pop(name) for name in ("labels", "texts", "key"))
    settings = Settings(random_state=seed, key=None if key_file is None else (), **options)
    find_method(settings.method)
    common.refuse_same(out, checkpoint)
    if checkpoint is not None and not settings.bootstrap:
        raise InputError("--checkpoint keeps the replicates of --bootstrap, and there are none: leave it out")
    name = "/".join(data.parts[-2:]) if has_magic(data.name) else data.name
    read = replace(how_to_read["reading"], format=None)  # which is of one file
    matrix = tuple(how_to_read["names"] or ())  # whose columns new rows are matched with by position
    origin = Origin(name, common.command_line(name), how_to_read["weights"], read, matrix)
    connected = nullcontext() if scheduler is None else dask_module().connect(scheduler)
    resumable = common.resumable(checkpoint, out, has_parts=settings.bootstrap > 0)
    with resumable as keep_for, progress_bars(not quiet), connected as client:
        with stage("Reading the table"):
            table = as_table(data, client=client, **how_to_read)
        if texts_file is not None:
            questions = read_codebook(texts_file, table.names, unknown=True)
            table = replace(table, columns=with_questions(table.columns, questions))
            others = [(name, *pair) for name, one in questions.items() for pair in one.answers.items()]
            origin = origin._replace(answers=tuple(one for one in others if one[0] not in table.names))
        labels = read_labels(labels_file, table.names, unknown=True) if labels_file is not None else None
        if key_file is not None:
            settings = replace(settings, key=tuple(read_groups(key_file, table.names).items()))
        origin = origin._replace(labels=tuple((labels or {}).items()))
        learned = _learn(table, str(data), settings, origin, out, keep_for, labels, tell=not quiet)
    _print_run(learned, out, as_json, quiet, data)


@click.command()
@common.new_output(
    "New folder for the report, tree and model; by default one whose name begins with latree-demo.", folder=True
)
@common.seed
@common.quiet
@common.as_json
def demo(out: Path | None, seed: int, quiet: bool, as_json: bool) -> None:
    """Learn a tree from example data and write a report.

    The data are simulated answers of 800 people to 26 questions about everyday life. Needs no network.

    Example: latree demo --out demo
    """
    from latree._util.checkpoint import NOTHING_KEPT
    from latree._util.progress import progress_bars
    from latree.datasets import make_everyday
    from latree.model.record import Origin
    from latree.table import as_table
    from latree.table.labels import Question, with_questions

    everyday = make_everyday()
    table = as_table(everyday.data)
    questions = {name: Question(text, {}) for name, text in everyday.texts.items()}
    table = replace(table, columns=with_questions(table.columns, questions))
    origin = Origin("simulated answers", common.command_line(), labels=tuple(everyday.labels.items()))
    out = out or _free_name("latree-demo")
    with progress_bars(not quiet):
        settings = Settings(random_state=seed)
        learned = _learn(table, "the simulated answers", settings, origin, out, lambda _: NOTHING_KEPT, everyday.labels)
    _print_run(learned, out, as_json, quiet)


def _free_name(name: str) -> Path:
    """Return the name, followed by a number if it is taken."""
    names = (Path(name if number == 1 else f"{name}-{number}") for number in count(1))
    return next(path for path in names if not path.exists() and not path.is_symlink())


def _learn(
    table: "Table",
    source: str,
    settings: Settings,
    origin: "Origin",
    out: Path,
    keep_for: common.KeepFor,
    labels: dict[str, str] | None = None,
    tell: bool = False,
) -> "Learned":
    """Learn a model and write it; ``tell`` says what is odd about the table first."""
    from latree._util.progress import stage
    from latree.learn import learn_model
    from latree.learners.methods import find_method
    from latree.table.checking import check_learnable, find_problems

    if table.n_columns < common.MIN_COLUMNS:
        names = ", ".join(map(repr, table.names))
        raise InputError(
            f"{source}: {plural(table.n_columns, 'column')} ({names}); a tree needs at least {common.MIN_COLUMNS}"
        )
    most_states = find_method(settings.method).most_states
    if tell:
        reading.tell_oddities(table, [one.column for one in find_problems(table, most_states)])
    check_learnable(table, source, most_states)
    keep = keep_for(lambda: {"command": "fit", **settings.to_dict(), "table, as it was read,": table.fingerprint()})
    learned = learn_model(table, settings, origin, keep, labels)
    with stage("Writing the report", at_most=True):
        _write_run(learned, out, labels)
    return learned


def _write_run(learned: "Learned", out: Path, labels: dict[str, str] | None) -> None:
    from latree._util.files import new_folder, to_json, write_text
    from latree.export.trees import plain_newick
    from latree.facts.text import group_table
    from latree.interpret.columns import loading_columns, profile_columns
    from latree.report.render import report_html
    from latree.table.formats.text import write_columns, write_lines

    with new_folder(out, common.may_replace()) as folder:
        write_text(folder / "tree.nwk", plain_newick(learned.model))
        write_text(folder / "summary.json", to_json(learned.summary))
        write_text(folder / "report.txt", learned.report())
        page = report_html(learned.model, learned.table, labels=labels)
        write_text(folder / "report.html", page)
        write_text(folder / "groups.csv", write_lines(group_table(learned.facts)))
        learned.model.save(folder / "model.json")
        tree = learned.model.tree
        if tree.n_observed * tree.n_hidden <= _MAX_LOADINGS:
            write_text(folder / "loadings.csv", write_columns(loading_columns(learned.model)))
        profiles = profile_columns(learned.model)
        if len(profiles["hidden"]) <= _MAX_PROFILE_LINES:
            write_text(folder / "profiles.csv", write_columns(profiles))
        if learned.consensus is not None:
            write_text(folder / "consensus.nwk", learned.consensus.to_newick())


def _print_run(learned: "Learned", out: Path, as_json: bool, quiet: bool, data: Path | None = None) -> None:
    from latree._util.files import to_json

    if as_json:
        click.echo(to_json(learned.summary), nl=False)
    elif not quiet:
        more = ", consensus.nwk" if learned.consensus is not None else ""
        more += "".join(f", {name}" for name in ("loadings.csv", "profiles.csv") if (out / name).exists())
        click.echo(learned.report(), nl=False)
        click.echo(f"\nWritten to {out}: report.txt (this text), groups.csv, tree.nwk, model.json, summary.json{more}")
        click.echo(f"The report is {out / 'report.html'}: open it in a browser.")
        if data is not None and learned.summary["reliability"]:
            scores = "scores.sav" if data.suffix.lower() == ".sav" else "scores.csv"
            command = shlex.join(["latree", "transform", str(out), str(data), "--out", scores])
            click.echo(f"Where each row stands: {command}")
