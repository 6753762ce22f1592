"""Which rows look alike below each node, so that messages are computed once for all of them.

The cells below a node are its pattern. Few columns with few states have few patterns, however many the rows are: two
binary columns have four, and of a hundred words most rows have none. A message depends on the pattern alone, and what
comes from above can be added up over the rows that share one (site repeats, Kobert, Stamatakis & Flouri 2017). Rows
that are the same in all columns are the patterns of the root. Children of a node with many of them are put into groups
that have few patterns, so that one hidden variable over many columns gains as much as a deep tree does.

A plan depends on the tree and the codes, not on the tables: EM makes it once for each block.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree.table import Block

if TYPE_CHECKING:
    from latree.inference.messages import Network

Numbers = NDArray[np.int32]

_WORTH = 0.75  # a node whose patterns are more than this share of the rows is computed row by row
_GROUP = 0.125  # children are put into groups while a group has at most this share of the rows as patterns
_CHUNK = 8  # leaves multiplied at a time
_FLAGS = 32  # pairs are sorted where there could be more than this many times the rows
_ROWS = (256, 2**16)  # worked on at a time
_MESSAGE_BYTES = 2**29  # of a thread, if no pattern repeated
_KEPT_BYTES = 2**29  # of plans that are kept; those of further blocks are made anew when they are needed


@dataclass(frozen=True)
class Index:
    """Which of some patterns each of more patterns (or rows) has."""

    which: Numbers
    n_patterns: int

    def spread(self, values: FloatArray) -> FloatArray:
        """Give each its pattern's values."""
        return values.take(self.which, axis=0)

    def added(self, values: FloatArray) -> FloatArray:
        """Add up the values of all that have a pattern."""
        return np.asarray(self._sums @ values)

    @cached_property
    def _sums(self) -> csc_array:
        return _sums(self.which[None], self.n_patterns)


@dataclass(frozen=True)
class Leaves:
    """The plain leaves below a step: states of all of them one after the other, for each leaf missing cells last.

    Attributes
    ----------
    names : tuple of int
    which : array, shape (leaves, patterns)
        The state of each cell.
    starts : array
        Where the states of each leaf begin.
    n_states : int
        Of all of them.
    """

    names: tuple[int, ...]
    which: Numbers
    starts: IntArray
    n_states: int

    @cached_property
    def has_missing(self) -> bool:
        """Whether any cell is missing."""
        return bool(np.isin([*self.starts[1:] - 1, self.n_states - 1], self.which).any())

    @cached_property
    def chunks(self) -> list[Numbers]:
        """The states of a few leaves at a time, so that their messages together need little memory."""
        return [self.which[start : start + _CHUNK] for start in range(0, len(self.names), _CHUNK)]

    def added(self, values: FloatArray) -> FloatArray:
        """Add up the values of all patterns that have a state."""
        return np.asarray(self._sums @ values)

    @cached_property
    def _sums(self) -> csc_array:
        return _sums(self.which, self.n_states)


def _sums(which: Numbers, size: int) -> csc_array:
    """Give the matrix that adds up values: one column for each of them, one for each of the places it goes to."""
    places, n = which.shape
    starts = np.arange(0, places * n + 1, places, dtype=np.int32)
    return csc_array((np.ones(places * n), which.T.ravel(), starts), shape=(size, n))


@dataclass(frozen=True)
class Source:
    """A message that goes into another: where it comes from, and its patterns (None: the same as the step's)."""

    name: int
    index: Index | None

    @property
    def which(self) -> Numbers | None:
        """The pattern of each pattern of the step."""
        return None if self.index is None else self.index.which


@dataclass(frozen=True)
class Step:
    """A message to compute: that of a node, or of a group of a node's children, whose names begin after the nodes'."""

    name: int
    n_patterns: int
    sources: tuple[Source, ...]
    leaves: Leaves | None
    cells: Index | None  # of an observed inner node
    is_node: bool


@dataclass(frozen=True)
class Plan:
    """Messages in the order in which they can be computed, upwards.

    Attributes
    ----------
    n_rows : int
    steps : tuple of Step
        The last step of a tree is its root's.
    roots : tuple of Source
        With the patterns of the rows.
    """

    n_rows: int
    steps: tuple[Step, ...]
    roots: tuple[Source, ...]

    @property
    def nbytes(self) -> int:
        """Memory that the plan takes, about."""
        arrays = [step.leaves.which for step in self.steps if step.leaves]
        indices = [
            *(step.cells for step in self.steps),
            *(source.index for step in self.steps for source in step.sources),
        ]
        return 16 * sum(array.size for array in [*arrays, *(index.which for index in indices if index is not None)])


def plan_of(network: "Network", codes: CodeArray, *, repeats: bool) -> Plan:
    """Plan the messages of some rows, once for each pattern or, without repeats, once for each row."""
    return _Planner(network, codes, repeats and len(codes) > 0).plan()


@dataclass(frozen=True)
class _Pattern:
    """Numbers of the patterns that the rows have in some columns; None: every row is taken for one of its own."""

    rows: Numbers | None
    size: int

    @cached_property
    def examples(self) -> IntArray | slice:
        """Give one row for each pattern that has it; any for a state of a column that no row has."""
        if self.rows is None:
            return slice(None)
        found = np.zeros(self.size, dtype=np.intp)
        found[self.rows] = np.arange(len(self.rows))
        return found


class _Planner:
    def __init__(self, network: "Network", codes: CodeArray, repeats: bool) -> None:
        self.network, self.codes, self.repeats = network, codes, repeats
        self.every_row = _Pattern(None, len(codes))
        self.patterns: dict[int, _Pattern] = {}
        self.steps: list[Step] = []
        self.group_names = count(len(network.parent))

    def plan(self) -> Plan:
        for node in self.network.order[::-1].tolist():
            if node in self.network.plain_leaves:
                self.patterns[node] = self._cells(node)
            else:
                self._add_node(node)
        roots = [node for node in self.network.order.tolist() if self.network.parent[node] < 0]
        return Plan(len(self.codes), tuple(self.steps), self._sources(roots, self.every_row))

    def _cells(self, node: int) -> _Pattern:
        n = len(self.network.tables[node])
        return _Pattern(np.minimum(self.codes[:, node], n).astype(np.int32), n + 1)

    def _add_node(self, node: int) -> None:
        names = self._grouped(self.network.children[node])
        parts = [self.patterns[name] for name in names]
        own = self._cells(node) if node < self.network.n_observed else None
        pattern = self._together(parts if own is None else [*parts, own], _WORTH) or self.every_row
        self._add(node, names, pattern, own)

    def _grouped(self, names: Sequence[int]) -> Sequence[int]:
        """Put children into groups, those with few patterns first, and tell what the node is left with."""
        groups: list[tuple[list[int], _Pattern]] = []
        for name in sorted(names, key=lambda name: self.patterns[name].size):
            pattern = self.patterns[name]
            together = self._together([groups[-1][1], pattern], _GROUP) if groups else None
            if together is None:
                groups.append(([name], pattern))
            else:
                groups[-1] = ([*groups[-1][0], name], together)
        return [self._group(*group) for group in groups] if len(groups) > 1 else names

    def _group(self, names: Sequence[int], pattern: _Pattern) -> int:
        if len(names) == 1:
            return names[0]
        name = next(self.group_names)
        self._add(name, names, pattern, None)
        return name

    def _add(self, name: int, names: Sequence[int], pattern: _Pattern, own: _Pattern | None) -> None:
        leaves = [name for name in names if name in self.network.plain_leaves]
        others = [name for name in names if name not in self.network.plain_leaves]
        self.steps.append(
            Step(
                name,
                pattern.size,
                self._sources(others, pattern),
                self._leaves(leaves, pattern) if leaves else None,
                None if own is None else _index(own, pattern),
                is_node=name < len(self.network.parent),
            )
        )
        self.patterns[name] = pattern

    def _leaves(self, names: Sequence[int], pattern: _Pattern) -> Leaves:
        indices = [index for index in (_index(self.patterns[name], pattern) for name in names) if index]
        stops = np.cumsum([index.n_patterns for index in indices])
        starts = np.concatenate([[0], stops[:-1]])
        which = np.stack([index.which for index in indices]) + starts[:, None].astype(np.int32)
        return Leaves(tuple(names), which, starts, int(stops[-1]))

    def _sources(self, names: Iterable[int], pattern: _Pattern) -> tuple[Source, ...]:
        return tuple(Source(name, _index(self.patterns[name], pattern)) for name in names)

    def _together(self, parts: Sequence[_Pattern], share: float) -> _Pattern | None:
        """Give numbers to the patterns of some columns together; None where they are too many to be worth it."""
        most = share * len(self.codes)
        if not self.repeats or any(part.rows is None or part.size > most for part in parts):
            return None
        together, *others = parts
        for part in others:
            together = _pairs(together, part)
            if together.size > most:
                return None
        return together


def _index(of: _Pattern, at: _Pattern) -> Index | None:
    """Tell which of some patterns each of more detailed ones has."""
    return None if of.rows is None else Index(of.rows[at.examples], of.size)


def _pairs(one: _Pattern, other: _Pattern) -> _Pattern:
    """Give numbers to the pairs of patterns that occur."""
    assert one.rows is not None
    assert other.rows is not None
    limit = one.size * other.size
    pairs = one.rows * np.intp(other.size) + other.rows
    if limit > _FLAGS * len(pairs):
        distinct, numbers = np.unique(pairs, return_inverse=True)
        return _Pattern(numbers.astype(np.int32), len(distinct))
    occurs = np.zeros(limit, dtype=bool)
    occurs[pairs] = True
    distinct = np.flatnonzero(occurs)
    number = np.empty(limit, dtype=np.int32)
    number[distinct] = np.arange(len(distinct))
    return _Pattern(number[pairs], len(distinct))


class Plans:
    """The plans of a table's blocks, kept while they need little memory.

    Attributes
    ----------
    most_rows : int
        So many rows have messages that need little memory.
    """

    def __init__(self, network: "Network") -> None:
        self.network = network
        inner = [table for node, table in enumerate(network.tables) if node not in network.plain_leaves]
        leaves = [network.tables[leaf] for leaf in network.plain_leaves]
        states = sum(sum(table.shape) for table in inner) + _GROUP / 2 * sum(table.shape[1] for table in leaves)
        self.most_rows = int(np.clip(_MESSAGE_BYTES / (8 * states), *_ROWS))
        self._kept: dict[int, Plan] = {}
        self._nbytes = 0

    def __reduce__(self) -> tuple[type["Plans"], tuple["Network"]]:
        """Travel to other machines without what is kept: their blocks are others."""
        return Plans, (self.network,)

    def of(self, block: Block) -> Plan:
        """Give the plan of a block; one without a number gets a new one each time."""
        if block.number in self._kept:
            return self._kept[block.number]
        plan = plan_of(self.network, block.codes, repeats=True)
        if block.number is not None and self._nbytes + plan.nbytes <= _KEPT_BYTES:
            self._nbytes += plan.nbytes
            self._kept[block.number] = plan
        return plan
