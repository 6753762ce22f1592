"""Which rows look alike below each node, so that messages are computed once for all of them.

The cells below a node are its pattern. Few columns with few states have few patterns, however many the rows are: two
binary columns have four, and of a hundred words most rows have none. A message depends on the pattern alone, and what
comes from above can be added up over the rows that share one (site repeats, Kobert, Stamatakis & Flouri 2017). Rows
that are the same in all columns are the patterns of the root. Children of a node with many of them are put into groups
that have few patterns, so that one hidden variable over many columns gains as much as a deep tree does.

A plan depends on the tree and the codes, not on the tables: EM makes it once for each block.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from latree.arrays import CodeArray, FloatArray, IntArray
from latree.table import Block

if TYPE_CHECKING:
    from latree.messages import Network

Numbers = NDArray[np.int32]

_WORTH = 0.75  # a node whose patterns are more than this share of the rows is computed row by row
_GROUP = 0.125  # children are put into groups while a group has at most this share of the rows as patterns
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
        n = len(self.which)
        starts = np.arange(n + 1, dtype=np.int32)
        return csc_array((np.ones(n), self.which, starts), shape=(self.n_patterns, n))


@dataclass(frozen=True)
class Source:
    """A factor of a message: the node or group that it comes from, and its patterns (None: the same as the step's)."""

    name: int
    index: Index | None


@dataclass(frozen=True)
class Step:
    """A message to compute: that of a node, or of a group of a node's children, whose names begin after the nodes'."""

    name: int
    n_patterns: int
    sources: tuple[Source, ...]
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
        cells = (step.cells for step in self.steps)
        indices = [*cells, *(source.index for step in self.steps for source in step.sources)]
        return sum(16 * len(index.which) for index in indices if index is not None)


@dataclass(frozen=True)
class _Pattern:
    """The pattern of every row in some columns, and for each pattern one row that has it; None: all rows differ."""

    rows: Numbers | None
    examples: IntArray | None
    size: int


def plan_of(network: "Network", codes: CodeArray, *, repeats: bool) -> Plan:
    """Plan the messages of some rows, once for each pattern or, without repeats, once for each row."""
    return _Planner(network, codes, repeats).plan()


class _Planner:
    def __init__(self, network: "Network", codes: CodeArray, repeats: bool) -> None:
        self.network, self.codes = network, codes
        self.n_rows = len(codes)
        self.repeats = repeats and self.n_rows > 0
        self.every_row = _Pattern(None, None, self.n_rows)
        self.patterns: dict[int, _Pattern] = {}
        self.steps: list[Step] = []
        self.groups = len(network.children)

    def plan(self) -> Plan:
        for node in self.network.order[::-1].tolist():
            self.patterns[node] = self._cells(node) if node in self.network.plain_leaves else self._step(node)
        roots = [node for node in self.network.order.tolist() if self.network.parent[node] < 0]
        return Plan(self.n_rows, tuple(self.steps), tuple(self._source(node, self.every_row) for node in roots))

    def _cells(self, node: int) -> _Pattern:
        n = len(self.network.tables[node])
        return _Pattern(np.minimum(self.codes[:, node], n).astype(np.int32), None, n + 1)

    def _step(self, node: int) -> _Pattern:
        names = list(self.network.children[node])
        if self.repeats and len(names) > 2:
            names = list(self._grouped(names))
        parts = [self.patterns[name] for name in names]
        own = self._cells(node) if node < self.network.n_observed else None
        pattern = self._together(parts if own is None else [*parts, own], _WORTH) or self.every_row
        self._add(node, names, pattern, own)
        return pattern

    def _grouped(self, names: list[int]) -> Iterator[int]:
        """Put children into groups, those with few patterns first, and give what the node is left with."""
        names.sort(key=lambda name: self.patterns[name].size)
        group: list[int] = []
        pattern: _Pattern | None = None
        for name in names:
            larger = self._together(([pattern] if pattern else []) + [self.patterns[name]], _GROUP)
            if larger is None or not group:
                yield from self._closed(group, pattern)
                group, pattern = [], self.patterns[name]
            else:
                pattern = larger
            group.append(name)
        yield from self._closed(group, pattern)

    def _closed(self, group: list[int], pattern: _Pattern | None) -> Iterator[int]:
        if len(group) < 2 or pattern is None:
            yield from group
            return
        name, self.groups = self.groups, self.groups + 1
        self.patterns[name] = pattern
        self._add(name, group, pattern, None)
        yield name

    def _add(self, name: int, sources: Iterable[int], pattern: _Pattern, own: _Pattern | None) -> None:
        found = tuple(self._source(source, pattern) for source in sources)
        self.steps.append(
            Step(
                name,
                pattern.size,
                found,
                None if own is None else _index(own, pattern),
                is_node=name < len(self.network.parent),
            )
        )

    def _source(self, name: int, pattern: _Pattern) -> Source:
        return Source(name, _index(self.patterns[name], pattern))

    def _together(self, parts: list[_Pattern], share: float) -> _Pattern | None:
        """Give the patterns of some columns together numbers; None where they are too many to be worth it."""
        most = share * self.n_rows
        if not self.repeats or any(part.rows is None or part.size > most for part in parts):
            return None
        together = _Pattern(np.zeros(self.n_rows, dtype=np.int32), None, 1)
        for part in parts:
            assert together.rows is not None
            assert part.rows is not None
            numbers, size = _renumbered(together.rows * np.intp(part.size) + part.rows, together.size * part.size)
            if size > most:
                return None
            together = _Pattern(numbers, None, size)
        examples = np.empty(together.size, dtype=np.intp)
        examples[together.rows] = np.arange(self.n_rows)
        return _Pattern(together.rows, examples, together.size)


def _index(of: _Pattern, at: _Pattern) -> Index | None:
    """Tell which of the patterns each of the more detailed patterns has."""
    if of.rows is None:
        return None
    return Index(of.rows if at.examples is None else of.rows[at.examples], of.size)


def _renumbered(numbers: IntArray, limit: int) -> tuple[Numbers, int]:
    """Give new numbers to those below a limit that occur, in their order."""
    if limit <= 16 * len(numbers):  # sorting takes longer than so many flags
        occurs = np.zeros(limit, dtype=bool)
        occurs[numbers] = True
        new = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        return new[numbers], int(new[-1]) + 1
    distinct, new_numbers = np.unique(numbers, return_inverse=True)
    return new_numbers.astype(np.int32), len(distinct)


class Plans:
    """The plans of a table's blocks, kept while they need little memory."""

    def __init__(self, network: "Network") -> None:
        self.network = network
        self.kept: dict[int, Plan] = {}
        self.nbytes = 0

    def of(self, block: Block) -> Plan:
        """Give a block's plan; one without a number gets a new one each time."""
        if block.number is not None and block.number in self.kept:
            return self.kept[block.number]
        made = plan_of(self.network, block.codes, repeats=True)
        if block.number is not None and self.nbytes + made.nbytes <= _KEPT_BYTES:
            self.nbytes += made.nbytes
            self.kept[block.number] = made
        return made
