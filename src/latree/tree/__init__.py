"""Trees as tables of integers, and as text."""

from latree.tree.rooted import Rooted
from latree.tree.splits import Split
from latree.tree.tree import Tree

__all__ = ["Rooted", "Split", "Tree"]
