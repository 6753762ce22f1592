"""The commands power and theory."""

import csv
import json

import numpy as np
import pytest

from helpers.cli import invoke
from helpers.models import model_on
from helpers.paper import easy_model
from latree.errors import InputError
from latree.learners.methods import METHODS
from latree.paper.simulate import random_model, random_tree
from latree.paper.theory import most_tests, rows_needed, tree_facts
from latree.tree import Tree


def test_the_power_command_writes_its_curve(tmp_path):
    easy_model().save(tmp_path / "model.json")
    arguments = ["power", tmp_path / "model.json", "--repeats", 5, "--target", 0.8]
    curve = tmp_path / "new" / "curve"
    result = invoke(*arguments, "--out", curve)
    assert result.exit_code == 0, result.exception
    summary = json.loads(invoke(*arguments, "--json").output)
    answer = next(point for point in summary["curve"] if point["rows"] == summary["rows_needed"])
    interval = f"{answer['found']} of 5 trees found, 95 % interval {answer['low']:.0%} to {answer['high']:.0%}"
    assert f"80% is reached with {answer['rows']} rows: {interval}\n" in result.output
    assert summary["unsure"]  # five repeats are few
    assert "Caution: " in result.output
    assert sorted(file.name for file in curve.iterdir()) == ["power.csv", "power.png", "power.svg"]
    with (curve / "power.csv").open() as stream:
        assert [int(row["rows"]) for row in csv.DictReader(stream)] == [point["rows"] for point in summary["curve"]]
    assert summary["rows_needed"] in [point["rows"] for point in summary["curve"]]


def test_power_refuses_trees_that_the_method_never_returns(tmp_path):
    many = Tree("abcdef", [(0, 6), (1, 6), (2, 6), (6, 7), (3, 7), (4, 7), (5, 7)])
    inner = Tree("abcde", [(0, 1), (1, 5), (5, 2), (5, 3), (3, 4)])
    two = Tree("abcd", [(0, 4), (1, 4), (4, 6), (6, 5), (2, 5), (3, 5)])
    parts = Tree("abcdef", [(0, 6), (1, 6), (2, 6), (3, 7), (4, 7), (5, 7)])
    words = {many: "H1 has 4 neighbours", inner: "'b' is an inner node", two: "H3 has 2 neighbours", parts: "2 parts"}
    returned = {
        many: "auto spectral rg clrg clnj chow-liu hclt lcm",
        inner: "auto rg clrg clnj chow-liu",
        two: "auto hclt",
        parts: "auto hw independent",
    }
    for tree, reason in words.items():
        model_on(tree, [2] * tree.n_nodes, 0).save(tmp_path / "model.json")
        for method in METHODS:
            options = ("--method", method, "--max-rows", 50, "--repeats", 1, "--states", 2)
            result = invoke("power", tmp_path / "model.json", *options)
            if method in returned.get(tree, "").split():
                assert result.exit_code == 0, (method, result.exception)
            else:
                assert isinstance(result.exception, InputError), (method, reason)
                assert all(word in str(result.exception) for word in (reason, repr(method)))


def test_the_theory_command_prints_what_the_library_computes(tmp_path):
    model = easy_model()
    model.save(tmp_path / "model.json")
    plain = invoke("theory", tmp_path / "model.json")
    assert plain.exit_code == 0
    for expected in ("all 15 quartets", "A1  holds", "A4  FAILS", "α_min > 0 over all quartets", "With 2000 rows"):
        assert expected in plain.output
    summary = json.loads(invoke("theory", tmp_path / "model.json", "--json", "--target", "0.5").output)
    assert summary["rows_needed"] == np.ceil(32 * np.log(8 * 7 / 0.5) / summary["alpha_min"] ** 2)
    assert isinstance(summary["rows_needed"], int)
    assert f"For a probability of 0.5: {summary['rows_needed']} rows\n" in (
        invoke("theory", tmp_path / "model.json", "--target", "0.5").output
    )
    assert summary["conditions"]["A2"]["holds"] is True


def theory_of(tmp_path, tree, *options, seed=0):
    model_on(tree, [2] * tree.n_nodes, seed).save(tmp_path / "small.json")
    return invoke("theory", tmp_path / "small.json", *options)


def test_the_theory_tells_stars_from_quartets_that_were_not_checked(tmp_path):
    star_like = Tree("abcdef", [(0, 6), (1, 6), (2, 6), (6, 7), (3, 7), (4, 7), (5, 7)])
    plain = theory_of(tmp_path, star_like).output
    assert "all 15 quartets, of which 6 are stars" in plain
    assert "random" not in plain
    assert "With 2000 rows" not in plain
    assert "does not apply, because Algorithm 2 returns binary trees only: hidden variable H1 has 4 neighbours" in plain
    summary = json.loads(theory_of(tmp_path, star_like, "--json").output)
    assert (summary["quartets_checked"], summary["star_quartets"]) == (15, 6)
    assert summary["probability_at_least"] is summary["rows_needed"] is None
    random_model(random_tree(18, 0.5, 0), n_states=2, hidden_states=2, random_state=0).save(tmp_path / "large.json")
    assert "2000 random ones of 3060 quartets\n" in invoke("theory", tmp_path / "large.json").output


def test_the_theory_rounds_towards_caution(tmp_path):
    tree = Tree("abcd", [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5)])
    model = random_model(tree, n_states=4, hidden_states=2, perturbation=0.05, random_state=0)
    model.save(tmp_path / "model.json")
    sure = invoke("theory", tmp_path / "model.json", "--rows", 10**9).output
    assert "checked: the only quartet\n" in sure
    assert "1 of 1 quartet;" in sure
    assert "probability of more than 0.999\n" in sure
    rows = rows_needed(tree_facts(model).alpha_min, 0.95, most_tests(4)) - 1
    assert "at least 0.949\n" in invoke("theory", tmp_path / "model.json", "--rows", rows).output
    assert "at least 0 (the bound says nothing" in invoke("theory", tmp_path / "model.json", "--rows", 5).output
    one = invoke("theory", tmp_path / "model.json", "--quartet", *"abcd", "--rows", 10**9).output
    assert "probability of more than 0.999\n" in one


def test_the_theory_of_columns_alone_has_nothing_to_check(tmp_path):
    result = theory_of(tmp_path, Tree("abcd", [(0, 1), (1, 2), (2, 3)]))
    assert isinstance(result.exception, InputError)
    assert "nothing to check" in str(result.exception)


def test_the_theory_of_one_quartet(tmp_path):
    model = easy_model()
    model.save(tmp_path / "model.json")
    plain = invoke("theory", tmp_path / "model.json", "--quartet", "x0", "x1", "x2", "x3")
    assert plain.exit_code == 0
    assert "Δ = P_HG - P_H P_Gᵀ" in plain.output
    facts = json.loads(invoke("theory", tmp_path / "model.json", "--quartet", "x0", "x1", "x2", "x3", "--json").output)
    assert np.sum(facts["p_hg"]) == pytest.approx(1)
    assert np.linalg.norm(facts["perturbation"]) == pytest.approx(facts["delta"])
    for wrong in (["x0", "x1", "x2", "x2"], ["x0", "x1", "x2", "zz"]):
        assert isinstance(invoke("theory", tmp_path / "model.json", "--quartet", *wrong).exception, InputError)
