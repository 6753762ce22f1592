"""Whether two hidden variables predict better than one in their place, and how large a gain says so."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.models import copying_model, grouped_model, holes, model_on, small_models, table_of, topics_table
from helpers.search import surroundings
from latree.model import fit_model
from latree.paper.simulate import random_tree
from latree.search import edges
from latree.search.edges import (
    SMOOTHING,
    EdgeTest,
    GainDistribution,
    bic_gain,
    examine_edges,
    examine_pair,
    folds,
    held_out_gain,
)
from latree.search.local import fit
from latree.tree import Tree

BINARY = np.array([-3, 0, 0, 1, 2, 4, 5, 7, 7, 8, 10, 11], dtype=float)  # gains of a binary tree that is right
RESOLVED = np.concatenate([np.random.default_rng(0).normal(-4, 2, 25), np.full(8, 60.0)])  # of stars, and clear edges
MIXED = np.concatenate([np.random.default_rng(0).normal(-4, 2, 8), np.linspace(0, 60, 10)])


def fitted(tree, table, n_states=3):
    return surroundings(fit_model(table, tree, n_states, smoothing=SMOOTHING, random_state=0).model, table)


def two_groups(between, n_rows=600, seed=0):
    """A fitted model of two hidden variables with four columns each."""
    tree = Tree([f"x{column}" for column in range(8)], [*((column, 8 + column // 4) for column in range(8)), (8, 9)])
    model = copying_model(tree, lambda u, v: 0.6 if min(u, v) < 8 else between, [4] * 8 + [3, 3])
    return fitted(tree, model.sample(n_rows, seed))


def resolved_star(seed, d=8, n_rows=600):
    """A random binary tree, fitted to rows of a star."""
    table = grouped_model((d,), top=False).sample(n_rows, seed)
    return fitted(Tree(table.names, random_tree(d, 0.5, seed).edges), table)


def examined(around, seed=0):
    return examine_edges(around, around.inner_edges, seed)


def threshold(gains):
    return GainDistribution.of(np.array(gains, dtype=float)).threshold


def test_an_edge_that_is_there_predicts_rows_better():
    for seed in range(4):
        (found,) = examined(two_groups(0.6, seed=seed), seed)
        assert found.gain > 60
        assert found.dependence > 60
        (weak,) = examined(two_groups(0.6, n_rows=100, seed=seed), seed)
        assert 5 < weak.gain < 60
        assert 5 < weak.dependence < 60


def test_two_hidden_variables_in_a_bad_optimum_are_fitted_again(monkeypatch):
    around = two_groups(0.6)
    good = around.pair(8, 9)
    flat = tuple(np.full_like(table, 1 / len(table)) for table in good.other_tables)  # EM never leaves such tables
    bad = replace(good, other_tables=flat, between=np.full_like(good.between, 1 / 3))
    fold = folds(len(around.weights), 0)
    assert examine_pair(bad, around.weights, fold).gain > 20
    monkeypatch.setattr("latree.search.edges._STUCK", np.inf)
    assert examine_pair(bad, around.weights, fold).gain < -20


def test_bic_asks_for_two_hidden_variables_where_one_predicts_as_well_with_more_states():
    """Two topics exclude each other: one hidden variable of three states knows both, and two of two states, too."""
    table, topics = topics_table(3, 8, 400)
    words = [(column, 24 + topic) for column, topic in enumerate(topics.tolist())]
    tree = Tree(table.names, [*words, (24, 25), (25, 26)])
    model = fit_model(table, tree, [2, 3, 2], smoothing=SMOOTHING, random_state=0).model
    around = surroundings(model, table)
    log_rows = np.log(400)
    for h, g in ((24, 25), (25, 26)):
        pair = around.pair(h, g)
        gain = bic_gain(pair, around.weights, log_rows, 5.0)
        assert gain > 5
        # As computed from fits of one hidden variable with two to five states.
        _, star = around.merged([h, g])
        rng, halves = np.random.default_rng(0), []
        for k in range(2, 6):
            tables = tuple(rng.dirichlet(np.ones(len(table)), size=k).T for table in star.tables)
            for start in (replace(star, prior=np.full(k, 1 / k), tables=tables), *([star] if k == 3 else [])):
                found = fit(start, around.weights, smoothing=SMOOTHING, max_iter=200)
                halves.append(found.model.n_parameters * log_rows / 2 - around.weights @ found.rows)
        expected = min(halves) - (pair.n_parameters * log_rows / 2 - around.weights @ pair.rows())
        assert gain == pytest.approx(expected, abs=3)


def test_one_hidden_variable_may_need_fewer_states_than_two():
    table = grouped_model((8,), hidden_states=2, top=False).sample(600, 0)
    tree = Tree(table.names, [*((column, 8 + column // 4) for column in range(8)), (8, 9)])
    around = surroundings(fit_model(table, tree, [4, 2], smoothing=SMOOTHING, random_state=0).model, table)
    pair, log_rows = around.pair(8, 9), np.log(600)
    assert bic_gain(pair, around.weights, log_rows, 1e6) > 5  # than one of four states: no others are tried
    assert bic_gain(pair, around.weights, log_rows, 5.0) < -5


def test_bic_does_not_ask_for_two_hidden_variables_with_more_parameters():
    around = two_groups(0.6)
    assert bic_gain(around.pair(8, 9), around.weights, np.log(600), 5.0) == -np.inf


def test_edges_of_a_resolved_star_predict_rows_worse():
    gains = [[found.gain for found in examined(resolved_star(seed), seed)] for seed in range(8)]
    assert np.mean(gains) < -1
    assert np.max(gains) < 12
    assert np.mean(np.array(gains) > 3) < 0.05


def test_two_copies_are_one_and_independent_ones_are_two():
    for seed in range(3):
        (copies,) = examined(two_groups(1.0, seed=seed), seed)
        assert copies.gain < 0 < 60 < copies.dependence
        (independent,) = examined(two_groups(0.0, seed=seed), seed)
        assert independent.dependence < 8 < 60 < independent.gain


def test_gains_are_scored_on_other_rows_unless_they_are_clear(monkeypatch):
    """A clear gain is the one of the fitted rows; all others come from folds."""
    clear, doubtful = two_groups(0.6).pair(8, 9), two_groups(0.6, n_rows=100).pair(8, 9)

    def gains(pair, seed):
        n_rows = pair.messages[0].shape[1]
        return examine_pair(pair, np.ones(n_rows), folds(n_rows, seed))

    assert gains(clear, 0) == gains(clear, 1)
    assert gains(doubtful, 0) != gains(doubtful, 1)
    assert 60 < min(gains(clear, 0).gain, gains(clear, 0).dependence) < 200
    monkeypatch.setattr(edges, "_STAGES", ((6, 1e6), (14, 1e6)))
    for seed in range(2):  # folds tell about the same
        assert gains(clear, seed).gain == pytest.approx(gains(clear, 2).gain, rel=0.2)
    assert gains(clear, 0) != gains(clear, 1)


def test_a_gain_is_called_clear_from_sixty_nats_on():
    """As many as chance never gains, and few enough to spare most tests of real edges."""
    found = [two_groups(0.6, n_rows=n_rows).pair(8, 9) for n_rows in (150, 400)]
    results = []
    for pair in found:
        n_rows = pair.messages[0].shape[1]
        one, other = (examine_pair(pair, np.ones(n_rows), folds(n_rows, seed)) for seed in (0, 1))
        results.append(one == other)
    assert results == [False, True]


def test_folds_are_of_one_size_and_drawn_at_random():
    found = folds(100, 0)
    assert np.bincount(found).tolist() == [34, 33, 33]
    np.testing.assert_array_equal(found, folds(100, 0))
    assert (found != folds(100, 1)).any()
    assert (np.diff(found[:50]) != 1).any()  # not in turn


def test_weights_count_like_repeated_rows():
    around = two_groups(0.6, n_rows=60)
    pair, fold = around.pair(8, 9), folds(60, 0)
    heavy = examine_pair(pair, np.full(60, 3.0), fold)
    messages = [tuple(np.tile(m, 3) for m in side) for side in (pair.messages, pair.other_messages)]
    repeated = type(pair)(*messages, pair.prior, pair.between, pair.tables, pair.other_tables)
    same = examine_pair(repeated, np.ones(180), np.tile(fold, 3))
    assert heavy.gain == pytest.approx(same.gain, rel=0.01, abs=0.1)
    assert heavy.dependence == pytest.approx(same.dependence, rel=0.01, abs=0.1)
    assert heavy.gain > examine_pair(pair, np.ones(60), fold).gain


def test_every_inner_edge_is_tested_by_itself():
    around = resolved_star(0)
    found = examined(around)
    assert len(found) == len(around.inner_edges) == 5
    assert examine_edges(around, around.inner_edges[2:3], 0) == found[2:3]
    assert examine_edges(around, [], 0) == []
    assert all(isinstance(one, EdgeTest) for one in found)


@pytest.mark.parametrize("model", small_models())
def test_surroundings_have_the_model_s_own_distributions(model):
    table = table_of(model, holes(model.sample(20, 0).codes(), 0))
    around = surroundings(model, table)
    tree = model.tree
    for u, v in [*tree.edges.tolist(), *tree.edges[:, ::-1].tolist()]:
        joint = model.joint([u, v])
        np.testing.assert_allclose(around.conditional(u, v), joint / joint.sum(axis=0))
    for node in range(tree.n_observed, tree.n_nodes):
        star = around.star(node)
        np.testing.assert_allclose(star.prior, model.joint([node]))
        for (u, _), message in zip(tree.neighbors[node], star.messages, strict=True):
            assert (message.dtype == bool) == (u < tree.n_observed and len(tree.neighbors[u]) == 1)
            assert message.shape == (model.n_states[u], 20)
    assert around.inner_edges == [edge for edge, ends in enumerate(tree.edges) if min(ends) >= tree.n_observed]
    for edge in around.inner_edges:
        h, g = tree.edges[edge].tolist()
        pair = around.pair(h, g)
        np.testing.assert_allclose(pair.between * pair.prior, model.joint([g, h]))
        assert len(pair.tables) + len(pair.other_tables) == len(tree.neighbors[h]) + len(tree.neighbors[g]) - 2


def test_several_hidden_variables_are_merged_into_one():
    """One after another, for the neighbours of all of them, with as many states as the largest."""
    tree = Tree("abcdefg", [(0, 7), (1, 7), (2, 7), (7, 8), (6, 8), (8, 9), (3, 9), (4, 9), (5, 9)])
    model = model_on(tree, [2, 3, 2, 3, 2, 3, 4, 2, 3, 2], 0)
    around = surroundings(model, model.sample(200, 0))
    near, star = around.merged([8, 9])
    assert sorted(near) == [3, 4, 5, 6, 7]
    assert [table.shape for table in star.tables] == [(model.n_states[u], 3) for u in near]
    for u, message in zip(near, star.messages, strict=True):
        expected = around.messages[u, 9 if u in (3, 4, 5) else 8]
        assert message is expected
    near, star = around.merged([7, 8, 9])
    assert sorted(near) == list(range(7))
    assert len(star.prior) == 3
    assert around.merged([7])[0] == [0, 1, 2, 8]


def test_a_merged_resolved_star_is_as_good_as_the_star():
    around = resolved_star(1)
    near, star = around.merged(range(8, around.tree.n_nodes))
    assert sorted(near) == list(range(8))
    whole = around.model.log_likelihood(grouped_model((8,), top=False).sample(600, 1))
    assert star.rows().sum() > whole - 60


def test_doubtful_edges_of_a_binary_tree_are_kept():
    found = GainDistribution.of(BINARY)
    assert found.threshold <= -2
    assert found.share > 0.8
    assert (found.probability(BINARY[1:]) > 0.5).all()


def test_doubtful_edges_of_resolved_stars_are_not_kept():
    found = GainDistribution.of(RESOLVED)
    assert found.threshold >= 3
    assert 0.15 < found.share < 0.4
    probability = found.probability(RESOLVED)
    assert (probability[:25] < 0.5).all()
    assert (probability[25:] > 0.99).all()


def test_the_threshold_lies_between_if_there_are_both():
    assert threshold(BINARY) + 2 < threshold(MIXED) < threshold(RESOLVED) - 1


def test_the_threshold_has_limits():
    assert -7 <= threshold(np.full(50, 9.0)) <= threshold(np.full(400, -4.0)) < 8
    assert -7 <= threshold([500.0] * 3) < 8


def test_more_gain_means_more_probably_there():
    gains = np.arange(-10.0, 80.0)
    for sample in (BINARY, RESOLVED, MIXED):
        probability = GainDistribution.of(sample).probability(gains)
        assert ((probability >= 0) & (probability <= 1)).all()
        assert (np.diff(probability[gains > -2.5]) > -1e-9).all()
        assert probability[0] < 0.01


# Gains in a table of 3000 rows with 70 % missing cells: the first 15 are of edges that are not there.
WEAK = [-3.6, -3.3, -3.0, -2.6, -2.5, -2.3, -2.3, -2.1, -2.0, -1.8, -1.7, -1.3, -1.0, 0.3, 0.8]
WEAK += [8.4, 8.6, 11.3, 11.3, 11.4, 13.6]


def test_edges_that_are_not_there_gain_more_where_cells_are_missing():
    """A distribution for complete rows would take nearly all of these edges to be there."""
    assert threshold(WEAK) < -3
    assert GainDistribution.of(np.array(WEAK), present=0.3).threshold == pytest.approx(1.0, abs=0.7)
    assert GainDistribution.of(np.array(WEAK), present=0.6).threshold < 0


# What the numbers behind the distributions decide. Each of these moves by far more if one of them is changed much.
DECISIONS = [
    (BINARY, -6.4, 0.4),
    (RESOLVED, 5.6, 0.4),
    (MIXED, 2.6, 0.4),
    ([0, 0, 1, 1], -3.9, 0.4),
    ([3], -3.4, 0.6),
    ([-4], 0.4, 0.6),
    ([-2] * 8, 2.3, 0.4),
]


@pytest.mark.parametrize(("gains", "expected", "margin"), DECISIONS)
def test_thresholds_of_known_gains(gains, expected, margin):
    assert threshold(gains) == pytest.approx(expected, abs=margin)


def test_branches_are_the_columns_behind_each_neighbour():
    for model in small_models():
        around = surroundings(model, model.sample(5, 0))
        for node in range(model.tree.n_nodes):
            branches = around.branches(node)
            own = 1 << node if node < model.tree.n_observed else 0
            assert sum(branches) | own in {*model.tree.components, own}
            for branch, (other, edge) in zip(branches, model.tree.neighbors[node], strict=True):
                split = model.tree.edge_splits[edge]
                assert branch in (split.side, split.other_side)
                if other < model.tree.n_observed:
                    assert branch >> other & 1


def test_the_gain_on_other_rows_says_which_of_two_models_is_right():
    for between, sign in ((0.6, 1), (1.0, -1)):
        around = two_groups(between)
        pair = around.pair(8, 9)
        one = pair.merged(3)
        gain = held_out_gain(pair, one, around.weights, folds(600, 0))
        assert sign * gain > 0
        again = held_out_gain(pair, one, 2 * around.weights, folds(600, 0))
        assert abs(again - 2 * gain) < 0.3 * abs(2 * gain)  # smoothing weighs less
