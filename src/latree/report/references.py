"""Simple models of the same rows, to see what a tree's model gains over them."""

from collections.abc import Iterator
from itertools import accumulate
from itertools import pairwise as spans
from typing import NamedTuple

from latree._util.progress import WHOLE, Progress, no_progress, part_of
from latree.counts.distances import information, pairwise
from latree.inference.em import ConvergenceMonitor, fit_model
from latree.learners.chow_liu import chow_liu
from latree.learners.independent import independent
from latree.learners.latent_class import latent_class
from latree.model import LatentTreeModel
from latree.model.states import rough_tolerance
from latree.table import Table
from latree.tree import Tree

MOST_ROWS = 100_000  # that simple models are fitted to: they have few parameters, and more rows hardly change them
_ITERATIONS = 20  # of EM for one hidden variable; more hardly change the comparison
_CLASSES = (2, 4, 8, 16, 32)
_SEED = 0


class Reference(NamedTuple):
    """A simple model."""

    name: str
    what: str
    model: LatentTreeModel


def references(table: Table, smoothing: float, progress: Progress = no_progress) -> Iterator[Reference]:
    """Fit independent columns, the Chow-Liu tree, and one hidden variable with as many states as BIC pays for.

    Of many rows, some at random are fitted.
    """
    if table.n_rows > MOST_ROWS:
        table = table.subsample(MOST_ROWS, _SEED)
    work = list(accumulate([0, 1, 2, *_CLASSES]))  # a fit's is in proportion to its states, but for the first two
    told = [part_of(progress, *(WHOLE * end // work[-1] for end in span)) for span in spans(work)]
    tree = independent(table.names).tree
    yield Reference("Independent columns", "no dependence at all", _fitted(table, tree, 1, smoothing, told[0]))
    if table.n_columns == 1:
        return  # there is no dependence to model
    tree = chow_liu(table.names, pairwise(table, information)).tree
    yield Reference(
        "Chow-Liu tree", "the best tree without hidden variables", _fitted(table, tree, 1, smoothing, told[1])
    )
    tree = latent_class(table.names).tree
    best, lowest = None, float("inf")
    for n_states, progress in zip(_CLASSES, told[2:], strict=True):
        model = _fitted(table, tree, n_states, smoothing, progress)
        bic = model.bic(table)
        if bic >= lowest:
            break
        best, lowest = model, bic
    if best is not None:
        states = len(best.tables[table.n_columns])
        yield Reference("One hidden variable", f"{states} classes of rows, the number by BIC", best)


def _fitted(table: Table, tree: Tree, n_states: int, smoothing: float, progress: Progress) -> LatentTreeModel:
    return fit_model(
        table,
        tree,
        n_states,
        smoothing=smoothing,
        monitor=ConvergenceMonitor(rough_tolerance(table), _ITERATIONS),
        random_state=_SEED,
        progress=progress,
    ).model
