"""The default learner."""

import numpy as np
import pytest

from helpers.strategies import bare, same_graph
from latree import LatentTree, learn_tree
from latree._util.arrays import generator
from latree._util.progress import WHOLE, reported_to
from latree.learn import learn_model
from latree.learners import methods
from latree.learners.explain import explain
from latree.learners.methods import auto
from latree.learners.structure import latent_class
from latree.paper.simulate import random_model, random_tree
from latree.settings import Settings
from latree.table import Table, as_table


def learned(table, goal="explain", n_states=None, smoothing=None, seed=0, resolve="tested"):
    settings = Settings(goal=goal, resolve=resolve, n_states=n_states, smoothing=smoothing, random_state=seed)
    return auto(table, settings, generator(seed))


def simulated(n_leaves=6, n_rows=1500, seed=0):
    tree = random_tree(n_leaves, 0.5, seed)
    options = {"n_states": 3, "hidden_states": 3, "start": "identity", "random_state": seed}
    return tree, random_model(tree, perturbation=0.1, **options).sample(n_rows, seed)


def classes(n_rows=1000):
    """Eight columns that follow one hidden variable of four states."""
    tree = latent_class([f"x{i}" for i in range(8)]).tree
    model = random_model(tree, n_states=4, hidden_states=4, start="identity", perturbation=0.2, random_state=0)
    return tree, model.sample(n_rows, 0)


@pytest.mark.parametrize("goal", ["explain", "predict"])
def test_the_true_tree_is_found_with_support(goal):
    tree, table = simulated()
    found = learned(table, goal)
    assert found.tree.robinson_foulds(tree) == 0
    inner = np.array([min(edge) >= 6 for edge in found.tree.edges.tolist()])
    # To predict, held-out rows choose a tree, and nothing is learned again in parts of the rows.
    assert np.isnan(found.tree.support[inner]).all() if goal == "predict" else found.tree.support[inner].min() > 0.9
    assert np.isnan(found.tree.support[~inner]).all()
    assert len(found.n_states or found.choice.n_states) == 4


@pytest.mark.parametrize("goal", ["explain", "predict"])
def test_a_smoothing_is_passed_on(goal):
    _, table = simulated(n_rows=300)
    assert learn_model(table, Settings(goal=goal, n_states=2, smoothing=0.7, random_state=0)).smoothing == 0.7


@pytest.mark.parametrize("goal", ["explain", "predict"])
def test_a_number_of_states_is_passed_on(goal):
    _, table = simulated(n_rows=200)
    model = learn_model(table, Settings(goal=goal, n_states=3, smoothing=0.1, random_state=0)).model
    assert set(model.n_states[6:].tolist()) == {3}


def test_it_tells_how_far_it_is():
    _, table = simulated(4, 100)
    for goal in ("predict", "explain"):
        told = []
        with reported_to(lambda *numbers, told=told: told.append(numbers)):
            learned(table, goal, 2)
        assert told == sorted(told)
        assert {total for _, total in told} == {WHOLE}
        assert len({done for done, _ in told}) > 3


def test_the_same_seed_gives_the_same_tree_and_choice():
    table = as_table(np.random.default_rng(0).integers(0, 2, (60, 5)))
    one, two, other = (learned(table, "predict", 2, 0.1, seed=seed) for seed in (1, 1, 2))
    assert one.tree.to_newick() == two.tree.to_newick()
    np.testing.assert_array_equal(one.choice.scores, two.choice.scores)
    assert not np.array_equal(one.choice.scores, other.choice.scores)


@pytest.mark.parametrize("goal", ["explain", "predict"])
@pytest.mark.parametrize("n_columns", [2, 4])
def test_few_columns(goal, n_columns):
    tree, table = simulated(n_rows=300)
    few = Table.from_codes(table.columns[:n_columns], table.codes()[:, :n_columns])
    found = learned(few, goal, smoothing=0.1)
    assert found.tree.names == tree.names[:n_columns]
    assert len(found.tree.edges) > 0
    assert len(found.choice.n_states if goal == "predict" else found.n_states) == found.tree.n_hidden


def odd(kind):
    _, table = simulated(n_rows=150)
    codes = table.codes().astype(float)
    rng = np.random.default_rng(0)
    if kind == "independent":
        codes = rng.integers(0, 3, codes.shape)
    elif kind == "nearly constant":
        codes[:, 0], codes[:, 1] = np.arange(150) == 0, np.arange(150) < 2
    elif kind == "missing":
        codes[rng.random(codes.shape) < 0.4] = np.nan
    elif kind == "never together":
        codes[:75, 0] = codes[75:, 1] = np.nan
    elif kind == "equal columns":
        codes[:, 1] = codes[:, 0]
    elif kind == "three rows":
        codes = np.array([[0, 1, 0, 1, 0, 0], [1, 0, 1, 0, 0, 1], [0, 0, 1, 1, 1, 0]])
    return codes


KINDS = ["independent", "nearly constant", "missing", "never together", "equal columns", "three rows"]


@pytest.mark.parametrize("kind", KINDS)
def test_odd_data_can_be_learned_from(kind):
    fitted = LatentTree(random_state=0, max_iter=20).fit(odd(kind))
    assert fitted.tree_.names == tuple(f"x{j}" for j in range(6))
    assert all(len(near) > 1 for near in fitted.tree_.neighbors[6:])
    support = fitted.tree_.support[~np.isnan(fitted.tree_.support)]
    assert ((support >= 0) & (support <= 1)).all()
    assert np.isfinite(fitted.score(odd(kind)))


def test_rows_without_weight_say_nothing():
    _, table = simulated(n_rows=120)
    codes = np.concatenate([table.codes(), np.random.default_rng(0).integers(0, 3, (40, 6))])
    weighted = as_table(codes, weights=[*[1.0] * 120, *[0.0] * 40])
    one, other = (learned(as_table(t), n_states=2).tree for t in (weighted, as_table(codes[:120])))
    assert same_graph(bare(one), bare(other))


def test_a_model_starts_from_what_was_found_with_its_tree():
    _, table = simulated(n_rows=200)
    found = learn_model(table, Settings(random_state=0, max_iter=3))
    assert tuple(found.model.n_states[6:].tolist()) == found.structure.n_states
    start = found.structure.start
    log_prior = found.smoothing * sum(np.log(one).sum() for one in start.tables)
    assert found.fit.monitor.history[0] == pytest.approx(start.log_likelihood(table) + log_prior, rel=1e-9)


@pytest.mark.parametrize("method", ["auto", "nj", "chow-liu"])
def test_without_smoothing_a_state_that_only_rows_held_out_had_is_still_possible(method):
    _, table = simulated(n_rows=150)
    codes = table.codes()
    codes[:, 0] = np.where(np.arange(150) < 5, 3 + np.arange(150), codes[:, 0])  # five states of one row each
    fitted = LatentTree(method, smoothing=0, random_state=0, max_iter=20).fit(codes)
    assert np.isfinite(fitted.score(codes))
    assert fitted.summary_["smoothing"] == 0


def test_in_wide_tables_the_search_waits_until_a_joined_tree_is_close(monkeypatch):
    searches = []

    def noted(*arguments):
        searches.append(arguments[1].resolve)
        return explain(*arguments)

    monkeypatch.setattr(methods, "explain", noted)
    rng = np.random.default_rng(0)
    steps = rng.integers(1, 5, (400, 6)) * (rng.random((400, 6)) < 0.2)
    steps[:, 0] = rng.integers(0, 5, 400)
    copies = np.cumsum(steps, axis=1) % 5  # each column mostly copies the one before
    for wide, expected in ((5, []), (6, ["all", "tested"])):
        searches.clear()
        monkeypatch.setattr(methods, "WIDE", wide)
        assert learned(as_table(copies), "predict", 2, 0.1).candidates[0].kind == "chow-liu"
        assert searches == expected
    monkeypatch.setattr(methods, "WIDE", 5)
    tree, table = simulated(n_rows=400)
    found = learned(table, "predict", 3, 0.1)
    assert found.tree.robinson_foulds(tree) == 0
    assert {candidate.kind for candidate in found.candidates} >= {"resolved", "explained"}


# What does not hang together


def halves(seed, n_rows=1500):
    """Two groups of four columns, independent of each other."""
    return as_table(np.hstack([simulated(4, n_rows, seed + i)[1].codes() for i in (0, 1)]))


def groups(tree):
    """The columns of each component."""
    return {frozenset(i for i in range(tree.n_observed) if part >> i & 1) for part in tree.components}


@pytest.mark.parametrize("goal", ["explain", "predict"])
def test_a_column_that_depends_on_nothing_is_by_itself(goal):
    _, table = simulated()
    loose = np.random.default_rng(5).integers(0, 3, (1500, 1))
    found = learned(as_table(np.hstack([table.codes()[:, :3], loose, table.codes()[:, 3:]])), goal)
    assert groups(found.tree) == {frozenset({3}), frozenset({0, 1, 2, 4, 5, 6})}


@pytest.mark.parametrize("goal", ["explain", "predict"])
def test_independent_columns_give_no_edges(goal):
    found = learned(as_table(np.random.default_rng(0).integers(0, 3, (500, 6))), goal)
    assert len(found.tree.edges) == 0
    assert goal == "explain" or found.choice.n_states == ()


@pytest.mark.parametrize("goal", ["explain", "predict"])
def test_a_fully_resolved_tree_is_kept_if_asked_for(goal):
    for table in (classes()[1], halves(2)):
        resolved = learned(table, goal, 2, resolve="all").tree
        assert resolved.n_hidden == 6
        assert {len(near) for near in resolved.neighbors[8:]} == {3}
        assert groups(resolved) == {frozenset(range(8))}
        again = learn_tree(table, goal=goal, resolve="all", n_states=2, random_state=0)
        assert again.to_newick() == resolved.to_newick()
