"""Warnings, each of them on both sides of its threshold."""

import numpy as np
import pytest

from helpers.models import model_on, star, table_of
from latree.model import ConvergenceMonitor, Fit, LatentTreeModel
from latree.model.diagnostics import unused_states, warnings_about
from latree.table import Column
from latree.tree import Tree

NAMES = ("a", "b", "c")
COLUMNS = tuple(Column(name, "text", ("x", "y")) for name in NAMES)


def one_hidden(yes, shares):
    """A model of three columns and one hidden variable, given P(y | state) and P(state)."""
    leaf = np.array([1 - np.array(yes), yes])
    return LatentTreeModel(Tree(NAMES, star(3).edges), COLUMNS, (leaf, leaf, leaf, np.array(shares)[:, None]))


def test_states_that_are_empty_or_mean_the_same_are_named():
    alike = [0.1, 0.9, 0.9]
    assert unused_states(one_hidden(alike, [0.5, 0.495, 0.005]), 100) == [
        "1 of the 3 states of 'H1' are empty. Use --states 2 for fewer states"
    ]
    assert unused_states(one_hidden(alike, [0.4, 0.3, 0.3]), 100) == [
        "1 of the 3 states of 'H1' mean the same as another state. Use --states 2 for fewer states"
    ]
    assert unused_states(one_hidden([0.1, 0.9, 0.7], [0.4, 0.3, 0.3]), 100) == []


@pytest.mark.parametrize(("difference", "warned"), [(0.005, True), (0.02, False)])
def test_states_mean_the_same_if_no_probability_differs_by_a_hundredth(difference, warned):
    model = one_hidden([0.1, 0.5, 0.5 + difference], [0.4, 0.3, 0.3])
    assert bool(unused_states(model, 1000)) is warned


@pytest.mark.parametrize(("rows", "warned"), [(0.5, True), (1.5, False)])
def test_a_state_of_less_than_one_row_is_empty(rows, warned):
    model = one_hidden([0.1, 0.5, 0.9], [0.5, 0.5 - rows / 1000, rows / 1000])
    assert any("are empty" in warning for warning in unused_states(model, 1000)) is warned


def test_fewer_states_for_all_are_not_recommended_if_one_hidden_variable_needs_them():
    tree = Tree("abcd", [(0, 4), (1, 4), (4, 5), (5, 2), (5, 3)])
    model = model_on(tree, [3, 3, 3, 3, 3, 3], 0)
    parent = tree.rooted().parent
    root = int(np.flatnonzero(parent < 0)[0])
    child = 9 - root
    tables = list(model.tables)
    tables[child] = np.array([[0.8, 0.1, 0.4], [0.2, 0.9, 0.6], [0.0, 0.0, 0.0]])
    model = LatentTreeModel(tree, model.columns, tuple(tables))
    empty = f"1 of the 3 states of '{tree.node_names[child]}' are empty"
    assert unused_states(model, 1000) == [empty]


def test_a_model_that_predicts_may_have_states_to_spare():
    model = one_hidden([0.1, 0.9, 0.9], [0.4, 0.3, 0.3])
    table = table_of(model, model.sample(200, 0).codes())
    assert any("mean the same" in warning for warning in warnings_about(table, fit_of(model), "explain"))
    assert warnings_about(table, fit_of(model), "predict") == []


def fit_of(model, converged=True):
    return Fit(model, 0.0, ConvergenceMonitor(1e-5, 200, [0.0], converged))


def warnings_of(n_rows, hide=None, converged=True, weights=None):
    """Warnings about three columns of four states without any dependence."""
    model = model_on(Tree(NAMES, []), [4, 4, 4], 0)
    codes = model.sample(n_rows, 0).codes()
    if hide is not None:
        hide(codes)
    return warnings_about(table_of(model, codes, weights), fit_of(model, converged), "explain")


def test_a_fit_without_trouble_has_no_warnings():
    assert warnings_of(100) == []


def test_em_that_did_not_converge():
    assert warnings_of(100, converged=False) == [
        "EM stopped after 200 iterations, while it still gained more than 1e-05 nats per cell. Use --max-iterations 400"
    ]


@pytest.mark.parametrize(("n_rows", "warned"), [(30, True), (50, False)])
def test_few_rows_are_less_than_ten_per_state(n_rows, warned):
    assert [
        warning.startswith(f"{n_rows} rows are few for columns of up to 4 states") for warning in warnings_of(n_rows)
    ] == [True] * warned


def test_the_weight_of_rows_counts():
    (warning,) = warnings_of(50, weights=np.full(50, 0.5))
    assert warning.startswith("25 rows (the sum of their weights) are few")


@pytest.mark.parametrize(("n_missing", "warned"), [(45, False), (55, True)])
def test_columns_that_are_missing_in_most_rows(n_missing, warned):
    def hide(codes):
        codes[:n_missing, 1] = -1

    assert warnings_of(100, hide) == ["column 'b' is missing in 55 of 100 rows"] * warned


def test_columns_that_are_never_present_together():
    def hide(codes):
        codes[:50, 0] = -1
        codes[50:, 2] = -1

    assert warnings_of(100, hide) == ["columns 'a' and 'c' are never present in the same row"]


@pytest.mark.parametrize(("n_columns", "end"), [(4, ""), (6, ", and 2 more of this kind")])
def test_many_warnings_of_a_kind_are_shortened(n_columns, end):
    model = model_on(Tree([f"x{i}" for i in range(n_columns)], []), [2] * n_columns, 0)
    codes = model.sample(100, 0).codes()
    codes[:60] = -1
    found = warnings_about(table_of(model, codes), fit_of(model), "explain")
    assert len(found) == 4
    assert found[-1] == f"column 'x3' is missing in 60 of 100 rows{end}"
