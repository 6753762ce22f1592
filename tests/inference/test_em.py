"""EM's steps and when they stop."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.models import holes, model_on, small_models, table_of
from latree._util.progress import reported_to
from latree.inference.em import ConvergenceMonitor, Expectation, State, evaluate, iterate, step
from latree.model import fit_model
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    smoothing=st.sampled_from([0.0, 0.01, 0.5, 2.0]),
    share=st.sampled_from([0.0, 0.3]),
    weighted=st.booleans(),
)
def test_em_never_lowers_its_objective(seed, smoothing, share, weighted):
    tree = random_tree(5 + seed % 4, 0.4, seed)
    model = random_model(tree, n_states=3, hidden_states=2, random_state=seed)
    rows = holes(model.sample(60, seed).codes(), seed, share)
    table = table_of(model, rows, np.random.default_rng(seed).random(60) * 3 if weighted else None)
    monitor = ConvergenceMonitor(tol=0, max_iter=30)
    fit = fit_model(table, tree, 3, smoothing=smoothing, monitor=monitor, random_state=seed)
    gains = np.diff(fit.monitor.history)
    assert (gains >= -1e-9 * abs(fit.objective)).all()


def test_longer_steps_save_iterations_and_lose_nothing(monkeypatch):
    tree = random_tree(8, random_state=0)
    truth = random_model(tree, n_states=4, hidden_states=3, start="identity", perturbation=0.5, random_state=0)
    table = truth.sample(1000, 1)

    def fitted():
        return fit_model(table, truth.tree, 3, monitor=ConvergenceMonitor(1e-7, 1000), start=truth)

    quick = fitted()
    monkeypatch.setattr("latree.inference.em._MAX_LENGTH", 1.0)
    plain = fitted()
    assert quick.iterations < 0.6 * plain.iterations
    assert quick.objective > plain.objective - 1


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_steps_that_are_far_too_long_are_taken_back(smoothing, monkeypatch):
    monkeypatch.setattr("latree.inference.em._GROWTH", 100.0)
    monkeypatch.setattr("latree.inference.em._MAX_LENGTH", 100.0)
    truth = small_models()[0]
    monitor = ConvergenceMonitor(0, 30)
    fit = fit_model(truth.sample(200, 1), truth.tree, 3, smoothing=smoothing, monitor=monitor, random_state=0)
    gains = np.diff(fit.monitor.history)
    assert (gains >= -1e-9 * abs(fit.objective)).all()
    assert gains.sum() > 1
    for table in fit.model.tables:
        np.testing.assert_allclose(table.sum(axis=0), 1, rtol=1e-12)


def test_the_objective_is_what_the_docs_say():
    model = small_models()[0]
    table = model.sample(200, 0)
    fit = fit_model(table, model.tree, 2, smoothing=0.5, random_state=0)
    prior = 0.5 * sum(np.log(t).sum() for t in fit.model.tables)
    assert fit.objective == pytest.approx(fit.model.log_likelihood(table) + prior, rel=1e-10)


def test_without_hidden_variables_one_step_gives_the_frequencies():
    tree = Tree("ab", [(0, 1)])
    model = model_on(tree, [2, 3], 0)
    table = model.sample(500, 0)
    fit = fit_model(table, tree, [], smoothing=0, random_state=0)
    codes = table.codes()
    joint = np.histogram2d(codes[:, 0], codes[:, 1], bins=(2, 3))[0] / 500
    np.testing.assert_allclose(fit.model.joint([0, 1]), joint, rtol=1e-9)


def test_an_empty_state_keeps_its_column():
    """Without smoothing, a hidden state that no row is in has nothing to be re-estimated from."""
    tree = Tree("ab", [(0, 2), (1, 2)])
    model = model_on(tree, [2, 2, 2], 0)
    start = type(model)(tree, model.columns, (*model.tables[:2], np.array([[1.0], [0.0]])))
    fit = fit_model(model.sample(50, 0), tree, 2, smoothing=0, start=start)
    np.testing.assert_array_equal(fit.model.tables[0][:, 1], model.tables[0][:, 1])


def test_the_monitor_stops_at_the_tolerance_or_the_limit():
    model = small_models()[0]
    table = model.sample(300, 0)
    short = fit_model(table, model.tree, 2, monitor=ConvergenceMonitor(0, 5), random_state=0).monitor
    assert (len(short.history), short.converged) == (6, False)
    long = fit_model(table, model.tree, 2, monitor=ConvergenceMonitor(1e-4, 500), random_state=0).monitor
    assert long.converged
    gains = np.diff(long.history)
    assert gains[-1] < 1e-4 * 300 * 5 <= gains[:-1].min()


def test_the_tolerance_is_for_the_weight_not_the_number_of_rows():
    model = small_models()[0]
    rows = model.sample(100, 0).codes()
    tables = [table_of(model, rows, weights) for weights in (None, np.full(100, 50.0))]
    fits = [fit_model(table, model.tree, 2, smoothing=0, random_state=0) for table in tables]
    assert fits[0].iterations == fits[1].iterations > 5


def test_threads_and_seeds_give_the_same_bits(monkeypatch):
    monkeypatch.setattr("latree.inference.patterns._BLOCK_ROWS", (1, 64))
    model = small_models()[0]
    table = model.sample(1000, 0)
    many = fit_model(table, model.tree, 3, random_state=1)
    monkeypatch.setattr("latree._util.workers.n_threads", lambda: 1)
    one = fit_model(table, model.tree, 3, random_state=1)
    assert many.objective == one.objective
    assert all((a == b).all() for a, b in zip(many.model.tables, one.model.tables, strict=True))


def first_state(model, smoothing=0.5):
    """The E-step at a model's own tables, given rows of it with missing cells."""
    table = table_of(model, holes(model.sample(200, 0).codes(), 1))
    expectation = Expectation(table, model.network)
    return expectation, evaluate(expectation, model.tables, smoothing)


@pytest.mark.parametrize("index", range(5))
def test_the_first_step_is_that_of_plain_em(index):
    model = small_models()[index]
    expectation, state = first_state(model)
    after = step(state, expectation, 0.5)
    for counts, table in zip(state.counts, after.tables, strict=True):
        np.testing.assert_allclose(table, (counts + 0.5) / (counts + 0.5).sum(axis=0), rtol=1e-12)
    assert after.objective > state.objective
    assert (state.length, after.length) == (1.0, 1.2)


@pytest.mark.parametrize("length", [1.5, 4.0])
def test_a_longer_step_goes_as_many_times_as_far_in_the_logarithms(length, monkeypatch):
    monkeypatch.setattr("latree.inference.em._MAX_RATIO", np.inf)
    model = small_models()[0]
    expectation, state = first_state(model)
    longer = step(replace(state, length=length, objective=-np.inf), expectation, 0.5)
    assert longer.length == pytest.approx(1.2 * length)
    for old, counts, table in zip(state.tables, state.counts, longer.tables, strict=True):
        plain = (counts + 0.5) / (counts + 0.5).sum(axis=0)
        expected = np.exp(np.log(old) + length * (np.log(plain) - np.log(old)))
        np.testing.assert_allclose(table, expected / expected.sum(axis=0), rtol=1e-9)


def test_the_ratio_that_a_longer_step_is_made_of_is_at_most_ten():
    model = small_models()[1]
    expectation, state = first_state(model)
    far = replace(state, tables=tuple(np.where(t == t.min(), 1e-9, t) for t in state.tables), length=2.0)
    longer = step(replace(far, objective=-np.inf), expectation, 0.5)
    largest = 0
    for old, counts, table in zip(far.tables, far.counts, longer.tables, strict=True):
        plain = (counts + 0.5) / (counts + 0.5).sum(axis=0)
        expected = plain * np.clip(plain / old, 0.1, 10)
        np.testing.assert_allclose(table, expected / expected.sum(axis=0), rtol=1e-9)
        largest = max(largest, (plain / old).max())
    assert largest > 1000


def test_a_step_that_lowers_the_objective_is_that_of_plain_em():
    model = small_models()[0]
    expectation, state = first_state(model)
    plain = step(state, expectation, 0.5)
    taken_back = step(replace(state, length=1000.0), expectation, 0.5)
    assert taken_back.length == 1.0
    assert taken_back.objective == plain.objective
    assert all((a == b).all() for a, b in zip(taken_back.tables, plain.tables, strict=True))


def test_lengths_grow_up_to_a_limit():
    model = small_models()[0]
    expectation, state = first_state(model)
    assert step(replace(state, length=9.0, objective=-np.inf), expectation, 0.5).length == 10.0


def test_a_step_changes_nothing_but_gives_a_new_state():
    expectation, state = first_state(small_models()[0])
    before = [table.copy() for table in (*state.tables, *state.counts)]
    one, two = step(state, expectation, 0.5), step(state, expectation, 0.5)
    assert one.objective == two.objective
    assert all((a == b).all() for a, b in zip(one.tables, two.tables, strict=True))
    assert all((a == b).all() for a, b in zip(before, (*state.tables, *state.counts), strict=True))


def test_the_loop_asks_the_monitor_and_reports_every_iteration(monkeypatch):
    monkeypatch.setattr(
        "latree.inference.em.evaluate", lambda expectation, tables, smoothing: State((), (), -16.0, 1.0)
    )
    monkeypatch.setattr("latree.inference.em.step", lambda state, *_: replace(state, objective=state.objective / 2))
    told = []
    monitor = ConvergenceMonitor(tol=0.1, max_iter=50)
    with reported_to(lambda *numbers: told.append(numbers)):
        last = iterate(SimpleNamespace(n_cells=10), (), 0.1, monitor)
    assert last.objective == -0.5  # a gain of 1 nat is 0.1 per cell, one of 0.5 is less
    assert monitor.converged
    assert monitor.history == [-16.0, -8.0, -4.0, -2.0, -1.0, -0.5]
    assert told == [(done, 50) for done in range(6)]
