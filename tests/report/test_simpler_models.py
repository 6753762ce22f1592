"""The simpler models that a report compares with."""

import numpy as np
import pytest

import latree
from latree.report import report_html
from latree.report.facts import report_facts
from latree.report.simpler_models import fit_simpler_models


def test_simpler_models_are_fitted_to_a_sample_of_many_rows_and_scored_on_all(monkeypatch):
    model = latree.random_model(
        latree.random_tree(6, random_state=0), n_states=3, start="identity", perturbation=0.2, random_state=0
    )
    table = model.sample(3000, 0)
    whole = report_facts(model, table)["fit"]
    assert whole["n_compared"] == 3000
    for module in ("simpler_models", "facts"):
        monkeypatch.setattr(f"latree.report.{module}.MAX_ROWS", 500)
    some = report_facts(model, table)["fit"]
    assert some["n_compared"] == 500
    assert "fitted to a random sample of 500 rows" in report_html(model, table)
    for one, all_ in zip(some["compared"], whole["compared"], strict=True):
        assert all_["log_likelihood"] - 1000 < one["log_likelihood"] < all_["log_likelihood"] - 0.01


def test_simpler_models_are_ordered_and_no_worse_than_independence():
    model = latree.random_model(
        latree.random_tree(6, random_state=0), n_states=3, start="identity", perturbation=0.2, random_state=0
    )
    table = model.sample(500, random_state=0)
    found = list(fit_simpler_models(table, 0.1))
    assert [simpler.name for simpler in found] == ["Independent columns", "Chow-Liu tree", "One hidden variable"]
    scores = [simpler.model.log_likelihood(table) for simpler in found]
    assert min(scores[1:]) > scores[0]
    frequencies = [np.bincount(column, minlength=3) for column in table.codes().T]
    best = sum((counts * np.log(counts / 500)).sum() for counts in frequencies)
    assert scores[0] == pytest.approx(best, rel=1e-4)
