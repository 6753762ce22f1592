"""The groups of a model's columns, at up to three levels. Nobody has to choose the number of groups.

Two groups of columns are apart if the factors they measure have a low correlation: the latent correlation, which is the
correlation of the columns divided by their loadings (psychometricians say: corrected for attenuation). Each level has a
range of thresholds for it:

====== ========== =======================================================================================
level  range      what it finds
====== ========== =======================================================================================
broad  0.20-0.45  groups of main groups, such as the domains of a personality questionnaire
main   0.50-0.75  the scales of a questionnaire, sectors, branches of a language family
fine   0.80-0.90  parts of main groups. A latent correlation above 0.85 is commonly read as: the same thing
====== ========== =======================================================================================

Within its range, each level takes the number of groups that the most thresholds agree on. So a level shows the division
that is stable, and not what one threshold happens to cut.

Loadings come from the model, and the correlation of columns from the rows, if they are there, or else from the model.
"""

from collections.abc import Sequence

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.explain.cutting import TreeCutter
from latree.explain.dependence import Dependence
from latree.model import Group, LatentTreeModel
from latree.model.group import Level
from latree.table import Table
from latree.tree import Tree

# The thresholds of each level: its lowest and highest latent correlation.
_BROAD = (0.2, 0.45)
_MAIN = (0.5, 0.75)
_FINE = (0.8, 0.9)
_STEP = 0.025
# A main group has at least two columns. A part of a main group has at least three, which is what it takes to identify a
# factor: two columns that share a little more with each other than with the rest are a pair, not a group.
_MIN_COLUMNS = 2
_MIN_COLUMNS_FINE = 3
# The number of columns in the name of a group.
_N_NAMING_COLUMNS = 2


def find_groups(model: LatentTreeModel, table: Table | None = None) -> list[Group]:
    """Find the groups of a model's columns, as a hierarchy of up to three levels.

    Main groups come first, those with the most columns before others; then broad groups, if main groups form larger
    ones; then fine groups, if main groups fall into parts. Each group knows its parent. If all columns measure much the
    same thing but fall into parts, these parts are the main groups, even if there are pairs of columns beside them. A
    column without any neighbour is in no group.

    Parameters
    ----------
    model : LatentTreeModel
    table : Table, optional
        The rows that the model was fitted to, encoded with the model's columns (see :meth:`LatentTreeModel.encode`).
        Groups are more reliable with them: columns that are far from each other in the tree may depend on each other
        more than the model says.

    Returns
    -------
    list of Group

    References
    ----------
    V. A. Traag, P. Van Dooren, Y. Nesterov: *Narrow scope for resolution-limit-free community detection*, 2011.
    E. H. Linfoot: *An informational measure of correlation*, 1957. M. Rönkkö, E. Cho: *An updated guideline for
    assessing discriminant validity*, 2022.

    Examples
    --------
    >>> import latree
    >>> from latree.explain import find_groups
    >>> tree = latree.Tree.from_newick("((a,b,c),(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> [group.columns for group in find_groups(model)]
    [('a', 'b', 'c'), ('d', 'e', 'f')]
    """
    return groups_of(Dependence(model), table)


def group_labels(groups: Sequence[Group], names: Sequence[str]) -> IntArray:
    """Return the number of each column's main group; -1 for a column that is in none.

    Parameters
    ----------
    groups : sequence of Group
        From :func:`find_groups`.
    names : sequence of str
        The names of the columns.

    Examples
    --------
    >>> import latree
    >>> from latree.explain import find_groups, group_labels
    >>> tree = latree.Tree.from_newick("((a,b,c),(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> group_labels(find_groups(model), tree.names)
    array([0, 0, 0, 1, 1, 1])
    """
    main = {name: number for number, group in enumerate(groups) if group.level == "main" for name in group.columns}
    return np.array([main.get(name, -1) for name in names], dtype=np.intp)


def groups_of(dependence: Dependence, table: Table | None = None) -> list[Group]:
    """Find the groups of a model whose dependence is known; see :func:`find_groups`."""
    tree = dependence.tree
    information = dependence.column_information if table is None else dependence.counted_information(table)
    cutter = TreeCutter(tree, correlation(information), _loadings(dependence))
    main = _most_persistent(cutter, _MAIN, _MIN_COLUMNS)
    fine = _most_persistent(cutter, _FINE, _MIN_COLUMNS_FINE, start=main)
    # One group says little, with or without pairs beside it. If it falls into parts, these are of more use.
    if len(_pieces(tree, cutter, main, _MIN_COLUMNS_FINE)) <= 1:
        main = fine
    broad = _most_persistent(cutter, _BROAD, _MIN_COLUMNS, among=main)
    # The pieces of each level. A piece that is the same at two levels is shown once, one with all groups not at all.
    main_pieces = _pieces(tree, cutter, main)
    broad_pieces = [
        piece
        for piece in _pieces(tree, cutter, broad)
        if piece not in main_pieces and not all(piece.issuperset(part) for part in main_pieces)
    ]
    fine_pieces = [piece for piece in _pieces(tree, cutter, fine) if piece not in main_pieces]
    n_main, groups = len(main_pieces), list[Group]()
    for piece in main_pieces:
        groups.append(_group(dependence, piece, "main", _first_above(piece, broad_pieces, n_main), groups))
    for piece in broad_pieces:
        groups.append(_group(dependence, piece, "broad", None, groups))
    for piece in fine_pieces:
        groups.append(_group(dependence, piece, "fine", _first_above(piece, main_pieces, 0), groups))
    return groups


def _first_above(piece: frozenset[int], others: list[frozenset[int]], first_number: int) -> int | None:
    """Return the number of the piece that contains another one, if there is one; they are numbered from a first."""
    return next((number for number, other in enumerate(others, start=first_number) if piece < other), None)


def correlation(information: FloatArray) -> FloatArray:
    """Return Linfoot's informational correlation ``sqrt(1 - exp(-2 I))``; that of two normal variables is ``|r|``."""
    return np.sqrt(-np.expm1(-2 * information))


def _loadings(dependence: Dependence) -> FloatArray:
    """Return the correlation of every column with the hidden variable that it hangs on.

    A column that hangs on several nodes, or on another column, is a factor by itself: its loading is 1.
    """
    tree = dependence.tree
    loadings = np.ones(tree.n_observed)
    for column, around in enumerate(tree.neighbors[: tree.n_observed]):
        if len(around) == 1 and around[0][0] >= tree.n_observed:
            loadings[column] = correlation(dependence.edge_information[around[0][1]])
    return loadings


def _most_persistent(
    cutter: TreeCutter,
    thresholds: tuple[float, float],
    min_columns: int,
    start: IntArray | None = None,
    among: IntArray | None = None,
) -> IntArray:
    """Return the cut with the number of pieces that the most thresholds of a range agree on, the smaller among equals.

    Of the thresholds that agree, the one in the middle decides.
    """
    lowest, highest = thresholds
    grid = np.linspace(lowest, highest, round((highest - lowest) / _STEP) + 1)
    cuts = [cutter.best(float(threshold), min_columns, start, among) for threshold in grid]
    numbers = [len(np.unique(cut)) for cut in cuts]
    chosen = min(numbers, key=lambda number: (-numbers.count(number), number))
    agreeing = [cut for cut, number in zip(cuts, numbers, strict=True) if number == chosen]
    return agreeing[len(agreeing) // 2]


def _pieces(tree: Tree, cutter: TreeCutter, cut: IntArray, min_columns: int = _MIN_COLUMNS) -> list[frozenset[int]]:
    """Return the nodes of each piece that a cut makes, those with the most columns first.

    Pieces with fewer columns are left out, as are hidden nodes that connect nothing within their piece: a hidden
    variable in the middle of several groups belongs to none of them.
    """
    members: dict[int, set[int]] = {}
    for node, top in zip(cutter.inner.tolist(), cut.tolist(), strict=True):
        members.setdefault(top, set()).add(node)
    for column, top in enumerate(cut[cutter.home].tolist()):
        members[top].add(column)
    found: list[frozenset[int]] = []
    for nodes in members.values():
        waiting = [node for node in nodes if node >= tree.n_observed]
        while waiting:
            node = waiting.pop()
            inside = [other for other, _ in tree.neighbors[node] if other in nodes]
            if node in nodes and len(inside) < 2:
                nodes.remove(node)
                waiting += [other for other in inside if other >= tree.n_observed]
        found.append(frozenset(nodes))
    columns = {nodes: sorted(node for node in nodes if node < tree.n_observed) for nodes in found}
    groups = (nodes for nodes in found if len(columns[nodes]) >= min_columns)
    return sorted(groups, key=lambda nodes: (-len(columns[nodes]), columns[nodes]))


def _group(
    dependence: Dependence, piece: frozenset[int], level: Level, parent: int | None, others: list[Group]
) -> Group:
    tree = dependence.tree
    nodes = [node for node in tree.rooted().order.tolist() if node in piece]
    columns = [node for node in nodes if node < tree.n_observed]
    centre = _centre(tree, nodes)
    telling = [related.column for related in dependence.closest_columns(centre, _N_NAMING_COLUMNS, within=piece)]
    if centre < tree.n_observed:
        telling = [centre, *telling][:_N_NAMING_COLUMNS]
    name = ", ".join(tree.names[column] for column in telling)
    if len(columns) > len(telling):
        name += f" +{len(columns) - len(telling)}"
    taken = {group.name for group in others}
    while name in taken:  # only if names of columns contain commas
        name += "'"
    return Group(
        name=name,
        level=level,
        columns=tuple(tree.names[column] for column in columns),
        hidden=tree.node_names[centre] if centre >= tree.n_observed else None,
        parent=parent,
        stability=None,
        nodes=tuple(sorted(nodes)),
        centre=centre,
    )


def _centre(tree: Tree, nodes: list[int]) -> int:
    """Return the node of a connected piece whose largest branch has the fewest columns; hidden nodes come first.

    The top of the piece is its first node, and every other node comes after its parent.
    """
    parent = tree.rooted().parent
    below = {node: int(node < tree.n_observed) for node in nodes}
    largest_branch = dict.fromkeys(nodes, 0)
    for node in reversed(nodes[1:]):
        above = int(parent[node])
        below[above] += below[node]
        largest_branch[above] = max(largest_branch[above], below[node])
    total = below[nodes[0]]
    return min(nodes, key=lambda node: (node < tree.n_observed, max(largest_branch[node], total - below[node]), node))
