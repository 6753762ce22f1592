"""Tables that are not drawn from latent trees of few states, and on which nothing was tuned.

Each function draws a table from a seed, with the true group of each column. Sizes, loadings and thresholds are drawn,
too. Every second table has missing cells.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from latree.table import Column, Table

FloatArray: TypeAlias = NDArray[np.float64]

ROWS = (500, 3000)
GROUPS = (4, 8)
ITEMS = (4, 8)  # of each group
LOADINGS = (0.4, 0.8)
MAX_CORRELATION = 0.6  # of two factors
REVERSED = 0.25  # share of items with a negative loading
MISSING = (0.05, 0.15)


class Grouped(NamedTuple):
    """A table and the true group of each column."""

    table: Table
    groups: list[str]


def graded(seed: int) -> Grouped:
    """Draw answers of 3 to 7 grades (Samejima 1969): each item measures one of several correlated factors."""
    items = Items(seed, 10)
    return items.answers(items.common(items.loadings), items.loadings**2)


def local_dependence(seed: int) -> Grouped:
    """Draw graded answers in which two items of every group have more in common than their factor."""
    items = Items(seed, 11)
    common, explained = items.common(items.loadings), items.loadings**2
    for group in range(items.n_groups):
        pair = np.flatnonzero(items.group == group)[:2]
        shared = items.rng.uniform(0.3, 0.6) * (1 - explained[pair])  # of the variance that the factor leaves
        common[:, pair] += np.sqrt(shared) * items.rng.normal(size=(items.n_rows, 1))
        explained[pair] += shared
    return items.answers(common, explained)


def cross_loadings(seed: int) -> Grouped:
    """Draw graded answers in which a fifth of the items also measures a second factor, but less."""
    items = Items(seed, 12)
    loadings = np.zeros((items.n_groups, items.n_items))
    loadings[items.group, np.arange(items.n_items)] = items.loadings
    for item in items.rng.choice(items.n_items, items.n_items // 5, replace=False):
        other = (items.group[item] + items.rng.integers(1, items.n_groups)) % items.n_groups
        loadings[other, item] = items.loadings[item] * items.rng.uniform(0.4, 0.7)
    correlation = np.sqrt(np.outer(items.general, items.general))
    np.fill_diagonal(correlation, 1)
    explained = np.einsum("gi,gh,hi->i", loadings, correlation, loadings)
    shrink = np.sqrt(np.minimum(1, 0.9 / explained))  # where both loadings together are too high
    return items.answers(items.factors @ (loadings * shrink), explained * shrink**2)


def bifactor(seed: int) -> Grouped:
    """Draw graded answers in which every item measures a general factor, and one of several independent ones."""
    items = Items(seed, 13, max_correlation=0)
    general = items.rng.uniform(0.3, 0.6, items.n_items)
    own = np.minimum(items.loadings, 0.7)
    common = items.common(own) + general * items.rng.normal(size=(items.n_rows, 1))
    return items.answers(common, own**2 + general**2)


def rare(seed: int) -> Grouped:
    """Draw yes or no from correlated factors, with 2 to 10 % of yes in each column."""
    items = Items(seed, 14)
    thresholds = norm.ppf(1 - items.rng.uniform(0.02, 0.1, items.n_items))
    noise = items.rng.normal(size=(items.n_rows, items.n_items)) * np.sqrt(1 - items.loadings**2)
    return items.table((items.common(items.loadings) + noise > thresholds).astype(np.int32), 2)


def topics(seed: int) -> Grouped:
    """Draw which words are in texts that are about two topics each; a topic's words are rare in other texts."""
    items = Items(seed, 15)
    about = np.argsort(items.rng.random((items.n_rows, items.n_groups)), axis=1)[:, :2]
    is_about = (about[:, :, None] == items.group).any(axis=1)
    often, seldom = items.rng.uniform(0.15, 0.5, items.n_items), items.rng.uniform(0.01, 0.05, items.n_items)
    words = items.rng.random(is_about.shape) < np.where(is_about, often, seldom)
    return items.table(words.astype(np.int32), 2)


FOREIGN: dict[str, Callable[[int], Grouped]] = {
    "graded": graded,
    "local dependence": local_dependence,
    "cross-loadings": cross_loadings,
    "bifactor": bifactor,
    "rare": rare,
    "topics": topics,
}


class Items:
    """Groups of items, the loading of each item on the factor of its group, and the factors of all rows.

    Two factors have the correlation `sqrt(general[i] * general[j])`, because all of them depend on a general one.
    """

    def __init__(self, seed: int, kind: int, max_correlation: float = MAX_CORRELATION) -> None:
        self.rng = rng = np.random.default_rng([seed, kind])
        self.missing = rng.uniform(*MISSING) if seed % 2 else 0.0
        self.n_rows, self.n_groups = _between(rng, ROWS), _between(rng, GROUPS)
        self.group = np.repeat(np.arange(self.n_groups), [_between(rng, ITEMS) for _ in range(self.n_groups)])
        self.n_items = len(self.group)
        self.loadings = rng.uniform(*LOADINGS, self.n_items)
        self.general = rng.uniform(0, max_correlation, self.n_groups)
        own = rng.normal(size=(self.n_rows, self.n_groups))
        self.factors = np.sqrt(self.general) * rng.normal(size=(self.n_rows, 1)) + np.sqrt(1 - self.general) * own

    def common(self, loadings: FloatArray) -> FloatArray:
        """Return what each row's factor contributes to each item."""
        return self.factors[:, self.group] * loadings

    def answers(self, common: FloatArray, explained: FloatArray) -> Grouped:
        """Add noise so that items have variance 1, cut them into grades, and reverse some items."""
        values = common + self.rng.normal(size=common.shape) * np.sqrt(1 - explained)
        n_grades = int(self.rng.integers(3, 8))
        shares = self.rng.dirichlet(np.full(n_grades, 3.0), self.n_items)
        thresholds = norm.ppf(np.cumsum(shares, axis=1)[:, :-1])
        grades = (values[:, :, None] > thresholds).sum(axis=2)
        is_reversed = self.rng.random(self.n_items) < REVERSED
        return self.table(np.where(is_reversed, n_grades - 1 - grades, grades).astype(np.int32), n_grades)

    def table(self, codes: NDArray[np.int32], n_states: int) -> Grouped:
        """Return the table in a random order of columns, with missing cells if the seed is odd."""
        order = self.rng.permutation(self.n_items)
        codes[self.rng.random(codes.shape) < self.missing] = -1
        states = tuple(map(str, range(n_states)))
        columns = [Column(f"x{i}", "integer", states) for i in range(self.n_items)]
        return Grouped(Table.from_codes(columns, codes[:, order]), [f"g{group}" for group in self.group[order]])


def _between(rng: np.random.Generator, limits: tuple[int, int]) -> int:
    return int(rng.integers(limits[0], limits[1] + 1))
