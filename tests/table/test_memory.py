"""Rows in memory, and rows drawn from them."""

import numpy as np

from helpers.tables import assert_same, permuted, simulated_table, through_parquet
from latree.counts.contingency import pair_tables
from latree.counts.distances import covariance, pairwise
from latree.learners.support import bootstrap_trees
from latree.paper.simulate import random_tree
from latree.table import Table


def test_resampled_rows_are_the_same_everywhere_and_add_up(all_on_disk, tmp_path):
    table = simulated_table()
    disk = through_parquet(table, tmp_path)
    counts = []
    for number in range(3):
        one, other = (Table(table.columns, rows.rows.resampled(5, number)) for rows in (table, disk))
        counts.append(pair_tables(one))
        assert_same(other, one)
        assert one.total_weight == table.n_rows
    assert (counts[0] != counts[1]).any()
    learned = [
        bootstrap_trees(
            rows, lambda some, chance: random_tree(4, 0.5, int(pairwise(some, covariance).sum() * 1e6)), 3, 7
        )
        for rows in (table, disk)
    ]
    assert [tree.to_newick() for tree in learned[0]] == [tree.to_newick() for tree in learned[1]]


def test_columns_in_another_order_are_the_same_everywhere(all_on_disk, tmp_path):
    table, order = simulated_table(), np.array([3, 0, 5, 1, 4, 2])
    disk = through_parquet(table, tmp_path)
    for rows in (table.rows, disk.rows):
        moved = Table([table.columns[column] for column in order], rows.reordered(order))
        assert_same(moved, permuted(table, order))
        drawn = moved.rows.resampled(5, 1), rows.resampled(5, 1).reordered(order)
        assert_same(*(Table(moved.columns, some) for some in drawn))
        assert_same(Table(table.columns, moved.rows.reordered(np.argsort(order))), table)
