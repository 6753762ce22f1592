"""The order of a tree's leaves: turning branches around keeps the tree, and keeps groups of columns together.

Every drawing and every list of a tree's columns has this order. Among all orders that the tree allows, it is one with
the fewest *runs*: neighbouring leaves of the same group. Of these, strong columns come first within a group, and small
branches first elsewhere.

A group is a connected part of the tree. A run of it can go on beyond a branch only at an outer end of the branch. So a
branch whose upper node is in the group has ``cost(s)``, the fewest runs in it if at least ``s`` of its two ends are
columns of that group. Below a node of the group hang

- ``a`` branches, the node's own column among them, with both ends in the group,
- ``b`` branches with one end in the group,
- others with none, such as the branches of other groups.

Where two ends of the group meet, there is one run less. Of ``E = 2a + b`` ends, ``s`` are outer ends of the whole, so
that ``(E - s) // 2`` pairs meet. If ``b`` is 0, two ends are left open, and two more if both outer ends are of the
group while something else is between them. What the ends of the branches should be is chosen child by child, with the
least ``2 Σ cost - E`` for each parity of ``b``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal, NamedTuple, TypeAlias

from latree.tree.graph import Rooted

# Which ends of a branch should be columns of the group of its upper node.
_Ends: TypeAlias = Literal["none", "first", "last", "both"]
_N_ENDS: dict[_Ends, int] = {"none": 0, "first": 1, "last": 1, "both": 2}


@dataclass(frozen=True)
class Leaves:
    """The order of a rooted tree's nodes.

    Attributes
    ----------
    around : list of list of int
        The children of each node in their order. Those of an observed node have the node itself among them, where its
        own name stands.
    order : list of int
        All nodes, each after its parent, children in their order.
    columns : list of int
        The observed nodes in the order in which their names stand.

    Examples
    --------
    >>> import latree
    >>> rooted = latree.Tree.from_newick("((a,b),c,d);").rooted()
    >>> leaves_of(rooted, 4).columns
    [0, 1, 2, 3]
    >>> leaves_of(rooted, 4, strengths=[1, 2, 3, 4, 0, 0], group_of=[0, 0, 0, 0, 0, 0]).columns
    [3, 2, 1, 0]
    """

    around: list[list[int]]
    order: list[int]
    columns: list[int]

    @property
    def branches(self) -> list[list[int]]:
        """The children of each node in their order."""
        return [[other for other in others if other != node] for node, others in enumerate(self.around)]


def leaves_of(rooted: Rooted, n_observed: int, group_of: Sequence[int] = (), strengths: Sequence[float] = ()) -> Leaves:
    """Return the order of a tree's leaves.

    Parameters
    ----------
    rooted : Rooted
    n_observed : int
        Nodes below this number are observed, and have a name.
    group_of : sequence of int, optional
        The group of each node; -1 for none. The nodes of a group are connected. By default there are no groups.
    strengths : sequence of float, optional
        How strongly each node belongs to its group.
    """
    n_nodes = len(rooted.parent)
    ordering = _Ordering(rooted, n_observed, group_of or [-1] * n_nodes, strengths or [0.0] * n_nodes)
    around: list[list[int]] = [[] for _ in range(n_nodes)]
    order: list[int] = []
    columns: list[int] = []
    waiting: list[tuple[int, _Ends]] = [(root, "none") for root in reversed(rooted.roots)]
    while waiting:
        node, ends = waiting.pop()
        if node < 0:
            columns.append(~node)
            continue
        order.append(node)
        placed = ordering.placed(node, ends)
        around[node] = [other for other, _ in placed]
        # A node comes back for its own name.
        waiting += [(~other if other == node else other, wanted) for other, wanted in reversed(placed)]
    return Leaves([[] if others == [node] else others for node, others in enumerate(around)], order, columns)


class _Choice(NamedTuple):
    """What was chosen below a node so far: ends of the group, and their cost."""

    cost: float  # 2 Σ cost - E
    ends: "tuple[int, _Choice] | None"  # how many ends the last child has, and the choice before it


# How many branches have one end (0, 1, an even number from 2 on, an odd number from 3 on), how many have two (0, 1,
# more), and whether any has none.
_State: TypeAlias = tuple[int, int, bool]


def _after(state: _State, ends: int) -> _State:
    one, two, none = state
    if ends == 1:
        return (one + 1 if one < 3 else 2), two, none
    return (one, min(two + 1, 2), none) if ends == 2 else (one, two, True)


def _total(state: _State, cost: float, outer: int) -> float:
    """Return the fewest runs below a node, given how many outer ends should be of its group; infinite if impossible."""
    one, two, none = state
    if 2 * two + one < outer:
        return inf
    if one:
        return (cost + outer + (one - outer) % 2) / 2
    if not two:
        return cost / 2
    between = outer == 2 and none
    return inf if between and two < 2 else (cost + (4 if between else 2)) / 2


class _Ordering:
    """The fewest runs in every branch, and the order that has them."""

    def __init__(self, rooted: Rooted, n_observed: int, group_of: Sequence[int], strengths: Sequence[float]) -> None:
        self.rooted, self.n_observed, self.group_of = rooted, n_observed, group_of
        n_nodes = len(rooted.parent)
        self.size = rooted.subtree_sums(int(node < n_observed) for node in range(n_nodes))
        self.parent = rooted.parent.tolist()
        # The strongest column of its own group in each branch.
        self.strongest = [float(strengths[node]) if node < n_observed else -inf for node in range(n_nodes)]
        self.costs: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)] * n_nodes
        # The ends that each child should have, by the number of outer ends that its parent should have.
        self.chosen: list[tuple[dict[int, int], ...]] = [()] * n_nodes
        for node in rooted.postorder:
            self._choose(node)
            above = self.parent[node]
            if above >= 0 and self._inside(node):
                self.strongest[above] = max(self.strongest[above], self.strongest[node])

    def _inside(self, node: int) -> bool:
        """Return whether a node is in the group of its parent."""
        above = self.parent[node]
        return bool(above >= 0 and self.group_of[node] == self.group_of[above] >= 0)

    def _choose(self, node: int) -> None:
        in_group = self.group_of[node] >= 0
        children = self.rooted.children[node]
        open_choice: list[int] = []
        ends: dict[int, int] = {}
        state, cost = (0, 0, False), 0.0
        if node < self.n_observed:
            state, cost = _after(state, 2 if in_group else 0), 0.0
        for child in children:
            costs = self.costs[child]
            if not self._inside(child):
                ends[child] = 0
            elif costs[2] == costs[0]:
                ends[child] = 2
            else:
                open_choice.append(child)
                continue
            state = _after(state, ends[child])
            cost += 2 * costs[ends[child]] - ends[child]
        found: dict[_State, _Choice] = {state: _Choice(cost, None)}
        for child in open_choice:
            new: dict[_State, _Choice] = {}
            for state, choice in found.items():
                for n_ends, runs in enumerate(self.costs[child]):
                    if runs == inf:
                        continue
                    key, total = _after(state, n_ends), choice.cost + 2 * runs - n_ends
                    if key not in new or total < new[key].cost:
                        new[key] = _Choice(total, (n_ends, choice))
            found = new
        totals, chosen = [], []
        for outer in (0, 1, 2):
            best = min(found, key=lambda state: (_total(state, found[state].cost, outer), state))
            totals.append(_total(best, found[best].cost, outer) if in_group or outer == 0 else inf)
            choice, own = found[best], dict(ends)
            for child in reversed(open_choice):
                assert choice.ends is not None
                own[child], choice = choice.ends
            chosen.append(own)
        self.costs[node] = (totals[0], totals[1], totals[2])
        self.chosen[node] = tuple(chosen)

    def placed(self, node: int, ends: _Ends) -> list[tuple[int, _Ends]]:
        """Return the children of a node in their order, each with the ends that it should have."""
        n_ends = self.chosen[node][_N_ENDS[ends]]
        both = sorted((child for child, n in n_ends.items() if n == 2), key=self._by_strength)
        one = sorted((child for child, n in n_ends.items() if n == 1), key=self._by_strength)
        none = sorted((child for child, n in n_ends.items() if n == 0), key=lambda child: (self.size[child], child))
        if node < self.n_observed:
            # The name of a node stands in the middle of its branches.
            own = both if self.group_of[node] >= 0 else none
            own.insert(len(own) // 2, node)
        outside: list[tuple[int, _Ends]] = [(child, "none") for child in none]
        run: list[tuple[int, _Ends]] = [(child, "both") for child in both]
        # Branches with one end close a run; those that are left over form runs in pairs.
        first = one.pop(0) if one and ends in ("none", "last", "both") and (ends != "none" or len(one) > 1) else None
        last = one.pop(0) if one and ends in ("none", "first", "both") else None
        pairs: list[tuple[int, _Ends]] = [(child, "first" if i % 2 else "last") for i, child in enumerate(one)]
        opening: list[tuple[int, _Ends]] = [] if first is None else [(first, "last")]
        closing: list[tuple[int, _Ends]] = [] if last is None else [(last, "first")]
        if ends == "none":
            return [*opening, *run, *closing, *pairs, *outside]
        if ends == "first":
            return [*run, *closing, *pairs, *outside]
        if ends == "last":
            return [*outside, *pairs, *opening, *run]
        if first is None and last is None:
            if not outside:
                return run
            # The run is cut in its middle.
            half = (len(run) + 1) // 2
            return [*run[:half], *outside, *run[half:]]
        if last is None:
            return [(child, "first") for child, _ in opening] + outside + run
        return [*closing, *pairs, *outside, *opening, *run]

    def _by_strength(self, node: int) -> tuple[float, int, int]:
        return -self.strongest[node], self.size[node], node
