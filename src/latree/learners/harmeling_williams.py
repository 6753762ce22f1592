"""Greedy binary latent trees (Harmeling and Williams 2011, BIN-A).

Groups of columns are joined by average linkage of their columns' mutual information. Each join makes a hidden variable
y above the tops x and z of the two groups, with as many states as minimise the BIC of the local model
``Σ_y P(y) P(x|y) P(z|y)``, given what the columns below say of x and z. Then y stands for its group.
"""

from dataclasses import dataclass, field

import numpy as np

from latree._util.arrays import FloatArray, RandomState, generator
from latree._util.progress import Progress, no_progress
from latree.inference.messages import by_states, upward
from latree.inference.network import Network
from latree.inference.patterns import plan_messages
from latree.learners.structure import Structure
from latree.table import Block, Table
from latree.tree import Tree

_STARTS = 4  # of the local model
_ITERATIONS = 200
_ROUNDING = 1e-9
_EQUAL = 1e-5  # starts whose fits differ by less, in nats a row, found the same
_TOLERANCE = 1e-6  # in nats a row: an iteration that gains less is the last


def harmeling_williams(
    table: Table,
    information: FloatArray,
    *,
    random_state: RandomState = None,
    progress: Progress = no_progress,
) -> Structure:
    """Build a binary tree, or a forest, and find the number of states of every hidden variable.

    Where the paper leaves a choice or this differs from it: two groups that BIC would rather leave independent are not
    joined, and the next best pair is tried, so that a forest is left in the end; the local model is fitted to the joint
    table of x and z, which EM estimates from the rows, as if that many rows had shown x and z, and not to the rows
    themselves (which finds better trees, but joins groups a little too easily where columns say little of their top); a
    top with only two neighbours is replaced by an edge between them, which can say the same and more.

    Parameters
    ----------
    table : Table
    information : array, shape (d, d)
        Mutual information of every two columns.
    random_state : int, Generator or None
        Starts of the local models.
    progress : callable
        Told the number of joins, and the most there can be.

    Returns
    -------
    Structure
        With ``n_states`` and ``edge_tables``.
    """
    d = table.n_columns
    rng = generator(random_state)
    forest = _Forest(d, [np.full((n, 1), 1 / n) for n in table.n_states.tolist()])
    link = np.zeros((2 * d - 1, 2 * d - 1))
    link[:d, :d] = information
    open_pairs = np.zeros(link.shape, dtype=bool)  # worth trying; below the diagonal only
    open_pairs[:d, :d] = np.tri(d, k=-1, dtype=bool)
    size = np.ones(2 * d - 1)
    while open_pairs.any():
        one, other = np.unravel_index(np.argmax(np.where(open_pairs, link, -np.inf)), link.shape)
        i, j = int(one), int(other)
        model = _local_model(*_Pair(table, forest, i, j).joint_table(), rng)
        open_pairs[i, j] = False
        if model is None:
            continue
        new = forest.join(i, j, *model)
        size[new] = size[i] + size[j]
        link[new] = link[:, new] = (size[i] * link[i] + size[j] * link[j]) / size[new]
        open_pairs[[i, j]] = open_pairs[:, [i, j]] = False
        open_pairs[new, [root for root in forest.roots if root != new]] = True
        progress(new - d + 1, d - 1)
    progress(d - 1, d - 1)
    return forest.structure(table.names)


@dataclass
class _Forest:
    """What is joined so far: subtrees whose tops are the roots."""

    d: int
    tables: list[FloatArray]  # P(node | parent) where there is a parent
    children: dict[int, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.roots = list(range(self.d))

    def join(self, i: int, j: int, prior: FloatArray, p_i: FloatArray, p_j: FloatArray) -> int:
        new = self.d + len(self.children)
        self.children[new] = (i, j)
        self.tables[i], self.tables[j] = p_i, p_j
        self.tables.append(prior[:, None])
        self.roots = [root for root in self.roots if root not in (i, j)] + [new]
        return new

    def network(self, roots: list[int]) -> Network:
        """Give the subtrees below some roots, as messages need them."""
        parent = np.full(len(self.tables), -1, dtype=np.intp)
        for node, (i, j) in self.children.items():
            parent[[i, j]] = node
        order = list(roots)
        for node in order:
            order.extend(self.children.get(node, ()))
        return Network(self.d, parent, np.array(order, dtype=np.intp), tuple(self.tables))

    def structure(self, names: tuple[str, ...]) -> Structure:
        """Make the tree, without tops of two neighbours, and the tables found so far as a start for EM."""
        hidden = [node for node in self.children if node not in self.roots]
        number = {node: self.d + place for place, node in enumerate(hidden)}
        marginal = {root: self.tables[root][:, 0] for root in self.roots}
        joint: dict[tuple[int, int], FloatArray] = {}
        for node, (i, j) in sorted(self.children.items(), reverse=True):
            marginal[i], marginal[j] = self.tables[i] @ marginal[node], self.tables[j] @ marginal[node]
            if node in self.roots:
                joint[i, j] = (self.tables[i] * marginal[node]) @ self.tables[j].T
            else:
                joint.update({(child, node): self.tables[child] * marginal[node] for child in (i, j)})
        named = [[number.get(end, end) for end in edge] for edge in joint]
        edge_tables = tuple(joint.values())
        return Structure(
            Tree(names, named), n_states=tuple(len(self.tables[node]) for node in hidden), edge_tables=edge_tables
        )


@dataclass(frozen=True)
class _Pair:
    """What the rows say of two tops together."""

    table: Table
    forest: _Forest
    i: int
    j: int

    def expected(self, joint: FloatArray) -> tuple[FloatArray, float, float]:
        """Give the expected joint counts, the rows' log-likelihood, and the weight of the rows that say anything."""
        i, j = self.i, self.j
        network = self.forest.network([i, j])

        def statistic(block: Block) -> tuple[FloatArray, FloatArray]:
            up = upward(network, plan_messages(network, block.codes, repeats=False))
            x, z = by_states(up.likelihood[i]), by_states(up.likelihood[j])
            row = (x * (joint @ z)).sum(axis=0)
            weight = np.ones(len(row)) if block.weights is None else block.weights
            share = np.divide(weight, row, out=np.zeros_like(row), where=row > 0)
            gained = np.log(row, out=np.zeros_like(row), where=row > 0) @ weight
            seen = weight @ (np.maximum(x.min(axis=0), z.min(axis=0)) < 1 - _ROUNDING)
            return joint * ((x * share) @ z.T), np.array([gained, seen])

        counts, (log_likelihood, seen) = self.table.sum(statistic)
        return counts, float(log_likelihood), float(seen)

    def joint_table(self) -> tuple[FloatArray, float]:
        """Estimate the joint distribution by EM, and give the weight of the rows that say something of both tops."""
        shape = len(self.forest.tables[self.i]), len(self.forest.tables[self.j])
        joint = np.full(shape, 1 / (shape[0] * shape[1]))
        before = -np.inf
        for _ in range(_ITERATIONS):
            counts, log_likelihood, seen = self.expected(joint)
            joint = counts / counts.sum()
            if log_likelihood - before < _TOLERANCE * self.table.total_weight:
                break
            before = log_likelihood
        return joint, seen


def _local_model(
    joint: FloatArray, total: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Find P(y), P(x|y) and P(z|y) with as many states as BIC wants; None if it wants x and z to be independent.

    As in the authors' program, the number of states is doubled as long as that helps, then searched for by bisection
    between the last that helped and the first that did not. It may so end with one or two states more than BIC likes
    best.
    """
    rows, columns = joint.shape
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    best = _bic(joint, product, rows - 1 + columns - 1, total)
    found = None
    good, bad = 1, min(rows, columns) + 1  # more states than the smaller table side can say nothing new
    doubling = True
    while bad - good > 1:
        k = min(2 * good, bad - 1) if doubling else (good + bad) // 2
        left, right = _factors(joint, k, rng)
        bic = _bic(joint, left @ right, k - 1 + k * (rows - 1 + columns - 1), total)
        if bic < best:
            prior = left.sum(axis=0)
            good, best, found = k, bic, (prior, left / np.maximum(prior, np.finfo(float).tiny), right.T)
        else:
            bad, doubling = k, False
    return found


def _bic(joint: FloatArray, fitted: FloatArray, n_parameters: int, total: float) -> float:
    """Give the BIC of a fitted distribution for so many rows that are distributed like ``joint``."""
    logarithms = np.log(np.maximum(fitted, np.finfo(float).tiny))
    return n_parameters * float(np.log(max(total, 2.0))) - 2 * total * float((joint * logarithms).sum())


def _factors(joint: FloatArray, k: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Fit ``P(x, y) P(z | y)`` to a joint table by EM, the best of a few random starts."""
    rows, columns = joint.shape
    left = rng.dirichlet(np.ones(rows), size=(_STARTS, k)).transpose(0, 2, 1) / k
    right = rng.dirichlet(np.ones(columns), size=(_STARTS, k))
    before = np.full(_STARTS, -np.inf)
    for _ in range(_ITERATIONS):
        fitted = left @ right
        ratio = np.divide(joint, fitted, out=np.zeros_like(fitted), where=fitted > 0)
        fit = (joint * np.log(np.maximum(fitted, np.finfo(float).tiny))).sum(axis=(1, 2))
        if (fit - before < _TOLERANCE).all():
            break
        before = fit
        new_left = left * (ratio @ right.transpose(0, 2, 1))
        right = right * (left.transpose(0, 2, 1) @ ratio)
        right /= np.maximum(right.sum(axis=2, keepdims=True), np.finfo(float).tiny)
        left = new_left
    best = int(np.argmax(fit >= fit.max() - _EQUAL))  # the first of equals, whatever rounding says
    return left[best], right[best]
