"""Models with names that break formats."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from helpers.models import model_on, small_models
from helpers.strategies import names, trees
from latree.model import LatentTreeModel
from latree.table import Column
from latree.tree import Tree

# Names that mean something in one of the formats, or that are the same for some of them.
HOSTILE = [
    'quote"s', "it's", "<b>&amp;</b>", "a;b}", "}\nvariable x {", "//c", "back\\slash", "\\N", "table1", "default",
    "variable", "A b", "a B", "a  b", "a_b", " ", "", "é", "日本", "1", "-2.5", "tab\tnew\nline", "\x01", "[&U]", "x=y",
]  # fmt: skip
LABELS = [
    "<= 2.5",
    "> 2.5",
    "yes",
    "Yes",
    "no",
    "1",
    "-1",
    "007",
    "table",
    "a b",
    "a  b",
    "{x}",
    "(y), z",
    "",
    "é",
    "%",
]
hostile_names = names | st.sampled_from(HOSTILE)


@st.composite
def hostile_models(draw, max_columns=6):
    """Models on trees of any shape, with any names of columns and states."""
    columns = draw(st.lists(hostile_names, min_size=1, max_size=max_columns, unique=True))
    tree = draw(trees(columns, numbers=False))
    labels = st.lists(st.sampled_from(LABELS) | names, min_size=2, max_size=4, unique=True)
    return labelled(tree, [draw(labels) for _ in columns], draw(st.integers(0, 1000)))


def labelled(tree, labels, seed):
    """A model with random tables and the given labels of the columns' states."""
    hidden = np.random.default_rng(seed).integers(2, 5, tree.n_hidden).tolist()
    model = model_on(tree, [*map(len, labels), *hidden], seed)
    columns = tuple(Column(name, "text", tuple(own)) for name, own in zip(tree.names, labels, strict=True))
    return with_hidden_names(LatentTreeModel(tree, columns, model.tables), seed)


def renamed(model, seed=0):
    """The same model with hostile names of its columns and of their states."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(HOSTILE), model.tree.n_observed, replace=False)
    tree = Tree([HOSTILE[i] for i in chosen], model.tree.edges, model.tree.lengths, model.tree.support)
    columns = tuple(
        Column(name, "text", tuple(LABELS[i] for i in rng.choice(len(LABELS), column.n_states, replace=False)))
        for name, column in zip(tree.names, model.columns, strict=True)
    )
    return with_hidden_names(LatentTreeModel(tree, columns, model.tables), seed)


def with_hidden_names(model, seed):
    """The same model with names of hidden variables for people; without any for even seeds."""
    hidden = tuple(f'<{i}>: "x", it\'s +{i}' for i in range(model.tree.n_hidden if seed % 2 else 0))
    return replace(model, hidden_names=hidden)


def judged_models():
    """Models of every shape, with plain and with hostile names."""
    return [*small_models(), *(renamed(model, seed) for seed, model in enumerate(small_models()))]


JUDGED_IDS = [f"{kind}{name}" for name in ("", "-renamed") for kind in ("binary", "star", "forest", "inner", "chain")]
