"""What a drawing shows at first of a large tree."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.models import model_on
from helpers.report import SHAPES, wide_model
from latree.figure.overview import MAX_LINES, MIN_LINES, Folds, Overview
from latree.figure.sketch import tree_facts
from latree.report.render import page_facts


def overview_of(model):
    groups = [{"nodes": group.nodes} for group in model.groups if group.level == "main"]
    return Overview(tree_facts(model), model.tree.n_observed, groups)


def n_lines(drawn):
    return sum(node.is_line for node in drawn)


def visited(parent):
    """Every node after its parent."""
    order = [node for node, above in enumerate(parent) if above < 0]
    for node in order:  # which grows
        order += [below for below, above in enumerate(parent) if above == node]
    return order


@st.composite
def trees(draw):
    """Rooted forests with columns below hidden variables, and groups of them: whole branches or their tops."""
    n_hidden = draw(st.integers(1, 60))
    n_roots = draw(st.sampled_from([1, 1, 2, 90]))
    depth = draw(st.sampled_from(["chain", "random", "star"]))
    above = [-1] * min(n_roots, n_hidden)
    for node in range(len(above), n_hidden):
        above.append({"chain": node - 1, "star": 0, "random": draw(st.integers(0, node - 1))}[depth])
    counts = draw(st.lists(st.sampled_from([1, 2, 3, 5, 8, 200]), min_size=n_hidden, max_size=n_hidden))
    columns = [node for node, count in enumerate(counts) for _ in range(count)]
    n = len(columns)
    parent = [n + node for node in columns] + [-1 if up < 0 else n + up for up in above]
    # Some hidden variables form groups with their columns, and with some of the hidden variables below.
    has_group, joins = (draw(st.lists(st.booleans(), min_size=n_hidden, max_size=n_hidden)) for _ in range(2))
    group_of = {}
    for node in range(n_hidden):
        if joins[node] and above[node] in group_of:
            group_of[node] = group_of[above[node]]
        elif has_group[node]:
            group_of[node] = node
    groups = {}
    for node, group in group_of.items():
        groups.setdefault(group, []).extend([*(c for c in range(n) if columns[c] == node), n + node])
    tree = {
        "parent": parent,
        "strength": [0.5 if up >= 0 else None for up in parent],
        "roots": [node for node, up in enumerate(parent) if up < 0],
        "order": visited(parent),
        "own": {},
    }
    return Overview(tree, n, [{"nodes": nodes} for nodes in groups.values()])


@given(trees())
@settings(deadline=None, max_examples=60)
def test_any_tree_starts_with_8_to_60_lines_which_stand_for_all_columns(overview):
    drawn = overview.drawn(overview.folds)
    assert min(MIN_LINES, overview.n_columns) <= n_lines(drawn) <= MAX_LINES
    assert sum(node.n_columns for node in drawn) == overview.n_columns
    assert (overview.folds == Folds()) == (overview.n_columns <= MAX_LINES)
    # A line that stands for a rest is the only one of its node.
    rests = [overview.parent[node.node] for node in drawn if node.kind == "rest"]
    assert len(set(rests)) == len(rests)


@given(trees())
@settings(deadline=None, max_examples=40)
def test_a_branch_that_is_opened_adds_at_most_60_lines(overview):
    folds = overview.folds
    before = n_lines(overview.drawn(folds))
    for branch in folds.branches[:5]:
        shown = {node.node for node in overview.drawn(folds) if node.kind == "branch"}
        if branch in shown:
            opened = Folds(folds.groups, [one for one in folds.branches if one != branch], folds.rest)
            assert before <= n_lines(overview.drawn(opened)) <= before + MAX_LINES


@pytest.mark.parametrize(
    ("n_groups", "n_tops", "lines", "kinds"),
    [
        (8, 2, 35, {"column"}),
        (40, 8, 40, {"group"}),
        (200, 20, 20, {"branch"}),
        (200, 1, 60, {"group", "rest"}),
    ],
)
def test_lines_are_columns_then_groups_then_branches(n_groups, n_tops, lines, kinds):
    overview = overview_of(wide_model(n_groups, n_tops))
    drawn = overview.drawn(overview.folds)
    assert n_lines(drawn) == lines
    assert {node.kind for node in drawn if node.is_line} == kinds


def stars(sizes):
    """A hidden variable with a star of columns for each group."""
    n = sum(sizes)
    parent = [n + group for group, size in enumerate(sizes) for _ in range(size)] + [n + 3] * 3 + [-1]
    tree = {"parent": parent, "strength": [0.5] * (n + 3) + [None], "roots": [n + 3]}
    tree |= {"order": visited(parent), "own": {}}
    groups = [{"nodes": [*(c for c in range(n) if parent[c] == n + group), n + group]} for group in range(3)]
    return Overview(tree, n, groups)


def test_few_large_groups_are_opened():
    # The small ones fit, the large one stays one line.
    overview = stars([20, 30, 200])
    assert overview.folds == Folds(groups=[2])
    assert n_lines(overview.drawn(overview.folds)) == 51
    # None fits: the strongest columns of one of them are drawn, and the others stay folded.
    overview = stars([200, 200, 200])
    assert overview.folds.groups == []
    assert MIN_LINES <= n_lines(overview.drawn(overview.folds)) <= MAX_LINES


@pytest.mark.parametrize("name", SHAPES)
def test_small_trees_are_whole(name):
    tree = SHAPES[name]
    assert page_facts(model_on(tree, [2] * tree.n_nodes, 0))["folds"] == {"groups": [], "branches": [], "rest": []}
