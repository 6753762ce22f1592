"""Statistics of a table that are sums over its rows: contingency tables, distances between columns, unfoldings.

The quartet tests that use them are in :mod:`latree.counts.quartets`.
"""

from latree.counts.contingency import pair_tables, quartet_tables
from latree.counts.distances import as_pairs, covariance, information, log_det, nuclear, pairwise
from latree.counts.tensor import nuclear_norms, singular_values, unfoldings

__all__ = [
    "as_pairs",
    "covariance",
    "information",
    "log_det",
    "nuclear",
    "nuclear_norms",
    "pair_tables",
    "pairwise",
    "quartet_tables",
    "singular_values",
    "unfoldings",
]
