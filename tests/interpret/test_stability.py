"""How stable groups are: clear groups are found again, doubtful columns are not, and nothing else decides."""

from dataclasses import replace
from itertools import permutations
from threading import current_thread, main_thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import latree
from helpers.models import copying_model, on_tree, star
from latree._util.workers import one_thread
from latree.counts.distances import information_above_chance, informational_correlation, pairwise
from latree.interpret import groups
from latree.interpret.groups import find_groups, nearest_group, same_group
from latree.interpret.view import View
from latree.table import Column, Table
from latree.tree import Tree

LOADING = 0.7


def two_factors(extra=0):
    """Two groups of four columns whose factors have the correlation 0.2, and more columns in the first one."""
    d = 8 + extra
    edges = [(column, d + (4 <= column < 8)) for column in range(d)]
    tree = Tree([f"x{i}" for i in range(d)], [*edges, (d, d + 1)])
    return copying_model(tree, lambda node, parent: 0.2 if min(node, parent) >= d else LOADING)


def by_column(groups):
    """The stability of each column by its name."""
    shares = [
        (column, share)
        for group in groups
        if group.level == "main"
        for column, share in zip(group.columns, group.column_stability, strict=True)
    ]
    return dict(shares)


def test_clear_groups_are_always_found_again():
    model = two_factors()
    groups = find_groups(model, model.sample(1000, random_state=0), resamples=20)
    assert [group.stability for group in groups] == [1.0, 1.0]
    assert [group.column_stability for group in groups] == [(1.0,) * 4] * 2


def test_the_stability_of_a_group_is_the_mean_of_its_columns():
    model = two_factors()
    groups = find_groups(model, model.sample(60, random_state=1), resamples=20)
    for group in groups:
        assert group.stability == pytest.approx(np.mean(group.column_stability))
        assert all(share * 20 == pytest.approx(round(share * 20)) for share in group.column_stability)
    assert min(group.stability for group in groups) < 1


def test_a_column_that_belongs_to_both_groups_is_less_stable_than_others():
    """It copies a column of either group, in every other row. The model has it in the first group."""
    model = two_factors(extra=1)
    codes = model.sample(2000, random_state=0).codes()
    codes[::2, 8], codes[1::2, 8] = codes[::2, 0], codes[1::2, 4]
    shares = by_column(find_groups(model, Table.from_codes(model.columns, codes), resamples=50))
    assert 0.1 < shares.pop("x8") < 0.9
    assert min(shares.values()) == 1


def test_a_column_in_the_wrong_group_is_unstable():
    model = two_factors(extra=1)
    codes = model.sample(2000, random_state=0).codes()
    codes[:, 8] = np.where(np.random.default_rng(0).random(2000) < LOADING, codes[:, 4], codes[:, 8])
    shares = by_column(find_groups(model, Table.from_codes(model.columns, codes), resamples=20))
    assert shares.pop("x8") < 0.1
    assert min(shares.values()) == 1


def test_groups_that_rows_do_not_hold_apart_are_unstable():
    """The latent correlation is at the threshold where two groups come together: one of them is lost in some tables."""
    d = 12
    edges = [(column, d + column // 4) for column in range(d)]
    tree = Tree([f"x{i}" for i in range(d)], [*edges, (d, d + 1), (d + 1, d + 2)])
    strength = {frozenset((d, d + 1)): 0.63, frozenset((d + 1, d + 2)): 0.1}
    model = copying_model(tree, lambda node, parent: strength.get(frozenset((node, parent)), 0.4))
    table = model.sample(1000, random_state=0)
    groups = [group for group in find_groups(model, table, resamples=50) if group.level == "main"]
    assert min(group.stability for group in groups) < 0.9
    (last,) = (group for group in groups if "x8" in group.columns)
    assert last.stability > 0.9


def test_independent_columns_and_a_single_group():
    lonely = copying_model(Tree("abc", []), None)
    assert find_groups(lonely, lonely.sample(50, random_state=0), resamples=5) == []
    single = copying_model(star(6), lambda *_: LOADING)
    (group,) = find_groups(single, single.sample(500, random_state=0), resamples=5)
    assert group.column_stability == (1.0,) * 6
    # A lonely column beside a group is in none, and stays out of it.
    tree = Tree("abcdef", [(column, 6) for column in range(5)])
    model = copying_model(tree, lambda *_: LOADING)
    (group,) = find_groups(model, model.sample(500, random_state=0), resamples=5)
    assert (group.columns, group.column_stability) == (tuple("abcde"), (1.0,) * 5)


def test_only_main_groups_have_a_stability_and_only_if_asked():
    d = 16
    edges = [(column, d + column // 4) for column in range(d)]
    tree = Tree([f"x{i}" for i in range(d)], [*edges, (d, d + 1), (d + 1, d + 2), (d + 2, d + 3)])
    strength = {frozenset((d, d + 1)): 0.8, frozenset((d + 1, d + 2)): 0.1, frozenset((d + 2, d + 3)): 0.4}
    model = copying_model(tree, lambda node, parent: strength.get(frozenset((node, parent)), 0.3))
    rows = model.sample(5000, random_state=0)
    groups = find_groups(model, rows, resamples=3)
    assert {group.level for group in groups} == {"main", "broad", "fine"}
    for group in groups:
        assert (group.stability is not None) == (group.column_stability is not None) == (group.level == "main")
    assert find_groups(model, rows) == [replace(group, stability=None, column_stability=None) for group in groups]
    assert find_groups(model, resamples=3) == find_groups(model)  # without rows there is nothing to resample


def test_columns_of_many_states_have_no_stability(monkeypatch):
    model = two_factors()
    monkeypatch.setattr(groups, "FEW_STATES", 1)
    assert {group.stability for group in find_groups(model, model.sample(100, random_state=0), resamples=3)} == {None}


@given(seed=st.integers(0, 10**6), data=st.data())
@settings(deadline=None, max_examples=10)
def test_neither_the_order_of_columns_nor_threads_change_the_stability(seed, data):
    model = latree.random_model(
        latree.random_tree(9, random_state=seed), n_states=3, start="identity", perturbation=0.2, random_state=seed
    )
    table = model.sample(150, random_state=seed)
    names = data.draw(st.permutations(model.tree.names))
    other = on_tree(model, model.tree.reordered(names))
    order = [model.tree.names.index(name) for name in names]
    reordered = Table.from_codes([table.columns[column] for column in order], table.codes()[:, order])
    expected = by_column(find_groups(model, table, resamples=8, random_state=seed))
    assert by_column(find_groups(other, reordered, resamples=8, random_state=seed)) == expected
    with one_thread():
        assert by_column(find_groups(model, table, resamples=8, random_state=seed)) == expected


def test_wide_tables_are_resampled_one_after_the_other(monkeypatch):
    model = two_factors()
    table = model.sample(300, 0)
    threads = set()
    monkeypatch.setattr(groups, "same_group", lambda *groups: threads.add(current_thread()) or same_group(*groups))
    expected = by_column(find_groups(model, table, resamples=8))
    threads.clear()
    monkeypatch.setattr(groups, "_MANY_COLUMNS", 7)
    assert by_column(find_groups(model, table, resamples=8)) == expected
    assert threads == {main_thread()}


def test_the_seed_decides():
    model = two_factors()
    table = model.sample(60, random_state=1)
    one, again, other = (by_column(find_groups(model, table, resamples=20, random_state=seed)) for seed in (0, 0, 1))
    assert one == again
    assert one != other


def test_rows_are_resampled_by_their_weights():
    """Rows of another table, in which all columns are one group, have weight zero. Weights count as rows."""
    model = two_factors()
    rows, noise = model.sample(300, random_state=0).codes(), np.repeat(np.arange(2), 300)[:, None] * np.ones(8, int)
    weights = np.repeat([3.0, 0.0], [300, 600])
    groups = find_groups(model, Table.from_codes(model.columns, np.concatenate([rows, noise]), weights), resamples=20)
    assert [group.stability for group in groups] == [1.0, 1.0]
    few = model.sample(40, random_state=3).codes()
    light, heavy = (
        find_groups(model, Table.from_codes(model.columns, few, np.full(40, weight)), resamples=50)
        for weight in (1.0, 50.0)
    )
    assert np.mean(list(by_column(light).values())) < np.mean(list(by_column(heavy).values()))


def test_rows_on_disk_or_elsewhere_are_sampled_first(monkeypatch):
    """Of more rows than the limit, a sample is resampled."""
    model = two_factors()
    table = model.sample(3000, random_state=0)
    drawn = []
    monkeypatch.setattr(groups, "_MAX_ROWS", 200)
    monkeypatch.setattr(
        groups, "pairwise", lambda rows, measure: drawn.append(rows.total_weight) or pairwise(rows, measure)
    )
    find_groups(model, table, resamples=4)
    assert drawn == [200] * 4


@pytest.mark.parametrize(
    ("n_columns", "n_states", "rows", "expected"),
    [
        (25, 6, 2800, (2800, 50)),
        (25, 6, 100_000, (5000, 50)),
        (300, 4, 5000, (5000, 13)),
        (1000, 4, 5000, (1000, 10)),
        (500, 4, 5000, (2500, 10)),
        (4000, 4, 300, (300, 10)),
    ],
)
def test_wide_tables_are_resampled_less_often(n_columns, n_states, rows, expected):
    column = Column("x", "integer", tuple(map(str, range(n_states))))
    columns = tuple(replace(column, name=f"x{i}") for i in range(n_columns))

    class Sized(Table):
        n_rows = rows

    assert groups._sizes(Sized(columns, None), 50) == expected


def similarities(monkeypatch, model, table, resamples):
    """The similarities of columns that are counted in resampled tables."""
    seen = []
    monkeypatch.setattr(groups, "nearest_group", lambda *known: seen.append(known[1]) or nearest_group(*known))
    find_groups(model, table, resamples=resamples)
    return np.array(seen)


def test_similarities_of_resampled_rows_have_no_bias(monkeypatch):
    """Rows that are drawn two times at random have twice the bias of mutual information."""
    model = copying_model(star(6), lambda *_: 0.5, sizes=[4] * 7)
    table = model.sample(400, random_state=0)
    pairs = np.triu_indices(6, 1)
    expected = pairwise(table, information_above_chance)[pairs].mean()
    seen = similarities(monkeypatch, model, table, 100)[:, *pairs]
    counted = -np.log(1 - seen**2).mean() / 2  # back from correlations to nats
    bias = 9 / 800
    assert abs(counted - expected) < 0.15 * bias


def test_columns_that_are_never_present_together_keep_their_similarity(monkeypatch):
    model = two_factors()
    codes = model.sample(400, random_state=0).codes()
    codes[:200, 0] = codes[200:, 1] = -1
    table = Table.from_codes(model.columns, codes)
    seen = similarities(monkeypatch, model, table, 3)
    known = informational_correlation(View(model).counted_information(table))
    assert (seen[:, 0, 1] == known[0, 1]).all()
    assert known[0, 1] > 0.4
    assert (seen[:, 0, 2] != known[0, 2]).all()


def test_the_nearest_group_is_the_one_of_the_highest_latent_correlation():
    groups = np.array([0, 0, 0, 1, 1, -1, 1])
    loadings = np.array([0.9, 0.5, 0.8, 0.4, 0.6, 0.7, 1.0])
    rng = np.random.default_rng(0)
    similarity = rng.uniform(0, 1, (7, 7))
    similarity = np.triu(similarity, 1) + np.triu(similarity, 1).T
    expected = []
    for column in range(7):
        rho = []
        for group in (0, 1):
            others = [j for j in range(7) if groups[j] == group and j != column]
            rho.append(sum(similarity[column, j] * loadings[j] for j in others) / sum(loadings[j] ** 2 for j in others))
        expected.append(int(np.argmax(rho)) if groups[column] >= 0 else -1)
    assert nearest_group(groups, similarity, loadings).tolist() == expected
    assert expected != groups.tolist()


def test_a_column_stays_where_it_is_if_groups_are_equally_near():
    groups = np.array([1, 1, 0, 0])
    assert nearest_group(groups, np.full((4, 4), 0.5) - 0.5 * np.eye(4), np.ones(4)).tolist() == [1, 1, 0, 0]


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=12))
@settings(deadline=None)
def test_groups_are_matched_one_to_one_so_that_most_columns_agree(pairs):
    groups, others = (np.array(labels) for labels in zip(*pairs, strict=True))
    found = same_group(groups, others)
    counts = [
        sum(one >= 0 and other >= 0 and match[one] == other for one, other in pairs) for match in permutations(range(4))
    ]
    assert found.sum() == max(counts)
    assert not found[(groups < 0) | (others < 0)].any()
    # One to one: columns that are found again share a group in one division exactly if they do in the other.
    same_one, same_other = (labels[found][:, None] == labels[found] for labels in (groups, others))
    assert (same_one == same_other).all()


def test_names_of_groups_do_not_matter():
    assert same_group(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])).tolist() == [True] * 4
    # One group of all columns is matched with the larger group.
    assert same_group(np.array([0, 0, 0, 1, 1]), np.zeros(5, int)).tolist() == [True] * 3 + [False] * 2
    assert same_group(np.array([-1, -1]), np.array([0, -1])).tolist() == [False, False]
