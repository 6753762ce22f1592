"""Trees as tables of integers, and as text."""

from latree.tree.rooted import Rooted
from latree.tree.tree import Oddity, Split, Tree

__all__ = ["Oddity", "Rooted", "Split", "Tree"]
