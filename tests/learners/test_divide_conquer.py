from functools import partial

import numpy as np
import pytest

from helpers.strategies import path_distances, with_lengths
from latree._util.progress import reported_to
from latree.counts.contingency import quartet_tables
from latree.counts.quartets import Pairings, four_point_test, nuclear_test
from latree.learn import learn_tree
from latree.learners.divide_conquer import _GrowingTree, divide_and_conquer
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree


def caterpillar(n):
    return Tree.from_newick("(" * (n - 1) + "x0,x1" + "".join(f"),x{i}" for i in range(2, n)) + ");")


def oracle_build(tree, nearest, seed):
    lengths = tree.path_lengths()
    distance = lengths.astype(float) if nearest else None
    return divide_and_conquer(tree.names, four_point_test(lengths), distance=distance, random_state=seed)


@pytest.mark.parametrize("nearest", [False, True])
@pytest.mark.parametrize("balance", [0.5, 0.2, 0.05])
@pytest.mark.parametrize("n_leaves", [4, 5, 6, 7, 8, 11, 16, 23, 32, 64, 128])
def test_an_oracle_gives_the_true_tree(n_leaves, balance, nearest):
    for seed in range(5):
        tree = random_tree(n_leaves, balance, seed)
        built = oracle_build(tree, nearest, seed)
        assert built.tree.robinson_foulds(tree) == 0
        assert built.tree.n_hidden == n_leaves - 2


def tree_of(shape, n_leaves):
    return (
        caterpillar(n_leaves)
        if shape == "caterpillar"
        else random_tree(n_leaves, 0.5 if shape == "balanced" else 0.2, 0)
    )


@pytest.mark.parametrize("shape", ["balanced", "skewed", "caterpillar"])
@pytest.mark.parametrize("n_leaves", [16, 64, 256, 1024, 2048])
def test_tests_grow_as_d_log_d(n_leaves, shape):
    tree = tree_of(shape, n_leaves)
    built = oracle_build(tree, nearest=False, seed=1)
    assert built.tree.robinson_foulds(tree) == 0
    assert built.facts["quartet_tests"] <= n_leaves * np.log2(n_leaves)


@pytest.mark.parametrize("nearest", [False, True])
@pytest.mark.parametrize("shape", ["balanced", "skewed", "caterpillar"])
def test_rounds_grow_as_a_power_of_log_d(shape, nearest):
    rounds = []
    sizes = (256, 1024)
    for n_leaves in sizes:
        tree = tree_of(shape, n_leaves)
        lengths = with_lengths(tree, 0)
        distance = path_distances(lengths) if nearest else None
        built = divide_and_conquer(tree.names, four_point_test(tree.path_lengths()), distance=distance, random_state=1)
        assert built.tree.robinson_foulds(tree) == 0
        rounds.append(built.facts["quartet_rounds"])
    assert np.diff(rounds)[0] < 5 * np.diff(np.log2(sizes) ** 2)[0]


@pytest.mark.parametrize("answer", [0, 1, 2, "random"])
def test_whatever_the_test_says_a_binary_tree_comes_out(answer):
    rng = np.random.default_rng(0)

    def stubborn(quartets):
        assert all(len(set(quartet)) == 4 for quartet in quartets.tolist())
        size = len(quartets)
        pairing = rng.integers(3, size=size) if answer == "random" else np.full(size, answer)
        return Pairings(pairing, np.zeros(size), np.ones(size, dtype=bool))

    for n_leaves in (4, 9, 40, 200):
        built = divide_and_conquer([f"x{i}" for i in range(n_leaves)], stubborn, random_state=n_leaves)
        assert built.tree.non_binary_features() == {}
        assert built.tree.n_hidden == n_leaves - 2


def test_many_leaves_are_asked_about_in_a_round():
    tree = random_tree(400, 0.4, 0)
    oracle = four_point_test(tree.path_lengths())
    asked = []

    def counting(quartets):
        asked.append(quartets)
        return oracle(quartets)

    built = divide_and_conquer(tree.names, counting, random_state=0)
    assert built.facts == {"quartet_tests": sum(map(len, asked)), "quartet_rounds": len(asked)}
    assert max(map(len, asked)) > 60
    for quartets in asked:
        assert len(set(quartets[:, 0].tolist())) == len(quartets)


def test_near_relatives_are_not_in_one_batch():
    tree = with_lengths(random_tree(300, 0.5, 0), 0)
    distance = path_distances(tree)
    oracle = four_point_test(distance)
    placed, batch, sizes = set(), [], []

    def watching(quartets):
        new, others = set(quartets[:, 0].tolist()), set(quartets[:, 1:].ravel().tolist())
        if not new <= set(batch):  # a new batch, all of which ask at the first node
            placed.update(batch)
            batch[:] = quartets[:, 0].tolist()
            sizes.append(len(batch))
            if placed:
                for place, leaf in enumerate(batch):
                    third = np.sort(distance[leaf, sorted(placed)])[2] if len(placed) > 2 else np.inf
                    assert all(distance[leaf, other] >= third for other in batch[:place])
        placed.update(others - new)
        return oracle(quartets)

    assert divide_and_conquer(tree.names, watching, distance=distance, random_state=0).tree.robinson_foulds(tree) == 0
    assert max(sizes) > 20


def grown(n_leaves, seed, at_once):
    """Make a tree by putting leaves on random edges, several at once."""
    rng = np.random.default_rng(seed)
    tree = _GrowingTree(n_leaves, rng.permutation(3))
    while tree.n_leaves < n_leaves:
        edges = rng.permutation(np.flatnonzero(tree.parent >= 0))[: min(at_once, n_leaves - tree.n_leaves)]
        tree.insert(np.arange(tree.n_leaves, tree.n_leaves + len(edges)), edges)
    return tree


@pytest.mark.parametrize("at_once", [1, 3])
@pytest.mark.parametrize("n_leaves", [4, 8, 16, 33, 100])
def test_a_plan_leads_to_every_edge_within_a_logarithm_of_tests(n_leaves, at_once):
    for seed in range(5):
        tree = grown(n_leaves, seed, at_once)
        first, onward = tree.search_plan()
        found, places = [], [first]
        for _ in range(int(np.ceil(np.log2(n_leaves - 1)))):
            following = onward[places].ravel()
            found += (~following[following < 0]).tolist()
            places = following[following >= 0]
        assert len(places) == 0
        assert sorted(found) == np.flatnonzero(tree.parent >= 0).tolist()


@pytest.mark.parametrize("at_once", [1, 3])
def test_a_plan_goes_on_in_the_branch_that_was_chosen(at_once):
    tree = grown(40, 1, at_once)
    _, onward = tree.search_plan()
    below = {node: set(tree.order[tree.start[node] :][: tree.size[node]].tolist()) for node in range(len(tree.parent))}
    for node in range(40, len(tree.parent)):
        left, right, above = map(set, tree.branches(node))
        for branch, following in zip((left, right), onward[node], strict=False):
            assert below[~following if following < 0 else following] <= branch
        following = ~onward[node, 2] if onward[node, 2] < 0 else onward[node, 2]
        assert not below[following] <= left
        assert not below[following] <= right
        assert above


def path(rooted, u, v):
    ups = []
    for node in (u, v):
        up = [node]
        while rooted.parent[up[-1]] >= 0:
            up.append(int(rooted.parent[up[-1]]))
        ups.append(up)
    common = next(node for node in ups[0] if node in set(ups[1]))
    return [*ups[0][: ups[0].index(common)], common, *ups[1][: ups[1].index(common)][::-1]]


def lemma_applies(model, quartet, pairing):
    """Whether the perturbation of P_HG is within the bound of lemma `le:deltacondition`."""
    order = ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2))[pairing]
    x1, x2, x3, x4 = (quartet[i] for i in order)
    rooted = model.tree.rooted()
    across = path(rooted, x1, x3)
    h = next(node for node in reversed(across) if node in path(rooted, x1, x2))
    g = next(node for node in across if node in path(rooted, x3, x4))
    p_hg, p12, p34 = model.joint([h, g]), model.joint([x1, x2]), model.joint([x3, x4])
    delta = p_hg - np.outer(p_hg.sum(axis=1), p_hg.sum(axis=0))
    norms = [np.linalg.norm(p12, kind) * np.linalg.norm(p34, kind) for kind in ("nuc", "fro")]
    k = max(p_hg.shape)
    return np.linalg.norm(delta) <= (norms[0] - norms[1]) / (k**2 + k)


@pytest.mark.parametrize("nearest", [False, True])
@pytest.mark.parametrize("balance", [0.5, 0.2])
def test_algorithm_1_is_right_on_exact_tables_where_the_lemma_applies(balance, nearest):
    """A quartet within the lemma's bound is answered rightly; a tree all of whose quartets are comes out true."""
    within = trees_within = 0
    for seed in range(30):
        tree = random_tree(4 + seed % 5, balance, seed)
        model = random_model(tree, n_states=3, hidden_states=2, perturbation=0.1, random_state=seed)
        truth = four_point_test(tree.path_lengths())
        test = nuclear_test(model.quartet_tables, 3)
        applies = []

        def watched(quartets, truth=truth, test=test, model=model, applies=applies):
            answer, right = test(quartets), truth(quartets).pairing
            applies.append(lemma_applies(model, quartets[0].tolist(), int(right[0])))
            assert not applies[-1] or answer.pairing[0] == right[0]
            return answer

        distance = tree.path_lengths().astype(float) if nearest else None
        built = divide_and_conquer(tree.names, watched, distance=distance, random_state=seed)
        within += sum(applies)
        if all(applies):
            trees_within += 1
            assert built.tree.robinson_foulds(tree) == 0
    assert within >= 60
    assert trees_within >= 8


@pytest.mark.parametrize("n_leaves", [4, 8, 16, 32])
def test_exact_tables_of_a_balanced_tree_give_it_back(n_leaves):
    tree = random_tree(n_leaves, 0.5, 2)
    model = random_model(tree, n_states=3, hidden_states=2, start="identity", perturbation=0.05, random_state=2)
    distance = tree.path_lengths().astype(float)
    built = divide_and_conquer(tree.names, nuclear_test(model.quartet_tables, 3), distance=distance, random_state=2)
    assert built.tree.robinson_foulds(tree) == 0


def test_samples_give_the_true_tree_where_it_is_easy():
    tree = random_tree(12, 0.5, 0)
    table = random_model(tree, n_states=4, hidden_states=3, start="identity", perturbation=0.1, random_state=0).sample(
        20_000, 0
    )
    assert learn_tree(table, method="tensor", random_state=0).robinson_foulds(tree) == 0


def test_nearest_representatives_are_better_than_random_ones():
    distances = {"nearest": 0, "random": 0}
    for seed in range(4):
        tree = random_tree(16, 0.5, seed)
        table = random_model(tree, start="identity", perturbation=0.2, random_state=seed).sample(1000, seed)
        for representatives in distances:
            learned = learn_tree(table, method="tensor", representatives=representatives, random_state=seed)
            distances[representatives] += learned.robinson_foulds(tree)
    assert distances["nearest"] < 0.7 * distances["random"]


def test_the_nearest_leaf_of_each_branch_is_asked():
    tree = caterpillar(8)
    lengths = tree.path_lengths()
    oracle = four_point_test(lengths)
    chosen = []

    def watching(quartets):
        chosen.append(quartets[0].tolist())
        return oracle(quartets)

    divide_and_conquer(tree.names, watching, distance=lengths.astype(float), random_state=0)
    leaf, *representatives = chosen[-1]
    assert lengths[leaf, representatives].min() == np.delete(lengths[leaf], leaf).min()


def test_the_seed_decides():
    tree = random_tree(16, 0.5, 0)
    table = random_model(tree, random_state=0).sample(200, 0)
    newicks = [learn_tree(table, method="tensor", random_state=seed).to_newick() for seed in (1, 1, 2, 3)]
    assert newicks[0] == newicks[1]
    assert len(set(newicks)) > 1


@pytest.mark.parametrize("n_leaves", [1, 2, 3])
def test_few_leaves_take_no_test(n_leaves):
    built = divide_and_conquer([f"x{i}" for i in range(n_leaves)], pytest.fail)
    assert built.tree.n_hidden == (n_leaves > 1)
    assert built.facts == {"quartet_tests": 0, "quartet_rounds": 0}


def test_progress_counts_leaves():
    tree = random_tree(9, 0.5, 0)
    seen = []
    with reported_to(lambda *numbers: seen.append(numbers)):
        divide_and_conquer(tree.names, four_point_test(tree.path_lengths()), random_state=0)
    assert seen == [(leaves, 9) for leaves in range(4, 10)]


def test_permuting_columns_changes_nothing_but_the_order():
    """With a test that is right about every quartet, names alone decide where a leaf ends up."""
    tree = random_tree(20, 0.4, 5)
    names = list(np.random.default_rng(0).permutation(tree.names))
    other = tree.reordered(names)
    assert oracle_build(other, False, 3).tree.robinson_foulds(oracle_build(tree, True, 4).tree) == 0


def test_a_table_is_counted_through_the_test():
    tree = random_tree(6, 0.5, 0)
    table = random_model(tree, n_states=3, hidden_states=2, start="identity", perturbation=0.1, random_state=0).sample(
        5000, 0
    )
    test = nuclear_test(partial(quartet_tables, table), 3)
    quartets = np.array([[0, 1, 2, 3], [5, 4, 3, 2]])
    truth = four_point_test(tree.path_lengths())(quartets)
    np.testing.assert_array_equal(test(quartets).pairing, truth.pairing)


@pytest.mark.parametrize("at_once", [1, 4])
def test_branches_part_all_leaves(at_once):
    tree = grown(30, 0, at_once)
    nodes = np.arange(30, len(tree.parent))
    for node, sizes in zip(nodes, tree.branch_sizes(nodes), strict=True):
        branches = tree.branches(node)
        assert sorted(np.concatenate(branches).tolist()) == list(range(30))
        assert sizes.tolist() == [len(branch) for branch in branches]
        numbers = np.array(list(np.ndindex(*sizes)))
        found = tree.leaves_of_branches(np.full(len(numbers), node), numbers)
        for branch, leaves in zip(branches, found.T, strict=True):
            assert set(branch.tolist()) == set(leaves.tolist())


class InOrder(np.random.Generator):
    """Inserts leaves as they come; everything else is random."""

    def permutation(self, n):
        return np.arange(n)


def test_random_representatives_are_random():
    tree = random_tree(12, 0.5, 0)
    oracle = four_point_test(tree.path_lengths())
    asked = {}
    for seed in range(2):

        def watching(quartets, seed=seed):
            asked.setdefault(seed, []).append(quartets[0].tolist())
            return oracle(quartets)

        divide_and_conquer(tree.names, watching, random_state=InOrder(np.random.PCG64(seed)))
    assert asked[0] != asked[1]
