import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.models import MISSING_SHARE, model_on, naive_joint, small_models, table_of
from latree.errors import InputError
from latree.inference.em import ConvergenceMonitor, fit_model, random_start, start_from
from latree.inference.messages import expected_counts
from latree.inference.patterns import plan_of
from latree.learners.latent_class import latent_class
from latree.model import LatentTreeModel
from latree.paper.simulate import random_model, random_tree
from latree.table import as_table
from latree.tree import Tree


def holes(rows, seed, share=MISSING_SHARE):
    rows = np.array(rows)
    rows[np.random.default_rng(seed).random(rows.shape) < share] = -1
    return rows


def naive_counts(model, rows, weights):
    """Expected counts of every table by enumerating all states of all nodes."""
    joint = naive_joint(model)
    parent = model.tree.rooted().parent.tolist()
    counts = [np.zeros(table.shape) for table in model.tables]
    for row, weight in zip(rows, weights, strict=True):
        kept = joint.copy()
        for axis, state in enumerate(row):
            if state >= 0:
                absent = [slice(None)] * joint.ndim
                absent[axis] = [x for x in range(joint.shape[axis]) if x != state]
                kept[tuple(absent)] = 0
        kept *= weight / kept.sum()
        for node, up in enumerate(parent):
            axes = {node, up} - {-1}
            pair = kept.sum(axis=tuple(set(range(joint.ndim)) - axes))
            counts[node] += pair[:, None] if up < 0 else (pair if node < up else pair.T)
    return counts


@pytest.mark.parametrize("repeats", [True, False])
@pytest.mark.parametrize("index", range(5))
def test_expected_counts_equal_enumeration(index, repeats):
    model = small_models()[index]
    rows = holes(model.sample(25, 1).codes(), 2)
    weights = np.random.default_rng(3).random(25) + 0.1
    table = table_of(model, rows, weights)
    network = model.network
    *counts, total = table.sum(
        lambda block: expected_counts(network, plan_of(network, block.codes, repeats=repeats), block.weights)
    )
    for ours, naive in zip(counts, naive_counts(model, rows, weights), strict=True):
        np.testing.assert_allclose(ours, naive, rtol=1e-9, atol=1e-12)
    assert total[0] == pytest.approx(model.log_likelihood(table), rel=1e-12)


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
    monitor = ConvergenceMonitor(tolerance=0, max_iterations=30)
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
    monkeypatch.setattr("latree.inference.em._LONGEST", 1.0)
    plain = fitted()
    assert quick.iterations < 0.6 * plain.iterations
    assert quick.objective > plain.objective - 1


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_steps_that_are_far_too_long_are_taken_back(smoothing, monkeypatch):
    monkeypatch.setattr("latree.inference.em._LONGER", 100.0)
    monkeypatch.setattr("latree.inference.em._LONGEST", 100.0)
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


@pytest.mark.parametrize("index", range(5))
def test_em_improves_on_the_truth_and_on_every_shape_of_tree(index):
    model = small_models()[index]
    table = model.sample(3000, 0)
    states = model.n_states[model.tree.n_observed :].tolist()
    fit = fit_model(table, model.tree, states, smoothing=0, start=model, random_state=0)
    assert fit.model.log_likelihood(table) > model.log_likelihood(table)
    assert fit.model.n_states.tolist() == model.n_states.tolist()


def test_without_hidden_variables_one_step_gives_the_frequencies():
    tree = Tree("ab", [(0, 1)])
    model = model_on(tree, [2, 3], 0)
    table = model.sample(500, 0)
    fit = fit_model(table, tree, [], smoothing=0, random_state=0)
    codes = table.codes()
    joint = np.histogram2d(codes[:, 0], codes[:, 1], bins=(2, 3))[0] / 500
    np.testing.assert_allclose(fit.model.joint([0, 1]), joint, rtol=1e-9)


def test_samples_give_the_model_back():
    tree = random_tree(8, 0.5, 0)
    truth = random_model(tree, n_states=4, hidden_states=2, start="identity", perturbation=0.2, random_state=0)
    train, test = truth.sample(20_000, 1), truth.sample(20_000, 2)
    fitted = fit_model(train, tree, 2, random_state=0).model
    assert fitted.log_likelihood(test) > truth.log_likelihood(test) - 60  # half a nat a parameter is to be expected


def test_missing_cells_cost_little():
    tree = random_tree(8, 0.5, 0)
    truth = random_model(tree, n_states=4, hidden_states=2, start="identity", perturbation=0.2, random_state=0)
    rows, test = truth.sample(20_000, 1).codes(), truth.sample(5000, 2)
    fitted = fit_model(table_of(truth, holes(rows, 3, 0.2)), tree, 2, random_state=0).model
    assert fitted.log_likelihood(test) > truth.log_likelihood(test) - 40


def test_weights_count_as_repeated_rows():
    model = small_models()[0]
    rows = model.sample(80, 0).codes()
    weights = np.arange(80) % 3
    fits = [
        fit_model(table, model.tree, 2, random_state=1)
        for table in (
            table_of(model, rows, weights.astype(float)),
            table_of(model, np.repeat(rows, weights, axis=0)),
        )
    ]
    assert fits[0].objective == pytest.approx(fits[1].objective, rel=1e-9)
    for one, other in zip(fits[0].model.tables, fits[1].model.tables, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def test_restarts_keep_the_best():
    model = small_models()[0]
    fit = fit_model(model.sample(300, 0), model.tree, 3, restarts=4, random_state=0)
    assert len(fit.objectives) == 4
    assert len(set(fit.objectives)) > 1
    assert fit.objective == max(fit.objectives)


def test_the_seed_decides():
    model = small_models()[0]
    table = model.sample(300, 0)
    objectives = [fit_model(table, model.tree, 3, random_state=seed).objective for seed in (1, 1, 2)]
    assert objectives[0] == objectives[1] != objectives[2]


def test_threads_and_seeds_give_the_same_bits(monkeypatch):
    monkeypatch.setattr("latree.inference.patterns._ROWS", (1, 64))
    model = small_models()[0]
    table = model.sample(1000, 0)
    many = fit_model(table, model.tree, 3, random_state=1)
    monkeypatch.setattr("latree._util.parallel.n_threads", lambda: 1)
    one = fit_model(table, model.tree, 3, random_state=1)
    assert many.objective == one.objective
    assert all((a == b).all() for a, b in zip(many.model.tables, one.model.tables, strict=True))


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


def test_the_fitted_model_is_the_one_that_was_scored():
    model = small_models()[0]
    table = model.sample(300, 0)
    fit = fit_model(table, model.tree, 2, smoothing=0, random_state=0)
    assert fit.model.log_likelihood(table) == pytest.approx(fit.monitor.history[-1], rel=1e-12)


def test_a_start_holds_nothing_for_impossible():
    model = small_models()[0]
    rows = np.zeros((10, 5), dtype=int)
    start = random_start(table_of(model, rows), model.tree, 3, 0)
    assert all((table > 0).all() for table in start.tables)


def test_progress_counts_iterations():
    model = small_models()[0]
    seen = []
    fit = fit_model(
        model.sample(100, 0), model.tree, 2, restarts=2, random_state=0, progress=lambda *told: seen.append(told)
    )
    told = [done for done, total in seen]
    assert told == sorted(told)
    assert len(fit.objectives) == 2
    assert (seen[0], {total for _, total in seen}) == ((0, 400), {400})
    assert 200 < told[-1] <= 400


def test_a_start_agrees_along_the_tree_and_follows_the_columns():
    tree = random_tree(8, 0.5, 0)
    model = random_model(tree, n_states=3, random_state=0)
    rows = model.sample(500, 0).codes()
    rows[:, 0] = np.arange(500) % 20 == 0
    start = random_start(table_of(model, rows), tree, 3, 0)
    parent = tree.rooted().parent
    for node in range(8, tree.n_nodes):
        if parent[node] >= 0:
            assert (np.diag(start.tables[node]) >= 0.9).all()
    shares = (start.tables[0] - 0.7 * np.array([[0.95], [0.05], [0]])) / 0.3  # of the row that a state begins at
    np.testing.assert_allclose(shares.max(axis=0), 1, atol=0.02)


def test_states_start_at_rows_that_are_unlike_each_other():
    codes = np.repeat(np.arange(4), [970, 10, 10, 10])[:, None] * np.ones(6, dtype=int)
    tree = latent_class([f"x{i}" for i in range(6)]).tree
    for seed in range(5):
        start = random_start(as_table(codes, names=tree.names), tree, 4, seed)
        towards = (start.tables[0] / start.tables[0].mean(axis=1, keepdims=True)).argmax(axis=0)
        assert sorted(towards.tolist()) == [0, 1, 2, 3]


def test_the_tolerance_is_for_the_weight_not_the_number_of_rows():
    model = small_models()[0]
    rows = model.sample(100, 0).codes()
    tables = [table_of(model, rows, weights) for weights in (None, np.full(100, 50.0))]
    fits = [fit_model(table, model.tree, 2, smoothing=0, random_state=0) for table in tables]
    assert fits[0].iterations == fits[1].iterations > 5


def test_each_hidden_variable_gets_its_number_of_states():
    model = small_models()[0]
    fit = fit_model(model.sample(50, 0), model.tree, [2, 3, 4], random_state=0)
    assert fit.model.n_states[5:].tolist() == [2, 3, 4]


def test_the_monitor_of_the_best_start_is_kept():
    model = small_models()[0]
    fit = fit_model(model.sample(100, 0), model.tree, 3, restarts=3, random_state=0)
    assert fit.monitor.history[-1] == fit.objective
    assert (np.diff(fit.monitor.history) > -1e-9).all()


def test_a_monitor_of_the_callers_own_is_asked():
    class Twice(ConvergenceMonitor):
        def goes_on(self, objective, n_cells):
            super().goes_on(objective, n_cells)
            return len(self.history) <= 2

    model = small_models()[0]
    fit = fit_model(model.sample(100, 0), model.tree, 3, restarts=2, monitor=Twice(), random_state=0)
    assert fit.iterations == 2


@pytest.mark.parametrize("states", [2, [2, 3, 3]])
def test_a_start_must_fit(states):
    model = small_models()[0]
    other = small_models()[1]
    with pytest.raises(InputError, match="another tree"):
        fit_model(model.sample(10, 0), model.tree, states, start=model)
    with pytest.raises(InputError, match="another tree"):
        fit_model(model.sample(10, 0), model.tree, [2, 3, 2], start=other)


def test_the_start_is_the_first_of_the_restarts_and_the_others_are_random():
    model = small_models()[0]
    table = model.sample(300, 0)
    options = {"smoothing": 0, "random_state": 3}
    fit = fit_model(table, model.tree, [2, 3, 2], restarts=3, start=model, **options)
    started = fit_model(table, model.tree, [2, 3, 2], start=model, **options)
    at_random = fit_model(table, model.tree, [2, 3, 2], restarts=2, **options)
    assert fit.objectives == (*started.objectives, *at_random.objectives)
    assert len(set(fit.objectives)) == 3
    assert fit.objective == max(fit.objectives)
    assert started.monitor.history[0] == pytest.approx(model.log_likelihood(table), rel=1e-12)


@pytest.mark.parametrize("good", [True, False])
def test_the_best_is_kept_whether_it_is_the_start_or_not(good):
    model = small_models()[0]
    table = model.sample(300, 0)
    flat = LatentTreeModel(model.tree, model.columns, tuple(np.full(t.shape, 1 / len(t)) for t in model.tables))
    states = [2, 3, 2]
    found = fit_model(table, model.tree, states, restarts=6, random_state=1).model
    watch = ConvergenceMonitor(max_iterations=20)
    fit = fit_model(table, model.tree, states, restarts=3, start=found if good else flat, monitor=watch, random_state=0)
    assert int(np.argmax(fit.objectives)) == 0 if good else fit.objectives[0] == min(fit.objectives)
    assert fit.objective == fit.monitor.history[-1] == max(fit.objectives)


def edge_tables_of(model):
    """The exact joint distributions of the two ends of every edge."""
    return tuple(model.joint(edge) for edge in model.tree.edges.tolist())


def counted(table):
    """The frequencies of each column, half a row more of each state."""
    counts = [np.bincount(c[c >= 0], minlength=n) + 0.5 for c, n in zip(table.codes().T, table.n_states, strict=True)]
    return [(count / count.sum())[:, None] for count in counts]


def expected_start(model, table):
    """The model itself, but for columns that are roots: they get the frequencies of the table."""
    parent = model.tree.rooted().parent
    roots = [node for node in range(model.tree.n_observed) if parent[node] < 0]
    tables = [counted(table)[node] if node in roots else own for node, own in enumerate(model.tables)]
    return LatentTreeModel(model.tree, model.columns, tuple(tables))


@pytest.mark.parametrize("index", range(5))
def test_a_start_from_edge_tables_is_the_model_that_they_come_from(index, monkeypatch):
    monkeypatch.setattr("latree.inference.em._FLOOR", 0)
    model = small_models()[index]
    table = table_of(model, holes(model.sample(100, 0).codes(), 1))
    start = start_from(table, model.tree, edge_tables_of(model))
    expected = expected_start(model, table)
    for ours, wanted in zip(start.tables, expected.tables, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-9)
    assert start.log_likelihood(table) == pytest.approx(expected.log_likelihood(table), rel=1e-12)
    assert start.columns == table.columns


@pytest.mark.parametrize("index", range(5))
def test_it_does_not_matter_which_end_of_an_edge_comes_first(index):
    model = small_models()[index]
    table = model.sample(100, 0)
    turned = Tree(model.tree.names, model.tree.edges[:, ::-1])
    one, other = (
        start_from(table, tree, edge_tables)
        for tree, edge_tables in (
            (model.tree, edge_tables_of(model)),
            (turned, [joint.T for joint in edge_tables_of(model)]),
        )
    )
    for ours, theirs in zip(one.tables, other.tables, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("index", range(5))
def test_a_start_from_edge_tables_is_near_them_and_nowhere_zero(index):
    model = small_models()[index]
    table = model.sample(100, 0)
    sure = LatentTreeModel(model.tree, model.columns, tuple((t == t.max(axis=0)).astype(float) for t in model.tables))
    near = start_from(table, model.tree, edge_tables_of(model))
    for ours, wanted in zip(near.tables, expected_start(model, table).tables, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=0, atol=5e-3)
    start = start_from(table, model.tree, edge_tables_of(sure))
    parent = model.tree.rooted().parent
    marginals = list(sure.marginals().values())
    for node, (ours, wanted) in enumerate(zip(start.tables, expected_start(sure, table).tables, strict=True)):
        assert ours.min() > 1e-4
        met = marginals[parent[node]] > 0 if parent[node] >= 0 else np.array([True])
        np.testing.assert_allclose(ours[:, met], wanted[:, met], rtol=0, atol=5e-3)
        np.testing.assert_allclose(ours[:, ~met], 1 / len(ours), rtol=1e-9)  # of a state that never occurs, nothing


def test_columns_without_neighbours_start_from_their_frequencies(monkeypatch):
    monkeypatch.setattr("latree.inference.em._FLOOR", 0)
    model = model_on(Tree("abc", []), [2, 3, 4], 0)
    table = table_of(model, holes(model.sample(50, 0).codes(), 1))
    start = start_from(table, model.tree, ())
    for ours, wanted in zip(start.tables, counted(table), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-12)
