"""The simpler models that a model is compared with."""

import numpy as np
import pytest

import latree
from latree.counts.distances import information, pairwise
from latree.interpret import worth
from latree.interpret.worth import chow_liu_tree, fit_simpler_models


def model_of_six():
    tree = latree.random_tree(6, random_state=0)
    return latree.random_model(tree, n_states=3, start="identity", perturbation=0.2, random_state=0)


def test_simpler_models_are_ordered_and_no_worse_than_independence():
    table = model_of_six().sample(500, random_state=0)
    found = list(fit_simpler_models(table))
    assert [simpler.method for simpler in found] == ["independent", "chow-liu", "lcm"]
    scores = [simpler.model.log_likelihood(table) for simpler in found]
    assert min(scores[1:]) > scores[0]
    frequencies = [np.bincount(column, minlength=3) for column in table.codes().T]
    best = sum((counts * np.log(counts / 500)).sum() for counts in frequencies)
    assert scores[0] == pytest.approx(best, rel=1e-4)


def test_the_number_of_classes_minimises_bic_unless_it_is_given():
    table = model_of_six().sample(500, random_state=0)
    by_number = {number: [*fit_simpler_models(table, n_classes=number)][-1] for number in (2, 4, 8)}
    chosen = [*fit_simpler_models(table)][-1]
    assert chosen.n_classes == min(by_number, key=lambda number: by_number[number].model.bic(table))
    assert {number: simpler.n_classes for number, simpler in by_number.items()} == {2: 2, 4: 4, 8: 8}
    assert [simpler.n_classes for simpler in fit_simpler_models(table)][:2] == [0, 0]


def test_simpler_models_are_fitted_to_a_sample_of_many_rows(monkeypatch):
    table = model_of_six().sample(3000, 0)
    whole = [simpler.model.log_likelihood(table) for simpler in fit_simpler_models(table, n_classes=4)]
    monkeypatch.setattr("latree.interpret.worth.MAX_ROWS", 500)
    some = [simpler.model.log_likelihood(table) for simpler in fit_simpler_models(table, n_classes=4)]
    for one, all_ in zip(some, whole, strict=True):
        assert all_ - 1000 < one < all_ - 0.01


def test_a_single_column_has_one_model():
    table = latree.as_table([["a"], ["b"], ["a"]])
    assert [simpler.method for simpler in fit_simpler_models(table)] == ["independent"]


def test_in_a_wide_table_only_columns_near_in_the_tree_are_candidates(monkeypatch):
    tree = latree.random_tree(60, random_state=0)
    model = latree.random_model(tree, n_states=2, start="identity", perturbation=0.1, random_state=0)
    table = model.sample(3000, random_state=0).by_name()
    whole = chow_liu_tree(table, tree)
    monkeypatch.setattr(worth, "WIDE", 20)
    monkeypatch.setattr(worth, "_BLOCK", 30)
    same, near = chow_liu_tree(table), chow_liu_tree(table, tree)
    assert {frozenset(edge) for edge in same.edges.tolist()} == {frozenset(edge) for edge in whole.edges.tolist()}
    # With two blocks, all pairs are candidates: another algorithm finds the same tree.
    assert {frozenset(edge) for edge in near.edges.tolist()} == {frozenset(edge) for edge in whole.edges.tolist()}
    monkeypatch.setattr(worth, "_BLOCK", 5)
    near = chow_liu_tree(table, tree)
    shared = pairwise(table, information)
    assert len(near.edges) == 59
    assert shared[tuple(near.edges.T)].sum() > 0.9 * shared[tuple(whole.edges.T)].sum()


def test_the_tree_may_be_that_of_another_table():
    model = model_of_six()
    tree = chow_liu_tree(model.sample(2000, random_state=1))
    table = model.sample(40, random_state=0)
    _, own, _ = fit_simpler_models(table)
    _, other, _ = fit_simpler_models(table, tree)
    assert own.model.tree.edges.tolist() != tree.edges.tolist()
    assert other.model.tree.edges.tolist() == tree.edges.tolist()
