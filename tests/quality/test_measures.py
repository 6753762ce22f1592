"""The measures against other libraries and brute force, and what they mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import cdist

from latree.quality.measures import (
    MAX_CATEGORIES,
    Nearness,
    associations,
    classifier_auc,
    column_distances,
    nearness,
    share_of_copies,
    with_common_texts,
)
from latree.quality.stacked import Stacked, distinct_codes


def stacked(cells, is_number, n_real):
    cells = np.asarray(cells, dtype=float)
    names = tuple(f"x{j}" for j in range(cells.shape[1]))
    return Stacked(names, cells, np.asarray(is_number, dtype=bool), np.arange(len(cells)) >= n_real)


def distance(real, drawn, is_number):
    cells = np.concatenate([real, drawn]).astype(float)
    return column_distances(*distinct_codes(cells), is_number, np.arange(len(cells)) >= len(real))


cells = st.lists(st.integers(0, 5) | st.just(np.nan), min_size=2, max_size=30)


@settings(deadline=None)
@given(cells, cells)
def test_distances_of_columns_are_those_of_a_loop(real, drawn):
    one, two = (np.array([cell for cell in part if cell == cell]) for part in (real, drawn))
    if not len(one) or not len(two):
        assert np.isnan(distance(real, drawn, True))
        return
    apart = [abs((one <= value).mean() - (two <= value).mean()) for value in range(6)]
    assert distance(real, drawn, True) == pytest.approx(max(apart))
    by_loop = sum(max((one == value).mean() - (two == value).mean(), 0) for value in range(6))
    assert distance(real, drawn, False) == pytest.approx(by_loop)


def test_the_distance_of_numbers_is_that_of_scipy():
    rng = np.random.default_rng(9)
    one, two = rng.normal(size=50), rng.normal(0.3, size=70)
    assert distance(one, two, True) == pytest.approx(stats.ks_2samp(one, two).statistic)


def pair(x, y, is_number):
    return associations(np.column_stack([x, y]).astype(float), np.array(is_number))[0, 1]


def test_numbers_have_the_rank_correlation_of_the_rows_that_have_both():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 20, 200).astype(float)
    y = np.exp(x / 5) + rng.normal(size=200)
    assert pair(x, y, [True, True]) == pytest.approx(stats.spearmanr(x, y).statistic)
    y[:50] = np.nan
    here = y == y  # ranks of x are those among all rows, so that only ties could differ
    expected = np.corrcoef(stats.rankdata(x)[here], stats.rankdata(y[here]))[0, 1]
    assert pair(x, y, [True, True]) == pytest.approx(expected)
    assert pair(y, x, [True, True]) == pytest.approx(expected)


def naive_ratio(x, groups):
    ranks = stats.rankdata(x)
    within = sum(((ranks[groups == one] - ranks[groups == one].mean()) ** 2).sum() for one in np.unique(groups))
    total = ((ranks - ranks.mean()) ** 2).sum()
    n, k = len(x), len(np.unique(groups))
    return np.sqrt(max(0, 1 - within / total * (n - 1) / (n - k)))


def naive_v(x, y):
    table = np.array([[((x == i) & (y == j)).sum() for j in np.unique(y)] for i in np.unique(x)])
    n, (r, k) = table.sum(), table.shape
    phi = max(0, stats.chi2_contingency(table, correction=False).statistic / n - (r - 1) * (k - 1) / (n - 1))
    return np.sqrt(phi / min(r - (r - 1) ** 2 / (n - 1) - 1, k - (k - 1) ** 2 / (n - 1) - 1))


def test_the_other_associations_are_those_of_a_loop():
    rng = np.random.default_rng(1)
    groups, more = rng.integers(0, 3, 150), rng.integers(0, 4, 150)
    more[:60] = groups[:60]
    x = groups + rng.normal(size=150)
    cells = np.column_stack([x, groups, more, -x]).astype(float)
    found = associations(cells, np.array([True, False, False, True]))
    assert found[0, 1] == found[1, 0] == pytest.approx(naive_ratio(x, groups))
    assert found[3, 2] == pytest.approx(naive_ratio(x, more))
    assert found[1, 2] == found[2, 1] == pytest.approx(naive_v(groups, more))
    assert np.isnan(np.diagonal(found)).all()
    cells[::7, 1] = np.nan
    here = cells[:, 1] == cells[:, 1]
    assert associations(cells, np.array([True, False, False, True]))[1, 2] == pytest.approx(
        naive_v(groups[here], more[here])
    )


def test_for_two_values_all_associations_agree():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 2, 20_000)
    y = np.where(rng.random(20_000) < 0.4, x, rng.integers(0, 2, 20_000))
    found = [pair(x, y, is_number) for is_number in ([True, True], [True, False], [False, True], [False, False])]
    assert found == pytest.approx([0.4] * 4, abs=0.03)
    assert np.ptp(found) < 0.001


def test_an_association_of_nothing_is_not_defined():
    x, same = np.arange(20), np.ones(20)
    for is_number in ([True, True], [True, False], [False, False]):
        assert np.isnan(pair(x % 4, same, is_number))
    assert np.isnan(pair(x, np.full(20, np.nan), [True, False]))


@pytest.mark.parametrize("is_number", [[True, False], [False, False]])
def test_independent_columns_have_none_however_many_categories(is_number):
    rng = np.random.default_rng(3)
    found = [pair(rng.integers(0, 15, 200), rng.integers(0, 15, 200), is_number) for _ in range(100)]
    assert np.mean(np.square(found)) < 0.02  # with their bias, .07


def test_rare_texts_are_one_and_numbers_stay():
    rng = np.random.default_rng(4)
    cells = np.column_stack([rng.geometric(0.05, 500), np.arange(500)]).astype(float)
    cells[0, 0] = np.nan
    common = with_common_texts(stacked(cells, [False, True], 250))
    assert len(np.unique(common.cells[1:, 0])) == MAX_CATEGORIES
    assert np.isnan(common.cells[0, 0])
    assert (common.cells[:, 1] == cells[:, 1]).all()
    values, counts = np.unique(cells[1:, 0], return_counts=True)
    frequent = values[counts.argmax()]
    assert (common.cells[cells[:, 0] == frequent, 0] == 0).all()


def test_the_classifier_knows_what_differs_and_nothing_else():
    rng = np.random.default_rng(5)
    real, same = rng.normal(size=(300, 3)), rng.normal(size=(300, 3))
    other = same.copy()
    other[:, 1] = other[:, 0] + 0.3 * other[:, 1]  # single columns are nearly the same
    aucs = [classifier_auc(stacked(np.concatenate([real, drawn]), [True] * 3, 300), 0) for drawn in (same, other)]
    assert abs(aucs[0].mean() - 0.5) < 0.06
    assert aucs[1].mean() > 0.75
    copies = classifier_auc(stacked(np.concatenate([real, real]), [True] * 3, 300), 0)
    assert copies.mean() < 0.4


def test_distances_of_rows_are_those_of_a_loop():
    rng = np.random.default_rng(6)
    cells = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60)])
    cells[rng.random(cells.shape) < 0.2] = np.nan
    table = stacked(cells, [True, False], 40)
    numbers = np.sort(cells[:40, 0][~np.isnan(cells[:40, 0])])
    places = np.interp(cells[:, 0], numbers, np.linspace(0, 1, len(numbers)))

    def apart(i, j):
        missing = np.isnan(cells[[i, j], 0])
        first = 0 if missing.all() else abs(np.where(missing, 0.5, places[[i, j]]) @ [1, -1]) + 0.5 * missing.any()
        second = np.nan_to_num(cells[i, 1], nan=-1) != np.nan_to_num(cells[j, 1], nan=-1)
        return (first + second) / 2

    found = nearness(table)
    assert found.drawn == pytest.approx([min(apart(i, j) for j in range(40)) for i in range(40, 60)], abs=1e-5)
    among = [min(apart(i, j) for j in range(40) if j != i) for i in range(40)]
    assert found.real == pytest.approx(among, abs=1e-5)
    wins = np.sign(found.real[None] - found.drawn[:, None]).mean() / 2 + 0.5
    assert found.closer == pytest.approx(wins)


def test_new_rows_are_as_near_as_real_ones_and_changed_copies_are_nearer():
    rng = np.random.default_rng(7)
    real, new = rng.normal(size=(800, 4)), rng.normal(size=(800, 4))
    changed = real + rng.normal(size=real.shape) * 0.05
    found = [nearness(stacked(np.concatenate([real, drawn]), [True] * 4, 800)).closer for drawn in (new, changed)]
    assert abs(found[0] - 0.5) < 0.05
    assert found[1] > 0.9
    assert Nearness(np.zeros(3), np.zeros(2)).closer == 0.5


def test_copies_are_counted():
    real = [[1, 2], [1, 2], [3, np.nan], [4, 5]]
    drawn = [[1, 2], [3, np.nan], [3, 2], [4, 6], [9, 9]]
    assert share_of_copies(stacked(real + drawn, [True, True], 4)) == (0.4, 0.5)


def test_distances_of_the_same_rows_are_those_of_another_library():
    rng = np.random.default_rng(8)
    real, drawn = rng.permutation(100), rng.permutation(100)
    table = stacked(np.concatenate([real, drawn])[:, None], [True], 100)
    expected = cdist(drawn[:, None] / 99, real[:, None] / 99, "cityblock").min(axis=1)
    assert nearness(table).drawn == pytest.approx(expected, abs=1e-6)
