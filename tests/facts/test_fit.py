"""The facts about the fit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import latree
from helpers.report import learned_run
from latree.facts.fit import python_lines
from latree.facts.found import report_facts
from latree.facts.words import worth_facts
from latree.interpret.worth import measure_worth
from latree.settings import Settings
from latree.table.reading import Reading, as_reading


@pytest.fixture(scope="module")
def learned():
    return learned_run()


def test_rows_that_were_not_fitted_give_a_warning(learned):
    assert report_facts(learned.model, learned.table)["fit"]["warnings"] == list(learned.warnings)
    other = learned.model.sample(300, random_state=9)
    assert "not the rows that the model was fitted to" in report_facts(learned.model, other)["fit"]["warnings"][-1]
    facts = report_facts(learned.model, learned.table, test=other)["fit"]
    assert facts["own"]["held_out"] == pytest.approx(learned.model.log_density(other) / 300, abs=1e-4)


def test_one_attempt_is_the_chosen_one(learned):
    tried = report_facts(learned.model)["fit"]["record"]["tried"]
    (chosen,) = [attempt for attempt in tried if attempt["chosen"]]
    assert chosen["smoothing"] == learned.smoothing
    alike = [attempt["held_out"] for attempt in tried if attempt["held_out"] and attempt["most"] == chosen["most"]]
    assert chosen["held_out"] == max(alike)


def test_gains_are_cross_validated_and_those_of_test_rows_are_beside_them(learned):
    worth = learned.worth
    facts = report_facts(learned.model)["fit"]
    assert [compared["gain"] for compared in facts["compared"]] == pytest.approx(
        [*(simpler.gain for simpler in worth.simpler), worth.gain], abs=1e-4
    )
    assert [compared["name"] for compared in facts["compared"]] == ["Chow-Liu tree", "One hidden variable", "This tree"]
    assert facts["worth"]["headline"] == learned.summary["worth"]["headline"]
    assert facts["worth"]["verdict"] == learned.summary["worth"]["verdict"]
    assert [compared["test_gain"] for compared in facts["compared"]] == [None, None, None]
    new = learned.model.sample(400, random_state=9)
    facts = report_facts(learned.model, learned.table, test=new)["fit"]
    counts = [np.bincount(column, minlength=3) + 0.1 for column in learned.table.codes().T]
    independent = sum(
        np.log(count / count.sum())[codes].mean() for count, codes in zip(counts, new.codes().T, strict=True)
    )
    expected = learned.model.log_likelihood(new) / 400 - independent
    assert facts["test_gain"] == pytest.approx(expected, abs=1e-3)
    assert facts["compared"][-1]["test_gain"] == facts["test_gain"]
    assert all(compared["test_gain"] < facts["test_gain"] for compared in facts["compared"][:-1])


def test_a_model_without_a_record_is_measured_with_its_rows():
    tree = latree.random_tree(6, random_state=0)
    model = latree.random_model(tree, n_states=3, start="identity", perturbation=0.2, random_state=0)
    table = model.sample(300, random_state=0)
    worth = measure_worth(model, table)
    assert report_facts(model, table)["fit"]["worth"]["headline"] == worth_facts(worth, "explain")["headline"]
    assert report_facts(model)["fit"]["worth"] is None
    assert report_facts(model, table.take(np.arange(20)))["fit"]["worth"] is None


def test_python_lines_have_the_settings_that_were_chosen(learned):
    assert "LatentTree().fit(df)" in python_lines(None)
    settings = Settings(method="nj", goal="predict", n_states=3, random_state=0)
    lines = python_lines(replace(learned.model.record, settings=settings))
    assert "LatentTree(method='nj', goal='predict', n_states=3, random_state=0).fit(df)" in lines
    compile(lines, "lines", "exec")


def test_lines_of_python_say_how_the_data_were_read(learned):
    reading = Reading(drop=["day"], identifier="person", missing_also=[-99], kinds={"a": ["low", "high"]})
    plain = replace(learned.model.record, settings=Settings(random_state=0))
    line = python_lines(replace(plain, reading=reading)).splitlines()[3]
    made = eval(line.removeprefix("model = ").removesuffix(".fit(df)"), {"latree": latree})
    assert as_reading(made.reading) == reading
    assert "bins" not in line
    line = python_lines(replace(plain, settings=Settings(), reading=Reading())).splitlines()[3]
    assert line == "model = latree.LatentTree().fit(df)"


@pytest.mark.parametrize(("named", "are"), [(True, None), (False, None), (True, "survey")])
def test_lines_of_python_repeat_a_fit_with_weights_and_labels(tmp_path, monkeypatch, named, are):
    model = latree.random_model(latree.random_tree(6, random_state=1), n_states=2, start="identity", random_state=1)
    df = pd.DataFrame(model.sample(200, random_state=0).codes(), columns=model.tree.names)
    weights = np.arange(200) % 3 + 1
    labels = {name: f"label {name}" for name in df.columns}
    if named:
        df["how often"] = weights
    fitted = latree.LatentTree("lcm", n_states=2, random_state=0, labels=labels, reading={"weights_are": are})
    fitted.fit(df, sample_weight="how often" if named else weights)
    lines = report_facts(fitted.model_)["fit"]["python"]
    monkeypatch.chdir(tmp_path)
    names = {"df": df, "labels": labels} | ({} if named else {"weights": weights})
    exec(lines, names)
    again = names["model"].model_
    assert again.record == fitted.model_.record
    for one, other in zip(again.tables, fitted.model_.tables, strict=True):
        np.testing.assert_array_equal(one, other)
    assert "not the rows that the model was fitted to" not in (tmp_path / "report.html").read_text(encoding="utf-8")
