"""Which edges the rows can show at all, if some columns are never present in the same row.

Take an edge between two nodes. Cut it, and several branches hang from either end. The rows show the edge by the
dependence between branches: those at one end depend on each other more than on those at the other end. They cannot

- if the branches at one end form two sets, and no row has columns of both: each set could have a node of its own;
- if fewer than two branches at one end are ever seen with branches at the other: the length of the edge could be zero.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from latree.table import Table
from latree.table.presence import present_together
from latree.tree import Tree

# Two columns are seen together if both are present in this many rows, or in half of the rows of a small table. In
# fewer, even two columns that always agree would do so by chance with a probability of more than 0.01.
_LEAST_ROWS = 10


def without_unseen(tree: Tree, table: Table) -> Tree:
    """Return the tree with a support of 0 at those edges with support that no rows can show.

    Parameters
    ----------
    tree : Tree
    table : Table
        With the columns of the tree, in the same order.
    """
    if not table.n_missing.any():
        return tree
    together = present_together(table.rows) >= min(_LEAST_ROWS, table.n_rows / 2)
    np.fill_diagonal(together, True)
    if together.all():
        return tree
    support, seen = tree.support.copy(), together.astype(np.float32)
    for edge in np.flatnonzero(support > 0).tolist():
        support[edge] *= _is_shown(tree, edge, seen)
    return tree.with_numbers(support=support)


def _is_shown(tree: Tree, edge: int, together: NDArray[np.float32]) -> bool:
    """Return whether rows can show an edge, given which pairs of columns are seen together."""
    left, right = (_branches(tree, end, edge) for end in tree.edges[edge].tolist())
    if any(connected_components(side @ together @ side.T, directed=False)[0] > 1 for side in (left, right)):
        return False
    across = left @ together @ right.T > 0
    return bool(min(across.any(axis=0).sum(), across.any(axis=1).sum()) >= 2)


def _branches(tree: Tree, end: int, edge: int) -> NDArray[np.float32]:
    """Return the branches at an end of an edge, shape (branches, columns): 1 where a branch has a column.

    A column at the end itself counts as two branches, as it is at once where all paths through it meet.
    """
    others = [(node, other) for node, other in tree.neighbors[end] if other != edge]
    is_column = end < tree.n_observed
    if len(others) == 1 and not is_column:  # the next edge induces the same split
        return _branches(tree, *others[0])
    branches = [_columns_beyond(tree, *other) for other in others] + 2 * is_column * [[end]]
    found = np.zeros((len(branches), tree.n_observed), dtype=np.float32)
    for row, columns in zip(found, branches, strict=True):
        row[columns] = 1
    return found


def _columns_beyond(tree: Tree, node: int, edge: int) -> list[int]:
    """Return the columns of the part of the tree that has a node, if an edge of the node is cut."""
    columns, waiting = [], [(node, edge)]
    while waiting:
        node, edge = waiting.pop()
        if node < tree.n_observed:
            columns.append(node)
        waiting += [(u, other) for u, other in tree.neighbors[node] if other != edge]
    return columns
