"""Ordered states: against brute force, under every renumbering, and with reversed, unordered and mixed columns."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.models import all_rows, model_on, naive_joint, small_models, star, table_of
from latree import LatentTree
from latree.datasets import make_questionnaire
from latree.errors import InputError
from latree.interpret.compare import opposite_groups
from latree.interpret.order import flip, order_states
from latree.interpret.scores import row_scores
from latree.interpret.view import trend, view_of
from latree.model import Group, LatentTreeModel
from latree.paper.simulate import random_model, random_tree
from latree.table import Column
from latree.tree import Tree

LOW, MIDDLE, HIGH = [0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]


def distributions(*by_state):
    """A table P(x | state) from one distribution per state."""
    return np.array(by_state, dtype=float).T


def column(name, n_states, *, ordered=True):
    return Column(name, "integer" if ordered else "text", tuple(map(str, range(n_states))), ordered=ordered)


def star_model(tables, shares, ordered=True):
    """A model of one hidden variable; ``ordered`` holds for all columns, or for each."""
    tree = star(len(tables))
    flags = [ordered] * len(tables) if isinstance(ordered, bool) else ordered
    columns = [column(*facts[:2], ordered=facts[2]) for facts in zip(tree.names, map(len, tables), flags, strict=True)]
    return LatentTreeModel(tree, tuple(columns), (*tables, np.array(shares, dtype=float)[:, None]))


def shuffled_states(model, seed):
    """The same model with the states of hidden variables renumbered at random."""
    rng = np.random.default_rng(seed)
    orders = [
        rng.permutation(len(table)) if node >= model.tree.n_observed else np.arange(len(table))
        for node, table in enumerate(model.tables)
    ]
    parent = model.tree.rooted().parent.tolist()
    tables = [
        table[orders[v]][:, orders[parent[v]]] if parent[v] >= 0 else table[orders[v]]
        for v, table in enumerate(model.tables)
    ]
    return replace(model, tables=tuple(tables))


def renumbered_tree(tree, nodes, rng):
    """The same tree with other numbers and edges in another order; ``nodes`` has the old number of each node."""
    edges = [(nodes.index(u), nodes.index(v)) for u, v in tree.edges[rng.permutation(len(tree.edges))].tolist()]
    return Tree([tree.names[node] for node in nodes[: tree.n_observed]], edges)


def on_tree(model, tree, nodes):
    """The same distribution on a renumbered tree, by brute force."""
    joint = naive_joint(model)
    tables = []
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        kept = [nodes[node]] + ([nodes[parent]] if parent >= 0 else [])
        table = np.einsum(joint, range(joint.ndim), kept).reshape(joint.shape[nodes[node]], -1)
        tables.append(table / table.sum(axis=0))
    return LatentTreeModel(tree, tuple(model.columns[node] for node in nodes[: tree.n_observed]), tuple(tables))


def same_tables(one, other):
    return all(np.allclose(a, b, rtol=0, atol=1e-9) for a, b in zip(one.tables, other.tables, strict=True))


def expected_codes(model, node, columns):
    """E[code | state] by brute force: one row per state of a node, one column per column."""
    joint = naive_joint(model)
    means = []
    for c in columns:
        pair = np.einsum(joint, range(joint.ndim), [node, c])
        means.append(pair @ np.arange(pair.shape[1]) / pair.sum(axis=1))
    return np.array(means).T


def naive_scores(model, node, columns):
    """The scores of a node's states by its own columns, up to the sign: the eigenvector of an explicit covariance."""
    joint = naive_joint(model)
    shares = np.einsum(joint, range(joint.ndim), [node])
    means = expected_codes(model, node, columns)
    for j, c in enumerate(columns):
        own = np.einsum(joint, range(joint.ndim), [c])
        codes = np.arange(len(own))
        mean = codes @ own
        means[:, j] = (means[:, j] - mean) / np.sqrt((codes - mean) ** 2 @ own)
    values, vectors = np.linalg.eigh(sum(p * np.outer(m, m) for p, m in zip(shares, means, strict=True)))
    return means @ vectors[:, np.argmax(values)]


def steps(model):
    return {node: score.has_steps for node, score in view_of(model).scores.items()}


MODELS = [*small_models(), random_model(random_tree(5, random_state=3), n_states=3, hidden_states=3, random_state=3)]


@pytest.mark.parametrize("model", MODELS)
def test_states_follow_the_principal_component_of_their_columns(model):
    ordered, directions = order_states(model)
    for node in range(model.tree.n_observed, model.tree.n_nodes):
        own = [other for other, _ in model.tree.neighbors[node] if other < model.tree.n_observed]
        if not own:
            continue
        scores = naive_scores(ordered, node, own)
        steps = np.diff(scores)
        assert (steps > 0).all() or (steps < 0).all()
        # Directions agree with the scores, as the states are numbered.
        joint = naive_joint(ordered)
        for c in own:
            if sum(other >= model.tree.n_observed for other, _ in model.tree.neighbors[c]) == 1:
                pair = np.einsum(joint, range(joint.ndim), [node, c])
                centred = scores - scores @ pair.sum(axis=1)
                correlation = centred @ pair @ np.arange(pair.shape[1]) * np.sign(steps[0])
                assert directions[c] == np.sign(correlation)


@pytest.mark.parametrize("model", MODELS)
def test_rows_keep_their_probabilities_and_tables_only_change_places(model):
    rows = table_of(model, all_rows(model))
    ordered = order_states(shuffled_states(model, 1)).model
    np.testing.assert_allclose(ordered.log_likelihood_rows(rows), model.log_likelihood_rows(rows), rtol=0, atol=1e-12)
    for before, after in zip(model.tables, ordered.tables, strict=True):
        assert sorted(before.ravel().tolist()) == sorted(after.ravel().tolist())


def as_one_group(model, centre):
    """The model with one main group of all its nodes, around a hidden variable."""
    tree = model.tree
    hidden = tree.node_names[centre]
    return replace(
        model, groups=(Group(hidden, "main", tree.names, hidden, None, None, tuple(range(tree.n_nodes)), centre),)
    )


@pytest.mark.parametrize("model", [model for model in MODELS if len(model.tree.components) == 1])
def test_states_of_a_group_follow_all_of_its_columns(model):
    for centre in range(model.tree.n_observed, model.tree.n_nodes):
        ordered = order_states(as_one_group(model, centre)).model
        steps = np.diff(naive_scores(ordered, centre, range(model.tree.n_observed)))
        assert (steps > 0).all() or (steps < 0).all()


def test_the_strongest_columns_of_a_group_are_in_the_order_of_its_states():
    # A hidden variable without columns of its own, between one with seven columns, which increase over its states, and
    # two with one column each, which exchange the first two states.
    near = [(column, 9) for column in range(7)]
    tree = Tree([f"x{i}" for i in range(9)], [*near, (7, 10), (8, 11), (9, 12), (10, 12), (11, 12)])
    columns = tuple(column(name, 3) for name in tree.names)
    up, exchanged = distributions(LOW, MIDDLE, HIGH), distributions(MIDDLE, LOW, HIGH)
    copied, shares = 0.9 * np.eye(3) + 0.1 / 3, np.full((3, 1), 1 / 3)
    of_hidden = [copied if parent >= 0 else shares for parent in tree.rooted().parent[9:].tolist()]
    tables = (*[up] * 7, exchanged, exchanged, *of_hidden)
    model = as_one_group(LatentTreeModel(tree, columns, tables), 12)
    model = order_states(shuffled_states(model, 3)).model
    means = np.array([model.joint([12, c]) @ np.arange(3) for c in range(9)]).T  # times 1/3
    assert (np.diff(means[:, :7], axis=0) > 0).all()
    assert (np.diff(means[:, 7:], axis=0)[0] < 0).all()
    # Columns that do not follow the order of the states have no direction. The states are steps all the same.
    assert view_of(model).directions({12: range(9)}) == {12: [1] * 7 + [0, 0]}
    assert view_of(model).scores[12].has_steps


def test_states_are_kinds_if_many_columns_contradict_their_order():
    one, other, third = (
        distributions(*order) for order in ((LOW, MIDDLE, HIGH), (MIDDLE, HIGH, LOW), (HIGH, LOW, MIDDLE))
    )
    kinds = star_model([one, one, other, other, third, third], [0.3, 0.3, 0.4])
    assert steps(kinds) == {6: False}
    assert steps(star_model([*[one] * 7, other, third], [0.3, 0.3, 0.4])) == {9: True}
    # Two states are always steps, and states without ordered columns have no order that could hold.
    assert steps(star_model([t[:, :2] for t in (one, other, third)], [0.5, 0.5])) == {3: True}
    assert steps(star_model([one, other, third], [0.3, 0.3, 0.4], ordered=False)) == {}


@pytest.mark.parametrize(
    ("means", "n_rows", "expected"),
    [
        ([0.2, 0.4, 0.9], np.inf, (1, False)),
        ([0.9, 0.4, 0.2], np.inf, (-1, False)),
        ([0.5, 0.3, 0.9], np.inf, (0, True)),
        # The standard error of the mean of 25 rows is about 0.1, of the difference of two means about 0.14.
        ([0.5, 0.3, 0.9], 25, (1, False)),
        ([0.5, 0.3, 0.9], 400, (0, True)),
        ([0.5, 0.51, 0.52], 400, (0, False)),  # too little to tell
        ([0.5, 0.5, 0.5], np.inf, (0, False)),
        ([0.5, 0.3, 0.9], np.array([0, 400, 400]), (1, False)),  # a state without rows says nothing
    ],
)
def test_a_direction_is_beyond_chance_and_in_all_states(means, n_rows, expected):
    given = np.array([[1 - mean, mean] for mean in means])
    rows = np.broadcast_to(np.asarray(n_rows, dtype=float), 3)
    assert trend(given, np.array([0.0, 1.0]), np.array([-1.0, 0.0, 1.0]), rows) == expected
    # The other end of the scale, and other numbers of the states, change no more than the sign.
    turned = trend(given[:, ::-1], np.array([0.0, 1.0]), np.array([-1.0, 0.0, 1.0]), rows)
    assert turned == (-expected[0], expected[1])
    other = [2, 0, 1]
    assert trend(given[other], np.array([0.0, 1.0]), np.array([1.0, -1.0, 0.0]), rows[other]) == expected


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(0, 4))
def test_a_reversed_column_changes_its_own_direction_only(seed, reversed_column):
    rng = np.random.default_rng(seed)
    weak = np.array([[0.4, 0.35, 0.25], [0.33, 0.34, 0.33], [0.25, 0.35, 0.4]])
    strong = np.array([LOW, MIDDLE, HIGH])
    tables = [(share * strong + (1 - share) * weak).T for share in rng.random(5)]
    model = shuffled_states(star_model(tables, [0.3, 0.3, 0.4]), seed)
    changed = [table[::-1] if node == reversed_column else table for node, table in enumerate(model.tables)]
    turned = order_states(replace(model, tables=tuple(changed)))
    before, after = order_states(model).model, turned.model
    assert before.tables[5].tolist() == after.tables[5].tolist()
    expected = [-1 if node == reversed_column else 1 for node in range(5)]
    assert turned.directions.tolist() == view_of(after).directions({5: range(5)})[5] == expected
    assert view_of(before).directions({5: range(5)})[5] == [1] * 5


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(3, 7), st.booleans())
def test_the_numbering_of_states_does_not_matter(seed, n_columns, some_unordered):
    rng = np.random.default_rng(seed)
    tree = random_tree(n_columns, random_state=seed)
    sizes = [*rng.integers(2, 5, n_columns), *rng.integers(1, 5, tree.n_hidden)]
    model = model_on(tree, sizes, seed)
    if some_unordered:
        columns = [replace(c, ordered=bool(rng.integers(2))) for c in model.columns]
        model = replace(model, columns=tuple(columns))
    expected = order_states(model)
    found = order_states(shuffled_states(model, seed + 1))
    assert [t.tobytes() for t in found.model.tables] == [t.tobytes() for t in expected.model.tables]
    assert found.directions.tolist() == expected.directions.tolist()
    scores, shuffled_scores = (view_of(one).scores for one in (model, shuffled_states(model, seed + 1)))
    assert {node: score.has_steps for node, score in scores.items()} == {
        node: score.has_steps for node, score in shuffled_scores.items()
    }
    # Once more changes nothing.
    again = order_states(expected.model)
    assert [t.tobytes() for t in again.model.tables] == [t.tobytes() for t in expected.model.tables]


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6))
def test_the_order_of_columns_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    model = MODELS[seed % len(MODELS)]
    model = replace(model, columns=tuple(replace(c, ordered=bool(rng.random() < 0.7)) for c in model.columns))
    n, n_hidden = model.tree.n_observed, model.tree.n_hidden
    nodes = [*rng.permutation(n).tolist(), *(n + rng.permutation(n_hidden)).tolist()]
    tree = renumbered_tree(model.tree, nodes, rng)
    expected, found = order_states(model), order_states(shuffled_states(on_tree(model, tree, nodes), seed))
    assert same_tables(found.model, on_tree(expected.model, tree, nodes))
    assert found.directions.tolist() == expected.directions[nodes[:n]].tolist()


def test_a_reversed_item_has_the_other_direction():
    usual, turned = distributions(HIGH, LOW, MIDDLE), distributions(LOW, HIGH, MIDDLE)
    model, directions = order_states(star_model([usual, turned, usual, usual], [0.3, 0.3, 0.4]))
    assert directions.tolist() == [1, -1, 1, 1]
    np.testing.assert_array_equal(model.tables[0], distributions(LOW, MIDDLE, HIGH))
    np.testing.assert_array_equal(model.tables[1], distributions(HIGH, MIDDLE, LOW))
    np.testing.assert_array_equal(model.tables[4][:, 0], [0.3, 0.4, 0.3])


def test_most_columns_decide_the_direction_weighted_by_their_correlations():
    strong, weak = distributions([0.05, 0.95], [0.95, 0.05]), distributions([0.6, 0.4], [0.4, 0.6])
    assert order_states(star_model([strong, weak, weak], [0.5, 0.5])).directions.tolist() == [1, -1, -1]
    assert order_states(star_model([weak, strong, strong], [0.5, 0.5])).directions.tolist() == [-1, 1, 1]


def test_without_a_majority_the_first_of_the_best_explained_columns_decides():
    up, down = distributions(LOW, HIGH), distributions(HIGH, LOW)
    for tables, expected in ([up, down], [1, -1]), ([down, up], [1, -1]), ([down, down, up, up], [1, 1, -1, -1]):
        assert order_states(star_model(tables, [0.5, 0.5])).directions.tolist() == expected


@pytest.mark.parametrize("seed", range(8))
def test_a_majority_that_is_rounding_decides_nothing(seed):
    """Every column has a mirrored twin. The strongest pair comes first by name, and of this pair the first column."""
    rng = np.random.default_rng(seed)
    strong, *weak = (
        distributions([0.9, 0.07, 0.03], [0.06, 0.14, 0.8]),
        *(rng.dirichlet([9] * 3, 2).T for _ in range(3)),
    )
    mirrored = [twin for table in (strong, *weak) for twin in (table, table[::-1])]
    directions = order_states(shuffled_states(star_model(mirrored, [0.3, 0.7]), seed)).directions
    assert directions[:2].tolist() == [1, -1]
    assert (directions[::2] == -directions[1::2]).all()


def test_close_scores_are_no_tie():
    item = distributions([0.5, 0.5], [0.50001, 0.49999], [0.1, 0.9])
    model, _ = order_states(star_model([item, item, item], [0.5, 0.2, 0.3]))
    np.testing.assert_array_equal(model.tables[3][:, 0], [0.2, 0.5, 0.3])


def test_rare_states_weigh_little():
    """The rare state is extreme in two columns, but the first column explains more rows."""
    first = distributions([0.6, 0.4], [0.4, 0.6], [0.5, 0.5])
    others = distributions([0.5, 0.5], [0.5, 0.5], [0.0, 1.0])
    model, _ = order_states(star_model([first, others, others], [0.495, 0.495, 0.01]))
    np.testing.assert_array_equal(model.tables[0][1], [0.4, 0.5, 0.6])


def test_equally_strong_components_follow_the_first_column():
    """The four states of the hidden variable are the four pairs of states of two columns that say nothing together."""
    for noise, leader in ((0.0, 0), (1e-3, 1)):
        first = distributions(*([1 - x, x] for x in (0.1 + noise, 0.1 + noise, 0.9 - noise, 0.9 - noise)))
        second = distributions(*([1 - x, x] for x in (0.1, 0.9, 0.1, 0.9)))
        for seed in range(4):
            model, directions = order_states(shuffled_states(star_model([first, second], [0.25] * 4), seed))
            assert (np.diff(model.tables[leader][1]) >= 0).all()
            assert directions[leader] == 1


def test_without_order_the_largest_state_comes_first():
    usual = distributions(HIGH, LOW, MIDDLE)
    model, directions = order_states(star_model([usual, usual, usual], [0.2, 0.5, 0.3], ordered=False))
    np.testing.assert_array_equal(model.tables[3][:, 0], [0.5, 0.3, 0.2])
    np.testing.assert_array_equal(model.tables[0], distributions(LOW, MIDDLE, HIGH))
    assert directions.tolist() == [0, 0, 0]


def test_states_of_equal_size_are_told_apart_by_the_columns():
    usual = distributions(HIGH, LOW, MIDDLE)
    base = star_model([usual, usual, usual], [1 / 3] * 3, ordered=False)
    found = {tuple(order_states(shuffled_states(base, seed)).model.tables[0][0]) for seed in range(10)}
    assert found == {(0.1, 0.2, 0.7)}
    # Columns that are not neighbours tell states apart as well: two hidden variables, the first without columns.
    tree = Tree("abcdef", [(0, 6), (1, 6), (2, 7), (3, 7), (4, 8), (5, 8), (6, 9), (7, 9), (8, 9)])
    sizes = [2] * 10
    model = model_on(tree, sizes, 0)
    tables = list(model.tables)
    tables[9] = np.array([[0.5], [0.5]])
    columns = tuple(column(name, 2, ordered=False) for name in tree.names)
    model = LatentTreeModel(tree, columns, tuple(tables))
    found = {tuple(order_states(shuffled_states(model, seed)).model.joint([9, 0])[0]) for seed in range(10)}
    assert len(found) == 1


def test_interchangeable_states_are_left_alone():
    same = distributions(LOW, LOW, HIGH)
    model = star_model([same, same], [0.25, 0.25, 0.5], ordered=False)
    np.testing.assert_array_equal(order_states(model).model.tables[0], distributions(HIGH, LOW, LOW))


def test_ordered_columns_decide_where_there_are_some():
    usual, turned = distributions(HIGH, LOW), distributions(LOW, HIGH)
    model, directions = order_states(star_model([turned, turned, usual], [0.8, 0.2], ordered=[False, False, True]))
    assert directions.tolist() == [0, 0, 1]
    np.testing.assert_array_equal(model.tables[3][:, 0], [0.2, 0.8])


def test_ordered_columns_that_say_nothing_leave_the_order_to_the_sizes():
    nothing, usual = distributions(MIDDLE, MIDDLE), distributions(LOW, HIGH)
    constant = np.array([[1.0, 1.0]])
    model, directions = order_states(
        star_model([nothing, constant, usual], [0.2, 0.8], ordered=[True, True, False]),
    )
    assert directions.tolist() == [0, 0, 0]
    np.testing.assert_array_equal(model.tables[3][:, 0], [0.8, 0.2])


def test_states_that_never_occur_are_in_their_place():
    usual = distributions(HIGH, MIDDLE, LOW)
    model, _ = order_states(star_model([usual, usual, usual], [0.5, 0.0, 0.5]))
    np.testing.assert_array_equal(model.tables[0], distributions(LOW, MIDDLE, HIGH))


def two_scales(correlation, n_first, n_second, *, agree=0.9):
    """Two hidden variables with two equal states and a negative correlation, and the columns of each."""
    n = n_first + n_second
    tree = Tree([f"x{i}" for i in range(n)], [*((i, n + (i >= n_first)) for i in range(n)), (n, n + 1)])
    between = np.array([[1 - correlation, 1 + correlation], [1 + correlation, 1 - correlation]]) / 2
    item = distributions([agree, 1 - agree], [1 - agree, agree])
    parent = tree.rooted().parent
    tables = [item] * n + [np.array([[0.5], [0.5]]) if parent[h] < 0 else between for h in (n, n + 1)]
    return LatentTreeModel(tree, tuple(column(name, 2) for name in tree.names), tuple(tables))


@pytest.mark.parametrize(
    ("correlation", "n_first", "n_second", "expected"),
    [
        (1.0, 3, 2, [1, 1, 1, -1, -1]),  # one hidden variable determines the other
        (0.9, 3, 2, [1, 1, 1, -1, -1]),  # reversed items of one scale: log(1.9 / 0.1) = 2.94 is more than 2 x 0.8
        (0.7, 3, 2, [1, 1, 1, -1, -1]),  # 1.73 is more than 1.6
        (0.65, 3, 2, [1, 1, 1, 1, 1]),  # 1.55 is less than 1.6
        (0.7, 5, 5, [1] * 10),  # two scales
        (0.4, 2, 1, [1, 1, -1]),  # 0.85 is more than 0.8
        (0.37, 2, 1, [1, 1, 1]),  # 0.78 is less than 0.8
    ],
)
def test_neighbours_agree_if_their_correlation_outweighs_their_columns(correlation, n_first, n_second, expected):
    model, directions = order_states(two_scales(correlation, n_first, n_second))
    assert directions.tolist() == expected
    own = [expected_codes(model, h, [0, n_first])[:, i] for i, h in enumerate(range(len(expected), len(expected) + 2))]
    assert (np.diff(own[0]) > 0).all()
    assert (np.diff(own[1]) * expected[-1] > 0).all()


def test_equally_good_signs_agree_with_the_neighbour():
    """The second hidden variable has one column of each direction, so only its neighbour can tell."""
    model = two_scales(0.3, 3, 2)
    tables = list(model.tables)
    tables[4] = tables[4][:, ::-1]
    for seed in range(4):
        ordered, directions = order_states(shuffled_states(replace(model, tables=tuple(tables)), seed))
        assert directions.tolist() == [1, 1, 1, -1, 1]
        assert np.trace(ordered.joint([5, 6])) > 0.5


def test_balanced_neighbours_keep_the_sign_of_the_first_name():
    """Both hidden variables have a column of each direction; whichever has the lower number, that of x0 decides."""
    up, down = distributions([0.9, 0.1], [0.1, 0.9]), distributions([0.1, 0.9], [0.9, 0.1])
    columns = tuple(column(f"x{i}", 2) for i in range(4))
    for first, second in ((4, 5), (5, 4)):
        tree = Tree([c.name for c in columns], [(0, first), (1, first), (2, second), (3, second), (4, 5)])
        between = [
            np.array([[0.5], [0.5]]) if h < 0 else distributions([0.3, 0.7], [0.7, 0.3])
            for h in tree.rooted().parent[4:]
        ]
        for seed in range(4):
            model = LatentTreeModel(tree, columns, (up, down, up, down, *between))
            assert order_states(shuffled_states(model, seed)).directions.tolist() == [1, -1, -1, 1]


def test_equally_strong_neighbours_are_taken_by_name():
    """A hidden variable whose four states are the pairs of states of the two hidden variables beside it."""
    up = distributions([0.9, 0.1], [0.1, 0.9])
    halves = [distributions(*([1 - x, x] for x in xs)) for xs in ((0.1, 0.1, 0.9, 0.9), (0.1, 0.9, 0.1, 0.9))]
    columns = tuple(column(f"x{i}", 2) for i in range(4))
    for first, second in ((4, 5), (5, 4)):
        tree = Tree([c.name for c in columns], [(0, first), (1, first), (2, second), (3, second), (4, 6), (5, 6)])
        assert tree.rooted().parent[6] < 0
        given_middle = {first: halves[0], second: halves[1]}
        tables = (up, up, up, up, given_middle[4], given_middle[5], np.full((4, 1), 0.25))
        for seed in range(4):
            model = order_states(shuffled_states(LatentTreeModel(tree, columns, tables), seed)).model
            assert np.diff(model.tables[first][1]).round(9).tolist() == [0, 0.8, 0]


def test_a_hidden_variable_with_columns_of_no_order_goes_by_size_even_beside_a_scale():
    model = two_scales(0.9, 3, 2)
    shares = np.array([[0.1], [0.9]])
    parent = model.tree.rooted().parent
    assert parent[5] < 0
    columns = (*model.columns[:3], *(column(name, 2, ordered=False) for name in ("x3", "x4")))
    for seed in range(4):
        changed = replace(model, columns=columns, tables=(*model.tables[:5], shares, model.tables[6]))
        ordered, directions = order_states(shuffled_states(changed, seed))
        assert directions.tolist() == [1, 1, 1, 0, 0]
        first, second = list(ordered.marginals().values())[5:]
        assert first[0] < first[1]  # from low to high: 0.9 of the rows are high
        assert second[0] > second[1]  # by size, although the smaller state is closer to the low one


def test_a_column_between_two_hidden_variables_has_the_direction_of_the_one_that_explains_it_better():
    tree = Tree("abcde", [(0, 5), (1, 5), (2, 5), (2, 6), (3, 6), (4, 6)])
    columns = tuple(column(name, 2) for name in tree.names)
    up = distributions([0.95, 0.05], [0.05, 0.95])
    for first, second, expected in ((0.9, 0.4, 1), (0.6, 0.1, -1)):  # P(c = 1 | high state) of each
        parent = tree.rooted().parent.tolist()
        link = {h: distributions([p, 1 - p], [1 - p, p]) for h, p in ((5, first), (6, second))}
        root = parent.index(-1)
        tables = [up, up, link[root], up, up, None, None]
        for h in (5, 6):
            tables[h] = np.array([[0.5], [0.5]]) if h == root else link[h]
        assert parent[2] == root
        assert order_states(LatentTreeModel(tree, columns, tuple(tables))).directions.tolist() == [1, 1, expected, 1, 1]


def test_hidden_variables_without_columns_follow_those_beside_them():
    # Three scales below H4 (node 13), which is beside H5 (node 14) with a fourth scale behind it.
    tree = Tree(
        [f"x{i}" for i in range(8)],
        [
            (0, 8),
            (1, 8),
            (2, 9),
            (3, 9),
            (4, 10),
            (5, 10),
            (8, 12),
            (9, 12),
            (12, 13),
            (10, 13),
            (13, 11),
            (6, 11),
            (7, 11),
        ],
    )
    stay = np.array([[0.8, 0.15, 0.05], [0.15, 0.7, 0.15], [0.05, 0.15, 0.8]])
    item = distributions(LOW, MIDDLE, HIGH)
    parent = tree.rooted().parent
    tables = [item] * 8 + [stay if parent[h] >= 0 else np.array([[0.3], [0.4], [0.3]]) for h in range(8, 14)]
    model = LatentTreeModel(tree, tuple(column(name, 3) for name in tree.names), tuple(tables))
    for seed in range(5):
        ordered, directions = order_states(shuffled_states(model, seed))
        assert directions.tolist() == [1] * 8
        assert [t.tobytes() for t in ordered.tables] == [t.tobytes() for t in model.tables]
    # Where the columns of all scales have no order, nor have the hidden variables above them.
    plain = tuple(replace(c, ordered=False) for c in model.columns)
    ordered = order_states(replace(model, columns=plain)).model
    for shares in list(ordered.marginals().values())[8:]:
        assert (np.diff(shares) <= 1e-9).all()


def test_columns_behind_columns_have_the_direction_of_their_path():
    """A chain: the hidden variable, then column b, and behind it c, which is reversed, and d, which follows c."""
    tree = Tree(["a", "b", "c", "d", "e"], [(5, 0), (5, 1), (1, 2), (2, 3), (5, 4)])
    sizes = [2] * 6
    model = model_on(tree, sizes, 0)
    up, down = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.1, 0.9], [0.9, 0.1]])
    assert tree.rooted().parent.tolist() == [5, 5, 1, 2, 5, -1]
    model = replace(model, tables=(up, up, down, up, up, np.array([[0.5], [0.5]])))
    assert order_states(model).directions.tolist() == [1, 1, -1, -1, 1]
    # A column without order between them passes the direction on, and has none.
    columns = (*model.columns[:2], column("c", 2, ordered=False), *model.columns[3:])
    assert order_states(replace(model, columns=columns)).directions.tolist() == [1, 1, 0, -1, 1]


def test_models_without_hidden_variables_stay_as_they_are():
    model = model_on(Tree("abc", [(0, 1), (1, 2)]), [2, 3, 2], 0)
    ordered, directions = order_states(model)
    assert directions.tolist() == [0, 0, 0]
    assert [t.tobytes() for t in ordered.tables] == [t.tobytes() for t in model.tables]


@pytest.mark.parametrize("method", ["auto", "nj", "lcm", "hclt", "rg", "hw", "chow-liu", "independent"])
def test_learned_models_are_in_order(method):
    table = random_model(random_tree(6, random_state=0), n_states=3, start="identity", random_state=0).sample(400, 0)
    fitted = LatentTree(method=method, random_state=0, bootstrap=0).fit(table)
    again = order_states(fitted.model_).model
    assert [t.tobytes() for t in again.tables] == [t.tobytes() for t in fitted.model_.tables]
    assert fitted.summary_["log_likelihood"] == fitted.model_.log_likelihood(table)
    assert fitted.model_.record.log_likelihood == fitted.summary_["log_likelihood"]


def questionnaire(n_rows):
    """Answers from 1 to 6 to items of two scales with a weak negative correlation; the last two items are reversed."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=n_rows)
    second = -0.3 * first + rng.normal(size=n_rows)
    keys = {"a": [1, 1, 1, 1, -1], "b": [1, 1, 1, -1, -1]}
    columns = {}
    for (scale, signs), trait in zip(keys.items(), (first, second), strict=True):
        for number, sign in enumerate(signs, 1):
            answer = np.round(3.5 + sign * trait + 0.8 * rng.normal(size=n_rows))
            columns[f"{scale}{number}"] = np.clip(answer, 1, 6).astype(int)
    return pd.DataFrame(columns), np.concatenate(list(keys.values()))


@pytest.mark.parametrize("method", ["auto", "hclt", "tensor"])
def test_the_states_of_a_questionnaire_increase_with_its_items(method):
    answers, keys = questionnaire(1500)
    answers = answers[answers.columns[::-1]]
    model = LatentTree(method=method, n_states=3, bootstrap=0, random_state=0).fit(answers).model_
    directions = order_states(model).directions
    assert directions.tolist() == keys[::-1].tolist()
    for node in range(model.tree.n_observed, model.tree.n_nodes):
        for c in (other for other, _ in model.tree.neighbors[node] if other < model.tree.n_observed):
            joint = model.joint([node, c])
            means = joint @ np.arange(joint.shape[1]) / joint.sum(axis=1)
            assert (np.diff(means) * directions[c] > 0).all()


def test_a_flipped_group_counts_in_the_other_direction(tmp_path):
    answers = make_questionnaire(400)
    model = LatentTree(random_state=0, n_resamples=0).fit(answers.data).model_
    turned = flip(model, ["worry"])
    before, after = row_scores(model, answers.data), row_scores(turned, answers.data)
    number = before.names.index("worry")
    assert after.scores[:, number] == pytest.approx(1 - before.scores[:, number])
    others = [other for other in range(len(before.names)) if other != number]
    assert after.scores[:, others] == pytest.approx(before.scores[:, others])
    assert after.log_density == pytest.approx(before.log_density)
    assert after.state_names == before.state_names
    n_states = len(before.state_names[number])
    assert np.array_equal(after.states[:, number], n_states - 1 - before.states[:, number])
    turned.save(tmp_path / "model.json")
    read = row_scores(LatentTreeModel.load(tmp_path / "model.json"), answers.data)
    assert np.array_equal(read.scores, after.scores)
    again = row_scores(flip(turned, ["worry"]), answers.data)
    assert again.scores == pytest.approx(before.scores)


def test_directions_are_those_of_another_sample():
    answers = make_questionnaire(400)
    one, other = (
        LatentTree(random_state=0, n_resamples=0).fit(answers.data[part]).model_
        for part in (slice(0, 200), slice(200, 400))
    )
    assert opposite_groups(one, one) == []
    names = [group.name for group in one.groups if group.level == "main"][:2]
    turned = flip(one, names)
    wrong = opposite_groups(turned, one)
    assert sorted(wrong) == sorted(names)
    assert opposite_groups(flip(turned, wrong), one) == []
    assert opposite_groups(flip(other, opposite_groups(other, turned)), turned) == []


def test_a_column_cannot_be_flipped():
    model = LatentTree(random_state=0, n_resamples=0).fit(make_questionnaire(200).data).model_
    with pytest.raises(InputError, match="'worry_1' is a column"):
        flip(model, ["worry_1"])
