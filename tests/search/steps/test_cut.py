"""Independent parts of whole models."""

from helpers.models import copying_model, grouped_model
from helpers.search import groups_of, resolved
from latree.learners.explain import starting_trees
from latree.search.edges import SMOOTHING
from latree.search.explain import Search
from latree.search.gains import EdgeGains
from latree.search.sample import Sample
from latree.search.steps.cut import Cutting
from latree.tree import Tree


def test_independent_parts_are_cut():
    model = grouped_model((4, 4), top=False)
    joined = Tree(model.tree.names, [*model.tree.edges.tolist(), (8, 9)])
    apart = 0
    for seed in range(6):
        found = Search(model.sample(600, seed), seed).explained([resolved(joined)])
        assert found.steps["cuts"] == len(found.model.tree.components) - 1
        apart += found.model.tree.components == model.tree.components
    assert apart >= 5
    # With little dependence they stay together.
    weak = copying_model(joined, lambda u, v: 0.25 if min(u, v) == 8 else 0.7, [4] * 8 + [3, 3]).sample(1500, 0)
    kept = Search(weak, 0).explained([resolved(joined)])
    assert len(kept.model.tree.components) == 1
    assert kept.model.tree.splits == joined.splits


def test_parts_that_many_states_connect_are_cut_at_the_end():
    """With four states, chance makes dependence of up to 18 nats; with the three that are there, much less."""
    model = grouped_model((6, 6, 6), column_states=4, strength=0.6, top=False)
    table = model.sample(1000, 18)
    trees = starting_trees(table)
    sample = Sample(table, 18)
    first = Cutting(sample, EdgeGains(sample)).cut(sample.first(trees), SMOOTHING)
    assert first.tree.components != model.tree.components
    found = Search(table, 18).explained(trees)
    assert found.model.tree.components == model.tree.components
    assert groups_of(found.model.tree) == groups_of(model.tree)
