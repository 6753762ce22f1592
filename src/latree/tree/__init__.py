"""Trees as tables of integers, and as text."""

from latree.tree.graph import Rooted as Rooted
from latree.tree.tree import Split as Split
from latree.tree.tree import Tree as Tree
