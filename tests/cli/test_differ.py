"""The command compare with --by, and the same from Python."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import latree
from helpers.cli import run, succeed
from latree.datasets import make_questionnaire
from latree.facts.differ import comparison_lines

N_ROWS = 300


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with a model and its rows, with columns that tell groups."""
    folder = tmp_path_factory.mktemp("files")
    answers = make_questionnaire(N_ROWS)
    rng = np.random.default_rng(1)
    rows = answers.data[[name for name in answers.data if name.startswith(("worry", "social"))]]
    model = latree.LatentTree(random_state=0, n_resamples=0).fit(rows)
    model.save(folder / "model.json")
    worries = rng.random(N_ROWS) < 0.15 + 0.35 * answers.rows["worry"]
    rows.assign(
        gender=np.where(worries, "women", "men"),
        age=rng.integers(18, 80, N_ROWS),
        rare=np.where(np.arange(N_ROWS) < 3, "few", "many"),
        person=np.arange(N_ROWS) // 2,
    ).to_csv(folder / "data.csv", index=False)
    return folder


@pytest.fixture
def here(files, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("model.json", "data.csv"):
        Path(name).write_bytes((files / name).read_bytes())


@pytest.mark.usefixtures("here")
def test_groups_of_rows_are_compared():
    text = succeed("compare", "model.json", "data.csv", "--by", "gender", "--out", "new/deep/differences.csv")
    assert "Groups by 'gender': men (" in text
    assert "Do the columns work alike? None of 10 columns" in text
    table = pd.read_csv("new/deep/differences.csv")
    means = table[table["what"] == "mean"].set_index("name")
    assert len(table) == 12
    assert abs(means.loc["worry", "difference"]) > 0.5
    assert means.loc["worry", "differs"] == "yes"
    facts = json.loads(succeed("compare", "model.json", "data.csv", "--by", "gender", "--json"))
    assert facts["means"][0]["differences"][0]["difference"] == pytest.approx(means["difference"].iloc[0], abs=1e-5)
    states = [sum(group["states"].values()) for one in facts["means"] for group in one["groups"]]
    assert states == pytest.approx([1.0] * 4)
    model = latree.LatentTree.load("model.json")
    same = model.compare_rows("data.csv", by="gender")
    assert same.facts == facts
    assert str(same) in text
    assert same.items["column"].tolist() == table.loc[table["what"] == "column", "name"].tolist()
    data = pd.read_csv("data.csv")
    items = data.filter(regex="_[1-5]$")
    assert model.compare_rows(items, by=data["gender"]).means.equals(same.means)
    # As on the command line, other columns that the model does not have do not matter.
    fitted = latree.LatentTree(random_state=0, n_resamples=0).fit(items)
    assert fitted.compare_rows(data, by="gender").means.equals(same.means)


@pytest.mark.usefixtures("here")
def test_a_codebook_names_the_groups():
    data = pd.read_csv("data.csv")
    data["gender"] = data["gender"].map({"men": 1, "women": 2})
    data.to_csv("codes.csv", index=False)
    Path("book.csv").write_text("column,text,answers\ngender,Gender?,1=men; 2=women; 3=other\nage,Age?,\n")
    text = succeed("compare", "model.json", "codes.csv", "--by", "gender", "--texts", "book.csv")
    assert text == succeed("compare", "model.json", "data.csv", "--by", "gender")
    # A codebook may say nothing of the column, and names questions of a model that was fitted without one.
    book = "column,text,answers\ngender,Gender?,1=men; 2=women\nage,,18 to 99\nworry_1,I worry,2=seldom; 5=yes\n"
    Path("book.csv").write_text(book)
    arguments = ("compare", "model.json", "codes.csv", "--texts", "book.csv", "--by")
    facts = json.loads(succeed(*arguments, "person", "--cuts", "75", "--json"))
    assert [group["name"] for group in facts["groups"]] == ["<= 75", "> 75"]
    assert {one["column"]: one["description"] for one in facts["items"]}["worry_1"] == "I worry"
    # A fit with the codebook keeps what it says of columns that are not in the model.
    succeed("fit", "codes.csv", "--drop", "gender,age,rare,person", "--texts", "book.csv", "--out", "run")
    facts = json.loads(succeed("compare", "run", "codes.csv", "--by", "gender", "--json"))
    assert [group["name"] for group in facts["groups"]] == ["men", "women"]
    facts = json.loads(succeed(*arguments, "worry_1", "--json"))
    assert facts["groups"][0]["name"] == "seldom"


def test_what_is_printed_of_three_groups():
    pairs = [{"group": name, "from": "young"} for name in ("middle", "old")]
    numbers = [{"difference": 0.1, "low": -0.1, "high": 0.3}, {"difference": 0.5, "low": 0.3, "high": 0.7}]
    differences = [pair | number | {"all_tied": 0.25} for pair, number in zip(pairs, numbers, strict=True)]
    sizes = [{"difference": -0.05, "size": "negligible"}, {"difference": -0.5, "size": "large"}]
    effects = [pair | size for pair, size in zip(pairs, sizes, strict=True)]
    item = {"scale": "mood", "p": 0.5, "differs": False, "tied": True, "description": "", "effects": effects}
    differs = {"p": 0.0, "differs": True}
    items = [item | {"column": name} for name in ("a", "b")]
    items += [
        item | differs | {"column": "c", "tied": False, "description": "I sing"},
        item | differs | {"column": "d"},
    ]
    groups = [{"name": name, "rows": 60, "states": {"low": 0.4, "high": 0.6}} for name in ("young", "middle", "old")]
    facts = {
        "by": "age",
        "groups": groups,
        "n_clusters": 180,
        "notes": [],
        "means": [{"name": "mood", "differs": True, "groups": groups, "differences": differences}],
        "items": items,
        "not_compared": [],
        "no_answers": [],
    }
    text = "\n".join(comparison_lines(facts))
    lines = [
        "Where they stand: standard deviations above 'young', with 95 % intervals",
        "  mood  middle  +0.10  [-0.10, +0.30]  all tied +0.25  (may be chance)",
        "        old     +0.50  [+0.30, +0.70]  all tied +0.25",
        "'mood': 2 of 4 columns work differently (below), so that its difference rests on",
        "'a', 'b' and 'd' alone.",
        "  c  middle  -0.05  negligible  I sing",
        "     old     -0.50  large",
        "  d  middle  -0.05  negligible",
        "are without 'c'. 'd' still counts there.",
    ]
    assert [line for line in text.splitlines() if line in lines] == [*lines[:8], lines[6], lines[8]]


@pytest.mark.usefixtures("here")
def test_ages_are_cut_and_clusters_are_said():
    text = succeed("compare", "model.json", "data.csv", "--by", "age", "--cuts", "40", "--cluster", "person")
    assert "Groups by 'age': <= 40 (" in text
    assert "150 clusters" in text
    facts = json.loads(succeed("compare", "model.json", "data.csv", "--by", "age", "--json"))
    assert [group["rows"] > 80 for group in facts["groups"]] == [True] * 3
    assert len(facts["items"][0]["effects"]) == 2


@pytest.mark.usefixtures("here")
def test_trees_of_groups_are_compared_with_those_of_random_groups():
    arguments = ("compare", "model.json", "data.csv", "--by", "gender", "--trees", "2", "--json")
    trees = json.loads(succeed(*arguments))["trees"]
    assert trees == json.loads(succeed(*arguments))["trees"]
    assert len(trees["random"]) == 2
    assert trees["p"] == (1 + sum(other >= trees["distance"] for other in trees["random"])) / 3


@pytest.mark.usefixtures("here")
def test_a_column_of_the_model_is_in_no_group_of_columns():
    facts = json.loads(succeed("compare", "model.json", "data.csv", "--by", "worry_5", "--cuts", "3", "--json"))
    assert "worry_5" not in [one["column"] for one in facts["items"]]


@pytest.mark.usefixtures("here")
def test_scores_are_flipped_and_turned_like_those_of_another_model():
    before = latree.LatentTree.load("model.json").transform("data.csv")
    name = before.columns[0]
    printed = succeed("rename", "model.json", "--flip", name, "--out", "turned.json")
    assert printed.startswith(f"{name} counts in the other direction now\n")
    after = latree.LatentTree.load("turned.json").transform("data.csv")
    assert np.allclose(after[name], 1 - before[name])
    again = succeed("rename", "turned.json", "--like", "model.json", "--out", "again.json")
    assert again.startswith(f"{name} counts in the other direction now\n")
    assert np.allclose(latree.LatentTree.load("again.json").transform("data.csv"), before)
    assert "all groups count in the same direction" in succeed("rename", "again.json", "--like", "model.json")
    code, _, error = run("rename", "model.json")
    assert code == 2
    assert "nothing to do" in error


@pytest.mark.usefixtures("here")
def test_scores_are_written_by_norms():
    succeed("transform", "model.json", "data.csv", "--scale", "t", "--out", "scores.csv")
    scores = pd.read_csv("scores.csv")[list(latree.LatentTree.load("model.json").get_feature_names_out())]
    assert np.allclose(scores.mean(), 50, atol=0.01)
    assert np.allclose(scores.std(ddof=0), 10, atol=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by", "rare"], "two groups of at least 50 rows are needed; there are: 'few' 3 rows, 'many' 297 rows"),
        (["--by", "gander"], "has no column 'gander'; did you mean 'gender'?"),
        (["--by", "gender", "--cuts", "3"], "is not a number"),
        (["--by", "age", "--cuts", "x"], "--cuts: give numbers that increase, such as 30 and 50, not 'x'"),
        (["--by", "gender", "--trees", "1", "--cluster", "person"], "leave out one of the two"),
        (["--cluster", "person"], "--cluster is for groups of rows"),
        (["--by", "gender", "--data", "data.csv"], "the table is the second argument"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_is_refused(options, message):
    code, _, error = run("compare", "model.json", "data.csv", *options)
    assert code == 2
    assert message in error


def test_columns_without_an_order_and_numbers_with_bins_are_left_out():
    answers = make_questionnaire(N_ROWS).data
    rows = answers[[name for name in answers if name.startswith("worry")]].copy()
    first, second = rows.columns[:2]
    rows[first] = rows[first].map({1: "e", 2: "b", 3: "d", 4: "a", 5: "c"})
    rows[second] = rows[second] + np.random.default_rng(0).random(N_ROWS)
    model = latree.LatentTree("lcm", n_states=3, random_state=0).fit(rows)
    found = model.compare_rows(rows, by=["one", "two"] * (N_ROWS // 2))
    assert found.facts["no_answers"] == [first, second]
    assert {item["column"] for item in found.facts["items"]} == {*rows.columns[2:]}
    assert f"{first!r} and {second!r}" in " ".join(str(found).split())
