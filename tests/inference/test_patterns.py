"""Repeated patterns, groups of children, parts of blocks and distinct rows against plain twins."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.models import model_on, small_models, table_of
from helpers.strategies import mixed_tree
from latree.inference.em import ConvergenceMonitor, fit_model, random_start
from latree.inference.messages import expected_counts, upward
from latree.inference.patterns import Plans, plan_of
from latree.model import LatentTreeModel
from latree.table import Block, Table
from latree.table.memory import MemoryRows
from latree.tree import Tree
from naive_em import naive_expected_counts


def star(d):
    return Tree([f"x{i}" for i in range(d)], [(i, d) for i in range(d)])


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
    check_counts(model, plan_of(model.network, stored(model, rows), repeats=repeats), rows, weights)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(3, 90), share=st.sampled_from([0.0, 0.2]), weighted=st.booleans())
def test_counts_are_the_twins_for_one_hidden_variable_whose_children_form_groups(seed, d, share, weighted):
    rng = np.random.default_rng(seed)
    model = model_on(star(d), [*rng.integers(2, 5, d).tolist(), 3], seed)
    rows = random_rows(model, 200, rng, share)
    plan = plan_of(model.network, stored(model, rows), repeats=True)
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
    plan = plan_of(model.network, stored(model, rows), repeats=repeats)
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
    plan = plan_of(model.network, stored(model, rows), repeats=True)
    assert max(step.n_patterns for step in plan.steps) == 2
    assert [root.index.n_patterns for root in plan.roots] == [2]
    plain = plan_of(model.network, stored(model, rows), repeats=False)
    assert {step.n_patterns for step in plain.steps} == {100}
    assert [root.index for root in plain.roots] == [None]
    many = model_on(star(9), [4] * 10, 0)
    random = plan_of(many.network, stored(many, many.sample(500, 0).codes()), repeats=True)
    assert random.steps[-1].n_patterns == 500
    assert all(step.n_patterns <= 500 / 8 for step in random.steps[:-1])


def test_blocks_have_messages_that_need_little_memory(monkeypatch):
    model = small_models()[0]
    assert Plans(model.network).most_rows == 2**16
    monkeypatch.setattr("latree.inference.patterns._MESSAGE_BYTES", 2**20)
    assert 2**8 < Plans(model.network).most_rows < 2**16
    monkeypatch.setattr("latree.inference.patterns._MESSAGE_BYTES", 2)
    assert Plans(model.network).most_rows == 2**8


def test_wide_tables_with_many_states_are_worked_on_in_small_parts():
    """A thousand columns below a hidden variable with a thousand states."""
    tree = star(1000)
    columns = model_on(tree, [2] * 1001, 0).columns
    tables = (*[np.full((2, 1000), 0.5)] * 1000, np.full((1000, 1), 1e-3))
    assert Plans(LatentTreeModel(tree, columns, tables).network).most_rows < 2000


def test_plans_are_kept_by_the_blocks_number_while_there_is_memory(monkeypatch):
    model = small_models()[0]
    block = Block(stored(model, model.sample(50, 0).codes()), None, 0)
    plans = Plans(model.network)
    assert plans.of(block) is plans.of(block)
    unnumbered = block._replace(number=None)
    assert plans.of(unnumbered) is not plans.of(unnumbered)
    assert plans.of(unnumbered) is not plans.of(block)
    monkeypatch.setattr("latree.inference.patterns._KEPT_BYTES", 0)
    none_kept = Plans(model.network)
    assert none_kept.of(block) is not none_kept.of(block)


def test_plans_travel_without_what_is_kept():
    model = small_models()[0]
    plans = Plans(model.network)
    fresh = len(pickle.dumps(plans))
    plans.of(Block(stored(model, model.sample(500, 0).codes()), None, 0))
    assert len(pickle.dumps(plans)) == fresh
    assert pickle.loads(pickle.dumps(plans)).most_rows == plans.most_rows


def test_an_empty_block_has_no_counts():
    model = small_models()[3]
    *counts, total = expected_counts(
        model.network, Plans(model.network).of(Block(np.zeros((0, 5), np.uint8), None)), None
    )
    assert total[0] == 0
    assert all((count == 0).all() for count in counts)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), collide=st.booleans(), weighted=st.booleans())
def test_distinct_rows_have_the_sums_of_all(seed, collide, weighted):
    rng = np.random.default_rng(seed)
    codes = np.asfortranarray(rng.integers(0, 2, (50, 3)).astype(np.uint8))
    codes[rng.random(codes.shape) < 0.1] = 255
    weights = rng.random(50) if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        if collide:  # all rows get the same key
            patch.setattr("latree.table.chunks._HASH_RANGE", 1)
        rows = MemoryRows(codes, weights).distinct()
    assert len(np.unique(rows.codes, axis=0)) == rows.n_rows == len(np.unique(codes, axis=0)) < 30
    assert rows.total_weight == pytest.approx(50 if weights is None else weights.sum(), rel=1e-12)
    for row, weight in zip(rows.codes, rows.weights, strict=True):
        same = (codes == row).all(axis=1)
        assert weight == pytest.approx(same.sum() if weights is None else weights[same].sum(), rel=1e-12)
    firsts = [int(np.flatnonzero((codes == row).all(axis=1))[0]) for row in rows.codes]
    assert firsts == sorted(firsts)


def test_rows_that_mostly_differ_stay_as_they_are():
    codes = np.asfortranarray(np.arange(200, dtype=np.uint8)[:, None])
    rows = MemoryRows(codes, None)
    assert rows.distinct() is rows


def test_blocks_are_of_about_the_same_size_and_have_numbers():
    seen = []

    def statistic(block):
        seen.append((block.number, len(block.codes)))
        return np.zeros(1)

    MemoryRows(np.zeros((200, 1), dtype=np.uint8), None).sum(statistic, 64)
    assert sorted(seen) == [(0, 50), (1, 50), (2, 50), (3, 50)]


@pytest.mark.parametrize("weighted", [False, True])
def test_distinct_rows_of_many_chunks_are_put_together_or_given_up(monkeypatch, weighted):
    monkeypatch.setattr("latree.table.chunks.BLOCK_ROWS", 16)
    monkeypatch.setattr("latree.table.chunks.CHUNK_CELLS", 128)
    monkeypatch.setattr("latree.table.chunks._DISTINCT_CELLS", 400)
    rng = np.random.default_rng(0)
    weights = rng.random(3000) if weighted else None
    few = np.asfortranarray(rng.integers(0, 3, (3000, 4)).astype(np.uint8))
    once = MemoryRows(few, weights).distinct()
    assert once.n_rows == 3**4
    cells = [(few == row).all(axis=1) for row in once.codes]
    expected = [cell.sum() if weights is None else weights[cell].sum() for cell in cells]
    np.testing.assert_allclose(once.weights, expected, rtol=1e-12)
    many = MemoryRows(np.asfortranarray(np.tile(rng.integers(0, 250, (1000, 4)).astype(np.uint8), (3, 1))), weights)
    assert many.distinct() is many


def test_a_fit_does_not_depend_on_what_is_counted_once(monkeypatch):
    model = small_models()[0]
    table = table_of(model, random_rows(model, 400, np.random.default_rng(0), 0.1))
    start = random_start(table, model.tree, 3, 0)
    monitor = ConvergenceMonitor(0, 15)

    def fitted():
        anew = Table(table.columns, table.rows)  # which has not been looked for rows that are the same
        return fit_model(anew, model.tree, 3, start=start, monitor=monitor)

    whole = fitted()
    monkeypatch.setattr("latree.inference.patterns._ROWS", (1, 50))
    monkeypatch.setattr("latree.inference.patterns._WORTH", 0.0)
    monkeypatch.setattr("latree.table.chunks._MAX_DISTINCT_SHARE", 0.0)
    plain = fitted()
    np.testing.assert_allclose(whole.monitor.history, plain.monitor.history, rtol=1e-9)
    for one, other in zip(whole.model.tables, plain.model.tables, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
