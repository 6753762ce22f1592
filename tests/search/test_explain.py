"""The search, from trees that are given."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from helpers.models import copying_model, grouped_model, star, topics_table, topics_tree
from helpers.search import groups_of
from latree.model import fit_model
from latree.paper.simulate import random_tree
from latree.search import explain
from latree.search.edges import SMOOTHING
from latree.search.explain import Search
from latree.search.local import fit
from latree.tree import Tree


def random_binary(table, seed=0):
    """A binary tree that knows nothing of the rows."""
    tree = random_tree(table.n_columns, 0.5, seed)
    return Tree(table.names, tree.edges)


def resolved(tree, seed=0):
    """A binary tree that has all edges of a tree without columns between others, and random ones."""
    edges, n_nodes, rng = [], tree.n_nodes, np.random.default_rng(seed)
    ends = {node: [u for u, _ in tree.neighbors[node]] for node in range(tree.n_observed, tree.n_nodes)}
    at = {}  # where a neighbour finds the part of a hidden variable that it hangs on
    for node, near in ends.items():
        near = rng.permutation(near).tolist()
        parts = [node, *range(n_nodes, n_nodes + len(near) - 3)]
        n_nodes += len(parts) - 1
        edges += list(pairwise(parts))
        slots = [parts[0], *parts, parts[-1]]
        at |= {(node, other): slot for other, slot in zip(near, slots, strict=True)}
    edges += [(at.get((u, v), u), at.get((v, u), v)) for u, v in tree.edges.tolist()]
    return Tree(tree.names, edges)


def test_edges_that_are_not_there_are_contracted():
    model = grouped_model((4, 4, 4))
    table = model.sample(800, 0)
    found = Search(table, 0).explained([resolved(model.tree)])
    assert found.model.tree.splits == model.tree.splits
    assert found.n_states == (3, 3, 3, 3)
    assert found.steps == {"exchanges": 0, "cuts": 0, "contractions": 6, "moves": 0, "divisions": 0}


def test_wrong_trees_are_improved_by_moves():
    """Columns that were joined at random come to their groups."""
    model = grouped_model((4, 4, 4), strength=0.8, between=0.4)
    table = model.sample(800, 0)
    for seed in range(2):
        found = Search(table, 0).explained([random_binary(table, seed)])
        assert groups_of(found.model.tree) >= groups_of(model.tree)
        assert sum(found.steps.values()) > 6


def test_the_best_of_some_trees_is_taken():
    model = grouped_model((3, 3, 3))
    table = model.sample(400, 0)
    right = resolved(model.tree)
    found = Search(table, 0).resolved([random_binary(table, 1), right, random_binary(table, 2)])
    assert found.steps["exchanges"] <= 1
    assert found.model.tree.splits >= model.tree.splits
    only = Search(table, 0).resolved([right])
    assert only.model.bic(table) == pytest.approx(found.model.bic(table), rel=0.01)


def test_resolved_trees_are_rearranged_and_stay_binary():
    truth = random_tree(8, 0.5, 3)
    model = copying_model(truth, lambda u, v: 0.85, [3] * truth.n_nodes)
    table = model.sample(2000, 0)
    found = Search(table, 0).resolved([random_binary(table, 0)])
    assert found.steps["exchanges"] > 0
    assert found.model.tree.non_binary_features() == {}
    assert found.model.tree.splits == truth.splits


def test_a_binary_tree_that_is_there_stays():
    truth = random_tree(8, 0.5, 3)
    table = copying_model(truth, lambda u, v: 0.85, [3] * truth.n_nodes).sample(2000, 0)
    found = Search(table, 0).explained([random_binary(table, 0), truth])
    assert found.model.tree.splits == truth.splits
    assert set(found.n_states) == {3}
    assert np.nanmin(found.model.tree.support) > 0.8


def test_true_edges_that_few_rows_do_not_pay_for_are_contracted_if_fewest_are_asked_for():
    truth = random_tree(8, 0.5, 3)
    model = copying_model(truth, lambda u, v: 0.8, [6] * 8 + [4] * truth.n_hidden)
    few, many = model.sample(400, 0), model.sample(4000, 0)
    tested = Search(few, 0).explained([truth])
    fewest = Search(few, 0).explained([truth], fewest=True)
    assert tested.model.tree.splits == truth.splits
    assert fewest.model.tree.splits < truth.splits
    assert fewest.steps["contractions"] == truth.n_hidden - fewest.model.tree.n_hidden > 0
    assert fewest.model.bic(few) < tested.model.bic(few)
    # With more rows every edge lowers BIC.
    assert Search(many, 0).explained([truth], fewest=True).model.tree.splits == truth.splits


def test_contractions_of_the_fewest_hidden_variables_keep_given_numbers_of_states():
    truth = random_tree(8, 0.5, 3)
    table = copying_model(truth, lambda u, v: 0.8, [6] * 8 + [4] * truth.n_hidden).sample(300, 0)
    found = Search(table, 0, 3).explained([truth], fewest=True)
    assert found.model.tree.n_hidden < truth.n_hidden
    assert set(found.n_states) == {3}


def test_independent_parts_are_cut():
    model = grouped_model((4, 4), top=False)
    joined = Tree(model.tree.names, [*model.tree.edges.tolist(), (8, 9)])
    apart = 0
    for seed in range(6):
        found = Search(model.sample(600, seed), seed).explained([resolved(joined)])
        assert found.steps["cuts"] == len(found.model.tree.components) - 1
        apart += found.model.tree.components == model.tree.components
    assert apart >= 5
    # With little dependence they stay together.
    weak = copying_model(joined, lambda u, v: 0.25 if min(u, v) == 8 else 0.7, [4] * 8 + [3, 3]).sample(1500, 0)
    kept = Search(weak, 0).explained([resolved(joined)])
    assert len(kept.model.tree.components) == 1
    assert kept.model.tree.splits == joined.splits


def test_a_tree_of_any_kind_gets_its_numbers_of_states():
    for k in (2, 4):
        model = grouped_model((6,), hidden_states=k, column_states=5, strength=0.7, top=False)
        table = model.sample(1000, 0)
        found = Search(table, 0).sized(Tree(table.names, star(6).edges))
        assert found.n_states == (k,)
        assert found.model.tree.edges.tolist() == star(6).edges.tolist()


def test_the_number_of_cores_changes_nothing(monkeypatch):
    model = grouped_model((4, 4, 4))
    table = model.sample(300, 0)

    def found(cores):
        monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(cores)))
        return Search(table, 0).explained([resolved(model.tree)]).model

    alone = found(1)
    monkeypatch.setattr("latree._util.forks._WORTH_A_COPY", 0.0)
    together = found(3)
    assert together.tree.edges.tolist() == alone.tree.edges.tolist()
    np.testing.assert_array_equal(together.tree.support, alone.tree.support)
    for one, other in zip(together.tables, alone.tables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_many_hidden_variables_beside_one_get_their_numbers_of_states_at_once():
    model = grouped_model((3,) * 10, hidden_states=2, column_states=3, strength=0.8)
    found = Search(model.sample(1000, 0), 0).sized(model.tree)  # from four states, where ten at a time are too many
    assert set(found.n_states) == {2}


def test_numbers_of_states_that_are_settled_are_not_looked_at_again(monkeypatch):
    model = grouped_model((4, 4, 4))
    search = Search(model.sample(800, 0), 0)
    first = search._sized(search.sample.first([model.tree]))
    looked = []
    monkeypatch.setattr("latree._util.forks.n_threads", lambda: 1)  # a copy of the process would look without telling
    resized = Search._resized
    monkeypatch.setattr(Search, "_resized", lambda *arguments: looked.append(arguments[2]) or resized(*arguments))
    search._sized(first)
    assert looked == []
    other = Tree(model.tree.names, [(0, 13), *model.tree.edges[1:].tolist()])  # two hidden variables have changed
    search._sized(search.sample.fitted(replace(first, tree=other)))
    assert set(looked) >= {12, 13}


def test_given_numbers_of_states_are_kept():
    model = grouped_model((4, 4, 4))
    table = model.sample(500, 0)
    for found in (
        Search(table, 0, 2).explained([resolved(model.tree)]),
        Search(table, 0, 2).resolved([resolved(model.tree)]),
        Search(table, 0, 2).sized(model.tree),
    ):
        assert set(found.n_states) == {2}


def test_a_new_hidden_variable_is_put_where_two_predict_better(monkeypatch):
    """The search starts from a single hidden variable for two groups."""
    model = grouped_model((4, 4), between=0.5)
    table = model.sample(1000, 0)
    together = Tree(table.names, star(8).edges)
    found = Search(table, 0).explained([together])
    assert found.steps["divisions"] == 1
    assert groups_of(found.model.tree) == groups_of(model.tree)
    monkeypatch.setattr(explain, "_MIN_DIVISION", 1e6)
    assert Search(table, 0).explained([together]).model.tree.n_hidden == 1


def incomplete_division(search, model, group):
    """A division with a gain that is too small, of a hidden variable that has all columns."""
    around, node = search.sample.around(model), model.tree.n_observed
    rest = tuple(column for column in range(node) if column not in group)
    pair = fit(around.star(node).divided(group), around.weights, smoothing=SMOOTHING, max_iterations=15).model
    return explain.Move((node, node + 1), rest, tuple(group), pair, 4.0)


@pytest.mark.parametrize("needed", [5.0, 1000.0])
def test_a_division_that_is_nearly_worth_it_stays_if_moves_complete_it(monkeypatch, needed):
    """Three columns of a group get a hidden variable of their own, and the fourth follows."""
    truth = grouped_model((4, 4), between=0.5)
    search = Search(truth.sample(1000, 0), 0)
    one = search.sized(Tree(search.table.names, star(8).edges)).model
    monkeypatch.setattr(Search, "_divisions", lambda *_: [incomplete_division(search, one, (0, 1, 2))])
    monkeypatch.setattr(explain, "_MIN_DIVISION", needed)
    search._nearly_divided = set(search._divisible(one).values())
    found = search._divided_further(one)
    if needed == 5:
        assert groups_of(found.tree) == groups_of(truth.tree)
        assert (search.steps["divisions"], search.steps["moves"]) == (1, 1)
        assert 5 < (one.bic(search.table) - found.bic(search.table)) / 2 < 1000
    else:
        assert found is one
        assert set(search.steps.values()) == {0}


def test_a_division_that_is_not_worth_it_is_undone():
    table = grouped_model((8,), top=False).sample(500, 0)
    search = Search(table, 0)
    one = search.sized(Tree(table.names, star(8).edges)).model
    before = dict(search.steps)
    division = incomplete_division(search, one, (0, 1, 2))
    search._divisions = lambda *_: [division]
    assert search._divided_further(one) is one
    assert search.steps == before


@pytest.mark.parametrize(
    ("gain", "is_made", "is_remembered"),
    [(4.1, True, False), (3.9, False, True), (1.1, False, True), (0.9, False, False)],
)
def test_divisions_that_are_nearly_worth_it_are_remembered(monkeypatch, gain, is_made, is_remembered):
    truth = grouped_model((4, 4), between=0.5)
    search = Search(truth.sample(500, 0), 0)
    one = search.sized(Tree(search.table.names, star(8).edges)).model
    division = replace(incomplete_division(search, one, (0, 1, 2, 3)), gain=gain)

    def best_division(around, fold, splits, log_rows, least_gain, node):
        return division if around.model is one and division.gain >= least_gain else None

    monkeypatch.setattr(explain, "best_division", best_division)
    search._divided(one)
    assert (search.steps["divisions"] == 1) is is_made
    assert bool(search._nearly_divided) is is_remembered
    # Only these are looked at again.
    assert [node for node, place in search._divisible(one).items() if place in search._nearly_divided] == (
        [8] if is_remembered else []
    )


def test_at_most_three_hidden_variables_become_one_at_first(monkeypatch):
    """A chain of six, none of whose edges is there: those that are there least go first."""
    monkeypatch.setattr(explain, "_CONTRACTIONS", 1)
    table = grouped_model((8,), top=False).sample(300, 0)
    edges = [(0, 8), (1, 8), (2, 9), (3, 10), (4, 11), (5, 12), (6, 13), (7, 13)]
    chain = Tree(table.names, [*edges, *((node, node + 1) for node in range(8, 13))])
    search = Search(table, 0)
    search._distribution = explain.GainDistribution(0.5, 20.0)
    first = search.sample.first([chain])
    gains = {(8, 9): -9.0, (9, 10): -5.0, (10, 11): -8.0, (11, 12): -7.0, (12, 13): -6.0}

    def of_edges(around, edges, number):
        return np.array([gains[tuple(sorted(around.tree.edges[edge].tolist()))] for edge in edges])

    search._gains = of_edges
    found = search._contracted(first)
    columns = [{u for u, _ in around if u < 8} for around in found.tree.neighbors[8:]]
    assert sorted(map(sorted, columns)) == [[0, 1, 2], [3, 4, 5], [6, 7]]
    assert search.steps["contractions"] == 3


@pytest.mark.parametrize(("rounds", "n_hidden"), [(1, 4), (2, 1)])
def test_more_hidden_variables_become_one_after_the_first_time(monkeypatch, rounds, n_hidden):
    """A chain of twelve: four are left, which nine at a time join."""
    monkeypatch.setattr(explain, "_CONTRACTIONS", rounds)
    table = grouped_model((14,), top=False).sample(300, 0)
    edges = [(0, 14), (13, 25), *((column, 13 + column) for column in range(1, 13))]
    search = Search(table, 0)
    search._distribution = explain.GainDistribution(0.5, 20.0)
    first = search.sample.first([Tree(table.names, [*edges, *((node, node + 1) for node in range(14, 25))])])
    search._gains = lambda around, edges, number: np.full(len(edges), -9.0)
    assert search._contracted(first).tree.n_hidden == n_hidden


def test_every_division_is_judged_by_folds_of_its_own(monkeypatch):
    seen = []
    monkeypatch.setattr(explain, "best_division", lambda around, fold, *_: seen.append(fold))
    monkeypatch.setattr(explain.Surroundings, "map", lambda self, function, items: [function(item) for item in items])
    table = grouped_model((5,), top=False).sample(50, 0)
    search = Search(table, 0)
    one = search.sized(Tree(table.names, star(5).edges)).model
    for number in range(explain._DIVISIONS + 1):
        search._divisions(one, [5], number)
    drawn = [fold.tobytes() for both in seen for fold in both]
    assert len(set(drawn)) == len(drawn) == 2 * (explain._DIVISIONS + 1)


def test_hidden_variables_that_bic_asks_for_are_not_contracted(monkeypatch):
    """Texts are about one of four topics, so that one hidden variable of three states predicts as well as two."""
    table, topics = topics_table(4, 8, 300)
    tree = topics_tree(table, topics)
    found = Search(table, 0).explained([resolved(tree)]).model
    assert groups_of(found.tree) == groups_of(tree)
    monkeypatch.setattr(explain, "bic_gain", lambda *_: -np.inf)
    before = Search(table, 0).explained([resolved(tree)]).model
    assert groups_of(before.tree) != groups_of(tree)
    assert before.bic(table) > found.bic(table) + 50


def test_bic_must_fall_by_as_much_as_where_hidden_variables_are_divided(monkeypatch):
    """Edges of a resolved star do not predict better; they stay if BIC asks for them."""
    table = grouped_model((8,), top=False).sample(500, 0)
    for fall, stay in ((3.9, False), (4.1, True)):
        search = Search(table, 0)
        first = search.sample.first([resolved(Tree(table.names, star(8).edges))])
        search._distribution = explain.GainDistribution(0.5, 20.0)
        assert search._least_gain < 3.9
        monkeypatch.setattr(explain, "bic_gain", lambda *_, fall=fall: fall)
        assert (search._contracted(first) is first) is stay


def test_a_column_at_the_wrong_place_is_moved(monkeypatch):
    model = grouped_model((5, 5, 5), between=0.5)
    table = model.sample(1000, 0)
    wrong = Tree(table.names, [(0, 16), *model.tree.edges[1:].tolist()])
    found = Search(table, 0).explained([wrong])
    assert found.steps["moves"] >= 1
    assert groups_of(found.model.tree) == groups_of(model.tree)
    # To the next hidden variable, by BIC, or to any that is near.
    for one, other in (("_MIN_MOVE", "_MIN_RELOCATION"), ("_MIN_RELOCATION", "_MIN_MOVE")):
        with monkeypatch.context() as patch:
            patch.setattr(explain, one, 1e6)
            assert Search(table, 0).explained([wrong]).steps["moves"] >= 1
            patch.setattr(explain, other, 1e6)
            assert Search(table, 0).explained([wrong]).steps["moves"] == 0


def test_a_column_far_from_its_place_is_moved_at_once():
    """Five groups in a chain of hidden variables; a column of the first hangs on the fourth."""
    d, groups = 20, 5
    edges = [(column, d + column // 4) for column in range(d)] + [(d + g, d + g + 1) for g in range(groups - 1)]
    truth = Tree([f"x{column:02}" for column in range(d)], edges)
    table = copying_model(truth, lambda u, v: 0.7, [4] * d + [3] * groups).sample(800, 0)
    wrong = Tree(truth.names, [(0, d + 3), *edges[1:]])
    search = Search(table, 0, 3)
    model = search.sample.first([wrong])
    assert search._relocated(model).tree.splits == truth.splits
    assert search.steps["moves"] == 1
    assert search._score(search._relocated(model)) > search._score(model) + 50


def test_nodes_in_their_places_are_not_looked_at_again(monkeypatch):
    model = grouped_model((4, 4, 4))
    search = Search(model.sample(800, 0), 0)
    looked = []
    best = explain.best_relocations
    monkeypatch.setattr(explain, "best_relocations", lambda *arguments: looked.append(arguments[1]) or best(*arguments))
    first = search._relocated(search.sample.first([model.tree]))
    assert len(looked[0]) == 12 + 2 * 3
    search._relocated(first)
    assert looked[1] == []


def test_columns_do_not_move_to_hidden_variables_with_few_states(monkeypatch):
    """The penalty of BIC prefers a wrong hidden variable of two states to the right one of five; that of 1 does not."""
    d = 10
    edges = [*((column, d + column // 5) for column in range(d)), (d, d + 1)]
    truth = Tree([f"x{column}" for column in range(d)], edges)
    model = copying_model(truth, lambda u, v: 0.45 if u == 0 or v == 0 else 0.75, [6] * d + [5, 2])
    search = Search(model.sample(160, 2), 0)
    wrong = Tree(truth.names, [(0, d + 1), *edges[1:]])
    start = fit_model(search.table, wrong, [5, 2], smoothing=SMOOTHING, random_state=0).model
    assert search._relocated(start).tree.splits == truth.splits
    monkeypatch.setattr(explain, "_PENALTY", search.log_rows / 2)
    assert search._relocated(start).tree.splits == wrong.splits


def test_the_same_seed_gives_the_same_numbers():
    model = grouped_model((3, 3, 3))
    table = model.sample(300, 0)
    one, same = (Search(table, 5).explained([random_binary(table)]).model for _ in range(2))
    for table_of_one, table_of_same in zip(one.tables, same.tables, strict=True):
        np.testing.assert_array_equal(table_of_one, table_of_same)


def test_edges_that_were_sure_are_tested_once_more(monkeypatch):
    model = grouped_model((4, 4, 4))
    search = Search(model.sample(800, 0), 0)
    first = search.sample.first([resolved(model.tree)])
    search._distribution = explain.GainDistribution(0.5, 20.0)
    sure = {explain.edge_place(first.tree, edge) for edge in range(len(first.tree.edges))}
    search._sure = set(sure)
    assert search._contracted(first) is first
    found = search._without_improbable(first).tree
    assert model.tree.splits <= found.splits < first.tree.splits  # those that are doubtful stay
    monkeypatch.setattr(explain, "_IMPROBABLE", 0.5)
    assert search._without_improbable(first).tree.splits == model.tree.splits
    assert search._distribution.least_gain(0.05) < search._least_gain


def test_very_few_hidden_variables_give_way_to_one_with_a_lower_bic(monkeypatch):
    table = grouped_model((5,), top=False).sample(150, 2)
    search = Search(table, 0)
    pair = Tree(table.names, [(0, 5), (1, 5), (2, 6), (3, 6), (4, 6), (5, 6)])
    two = search.sized(pair).model
    one = search._simplest(two)
    assert one.tree.n_hidden == 1
    assert one.bic(table) < two.bic(table)
    monkeypatch.setattr("latree.search.explain._VERY_FEW", 1)
    assert search._simplest(two) is two


def test_a_single_hidden_variable_starts_from_two_states_too(monkeypatch):
    """States are merged one pair at a time, which may end in a bad optimum."""
    table = grouped_model((5,), hidden_states=3, column_states=4, strength=0.4, top=False).sample(60, 5)
    search = Search(table, 0)
    four = search._sized(search.sample.first([Tree(table.names, star(5).edges)]))
    assert search._simplest(four).bic(table) < four.bic(table) - 5
    monkeypatch.setattr(explain, "_STAR_STATES", (4,))
    assert search._simplest(four).bic(table) == pytest.approx(four.bic(table))
