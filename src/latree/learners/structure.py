"""What a learner finds, and the two structures that need no learning."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from latree.model import LatentTreeModel
from latree.model.fitting import Choice
from latree.model.record import Candidate
from latree.table import Table
from latree.tree import Tree


class Replicate(NamedTuple):
    """What a search found in a random part of the rows.

    Attributes
    ----------
    model : LatentTreeModel
        With the columns of the model that it replicates, in any order.
    rows : Table
        The rows that it was fitted to, encoded with its columns.
    starts : tuple of Tree
        The trees that the search could start from.
    """

    model: LatentTreeModel
    rows: Table
    starts: tuple[Tree, ...] = ()


@dataclass(frozen=True)
class Structure:
    """What a learner found.

    Attributes
    ----------
    tree : Tree
    facts : dict
        Counts worth reporting, such as the number of quartet tests.
    start : LatentTreeModel, optional
        A model with this tree, if the learner estimates one: EM starts there.
    choice : Choice, optional
        Numbers of states and smoothing, if the learner chose them on held-out rows.
    candidates : tuple of Candidate, optional
        The kinds of models that held-out rows chose from, the chosen one first.
    replicates : tuple of Replicate
        What the same search found in random parts of the rows.

    Examples
    --------
    >>> from latree.learners.structure import latent_class
    >>> structure = latent_class(["a", "b", "c"])
    >>> structure.tree, structure.n_states
    (<Tree: 3 observed, 1 hidden>, None)
    """

    tree: Tree
    facts: dict[str, int] = field(default_factory=dict)
    start: LatentTreeModel | None = None
    choice: Choice | None = None
    candidates: tuple[Candidate, ...] | None = None
    replicates: tuple[Replicate, ...] = ()

    @property
    def n_states(self) -> tuple[int, ...] | None:
        """Number of states of each hidden variable, if the learner finds it."""
        return None if self.start is None else tuple(self.start.n_states[self.tree.n_observed :].tolist())


def independent(names: Sequence[str]) -> Structure:
    """Build the forest without edges, in which every column is independent of all others.

    Use it as the baseline that every other structure should beat.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.

    Examples
    --------
    >>> from latree.learners.structure import independent
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
    >>> from latree.learners.structure import latent_class
    >>> latent_class("abc").tree.edges.tolist()
    [[0, 3], [1, 3], [2, 3]]
    """
    d = len(names)
    return Structure(Tree(names, [(column, d) for column in range(d)] if d > 1 else []))
