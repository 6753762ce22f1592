"""What edges gain in whole models, and what they must gain."""

import numpy as np

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


def test_tests_of_the_same_model_are_kept(monkeypatch):
    found, around, seen = begun(monkeypatch, 50.0)
    found.held_out(around, around.inner_edges[:2])
    found.held_out(around, around.inner_edges[:3])
    assert len(seen) == 3
    found.held_out(around, around.inner_edges[:1], 1)
    assert seen == [0, 0, 0, 1]


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
