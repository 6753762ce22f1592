"""The groups of a model's columns, at up to three levels. Nobody has to choose the number of groups.

Two groups of columns are apart if the factors they measure have a low correlation: the latent correlation, which is the
correlation of the columns divided by their loadings (psychometricians say: corrected for attenuation). How low decides
:mod:`latree.explain.levels`.

Loadings come from the model, and the correlation of columns from the rows, if they are there, or else from the model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from latree._util.arrays import FloatArray, IntArray, RandomState
from latree.counts.distances import informational_correlation
from latree.explain.cutting import TreeCutter
from latree.explain.dependence import Dependence
from latree.explain.levels import MIN_COLUMNS, find_levels
from latree.explain.names import choose_names
from latree.explain.stability import column_stability
from latree.model import Group, LatentTreeModel
from latree.model.group import Level
from latree.table import Table
from latree.tree import Rooted, Tree


def find_groups(
    model: LatentTreeModel,
    table: Table | None = None,
    labels: Mapping[str, str] | None = None,
    *,
    resamples: int = 0,
    random_state: RandomState = 0,
) -> list[Group]:
    """Find the groups of a model's columns, as a hierarchy of up to three levels.

    Main groups come first, those with the most columns before others; then broad groups, if main groups form larger
    ones; then fine groups, if main groups fall into parts. Each group knows its parent. If all columns measure much the
    same thing but fall into parts, these parts are the main groups, even if there are pairs of columns beside them, or
    another group that is small against the first one. A column without any neighbour is in no group.

    Parameters
    ----------
    model : LatentTreeModel
    table : Table, optional
        The rows that the model was fitted to, encoded with the model's columns (see :meth:`LatentTreeModel.encode`).
        Groups are more reliable with them: columns that are far from each other in the tree may depend on each other
        more than the model says.
    labels : mapping of str to str, optional
        Your own label of each column, by the name of the column. A group is named by a label if most of its columns
        have the label, and most columns with the label are in the group.
    resamples : int
        If there are rows, resample them so many times to see how stable the main groups are; 50 are enough. By default
        stability is not computed. Very wide tables are resampled less often. If a column has more than 64 states, there
        is no stability.
    random_state : int, Generator, RandomState or None
        Seed of the resampling.

    Returns
    -------
    list of Group
        With ``resamples``, the ``column_stability`` of a main group is the share of resampled tables in which each
        column is found in this group again, and ``stability`` is the mean over its columns.
        They have new names; :func:`with_groups` gives the hidden variables of a model the same names.

    References
    ----------
    V. A. Traag, P. Van Dooren, Y. Nesterov: *Narrow scope for resolution-limit-free community detection*, 2011.
    E. H. Linfoot: *An informational measure of correlation*, 1957. M. Rönkkö, E. Cho: *An updated guideline for
    assessing discriminant validity*, 2022. A. P. Christensen, H. Golino: *Estimating the stability of psychological
    dimensions via bootstrap exploratory graph analysis*, 2021.

    Examples
    --------
    >>> import latree
    >>> from latree.explain import find_groups
    >>> tree = latree.Tree.from_newick("((a,b,c),(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> [group.columns for group in find_groups(model)]
    [('a', 'b', 'c'), ('d', 'e', 'f')]

    All columns are found in their group again in every table that is resampled from 5000 rows:

    >>> groups = find_groups(model, model.sample(5000, random_state=0), resamples=50)
    >>> [group.column_stability for group in groups]
    [(1.0, 1.0, 1.0), (1.0, 1.0, 1.0)]
    """
    dependence = Dependence(model)
    return choose_names(dependence, _unnamed_groups(dependence, table, resamples, random_state), labels)[0]


def with_groups(
    model: LatentTreeModel,
    table: Table | None = None,
    labels: Mapping[str, str] | None = None,
    *,
    resamples: int = 0,
    random_state: RandomState = 0,
) -> LatentTreeModel:
    """Return a model with its groups of columns, and with a name for people for each hidden variable.

    Models that latree learned have both already. Names are made from the names of columns, or from your own labels of
    them: a group has the name of a label if most of its columns have the label, and most columns with the label are in
    the group. A main group and its hidden
    variable have the same name. :meth:`LatentTreeModel.rename` changes names.

    Parameters
    ----------
    model : LatentTreeModel
        Groups that it has are replaced, with their names. Names in a model without groups are kept.
    table : Table, optional
        The rows that the model was fitted to.
    labels : mapping of str to str, optional
        Your own label of each column, by the name of the column.
    resamples, random_state
        For the stability of the groups. :func:`find_groups` explains this and ``table``.

    Examples
    --------
    >>> import latree
    >>> from latree.explain import with_groups
    >>> tree = latree.Tree.from_newick("(a,b,c,(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> with_groups(model).hidden_names
    ('f, e +1', 'b, a +1')
    >>> with_groups(model, labels={"a": "mood", "b": "mood", "c": "mood"}).hidden_names
    ('f, e +1', 'mood')
    """
    hidden = range(model.tree.n_observed, model.tree.n_nodes)
    kept = {
        node: model.node_names[node]
        for node in hidden
        if not model.groups and model.node_names[node] != model.tree.node_names[node]
    }
    dependence = Dependence(model)
    groups = _unnamed_groups(dependence, table, resamples, random_state)
    named, hidden_names = choose_names(dependence, groups, labels, kept)
    return replace(model, groups=tuple(named), hidden_names=hidden_names)


def known_groups(model: LatentTreeModel) -> Sequence[Group]:
    """Return the groups that a model keeps, or find them if it keeps none."""
    return model.groups or find_groups(model)


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


def _unnamed_groups(
    dependence: Dependence, table: Table | None, resamples: int, random_state: RandomState
) -> list[Group]:
    """Find the groups of a model whose dependence is known; see :func:`find_groups`."""
    tree = dependence.tree
    similarity = informational_correlation(
        dependence.column_information if table is None else dependence.counted_information(table)
    )
    loadings = _loadings(dependence)
    cutter = TreeCutter(tree, similarity, loadings)
    levels = find_levels(cutter)
    stability = None
    if resamples and table is not None:
        rows = dependence.model.encode(table)
        stability = column_stability(cutter, levels, similarity, loadings, rows, resamples, random_state)
    # The pieces of each level. A piece that is the same at two levels is shown once, one with all groups not at all.
    main_pieces = _pieces(tree, cutter, levels.main)
    broad_pieces = [
        piece
        for piece in _pieces(tree, cutter, levels.broad)
        if piece not in main_pieces and not all(piece.issuperset(part) for part in main_pieces)
    ]
    fine_pieces = [piece for piece in _pieces(tree, cutter, levels.fine) if piece not in main_pieces]
    n_main, rooted = len(main_pieces), tree.rooted()
    groups = [
        *(_group(tree, rooted, piece, "main", _first_above(piece, broad_pieces, n_main)) for piece in main_pieces),
        *(_group(tree, rooted, piece, "broad", None) for piece in broad_pieces),
        *(_group(tree, rooted, piece, "fine", _first_above(piece, main_pieces, 0)) for piece in fine_pieces),
    ]
    return groups if stability is None else _with_stability(groups, dict(zip(tree.names, stability, strict=True)))


def _with_stability(groups: list[Group], stability: Mapping[str, float]) -> list[Group]:
    """Return the groups; main groups with the stability of their columns, and its mean."""
    shares = [tuple(float(stability[column]) for column in group.columns) for group in groups]
    return [
        replace(group, stability=sum(own) / len(own), column_stability=own) if group.level == "main" else group
        for group, own in zip(groups, shares, strict=True)
    ]


def _first_above(piece: frozenset[int], others: list[frozenset[int]], first_number: int) -> int | None:
    """Return the number of the piece that contains another one, if there is one; they are numbered from a first."""
    return next((number for number, other in enumerate(others, start=first_number) if piece < other), None)


def _loadings(dependence: Dependence) -> FloatArray:
    """Return the correlation of every column with the hidden variable that it hangs on.

    A column that hangs on several nodes, or on another column, is a factor by itself: its loading is 1.
    """
    tree = dependence.tree
    loadings = np.ones(tree.n_observed)
    for column, around in enumerate(tree.neighbors[: tree.n_observed]):
        if len(around) == 1 and around[0][0] >= tree.n_observed:
            loadings[column] = informational_correlation(dependence.edge_information[around[0][1]])
    return loadings


def _pieces(tree: Tree, cutter: TreeCutter, cut: IntArray) -> list[frozenset[int]]:
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
    groups = (nodes for nodes in found if len(columns[nodes]) >= MIN_COLUMNS)
    return sorted(groups, key=lambda nodes: (-len(columns[nodes]), columns[nodes]))


def _group(tree: Tree, rooted: Rooted, piece: frozenset[int], level: Level, parent: int | None) -> Group:
    """Return the group of a piece of the tree, without a name yet."""
    nodes = [node for node in rooted.order.tolist() if node in piece]
    centre = _centre(tree, rooted, nodes)
    return Group(
        name="",
        level=level,
        columns=tuple(tree.names[node] for node in nodes if node < tree.n_observed),
        hidden=tree.node_names[centre] if centre >= tree.n_observed else None,
        parent=parent,
        stability=None,
        nodes=tuple(sorted(nodes)),
        centre=centre,
    )


def _centre(tree: Tree, rooted: Rooted, nodes: list[int]) -> int:
    """Return the node of a connected piece whose largest branch has the fewest columns; hidden nodes come first.

    The top of the piece is its first node, and every other node comes after its parent.
    """
    below = {node: int(node < tree.n_observed) for node in nodes}
    largest_branch = dict.fromkeys(nodes, 0)
    for node in reversed(nodes[1:]):
        above = int(rooted.parent[node])
        below[above] += below[node]
        largest_branch[above] = max(largest_branch[above], below[node])
    total = below[nodes[0]]
    return min(nodes, key=lambda node: (node < tree.n_observed, max(largest_branch[node], total - below[node]), node))
