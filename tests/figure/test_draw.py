"""Pictures of trees: nothing overlaps, whatever the tree and the names."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.models import chain_model
from helpers.pictures import FOREST, check_picture, every_layout, lines, parse, some_tree, texts, written
from helpers.strategies import mixed_tree, named_trees, names_of
from latree.errors import InputError
from latree.figure.draw import colour_of, plot
from latree.figure.picture import MUTED, Circle, Polygon, shortened
from latree.interpret.groups import with_groups
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree

checked = settings(deadline=None, derandomize=True, max_examples=60)


@every_layout
@given(named_trees)
@checked
def test_any_tree_is_drawn_and_nothing_overlaps(layout, tree):
    picture = plot(tree, layout=layout)
    check_picture(tree, picture)
    svg = picture.to_svg()
    assert svg == plot(Tree(tree.names, tree.edges, tree.lengths, tree.support), layout=layout).to_svg()
    assert set(map(shortened, tree.names)) <= set(written(parse(svg)))


@every_layout
@given(st.integers(3, 90), st.integers(0, 10**6), st.booleans(), st.booleans())
@settings(checked, max_examples=25)
def test_nothing_overlaps_in_large_trees(layout, n, seed, hidden, grouped):
    tree = some_tree(n, seed) if seed % 2 else mixed_tree(max(4, n // 2), seed)
    labels = {name: f"group {i % 7}" for i, name in enumerate(tree.names) if i % 5} if grouped else None
    picture = plot(tree, layout=layout, labels=labels, hidden=hidden)
    check_picture(tree, picture)
    if hidden:
        assert set(tree.node_names) <= {text.text for text in texts(picture)}


@every_layout
def test_300_names_are_drawn_without_overlap(layout):
    tree = some_tree(300, 0)
    check_picture(tree, plot(tree, layout=layout, labels={name: name[-1] for name in tree.names}))


def test_a_caterpillar_of_thousands_is_no_recursion():
    n = 1500
    tree = Tree(
        names_of(n), [(i, n + min(max(i - 1, 0), n - 3)) for i in range(n)] + [(n + i, n + i + 1) for i in range(n - 3)]
    )
    assert len(texts(plot(tree, layout="horizontal"))) == n


@every_layout
@pytest.mark.parametrize(
    "tree",
    [
        Tree(["only"], []),
        Tree("ab", [(0, 1)]),
        Tree("ab", [(0, 2), (1, 2)]),
        Tree("abc", []),
        Tree("abcde", [(0, 1), (1, 2), (2, 3), (3, 4)]),
        Tree("abcd", [(i, 4) for i in range(4)], [0, 0, 0, 0]),
        Tree("abcd", [(i, 4) for i in range(4)], [-1, 1e308, 5e-324, np.nan]),
        FOREST,
    ],
    ids=["one", "two", "pair", "apart", "chain", "zero lengths", "odd lengths", "forest"],
)
def test_odd_shapes_are_drawn(layout, tree):
    check_picture(tree, plot(tree, layout=layout))


def test_a_nodes_own_dot_is_drawn_once():
    circles = [drawn for drawn in plot(FOREST).primitives if isinstance(drawn, Circle)]
    assert len(circles) == FOREST.n_nodes


def test_support_stands_at_inner_edges_in_per_cent():
    edges = [(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)]
    found = [
        [text.text for text in texts(plot(Tree("abcd", edges, None, support))) if text.text not in "abcd"]
        for support in ([np.nan, np.nan, 0.876, np.nan, np.nan], [0.5] * 5)
    ]
    assert found == [["88"], ["50"]]


def test_there_is_no_support_where_there_is_no_room():
    tree = some_tree(60, 1)
    crowded = Tree(tree.names, tree.edges, np.where(np.isnan(tree.support), 1, 1e-6), tree.support)
    assert len(texts(plot(crowded))) == 60
    assert len(texts(plot(tree))) > 70


def test_hidden_variables_are_named_if_asked():
    tree = random_tree(6, 0.3, 0)
    assert {text.text for text in texts(plot(tree))} == set(tree.names)
    assert {text.text for text in texts(plot(tree, hidden=True))} == set(tree.node_names)
    model = random_model(tree, n_states=2, random_state=0).rename({"H1": "mood"})
    assert {text.text for text in texts(plot(model, hidden=True))} == set(tree.node_names) - {"H1"} | {"mood"}


def test_a_branch_of_one_group_has_its_colour():
    tree = Tree("abcdef", [(0, 6), (1, 6), (6, 7), (2, 7), (7, 8), (3, 8), (8, 9), (4, 9), (5, 9)])
    groups = {"a": "one", "b": "one", "c": "two", "d": "", "e": "two", "f": "three"}
    colours = {
        frozenset(edge): line.colour
        for edge, line in zip(_edges_as_drawn(tree), lines(plot(tree, labels=groups)), strict=True)
    }
    assert colours[frozenset((0, 6))] == colours[frozenset((6, 7))] == "#0072b2"
    assert colours[frozenset((2, 7))] == "#d55e00"
    assert {colours[frozenset(edge)] for edge in ((3, 8), (8, 9), (7, 8))} == {"#808080"}


def _edges_as_drawn(tree):
    rooted = tree.rooted()
    return [tree.edges[rooted.up[node]].tolist() for node in rooted.order if rooted.up[node] >= 0]


def test_labels_of_no_column_are_refused():
    with pytest.raises(InputError, match="'z', which is none of the tree's columns"):
        plot(Tree("ab", [(0, 1)]), labels={"a": "x", "z": "y"})
    with pytest.raises(InputError, match=r"layout must be one of .*, not 'round'"):
        plot(Tree("ab", [(0, 1)]), layout="round")


def test_a_models_weak_edges_are_long():
    strong, weak = [[0.95, 0.05], [0.05, 0.95]], [[0.6, 0.4], [0.4, 0.6]]
    model = chain_model(weak, [[0.5], [0.5]], strong)
    lengths = -np.log(model.edge_strengths())
    drawn = [np.hypot(*np.subtract(*line.points)) for line in lines(plot(model, layout="unrooted"))]
    assert max(drawn) / min(drawn) == pytest.approx(lengths.max() / lengths.min(), rel=1e-9)


def test_a_model_has_the_colours_and_names_of_its_groups():
    tree = Tree.from_newick("((a,b,c),(d,e,f));")
    model = with_groups(random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5))
    picture = plot(model)
    names = [group.name for group in model.groups]
    assert [text.text for text in texts(picture)][-2:] == names

    def colours(picture):
        """Return the colours of the markers at columns, and last those of the legend."""
        return [
            drawn.stroke for drawn in picture.primitives if isinstance(drawn, Circle | Polygon) and drawn.fill != MUTED
        ]

    assert colours(picture)[-2:] == [colour_of(0), colour_of(1)]
    assert sorted(colours(picture)[:-2]) == [colour_of(0)] * 3 + [colour_of(1)] * 3
    # A label that most columns of a group have has the colour of the group, however common it is.
    labels = {"d": "second", "e": "second", "f": "second", "a": "first", "b": "first"}
    labelled = colours(plot(model, labels=labels))
    assert labelled[-2:] == [colour_of(1), colour_of(0)]
    assert not colours(plot(model, labels={}))
    assert not colours(plot(tree))
