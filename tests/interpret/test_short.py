"""Short forms beside the best subsets by brute force, and what is said of them beside rows that nobody has seen."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from helpers.models import model_on
from helpers.report import grouped_model
from latree import InputError, LatentTree, LatentTreeModel, Table, random_model
from latree.interpret.groups import with_groups
from latree.interpret.scores import Scorer, row_scores
from latree.interpret.short import Choice, best_sizes, only, short_forms
from latree.table import Block
from latree.tree import Tree

# The mean correlation of greedy choices with exchanges is this near to that of the best subset of all.
NEAR = 0.01


@pytest.fixture(scope="module")
def model():
    return grouped_model([5, 4])


@pytest.fixture(scope="module")
def table(model):
    codes = model.sample(600, random_state=0).codes()
    return Table.from_codes(model.columns, np.where(np.random.default_rng(0).random(codes.shape) < 0.2, -1, codes))


def block_of(table):
    return table.rows.fetch(np.arange(table.n_rows))


@pytest.mark.parametrize("seed", range(4))
def test_choices_are_near_the_best_subsets_of_all(seed):
    """A scale with a column that is an inner node, one that is redundant with another, and holes."""
    edges = [(0, 7), (1, 7), (2, 7), (2, 3), (4, 8), (5, 8), (6, 8), (7, 8)]
    model = with_groups(model_on(Tree("abcdefg", edges), [2, 3, 4, 3, 2, 3, 2, 3, 3], seed))
    scale = max(Scorer.of_model(model).scales, key=lambda scale: len(scale.columns))
    block = block_of(model.encode(model.sample(400, random_state=seed)))
    holes = np.random.default_rng(seed).random(block.codes.shape) < 0.1
    choice = Choice(scale, Block(np.where(holes, 255, block.codes).astype(np.uint8), None))
    path = choice.path(set(), set())
    assert list(path) == list(range(len(scale.columns) + 1))
    for n, (columns, reached) in path.items():
        best = max(choice.correlation(subset) for subset in combinations(scale.columns.tolist(), n))
        assert len(columns) == n
        assert reached == pytest.approx(choice.correlation(columns))
        assert best - NEAR < reached < best + 1e-9
    kept = choice.path({3}, {0})
    assert all(3 in columns and 0 not in columns for columns, _ in kept.values())
    assert list(kept) == list(range(1, len(scale.columns)))


def test_an_exchange_finds_what_one_column_after_the_other_does_not():
    edges = [(0, 7), (1, 7), (2, 8), (3, 8), (4, 8), (5, 9), (6, 9), (7, 8), (8, 9)]
    model = with_groups(model_on(Tree("abcdefg", edges), [3] * 10, 21))
    scale = max(Scorer.of_model(model).scales, key=lambda scale: len(scale.columns))
    choice = Choice(scale, block_of(model.encode(model.sample(400, random_state=21))))
    path = choice.path(set(), set())
    (first,), (one, other) = path[1][0], path[2][0]
    columns = scale.columns.tolist()
    assert first not in (one, other)
    assert path[2][1] == max(choice.correlation(pair) for pair in combinations(columns, 2))
    assert path[2][1] > max(choice.correlation([first, column]) for column in columns) + 0.005


def test_the_next_column_is_the_one_that_scores_with_it_say(model, table):
    scale, block = Scorer.of_model(model).scales[0], block_of(table)
    choice = Choice(scale, block)
    weighted = Choice(scale, Block(block.codes, np.arange(600.0)))
    for one in (choice, weighted):
        first, second = (one.path(set(), set())[n][0] for n in (1, 2))
        assert one.correlation(first) == max(one.correlation([column]) for column in scale.columns.tolist())
        assert set(first) < set(second)
    full, short = scale.moments(block.codes)[0], scale.moments(only(block.codes, [0]))[0]
    assert choice.correlation([0]) == pytest.approx(np.corrcoef(full, short)[0, 1])
    repeated = np.repeat(np.arange(600), np.arange(600))
    assert weighted.correlation([0]) == pytest.approx(np.corrcoef(full[repeated], short[repeated])[0, 1])
    assert choice.correlation([]) == 0


def test_the_columns_of_the_groups_are_shared_out_best():
    rng = np.random.default_rng(0)
    paths = [{n: ((), float(value)) for n, value in enumerate(rng.random(size))} for size in (3, 5, 4)]
    found = best_sizes(paths)
    assert list(found) == list(range(10))
    for total, sizes in found.items():
        every = [(a, b, c) for a in range(3) for b in range(5) for c in range(4) if a + b + c == total]
        values = {one: sum(path[n][1] for path, n in zip(paths, one, strict=True)) for one in every}
        assert values[sizes] == pytest.approx(max(values.values()))


def test_what_is_said_of_a_form_holds_for_unseen_people():
    """Forms, and the probabilities of the model, are judged without the rows that they come from."""
    tree = Tree("abcdefgh", [(column, 8) for column in range(8)])
    true = random_model(tree, n_states=4, hidden_states=3, start="identity", perturbation=0.35, random_state=1)
    too_good = []
    for seed in range(4):
        seen, unseen = true.sample(60, random_state=seed), true.sample(3000, random_state=100 + seed)
        fitted = LatentTree("lcm", n_states=3, random_state=0).fit(seen).model_
        (scale,) = Scorer.of_model(fitted).scales
        found = short_forms(fitted, fitted.encode(seen), [scale])
        codes = block_of(fitted.encode(unseen)).codes
        full = scale.moments(codes)[0]
        for form in [found.forms[n] for n in range(1, 8)]:
            score = scale.moments(only(codes, form.columns))[0]
            too_good.append(form.kept[0].correlation - np.corrcoef(score, full)[0, 1])
    # With the probabilities of the model, which has seen the rows, it is 0.07.
    assert np.mean(too_good) == pytest.approx(0, abs=0.04)


def test_figures_are_those_of_scores_and_states_from_some_columns(model, table):
    found = short_forms(model, table, Scorer.of_model(model).scales)
    full = row_scores(model, table)
    for n, form in found.forms.items():
        codes = np.full((table.n_rows, table.n_columns), -1)
        codes[:, form.columns] = table.codes()[:, form.columns]
        short = row_scores(model, Table.from_codes(model.columns, codes))
        for group, kept in enumerate(form.kept):
            variance, error = short.scores[:, group].var(), (short.errors[:, group] ** 2).mean()
            real = np.corrcoef(short.scores[:, group], full.scores[:, group])[0, 1] if variance > 1e-9 else 0
            # The figures are those of three fits to other rows, so that they are near.
            assert kept.correlation == pytest.approx(real, abs=0.06), n
            assert kept.reliability == pytest.approx(variance / (variance + error), abs=0.06)
            assert kept.same_state == pytest.approx((short.states == full.states)[:, group].mean(), abs=0.08)
    assert [one.correlation for one in found.full] == pytest.approx([1, 1])
    assert [one.same_state for one in found.full] == [1, 1]


def test_columns_without_a_score_are_in_a_form_only_if_they_are_kept():
    model = with_groups(model_on(Tree("abcdef", [(0, 6), (1, 6), (2, 6), (3, 6)]), [3] * 7, 1))
    table = model.encode(model.sample(300, random_state=0))
    scales = Scorer.of_model(model).scales
    assert list(short_forms(model, table, scales).forms) == [1, 2, 3, 4]
    kept = short_forms(model, table, scales, keep=[5, 0]).forms
    assert list(kept) == [2, 3, 4, 5]
    assert kept[2].columns == (0, 5)


def test_of_a_wide_table_some_lengths_are_looked_at(table, model, monkeypatch):
    monkeypatch.setattr("latree.interpret.short._MAX_LENGTHS", 4)
    assert list(short_forms(model, table, Scorer.of_model(model).scales, 5).forms) == [1, 3, 5, 6, 9]


def test_few_or_impossible_rows_are_refused(model):
    scales = Scorer.of_model(model).scales
    with pytest.raises(InputError, match="29 rows: at least 30 are needed to choose and judge a form"):
        short_forms(model, model.encode(model.sample(29, random_state=0)), scales)
    tree = Tree("abc", [(0, 3), (1, 3), (2, 3)])
    certain = np.eye(2)
    model = with_groups(
        LatentTreeModel(tree, model_on(tree, [2] * 4, 0).columns, (certain,) * 3 + (np.full((2, 1), 0.5),))
    )
    rows = Table.from_codes(model.columns, np.array([[0, 1, 0]] * 40))
    with pytest.raises(InputError, match="0 rows: at least 30"):
        short_forms(model, rows, Scorer.of_model(model).scales)


def test_leaving_out_a_column_is_scoring_without_it(model, table):
    scale = Scorer.of_model(model).scales[0]
    choice = Choice(scale, block_of(table))
    columns = set(scale.columns.tolist())
    assert choice.plain == columns
    expected = {column: choice.correlation(columns - {column}) for column in columns}
    assert choice._without_each(columns, columns) == pytest.approx(expected)
    # What a leaf whose table has zeros hides is not known from the pass for all columns.
    tables = list(model.tables)
    tables[0] = np.where(np.arange(len(tables[0]))[:, None] == 0, 0, 1 / (len(tables[0]) - 1)) * np.ones(
        tables[0].shape
    )
    holes = Table.from_codes(model.columns, np.where((np.arange(9) == 0) & (table.codes() == 0), -1, table.codes()))
    zeros = Choice(Scorer.of_model(replace(model, tables=tuple(tables))).scales[0], block_of(holes))
    assert zeros.plain == columns - {0}
    expected = {column: zeros.correlation(columns - {column}) for column in columns}
    assert zeros._without_each(columns, columns) == pytest.approx(expected)
