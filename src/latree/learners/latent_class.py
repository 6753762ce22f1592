"""Latent class analysis: one hidden variable above all columns."""

from collections.abc import Sequence

from latree.learners.structure import Structure
from latree.tree import Tree


def latent_class(names: Sequence[str]) -> Structure:
    """Hang all columns on one hidden variable; a single column stays alone."""
    d = len(names)
    return Structure(Tree(names, [(column, d) for column in range(d)] if d > 1 else []))
