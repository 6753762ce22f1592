"""Numbers of states of hidden variables, found by one more and one less."""

import numpy as np
import pytest

from helpers.models import copying_model, star
from helpers.search import random_pair, random_star, random_tables, surroundings
from latree.model import fit_model
from latree.search import states
from latree.search.local import Pair, Star, fit
from latree.search.states import MAX_STATES, best_size, merged_states, reduced
from latree.tree import Tree

SETTINGS = {"seed": 0}


def classes(k, seed=0, n_rows=2000, d=8, strength=0.7):
    """Rows of a latent class model of k classes, as messages of its columns."""
    model = copying_model(star(d), lambda u, v: strength, [5] * d + [k])
    return surroundings(model, model.sample(n_rows, seed)).star(d)


def with_states(small, k, seed=0):
    """The same messages, and a model of k states fitted from a random start."""
    rng = np.random.default_rng(seed)
    sizes = [len(table) for table in small.tables]
    start = Star(small.messages, np.full(k, 1 / k), random_tables(sizes, k, rng))
    return fit(start, np.ones(small.messages[0].shape[1]), smoothing=0.1, max_iter=30).model


def chosen(small, **options):
    n_rows = small.messages[0].shape[1]
    return best_size(small, np.ones(n_rows), log_rows=np.log(n_rows), **(SETTINGS | options))


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("first", [2, 3, 4, 7])
def test_the_true_number_of_states_is_found_from_more_and_from_fewer(k, first):
    found = chosen(with_states(classes(k), first))
    assert found.star.prior.shape == (k,)
    assert all(table.shape == (5, k) for table in found.star.tables)
    if k == 5:  # each class copies a state of its own
        assert sorted(found.star.tables[0].argmax(axis=0)) == list(range(5))


def test_the_bic_is_that_of_the_model_found():
    small = with_states(classes(3), 2)
    found = chosen(small)
    rows = found.star.rows()
    assert found.bic == pytest.approx(found.star.n_parameters * np.log(2000) - 2 * rows.sum())
    assert found.bic < small.n_parameters * np.log(2000) - 2 * small.rows().sum() - 100


def test_a_state_is_added_only_if_none_is_taken_away(monkeypatch):
    """What has fewer states than before was compared with more already."""
    tried = []
    more = states._with_one_more
    monkeypatch.setattr(states, "_with_one_more", lambda star, seed: tried.append(len(star.prior)) or more(star, seed))
    assert len(chosen(with_states(classes(3), 4)).star.prior) == 3
    assert tried == []
    assert len(chosen(with_states(classes(3), 3)).star.prior) == 3
    assert tried == [3]


def test_splits_that_are_far_from_worth_it_are_given_up(monkeypatch):
    """They go on while EM may still gain as much as it sometimes does after a slow beginning."""
    small, n_rows = with_states(classes(3), 2), 2000
    slow = best_size(small, np.ones(n_rows), log_rows=300.0, **SETTINGS)  # a state costs 33 * 150 nats
    assert len(slow.star.prior) == 2
    fits = []
    monkeypatch.setattr(
        states, "fit", lambda *args, **options: fits.append(options["max_iter"]) or fit(*args, **options)
    )
    best_size(small, np.ones(n_rows), log_rows=300.0, fewer=False, **SETTINGS)
    assert fits == [15, 5, 5]
    fits.clear()
    monkeypatch.setattr(states, "_LATE_GAIN", 1e9)
    best_size(small, np.ones(n_rows), log_rows=300.0, fewer=False, **SETTINGS)
    assert fits == [15, 5, 5, 10]  # the better of both splits goes on


def test_states_may_only_be_added():
    small = with_states(classes(3), 5)
    assert len(chosen(small).star.prior) == 3
    assert len(chosen(small, fewer=False).star.prior) == 5
    assert len(chosen(with_states(classes(3), 2), fewer=False).star.prior) == 3


def test_one_state_is_left_out_of_the_question():
    """A hidden variable keeps two states where its neighbours are independent: edges are another module's task."""
    rng = np.random.default_rng(0)
    small = random_star(("hard",) * 5, (3,) * 5, 4, rng, n_rows=500)
    assert len(chosen(small).star.prior) == 2


def test_no_more_states_than_a_regular_model_has():
    """Two neighbours of two states, and one of more: four states say all there is to say."""
    rng = np.random.default_rng(1)
    codes = rng.integers(2, size=(2, 4000))
    many = codes[0] * 2 + codes[1]  # the third neighbour tells the other two
    messages = tuple(np.arange(n)[:, None] == cells for n, cells in ((2, codes[0]), (2, codes[1]), (4, many)))
    free = Star(messages, np.full(2, 0.5), random_tables([2, 2, 4], 2, rng))
    found = best_size(free, np.ones(4000), log_rows=0.0, **SETTINGS)
    assert len(found.star.prior) == 4
    narrow = Star(messages[:2], free.prior, free.tables[:2])
    assert len(best_size(narrow, np.ones(4000), log_rows=0.0, **SETTINGS).star.prior) == 2


def test_no_more_states_than_the_limit(monkeypatch):
    small = with_states(classes(5), 2)
    monkeypatch.setattr(states, "MAX_STATES", 4)
    assert len(chosen(small).star.prior) == 4
    assert MAX_STATES == 32


def test_the_price_of_a_parameter_decides():
    """With a high price a weak class is not worth its parameters."""
    small = with_states(classes(3, n_rows=300, strength=0.5), 2)
    n_rows = small.messages[0].shape[1]
    dear = best_size(small, np.ones(n_rows), log_rows=60.0, **SETTINGS)
    cheap = best_size(small, np.ones(n_rows), log_rows=0.0, **SETTINGS)
    assert len(dear.star.prior) < len(chosen(small).star.prior) < len(cheap.star.prior)


def test_rows_with_weight_count_like_repeated_ones():
    small = with_states(classes(3, n_rows=150, strength=0.5), 2)
    few = best_size(small, np.ones(150), log_rows=np.log(150), **SETTINGS)
    more = best_size(small, np.full(150, 10.0), log_rows=np.log(1500), **SETTINGS)
    repeated = Star(tuple(np.tile(m, 10) for m in small.messages), small.prior, small.tables)
    same = best_size(repeated, np.ones(1500), log_rows=np.log(1500), **SETTINGS)
    assert len(few.star.prior) < len(more.star.prior) == len(same.star.prior)
    assert more.bic == pytest.approx(same.bic, rel=1e-3)


def test_the_same_seed_splits_states_the_same_way():
    small = with_states(classes(5), 2)
    one, same, other = (chosen(small, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.star.prior, same.star.prior)
    assert not np.array_equal(one.star.prior, other.star.prior)


def test_soft_messages_and_missing_cells():
    small = classes(3)
    rng = np.random.default_rng(0)
    messages = [message.copy() for message in small.messages]
    for message in messages[:4]:
        message[:, rng.random(2000) < 0.3] = True
    messages[4:] = [np.where(message, 1.0, 0.05) for message in messages[4:]]
    for first in (2, 5):
        start = with_states(Star(tuple(messages), small.prior, small.tables), first)
        assert len(chosen(start).star.prior) == 3


def test_the_states_that_are_merged_differ_least_for_their_weights(monkeypatch):
    """A rare state goes first, and the merged one has the mean of both, by their weights."""
    monkeypatch.setattr(states, "_ITERATIONS", 0)
    tables = (np.array([[0.7, 0.5, 0.0], [0.3, 0.5, 1.0]]),) * 4
    small = Star((np.ones((2, 10), dtype=bool),) * 4, np.array([0.6, 0.38, 0.02]), tables)
    found = best_size(small, np.ones(10), log_rows=10.0, **SETTINGS).star
    np.testing.assert_allclose(found.prior, [0.6, 0.4])
    np.testing.assert_allclose(found.tables[0], [[0.7, 0.475], [0.3, 0.525]])


def test_states_are_only_taken_away_if_more_are_not_wanted():
    assert chosen(with_states(classes(3), 2), more=False).star.prior.shape == (2,)
    assert chosen(with_states(classes(3), 5), more=False).star.prior.shape == (3,)


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2), (2, 2)])
def test_two_hidden_variables_are_reduced_to_the_states_that_they_have(sizes):
    tree = Tree([f"x{j}" for j in range(8)], [*((j, 8 + j // 4) for j in range(8)), (8, 9)])
    model = copying_model(tree, lambda u, v: 0.7, [4] * 8 + list(sizes))
    table = model.sample(1500, 0)
    around = surroundings(fit_model(table, tree, 4, smoothing=1.0, random_state=0).model, table)
    pair = around.pair(8, 9)
    found = reduced(pair, around.weights, log_rows=np.log(1500))
    assert found.between.shape == sizes[::-1]
    assert found.messages is pair.messages
    assert (pair.rows() - found.rows()).sum() < (pair.n_parameters - found.n_parameters) * np.log(1500) / 2


def test_states_that_are_alike_are_merged():
    """Each state stands twice; halves of it come together again, and the model says the same."""
    rng = np.random.default_rng(0)
    pair = random_pair((("hard", "soft"), ("hard", "hard")), ((3, 4), (3, 2)), (2, 2), rng)
    twice = Pair(
        pair.messages,
        pair.other_messages,
        np.repeat(pair.prior, 2) / 2,
        np.repeat(np.repeat(pair.between, 2, axis=0), 2, axis=1) / 2,
        tuple(np.repeat(table, 2, axis=1) for table in pair.tables),
        tuple(np.repeat(table, 2, axis=1) for table in pair.other_tables),
    )
    found = merged_states(twice, (2, 2))
    assert found.between.shape == (2, 2)
    np.testing.assert_allclose(found.rows(), pair.rows())
    assert merged_states(twice, (3, 2)).between.shape == (2, 3)
    np.testing.assert_allclose(merged_states(twice, (4, 2)).rows(), pair.rows())
