"""Latent class analysis: one hidden variable above all columns."""

from collections.abc import Sequence

from latree.builders import Structure
from latree.tree import Tree


def latent_class(names: Sequence[str]) -> Structure:
    """Hang all columns on one hidden variable."""
    return Structure(Tree(names, [(column, len(names)) for column in range(len(names))]))
