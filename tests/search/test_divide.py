"""Two hidden variables in the place of one, and neighbours that are exchanged between two."""

import numpy as np
import pytest

from helpers.models import copying_model, grouped_model, star
from helpers.search import around_fitted, random_star, rows_of_two, surroundings, two_groups
from latree.search import divide
from latree.search.divide import (
    best_division,
    best_exchange,
    groups_of_splits,
    residual_dependence,
    state_agreement,
)
from latree.search.draft import Draft
from latree.search.local import Star, fit
from latree.tree import Tree

CLEAR = 20.0  # nats: more than chance ever gains


def around_star(table, n_states=3):
    """A star fitted to the rows."""
    return around_fitted(Tree(table.names, star(table.n_columns).edges), table, n_states)


def divided(around, splits=()):
    return best_division(around, splits, np.log(len(around.weights)), 0, around.tree.n_observed)


def sides(move):
    return sorted(tuple(sorted(side)) for side in (move.neighbors, move.other_neighbors))


def suggested(around):
    """The groups that neighbours themselves suggest, the best first."""
    return divide._clusters(residual_dependence(around.star(around.tree.n_observed), around.weights))


@pytest.mark.parametrize("sizes", [(4, 4), (7, 3), (2, 5), (2, 2)])
def test_two_hidden_variables_behind_a_star_are_found(sizes):
    around = around_star(rows_of_two(sizes, n_rows=1200)[1])
    truth = [tuple(range(sizes[0])), tuple(range(sizes[0], sum(sizes)))]
    assert any(group in truth for group in suggested(around)[:2])
    move = divided(around)
    assert sides(move) == truth
    assert move.ends == (sum(sizes), sum(sizes) + 1)
    assert move.gain > CLEAR


@pytest.mark.parametrize("n_states", [3, 4])
def test_a_true_star_is_not_divided(n_states):
    """Nor is one with a state too many: fewer states make it better, too."""
    gains = [divided(around_star(grouped_model((8,), top=False).sample(500, s), n_states)).gain for s in range(6)]
    assert np.mean(gains) < -2
    assert np.sum(np.array(gains) > 0) <= 1  # by chance
    assert max(gains) < 3


@pytest.mark.parametrize("strength", [0.6, 0.95])
def test_four_states_that_are_two_times_two_are_divided(strength):
    """One hidden variable of four states says all that two of two states say, with twice the parameters."""
    model = copying_model(
        two_groups(range(4), range(4, 8)), lambda u, v: strength if min(u, v) < 8 else 0.5, [4] * 8 + [2, 2]
    )
    for seed in range(3):
        move = divided(around_star(model.sample(1000, seed), n_states=4))
        assert sides(move) == [(0, 1, 2, 3), (4, 5, 6, 7)]
        assert move.pair.between.shape == (2, 2)
        assert move.gain > 5


def test_what_is_asked_for_grows_with_the_number_of_groups_that_were_tried(monkeypatch):
    """The best of many gains by chance, too."""
    around = around_star(rows_of_two()[1])
    gains = []
    truth, wrong = (0, 1, 2, 3), [(0, 4), (1, 5), (2, 6)]
    for groups in ([truth], [truth, *wrong]):
        monkeypatch.setattr(divide, "_clusters", lambda alike, groups=groups: groups)
        gains.append(divided(around).gain)
    assert gains[0] - gains[1] == pytest.approx(np.log(4))


def test_groups_of_other_trees_are_tried(monkeypatch):
    """Where neighbours themselves suggest nothing, splits do; of many, those that are most alike."""
    around = around_star(rows_of_two(n_rows=1200)[1])
    monkeypatch.setattr(divide, "_clusters", lambda alike: [(0, 4), (1, 5)])
    assert divided(around).gain < 0
    wrong = [0b11 << shift ^ 0b1 << (shift + 5) % 8 for shift in range(6)]
    monkeypatch.setattr(divide, "_CANDIDATES", 2)
    for splits in ([0b11, 0b11110000], [*wrong, 0b11110000]):
        move = divided(around, splits)
        assert sides(move) == [(0, 1, 2, 3), (4, 5, 6, 7)]
        assert move.gain > CLEAR


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
        around = around_star(rows_of_two(n_rows=1200, seed=seed, between=0.7)[1])
        dependence = residual_dependence(around.star(8), around.weights)
        assert any(group in ((0, 1, 2, 3), (4, 5, 6, 7)) for group in suggested(around)[:2])
        assert dependence[:4, :4][np.triu_indices(4, 1)].mean() > 3 * dependence[:4, 4:].mean()


def test_the_division_is_a_better_model():
    table = rows_of_two(n_rows=1200)[1]
    around = around_star(table)
    move = divided(around)
    draft = Draft(around.model)
    draft.arrange(move)
    assert draft.start(table).log_likelihood(table) > around.model.log_likelihood(table) + CLEAR
    more = fit(move.pair, around.weights, max_iter=15).rows
    assert (more - move.pair.rows()).sum() < 3  # EM has nearly ended
    for other, message in zip(move.other_neighbors, move.pair.other_messages, strict=True):
        np.testing.assert_array_equal(message, around.messages[other, 8])


def test_a_division_leaves_two_neighbours_on_each_side():
    for seed in range(10):
        small = random_star(("hard",) * 6, (3,) * 6, 2, np.random.default_rng(seed))
        groups = divide._clusters(residual_dependence(small, np.ones(40)))
        assert groups
        assert all(2 <= len(group) <= 4 for group in groups)
    assert divided(around_star(rows_of_two((2, 1), n_rows=100)[1])) is None


def test_groups_come_once_and_the_most_alike_first():
    around = around_star(grouped_model((5, 5, 5), between=0.5).sample(1000, 0))
    groups = suggested(around)
    assert len(groups) == len(set(groups))
    assert all(2 <= len(group) <= 13 and list(group) == sorted(set(group)) for group in groups)
    truth = [tuple(range(first, first + 5)) for first in (0, 5, 10)]
    joined = [tuple(sorted(set(range(15)) - set(group))) for group in truth]
    assert groups[0] in truth + joined


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
    groups = divide._clusters(agreement)
    assert (0, 1, 2) in groups or (3, 4, 5) in groups


# Exchanges

RIGHT = two_groups([0, 1], [2, 3])


def quartet(n_rows=800, seed=0):
    return copying_model(RIGHT, lambda u, v: 0.8, [3] * 4 + [2, 2]).sample(n_rows, seed)


@pytest.mark.parametrize("wrong", [([0, 2], [1, 3]), ([0, 3], [1, 2]), ([1, 2], [3, 0])])
def test_a_wrong_pairing_of_four_subtrees_is_put_right(wrong):
    table = quartet()
    around = around_fitted(two_groups(*wrong), table, 2)
    (edge,) = around.inner_edges
    move = best_exchange(around, edge)
    assert sides(move) == [(0, 1), (2, 3)]
    assert move.gain > 10
    for near, messages in ((move.neighbors, move.pair.messages), (move.other_neighbors, move.pair.other_messages)):
        for column, message in zip(near, messages, strict=True):
            assert message is around.messages[column, 4 if column in wrong[0] else 5]
    draft = Draft(around.model)
    draft.arrange(move)
    found = draft.start(table)
    assert found.tree.splits == RIGHT.splits
    assert found.log_likelihood(table) > around.model.log_likelihood(table) + 10


def test_a_right_pairing_is_left_alone():
    for seed in range(5):
        around = around_fitted(RIGHT, quartet(300, seed), 2)
        assert best_exchange(around, around.inner_edges[0]) is None


def test_without_an_edge_that_is_there_no_pairing_is_clearly_better():
    """In a star all three are as good: few exchanges are made by chance."""
    made = 0
    for seed in range(20):
        table = copying_model(star(4), lambda u, v: 0.7, [3] * 4 + [2]).sample(300, seed)
        around = around_fitted(Tree(table.names, RIGHT.edges), table, 2)
        made += best_exchange(around, around.inner_edges[0]) is not None
    assert made <= 4


def test_only_hidden_variables_of_three_neighbours_exchange_theirs():
    around = around_fitted(*rows_of_two((2, 3), n_rows=100))
    assert best_exchange(around, around.inner_edges[0]) is None


# Residuals


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
    table = rows_of_two((3, 3), n_rows=300)[1]
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
    assert (0, 1) in divide._clusters(dependence)


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
