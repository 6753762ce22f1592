"""Greedy binary latent trees (Harmeling and Williams 2011, BIN-A).

The top of a group of columns is its hidden variable, or the column itself if it is alone.
"""

from dataclasses import dataclass, field

import numpy as np

from latree._util.arrays import FloatArray, RandomState, generator
from latree._util.progress import claim_progress
from latree.inference.messages import upward
from latree.inference.network import Network
from latree.inference.patterns import plan_messages
from latree.inference.starts import start_from
from latree.learners.structure import Structure
from latree.model import LatentTreeModel
from latree.table import Block, Table
from latree.tree import Tree

_STARTS = 4  # random starts of each local model
_ITERATIONS = 200  # EM iterations of a joint distribution or a local model at most
_TOLERANCE = 1e-6  # EM stops if an iteration gains less than this, in nats per row
_SAME_FIT = 1e-5  # fits that differ by less than this, in nats per row, are taken as the same
_ROUNDING = 1e-9  # likelihoods this close to 1 are taken as 1


def harmeling_williams(
    table: Table,
    information: FloatArray,
    *,
    random_state: RandomState = None,
) -> Structure:
    """Build a binary tree, or a forest, and find the number of states of every hidden variable.

    Use it if the numbers of hidden states are unknown and independent groups of columns should stay apart. It takes
    columns with few states.

    Groups of columns are joined by average linkage of their columns' mutual information. Each join makes a hidden
    variable y above the tops x and z of the two groups, with the local model

        ``P(x, z) = Σ_y P(y) P(x|y) P(z|y)``

    and as many states k as minimise ``BIC = -2 log L + (k - 1 + k (n_x - 1 + n_z - 1)) log m``, given the evidence of
    the columns below for x and z. Then y is the top of the joined group.

    Choices that the paper leaves open, and differences from it:

    - Two groups that BIC prefers to leave independent are not joined, and the next best pair is tried. So the result
      may be a forest.
    - The local model is fitted to the joint distribution of x and z, which EM estimates from the rows, as if that many
      rows had shown x and z, and not to the rows themselves. This finds better trees, but joins groups a little too
      easily if columns say little about their top.
    - A top with only two neighbours is replaced by an edge between them, which can represent the same and more.

    Parameters
    ----------
    table : Table
    information : array, shape (d, d)
        Mutual information of every two columns, from :func:`latree.research.information`.
    random_state : int, Generator or None
        Decides the starts of the local models.

    Returns
    -------
    Structure
        With a model to start from.

    References
    ----------
    Harmeling and Williams (2011), Greedy Learning of Binary Latent Trees.

    Examples
    --------
    >>> import latree
    >>> from latree.research import harmeling_williams, information, pairwise
    >>> tree = latree.random_tree(4, random_state=0)
    >>> model = latree.random_model(tree, n_states=3, hidden_states=2, start="identity", random_state=0)
    >>> table = model.sample(1000, random_state=0)
    >>> learned = harmeling_williams(table, pairwise(table, information), random_state=0)
    >>> learned.tree.robinson_foulds(tree), learned.n_states
    (0, (2, 2))
    """
    progress = claim_progress()
    d = table.n_columns
    rng = generator(random_state)
    forest = _Forest(d, [np.full((n, 1), 1 / n) for n in table.n_states.tolist()])
    linkage = np.zeros((2 * d - 1, 2 * d - 1))  # mean mutual information between the columns of two groups
    linkage[:d, :d] = information
    untried = np.zeros(linkage.shape, dtype=bool)  # pairs of tops that may be joined; below the diagonal only
    untried[:d, :d] = np.tri(d, k=-1, dtype=bool)
    size = np.ones(2 * d - 1)
    while untried.any():
        # The pair with the largest mean information that was not tried yet.
        one, other = np.unravel_index(np.argmax(np.where(untried, linkage, -np.inf)), linkage.shape)
        i, j = int(one), int(other)
        untried[i, j] = False
        # Fit the local model. BIC may prefer independence.
        model = _local_model(*_TopPair(table, forest, i, j).joint_distribution(), rng)
        if model is None:
            continue
        # Join the pair. Average linkage weights the two groups by their sizes.
        new = forest.join(i, j, *model)
        size[new] = size[i] + size[j]
        linkage[new] = linkage[:, new] = (size[i] * linkage[i] + size[j] * linkage[j]) / size[new]
        untried[[i, j]] = untried[:, [i, j]] = False
        untried[new, [root for root in forest.roots if root != new]] = True
        progress(new - d + 1, d - 1)
    progress(d - 1, d - 1)
    return forest.structure(table)


@dataclass
class _Forest:
    """The groups joined so far, as subtrees whose tops are the roots."""

    d: int
    cpts: list[FloatArray]  # conditional probability tables: P(node | parent), or P(node) of a root as one column
    children: dict[int, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.roots = list(range(self.d))

    def join(self, i: int, j: int, prior: FloatArray, p_i: FloatArray, p_j: FloatArray) -> int:
        """Join two roots by a new one, with P(new), P(i | new) and P(j | new); return its number."""
        new = self.d + len(self.children)
        self.children[new] = (i, j)
        self.cpts[i], self.cpts[j] = p_i, p_j
        self.cpts.append(prior[:, None])
        self.roots = [root for root in self.roots if root not in (i, j)] + [new]
        return new

    def network(self, roots: list[int]) -> Network:
        """Return the subtrees below these roots as a network, parents before children."""
        parent = np.full(len(self.cpts), -1, dtype=np.intp)
        for node, (i, j) in self.children.items():
            parent[[i, j]] = node
        order = list(roots)
        for node in order:
            order.extend(self.children.get(node, ()))
        return Network(self.d, parent, np.array(order, dtype=np.intp), tuple(self.cpts))

    def structure(self, table: Table) -> Structure:
        """Return the tree without roots of two neighbours, and a model with its probabilities, where EM may start."""
        hidden = [node for node in self.children if node not in self.roots]
        number = {node: self.d + place for place, node in enumerate(hidden)}
        marginal = {root: self.cpts[root][:, 0] for root in self.roots}
        joint: dict[tuple[int, int], FloatArray] = {}
        for node, (i, j) in sorted(self.children.items(), reverse=True):  # parents before children
            marginal[i], marginal[j] = self.cpts[i] @ marginal[node], self.cpts[j] @ marginal[node]
            if node in self.roots:
                # P(i, j) = Σ_y P(i | y) P(y) P(j | y): the root y becomes an edge.
                joint[i, j] = (self.cpts[i] * marginal[node]) @ self.cpts[j].T
            else:
                # P(child, y) = P(child | y) P(y)
                joint.update({(child, node): self.cpts[child] * marginal[node] for child in (i, j)})
        named = [[number.get(end, end) for end in edge] for edge in joint]
        tree = Tree(table.names, named)
        tables = start_from(table, tree, tuple(joint.values()))
        return Structure(tree, start=LatentTreeModel(tree, table.columns, tables))


@dataclass(frozen=True)
class _TopPair:
    """The evidence of the rows about two tops, i and j."""

    table: Table
    forest: _Forest
    i: int
    j: int

    def expected_counts(self, joint: FloatArray) -> tuple[FloatArray, float, float]:
        """Return expected joint counts, the rows' log-likelihood, and the weight of rows with evidence for both."""
        i, j = self.i, self.j
        network = self.forest.network([i, j])

        def statistic(block: Block) -> tuple[FloatArray, FloatArray]:
            # P(cells below | state of the top) for every row: x for i, z for j.
            up = upward(network, plan_messages(network, block.codes, repeats=False))
            x, z = up.as_message(up.likelihood[i]), up.as_message(up.likelihood[j])
            # The likelihood of each row, Σ_ab x_a P(a, b) z_b.
            row = (x * (joint @ z)).sum(axis=0)
            weight = np.ones(len(row)) if block.weights is None else block.weights
            share = np.divide(weight, row, out=np.zeros_like(row), where=row > 0)
            log_likelihood = np.log(row, out=np.zeros_like(row), where=row > 0) @ weight
            # A row without cells below a top has likelihood 1 in all states of the top, and says nothing about it.
            informative = weight @ (np.maximum(x.min(axis=0), z.min(axis=0)) < 1 - _ROUNDING)
            # Σ over rows of weight P(a, b | row) = weight x_a P(a, b) z_b / likelihood.
            return joint * ((x * share) @ z.T), np.array([log_likelihood, informative])

        counts, (log_likelihood, informative) = self.table.sum(statistic)
        return counts, float(log_likelihood), float(informative)

    def joint_distribution(self) -> tuple[FloatArray, float]:
        """Return the joint distribution that EM estimates, and the weight of the rows with evidence for both tops."""
        shape = len(self.forest.cpts[self.i]), len(self.forest.cpts[self.j])
        joint = np.full(shape, 1 / (shape[0] * shape[1]))
        before = -np.inf
        for _ in range(_ITERATIONS):
            counts, log_likelihood, informative = self.expected_counts(joint)
            joint = counts / counts.sum()
            if log_likelihood - before < _TOLERANCE * self.table.total_weight:
                break
            before = log_likelihood
        return joint, informative


def _local_model(
    joint: FloatArray, total: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return P(y), P(x|y) and P(z|y) with the number of states that BIC chooses; None if it chooses independence.

    As in the authors' program, the number of states is doubled as long as BIC improves, then found by bisection between
    the last number that improved it and the first that did not. The result may have one or two states more than the
    best BIC.
    """
    rows, columns = joint.shape
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    best = _bic(joint, product, rows - 1 + columns - 1, total)
    found = None
    good, bad = 1, min(rows, columns) + 1  # more states than x or z has cannot fit better
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
    """Return the BIC of a fitted distribution for ``total`` rows that are distributed like ``joint``."""
    logarithms = np.log(np.maximum(fitted, np.finfo(float).tiny))
    return n_parameters * float(np.log(max(total, 2.0))) - 2 * total * float((joint * logarithms).sum())


def _factors(joint: FloatArray, k: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Fit ``P(x, y) P(z | y)`` to a joint distribution by EM; return the best of a few random starts.

    One iteration, with the ratio ``r(x, z) = P(x, z) / Σ_y P(x, y) P(z | y)``, multiplies ``P(x, y)`` by
    ``Σ_z r(x, z) P(z | y)`` and ``P(z | y)`` by ``Σ_x r(x, z) P(x, y)``, and normalises the latter.
    """
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
    best = int(np.argmax(fit >= fit.max() - _SAME_FIT))  # the first of equal fits, so that rounding does not decide
    return left[best], right[best]
