import json
from itertools import combinations
from math import comb

import numpy as np
import pytest

from helpers.models import model_on, naive_joint
from helpers.quartets import factorised_unfoldings
from latree.counts.quartets import four_point_test, nuclear_test
from latree.errors import InputError
from latree.learners.divide_conquer import divide_and_conquer
from latree.model import LatentTreeModel
from latree.paper.simulate import random_model, random_tree
from latree.paper.theory import (
    dependence,
    most_tests,
    quartet_facts,
    rows_needed,
    success,
    tree_facts,
)
from latree.tree import Tree


def quartet_model(seed, k=(2, 3), mu=0.5):
    tree = Tree("abcd", [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5)])
    return random_model(tree, n_states=4, hidden_states=list(k), perturbation=mu, random_state=seed)


def nuclear(matrix):
    return np.linalg.svd(matrix, compute_uv=False).sum()


def conditional(joint):
    """P(row variable | column variable) from a joint table."""
    return joint / joint.sum(axis=0)


@pytest.mark.parametrize("seed", range(5))
def test_the_numbers_of_a_quartet_are_those_of_the_unfolding_lemma(seed):
    """θ and α from the factorised unfoldings, with H and G made independent for θ."""
    model = quartet_model(seed)
    (facts,) = quartet_facts(model, np.array([[2, 0, 3, 1]]))
    assert set(facts.leaves[:2]) in ({0, 1}, {2, 3})
    assert {facts.h, facts.g} == {4, 5}
    h, g = 4, 5
    p_hg = model.joint([h, g])
    tables = [conditional(model.joint([leaf, top])) for leaf, top in ((0, h), (1, h), (2, g), (3, g))]
    a, b, c = map(nuclear, factorised_unfoldings(*tables, p_hg))
    assert facts.alpha == pytest.approx(min(b, c) - a, abs=1e-12)
    independent = np.outer(p_hg.sum(axis=1), p_hg.sum(axis=0))
    a, b, c = map(nuclear, factorised_unfoldings(*tables, independent))
    assert facts.theta == pytest.approx(min(b, c) - a, abs=1e-12)
    assert facts.delta == pytest.approx(np.linalg.norm(p_hg - independent))
    assert facts.k in ((2, 3), (3, 2))
    assert facts.allowed == pytest.approx(facts.theta / (6 + np.sqrt(6)))


def test_for_equal_numbers_of_states_the_bound_is_the_papers():
    (facts,) = quartet_facts(quartet_model(0, k=(3, 3)), np.array([[0, 1, 2, 3]]))
    assert facts.allowed == pytest.approx(facts.theta / (3**2 + 3))


@pytest.mark.parametrize("seed", range(4))
def test_quartets_of_a_tree_are_paired_as_the_tree_pairs_them(seed):
    model = random_model(random_tree(9, 0.3, seed), n_states=3, hidden_states=2, random_state=seed)
    asked = np.array(list(combinations(range(9), 4)))
    facts = quartet_facts(model, asked)
    assert [sorted(quartet.leaves) for quartet in facts] == asked.tolist()
    ordered = np.array([quartet.leaves for quartet in facts])
    assert (four_point_test(model.tree.path_lengths())(ordered).pairing == 0).all()


@pytest.mark.parametrize("perturbation", [0.02, 0.1, 0.5])
def test_where_the_lemma_holds_algorithm_1_is_right(perturbation):
    held = 0
    for seed in range(6):
        model = random_model(
            random_tree(7, 0.5, seed), n_states=4, hidden_states=2, perturbation=perturbation, random_state=seed
        )
        quartets = quartet_facts(model, np.array(list(combinations(range(7), 4))))
        answers = nuclear_test(model.quartet_tables, 4)(np.array([quartet.leaves for quartet in quartets])).pairing
        for quartet, answer in zip(quartets, answers, strict=True):
            if quartet.satisfied:
                assert answer == 0
                held += 1
    assert held > 20


def test_the_dependence_on_a_path_is_the_product_of_its_edges():
    """Equation (delta of path): Δ1 diag(1/p_M) Δ2."""
    tree = Tree("abcde", [(0, 5), (1, 5), (5, 6), (2, 6), (6, 7), (3, 7), (4, 7)])
    model = model_on(tree, [3, 3, 3, 3, 3, 2, 3, 4], 1)
    middle = model.joint([6]).ravel()
    path = dependence(model, 5, 6) @ np.diag(1 / middle) @ dependence(model, 6, 7)
    np.testing.assert_allclose(dependence(model, 5, 7), path, rtol=1e-9, atol=1e-14)


def test_gamma_and_delta_of_a_tree_by_enumeration():
    tree = Tree("abcde", [(0, 5), (1, 5), (5, 6), (2, 6), (6, 7), (3, 7), (4, 7)])
    model = model_on(tree, [2, 2, 2, 2, 2, 2, 3, 2], 3)
    facts = tree_facts(model)
    joint = naive_joint(model)

    def marginal(*nodes):
        return joint.sum(axis=tuple(node for node in range(8) if node not in nodes))

    assert facts.gamma_min == pytest.approx(min(marginal(node).min() for node in (5, 6, 7)))
    deltas = []
    for u, v in ((5, 6), (6, 7)):
        pair = marginal(u, v)
        deltas.append(np.linalg.norm(pair - np.outer(pair.sum(axis=1), pair.sum(axis=0))))
    assert facts.delta == pytest.approx(max(deltas))
    assert facts.theta_min == min(quartet.theta for quartet in facts.quartets)
    assert facts.alpha_min == min(quartet.alpha for quartet in facts.quartets)
    assert len(facts.quartets) == facts.n_quartets == comb(5, 4)


def holding(facts):
    return {condition.name: condition.holds for condition in facts.conditions}


def test_all_assumptions_can_hold_and_then_the_tree_is_found():
    """Two hidden variables that are nearly independent, with columns that follow them closely."""
    model = quartet_model(0, k=(2, 2), mu=0.05)
    facts = tree_facts(model)
    assert holding(facts) == {"A1": True, "A2": True, "A3": True, "A4": True}
    assert facts.guaranteed
    assert facts.quartets[0].satisfied
    assert facts.alpha_min > 0
    assert facts.success(1e6) > 0.999
    assert facts.rows_needed(0.9) == rows_needed(facts.alpha_min, 0.9, most_tests(4))


def test_each_assumption_can_fail():
    strong = random_model(random_tree(6, 0.5, 0), n_states=4, hidden_states=2, start="identity", random_state=0)
    assert holding(tree_facts(strong)) == {"A1": True, "A2": True, "A3": True, "A4": False}
    wide = random_model(random_tree(6, 0.5, 0), n_states=2, hidden_states=3, random_state=0)
    assert not holding(tree_facts(wide))["A1"]
    star_like = Tree("abcdef", [(0, 6), (1, 6), (2, 6), (6, 7), (3, 7), (4, 7), (5, 7)])
    facts = tree_facts(model_on(star_like, [2] * 8, 0))
    assert not holding(facts)["A2"]
    assert len(facts.quartets) == 9 < facts.n_checked == facts.n_quartets == 15  # abcd and five others are stars
    assert facts.complete
    inner = Tree("abcde", [(0, 1), (1, 5), (5, 2), (5, 3), (3, 4)])
    assert not holding(tree_facts(model_on(inner, [2] * 6, 0)))["A2"]


STAR_LIKE = Tree("abcdef", [(0, 6), (1, 6), (2, 6), (6, 7), (3, 7), (4, 7), (5, 7)])
INNER_COLUMN = Tree("abcde", [(0, 1), (1, 5), (5, 2), (5, 3), (3, 4)])
CHAIN = Tree("abcd", [(0, 4), (1, 4), (4, 6), (6, 5), (2, 5), (3, 5)])


@pytest.mark.parametrize(
    ("tree", "node"),
    [(STAR_LIKE, "H1 has 4 neighbours"), (INNER_COLUMN, "'b' is an inner node"), (CHAIN, "H3 has 2 neighbours")],
)
def test_the_theorem_promises_nothing_for_trees_that_algorithm_2_cannot_return(tree, node):
    facts = tree_facts(model_on(tree, [2] * tree.n_nodes, 0))
    assert facts.n_right == len(facts.quartets)
    assert (facts.found, facts.success(1e9), facts.rows_needed(0.5)) == (False, None, None)
    assert "does not apply" in facts.verdict
    assert node in facts.verdict


def test_without_edges_between_hidden_variables_there_is_nothing_to_check():
    facts = tree_facts(model_on(INNER_COLUMN, [2] * 6, 0))
    numbers = {condition.name: condition.numbers for condition in facts.conditions}
    assert "nothing to check" in numbers["A3"]
    assert "nothing to check" in numbers["A4"]


def test_where_all_quartets_are_right_the_tree_is_found_even_if_the_theorem_is_silent():
    """And where one is wrong, it is not said to be; a random choice of quartets leaves it open."""
    strong = random_model(
        random_tree(6, 0.5, 0), n_states=4, hidden_states=2, start="identity", perturbation=0.1, random_state=0
    )
    facts = tree_facts(strong)
    assert (facts.guaranteed, facts.found) == (False, True)
    assert "(A4), but α_min > 0 over all quartets, so Algorithm 2 finds the tree" in facts.verdict
    learned = divide_and_conquer(strong.tree.names, nuclear_test(strong.quartet_tables, 4), random_state=0)
    assert learned.tree.robinson_foulds(strong.tree) == 0
    sampled = tree_facts(strong, max_quartets=5)
    assert (sampled.guaranteed, sampled.found, sampled.n_checked) == (False, None, 5)
    assert "if α > 0 for all others, too" in sampled.verdict
    tables = [np.eye(2) if node >= 6 else table for node, table in enumerate(strong.tables)]
    root = int(np.flatnonzero(strong.network.parent < 0)[0])
    tables[root] = np.full((2, 1), 0.5)
    same = LatentTreeModel(strong.tree, strong.columns, tuple(tables))  # all hidden variables are one: a star
    facts = tree_facts(same)
    assert (facts.found, facts.rows_needed(0.5)) == (False, None)
    assert "α_min is not positive" in facts.verdict


def test_a_large_tree_is_checked_by_some_of_its_quartets():
    model = random_model(random_tree(12, 0.5, 0), n_states=2, hidden_states=2, random_state=0)
    facts = tree_facts(model, max_quartets=50, random_state=1)
    assert len(facts.quartets) == 50
    assert len({tuple(sorted(quartet.leaves)) for quartet in facts.quartets}) == facts.n_checked == 50
    assert facts.n_quartets == comb(12, 4)
    again = tree_facts(model, max_quartets=50, random_state=1)
    assert facts.quartets == again.quartets


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Tree("abcde", [(0, 5), (1, 5), (2, 5), (3, 4)]), "several parts"),
        (Tree("abc", [(0, 3), (1, 3), (2, 3)]), "3 columns"),
        (Tree("abcde", [(i, 5) for i in range(5)]), "a star"),
        (Tree("abcde", [(0, 1), (1, 2), (2, 3), (3, 4)]), "hidden variables, and this model has none"),
    ],
)
def test_models_without_quartets_are_refused(tree, message):
    with pytest.raises(InputError, match=message):
        tree_facts(model_on(tree, [2] * tree.n_nodes, 0))


def test_the_number_of_tests_is_the_bound_of_each_insertion_added_up():
    assert [most_tests(d) for d in (4, 5, 6, 8, 9)] == [2, 4, 7, 13, 16]


def test_probabilities_and_rows_are_each_others_inverse():
    for alpha, target, tests in ((0.1, 0.95, 1), (0.02, 0.5, 30)):
        rows = rows_needed(alpha, target, tests)
        assert isinstance(rows, int)
        assert success(alpha, rows, tests) >= target > success(alpha, rows - 1, tests)
        assert success(alpha, 2 * rows, tests) > target > success(alpha, rows / 2, tests)
    assert success(0.1, 10) == 0
    assert success(-0.1, 1e9) == 0
    assert rows_needed(-0.1, 0.9) is rows_needed(1e-17, 0.9) is None  # the latter is rounding, not a gap
    with pytest.raises(InputError, match="between 0 and 1"):
        rows_needed(0.1, 1.0)
    assert success(0.1, 10_000) == pytest.approx(1 - 8 * np.exp(-10_000 * 0.01 / 32))


def test_nuclear_norms_concentrate_as_stated():
    """|‖A‖ - ‖Â‖| ≤ 2 sqrt(2τ/m) with probability 1 - 2 e^-τ, here for three confidences."""
    model = quartet_model(0, mu=1.0)
    exact = model.joint([0, 1, 2, 3])
    n = exact.shape[0]
    truth = nuclear(exact.transpose(1, 0, 3, 2).reshape(n * n, n * n))
    rng = np.random.default_rng(0)
    m, repeats = 300, 200
    errors = []
    for _ in range(repeats):
        counts = rng.multinomial(m, exact.ravel() / exact.sum()).reshape(exact.shape) / m
        errors.append(abs(nuclear(counts.transpose(1, 0, 3, 2).reshape(n * n, n * n)) - truth))
    for confidence in (0.5, 0.9, 0.99):
        tau = np.log(2 / (1 - confidence))
        assert np.mean(np.array(errors) <= 2 * np.sqrt(2 * tau / m)) >= confidence


def test_the_bound_on_one_quartet_holds_in_simulation():
    model = quartet_model(1, k=(2, 2), mu=0.3)
    (facts,) = quartet_facts(model, np.array([[0, 1, 2, 3]]))
    rows = int(rows_needed(facts.alpha, 0.5))
    exact = model.joint(facts.leaves)
    rng = np.random.default_rng(0)
    counts = rng.multinomial(rows, exact.ravel() / exact.sum(), size=60).reshape(60, *exact.shape)
    right = nuclear_test(lambda quartets: counts, 4)(np.zeros((60, 4), dtype=int)).pairing == 0
    assert right.mean() >= 0.5


def test_facts_are_plain_data():
    (facts,) = quartet_facts(quartet_model(0), np.array([[0, 1, 2, 3]]))
    assert json.dumps([facts.delta, facts.theta, facts.allowed, facts.alpha])


def test_wide_columns_need_no_more_memory_than_their_hidden_variables():
    """A tensor of one column with 3000 states and three with 50 has 3e15 numbers; norms need only the hidden states."""
    tree = Tree("abcd", [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5)])
    (facts,) = tree_facts(model_on(tree, [3000, 50, 50, 50, 2, 2], 0)).quartets
    assert facts.alpha > 0
    # States that share a column's state equally change α by a known factor: T' = [T; T] / 2 = Q T with QᵀQ = I / 2.
    narrow = model_on(tree, [3, 3, 3, 3, 2, 2], 0)
    doubled = model_on(tree, [6, 3, 3, 3, 2, 2], 0)
    tables = (np.concatenate([narrow.tables[0]] * 2) / 2, *narrow.tables[1:])
    doubled = LatentTreeModel(tree, doubled.columns, tables)
    (one,), (other,) = tree_facts(narrow).quartets, tree_facts(doubled).quartets
    assert other.alpha == pytest.approx(one.alpha / np.sqrt(2), rel=1e-9)


def test_very_many_states_of_columns_and_hidden_variables_are_refused():
    tree = Tree("abcd", [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5)])
    with pytest.raises(InputError, match="65 states and as many hidden states; it is computed for up to 64"):
        tree_facts(model_on(tree, [65, 2, 2, 2, 65, 2], 0))
