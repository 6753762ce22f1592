"""Groups of columns: found in the tree, how well they come again in other rows, and any number of them.

How a tree is cut into groups: :mod:`latree.interpret.cutting`. The correlations of columns come from the rows, if they
are there, or else from the model.

A replicate is what the search found in a random part of the rows. Its tree is cut into as many groups, with the
correlations in its own rows. The adjusted Rand index of the two partitions, in the mean over all replicates, says how
well a level comes again. For the main level, groups are matched one to one, so that as many columns as possible are in
the same group in both (Christensen & Golino 2021). The stability of a column is the share of replicates in which it is
in its group. Where else it goes is the other group whose columns it is most often with.

The main level is the one whose groups explain the most, see :func:`latree.interpret.cutting.explained`. Of several
numbers of groups that explain as much up to a standard error, the smallest is taken (Breiman et al. 1984). The standard
error is the standard deviation of what the same groups explain in the parts of the rows: a half of n rows, drawn
without replacement, has the variance ``(2/n - 1/n) σ²`` about the whole. Without replicates, it is 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components

from latree._util.arrays import FloatArray, IntArray
from latree._util.words import plural
from latree._util.workers import map_ordered
from latree.counts.distances import informational_correlation
from latree.errors import InputError
from latree.interpret.cutting import MIN_COLUMNS, Hierarchy, broad_level, explained, find_hierarchy, pieces
from latree.interpret.dependence import SEED, Dependence
from latree.interpret.names import choose_names
from latree.interpret.view import view_of
from latree.interpret.wide import WIDE, SampledCorrelations
from latree.learners.structure import Replicate
from latree.model import Group, LatentTreeModel
from latree.model.group import NO_LEVELS, Level, Levels
from latree.model.query import MAX_ROWS
from latree.table import Table
from latree.tree import Rooted, Tree

# What groups explain is rounded to so many decimals, so that rounding errors never decide.
_DECIMALS = 10


def adjusted_rand(one: ArrayLike, other: ArrayLike) -> float:
    """Return the adjusted Rand index of two partitions (Hubert & Arabie 1985): 1 if equal, about 0 if by chance."""
    (_, numbers), (other_names, other_numbers) = (np.unique(some, return_inverse=True) for some in (one, other))
    cells = np.unique(numbers * len(other_names) + other_numbers, return_counts=True)[1]
    counts = (cells, np.bincount(numbers), np.bincount(other_numbers), np.array([len(numbers)]))
    return _adjusted_rand(*(int((some * (some - 1)).sum()) for some in counts))


def _adjusted_rand(together: int, of_one: int, of_other: int, pairs: int) -> float:
    """Return the index, given the numbers of ordered pairs that are in one group in both, in each, and of all pairs."""
    expected = of_one * of_other / max(pairs, 1)
    largest = (of_one + of_other) / 2
    return 1.0 if largest == expected else (together - expected) / (largest - expected)


def matched_groups(groups: IntArray, others: IntArray) -> IntArray:
    """Return for each column the group of one division that its group in another one is matched with; -1 for none.

    Groups are matched one to one, so that as many columns as possible are in the same group in both divisions. A column
    that is in no group has the number -1.
    """
    shared = _shared(groups, others)
    matches = np.full(shared.shape[1] + 1, -1, dtype=np.intp)  # the last entry is that of columns without a group
    # Groups that have columns in common, directly or through others, are matched among themselves.
    _, cluster = connected_components(block_array([[None, shared], [shared.T, None]]), directed=False)
    cells = shared.tocoo()
    one, other = cells.coords
    order = np.argsort(cluster[one], kind="stable")
    for some in np.split(order, np.flatnonzero(np.diff(cluster[one[order]])) + 1):
        (rows, row), (columns, column) = (np.unique(numbers[some], return_inverse=True) for numbers in (one, other))
        counts = np.zeros((len(rows), len(columns)))
        counts[row, column] = cells.data[some]
        first, second = linear_sum_assignment(counts, maximize=True)
        matches[columns[second]] = np.where(counts[first, second] > 0, rows[first], -1)
    return np.asarray(matches[others])


def _shared(groups: IntArray, others: IntArray) -> csr_array:
    """Return the number of columns that the groups of two divisions have in common."""
    in_both = np.flatnonzero((groups >= 0) & (others >= 0))
    shape = int(groups.max(initial=-1)) + 1, int(others.max(initial=-1)) + 1
    found = csr_array((np.ones(len(in_both)), (groups[in_both], others[in_both])), shape=shape)
    found.sum_duplicates()
    return found


def same_group(groups: IntArray, others: IntArray) -> NDArray[np.bool_]:
    """Return for each column whether its groups in two divisions are matched; see :func:`matched_groups`."""
    return np.asarray((groups >= 0) & (matched_groups(groups, others) == groups))


def find_groups(
    model: LatentTreeModel,
    table: Table | None = None,
    labels: Mapping[str, str] | None = None,
    *,
    replicates: Sequence[Replicate] = (),
) -> list[Group]:
    """Find the groups of a model's columns, as a hierarchy of up to three levels.

    Main groups come first, those with the most columns before others; then broad groups, if main groups form larger
    ones; then fine groups, if main groups fall into parts. Each group knows its parent. A column without any neighbour
    is in no group.

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
    replicates : sequence of Replicate
        What the search found in random parts of the rows. Without them, there is no stability.

    Returns
    -------
    list of Group
        With replicates, the ``column_stability`` of a main group is the share of replicates in which each column is
        found in this group again, and ``stability`` is the mean over its columns.
        They have new names; :func:`with_groups` gives the hidden variables of a model the same names.

    References
    ----------
    E. Vigneau, E. M. Qannari: *Clustering of variables around latent components*, 2003. E. H. Linfoot: *An
    informational measure of correlation*, 1957. A. P. Christensen, H. Golino: *Estimating the stability of
    psychological dimensions via bootstrap exploratory graph analysis*, 2021. L. Breiman, J. H. Friedman, R. A. Olshen,
    C. J. Stone: *Classification and regression trees*, 1984.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.groups import find_groups
    >>> from latree.learners.structure import Replicate
    >>> tree = latree.Tree.from_newick("((a,b,c,d),(e,f,g,h));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> [group.columns for group in find_groups(model)]
    [('a', 'b', 'c', 'd'), ('e', 'f', 'g', 'h')]

    Where the same tree is found in every part of the rows, all columns are found in their group again:

    >>> parts = [model.sample(5000, random_state=seed) for seed in range(4)]
    >>> groups = find_groups(model, parts[0], replicates=[Replicate(model, part) for part in parts])
    >>> [group.column_stability for group in groups]
    [(1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0)]
    """
    view = view_of(model)
    return choose_names(view, _divided(view, table, replicates)[0], labels)[0]


def with_groups(
    model: LatentTreeModel,
    table: Table | None = None,
    labels: Mapping[str, str] | None = None,
    *,
    replicates: Sequence[Replicate] = (),
    by_hidden: bool = False,
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
    replicates : sequence of Replicate
        For the stability of the groups. :func:`find_groups` explains this and ``table``.
    by_hidden : bool
        Whether each hidden variable stands for one group, that of the columns beside it.

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
    groups, levels = (_beside(model.tree), NO_LEVELS) if by_hidden else _divided(view, table, replicates)
    named, hidden_names = choose_names(view, groups, labels, kept)
    return view.kept_for(replace(model, groups=tuple(named), hidden_names=hidden_names, levels=levels))


def with_n_groups(model: LatentTreeModel, n: int) -> LatentTreeModel:
    """Return a model with another number of main groups, from the hierarchy that it keeps, and no other levels.

    Groups that the model has keep their names; if they are main groups, their stability, too.

    Parameters
    ----------
    model : LatentTreeModel
    n : int
        From the number of parts of the tree, which is one if all columns are connected, to the most groups that the
        tree can be cut into.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.groups import with_n_groups
    >>> tree = latree.Tree.from_newick("((a,b,c),(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> [group.columns for group in with_n_groups(model, 1).groups]
    [('a', 'b', 'c', 'd', 'e', 'f')]
    """
    if not model.groups:
        model = with_groups(model)
    if not model.levels.edges:
        model = replace(model, levels=_divided(view_of(model), None, ())[1])
    least, most = n_groups_of(model)
    if type(n) is not int or not least <= n <= most:
        possible = f"{least} to {most} groups" if most > least else plural(most, "group")
        raise InputError(f"the tree cannot be cut into {n!r:.20} groups: choose n from what it allows, {possible}")
    known = {group.nodes: group for group in reversed(model.groups)}
    if n == sum(group.level == "main" for group in model.groups):
        return model
    tree, view = model.tree, view_of(model)
    found = _groups(tree, _pieces(tree, model.levels.edges[: n - least]), "main")
    found = [replace(known.get(group.nodes, group), level="main", parent=None) for group in found]
    found = [replace(group, column_elsewhere=None) for group in found]
    kept = {group.centre: group.name for group in found if group.name and group.hidden is not None}
    labels = dict(model.record.labels) if model.record else None
    named, hidden_names = choose_names(view, found, labels, kept)
    return view.kept_for(replace(model, groups=tuple(named), hidden_names=hidden_names))


def n_groups_of(model: LatentTreeModel) -> tuple[int, int]:
    """Return the fewest and the most groups that a model's tree can be cut into."""
    least = _n_components(model.tree)
    return least, least + len(model.levels.edges)


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


def _beside(tree: Tree) -> list[Group]:
    """Return the groups of columns that are neighbours of the same hidden variable, without names yet."""
    pieces = [
        frozenset([node, *(near for near, _ in tree.neighbors[node] if near < tree.n_observed)])
        for node in range(tree.n_observed, tree.n_nodes)
    ]
    return _groups(tree, [piece for piece in pieces if len(piece) > 2], "main")


def _divided(view: Dependence, table: Table | None, replicates: Sequence[Replicate]) -> tuple[list[Group], Levels]:
    """Return the groups of a model, without names yet, and the hierarchy that they are levels of."""
    tree = view.tree
    correlations = _correlations(view, table)
    edges, main, fine = correlations.hierarchy(tree)
    again = list(map_ordered(lambda one: _found_again(tree, edges, one), replicates))
    replication: tuple[float, ...] = ()
    if again:
        main = _best_level(correlations.explained(tree, edges), np.array([one.explained for one in again]))
        by_level = [_agreement(tree, edges, one) for one in again]
        replication = tuple(np.clip(np.mean(by_level, axis=0), 0, 1).tolist())
    broad, fine = correlations.broad_level(tree, edges[:main]), max(main, fine)
    # The pieces of each level. A piece that is the same at two levels is shown once, one with all groups not at all.
    main_pieces = _pieces(tree, edges[:main])
    same, all_groups = set(main_pieces), frozenset[int]().union(*main_pieces)
    broad_pieces = [
        piece for piece in _pieces(tree, edges[:broad]) if piece not in same and not piece.issuperset(all_groups)
    ]
    fine_pieces = [piece for piece in _pieces(tree, edges[:fine]) if piece not in same]
    groups = _groups(tree, main_pieces, "main", broad_pieces, len(main_pieces))
    if again and groups:
        groups = _with_stability(groups, tree.names, np.array([one.columns_at(main) for one in again]))
    groups += _groups(tree, broad_pieces, "broad")
    groups += _groups(tree, fine_pieces, "fine", main_pieces)
    return groups, Levels(edges, replication)


class _Correlations(Protocol):
    """How much the columns of a table depend on each other, as far as a tree is cut into groups by it."""

    def hierarchy(self, tree: Tree) -> Hierarchy:
        """See :func:`latree.interpret.cutting.find_hierarchy`."""

    def explained(self, tree: Tree, edges: tuple[int, ...]) -> FloatArray:
        """See :func:`latree.interpret.cutting.explained`."""

    def broad_level(self, tree: Tree, edges: tuple[int, ...]) -> int:
        """See :func:`latree.interpret.cutting.broad_level`."""

    def reordered(self, order: IntArray) -> "_Correlations":
        """Return the same for columns in another order, given by their numbers of now."""


class _AllCorrelations(NamedTuple):
    """The correlation of every two columns, from 0 to 1, with zeros on the diagonal."""

    similarity: FloatArray

    def hierarchy(self, tree: Tree) -> Hierarchy:
        return find_hierarchy(tree, self.similarity)

    def explained(self, tree: Tree, edges: tuple[int, ...]) -> FloatArray:
        return explained(tree, edges, self.similarity)

    def broad_level(self, tree: Tree, edges: tuple[int, ...]) -> int:
        return broad_level(tree, edges, self.similarity)

    def reordered(self, order: IntArray) -> "_AllCorrelations":
        return _AllCorrelations(self.similarity[np.ix_(order, order)])


def _correlations(view: Dependence, table: Table | None) -> _Correlations:
    """Return the correlations of columns, in rows if there are any; those of a wide model need rows."""
    if view.tree.n_observed > WIDE:
        rows = view.model.sample(MAX_ROWS, random_state=SEED) if table is None else view.model.encode(table)
        return SampledCorrelations(rows.subsample(MAX_ROWS, SEED), view.edge_information)
    information = view.column_information if table is None else view.counted_information(table)
    return _AllCorrelations(informational_correlation(information))


class _Again(NamedTuple):
    """What a replicate says about each level of a model."""

    tree: Tree  # of the replicate
    edges: tuple[int, ...]  # the cuts of its own hierarchy
    order: IntArray  # the number of each of the model's columns in the replicate
    first: int  # the number of cuts of the replicate that make as many groups as no cut of the model
    explained: FloatArray  # what the model's own groups explain in the rows of the replicate

    def n_cuts(self, level: int) -> int:
        """Return how many cuts make as many groups as a level of the model, or as near to that as possible."""
        return min(max(level + self.first, 0), len(self.edges))

    def columns_at(self, level: int) -> IntArray:
        """Return the piece of each column at a level."""
        return pieces(self.tree, self.edges[: self.n_cuts(level)])[self.order]


def _found_again(tree: Tree, edges: tuple[int, ...], replicate: Replicate) -> _Again:
    """Cut the tree of a replicate into as many groups as another one."""
    other = replicate.model.tree
    correlations = _correlations(view_of(replicate.model), replicate.rows)
    number = {name: column for column, name in enumerate(other.names)}
    order = np.array([number[name] for name in tree.names], dtype=np.intp)
    found = correlations.hierarchy(other).edges
    in_part = correlations.reordered(order).explained(tree, edges)
    return _Again(other, found, order, _n_components(tree) - _n_components(other), in_part)


def _agreement(tree: Tree, edges: tuple[int, ...], again: _Again) -> list[float]:
    """Return the adjusted Rand index of a model's groups and those of a replicate, from no cut to all cuts."""
    last = again.n_cuts(len(edges))
    own, other = pieces(tree, edges), pieces(again.tree, again.edges[:last])
    overlap = _Overlap(own[: tree.n_observed], other[again.order])
    ends, other_ends = own[tree.edges[list(edges)]].tolist(), other[again.tree.edges[list(again.edges)]].tolist()
    found = []
    for level in range(len(edges), -1, -1):
        for number in range(last - 1, again.n_cuts(level) - 1, -1):
            overlap.join(1, *other_ends[number])
        last = again.n_cuts(level)
        found.append(overlap.adjusted_rand())
        if level:
            overlap.join(0, *ends[level - 1])
    return found[::-1]


class _Overlap:
    """How many columns the groups of two partitions have in common, while groups of either are joined."""

    def __init__(self, one: IntArray, other: IntArray) -> None:
        # For each group of each partition, its columns in the groups of the other one.
        self._counts: list[dict[int, dict[int, int]]] = [{}, {}]
        for i, j in zip(one.tolist(), other.tolist(), strict=True):
            for side, (own, there) in enumerate(((i, j), (j, i))):
                row = self._counts[side].setdefault(own, {})
                row[there] = row.get(there, 0) + 1
        self._union: list[dict[int, int]] = [{}, {}]
        self._size = [{group: sum(row.values()) for group, row in rows.items()} for rows in self._counts]
        # Numbers of ordered pairs of columns that are together.
        self._together = sum(n * (n - 1) for row in self._counts[0].values() for n in row.values())
        self._pairs = [sum(n * (n - 1) for n in sizes.values()) for sizes in self._size]
        self._all = len(one) * (len(one) - 1)

    def adjusted_rand(self) -> float:
        """Return the adjusted Rand index of the two partitions."""
        return _adjusted_rand(self._together, self._pairs[0], self._pairs[1], self._all)

    def join(self, side: int, one: int, other: int) -> None:
        """Join two groups of a partition."""
        counts, crossed, size = self._counts[side], self._counts[1 - side], self._size[side]
        gone, kept = sorted(
            (self._find(side, one), self._find(side, other)), key=lambda group: len(counts.get(group, ()))
        )
        row, into = counts.pop(gone, {}), counts.setdefault(kept, {})
        for there, n in row.items():
            before = into.get(there, 0)
            self._together += 2 * n * before
            into[there] = crossed[there][kept] = n + before
            del crossed[there][gone]
        self._pairs[side] += 2 * size.get(gone, 0) * size.get(kept, 0)
        size[kept] = size.get(kept, 0) + size.pop(gone, 0)
        self._union[side][gone] = kept

    def _find(self, side: int, group: int) -> int:
        """Return the group that a group was joined to."""
        union = self._union[side]
        while group in union:
            above = union[group]
            if above in union:
                union[group] = union[above]
            group = above
        return group


def _n_components(tree: Tree) -> int:
    return sum(component.bit_count() >= MIN_COLUMNS for component in tree.components)


def _best_level(values: FloatArray, in_parts: FloatArray) -> int:
    """Return the first level that explains as much as the best one, up to a standard error.

    Parameters
    ----------
    values : array, shape (levels,)
        What each level explains.
    in_parts : array, shape (parts, levels)
        The same in parts of the rows.
    """
    values = np.round(values, _DECIMALS)
    best = int(np.argmax(values))
    error = in_parts[:, best].std(ddof=1) if len(in_parts) > 1 else 0.0
    return int(np.argmax(values >= values[best] - error))


def _with_stability(groups: list[Group], names: Sequence[str], found: IntArray) -> list[Group]:
    """Return main groups with the stability of their columns, and where else these go, by the pieces of replicates."""
    # Columns in the order of their names, and groups in that of their first columns: no tie depends on another order.
    order = np.argsort(names)
    given = group_labels(groups, names)[order]
    own = _numbered(given)
    divisions = [_numbered(_without_single(pieces[order])) for pieces in found]
    again = np.array([same_group(own, others) for others in divisions])
    # How often each column is in a group that has more columns of another main group than of any other.
    elsewhere: list[dict[int, float]] = [{} for _ in own]
    for others, is_again in zip(divisions, again, strict=True):
        mates = _shared(others, own)
        lost = np.flatnonzero(~is_again & (own >= 0) & (others >= 0))
        most = mates.argmax(axis=1) if len(lost) else np.empty(0, dtype=np.intp)
        for place, other in zip(lost.tolist(), most[others[lost]].tolist(), strict=True):
            if other != own[place]:
                elsewhere[place][other] = elsewhere[place].get(other, 0.0) + 1 / len(found)
    number = {names[column]: place for place, column in enumerate(order.tolist())}
    group_of = {int(new): int(old) for new, old in zip(own, given, strict=True)}
    stable = []
    for group in groups:
        columns = [number[name] for name in group.columns]
        shares = tuple(again[:, columns].mean(axis=0).tolist())
        places = tuple(_most_often(elsewhere[column], group_of) for column in columns)
        mean = sum(shares) / len(shares)
        stable.append(replace(group, stability=mean, column_stability=shares, column_elsewhere=places))
    return stable


def _most_often(shares: Mapping[int, float], group_of: Mapping[int, int]) -> tuple[int, float] | None:
    """Return the group that a column is in most often, and how often; of equal ones, the first."""
    if not shares:
        return None
    most = min(shares, key=lambda group: (-shares[group], group))
    return group_of[most], min(shares[most], 1.0)


def _numbered(groups: IntArray) -> IntArray:
    """Return groups with other numbers, in the order in which they first occur; -1 stays."""
    new = {old: number for number, old in enumerate(dict.fromkeys(groups[groups >= 0].tolist()))}
    return np.array([new.get(old, -1) for old in groups.tolist()], dtype=np.intp)


def _without_single(piece_of: IntArray) -> IntArray:
    """Return the pieces of columns as numbers of groups; -1 for pieces that have too few columns to be a group."""
    _, labels, sizes = np.unique(piece_of, return_inverse=True, return_counts=True)
    is_group = sizes >= MIN_COLUMNS
    return np.asarray(np.where(is_group, np.cumsum(is_group) - 1, -1)[labels], dtype=np.intp)


def _pieces(tree: Tree, edges: tuple[int, ...]) -> list[frozenset[int]]:
    """Return the nodes of each piece that some cuts make, those with the most columns first.

    Pieces with too few columns are left out, as are hidden nodes that connect nothing within their piece: a hidden
    variable in the middle of several groups belongs to none of them.
    """
    members: dict[int, set[int]] = {}
    for node, piece in enumerate(pieces(tree, edges).tolist()):
        members.setdefault(piece, set()).add(node)
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


def _groups(
    tree: Tree,
    some_pieces: list[frozenset[int]],
    level: Level,
    above: list[frozenset[int]] | None = None,
    first_above: int = 0,
) -> list[Group]:
    """Return the groups of some pieces, each with the number of the one above it; those are numbered from a first."""
    rooted = tree.rooted()
    number_of = {node: number for number, piece in enumerate(above or [], start=first_above) for node in piece}
    found = []
    for piece in some_pieces:
        parent = number_of.get(next(iter(piece)))
        is_inside = parent is not None and above is not None and piece < above[parent - first_above]
        found.append(_group(tree, rooted, piece, level, parent if is_inside else None))
    return found


def _group(tree: Tree, rooted: Rooted, piece: frozenset[int], level: Level, parent: int | None) -> Group:
    """Return the group of a piece of the tree, without a name yet."""
    nodes = sorted(piece, key=rooted.position.__getitem__)
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
