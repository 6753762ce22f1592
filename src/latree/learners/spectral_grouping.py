"""Spectral recursive grouping (Anandkumar, Chaudhuri, Hsu, Kakade, Song and Zhang 2011).

A quartet {ab|cd} separates a from c, a from d, b from c and b from d.
"""

from collections.abc import Sequence
from itertools import chain, combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import claim_progress
from latree.counts.quartets import QuartetTest
from latree.errors import InputError
from latree.learners.structure import Structure, latent_class
from latree.tree import Tree

# All quartets of columns are tested: 128 columns have 10.7 million.
MAX_COLUMNS = 128
# Quartets are tested and counted this many at a time.
_QUARTETS_AT_ONCE = 2**20


def spectral_grouping(names: Sequence[str], test: QuartetTest, dependence: FloatArray) -> Structure:
    """Build a tree from all quartets, with a test that may decline to answer.

    Use it if the number of hidden states k is known, with :func:`latree.research.spectral_test`, for up to 128
    columns. Hidden nodes may have more than three neighbours if the test declines where it is not sure.

    Subtrees are joined from the leaves up. Two of them may be joined if no decided quartet, of one leaf from each and
    leaves of two other subtrees, separates them. Of all such pairs, the one with the most dependent leaves is joined:

    1. The two roots become one node if no decided quartet separates their children from each other.
    2. Otherwise one becomes a child of the other if no decided quartet separates it from any child of that root.
    3. Otherwise the two get a new parent.

    The paper's algorithm stops with a failure if every pair is separated by some quartet. Here the pair that the fewest
    quartets separate is then joined.

    Parameters
    ----------
    names : sequence of str
        Names of the leaves, at most 128.
    test : callable
        From quadruples of leaves, shape (q, 4), to :class:`latree.counts.quartets.Pairings`. All quadruples are tested.
    dependence : array, shape (d, d)
        How strongly every two leaves depend on each other: the k-th singular value of their joint distribution.

    Returns
    -------
    Structure
        With the facts ``quartet_tests`` and ``quartets_decided``.

    References
    ----------
    Anandkumar, Chaudhuri, Hsu, Kakade, Song and Zhang (2011), Spectral Methods for Learning Multivariate Latent Tree
    Structure.

    Examples
    --------
    >>> import latree
    >>> from latree.research import as_pairs, pair_tables, spectral_grouping, spectral_products, spectral_test
    >>> tree = latree.random_tree(6, random_state=0)
    >>> model = latree.random_model(tree, n_states=3, hidden_states=2, start="identity", random_state=0)
    >>> products = spectral_products(as_pairs(pair_tables(model.sample(5000, random_state=0))), n_states=2)
    >>> learned = spectral_grouping(tree.names, spectral_test(products), products.last)
    >>> learned.tree.robinson_foulds(tree), learned.facts["quartet_tests"]
    (0, 15)
    """
    progress = claim_progress()
    d = len(names)
    check_size(d)
    if d < 4:
        return Structure(latent_class(names).tree, {"quartet_tests": 0, "quartets_decided": 0})
    quartets, n_tests = _decided(d, test)
    grouping = _Grouping(d, quartets, dependence)
    while len(grouping.roots) > 2:
        grouping.join(*grouping.next_pair())
        progress(d - len(grouping.roots), d)
    grouping.join_last()
    facts = {"quartet_tests": n_tests, "quartets_decided": len(quartets)}
    return Structure(Tree(names, grouping.edges()), facts)


def check_size(n_columns: int) -> None:
    """Raise if there are too many columns to test every quartet of them."""
    if n_columns > MAX_COLUMNS:
        raise InputError(
            f"spectral grouping tests every quartet and takes at most {MAX_COLUMNS} columns, not {n_columns}: "
            "choose fewer columns, or another method"
        )


def _decided(d: int, test: QuartetTest) -> tuple[NDArray[np.uint8], int]:
    """Test all quadruples; return the decided ones as rows (a, b, c, d) for {ab|cd}, and the number of tests."""
    number = comb(d, 4)
    quartets = np.fromiter(chain.from_iterable(combinations(range(d), 4)), np.uint8, 4 * number).reshape(number, 4)
    order = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2]])
    kept = []
    for start in range(0, len(quartets), _QUARTETS_AT_ONCE):
        batch = quartets[start : start + _QUARTETS_AT_ONCE]
        answers = test(batch.astype(np.intp))
        decided = answers.decided
        kept.append(np.take_along_axis(batch[decided], order[answers.pairing[decided]], axis=1))
    return np.concatenate(kept), len(quartets)


class _Grouping:
    """A forest that becomes a tree: the roots of its subtrees, and what the quartets say about them."""

    def __init__(self, d: int, quartets: NDArray[np.uint8], dependence: FloatArray) -> None:
        self.d = self.n_nodes = d
        self.quartets = quartets
        self.roots = list(range(d))
        self.children: dict[int, list[int]] = {}
        self.leaves: dict[int, list[int]] = {leaf: [leaf] for leaf in range(d)}
        # For every two roots, the number of quartets with leaves of four different subtrees that separate them.
        self.n_separating = _count_separating(quartets, np.arange(d), 2 * d)
        # For every two roots, the largest dependence between a leaf below the one and a leaf below the other.
        self.dependence = np.full((2 * d, 2 * d), -np.inf)
        self.dependence[:d, :d] = dependence

    def next_pair(self) -> tuple[int, int]:
        """Return the pair of roots to join: separated by the fewest quartets (usually none), then most dependent."""
        roots = np.array(self.roots)
        inside = np.ix_(roots, roots)
        below = np.tri(len(roots), k=-1, dtype=bool)
        separating = np.where(below, self.n_separating[inside], np.iinfo(np.int64).max)
        fewest = np.argwhere(separating == separating.min())
        dependence = self.dependence[inside][fewest[:, 0], fewest[:, 1]]
        i, j = fewest[np.argmax(dependence)]
        return self.roots[i], self.roots[j]

    def join(self, first: int, second: int) -> None:
        """Make two roots one, or one the child of the other, or both children of a new one."""
        # Only quartets with leaves below both roots can change their meaning.
        shared = self._quartets_of(first, second)
        # 1. The roots become one node.
        if self._may_be_one(shared, first, second):
            self._unite(first, [first, second], shared)
            self.children[first] += self.children.pop(second)
            return
        # 2. One root becomes a child of the other.
        for parent, child in ((first, second), (second, first)):
            if self._may_be_parent(shared, parent, child):
                self._unite(parent, [parent, child], shared)
                self.children[parent].append(child)
                return
        # 3. Both get a new parent.
        new, self.n_nodes = self.n_nodes, self.n_nodes + 1
        self._unite(new, [first, second], shared)
        self.children[new] = [first, second]

    def join_last(self) -> None:
        """Make the last two roots one, if nothing separates them; otherwise they stay neighbours."""
        if len(self.roots) == 2 and self._may_be_one(self._quartets_of(*self.roots), *self.roots):
            self.join(*self.roots)

    def _quartets_of(self, first: int, second: int) -> NDArray[np.uint8]:
        """Return the quartets that have a leaf below each of two roots."""
        side = np.zeros(self.d, dtype=np.uint8)
        side[self.leaves[first]], side[self.leaves[second]] = 1, 2
        both = np.bitwise_or.reduce(side[self.quartets], axis=1) == 3
        return np.asarray(self.quartets[both])

    def _unite(self, root: int, old: list[int], shared: NDArray[np.uint8]) -> None:
        """Replace two roots by one; quartets with leaves below both no longer have four different subtrees."""
        self.n_separating -= _count_separating(shared, self._labels(self.roots, self.roots), len(self.n_separating))
        self.roots = [other for other in self.roots if other not in old] + [root]
        for matrix, merge in ((self.n_separating, np.add), (self.dependence, np.maximum)):
            row = merge(matrix[old[0]], matrix[old[1]])
            matrix[root], matrix[:, root] = row, row
        self.leaves[root] = self.leaves[old[0]] + self.leaves[old[1]]

    def _may_be_one(self, shared: NDArray[np.uint8], first: int, second: int) -> bool:
        """Return whether both roots are hidden and no quartet separates a child of one from a child of the other."""
        if min(first, second) < self.d:
            return False
        one, other = self.children[first], self.children[second]
        separating = self._count_in_place_of([first, second], [*one, *other], shared)
        return not separating[: len(one), len(one) : len(one) + len(other)].any()

    def _may_be_parent(self, shared: NDArray[np.uint8], parent: int, child: int) -> bool:
        """Return whether ``parent`` is hidden and no quartet separates ``child`` from any of its children."""
        if parent < self.d:
            return False
        siblings = self.children[parent]
        separating = self._count_in_place_of([parent, child], [*siblings, child], shared)
        return not separating[len(siblings), : len(siblings)].any()

    def _count_in_place_of(
        self, replaced: list[int], subtrees: list[int], quartets: NDArray[np.uint8]
    ) -> NDArray[np.int64]:
        """Count the separating quartets as if these subtrees were roots in place of two others; they come first."""
        roots = [*subtrees, *(root for root in self.roots if root not in replaced)]
        return _count_separating(quartets, self._labels(roots, range(len(roots))), len(roots))

    def _labels(self, subtrees: Sequence[int], numbers: Sequence[int]) -> IntArray:
        """Return for each leaf the number of its subtree."""
        label = np.empty(self.d, dtype=np.intp)
        for subtree, number in zip(subtrees, numbers, strict=True):
            label[self.leaves[subtree]] = number
        return label

    def edges(self) -> list[tuple[int, int]]:
        """Return all edges, with hidden nodes numbered from d on; if two roots are left, they are neighbours."""
        edges = [(parent, child) for parent, children in self.children.items() for child in children]
        edges += [(self.roots[0], root) for root in self.roots[1:]]
        number = {hidden: self.d + place for place, hidden in enumerate(self.children)}
        return [(number.get(u, u), number.get(v, v)) for u, v in edges]


def _count_separating(quartets: NDArray[np.uint8], label: IntArray, size: int) -> NDArray[np.int64]:
    """Count for every two labels the quartets of four different labels that separate them."""
    counts = np.zeros((size, size), dtype=np.int64)
    for start in range(0, len(quartets), _QUARTETS_AT_ONCE):
        labels = label[quartets[start : start + _QUARTETS_AT_ONCE]]
        a, b, c, d = labels[_distinct(labels)].T
        pairs = np.concatenate([a * size + c, a * size + d, b * size + c, b * size + d])
        counts += np.bincount(pairs, minlength=size * size).reshape(size, size)
    return counts + counts.T


def _distinct(labels: IntArray) -> NDArray[np.bool_]:
    """Return which rows have four different labels."""
    a, b, c, d = labels.T
    return np.asarray((a != b) & (a != c) & (a != d) & (b != c) & (b != d) & (c != d))
