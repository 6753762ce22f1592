"""Spectral recursive grouping (Anandkumar, Chaudhuri, Hsu, Kakade, Song and Zhang 2011).

Subtrees are joined from the leaves up. Two of them may be joined if no decided quartet, of one leaf from each and
leaves of two other subtrees, parts them; of all such pairs the one is joined whose leaves depend on each other most.
Their roots become one if no decided quartet parts their children from each other; one becomes the child of the other if
no decided quartet parts it from any child of that root; otherwise they get a new parent.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from latree.arrays import FloatArray, IntArray
from latree.builders import Progress, Structure, no_progress
from latree.builders.latent_class import latent_class
from latree.errors import InputError
from latree.quartets import QuartetTest
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
    grouping = _Grouping(d, *_decided(d, test))
    while len(grouping.roots) > 2:
        grouping.join(*grouping.next_pair(dependence))
        progress(d - len(grouping.roots), d)
    grouping.join_last()
    facts = {"quartet_tests": grouping.n_tests, "quartets_decided": grouping.n_decided}
    return Structure(Tree(names, grouping.edges()), facts)


def check_size(n_columns: int) -> None:
    """Raise if there are too many columns to ask every quartet of them."""
    if n_columns > MAX_COLUMNS:
        raise InputError(f"spectral grouping asks every quartet: at most {MAX_COLUMNS} columns, not {n_columns}")


def _decided(d: int, test: QuartetTest) -> tuple[IntArray, int]:
    """Ask about all quadruples; give the decided ones as rows (a, b, c, d) for {ab|cd}, and how many were asked."""
    quartets = np.array(list(combinations(range(d), 4)), dtype=np.intp)
    order = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2]])
    kept = []
    for start in range(0, len(quartets), _QUARTETS_AT_ONCE):
        some = quartets[start : start + _QUARTETS_AT_ONCE]
        answers = test(some)
        sure = answers.decided
        kept.append(np.take_along_axis(some[sure], order[answers.pairing[sure]], axis=1))
    return np.concatenate(kept), len(quartets)


class _Grouping:
    """A forest that becomes a tree: roots of subtrees, with what the quartets say of them."""

    def __init__(self, d: int, quartets: IntArray, n_tests: int) -> None:
        self.d = d
        self.quartets = quartets  # those that can still tell something
        self.n_tests, self.n_decided = n_tests, len(quartets)
        self.n_nodes = d
        self.roots = list(range(d))
        self.children: dict[int, list[int]] = {}
        self.leaves: dict[int, list[int]] = {leaf: [leaf] for leaf in range(d)}

    def next_pair(self, dependence: FloatArray) -> tuple[int, int]:
        """Choose the pair of roots to join: parted by the fewest quartets (none, as a rule), then most dependent."""
        self._forget()
        parted = self._parted(self.roots)
        closeness = np.empty(parted.shape)
        for i, root in enumerate(self.roots):
            for j, other in enumerate(self.roots):
                closeness[i, j] = dependence[np.ix_(self.leaves[root], self.leaves[other])].max()
        rank = np.where(np.tri(len(parted), k=-1, dtype=bool), parted, np.iinfo(np.intp).max)
        fewest = np.argwhere(rank == rank.min())
        i, j = fewest[np.argmax(closeness[fewest[:, 0], fewest[:, 1]])]
        return self.roots[i], self.roots[j]

    def join(self, first: int, second: int) -> None:
        """Make two roots one, or one the child of the other, or both children of a new one."""
        if self._may_be_one(first, second):
            self.children[first] += self.children.pop(second)
            self.leaves[first] = self.leaves[first] + self.leaves[second]
            self.roots.remove(second)
            return
        for parent, child in ((first, second), (second, first)):
            if self._may_be_parent(parent, child):
                self.children[parent].append(child)
                self.leaves[parent] = self.leaves[parent] + self.leaves[child]
                self.roots.remove(child)
                return
        new = self.n_nodes
        self.n_nodes += 1
        self.children[new] = [first, second]
        self.leaves[new] = self.leaves[first] + self.leaves[second]
        self.roots = [root for root in self.roots if root not in (first, second)] + [new]

    def join_last(self) -> None:
        """Make the last two roots one, if nothing parts them; otherwise they stay neighbours."""
        if len(self.roots) == 2 and self._may_be_one(*self.roots):
            self.join(*self.roots)

    def _may_be_one(self, first: int, second: int) -> bool:
        """Tell whether no quartet parts any child of a hidden root from any child of another."""
        if min(first, second) < self.d:
            return False
        one, other = self.children[first], self.children[second]
        others = [root for root in self.roots if root not in (first, second)]
        parted = self._parted([*one, *other, *others])
        return not parted[: len(one), len(one) : len(one) + len(other)].any()

    def _may_be_parent(self, parent: int, child: int) -> bool:
        """Tell whether no quartet parts a root from any child of another root, if those stood for themselves."""
        if parent < self.d:
            return False
        siblings = self.children[parent]
        others = [root for root in self.roots if root not in (parent, child)]
        parted = self._parted([*siblings, child, *others])
        return not parted[len(siblings), : len(siblings)].any()

    def _forget(self) -> None:
        """Drop the quartets with two leaves below the same child of a root, which can tell nothing any more."""
        below = self._labels([child for root in self.roots for child in self.children.get(root, [root])])
        self.quartets = self.quartets[_distinct(below[self.quartets])]

    def _parted(self, subtrees: list[int]) -> NDArray[np.int64]:
        """Count the quartets that part every two subtrees."""
        found = self._labels(subtrees)[self.quartets]
        a, b, c, d = found[_distinct(found)].T
        r = len(subtrees)
        pairs = np.concatenate([a * r + c, a * r + d, b * r + c, b * r + d])
        counts = np.bincount(pairs, minlength=r * r).reshape(r, r)
        return counts + counts.T

    def _labels(self, subtrees: list[int]) -> IntArray:
        """Give each leaf the place of its subtree."""
        label = np.empty(self.d, dtype=np.intp)
        for place, subtree in enumerate(subtrees):
            label[self.leaves[subtree]] = place
        return label

    def edges(self) -> list[tuple[int, int]]:
        """Give all edges, hidden nodes numbered from d on; if two roots are left, they are neighbours."""
        edges = [(parent, child) for parent, children in self.children.items() for child in children]
        edges += [(self.roots[0], root) for root in self.roots[1:]]
        number = {hidden: self.d + place for place, hidden in enumerate(self.children)}
        return [(number.get(u, u), number.get(v, v)) for u, v in edges]


def _distinct(labels: IntArray) -> NDArray[np.bool_]:
    """Tell which rows have four different labels."""
    ordered = np.sort(labels, axis=1)
    return np.asarray((ordered[:, 1:] != ordered[:, :-1]).all(axis=1))
