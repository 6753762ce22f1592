"""The commands groups and rename."""

import json
from pathlib import Path

import pytest

from helpers.cli import run, succeed
from helpers.csv import HEADER
from latree.facts.found import facts_of
from latree.facts.text import HEADER as COLUMNS
from latree.facts.text import group_lines
from latree.model import LatentTreeModel

pytestmark = pytest.mark.usefixtures("folder")


def load(path="model.json"):
    return LatentTreeModel.load(path)


def test_groups_are_printed_written_or_given_as_json():
    model = load()
    assert succeed("groups", "model.json") == "\n".join(group_lines(facts_of(model))) + "\n"
    assert [group["name"] for group in json.loads(succeed("groups", "model.json", "--json"))] == [
        group.name for group in model.groups
    ]
    assert succeed("groups", "model.json", "--out", "groups.csv") == "Written to groups.csv\n"
    header, *rows = Path("groups.csv").read_text().splitlines()
    assert header == ",".join(COLUMNS)
    assert sorted(row.split(",")[0].strip('"') for row in rows) == sorted(HEADER)
    assert run("groups", "model.json", "--out", "groups.csv")[0] == 2
    succeed("groups", "model.json", "--out", "groups.csv", "--force")
    succeed("groups", "model.json", "--out", "groups.tsv")
    assert Path("groups.tsv").read_text().splitlines()[0] == "\t".join(COLUMNS)


def test_any_number_of_groups():
    most = 1 + len(load().levels.edges)
    for n in range(1, most + 1):
        found = json.loads(succeed("groups", "model.json", "--n", str(n), "--json"))
        assert sum(group["level"] == "main" for group in found) == n
    assert succeed("groups", "model.json", "--n", "1").startswith("1 group in ")
    succeed("groups", "model.json", "--n", "1", "--out", "one.csv")
    assert Path("one.csv").read_text().splitlines()[0] == ",".join(COLUMNS)
    code, _, message = run("groups", "model.json", "--n", str(most + 1))
    assert code == 2
    assert message.startswith(f"latree: model.json: the tree cannot be cut into {most + 1} groups: choose n from")
    assert message.count("\n") == 1
    assert run("groups", "model.json", "--n", "0")[0] == 2


def test_groups_of_a_model_that_has_none():
    plain = json.loads(Path("model.json").read_text())
    del plain["groups"], plain["hidden_names"]
    Path("bare.json").write_text(json.dumps(plain))
    assert succeed("groups", "bare.json").startswith(group_lines(facts_of(load()))[0])


def test_rename_in_place_and_to_a_new_file():
    before = load()
    name = before.hidden_names[0]
    assert succeed("rename", "model.json", "H1=the mood") == ("H1 is now the mood\nWritten to model.json.\n")
    assert load().hidden_names == ("the mood", *before.hidden_names[1:])
    assert succeed("rename", "model.json", f"the mood={name}", "--out", "again.json", "--quiet") == ""
    assert load("again.json").hidden_names == before.hidden_names
    assert load().hidden_names[0] == "the mood"
    assert "the mood" in succeed("groups", "model.json") or "the mood" not in {group.name for group in load().groups}


def test_files_that_a_new_direction_makes_old_are_named():
    for name in ("report.html", "groups.csv", "tree.nwk"):
        Path(name).write_text("old")
    printed = succeed("rename", "model.json", "--flip", "H1")
    assert "These files beside it stay as they were: report.html, groups.csv. To write new ones: latree rep" in printed
    assert "latree groups model.json --out NEW.csv" in printed
    assert Path("groups.csv").read_text() == "old"


def test_names_may_contain_the_sign_itself():
    succeed("rename", "model.json", "H1=a=b")
    assert load().hidden_names[0] == "a=b"
    succeed("rename", "model.json", "a=b=c=d")
    assert load().hidden_names[0] == "c=d"
    succeed("rename", "model.json", " H1 = mood ")
    assert "mood keeps its name: unchanged\n" in succeed("rename", "model.json", "mood=mood")
    assert load().hidden_names[0] == "mood"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["H1"], "'H1' is not of the form OLD=NEW"),
        (["H1=a"], "'a' of hidden variable H1 is also the name of a column"),
        (["a=x"], "'a' is a column"),
        (["H9=x"], "no hidden variable or group 'H9'; did you mean"),
        (["H1=x", "H1=y"], "'H1' is to be renamed twice"),
        (["H1="], "is empty"),
        (["H1=fine", "H9=x"], "no hidden variable or group 'H9'"),
    ],
)
def test_wrong_names_change_nothing(names, message):
    before = Path("model.json").read_bytes()
    code, out, err = run("rename", "model.json", *names)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert Path("model.json").read_bytes() == before


def test_a_new_file_is_not_replaced_without_force():
    Path("other.json").write_text("mine")
    assert run("rename", "model.json", "H1=mood", "--out", "other.json")[0] == 2
    assert Path("other.json").read_text() == "mine"
    succeed("rename", "model.json", "H1=mood", "--out", "other.json", "--force")
    assert load("other.json").hidden_names[0] == "mood"
