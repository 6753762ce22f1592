"""Learners of structure: from evidence about columns to a tree. One file holds one learner."""

from dataclasses import dataclass, field

from latree._util.arrays import FloatArray
from latree.tree import Tree


@dataclass(frozen=True)
class Structure:
    """What a learner found.

    Attributes
    ----------
    tree : Tree
    facts : dict
        Counts worth reporting, such as the number of quartet tests.
    n_states : tuple of int, optional
        Number of states of each hidden variable, if the learner finds it.
    edge_tables : tuple of array, optional
        Joint distributions of the two ends of each edge, if the learner estimates them: where EM may start.
    """

    tree: Tree
    facts: dict[str, int] = field(default_factory=dict)
    n_states: tuple[int, ...] | None = None
    edge_tables: tuple[FloatArray, ...] | None = None
