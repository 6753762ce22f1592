"""Learners of structure: from evidence about columns to a tree. One file holds one learner."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from latree.tree import Tree

# Told how much of how much is done.
Progress: TypeAlias = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Structure:
    """What a learner found.

    Attributes
    ----------
    tree : Tree
    facts : dict
        Counts worth reporting, such as the number of quartet tests.
    """

    tree: Tree
    facts: dict[str, int] = field(default_factory=dict)
