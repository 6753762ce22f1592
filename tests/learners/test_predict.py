"""The model that predicts best, on tables whose kind is known by construction."""

from types import SimpleNamespace

import numpy as np
import pytest

from helpers.strategies import bare, same_graph
from latree._util.arrays import generator
from latree._util.progress import WHOLE, reported_to
from latree.facts.words import KINDS
from latree.learners import predict as room
from latree.learners.explain import joined
from latree.learners.grouping import chow_liu, hidden_chow_liu
from latree.learners.predict import predict
from latree.learners.structure import latent_class
from latree.paper.simulate import random_model, random_tree
from latree.settings import Settings
from latree.table import as_table
from latree.tree import Tree


def learned(table, trees=None, search=None, seed=0, **known):
    settings = Settings(goal="predict", random_state=seed, **known)
    trees = [joined(table).tree] if trees is None else trees
    trees = [tree for tree in trees if len(tree.edges)]
    return predict(table, trees, settings, generator(seed), search and search(table), search)


def chain(n_rows, n_columns=8, n_states=4, seed=0):
    """Each column copies the one before it with probability 0.8: a Chow-Liu tree is the truth."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, n_states, n_rows)]
    for _ in range(n_columns - 1):
        columns.append(np.where(rng.random(n_rows) < 0.8, columns[-1], rng.integers(0, n_states, n_rows)))
    return as_table(np.array(columns).T)


def classes(n_classes, n_rows, seed=0):
    """Each of twelve columns has the value of the row's class with probability 0.7."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 4, (n_classes, 12))[rng.integers(0, n_classes, n_rows)]
    return as_table(np.where(rng.random((n_rows, 12)) < 0.7, own, rng.integers(0, 4, (n_rows, 12))))


def latent_tree(n_rows, seed=0):
    tree = random_tree(10, 0.5, seed)
    options = {"n_states": 6, "hidden_states": 3, "start": "identity", "perturbation": 0.2}
    return tree, random_model(tree, random_state=seed, **options).sample(n_rows, seed)


@pytest.mark.parametrize("n_rows", [500, 3000])
def test_a_chow_liu_tree_is_chosen_where_columns_depend_on_columns(n_rows):
    found = learned(chain(n_rows))
    assert found.tree.n_hidden == 0
    assert {tuple(sorted(edge)) for edge in found.tree.edges.tolist()} == {(i, i + 1) for i in range(7)}


def test_one_hidden_variable_with_many_states_is_chosen_where_rows_fall_into_many_classes():
    table = classes(25, 3000)
    found = learned(table)
    assert same_graph(bare(found.tree), latent_class(table.names).tree)
    assert found.choice.n_states == (32,)


@pytest.mark.parametrize(("n_rows", "shares"), [(300, [0.6, 0.3, 0.1]), (2000, [1 / 3] * 3)])
def test_independent_columns_are_left_alone(n_rows, shares):
    """With few rows and uneven shares, chance alone favours hidden variables in one of fifteen tables."""
    found = []
    for seed in range(4):
        table = as_table(np.random.default_rng(seed).choice(3, (n_rows, 8), p=shares))
        found.append(len(learned(table, seed=seed).tree.edges))
    assert sorted(found)[:-1] == [0] * 3


@pytest.mark.parametrize("n_rows", [800, 3000])
def test_the_tree_is_chosen_where_it_is_true(n_rows):
    tree, table = latent_tree(n_rows)
    wrong = Tree(tree.names, random_tree(10, 0.5, 7).edges)
    found = learned(table, [wrong, tree])
    assert found.tree is tree
    assert found.choice.start.tree is tree
    assert found.choice.n_states == (4,) * 8


def test_hidden_twins_are_chosen_where_columns_are_noisy_copies_of_a_chain():
    rng = np.random.default_rng(0)
    codes = chain(6000, 12, 3).codes()
    table = as_table(np.where(rng.random(codes.shape) < 0.85, codes, rng.integers(0, 3, codes.shape)))
    found = learned(table, [latent_class(table.names).tree])
    assert found.tree.n_hidden == 12
    assert all(d in dict(found.tree.neighbors[d - 12]) for d in range(12, 24))


def test_what_is_given_is_kept():
    _, table = latent_tree(300)
    found = learned(table, n_states=3, smoothing=0.7)
    assert set(found.choice.n_states) == {3}
    assert found.choice.smoothing == 0.7


def test_the_same_seed_gives_the_same_choice():
    table = chain(120, 4)
    one, two, other = (learned(table, seed=seed) for seed in (1, 1, 2))
    assert one.tree.to_newick() == two.tree.to_newick()
    assert one.choice.n_states == two.choice.n_states
    np.testing.assert_array_equal(one.choice.scores, two.choice.scores)
    assert not np.array_equal(one.choice.scores, other.choice.scores)


def test_without_smoothing_impossible_rows_decide_nothing_by_themselves():
    codes = chain(200).codes()
    codes[:, 0] = np.where(np.arange(200) < 5, 4 + np.arange(200), codes[:, 0])  # five states of one row each
    found = learned(as_table(codes), smoothing=0)
    assert len(found.tree.edges) > 0


def test_it_reports_progress():
    seen = []
    table = chain(100, 4)
    trees = [joined(table).tree]
    with reported_to(lambda *numbers: seen.append(numbers)):
        learned(table, trees)
    assert seen == sorted(seen)
    assert {total for _, total in seen} == {WHOLE}
    assert len(seen) > 50


# The rules of the race


class Search:
    """A search whose scores are known before and after it climbs and is polished."""

    def __init__(self, name, scores, n_parameters, climbed=0.0, polished=0.0):
        self.name, self.climbed, self.polished, self.log = name, climbed, polished, []
        models = (SimpleNamespace(n_parameters=n_parameters),)
        self.best = SimpleNamespace(scores=scores, models=models)

    def climb(self, rival=None):
        self.log.append("climb" if rival is None else float(rival.mean()))
        self.best.scores = self.best.scores + self.climbed

    def polish(self):
        self.log.append("polish")
        self.best.scores = self.best.scores + self.polished


NOISE = np.random.default_rng(0).normal(0, 1, 400)
NOISE -= NOISE.mean()
ERROR = NOISE.std() / 20  # of the mean of the differences


def candidate(name, lead, n_parameters, optimism=0.0, **later):
    """A candidate that is ahead of scores of -5 by so many standard errors."""
    noise = NOISE if lead else np.zeros(400)
    return room._Candidate(name, Search(name, -5 + noise + lead * ERROR, n_parameters, **later), optimism)


def test_the_most_promising_candidate_climbs_first_and_those_that_are_clearly_behind_are_out():
    first = candidate("first", 0, 10, climbed=1.0)
    near, far = candidate("near", -1.6, 20, climbed=1.0), candidate("far", -2.4, 30, climbed=1.0)
    assert [found.search.name for found in room._raced([far, near, first])] == ["near", "first"]
    assert first.search.log == ["climb"]
    assert near.search.log == [pytest.approx(-4)]
    assert far.search.log == [pytest.approx(-4)]


def test_only_candidates_that_are_close_are_polished(monkeypatch):
    polished = []
    monkeypatch.setattr(room, "_raced", lambda candidates: candidates[:2])
    monkeypatch.setattr(room.StateSearch, "polish", lambda search: polished.append(len(search.tree.edges)))
    learned(chain(100, 4), [])
    assert polished == [0, 3]  # independent columns, a Chow-Liu tree


def test_a_candidate_that_overtakes_is_the_one_to_beat():
    first, second, third = (candidate(str(i), -i, 10, climbed=gain) for i, gain in enumerate((1.0, 2.0, 0.0)))
    room._raced([first, second, third])
    assert third.search.log[0] == pytest.approx(second.scores.mean())


def test_optimism_is_taken_off_before_anything_is_compared():
    honest, flattered = candidate("honest", 0, 20, climbed=1.0), candidate("flattered", 3, 10, optimism=1.0)
    assert [found.search.name for found in room._raced([flattered, honest])] == ["honest"]
    assert honest.search.log[0] == "climb"
    assert flattered.search.log == [pytest.approx(-4 + 1)]  # what its own scores, with the optimism, have to reach


def test_rows_that_took_part_in_learning_a_tree_look_too_probable(monkeypatch):
    """Where no column depends on any other, a Chow-Liu tree of all rows predicts held-out rows too well."""
    found = {}

    def noted(candidates):
        found.update(zip(("independent", "chow-liu", "lcm", "hclt"), candidates, strict=True))
        return candidates[:1]

    monkeypatch.setattr(room, "_raced", noted)
    learned(as_table(np.random.default_rng(0).integers(0, 3, (300, 20))), [])
    scores = {name: each.scores.mean() for name, each in found.items()}
    flattered = {name: each.search.best.scores.mean() for name, each in found.items()}
    assert flattered["chow-liu"] > flattered["independent"] + 0.05
    assert scores["chow-liu"] < scores["independent"]
    assert found["hclt"].optimism > 0.05
    learned(chain(3000), [])
    assert found["chow-liu"].optimism == pytest.approx(0, abs=1e-12)  # every part has the same tree


def test_resolved_trees_are_as_flattered_as_hidden_twins(monkeypatch):
    seen = []
    monkeypatch.setattr(room, "_raced", lambda candidates: seen.extend(candidates) or candidates[:1])
    tree, table = latent_tree(250)
    learned(table, [tree])
    *_, resolved, twins = seen
    assert resolved.search.tree is tree
    assert resolved.optimism == twins.optimism > 0


def searched(monkeypatch, table, trees, search, close=("explained",), known=True):
    """Return the candidate of a search, that of a Chow-Liu tree, and the numbers of rows that were searched.

    Candidates of some kinds are close to the best. ``known`` says whether all rows are searched before the race.
    """
    seen, rows = {}, []

    def noted(part):
        rows.append(part.n_rows)
        return search(part)

    def raced(candidates):
        seen.update((candidate.kind, candidate) for candidate in candidates)
        return [candidate for candidate in candidates if candidate.kind in (*close, "independent")]

    monkeypatch.setattr(room, "_raced", raced)
    monkeypatch.setattr(room, "map_forked", lambda function, items: [function(item) for item in items])
    settings = Settings(goal="predict", random_state=0)
    predict(table, trees, settings, generator(0), noted(table) if known else None, noted)
    return seen.get("explained"), seen["chow-liu"], rows


def test_a_search_that_may_win_is_repeated_without_the_held_out_rows(monkeypatch):
    tree, table = latent_tree(600)
    star = latent_class(table.names).tree

    def lucky(rows):
        return tree if rows.n_rows == 600 else star

    found, _, rows = searched(monkeypatch, table, [], lucky)
    assert rows == [600] + [500] * 6
    assert found.search.tree is tree
    # What rows score with the star of each part, instead of the tree of all rows.
    honest = found.search.scores_on([star] * 6)
    assert found.optimism == pytest.approx(np.mean(found.search.first.scores - honest))
    assert found.optimism > 0.3


def test_a_search_is_at_least_as_flattered_as_a_chow_liu_tree(monkeypatch):
    tree, table = latent_tree(250)
    found, spanning, rows = searched(monkeypatch, table, [], lambda _: tree)
    assert len(rows) == 7
    assert found.optimism == spanning.optimism > 0


def test_a_search_that_finds_no_hidden_variable_is_no_candidate(monkeypatch):
    """Without them its tree is that of independent columns, or a part's own tree may have more than it."""
    tree, table = latent_tree(250)
    alone = Tree(table.names, [])
    found, _, rows = searched(monkeypatch, table, [], lambda part: alone if part.n_rows == 250 else tree)
    assert found is None
    assert rows == [250]


def test_a_search_that_is_clearly_behind_is_not_repeated(monkeypatch):
    tree, table = latent_tree(250)
    found, spanning, rows = searched(monkeypatch, table, [], lambda _: tree, close=())
    assert rows == [250]
    assert found.optimism == spanning.optimism


@pytest.mark.parametrize(("close", "n_searches"), [((), 0), (("resolved",), 1), (("resolved", "explained"), 7)])
def test_all_rows_are_searched_only_where_a_resolved_tree_is_close(monkeypatch, close, n_searches):
    tree, table = latent_tree(250)
    found, _, rows = searched(monkeypatch, table, [tree], lambda _: tree, close, known=False)
    assert (found is None) is (n_searches == 0)
    assert rows[:1] == [250] * min(n_searches, 1)
    assert len(rows) == n_searches


def test_candidates_are_the_methods_of_the_same_names():
    table = chain(100, 5)
    distance = room.pairwise(table, room.information)
    assert same_graph(room._spanning_tree(table), chow_liu(table.names, distance).tree)
    assert same_graph(room._twin_tree(table), hidden_chow_liu(table.names, distance).tree)


def test_candidates_are_told_with_how_far_they_are_behind():
    best, near, far = candidate("hclt", 0, 20), candidate("lcm", -1, 10, optimism=0.1), candidate("chow-liu", -6, 10)
    far.search.best.scores[0] = -np.inf  # a row that is impossible without smoothing
    chosen, *others = room._compared(best, [far, best, near])
    assert chosen == ("hclt", 0.0, 0.0)
    assert [one.kind for one in others] == ["lcm", "chow-liu"]
    assert others[0].behind == pytest.approx(ERROR + 0.1)
    assert others[0].error == pytest.approx(ERROR)
    assert np.isfinite(others[1][1:]).all()


def test_all_kinds_that_compete_are_told():
    found = learned(chain(200, 5))
    assert found.candidates[0].kind == "chow-liu"
    assert {one.kind for one in found.candidates} == {"independent", "chow-liu", "lcm", "resolved", "hclt"}
    assert all(one.kind in KINDS for one in found.candidates)
