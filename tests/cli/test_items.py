"""The command items."""

import json

import pandas as pd

import latree
from helpers.cli import run, succeed
from latree.datasets import make_questionnaire


def test_items_are_printed_and_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = make_questionnaire(300, random_state=0).data.filter(regex="worry|social")
    rows.to_csv("data.csv", index=False)
    model = latree.LatentTree(random_state=0, n_resamples=0).fit(rows)
    model.save("model.json")
    text = succeed("items", "model.json", "data.csv", "--out", "items.csv")
    assert text.startswith("10 columns, 300 rows\n\nworry: alpha 0.")
    assert "  worry_5 (−)   -0." in text
    assert text.endswith("\n\nWritten to items.csv\n")
    assert max(map(len, text.splitlines())) <= 80
    table, frame = pd.read_csv("items.csv"), model.items(rows)
    assert list(table) == list(frame)
    assert table["verdict"].tolist() == frame["verdict"].tolist()
    assert table["item_rest"].tolist() == frame["item_rest"].tolist()
    facts = json.loads(succeed("items", "model.json", "data.csv", "--json"))
    assert [one["column"] for one in facts["items"]] == frame["column"].tolist()
    assert [group["name"] for group in facts["groups"]] == ["worry", "social"]
    code, _, error = run("items", "data.csv", "model.json")
    assert code == 2
    assert error.count("\n") == 1
