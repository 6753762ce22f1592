"""What every learner takes beside the table and the settings, and what it returns."""

from dataclasses import dataclass, field

import numpy as np

from latree._util.arrays import FloatArray, generator
from latree._util.checkpoint import NOTHING_KEPT, Keeper
from latree._util.progress import WHOLE, Progress, no_progress, part_of
from latree.model.record import Candidate
from latree.model.states import Choice
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
    >>> from latree.learners import latent_class
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
