"""The simplest structures: independent columns, and one hidden variable above all columns."""

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


def latent_class(names: Sequence[str]) -> Structure:
    """Build the star with one hidden variable, the latent class, in the middle.

    Use it if rows fall into a few classes within which the columns are independent:

        ``P(x_1, ..., x_d) = Σ_h P(h) Π_i P(x_i | h)``

    A single column stays alone.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.

    References
    ----------
    Lazarsfeld and Henry (1968), Latent Structure Analysis.

    Examples
    --------
    >>> from latree.learners import latent_class
    >>> latent_class("abc").tree.edges.tolist()
    [[0, 3], [1, 3], [2, 3]]
    """
    d = len(names)
    return Structure(Tree(names, [(column, d) for column in range(d)] if d > 1 else []))
