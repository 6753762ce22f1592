"""What edges gain in whole models, and what they must gain."""

import numpy as np
import pytest

from helpers.models import grouped_model
from helpers.search import random_binary, surroundings
from latree.model import fit_model
from latree.search import gains
from latree.search.edges import EdgeTest, GainDistribution
from latree.search.gains import EdgeGains
from latree.search.sample import Sample
from latree.table import Table

DISTRIBUTION = GainDistribution(0.5, 20.0)


def begun(monkeypatch, first, second=0.0, asked=-np.inf):
    """Gains of one edge that are known for the first folds and for the second; and the numbers of folds looked at."""
    table = grouped_model((4, 4), top=True).sample(100, 0)
    around = surroundings(fit_model(table, random_binary(table), 2, smoothing=1.0, random_state=0).model, table)
    seen = []

    def examined(around, edges, seed):
        seen.extend([seed] * len(edges))
        return [EdgeTest(first if seed < gains.FOLD_SETS else second, 0.0)] * len(edges)

    monkeypatch.setattr(gains, "examine_edges", examined)
    monkeypatch.setattr(gains, "bic_gain", lambda *_: asked)
    found = EdgeGains(Sample(table, 0))
    found.distribution = DISTRIBUTION
    return found, around, seen


@pytest.mark.parametrize(("above", "again"), [(-6.1, False), (-5.9, True), (5.9, True), (6.1, False)])
def test_edges_near_the_threshold_are_tested_with_other_folds_too(monkeypatch, above, again):
    gain = DISTRIBUTION.threshold + above
    found, around, seen = begun(monkeypatch, gain, 2.0)
    expected = (gain + 2) / 2 if again else gain
    assert found.held_out(around, around.inner_edges[:1], 3).tolist() == [pytest.approx(expected)]
    assert seen == ([3, 3 + gains.FOLD_SETS] if again else [3])


def test_tests_of_the_same_model_are_kept(monkeypatch):
    found, around, seen = begun(monkeypatch, 50.0)
    found.held_out(around, around.inner_edges[:2])
    found.held_out(around, around.inner_edges[:3])
    assert len(seen) == 3
    found.held_out(around, around.inner_edges[:1], 1)
    assert seen == [0, 0, 0, 1]


@pytest.mark.parametrize(("above", "asked", "expected"), [(14.9, 60.0, 60.0), (15.1, 60.0, None), (10.0, 3.9, None)])
def test_bic_may_ask_for_edges_that_are_not_sure(monkeypatch, above, asked, expected):
    gain = DISTRIBUTION.threshold + above
    found, around, _ = begun(monkeypatch, gain, asked=asked)
    assert found.worth(around, around.inner_edges[:1]).tolist() == [pytest.approx(expected or gain)]
    assert found.held_out(around, around.inner_edges[:1]).tolist() == [pytest.approx(gain)]


def test_new_hidden_variables_must_gain_as_much_as_edges_at_least(monkeypatch):
    found, *_ = begun(monkeypatch, 0.0)
    assert DISTRIBUTION.threshold < 4
    assert found.least_division == 4
    found.distribution = GainDistribution(0.05, 100.0)
    assert found.least_division == found.threshold > 4
    found.distribution = None
    assert found.least_division == 4


def test_the_share_of_missing_cells_decides_about_the_threshold(monkeypatch):
    shares = []
    distribution = GainDistribution(0.9, 20.0)
    monkeypatch.setattr(GainDistribution, "of", lambda gains, present: shares.append(present) or distribution)
    table = grouped_model((4, 4), top=True).sample(200, 0)
    codes = table.codes()
    codes[:, ::4] = -1
    around = surroundings(fit_model(table, random_binary(table), 2, smoothing=1.0, random_state=0).model, table)
    EdgeGains(Sample(Table.from_codes(table.columns, codes), 0)).held_out(around, around.inner_edges)
    assert shares == [0.75]
