"""What the commands share: options, and reading models."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from latree.errors import InputError

if TYPE_CHECKING:
    from latree._util.checkpoint import Keeper
    from latree.model import LatentTreeModel
    from latree.tree import Tree


def refuse_existing_out(context: click.Context, option: click.Parameter, out: Path | None) -> Path | None:
    """Look before the work starts whether its result can be written."""
    from latree._util.files import refuse_existing

    if out is not None:
        refuse_existing(out)
    return out


file = click.Path(path_type=Path)
out_file = click.option(
    "--out", type=file, callback=refuse_existing_out, help="New CSV (or .tsv) file; by default the rows are printed."
)
seed = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of everything random."
)
quiet = click.option("--quiet", is_flag=True, help="Print nothing but errors.")
unseen = click.option(
    "--unseen",
    type=click.Choice(["error", "missing"]),
    default="error",
    show_default=True,
    help="What to do with a category that the model never saw.",
)
checkpoint = click.option(
    "--checkpoint",
    type=file,
    metavar="DIR",
    help="Folder that keeps what is done; the same command goes on there. Removed at the end.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


_LEFT_OUT = ("out", "quiet", "as_json", "checkpoint", "scheduler")  # of commands that are told: they change no result


class Interrupted(click.Abort):
    """Ctrl-C, and what to say about it."""


# From a way to find all settings to what keeps the work done with them.
KeepFor: TypeAlias = "Callable[[Callable[[], dict[str, Any]]], Keeper]"


def refuse_same(out: Path | None, checkpoint: Path | None) -> None:
    """Raise if results are to go where work is kept."""
    if out is not None and checkpoint is not None and out.resolve() == checkpoint.resolve():
        raise InputError(f"{checkpoint}: both --out and --checkpoint; the latter is removed at the end")


@contextmanager
def resumable(folder: Path | None, out: Path | None) -> "Iterator[KeepFor]":
    """Keep work in a folder, if there is one, until its result is out; if Ctrl-C comes, say what is kept."""
    from latree._util.checkpoint import NOTHING_KEPT, Checkpoint

    refuse_same(out, folder)
    opened: list[Checkpoint] = []

    def keep_for(settings: Callable[[], dict[str, Any]]) -> "Keeper":
        if folder is None:
            return NOTHING_KEPT
        opened.append(Checkpoint(folder, settings()))
        return opened[0]

    done = False
    try:
        yield keep_for
        done = True
    except KeyboardInterrupt:
        said = "nothing was written"
        if kept := "".join(checkpoint.describe() for checkpoint in opened):
            said = f"no result was written, but {folder} keeps {kept}; the same command goes on there"
        elif folder is None:
            said += " (--checkpoint DIR would have kept what was done)"
        raise Interrupted(f"interrupted; {said}") from None
    finally:
        for checkpoint in opened:
            if done or not checkpoint.describe():  # an empty one would only stand in the way of other settings
                checkpoint.remove()
            checkpoint.close()


def command_line(*arguments: str) -> str:
    """Give the command that is running, with the options that differ from their defaults; its output is called run.

    Names of files are told without their folders, which are nobody's business.
    """
    context = click.get_current_context()
    words = ["latree", str(context.info_name), *arguments]
    for option in context.command.params:
        value = context.params.get(str(option.name))
        if not isinstance(option, click.Option) or option.name in _LEFT_OUT:
            continue
        if value == option.get_default(context) or value in ((), None):
            continue
        for one in value if isinstance(value, tuple) else (value,):
            words += [option.opts[-1], str(one)]
    return shlex.join([*words, "--out", "run"])


def checksum(path: Path) -> str:
    """Give a short text that differs for files with another content."""
    return sha256(path.read_bytes()).hexdigest()[:16]


def load_model(path: Path) -> "LatentTreeModel":
    """Read a model.json."""
    from latree.model import LatentTreeModel

    return LatentTreeModel.load(path)


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
    """Tell by its name whether a file is a model rather than a tree."""
    return path.suffix == ".json"


class OrAuto(click.ParamType[Any]):
    """A number, or `auto` for one that is found."""

    def __init__(self, number: click.ParamType[Any], name: str) -> None:
        self.number, self.name = number, f"auto|{name}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give None for `auto`."""
        return None if value == "auto" else self.number.convert(value, param, ctx)
