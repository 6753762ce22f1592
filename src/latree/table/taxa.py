"""What the readers of alignments return: taxa with their sequences."""

from pathlib import Path
from typing import Literal, NamedTuple

from latree.errors import InputError


class Taxon(NamedTuple):
    """A sequence: its name, the line on which it begins, and its letters, one per site."""

    name: str
    line: int
    sequence: str


class Characters(NamedTuple):
    """All sequences of a file, and the kind of their letters, if the file says it."""

    taxa: list[Taxon]
    datatype: Literal["nucleotide", "protein", "standard"] | None = None


def bad_line(path: Path, line: int, what: str, remedy: str) -> InputError:
    """Return the error for what is wrong on a line of a file."""
    return InputError(f"{path}: line {line}: {what}: {remedy}")
