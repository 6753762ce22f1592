"""The measures of dependence between two columns."""

from itertools import combinations, permutations
from itertools import pairwise as successive

import numpy as np
import pytest
from scipy import stats
from scipy.stats import chi2_contingency, fisher_exact, gamma

from helpers.counts import counted, naive_tables, random_table, table_of
from helpers.joining import noise
from helpers.models import model_on, small_models
from latree.counts.distances import (
    PairDistributions,
    as_pairs,
    chance,
    covariance,
    finite,
    gamma_tail,
    information,
    log_det,
    nuclear,
    pairwise,
    pairwise_all,
    skewness,
)
from latree.paper.simulate import random_model, random_tree
from latree.table import Column, Table

# All measures


@pytest.mark.parametrize("measure", [nuclear, covariance])
def test_measures_do_not_depend_on_tiles_or_threads(monkeypatch, measure):
    table = random_table(4, n_rows=3000, n_states=(2, 4, 3, 2, 5, 4, 4))
    whole = pairwise(table, measure)
    np.testing.assert_array_equal(whole, whole.T)
    for cells in (1, 300):
        monkeypatch.setattr("latree.counts.contingency.PAIR_CELLS_AT_ONCE", cells)
        in_tiles = pairwise(table, measure)
        np.testing.assert_allclose(in_tiles, whole, rtol=1e-14)
        with monkeypatch.context() as patch:
            patch.setattr("latree._util.workers.n_threads", lambda: 1)
            np.testing.assert_array_equal(pairwise(table, measure), in_tiles)


def test_several_measures_are_each_what_it_is_alone(monkeypatch):
    codes = np.random.default_rng(0).integers(-1, 3, (200, 7))
    columns = [Column(f"x{i}", "integer", tuple("012")) for i in range(7)]
    table = Table.from_codes(columns, codes, np.random.default_rng(1).exponential(size=200))
    measures = [nuclear, covariance, chance, information, log_det]
    together = pairwise_all(table, measures)
    monkeypatch.setattr("latree.counts.contingency.PAIR_CELLS_AT_ONCE", 2 * 7 * 9)  # two columns at a time
    for measure, found in zip(measures, together, strict=True):
        np.testing.assert_array_equal(found, found.T)
        np.testing.assert_allclose(found, pairwise(table, measure), rtol=1e-12)
    assert not any(np.allclose(one, other) for one, other in combinations(together, 2))


def test_rows_are_counted_pair_by_pair():
    pairs = as_pairs(np.stack([np.full((3, 3), 1), np.full((3, 3), 10_000)]))
    assert pairs.total.tolist() == [9, 90_000]
    np.testing.assert_allclose(pairs.joint, 1 / 9, rtol=1e-12)
    near, far = log_det(pairs)
    assert far > near + 1


# Nuclear norms


def naive_nuclear_distance(table):
    distance = np.empty((table.n_columns, table.n_columns))
    for i, j in np.ndindex(distance.shape):
        counts = naive_tables(table, [[i, j]], table.n_states.max())[0]
        joint = counts / counts.sum()
        centred = joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))
        distance[i, j] = -np.log(np.linalg.norm(centred, ord="nuc"))
    return distance


@pytest.mark.parametrize("weighted", [False, True])
def test_nuclear_distance_equals_a_naive_loop(weighted):
    table = random_table(7, n_rows=200, weighted=weighted)
    distance = pairwise(table, nuclear)
    np.testing.assert_array_equal(distance, distance.T)
    np.testing.assert_allclose(distance, naive_nuclear_distance(table), rtol=1e-9)


@pytest.mark.parametrize("n_states", [(2, 2), (2, 3), (3, 5), (4, 6), (7, 9)])
def test_independent_columns_are_infinitely_far_apart(n_states):
    distance = pairwise(table_of(list(np.ndindex(n_states)), n_states), nuclear)
    assert distance[0, 1] == distance[1, 0] == np.inf
    assert np.isfinite(np.diag(distance)).all()


def test_columns_never_present_together_are_infinitely_far_apart():
    distance = pairwise(table_of([[0, -1], [1, -1], [-1, 0], [-1, 1]], [2, 2]), nuclear)
    assert distance[0, 1] == np.inf


def test_more_dependent_columns_are_nearer():
    cells = list(np.ndindex(2, 2))
    joints = [np.array([50.0 + k, 50 - k, 50 - k, 50 + k]) for k in (0, 10, 30, 50)]
    distances = [pairwise(table_of(cells, [2, 2], weights), nuclear)[0, 1] for weights in joints]
    np.testing.assert_allclose(distances, [np.inf, -np.log(0.1), -np.log(0.3), -np.log(0.5)], rtol=1e-12)


# Covariances above chance


def squared_norm(first, second, n):
    """‖C‖² of two columns' rows, cell by cell."""
    first, second = np.asarray(first), np.asarray(second)
    return sum(
        (np.mean((first == x) & (second == y)) - np.mean(first == x) * np.mean(second == y)) ** 2
        for x in range(n)
        for y in range(n)
    )


def naive_distance(first, second, n):
    """The distance of a few rows by its definition: chance is tried in all orders, the root searched for."""
    shuffled = [squared_norm(first, np.array(order), n) for order in permutations(second)]
    left = squared_norm(first, second, n) - np.mean(shuffled)
    s = np.prod([np.linalg.norm(np.cov(np.eye(n)[column].T, bias=True)) for column in (first, second)])
    s /= len(first) - 1
    roots = np.roots([1, -left, -(s**2)])
    return -0.5 * np.log(roots.max())


@pytest.mark.parametrize("seed", range(6))
def test_distance_equals_its_definition(seed):
    rng = np.random.default_rng(seed)
    first = np.array([0, 1, 2, 0, 1, 1])
    second = np.where(rng.random(6) < 0.2 * seed, first, rng.integers(3, size=6))
    assert len(set(second.tolist())) > 1
    distance = covariance(as_pairs(counted(first, second, 3)))
    np.testing.assert_allclose(distance, naive_distance(first, second, 3), rtol=1e-10)


def test_what_chance_makes_has_the_variance_of_the_floor():
    rng = np.random.default_rng(0)
    m, n = 400, 4
    first, second = rng.choice(n, m, p=[0.4, 0.3, 0.2, 0.1]), rng.choice(n, m, p=[0.7, 0.1, 0.1, 0.1])
    norms = []
    for _ in range(3000):
        joint = counted(first, rng.permutation(second), n) / m
        norms.append(((joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))) ** 2).sum())
    s = np.prod([np.linalg.norm(np.cov(np.eye(n)[column].T, bias=True)) for column in (first, second)]) / (m - 1)
    np.testing.assert_allclose(np.std(norms), np.sqrt(2) * s, rtol=0.15)


def test_distance_of_exact_distributions_is_the_norm_alone():
    joint = np.random.default_rng(1).dirichlet(np.ones(12), size=5).reshape(5, 3, 4)
    joint = np.pad(joint, ((0, 0), (0, 1), (0, 0)))  # a state that does not occur
    expected = [-np.log(np.linalg.norm(p - np.outer(p.sum(axis=1), p.sum(axis=0)))) for p in joint]
    np.testing.assert_allclose(covariance(PairDistributions(joint, np.full(5, np.inf))), expected, rtol=1e-10)


def test_distance_of_many_rows_is_nearly_that_of_the_distribution():
    joint = np.random.default_rng(2).dirichlet(np.ones(9)).reshape(3, 3)
    exact = covariance(PairDistributions(joint, np.array(np.inf)))
    gaps = [abs(covariance(PairDistributions(joint, np.array(float(m)))) - exact) for m in (1e2, 1e4, 1e6)]
    assert gaps[0] > 10 * gaps[1] > 100 * gaps[2] > 0


def test_counts_below_chance_are_far_but_not_infinitely():
    """Exactly independent counts are less dependent than chance would make them."""
    even = np.full((4, 4), 10)
    lucky = even + 3 * np.eye(4, dtype=int)
    distances = covariance(as_pairs(np.stack([even, lucky, 10 * lucky])))
    assert np.isfinite(distances).all()
    assert distances[0] > distances[1] > distances[2]


NOTHING = [
    np.zeros((3, 3)),
    np.diag([1, 0, 0]),
    np.diag([9, 0, 0]),
    [[3, 4, 5], [0, 0, 0], [0, 0, 0]],
    np.diag([0.3, 0.4, 0]),
]


NOTHING_IDS = ["no rows", "one row", "constant", "one constant", "less than a row"]


@pytest.mark.parametrize("counts", NOTHING, ids=NOTHING_IDS)
def test_distance_is_infinite_where_nothing_can_be_known(counts):
    assert covariance(as_pairs(np.asarray(counts))) == np.inf


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (5, 5), (7, 7)])
def test_distance_of_exactly_independent_columns_is_infinite(shape):
    rng = np.random.default_rng(3)
    joint = np.outer(*(rng.dirichlet(np.ones(n)) for n in shape))
    assert covariance(PairDistributions(joint, np.array(np.inf))) == np.inf


# How probable a dependence is by chance


@pytest.mark.parametrize(
    ("m", "shares"),
    [
        (50, ([0.5, 0.5], [0.6, 0.4])),
        (200, ([0.5, 0.3, 0.2], [0.6, 0.4])),
        (200, ([0.4, 0.3, 0.2, 0.1], [0.7, 0.1, 0.1, 0.1])),
        (2000, ([0.2] * 5, [0.9, 0.05, 0.02, 0.02, 0.01])),
    ],
)
def test_independent_columns_have_any_p_value_as_often(m, shares):
    rng = np.random.default_rng(0)
    counts = [counted(*(rng.choice(len(p), m, p=p) for p in shares), 5) for _ in range(400)]
    p_values = chance(as_pairs(np.stack(counts)))
    for level, low, high in ((0.05, 0.02, 0.09), (0.2, 0.13, 0.27), (0.5, 0.42, 0.58), (0.8, 0.73, 0.87)):
        assert low < np.mean(p_values < level) < high


@pytest.mark.parametrize(
    "counts", [[[40, 30], [35, 20]], [[60, 40], [30, 70]], [[300, 280], [260, 310]], [[9, 3], [2, 8]]]
)
def test_of_two_states_each_the_p_value_is_nearly_that_of_chi_square(counts):
    expected = chi2_contingency(counts, correction=False).pvalue
    found = float(chance(as_pairs(np.array(counts))))
    assert found == pytest.approx(expected, rel=0.15, abs=0.002)
    assert float(chance(as_pairs(np.array(counts).T))) == pytest.approx(found, rel=1e-9)


def test_dependent_columns_have_a_tiny_p_value_that_more_rows_make_smaller():
    rng = np.random.default_rng(0)
    for n in (2, 3, 10):
        first = rng.integers(n, size=500)
        second = np.where(rng.random(500) < 0.5, first, rng.integers(n, size=500))
        few, many = (counted(first[:m], second[:m], n) for m in (100, 500))
        p_values = chance(as_pairs(np.stack([few, many, 10 * many])))
        assert 1e-2 > p_values[0] > p_values[1] >= p_values[2] >= 0
        assert p_values[1] < 1e-15


@pytest.mark.parametrize("counts", NOTHING, ids=NOTHING_IDS)
def test_the_p_value_is_one_where_nothing_can_be_known(counts):
    assert chance(as_pairs(np.asarray(counts))) == 1


def test_the_gamma_tail_is_that_of_a_gamma_variable_with_the_mean_and_spread():
    mean, spread = np.array([2.0, 0.3, 1.0]), np.array([1.0, 0.1, 0.0])
    squared = np.array([3.0, 0.5, 9.0])
    variance = 2 * spread[:2] ** 2
    expected = gamma(a=mean[:2] ** 2 / variance, scale=variance / mean[:2]).sf(squared[:2])
    np.testing.assert_allclose(gamma_tail(squared, mean, spread, np.zeros(3)), [*expected, 1], rtol=1e-9)
    np.testing.assert_allclose(gamma_tail(squared, mean, spread, np.full(3, 1e-12)), [*expected, 1], rtol=1e-6)
    assert (gamma_tail(squared, mean, spread, np.ones(3))[:2] > expected).all()


def test_skewness_is_its_definition():
    rng = np.random.default_rng(0)
    for p in (*rng.dirichlet(np.ones(4), size=3), np.array([0.97, 0.03, 0, 0])):
        kernel = (np.eye(4) - p) @ (np.eye(4) - p).T
        third, second = ((np.outer(p, p) * kernel**power).sum() for power in (3, 2))
        assert skewness(p) == pytest.approx(third / second**1.5)
    assert skewness(np.array([0.9, 0.1])) == pytest.approx(0.8**2 / 0.09)
    assert skewness(np.array([0.5, 0.5])) == pytest.approx(0)
    assert skewness(np.array([1.0, 0.0])) == 0


@pytest.mark.parametrize(
    "counts",
    [[[190, 4], [4, 2]], [[188, 6], [3, 3]], [[186, 4], [4, 6]], [[900, 50], [40, 10]], [[900, 50], [35, 15]]],
)
def test_of_rare_states_the_p_value_is_nearly_that_of_fishers_exact_test(counts):
    """Within a factor of four, where the gamma variable alone is wrong by up to ten powers of ten."""
    assert abs(np.log(float(chance(as_pairs(np.array(counts)))) / fisher_exact(counts).pvalue)) < np.log(4)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([194, 6], [194, 6]),
        ([180, 20], [180, 20]),
        ([950, 50], [950, 50]),
        ([180, 10, 6, 4], [180, 10, 6, 4]),
        ([180, 60, 30, 21, 9], [60] * 5),
        ([10] * 5, [10] * 5),
    ],
)
def test_small_p_values_are_as_rare_as_they_say(rows, columns):
    """Random tables with given numbers of rows in each state; 1e-4 once in ten thousand, or little more often."""
    counts = stats.random_table.rvs(rows, columns, size=100_000, random_state=np.random.default_rng(0))
    p_values = chance(as_pairs(np.asarray(counts, dtype=float)))
    for level in (0.01, 0.001, 0.0001):
        assert np.mean(p_values <= level) < 1.5 * level + 1e-4


# Mutual information


def simulated(n_rows=400, seed=0):
    tree = random_tree(7, 0.5, seed)
    return random_model(
        tree, n_states=3, hidden_states=2, start="identity", perturbation=0.3, random_state=seed
    ).sample(n_rows, seed)


def holed(table, seed=1):
    codes = table.codes()
    codes[np.random.default_rng(seed).random(codes.shape) < 0.2] = -1
    return type(table).from_codes(table.columns, codes)


def naive_information(table):
    codes = table.codes()
    d = table.n_columns
    result = np.zeros((d, d))
    for i, j in np.ndindex(d, d):
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        joint = np.histogram2d(codes[both, i], codes[both, j], bins=(np.arange(4), np.arange(4)))[0] / both.sum()
        for x, y in np.argwhere(joint > 0):
            result[i, j] += joint[x, y] * np.log(joint[x, y] / (joint[x].sum() * joint[:, y].sum()))
    return result


@pytest.mark.parametrize("cells_at_once", [1, 100, 2**22])
def test_mutual_information_equals_a_naive_loop(cells_at_once, monkeypatch):
    monkeypatch.setattr("latree.counts.contingency.PAIR_CELLS_AT_ONCE", cells_at_once)
    table = holed(simulated())
    measured = pairwise(table, information)
    np.testing.assert_allclose(measured, naive_information(table), rtol=1e-10, atol=1e-13)
    np.testing.assert_array_equal(measured, measured.T)


# Lake's distance


def naive_log_det(joint):
    first, second = np.diag(joint.sum(axis=1)), np.diag(joint.sum(axis=0))
    det = np.linalg.det
    return 0.5 * np.log(det(first)) - np.log(abs(det(joint))) + 0.5 * np.log(det(second))


def exact(joint):
    joint = np.asarray(joint, dtype=float)
    return PairDistributions(joint, np.full(joint.shape[:-2], np.inf))


def dependent(shape, seed):
    """Joint distributions with much on the diagonal."""
    rng = np.random.default_rng(seed)
    joint = rng.random(shape) + 2 * np.eye(*shape[-2:])
    return joint / joint.sum(axis=(-2, -1), keepdims=True)


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_log_det_is_the_formula_of_the_paper(n):
    joint = dependent((5, 3, n, n), n)
    measured = log_det(exact(joint))
    assert measured.shape == (5, 3)
    for i in np.ndindex(5, 3):
        assert measured[i] == pytest.approx(naive_log_det(joint[i]), rel=1e-9)


@pytest.mark.parametrize("cells_at_once", [1, 150, 2**22])
def test_log_det_of_a_table_is_that_of_its_pair_tables(cells_at_once, monkeypatch):
    monkeypatch.setattr("latree.counts.contingency.PAIR_CELLS_AT_ONCE", cells_at_once)
    model = random_model(
        random_tree(7, 0.5, 0), n_states=3, hidden_states=3, start="identity", perturbation=0.2, random_state=0
    )
    codes = model.sample(500, 0).codes()
    codes[np.random.default_rng(1).random(codes.shape) < 0.2] = -1
    measured = pairwise(Table.from_codes(model.columns, codes), log_det)
    for i, j in combinations(range(7), 2):
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        joint = np.zeros((3, 3))
        np.add.at(joint, (codes[both, i], codes[both, j]), 1 / both.sum())
        assert measured[i, j] == pytest.approx(naive_log_det(joint), rel=1e-9)
    np.testing.assert_array_equal(measured, measured.T)
    np.testing.assert_allclose(np.diag(measured), 0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_log_det_adds_up_along_paths(seed):
    """From column to hidden variable to hidden variable to column, all with three states."""
    tree = random_tree(6, 0.3, seed)
    model = random_model(tree, n_states=3, hidden_states=3, start="identity", perturbation=0.3, random_state=seed)
    rooted = tree.rooted(0)
    for leaf in range(1, 6):
        path = [leaf]
        while rooted.parent[path[-1]] >= 0:
            path.append(int(rooted.parent[path[-1]]))
        steps = [log_det(exact(model.joint(step))) for step in successive(path)]
        assert len(steps) > 1
        assert log_det(exact(model.joint([leaf, 0]))) == pytest.approx(sum(steps), rel=1e-9)


def test_log_det_does_not_depend_on_which_state_is_which():
    joint = dependent((4, 4), 1)
    other = joint[np.random.default_rng(0).permutation(4)][:, np.random.default_rng(1).permutation(4)]
    assert log_det(exact(other)) == pytest.approx(log_det(exact(joint)), rel=1e-9)
    assert log_det(exact(joint.T)) == pytest.approx(log_det(exact(joint)), rel=1e-9)


@pytest.mark.parametrize("n_rows", [10, 1000, 10**6])
@pytest.mark.parametrize("n", [2, 4])
def test_singular_tables_are_far_but_not_infinitely(n, n_rows):
    rng = np.random.default_rng(n)
    independent = np.outer(rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n)))
    measured = log_det(PairDistributions(independent, np.array(float(n_rows))))
    assert measured == pytest.approx((n - 1) * max(2 * np.log(n_rows), 6 * np.log(10)), rel=1e-6)
    assert np.isfinite(log_det(exact(independent)))
    assert log_det(exact(independent)) > (n - 1) * 30
    assert log_det(PairDistributions(dependent((n, n), 0), np.array(float(n_rows)))) < measured


def test_log_det_of_columns_with_different_numbers_of_states():
    """The product of singular values is then √det M Mᵀ, for M of fewer rows than columns; their mean stands for n."""
    rng = np.random.default_rng(0)
    joint = rng.random((2, 4))
    joint /= joint.sum()
    scaled = joint / np.sqrt(np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    expected = -0.5 * np.log(np.linalg.det(scaled @ scaled.T))
    padded = np.zeros((6, 6))
    padded[:2, :4] = joint
    for table, n in ((joint, 4), (padded[:4, :4], 4), (padded, 6), (padded.T, 6)):
        assert log_det(exact(table)) == pytest.approx((n - 1) * expected, rel=1e-9)


def test_a_state_that_does_not_occur_is_left_out():
    joint = dependent((3, 3), 2)
    wider = np.insert(np.insert(joint, 1, 0, axis=0), 3, 0, axis=1)
    assert log_det(exact(wider)) == pytest.approx(naive_log_det(joint) * 3 / 2, rel=1e-9)  # 4 states instead of 3


def test_log_det_is_infinite_only_for_constants_and_strangers():
    constant, never = np.zeros((3, 3)), np.zeros((3, 3))
    constant[1] = [3, 2, 5]
    measured = log_det(as_pairs(np.stack([constant, constant.T, never, np.ones((3, 3))])))
    assert np.isinf(measured).tolist() == [True, True, True, False]
    assert measured.min() > 0


def test_numbers_of_states_may_differ_between_the_columns_of_a_table():
    model = model_on(random_tree(5, 0.5, 0), [2, 5, 3, 2, 4, 3, 3, 3], 0)
    table = model.sample(300, 0)
    measured = pairwise(table, log_det)
    for i, j in combinations(range(5), 2):
        two = Table.from_codes([table.columns[i], table.columns[j]], table.codes()[:, [i, j]])
        scale = (table.n_states.max() - 1) / (two.n_states.max() - 1)
        assert measured[i, j] == pytest.approx(scale * pairwise(two, log_det)[0, 1], rel=1e-9)


def test_a_row_of_weight_three_counts_as_three_rows():
    table = small_models()[1].sample(60, 0)
    weights = np.random.default_rng(0).integers(1, 4, 60)
    repeated = Table.from_codes(table.columns, np.repeat(table.codes(), weights, axis=0))
    weighted = Table.from_codes(table.columns, table.codes(), weights.astype(float))
    np.testing.assert_allclose(pairwise(weighted, log_det), pairwise(repeated, log_det), rtol=1e-9, atol=1e-12)


def test_zero_has_no_sign():
    assert not np.signbit(log_det(as_pairs(np.array([[5, 0], [0, 5]]))))


def test_log_det_is_the_formula_for_tables_that_are_hardly_singular():
    counts = np.array([[5, 8], [8, 13]])
    assert log_det(as_pairs(counts)) == pytest.approx(naive_log_det(counts / 34), rel=1e-6)


# Infinite distances


def test_infinite_distances_become_larger_than_all_others():
    distance = noise(6, 0)
    distance[0, 1] = distance[1, 0] = distance[2, 5] = distance[5, 2] = np.inf
    np.fill_diagonal(distance, 0)
    found = finite(distance)
    known = np.isfinite(distance)
    np.testing.assert_array_equal(found[known], distance[known])
    np.testing.assert_allclose(found[~known], 2 * distance[known].max(), rtol=1e-12)
    np.testing.assert_array_equal(np.isinf(distance), ~known)  # the argument is left as it was


def test_distances_may_be_infinite_on_the_diagonal_and_negative():
    np.testing.assert_array_equal(finite(np.full((3, 3), np.inf)), 1 - np.eye(3))
    found = finite(np.array([[0, -2, np.inf], [-2, 0, 1], [np.inf, 1, 0]]))
    assert found[0, 2] == 4  # 1, and 3 more: as much as 1 is more than -2
    np.testing.assert_array_equal(finite(np.array([[np.inf, 1], [1, np.inf]])), 1 - np.eye(2))
    assert finite(np.array([[9, 1, np.inf], [1, 9, 1], [np.inf, 1, 9]]))[0, 2] == 2  # the diagonal tells nothing
    np.testing.assert_array_equal(finite(np.where(np.eye(3), 0, np.inf)), 1 - np.eye(3))


def test_infinite_distances_are_larger_than_zero():
    inf = np.inf
    assert finite(np.array([[0, 0, inf], [0, 0, inf], [inf, inf, 0]]))[0, 2] > 0
