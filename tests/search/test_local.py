"""Small models of one or two hidden variables, against sums over their states and against whole models."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from helpers.models import grouped_model, holes, small_models
from helpers.search import (
    KINDS,
    around_fitted,
    naive_em,
    naive_rows,
    random_binary,
    random_message,
    random_pair,
    random_star,
    rows_of_two,
    surroundings,
)
from latree.model import LatentTreeModel
from latree.search import local
from latree.search.local import SMOOTHING, Pair, Star, fit, held_out
from latree.search.neighbors import normalised
from latree.table import Table

EXACT = {"rtol": 1e-9, "atol": 1e-9}


def all_tables(model):
    between = (model.between, *model.other_tables) if isinstance(model, Pair) else ()
    return (model.prior, *model.tables, *between)


def objective(model, weights, smoothing):
    """What EM raises: the log-likelihood, and the logarithm of every probability times the smoothing."""
    return weights @ model.rows() + smoothing * sum(np.log(table).sum() for table in all_tables(model))


def several_models():
    """Neighbours of every kind, and every mix of them."""
    rng = np.random.default_rng(0)
    for kinds in product(KINDS, repeat=3):
        yield random_star(kinds, (2, 3, 4), 3, rng)
    for kinds in product(KINDS, repeat=2):
        yield random_pair((kinds, (*reversed(kinds), "missing")), ((2, 3), (4, 2, 3)), (2, 3), rng)
        yield random_pair((kinds, ("soft",)), ((3, 2), (4,)), (3, 2), rng)


MODELS = list(several_models())


@pytest.mark.parametrize("model", MODELS)
def test_rows_equal_sums_over_hidden_states(model):
    np.testing.assert_allclose(model.rows(), naive_rows(model), **EXACT)
    fitted = fit(model, np.ones(40), smoothing=1.0, max_iter=3)
    np.testing.assert_allclose(fitted.rows, naive_rows(fitted.model), **EXACT)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("smoothing", [0.1, 1.0])
def test_em_never_lowers_its_objective(model, smoothing):
    weights = np.random.default_rng(1).exponential(size=40)
    values = [objective(model, weights, smoothing)]
    for _ in range(6):
        model = fit(model, weights, smoothing=smoothing, max_iter=1).model
        values.append(objective(model, weights, smoothing))
        assert all(np.allclose(table.sum(axis=0), 1) for table in all_tables(model))
    assert (np.diff(values) > -1e-9).all()
    assert values[-1] > values[0] + 1


@pytest.mark.parametrize("found", [MODELS[5], MODELS[28]], ids=["star", "pair"])
def test_steps_of_em_end_where_no_table_nearby_is_better(found):
    rng = np.random.default_rng(2)
    weights = rng.exponential(size=40)
    for _ in range(1500):
        found = fit(found, weights, smoothing=1.0, max_iter=1).model
    best = objective(found, weights, 1.0)

    def near(table):
        return normalised(table * np.exp(0.01 * rng.standard_normal(table.shape)))

    for _ in range(20):
        changes = [{"prior": near(found.prior)}, {"tables": tuple(map(near, found.tables))}]
        if isinstance(found, Pair):
            changes += [{"between": near(found.between)}, {"other_tables": tuple(map(near, found.other_tables))}]
        for changed in changes:
            assert objective(replace(found, **changed), weights, 1.0) < best


def test_em_ends_early_when_nothing_is_gained(monkeypatch):
    star = random_star(("hard",) * 3, (2, 2, 2), 2, np.random.default_rng(3))

    def fitted(iterations):
        return fit(star, np.ones(40), smoothing=0.0, max_iter=iterations)

    longest = fitted(10_000)
    assert longest.rows.sum() - fitted(100).rows.sum() > 0.01
    np.testing.assert_array_equal(longest.rows, fitted(20_000).rows)
    again = fit(longest.model, np.ones(40), smoothing=0.0, max_iter=1)
    assert again.rows.sum() - longest.rows.sum() < 1e-7 * 40
    monkeypatch.setattr(local, "_TOLERANCE", 1e-3)
    assert fitted(10_000).rows.sum() < longest.rows.sum() - 0.01


def test_em_ends_when_its_target_is_out_of_reach():
    """After one iteration, EM goes on if it would reach the target with gains like the last one."""
    model, weights = MODELS[5], np.ones(40)

    def fitted(iterations, target=-np.inf):
        return fit(model, weights, smoothing=0.01, max_iter=iterations, target=target)

    start, first, last = (fitted(iterations).rows.sum() for iterations in (0, 1, 10))
    assert start < first < last
    np.testing.assert_array_equal(fitted(10, first).rows, fitted(10).rows)
    gain = first - start
    assert fitted(10, first + 9 * gain - 0.1).rows.sum() > first
    assert fitted(10, first + 9 * gain + 0.1).rows.sum() == first
    assert fitted(10, start + 299).rows.sum() > start
    assert fitted(10, start + 301).rows.sum() == start


@pytest.mark.parametrize("model", MODELS)
def test_rows_without_weight_are_scored_and_not_fitted(model):
    weights = np.repeat([1.0, 0.0], 20)
    fitted = fit(model, weights, smoothing=0.5, max_iter=4)
    messages = {"messages": tuple(message[:, :20] for message in model.messages)}
    if isinstance(model, Pair):
        messages["other_messages"] = tuple(message[:, :20] for message in model.other_messages)
    alone = fit(replace(model, **messages), np.ones(20), smoothing=0.5, max_iter=4)
    for one, other in zip(all_tables(fitted.model), all_tables(alone.model), strict=True):
        np.testing.assert_allclose(one, other, **EXACT)
    np.testing.assert_allclose(fitted.rows[:20], alone.rows, **EXACT)
    np.testing.assert_allclose(fitted.rows, naive_rows(fitted.model), **EXACT)


def test_weights_count_like_repeated_rows():
    rng = np.random.default_rng(4)
    star = random_star(KINDS, (2, 3, 2), 2, rng)
    times = rng.integers(0, 4, size=40)
    repeated = replace(star, messages=tuple(np.repeat(message, times, axis=1) for message in star.messages))
    one = fit(star, times.astype(float), smoothing=1.0, max_iter=5).model
    other = fit(repeated, np.ones(times.sum()), smoothing=1.0, max_iter=5).model
    for table, same in zip(all_tables(one), all_tables(other), strict=True):
        np.testing.assert_allclose(table, same, **EXACT)


def test_posteriors_are_those_of_bayes():
    star = random_star(KINDS, (2, 3, 2), 3, np.random.default_rng(5))
    total = np.exp(naive_rows(star))
    for h in range(3):
        only = replace(star, prior=star.prior * (np.arange(3) == h))
        np.testing.assert_allclose(star.posterior()[h], np.exp(naive_rows(only)) / total, **EXACT)


def with_tables(model, around, h, small):
    """The whole model with the tables of a small one around a hidden variable, or around two."""
    tree, rooted = model.tree, model.tree.rooted(h)
    near = [[u for u, _ in tree.neighbors[h]]]
    given = [dict(zip(near[0], small.tables, strict=True))] if isinstance(small, Star) else []
    if isinstance(small, Pair):
        g, near = small_ends(tree, h)
        given = [dict(zip(near[0], small.tables, strict=True)) | {g: small.between}]
        given.append(dict(zip(near[1], small.other_tables, strict=True)))
    given = {u: table for tables in given for u, table in tables.items()}
    # Down from h: the distribution of each node, and its joint one with the node above.
    marginal, joint = {h: small.prior}, {}
    for node in rooted.order.tolist():
        above = int(rooted.parent[node])
        if above in marginal:
            table = given.get(node, around.conditional(node, above))
            joint[node, above] = table * marginal[above]
            joint[above, node] = joint[node, above].T
            marginal[node] = joint[node, above].sum(axis=1)
    tables = []
    for node, above in enumerate(tree.rooted().parent.tolist()):
        if node not in marginal:
            tables.append(model.tables[node])
        else:
            tables.append(joint[node, above] / marginal[above] if above >= 0 else marginal[node][:, None])
    return LatentTreeModel(tree, model.columns, tuple(tables))


def small_ends(tree, h):
    """A hidden neighbour g of a hidden variable h, and the other neighbours of both."""
    g = next(u for u, _ in tree.neighbors[h] if u >= tree.n_observed)
    return g, [[u for u, _ in tree.neighbors[h] if u != g], [u for u, _ in tree.neighbors[g] if u != h]]


def other_numbers(small, rng):
    """The same small model with random tables."""
    new = lambda table: rng.dirichlet(np.ones(len(table)), size=table.shape[1:]).T  # noqa: E731
    changed = {"prior": rng.dirichlet(np.ones(len(small.prior))), "tables": tuple(map(new, small.tables))}
    if isinstance(small, Pair):
        changed |= {"between": new(small.between), "other_tables": tuple(map(new, small.other_tables))}
    return replace(small, **changed)


@pytest.mark.parametrize("model", small_models())
def test_a_small_model_has_the_likelihood_of_the_whole_one(model):
    """With other tables around one hidden variable, or around two, both likelihoods change by the same."""
    rng = np.random.default_rng(0)
    table = Table.from_codes(model.columns, holes(model.sample(30, 0).codes(), 0), rng.exponential(size=30))
    around, tree = surroundings(model, table), model.tree
    for h in range(tree.n_observed, tree.n_nodes):
        smalls = [around.star(h)]
        if any(u >= tree.n_observed for u, _ in tree.neighbors[h]):
            smalls.append(around.pair(h, small_ends(tree, h)[0]))
        for small in smalls:
            same = with_tables(model, around, h, small)
            assert same.log_likelihood(table) == pytest.approx(model.log_likelihood(table))
            for other in (other_numbers(small, rng), fit(small, around.weights, smoothing=1, max_iter=5).model):
                difference = with_tables(model, around, h, other).log_likelihood(table) - model.log_likelihood(table)
                assert around.weights @ (other.rows() - small.rows()) == pytest.approx(difference, abs=1e-9)
                assert abs(difference) > 0.1


def test_two_hidden_variables_that_agree_are_one():
    """The pair says that both are equal: merged, they are one with the same likelihood, but for the floor."""
    rng = np.random.default_rng(6)
    pair = random_pair((("hard", "soft", "missing"), ("soft", "hard")), ((3, 2, 4), (2, 5)), (3, 3), rng)
    pair = replace(pair, between=np.eye(3))
    star = pair.merged(3)
    assert star.messages == (*pair.messages, *pair.other_messages)
    np.testing.assert_allclose(star.rows(), pair.rows(), atol=0.1)
    assert abs(star.rows() - pair.rows()).mean() < 0.02
    certain = replace(pair, tables=tuple(np.eye(len(table), 3) for table in pair.tables)).merged(3)
    assert all((table > 0).all() for table in all_tables(certain))  # EM can change every one


@pytest.mark.parametrize("k", [1, 2, 4, 6])
def test_merged_gives_as_many_states_as_asked_for(k):
    rng = np.random.default_rng(7)
    pair = random_pair((("hard", "soft"), ("missing",)), ((3, 2), (4,)), (3, 2), rng)
    star = pair.merged(k)
    assert star.prior.shape == (k,)
    assert [table.shape for table in star.tables] == [(3, k), (2, k), (4, k)]
    assert all(np.allclose(table.sum(axis=0), 1) for table in all_tables(star))
    if k == 6:  # one for each two states: as good as both
        np.testing.assert_allclose(star.rows(), pair.rows(), atol=0.1)


def test_merged_keeps_rare_states_last():
    """Of three kinds of rows, the two that differ least become one, and their weights are added."""
    tables = (np.array([[0.9, 0.1, 0.15], [0.1, 0.9, 0.85]]),) * 3
    message = np.ones((2, 1), dtype=bool)
    pair = Pair((message,) * 3, (message,), np.array([0.5, 0.3, 0.2]), np.ones((1, 3)), tables, (np.ones((2, 1)) / 2,))
    star = pair.merged(2)
    order = np.argsort(star.tables[0][0])
    np.testing.assert_allclose(star.prior[order], [0.5, 0.5], atol=0.01)
    np.testing.assert_allclose(star.tables[0][0][order], [0.12, 0.9], atol=0.01)


def test_apart_are_the_two_sides_by_themselves():
    rng = np.random.default_rng(8)
    pair = random_pair((("hard", "soft"), ("missing",)), ((3, 2), (4,)), (3, 2), rng)
    one, other = pair.apart()
    silent = tuple(np.ones_like(message) for message in pair.other_messages)
    np.testing.assert_allclose(one.rows(), replace(pair, other_messages=silent).rows(), **EXACT)
    silent = tuple(np.ones((len(message), 40)) for message in pair.messages)
    np.testing.assert_allclose(other.rows(), replace(pair, messages=silent).rows(), **EXACT)
    independent = replace(pair, between=np.repeat((pair.between @ pair.prior)[:, None], 3, axis=1))
    np.testing.assert_allclose(one.rows() + other.rows(), independent.rows(), **EXACT)


MANY = [("hard", 3000, 40), ("missing", 3000, 40), ("soft", 3000, 40), ("hard", 60, 3000), ("soft", 60, 3000)]


@pytest.mark.parametrize(("kind", "d", "n_states"), MANY)
def test_many_neighbours_do_not_underflow(kind, d, n_states):
    """Each neighbour's cells have a small probability: their product is too small, its logarithm is not."""
    rng = np.random.default_rng(9)
    messages = tuple(random_message("hard" if kind == "soft" else kind, n_states, 5, rng) for _ in range(d))
    if kind == "soft":
        messages = tuple(np.maximum(message, 1e-9) for message in messages)
    tables = tuple(normalised(rng.uniform(0.5, 1.5, (n_states, 2))) for _ in range(d))
    star = Star(messages, np.array([0.3, 0.7]), tables)
    logarithms = sum(np.log(table.T @ message) for table, message in zip(tables, messages, strict=True))
    expected = np.logaddexp(*(logarithms + np.log(star.prior)[:, None]))
    np.testing.assert_allclose(star.rows(), expected, rtol=1e-9)
    np.testing.assert_allclose(star.posterior()[0], np.exp(logarithms[0] + np.log(0.3) - expected), rtol=1e-6)
    pair = Pair(messages, messages, star.prior, np.eye(2), tables, tables)
    both = np.logaddexp(*(2 * logarithms + np.log(star.prior)[:, None]))
    np.testing.assert_allclose(pair.rows(), both, rtol=1e-9)
    fitted = fit(star, np.ones(5), smoothing=0.01, max_iter=2)
    assert np.isfinite(fitted.rows).all()
    assert fitted.rows.sum() > star.rows().sum()


def test_numbers_of_parameters_by_hand():
    rng = np.random.default_rng(10)
    star = random_star(("hard", "soft"), (3, 4), 2, rng)
    assert star.n_parameters == 1 + 2 * 2 + 2 * 3
    pair = random_pair((("hard", "soft"), ("missing",)), ((3, 4), (5,)), (2, 3), rng)
    assert pair.n_parameters == 1 + 2 * 2 + (2 * 2 + 2 * 3) + 3 * 4
    for model in (star, pair):
        assert model.n_parameters == sum(table.size - table[0].size for table in all_tables(model))


def test_a_probability_of_zero_is_no_error():
    """EM never leaves it without smoothing, and no logarithm of zero is taken."""
    tables = (np.array([[1.0, 0.5], [0.0, 0.5]]),) * 3
    messages = tuple(random_message("hard", 2, 40, np.random.default_rng(seed)) for seed in range(3))
    star = Star(messages, np.array([0.5, 0.5]), tables)
    np.testing.assert_allclose(star.rows(), naive_rows(star), **EXACT)
    found = fit(star, np.ones(40), smoothing=0.0, max_iter=5).model
    assert [table[1, 0] for table in found.tables] == pytest.approx([0, 0, 0], abs=1e-200)


def test_two_hidden_variables_start_as_near_copies():
    small = random_star(("hard",) * 5, (3,) * 5, 3, np.random.default_rng(0))
    pair = small.divided([1, 3])
    assert pair.messages == tuple(small.messages[place] for place in (0, 2, 4))
    assert pair.other_messages == tuple(small.messages[place] for place in (1, 3))
    np.testing.assert_allclose(pair.between @ pair.prior, small.prior)
    assert 0.5 < np.diag(pair.between).min() < 0.99


PAIRS = [model for model in MODELS if isinstance(model, Pair)]


@pytest.mark.parametrize("pair", PAIRS)
def test_either_of_two_hidden_variables_may_be_the_first(pair):
    np.testing.assert_allclose(pair.flipped().rows(), pair.rows(), **EXACT)
    again = pair.flipped().flipped()
    for one, other in zip(all_tables(again), all_tables(pair), strict=True):
        np.testing.assert_allclose(one, other, **EXACT)


@pytest.mark.parametrize("pair", PAIRS)
def test_a_pair_is_a_star_whose_last_neighbour_is_hidden(pair):
    small = pair.as_star()
    assert small.messages[-1].max(axis=0) == pytest.approx(1)
    difference = small.rows() - pair.rows()  # the message has another scale in each row, the same for all models
    changed = replace(small, prior=small.prior[::-1] / small.prior.sum())
    np.testing.assert_allclose(changed.rows() - pair.with_star(changed).rows(), difference, **EXACT)
    found, expected = pair.with_star(small), replace(pair, tables=small.tables[:-1], between=small.tables[-1])
    assert list(vars(found).values()) == list(vars(expected).values())  # the very same arrays


@pytest.mark.parametrize("pair", PAIRS)
def test_an_exchange_is_the_pair_with_two_neighbours_at_the_other_hidden_variable(pair):
    """By the joint distributions of the model itself: a neighbour depends on the other hidden variable as before."""
    if len(pair.other_tables) < 2:
        return
    found = pair.exchanged(1, 0)
    joint = pair.between * pair.prior  # P(g, h)
    moved, came = found.other_tables[-1] * joint.sum(axis=1), found.tables[-1] * pair.prior
    np.testing.assert_allclose(moved, pair.tables[1] @ joint.T)  # P(u, g) = Σ_h P(u | h) P(h, g)
    np.testing.assert_allclose(came, pair.other_tables[0] @ joint)
    assert found.messages == (pair.messages[0], pair.other_messages[0])
    assert found.other_messages == (*pair.other_messages[1:], pair.messages[1])
    assert all(one is other for one, other in zip(found.tables, pair.tables[:1], strict=False))
    assert all(one is other for one, other in zip(found.other_tables, pair.other_tables[1:], strict=False))
    np.testing.assert_allclose(found.rows(), naive_rows(found), **EXACT)
    # Where both hidden variables always agree, it does not matter whose neighbour a neighbour is.
    k = len(pair.prior)
    same = replace(pair, between=np.eye(k), other_tables=tuple(table[:, [0] * k] for table in pair.other_tables))
    np.testing.assert_allclose(same.exchanged(1, 0).rows(), same.rows(), **EXACT)


# Rows that are left out


def folds(n_rows, seed=0):
    """The third that each row belongs to."""
    return np.random.default_rng(seed).permutation(n_rows) % 3


@pytest.mark.parametrize("model", [MODELS[5], MODELS[26], MODELS[28], MODELS[31]])
def test_rows_are_scored_by_a_fit_to_the_other_two_thirds(model):
    weights = np.random.default_rng(0).exponential(size=40)
    expected = 0.0
    for fold in range(3):
        own = folds(40) == fold
        fitted = naive_em(model, np.where(own, 0, weights), SMOOTHING, local._FOLD_ITERATIONS)
        expected += weights[own] @ np.array(naive_rows(fitted))[own]
    assert held_out(model, weights, 0) == pytest.approx(expected)
    assert held_out(model, weights, 0) < weights @ fit(model, weights, max_iter=local._FOLD_ITERATIONS).rows


def with_rows_of_another_kind(*numbers):
    """Thirty rows of zeros but for some rows of ones."""
    cells = np.zeros((1, 30), dtype=int)
    cells[:, list(numbers)] = 1
    table = np.array([[0.9, 0.1], [0.1, 0.9]])
    return Star((np.arange(2)[:, None] == cells,) * 6, np.array([0.9, 0.1]), (table,) * 6)


def test_no_row_is_predicted_with_its_own_help():
    """A row of another kind is a surprise, unless one like it is in another fold; one in its own does not help."""
    weights = np.ones(30)
    first, second = np.flatnonzero(folds(30) == 0)[:2]
    elsewhere = np.flatnonzero(folds(30) == 1)[0]
    alone, same_fold, other_fold = (
        with_rows_of_another_kind(*rows) for rows in ((first,), (first, second), (first, elsewhere))
    )
    in_fit = [fit(model, weights, max_iter=4).rows.sum() for model in (same_fold, other_fold)]
    assert in_fit[0] == pytest.approx(in_fit[1])
    assert held_out(other_fold, weights, 0) > held_out(same_fold, weights, 0) + 3
    # Each of two in one fold costs what one alone costs.
    none = held_out(with_rows_of_another_kind(), weights, 0)
    surprise = none - held_out(alone, weights, 0)
    assert surprise > 3
    assert none - held_out(same_fold, weights, 0) == pytest.approx(2 * surprise, rel=0.1)


def test_rows_that_only_their_own_fold_could_help_with_are_predicted_from_nothing():
    weights = np.where(folds(30) == 1, 2.0, 0.0)
    assert held_out(with_rows_of_another_kind(1), weights, 0) == pytest.approx(weights.sum() * 6 * np.log(0.5))


def test_two_hidden_variables_predict_better_only_where_there_are_two():
    gains = {"one": [], "two": []}
    for seed in range(12):
        for kind, (tree, table) in {
            "one": (random_binary(one := grouped_model((5,), top=False).sample(300, seed), seed), one),
            "two": rows_of_two((3, 3), n_rows=300, seed=seed),
        }.items():
            around = around_fitted(tree, table)
            pair = around.pair(*tree.edges[around.inner_edges[0]].tolist())
            single = fit(pair.merged(3), around.weights, max_iter=20).model
            gains[kind].append(held_out(pair, around.weights, 0) - held_out(single, around.weights, 0))
    assert np.mean(gains["one"]) < -1
    assert np.mean(gains["two"]) > 5
    assert np.median(gains["one"]) < 0 < np.min(gains["two"])


def test_another_seed_gives_other_folds_of_equal_size():
    model, weights = MODELS[5], np.ones(40)
    assert held_out(model, weights, 0) == held_out(model, weights, 0) != held_out(model, weights, 1)
