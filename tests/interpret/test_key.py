"""What rows say of groups that were given: checked by hand on one column, and on tables whose groups are known."""

import numpy as np
import pandas as pd
import pytest

import latree
from latree.errors import InputError
from latree.facts.citation import cite
from latree.facts.found import facts_of
from latree.facts.words import key_facts
from latree.interpret.key import Evidence, Given, evidence_of, measure_key, places
from latree.learners.given import given_groups
from latree.model import fit_model
from latree.model.fitting import Part

# Two scales of four answers of three kinds, which depend on each other a little.
TREE = latree.Tree.from_newick("(a1,a2,a3,a4,(b1,b2,b3,b4));")
KEY = {name: f"scale {name[0]}" for name in TREE.names}


def rows(n, seed=0, tree=TREE):
    model = latree.random_model(tree, n_states=3, start="identity", perturbation=0.3, random_state=1)
    return latree.as_table(model.sample(n, random_state=seed))


def verdicts(key, table, **settings):
    model = latree.LatentTree(key=key, n_resamples=0, random_state=0, **settings).fit(table)
    found = model.summary_["key"]
    return {one["column"]: one for one in found["columns"]}, found, model.model_


def test_true_groups_fit():
    table = rows(1500)
    columns, found, model = verdicts(KEY, table)
    assert "No column was seen to fit another group better than its own." in cite(facts_of(model))
    assert {one["verdict"] for one in columns.values()} == {"fits"}
    assert [columns["a1"][name] for name in ("group", "other")] == ["scale a", "scale b"]
    assert columns["a1"]["ahead"] < 0 < columns["a1"]["gain"]
    assert found["found"] == {"n_groups": 2.0, "n_hidden": 2.0, "agreement": 1.0}
    assert abs(found["found_ahead"]) < 0.02  # the same tree, learned twice


def test_a_column_in_the_wrong_group_and_one_without_a_group():
    columns, found, model = verdicts(KEY | {"a4": "scale b", "b1": ""}, rows(1500))
    assert [columns["a4"][key] for key in ("verdict", "other")] == ["better in another group", "scale a"]
    (line,) = (one for one in facts_of(model)["discoveries"] if "fits another" in one)
    assert line == "1 column fits another group better than its own: a4 (scale a)."
    assert "1 column fits another group better than its own: a4 in scale a (by 0." in cite(facts_of(model))
    assert {name: one["verdict"] for name, one in columns.items() if name not in ("a4", "b1")} == {
        name: "fits" for name in TREE.names if name not in ("a4", "b1")
    }
    assert [columns["b1"][key] for key in ("group", "verdict", "other")] == [None, "fits a group", "scale b"]
    assert found["found_ahead"] > 3 * found["error"]
    assert "worse than what latree finds" in found["headline"]


def test_a_column_of_chance_fits_nowhere():
    table = rows(1500)
    codes = table.codes().copy()
    codes[:, 3] = np.random.default_rng(0).integers(0, 3, len(codes))
    codes[:, 7] = np.random.default_rng(1).integers(0, 3, len(codes))
    columns, *_ = verdicts({**KEY, "b4": ""}, latree.Table.from_codes(table.columns, codes))
    assert columns["a4"]["verdict"] == "not seen to fit"
    assert columns["b4"]["verdict"] == "fits no group"


def test_false_alarms_are_rare():
    """Columns that depend on both scales alike are the hardest: one of 8 tables is allowed where .05 is promised."""
    star = latree.Tree.from_newick("(a1,a2,a3,a4,b1,b2,b3,b4);")

    def given(table):
        structure = given_groups(table, KEY, 0, None)
        return fit_model(table, structure.tree, 3, random_state=0).model

    # What latree finds beside the key does not matter here, and takes most of the time.
    found = [key_facts(measure_key(rows(400, seed, star), KEY, given, given)) for seed in range(8)]
    alarms = [any(one["verdict"] == "better in another group" for one in facts["columns"]) for facts in found]
    assert sum(alarms) <= 1


def test_probabilities_of_a_column_given_a_group_are_those_of_the_model():
    """With the true model and many rows, they are P(column | all other columns), where its own group is true."""
    table = rows(40_000)
    model = latree.random_model(TREE, n_states=3, start="identity", perturbation=0.3, random_state=1)
    part = Part(table, table.take(np.arange(500)))
    hidden = {near: node for node in range(8, 10) for near, _ in TREE.neighbors[node] if near < 8}
    found = evidence_of(model, [Given([0, 1, 2, 3], hidden[0]), Given([4, 5, 6, 7], hidden[4])], part)
    codes = part.judged.codes()
    alone = np.log(np.bincount(table.codes()[:, 0]) / table.n_rows)[codes[:, 0]]
    without = latree.Table.from_codes(table.columns, np.where(np.arange(8) == 0, -1, codes))
    chances = pd.DataFrame(model.impute_proba(without))[[f"a1={value}" for value in range(3)]].to_numpy()
    own = np.log(chances[np.arange(500), codes[:, 0]])
    assert -found.sums[0][0, 2] == pytest.approx(float((own - alone).sum()), abs=3)
    assert found.sums[0][0, 0] == 0
    assert found.weights[0, 0] == 500


def test_means_and_standard_errors():
    d, w = np.array([0.5, -0.2, 0.1, 0.4]), np.array([1.0, 2, 1, 3])
    sums = np.zeros((3, 1, 3))
    for level, of, power in ((0, 1, 1), (1, 2, 1), (2, 2, 2)):
        sums[level, 0, 1] = (w**of * d**power).sum()
    (place,) = places(Evidence(sums, np.array([[w.sum()], [(w**2).sum()]])), ["x"], ["one", "two"], [{0}, set()])
    mean = np.average(d, weights=w)
    assert (place.group, place.other) == ("one", "two")
    assert place.ahead == pytest.approx(mean)
    assert place.ahead_error == pytest.approx(np.sqrt(((w * (d - mean)) ** 2).sum()) / w.sum())


def test_groups_have_the_names_that_were_given_and_scores():
    model = latree.LatentTree(key=KEY, random_state=0).fit(rows(300))
    assert [(group.name, group.columns) for group in model.groups_] == [
        ("scale a", ("a1", "a2", "a3", "a4")),
        ("scale b", ("b1", "b2", "b3", "b4")),
    ]
    assert list(model.get_feature_names_out()) == ["scale a", "scale b"]
    assert model.summary_["settings"]["key"] == tuple(KEY.items())


def test_a_saved_model_knows_its_key(tmp_path):
    model = latree.LatentTree(key=KEY, random_state=0).fit(rows(300))
    model.save(tmp_path / "model.json")
    loaded = latree.LatentTree.load(tmp_path / "model.json")
    assert loaded.key == KEY
    assert loaded.summary_["key"] == model.summary_["key"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"key": {"a1": "x", "b1": "y"}}, "key: no group has two columns"),
        ({"key": {"c1": "x"}}, "key: none of their names, such as 'c1', is one of the columns"),
        ({"key": ["a1"]}, "key must be the name of a CSV file, or a mapping"),
        ({"key": KEY, "method": "nj"}, "nothing is left for method 'nj'"),
        ({"key": KEY, "goal": "predict"}, "nothing is left for goal 'predict'"),
        ({"key": KEY, "bootstrap": 5}, "leave out bootstrap"),
    ],
)
def test_keys_that_make_no_sense(settings, message):
    with pytest.raises(InputError, match=message):
        latree.LatentTree(random_state=0, **settings).fit(rows(60))


def test_a_name_that_is_not_a_column_is_said():
    with pytest.warns(latree.FitWarning, match="there is a group for 'a9', which is not a column"):
        latree.LatentTree(key=KEY | {"a9": "scale a"}, random_state=0).fit(rows(100))
