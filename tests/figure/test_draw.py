"""Pictures of trees: nothing overlaps, whatever the tree and the names."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.models import chain_model
from helpers.pictures import FOREST, check_picture, every_layout, lines, parse, some_tree, texts, written
from helpers.strategies import mixed_tree, named_trees, names_of
from latree.errors import InputError
from latree.figure.colours import colour_of
from latree.figure.draw import plot
from latree.figure.picture import MUTED, Circle, Polygon, extent_of, shortened
from latree.interpret.groups import with_groups
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree
from latree.tree.leaves import leaves_of

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
    assert len(texts(plot(crowded, scale_bar=False))) == 60
    assert len(texts(plot(tree, scale_bar=False))) > 70


def test_hidden_variables_are_named_if_asked():
    tree = random_tree(6, 0.3, 0)
    assert {text.text for text in texts(plot(tree))} == set(tree.names)
    assert {text.text for text in texts(plot(tree, hidden=True))} == set(tree.node_names)
    model = random_model(tree, n_states=2, random_state=0).rename({"H1": "mood"})
    assert {text.text for text in texts(plot(model, hidden=True, scale_bar=False))} == set(tree.node_names) - {"H1"} | {
        "mood"
    }


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
    """The edges in the order in which they are drawn: that of the leaves."""
    rooted = tree.rooted()
    return [
        tree.edges[rooted.up[node]].tolist()
        for node in leaves_of(rooted, tree.n_observed).order
        if rooted.up[node] >= 0
    ]


def test_labels_of_no_column_are_refused():
    with pytest.raises(InputError, match="'z', which is none of the tree's columns"):
        plot(Tree("ab", [(0, 1)]), labels={"a": "x", "z": "y"})
    with pytest.raises(InputError, match=r"layout must be one of .*, not 'round'"):
        plot(Tree("ab", [(0, 1)]), layout="round")


def test_a_models_weak_edges_are_long():
    strong, weak = [[0.95, 0.05], [0.05, 0.95]], [[0.6, 0.4], [0.4, 0.6]]
    model = chain_model(weak, [[0.5], [0.5]], strong)
    lengths = -np.log(model.edge_strengths())
    drawn = [np.hypot(*np.subtract(*line.points)) for line in lines(plot(model, layout="unrooted", scale_bar=False))]
    assert max(drawn) / min(drawn) == pytest.approx(lengths.max() / lengths.min(), rel=1e-9)


@pytest.fixture(scope="module")
def two_groups():
    tree = Tree.from_newick("((a,b,c),(d,e,f));")
    return with_groups(random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5))


def colours_of(primitives, kind):
    return [drawn.stroke for drawn in primitives if isinstance(drawn, kind) and drawn.stroke != MUTED]


def test_a_model_has_the_colours_numbers_and_names_of_its_groups(two_groups):
    names = [group.name for group in two_groups.groups]
    picture = plot(two_groups)
    written = [text.text for text in texts(picture)]
    assert [written.count(number) for number in "12"] == [2, 2]  # in the circle, and at the bracket
    assert {word for name in names for word in name.split()} <= {word for text in written for word in text.split()}
    # Three columns and the hidden variable of each group, then its bracket.
    assert sorted(colours_of(picture.primitives, Circle)) == [colour_of(0)] * 4 + [colour_of(1)] * 4
    brackets = [line for line in lines(picture) if line.colour != MUTED and line.points[0][0] == line.points[1][0]]
    assert [line.colour for line in brackets if line.points[0][0] > picture.width / 2] in (
        [colour_of(0), colour_of(1)],
        [colour_of(1), colour_of(0)],
    )
    # Other layouts have a legend, and a circle has arcs.
    for layout in ("radial", "unrooted"):
        assert [text.text for text in texts(plot(two_groups, layout=layout)) if text.text in names] == names
    assert not colours_of(plot(two_groups.tree).primitives, Circle)


def test_labels_have_markers_and_the_colours_of_their_groups(two_groups):
    # A label that most columns of a group have has the colour of the group, however common it is.
    labels = {"d": "second", "e": "second", "f": "second", "a": "first", "b": "first"}
    picture = plot(two_groups, labels=labels)
    group_of = {column: number for number, group in enumerate(two_groups.groups) for column in group.columns}
    markers = [one for one in picture.primitives if isinstance(one, Circle | Polygon)][-7:]
    assert sorted(marker.stroke for marker in markers) == sorted(
        [*[colour_of(group_of["d"])] * 4, *[colour_of(group_of["a"])] * 3]
    )
    assert [text.text for text in texts(picture)][-2:] == ["second", "first"]


def test_rings_show_numbers_of_the_model_from_pale_to_strong(two_groups):
    shares = (0.0, 0.5, 1.0)
    groups = [replace(group, column_stability=shares, stability=0.5) for group in two_groups.groups]
    model = replace(two_groups, groups=tuple(groups))
    picture = plot(model, rings=["stability"], layout="radial")
    squares = [one for one in picture.primitives if isinstance(one, Polygon)]
    assert len(squares) == 6 + 3  # in the legend, too
    fills = {one.stroke: {other.fill for other in squares if other.stroke == one.stroke} for one in squares}
    assert all({"#ffffff", colour} <= fills[colour] for colour in (colour_of(0), colour_of(1)))
    assert [text.text for text in texts(picture)][-1] == "stability: 0 to 1"
    assert sum(isinstance(one, Polygon) for one in plot(model, rings=["loading", "stability"]).primitives) == 12 + 6
    with pytest.raises(InputError, match=r"rings must be some of 'loading', 'stability', not 'size'"):
        plot(model, rings=["size"])
    with pytest.raises(InputError, match="pass the model"):
        plot(model.tree, rings=["loading"])


@every_layout
@pytest.mark.parametrize("width", [90, 180])
def test_a_picture_is_as_wide_as_wanted(two_groups, layout, width):
    picture = plot(two_groups, layout=layout, width=width, font_size=6)
    assert picture.width == pytest.approx(width * 96 / 25.4)
    left, _, right, _ = extent_of(picture.primitives)
    assert right - left == pytest.approx(picture.width - 24, abs=2)
    names = [text for text in texts(picture) if text.text in two_groups.tree.names]
    assert {text.size for text in names} == {8.0}  # 6 points


def test_a_width_that_leaves_no_room_is_refused(two_groups):
    with pytest.raises(InputError, match=r"a width of 20 mm leaves no room .* need \d+ mm"):
        plot(two_groups, width=20)
    with pytest.raises(InputError, match="font_size must be a positive number, not -1"):
        plot(two_groups, font_size=-1)


def test_edges_are_dashed_where_they_are_not_sure():
    edges = [(0, 6), (1, 6), (6, 7), (2, 7), (7, 8), (3, 8), (8, 9), (4, 9), (5, 9)]
    support = [np.nan, np.nan, 0.95, np.nan, 0.6, np.nan, 0.2, np.nan, np.nan]
    found = {line.dash for line in lines(plot(Tree("abcdef", edges, None, support)))}
    assert len(found) == 3
    assert () in found


def test_the_scale_bar_has_a_round_length():
    tree = some_tree(12, 3)
    picture = plot(tree)
    text = texts(picture)[-1]
    bar = next(line for line in reversed(lines(picture)) if line.points[0][1] == line.points[1][1])
    across = {
        frozenset(edge): line.points[-1][0] - line.points[-2][0]
        for edge, line in zip(_edges_as_drawn(tree), lines(picture), strict=False)
    }
    longest = int(np.nanargmax(tree.lengths))
    per_unit = across[frozenset(tree.edges[longest].tolist())] / tree.lengths[longest]
    assert bar.points[1][0] - bar.points[0][0] == pytest.approx(float(text.text) * per_unit, rel=1e-6)
    assert text.text.strip("0.")[0] in "125"
