import numpy as np
import pytest

from latree.paper.simulate import perturbed, random_model, random_tree
from latree.tree import Tree

N_ROWS = 50_000
SAMPLING = {"rtol": 0, "atol": 0.015}  # more than six standard deviations of a frequency in N_ROWS rows
EXACT = {"rtol": 0, "atol": 1e-12}


def follows(n, k):
    """The table in which state h goes with state h modulo n."""
    return np.array([[float(h % n == x) for h in range(k)] for x in range(n)])


def frequencies(states, n_states):
    counts = np.zeros(n_states)
    np.add.at(counts, tuple(states.T), 1)
    return counts / len(states)


@pytest.mark.parametrize("balance", [0.0, 0.05, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n_leaves", [*range(3, 13), 31, 32, 64])
def test_random_trees_are_binary(n_leaves, balance):
    for seed in range(3):
        tree = random_tree(n_leaves, balance, seed)
        assert tree.names == tuple(f"x{i}" for i in range(n_leaves))
        assert len(tree.edges) == tree.n_nodes - 1 == 2 * n_leaves - 3
        assert [len(pairs) for pairs in tree.neighbors] == [1] * n_leaves + [3] * (n_leaves - 2)


@pytest.mark.parametrize("n_leaves", [-1, 0, 2])
def test_a_random_tree_needs_three_leaves(n_leaves):
    with pytest.raises(ValueError, match="at least three leaves"):
        random_tree(n_leaves)


def test_random_trees_follow_their_seed():
    trees = [random_tree(16, 0.3, seed) for seed in range(20)]
    for seed, tree in enumerate(trees):
        np.testing.assert_array_equal(tree.edges, random_tree(16, 0.3, seed).edges)
        np.testing.assert_array_equal(tree.edges, random_tree(16, 0.3, np.random.default_rng(seed)).edges)
    assert all(one.robinson_foulds(two) > 0 for i, one in enumerate(trees) for two in trees[:i])


def test_balance_controls_depth():
    def longest_paths(balance):
        return [random_tree(64, balance, seed).path_lengths().max() for seed in range(5)]

    assert longest_paths(0.5) == [11] * 5, "64 leaves in six halvings, less the first split's node"
    assert longest_paths(0.0) == longest_paths(1.0) == [63] * 5, "a caterpillar"
    assert min(longest_paths(0.2)) > 15
    assert max(longest_paths(0.2)) < min(longest_paths(0.05))


@pytest.mark.parametrize("start", ["independent", "identity"])
def test_models_start_as_documented(start):
    tree = random_tree(12, 0.4, 0)
    model = random_model(tree, n_states=4, hidden_states=(2, 7), start=start, perturbation=0, random_state=1)
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        table = model.tables[node]
        identity = parent >= 0 and (node < tree.n_observed or start == "identity")
        expected = follows(*table.shape) if identity else np.full(table.shape, 1 / len(table))
        np.testing.assert_allclose(table, expected, **EXACT)


def test_a_hidden_variable_below_a_column_starts_as_the_identity():
    tree = Tree("abcde", [(5, 0), (5, 1), (5, 2), (0, 6), (6, 3), (6, 4)])
    assert tree.rooted().parent[6] == 0
    model = random_model(tree, n_states=4, hidden_states=3, start="independent", perturbation=0, random_state=0)
    np.testing.assert_allclose(model.tables[6], follows(3, 4), **EXACT)


@pytest.mark.parametrize("start", ["independent", "identity"])
def test_perturbed_tables_are_distributions_near_their_start(start):
    tree = random_tree(12, 0.4, 0)
    model = random_model(tree, n_states=5, start=start, perturbation=0.25, random_state=2)
    for table in model.tables:
        assert (table > 0).all()
        np.testing.assert_allclose(table.sum(axis=0), 1, **EXACT)
    for table in model.tables[: tree.n_observed]:
        ones = follows(*table.shape) == 1
        scale = np.broadcast_to(table[ones.argmax(axis=0), np.arange(table.shape[1])], table.shape)
        assert (table[~ones] < 0.25 * scale[~ones]).all()


def test_noise_is_added_and_columns_are_divided_by_their_sum():
    table = np.array([[1.0, 0.5], [0.0, 0.5], [0.0, 0.0]])
    noisy = table + np.random.default_rng(3).uniform(0, 0.5, size=(3, 2))
    expected = [[noisy[i, h] / noisy[:, h].sum() for h in range(2)] for i in range(3)]
    np.testing.assert_allclose(perturbed(table, 0.5, np.random.default_rng(3)), expected, **EXACT)
    wide = perturbed(np.zeros((1000, 2)), 0.5, np.random.default_rng(3)) * 1000
    np.testing.assert_allclose(wide.max(axis=0), 2, rtol=0.1, atol=0)
    assert wide.min() < 0.05


def test_hidden_states_are_drawn_within_the_range():
    tree = random_tree(64, 0.5, 0)
    drawn = random_model(tree, n_states=3, hidden_states=(2, 5), random_state=0).n_states
    assert set(drawn[:64].tolist()) == {3}
    assert set(drawn[64:].tolist()) == {2, 3, 4, 5}
    default = random_model(tree, random_state=0).n_states
    assert set(default[:64].tolist()) == {10}
    assert set(default[64:].tolist()) == set(range(2, 9))


@pytest.mark.parametrize(("given", "wanted"), [(3, [3, 3, 3]), ([2, 3, 4], [2, 3, 4]), ((4, 3, 2), [4, 3, 2])])
def test_hidden_states_can_be_given(given, wanted):
    model = random_model(random_tree(5, 0.5, 0), n_states=2, hidden_states=given, random_state=0)
    assert model.n_states.tolist() == [2] * 5 + wanted


def test_models_follow_their_seed():
    tree = random_tree(8, 0.5, 0)
    one, again, other = (random_model(tree, random_state=seed) for seed in (4, 4, 5))
    for table, same in zip(one.tables, again.tables, strict=True):
        np.testing.assert_array_equal(table, same)
    assert all(
        a.shape != b.shape or not np.allclose(a, b, **EXACT) for a, b in zip(one.tables, other.tables, strict=True)
    )


MODELS = {
    "binary": random_model(random_tree(8, 0.4, 0), n_states=3, hidden_states=(2, 4), start="identity", random_state=0),
    "skewed": random_model(random_tree(9, 0.1, 1), n_states=4, hidden_states=3, random_state=1),
    "forest": random_model(Tree.from_newick("(a,b,(c,d));(e,f);g;"), n_states=3, hidden_states=2, random_state=2),
    "chain": random_model(Tree.from_newick("(a,(c,(d,(g,h))e)b);"), n_states=3, hidden_states=2, random_state=3),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_sample_frequencies_are_the_marginals(model):
    states = model.sample_all(N_ROWS, 0)
    for node, (name, marginal) in enumerate(model.marginals().items()):
        found = np.bincount(states[:, node], minlength=len(marginal)) / N_ROWS
        np.testing.assert_allclose(found, marginal, **SAMPLING, err_msg=name)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_sample_frequencies_are_the_joint_distribution(model):
    states = model.sample_all(N_ROWS, 1)
    rng = np.random.default_rng(0)
    for size in (2, 2, 3, 3, 4):
        nodes = rng.permutation(model.tree.n_nodes)[:size]
        found = frequencies(states[:, nodes], model.n_states[nodes])
        np.testing.assert_allclose(found, model.joint(nodes.tolist()), **SAMPLING, err_msg=str(nodes))


def test_a_sample_is_the_observed_part_and_follows_its_seed():
    model = MODELS["binary"]
    table = model.sample(3000, 7)
    assert table.columns == model.columns
    np.testing.assert_array_equal(table.codes(), model.sample_all(3000, 7)[:, : model.tree.n_observed])
    assert (table.codes() != model.sample(3000, 8).codes()).any()


def test_states_without_probability_are_never_drawn():
    tree = Tree.from_newick("(a,b,c);")
    model = random_model(tree, n_states=3, hidden_states=2, perturbation=0, random_state=0)
    codes = model.sample(5000, 0).codes()
    np.testing.assert_array_equal(codes[:, 0], codes[:, 1])
    assert set(codes.ravel().tolist()) == {0, 1}
