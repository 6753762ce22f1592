"""Columns that are connected to nothing: EM leaves them out, and the model is the same as with them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import latree
from latree.inference.em import Expectation, evaluate, step
from latree.inference.network import Network
from latree.model import ConvergenceMonitor, fit_model
from latree.model import fitting as module
from latree.tree import Tree

# The columns 0, 2 and 5 are alone. The tree has two components, in one of which a column is inside.
TREE = Tree([f"x{j}" for j in range(9)], [(1, 9), (3, 9), (4, 9), (6, 10), (7, 10), (10, 8)])


def rows(missing: float = 0.2) -> np.ndarray:
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, (300, 1))
    codes = np.where(rng.random((300, 9)) < 0.6, hidden, rng.integers(0, 3, (300, 9)))
    return np.where(rng.random((300, 9)) < missing, -1, codes)


def table(codes: np.ndarray) -> latree.Table:
    return latree.Table.from_codes([latree.Column(f"x{j}", "text", ("a", "b", "c")) for j in range(9)], codes)


@pytest.mark.parametrize("smoothing", [0.1, 0.0])
def test_em_would_change_nothing_and_the_objective_is_that_of_the_whole(smoothing):
    data = table(rows())
    fit = fit_model(
        data, TREE, 2, smoothing=smoothing, monitor=ConvergenceMonitor(tol=1e-12, max_iter=2000), random_state=0
    )
    expectation = Expectation(data, Network.on_tree(TREE, fit.model.tables))
    state = evaluate(expectation, fit.model.tables, smoothing)
    assert fit.objective == pytest.approx(state.objective, abs=1e-8)
    assert fit.monitor.history[-1] == fit.objective
    after = step(state, expectation, smoothing)
    for column in (0, 2, 5):
        np.testing.assert_allclose(after.tables[column], fit.model.tables[column], atol=1e-12)
    for one, other in zip(after.tables, fit.model.tables, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-3)


def test_a_start_is_where_em_starts():
    data = table(rows())
    first = fit_model(data, TREE, 2, monitor=ConvergenceMonitor(max_iter=3), random_state=0)
    again = fit_model(data, TREE, 2, monitor=ConvergenceMonitor(max_iter=3), start=first.model)
    assert again.monitor.history[0] == pytest.approx(first.objective, abs=1e-8)
    assert again.objective > first.objective


def test_columns_that_are_all_alone_have_their_frequencies():
    codes = rows()
    fit = fit_model(table(codes), Tree(TREE.names, []), (), smoothing=0.5)
    for column, found in zip(codes.T, fit.model.tables, strict=True):
        counts = np.bincount(column[column >= 0], minlength=3) + 0.5
        np.testing.assert_allclose(found[:, 0], counts / counts.sum())
    assert fit.monitor.converged


def test_a_column_without_any_cell_is_uniform_without_smoothing():
    codes = rows()
    codes[:, 0] = -1
    fit = fit_model(table(codes), TREE, 2, smoothing=0.0, random_state=0)
    np.testing.assert_allclose(fit.model.tables[0][:, 0], 1 / 3)


def test_sparse_rows_of_several_chunks_give_the_same_bits(monkeypatch):
    monkeypatch.setattr("latree.table.rows.CHUNK_CELLS", 64 * 9)
    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", 64)
    counts = csr_array((rows(0) > 0).astype(int))
    sparse, dense = latree.as_table(counts), latree.as_table(counts.toarray())
    assert len(sparse.rows.chunk_weights) > 3
    tree = Tree(sparse.names, TREE.edges)
    fits = [fit_model(one, tree, 2, random_state=0) for one in (sparse, dense)]
    for one, other in zip(fits[0].model.tables, fits[1].model.tables, strict=True):
        np.testing.assert_array_equal(one, other)
    assert module.ConnectedPart(sparse, tree).table.rows.chunk_weights == sparse.rows.chunk_weights
