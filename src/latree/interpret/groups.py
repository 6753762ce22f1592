"""Groups of columns: found in the tree, how stable they are, and how they match a user's own labels.

A whole new search for each resampled table would take too long, and a quick learner makes other mistakes than the
search does. So the tree and its loadings stay, and what is decided again is what makes the groups: the correlation of
every two columns is counted in the resampled rows; the tree is cut anew, so that groups fall apart or come together;
then every column goes to the group whose factor it correlates with most, wherever it hangs in the tree.

Two groups of columns are apart if the factors they measure have a low correlation: the latent correlation, which is the
correlation of the columns divided by their loadings (psychometricians say: corrected for attenuation). How low decides
:mod:`latree.explain.levels`.

Loadings come from the model, and the correlation of columns from the rows, if they are there, or else from the model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from latree._util.arrays import FloatArray, IntArray, RandomState, generator
from latree._util.workers import map_ordered
from latree.counts.distances import information_above_chance, informational_correlation, pairwise
from latree.interpret.cutting import MIN_COLUMNS, Levels, TreeCutter, find_levels, main_level_nearby
from latree.interpret.dependence import Dependence
from latree.interpret.names import choose_names
from latree.interpret.view import view_of
from latree.model import Group, LatentTreeModel
from latree.model.group import Level
from latree.table import Table
from latree.table.checking import FEW_STATES
from latree.tree import Rooted, Tree

# The usual number of resampled tables.
RESAMPLES = 50
# Of larger tables, a random sample of so many rows is resampled: the search looks at no more either.
_MAX_ROWS = 5000
# All resampled tables together take about this many multiplications at most: one for each row and every two states of
# columns. Wide tables are resampled less often, but at least _MIN_RESAMPLES times, with at least _MIN_ROWS rows.
_MAX_WORK = 1e11
_MIN_RESAMPLES = 10
_MIN_ROWS = 1000
# With more columns than this, tables are resampled one after the other.
_MANY_COLUMNS = 1000
# A column leaves its group for another one only if its correlation there is higher by more than rounding errors.
_ROUNDING = 1e-9


def column_stability(
    cutter: TreeCutter,
    levels: Levels,
    similarity: FloatArray,
    loadings: FloatArray,
    table: Table,
    resamples: int = RESAMPLES,
    random_state: RandomState = 0,
) -> FloatArray | None:
    """Return for each column the share of resampled tables in which it is found in its main group again.

    The groups of a resampled table are matched with the main groups one to one, so that as many columns as possible are
    in the same group in both (Christensen & Golino 2021).

    Parameters
    ----------
    cutter : TreeCutter
        Of the model's tree.
    levels : Levels
        The levels of the groups.
    similarity : array, shape (d, d)
        The similarity of the columns that the groups were found with. It is used for columns that are never present
        together in a resampled table.
    loadings : array, shape (d,)
        Loading of each column on its hidden variable.
    table : Table
        The rows that the model was fitted to.
    resamples : int
        Number of resampled tables. Very wide tables are resampled less often.
    random_state : int, Generator, RandomState or None
        Seed of the resampling.

    Returns
    -------
    array, shape (d,), or None
        NaN for columns without a group. None if a column has so many states that pairs of columns are not counted.
    """
    if table.n_states.max() > FEW_STATES:
        return None
    groups = _labels(cutter, levels.main)
    seed = int(generator(random_state).integers(2**31))
    n_rows, n_resamples = _sizes(table, resamples)
    sample = table.subsample(n_rows, seed)

    def found_again(number: int) -> NDArray[np.bool_]:
        resampled = Table(sample.columns, sample.rows.resampled(seed, number))
        counted = pairwise(resampled, partial(information_above_chance, times=2))
        np.fill_diagonal(counted, 0)
        again = informational_correlation(counted)
        np.copyto(again, similarity, where=np.isnan(counted))
        del counted  # with thousands of columns, it is much memory
        cut = main_level_nearby(cutter.with_similarity(again), levels)
        return same_group(groups, nearest_group(_labels(cutter, cut), again, loadings))

    # Threads share the pairs of columns of one table instead where all pairs of several tables are much memory.
    in_turn = table.n_columns > _MANY_COLUMNS
    together = sum(found.astype(float) for found in map_ordered(found_again, range(n_resamples), in_turn=in_turn))
    return np.where(groups >= 0, together / n_resamples, np.nan)


def _sizes(table: Table, resamples: int) -> tuple[int, int]:
    """Return the number of rows to resample, and how often."""
    work_per_row = float(table.n_columns * table.n_states.max()) ** 2
    n_rows = int(np.clip(_MAX_WORK / (_MIN_RESAMPLES * work_per_row), _MIN_ROWS, _MAX_ROWS))
    n_rows = min(n_rows, table.n_rows)
    most = max(_MIN_RESAMPLES, int(_MAX_WORK / (n_rows * work_per_row)))
    return n_rows, min(resamples, most)


def _labels(cutter: TreeCutter, cut: IntArray) -> IntArray:
    """Return the number of each column's group; -1 for a column in a piece that has too few columns to be a group."""
    _, labels, sizes = np.unique(cut[cutter.home], return_inverse=True, return_counts=True)
    is_group = sizes >= MIN_COLUMNS
    numbers = np.where(is_group, np.cumsum(is_group) - 1, -1)
    return np.asarray(numbers[labels], dtype=np.intp)


def nearest_group(groups: IntArray, similarity: FloatArray, loadings: FloatArray) -> IntArray:
    """Return for each column in a group the number of the group whose factor it correlates with most.

    If column i and the factor of a group have the correlation ρ, then its correlation with column j of the group is
    ``R_ij = ρ λ_j``. So ρ is about ``Σ R_ij λ_j / Σ λ_j²`` over the other columns of the group.

    Parameters
    ----------
    groups : array of int, shape (d,)
        Number of the group of each column; -1 for a column that is in none, and stays so.
    similarity : array, shape (d, d)
        Correlations R, with zeros on the diagonal.
    loadings : array, shape (d,)
    """
    columns = np.flatnonzero(groups >= 0)
    if not len(columns):
        return groups
    member = np.zeros((len(groups), int(groups.max()) + 1))
    member[columns, groups[columns]] = loadings[columns]
    squares = np.repeat((member**2).sum(axis=0)[None], len(groups), axis=0) - member**2
    correlations = np.divide(similarity @ member, squares, out=np.zeros_like(squares), where=squares > _ROUNDING)
    correlations[columns, groups[columns]] += _ROUNDING
    return np.where(groups >= 0, correlations.argmax(axis=1), -1)


def same_group(groups: IntArray, others: IntArray) -> NDArray[np.bool_]:
    """Return for each column whether its group in one division is matched with its group in another one.

    Groups are matched one to one so that this holds for as many columns as possible. A column that is in no group in
    one of the two is not in the same group.
    """
    in_both = np.flatnonzero((groups >= 0) & (others >= 0))
    shared = np.zeros((int(groups.max(initial=-1)) + 1, int(others.max(initial=-1)) + 1))
    np.add.at(shared, (groups[in_both], others[in_both]), 1)
    matches = np.full(len(shared) + 1, -1, dtype=np.intp)  # the last entry is that of columns without a group
    one, other = linear_sum_assignment(shared, maximize=True)
    matches[one] = other
    return np.asarray((others >= 0) & (matches[groups] == others))


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
    >>> from latree.interpret.groups import find_groups
    >>> tree = latree.Tree.from_newick("((a,b,c),(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> [group.columns for group in find_groups(model)]
    [('a', 'b', 'c'), ('d', 'e', 'f')]

    All columns are found in their group again in every table that is resampled from 5000 rows:

    >>> groups = find_groups(model, model.sample(5000, random_state=0), resamples=50)
    >>> [group.column_stability for group in groups]
    [(1.0, 1.0, 1.0), (1.0, 1.0, 1.0)]
    """
    dependence = view_of(model)
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
    >>> from latree.interpret.groups import with_groups
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
    view = view_of(model)
    groups = _unnamed_groups(view, table, resamples, random_state)
    named, hidden_names = choose_names(view, groups, labels, kept)
    return view.kept_for(replace(model, groups=tuple(named), hidden_names=hidden_names))


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
    >>> from latree.interpret.groups import find_groups, group_labels
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
