"""Rows in memory, and rows drawn from them."""

from helpers.tables import assert_same, simulated_table, through_parquet
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
