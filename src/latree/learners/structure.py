"""What a learner finds, and the two structures that need no learning."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from latree._util.arrays import FloatArray, generator
from latree._util.checkpoint import NOTHING_KEPT, Keeper
from latree._util.progress import WHOLE, Progress, no_progress, part_of
from latree.model.fitting import Choice
from latree.model.record import Candidate
from latree.settings import Settings
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
        Joint distributions of the two ends of each edge, if the learner estimates them: EM starts there.
    choice : Choice, optional
        Numbers of states and smoothing, if the learner chose them on held-out rows.
    candidates : tuple of Candidate, optional
        The kinds of models that held-out rows chose from, the chosen one first.

    Examples
    --------
    >>> from latree.learners.structure import latent_class
    >>> structure = latent_class(["a", "b", "c"])
    >>> structure.tree, structure.n_states
    (<Tree: 3 observed, 1 hidden>, None)
    """

    tree: Tree
    facts: dict[str, int] = field(default_factory=dict)
    n_states: tuple[int, ...] | None = None
    edge_tables: tuple[FloatArray, ...] | None = None
    choice: Choice | None = None
    candidates: tuple[Candidate, ...] | None = None


@dataclass(frozen=True)
class Context:
    """What accompanies one run of a learner and changes nothing about its result but the random numbers.

    Attributes
    ----------
    rng : Generator
        Source of everything random.
    progress : callable
        Called with how much of the work is done.
    keep : Keeper
        Keeps finished pieces of the work, so that a stopped run can go on.
    """

    rng: np.random.Generator
    progress: Progress = no_progress
    keep: Keeper = NOTHING_KEPT

    @classmethod
    def of(cls, settings: Settings, progress: Progress = no_progress, keep: Keeper = NOTHING_KEPT) -> "Context":
        """Return the context of a run with the settings' own random numbers."""
        return cls(generator(settings.random_state), progress, keep)

    def stages(self, share: float) -> tuple[Progress, Progress]:
        """Return what two stages report to: measuring the columns, which takes this share of the time, and building.

        The shares were measured on tables of 30 to 1000 columns. They only matter for the time left that is shown.
        """
        end = round(share * WHOLE)
        return part_of(self.progress, 0, end), part_of(self.progress, end, WHOLE)


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
