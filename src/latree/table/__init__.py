"""Tables of discrete data: columns of any frame or file as small integer codes, and sums over their rows.

A :class:`Table` holds one code per cell. :func:`as_table` makes one from a data frame, an array or a file. Every
statistic of the package is a sum over rows (:meth:`Table.sum`), so the rows may be in memory, on disk or on a cluster.

Examples
--------
>>> from latree.table import as_table
>>> table = as_table([["yes", 1], ["no", 2], ["yes", 2]], names=["answer", "grade"])
>>> [(column.name, column.categories) for column in table.columns]
[('answer', ('no', 'yes')), ('grade', ('1', '2'))]
>>> table.codes().tolist()
[[1, 0], [0, 1], [1, 1]]
"""

from latree.table.checking import Check, check
from latree.table.columns import Column
from latree.table.findings import Finding
from latree.table.labels import read_labels
from latree.table.reading import as_table
from latree.table.rows import Block
from latree.table.table import Table

__all__ = ["Block", "Check", "Column", "Finding", "Table", "as_table", "check", "read_labels"]
