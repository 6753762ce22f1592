"""What support and stability mean: what they call sure is right, and comes again in other rows, as often as they say.

The tables are small, their trees are known, and two samples are drawn from each. All numbers are pooled over tables.
"""

from typing import NamedTuple

import numpy as np
import pytest

from latree import LatentTree
from latree.interpret.groups import group_labels, same_group
from latree.paper.simulate import random_model, random_tree
from simulated_tables import non_binary_model, recipe_model
from truth import right_by_support

SURE = 0.9
# Random trees, without clear groups, whose probabilities are drawn in two ways.
RANDOM = [("copy", seed) for seed in range(4)] + [("dirichlet", seed) for seed in range(4)]
# The paper's binary trees, and questionnaires.
CLEAR = [("paper", 0), ("paper", 1), ("questionnaire", 0)]


def truth_and_rows(kind, seed):
    """Return a model, and the number of rows to draw from it."""
    if kind == "paper":
        tree = random_tree(12, random_state=seed)
        return random_model(tree, n_states=4, hidden_states=3, start="identity", random_state=seed), 1000
    if kind == "questionnaire":
        return recipe_model(n_scales=4, n_items=4), 400
    return non_binary_model(seed, kind, hidden=(3, 5)), 300


@pytest.fixture(scope="module")
def fits():
    """Return for each table the true tree, and what was learned from two samples."""
    found = {}
    for kind, seed in RANDOM + CLEAR:
        truth, n_rows = truth_and_rows(kind, seed)
        samples = (truth.sample(n_rows, random_state=2 * seed + half) for half in range(2))
        found[kind, seed] = truth.tree, [LatentTree(random_state=0).fit(table) for table in samples]
    return found


class Column(NamedTuple):
    """A column of a group: its stability, and whether it is in this group in the other sample, too."""

    stability: float
    comes_again: bool


def columns_of(fits, tables):
    """Return the columns of the main groups of tables, each sample compared with the other one."""
    found = []
    for tree, (one, other) in (fits[table] for table in tables):
        for here, there in ((one.groups_, other.groups_), (other.groups_, one.groups_)):
            again = same_group(*(group_labels(groups, tree.names) for groups in (here, there)))
            again = dict(zip(tree.names, again.tolist(), strict=True))
            for group in here:
                shares = zip(group.columns, group.column_stability or (), strict=False)
                found += [Column(stability, again[name]) for name, stability in shares]
    return found


def test_edges_with_much_support_are_right(fits):
    n_edges = n_right = 0
    for tree, samples in fits.values():
        for learned in samples:
            counts = right_by_support(tree, learned.tree_)
            n_edges, n_right = n_edges + counts["edges 0.9-1"], n_right + counts["right 0.9-1"]
    assert n_edges > 30
    assert n_right >= SURE * n_edges


def test_columns_that_are_stable_are_in_their_group_again_in_other_rows(fits):
    stable = [column for column in columns_of(fits, fits) if column.stability >= SURE]
    assert len(stable) > 150
    assert np.mean([column.comes_again for column in stable]) >= SURE


@pytest.mark.xfail(
    reason="stability is over-sure where groups are not clear: the number of groups may differ in other rows. In these "
    "random trees, of 146 columns with a stability of 0.9 or more 90 % are in their group again"
)
def test_columns_come_again_as_often_as_their_stability_says_where_groups_are_not_clear(fits):
    stable = [column for column in columns_of(fits, RANDOM) if column.stability >= SURE]
    assert len(stable) > 100
    stability, comes_again = np.mean(stable, axis=0)
    assert comes_again >= stability - 0.04
