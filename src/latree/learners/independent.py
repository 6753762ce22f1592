"""No structure at all: every column for itself."""

from collections.abc import Sequence

from latree.learners.structure import Structure
from latree.tree import Tree


def independent(names: Sequence[str]) -> Structure:
    """Join nothing."""
    return Structure(Tree(names, []))
