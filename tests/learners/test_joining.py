from itertools import combinations
from itertools import pairwise as successive

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.models import exact_pairs, model_on, small_models
from helpers.strategies import check_valid, noisy_distances, path_distances, with_lengths
from latree import as_table, learn_tree
from latree.counts.distances import Pairs, as_pairs, finite, log_det, pairwise
from latree.learners.methods import METHODS
from latree.learners.neighbor_joining import join, neighbor_joining
from latree.learners.spectral_joining import spectral_joining
from latree.paper.simulate import random_model, random_tree
from latree.table import Column, Table
from latree.tree import Tree

checked = settings(deadline=None, derandomize=True, max_examples=40)

ON_DISTANCES = [neighbor_joining, spectral_joining]


def names_of(d):
    return [f"x{i}" for i in range(d)]


def symmetric(matrix):
    upper = np.triu(matrix, 1)
    return upper + upper.T


def noise(d, seed):
    """Distances that have nothing to do with a tree."""
    return symmetric(np.random.default_rng([d, seed]).random((d, d)))


def permuted(distance, order):
    return distance[np.ix_(order, order)]


# Lake's distance


def naive_log_det(joint):
    first, second = np.diag(joint.sum(axis=1)), np.diag(joint.sum(axis=0))
    det = np.linalg.det
    return 0.5 * np.log(det(first)) - np.log(abs(det(joint))) + 0.5 * np.log(det(second))


def exact(joint):
    joint = np.asarray(joint, dtype=float)
    return Pairs(joint, np.full(joint.shape[:-2], np.inf))


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
    monkeypatch.setattr("latree.counts.contingency._CELLS_AT_ONCE", cells_at_once)
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
    measured = log_det(Pairs(independent, np.array(float(n_rows))))
    assert measured == pytest.approx((n - 1) * max(2 * np.log(n_rows), 6 * np.log(10)), rel=1e-6)
    assert np.isfinite(log_det(exact(independent)))
    assert log_det(exact(independent)) > (n - 1) * 30
    assert log_det(Pairs(dependent((n, n), 0), np.array(float(n_rows)))) < measured


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


@pytest.mark.parametrize("method", ["nj", "clnj", "clrg"])
def test_a_coin_is_nobodys_neighbour(method):
    """A column of two states and no connection with columns of five must not draw them to itself."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 5, (2000, 2))
    noisy = [np.where(rng.random(2000) < 0.6, hidden[:, j // 4], rng.integers(0, 5, 2000)) for j in range(8)]
    coin = rng.integers(0, 2, 2000)
    measured = pairwise(as_table(np.column_stack([coin, *noisy])), log_det)
    assert measured[0, 1:].min() > max(measured[1:5, 1:5].max(), measured[5:, 5:].max())
    tree = learn_tree(np.column_stack([coin, *noisy]), method=method)
    groups = {frozenset(range(1, 5)), frozenset(range(5, 9))}
    sides = [{leaf for leaf in range(9) if split.side >> leaf & 1} for split in tree.splits]
    found = {frozenset(side) for inside in sides for side in (inside, set(range(9)) - inside)}
    assert found & groups


def test_a_row_of_weight_three_counts_as_three_rows():
    table = small_models()[1].sample(60, 0)
    weights = np.random.default_rng(0).integers(1, 4, 60)
    repeated = Table.from_codes(table.columns, np.repeat(table.codes(), weights, axis=0))
    weighted = Table.from_codes(table.columns, table.codes(), weights.astype(float))
    np.testing.assert_allclose(pairwise(weighted, log_det), pairwise(repeated, log_det), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["nj", "snj"])
def test_weights_may_sum_to_one(method):
    """Not so for rg, clrg and clnj, which ask how many rows the weights stand for."""
    tree = random_tree(8, random_state=0)
    model = random_model(tree, n_states=2, hidden_states=2, start="identity", perturbation=0.2, random_state=0)
    codes = model.sample(5000, 0).codes()
    assert learn_tree(codes, method=method, weights=np.full(5000, 1 / 5000)).robinson_foulds(tree) == 0


def test_rows_are_counted_pair_by_pair():
    pairs = as_pairs(np.stack([np.full((3, 3), 1), np.full((3, 3), 10_000)]))
    assert pairs.total.tolist() == [9, 90_000]
    np.testing.assert_allclose(pairs.joint, 1 / 9, rtol=1e-12)
    near, far = log_det(pairs)
    assert far > near + 1


def test_zero_has_no_sign():
    assert not np.signbit(log_det(as_pairs(np.array([[5, 0], [0, 5]]))))


def test_log_det_is_the_formula_for_tables_that_are_hardly_singular():
    counts = np.array([[5, 8], [8, 13]])
    assert log_det(as_pairs(counts)) == pytest.approx(naive_log_det(counts / 34), rel=1e-6)


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


def test_two_columns_and_their_copies():
    cells = np.full((200, 4), np.nan)
    rng = np.random.default_rng(0)
    cells[:100, [0, 2]] = rng.integers(0, 2, 100)[:, None]
    cells[100:, [1, 3]] = rng.integers(0, 2, 100)[:, None]
    assert learn_tree(cells, method="nj").robinson_foulds(Tree.from_newick("((x0,x2),(x1,x3));")) == 0


# Neighbour joining


def naive_join(distance):
    """Neighbour joining as the formulas have it: all pairs are looked at every time."""
    d = len(distance)
    apart = {(i, j): distance[i, j] for i in range(d) for j in range(d)}
    left = list(range(d))
    edges, lengths = [], []
    for new in range(d, 2 * d - 3):
        u = {i: sum(apart[i, k] for k in left if k != i) / (len(left) - 2) for i in left}
        i, j = min(combinations(left, 2), key=lambda pair: apart[pair] - u[pair[0]] - u[pair[1]])
        edges += [(i, new), (j, new)]
        lengths += [(apart[i, j] + u[i] - u[j]) / 2, (apart[i, j] + u[j] - u[i]) / 2]
        left = [k for k in left if k not in (i, j)]
        for k in left:
            apart[k, new] = apart[new, k] = (apart[i, k] + apart[j, k] - apart[i, j]) / 2
        left.append(new)
    i, j, k = left
    edges += [(i, 2 * d - 3), (j, 2 * d - 3), (k, 2 * d - 3)]
    lengths += [
        (apart[i, j] + apart[i, k] - apart[j, k]) / 2,
        (apart[i, j] + apart[j, k] - apart[i, k]) / 2,
        (apart[i, k] + apart[j, k] - apart[i, j]) / 2,
    ]
    return edges, lengths


def distances_of_every_kind(d, seed):
    rng = np.random.default_rng([d, seed])
    random = noise(d, seed)
    tree = with_lengths(random_tree(d, 0.3, seed), seed)
    return {
        "noise": random,
        "negative": random - 0.5,
        "wide": symmetric(np.exp(3 * rng.normal(size=(d, d)))),
        "tree": path_distances(tree),
        "noisy tree": noisy_distances(tree, 0.1, seed),
        "hubs": symmetric(random * 10.0 ** rng.integers(-2, 3, d)),
    }


def assert_same_joining(one, two, d):
    first, second = Tree(names_of(d), *one), Tree(names_of(d), *two)
    assert first.robinson_foulds(second) == 0
    scale = np.abs(second.lengths).max()
    np.testing.assert_allclose(path_distances(first), path_distances(second), rtol=0, atol=1e-9 * scale * d)


@pytest.mark.parametrize("d", [3, 4, 5, 6, 9, 17, 40])
def test_joining_equals_a_naive_twin(d):
    for seed in range(3):
        for distance in distances_of_every_kind(d, seed).values():
            before = distance.copy()
            assert_same_joining(join(distance), naive_join(distance), d)
            np.testing.assert_array_equal(distance, before)


@pytest.mark.parametrize("seed", range(10))
def test_every_pair_joined_is_a_best_one_also_among_ties(seed):
    """Edges come in the order of joining, so that every choice can be looked at again."""
    d = 12
    distance = np.ones((d, d)) if seed == 0 else symmetric(np.random.default_rng(seed).integers(0, 3, (d, d)) / 2.0)
    edges, _ = join(distance)
    apart = np.zeros((2 * d, 2 * d))
    apart[:d, :d] = distance * (1 - np.eye(d))
    left = list(range(d))
    for new in range(d, 2 * d - 3):
        u = apart[:, left].sum(axis=1) / (len(left) - 2)
        (i, above), (j, other) = edges[2 * (new - d) : 2 * (new - d) + 2].tolist()
        assert above == other == new
        best = min(apart[a, b] - u[a] - u[b] for a, b in combinations(left, 2))
        assert apart[i, j] - u[i] - u[j] == pytest.approx(best, abs=1e-9)
        left = [k for k in left if k not in (i, j)]
        apart[new, left] = apart[left, new] = (apart[i, left] + apart[j, left] - apart[i, j]) / 2
        left.append(new)


@checked
@given(d=st.integers(3, 30), balance=st.floats(0.05, 0.5), seed=st.integers(0, 10**6))
def test_neighbor_joining_gives_any_binary_tree_back_with_its_lengths(d, balance, seed):
    tree = with_lengths(random_tree(d, balance, seed), seed)
    learned = neighbor_joining(tree.names, path_distances(tree)).tree
    assert learned.robinson_foulds(tree) == 0
    np.testing.assert_allclose(path_distances(learned), path_distances(tree), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.sort(learned.lengths), np.sort(tree.lengths), rtol=1e-9)


def test_lengths_are_not_negative_though_the_formulas_make_them_so():
    for d in (3, 4, 8, 20):
        negative = 0
        for seed in range(10):
            distance = noise(d, seed)
            edges, raw = join(distance)
            tree = neighbor_joining(names_of(d), distance).tree
            check_valid(tree, names_of(d))
            assert tree.n_hidden == d - 2
            np.testing.assert_array_equal(tree.edges, edges)
            np.testing.assert_array_equal(tree.lengths, np.where(raw > 0, raw, 0))
            negative += (raw < 0).sum()
        assert negative


@pytest.mark.parametrize("builder", ON_DISTANCES)
@pytest.mark.parametrize("d", [4, 5, 11, 24])
def test_permuting_the_columns_permutes_the_result(d, builder):
    for seed in range(4):
        for distance in (noise(d, seed), noisy_distances(with_lengths(random_tree(d, 0.3, seed), seed), 0.1, seed)):
            order = np.random.default_rng(seed).permutation(d)
            names = names_of(d)
            tree = builder(names, distance).tree
            other = builder([names[i] for i in order], permuted(distance, order)).tree
            assert other.robinson_foulds(tree) == 0
            if builder is neighbor_joining:
                back = path_distances(other.reordered(names))
                np.testing.assert_allclose(back, path_distances(tree), rtol=1e-8, atol=1e-10)


def test_scaling_distances_scales_the_tree():
    for seed in range(5):
        distance = noise(15, seed)
        (edges, lengths), (same_edges, scaled) = join(distance), join(8 * distance)
        np.testing.assert_array_equal(same_edges, edges)
        np.testing.assert_array_equal(scaled, 8 * lengths)


def test_longer_leaves_change_nothing_else_in_neighbor_joining():
    """What is added to all distances of a column is the length of its leaf."""
    for seed in range(5):
        distance = noise(12, seed)
        longer = np.random.default_rng(seed).random(12)
        one = Tree(names_of(12), *join(distance))
        two = Tree(names_of(12), *join(distance + np.add.outer(longer, longer)))
        assert one.robinson_foulds(two) == 0
        expected = path_distances(one) + symmetric(np.add.outer(longer, longer))
        np.testing.assert_allclose(path_distances(two), expected, rtol=1e-9, atol=1e-9)


def test_two_names_make_one_hidden_variable():
    for builder in ON_DISTANCES:
        assert builder(names_of(2), np.zeros((2, 2))).tree.edges.tolist() == [[0, 2], [1, 2]]
        assert builder(names_of(3), noise(3, 0)).tree.n_hidden == 1


def test_three_distances_determine_three_lengths():
    tree = neighbor_joining("abc", np.array([[0, 5, 6], [5, 0, 7], [6, 7, 0]])).tree
    assert dict(zip(tree.edges[:, 0].tolist(), tree.lengths.tolist(), strict=True)) == {0: 2, 1: 3, 2: 4}


@pytest.mark.parametrize("builder", ON_DISTANCES)
def test_progress_is_told_up_to_the_end(builder):
    seen = []
    builder(names_of(9), noise(9, 0), lambda *told: seen.append(told))
    assert seen == [*((done, 9) for done in range(1, 7)), (9, 9)]


@pytest.mark.parametrize("builder", ON_DISTANCES)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
def test_infinite_distances_give_a_valid_tree(share, builder):
    for d in (3, 4, 7, 16):
        for seed in range(5):
            rng = np.random.default_rng([d, seed])
            distance = np.where(symmetric(rng.random((d, d))) < 1 - share, noise(d, seed), np.inf)
            np.fill_diagonal(distance, 0)
            check_valid(builder(names_of(d), distance).tree, names_of(d))


@pytest.mark.parametrize("builder", ON_DISTANCES)
def test_groups_infinitely_far_from_each_other_are_parted(builder):
    tree = with_lengths(random_tree(6, 0.5, 0), 0)
    distance = np.full((12, 12), np.inf)
    distance[:6, :6] = distance[6:, 6:] = path_distances(tree)
    learned = builder(names_of(12), distance).tree
    assert {0b111111 << 6} <= {split.side for split in learned.splits}


# Spectral neighbour joining


def naive_spectral_joining(names, distance):
    """Join the groups whose union has the block with the smallest second singular value, looking at all every time."""
    d = len(names)
    affinity = np.exp(-distance)

    def second(union):
        others = [leaf for leaf in range(d) if leaf not in union]
        return np.linalg.svd(affinity[np.ix_(union, others)], compute_uv=False)[1]

    groups = {leaf: [leaf] for leaf in range(d)}
    edges = []
    for new in range(d, 2 * d - 3):
        i, j = min(combinations(groups, 2), key=lambda pair: second(groups[pair[0]] + groups[pair[1]]))
        edges += [(i, new), (j, new)]
        groups[new] = groups.pop(i) + groups.pop(j)
    return Tree(names, [*edges, *((node, 2 * d - 3) for node in groups)])


@pytest.mark.parametrize("cells_at_once", [1, 60, 2**22])
@pytest.mark.parametrize("d", [4, 5, 6, 9, 14])
def test_spectral_joining_equals_a_naive_twin(d, cells_at_once, monkeypatch):
    monkeypatch.setattr("latree.learners.spectral_joining._CELLS_AT_ONCE", cells_at_once)
    for seed in range(3):
        noisy = noisy_distances(with_lengths(random_tree(d, 0.3, seed), seed), 0.2, seed)
        for distance in (noise(d, seed), noisy):
            learned = spectral_joining(names_of(d), distance).tree
            check_valid(learned, names_of(d))
            assert learned.n_hidden == d - 2
            assert learned.robinson_foulds(naive_spectral_joining(names_of(d), distance)) == 0


@checked
@given(d=st.integers(4, 24), balance=st.floats(0.1, 0.5), seed=st.integers(0, 10**6))
def test_spectral_joining_gives_any_binary_tree_back(d, balance, seed):
    tree = with_lengths(random_tree(d, balance, seed), seed, high=0.5)
    assert spectral_joining(tree.names, path_distances(tree)).tree.robinson_foulds(tree) == 0


def test_spectral_joining_does_not_mind_what_is_added_to_all_distances():
    """It multiplies all affinities; multiplying the distances themselves makes other affinities."""
    changed = 0
    for seed in range(5):
        distance = noise(12, seed)
        tree = spectral_joining(names_of(12), distance).tree
        assert spectral_joining(names_of(12), distance + 1.5).tree.robinson_foulds(tree) == 0
        changed += spectral_joining(names_of(12), 5 * distance).tree.robinson_foulds(tree) > 0
    assert changed


# From tables


@pytest.mark.parametrize("builder", ON_DISTANCES)
@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("balance", [0.5, 0.2])
@pytest.mark.parametrize("n_leaves", [8, 16, 32])
def test_exact_tables_give_the_tree_back(n_leaves, balance, n, builder):
    for seed in range(2):
        tree = random_tree(n_leaves, balance, seed)
        model = random_model(tree, n_states=n, hidden_states=n, start="identity", perturbation=0.2, random_state=seed)
        assert builder(tree.names, log_det(exact_pairs(model))).tree.robinson_foulds(tree) == 0


@pytest.mark.parametrize("method", ["nj", "snj", "spectral", "rg", "clrg", "clnj"])
def test_samples_give_the_tree_back_where_it_is_easy(method):
    tree = random_tree(12, 0.5, 0)
    model = random_model(tree, n_states=3, hidden_states=3, start="identity", perturbation=0.2, random_state=0)
    assert learn_tree(model.sample(20_000, 0), method=method, n_states=3).robinson_foulds(tree) == 0


def noisy_copies(n_columns, n_rows=300, seed=0):
    """Columns of zeros and ones that all follow the same hidden one."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 2, n_rows)
    flipped = rng.random((n_rows, n_columns)) < 0.1
    return np.where(flipped, 1 - hidden[:, None], hidden[:, None]).astype(float)


@pytest.mark.parametrize("n_columns", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_few_columns_are_enough_for_every_method(method, n_columns):
    tree = learn_tree(noisy_copies(n_columns, 3000), method=method, n_states=2, random_state=0)
    assert tree.names == tuple(names_of(n_columns))
    star = [[column, n_columns] for column in range(n_columns)]
    if method == "independent":
        assert len(tree.edges) == tree.n_hidden == 0
    elif method in ("chow-liu", "hw"):
        assert len(tree.edges) == tree.n_nodes - 1
    elif method == "hclt":  # a hidden twin for every column, however few
        assert len(tree.edges) == tree.n_nodes - 1 == 2 * n_columns - 1
        assert {(column, n_columns + column) for column in range(n_columns)} <= set(map(tuple, tree.edges.tolist()))
    else:
        assert sorted(tree.edges.tolist()) == star


def never_together():
    cells = noisy_copies(8)
    cells[:150, :4] = np.nan
    cells[150:, 4:] = np.nan
    return cells


def constant_in_the_overlap():
    cells = noisy_copies(6)
    cells[:150, 0] = np.nan
    cells[150:, 1] = 0
    return cells


def mostly_missing():
    cells = noisy_copies(7, 40)
    cells[np.random.default_rng(0).random(cells.shape) < 0.8] = np.nan
    return cells


@pytest.mark.parametrize("cells", [never_together, constant_in_the_overlap, mostly_missing])
@pytest.mark.parametrize("method", ["nj", "snj", "spectral", "rg", "clrg", "clnj"])
def test_columns_that_say_nothing_about_each_other_give_a_valid_tree(method, cells):
    table = as_table(cells())
    assert np.isinf(pairwise(table, log_det)).any()
    check_valid(learn_tree(table, method=method, n_states=2), table.names)


@pytest.mark.parametrize("method", ["nj", "snj", "spectral", "rg", "clrg", "clnj"])
def test_every_method_tells_two_tables_side_by_side_apart(method):
    tree = learn_tree(never_together(), method=method, n_states=2)
    assert {0b1111 << 4} <= {split.side for split in tree.splits}


@pytest.mark.parametrize("method", ["nj", "snj", "spectral", "rg", "clrg", "clnj"])
def test_columns_of_different_widths_can_be_learned_from(method):
    """States of some columns are parted at random into two or three, of which only spectral@2 takes no notice."""
    tree = random_tree(6, 0.5, 3)
    model = random_model(tree, n_states=2, hidden_states=2, start="identity", perturbation=0.2, random_state=3)
    parts = np.array([1, 2, 1, 3, 2, 1])
    codes = model.sample(20_000, 3).codes() + 2 * np.random.default_rng(0).integers(0, parts, (20_000, 6))
    columns = [
        Column(name, "integer", tuple(map(str, range(2 * n)))) for name, n in zip(tree.names, parts, strict=True)
    ]
    learned = learn_tree(Table.from_codes(columns, codes), method=method, n_states=2)
    check_valid(learned, tree.names)
    if method == "spectral":
        assert learned.robinson_foulds(tree) == 0
