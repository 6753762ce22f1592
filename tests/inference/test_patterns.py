"""Repeated patterns, groups of children and blocks of rows against plain twins."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.models import model_on, small_models, star, table_of
from helpers.strategies import mixed_tree
from latree.inference.messages import expected_counts, upward
from latree.inference.patterns import PlanCache, plan_messages
from latree.inference.starts import random_start
from latree.model import ConvergenceMonitor, LatentTreeModel, fit_model
from latree.table import Block, Table
from naive_em import naive_expected_counts


def random_rows(model, n_rows, rng, share_missing):
    """Rows among which some repeat."""
    rows = model.sample(n_rows, rng).codes()
    rows[rng.random(rows.shape) < share_missing] = -1
    return rows[rng.integers(0, max(n_rows // 2, 1), n_rows)]


def check_counts(model, plan, rows, weights):
    """Assert that expected counts and log-likelihood are those of the twin."""
    *counts, total = expected_counts(model.network, plan, weights)
    naive, log_likelihood = naive_expected_counts(model.network, rows, weights)
    for ours, theirs in zip(counts, naive, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
    assert total[0] == pytest.approx(log_likelihood, rel=1e-10)


def stored(model, rows):
    return table_of(model, rows).rows.codes


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(3, 12),
    n_rows=st.sampled_from([1, 2, 7, 60, 300]),
    share=st.sampled_from([0.0, 0.3]),
    weighted=st.booleans(),
    repeats=st.booleans(),
)
def test_counts_are_the_twins_on_trees_of_every_shape(seed, d, n_rows, share, weighted, repeats):
    """Observed inner nodes, nodes with many children, columns of two to four states."""
    rng = np.random.default_rng(seed)
    tree = mixed_tree(d, rng)
    model = model_on(tree, rng.integers(2, 5, tree.n_nodes).tolist(), seed)
    rows = random_rows(model, n_rows, rng, share)
    weights = rng.integers(0, 3, n_rows) * rng.random(n_rows) if weighted else None
    check_counts(model, plan_messages(model.network, stored(model, rows), repeats=repeats), rows, weights)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(3, 90), share=st.sampled_from([0.0, 0.2]), weighted=st.booleans())
def test_counts_are_the_twins_for_one_hidden_variable_whose_children_form_groups(seed, d, share, weighted):
    rng = np.random.default_rng(seed)
    model = model_on(star(d), [*rng.integers(2, 5, d).tolist(), 3], seed)
    rows = random_rows(model, 200, rng, share)
    plan = plan_messages(model.network, stored(model, rows), repeats=True)
    assert d < 20 or any(not step.is_node for step in plan.steps)
    check_counts(model, plan, rows, rng.random(200) if weighted else None)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(3, 40), repeats=st.booleans())
def test_zeros_in_the_tables_are_exact(seed, d, repeats):
    """States that are impossible, also where many factors are multiplied, and columns that say all of their parent."""
    rng = np.random.default_rng(seed)
    tree = star(d) if seed % 2 else mixed_tree(min(d, 12), rng)
    model = model_on(tree, [3] * tree.n_nodes, seed)
    tables = []
    for table in model.tables:
        kept = np.where(rng.random(table.shape) < 0.2, 0, table)
        kept[0] += 1e-3
        tables.append(np.eye(3) if table.shape[1] == 3 and rng.random() < 0.1 else kept / kept.sum(axis=0))
    model = LatentTreeModel(tree, model.columns, tuple(tables))
    rows = random_rows(model, 100, rng, 0.1)
    plan = plan_messages(model.network, stored(model, rows), repeats=repeats)
    possible = np.isfinite(upward(model.network, plan).log_likelihood)
    assert possible.all()
    with np.errstate(invalid="ignore"):  # the twin divides zero by zero
        naive, _ = naive_expected_counts(model.network, rows)
    *counts, _ = expected_counts(model.network, plan, None)
    for ours, theirs in zip(counts, naive, strict=True):
        assert np.isfinite(ours).all()
        if np.isfinite(theirs).all():
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_patterns_are_few_where_rows_repeat_and_rows_themselves_where_they_do_not():
    model = small_models()[0]
    rows = np.array([[0, 0, 0, 0, 0]] * 90 + [[1, 2, 1, 3, 2]] * 10)
    plan = plan_messages(model.network, stored(model, rows), repeats=True)
    assert max(step.n_patterns for step in plan.steps) == 2
    assert [root.index.n_patterns for root in plan.roots] == [2]
    plain = plan_messages(model.network, stored(model, rows), repeats=False)
    assert {step.n_patterns for step in plain.steps} == {100}
    assert [root.index for root in plain.roots] == [None]
    many = model_on(star(9), [4] * 10, 0)
    random = plan_messages(many.network, stored(many, many.sample(500, 0).codes()), repeats=True)
    assert random.steps[-1].n_patterns == 500
    assert all(step.n_patterns <= 500 / 8 for step in random.steps[:-1])


def test_blocks_have_messages_that_need_little_memory(monkeypatch):
    model = small_models()[0]
    assert PlanCache(model.network).max_rows == 2**16
    monkeypatch.setattr("latree.inference.patterns._MESSAGE_BYTES", 2**20)
    assert 2**8 < PlanCache(model.network).max_rows < 2**16
    monkeypatch.setattr("latree.inference.patterns._MESSAGE_BYTES", 2)
    assert PlanCache(model.network).max_rows == 2**8


def test_wide_tables_with_many_states_are_worked_on_in_small_parts():
    """A thousand columns below a hidden variable with a thousand states."""
    tree = star(1000)
    columns = model_on(tree, [2] * 1001, 0).columns
    tables = (*[np.full((2, 1000), 0.5)] * 1000, np.full((1000, 1), 1e-3))
    assert PlanCache(LatentTreeModel(tree, columns, tables).network).max_rows < 2000


def test_plans_are_kept_by_the_blocks_number_while_there_is_memory(monkeypatch):
    model = small_models()[0]
    block = Block(stored(model, model.sample(50, 0).codes()), None, 0)
    plans = PlanCache(model.network)
    assert plans.plan_for(block) is plans.plan_for(block)
    unnumbered = block._replace(number=None)
    assert plans.plan_for(unnumbered) is not plans.plan_for(unnumbered)
    assert plans.plan_for(unnumbered) is not plans.plan_for(block)
    monkeypatch.setattr("latree.inference.patterns._PLAN_BYTES", 0)
    none_kept = PlanCache(model.network)
    assert none_kept.plan_for(block) is not none_kept.plan_for(block)


def test_plans_travel_without_what_is_kept():
    model = small_models()[0]
    plans = PlanCache(model.network)
    fresh = len(pickle.dumps(plans))
    plans.plan_for(Block(stored(model, model.sample(500, 0).codes()), None, 0))
    assert len(pickle.dumps(plans)) == fresh
    assert pickle.loads(pickle.dumps(plans)).max_rows == plans.max_rows


def test_an_empty_block_has_no_counts():
    model = small_models()[3]
    *counts, total = expected_counts(
        model.network, PlanCache(model.network).plan_for(Block(np.zeros((0, 5), np.uint8), None)), None
    )
    assert total[0] == 0
    assert all((count == 0).all() for count in counts)


def test_a_fit_does_not_depend_on_what_is_counted_once(monkeypatch):
    model = small_models()[0]
    table = table_of(model, random_rows(model, 400, np.random.default_rng(0), 0.1))
    start = LatentTreeModel(model.tree, table.columns, random_start(table, model.tree, 3, 0))
    monitor = ConvergenceMonitor(0, 15)

    def fitted():
        anew = Table(table.columns, table.rows)  # which has not been looked for rows that are the same
        return fit_model(anew, model.tree, 3, start=start, monitor=monitor)

    whole = fitted()
    monkeypatch.setattr("latree.inference.patterns._BLOCK_ROWS", (1, 50))
    monkeypatch.setattr("latree.inference.patterns._MAX_PATTERN_SHARE", 0.0)
    monkeypatch.setattr("latree.table.rows._MAX_DISTINCT_SHARE", 0.0)
    plain = fitted()
    np.testing.assert_allclose(whole.monitor.history, plain.monitor.history, rtol=1e-9)
    for one, other in zip(whole.model.tables, plain.model.tables, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
