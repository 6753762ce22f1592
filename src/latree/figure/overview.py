"""Which parts of a tree a drawing starts with, so that it has at most 60 lines, and at least 8 where it can.

A small tree is drawn whole. Otherwise each group of columns is one line. If there are too many groups, branches are
folded: from the root outwards, the branch with the most columns is opened first, as long as all lines fit and its parts
have at least a quarter of the columns of a mean line, so that lines stand for about as much. Where so many branches
hang on one node that not even these fit, the largest are drawn, and one line stands for the rest. If there are too few
groups, small groups are opened as long as all lines fit; if even the smallest is too large, groups are drawn like
branches.

A branch that is folded has an overview of its own, so that opening it does not fill the page.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any, Literal

# A drawing starts with at most, and if possible at least, this many lines: what a screen or two, or one page of paper,
# can show.
MAX_LINES, MIN_LINES = 60, 8

Kind = Literal["column", "hidden", "group", "branch", "rest"]


@dataclass(frozen=True)
class Folds:
    """What of a tree is folded.

    Attributes
    ----------
    groups : list of int
        The groups that are one line each, by their places in the list of groups.
    branches : list of int
        The upper nodes of branches that are one line each; a folded branch may contain others.
    rest : list of int
        The upper nodes of branches that have no line of their own: one line stands for all that hang on the same node.
    """

    groups: list[int] = field(default_factory=list)
    branches: list[int] = field(default_factory=list)
    rest: list[int] = field(default_factory=list)


@dataclass
class DrawnNode:
    """A node of a drawing, which may stand for several nodes of the tree: their upper one is ``node``."""

    node: int
    kind: Kind
    group: int  # -1 for none
    parent: "DrawnNode | None"
    n_columns: int = 0
    n_branches: int = 0  # of the line that stands for a rest
    groups: set[int] = field(default_factory=set)  # of its columns; -1 if some are in none
    children: list["DrawnNode"] = field(default_factory=list)
    before: int | None = None  # of an inner column, the number of its branches before its name

    @property
    def is_line(self) -> bool:
        """Whether the node has a name, and so a line of its own."""
        return self.kind != "hidden"

    @property
    def own_place(self) -> int:
        """The number of branches before the line of the node itself: in their middle, where nothing else is wanted."""
        return len(self.children) // 2 if self.before is None else self.before


class Overview:
    """A rooted tree with its groups, and what is folded of it at first.

    Parameters
    ----------
    tree : mapping
        ``parent`` and ``strength`` of each node, ``roots``, all nodes in ``order``, and ``own``, the number of branches
        before the name of an inner column; see :func:`latree.figure.sketch.tree_facts`.
    n_columns : int
        The first nodes are columns, the others hidden variables.
    groups : sequence of mapping
        With their ``nodes``.
    most : int, optional
        The most lines. With a number, large groups stay folded however few lines there are.

    Examples
    --------
    >>> tree = {"parent": [2, 2, -1], "strength": [0.5, 0.5, None], "roots": [2], "order": [2, 0, 1], "own": {}}
    >>> Overview(tree, 2, []).folds
    Folds(groups=[], branches=[], rest=[])
    """

    def __init__(
        self, tree: Mapping[str, Any], n_columns: int, groups: Sequence[Mapping[str, Any]], *, most: int | None = None
    ) -> None:
        self.most = MAX_LINES if most is None else most
        self.keeps_groups = most is not None
        self.n_columns = n_columns
        self.roots: list[int] = tree["roots"]
        self.parent: list[int] = tree["parent"]
        self.strength: list[float | None] = tree["strength"]
        self.own: Mapping[int, int] = tree["own"]
        self.order: list[int] = tree["order"]
        self.children: list[list[int]] = [[] for _ in self.parent]
        for node in self.order:
            if self.parent[node] >= 0:
                self.children[self.parent[node]].append(node)
        # One group of all columns is not drawn as such.
        self.groups = [group["nodes"] for group in groups] if len(groups) > 1 else []
        self.group_of = [-1] * len(self.parent)
        for number, nodes in enumerate(self.groups):
            for node in nodes:
                self.group_of[node] = number
        self.below = [int(node < n_columns) for node in range(len(self.parent))]
        # The groups of the columns at or below each node.
        self.groups_below = [
            {self.group_of[node]} - {-1} if node < n_columns else set[int]() for node in range(len(self.parent))
        ]
        for node in reversed(self.order):
            if self.parent[node] >= 0:
                self.below[self.parent[node]] += self.below[node]
                self.groups_below[self.parent[node]] |= self.groups_below[node]
        self.folds = self._folds()

    def _folds(self) -> Folds:
        every = range(len(self.groups))
        if self.n_columns <= self.most:
            return Folds()
        opened = set[int]()
        n_lines, branches, rest = self._opened(self.roots, opened)
        if n_lines < MIN_LINES:
            for group in sorted(every, key=lambda group: (len(self.groups[group]), group)):
                more = self._opened(self.roots, opened | {group})
                if not more[1] and not more[2]:
                    opened, n_lines = opened | {group}, more[0]
            if n_lines < MIN_LINES and not self.keeps_groups:
                opened = set(every)
            _, branches, rest = self._opened(self.roots, opened)
        # What is below a folded branch, or in a rest, is folded as well.
        waiting = branches + [node for node in rest if self._parts(node, opened)[1]]
        folded = list(waiting)
        while waiting:
            _, inner, inner_rest = self._opened(self._parts(waiting.pop(), opened)[1], opened)
            new = inner + [node for node in inner_rest if self._parts(node, opened)[1]]
            waiting += new
            folded += new
            rest += inner_rest
        return Folds([group for group in every if group not in opened], sorted(folded), sorted(rest))

    def _parts(self, top: int, opened: Collection[int]) -> tuple[int, list[int]]:
        """Return the lines of what is at the top of a branch, a group or a node, and the branches that hang on it."""
        group = self.group_of[top]
        if group < 0 or group in opened:
            return int(top < self.n_columns), self.children[top]
        return 1, [
            child for node in self.groups[group] for child in self.children[node] if self.group_of[child] != group
        ]

    def _opened(self, tops: Sequence[int], opened: Collection[int]) -> tuple[int, list[int], list[int]]:
        """Open branches as long as their lines fit.

        Returns
        -------
        n_lines : int
        branches : list of int
            The branches that stay folded.
        rest : list of int
            Those without a line of their own.
        """
        everything = self._opened_evenly(tops, opened, 0)
        return everything if not everything[1] and not everything[2] else self._opened_evenly(tops, opened, 1 / 4)

    def _opened_evenly(
        self, tops: Sequence[int], opened: Collection[int], least: float
    ) -> tuple[int, list[int], list[int]]:
        """Do the same, and open no branch whose parts have a smaller share of the columns of a mean line."""

        def worth(node: int) -> tuple[float, float, int]:
            """Return a key that is smaller for a branch that deserves its line more."""
            return (-self.below[node], -(self.strength[node] or 0.0), node)

        def limited(branches: Sequence[int], room: int) -> tuple[list[int], list[int]]:
            ranked = sorted(branches, key=worth)
            return (ranked, []) if len(ranked) <= room else (ranked[: room - 1], ranked[room - 1 :])

        shown, rest = limited(tops, self.most)
        n_lines, n_columns = len(shown) + bool(rest), sum(self.below[node] for node in tops)
        heap, folded = [worth(node) for node in shown], list[int]()
        heapify(heap)
        while heap:
            node = heappop(heap)[-1]
            own, parts = self._parts(node, opened)
            if not parts:
                continue
            others = n_lines - 1 + own
            are_small = self.below[node] / len(parts) < least * n_columns / n_lines
            if (are_small or others + len(parts) > self.most) and n_lines >= MIN_LINES:
                folded.append(node)
                continue
            shown, left = limited(parts, self.most - others)
            rest += left
            n_lines = others + len(shown) + bool(left)
            for part in shown:
                heappush(heap, worth(part))
        return n_lines, folded, rest

    def drawn(self, folds: Folds) -> list[DrawnNode]:
        """Return the nodes of the drawing, every one after its parent."""
        groups, branches, rest = set(folds.groups), set(folds.branches), set(folds.rest)
        stands_for: dict[int, DrawnNode] = {}
        rests: dict[int, DrawnNode] = {}
        found = list[DrawnNode]()
        for node in self.order:
            group, upper = self.group_of[node], self.parent[node]
            above = stands_for[upper] if upper >= 0 else None
            if above and (above.kind in ("branch", "rest") or (above.kind == "group" and above.group == group)):
                drawn = above
            elif node in rest and upper in rests:
                drawn = rests[upper]
            else:
                kind: Kind = (
                    "rest"
                    if node in rest
                    else "branch"
                    if node in branches
                    else "group"
                    if group in groups
                    else "hidden"
                    if node >= self.n_columns
                    else "column"
                )
                drawn = DrawnNode(node, kind, group, above)
                if kind == "column" and node in self.own:
                    drawn.before = sum(child not in rest for child in self.children[node][: self.own[node]])
                if kind == "rest":
                    rests[upper] = drawn
                if above:
                    above.children.append(drawn)
                found.append(drawn)
            stands_for[node] = drawn
            if node < self.n_columns:
                drawn.n_columns += 1
                drawn.groups.add(group)
            drawn.n_branches += node in rest and rests.get(upper) is drawn
        # What stands for the rest comes last.
        for line in rests.values():
            if line.parent:
                line.parent.children.sort(key=lambda child: child.kind == "rest")
        return found
