"""Splits of the observed variables: what each edge of a tree says about them, and which splits a tree implies.

Removing an edge divides the observed variables of its component into two sides: that is the split the edge induces. The
splits of a binary tree determine its shape, so trees are compared by their splits (Robinson and Foulds, 1981).

Sets of observed variables are bit sets: whole numbers in which bit ``i`` stands for ``names[i]``.
"""

from collections.abc import Sequence, Set
from typing import NamedTuple

from latree.tree.rooted import Rooted


class Split(NamedTuple):
    """The two sides into which an edge divides the observed variables of its component.

    Attributes
    ----------
    side : int
        The side without the component's first variable, as a bit set.
    component : int
        All observed variables of the component, as a bit set.

    Examples
    --------
    >>> import latree
    >>> tree = latree.Tree.from_newick("((a,b),(c,d));")
    >>> (split,) = tree.splits
    >>> [name for i, name in enumerate(tree.names) if split.side >> i & 1]
    ['c', 'd']
    >>> f"{split.other_side:04b}"  # the last bit is the first variable's
    '0011'
    """

    side: int
    component: int

    @property
    def other_side(self) -> int:
        """The side with the component's first variable."""
        return self.component ^ self.side

    @property
    def smaller_side(self) -> int:
        """The number of variables on the smaller side.

        A split whose smaller side has one variable is trivial: every tree implies it.
        """
        return min(self.side.bit_count(), self.other_side.bit_count())


def edge_splits(rooted: Rooted, below: Sequence[int]) -> tuple[Split, ...]:
    """Return the split that each edge of a rooted tree induces.

    Parameters
    ----------
    rooted : Rooted
    below : sequence of int
        The observed variables of each node's subtree, as bit sets.
    """
    splits = [Split(0, 0)] * (len(rooted.parent) - len(rooted.roots))
    for root, *others in rooted.components:
        component = below[root]
        first = component & -component  # the lowest bit: the component's first variable
        for node in others:
            side = below[node] ^ component if below[node] & first else below[node]
            splits[rooted.up[node]] = Split(side, component)
    return tuple(splits)


def implies(splits: Set[Split], components: Set[int], split: Split) -> bool:
    """Return whether a tree or forest implies a split, which may be a split of another tree.

    It does if the split divides one of its components or more, and each of these has an edge that divides its variables
    in the same way.

    Parameters
    ----------
    splits : set of Split
        The splits that the tree's edges induce, without trivial ones.
    components : set of int
        The observed variables of each component of the tree.
    split : Split
    """
    if split.component in components:  # the common case, without a loop
        return split in splits or split.smaller_side == 1
    divided = [component for component in components if split.side & component and split.other_side & component]
    return bool(divided) and all(_divides_alike(splits, component, split) for component in divided)


def _divides_alike(splits: Set[Split], component: int, split: Split) -> bool:
    """Return whether an edge of one component divides its variables as a split does, which may lack some of them."""
    sides = split.side & component, split.other_side & component
    if min(sides[0].bit_count(), sides[1].bit_count()) == 1:  # trivial within this component
        return True
    return any(own.component == component and own.side & split.component in sides for own in splits)
