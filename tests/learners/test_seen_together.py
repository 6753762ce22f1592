"""Edges that no rows can show, as some columns are never present in the same row."""

from itertools import combinations

import numpy as np
import pytest

from latree.learn import learn_model, learn_tree
from latree.learners.divide_conquer import without_unseen
from latree.settings import Settings
from latree.table import Column, Table
from latree.tree import Tree

QUARTET = Tree("abcd", [(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)], support=[np.nan, np.nan, 0.75, np.nan, np.nan])
PAIRS = list(combinations(range(4), 2))


def table_of(names, sets, n_rows=20):
    """A table in which each set of columns is present in some rows, and no others are."""
    codes = np.full((len(sets) * n_rows, len(names)), -1)
    for number, columns in enumerate(sets):
        codes[number * n_rows : (number + 1) * n_rows, list(columns)] = np.arange(n_rows)[:, None] % 2
    return Table.from_codes([Column(name, "integer", ("0", "1")) for name in names], codes)


def shown(tree, sets, **options):
    return without_unseen(tree, table_of(tree.names, sets, **options)).support[~np.isnan(tree.support)].tolist()


@pytest.mark.parametrize("mask", range(1, 2 ** len(PAIRS)))
def test_an_edge_is_shown_if_distances_between_seen_pairs_determine_its_length(mask):
    """A distance is the sum of the lengths on its path: linear equations, of which some edges are the solution."""
    pairs = [pair for number, pair in enumerate(PAIRS) if mask >> number & 1]
    paths = np.array([[i in pair for i in (0, 1)] + [(pair[0] < 2) != (pair[1] < 2)] for pair in pairs], dtype=float)
    paths = np.column_stack([paths, [[i in pair for i in (2, 3)] for pair in pairs]])
    inner = np.eye(5)[2]
    determined = np.linalg.matrix_rank(np.vstack([paths, inner])) == np.linalg.matrix_rank(paths)
    assert shown(QUARTET, pairs) == [0.75 if determined else 0.0]


def test_columns_below_one_node_that_no_row_connects():
    """The first two and the next two could have hidden variables of their own."""
    tree = Tree("abcdef", [*((i, 6) for i in range(4)), (4, 7), (5, 7), (6, 7)], support=6 * [np.nan] + [1])
    assert shown(tree, [(0, 1, 4, 5), (2, 3, 4, 5)]) == [0]
    assert shown(tree, [(0, 1, 4, 5), (2, 3, 4, 5), (1, 2)]) == [1]


def test_two_parts_that_no_row_connects():
    assert shown(QUARTET, [(0, 1), (2, 3)]) == [0]


def test_nodes_with_two_neighbours_and_columns_within_the_tree():
    # a - b - H1 - H2 with c and d at H2: H1 only lies on the way.
    tree = Tree("abcd", [(0, 1), (1, 4), (4, 5), (2, 5), (3, 5)], support=[np.nan, 1, 1, np.nan, np.nan])
    assert shown(tree, [(0, 1), (1, 2, 3)]) == [1, 1]
    assert shown(tree, [(0, 1), (1, 2), (2, 3)]) == [0, 0]


def test_few_rows_show_nothing():
    pairs = [(0, 1, 2), (1, 2, 3), (0, 2, 3)]
    enough, few = (np.repeat(pairs, [100, 100, 100], axis=0).tolist() + n * [(0, 1, 2, 3)] for n in (10, 9))
    without = [[pair for pair in sets if pair != [0, 1, 2]] for sets in (enough, few)]
    assert [shown(QUARTET, sets, n_rows=1) for sets in without] == [[0.75], [0]]
    # Half of the rows of a small table are enough.
    assert shown(QUARTET, [(0, 1, 2, 3), (1, 2, 3)], n_rows=3) == [0.75]
    assert shown(QUARTET, [(0, 1, 2, 3), (1, 2, 3), (1, 2, 3)], n_rows=3) == [0]


def test_tables_without_missing_cells_change_nothing():
    assert without_unseen(QUARTET, table_of("abcd", [range(4)], n_rows=2)) is QUARTET


def forms(first, second, n_rows=1500):
    """Four groups of columns behind a binary tree (ab, cd); half of the rows lack some groups, half lack others."""
    rng = np.random.default_rng(0)

    def copy(values):
        return np.where(rng.random(n_rows) < 0.9, values, 1 - values)

    top = rng.integers(2, size=n_rows)
    left, right = copy(top), copy(top)
    hidden = dict(zip("abcd", map(copy, (left, left, right, right)), strict=True))
    codes = {f"{group}{i}": copy(values) for group, values in hidden.items() for i in range(3)}
    for name, values in codes.items():
        if name[0] in first:
            values[: n_rows // 2] = -1
        if name[0] in second:
            values[n_rows // 2 :] = -1
    columns = [Column(name, "integer", ("0", "1")) for name in codes]
    return Table.from_codes(columns, np.column_stack(list(codes.values())))


def support_of(tree, columns):
    side = sum(1 << tree.names.index(f"{group}{i}") for group in columns for i in range(3))
    return {
        float(tree.support[edge])
        for edge, split in enumerate(tree.edge_splits)
        if side in (split.side, split.side ^ split.component)
    }


def test_the_default_does_not_support_what_no_row_shows():
    tree = learn_tree(forms("ac", "bd", 400), resolve="all", random_state=0)
    assert support_of(tree, "ac") == {0}


def test_resampled_rows_do_not_support_what_no_row_shows():
    learned = learn_model(forms("ac", "bd"), Settings(method="nj", bootstrap=4, n_states=2, max_iter=2))
    assert support_of(learned.structure.tree, "ac") == {0}
    assert support_of(learned.consensus, "ac") == {0}
