"""The default learner: the hidden variables that are there, and no more."""

import numpy as np
import pytest

from helpers.models import copying_model, grouped_model, holes
from helpers.search import groups_of
from latree._util.arrays import generator
from latree._util.progress import reported_to
from latree._util.workers import one_thread
from latree.learners import explain as module
from latree.learners import starting
from latree.learners.explain import explain, halves, joined
from latree.learners.starting import starting_trees
from latree.learners.support import found_again
from latree.paper.simulate import random_tree
from latree.settings import Settings
from latree.table import Column, Table
from latree.tree import Tree


def learned(table, **options):
    settings = Settings(**({"random_state": 0, "n_resamples": 2} | options))
    return explain(table, settings, generator(settings.random_state))


def independent_columns(d=10, n_rows=400, seed=0):
    return copying_model(Tree([f"x{i}" for i in range(d)], []), None, [3] * d).sample(n_rows, seed)


@pytest.fixture(scope="module")
def groups():
    """Four scales of four items under a general factor."""
    model = grouped_model((4, 4, 4, 4))
    return model, model.sample(800, 0)


@pytest.fixture(scope="module")
def found(groups):
    return learned(groups[1], n_resamples=4)


def test_scales_under_a_general_factor_are_found(groups, found):
    assert found.tree.names == groups[1].names
    assert found.tree.splits == groups[0].tree.splits
    assert found.n_states == (3,) * 5


def test_few_rows_are_enough_for_clear_structures():
    """Three groups under a general factor, three separate groups, and a binary tree."""
    binary = random_tree(8, 0.5, 3)
    for model, n_rows in (
        (grouped_model((4, 4, 4)), 400),
        (grouped_model((4, 4, 4), top=False), 200),
        (copying_model(binary, lambda u, v: 0.85, [3] * binary.n_nodes), 400),
    ):
        structure = learned(model.sample(n_rows, 0), n_resamples=4)
        assert structure.tree.splits >= model.tree.splits
        assert len(structure.tree.splits) <= len(model.tree.splits) + 1
        assert structure.tree.components == model.tree.components
        assert set(structure.n_states) == {3}


def test_a_questionnaire_of_eight_scales():
    """The recipe of the benchmarks: nine hidden variables of three states, from a thousand rows."""
    model = grouped_model((5,) * 8)
    structure = learned(model.sample(1000, 0))
    assert structure.tree.splits == model.tree.splits
    assert structure.n_states == (3,) * 9


def test_the_same_seed_gives_the_same_result(groups, found):
    same = learned(groups[1], n_resamples=4)
    assert same.tree.edges.tolist() == found.tree.edges.tolist()
    for one, two in zip(found.start.tables, same.start.tables, strict=True):
        np.testing.assert_array_equal(one, two)
    other = learned(groups[1], random_state=1)
    assert other.tree.splits == found.tree.splits
    assert not np.array_equal(other.start.tables[0], found.start.tables[0])


def test_em_can_start_from_a_model_that_has_the_frequencies_of_the_columns(groups, found):
    assert found.start.tree.edges.tolist() == found.tree.edges.tolist()
    for column, share in zip(groups[1].codes().T, list(found.start.marginals().values())[:16], strict=True):
        np.testing.assert_allclose(share, np.bincount(column, minlength=4) / 800, atol=0.02)


def test_edges_between_hidden_variables_have_support(found):
    inner = found.tree.edges.min(axis=1) >= 16
    assert (found.tree.support[inner] > 0.8).all()
    assert np.isnan(found.tree.support[~inner]).all()


def test_independent_columns_have_no_hidden_variable():
    for seed in range(10):
        structure = learned(independent_columns(seed=seed))
        assert structure.tree.edges.tolist() == []
        assert structure.n_states is None
        assert structure.replicates == ()


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
        structure = learned(groups[1], n_states=2, resolve=resolve, n_resamples=1)
        assert {len(table) for table in structure.replicates[0].model.tables[16:]} == {2}
        assert set(structure.n_states) == {2}
        assert len(structure.n_states) == structure.tree.n_hidden


def test_a_resolved_tree_is_binary(groups):
    structure = learned(groups[1], resolve="all")
    assert structure.tree.non_binary_features() == {}
    assert structure.tree.n_hidden == 14
    assert structure.tree.splits > groups[0].tree.splits  # it has all true edges, and more


def test_neither_counts_in_the_place_of_repeated_rows_nor_the_order_of_rows_change_anything():
    model = grouped_model((4, 4, 4), strength=0.45, column_states=3)
    codes, columns = model.sample(150, 3).codes(), model.columns
    codes[::7, 2] = -1
    repeated = np.repeat(codes, 2, axis=0)
    tables = [
        Table.from_codes(columns, codes, np.full(150, 2.0)),
        Table.from_codes(columns, repeated),
        Table.from_codes(columns, np.random.default_rng(0).permutation(repeated)),
        Table.from_codes(columns, np.vstack([codes, codes, codes]), np.repeat([1.0, 0.0, 1.0], 150)),
    ]
    first, *others = map(learned, tables)
    assert first.tree.n_hidden > 1
    for other in others:
        assert other.tree.edges.tolist() == first.tree.edges.tolist()
        assert other.n_states == first.n_states
        np.testing.assert_allclose(other.tree.support, first.tree.support, rtol=1e-6)
        for one, two in zip(first.start.tables, other.start.tables, strict=True):
            np.testing.assert_allclose(one, two, atol=1e-6)


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
    monkeypatch.setattr(starting, "_CHANCE", 0.5)
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


# Parts of the rows


def numbered(n_rows, weights=None):
    """A table whose only column tells the rows apart."""
    column = Column("row", "integer", tuple(map(str, range(n_rows))))
    return Table.from_codes([column], np.arange(n_rows)[:, None], weights)


def rows_in(part):
    return sorted(part.codes()[:, 0].tolist())


@pytest.mark.parametrize("n_rows", [40, 41])
def test_two_and_two_halves_are_all_rows(n_rows):
    found = halves(numbered(n_rows), 6, 0)
    assert [part.n_rows for part in found] == [n_rows - n_rows // 2, n_rows // 2] * 3
    for one, other in zip(found[::2], found[1::2], strict=True):
        assert sorted(rows_in(one) + rows_in(other)) == list(range(n_rows))
    assert len({tuple(rows_in(part)) for part in found}) == 6


def test_as_many_halves_as_are_asked_for_and_more_do_not_change_them():
    table = numbered(30)
    assert halves(table, 0, 0) == []
    some, more, other = ([rows_in(part) for part in halves(table, n, seed)] for n, seed in ((3, 1), (8, 1), (3, 2)))
    assert (len(some), len(more)) == (3, 8)
    assert some == more[:3]
    assert some != other


def test_halves_of_rows_that_count_more_than_once():
    """A row with the count 3 is three rows, which may be in different halves."""
    counts = np.arange(30) % 4
    one, other = halves(numbered(30, counts.astype(float)), 2, 0)
    assert abs(one.n_rows - other.n_rows) <= 1
    assert sorted(rows_in(one) + rows_in(other)) == np.repeat(np.arange(30), counts).tolist()
    assert set(rows_in(one)) & set(rows_in(other))


def test_halves_of_rows_with_weights_that_are_no_counts():
    weights = np.where(np.arange(30) < 5, 0, 0.5 + np.arange(30))
    parts = halves(numbered(30, weights), 2, 0)
    assert sorted(rows_in(parts[0]) + rows_in(parts[1])) == list(range(5, 30))
    assert sum(part.total_weight for part in parts) == pytest.approx(weights.sum())
    for part in parts:
        np.testing.assert_array_equal(part.subsample_block(100, 0).weights, weights[part.codes()[:, 0]])


def test_neither_the_order_of_rows_nor_counts_change_the_halves():
    codes, order = np.arange(24) % 7, np.random.default_rng(0).permutation(24)
    columns = numbered(7).columns
    expected = halves(Table.from_codes(columns, codes[:, None]), 4, 3)
    for table in (
        Table.from_codes(columns, codes[order][:, None]),
        Table.from_codes(columns, np.arange(7)[:, None], np.bincount(codes).astype(float)),
    ):
        for part, same in zip(expected, halves(table, 4, 3), strict=True):
            np.testing.assert_array_equal(part.codes(), same.codes())


def test_of_a_large_table_each_two_halves_have_other_rows(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 20)
    found = halves(numbered(1000), 6, 0)
    assert {part.n_rows for part in found} == {20}
    pairs = [{*rows_in(one), *rows_in(other)} for one, other in zip(found[::2], found[1::2], strict=True)]
    assert [len(pair) for pair in pairs] == [40] * 3
    assert len(set.union(*pairs)) > 105  # drawn anew, two of a thousand rows seldom come again


# Support


@pytest.fixture(scope="module")
def doubtful():
    """Few rows of three groups: a search finds edges in them that are not there in others."""
    return [grouped_model((5, 5, 5)).sample(400, seed) for seed in (3, 4)]


def test_support_is_what_searches_in_halves_find_again(found):
    assert len(found.replicates) == 4
    np.testing.assert_array_equal(found.tree.support, found_again(found.tree, found.replicates))
    for one in found.replicates:
        assert [start.edges.tolist() for start in one.starts] == [t.edges.tolist() for t in starting_trees(one.rows)]
    assert {one.rows.n_rows for one in found.replicates} == {400}
    for one in found.replicates:
        assert one.model.tree.names == one.rows.names == found.tree.names
        assert one.model.columns == found.start.columns


def test_without_resamples_the_same_tree_has_no_support(doubtful):
    for table in doubtful:
        alone, structure = (learned(table, n_resamples=number) for number in (0, 2))
        assert alone.replicates == ()
        assert np.isnan(alone.tree.support).all()
        assert alone.tree.edges.tolist() == structure.tree.edges.tolist()
        assert not np.isnan(structure.tree.support).all()


def test_missing_cells():
    """With 30 % of the cells missing the true edges are still there, and come again more than others."""
    model = grouped_model((4, 4, 4, 4))
    table = model.sample(800, 0)
    tree = learned(Table.from_codes(table.columns, holes(table.codes(), 0)), n_resamples=4).tree
    shares = {split: share for split, share in zip(tree.edge_splits, tree.support, strict=True) if split in tree.splits}
    assert shares.keys() >= model.tree.splits
    assert min(shares[split] for split in model.tree.splits) > 0.8
    assert np.mean([share for split, share in shares.items() if split not in model.tree.splits] or [0]) < 0.5


def test_all_edges_of_a_resolved_tree_stay_and_have_their_support(doubtful):
    structure = learned(doubtful[0], n_resamples=4, resolve="all")
    tree = structure.tree
    assert tree.non_binary_features() == {}
    np.testing.assert_array_equal(tree.support, found_again(tree, structure.replicates))
    truth = grouped_model((5, 5, 5)).tree.splits
    shares = {split: share for split, share in zip(tree.edge_splits, tree.support, strict=True) if split in tree.splits}
    assert min(shares.values()) < 0.5 < min(shares[split] for split in truth)


def test_the_number_of_cores_changes_nothing(doubtful, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1})
    together = learned(doubtful[0])
    with one_thread():
        alone = learned(doubtful[0])
    assert together.tree.edges.tolist() == alone.tree.edges.tolist()
    np.testing.assert_array_equal(together.tree.support, alone.tree.support)
    pairs = [(together.start, alone.start)]
    pairs += [(one.model, other.model) for one, other in zip(together.replicates, alone.replicates, strict=True)]
    for model, same in pairs:
        for table, table_of_same in zip(model.tables, same.tables, strict=True):
            np.testing.assert_array_equal(table, table_of_same)
