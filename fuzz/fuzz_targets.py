"""What the fuzzers feed: one function per reader, from any bytes to nothing.

A reader may accept the bytes or raise an InputError. Any other exception is a bug. To add a reader, write a function
and add it to ``TARGETS``, and put a few small valid files into ``corpus/NAME``.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path

from latree._util.checkpoint import read_arrays
from latree.errors import InputError
from latree.model import LatentTreeModel
from latree.table import as_table
from latree.tree import Tree

_FOLDER = Path(tempfile.mkdtemp(prefix="latree-fuzz-"))


def _file(name: str, content: bytes) -> Path:
    path = _FOLDER / name
    path.write_bytes(content)
    return path


def read_table(format: str, content: bytes) -> None:
    """Read a table of a format, and its rows."""
    table = as_table(_file(f"table.{format}", content), format=format)
    table.codes()


def read_newick(content: bytes) -> None:
    """Read a tree; what is written of it reads back as the same tree."""
    tree = Tree.from_newick(content.decode(errors="replace"))
    tree.draw()
    assert tree.robinson_foulds(Tree.from_newick(tree.to_newick())) == 0


def read_model(content: bytes) -> None:
    """Read a model; use it, and save it."""
    model = LatentTreeModel.load(_file("model.json", content))
    model.draw()
    model.save(_FOLDER / "again.json")
    if sum(column.n_states for column in model.columns) < 100:
        model.log_likelihood(model.sample(2, 0))


def read_checkpoint(content: bytes) -> None:
    """Read the arrays of a checkpoint whose checksum is right."""
    try:
        read_arrays(sha256(content).digest() + content)
    except ValueError as error:
        raise InputError(str(error)) from None


# Formats of tables. The libraries that read the last five do so in a child process, of whose coverage nobody knows.
_TABLES = ("csv", "fasta", "phylip", "nexus", "arff", "basket", "sav", "dta", "xlsx", "npz", "mtx")

TARGETS: dict[str, Callable[[bytes], None]] = {
    **{format: partial(read_table, format) for format in _TABLES},
    "newick": read_newick,
    "model": read_model,
    "checkpoint": read_checkpoint,
}


def feed(name: str, content: bytes) -> bool:
    """Feed bytes to a reader; return whether it accepts them. All but an InputError of one line passes through."""
    try:
        TARGETS[name](content)
    except InputError as error:
        if "\n" in str(error):
            raise RuntimeError("a message has several lines") from error
        return False
    return True
