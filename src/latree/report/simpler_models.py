"""Simpler models of the same rows, which show what the model with the tree gains over them."""

from collections.abc import Iterator
from itertools import accumulate
from itertools import pairwise as neighbouring_pairs
from typing import NamedTuple

from latree._util.progress import WHOLE, Progress, no_progress, part_of
from latree.counts.distances import information, pairwise
from latree.learners.chow_liu import chow_liu
from latree.learners.independent import independent
from latree.learners.latent_class import latent_class
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
    """A simpler model, with a name and a short description for the reader."""

    name: str
    description: str
    model: LatentTreeModel


def fit_simpler_models(table: Table, smoothing: float, progress: Progress = no_progress) -> Iterator[SimplerModel]:
    """Fit independent columns, the Chow-Liu tree, and a latent class model whose number of classes minimises BIC.

    If the table has more than ``MAX_ROWS`` rows, the models are fitted to a random sample of them.
    """
    if table.n_rows > MAX_ROWS:
        table = table.subsample(MAX_ROWS, _SEED)
    # The time of a fit is about proportional to its number of states; the first two models take 1 and 2 units.
    ends = list(accumulate([0, 1, 2, *_N_CLASSES]))
    parts = [
        part_of(progress, WHOLE * start // ends[-1], WHOLE * end // ends[-1]) for start, end in neighbouring_pairs(ends)
    ]
    tree = independent(table.names).tree
    yield SimplerModel("Independent columns", "no dependence at all", _fit(table, tree, 1, smoothing, parts[0]))
    if table.n_columns == 1:
        return  # there is no dependence to model
    tree = chow_liu(table.names, pairwise(table, information)).tree
    model = _fit(table, tree, 1, smoothing, parts[1])
    yield SimplerModel("Chow-Liu tree", "the best tree without hidden variables", model)
    tree = latent_class(table.names).tree
    best, lowest_bic = None, float("inf")
    for n_classes, part in zip(_N_CLASSES, parts[2:], strict=True):
        model = _fit(table, tree, n_classes, smoothing, part)
        bic = model.bic(table)
        if bic >= lowest_bic:
            break
        best, lowest_bic = model, bic
    if best is not None:
        n_classes = len(best.tables[table.n_columns])
        yield SimplerModel("One hidden variable", f"{n_classes} latent classes, chosen by BIC", best)


def _fit(table: Table, tree: Tree, n_states: int, smoothing: float, progress: Progress) -> LatentTreeModel:
    return fit_model(
        table,
        tree,
        n_states,
        smoothing=smoothing,
        monitor=ConvergenceMonitor(rough_tolerance(table), _MAX_ITERATIONS),
        random_state=_SEED,
        progress=progress,
    ).model
