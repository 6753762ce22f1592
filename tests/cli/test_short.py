"""The command short, and the same from Python."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import latree
from helpers.cli import run, succeed
from latree.datasets import make_questionnaire

N_ROWS = 300


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    answers = make_questionnaire(N_ROWS).data
    rows = answers[[name for name in answers if name.startswith(("worry", "social"))]]
    latree.LatentTree(random_state=0, n_resamples=0).fit(rows).save(folder / "model.json")
    rows.assign(weight=[1, 2, 3] * (N_ROWS // 3)).to_csv(folder / "data.csv", index=False)
    return folder


@pytest.fixture
def here(files, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("model.json", "data.csv"):
        Path(name).write_bytes((files / name).read_bytes())


@pytest.mark.usefixtures("here")
def test_a_short_form_is_chosen():
    text = succeed("short", "model.json", "data.csv", "--items", 5, "--keep", "worry_5", "--out", "form.csv")
    assert text.startswith("5 of 10 columns: correlation with the full scores 0.")
    assert "(300 rows)" in text
    assert text.endswith("\nWritten to form.csv\n")
    facts = json.loads(succeed("short", "model.json", "data.csv", "--items", 5, "--keep", "worry_5", "--json"))
    assert len(facts["columns"]) == 5
    assert "worry_5" in facts["columns"]
    for group in facts["groups"]:
        assert group["columns"] == [name for name in facts["columns"] if name.startswith(group["name"])]
        assert 0.7 < group["correlation"] < 1
        assert group["apart"] == pytest.approx((group["reliability"] * group["full_reliability"]) ** 0.5)
        assert group["apart"] < group["correlation"]
    assert [one["n_items"] for one in facts["lengths"]] == list(range(1, 11))
    assert [group["correlation"] for group in facts["lengths"][-1]["groups"]] == pytest.approx([1, 1])
    table = pd.read_csv("form.csv")
    assert len(table) == 20
    chosen = table[table["chosen"] == "yes"]
    assert ", ".join(chosen["names"]).split(", ") == [name for group in facts["groups"] for name in group["columns"]]
    found = latree.LatentTree.load("model.json").short_form("data.csv", 5, keep=["worry_5"])
    assert found.facts == facts
    assert str(found) in text
    assert found.columns == facts["columns"]
    assert found.groups["correlation"].tolist() == chosen["correlation"].tolist()
    assert found.curve["apart"].tolist() == table["apart"].tolist()


@pytest.mark.usefixtures("here")
def test_without_a_length_it_stops_where_more_columns_add_little():
    facts = json.loads(succeed("short", "model.json", "data.csv", "--json"))
    lowest = {one["n_items"]: min(group["correlation"] for group in one["groups"]) for one in facts["lengths"]}
    assert facts["n_items"] == facts["enough"] == min(n for n, value in lowest.items() if value**2 >= 0.9)
    text = succeed("short", "model.json", "data.csv", "--drop", "worry_1,worry_2,worry_3,worry_4")
    assert text.startswith("6 of 10 columns")
    assert "With no number of these columns does every score share 90 % of its variance" in " ".join(text.split())


@pytest.mark.usefixtures("here")
def test_groups_and_weights_count():
    facts = json.loads(succeed("short", "model.json", "data.csv", "--group", "worry", "--keep", "social_1", "--json"))
    assert [group["name"] for group in facts["groups"]] == ["worry"]
    assert facts["without_score"] == ["social_1"]
    assert facts["columns"][0].startswith("worry")
    text = " ".join(succeed("short", "model.json", "data.csv", "--items", 1, "--keep", "social_1").split())
    assert "In the form because they were to be kept: 'social_1'." in text
    assert "Without any column in the form, and so the same score for everybody: 'worry'." in text
    weighted = json.loads(succeed("short", "model.json", "data.csv", "--items", 4, "--weights", "weight", "--json"))
    plain = json.loads(succeed("short", "model.json", "data.csv", "--items", 4, "--json"))
    assert weighted["groups"][0]["correlation"] != plain["groups"][0]["correlation"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--items", 11], "--items must be a whole number from 1 to 10, not 11"),
        (
            ["--items", 1, "--keep", "worry_1,worry_2"],
            "--items must be a whole number from 2, the columns to keep, to 10",
        ),
        (["--keep", "wory_1"], "the model has no column 'wory_1': did you mean 'worry_1'?"),
        (["--keep", "worry_1", "--drop", "worry_1"], "'worry_1': in both --keep and --drop; take it out of one"),
        (["--group", "joy"], "the model has no group with a score 'joy'"),
        (["--group", "worry", "--drop", "worry_1,worry_2,worry_3,worry_4,worry_5"], "--drop: no column of a group"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_is_wrong_is_said_in_one_line(options, message):
    code, out, error = run("short", "model.json", "data.csv", *options)
    assert (code, out) == (2, "")
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.usefixtures("here")
def test_questions_in_words_stand_beside_their_names():
    model = latree.LatentTreeModel.load("model.json")
    columns = (replace(model.columns[0], description="Do you worry\n often?"), *model.columns[1:])
    replace(model, columns=columns).save("texts.json")
    name = columns[0].name
    text = succeed("short", "texts.json", "data.csv", "--items", 4, "--keep", name)
    assert f"    {name}  Do you worry often?\n" in text
    assert json.loads(succeed("short", "texts.json", "data.csv", "--json"))["texts"] == {name: "Do you worry\n often?"}
