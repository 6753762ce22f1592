"""Message plans: which rows have the same cells below each node, so that messages are computed once for all of them.

The cells below a node are its pattern. Few columns with few states have few patterns, however many rows there are: two
binary columns have four. A message depends on the pattern alone, and what comes from above can be added up over the
rows that share a pattern (site repeats, Kobert, Stamatakis & Flouri 2017). Equal rows are the patterns of the root.
Children of a node with many of them are put into groups that have few patterns, so that one hidden variable over many
columns gains as much as a deep tree does.

Messages have numbers: that of a node has the node's number, and groups are numbered after all nodes. A plan depends on
the tree and the codes, not on the probabilities: EM makes it once per block.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree.inference.network import Network
from latree.table import Block

PatternNumbers: TypeAlias = NDArray[np.int32]

# A node that has more patterns than this share of the rows is computed row by row.
_MAX_PATTERN_SHARE = 0.75

# Children are put into one group while the group has at most this share of the rows as patterns.
_MAX_GROUP_SHARE = 0.125

# Leaves whose messages are multiplied at a time.
_LEAVES_AT_ONCE = 8

# Pairs of patterns are numbered by sorting where more pairs are possible than this many times the rows; otherwise by
# an array with one flag per possible pair.
_MAX_FLAGS_PER_ROW = 32

# The least and the most rows of a block.
_BLOCK_ROWS = (256, 2**16)

# Memory for the messages of one block if no pattern repeats; blocks are made small enough for it.
_MESSAGE_BYTES = 2**29

# Memory for plans that are kept. Plans of further blocks are made again each time they are needed.
_PLAN_BYTES = 2**29


@dataclass(frozen=True)
class PatternIndex:
    """From finer patterns (or rows) to coarser ones: ``which[i]`` is the coarser pattern that the finer one i has."""

    which: PatternNumbers
    n_patterns: int

    def spread(self, values: FloatArray) -> FloatArray:
        """Return for each finer pattern the values of its coarser one."""
        return values.take(self.which, axis=0)

    def add_up(self, values: FloatArray) -> FloatArray:
        """Return for each coarser pattern the sum of the values of its finer ones."""
        return np.asarray(self._summing_matrix @ values)

    @cached_property
    def _summing_matrix(self) -> csc_array:
        return _summing_matrix(self.which[None], self.n_patterns)


@dataclass(frozen=True)
class LeafCells:
    """The cells of the plain leaves below a message.

    States of all leaves are numbered one after the other; after the states of each leaf comes a missing cell.

    Attributes
    ----------
    columns : tuple of int
        The leaves.
    which : array, shape (leaves, patterns)
        The number of the state of each cell.
    starts : array
        The number of the first state of each leaf.
    n_states : int
        Number of states of all leaves, missing cells included.
    """

    columns: tuple[int, ...]
    which: PatternNumbers
    starts: IntArray
    n_states: int

    @cached_property
    def has_missing(self) -> bool:
        """Whether any cell is missing."""
        return bool(np.isin([*self.starts[1:] - 1, self.n_states - 1], self.which).any())

    @cached_property
    def chunks(self) -> list[PatternNumbers]:
        """The cells of a few leaves at a time, so that the product of their messages needs little memory."""
        return [self.which[start : start + _LEAVES_AT_ONCE] for start in range(0, len(self.columns), _LEAVES_AT_ONCE)]

    def add_up(self, values: FloatArray) -> FloatArray:
        """Return for each state the sum of the values of all patterns that have it."""
        return np.asarray(self._summing_matrix @ values)

    @cached_property
    def _summing_matrix(self) -> csc_array:
        return _summing_matrix(self.which, self.n_states)


def _summing_matrix(which: PatternNumbers, size: int) -> csc_array:
    """Return the sparse 0/1 matrix that adds up values: value i is added to the places ``which[:, i]``."""
    n_places, n_values = which.shape
    starts = np.arange(0, n_places * n_values + 1, n_places, dtype=np.int32)
    return csc_array((np.ones(n_places * n_values), which.T.ravel(), starts), shape=(size, n_values))


@dataclass(frozen=True)
class MessageSource:
    """A message that goes into another one: its number, and its patterns (None: the same as those of the other)."""

    number: int
    index: PatternIndex | None

    @property
    def which(self) -> PatternNumbers | None:
        """The source's pattern for each pattern of the message that it goes into."""
        return None if self.index is None else self.index.which


@dataclass(frozen=True)
class MessageStep:
    """A message to compute, that of a node or of a group of a node's children.

    Attributes
    ----------
    number : int
        The node's number, or the group's.
    n_patterns : int
        Number of rows of the message.
    sources : tuple of MessageSource
        Messages of children and groups that are multiplied.
    leaves : LeafCells or None
        The plain leaves whose messages are multiplied as well.
    cells : PatternIndex or None
        The node's own cells, if it is observed.
    is_node : bool
    """

    number: int
    n_patterns: int
    sources: tuple[MessageSource, ...]
    leaves: LeafCells | None
    cells: PatternIndex | None
    is_node: bool


@dataclass(frozen=True)
class MessagePlan:
    """Messages in the order in which they can be computed, upwards.

    Attributes
    ----------
    n_rows : int
    steps : tuple of MessageStep
        The last step of a tree is its root's.
    roots : tuple of MessageSource
        The messages of the roots, spread over the rows.
    """

    n_rows: int
    steps: tuple[MessageStep, ...]
    roots: tuple[MessageSource, ...]

    @property
    def nbytes(self) -> int:
        """Approximate memory of the plan."""
        arrays = [step.leaves.which for step in self.steps if step.leaves]
        indices = [
            *(step.cells for step in self.steps),
            *(source.index for step in self.steps for source in step.sources),
        ]
        return 16 * sum(array.size for array in [*arrays, *(index.which for index in indices if index is not None)])


def plan_messages(network: Network, codes: CodeArray, *, repeats: bool) -> MessagePlan:
    """Plan the messages of rows: computed once per pattern or, without repeats, once per row."""
    return _Planner(network, codes, repeats and len(codes) > 0).plan()


@dataclass(frozen=True)
class _Patterns:
    """The patterns of the rows in some columns: the number of each row's pattern; None where rows are not compared."""

    rows: PatternNumbers | None
    size: int

    @cached_property
    def examples(self) -> IntArray | slice:
        """One row that has each pattern; row 0 for a state of a column that no row has."""
        if self.rows is None:
            return slice(None)
        found = np.zeros(self.size, dtype=np.intp)
        found[self.rows] = np.arange(len(self.rows))
        return found


class _Planner:
    """Plans the messages of a network for some rows, from the leaves to the roots."""

    def __init__(self, network: Network, codes: CodeArray, repeats: bool) -> None:
        self.network, self.codes, self.repeats = network, codes, repeats
        self.every_row = _Patterns(None, len(codes))
        self.patterns: dict[int, _Patterns] = {}  # of each message that is planned
        self.steps: list[MessageStep] = []
        self.group_numbers = count(len(network.parent))

    def plan(self) -> MessagePlan:
        # 1. From the leaves to the roots, find the patterns of each node; plan its message unless it is a plain leaf.
        for node in self.network.order[::-1].tolist():
            if node in self.network.plain_leaves:
                self.patterns[node] = self._cells(node)
            else:
                self._add_node(node)
        # 2. Note which pattern of each root every row has.
        roots = [node for node in self.network.order.tolist() if self.network.parent[node] < 0]
        return MessagePlan(len(self.codes), tuple(self.steps), self._sources(roots, self.every_row))

    def _cells(self, node: int) -> _Patterns:
        """Return the patterns of one column: its states, and a missing cell last."""
        n = len(self.network.tables[node])
        return _Patterns(np.minimum(self.codes[:, node], n).astype(np.int32), n + 1)

    def _add_node(self, node: int) -> None:
        # 1. Put children with few patterns into groups.
        numbers = self._grouped(self.network.children[node])
        # 2. The node's patterns are the combinations of its children's, and of its own cells, that occur in the rows.
        parts = [self.patterns[number] for number in numbers]
        own = self._cells(node) if node < self.network.n_observed else None
        together = self._together(parts if own is None else [*parts, own], _MAX_PATTERN_SHARE)
        # 3. Where they are nearly as many as the rows, the message is computed row by row.
        self._add_step(node, numbers, together or self.every_row, own)

    def _grouped(self, numbers: Sequence[int]) -> Sequence[int]:
        """Put children into groups; return the messages that the node is left with."""
        groups: list[tuple[list[int], _Patterns]] = []
        # Children with few patterns come first. Each joins the last group if that still has few patterns then.
        for number in sorted(numbers, key=lambda number: self.patterns[number].size):
            patterns = self.patterns[number]
            together = self._together([groups[-1][1], patterns], _MAX_GROUP_SHARE) if groups else None
            if together is None:
                groups.append(([number], patterns))
            else:
                groups[-1] = ([*groups[-1][0], number], together)
        return [self._add_group(*group) for group in groups] if len(groups) > 1 else numbers

    def _add_group(self, numbers: Sequence[int], patterns: _Patterns) -> int:
        if len(numbers) == 1:
            return numbers[0]
        group = next(self.group_numbers)
        self._add_step(group, numbers, patterns, None)
        return group

    def _add_step(self, number: int, below: Sequence[int], patterns: _Patterns, own: _Patterns | None) -> None:
        """Plan the message of a node or a group as the product of the messages below it."""
        leaves = [child for child in below if child in self.network.plain_leaves]
        others = [child for child in below if child not in self.network.plain_leaves]
        self.steps.append(
            MessageStep(
                number,
                patterns.size,
                self._sources(others, patterns),
                self._leaves(leaves, patterns) if leaves else None,
                None if own is None else _index(own, patterns),
                is_node=number < len(self.network.parent),
            )
        )
        self.patterns[number] = patterns

    def _leaves(self, leaves: Sequence[int], patterns: _Patterns) -> LeafCells:
        indices = [index for index in (_index(self.patterns[leaf], patterns) for leaf in leaves) if index]
        # States of all leaves are numbered one after the other: those of leaf j begin at starts[j].
        stops = np.cumsum([index.n_patterns for index in indices])
        starts = np.concatenate([[0], stops[:-1]])
        which = np.stack([index.which for index in indices]) + starts[:, None].astype(np.int32)
        return LeafCells(tuple(leaves), which, starts, int(stops[-1]))

    def _sources(self, numbers: Iterable[int], patterns: _Patterns) -> tuple[MessageSource, ...]:
        return tuple(MessageSource(number, _index(self.patterns[number], patterns)) for number in numbers)

    def _together(self, parts: Sequence[_Patterns], share: float) -> _Patterns | None:
        """Return the patterns of several parts together; None where they are more than a share of the rows."""
        limit = share * len(self.codes)
        if not self.repeats or any(part.rows is None or part.size > limit for part in parts):
            return None
        together, *others = parts
        for part in others:
            together = _pairs(together, part)
            if together.size > limit:
                return None
        return together


def _index(coarse: _Patterns, fine: _Patterns) -> PatternIndex | None:
    """Return which coarse pattern each fine one has; None where both are the rows themselves."""
    # All rows with a fine pattern have the same coarse one, so that one example row shows it.
    return None if coarse.rows is None else PatternIndex(coarse.rows[fine.examples], coarse.size)


def _pairs(one: _Patterns, other: _Patterns) -> _Patterns:
    """Return the patterns of two parts together: the pairs that occur, numbered in their order."""
    assert one.rows is not None
    assert other.rows is not None
    # The pair (a, b) has the code a * (number of b's) + b. Codes that occur are numbered from 0 on.
    n_codes = one.size * other.size
    codes = one.rows * np.intp(other.size) + other.rows
    if n_codes > _MAX_FLAGS_PER_ROW * len(codes):
        distinct, numbers = np.unique(codes, return_inverse=True)
        return _Patterns(numbers.astype(np.int32), len(distinct))
    occurs = np.zeros(n_codes, dtype=bool)
    occurs[codes] = True
    distinct = np.flatnonzero(occurs)
    number_of = np.empty(n_codes, dtype=np.int32)
    number_of[distinct] = np.arange(len(distinct))
    return _Patterns(number_of[codes], len(distinct))


def rows_at_once(network: Network) -> int:
    """Return the most rows whose messages need little memory."""
    inner = [table for node, table in enumerate(network.tables) if node not in network.plain_leaves]
    leaves = [network.tables[leaf] for leaf in network.plain_leaves]
    # Numbers per row: the two messages of each inner node, and those of groups of leaves.
    n_numbers = sum(sum(table.shape) for table in inner)
    n_numbers += _MAX_GROUP_SHARE / 2 * sum(table.shape[1] for table in leaves)
    return int(np.clip(_MESSAGE_BYTES / (8 * n_numbers), *_BLOCK_ROWS))


class PlanCache:
    """The message plans of a table's blocks, kept while they need little memory.

    Attributes
    ----------
    max_rows : int
        The most rows of a block whose messages need little memory.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.max_rows = rows_at_once(network)
        self._kept: dict[int, MessagePlan] = {}
        self._nbytes = 0

    def __reduce__(self) -> tuple[type["PlanCache"], tuple[Network]]:
        """Travel to other machines without the plans: their blocks are others."""
        return PlanCache, (self.network,)

    def plan_for(self, block: Block) -> MessagePlan:
        """Return the plan of a block; a block without a number gets a new one each time."""
        if block.number in self._kept:
            return self._kept[block.number]
        plan = plan_messages(self.network, block.codes, repeats=True)
        if block.number is not None and self._nbytes + plan.nbytes <= _PLAN_BYTES:
            self._nbytes += plan.nbytes
            self._kept[block.number] = plan
        return plan
