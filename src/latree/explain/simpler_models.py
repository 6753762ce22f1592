"""Simpler models of the same rows, which show what a model with a tree of hidden variables gains over them."""

from collections.abc import Iterator
from typing import NamedTuple

from latree.counts.distances import information, pairwise
from latree.inference.em import DEFAULT_SMOOTHING
from latree.learners.chow_liu import chow_liu
from latree.learners.simplest import independent, latent_class
from latree.model import ConvergenceMonitor, LatentTreeModel, fit_model
from latree.model.states import rough_tolerance
from latree.table import Table
from latree.tree import Tree

# The simpler models are fitted to at most this many rows. They have few parameters, so more rows hardly change them.
MAX_ROWS = 100_000
# EM for the latent class model stops after this many iterations. More iterations hardly change the comparison.
_MAX_ITERATIONS = 20
# The numbers of latent classes to try, until BIC no longer improves.
_N_CLASSES = (2, 4, 8, 16, 32)
_SEED = 0


class SimplerModel(NamedTuple):
    """A simpler model, and the name of the method that learns it."""

    method: str
    model: LatentTreeModel

    @property
    def n_classes(self) -> int:
        """Number of states of its hidden variable; 0 if there is none."""
        return int(self.model.n_states[-1]) if self.model.tree.n_hidden else 0


def fit_simpler_models(table: Table, tree: Tree | None = None, n_classes: int | None = None) -> Iterator[SimplerModel]:
    """Fit independent columns, the Chow-Liu tree and a latent class model, as their methods would by default.

    Parameters
    ----------
    table : Table
        If it has more than ``MAX_ROWS`` rows, the models are fitted to a random sample of them.
    tree : Tree, optional
        The Chow-Liu tree; by default that of the table.
    n_classes : int, optional
        Number of latent classes; by default the number that minimises BIC. Tables of one column have only one model.
    """
    if table.n_rows > MAX_ROWS:
        table = table.subsample(MAX_ROWS, _SEED)
    yield SimplerModel("independent", _fit(table, independent(table.names).tree, 1))
    if table.n_columns == 1:
        return  # there is no dependence to model
    yield SimplerModel("chow-liu", _fit(table, tree or chow_liu_tree(table), 1))
    star = latent_class(table.names).tree
    best, lowest_bic = None, float("inf")
    for number in _N_CLASSES if n_classes is None else (n_classes,):
        model = _fit(table, star, number)
        bic = model.bic(table) if n_classes is None else 0.0
        if bic >= lowest_bic:
            break
        best, lowest_bic = model, bic
    if best is not None:
        yield SimplerModel("lcm", best)


def chow_liu_tree(table: Table) -> Tree:
    """Return the Chow-Liu tree of a table."""
    return chow_liu(table.names, pairwise(table, information)).tree


def _fit(table: Table, tree: Tree, n_states: int) -> LatentTreeModel:
    monitor = ConvergenceMonitor(rough_tolerance(table), _MAX_ITERATIONS)
    return fit_model(table, tree, n_states, smoothing=DEFAULT_SMOOTHING, monitor=monitor, random_state=_SEED).model
