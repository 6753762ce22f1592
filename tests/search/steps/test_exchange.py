"""Exchanges of subtrees in whole models."""

import pytest

from helpers.models import copying_model, grouped_model
from helpers.search import random_binary
from latree.paper.simulate import random_tree
from latree.search.rearrange import Views
from latree.search.sample import Sample
from latree.search.steps.exchange import rearranged


def test_random_trees_become_the_true_one():
    truth = random_tree(8, 0.5, 3)
    table = copying_model(truth, lambda u, v: 0.85, [3] * truth.n_nodes).sample(2000, 0)
    sample = Sample(table, 0)
    found = rearranged(sample.first([random_binary(table, 0)]), sample)
    assert found.tree.splits == truth.splits
    assert sample.steps["exchanges"] > 0
    assert rearranged(found, sample) is found


@pytest.mark.parametrize(("lead", "is_made"), [(1.4, False), (1.6, True)])
def test_another_pairing_must_lead_by_one_and_a_half_standard_errors(monkeypatch, lead, is_made):
    """In a star, every pairing is as good as any other: leads are what is said here."""
    table = grouped_model((6,), top=False).sample(300, 0)
    sample = Sample(table, 0)
    first = sample.first([random_binary(table, 0)])
    found = Views(first, sample.block).verdicts()
    edge, verdict = next(iter(found.items()))

    class Known(type(verdict)):
        rival_lead = property(lambda self: lead)

    known = Known(**{name: getattr(verdict, name) for name in verdict.__dataclass_fields__})
    answers = iter([{edge: known}, {}])
    monkeypatch.setattr(Views, "verdicts", lambda self: next(answers))
    changed = rearranged(first, sample)
    assert (changed is not first) is is_made
    assert sample.steps["exchanges"] == is_made
