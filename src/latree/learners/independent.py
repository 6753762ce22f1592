"""Independent columns: no structure at all."""

from collections.abc import Sequence

from latree.learners.structure import Structure
from latree.tree import Tree


def independent(names: Sequence[str]) -> Structure:
    """Build the forest without edges, in which every column is independent of all others.

    Use it as the baseline that every other structure should beat.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.

    Examples
    --------
    >>> from latree.learners import independent
    >>> independent(["height", "colour"]).tree.edges.tolist()
    []
    """
    return Structure(Tree(names, []))
