"""Numbers of states and smoothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import any_tree
from latree._util.progress import Attempts
from latree.inference.messages import log_likelihoods
from latree.learners.structure import latent_class
from latree.model import ConvergenceMonitor, fit_model
from latree.model.fitting import SMOOTHINGS, StateSearch, cap_states, choose, held_out, is_better, mean_entropy
from latree.paper.simulate import random_model, random_tree
from latree.table import Column, Table, as_table
from latree.tree import Tree


def bound(sizes):
    return max(1, int(np.prod(sorted(sizes)[:-1], dtype=float)))


def around(tree, node, sizes):
    return [sizes[other] for other, _ in tree.neighbors[node]]


@settings(deadline=None, max_examples=60)
@given(any_tree, st.integers(1, 70), st.integers(0, 2**31), st.lists(st.integers(2, 6), min_size=9, max_size=9))
def test_no_hidden_variable_has_more_states_than_matter_and_none_could_have_more(tree, most, seed, columns):
    columns = columns[: tree.n_observed]
    found = [*columns, *cap_states(tree, columns, most)]
    hidden = range(tree.n_observed, tree.n_nodes)
    assert all(1 <= found[node] <= min(most, bound(around(tree, node, found))) for node in hidden)
    # The naive twin takes hidden variables in any order, one state a time.
    rng = np.random.default_rng(seed)
    sizes = [*columns, *[most] * tree.n_hidden]
    while above := [node for node in hidden if sizes[node] > bound(around(tree, node, sizes))]:
        sizes[rng.choice(above)] -= 1
    assert sizes == found


@pytest.mark.parametrize(
    ("newick", "columns", "most", "states"),
    [
        ("((a,b),c,d);", [2, 2, 2, 2], 64, {4}),  # at a pair of binary columns four say it all
        ("((a,b),c,d);", [2, 3, 4, 5], 64, {6, 20}),
        ("(a,b);", [3, 5], 64, {3}),
        ("(a,(b,c));", [2, 3, 4], 64, {2, 6}),  # a hidden variable between a and the other one
        ("(a,b,c,d,e,f,g);", [2] * 7, 64, {64}),
        ("(a,b,c,d,e,f);", [2] * 6, 64, {32}),
        ("(a,b,c,d,e,f);", [2] * 6, 5, {5}),
        ("((a,b),(c,d),(e,f));", [2] * 6, 64, {4, 16}),
        ("(a,b);", [2, 2], 1, {1}),
    ],
)
def test_known_numbers_of_states(newick, columns, most, states):
    tree = Tree.from_newick(newick)
    assert set(cap_states(tree, columns, most)) == states


@pytest.mark.parametrize("sizes", [(2, 2), (3, 5), (2, 3, 4), (4, 2, 2), (2, 2, 2, 3)])
def test_more_states_than_matter_say_nothing_more(sizes):
    """Any mixture can be written with as many states as all neighbours but the largest have together."""
    rng = np.random.default_rng(0)
    prior, tables = rng.dirichlet(np.ones(40)), [rng.dirichlet(np.ones(n), 40).T for n in sizes]
    joint = sum(
        prior[h] * np.multiply.outer(tables[0][:, h], _outer([table[:, h] for table in tables[1:]])) for h in range(40)
    )
    tree = latent_class([f"x{i}" for i in range(len(sizes))]).tree
    (most,) = cap_states(tree, sizes, 1000)
    moved = np.moveaxis(joint, int(np.argmax(sizes)), -1).reshape(-1, max(sizes))  # a state for every row of this
    assert len(moved) == most
    rewritten = moved.sum(axis=1)[:, None] * (moved / moved.sum(axis=1)[:, None])
    np.testing.assert_allclose(rewritten, moved, rtol=1e-12)
    columns = [Column(f"x{i}", "integer", tuple(map(str, range(n)))) for i, n in enumerate(sizes)]
    codes = np.array(list(np.ndindex(*sizes)))
    table = Table.from_codes(columns, codes, 1000 * joint.ravel())
    entropy = float((joint * np.log(joint)).sum() * 1000)
    gaps = {}
    for k in (1, most):
        monitor = ConvergenceMonitor(1e-9, 3000)
        fits = [fit_model(table, tree, k, smoothing=0, monitor=monitor, random_state=seed).objective for seed in (0, 1)]
        gaps[k] = entropy - max(fits)
    assert gaps[most] < 0.02 * gaps[1]
    assert gaps[most] < 0.01


def _outer(vectors):
    product = np.array(1.0)
    for vector in vectors:
        product = np.multiply.outer(product, vector)
    return product


def star_table(n_columns, n_states, hidden_states, n_rows, perturbation=0.1):
    tree = latent_class([f"x{i}" for i in range(n_columns)]).tree
    options = {"n_states": n_states, "hidden_states": hidden_states, "start": "identity", "random_state": 0}
    return tree, random_model(tree, perturbation=perturbation, **options).sample(n_rows, 0)


def chosen(table, tree, seed=0, **known):
    return choose(table, tree, held_out(table, np.random.default_rng(seed)), random_state=seed, **known)


def begun(table, tree, n_states=None, smoothing=None):
    parts = held_out(table, np.random.default_rng(0))
    return StateSearch(table, tree, parts, n_states, smoothing, 0, Attempts())


def test_what_is_given_is_kept():
    tree = random_tree(5, 0.5, 0)
    table = random_model(tree, n_states=3, random_state=0).sample(200, 0)
    for told, states in ((3, (3, 3, 3)), ([2, 3, 1], (2, 3, 1))):
        choice = chosen(table, tree, n_states=told, smoothing=0.7)
        assert (choice.n_states, choice.smoothing) == (states, 0.7)
        assert choice.start.n_states[5:].tolist() == list(states)
    choice = chosen(table, tree, n_states=2)
    assert choice.n_states == (2, 2, 2)
    assert choice.smoothing in SMOOTHINGS
    choice = chosen(table, tree, smoothing=0.7)
    assert choice.smoothing == 0.7
    assert choice.start.n_states[5:].tolist() == list(choice.n_states)
    bare = chosen(table, Tree(tree.names, [(0, 1), (1, 2), (3, 4)]))
    assert bare.n_states == ()
    assert bare.smoothing in SMOOTHINGS


def test_two_states_are_enough_for_data_of_two_states():
    tree, table = star_table(6, 2, 2, 600, 0.2)
    assert chosen(table, tree).n_states == (2,)


def test_states_as_many_as_the_data_need():
    tree, table = star_table(8, 8, 8, 2000)
    assert 8 <= chosen(table, tree).n_states[0] <= 32


def test_sure_tables_are_smoothed_little_and_noisy_ones_much():
    rng = np.random.default_rng(0)
    tree = latent_class([f"x{i}" for i in range(6)]).tree
    noise = rng.integers(0, 4, (400, 6))
    copies = np.where(rng.random((400, 6)) < 0.99, rng.integers(0, 4, (400, 1)), noise)
    assert chosen(as_table(copies), tree, n_states=4).smoothing <= 0.3
    assert chosen(as_table(noise), tree, n_states=4).smoothing > 1


def test_the_same_seed_chooses_the_same():
    tree = random_tree(4, 0.5, 0)
    table = random_model(tree, n_states=2, random_state=0).sample(60, 0)
    one, two, other = (chosen(table, tree, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.scores, two.scores)
    assert (one.n_states, one.smoothing) == (two.n_states, two.smoothing)
    assert all((a == b).all() for a, b in zip(one.start.tables, two.start.tables, strict=True))
    assert not np.array_equal(one.scores, other.scores)


def test_scores_are_those_of_rows_that_were_not_fitted_times_their_weights():
    tree, table = star_table(4, 3, 2, 1200)
    weights = np.random.default_rng(0).integers(0, 4, 1200) * 0.75
    table = Table.from_codes(table.columns, table.codes(), weights)
    table = table.take(np.flatnonzero(weights * (np.arange(1200) < 900)))
    parts = held_out(table, np.random.default_rng(0))
    choice = choose(table, tree, parts, n_states=2, smoothing=0.5)
    assert len(choice.scores) == table.n_rows
    # The start was fitted to one of the parts.
    judged = [part.judged.subsample_block(10**9, 0) for part in parts]
    scores = np.split(choice.scores, np.cumsum([len(block.codes) for block in judged])[:-1])
    under_start = [log_likelihoods(choice.start.network, block.codes) * block.weights for block in judged]
    assert sum(np.allclose(a, b, rtol=1e-12, atol=0) for a, b in zip(scores, under_start, strict=True)) == 1
    monitor = ConvergenceMonitor(1e-6, 100)
    on_all = fit_model(table, tree, 2, smoothing=0.5, monitor=monitor, start=choice.start).model
    assert -0.05 < choice.scores.sum() / on_all.log_likelihood(table) - 1 < 0.05
    assert choice.scores.sum() < on_all.log_likelihood(table)


def test_em_starts_from_the_fit_that_suits_all_rows_best():
    tree, table = star_table(6, 3, 3, 600)
    parts = held_out(table, np.random.default_rng(0))
    search = StateSearch(table, tree, parts, 3, 0.1, 0, Attempts())
    best = max(search.best.models, key=lambda model: model.log_likelihood(table))
    for models in (search.best.models, search.best.models[::-1]):
        search.best = replace(search.best, models=models)
        assert search.choice.start is best


def test_better_means_by_more_than_the_standard_error_of_the_sum():
    rng = np.random.default_rng(0)
    others, noise = rng.normal(-5, 2, 400), rng.normal(0, 1, 400)
    noise -= noise.mean()
    error = noise.std() / 20  # of the mean
    for share, answer in ((0.9, False), (1.1, True)):
        gain = noise + share * error
        assert is_better(others + gain, others) is answer
        assert is_better(others + 2 * share * error + noise, others, errors=2) is answer
        assert not is_better(others, others + gain)
        weights = 7.5  # weights that are all alike tell nothing about how sure it is
        assert is_better(weights * (others + gain), weights * others) is answer
    assert not is_better(others, others)
    assert is_better(others + 0.1, others)
    heavy = np.where(np.arange(400) == 0, 400.0, 0.01)  # one heavy row is no more than one
    assert is_better(others + 1 + noise / 10, others, errors=2)
    assert not is_better(heavy * (others + 1 + noise / 10), heavy * others, errors=2)


def test_rounding_makes_nothing_better():
    scores = -np.ones(100)
    for errors in (0.0, 2.0):
        assert not is_better(scores + 1e-12, scores, errors)
        assert is_better(scores + 1e-3, scores, errors)


def test_fewer_impossible_rows_are_better():
    others = np.array([-1.0, -np.inf, -3.0, -4.0])
    assert is_better(np.array([-9.0, -9.0, -9.0, -9.0]), others)
    assert not is_better(others, np.array([-9.0, -9.0, -9.0, -9.0]))
    assert is_better(others + 0.1, others)
    assert not is_better(others, others + 0.1)
    assert not is_better(np.full(4, -np.inf), np.full(4, -np.inf))


def test_the_entropy_of_columns():
    table = as_table(np.array([[0, 0], [1, 0], [0, 0], [1, 1]] * 500))
    expected = (np.log(2) - 0.25 * np.log(0.25) - 0.75 * np.log(0.75)) / 2
    assert mean_entropy(table) == pytest.approx(expected, rel=1e-3)


def test_who_is_clearly_behind_after_some_parts_gives_up():
    tree, table = star_table(6, 2, 2, 600, 0.2)
    search = begun(table, tree, 2, 0.3)
    fair = search.best
    np.testing.assert_array_equal(search._fresh((2,), 0.3, fair.scores).scores, fair.scores)
    rng = np.random.default_rng(1)
    for errors, judged in ((2.6, len(search.parts[0].judged.codes())), (1.4, 600), (-100.0, 600)):
        noise = rng.normal(0, 1, 100)  # rows of one part
        noise -= noise.mean()
        rival = fair.scores + np.tile(noise + errors * noise.std() / 10, 6)
        given_up = search._fresh((2,), 0.3, rival)
        assert len(given_up.scores) == judged or errors == 1.4
        if errors == 1.4:
            assert len(given_up.scores) > 100  # not after the first part
        assert is_better(rival, given_up.scores) is (errors > 0)


def test_more_states_are_not_tried_if_they_cannot_be_expected_to_reach_a_rival():
    tree, table = star_table(8, 8, 8, 2500)
    alone = begun(table, tree, smoothing=1.0)
    first = alone.best
    alone.climb()
    assert alone.best.n_states == (8,)
    assert max(attempt.most for attempt in alone.tried) == 16
    gain = alone.best.total - first.total
    left = np.log2(100 / 8)  # 2000 of the rows are fitted, with at least 20 per state
    for share, most in ((1.1, 8), (0.9, 16)):
        search = begun(table, tree, smoothing=1.0)
        search.climb(alone.best.scores + share * gain * left / len(alone.best.scores))
        assert max(attempt.most for attempt in search.tried) == most
        np.testing.assert_array_equal(search.best.scores, alone.best.scores)
        search.climb()  # it goes on where it stopped, and tries nothing twice
        search.climb()
        assert [attempt.most for attempt in search.tried] == [attempt.most for attempt in alone.tried]
        np.testing.assert_array_equal(search.best.scores, alone.best.scores)


def test_more_states_must_be_worth_half_a_standard_error(monkeypatch):
    tree, table = star_table(6, 3, 3, 600)
    asked = []

    def noted(scores, others, errors):
        asked.append(errors)
        return is_better(scores, others, errors)

    monkeypatch.setattr("latree.model.fitting.is_better", noted)
    search = begun(table, tree, smoothing=0.3)
    search.climb()
    assert 0.5 in asked
    assert set(asked) <= {0, 0.5, 2}


def many_classes(n_classes, n_rows):
    """Twelve columns of four states that follow one hidden variable."""
    rng = np.random.default_rng(0)
    tree = latent_class([f"x{i}" for i in range(12)]).tree
    likely = rng.integers(0, 4, (n_classes, 12))[rng.integers(0, n_classes, n_rows)]
    return tree, as_table(np.where(rng.random((n_rows, 12)) < 0.7, likely, rng.integers(0, 4, (n_rows, 12))))


def test_more_states_come_from_growth_or_from_a_new_start_whichever_is_better():
    tree, table = many_classes(30, 4000)
    search = begun(table, tree, smoothing=0.1)
    search.climb()
    assert search.best.n_states == (32,)
    assert [attempt.most for attempt in search.tried] == [4, 8, 8, 16, 16, 32, 32, 64, 64]
    grown, fresh = (attempt.held_out for attempt in search.tried[3:5])
    assert fresh > grown + 0.05  # one hidden variable with clear states: rows unlike each other are a good start
    best = max(attempt.held_out for attempt in search.tried)
    assert search.best.total == pytest.approx(best * len(search.best.scores))
    tree = random_tree(30, 0.5, 0)
    options = {"n_states": 12, "hidden_states": 12, "start": "identity", "random_state": 0}
    table = random_model(tree, perturbation=0.3, **options).sample(4000, 0)
    search = begun(table, tree, smoothing=0.3)
    search.climb()
    grown, fresh = (attempt.held_out for attempt in search.tried[1:3])
    assert grown > fresh + 0.05  # many hidden variables
    assert search.best.total >= grown * len(search.best.scores) * (1 + 1e-12)


def test_fits_are_polished_with_the_smoothing_that_long_fits_need():
    tree = random_tree(8, 0.5, 0)
    table = random_model(tree, n_states=3, hidden_states=3, start="identity", random_state=0).sample(400, 0)
    for smoothing in (10.0, 0.01):
        search = begun(table, tree, 6)
        search.best = search._fresh((6,) * 6, smoothing)
        before = search.best
        search.polish()
        assert search.best.total > before.total
        assert (search.best.smoothing < smoothing) is (smoothing > 1)
    given = begun(table, tree, 6, 10.0)
    given.polish()
    assert given.best.smoothing == 10


def test_scores_on_trees_of_each_part():
    tree = random_tree(6, 0.5, 0)
    table = random_model(tree, n_states=3, start="identity", random_state=0).sample(300, 0)
    search = begun(table, tree, 2, 0.3)
    np.testing.assert_array_equal(search.scores_on([tree] * 6), search.best.scores)
    other = Tree(tree.names, random_tree(6, 0.5, 5).edges)
    mixed = search.scores_on([tree, *[other] * 5])
    np.testing.assert_array_equal(mixed[:50], search.best.scores[:50])
    assert (mixed[50:] != search.best.scores[50:]).all()


def test_scores_on_trees_with_more_hidden_variables_or_fewer():
    tree = random_tree(6, 0.5, 0)
    table = random_model(tree, n_states=3, start="identity", random_state=0).sample(300, 0)
    search, star = begun(table, tree, 2, 0.3), Tree(tree.names, [(column, 6) for column in range(6)])
    of_stars = search.scores_on([star] * 6)
    np.testing.assert_array_equal(of_stars, begun(table, star, 2, 0.3).best.scores)


def test_one_hidden_variable_may_have_more_states_than_many_of_them(monkeypatch):
    monkeypatch.setattr("latree.model.fitting.MAX_STATES", 4)
    monkeypatch.setattr("latree.model.fitting.MAX_CLASSES", 8)
    tree, table = star_table(8, 8, 8, 2000)
    assert chosen(table, tree).n_states == (8,)
    binary = Tree(table.names, random_tree(8, 0.5, 0).edges)
    assert max(chosen(table, binary).n_states) == 4
