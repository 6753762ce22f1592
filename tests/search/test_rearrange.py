"""The four-point rule on soft evidence, and what it does to trees."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.models import model_on, naive_joint, table_of
from helpers.strategies import bare, check_valid
from latree.counts.quartets import PAIRINGS
from latree.model import LatentTreeModel, fit_model
from latree.paper.simulate import random_model, random_tree
from latree.search.explain import Search
from latree.search.rearrange import Verdict, Views
from latree.table import Block, Table
from latree.tree import Tree


def simulated(n_leaves=8, n_rows=3000, seed=0, perturbation=0.2):
    tree = random_tree(n_leaves, 0.5, seed)
    options = {"n_states": 3, "hidden_states": 3, "start": "identity", "random_state": seed}
    return tree, random_model(tree, perturbation=perturbation, **options).sample(n_rows, seed)


def verdicts(model, block):
    return Views(model, block).verdicts()


def all_of(table):
    return table.subsample_block(10**9, 0)


@pytest.fixture(scope="module")
def fitted():
    tree, table = simulated()
    return fit_model(table, tree, 3, smoothing=1, random_state=0).model, table


def inner(tree):
    return [e for e, (u, v) in enumerate(tree.edges.tolist()) if min(u, v) >= tree.n_observed]


def side(tree, top, edge_end):
    """The columns on a neighbour's side."""
    found, seen, stack = set(), {edge_end}, [top]
    while stack:
        node = stack.pop()
        seen.add(node)
        found |= {node} if node < tree.n_observed else set()
        stack += [other for other, _ in tree.neighbors[node] if other not in seen]
    return frozenset(found)


def sides_of(tree, verdict):
    (h, g), (one, two, three, four) = verdict.ends, verdict.tops
    return [side(tree, one, h), side(tree, two, h), side(tree, three, g), side(tree, four, g)]


def parted(tree):
    """Both sides of every inner edge, as sets of columns."""
    return {frozenset({side(tree, u, v), side(tree, v, u)}) for u, v in tree.edges[inner(tree)].tolist()}


def exchanged(tree: Tree, verdict: Verdict) -> Tree:
    """Return the tree with the rival pairing at an edge."""
    h, g = verdict.ends
    leaving, coming = verdict.exchange
    edges = tree.edges.copy()
    for old, new, moving in ((h, g, leaving), (g, h, coming)):
        row = next(edge for other, edge in tree.neighbors[old] if other == moving)
        edges[row] = (moving, new)
    return Tree(tree.names, edges)


def rival_by(verdict, pairing):
    """The same verdict with sums that make a pairing the rival."""
    return replace(verdict, sums=np.array([0.0, *(float(pairing == other) for other in (1, 2))]))


def test_every_inner_edge_between_nodes_of_three_neighbours_gets_a_verdict(fitted):
    model, table = fitted
    found = verdicts(model, all_of(table))
    assert sorted(found) == inner(model.tree)
    for edge, verdict in found.items():
        assert sorted(verdict.ends) == sorted(model.tree.edges[edge])
        sides = sides_of(model.tree, verdict)
        assert sorted(column for columns in sides for column in columns) == list(range(8))
        assert frozenset({sides[0] | sides[1], sides[2] | sides[3]}) in parted(model.tree)
    many = Tree("abcdefg", [(0, 7), (1, 7), (2, 7), (7, 8), (3, 8), (8, 9), (4, 9), (9, 10), (5, 10), (6, 10)])
    rows = Block(np.zeros((3, 7), dtype=np.uint8), None)
    assert sorted(verdicts(model_on(many, [2] * 11, 0), rows)) == [5, 7]  # not the one at a node of four
    inner_column = Tree("abcde", [(0, 1), (1, 5), (5, 2), (5, 3), (3, 4)])
    assert verdicts(model_on(inner_column, [2] * 6, 0), Block(np.zeros((3, 5), dtype=np.uint8), None)) == {}


def test_the_sums_are_those_of_centred_posteriors(fitted):
    """Posteriors of a subtree's top given its own cells alone, from the model itself with all other cells missing."""
    model, table = fitted
    codes = table.codes()[:200].copy()
    codes[np.random.default_rng(0).random(codes.shape) < 0.2] = -1
    weights = np.random.default_rng(1).exponential(size=200)
    block = all_of(table_of(model, codes, weights))
    names = model.tree.node_names
    for verdict in verdicts(model, block).values():
        views = []
        for top, columns in zip(verdict.tops, sides_of(model.tree, verdict), strict=True):
            alone = np.full_like(codes, -1)
            alone[:, list(columns)] = codes[:, list(columns)]
            if top < 8:
                posterior = np.eye(3)[alone[:, top]]
                prior = model.marginals()[names[top]]
                posterior[alone[:, top] < 0] = prior
            else:
                posterior = model.posteriors(table_of(model, alone))[names[top]]
            views.append(posterior - np.average(posterior, axis=0, weights=weights))
        share = weights / weights.sum()
        norm = {(i, j): np.linalg.norm((views[i].T * share) @ views[j]) for i in range(4) for j in range(i + 1, 4)}
        expected = [np.log(norm[one]) + np.log(norm[other]) for one, other in PAIRINGS]
        np.testing.assert_allclose(verdict.sums, expected, rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_covariance_is_that_of_rows_drawn_anew(fitted, weighted):
    model, table = fitted
    rng = np.random.default_rng(0)
    block = Block(all_of(table).codes[:1000], rng.exponential(size=1000) if weighted else np.ones(1000))
    edge = inner(model.tree)[1]
    told = verdicts(model, block)[edge]
    drawn = []
    for _ in range(300):
        rows = rng.integers(0, 1000, 1000)
        drawn.append(verdicts(model, Block(block.codes[rows], block.weights[rows]))[edge].sums)
    drawn = np.array(drawn)
    spread = np.cov(drawn.T)
    np.testing.assert_allclose(np.diag(told.covariance), np.diag(spread), rtol=0.3)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        gain = np.zeros(3)
        gain[[one, other]] = 1, -1
        assert gain @ told.covariance @ gain == pytest.approx(gain @ spread @ gain, rel=0.3)
    assert np.abs(drawn.mean(axis=0) - told.sums).max() < 2 * np.sqrt(np.diag(spread)).max()


def test_weights_count_as_repeated_rows_but_for_how_sure_they_are(fitted):
    model, table = fitted
    codes, weights = all_of(table).codes[:500], np.arange(500) % 4
    weighted = verdicts(model, Block(codes, weights.astype(float)))
    repeated = verdicts(model, Block(np.repeat(codes, weights, axis=0), None))
    scaled = verdicts(model, Block(codes, weights * 7.5))
    for edge, verdict in weighted.items():
        np.testing.assert_allclose(verdict.sums, repeated[edge].sums, rtol=1e-9)
        np.testing.assert_allclose(verdict.sums, scaled[edge].sums, rtol=1e-9)
        np.testing.assert_allclose(verdict.covariance, scaled[edge].covariance, rtol=1e-9)
        assert np.diag(verdict.covariance).min() > np.diag(repeated[edge].covariance).max() / 10


def test_a_weight_counts_in_the_error_as_one_row_of_it(fitted):
    """A row that stands for four is not four rows: Σ w² a² / (Σ w)², for rows as they fall."""
    model, table = fitted
    codes = all_of(table).codes[:500]
    once, fours = (verdicts(model, Block(codes, np.full(500, w))) for w in (1.0, 4.0))
    twice = verdicts(model, Block(np.tile(codes, (2, 1)), None))
    for edge, verdict in once.items():
        np.testing.assert_allclose(fours[edge].covariance, verdict.covariance, rtol=1e-9)
        np.testing.assert_allclose(twice[edge].covariance, verdict.covariance / 2, rtol=1e-9)


def test_names_of_states_do_not_matter(fitted):
    model, table = fitted
    rng = np.random.default_rng(0)
    order = [rng.permutation(len(t)) for t in model.tables]
    parent = model.network.parent.tolist()
    tables = tuple(
        t[order[v]][:, order[parent[v]]] if parent[v] >= 0 else t[order[v]] for v, t in enumerate(model.tables)
    )
    renamed = LatentTreeModel(model.tree, model.columns, tables)
    codes = table.codes()[:500]
    moved = np.column_stack([np.argsort(order[j])[codes[:, j]] for j in range(8)])
    one, other = verdicts(model, all_of(table_of(model, codes))), verdicts(renamed, all_of(table_of(model, moved)))
    for edge, verdict in one.items():
        np.testing.assert_allclose(other[edge].sums, verdict.sums, rtol=1e-9)
        np.testing.assert_allclose(other[edge].covariance, verdict.covariance, rtol=1e-6, atol=1e-12)


def test_exact_rows_tell_the_true_pairing(fitted):
    """With every row as often as the model has it, its own pairing has the largest sum at every edge."""
    tree = Tree("abcde", [(0, 5), (1, 5), (5, 6), (2, 6), (6, 7), (3, 7), (4, 7)])
    for seed in range(5):
        model = random_model(tree, n_states=2, hidden_states=2, start="identity", perturbation=0.4, random_state=seed)
        joint = naive_joint(model).sum(axis=(5, 6, 7))
        codes = np.array(list(np.ndindex(joint.shape)))
        for verdict in verdicts(model, all_of(table_of(model, codes, joint.ravel()))).values():
            assert verdict.sums.argmax() == 0
            assert verdict.sums[1] == pytest.approx(verdict.sums[2], rel=1e-6)  # four points: the others are alike


@pytest.mark.parametrize("pairing", [1, 2])
def test_an_exchange_gives_a_valid_tree_with_the_rivals_splits(fitted, pairing):
    model, table = fitted
    tree = model.tree
    for verdict in verdicts(model, all_of(table)).values():
        changed = exchanged(tree, rival_by(verdict, pairing))
        check_valid(changed, tree.names)
        sides = sides_of(tree, verdict)
        (one, two), (three, four) = PAIRINGS[pairing]
        old = frozenset({sides[0] | sides[1], sides[2] | sides[3]})
        new = frozenset({sides[one] | sides[two], sides[three] | sides[four]})
        assert parted(changed) == parted(tree) - {old} | {new}
        assert changed.robinson_foulds(tree) == 2


def wrong_by(tree, table, seed, exchanges):
    """A tree so many random exchanges away."""
    rng = np.random.default_rng(seed)
    wrong = tree
    for _ in range(exchanges):
        found = verdicts(model_on(wrong, [3] * wrong.n_nodes, 0), Block(all_of(table).codes[:5], None))
        verdict = found[int(rng.choice(sorted(found)))]
        wrong = exchanged(wrong, rival_by(verdict, int(rng.integers(1, 3))))
    return wrong


@pytest.mark.parametrize(("exchanges", "seed"), [(0, 0), (1, 0), (1, 1), (3, 0), (3, 1)])
def test_wrong_trees_are_put_right(exchanges, seed):
    tree, table = simulated(10, 4000)
    wrong = wrong_by(tree, table, seed, exchanges)
    assert (wrong.robinson_foulds(tree) > 0) == (exchanges > 0)
    found = Search(table, 0).resolved([wrong])
    right, done = found.model.tree, found.steps["exchanges"]
    assert right.robinson_foulds(tree) == 0
    assert done >= wrong.robinson_foulds(tree) / 2
    assert (done == 0) == (exchanges == 0)
    assert right.support[inner(right)].min() > 0.9
    assert np.isnan(np.delete(right.support, inner(right))).all()
    assert right.names == tree.names


@pytest.mark.parametrize("n_columns", [2, 3, 4])
def test_few_columns_have_little_to_exchange(n_columns):
    _, table = simulated()
    few = Table.from_codes(table.columns[:n_columns], table.codes()[:300, :n_columns])
    star = Tree(few.names, [(i, n_columns) for i in range(n_columns)])
    found = Search(few, 0).resolved([star])
    same, done = found.model.tree, found.steps["exchanges"]
    assert (bare(same).edges == star.edges).all()
    assert done == 0


def test_the_lead_is_in_standard_errors():
    def verdict(gap, variance=1.0):
        covariance = np.diag([variance, variance, 1e-12])
        return Verdict((4, 5), (0, 1, 2, 3), np.array([gap, 0.0, -1e3]), covariance)

    assert verdict(-np.sqrt(2) * 1.7).rival_lead == pytest.approx(1.7)
    assert verdict(3.0, 4.5).rival_lead == pytest.approx(-1.0)
    assert (verdict(0.0).rival, rival_by(verdict(0.0), 2).rival) == (1, 2)
