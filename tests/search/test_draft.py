"""Drafts of models: what moves do to the tree, and the distributions on its edges."""

import numpy as np
import pytest

from helpers.models import copying_model, grouped_model, model_on, small_models, table_of
from helpers.search import random_pair, surroundings
from latree.search.divide import Arrangement
from latree.search.draft import Draft, Replacement
from latree.tree import Tree

# Two groups of three columns, and a hidden variable between them that has one more.
TREE = Tree("abcdefg", [(0, 7), (1, 7), (2, 7), (7, 8), (6, 8), (8, 9), (3, 9), (4, 9), (5, 9)])
SIZES = [2, 3, 2, 3, 2, 3, 4, 2, 3, 2]
FLOOR = 0.02  # how far the floor of EM's start may move a probability


@pytest.fixture(scope="module")
def model():
    return model_on(TREE, SIZES, 0)


@pytest.fixture(scope="module")
def table(model):
    return model.sample(50, 0)


def newick(text, names=TREE.names):
    return Tree.from_newick(text).reordered(names)


def edges_of(tree):
    return {tuple(sorted(edge)) for edge in tree.edges.tolist()}


def check_joints(draft):
    """Both directions of every edge, and each a distribution with the right numbers of states."""
    for u, around in draft.joint.items():
        for v, joint in around.items():
            np.testing.assert_array_equal(joint.T, draft.joint[v][u])
            assert joint.sum() == pytest.approx(1)
            assert (joint >= 0).all()


@pytest.mark.parametrize("one", small_models())
def test_a_draft_without_changes_is_the_same_model(one):
    table = one.sample(2000, 0)
    draft = Draft(one)
    check_joints(draft)
    again = draft.start(table)
    assert edges_of(again.tree) == edges_of(one.tree)
    for node, (found, expected) in enumerate(zip(again.tables, one.tables, strict=True)):
        free = one.tree.rooted().parent[node] < 0 and node < one.tree.n_observed  # frequencies of the table
        np.testing.assert_allclose(found, expected, atol=0.05 if free else 0.005)
        assert (found > 0).all()


def test_the_joint_distributions_are_the_model_s(model):
    draft = Draft(model)
    for u, v in TREE.edges.tolist():
        np.testing.assert_allclose(draft.joint[u][v], model.joint([u, v]))
        np.testing.assert_allclose(draft.joint[v][u], model.joint([v, u]))


def test_one_hidden_variable_in_the_place_of_two(model, table):
    around = surroundings(model, table)
    near, star = around.merged([7, 8])
    draft = Draft(model)
    draft.replace([Replacement([7, 8], near, star)])
    check_joints(draft)
    for u, wanted in zip(near, star.tables, strict=True):
        np.testing.assert_array_equal(draft.joint[u][7], wanted * star.prior)
    found = draft.start(table)
    assert found.tree.splits == newick("(a,b,c,g,(d,e,f));").splits
    assert found.n_states.tolist() == [*SIZES[:7], 3, 2]
    for u, wanted in zip(near, star.tables, strict=True):
        node = u if u < 7 else 8
        joint = found.joint([node, 7])
        np.testing.assert_allclose(joint / joint.sum(axis=0), wanted, atol=FLOOR)


def test_all_hidden_variables_become_one(model, table):
    near, star = surroundings(model, table).merged([7, 8, 9])
    draft = Draft(model)
    draft.replace([Replacement([7, 8, 9], near, star)])
    assert draft.start(table).tree.splits == newick("(a,b,c,d,e,f,g);").splits


def test_replacements_next_to_each_other():
    """Both ends of an edge are new: the rows say how they depend on each other."""
    model = copying_model(Tree("abcdefgh", _chain_of_pairs()), lambda u, v: 0.8)
    table = model.sample(2000, 0)
    around = surroundings(model, table)
    draft = Draft(model)
    draft.replace([Replacement(nodes, *around.merged(nodes)) for nodes in ([8, 9], [10, 11])])
    check_joints(draft)
    found = draft.start(table)
    assert found.tree.splits == newick("((a,b,c,d),(e,f,g,h));", tuple("abcdefgh")).splits
    joint = found.joint([8, 9])
    # The largest correlation of functions of both, after that of constants.
    scale = np.sqrt(np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    assert np.linalg.svd(joint / scale, compute_uv=False)[1] > 0.6
    assert found.log_likelihood(table) > copying_model(found.tree, lambda u, v: 0.0).log_likelihood(table) + 1000


def _chain_of_pairs():
    pairs = [(column, 8 + column // 2) for column in range(8)]
    return [*pairs, (8, 9), (9, 10), (10, 11)]


def test_a_hidden_variable_with_another_number_of_states(model, table):
    around = surroundings(model, table)
    star = around.star(8)
    wider = type(star)(star.messages, np.full(5, 0.2), tuple(np.full((len(t), 5), 1 / len(t)) for t in star.tables))
    draft = Draft(model)
    draft.replace([Replacement([8], [u for u, _ in TREE.neighbors[8]], wider)])
    check_joints(draft)
    found = draft.start(table)
    assert found.tree.splits == TREE.splits
    assert found.n_states.tolist() == [*SIZES[:8], 5, 2]


def test_a_move_gives_two_hidden_variables_other_neighbours(model, table):
    rng = np.random.default_rng(0)
    # c goes from H1 to H2, whose neighbours are g, c and H3 from then on.
    kinds, sizes = (("hard",) * 2, ("hard", "hard", "soft")), ((2, 3), (4, 2, 2))
    pair = random_pair(kinds, sizes, (2, 3), rng)
    draft = Draft(model)
    draft.arrange(Arrangement((7, 8), (0, 1), (6, 2, 9), pair, 1.0))
    check_joints(draft)
    found = draft.start(table)
    assert found.tree.splits == newick("((a,b),c,g,(d,e,f));").splits
    np.testing.assert_allclose(found.joint([0, 7]), pair.tables[0] * pair.prior, atol=FLOOR)
    np.testing.assert_allclose(found.joint([2, 8]), pair.other_tables[1] * (pair.between @ pair.prior), atol=FLOOR)
    np.testing.assert_allclose(found.joint([8, 7]), pair.between * pair.prior, atol=FLOOR)


def test_a_move_to_a_new_hidden_variable(table):
    """The second end may be a number that no node has yet."""
    model = grouped_model((5,), top=False)
    pair = random_pair((("hard",) * 3, ("hard",) * 2), ((4,) * 3, (4,) * 2), (3, 3), np.random.default_rng(0))
    draft = Draft(model)
    draft.arrange(Arrangement((5, 6), (0, 1, 4), (2, 3), pair, 1.0))
    found = draft.start(model.sample(20, 0))
    names = model.tree.names
    assert found.tree.splits == newick(f"({names[0]},{names[1]},{names[4]},({names[2]},{names[3]}));", names).splits


def test_tidy_removes_what_connects_nothing(model, table):
    draft = Draft(model)
    draft.disconnect(7, 8)
    draft.tidy()  # H2 is between g and H3: g goes to H3
    check_joints(draft)
    found = draft.start(table)
    assert edges_of(found.tree) == {(0, 7), (1, 7), (2, 7), (3, 8), (4, 8), (5, 8), (6, 8)}
    np.testing.assert_allclose(found.joint([6, 8]), model.joint([6, 9]), atol=FLOOR)
    for column in range(6):
        draft.disconnect(column, 7 if column < 3 else 9)
    draft.tidy()
    assert edges_of(draft.start(table).tree) == set()


def test_tidy_goes_on_until_nothing_changes():
    """A chain of hidden variables, none of which is needed, and one between two columns, which stays."""
    chain = Tree("abc", [(0, 3), (3, 4), (4, 5), (5, 1), (5, 2)])
    draft = Draft(model_on(chain, [2] * 6, 0))
    draft.tidy()
    assert sorted(draft.joint) == [0, 1, 2, 5]
    check_joints(draft)
    draft.disconnect(2, 5)
    draft.tidy()
    assert sorted(draft.joint[5]) == [0, 1]
    draft.disconnect(1, 5)
    draft.tidy()
    assert sorted(draft.joint) == [0, 1, 2]
    # H1 is needed as long as H2 is there, which comes later.
    draft = Draft(model_on(Tree("abcd", [(0, 4), (4, 5), (5, 1), (4, 6), (6, 2), (6, 3)]), [2] * 7, 0))
    draft.disconnect(1, 5)
    draft.tidy()
    assert sorted(draft.joint) == [0, 1, 2, 3, 6]


def test_a_start_keeps_the_order_of_columns_and_hidden_variables(model):
    table = table_of(model, np.zeros((3, 7), dtype=int))
    draft = Draft(model)
    draft.disconnect(7, 8)
    for column in range(3):
        draft.disconnect(column, 7)
    draft.tidy()
    found = draft.start(table)
    assert found.columns == table.columns
    assert found.n_states.tolist() == [*SIZES[:7], SIZES[9]]


def test_a_draft_among_other_columns_has_the_same_edges(model, table):
    """Two columns more in front, and back again."""
    names = ("new", "more", *TREE.names)
    draft = Draft(model)
    wider = draft.renumbered(names, {node: node + 2 for node in range(TREE.n_nodes)})
    check_joints(wider)
    assert wider.joint[0] == wider.joint[1] == {}
    assert edges_of(Tree(names, TREE.edges + 2)) == {
        tuple(sorted((u, v))) for u, around in wider.joint.items() for v in around
    }
    back = wider.renumbered(TREE.names, {node + 2: node for node in range(TREE.n_nodes)}).start(table)
    assert edges_of(back.tree) == edges_of(TREE)
    for one, other in zip(back.tables, draft.start(table).tables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_moves_that_would_make_a_cycle_together_are_not_both_made():
    tree = Tree([f"x{column}" for column in range(8)], _chain_of_pairs())
    one = model_on(tree, [2] * 12, 0)
    draft, joint = Draft(one), np.full((2, 2), 0.25)
    draft.move(9, 10, 11, joint)
    assert set(draft.joint[9]) == {2, 3, 8, 11}
    draft.move(11, 10, 8, joint)  # 8 hangs below 11 by now
    assert set(draft.joint[11]) == {6, 7, 9, 10}
    draft.move(8, 9, 10, joint)
    assert set(draft.joint[8]) == {0, 1, 10}
    check_joints(draft)
    assert draft.start(one.sample(20, 0)).tree.n_hidden == 4  # a tree, not a cycle
