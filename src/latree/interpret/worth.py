"""Whether hidden variables are worth having: held-out likelihood beside simpler models.

Rows are divided into folds. Each fold is scored under models that were fitted to the other folds. The tree and the
numbers of states stay those of the model, which were found on all rows: the whole learner would take too long to run
again for each fold. The Chow-Liu tree has the same advantage, so that the comparison is fair (docs/worth.md).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import claim_progress
from latree._util.workers import map_forked, map_ordered
from latree.counts.distances import information, pairwise
from latree.inference.em import DEFAULT_SMOOTHING
from latree.interpret.wide import WIDE
from latree.learners.grouping import chow_liu
from latree.learners.structure import independent, latent_class
from latree.model import ConvergenceMonitor, LatentTreeModel, fit_model
from latree.model.fitting import Fit, Part, rough_tolerance
from latree.model.record import SimplerGain, Worth
from latree.table import Table
from latree.table.table import row_weights
from latree.tree import Tree

# The simpler models are fitted to at most this many rows. They have few parameters, so more rows hardly change them.
MAX_ROWS = 100_000
# EM for the latent class model stops after this many iterations. More iterations hardly change the comparison.
_MAX_ITERATIONS = 20
# The numbers of latent classes to try, until BIC no longer improves.
_N_CLASSES = (2, 4, 8, 16, 32)
# The columns of a wide table that are compared with each other, and with as many others, for the Chow-Liu tree. This
# is several times as many as most groups of columns have.
_BLOCK = 100
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


def chow_liu_tree(table: Table, near: Tree | None = None) -> Tree:
    """Return the Chow-Liu tree of a table.

    Parameters
    ----------
    table : Table
    near : Tree, optional
        A tree over the same columns, with hidden variables. If the table is wide, not all pairs of columns are
        candidates for an edge, but those that are near each other in this tree.
    """
    if near is None or table.n_columns <= WIDE:
        return chow_liu(table.names, pairwise(table, information)).tree
    # In the order of a visit of the tree, columns of a subtree stand next to each other. Each is compared with the
    # columns of its own block of this order, and with those of the next block.
    order = np.array([node for node in near.reordered(table.names).rooted().order.tolist() if node < table.n_columns])
    block_of = np.arange(len(order)) // _BLOCK
    blocks = np.split(order, np.flatnonzero(np.diff(block_of)) + 1)
    rows = table.subsample(MAX_USED, _SEED)

    def candidates(number: int) -> tuple[IntArray, IntArray, FloatArray]:
        columns = np.concatenate(blocks[number : number + 2])
        own = Table(tuple(rows.columns[column] for column in columns), rows.rows.reordered(columns))
        first, second = np.triu_indices(len(columns), 1)
        is_new = first < len(blocks[number])
        first, second = first[is_new], second[is_new]
        return columns[first], columns[second], pairwise(own, information)[first, second]

    found = map_ordered(candidates, range(len(blocks)))
    one, other, shared = (np.concatenate(some) for some in zip(*found, strict=True))
    # The smallest spanning tree of what is lacking to more than the largest information: no edge has the weight 0.
    lacking = csr_array((2 * shared.max() + 1 - shared, (one, other)), shape=(table.n_columns, table.n_columns))
    return Tree(table.names, np.stack(minimum_spanning_tree(lacking).tocoo().coords, axis=1))


def _fit(table: Table, tree: Tree, n_states: int) -> LatentTreeModel:
    monitor = ConvergenceMonitor(rough_tolerance(table), _MAX_ITERATIONS)
    return fit_model(table, tree, n_states, smoothing=DEFAULT_SMOOTHING, monitor=monitor, random_state=_SEED).model


# With fewer rows than this, nothing is measured: the standard error would be as large as the gain.
MIN_ROWS = 30

# Number of folds of the rows.
_FOLDS = 3

# Once this many rows are held out, no more folds are scored: standard errors are small enough. In a wide table, a row
# has so many cells that this many cells do, too.
_MAX_JUDGED, _MAX_JUDGED_CELLS = 5000, 5000 * WIDE

# At most this many rows are used. One fold of them has as many rows as are held out at most.
MAX_USED = _FOLDS * _MAX_JUDGED

# A start that knows the model keeps this weight of each of its probabilities; the rest is the variable's distribution.
_START_WEIGHT = 0.4

# A start that knows the model is used if EM gets further from there than from a random start in the first fold, by more
# nats than two optima of a model with too many states differ.
_MIN_STUCK = 30.0

_SEED = 0

_OWN = "own"  # the model among simpler ones


def measure_worth(model: LatentTreeModel, data: Any, *, smoothing: float | None = None) -> Worth | None:
    """Measure by cross-validation how much more probable a model makes new rows than independent columns do.

    Use it to see what the hidden variables are worth for prediction, and whether a simpler model predicts as well. The
    gain of a row x is ``log P(x) - Σ_i log P(x_i)``, in nats, where both sides were fitted without x. The tree and the
    numbers of states are kept; probabilities are fitted again for each of three folds. The same is done for the
    Chow-Liu tree of all rows, and for a latent class model whose number of classes minimises BIC in the first fold. At
    most 15,000 rows are used, and about 5000 of them are held out, or as many as have 5 million cells. The same rows
    give the same figures.

    Parameters
    ----------
    model : LatentTreeModel
    data : data frame, array, path or Table
        The rows that the model was fitted to. Rows whose weights are whole numbers count as repeated rows.
    smoothing : float, optional
        Pseudo-rows per cell of a probability table; by default that of the model's own fit, or else 0.1.

    Returns
    -------
    Worth or None
        None if there are fewer than 30 rows.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.worth import measure_worth
    >>> tree = latree.random_tree(6, random_state=0)
    >>> true = latree.random_model(tree, n_states=2, start="identity", perturbation=0.1, random_state=0)
    >>> worth = measure_worth(true, true.sample(300, random_state=0))
    >>> round(worth.gain, 2), round(worth.error, 2)
    (0.99, 0.08)
    """
    progress = claim_progress()
    table = model.encode(data)
    rng = np.random.default_rng(_SEED)
    rows = table.units(MAX_USED, rng)
    if rows.n_rows < MIN_ROWS:
        return None
    parts = folds(rows, rng)
    refits, simpler = Refits(model, smoothing), partial(_simpler_models, chow_liu_tree(rows, model.tree))
    # The first fold decides where EM starts, and how many classes there are.
    progress(0, len(parts))
    tries = [partial(_scored, refits, start, parts[0]) for start in refits.starts]
    *tried, beside = _on_all_cores([*tries, partial(simpler, None, parts[0])])
    chosen = refits.chosen([one.objective for one in tried])
    progress(1, len(parts))
    fits = [partial(_scored, refits, refits.starts[chosen]), partial(simpler, beside.n_classes or None)]
    later = _on_all_cores([partial(fit, part) for fit in fits for part in parts[1:]])
    progress(len(parts), len(parts))
    found = [tried[chosen], beside, *later]
    weights = np.concatenate([part.judged.map(row_weights) for part in parts])
    own, independent, *others = (
        np.concatenate([one.rows[method] for one in found if method in one.rows]) for method in (_OWN, *beside.rows)
    )
    methods = list(beside.rows)[1:]
    return Worth(
        _kind(model.tree),
        len(own),
        *mean_of(own - independent, weights),
        tuple(
            SimplerGain(
                method,
                beside.n_classes if method == "lcm" else 0,
                *mean_of(scores - independent, weights),
                *mean_of(own - scores, weights),
            )
            for method, scores in zip(methods, others, strict=True)
        ),
    )


class _Scored(NamedTuple):
    """What models that were fitted to some rows say about others."""

    rows: dict[str, FloatArray]  # log-likelihoods, for each model
    objective: float = 0.0  # what EM reached
    n_classes: int = 0


class Refits:
    """Fits a model's probabilities again to the rows outside a fold.

    EM that starts from the model knows the held-out rows: states of a model with too many of them stay where the
    held-out rows put them. So EM starts at random. If it is stuck there in the first fold, that is, if it gets clearly
    further from a start that knows the model in rough outline, it starts there in all folds (docs/worth.md).
    """

    def __init__(self, model: LatentTreeModel, smoothing: float | None = None) -> None:
        if smoothing is None:
            smoothing = model.record.smoothing if model.record else DEFAULT_SMOOTHING
        self.tree, self.smoothing = model.tree, smoothing
        self.n_states = model.n_states[model.tree.n_observed :].tolist()
        # P'(x | h) = w P(x | h) + (1 - w) P(x)
        outline = tuple(
            _START_WEIGHT * table + (1 - _START_WEIGHT) * marginal[:, None]
            for table, marginal in zip(model.tables, model.network.marginals(), strict=True)
        )
        # Without hidden variables there is one optimum, and EM finds it from any start.
        self.starts = [None, LatentTreeModel(model.tree, model.columns, outline)] if self.n_states else [None]

    def fit(self, start: LatentTreeModel | None, part: Part) -> Fit:
        """Return the fit to the rows outside a fold, with EM from this start."""
        return fit_model(
            part.fitted, self.tree, self.n_states, smoothing=self.smoothing, start=start, random_state=_SEED
        )

    @staticmethod
    def chosen(objectives: Sequence[float]) -> int:
        """Return the number of the start that the first fold asks for, given what EM reached from each."""
        return int(objectives[-1] - objectives[0] > _MIN_STUCK)


def _scored(refits: Refits, start: LatentTreeModel | None, part: Part) -> _Scored:
    """Return the scores of the rows of a fold, with EM from this start."""
    fit = refits.fit(start, part)
    return _Scored({_OWN: fit.model.log_likelihood_rows(part.judged)}, fit.objective)


def _simpler_models(tree: Tree, n_classes: int | None, part: Part) -> _Scored:
    """Return the scores of the rows of a fold under simpler models, independent columns first."""
    found = list(fit_simpler_models(part.fitted, tree, n_classes))
    rows = {simpler.method: simpler.model.log_likelihood_rows(part.judged) for simpler in found}
    return _Scored(rows, n_classes=found[-1].n_classes)


def _on_all_cores(tasks: Sequence[Callable[[], _Scored]]) -> list[_Scored]:
    return map_forked(lambda task: task(), tasks)


def folds(rows: Table, rng: np.random.Generator) -> list[Part]:
    """Divide rows into random folds; return as many as are needed to hold out enough rows."""
    fold = rng.permutation(rows.n_rows) % _FOLDS
    n_judged = min(_MAX_JUDGED, _MAX_JUDGED_CELLS / rows.n_columns)
    n_needed = min(_FOLDS, ceil(_FOLDS * n_judged / rows.n_rows))
    return [
        Part(rows.take(np.flatnonzero(fold != number)), rows.take(np.flatnonzero(fold == number)))
        for number in range(n_needed)
    ]


def mean_of(values: FloatArray, weights: FloatArray) -> tuple[float | None, float | None]:
    """Return the weighted mean of values and its standard error; None for both if some values are infinite."""
    if not np.isfinite(values).all():
        return None, None
    mean = float(np.average(values, weights=weights))
    return mean, float(np.sqrt(np.sum((weights * (values - mean)) ** 2)) / weights.sum())


def _kind(tree: Tree) -> str:
    """Return the method that learns trees of this kind, if it is a simple one."""
    if not len(tree.edges):
        return "independent"
    if not tree.n_hidden:
        return "chow-liu"
    return "lcm" if tree.n_hidden == 1 and len(tree.neighbors[tree.n_observed]) == tree.n_observed else "latent tree"
