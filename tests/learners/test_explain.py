"""The default learner: the hidden variables that are there, and no more."""

import numpy as np
import pytest

from helpers.models import copying_model, grouped_model, holes
from helpers.search import groups_of
from latree._util.arrays import generator
from latree._util.progress import reported_to
from latree.learners import explain as module
from latree.learners.explain import explain, joined, starting_trees
from latree.settings import Settings
from latree.table import Table
from latree.tree import Tree


def learned(table, **options):
    settings = Settings(**({"random_state": 0} | options))
    return explain(table, settings, generator(settings.random_state))


def independent_columns(d=10, n_rows=400, seed=0):
    return copying_model(Tree([f"x{i}" for i in range(d)], []), None, [3] * d).sample(n_rows, seed)


@pytest.fixture(scope="module")
def groups():
    """Four scales of four items under a general factor."""
    model = grouped_model((4, 4, 4, 4))
    return model, model.sample(1000, 0)


@pytest.fixture(scope="module")
def found(groups):
    return learned(groups[1])


def test_scales_under_a_general_factor_are_found(groups, found):
    assert found.tree.names == groups[1].names
    assert found.tree.splits == groups[0].tree.splits
    assert found.n_states == (3,) * 5
    assert found.facts["contractions"] == 9  # of the thirteen edges of a binary tree of sixteen columns


def test_a_questionnaire_of_eight_scales():
    """The recipe of the benchmarks: nine hidden variables of three states, from a thousand rows."""
    model = grouped_model((5,) * 8)
    structure = learned(model.sample(1000, 0))
    assert structure.tree.splits == model.tree.splits
    assert structure.n_states == (3,) * 9


def test_the_same_seed_gives_the_same_result(groups, found):
    same = learned(groups[1])
    assert same.tree.edges.tolist() == found.tree.edges.tolist()
    for one, two in zip(found.start.tables, same.start.tables, strict=True):
        np.testing.assert_array_equal(one, two)
    other = learned(groups[1], random_state=1)
    assert other.tree.splits == found.tree.splits
    assert not np.array_equal(other.start.tables[0], found.start.tables[0])


def test_em_can_start_from_a_model_that_has_the_frequencies_of_the_columns(groups, found):
    assert found.start.tree.edges.tolist() == found.tree.edges.tolist()
    for column, share in zip(groups[1].codes().T, list(found.start.marginals().values())[:16], strict=True):
        np.testing.assert_allclose(share, np.bincount(column, minlength=4) / 1000, atol=0.02)


def test_edges_between_hidden_variables_have_support(found):
    inner = found.tree.edges.min(axis=1) >= 16
    assert (found.tree.support[inner] > 0.9).all()
    assert np.isnan(found.tree.support[~inner]).all()


def test_independent_groups_are_parts_of_their_own():
    model = grouped_model((4, 4, 4), top=False)
    structure = learned(model.sample(600, 0))
    assert structure.tree.components == model.tree.components
    assert groups_of(structure.tree) == groups_of(model.tree)
    assert structure.n_states == (3, 3, 3)


def test_independent_columns_have_no_hidden_variable():
    for seed in range(10):
        structure = learned(independent_columns(seed=seed))
        assert structure.tree.edges.tolist() == []
        assert structure.n_states is None


def test_columns_that_depend_on_no_other_stay_alone():
    model = grouped_model((4, 4), top=False)
    codes = np.hstack([model.sample(600, 0).codes(), independent_columns(4, 600, seed=1).codes()])
    structure = learned(Table.from_codes(grouped_model((4, 4, 4)).columns, codes))
    assert groups_of(structure.tree) == groups_of(model.tree)
    assert all(not structure.tree.neighbors[column] for column in range(8, 12))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_star_has_one_hidden_variable_with_the_right_number_of_states(k):
    model = grouped_model((8,), hidden_states=k, column_states=5, strength=0.7, top=False)
    structure = learned(model.sample(1000, 0))
    assert structure.tree.splits == model.tree.splits
    assert structure.n_states == (k,)


def test_a_given_number_of_states_is_kept(groups):
    for resolve in ("tested", "all"):
        structure = learned(groups[1], n_states=2, resolve=resolve)
        assert set(structure.n_states) == {2}
        assert len(structure.n_states) == structure.tree.n_hidden


def test_a_resolved_tree_is_binary(groups):
    structure = learned(groups[1], resolve="all")
    assert structure.tree.non_binary_features() == {}
    assert structure.tree.n_hidden == 14
    assert structure.tree.splits > groups[0].tree.splits  # it has all true edges, and more


def test_neither_counts_in_the_place_of_repeated_rows_nor_the_order_of_rows_change_anything():
    model = grouped_model((4, 4, 4), strength=0.45, column_states=3)
    codes, columns = model.sample(250, 3).codes(), model.columns
    codes[::7, 2] = -1
    repeated = np.repeat(codes, 2, axis=0)
    tables = [
        Table.from_codes(columns, codes, np.full(250, 2.0)),
        Table.from_codes(columns, repeated),
        Table.from_codes(columns, np.random.default_rng(0).permutation(repeated)),
        Table.from_codes(columns, np.vstack([codes, codes, codes]), np.repeat([1.0, 0.0, 1.0], 250)),
    ]
    first, *others = map(learned, tables)
    assert first.tree.n_hidden > 1
    for other in others:
        assert other.tree.edges.tolist() == first.tree.edges.tolist()
        assert other.n_states == first.n_states
        np.testing.assert_allclose(other.tree.support, first.tree.support, rtol=1e-6)
        for one, two in zip(first.start.tables, other.start.tables, strict=True):
            np.testing.assert_allclose(one, two, atol=1e-6)


def test_missing_cells():
    """With 30 % of the cells missing the true edges are still there, and few others."""
    model = grouped_model((4, 4, 4, 4))
    table = model.sample(1000, 0)
    structure = learned(Table.from_codes(table.columns, holes(table.codes(), 0)))
    assert structure.tree.splits >= model.tree.splits
    assert structure.tree.n_hidden <= 7
    assert set(structure.n_states) == {3}


def test_two_columns_and_one():
    two = learned(grouped_model((2,), strength=0.9, top=False).sample(400, 0))
    assert len(two.tree.components) == 1
    one = learned(independent_columns(1))
    assert one.tree.edges.tolist() == []


def test_starting_trees_are_binary_over_the_columns_that_depend_on_others():
    model = grouped_model((4, 4), top=False)
    codes = np.hstack([independent_columns(2, 600, seed=1).codes(), model.sample(600, 0).codes()])
    table = Table.from_codes(grouped_model((2, 4, 4)).columns, codes)
    trees = starting_trees(table)
    assert len(trees) == 3
    for tree in trees:
        assert tree.names == table.names
        assert tree.n_hidden == 6
        assert [tree.names[column] for column in range(10) if not tree.neighbors[column]] == ["x00", "x01"]
        assert {len(near) for near in tree.neighbors[10:]} == {3}
    assert starting_trees(independent_columns()) == []


def test_how_sure_a_dependence_must_be(monkeypatch):
    """One pair of columns that chance makes as dependent in one of a thousand tables, or of ten."""
    table = independent_columns(2, 300)
    codes = table.codes()
    rng = np.random.default_rng(1)
    for share, kept in ((0.0, False), (0.12, False), (0.3, True), (0.6, True)):
        follows = rng.random(300) < share
        some = codes.copy()
        some[follows, 1] = some[follows, 0]
        assert bool(starting_trees(Table.from_codes(table.columns, some))) == kept
    found = [len(starting_trees(independent_columns(8, 100, seed))) > 0 for seed in range(60)]
    assert np.mean(found) < 0.06
    monkeypatch.setattr(module, "_CHANCE", 0.5)
    found = [len(starting_trees(independent_columns(8, 100, seed))) > 0 for seed in range(60)]
    assert np.mean(found) > 0.2


def test_quickly_joined_trees(groups):
    structure = joined(groups[1])
    assert structure.tree.non_binary_features() == {}
    assert structure.tree.splits > groups[0].tree.splits
    assert joined(independent_columns()).tree.edges.tolist() == []


def test_progress_goes_forward():
    told = []
    with reported_to(lambda done, total: told.append((done, total))):
        learned(grouped_model((4, 4)).sample(200, 0), n_states=2)
    shares = [done / total for done, total in told]
    assert shares == sorted(shares)
    assert 0.3 < shares[-1] <= 1
