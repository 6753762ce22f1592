import numpy as np
import pytest

from foreign_tables import FOREIGN, GROUPS, ITEMS, MISSING, ROWS


def between(limits, value):
    return limits[0] <= value <= limits[1]


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("seed", [0, 1])
def test_columns_depend_on_the_others_of_their_group_most(kind, seed):
    table, groups = FOREIGN[kind](seed)
    sizes = np.unique(groups, return_counts=True)[1]
    assert between(ROWS, table.n_rows)
    assert between(GROUPS, len(sizes))
    assert all(between(ITEMS, size) for size in sizes)
    codes = np.ma.masked_less(table.codes(), 0)
    assert np.ma.count_masked(codes) == 0 if seed == 0 else between(MISSING, np.ma.getmaskarray(codes).mean().round(2))
    alike = np.abs(np.ma.corrcoef(codes, rowvar=False, allow_masked=True).filled(0))
    np.fill_diagonal(alike, np.nan)
    labels = np.array(groups)
    means = np.array([np.nanmean(alike[:, labels == group], axis=1) for group in np.unique(labels)])
    assert (np.unique(labels)[means.argmax(axis=0)] == labels).mean() > 0.8


@pytest.mark.parametrize("kind", FOREIGN)
def test_the_seed_decides_the_table(kind):
    one, two, other = (FOREIGN[kind](seed).table.codes() for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, two)
    assert one.shape != other.shape or (one != other).any()


@pytest.mark.parametrize("seed", range(4))
def test_rare_columns_are_rare(seed):
    codes = np.ma.masked_less(FOREIGN["rare"](seed).table.codes(), 0)
    assert codes.mean() == pytest.approx(0.06, abs=0.02)


@pytest.mark.parametrize("kind", ["graded", "local dependence", "cross-loadings", "bifactor"])
def test_answers_have_three_to_seven_grades_and_some_are_reversed(kind):
    grades, negative = set(), []
    for seed in range(0, 20, 2):
        table, groups = FOREIGN[kind](seed)
        grades.add(int(table.n_states.max()))
        alike = np.corrcoef(table.codes(), rowvar=False)
        same = np.equal.outer(groups, groups)
        negative.append((alike[same] < -0.1).mean())
    assert {3, 7} <= grades <= set(range(3, 8))
    assert 0.1 < np.mean(negative) < 0.5
