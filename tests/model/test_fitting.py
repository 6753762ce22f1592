"""Fitting a model on a known tree; StepMix as a judge."""

import warnings

import numpy as np
import pytest

from helpers.models import holes, model_on, small_models, table_of
from latree._util.progress import reported_to
from latree.errors import InputError
from latree.model import ConvergenceMonitor, LatentTreeModel, fit_model
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree

with warnings.catch_warnings():  # its compiled parts warn when imported, and crash if that is an error
    warnings.simplefilter("ignore")
    from stepmix.stepmix import StepMix


@pytest.mark.parametrize("index", range(5))
def test_em_improves_on_the_truth_and_on_every_shape_of_tree(index):
    model = small_models()[index]
    table = model.sample(3000, 0)
    states = model.n_states[model.tree.n_observed :].tolist()
    fit = fit_model(table, model.tree, states, smoothing=0, start=model, random_state=0)
    assert fit.model.log_likelihood(table) > model.log_likelihood(table)
    assert fit.model.n_states.tolist() == model.n_states.tolist()


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


def test_the_seed_decides():
    model = small_models()[0]
    table = model.sample(300, 0)
    objectives = [fit_model(table, model.tree, 3, random_state=seed).objective for seed in (1, 1, 2)]
    assert objectives[0] == objectives[1] != objectives[2]


def test_the_fitted_model_is_the_one_that_was_scored():
    model = small_models()[0]
    table = model.sample(300, 0)
    fit = fit_model(table, model.tree, 2, smoothing=0, random_state=0)
    assert fit.model.log_likelihood(table) == pytest.approx(fit.monitor.history[-1], rel=1e-12)


def test_progress_counts_iterations():
    model = small_models()[0]
    seen = []
    table = model.sample(100, 0)
    with reported_to(lambda *numbers: seen.append(numbers)):
        fit = fit_model(table, model.tree, 2, random_state=0)
    assert seen == [(done, 200) for done in range(fit.iterations + 1)]


def test_each_hidden_variable_gets_its_number_of_states():
    model = small_models()[0]
    fit = fit_model(model.sample(50, 0), model.tree, [2, 3, 4], random_state=0)
    assert fit.model.n_states[5:].tolist() == [2, 3, 4]


def test_the_monitor_has_the_history_of_the_fit():
    model = small_models()[0]
    fit = fit_model(model.sample(100, 0), model.tree, 3, random_state=0)
    assert fit.monitor.history[-1] == fit.objective
    assert (np.diff(fit.monitor.history) > -1e-9).all()


def test_a_monitor_of_the_callers_own_is_asked():
    class Twice(ConvergenceMonitor):
        def goes_on(self, objective, n_cells):
            super().goes_on(objective, n_cells)
            return len(self.history) <= 2

    model = small_models()[0]
    fit = fit_model(model.sample(100, 0), model.tree, 3, monitor=Twice(), random_state=0)
    assert fit.iterations == 2


@pytest.mark.parametrize("states", [2, [2, 3, 3]])
def test_a_start_must_fit(states):
    model = small_models()[0]
    other = small_models()[1]
    with pytest.raises(InputError, match="another tree"):
        fit_model(model.sample(10, 0), model.tree, states, start=model)
    with pytest.raises(InputError, match="another tree"):
        fit_model(model.sample(10, 0), model.tree, [2, 3, 2], start=other)


def test_em_starts_at_the_model_that_is_given():
    model = small_models()[0]
    table = model.sample(300, 0)
    fit = fit_model(table, model.tree, [2, 3, 2], smoothing=0, start=model)
    assert fit.monitor.history[0] == pytest.approx(model.log_likelihood(table), rel=1e-12)


def stepmix(max_iter):
    return StepMix(
        n_components=3,
        measurement="categorical",
        max_iter=max_iter,
        abs_tol=1e-14,
        rel_tol=1e-14,
        random_state=5,
        progress_bar=0,
    )


def test_em_on_one_hidden_variable_reaches_stepmix_from_the_same_start():
    """StepMix after one iteration is the start; both go on from there to an optimum."""
    d, n = 6, 3
    tree = Tree([f"x{i}" for i in range(d)], [(i, d) for i in range(d)])
    truth = model_on(tree, [n] * d + [3], 0)
    table = truth.sample(400, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that one iteration is not enough
        first = stepmix(1).fit(table.codes())
        last = stepmix(3000).fit(table.codes())
    parameters = first.get_parameters()
    leaves = parameters["measurement"]["pis"].reshape(3, d, -1)
    tables = [leaves[:, i, :n].T / leaves[:, i, :n].sum(axis=1) for i in range(d)]
    start = LatentTreeModel(tree, truth.columns, (*tables, parameters["weights"][:, None]))
    fit = fit_model(table, tree, 3, smoothing=0, start=start, monitor=ConvergenceMonitor(1e-14, 5000))
    assert fit.model.log_likelihood(table) > start.log_likelihood(table) + 10
    assert fit.model.log_likelihood(table) == pytest.approx(last.score(table.codes()) * 400, abs=0.01)
    assert fit.model.n_parameters == last.n_parameters
