"""Trees of resampled rows, the support that they give, and what most of them agree on."""

from collections import Counter
from itertools import combinations

import dendropy
import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import bare, contracted, graph_of, same_graph, several_trees
from latree._util.progress import reported_to
from latree.errors import InputError
from latree.learn import learn_model
from latree.learners import support
from latree.learners.methods import METHODS
from latree.learners.structure import Replicate
from latree.learners.support import bootstrap_trees, consensus, found_again, transfer_support, with_support
from latree.paper.simulate import random_model, random_tree
from latree.settings import Settings
from latree.table import Column, Table, as_table
from latree.tree import Split, Tree

checked = settings(deadline=None, derandomize=True, max_examples=100)

STAR = Tree("abcd", [(i, 4) for i in range(4)])
QUARTET = Tree("abcd", [(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)])


def numbered(n_rows, weights=None):
    """A table whose first column tells the rows apart."""
    codes = np.column_stack([np.arange(n_rows), np.arange(n_rows) % 2])
    columns = [Column(name, "integer", tuple(map(str, range(n)))) for name, n in (("row", n_rows), ("parity", 2))]
    return Table.from_codes(columns, codes, weights)


def drawn(table, replicates, seed=0, **options):
    """How often each row is drawn, one row a replicate."""
    seen = []

    def learn(resampled, rng):
        codes, weights, *_ = resampled.rows.fetch(np.arange(resampled.n_rows))
        times = np.zeros(table.n_rows)
        times[codes[:, 0]] = weights
        assert resampled.columns == table.columns
        assert (codes[:, 1] == codes[:, 0] % 2).all()  # rows stay whole
        seen.append((int(rng.integers(2**31)), times))
        return Tree(table.names, [(0, 1)])

    trees = bootstrap_trees(table, learn, replicates, seed, **options)
    assert len(trees) == len(seen) == replicates
    return np.array([times for _, times in sorted(seen, key=lambda found: found[0])])


def simulated(n_leaves=6, n_rows=60):
    model = random_model(random_tree(n_leaves, 0.5, 0), n_states=3, random_state=0)
    return model.sample(n_rows, 0)


# Drawing rows


def test_every_replicate_has_as_many_rows_as_the_table():
    times = drawn(numbered(40), 7)
    assert times.shape == (7, 40)
    np.testing.assert_array_equal(times.sum(axis=1), 40)
    assert (times > 1).any(axis=1).all()
    assert len({tuple(row) for row in times.tolist()}) == 7


def test_rows_are_drawn_in_proportion_to_their_weights():
    weights = np.arange(20) % 4 * 1.5
    times = drawn(numbered(20, weights), 400)
    np.testing.assert_array_equal(times.sum(axis=1), weights.sum())
    assert not times[:, weights == 0].any()
    np.testing.assert_allclose(times.mean(axis=0)[weights > 0], weights[weights > 0], rtol=0.3)
    np.testing.assert_allclose(times.mean(axis=0)[weights == 1.5].mean(), 1.5, rtol=0.1)


@pytest.mark.parametrize(("weight", "size"), [(0.01, 1), (0.26, 5), (3.0, 60)])
def test_the_size_is_the_sum_of_the_weights_and_at_least_one(weight, size):
    np.testing.assert_array_equal(drawn(numbered(20, np.full(20, weight)), 3).sum(axis=1), size)


def test_the_seed_decides_each_replicate_for_itself():
    one, two, more, other = (drawn(numbered(30), n, seed) for n, seed in ((4, 1), (4, 1), (9, 1), (4, 2)))
    np.testing.assert_array_equal(one, two)
    assert {tuple(row) for row in one.tolist()} < {tuple(row) for row in more.tolist()}
    assert not {tuple(row) for row in one.tolist()} & {tuple(row) for row in other.tolist()}


def test_trees_come_in_the_order_of_their_replicates(monkeypatch):
    def learn(table, rng):
        return Tree([f"x{int(rng.integers(2**31))}"], [])

    trees = {}
    for threads in (1, 4):
        monkeypatch.setattr("latree.learners.support.n_threads", lambda threads=threads: threads)
        trees[threads] = [tree.names for tree in bootstrap_trees(numbered(30), learn, 20, 3)]
    assert trees[1] == trees[4]
    assert len(set(trees[1])) == 20


def test_progress_is_told_after_every_replicate():
    told = []
    table = numbered(10)
    with reported_to(lambda *numbers: told.append(numbers)):
        drawn(table, 5)
    assert told == [(done, 5) for done in range(1, 6)]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_from_resampled_rows(method):
    """Even where a column is constant in most replicates."""
    codes = simulated().codes()
    codes[:, 0] = np.arange(60) == 0
    settings = Settings(method, n_states=2, smoothing=0.1, bootstrap=2, random_state=0)
    one = learn_model(as_table(codes), settings)
    if method in ("auto", "nj", "tensor"):
        two = learn_model(as_table(codes), settings)
        assert one.consensus.to_newick() == two.consensus.to_newick()
        assert one.summary["support"] == two.summary["support"]
    tree = one.model.tree
    assert [not np.isnan(share) for share in tree.support] == [split in tree.splits for split in tree.edge_splits]
    assert set(one.summary["support"].values()) <= {0, 0.5, 1}


# Support


def naive_sides(tree, edge):
    """The names on the two sides of an edge."""
    graph = graph_of(tree)
    u, v = tree.edges[edge].tolist()
    graph.remove_edge(u, v)
    return [
        frozenset(tree.names[node] for node in networkx.node_connected_component(graph, end) if node < tree.n_observed)
        for end in (u, v)
    ]


def naive_splits(tree):
    found = {frozenset(naive_sides(tree, edge)) for edge in range(len(tree.edges))}
    return {sides for sides in found if len(sides) == 2 and min(map(len, sides)) > 1}


@checked
@given(several_trees(4, forest=False), st.randoms())
def test_support_is_the_share_of_trees_with_the_same_sides(trees, random):
    tree, *others = trees
    others = [other.reordered(random.sample(other.names, len(other.names))) for other in others]
    found = with_support(tree, others)
    assert same_graph(bare(found), bare(tree))
    np.testing.assert_array_equal(found.lengths, tree.lengths)
    for edge, share in enumerate(found.support.tolist()):
        sides = naive_sides(tree, edge)
        if min(map(len, sides)) < 2:
            assert np.isnan(share)
        else:
            assert share == np.mean([frozenset(sides) in naive_splits(other) for other in others])


def test_support_keeps_lengths_and_takes_the_place_of_old_support():
    tree = Tree(QUARTET.names, QUARTET.edges, [1, 2, 3, 4, 5], [0.1] * 5)
    found = with_support(tree, [QUARTET, STAR, STAR, QUARTET.reordered("dcba")])
    np.testing.assert_array_equal(found.lengths, tree.lengths)
    np.testing.assert_array_equal(found.support, [np.nan, np.nan, 0.5, np.nan, np.nan])


def test_a_forest_supports_what_it_does_to_its_own_components():
    tree = Tree.from_newick("((a,b),(c,d),(e,f));")
    halves = Tree.from_newick("((a,b),(c,d)); (e,f);")  # parts ab from cd, and leaves open where ef hangs
    shares = {}
    for edge, share in enumerate(with_support(tree, [halves]).support.tolist()):
        if not np.isnan(share):
            shares[min(naive_sides(tree, edge), key=len)] = share
    assert shares == {frozenset("ab"): 1, frozenset("cd"): 1, frozenset("ef"): 0}


# Transfer support


def naive_transfer(tree, edge, other):
    """Try all sets of variables that change sides, the smallest first, until the other tree has the split."""
    side, rest = naive_sides(tree, edge)
    variables = side | rest
    parts = [part for e in range(len(other.edges)) for part in naive_sides(other, e)]
    parts += [
        {other.names[node] for node in component if node < other.n_observed}
        for component in networkx.connected_components(graph_of(other))
    ]
    known = {frozenset(part & variables) for part in map(frozenset, parts)} | {frozenset([one]) for one in variables}
    for moves in range(len(variables)):
        for moved in combinations(variables, moves):
            changed = side.symmetric_difference(moved)
            if changed in known or variables - changed in known:
                return 1 - moves / (min(len(side), len(rest)) - 1)
    raise AssertionError


@checked
@given(several_trees(3), st.randoms(), st.sampled_from([1, 3, 64]))
def test_transfer_support_is_the_share_of_variables_that_keep_their_sides(trees, random, small_side):
    tree, *others = trees
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(support, "_SMALL_SIDE", small_side)  # small and large sides are compared in different ways
        mixed = [other.reordered(random.sample(other.names, len(other.names))) for other in others]
        found = transfer_support(tree, mixed)
    for edge, share in enumerate(found.tolist()):
        if min(map(len, naive_sides(tree, edge))) < 2:
            assert np.isnan(share)
        else:
            assert share == pytest.approx(np.mean([naive_transfer(tree, edge, other) for other in others]))


@pytest.mark.parametrize("seed", range(3))
def test_between_trees_transfer_support_is_one_for_the_same_splits_alone(seed):
    tree, *others = random_trees(70, 4, seed, 0.2)
    shares = [transfer_support(tree, [other]) for other in others]
    exact = [with_support(tree, [other]).support for other in others]
    for share, same in zip(shares, exact, strict=True):
        np.testing.assert_array_equal(np.isnan(share), np.isnan(same))
        np.testing.assert_array_equal(share[~np.isnan(share)] == 1, same[~np.isnan(share)] == 1)
    np.testing.assert_allclose(transfer_support(tree, others), np.mean(shares, axis=0))
    assert np.nanmin(shares) < 1


def test_a_part_that_is_independent_is_apart_from_the_rest():
    tree = Tree.from_newick("((a,b,c),(d,e,f));")
    halves, nothing = Tree.from_newick("(a,b,c); (d,e,f);"), Tree("abcdef", [])
    assert np.nanmax(transfer_support(tree, [halves])) == 1
    assert np.nanmax(transfer_support(tree, [nothing])) == 0


def test_sides_of_all_sizes_have_the_same_transfer_support_either_way(monkeypatch):
    tree, *others = random_trees(300, 3, 5, 0.3)
    found = []
    for small_side in (1, 20, 300):
        monkeypatch.setattr(support, "_SMALL_SIDE", small_side)
        found.append(transfer_support(tree, others))
    assert np.nanmin(found) < 1
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_transfer_support_needs_another_tree():
    with pytest.raises(InputError, match="at least one other tree"):
        transfer_support(STAR, [])


# Consensus


def random_trees(d, number, seed, share=0.0):
    """Trees that are alike but for a few exchanged names."""
    rng = np.random.default_rng(seed)
    base = random_tree(d, 0.4, seed)
    found = []
    for _ in range(number):
        names = list(base.names)
        for _ in range(int(rng.integers(0, 3))):
            i, j = rng.choice(d, 2, replace=False)
            names[i], names[j] = names[j], names[i]
        tree = Tree(names, contracted(base, share, rng).edges)
        found.append(tree.reordered(list(rng.permutation(base.names))))
    return found


def check_majority(trees):
    found = consensus(trees)
    counts = Counter(sides for tree in trees for sides in naive_splits(tree))
    assert naive_splits(found) == {sides for sides, count in counts.items() if count > len(trees) / 2}
    assert found.names == trees[0].names
    assert all(len(near) == 1 for near in found.neighbors[: found.n_observed])
    assert len(found.edges) == found.n_nodes - 1
    assert all(len(near) > 2 for near in found.neighbors[found.n_observed :]) or found.n_observed == 2
    for edge, share in enumerate(found.support.tolist()):
        sides = naive_sides(found, edge)
        if min(map(len, sides)) < 2:
            assert np.isnan(share)
        else:
            assert share == pytest.approx(counts[frozenset(sides)] / len(trees))
    return found


@pytest.mark.parametrize("number", [2, 3, 6, 7])
@pytest.mark.parametrize("seed", range(5))
def test_the_consensus_has_what_more_than_half_of_the_trees_have(seed, number):
    found = check_majority(random_trees(4 + 3 * seed, number, seed, 0.2))
    assert seed < 2 or found.n_hidden > 1


@checked
@given(several_trees(3, forest=False).filter(lambda trees: trees[0].n_observed > 1))
def test_the_consensus_of_any_trees(trees):
    """Columns that are inner nodes become leaves."""
    check_majority(trees)


@pytest.mark.parametrize("seed", range(10))
def test_dendropy_finds_the_same_consensus(seed):
    trees = random_trees(12, 7, seed, 0.1)
    taxa = dendropy.TaxonNamespace(trees[0].names)
    listed = dendropy.TreeList(taxon_namespace=taxa)
    for tree in trees:
        listed.read(data=tree.to_newick(), schema="newick", rooting="force-unrooted")
    judge = listed.consensus(min_freq=0.5).as_string(schema="newick", suppress_edge_lengths=True)
    judge = Tree.from_newick(judge.removeprefix("[&U] "))
    found = consensus(trees)
    assert naive_splits(found) == naive_splits(judge)
    assert len(found.splits) > 2


@pytest.mark.parametrize("seed", range(5))
def test_the_consensus_of_one_tree_or_of_equal_ones_is_that_tree(seed):
    tree = contracted(random_tree(10, 0.4, seed), 0.3, seed)
    for trees in ([tree], [tree] * 3):
        found = consensus(trees)
        assert same_graph(bare(found), tree)
        assert [not np.isnan(share) for share in found.support] == [s in found.splits for s in found.edge_splits]
        assert np.nanmin(found.support) == 1


def test_the_consensus_is_a_star_where_nothing_agrees():
    trees = [Tree(names, QUARTET.edges) for names in ("abcd", "acbd", "adbc")]
    assert same_graph(consensus(trees), STAR)
    assert same_graph(consensus(trees[:2]), STAR)  # half is no majority
    assert consensus([*trees, trees[1]]).splits == frozenset()
    assert consensus([*trees, trees[1], trees[1]]).robinson_foulds(trees[1]) == 0


@pytest.mark.parametrize(
    ("text", "edges"), [("a;", []), ("(a,b);", [(0, 2), (1, 2)]), ("(a,b,c);", [(0, 3), (1, 3), (2, 3)])]
)
def test_the_consensus_over_few_variables(text, edges):
    tree = Tree.from_newick(text)
    assert same_graph(consensus([tree] * 2), Tree(tree.names, edges))


def test_a_consensus_of_nothing_or_of_different_variables_is_refused():
    with pytest.raises(InputError, match="at least one tree"):
        consensus([])
    with pytest.raises(InputError, match="different variables"):
        consensus([STAR, Tree("abc", [(i, 3) for i in range(3)])])


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # What is by itself in most trees is by itself, and the others have what they agree on.
        (["((a,b),(c,d),e); f;"] * 2 + ["((a,b),(c,d),(e,f));"], "((a,b)1,(c,d)1,e); f;"),
        (
            ["((a,b),(c,d)); e; f;", "((a,b),(c,d)); e; f;", "((a,c),(b,d)); e; f;"],
            "((a,b)0.6666666666666666,c,d);e;f;",
        ),
        (["((a,b),(c,d)); (e,f);"] * 3, "((a,b)1,c,d); (e,f);"),
        # No tree has just this component.
        (
            ["x; y; (a,((b,c),d),(e,f));", "a; y; (x,((b,c),d),(e,f));", "a; x; (y,((b,c),d),(e,f));"],
            "a; x; y; ((b,c)1,d,(e,f)1);",
        ),
        (["a; b; c;", "(a,b,c);"], "a; b; c;"),
        (["a; b; c;", "(a,b,c);", "(a,b); c;"], "(a,b); c;"),
        # The forests leave open how their halves hang together: they imply abef|cdgh as well as abgh|cdef.
        (
            ["((a,b),(c,d)); ((e,f),(g,h));"] * 3 + ["((a,b,e,f),(c,d,g,h));"] * 3 + ["((a,b,g,h),(c,d,e,f));"],
            "((a,b,e,f)0.8571428571428571,c,d,g,h);",
        ),
    ],
)
def test_the_consensus_of_forests(texts, expected):
    found = consensus([Tree.from_newick(text) for text in texts])
    expected = Tree.from_newick(expected).reordered(found.names)
    assert same_graph(bare(found), bare(expected))
    inner = {
        split: share for split, share in zip(found.edge_splits, found.support, strict=True) if split in found.splits
    }
    told = dict(zip(expected.edge_splits, expected.support, strict=True))
    assert inner == pytest.approx({split: told[split] for split in inner})


@checked
@given(several_trees(3))
def test_the_consensus_of_any_forests_is_implied_by_most(trees):
    found = consensus(trees)
    for split, share in zip(found.edge_splits, found.support.tolist(), strict=True):
        if split in found.splits:
            assert share == np.mean([tree.implies(split) for tree in trees]) > 0.5
        else:
            assert np.isnan(share)
    counts = Counter(pair for tree in trees for pair in _pairs_together(tree))
    assert {pair for pair, count in counts.items() if count > 1} <= _pairs_together(found)


def _pairs_together(tree):
    graph = graph_of(tree)
    d = tree.n_observed
    return {(i, j) for i in range(d) for j in range(i) if networkx.has_path(graph, i, j)}


def test_a_whole_component_implies_its_own_splits_and_trivial_ones():
    assert QUARTET.implies(Split(0b1100, 0b1111))
    assert not QUARTET.implies(Split(0b1010, 0b1111))
    assert QUARTET.implies(Split(0b0010, 0b1111))
    assert not QUARTET.implies(Split(0, 0b1111))


def test_searches_and_the_trees_they_start_from_count_alike():
    tree, near, far = map(Tree.from_newick, ("(a,b,c,d,(e,f,g,h));", "(a,b,c,(d,e,f,g,h));", "(a,b,(c,d,e,f,g,h));"))
    inner = ~np.isnan(transfer_support(tree, [tree]))

    def replicate(found, *starts):
        model = random_model(found, n_states=2, hidden_states=2, random_state=0)
        return Replicate(model, model.sample(10, random_state=0), starts)

    def support(*replicates):
        assert np.isnan(found_again(tree, replicates)[~inner]).all()
        return found_again(tree, replicates)[inner].item()

    assert support(replicate(tree, tree)) == 1
    # One of four columns, and two, must change sides: a half of 1 - 1/3, and of 1 - 2/3.
    assert support(replicate(tree, near, far)) == pytest.approx((1 + (1 / 3 + 1 / 6) / 2) / 2)
    assert support(replicate(near, tree), replicate(far, tree)) == pytest.approx(((1 / 3 + 1 / 6) / 2 + 1) / 2)
    # A search may have no tree to start from.
    assert support(replicate(near)) == pytest.approx(1 / 3)
