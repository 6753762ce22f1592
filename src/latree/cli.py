"""The command line. Heavy modules are imported by the commands that need them, so that ``--help`` is instant."""

import io
import os
import sys
from contextlib import nullcontext
from glob import has_magic
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from latree import __version__
from latree import cli_common as common
from latree import cli_research as research
from latree.cli_plot import plot
from latree.cli_report import report
from latree.cli_rows import impute, sample, score
from latree.errors import InputError

if TYPE_CHECKING:
    from latree.learn import Learned
    from latree.progress import Progress, Stages
    from latree.record import Origin
    from latree.table import Table

MIN_COLUMNS = 4  # three leaves have only one tree
_INTERRUPTED = "interrupted; nothing was written"


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(__version__, prog_name="latree")
@click.pass_context
def commands(context: click.Context) -> None:
    """Find the hidden tree behind a table of discrete variables.

    Start with `latree demo`, or with `latree fit data.csv --out run`.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@commands.command()
@click.argument("data", type=common.file)
@click.option(
    "--out",
    type=common.file,
    callback=common.refuse_existing_out,
    required=True,
    help="New folder for report.html, report.txt, tree.nwk, model.json, summary.json.",
)
@click.option("--method", default="auto", show_default=True, help="Learner of the tree; see `latree methods`.")
@click.option(
    "--states",
    type=common.OrAuto(click.IntRange(1, 1000), "integer"),
    default="auto",
    show_default=True,
    help="States of every hidden variable; method spectral must be told.",
)
@click.option(
    "--criterion",
    type=click.Choice(["held-out", "bic"]),
    default="held-out",
    show_default=True,
    help="What states are chosen for: held-out to predict, bic to explain with few.",
)
@click.option(
    "--representatives",
    type=click.Choice(["nearest", "random"]),
    default="nearest",
    show_default=True,
    help="Which leaf stands for a branch in a quartet test (tensor).",
)
@click.option(
    "--bins", type=click.IntRange(0, 64), default=10, show_default=True, help="Bins of numeric columns; 0: none."
)
@click.option(
    "--missing", multiple=True, metavar="TEXT", help="A cell that means missing; replaces NA, NaN, null. Repeatable."
)
@click.option(
    "--drop", multiple=True, metavar="COLUMN", help="A column to leave out, such as an identifier. Repeatable."
)
@click.option("--weights", metavar="COLUMN", help="The column that holds the rows' weights.")
@click.option(
    "--smoothing",
    type=common.OrAuto(click.FloatRange(min=0), "number"),
    default="auto",
    show_default=True,
    help="Pseudo-rows per table cell.",
)
@click.option(
    "--bootstrap",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Times that rows are drawn anew for the edges' support and consensus.nwk.",
)
@click.option("--restarts", type=click.IntRange(min=1), default=1, show_default=True, help="Random starts of EM.")
@click.option(
    "--max-iterations", type=click.IntRange(min=1), default=200, show_default=True, help="Most iterations of EM."
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=1e-5,
    show_default=True,
    help="EM stops when an iteration gains less, in nats per cell.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler whose workers read and keep Parquet: tcp://...")
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
    **options: Any,
) -> None:
    """Learn a tree and fit a model on it.

    DATA is a .csv, .tsv or .txt file, also with .gz, whose first line names the columns, or a .parquet file. It is only
    read. A pattern in quotes stands for several files, such as 'folder/*.parquet'. Files may be larger than memory.
    """
    from latree.methods import find_method
    from latree.record import Origin
    from latree.table import as_table
    from latree.table.finding import cluster
    from latree.terminal import progress_bars

    find_method(options["method"])
    options["n_states"] = options.pop("states")
    reading = {key: options.pop(key) for key in ("weights", "bins", "drop")}
    if missing := options.pop("missing"):
        reading["missing"] = missing
    name = "/".join(data.parts[-2:]) if has_magic(data.name) else data.name
    origin = Origin(name, common.command_line(name), reading["weights"])
    connected = nullcontext() if scheduler is None else cluster().connect(scheduler)
    with common.resumable(checkpoint, out) as keep_for, progress_bars(not quiet) as stages, connected as client:
        table = as_table(data, client=client, progress=stages("Reading the table"), **reading)
        learned = _learn(table, str(data), origin, out, stages, keep_for, **options)
    _print_run(learned, out, as_json, quiet)


@commands.command()
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
    from latree.files import to_json

    one, other = common.load_tree(first), common.load_tree(second)
    try:
        unshared = one.unshared(other)
    except InputError as error:
        raise InputError(f"{first} and {second}: {error}") from None
    if as_json:
        click.echo(to_json({"robinson_foulds": sum(unshared), "max": one.max_robinson_foulds}), nl=False)
    elif not quiet:
        click.echo(f"Robinson-Foulds {sum(unshared)} of at most {one.max_robinson_foulds}")
        for path, tree, own in zip((first, second), (one, other), unshared, strict=True):
            n = len(tree.splits)
            click.echo(f"{path}: {n} partition{'' if n == 1 else 's'}, {n - own} shared, {own} only here")


@commands.command()
@common.as_json
def methods(as_json: bool) -> None:
    """List the learners of trees.

    For each: what it needs, what it returns, and who described it.
    """
    from latree.files import to_json
    from latree.methods import METHODS

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


@commands.command()
@click.option(
    "--out",
    type=common.file,
    callback=common.refuse_existing_out,
    help="New folder for the report, tree and model; by default one whose name begins with latree-demo.",
)
@common.seed
@common.quiet
@common.as_json
def demo(out: Path | None, seed: int, quiet: bool, as_json: bool) -> None:
    """Learn a tree from data that come along, and write a report.

    30 measurements of 569 tumours, from scikit-learn. Needs no network.
    """
    from sklearn.datasets import load_breast_cancer

    from latree.checkpoint import NOTHING_KEPT
    from latree.record import Origin
    from latree.table import as_table
    from latree.terminal import progress_bars

    data = load_breast_cancer()
    table = as_table(data.data, names=data.feature_names.tolist())
    origin = Origin("tumour measurements", common.command_line())
    out = out or _free_name("latree-demo")
    with progress_bars(not quiet) as stages:
        learned = _learn(table, "breast cancer data", origin, out, stages, lambda settings: NOTHING_KEPT, seed=seed)
    _print_run(learned, out, as_json, quiet)


for command in (score, sample, impute, plot, report, research.reproduce, research.theory, research.power):
    commands.add_command(command)


def _renamed(settings: dict[str, Any]) -> dict[str, Any]:
    """Give settings the names of their options."""
    names = {"random_state": "seed", "n_states": "states"}
    return {names.get(name, name): value for name, value in settings.items()}


def _free_name(name: str) -> Path:
    """Give the name, or with the first number behind it that makes a new one."""
    names = (Path(name if number == 1 else f"{name}-{number}") for number in count(1))
    return next(path for path in names if not path.exists() and not path.is_symlink())


def _learn(
    table: "Table",
    source: str,
    origin: "Origin",
    out: Path,
    stages: "Stages",
    keep_for: common.KeepFor,
    *,
    seed: int,
    **settings: Any,
) -> "Learned":
    """Learn a model and write it."""
    from dataclasses import asdict

    from latree.checkpoint import fingerprint
    from latree.learn import Settings, learn_model
    from latree.methods import find_method
    from latree.table import check_learnable

    if table.n_columns < MIN_COLUMNS:
        names = ", ".join(map(repr, table.names))
        raise InputError(f"{source}: {table.n_columns} column(s) ({names}); a tree needs at least {MIN_COLUMNS}")
    chosen = Settings(random_state=seed, **settings)
    check_learnable(table, source, find_method(chosen.method).most_states)
    keep = keep_for(
        lambda: {"command": "fit", **_renamed(asdict(chosen)), "table, as it was read,": fingerprint(table)}
    )
    learned = learn_model(table, chosen, stages, origin, keep)
    _write_run(learned, out, stages("Writing the report", at_most=True))
    return learned


def _write_run(learned: "Learned", out: Path, progress: "Progress") -> None:
    from latree.files import new_folder, to_json, write_text
    from latree.report import report_html

    with new_folder(out) as folder:
        write_text(folder / "tree.nwk", learned.model.tree.to_newick())
        write_text(folder / "summary.json", to_json(learned.summary))
        write_text(folder / "report.txt", learned.report())
        write_text(folder / "report.html", report_html(learned.model, learned.table, progress=progress))
        learned.model.save(folder / "model.json")
        if learned.consensus is not None:
            write_text(folder / "consensus.nwk", learned.consensus.to_newick())


def _print_run(learned: "Learned", out: Path, as_json: bool, quiet: bool) -> None:
    from latree.files import to_json

    if as_json:
        click.echo(to_json(learned.summary), nl=False)
    elif not quiet:
        more = ", consensus.nwk" if learned.consensus is not None else ""
        click.echo(learned.report(), nl=False)
        click.echo(f"\nWritten to {out}: report.txt (this text), tree.nwk, model.json, summary.json{more}")
        click.echo(f"The report is {out / 'report.html'}: open it in a browser.")


def main() -> None:
    """Run the command line: exit 2 and one line for what the user can mend, 130 for Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an old terminal shows ? for what it cannot show
    try:
        sys.exit(commands.main(prog_name="latree", standalone_mode=False))
    except click.ClickException as error:
        hint = "; put a pattern of names in quotes" if "unexpected extra argument" in error.format_message() else ""
        _fail(error.format_message() + hint)
    except InputError as error:
        _fail(str(error))
    except MemoryError:
        _fail("not enough memory for this")
    except OSError as error:
        _fail(f"{error.filename or 'file'}: {error.strerror or error}")
    except (KeyboardInterrupt, click.Abort) as error:
        click.echo(f"latree: {error if isinstance(error, common.Interrupted) else _INTERRUPTED}", err=True)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(130)  # an ordinary end would wait for threads that are in the middle of something


def _fail(message: str) -> NoReturn:
    click.echo(f"latree: {message}", err=True)
    sys.exit(2)
