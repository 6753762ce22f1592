import itertools
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from scipy.cluster.hierarchy import average
from scipy.spatial.distance import squareform

from latree._util.progress import reported_to
from latree.counts.distances import information, pairwise
from latree.inference.starts import random_start
from latree.learners.harmeling_williams import harmeling_williams
from latree.paper.simulate import random_model, random_tree
from latree.table import Column, Table
from latree.tree import Tree

hw = import_module("latree.learners.harmeling_williams")  # the folder's name for it is the function


def table_of(codes, sizes=None, weights=None):
    codes = np.asarray(codes)
    sizes = codes.max(axis=0) + 1 if sizes is None else sizes
    columns = [Column(f"x{j}", "integer", tuple(map(str, range(size)))) for j, size in enumerate(sizes)]
    return Table.from_codes(columns, codes, weights)


def holed(codes, share, seed=9):
    return np.where(np.random.default_rng(seed).random(codes.shape) < share, -1, codes)


def blocks(*sizes, n_rows=2000, n_states=3, share=0.8, seed=0):
    """Draw independent blocks of columns, each of columns that follow one hidden variable in a share of the rows."""
    rng = np.random.default_rng(seed)
    hidden = np.repeat(rng.integers(0, n_states, (n_rows, len(sizes))), sizes, axis=1)
    return np.where(rng.random(hidden.shape) < share, hidden, rng.integers(0, n_states, hidden.shape))


def simulated(seed, n_rows=2000, n_leaves=16):
    tree = random_tree(n_leaves, 0.5, seed)
    model = random_model(tree, n_states=4, hidden_states=4, start="identity", perturbation=0.3, random_state=seed)
    return tree, model.sample(n_rows, seed)


def mixed(n_rows=600, share=0.1):
    """Draw columns of two to five states that follow each other, with missing cells."""
    _, table = simulated(0, n_rows, n_leaves=7)
    sizes = [2, 4, 3, 5, 4, 2, 3]
    codes = np.minimum(table.codes(), np.array(sizes) - 1)
    codes[:, 3] += (codes[:, 3] == 3) & (np.arange(n_rows) % 2)
    return table_of(holed(codes, share), sizes)


def learn(table, seed=0, **options):
    return harmeling_williams(table, pairwise(table, information), random_state=seed, **options)


def components(tree):
    """The observed variables of each component, smallest first."""
    apart = tree.path_lengths() < 0
    return sorted({tuple(np.flatnonzero(~row).tolist()) for row in apart})


def same(one, other, rtol=1e-6):
    """Whether two results are the same but for rounding."""
    np.testing.assert_array_equal(one.tree.edges, other.tree.edges)
    assert one.n_states == other.n_states
    for a, b in zip(one.start.tables, other.start.tables, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-9)
    return True


SIZES = [2, 3, 2, 3, 2]


def no_subtrees():
    return hw._Forest(5, [np.full((n, 1), 1 / n) for n in SIZES])


def two_subtrees(seed=5):
    """Join columns 0, 1 and 2 below node 6 and columns 3 and 4 below node 7."""
    rng = np.random.default_rng(seed)

    def conditional(n, k):
        return rng.dirichlet(np.ones(n), size=k).T

    forest = no_subtrees()
    forest.join(0, 1, conditional(3, 1)[:, 0], conditional(2, 3), conditional(3, 3))
    forest.join(5, 2, conditional(2, 1)[:, 0], conditional(3, 2), conditional(2, 2))
    forest.join(3, 4, conditional(3, 1)[:, 0], conditional(3, 3), conditional(2, 3))
    return forest


def one_subtree():
    """Join columns 0, 1 and 2 below node 6."""
    forest = two_subtrees()
    del forest.children[7]
    return forest


def naive_likelihood(forest, top, row):
    """What the cells below a top say of each of its states, by enumerating the states of all nodes below."""
    below = [top]
    for node in below:
        below.extend(forest.children.get(node, ()))
    parent = {child: node for node, pair in forest.children.items() for child in pair}
    found = np.zeros(len(forest.cpts[top]))
    for states in itertools.product(*(range(len(forest.cpts[node])) for node in below)):
        state = dict(zip(below, states, strict=True))
        if all(node >= forest.d or row[node] in (-1, state[node]) for node in below):
            found[state[top]] += np.prod(
                [forest.cpts[node][state[node], state[parent[node]]] for node in below if node != top]
            )
    return found


def naive_evidence(forest, i, j, codes):
    return [np.outer(naive_likelihood(forest, i, row), naive_likelihood(forest, j, row)) for row in codes]


def naive_em(evidence, weights, iterations):
    joint = np.full(evidence[0].shape, 1 / evidence[0].size)
    for _ in range(iterations):
        counts = np.zeros(joint.shape)
        for row, weight in zip(evidence, weights, strict=True):
            counts += weight * joint * row / (joint * row).sum()
        joint = counts / counts.sum()
    return joint


def naive_log_likelihood(evidence, weights, joint):
    return sum(weight * np.log((joint * row).sum()) for row, weight in zip(evidence, weights, strict=True))


def some_rows(share, weighted, n_rows=40):
    rng = np.random.default_rng(7)
    codes = holed(np.column_stack([rng.integers(0, size, n_rows) for size in SIZES]), share)
    codes[:, 3] = np.where(rng.random(n_rows) < 0.6, np.abs(codes[:, 1]), codes[:, 3])
    return codes, rng.integers(0, 4, n_rows) / 2 if weighted else np.ones(n_rows)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_joint_distribution_of_two_columns_is_their_counts(weighted):
    codes, weights = some_rows(0, weighted)
    table = table_of(codes, SIZES, weights if weighted else None)
    expected = np.zeros((3, 3))
    for row, weight in zip(codes, weights, strict=True):
        expected[row[1], row[3]] += weight / weights.sum()
    np.testing.assert_allclose(hw._TopPair(table, no_subtrees(), 1, 3).joint_distribution()[0], expected, rtol=1e-12)


def test_the_joint_distribution_of_two_columns_takes_no_second_step(monkeypatch):
    asked = []
    upward = hw.upward
    monkeypatch.setattr(hw, "upward", lambda *arguments: asked.append(1) or upward(*arguments))
    hw._TopPair(table_of(some_rows(0, False)[0], SIZES), no_subtrees(), 1, 3).joint_distribution()[0]
    assert len(asked) <= 3  # one to count, two to see that nothing more is gained


TOPS = {
    "two columns": (no_subtrees, 1, 3),
    "two trees": (two_subtrees, 7, 6),
    "a tree and a column": (one_subtree, 6, 3),
}


@pytest.mark.parametrize("iterations", [1, 2, 30])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0, 0.4])
@pytest.mark.parametrize("tops", TOPS)
def test_the_joint_distribution_equals_a_naive_em(tops, share, weighted, iterations, monkeypatch):
    monkeypatch.setattr(hw, "_ITERATIONS", iterations)
    monkeypatch.setattr(hw, "_TOLERANCE", -np.inf)
    make, i, j = TOPS[tops]
    forest = make()
    codes, weights = some_rows(share, weighted)
    table = table_of(codes, SIZES, weights if weighted else None)
    naive = naive_em(naive_evidence(forest, i, j, codes), weights, iterations)
    np.testing.assert_allclose(hw._TopPair(table, forest, i, j).joint_distribution()[0], naive, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_joint_distribution_is_near_the_most_likely_one_when_it_stops(weighted):
    codes, weights = some_rows(0.4, weighted)
    table = table_of(codes, SIZES, weights if weighted else None)
    evidence = naive_evidence(two_subtrees(), 6, 7, codes)
    reached, best = (
        naive_log_likelihood(evidence, weights, joint)
        for joint in (
            hw._TopPair(table, two_subtrees(), 6, 7).joint_distribution()[0],
            naive_em(evidence, weights, 1000),
        )
    )
    assert best - 1e-3 * weights.sum() < reached <= best + 1e-9


def test_the_likelihood_of_the_joint_distribution_never_falls(monkeypatch):
    codes, weights = some_rows(0.3, True)
    table = table_of(codes, SIZES, weights)
    evidence = naive_evidence(two_subtrees(), 6, 7, codes)
    reached = [naive_log_likelihood(evidence, weights, np.full((2, 3), 1 / 6))]
    monkeypatch.setattr(hw, "_TOLERANCE", -np.inf)
    for iterations in range(1, 25):
        monkeypatch.setattr(hw, "_ITERATIONS", iterations)
        reached.append(
            naive_log_likelihood(evidence, weights, hw._TopPair(table, two_subtrees(), 6, 7).joint_distribution()[0])
        )
    assert (np.diff(reached) > -1e-10).all()
    assert reached[-1] > reached[1] > reached[0]


def test_rows_that_a_subtree_holds_for_impossible_count_for_nothing(monkeypatch):
    monkeypatch.setattr(hw, "_ITERATIONS", 20)
    monkeypatch.setattr(hw, "_TOLERANCE", -np.inf)
    forest = two_subtrees()
    forest.cpts[4] = np.array([[0.0] * 3, [1.0] * 3])
    codes, weights = some_rows(0.2, True)
    possible = codes[:, 4] != 0
    assert 0 < possible.sum() < len(codes)
    naive = naive_em(naive_evidence(forest, 6, 7, codes[possible]), weights[possible], 20)
    joint = hw._TopPair(table_of(codes, SIZES, weights), forest, 6, 7).joint_distribution()[0]
    np.testing.assert_allclose(joint, naive, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("tops", TOPS)
def test_the_rows_in_which_both_tops_are_seen_are_counted(tops):
    """Where each side has a present cell or none at all; beside them, the log-likelihood up to a constant."""
    make, i, j = TOPS[tops]
    codes, weights = some_rows(0.2, True)
    codes[:10] = -1, -1, -1, 1, 1
    codes[10:15] = 1, 1, 1, -1, -1
    below = {1: [1], 3: [3], 6: [0, 1, 2], 7: [3, 4]}
    seen = weights[np.all([(codes[:, below[top]] >= 0).any(axis=1) for top in (i, j)], axis=0)].sum()
    pair = hw._TopPair(table_of(codes, SIZES, weights), make(), i, j)
    evidence = naive_evidence(make(), i, j, codes)
    one, other = np.random.default_rng(0).dirichlet(np.ones(evidence[0].size), size=2).reshape(2, *evidence[0].shape)
    gain = naive_log_likelihood(evidence, weights, one) - naive_log_likelihood(evidence, weights, other)
    (_, first, counted), (_, second, _) = pair.expected_counts(one), pair.expected_counts(other)
    assert first - second == pytest.approx(gain, rel=1e-9)
    assert counted == pytest.approx(seen, rel=1e-12)
    assert pair.joint_distribution()[1] == pytest.approx(seen, rel=1e-12)


def test_rows_without_a_cell_below_a_top_do_not_count():
    table = table_of([[-1, -1, -1, 1, 1]] * 10, SIZES)
    assert [
        hw._TopPair(table, two_subtrees(seed), 6, 7).expected_counts(np.full((2, 3), 1 / 6))[2] for seed in range(30)
    ] == [0] * 30


def divergence(joint, fitted):
    """Kullback and Leibler's, in nats."""
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / fitted[seen])).sum())


def planted(rows, columns, k, seed=0, noise=0.1):
    """A joint table of k hidden states that is easy to take apart."""
    rng = np.random.default_rng(seed)
    left, right = (np.eye(n)[:, np.arange(k)] + noise * rng.random((n, k)) for n in (rows, columns))
    return (left / left.sum(axis=0) * rng.dirichlet(np.full(k, 20))) @ (right / right.sum(axis=0)).T


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_factors_never_lose_fit(k, monkeypatch):
    joint = np.random.default_rng(0).dirichlet(np.full(30, 0.5)).reshape(5, 6)
    monkeypatch.setattr(hw, "_TOLERANCE", -np.inf)
    lost = []
    for iterations in range(1, 60):
        monkeypatch.setattr(hw, "_ITERATIONS", iterations)
        left, right = hw._factors(joint, k, np.random.default_rng(1))
        lost.append(divergence(joint, left @ right))
    assert (np.diff(lost) < 1e-12).all()
    assert lost[-1] < lost[1] or k == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("rows", "columns", "k"), [(4, 5, 1), (4, 4, 2), (6, 3, 3), (5, 6, 4)])
def test_factors_reproduce_a_table_of_low_rank(rows, columns, k, seed):
    joint = planted(rows, columns, k, seed)
    left, right = hw._factors(joint, k, np.random.default_rng(seed))
    assert (left.shape, right.shape) == ((rows, k), (k, columns))
    assert left.sum() == pytest.approx(1, rel=1e-9)
    np.testing.assert_allclose(right.sum(axis=1), 1, rtol=1e-9)
    assert divergence(joint, left @ right) < 2e-4
    if k > 1:
        assert divergence(joint, np.outer(joint.sum(axis=1), joint.sum(axis=0))) > 0.2


@pytest.mark.parametrize("k", [2, 3, 4])
def test_factors_are_given_up_only_when_all_starts_are_done(k, monkeypatch):
    joints = [np.random.default_rng(seed).dirichlet(np.full(36, 0.3)).reshape(6, 6) for seed in range(10)]

    def lost():
        return [divergence(joint, np.matmul(*hw._factors(joint, k, np.random.default_rng(0)))) for joint in joints]

    stopped = lost()
    monkeypatch.setattr(hw, "_TOLERANCE", -np.inf)
    np.testing.assert_allclose(stopped, lost(), rtol=0, atol=2e-4)


def test_factors_are_the_best_of_several_starts():
    joint = np.eye(6) / 6
    assert max(divergence(joint, np.matmul(*hw._factors(joint, 6, np.random.default_rng(s)))) for s in range(8)) < 1e-3


@pytest.mark.parametrize("total", [10, 1e3, 1e8])
def test_independent_sides_get_no_hidden_variable(total):
    joint = np.outer([0.5, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4])
    assert hw._local_model(joint, total, np.random.default_rng(0)) is None


@pytest.mark.parametrize(
    ("rows", "columns", "k"),
    [
        (2, 2, 2),
        (5, 4, 2),
        (3, 6, 3),
        (6, 7, 4),
        (8, 8, 8),
    ],
)
def test_the_local_model_has_the_states_of_a_clean_table(rows, columns, k):
    joint = planted(rows, columns, k)
    prior, p_x, p_z = hw._local_model(joint, 1e5, np.random.default_rng(0))
    assert (prior.shape, p_x.shape, p_z.shape) == ((k,), (rows, k), (columns, k))
    for distribution in (prior, p_x, p_z):
        np.testing.assert_allclose(distribution.sum(axis=0), 1, rtol=1e-9)
    assert divergence(joint, (p_x * prior) @ p_z.T) < 2e-4


@pytest.mark.parametrize(("rows", "columns", "k"), [(6, 6, 3), (8, 6, 5), (8, 8, 7)])
def test_a_number_of_states_that_doubling_passes_over_is_found_from_above(rows, columns, k):
    """3 is not tried once 4 is better than 2: the authors' search, which may end with a few states too many."""
    prior, _, _ = hw._local_model(planted(rows, columns, k), 1e5, np.random.default_rng(0))
    assert k <= len(prior) <= 8


@pytest.mark.parametrize(("rows", "columns"), [(2, 6), (3, 7), (7, 3), (1, 4)])
def test_the_local_model_has_no_more_states_than_the_smaller_side(rows, columns):
    joint = np.random.default_rng(0).dirichlet(np.full(rows * columns, 0.2)).reshape(rows, columns)
    found = hw._local_model(joint, 1e7, np.random.default_rng(0))
    assert (found is None) if rows == 1 else (len(found[0]) == min(rows, columns))


@pytest.mark.parametrize(
    ("joint", "extra"),
    [(planted(2, 2, 2, noise=2), 3), (planted(3, 4, 2, noise=2), 6), (planted(6, 6, 2, noise=2), 11)],
)
def test_bic_decides_whether_there_is_a_hidden_variable(joint, extra):
    """Two states take extra free parameters, at ½ log m nats each, and gain the mutual information of m rows."""
    gain = divergence(joint, np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    even = next(m for m in itertools.count(100) if m * gain > extra * np.log(m) / 2)
    assert hw._local_model(joint, 0.9 * even, np.random.default_rng(0)) is None
    assert len(hw._local_model(joint, 1.1 * even, np.random.default_rng(0))[0]) == 2


@pytest.mark.parametrize(
    ("side", "k", "tried"),
    [(8, 1, [2]), (8, 2, [2, 4, 3]), (3, 3, [2, 3])],
)
def test_numbers_of_states_are_doubled_then_bisected(side, k, tried, monkeypatch):
    asked = []
    factors = hw._factors
    monkeypatch.setattr(hw, "_factors", lambda joint, k, rng: asked.append(k) or factors(joint, k, rng))
    hw._local_model(planted(side, side, k), 1e5, np.random.default_rng(0))
    assert asked == tried


@pytest.mark.parametrize("seed", range(4))
def test_groups_are_joined_by_average_linkage(seed):
    """All columns depend on each other, so that every join is made, in whatever order it is told."""
    d = 12
    told = np.random.default_rng(seed).random((d, d))
    told = told + told.T
    learned = harmeling_williams(table_of(blocks(d, n_rows=300)), told, random_state=0).tree
    merges = average(squareform(2 - told, checks=False))[:, :2].astype(int).tolist()
    edges = [(child, d + number) for number, pair in enumerate(merges[:-1]) for child in pair]
    expected = Tree(learned.names, [*edges, merges[-1]])
    assert learned.n_hidden == d - 2
    assert learned.robinson_foulds(expected) == 0


@pytest.mark.parametrize("sizes", [(3, 4, 2, 1), (1, 5, 5)])
def test_independent_blocks_come_back_as_a_forest(sizes):
    learned = learn(table_of(blocks(*sizes)))
    stops = np.cumsum((0, *sizes)).tolist()
    expected = [tuple(range(*limits)) for limits in itertools.pairwise(stops)]
    assert components(learned.tree) == expected
    assert learned.tree.n_hidden == sum(max(size - 2, 0) for size in sizes) == len(learned.n_states)


def test_pairs_that_are_refused_make_way_for_the_next_best():
    """The information names the pairs to try first, and it names the wrong ones; the rows decide."""
    codes = blocks(4, 4)
    block = np.arange(8) // 4
    wrong = np.where(block[:, None] != block, 2.0, 1.0) + np.random.default_rng(0).random((8, 8)) / 2
    learned = harmeling_williams(table_of(codes), (wrong + wrong.T) / 2, random_state=0)
    assert components(learned.tree) == [(0, 1, 2, 3), (4, 5, 6, 7)]


def test_independent_columns_are_left_alone():
    learned = learn(table_of(np.random.default_rng(0).integers(0, 4, (1000, 8))))
    assert (len(learned.tree.edges), learned.tree.n_hidden) == (0, 0)
    assert learned.n_states == ()


def test_independent_columns_of_two_states_are_left_alone():
    tables = [np.random.default_rng(seed).integers(0, 2, (200, 12)) for seed in range(8)]
    assert sum(len(learn(table_of(codes)).tree.edges) == 0 for codes in tables) >= 6


def test_independent_columns_are_left_alone_where_cells_are_missing():
    codes = np.random.default_rng(0).integers(0, 3, (1000, 6))
    assert len(learn(table_of(holed(codes, 0.7))).tree.edges) == 0


def test_independent_blocks_stay_apart_where_columns_say_little_of_their_top():
    """Tops are taken for as well known as if rows showed them, so that some of these tables join two blocks."""
    right = 0
    for seed in range(8):
        learned = learn(table_of(blocks(3, 3, 3, n_rows=1000, share=0.4, seed=seed)))
        right += all(len({column // 3 for column in found}) == 1 for found in components(learned.tree))
    assert right >= 4


def test_copies_of_a_column_are_no_trouble():
    column = np.random.default_rng(1).integers(0, 4, 1000)
    for seed in range(8):
        assert learn(table_of(np.column_stack([column] * 8)), seed).n_states == (4,) * 6


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_few_columns(n_columns):
    learned = learn(table_of(blocks(n_columns, n_states=2)))
    assert len(learned.tree.edges) == [0, 1, 3][n_columns - 1]
    assert learned.n_states == ((2,) if n_columns == 3 else ())


def test_two_columns_get_an_edge_with_their_counts():
    codes = blocks(2, n_states=2)
    learned = learn(table_of(codes))
    counts = np.histogram2d(*codes[:, learned.tree.edges[0]].T, bins=2)[0] / len(codes)
    np.testing.assert_allclose(learned.start.joint(learned.tree.edges[0].tolist()), counts, rtol=0, atol=2e-3)


def test_the_start_fits_the_rows():
    """It is far better than a random start: no table is turned round, or on a wrong edge."""
    _, table = simulated(2, 1000)
    learned = learn(table)
    start = learned.start
    drawn = replace(start, tables=random_start(table, learned.tree, learned.n_states, 0))
    per_cell = start.log_likelihood(table) / (1000 * 16)
    at_random = drawn.log_likelihood(table) / (1000 * 16)
    assert per_cell > at_random + 0.1
    counted = pairwise(table, information)
    for i, j in itertools.combinations(range(16), 2):
        joint = start.joint([i, j])
        implied = divergence(joint, np.outer(joint.sum(axis=1), joint.sum(axis=0)))
        assert implied == pytest.approx(counted[i, j], abs=0.05)


@pytest.mark.parametrize("seed", range(3))
def test_simulated_trees_come_back(seed):
    tree, table = simulated(seed)
    learned = learn(table)
    assert learned.tree.robinson_foulds(tree) == 0
    assert len(learned.n_states) == 14
    assert min(learned.n_states) >= 2
    assert max(learned.n_states) == 4


def test_the_seed_decides():
    table = mixed()
    once, again, other = (learn(table, seed) for seed in (1, 1, 2))
    assert same(once, again, rtol=0)
    assert any(a.shape != b.shape or (a != b).any() for a, b in zip(once.start.tables, other.start.tables, strict=True))


def test_weights_count_as_repeated_rows():
    table = mixed(300)
    codes, weights = table.codes(), np.arange(300) % 3
    sizes = table.n_states.tolist()
    weighted = learn(table_of(codes, sizes, weights.astype(float)))
    assert weighted.tree.n_hidden > 2
    assert same(weighted, learn(table_of(np.repeat(codes, weights, axis=0), sizes)))
    assert same(learn(table_of(codes, sizes, np.ones(300))), learn(table))


def test_heavy_rows_tell_more():
    codes = mixed(60, 0).codes()
    light, heavy = (learn(table_of(codes, weights=np.full(60, weight))) for weight in (1.0, 20.0))
    assert same(heavy, learn(table_of(np.repeat(codes, 20, axis=0))))
    assert sum(heavy.n_states) > sum(light.n_states)


def test_rows_may_come_in_other_blocks(monkeypatch):
    table = mixed()
    whole = learn(table)
    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", 37)
    assert same(learn(table), whole)


def test_progress_counts_joins():
    told = []
    table = table_of(blocks(3, 2, 1))
    similarity = pairwise(table, information)
    with reported_to(lambda *numbers: told.append(numbers)):
        harmeling_williams(table, similarity, random_state=0)
    assert told == [(1, 5), (2, 5), (3, 5), (5, 5)]
