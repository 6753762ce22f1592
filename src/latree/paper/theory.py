"""What the paper's theory says of a known model: conditions of recovery, and how many rows they ask for.

The letters are the paper's. For a quartet {12|34} whose pairs part at the hidden variables H and G:
``Δ = P_HG - P_H P_Gᵀ`` is their dependence, ``θ`` the excessive dependence of the wrong pairings if H and G were
independent, ``α`` by how much the nuclear norms of the wrong pairings really exceed that of the right one.
"""

from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb, log, log2, sqrt

import numpy as np

from latree._util.arrays import FloatArray, IntArray, RandomState, generator
from latree._util.progress import Progress, no_progress
from latree.counts import limits
from latree.counts.tensor import nuclear_norms, unfoldings
from latree.errors import InputError
from latree.model import LatentTreeModel

MAX_QUARTETS = 2000  # of a larger tree so many are drawn at random
_RANK_TOLERANCE = 1e-10
_ROUNDING = 1e-12  # of differences of nuclear norms
_NO_EDGE = "nothing to check: there is no edge between hidden variables"


@dataclass(frozen=True)
class QuartetFacts:
    """The paper's numbers for one quartet.

    Attributes
    ----------
    leaves : tuple of int
        Columns 1, 2, 3, 4 in an order in which {12|34} is the true pairing.
    h, g : int
        The hidden nodes where the two pairs part.
    k : tuple of int
        States of H and of G.
    delta : float
        ``‖Δ‖_F``.
    theta : float
        ``‖P_12‖_* ‖P_34‖_* - ‖P_12‖_F ‖P_34‖_F``: both wrong pairings have the same nuclear norm if H and G are
        independent.
    allowed : float
        How large ``‖Δ‖_F`` may be by `le:deltacondition`: ``θ / (k² + k)``, with ``k² = k_H k_G`` where they differ.
    alpha : float
        ``min(‖B‖_*, ‖C‖_*) - ‖A‖_*``; not positive where Algorithm 1 fails even with unlimited data.
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
        """Whether the condition of `le:deltacondition` holds."""
        return self.delta <= self.allowed

    @property
    def right(self) -> bool:
        """Whether Algorithm 1 finds the pairing from exact tables."""
        return self.alpha > _ROUNDING


def quartet_facts(model: LatentTreeModel, quartets: IntArray, progress: Progress = no_progress) -> list[QuartetFacts]:
    """Compute the paper's numbers for quadruples of columns, shape (q, 4).

    Quadruples whose true tree is a star, which have no pairing, are left out.
    """
    medians = _Medians(model)
    found = []
    step = max(1, limits.TENSOR_CELLS_AT_ONCE // int(model.n_states[: model.tree.n_observed].max()) ** 4)
    for start in range(0, len(quartets), step):
        some = quartets[start : start + step].tolist()
        placed = [place for leaves in some if (place := medians.placed(leaves)) is not None]
        ordered = np.array([leaves for leaves, *_ in placed], dtype=np.intp).reshape(-1, 4)
        norms = nuclear_norms(unfoldings(model.quartet_tables(ordered)))
        for (leaves, h, g), (a, b, c) in zip(placed, norms.tolist(), strict=True):
            found.append(_facts(model, leaves, h, g, min(b, c) - a))
        progress(min(start + step, len(quartets)), len(quartets))
    return found


def _facts(model: LatentTreeModel, leaves: tuple[int, int, int, int], h: int, g: int, alpha: float) -> QuartetFacts:
    k_h, k_g = int(model.n_states[h]), int(model.n_states[g])
    first, second = model.joint(leaves[:2]), model.joint(leaves[2:])
    theta = _nuclear(first) * _nuclear(second) - float(np.linalg.norm(first) * np.linalg.norm(second))
    return QuartetFacts(
        leaves=leaves,
        h=h,
        g=g,
        k=(k_h, k_g),
        delta=float(np.linalg.norm(dependence(model, h, g))),
        theta=theta,
        allowed=theta / (k_h * k_g + sqrt(k_h * k_g)),
        alpha=alpha,
    )


def dependence(model: LatentTreeModel, h: int, g: int) -> FloatArray:
    """Give ``Δ = P_HG - P_H P_Gᵀ`` of two nodes, on an edge or on a path."""
    joint = model.joint([h, g])
    return np.asarray(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0)))


def _nuclear(matrix: FloatArray) -> float:
    return float(np.linalg.svd(matrix, compute_uv=False).sum())


class _Medians:
    """Finds where the paths between three nodes of a tree meet."""

    def __init__(self, model: LatentTreeModel) -> None:
        rooted = model.tree.rooted()
        self.parent, self.depth = rooted.parent, rooted.depth

    def meeting(self, u: int, v: int) -> int:
        """Give the lowest node above two nodes."""
        while u != v:
            if u < 0 or v < 0:
                raise InputError(
                    "the theory is about columns of one tree, and these are in different parts of a forest"
                )
            if self.depth[u] < self.depth[v]:
                u, v = v, u
            u = int(self.parent[u])
        return u

    def median(self, a: int, b: int, c: int) -> int:
        """Give the node that lies on all three paths: the lowest of the three meetings."""
        return max((self.meeting(a, b), self.meeting(a, c), self.meeting(b, c)), key=lambda node: self.depth[node])

    def placed(self, quartet: list[int]) -> tuple[tuple[int, int, int, int], int, int] | None:
        """Order four columns so that {12|34} is their pairing, with H and G; None if their tree is a star."""
        first, *others = quartet
        for second in others:
            third, fourth = (other for other in others if other != second)
            h, g = self.median(first, second, third), self.median(first, third, fourth)
            if h != g and h == self.median(first, second, fourth) and g == self.median(second, third, fourth):
                return (first, second, third, fourth), h, g
        return None


@dataclass(frozen=True)
class Condition:
    """One of the paper's assumptions, whether it holds, and the numbers behind that."""

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
        How many the tree has.
    n_asked : int
        How many were looked at: all of them, or a random choice of a large tree's.
    quartets : list of QuartetFacts
        Those looked at that have a pairing; the others are stars.
    gamma_min : float
        The smallest probability of a hidden variable's state.
    delta : float
        The largest ``‖Δ_HG‖_F`` of an edge between hidden variables.
    conditions : tuple of Condition
        A1 to A4.
    """

    n_leaves: int
    n_quartets: int
    n_asked: int
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
        """Whether all quartets were looked at."""
        return self.n_asked == self.n_quartets

    @property
    def n_right(self) -> int:
        """How many of the quartets Algorithm 1 finds from exact tables."""
        return sum(quartet.right for quartet in self.quartets)

    @property
    def guaranteed(self) -> bool:
        """Whether all assumptions of `th:treecondition` are known to hold, so that Algorithm 2 finds the tree."""
        return self.complete and not self._failing

    @property
    def bounded(self) -> bool:
        """Whether the theorem's bound is about this tree: its proof needs a binary tree and quartets with ``α > 0``."""
        return "A2" not in self._failing and self.n_right == len(self.quartets)

    @property
    def found(self) -> bool | None:
        """Whether Algorithm 2 surely finds the tree on the exact distribution; None if unseen quartets decide."""
        return None if self.bounded and not self.complete else self.bounded

    @property
    def _failing(self) -> dict[str, str]:
        return {condition.name: condition.numbers for condition in self.conditions if not condition.holds}

    @property
    def verdict(self) -> str:
        """What the theorem on trees says, in words."""
        if "A2" in self._failing:
            return f"does not apply, as Algorithm 2 returns binary trees only: {self._failing['A2']}"
        finds = "Algorithm 2 finds the tree on the exact distribution"
        start = (
            f"its assumptions do not all hold ({', '.join(self._failing)})" if self._failing else "its assumptions hold"
        )
        if not self.bounded:
            return f"{start}, α_min is not positive, and Algorithm 2 may miss the tree even on the exact distribution"
        if not self.complete:
            return f"{start}, and α > 0 for the quartets looked at: if for all others, too, {finds}"
        return f"{start}, but α_min > 0 over all quartets, so {finds}" if self._failing else f"{start}, so {finds}"

    def success(self, n_rows: float) -> float | None:
        """Give the least probability with which Algorithm 2 finds the tree from so many rows; None if not bounded."""
        return success(self.alpha_min, n_rows, most_tests(self.n_leaves)) if self.bounded else None

    def rows_needed(self, probability: float) -> int | None:
        """Give the rows with which Algorithm 2 finds the tree at least with this probability; None if not bounded."""
        return rows_needed(self.alpha_min, probability, most_tests(self.n_leaves)) if self.bounded else None


def tree_facts(
    model: LatentTreeModel,
    *,
    max_quartets: int = MAX_QUARTETS,
    random_state: RandomState = 0,
    progress: Progress = no_progress,
) -> TreeFacts:
    """Compute the paper's numbers for a model whose tree is in one piece and has at least four columns."""
    tree = model.tree
    d = tree.n_observed
    if len(tree.edges) != tree.n_nodes - 1:
        raise InputError("the theory is about trees, and this model's falls into several parts")
    if d < 4:
        raise InputError(f"the theory is about quartets, and this model has {d} columns")
    if not tree.n_hidden:
        raise InputError("the theory is about hidden variables, and this model has none: there is nothing to check")
    asked = _asked(d, max_quartets, random_state)
    quartets = quartet_facts(model, asked, progress)
    if not quartets:
        raise InputError("the theory is about quartets that have a pairing, and this model's tree is a star")
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
    return TreeFacts(d, comb(d, 4), len(asked), quartets, gamma_min, delta, conditions)


def _asked(d: int, max_quartets: int, random_state: RandomState) -> IntArray:
    """Give all quadruples of columns, or as many different random ones as are allowed."""
    if comb(d, 4) <= max_quartets:
        return np.array(list(combinations(range(d), 4)), dtype=np.intp)
    rng = generator(random_state)
    chosen: set[tuple[int, ...]] = set()
    while len(chosen) < max_quartets:
        chosen.add(tuple(sorted(rng.choice(d, 4, replace=False).tolist())))
    return np.array(sorted(chosen), dtype=np.intp)


def _full_rank(model: LatentTreeModel) -> Condition:
    """A1: every table of a node given its parent has full column rank."""
    ratios = {}
    for node, table in enumerate(model.tables):
        if model.network.parent[node] >= 0:
            values = np.zeros(table.shape[1])
            some = np.linalg.svd(table, compute_uv=False)
            values[: len(some)] = some
            ratios[node] = float(values[-1] / values[0])
    worst = min(ratios, key=lambda node: ratios[node])
    numbers = f"smallest ratio of singular values {ratios[worst]:.3g}, of {model.tree.node_names[worst]}"
    return Condition("A1", "every conditional table has full column rank", ratios[worst] > _RANK_TOLERANCE, numbers)


def _three_neighbours(model: LatentTreeModel) -> Condition:
    """A2: every hidden variable has exactly three neighbours, and columns are leaves."""
    odd = model.tree.non_binary_features()
    numbers = ", ".join(odd.values()) or f"{model.tree.n_hidden} hidden variables, and all columns are leaves"
    return Condition("A2", "every hidden variable has exactly three neighbours", not odd, numbers)


def _keeps_marginals(model: LatentTreeModel, inner: list[tuple[int, int]]) -> Condition:
    """A3: the rows and columns of every Δ sum to zero; true of all models, up to rounding."""
    sums = [np.abs(dependence(model, u, v).sum(axis=axis)).max() for u, v in inner for axis in (0, 1)]
    largest = max((float(x) for x in sums), default=0.0)
    numbers = f"largest sum {largest:.1g}" if inner else _NO_EDGE
    return Condition("A3", "rows and columns of Δ sum to zero", largest < 1e-9, numbers)


def _near_independence(delta: float, allowed: float, inner: list[tuple[int, int]]) -> Condition:
    """A4: no edge between hidden variables is far from independence."""
    text = "‖Δ‖_F ≤ min(θ_min / (k² + k), γ_min) on every edge between hidden variables"
    return Condition(
        "A4", text, delta <= allowed, f"largest ‖Δ‖_F {delta:.4g}, allowed {allowed:.4g}" if inner else _NO_EDGE
    )


def most_tests(n_leaves: int) -> int:
    """Give the most tests that Algorithm 2 takes, a leaf after another: the theorem's ``c d log d``, exactly."""
    return sum(ceil(log2(leaves - 1)) for leaves in range(4, n_leaves + 1))


def success(alpha: float, n_rows: float, n_tests: int = 1) -> float:
    """Give the probability that so many quartet tests are all right, at least: `le:quartetsuccess` and its theorem.

    ``1 - 8 N exp(-m α² / 32)``; 0 where that is negative, or where the nuclear norms themselves are wrong.
    """
    return max(0.0, 1 - 8 * n_tests * float(np.exp(-n_rows * alpha**2 / 32))) if alpha > _ROUNDING else 0.0


def rows_needed(alpha: float, probability: float, n_tests: int = 1) -> int | None:
    """Give the fewest rows with which :func:`success` reaches a probability; None if no number does."""
    if not 0 < probability < 1:
        raise InputError(f"a probability to reach lies between 0 and 1, unlike {probability!r}")
    return ceil(32 * log(8 * n_tests / (1 - probability)) / alpha**2) if alpha > _ROUNDING else None


def norm_error(n_rows: float, confidence: float) -> float:
    """Give how far an estimated nuclear norm is off at most, with a confidence: ``2 sqrt(2 τ / m)``, 1 - 2 e^-τ."""
    return 2 * sqrt(2 * log(2 / (1 - confidence)) / n_rows)
