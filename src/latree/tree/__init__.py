"""Trees as tables of integers, and as text."""

from latree.tree.graph import Rooted
from latree.tree.tree import Split, Tree

__all__ = ["Rooted", "Split", "Tree"]
