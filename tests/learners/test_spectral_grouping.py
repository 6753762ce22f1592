import itertools
from importlib import import_module
from itertools import combinations
from math import comb

import numpy as np
import pytest

from helpers.models import model_on
from helpers.models import table_of as model_table
from helpers.quartets import all_quartets, sampled_pairs
from helpers.strategies import (
    bare,
    check_valid,
    names_of,
    path_distances,
    same_graph,
    with_lengths,
)
from helpers.strategies import contracted as with_fewer_edges
from latree import LatentTree, learn_tree
from latree._util.progress import reported_to
from latree.counts.distances import (
    PairDistributions,
)
from latree.counts.quartets import Pairings, four_point_test, spectral_products, spectral_test
from latree.errors import InputError
from latree.learners.spectral_grouping import spectral_grouping
from latree.paper.simulate import random_tree
from latree.tree import Tree

MODULE = import_module("latree.learners.spectral_grouping")


def multiplied(distance):
    """Dependence that multiplies along paths."""
    return np.exp(-distance)


def declines(quartets):
    return Pairings(np.zeros(len(quartets), dtype=int), np.zeros(len(quartets)), np.zeros(len(quartets), dtype=bool))


def cautious(test):
    """The same test, which declines to answer where pairings are equally good."""

    def cautiously(quartets):
        answers = test(quartets)
        return answers._replace(decided=answers.margin > 1e-9)

    return cautiously


def at_random(seed, share_decided):
    """A test whose answers have nothing to do with a tree, the same at every call."""

    def answer(quartets):
        rng = np.random.default_rng(seed)
        q = len(quartets)
        return Pairings(rng.integers(0, 3, q), rng.random(q), rng.random(q) < share_decided)

    return answer


def random_dependence(d, seed):
    upper = np.triu(np.random.default_rng([d, seed]).random((d, d)), 1)
    return upper + upper.T


@pytest.mark.parametrize("balance", [0.5, 0.2, 0.05])
@pytest.mark.parametrize("n_leaves", [4, 5, 8, 16])
def test_an_oracle_gives_the_true_tree_whatever_the_dependence(n_leaves, balance):
    for seed in range(3):
        tree = random_tree(n_leaves, balance, seed)
        oracle = four_point_test(tree.path_lengths())
        for dependence in (
            multiplied(tree.path_lengths()),
            random_dependence(n_leaves, seed),
            np.ones((n_leaves,) * 2),
        ):
            grouped = spectral_grouping(tree.names, oracle, dependence)
            assert grouped.tree.robinson_foulds(tree) == 0
            assert grouped.tree.n_hidden == n_leaves - 2
            assert grouped.facts == dict.fromkeys(("quartet_tests", "quartets_decided"), comb(n_leaves, 4))


@pytest.mark.parametrize("equal", [False, True], ids=["", "equal lengths"])
@pytest.mark.parametrize("share", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("n_leaves", [4, 5, 8, 16])
def test_an_oracle_that_declines_ties_gives_trees_with_many_neighbours_back(n_leaves, share, equal):
    for seed in range(4):
        tree = with_lengths(with_fewer_edges(random_tree(n_leaves, 0.4, seed), share, seed), seed)
        distance = tree.path_lengths().astype(float) if equal else path_distances(tree)
        grouped = spectral_grouping(tree.names, cautious(four_point_test(distance)), multiplied(distance))
        assert same_graph(bare(grouped.tree), bare(tree))
        assert grouped.facts["quartet_tests"] == comb(n_leaves, 4)
        assert grouped.facts["quartets_decided"] == sum(
            any(sum(split.side >> leaf & 1 for leaf in quartet) == 2 for split in tree.splits)
            for quartet in combinations(range(n_leaves), 4)
        )


def test_a_test_that_declines_everything_gives_a_star():
    for d in (2, 3, 4, 5, 9, 20):
        strength = np.random.default_rng(d).uniform(0.2, 0.9, d)
        grouped = spectral_grouping(names_of(d), declines, np.outer(strength, strength))
        assert same_graph(grouped.tree, Tree(names_of(d), [(i, d) for i in range(d)]))
        assert grouped.facts == {"quartet_tests": comb(d, 4), "quartets_decided": 0}


@pytest.mark.parametrize("dependence", [np.ones((8, 8)), random_dependence(8, 0)], ids=["ties", "random"])
def test_no_edge_without_a_quartet_that_speaks_for_it(dependence):
    assert not spectral_grouping(names_of(8), declines, dependence).tree.splits


def test_a_star_of_equal_leaves_comes_back():
    tree = Tree(names_of(4), [(i, 4) for i in range(4)])
    lengths = tree.path_lengths()
    assert not spectral_grouping(tree.names, cautious(four_point_test(lengths)), multiplied(lengths)).tree.splits


def naive_spectral_grouping(names, test, dependence):
    """The algorithm by loops over all quartets, none of them ever forgotten."""
    d = len(names)
    quartets = all_quartets(d)
    answers = test(quartets)
    order = ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2))
    decided = [
        [quartet[i] for i in order[pairing]]
        for quartet, pairing, sure in zip(quartets.tolist(), *answers[::2], strict=True)
        if sure
    ]
    below = {leaf: [leaf] for leaf in range(d)}
    children = {}
    roots = list(range(d))
    fresh = itertools.count(d)

    def parted(subtrees, one, other):
        home = {leaf: subtree for subtree in subtrees for leaf in below[subtree]}
        found = 0
        for quartet in decided:
            a, b, c, e = (home[leaf] for leaf in quartet)
            if len({a, b, c, e}) == 4:
                found += (one in (a, b) and other in (c, e)) or (one in (c, e) and other in (a, b))
        return found

    def one_node(older, newer, rest):
        if older not in children or newer not in children:
            return False
        apart = [*children[older], *children[newer], *rest]
        return not any(parted(apart, u, v) for u in children[older] for v in children[newer])

    while len(roots) > 2 or (len(roots) == 2 and one_node(*roots, [])):
        older, newer = min(
            combinations(roots, 2),
            key=lambda pair: (parted(roots, *pair), -dependence[np.ix_(below[pair[0]], below[pair[1]])].max()),
        )
        rest = [root for root in roots if root not in (older, newer)]
        if one_node(older, newer, rest):
            children[newer] += children.pop(older)
            below[newer] = below[newer] + below[older]
            roots.remove(older)
            continue
        for parent, child in ((newer, older), (older, newer)):
            siblings = children.get(parent, [])
            if siblings and not any(parted([*siblings, child, *rest], child, sibling) for sibling in siblings):
                siblings.append(child)
                below[parent] = below[parent] + below[child]
                roots.remove(child)
                break
        else:
            new = next(fresh)
            children[new] = [older, newer]
            below[new] = below[older] + below[newer]
            roots = [*rest, new]
    edges = [(parent, child) for parent, some in children.items() for child in some]
    number = {node: d + i for i, node in enumerate(children)}
    edges += [tuple(roots)] if len(roots) == 2 else []
    return Tree(names, [(number.get(u, u), number.get(v, v)) for u, v in edges])


@pytest.mark.parametrize("quartets_at_once", [2, 2**20])
@pytest.mark.parametrize("share_decided", [0.03, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("d", [4, 5, 7, 10])
def test_spectral_grouping_equals_a_naive_twin_on_random_answers(d, share_decided, quartets_at_once, monkeypatch):
    for seed in range(4 if share_decided > 0.1 else 15):
        answers = at_random(seed, share_decided)
        known = answers(all_quartets(d))

        def look_up(quartets, known=known):
            place = {tuple(quartet): i for i, quartet in enumerate(all_quartets(d).tolist())}
            some = [place[tuple(quartet)] for quartet in quartets.tolist()]
            return Pairings(*(field[some] for field in known))

        dependence = random_dependence(d, seed)
        expected = naive_spectral_grouping(names_of(d), look_up, dependence)
        with monkeypatch.context() as patched:
            patched.setattr(MODULE, "_QUARTETS_AT_ONCE", quartets_at_once)
            grouped = spectral_grouping(names_of(d), look_up, dependence)
        assert same_graph(grouped.tree, expected)
        check_valid(grouped.tree, names_of(d))
        assert grouped.facts["quartets_decided"] == known.decided.sum()


def test_random_answers_give_a_valid_tree():
    for d in (4, 11, 20):
        for seed in range(4):
            tree = spectral_grouping(names_of(d), at_random(seed, 0.8), random_dependence(d, seed)).tree
            check_valid(tree, names_of(d))


def test_permuting_the_columns_permutes_spectral_grouping():
    for seed in range(6):
        pairs, d = sampled_pairs(300, seed, d=9, perturbation=0.4), 9
        names, order = names_of(d), np.random.default_rng(seed).permutation(d)
        other = PairDistributions(pairs.joint[np.ix_(order, order)], pairs.total[np.ix_(order, order)])
        found = []
        for some, labels in ((pairs, names), (other, [names[i] for i in order])):
            products = spectral_products(some, 2, 0.01)
            found.append(spectral_grouping(labels, spectral_test(products), products.last))
        assert same_graph(found[1].tree.reordered(names), found[0].tree)
        assert found[0].facts == found[1].facts


def test_spectral_grouping_tells_its_progress():
    tree = random_tree(9, 0.5, 0)
    seen = []
    with reported_to(lambda *numbers: seen.append(numbers)):
        spectral_grouping(tree.names, four_point_test(tree.path_lengths()), np.ones((9, 9)))
    assert [done for done, _ in seen] == list(range(1, 8))
    assert {total for _, total in seen} == {9}


def small_table(d=5, sizes=None, n_rows=50):
    tree = random_tree(d, 0.5, 0)
    return model_on(tree, [*(sizes or [3] * d), *[2] * tree.n_hidden], 0).sample(n_rows, 0)


def test_the_spectral_method_must_be_told_the_number_of_states():
    with pytest.raises(InputError, match=r"method 'spectral' needs the number of states.*with n_states"):
        learn_tree(small_table(), method="spectral")
    with pytest.raises(InputError, match="needs the number of states"):
        LatentTree("spectral").fit(small_table())


def test_no_more_hidden_states_than_the_narrowest_column_has():
    table = small_table(sizes=[4, 5, 3, 4, 4])
    with pytest.raises(InputError, match="cannot tell 4 hidden states apart: column 'x2' has only 3 states"):
        learn_tree(table, method="spectral", n_states=4)
    check_valid(learn_tree(table, method="spectral", n_states=3), table.names)


def many_columns(d):
    return model_table(model_on(random_tree(d, 0.5, 0), [2] * (2 * d - 2), 0), np.arange(2 * d).reshape(2, d) % 2)


def test_spectral_grouping_takes_at_most_128_columns(monkeypatch):
    with pytest.raises(InputError, match="at most 128 columns, not 129"):
        learn_tree(many_columns(129), method="spectral", n_states=2)
    with pytest.raises(InputError, match="at most 128 columns, not 129"):
        spectral_grouping(names_of(129), pytest.fail, np.ones((129, 129)))
    monkeypatch.setattr(MODULE, "MAX_COLUMNS", 9)
    check_valid(spectral_grouping(names_of(9), declines, random_dependence(9, 0)).tree, names_of(9))


def test_too_many_columns_are_refused_before_the_work(monkeypatch):
    monkeypatch.setattr("latree.learners.methods.pair_tables", pytest.fail)
    with pytest.raises(InputError, match="at most 128 columns"):
        learn_tree(many_columns(129), method="spectral", n_states=2)
