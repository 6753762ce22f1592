"""Wide tables: the search runs in parts of some hundred columns, then in what the parts have in common.

A latent tree that is restricted to some of its columns is a latent tree. So the columns are divided into parts that
belong together roughly, and each part is searched by itself. Small subtrees of what was found are kept: other columns
depend on a subtree only through its top. The most probable state of its top, given its columns, is a noisy copy of that
hidden variable, that is, a column of a smaller table. This table is searched in the same way, until one part is left.
In the end all subtrees are put together, and the borders are revised in the whole tree.

The time grows about as the number of columns, not as its square. The search of a part needs the memory of a part; the
revision keeps the messages of the whole tree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import part_of_stage
from latree.counts.distances import information, pairwise
from latree.inference.messages import TINY
from latree.learners.starting import joined_trees
from latree.model import LatentTreeModel
from latree.search.draft import Draft
from latree.search.explain import Search
from latree.search.sample import MAX_ROWS
from latree.table import Block, Column, Table
from latree.tree import Tree

# Applies a function to independent items.
Run: TypeAlias = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]

# A part has at most so many columns, and at least half as many. Steps that grow with the square of the columns take
# little time then, and few groups of columns that belong together lie across a border.
MAX_PART = 200

# Tables with more columns are searched in parts.
WIDE = 2 * MAX_PART

# All pairs of so many columns are compared at most (800 MB). More columns are first divided into blocks by a sketch.
_MAX_PAIRS_OF = 10_000

# Blocks by a sketch have so many columns on average. The sketch has so many dimensions.
_BLOCK, _DIMENSIONS = 2000, 64

# Columns are divided by what they have in common in at most so many rows. The parts need not be exact.
_ROWS = 1000

# What a part keeps are subtrees with at most so many columns. Larger ones are more probably divided by columns of other
# parts; of smaller ones, less is known.
_SUBTREE = 20

# Trees to start from are joined from so many times as many rows as a search looks at, if there are so many.
_EVIDENCE = 4

# Each level of parts takes about this share of the time that is left.
_SHARE = 0.8
# Of that, the searches in the parts take about this share. The rest is for what the parts have in common.
_SEARCHING = 0.9

# If a table of what the parts have in common is not smaller than this share of the last one, it is searched as a whole.
# If it has also more columns than this, its parts keep everything, because a search of the whole would take hours:
# columns that depend on no other one of their part stay alone, and of the others only the middle of each tree goes on.
_LARGEST_SHARE, _LARGEST_WHOLE = 0.9, 2000


def parts_of(table: Table, seed: int) -> list[IntArray]:
    """Divide the columns into parts that depend on each other, at most :data:`MAX_PART` columns each."""
    if table.n_columns <= MAX_PART:
        return [np.arange(table.n_columns)]
    table = table.subsample(_ROWS, seed)
    blocks = [np.arange(table.n_columns)]
    if table.n_columns > _MAX_PAIRS_OF:
        blocks = _blocks(table, seed)
    return [
        block[part] for block in blocks for part in _clustered(pairwise(_selected(table, block), information), MAX_PART)
    ]


def _clustered(similarity: FloatArray, most: int) -> list[IntArray]:
    """Divide columns into parts: the tree of average linkage is cut where a subtree has more columns than allowed."""
    d = len(similarity)
    if d <= most:
        return [np.arange(d)]
    np.subtract(similarity.max(), similarity, out=similarity)
    np.fill_diagonal(similarity, 0)
    found: list[list[int]] = []
    open_columns: dict[int, list[int]] = {column: [column] for column in range(d)}  # of clusters, not in a part yet
    for cluster, (one, other, _, _) in enumerate(linkage(squareform(similarity, checks=False), "average"), start=d):
        smaller, larger = sorted((open_columns.pop(int(one)), open_columns.pop(int(other))), key=len)
        if len(smaller) + len(larger) > most:  # the larger one has at least half as many columns as allowed
            found.append(larger)
            larger = []
        open_columns[cluster] = smaller + larger
    return [np.sort(part) for part in (*found, *open_columns.values()) if part]


def _blocks(table: Table, seed: int) -> list[IntArray]:
    """Divide very many columns into blocks by their leading principal components in some of the rows."""
    from sklearn.cluster import MiniBatchKMeans

    rng = np.random.default_rng([seed, 3])
    codes = table.rows.fetch(np.arange(table.n_rows)).codes
    numbers = np.where(codes < table.n_states, codes, 0).T.astype(np.float32)
    numbers -= numbers.mean(axis=1, keepdims=True)
    numbers /= np.maximum(np.sqrt((numbers**2).sum(axis=1, keepdims=True)), TINY)
    # Columns are alike if they have the same correlations with random mixtures of all columns (Halko et al. 2011).
    mixtures = numbers.T @ rng.standard_normal((len(numbers), _DIMENSIONS)).astype(np.float32)
    place = numbers @ np.linalg.qr(mixtures)[0]
    place /= np.maximum(np.sqrt((place**2).sum(axis=1, keepdims=True)), TINY)
    n_blocks = -(-table.n_columns // _BLOCK)
    number = MiniBatchKMeans(n_blocks, random_state=seed, n_init=1, batch_size=4096).fit_predict(place)
    blocks = [np.flatnonzero(number == one) for one in range(n_blocks)]
    return [part for block in blocks if len(block) for part in np.array_split(block, -(-len(block) // _MAX_PAIRS_OF))]


def search_in_parts(
    tables: Sequence[Table], parts: Sequence[IntArray], seed: int, n_states: int | None, run: Run
) -> list[LatentTreeModel]:
    """Return the hidden variables that are there, in each of several tables of the same columns.

    All parts of all tables are independent tasks, and so are the revisions of the whole trees.

    Parameters
    ----------
    tables : sequence of Table
        The first one is searched to the end. Others are parts of its rows, and are searched as far as is needed to see
        what comes again; see :meth:`latree.search.explain.Search.explained`.
    parts : sequence of array of int
        Columns that are searched together at first, from :func:`parts_of`.
    seed : int
    n_states : int or None
        Of every hidden variable, if it is given.
    run : callable
        Applies a function to independent items and returns the results: :meth:`latree.table.rows.Rows.run`.
    """
    found = [_Assembly(table, parts, seed + number, n_states, not number) for number, table in enumerate(tables)]
    begin = 0.0
    while waiting := [one for one in found if one.parts]:
        # Parts of the first table take longest. They are searched between those of others, so that progress is steady.
        queue = sorted(
            (part / len(one.parts), number, part)
            for number, one in enumerate(waiting)
            for part in range(len(one.parts))
        )
        tasks = [one.tasks() for one in waiting]
        end = begin + _SHARE * (1 - begin)
        with part_of_stage(begin, end):
            with part_of_stage(0, _SEARCHING):
                results = run(_search_part, [tasks[number][part] for _, number, part in queue])
            with part_of_stage(_SEARCHING, 1):
                of_part = {(number, part): result for (_, number, part), result in zip(queue, results, strict=True)}
                for number, one in enumerate(waiting):
                    one.add([of_part[number, part] for part in range(len(one.parts))])
        begin = end
    with part_of_stage(begin, 1):
        return run(_revise, [one.revision for one in found])


class _Part(NamedTuple):
    """Columns to search, of a table with ``n_columns`` columns."""

    columns: Table
    n_columns: int
    seed: int
    n_states: int | None
    whole: bool


class _Found(NamedTuple):
    """What a search found in a part: its columns that depend on others, their model, and what two had to gain."""

    columns: IntArray
    model: LatentTreeModel
    least: float


def _search_part(part: _Part) -> _Found | None:
    """Return the hidden variables of a part; None if its columns are independent."""
    columns, trees = joined_trees(part.columns, part.n_columns)
    if not trees:
        return None
    search = Search(_selected(part.columns, columns), part.seed, part.n_states)
    model = search.explained(trees if part.whole else trees[1:2], part.whole)
    return _Found(columns, model, search.least)


class _Revision(NamedTuple):
    """A whole tree to revise; see :meth:`latree.search.explain.Search.revised`."""

    rows: Table
    seed: int
    n_states: int | None
    draft: Draft
    least: float
    settled: list[list[int]]
    whole: bool


def _revise(tree: _Revision) -> LatentTreeModel:
    """Return the model of all columns; only those that depend on others are searched again."""
    rows, draft = tree.rows, tree.draft
    d = rows.n_columns
    columns = [column for column in range(d) if draft.joint[column]]
    if not columns:
        return draft.start(rows)
    some = _selected(rows, np.array(columns))
    number = {column: place for place, column in enumerate(columns)}
    number |= {node: node - d + len(columns) for node in draft.joint if node >= d}
    settled = [[number[node] for node in nodes if node in number] for nodes in tree.settled]
    search = Search(some, tree.seed, tree.n_states)
    model = search.revised(draft.renumbered(some.names, number), tree.least, settled, tree.whole)
    if len(columns) == d:
        return model
    back = dict(enumerate(columns)) | {
        node: node - len(columns) + d for node in range(len(columns), model.tree.n_nodes)
    }
    return Draft(model).renumbered(rows.names, back).start(rows)


class _Assembly:
    """The tree of a table, which grows from subtrees of parts.

    Attributes
    ----------
    parts : sequence of array of int
        Columns of the present level that are searched next; none if the tree is complete.
    """

    def __init__(self, table: Table, parts: Sequence[IntArray], seed: int, n_states: int | None, whole: bool) -> None:
        self.parts, self.seed, self.n_states, self.whole = parts, seed, n_states, whole
        evidence = table.units(_EVIDENCE * MAX_ROWS, seed)
        self.rows = evidence.units(MAX_ROWS, seed).sorted_rows()
        self.level = _Level(self.rows, np.arange(table.n_columns), evidence)
        self.draft = Draft.of_columns(table.names)
        self.least: list[float] = []  # of every hidden variable
        self.settled: list[list[int]] = []  # the nodes of each subtree of the first level
        self.keeps_all = False  # whether the parts of this level keep all that is found in them

    def tasks(self) -> list[_Part]:
        """Return the parts to search."""
        d = self.rows.n_columns
        return [_Part(self.level.evidence(part), d, self.seed, self.n_states, self.whole) for part in self.parts]

    def add(self, found: Sequence[_Found | None]) -> None:
        """Add what was found in the parts, and go on to the next level."""
        is_last = len(self.parts) == 1
        families: list[_Family] = []
        for part, one in zip(self.parts, found, strict=True):
            if one is not None:
                self.least += [one.least] * one.model.tree.n_hidden
                everything = is_last or self.keeps_all
                families += self.level.connect(self.draft, part[one.columns], one.model, everything=everything)
        self.settled = self.settled or [family.nodes for family in families if family.is_whole]
        self.parts = []
        if families and not is_last:
            smaller = self.level.above(families, self.keeps_all)
            n_columns = smaller.rows.n_columns
            is_smaller = n_columns <= _LARGEST_SHARE * self.level.rows.n_columns
            self.keeps_all = not is_smaller and n_columns > _LARGEST_WHOLE
            in_parts = is_smaller or self.keeps_all
            self.parts = parts_of(smaller.rows, self.seed) if in_parts else [np.arange(n_columns)]
            self.level = smaller

    @property
    def revision(self) -> _Revision:
        """The whole tree, to be revised."""
        least = float(np.mean(self.least)) if self.least else 0.0
        return _Revision(self.rows, self.seed, self.n_states, self.draft, least, self.settled, self.whole)


@dataclass(frozen=True)
class _Family:
    """A hidden variable at the top of a subtree.

    Attributes
    ----------
    node : int
        Its number in the whole tree.
    nodes : list of int
        All nodes of the subtree, by their numbers in the whole tree.
    is_whole : bool
        Whether a single edge led from the subtree to the rest of its part.
    columns : array of int
        The numbers of the subtree's columns in the table of the level.
    states : array of int
        Its most probable state in each row, given these columns.
    n_states : int
    """

    node: int
    nodes: list[int]
    is_whole: bool
    columns: IntArray
    states: IntArray
    n_states: int


@dataclass(frozen=True)
class _Level:
    """A table to search: columns, and hidden variables of which the most probable states are known.

    Attributes
    ----------
    rows : Table
    nodes : array of int
        What each column is in the whole tree: a column or a hidden variable.
    all_rows : Table, optional
        The same columns in all rows, of which ``rows`` may be a sample.
    """

    rows: Table
    nodes: IntArray
    all_rows: Table | None = None

    @cached_property
    def _block(self) -> Block:
        """All rows of the sample."""
        return self.rows.rows.fetch(np.arange(self.rows.n_rows))

    def evidence(self, part: IntArray) -> Table:
        """Return some of the columns."""
        return _selected(self.rows if self.all_rows is None else self.all_rows, part)

    def connect(self, draft: Draft, part: IntArray, model: LatentTreeModel, everything: bool) -> list[_Family]:
        """Add what a part keeps to the whole tree: its small subtrees, or everything."""
        tree, joint = model.tree, Draft(model).joint
        kept = subtrees(tree, tree.n_observed if everything else _SUBTREE)
        number = dict(enumerate(self.nodes[part].tolist()))
        for node in (node for nodes in kept.values() for node in nodes if node >= tree.n_observed):
            number[node] = max(draft.joint) + 1
            draft.joint[number[node]] = {}
        home = {node: top for top, nodes in kept.items() for node in nodes}
        for u, v in tree.edges.tolist():
            if u in home and home[u] == home.get(v):
                draft.connect(number[u], number[v], joint[u][v])
        codes = self._block.codes[:, part]
        return [
            _Family(
                number[top],
                [number[node] for node in nodes],
                sum(u not in nodes for u, _ in tree.neighbors[top]) <= 1,
                part[[node for node in nodes if node < tree.n_observed]],
                _most_probable(model, top, nodes, codes),
                len(model.tables[top]),
            )
            for top, nodes in kept.items()
        ]

    def above(self, families: Sequence[_Family], without_rest: bool) -> "_Level":
        """Return the table of the tops of subtrees, and of the columns in none of these unless they are left out."""
        below = np.arange(len(self.nodes) if not without_rest else 0)
        rest = np.setdiff1d(below, np.concatenate([family.columns for family in families]))
        varying = [family for family in families if np.ptp(family.states) > 0]
        nodes = np.concatenate([self.nodes[rest], [family.node for family in varying]]).astype(np.intp)
        block = self._block
        selected = _selected(self.rows, rest)
        columns = [
            *(replace(column, name=str(node)) for column, node in zip(selected.columns, nodes, strict=False)),
            *(Column(str(family.node), "integer", tuple(map(str, range(family.n_states)))) for family in varying),
        ]
        own = np.where(block.codes[:, rest] < selected.n_states, block.codes[:, rest].astype(np.int32), -1)
        states = [family.states[:, None] for family in varying]
        return _Level(Table.from_codes(columns, np.concatenate([own, *states], axis=1), block.weights), nodes)


def _selected(table: Table, columns: IntArray) -> Table:
    """Return some columns of a table."""
    return Table(tuple(table.columns[column] for column in columns), table.rows.reordered(columns))


def subtrees(tree: Tree, most: int) -> dict[int, list[int]]:
    """Return disjoint subtrees with at most so many columns, as large as possible: their nodes, by their top nodes.

    Each component is rooted in its middle. A hidden variable above larger subtrees is a top, too, if it has several
    columns of its own, with these alone. Single columns and hidden variables that are left belong to no subtree.
    """
    found: dict[int, list[int]] = {}
    for component in tree.components:
        hidden = [
            node
            for node in range(tree.n_observed, tree.n_nodes)
            if tree.edge_splits[tree.neighbors[node][0][1]].component == component
        ]
        if not hidden:
            continue
        root = min(
            hidden, key=lambda node: max(tree.columns_behind(u, node).bit_count() for u, _ in tree.neighbors[node])
        )
        waiting = [(root, -1)]
        while waiting:
            node, above = waiting.pop()
            below = [u for u, _ in tree.neighbors[node] if u != above]
            if sum(tree.columns_behind(u, node).bit_count() for u in below) <= most:
                found[node] = _below(tree, node, above)
                continue
            own = [u for u in below if u < tree.n_observed]
            if len(own) > 1:
                found[node] = [node, *own]
            waiting += [(u, node) for u in below if u >= tree.n_observed]
    return found


def _below(tree: Tree, node: int, above: int) -> list[int]:
    """Return a node and all nodes below it."""
    found, waiting = [], [(node, above)]
    while waiting:
        node, above = waiting.pop()
        found.append(node)
        waiting += [(u, node) for u, _ in tree.neighbors[node] if u != above]
    return found


def _most_probable(model: LatentTreeModel, top: int, nodes: Sequence[int], codes: IntArray) -> IntArray:
    """Return the most probable state of the top of a subtree in each row, given the columns below it."""
    tree, inside = model.tree, set(nodes)

    def likelihood(node: int, above: int) -> FloatArray:
        """Return the likelihood of each state of a node, up to a factor per row."""
        if node < tree.n_observed:
            states = np.vstack([np.eye(len(model.tables[node])), np.ones(len(model.tables[node]))])
            return states[np.minimum(codes[:, node], len(states) - 1)]
        product = np.ones((len(codes), len(model.tables[node])))
        for u, _ in tree.neighbors[node]:
            if u != above and u in inside:
                product *= likelihood(u, node) @ model.network.conditional(u, node)
                product /= np.maximum(product.max(axis=1, keepdims=True), TINY)
        return product

    return np.asarray((likelihood(top, -1) * model.network.marginals()[top]).argmax(axis=1), dtype=np.int32)
