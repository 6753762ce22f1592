"""What tests of reports share: models with hostile names, of unusual shapes, with groups; a parser of pages."""

from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np

import latree
from latree.learn import learn_model
from latree.model import Group, LatentTreeModel
from latree.model.record import Origin
from latree.settings import Settings
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


class Page(HTMLParser):
    """Collects the elements, texts and scripts of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.scripts, self.styles = [], [], [], []
        self.text, self._inside = "", None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attributes]
        self._inside = tag
        if tag in ("script", "style"):
            (self.scripts if tag == "script" else self.styles).append("")

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside == "style":
            self.styles[-1] += data
        else:
            self.text += data


def hostile_model(seed=0):
    """Return a model with names and categories that an attacker would choose."""
    tree = latree.random_tree(len(HOSTILE), random_state=seed)
    model = latree.random_model(tree, n_states=3, start="identity", perturbation=0.3, random_state=seed)
    tree = Tree(HOSTILE, tree.edges)
    columns = tuple(Column(name, "text", (f"a{name}", f"b{name[::-1]}", "<i>c</i>")) for name in HOSTILE)
    return LatentTreeModel(tree, columns, model.tables)


@cache
def learned_run():
    """Learn a small model, with bootstrap support and a record of the fit."""
    model = latree.random_model(
        latree.random_tree(7, random_state=2), n_states=3, start="identity", perturbation=0.2, random_state=2
    )
    settings = Settings(method="nj", goal="predict", bootstrap=3, random_state=4)
    origin = Origin("answers.csv", "latree fit answers.csv", None)
    return learn_model(model.sample(300, random_state=2), settings, origin=origin)


def grouped_model(sizes, seed=0, names=None):
    """Return a model whose columns form groups of these sizes, with support of the edges between the groups.

    Each group has a hidden variable of its own, and all of these hang on one more.
    """
    n, k = sum(sizes), len(sizes)
    hidden = np.repeat(np.arange(n, n + k), sizes)
    edges = [*enumerate(hidden.tolist()), *((n + group, n + k) for group in range(k))]
    support = [np.nan] * n + np.linspace(0.4, 1, k).round(2).tolist()
    tree = Tree(names or [f"item {number}" for number in range(n)], edges, support=support)
    model = latree.random_model(
        tree, n_states=3, hidden_states=3, start="identity", perturbation=0.15, random_state=seed
    )
    columns = tuple(replace(column, ordered=True) for column in model.columns)
    model = LatentTreeModel(tree, columns, model.tables)
    start = np.cumsum([0, *sizes]).tolist()
    groups = [
        Group(
            name=f"group of item {first}",
            level="main",
            columns=tree.names[first:last],
            hidden=tree.node_names[n + number],
            parent=None,
            stability=0.9,
            nodes=(*range(first, last), n + number),
            centre=n + number,
        )
        for number, (first, last) in enumerate(pairwise(start))
    ]
    return replace(model, groups=tuple(groups), hidden_names=(*(group.name for group in groups), "what all share"))


def wide_model(n_groups, n_tops, size=5, seed=0):
    """Return a model of many groups of a few columns, whose hidden variables hang on those of some broad groups.

    Groups differ in size, stability and strength; names of columns say which group they are in.
    """
    rng = np.random.default_rng(seed)
    sizes = sorted((rng.integers(size - 2, size + 3, n_groups)).tolist(), reverse=True)
    n, of_group = sum(sizes), np.repeat(np.arange(n_groups), sizes).tolist()
    tops = [n + n_groups + group * n_tops // n_groups for group in range(n_groups)]
    edges = [(column, n + group) for column, group in enumerate(of_group)]
    edges += [(n + group, top) for group, top in enumerate(tops)]
    if n_tops > 1:
        edges += [(top, n + n_groups + n_tops) for top in range(n + n_groups, n + n_groups + n_tops)]
    support = [np.nan if min(edge) < n else round(rng.uniform(0.3, 1), 2) for edge in edges]
    start = np.cumsum([0, *sizes]).tolist()
    names = [f"g{group + 1}_{column - start[group] + 1}" for column, group in enumerate(of_group)]
    tree = Tree(names, edges, support=support)
    parent = tree.rooted().parent.tolist()
    tables = [rng.dirichlet([9.0] * 3)[:, None] if above < 0 else _kept(rng.uniform(0.4, 0.9)) for above in parent]
    columns = tuple(Column(name, "integer", ("1", "2", "3"), ordered=True) for name in names)
    model = LatentTreeModel(tree, columns, tuple(tables))
    groups = []
    for number, (first, last) in enumerate(pairwise(start)):
        stability = np.round(rng.uniform(0.3, 1, last - first), 2)
        groups.append(
            Group(
                name=f"theme {number + 1}",
                level="main",
                columns=tree.names[first:last],
                hidden=tree.node_names[n + number],
                parent=None,
                stability=float(stability.mean()),
                nodes=(*range(first, last), n + number),
                centre=n + number,
                column_stability=tuple(stability.tolist()),
            )
        )
    hidden = [f"theme {number + 1}" for number in range(n_groups)] + [f"field {number + 1}" for number in range(n_tops)]
    return replace(model, groups=tuple(groups), hidden_names=(*hidden, *["what all share"] * (n_tops > 1)))


def _kept(share):
    """A table of three states: a value is kept with a probability, and otherwise drawn anew."""
    return share * np.eye(3) + (1 - share) / 3
