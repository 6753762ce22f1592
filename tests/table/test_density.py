"""The distribution of numbers inside bins."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from latree.table.cuts import equal_cuts
from latree.table.density import Density, last_place


def learned(numbers, bins=10):
    """Return the density of numbers, the cuts between bins, and the share of each bin."""
    distinct, counts = np.unique(numbers, return_counts=True)
    cuts = equal_cuts(distinct, counts.astype(float), bins)
    shares = np.bincount(np.searchsorted(cuts, numbers, side="left")) / len(numbers)
    return Density.learn(distinct, counts.astype(float), cuts), cuts, shares


def log_density(made, numbers):
    """Return the mean log density of numbers under what was learned."""
    density, cuts, shares = made
    bins = np.searchsorted(cuts, numbers, side="left")
    return float(np.mean(density.log_density(numbers, bins) + np.log(shares[bins])))


def drawn(made, n=20_000, seed=1):
    density, _, shares = made
    rng = np.random.default_rng(seed)
    return density.quantile(rng.choice(len(shares), n, p=shares), rng.random(n))


def incomes(n, rng):
    return np.where(rng.random(n) < 0.3, 0, np.round(rng.lognormal(8, 1, n), 2))


SHAPES = {
    "normal": lambda n, rng: rng.normal(size=n),
    "skewed": lambda n, rng: rng.lognormal(size=n),
    "even": lambda n, rng: rng.random(n),
    "two hills": lambda n, rng: np.where(rng.random(n) < 0.5, rng.normal(-3, 0.5, n), rng.normal(3, 0.5, n)),
    "ages": lambda n, rng: np.round(np.clip(rng.normal(40, 12, n), 0, None)),
    "incomes": incomes,
    "negative": lambda n, rng: -np.round(rng.exponential(5, n), 1),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_draws_are_like_new_numbers(shape):
    rng = np.random.default_rng(0)
    numbers, others = SHAPES[shape](2000, rng), SHAPES[shape](20_000, rng)
    made = learned(numbers)
    draws = drawn(made)
    assert stats.ks_2samp(draws, others).statistic < 0.04
    # As many decimals, and no sign that the numbers do not have.
    if made[0].decimals is not None:
        np.testing.assert_allclose(np.round(draws, made[0].decimals), draws, rtol=1e-12)
    assert (draws.min() < 0) == (numbers.min() < 0)
    assert (draws.max() > 0) == (numbers.max() > 0)
    density, cuts, shares = made
    bins = np.repeat(np.arange(len(shares)), 200)
    inside = density.quantile(bins, np.tile(np.linspace(0, 1, 200), len(shares)))
    np.testing.assert_array_equal(np.searchsorted(cuts, inside, side="left"), bins)


@pytest.mark.parametrize(
    ("truth", "rounded"),
    [(stats.norm(), None), (stats.lognorm(1), None), (stats.expon(scale=3), None), (stats.norm(40, 12), 0)],
)
@pytest.mark.parametrize(("n", "loss"), [(200, 0.06), (2000, 0.025), (50_000, 0.006)])
def test_the_log_density_is_near_the_true_one(truth, rounded, n, loss):
    rng = np.random.default_rng(0)
    numbers, others = (truth.rvs(size, random_state=rng) for size in (n, 20_000))
    if rounded is not None:
        numbers, others = np.round(numbers, rounded), np.round(others, rounded)
    assert truth.logpdf(others).mean() - log_density(learned(numbers), others) < loss


@pytest.mark.parametrize("shape", ["normal", "skewed", "ages", "negative"])
def test_the_density_of_each_bin_has_a_mass_of_one(shape):
    density, cuts, _ = learned(SHAPES[shape](300, np.random.default_rng(2)), bins=4)
    ends = [-np.inf, *cuts, np.inf]
    for number, (low, high) in enumerate(pairwise(ends)):

        def height(x, number=number):
            return float(np.exp(density.log_density(np.array([x]), np.array([number])))[0])

        corners = sorted({low, high, *(x for x in (*density.low, *density.high) if low < x < high)})
        mass = sum(quad(height, a, b, limit=200)[0] for a, b in pairwise(corners))
        assert mass == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("shape", SHAPES)
def test_means_and_medians_are_those_of_the_numbers_in_a_bin(shape):
    numbers = SHAPES[shape](5000, np.random.default_rng(3))
    density, cuts, _ = learned(numbers)
    bins = np.searchsorted(cuts, numbers, side="left")
    scale = numbers.std()
    for number, (mean, median) in enumerate(zip(density.means, density.medians, strict=True)):
        inside = numbers[bins == number]
        assert abs(inside.mean() - mean) < 0.05 * scale
        assert abs(np.median(inside) - median) < 0.05 * scale + density.step


def test_a_number_that_many_rows_share_keeps_its_share():
    numbers = incomes(3000, np.random.default_rng(0))
    made = learned(numbers)
    assert abs(np.mean(drawn(made) == 0) - np.mean(numbers == 0)) < 0.01
    # Its probability, per last decimal place.
    assert np.exp(log_density(made, np.array([0.0]))) * 0.01 == pytest.approx(np.mean(numbers == 0), rel=0.01)


def test_a_number_that_many_rows_share_counts_with_its_probability_where_there_is_no_last_decimal_place():
    rng = np.random.default_rng(0)
    numbers = np.where(rng.random(1000) < 0.3, 0, rng.lognormal(size=1000))
    made = learned(numbers)
    assert made[0].decimals is None
    assert np.exp(log_density(made, np.array([0.0]))) == pytest.approx(np.mean(numbers == 0), rel=0.01)
    # Two other numbers that are very near to each other change nothing.
    near = learned(np.append(numbers, [2, 2 + 1e-13]))
    assert log_density(near, np.array([0.0])) == pytest.approx(log_density(made, np.array([0.0])), abs=0.01)


def test_rows_that_are_drawn_twice_are_no_spikes():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=1000)
    again = rng.choice(numbers, 1000)  # a bootstrap sample
    assert log_density(learned(again), rng.normal(size=20_000)) > -1.7


@pytest.mark.parametrize("shape", ["normal", "skewed", "ages", "incomes", "negative"])
def test_numbers_are_not_drawn_far_outside_the_data(shape):
    rng = np.random.default_rng(0)
    tables = [SHAPES[shape](500, rng) for _ in range(60)]
    draws = drawn(learned(tables[0]), n=100_000)
    # Hardly farther than new tables reach, although these draws are as many as 200 tables.
    reach = max(table.max() for table in tables), min(table.min() for table in tables)
    width = np.ptp(tables[0])
    assert draws.max() - reach[0] < 0.1 * width
    assert reach[1] - draws.min() < 0.1 * width


def test_numbers_that_clearly_stop_are_not_drawn_beyond():
    numbers = np.round(100 * np.random.default_rng(0).random(1000), 1)
    draws = drawn(learned(numbers), n=100_000)
    assert -1 < draws.min() < draws.max() < 101


def test_numbers_far_outside_are_improbable_and_possible():
    made = learned(np.random.default_rng(0).normal(size=1000))
    far = [log_density(made, np.array([x])) for x in (3.0, 6.0, 60.0, 1e6)]
    assert far == sorted(far, reverse=True)
    assert far[-1] > -50


@pytest.mark.parametrize(
    ("numbers", "place"),
    [([1, 2, 30], 1), ([0.5, 2.25], 0.01), ([1e6, 0.1], 0.1), ([1e18], 1), ([1e-5], 1e-5), ([0], 1)],
)
def test_the_last_decimal_place(numbers, place):
    assert last_place(np.array(numbers, dtype=float)) == pytest.approx(place)


def test_few_numbers_with_more_decimals_do_not_count():
    numbers = np.unique(np.append(np.round(np.random.default_rng(0).gamma(5, size=200), 2), [8.700001, 9.899999]))
    assert last_place(numbers) == pytest.approx(0.01)
    assert last_place(np.arange(300) / 1000) == pytest.approx(0.001)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.one_of(st.integers(-20, 20), st.floats(-1e6, 1e6)), min_size=2, max_size=60, unique=True),
    st.integers(2, 8),
    st.integers(0, 2**32),
)
def test_laws_of_any_density(values, bins, seed):
    distinct = np.unique(np.array(values, dtype=float) + 0.0)
    if len(distinct) < 2:
        return
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 30, len(distinct)).astype(float)
    cuts = equal_cuts(distinct, counts, bins)
    density = Density.learn(distinct, counts, cuts)
    assert sum(density.rows) == pytest.approx(counts.sum())
    assert Density.from_dict(json.loads(json.dumps(density.to_dict())), cuts.tolist()) == density
    own = np.searchsorted(cuts, distinct, side="left")
    assert np.isfinite(density.log_density(distinct, own)).all()
    # Quantiles increase within a bin and from bin to bin, and so do means.
    shares = np.linspace(0, 1, 11)
    numbers = density.quantile(np.repeat(np.arange(len(cuts) + 1), 11), np.tile(shares, len(cuts) + 1))
    assert (np.diff(numbers) >= -1e-9).all()
    assert (np.diff(density.means) >= 0).all()
