"""What the commands share: options, checkpoints, and reading models and trees."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from glob import glob, has_magic
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from latree._util.words import SHELL_NAMES, did_you_mean
from latree.errors import InputError

if TYPE_CHECKING:
    from latree._util.checkpoint import Keeper
    from latree.model import LatentTreeModel
    from latree.table import Table
    from latree.tree import Tree

    _Choice: TypeAlias = click.Choice[str]
else:
    _Choice = click.Choice  # it takes a type from click 8.2 on


_FORCE, _REPLACE = "latree.force", "latree.replace"
# The fewest columns that latree fit learns from: three leaves have only one tree.
MIN_COLUMNS = 4


def _remember_force(context: click.Context, option: click.Parameter, force: bool) -> None:
    context.meta[_FORCE] = force


def may_replace() -> bool:
    """Return whether the running command was given `--force`, and `--out` existed when it began.

    What appears there later was written by another run, and is not replaced.
    """
    return bool(click.get_current_context().meta.get(_REPLACE))


@contextmanager
def _claimed_output(context: click.Context, endings: Sequence[str], folder: bool) -> Iterator[None]:
    """Keep other runs from replacing what this one replaces, from the start of its work to the end."""
    from latree._util.files import locked

    out: Path | None = context.params["out"]
    if out is None:
        yield
        return
    _check_out(context, out, endings, folder)
    context.meta[_REPLACE] = exists = out.exists()
    with locked(out) if exists else nullcontext():
        yield


def _check_out(context: click.Context, out: Path, endings: Sequence[str], folder: bool) -> None:
    """Check before the work starts that its result can be written, and that it replaces nothing that is needed."""
    from latree._util.files import refuse_existing

    for option in context.command.params:
        value = context.params.get(str(option.name))
        if option.name not in ("out", "checkpoint") and isinstance(value, Path) and _is_or_holds(out, value):
            what = "holds an input" if out.is_dir() else "is an input"
            raise InputError(f"{out}: {what} of this command; nothing was written (choose another name for --out)")
    if out.suffix == ".gz" and ".csv" in endings:
        raise InputError(f"{out}: output is written uncompressed; choose a name without .gz")
    if endings and out.suffix.lower() not in endings:
        names = " or ".join([", ".join(endings[:-1]), endings[-1]] if endings[1:] else endings)
        raise InputError(f"{out}: --out must end in {names}")
    has_force = any("--force" in other.opts for other in context.command.params)
    or_else = ", or use --force to replace it" if has_force else ""
    force = bool(context.meta.get(_FORCE))
    refuse_existing(out, force, folder, "choose another name for --out", or_else)


def _is_or_holds(out: Path, data: Path) -> bool:
    """Return whether an output is one of the files that a path or a pattern means, or a folder above one."""
    files = [Path(name) for name in glob(str(data))] if has_magic(str(data)) and not data.exists() else [data]
    target = out.resolve()
    return any(target == file.resolve() or target in file.resolve().parents for file in files)


file = click.Path(path_type=Path)


class ModelPath(click.Path):
    """The path of a model.json, or of the folder of a fit, which means the model.json in it."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of the file."""
        from latree.model.file import model_path

        path: Any = super().convert(value, param, ctx)
        return model_path(path)


model_file = ModelPath()


class DataPath(click.Path):
    """The path of a table that is given after a model."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; raise if it is that of a model."""
        path: Any = super().convert(value, param, ctx)
        if path.name == "model.json" or (path / "model.json").is_file():
            raise InputError(f"{path}: is a model, and comes first: latree {ctx and ctx.info_name} {path} DATA")
        return path


data_file = DataPath()


def new_output(
    text: str, required: bool = False, may_force: bool = True, endings: Sequence[str] = (), folder: bool = False
) -> Callable[[Any], Any]:
    """Return the option --out for a file or folder that does not exist yet, with --force to replace one that does.

    Neither replaces an input of the command. A file must have one of the endings, if there are any.
    """
    out = click.option("--out", type=file, required=required, help=text)
    force = click.option(
        "--force",
        is_flag=True,
        expose_value=False,
        callback=_remember_force,
        help="Replace the files of an earlier fit in --out; all others stay."
        if folder
        else "Replace --out if it exists.",
    )

    def add(command: Any) -> Any:
        @wraps(command)
        def checked(*arguments: Any, **options: Any) -> Any:
            with _claimed_output(click.get_current_context(), endings, folder):
                return command(*arguments, **options)

        return out(force(checked) if may_force else checked)

    return add


class _Within:
    """A number within limits, whose mistakes are told in plain words."""

    noun: str
    min: Any
    max: Any
    min_open: bool
    max_open: bool

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        try:
            return super().convert(value, param, ctx)  # type: ignore[misc]
        except click.BadParameter:
            self.fail(f"{value!r:.60} is not {self.describe()}", param, ctx)  # type: ignore[attr-defined]

    def describe(self) -> str:
        """Return what the option takes, with its limits."""
        above = "above" if self.min_open else "of at least" if self.max is None else "from"
        low = "" if self.min is None else f" {above} {self.min}"
        high = "" if self.max is None else f" {'and below' if self.max_open else 'to'} {self.max}"
        return f"a {self.noun}{low}{high}"


class Whole(_Within, click.IntRange):
    """A whole number within limits."""

    noun = "whole number"


class Number(_Within, click.FloatRange):
    """A number within limits."""

    noun = "number"


class OrAuto(click.ParamType):  # type: ignore[type-arg]  # generic only since click 8.4
    """A number, or `auto` for a number that latree chooses."""

    def __init__(self, number: Whole | Number, name: str) -> None:
        self.number, self.name = number, f"auto|{name}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or None for `auto`."""
        if value == "auto":
            return None
        try:
            return self.number.convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r:.60} is neither auto nor {self.number.describe()}", param, ctx)


class Choice(_Choice):
    """One of several words; the message about another word suggests one like it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            hint = did_you_mean(value, self.choices)
            self.fail(f"{error.message} {hint[:1].upper()}{hint[1:]}".strip(), param, ctx)


# The endings of the tables that commands write.
TABLE_ENDINGS = (".csv", ".tsv", ".txt")

out_file = new_output("New .csv, .tsv or .txt file; by default the rows are printed.", endings=TABLE_ENDINGS)
seed = click.option("--seed", type=Whole(min=0), default=0, show_default=True, help="Seed of the random numbers.")
quiet = click.option("--quiet", is_flag=True, help="Print nothing but errors.")
unseen = click.option(
    "--unseen",
    type=Choice(["error", "missing"]),
    default="error",
    show_default=True,
    help="What to do with a category that was not in the data of the fit. With error, a number takes the nearest one "
    "that was there.",
)


class _FormatOption(click.Option):
    """An option whose help lists the formats of files; only that help needs the modules that read them."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the lines of the help."""
        from latree.table.opening import formats_in_words

        self.help = f"Format of DATA, if the ending of its name does not tell it: {formats_in_words()}"
        return super().get_help_record(ctx)


names = click.option(
    "--names",
    type=file,
    help="Text file with one name per line, for the columns of a sparse matrix (.npz or .mtx).",
)
data_format = click.option("--format", metavar="NAME", cls=_FormatOption, help="Format of DATA.")


def new_rows(command: Any) -> Any:
    """Add the options that say how new rows are read."""
    return names(data_format(unseen(command)))


checkpoint = click.option(
    "--checkpoint",
    type=file,
    metavar="DIR",
    help="Folder that keeps finished parts of the work, so that the same command continues after a stop; removed at "
    "the end.",
)
identifier = click.option(
    "--id",
    "identifier",
    metavar="COLUMN",
    help="Column of DATA that names the rows; by default that of the fit, or else a number.",
)
weights = click.option(
    "--weights",
    metavar="COLUMN",
    help="Column of DATA with the weights of the rows; by default that of the fit, if DATA has it.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")

# Options that change no result, and that a recorded command therefore leaves out.
_WITHOUT_EFFECT = ("out", "quiet", "as_json", "checkpoint", "scheduler")


class Interrupted(click.Abort):
    """Ctrl-C, with the message for the user."""


# From a function that returns all settings to the keeper of the work that is done with them.
KeepFor: TypeAlias = "Callable[[Callable[[], dict[str, Any]]], Keeper]"


def refuse_same(out: Path | None, checkpoint: Path | None) -> None:
    """Raise if the results would go into the folder of the checkpoint."""
    if out is not None and checkpoint is not None and out.resolve() == checkpoint.resolve():
        raise InputError(f"{checkpoint}: both --out and --checkpoint; choose two folders, --checkpoint is removed")


@contextmanager
def resumable(folder: Path | None, out: Path | None, has_parts: bool = True) -> "Iterator[KeepFor]":
    """Keep work in a folder, if one is given, until its result is written; on Ctrl-C, say what is kept.

    ``has_parts`` says whether the work has finished parts that could be kept.
    """
    from latree._util.checkpoint import NOTHING_KEPT, Checkpoint

    refuse_same(out, folder)
    opened: list[Checkpoint] = []

    def keep_for(settings: Callable[[], dict[str, Any]]) -> "Keeper":
        if folder is None:
            return NOTHING_KEPT
        opened.append(Checkpoint(folder, {SHELL_NAMES.get(name, name): value for name, value in settings().items()}))
        return opened[0]

    done = False
    try:
        yield keep_for
        done = True
    except KeyboardInterrupt:
        message = "nothing was written"
        if kept := "".join(checkpoint.describe() for checkpoint in opened):
            message = f"no result was written, but {folder} keeps {kept}; run the same command again to continue"
        elif folder is None and has_parts:
            message += " (--checkpoint DIR would have kept finished work)"
        raise Interrupted(f"interrupted; {message}") from None
    finally:
        for checkpoint in opened:
            if done or not checkpoint.describe():  # an empty one would only block runs with other settings
                checkpoint.remove()
            checkpoint.close()


# Writes rows of cells.
WriteRows: TypeAlias = Callable[[Iterable[Sequence[object]]], None]


@contextmanager
def rows_output(out: Path | None) -> Iterator[WriteRows]:
    """Yield a function that prints rows, or writes them to a new file, whole or not at all."""
    from latree._util.files import new_file
    from latree.table.formats.text import delimiter_of, write_lines

    if out is None:
        yield lambda rows: click.echo(write_lines(rows), nl=False)
        return
    with new_file(out, may_replace()) as stream:

        def write(rows: Iterable[Sequence[object]]) -> None:
            stream.write(write_lines(rows, delimiter_of(out)).encode())

        yield write


def tell(
    facts: Mapping[str, Any],
    lines: Sequence[str],
    table: Iterable[Sequence[object]],
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a finding as a table, if there is a file for it, and print it as JSON or in lines of text."""
    from latree._util.files import to_json

    if out is not None:
        with rows_output(out) as write:
            write(table)
    if as_json:
        click.echo(to_json(facts), nl=False)
    elif not quiet:
        click.echo("\n".join(lines))
        if out is not None:
            click.echo(f"\nWritten to {out}")


def command_line(*arguments: str, name: str | None = None, more: str = "") -> str:
    """Return the running command with the options that differ from their defaults.

    The arguments name files without their folders, which are private; a folder that was given for results is "run".
    ``name`` is another command with the same options that writes such a folder, and ``more`` are further options.
    """
    context = click.get_current_context()
    words = ["latree", name or str(context.info_name), *arguments]
    for option in context.command.params:
        value = context.params.get(str(option.name))
        if not isinstance(option, click.Option) or option.name in _WITHOUT_EFFECT:
            continue
        if value == option.get_default(context) or value in ((), None):
            continue
        if option.is_flag:
            words.append(option.opts[-1])
            continue
        for one in value if isinstance(value, tuple) else (value,):
            words += [option.opts[-1], one.name if isinstance(one, Path) else str(one)]
    out = "--out run" if context.params.get("out") or name else ""
    return " ".join(filter(None, [shlex.join(words), more, out]))


def checksum(path: Path) -> str:
    """Return a short checksum of a file's content."""
    return sha256(path.read_bytes()).hexdigest()[:16]


def load_model(path: Path) -> "LatentTreeModel":
    """Read a model.json."""
    from latree.model import LatentTreeModel

    if path.is_file() and not is_model(path):
        raise InputError(f"{path}: is not a model; give a model.json or the folder of a fit")
    return LatentTreeModel.load(path)


def reading_of_rows(
    data: Path, model: "LatentTreeModel", format: str | None, unseen: Any, names: Path | None, **columns: str | None
) -> dict[str, Any]:
    """Return the arguments that read new rows.

    The columns that name or weight rows are as given, or those of the fit if the data have them.
    """
    from latree.table.opening import open_source

    record = model.record
    given = names_of_matrix(data, model, format, names)
    known: Sequence[str] = ()
    for role in ("identifier", "weights"):
        remembered = getattr(record, role, None)
        if columns.setdefault(role, None) is None and remembered is not None:
            known = known or open_source(data, given, format=format).names
            columns[role] = remembered if remembered in known else None
    are = (record.weights_are if record else None) or "survey"
    return {**columns, "weights_are": are, "format": format, "unseen": unseen, "names": given}


def names_of_matrix(
    data: Path, model: "LatentTreeModel", format: str | None, names: Path | None
) -> Sequence[str] | None:
    """Return the names of the columns of a sparse matrix in a file; None for a file that has names itself.

    They are in a file, too, or those of the fit in their order.
    """
    from latree._util.files import read_text
    from latree.table.opening import find_files, open_source

    if names is not None:
        return read_text(names).splitlines()
    if not find_files(data, format)[0].takes_names:
        return None
    n_columns = len(open_source(data, None, format=format).names)
    fitted = (model.record.columns if model.record else ()) or model.tree.names
    if n_columns not in (len(fitted), model.tree.n_observed):
        raise InputError(
            f"{data}: {n_columns} columns where the fit had {len(fitted)}: give the same columns in the same order, or "
            "their names with --names"
        )
    return fitted if n_columns == len(fitted) else model.tree.names


def read_rows(data: Path, model: "LatentTreeModel", **options: Any) -> tuple["Table", dict[str, Any]]:
    """Read a table with the columns of a model; return it with the arguments that read it. Raise if it has no rows."""
    from latree.table import as_table

    how = reading_of_rows(data, model, **options)
    table = as_table(data, columns=model.columns, **how)
    if table.n_rows == 0:
        raise InputError(f"{data}: no rows, only column names")
    return table, how


def load_tree(path: Path) -> "Tree":
    """Read the tree of a model.json, or a Newick file."""
    from latree._util.files import read_text
    from latree.tree import Tree

    if is_model(path):
        return load_model(path).tree
    text = read_text(path)
    try:
        return Tree.from_newick(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def is_model(path: Path) -> bool:
    """Return whether a file is a model, and not a tree, by its name."""
    return path.suffix == ".json"
