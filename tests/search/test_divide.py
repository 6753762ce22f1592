"""New hidden variables above some neighbours of one."""

import numpy as np
import pytest

from helpers.models import copying_model, grouped_model, star
from helpers.search import random_star, surroundings
from latree.model import fit_model
from latree.search import divide
from latree.search.divide import (
    best_division,
    candidate_groups,
    groups_of_splits,
    residual_dependence,
    state_agreement,
)
from latree.search.draft import Draft
from latree.search.edges import SMOOTHING, folds, held_out_gain
from latree.search.local import Star, fit
from latree.tree import Tree

LEAST = 5.0  # nats that a division must gain
CLEAR = 20.0  # more than chance ever gains


def two_groups(sizes, seed=0, n_rows=1200, between=0.6, strength=0.6):
    """Rows of two hidden variables that depend on each other, with some columns each."""
    d = sum(sizes)
    edges = [(column, d + (column >= sizes[0])) for column in range(d)]
    tree = Tree([f"x{column}" for column in range(d)], [*edges, (d, d + 1)])
    model = copying_model(tree, lambda u, v: strength if min(u, v) < d else between, [4] * d + [3, 3])
    return model.sample(n_rows, seed)


def around_star(table, n_states=3):
    """A star fitted to the rows."""
    tree = Tree(table.names, star(table.n_columns).edges)
    return surroundings(fit_model(table, tree, n_states, smoothing=SMOOTHING, random_state=0).model, table)


def divided(around, seed=0, splits=()):
    n_rows, node = len(around.weights), around.tree.n_observed
    return best_division(around, [folds(n_rows, seed)], splits, np.log(n_rows), LEAST, node)


@pytest.mark.parametrize("sizes", [(4, 4), (7, 3), (2, 5), (2, 2)])
def test_two_hidden_variables_behind_a_star_are_found(sizes):
    table = two_groups(sizes)
    around = around_star(table)
    truth = [tuple(range(sizes[0])), tuple(range(sizes[0], sum(sizes)))]
    groups = candidate_groups(around.star(sum(sizes)), around.weights)
    assert any(group in truth for group in groups[:2])
    move = divided(around)
    assert sorted([move.neighbors, move.other_neighbors]) == truth
    assert move.ends == (sum(sizes), sum(sizes) + 1)
    assert move.gain > CLEAR


@pytest.mark.parametrize(
    ("gains", "expected"),
    [([10.9, 0], 5.45), ([11.1, 0], 11.1), ([-0.9, 20, 50], 23.03), ([-1.1, 20], None), ([5.5, 3], None)],
)
def test_gains_near_to_what_is_asked_for_are_measured_again(monkeypatch, gains, expected):
    """Two hidden variables that are nearly one: they fit a little better, and BIC does not ask for them."""
    around, waiting = around_star(two_groups((3, 3), between=0.9)), list(gains)
    monkeypatch.setattr(divide, "held_out_gain", lambda *_: waiting.pop(0))
    fold = [folds(1200, number) for number in range(len(gains))]
    move = best_division(around, fold, (), np.log(1200), LEAST, 6)
    assert (move and move.gain) == (expected and pytest.approx(expected, abs=0.01))


@pytest.mark.parametrize("seed", range(5))
def test_a_true_star_is_not_divided(seed):
    table = grouped_model((8,), top=False).sample(800, seed)
    assert divided(around_star(table), seed) is None


@pytest.mark.parametrize("strength", [0.6, 0.95])
def test_four_states_that_are_two_times_two_are_divided(strength):
    """One hidden variable of four states says all that two of two states say, with twice the parameters."""
    tree = Tree([f"x{j}" for j in range(8)], [*((j, 8 + j // 4) for j in range(8)), (8, 9)])
    model = copying_model(tree, lambda u, v: strength if min(u, v) < 8 else 0.5, [4] * 8 + [2, 2])
    for seed in range(3):
        around = around_star(model.sample(1500, seed), n_states=4)
        move = divided(around, seed)
        assert sorted([move.neighbors, move.other_neighbors]) == [(0, 1, 2, 3), (4, 5, 6, 7)]
        assert move.pair.between.shape == (2, 2)
        assert move.gain > 5


def test_bic_divides_where_one_hidden_variable_predicts_as_well():
    """One of four states predicts binary columns as well as two of two states do, so that only BIC tells them apart."""
    tree = Tree([f"x{j}" for j in range(6)], [*((j, 6 + j // 3) for j in range(6)), (6, 7)])
    model = copying_model(tree, lambda u, v: 0.7 if min(u, v) < 6 else 0.8, [2] * 6 + [2, 2])
    around = around_star(model.sample(1000, 0), n_states=4)
    move = divided(around)
    assert sorted([move.neighbors, move.other_neighbors]) == [(0, 1, 2), (3, 4, 5)]
    assert move.pair.between.shape == (2, 2)
    assert held_out_gain(move.pair, around.star(6), around.weights, folds(1000, 0)) < 5
    assert move.gain > CLEAR


@pytest.mark.parametrize("seed", range(3))
def test_a_star_with_a_state_too_many_is_not_divided(seed):
    """Fewer states lower its BIC, too: dividing it does not count as the reason."""
    table = grouped_model((8,), top=False).sample(800, seed)
    assert divided(around_star(table, n_states=4), seed) is None


def test_divisions_end_early_only_where_they_are_hopeless(monkeypatch):
    """A slow start of EM does not end a division: it is looked at again after all iterations."""
    around = around_star(two_groups((4, 4)))
    expected = divided(around)
    for name in ("_SLACK", "_LATE_GAIN"):
        monkeypatch.setattr(divide, name, 1e9)  # nothing ends early
    full = divided(around)
    assert (full.neighbors, full.gain) == (expected.neighbors, expected.gain)
    monkeypatch.setattr(divide, "_SLACK", -1e9)  # everything does
    assert divided(around) is None


def test_groups_of_other_trees_are_tried(monkeypatch):
    """Where neighbours themselves suggest nothing, splits do."""
    around = around_star(two_groups((4, 4)))
    monkeypatch.setattr(divide, "candidate_groups", lambda star, weights: [(0, 4), (1, 5)])
    assert divided(around) is None
    move = divided(around, splits=[0b11, 0b11110000])
    assert sorted([move.neighbors, move.other_neighbors]) == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert move.gain > CLEAR


def test_of_many_groups_of_other_trees_the_most_dependent_are_tried(monkeypatch):
    around = around_star(two_groups((4, 4)))
    monkeypatch.setattr(divide, "candidate_groups", lambda star, weights: [(0, 4), (1, 5)])
    monkeypatch.setattr(divide, "_SPLIT_CANDIDATES", 1)
    wrong = [0b11 << shift ^ 0b1 << (shift + 5) % 8 for shift in range(6)]
    move = divided(around, splits=[*wrong, 0b11110000])
    assert sorted([move.neighbors, move.other_neighbors]) == [(0, 1, 2, 3), (4, 5, 6, 7)]


def test_a_neighbour_is_on_the_side_of_most_of_its_columns():
    branches = [0b1, 0b10, 0b11100, 0b1100000]
    assert groups_of_splits(branches, [0b11]) == [(0, 1)]
    assert groups_of_splits(branches, [0b1111100]) == [(0, 1)]
    assert groups_of_splits(branches, [0b1101]) == [(0, 2)]
    assert groups_of_splits(branches, [0b0101, 0b100001]) == []  # a third and a half are not most
    assert groups_of_splits(branches, [0b1, 0b1111110]) == []  # one neighbour is no group
    assert groups_of_splits(branches, [0b11, 0b1111100, 0b11]) == [(0, 1)]


def test_two_groups_of_the_same_size_are_found_in_every_sample():
    """The star's hidden variable stands for both alike: residuals across the groups are as dependent as within."""
    for seed in range(6):
        around = around_star(two_groups((4, 4), seed, between=0.7))
        small = around.star(8)
        dependence = residual_dependence(small, around.weights)
        groups = candidate_groups(small, around.weights)
        assert any(group in ((0, 1, 2, 3), (4, 5, 6, 7)) for group in groups[:2])
        assert dependence[:4, :4][np.triu_indices(4, 1)].mean() > 3 * dependence[:4, 4:].mean()


def test_the_division_is_a_better_model():
    table = two_groups((4, 4))
    around = around_star(table)
    move = divided(around)
    draft = Draft(around.model)
    draft.rearrange(move)
    start = draft.start(table)
    assert start.log_likelihood(table) > around.model.log_likelihood(table) + CLEAR
    more = fit(move.pair, around.weights, smoothing=SMOOTHING, max_iter=15).rows
    assert (more - move.pair.rows()).sum() < 3  # EM has nearly ended
    for other, message in zip(move.other_neighbors, move.pair.other_messages, strict=True):
        np.testing.assert_array_equal(message, around.messages[other, 8])


def test_a_division_leaves_two_neighbours_on_each_side():
    around = around_star(two_groups((2, 2)))
    small = around.star(4)
    assert candidate_groups(small, around.weights)[0] in ((0, 1), (2, 3))
    assert all(len(group) == 2 for group in candidate_groups(small, around.weights))
    for seed in range(10):
        other = random_star(("hard",) * 6, (3,) * 6, 2, np.random.default_rng(seed))
        assert all(2 <= len(group) <= 4 for group in candidate_groups(other, np.ones(40)))
    three = around_star(two_groups((2, 1)))
    assert divided(three) is None


def test_a_few_groups_are_tried_each_once():
    table = grouped_model((5, 5, 5), between=0.5).sample(1000, 0)
    around = around_star(table)
    groups = candidate_groups(around.star(15), around.weights)
    assert 8 <= len(groups) == len(set(groups)) <= 16
    assert all(2 <= len(group) <= 13 and list(group) == sorted(set(group)) for group in groups)
    truth = [tuple(range(first, first + 5)) for first in (0, 5, 10)]
    joined = [tuple(sorted(set(range(15)) - set(group))) for group in truth]
    assert groups[0] in truth + joined
    assert len([group for group in groups if group in truth + joined]) >= 3


def test_groups_that_tell_different_states_apart_agree_with_themselves():
    """Four states that are two times two: three columns say the one, three the other, and nothing is left over."""
    one, other = np.array([[0.9, 0.9, 0.1, 0.1]]), np.array([[0.8, 0.2, 0.8, 0.2]])
    tables = tuple(np.concatenate([row, 1 - row]) for row in (one, one, one, other, other, other))
    rng = np.random.default_rng(0)
    star_of_four = Star(random_star(("hard",) * 6, (2,) * 6, 4, rng).messages, np.full(4, 0.25), tables)
    agreement = state_agreement(star_of_four)
    np.testing.assert_allclose(agreement[:3, :3] + np.eye(3), 1)
    np.testing.assert_allclose(agreement[:3, 3:], agreement[0, 3])
    assert agreement[0, 3] < 0.8
    assert (np.diag(agreement) == 0).all()
    groups = candidate_groups(star_of_four, np.ones(40))
    assert (0, 1, 2) in groups or (3, 4, 5) in groups


def test_residuals_of_a_right_star_are_independent():
    model = copying_model(star(8), lambda u, v: 0.7, [2, 3, 4, 5, 2, 3, 4, 5, 3])
    means = []
    for seed in range(20):
        table = model.sample(500, seed)
        small = surroundings(model, table).star(8)
        dependence = residual_dependence(small, np.ones(500))
        np.testing.assert_allclose(dependence, dependence.T)
        assert (np.diag(dependence) == 0).all()
        means.append(dependence[np.triu_indices(8, 1)].mean())
    assert 0.4 < np.mean(means) < 1.2


def test_weights_and_repeated_rows_show_the_same_dependence():
    table = two_groups((3, 3), n_rows=300)
    model = around_star(table).model
    small = surroundings(model, table).star(6)
    times = np.random.default_rng(0).integers(0, 4, size=300)
    repeated = Star(tuple(np.repeat(m, times, axis=1) for m in small.messages), small.prior, small.tables)
    one = residual_dependence(small, times.astype(float))
    np.testing.assert_allclose(one, residual_dependence(repeated, np.ones(times.sum())))
    np.testing.assert_allclose(
        residual_dependence(small, np.full(300, 3.0)), 3 * residual_dependence(small, np.ones(300))
    )


def test_residuals_of_columns_that_depend_on_each_other_stand_out():
    """Two columns that are copies of each other, beside what the hidden variable says."""
    model = copying_model(star(6), lambda u, v: 0.5, [3] * 7)
    table = model.sample(600, 0)
    codes = table.codes()
    codes[:, 1] = codes[:, 0]
    small = surroundings(model, type(table).from_codes(table.columns, codes)).star(6)
    dependence = residual_dependence(small, np.ones(600))
    assert dependence[0, 1] > 100
    rest = dependence[2:, 2:]
    assert rest.max() < 6
    assert (0, 1) in candidate_groups(small, np.ones(600))


def test_the_residual_is_what_a_neighbour_s_own_cells_say_beyond_the_hidden_variable():
    """By hand: P(u | row) - Σ_h P(u | h) P(h | row), with soft messages and missing cells."""
    small = random_star(("hard", "missing", "soft"), (2, 3, 4), 3, np.random.default_rng(0))
    weights = np.random.default_rng(1).exponential(size=40)
    posterior = small.posterior()
    residuals = []
    for u, (table, message) in enumerate(zip(small.tables, small.messages, strict=True)):
        own = np.zeros((len(table), 40))
        for row in range(40):
            for x in range(len(table)):
                others = [
                    t.T @ m[:, row] for v, (t, m) in enumerate(zip(small.tables, small.messages, strict=True)) if v != u
                ]
                own[x, row] = (small.prior * table[x] * message[x, row] * np.prod(others, axis=0)).sum()
        residuals.append(own / own.sum(axis=0) - table @ posterior)
    found, signs = residual_dependence(small, weights), set()
    for u in range(3):
        for v in range(u):
            covariance = (residuals[u] * weights) @ residuals[v].T
            expected = [(np.square(residuals[w]) * weights).sum() for w in (u, v)]
            # Against what the hidden variable explains, it counts less.
            explained = (
                small.tables[u] @ (np.diag(small.prior) - np.outer(small.prior, small.prior)) @ small.tables[v].T
            )
            cosine = (covariance * explained).sum() / (np.linalg.norm(covariance) * np.linalg.norm(explained))
            factor = 1 + min(cosine, 0)
            signs.add(cosine > 0)
            assert found[u, v] == pytest.approx(factor * (covariance**2).sum() * weights.sum() / np.prod(expected))
    assert signs == {True, False}
