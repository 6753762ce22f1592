"""Spectral recursive grouping (Anandkumar, Chaudhuri, Hsu, Kakade, Song and Zhang 2011).

Subtrees are joined from the leaves up. Two of them may be joined if no decided quartet, of one leaf from each and
leaves of two other subtrees, parts them; of all such pairs the one is joined whose leaves depend on each other most.
Their roots become one if no decided quartet parts their children from each other; one becomes the child of the other if
no decided quartet parts it from any child of that root; otherwise they get a new parent.
"""

from collections.abc import Sequence
from itertools import chain, combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import Progress, no_progress
from latree.counts.quartets.pairings import QuartetTest
from latree.errors import InputError
from latree.learners.latent_class import latent_class
from latree.learners.structure import Structure
from latree.tree import Tree

MAX_COLUMNS = 128  # which have 10.7 million quartets
_QUARTETS_AT_ONCE = 2**20


def spectral_grouping(
    names: Sequence[str], test: QuartetTest, dependence: FloatArray, progress: Progress = no_progress
) -> Structure:
    """Build a tree from a test that may decline to answer.

    The paper's algorithm stops with a failure if every pair is parted by some quartet; here the pair is then joined
    that the fewest quartets part.

    Parameters
    ----------
    names : sequence of str
        Names of the leaves, at most 128.
    test : callable
        From quadruples of leaves, shape (q, 4), to pairings. All quadruples are asked.
    dependence : array, shape (d, d)
        How strongly every two leaves depend on each other: the k-th singular value of their pair table.
    progress : callable
        Told the number of subtrees joined, and of all.

    Returns
    -------
    Structure
        With the facts ``quartet_tests`` and ``quartets_decided``. A hidden node may have more than three neighbours
        where the test declined.
    """
    d = len(names)
    check_size(d)
    if d < 4:
        return Structure(latent_class(names).tree, {"quartet_tests": 0, "quartets_decided": 0})
    quartets, n_tests = _decided(d, test)
    grouping = _Grouping(d, quartets, dependence, n_tests)
    while len(grouping.roots) > 2:
        grouping.join(*grouping.next_pair())
        progress(d - len(grouping.roots), d)
    grouping.join_last()
    facts = {"quartet_tests": grouping.n_tests, "quartets_decided": grouping.n_decided}
    return Structure(Tree(names, grouping.edges()), facts)


def check_size(n_columns: int) -> None:
    """Raise if there are too many columns to ask every quartet of them."""
    if n_columns > MAX_COLUMNS:
        raise InputError(f"spectral grouping asks every quartet: at most {MAX_COLUMNS} columns, not {n_columns}")


def _decided(d: int, test: QuartetTest) -> tuple[NDArray[np.uint8], int]:
    """Ask about all quadruples; give the decided ones as rows (a, b, c, d) for {ab|cd}, and how many were asked."""
    number = comb(d, 4)
    quartets = np.fromiter(chain.from_iterable(combinations(range(d), 4)), np.uint8, 4 * number).reshape(number, 4)
    order = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2]])
    kept = []
    for start in range(0, len(quartets), _QUARTETS_AT_ONCE):
        some = quartets[start : start + _QUARTETS_AT_ONCE]
        answers = test(some.astype(np.intp))
        sure = answers.decided
        kept.append(np.take_along_axis(some[sure], order[answers.pairing[sure]], axis=1))
    return np.concatenate(kept), len(quartets)


class _Grouping:
    """A forest that becomes a tree: roots of subtrees, with what the quartets say of them."""

    def __init__(self, d: int, quartets: NDArray[np.uint8], dependence: FloatArray, n_tests: int) -> None:
        self.d = self.n_nodes = d
        self.quartets = quartets
        self.n_tests, self.n_decided = n_tests, len(quartets)
        self.roots = list(range(d))
        self.children: dict[int, list[int]] = {}
        self.leaves: dict[int, list[int]] = {leaf: [leaf] for leaf in range(d)}
        # For every two roots: how many quartets of leaves of four different subtrees part them, and how much the most
        # dependent of their leaves depend on each other.
        self.parted = _parted(quartets, np.arange(d), 2 * d)
        self.dependence = np.full((2 * d, 2 * d), -np.inf)
        self.dependence[:d, :d] = dependence

    def next_pair(self) -> tuple[int, int]:
        """Choose the pair of roots to join: parted by the fewest quartets (none, as a rule), then most dependent."""
        roots = np.array(self.roots)
        inside = np.ix_(roots, roots)
        below = np.tri(len(roots), k=-1, dtype=bool)
        rank = np.where(below, self.parted[inside], np.iinfo(np.int64).max)
        fewest = np.argwhere(rank == rank.min())
        closeness = self.dependence[inside][fewest[:, 0], fewest[:, 1]]
        i, j = fewest[np.argmax(closeness)]
        return self.roots[i], self.roots[j]

    def join(self, first: int, second: int) -> None:
        """Make two roots one, or one the child of the other, or both children of a new one."""
        between = self._between(first, second)
        if self._may_be_one(between, first, second):
            self._unite(first, [first, second], between)
            self.children[first] += self.children.pop(second)
            return
        for parent, child in ((first, second), (second, first)):
            if self._may_be_parent(between, parent, child):
                self._unite(parent, [parent, child], between)
                self.children[parent].append(child)
                return
        new, self.n_nodes = self.n_nodes, self.n_nodes + 1
        self._unite(new, [first, second], between)
        self.children[new] = [first, second]

    def join_last(self) -> None:
        """Make the last two roots one, if nothing parts them; otherwise they stay neighbours."""
        if len(self.roots) == 2 and self._may_be_one(self._between(*self.roots), *self.roots):
            self.join(*self.roots)

    def _between(self, first: int, second: int) -> NDArray[np.uint8]:
        """Give the quartets that have a leaf below each of two roots."""
        side = np.zeros(self.d, dtype=np.uint8)
        side[self.leaves[first]], side[self.leaves[second]] = 1, 2
        both = np.bitwise_or.reduce(side[self.quartets], axis=1) == 3
        return np.asarray(self.quartets[both])

    def _unite(self, root: int, old: list[int], between: NDArray[np.uint8]) -> None:
        """Let one root stand for two; quartets with a leaf of each have no longer four different subtrees."""
        lost = _parted(between, self._labels(self.roots, self.roots), len(self.parted))
        self.parted -= lost
        self.roots = [other for other in self.roots if other not in old] + [root]
        for matrix, merge in ((self.parted, np.add), (self.dependence, np.maximum)):
            row = merge(matrix[old[0]], matrix[old[1]])
            matrix[root], matrix[:, root] = row, row
        self.leaves[root] = self.leaves[old[0]] + self.leaves[old[1]]

    def _may_be_one(self, between: NDArray[np.uint8], first: int, second: int) -> bool:
        """Tell whether no quartet parts any child of a hidden root from any child of another."""
        if min(first, second) < self.d:
            return False
        one, other = self.children[first], self.children[second]
        parted = self._parted_apart(between, [first, second], [*one, *other])
        return not parted[: len(one), len(one) : len(one) + len(other)].any()

    def _may_be_parent(self, between: NDArray[np.uint8], parent: int, child: int) -> bool:
        """Tell whether no quartet parts a root from any child of another root, if those stood for themselves."""
        if parent < self.d:
            return False
        siblings = self.children[parent]
        parted = self._parted_apart(between, [parent, child], [*siblings, child])
        return not parted[len(siblings), : len(siblings)].any()

    def _parted_apart(self, between: NDArray[np.uint8], taken: list[int], subtrees: list[int]) -> NDArray[np.int64]:
        """Count what quartets say of some subtrees, which stand in the place of two roots."""
        shown = [*subtrees, *(root for root in self.roots if root not in taken)]
        return _parted(between, self._labels(shown, range(len(shown))), len(shown))

    def _labels(self, subtrees: Sequence[int], numbers: Sequence[int]) -> IntArray:
        """Give each leaf the number of its subtree."""
        label = np.empty(self.d, dtype=np.intp)
        for subtree, number in zip(subtrees, numbers, strict=True):
            label[self.leaves[subtree]] = number
        return label

    def edges(self) -> list[tuple[int, int]]:
        """Give all edges, hidden nodes numbered from d on; if two roots are left, they are neighbours."""
        edges = [(parent, child) for parent, children in self.children.items() for child in children]
        edges += [(self.roots[0], root) for root in self.roots[1:]]
        number = {hidden: self.d + place for place, hidden in enumerate(self.children)}
        return [(number.get(u, u), number.get(v, v)) for u, v in edges]


def _parted(quartets: NDArray[np.uint8], label: IntArray, size: int) -> NDArray[np.int64]:
    """Count for every two labels the quartets of four different labels that part them."""
    counts = np.zeros((size, size), dtype=np.int64)
    for start in range(0, len(quartets), _QUARTETS_AT_ONCE):
        found = label[quartets[start : start + _QUARTETS_AT_ONCE]]
        a, b, c, d = found[_distinct(found)].T
        pairs = np.concatenate([a * size + c, a * size + d, b * size + c, b * size + d])
        counts += np.bincount(pairs, minlength=size * size).reshape(size, size)
    return counts + counts.T


def _distinct(labels: IntArray) -> NDArray[np.bool_]:
    """Tell which rows have four different labels."""
    a, b, c, d = labels.T
    return np.asarray((a != b) & (a != c) & (a != d) & (b != c) & (b != d) & (c != d))
