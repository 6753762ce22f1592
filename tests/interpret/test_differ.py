"""Groups of people side by side: the likelihood, its derivatives, and what differences and tests mean."""

import numpy as np
import pytest
from scipy import stats

from latree.interpret.differ import _Comparison, _holm, _hotelling
from latree.interpret.standing import GRID, Answers, Standing, fit_standing

N_COLUMNS, N_STATES = 6, 4


def drawn(n_rows, rng, difference=0.0, bias=0.0, missing=0.0):
    """Draw rows of two groups, from a graded response model: not the one that is fitted.

    The second group is higher by a difference in standard deviations; its answers to the first column are shifted.
    """
    group = rng.integers(0, 2, n_rows)
    standing = rng.normal(size=n_rows) + difference * group
    codes = np.empty((n_rows, N_COLUMNS), dtype=np.intp)
    for column in range(N_COLUMNS):
        steps = np.array([-1.2, 0.0, 1.0]) + 0.3 * (column % 3 - 1)
        above = (1.2 + 0.2 * column) * (standing[:, None] - steps) + (bias * group[:, None] if column == 0 else 0.0)
        codes[:, column] = (rng.random((n_rows, 1)) < 1 / (1 + np.exp(-above))).sum(axis=1)
    codes[rng.random(codes.shape) < missing] = -1
    return Answers(codes, [N_STATES] * N_COLUMNS, group, 2, np.ones(n_rows))


def compared(answers, cluster=None):
    start = np.where(answers.codes >= 0, answers.codes, 1.5).sum(axis=1)
    cluster = np.arange(len(answers.codes)) if cluster is None else cluster
    return _Comparison.of(answers, start, cluster, N_COLUMNS)


def differences(comparison):
    return comparison._differences(comparison.standing)


def intervals(comparison):
    class Scale:
        name, state_names = "s", ()

    class Groups:
        names = ("one", "two")

    (pair,) = comparison.means(Scale, Groups, np.empty((2, 0)), [0.0, 0.0])["differences"]
    return pair


@pytest.fixture(scope="module")
def small():
    """Return a model with random parameters of few rows with holes and weights."""
    rng = np.random.default_rng(3)
    answers = drawn(12, rng, missing=0.2)
    answers = Answers(answers.codes, answers.n_states, answers.group, 2, rng.uniform(0.5, 2, 12))
    n = 2 * N_COLUMNS * N_STATES
    return Standing(answers, np.concatenate([rng.normal(size=n), np.tile([0.3, 1.0, 0.1, 0.2], 2)]))


def naive_log_likelihoods(standing):
    answers, n = standing.answers, N_COLUMNS * N_STATES
    c, a = standing.parameters[:n].reshape(N_COLUMNS, -1), standing.parameters[n : 2 * n].reshape(N_COLUMNS, -1)
    b = standing.parameters[2 * n :].reshape(2, -1)
    found = []
    for row, group in zip(answers.codes, answers.group, strict=True):
        terms = b[group, 0] * GRID - b[group, 1] * GRID**2 / 2 + b[group, 2] * GRID**3 / 10 - b[group, 3] * GRID**4 / 50
        weights = np.exp(terms) / np.exp(terms).sum()
        for column, code in enumerate(row):
            if code >= 0:
                odds = np.exp(c[column][:, None] + np.outer(a[column], GRID))
                weights = weights * odds[code] / odds.sum(axis=0)
        found.append(np.log(weights.sum()))
    return np.array(found)


def test_the_log_likelihood_is_that_of_the_formula(small):
    assert small.parts.log_likelihood == pytest.approx(naive_log_likelihoods(small))


def test_gradients_are_derivatives_of_the_log_likelihood(small):
    steps = 1e-5 * np.eye(len(small.parameters))
    slopes = [
        (naive_log_likelihoods(small.moved(step)) - naive_log_likelihoods(small.moved(-step))) / 2e-5 for step in steps
    ]
    assert small.row_gradients == pytest.approx(np.array(slopes).T, abs=1e-6)
    assert small.gradient() == pytest.approx(small.answers.weights @ small.row_gradients)


def test_a_difference_of_means_is_in_standard_deviations_and_not_shrunken():
    found = [
        float(differences(compared(drawn(1000, np.random.default_rng(seed), difference=0.8)))[0]) for seed in range(3)
    ]
    # The standard error of one is about 0.06; a mean of posterior means would be smaller by a fifth.
    assert np.mean(found) == pytest.approx(0.8, abs=0.08)


def test_intervals_cover():
    n_covered = 0
    for seed in range(16):
        pair = intervals(compared(drawn(200, np.random.default_rng(100 + seed), difference=0.5)))
        n_covered += pair["low"] <= 0.5 <= pair["high"]
    assert n_covered >= 12  # of 16 at 95 %, fewer than that has a probability of 0.1 %


def test_clean_columns_are_rarely_flagged_and_a_biased_one_is():
    p = []
    for seed in range(6):
        comparison = compared(drawn(500, np.random.default_rng(seed), difference=1.0))
        p += comparison.p.values()
    assert stats.binomtest(int((np.array(p) < 0.05).sum()), len(p), 0.05, "greater").pvalue > 0.01
    biased = compared(drawn(1500, np.random.default_rng(0), difference=1.0, bias=1.0))
    assert biased.divided == [0]
    profiles = biased._profiles(0)
    assert biased._difference(*profiles, (0, 1), 0) > 0.2


def test_the_difference_with_all_columns_tied_is_beside_the_other():
    answers = drawn(1500, np.random.default_rng(2), difference=0.2, bias=1.5)
    found = compared(answers)
    tied = fit_standing(answers, answers.codes.sum(axis=1).astype(float))
    means, variances = tied.moments()
    within = np.sqrt(answers.weight_of_groups @ variances / answers.weight_of_groups.sum())
    pair = intervals(found)
    assert found.divided == [0]
    assert pair["all_tied"] == pytest.approx((means[1] - means[0]) / within, abs=1e-3)
    assert pair["all_tied"] - 0.05 > pair["difference"] == pytest.approx(0.2, abs=0.12)


def test_three_columns_with_two_answers_are_not_flagged_by_rounding():
    """So few answers determine the test nearly or wholly: what is left of it is rounding, or nothing."""
    p = []
    for seed in range(12):
        answers = drawn(600, np.random.default_rng(seed))
        codes = (answers.codes[:, -3:] > 1).astype(np.intp)
        p += compared(Answers(codes, [2] * 3, answers.group, 2, np.ones(600))).p.values()
    assert min(p) > 0.001


def test_repeated_rows_of_a_cluster_say_no_more_than_one():
    answers = drawn(400, np.random.default_rng(1), difference=0.5)
    twice = Answers(np.repeat(answers.codes, 2, axis=0), answers.n_states, np.repeat(answers.group, 2), 2, np.ones(800))
    one, two = compared(answers), compared(twice, cluster=np.repeat(np.arange(400), 2))
    assert intervals(two)["error"] == pytest.approx(intervals(one)["error"], rel=0.1)
    independent = intervals(compared(twice))["error"]
    assert independent == pytest.approx(intervals(one)["error"] / np.sqrt(2), rel=0.1)


def test_a_constant_weight_changes_nothing():
    answers = drawn(400, np.random.default_rng(1), difference=0.5)
    weighted = Answers(answers.codes, answers.n_states, answers.group, 2, np.full(400, 2.0))
    one, two = intervals(compared(answers)), intervals(compared(weighted))
    # The weak priors count half as much.
    assert two["difference"] == pytest.approx(one["difference"], abs=0.01)
    assert two["error"] == pytest.approx(one["error"], rel=0.1)


def test_the_order_of_groups_changes_the_sign_alone():
    answers = drawn(400, np.random.default_rng(1), difference=0.5)
    swapped = Answers(answers.codes, answers.n_states, 1 - answers.group, 2, answers.weights)
    one, two = compared(answers), compared(swapped)
    assert differences(one) == pytest.approx(-differences(two), abs=1e-3)
    assert [one.p[j] for j in range(N_COLUMNS)] == pytest.approx([two.p[j] for j in range(N_COLUMNS)], abs=0.02)


def test_holm():
    assert _holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert _holm([]) == []


def test_the_test_is_that_of_hotelling():
    rows = np.random.default_rng(0).normal(size=(30, 1)) + 0.3
    found = _hotelling(rows.sum(axis=0), (rows - rows.mean(axis=0)) * np.sqrt(30 / 29), 29)
    assert found == pytest.approx(stats.ttest_1samp(rows[:, 0], 0.0).pvalue)


def test_the_fit_starts_in_the_direction_of_the_score():
    answers = drawn(300, np.random.default_rng(2))
    total = answers.codes.sum(axis=1).astype(float)
    up, down = fit_standing(answers, total), fit_standing(answers, -total)
    assert np.corrcoef(up.parts.posterior @ GRID, total)[0, 1] > 0.9
    assert np.corrcoef(down.parts.posterior @ GRID, total)[0, 1] < -0.9
