"""What the paper's theory says about a known model: conditions of recovery, and how many rows they need.

The letters are the paper's. For a quartet {12|34} whose pairs separate at the hidden variables H and G:
``Δ = P_HG - P_H P_Gᵀ`` is the dependence of H and G, ``θ`` is the excessive dependence of the wrong pairings if H and G
were independent, and ``α`` is the gap between the smaller nuclear norm of the wrong pairings and that of the right one.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, comb, log, log2, sqrt
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray, IntArray, RandomState, generator
from latree._util.progress import claim_progress
from latree.counts.quartets import TENSOR_CELLS_AT_ONCE
from latree.counts.tensor import nuclear_norms, unfoldings
from latree.errors import InputError
from latree.inference.network import Network
from latree.model import LatentTreeModel
from latree.model.query import joint_distribution
from latree.table.checking import FEW_STATES

MAX_QUARTETS = 2000  # if a tree has more quartets, this many are drawn at random
_RANK_TOLERANCE = 1e-10  # smallest over largest singular value of a table that has full rank
_SUM_TOLERANCE = 1e-9  # largest sum over a row or column of Δ that counts as zero
_ROUNDING = 1e-12  # smallest difference of two nuclear norms that is not a rounding error
_NO_EDGE = "nothing to check: there is no edge between hidden variables"


@dataclass(frozen=True)
class QuartetFacts:
    """The paper's numbers for one quartet.

    Attributes
    ----------
    leaves : tuple of int
        Columns 1, 2, 3, 4 in an order for which {12|34} is the true pairing.
    h, g : int
        The hidden nodes where the two pairs separate.
    k : tuple of int
        Numbers of states of H and of G.
    delta : float
        ``‖Δ‖_F``, the dependence between H and G.
    theta : float
        ``‖P_12‖_* ‖P_34‖_* - ‖P_12‖_F ‖P_34‖_F``. If H and G are independent, this is the gap between the nuclear norm
        of either wrong pairing and that of the right one.
    allowed : float
        The largest ``‖Δ‖_F`` that the lemma on Δ allows: ``θ / (k² + k)``, with ``k² = k_H k_G`` if they differ.
    alpha : float
        ``min(‖B‖_*, ‖C‖_*) - ‖A‖_*``. If it is not positive, Algorithm 1 fails even with unlimited data.
    """

    leaves: tuple[int, int, int, int]
    h: int
    g: int
    k: tuple[int, int]
    delta: float
    theta: float
    allowed: float
    alpha: float

    @property
    def satisfied(self) -> bool:
        """Whether the condition of the lemma on Δ holds."""
        return self.delta <= self.allowed

    @property
    def right(self) -> bool:
        """Whether Algorithm 1 finds the pairing from the exact distribution."""
        return self.alpha > _ROUNDING


def quartet_facts(model: LatentTreeModel, quartets: IntArray) -> list[QuartetFacts]:
    """Compute the paper's numbers θ, α and δ for quartets of columns of a known model.

    Use it to see why a learner confuses four columns: α is the gap that Algorithm 1 has to see in the data, so a small
    α needs many rows. :func:`tree_facts` does the same for the whole tree.

    Parameters
    ----------
    model : LatentTreeModel
        The true model. Its tree must be in one piece.
    quartets : array of int, shape (q, 4)
        Numbers of columns.

    Returns
    -------
    list of QuartetFacts
        Quartets whose true tree is a star have no pairing and are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from latree import random_model, random_tree
    >>> from latree.paper.theory import quartet_facts
    >>> tree = random_tree(6, random_state=0)
    >>> model = random_model(tree, n_states=3, hidden_states=2, start="identity", perturbation=0.2, random_state=0)
    >>> (facts,) = quartet_facts(model, np.array([[0, 2, 1, 3]]))
    >>> facts.leaves                                # columns 0 and 1 belong together, and so do 2 and 3
    (0, 1, 2, 3)
    >>> f"{facts.theta:.3f} {facts.alpha:.3f}"
    '0.241 0.053'
    >>> facts.right                                 # Algorithm 1 is right, if it has enough rows
    True
    """
    progress = claim_progress()
    medians, narrow = _Medians(model), _narrowed(model)
    found = []
    size = max(len(narrow.tables[column]) for column in range(model.tree.n_observed))
    if size > FEW_STATES:
        raise InputError(
            f"the theory is about tensors of four columns, and those of this model have {size} states and as many "
            f"hidden states; it is computed for up to {FEW_STATES} of one or the other"
        )
    step = max(1, TENSOR_CELLS_AT_ONCE // size**4)
    for start in range(0, len(quartets), step):
        chunk = quartets[start : start + step].tolist()
        placed = [place for leaves in chunk if (place := medians.place(leaves)) is not None]
        norms = _norms(narrow, [leaves for leaves, *_ in placed], size)
        for (leaves, h, g), (a, b, c) in zip(placed, norms.tolist(), strict=True):
            found.append(_facts(narrow, leaves, h, g, min(b, c) - a))
        progress(min(start + step, len(quartets)), len(quartets))
    return found


def _narrowed(model: LatentTreeModel) -> Network:
    """Return the model with as few rows as possible in the tables of its leaves, for norms of joint distributions.

    If a column has more states than its parent, its table T = Q R, where the columns of Q are orthonormal. With R in
    place of T, unfoldings of joint distributions have the same singular values, and wide columns need little memory.
    """
    network = model.network
    tables = list(network.tables)
    for leaf in network.plain_leaves:
        if tables[leaf].shape[0] > tables[leaf].shape[1]:
            tables[leaf] = np.asarray(np.linalg.qr(tables[leaf], mode="r"), dtype=np.float64)
    return replace(network, tables=tuple(tables))


def _norms(narrow: Network, quartets: list[tuple[int, int, int, int]], size: int) -> FloatArray:
    """Return the nuclear norms of the three unfoldings of quartets."""
    tensors = np.zeros((len(quartets), size, size, size, size))
    for tensor, leaves in zip(tensors, quartets, strict=True):
        exact = joint_distribution(narrow, leaves)
        tensor[tuple(slice(length) for length in exact.shape)] = exact
    return np.asarray(nuclear_norms(unfoldings(tensors)))


def _facts(narrow: Network, leaves: tuple[int, int, int, int], h: int, g: int, alpha: float) -> QuartetFacts:
    k_h, k_g = len(narrow.tables[h]), len(narrow.tables[g])
    first, second = joint_distribution(narrow, leaves[:2]), joint_distribution(narrow, leaves[2:])
    # θ = ‖P_12‖_* ‖P_34‖_* - ‖P_12‖_F ‖P_34‖_F
    theta = _nuclear(first) * _nuclear(second) - float(np.linalg.norm(first) * np.linalg.norm(second))
    return QuartetFacts(
        leaves=leaves,
        h=h,
        g=g,
        k=(k_h, k_g),
        delta=float(np.linalg.norm(_dependence(narrow, h, g))),
        theta=theta,
        allowed=theta / (k_h * k_g + sqrt(k_h * k_g)),  # θ / (k² + k)
        alpha=alpha,
    )


def dependence(model: LatentTreeModel, h: int, g: int) -> FloatArray:
    """Return ``Δ = P_HG - P_H P_Gᵀ`` of two nodes, whether neighbours or not."""
    return _dependence(model.network, h, g)


def _dependence(network: Network, h: int, g: int) -> FloatArray:
    joint = joint_distribution(network, [h, g])
    return np.asarray(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0)))


def _nuclear(matrix: FloatArray) -> float:
    return float(np.linalg.svd(matrix, compute_uv=False).sum())


class _Medians:
    """Finds where the paths between three nodes of a tree meet."""

    def __init__(self, model: LatentTreeModel) -> None:
        rooted = model.tree.rooted()
        self.parent, self.depth = rooted.parent, rooted.depth

    def meeting(self, u: int, v: int) -> int:
        """Return the lowest common ancestor of two nodes."""
        while u != v:
            if u < 0 or v < 0:
                raise InputError("the theory is about one tree, and these columns are in different parts of a forest")
            if self.depth[u] < self.depth[v]:
                u, v = v, u
            u = int(self.parent[u])
        return u

    def median(self, a: int, b: int, c: int) -> int:
        """Return the node that lies on all three paths: the lowest of the three common ancestors."""
        return max((self.meeting(a, b), self.meeting(a, c), self.meeting(b, c)), key=lambda node: self.depth[node])

    def place(self, quartet: list[int]) -> tuple[tuple[int, int, int, int], int, int] | None:
        """Return four columns in an order for which {12|34} is their pairing, with H and G; None for a star."""
        first, *others = quartet
        for second in others:
            third, fourth = (other for other in others if other != second)
            h, g = self.median(first, second, third), self.median(first, third, fourth)
            # In {12|34}, the paths among 1, 2 and either of 3, 4 meet at H, those among 3, 4 and either of 1, 2 at G.
            if h != g and h == self.median(first, second, fourth) and g == self.median(second, third, fourth):
                return (first, second, third, fourth), h, g
        return None


@dataclass(frozen=True)
class Condition:
    """One of the paper's assumptions: its name, its text, whether it holds, and the numbers that decide it."""

    name: str
    text: str
    holds: bool
    numbers: str


@dataclass(frozen=True)
class TreeFacts:
    """The paper's numbers for a whole model.

    Attributes
    ----------
    n_leaves : int
    n_quartets : int
        Number of quartets of the tree.
    n_checked : int
        Number of quartets that were checked: all of them, or a random sample from a large tree.
    quartets : list of QuartetFacts
        The checked quartets that have a pairing. The others are stars.
    gamma_min : float
        The smallest probability of a hidden variable's state.
    delta : float
        The largest ``‖Δ_HG‖_F`` of an edge between hidden variables.
    conditions : tuple of Condition
        A1 to A4.
    """

    n_leaves: int
    n_quartets: int
    n_checked: int
    quartets: list[QuartetFacts]
    gamma_min: float
    delta: float
    conditions: tuple[Condition, ...]

    @property
    def theta_min(self) -> float:
        """The smallest ``θ`` of a quartet."""
        return min(quartet.theta for quartet in self.quartets)

    @property
    def alpha_min(self) -> float:
        """The smallest ``α`` of a quartet."""
        return min(quartet.alpha for quartet in self.quartets)

    @property
    def complete(self) -> bool:
        """Whether all quartets were checked."""
        return self.n_checked == self.n_quartets

    @property
    def n_right(self) -> int:
        """The number of checked quartets for which Algorithm 1 finds the pairing from the exact distribution."""
        return sum(quartet.right for quartet in self.quartets)

    @property
    def guaranteed(self) -> bool:
        """Whether all assumptions of the theorem on trees are known to hold, so that Algorithm 2 finds the tree."""
        return self.complete and not self._failing

    @property
    def bounded(self) -> bool:
        """Whether the theorem's bound applies: its proof needs a binary tree and ``α > 0`` for every quartet."""
        return "A2" not in self._failing and self.n_right == len(self.quartets)

    @property
    def found(self) -> bool | None:
        """Whether Algorithm 2 is certain to find the tree from the exact distribution; None if unknown."""
        return None if self.bounded and not self.complete else self.bounded

    @property
    def _failing(self) -> dict[str, str]:
        return {condition.name: condition.numbers for condition in self.conditions if not condition.holds}

    @property
    def verdict(self) -> str:
        """What the theorem on trees says, in words."""
        if "A2" in self._failing:
            return f"does not apply, because Algorithm 2 returns binary trees only: {self._failing['A2']}"
        finds = "Algorithm 2 finds the tree on the exact distribution"
        start = (
            f"its assumptions do not all hold ({', '.join(self._failing)})" if self._failing else "its assumptions hold"
        )
        if not self.bounded:
            return f"{start}, α_min is not positive, and Algorithm 2 may miss the tree even on the exact distribution"
        if not self.complete:
            return f"{start}, and α > 0 for the checked quartets: if α > 0 for all others, too, {finds}"
        return f"{start}, but α_min > 0 over all quartets, so {finds}" if self._failing else f"{start}, so {finds}"

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain data for JSON."""
        return {
            "n_columns": self.n_leaves,
            "n_quartets": self.n_quartets,
            "quartets_checked": self.n_checked,
            "star_quartets": self.n_checked - len(self.quartets),
            **{name: getattr(self, name) for name in ("delta", "theta_min", "gamma_min", "alpha_min")},
            "conditions": {c.name: {"holds": c.holds, "text": c.text, "numbers": c.numbers} for c in self.conditions},
            "quartets_satisfying_the_lemma": sum(quartet.satisfied for quartet in self.quartets),
            "quartets_right": self.n_right,
            "guaranteed": self.guaranteed,
            "found_on_the_exact_distribution": self.found,
            "verdict": self.verdict,
        }

    def success(self, n_rows: float) -> float | None:
        """Return a lower bound of the probability that Algorithm 2 finds the tree; None if there is no bound."""
        return success(self.alpha_min, n_rows, most_tests(self.n_leaves)) if self.bounded else None

    def rows_needed(self, probability: float) -> int | None:
        """Return the rows that guarantee a probability of finding the tree; None if there is no bound."""
        return rows_needed(self.alpha_min, probability, most_tests(self.n_leaves)) if self.bounded else None


def tree_facts(
    model: LatentTreeModel,
    *,
    max_quartets: int = MAX_QUARTETS,
    random_state: RandomState = 0,
) -> TreeFacts:
    """Compute what the paper's theory says about a known model: its assumptions A1 to A4, and its guarantees.

    Use it on a simulated or fitted model to see whether Algorithm 2 (method ``tensor``) can recover its tree, and how
    many rows the theorem asks for. The guarantee is loose: :func:`recovery_power` gives a practical answer.

    With ``α`` the smallest gap over the quartets and N the number of quartet tests, m rows give the right tree with a
    probability of at least ``1 - 8 N exp(-m α² / 32)``.

    Parameters
    ----------
    model : LatentTreeModel
        Its tree must be in one piece and have at least four columns.
    max_quartets : int
        If the tree has more quartets than this, this many are drawn at random and checked.
    random_state : int, Generator or None
        Seed of that draw.

    Returns
    -------
    TreeFacts

    Examples
    --------
    >>> from latree import random_model, random_tree
    >>> from latree.research import tree_facts
    >>> tree = random_tree(6, random_state=0)
    >>> model = random_model(tree, n_states=3, hidden_states=2, start="identity", perturbation=0.2, random_state=0)
    >>> facts = tree_facts(model)
    >>> [condition.name for condition in facts.conditions if not condition.holds]
    ['A4']
    >>> facts.found                                 # nevertheless, all 15 quartets are right
    True
    >>> facts.rows_needed(0.95)                     # guaranteed by the theorem, and far more than it takes
    342903
    """
    tree = model.tree
    d = tree.n_observed
    if len(tree.edges) != tree.n_nodes - 1:
        raise InputError("the theory is about trees, and the tree of this model falls into several parts")
    if d < 4:
        raise InputError(f"the theory is about quartets, and this model has {d} columns")
    if not tree.n_hidden:
        raise InputError("the theory is about hidden variables, and this model has none: there is nothing to check")
    checked = _choose_quartets(d, max_quartets, random_state)
    quartets = quartet_facts(model, checked)
    if not quartets:
        raise InputError("the theory is about quartets that have a pairing, and the tree of this model is a star")
    marginals = list(model.marginals().values())[d:]
    gamma_min = min(float(marginal.min()) for marginal in marginals)
    inner = [(int(u), int(v)) for u, v in tree.edges if min(u, v) >= d]
    delta = max((float(np.linalg.norm(dependence(model, u, v))) for u, v in inner), default=0.0)
    conditions = (
        _full_rank(model),
        _three_neighbours(model),
        _keeps_marginals(model, inner),
        _near_independence(delta, min(min(quartet.allowed for quartet in quartets), gamma_min), inner),
    )
    return TreeFacts(d, comb(d, 4), len(checked), quartets, gamma_min, delta, conditions)


def _choose_quartets(d: int, max_quartets: int, random_state: RandomState) -> IntArray:
    """Return all sets of four columns, or a random sample if there are more than ``max_quartets``."""
    if comb(d, 4) <= max_quartets:
        return np.array(list(combinations(range(d), 4)), dtype=np.intp)
    rng = generator(random_state)
    chosen: set[tuple[int, ...]] = set()
    while len(chosen) < max_quartets:
        chosen.add(tuple(sorted(rng.choice(d, 4, replace=False).tolist())))
    return np.array(sorted(chosen), dtype=np.intp)


def _full_rank(model: LatentTreeModel) -> Condition:
    """Check A1: every conditional probability table has full column rank."""
    ratios = {}
    for node, table in enumerate(model.tables):
        if model.network.parent[node] >= 0:
            # A table with fewer rows than columns has too few singular values: the others are zero.
            values = np.zeros(table.shape[1])
            found = np.linalg.svd(table, compute_uv=False)
            values[: len(found)] = found
            ratios[node] = float(values[-1] / values[0])
    worst = min(ratios, key=lambda node: ratios[node])
    numbers = f"smallest ratio of singular values {ratios[worst]:.3g}, of {model.tree.node_names[worst]}"
    return Condition("A1", "every conditional table has full column rank", ratios[worst] > _RANK_TOLERANCE, numbers)


def _three_neighbours(model: LatentTreeModel) -> Condition:
    """Check A2: every hidden variable has exactly three neighbours, and every column is a leaf."""
    odd = model.tree.non_binary_features()
    numbers = ", ".join(odd.values()) or f"{model.tree.n_hidden} hidden variables, and all columns are leaves"
    return Condition("A2", "every hidden variable has exactly three neighbours", not odd, numbers)


def _keeps_marginals(model: LatentTreeModel, inner: list[tuple[int, int]]) -> Condition:
    """Check A3: the rows and columns of every Δ sum to zero, which is true for all models up to rounding."""
    sums = [np.abs(dependence(model, u, v).sum(axis=axis)).max() for u, v in inner for axis in (0, 1)]
    largest = max((float(x) for x in sums), default=0.0)
    numbers = f"largest sum {largest:.1g}" if inner else _NO_EDGE
    return Condition("A3", "rows and columns of Δ sum to zero", largest < _SUM_TOLERANCE, numbers)


def _near_independence(delta: float, allowed: float, inner: list[tuple[int, int]]) -> Condition:
    """Check A4: neighbouring hidden variables are nearly independent."""
    text = "‖Δ‖_F ≤ min(θ_min / (k² + k), γ_min) on every edge between hidden variables"
    return Condition(
        "A4", text, delta <= allowed, f"largest ‖Δ‖_F {delta:.4g}, allowed {allowed:.4g}" if inner else _NO_EDGE
    )


def most_tests(n_leaves: int) -> int:
    """Return the largest number of tests in Algorithm 2: the theorem's ``c d log d``, counted exactly."""
    return sum(ceil(log2(leaves - 1)) for leaves in range(4, n_leaves + 1))


def success(alpha: float, n_rows: float, n_tests: int = 1) -> float:
    """Return a lower bound of the probability that all quartet tests are right.

    The bound of the lemma on samples and of the theorem on trees is ``1 - 8 N exp(-m α² / 32)``, and 0 if that is
    negative or if α is not positive.
    """
    return max(0.0, 1 - 8 * n_tests * float(np.exp(-n_rows * alpha**2 / 32))) if alpha > _ROUNDING else 0.0


def rows_needed(alpha: float, probability: float, n_tests: int = 1) -> int | None:
    """Return the smallest number of rows for which :func:`success` reaches a probability; None if there is none."""
    if not 0 < probability < 1:
        raise InputError(f"the probability must lie between 0 and 1, not {probability!r}")
    return ceil(32 * log(8 * n_tests / (1 - probability)) / alpha**2) if alpha > _ROUNDING else None
