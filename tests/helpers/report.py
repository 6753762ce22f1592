"""Models that are hard to show: hostile names, odd shapes."""

import latree
from latree.model import LatentTreeModel
from latree.table import Column
from latree.tree import Tree

SHAPES = {
    "one column": Tree("a", []),
    "two columns": Tree("ab", [(0, 1)]),
    "independent": Tree("abcd", []),
    "chain": Tree("abcd", [(0, 1), (1, 2), (2, 3)]),
    "parts": Tree("abcdef", [(0, 6), (1, 6), (2, 6), (3, 4)]),
    "star": Tree("abcdefgh", [(i, 8) for i in range(8)]),
}

HOSTILE = [
    "<script>window.canary=1</script>",
    "</script><img src=x onerror=window.canary=2>",
    "\"'><svg onload=window.canary=3>",
    "{{ 7 * 7 }}",
    "שלום עולם",
    "\u202eright to left",
    "👩‍👩‍👧 🎉",
    "x" * 5000,
    "two\nlines\tand a tab",
    "\u2028\u2029",
    "&lt;b&gt;",
    "constructor",
]


def hostile_model(seed=0):
    """A model whose names and categories are what an attacker would choose."""
    tree = latree.random_tree(len(HOSTILE), random_state=seed)
    model = latree.random_model(tree, n_states=3, start="identity", perturbation=0.3, random_state=seed)
    tree = Tree(HOSTILE, tree.edges)
    columns = tuple(Column(name, "text", (f"a{name}", f"b{name[::-1]}", "<i>c</i>")) for name in HOSTILE)
    return LatentTreeModel(tree, columns, model.tables)
