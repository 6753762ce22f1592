"""The commands fit and demo."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import latree
from helpers.cli import run, succeed
from helpers.csv import HEADER, table
from latree.__main__ import commands
from latree._util.words import as_in_shell
from latree.facts.found import facts_of
from latree.facts.text import group_lines, group_table
from latree.interpret.columns import loadings, profiles
from latree.learn import learn_model
from latree.model import LatentTreeModel
from latree.model.record import Origin
from latree.settings import Settings
from latree.table.formats.text import write_lines
from latree.table.raw import parse_number
from latree.table.reading import Reading

pytestmark = pytest.mark.usefixtures("folder")


def test_fit_writes_its_files_and_prints_a_report_json_or_nothing(fitted):
    printed = succeed("fit", "data.csv", "--out", "run", "--states", 2)
    files = {path.name: path.read_text() for path in Path("run").iterdir()}
    assert sorted(files) == [
        "groups.csv",
        "loadings.csv",
        "model.json",
        "profiles.csv",
        "report.html",
        "report.txt",
        "summary.json",
        "tree.nwk",
    ]
    assert {name: files[name].encode() for name in fitted} == fitted
    summary = json.loads(files["summary.json"])
    assert summary.keys() >= {"bic", "seconds", "warnings"}
    assert {"method": "auto", "n_rows": 60, "n_columns": 5}.items() <= summary.items()
    assert printed.startswith(files["report.txt"])
    assert all(name in files["report.txt"] for name in HEADER)
    model = LatentTreeModel.load("run/model.json")
    assert summary["n_hidden"] == model.tree.n_hidden
    assert summary["groups"] == facts_of(model)["summary"]["groups"]
    assert files["groups.csv"] == write_lines(group_table(facts_of(model)))
    # The finding comes first, then the tree, then the facts.
    assert files["report.txt"].split("\n\n")[0] == group_lines(facts_of(model))[0]
    assert files["report.txt"].index(model.draw()) < files["report.txt"].index("5 columns, 60 rows")
    assert summary["log_likelihood"] == pytest.approx(model.log_likelihood(model.encode("data.csv")), rel=1e-12)
    assert latree.Tree.from_newick(files["tree.nwk"]).robinson_foulds(model.tree) == 0
    assert json.loads(succeed("fit", "data.csv", "--out", "x", "--json")) == json.loads(
        Path("x/summary.json").read_bytes()
    )
    assert succeed("fit", "data.csv", "--out", "y", "--quiet") == ""
    assert printed.endswith(
        "The report is run/report.html: open it in a browser.\n"
        "Where each row stands: latree transform run data.csv --out scores.csv\n"
    )
    assert "Numbers on edges" not in printed  # there are none


def test_loadings_and_profiles_are_those_of_the_model():
    succeed("fit", "data.csv", "--out", "run", "--states", 2)
    model = LatentTreeModel.load("run/model.json")
    for name, expected in (("loadings", loadings(model)), ("profiles", profiles(model).astype({"value": str}))):
        written = pd.read_csv(f"run/{name}.csv", dtype={"value": str})
        pd.testing.assert_frame_equal(written, expected.round(4), atol=1e-4, check_dtype=False)


def test_profiles_that_nobody_reads_are_not_written(monkeypatch):
    lines = len(profiles(LatentTreeModel.load("model.json")))
    for limit, is_written in ((lines, True), (lines - 1, False)):
        monkeypatch.setattr("latree.cli.fit._MAX_PROFILE_LINES", limit)
        printed = succeed("fit", "data.csv", "--out", f"run-{limit}", "--states", 2)
        assert Path(f"run-{limit}/profiles.csv").exists() == is_written
        assert ("profiles.csv" in printed) == is_written


def test_a_table_of_loadings_that_nobody_reads_is_not_written(monkeypatch):
    tree = LatentTreeModel.load("model.json").tree
    n_loadings = tree.n_observed * tree.n_hidden
    for limit, is_written in ((n_loadings, True), (n_loadings - 1, False)):
        monkeypatch.setattr("latree.cli.fit._MAX_LOADINGS", limit)
        printed = succeed("fit", "data.csv", "--out", f"run-{limit}", "--states", 2)
        assert Path(f"run-{limit}/loadings.csv").exists() == is_written
        assert ("loadings.csv" in printed) == is_written


@pytest.mark.parametrize(
    ("options", "reading", "settings"),
    [
        ("--drop c --drop b", {"drop": ["c", "b"]}, {}),
        ("--weights w", {"weights": "w", "weights_are": "survey"}, {}),
        ("--weights w --weights-are counts", {"weights": "w", "weights_are": "counts"}, {}),
        ("--missing red --missing 2", {"missing": ["red", "2"]}, {}),
        ("--bins 4", {"bins": 4}, {}),
        ("--states 3 --smoothing 1.5", {}, {"n_states": 3, "smoothing": 1.5}),
        ("--max-iter 3", {}, {"max_iter": 3}),
        ("--method hw --states 3", {}, {"method": "hw", "n_states": 3}),
        (
            "--method tensor --representatives random --seed 5",
            {},
            {"method": "tensor", "representatives": "random", "random_state": 5},
        ),
        ("--states 3 --smoothing auto", {}, {"n_states": 3}),
        ("--goal predict", {}, {"goal": "predict"}),
        ("--resolve all", {}, {"resolve": "all"}),
        ("--method nj --bootstrap 3", {}, {"method": "nj", "bootstrap": 3}),
    ],
)
def test_fit_options_mean_what_they_mean_in_python(options, reading, settings):
    Path("more.csv").write_text(table(w=["0", "1", "2"] * 20))
    succeed("fit", "more.csv", "--out", "run", *options.split())
    command = LatentTreeModel.load("run/model.json").record.command
    told = re.sub(" --(states|smoothing) auto", "", f" {options}")
    assert sorted(command.split()) == sorted(f"latree fit more.csv{told} --out run".split())
    columns = Reading(**{key: value for key, value in reading.items() if key != "weights"})
    origin = Origin("more.csv", command, reading.get("weights"), columns)
    for name, read, told in (("same", reading, settings), ("other", {}, {})):
        data = latree.as_table("more.csv", **read)
        with as_in_shell():  # warnings are spelled like this, too
            learn_model(data, Settings(**{"random_state": 0} | told), origin=origin).model.save(name)
    assert Path("run/model.json").read_bytes() == Path("same").read_bytes() != Path("other").read_bytes()


def test_a_bootstrap_writes_a_consensus_and_tells_support():
    printed = succeed("fit", "data.csv", "--out", "run", "--method", "nj", "--states", 2, "--bootstrap", 5)
    assert "groups.csv, tree.nwk, model.json, summary.json, consensus.nwk, loadings.csv, profiles.csv\n" in printed
    assert "Numbers on edges are their support in per cent: build on 90 and more.\n" in printed
    agreed, tree = (latree.Tree.from_newick(Path(f"run/{name}.nwk").read_text()) for name in ("consensus", "tree"))
    assert sorted(agreed.names) == sorted(tree.names) == HEADER
    summary = json.loads(Path("run/summary.json").read_bytes())
    assert summary["settings"]["bootstrap"] == 5
    assert len(summary["support"]) == len(tree.splits) == 2
    assert set(summary["support"].values()) <= {0, 0.2, 0.4, 0.6, 0.8, 1}
    own = LatentTreeModel.load("run/model.json").tree
    named = {
        f"{own.node_names[u]}-{own.node_names[v]}": share
        for (u, v), share in zip(own.edges.tolist(), own.support.tolist(), strict=True)
        if min(u, v) >= 5
    }
    assert summary["support"] == named
    assert sorted(tree.support[~np.isnan(tree.support)]) == sorted(named.values())
    assert all(f"─{round(100 * share)}─" in printed for share in named.values())
    assert all(share > 0.5 for share in agreed.support if not np.isnan(share))


def test_without_a_bootstrap_there_is_no_consensus():
    assert "consensus" not in succeed("fit", "data.csv", "--out", "run", "--method", "nj", "--states", 2)
    assert not Path("run/consensus.nwk").exists()
    assert json.loads(Path("run/summary.json").read_bytes())["support"] == {}


@pytest.mark.parametrize("number", ["-1", "2.5", "many"])
def test_a_bootstrap_is_a_whole_number(number):
    code, out, err = run("fit", "data.csv", "--out", "run", "--bootstrap", number)
    assert (code, out) == (2, "")
    assert "--bootstrap" in err
    assert not Path("run").exists()


@pytest.mark.parametrize("method", ["independent", "chow-liu", "lcm", "hclt", "nj"])
def test_fit_with_methods_with_and_without_hidden_variables(method):
    printed = succeed("fit", "data.csv", "--out", "run", "--method", method, "--states", 2)
    assert f" (method: {method}" in printed
    assert json.loads(Path("run/summary.json").read_bytes())["method"] == method
    assert json.loads(succeed("compare", "run/tree.nwk", "run/model.json", "--json"))["robinson_foulds"] == 0


def test_labels_name_groups_and_colour_the_report(tmp_path):
    lines = "".join(f"{name},mood\n" for name in HEADER)
    labels = Path("private") / "labels.csv"
    labels.parent.mkdir()
    labels.write_text(f"column,label\n{lines}")
    printed = succeed("fit", "data.csv", "--out", "run", "--states", 2, "--labels", labels)
    model = LatentTreeModel.load("run/model.json")
    names = [group.name for group in model.groups if group.level == "main"]
    assert names
    assert all(name.startswith("mood") for name in names)
    assert names[0] in printed
    assert "private" not in model.record.command
    assert "--labels labels.csv" in model.record.command
    assert '"names":["mood"]}' in Path("run/report.html").read_text()  # the labels that colour the drawing
    labels.write_text("column,label\nunknown,mood\n")
    code, out, err = run("fit", "data.csv", "--out", "other", "--labels", labels)
    assert (code, out) == (2, "")
    assert "'unknown'" in err
    assert not Path("other").exists()


def test_groups_that_are_given():
    half = len(HEADER) // 2
    lines = "".join(f"{name},{'one' if number < half else 'two'}\n" for number, name in enumerate(HEADER))
    Path("key.csv").write_text(f"column,group\n{lines}")
    printed = succeed("fit", "data.csv", "--out", "run", "--groups", "key.csv")
    assert "These groups predict new rows " in printed
    groups = LatentTreeModel.load("run/model.json").groups
    assert {group.name: group.columns for group in groups} == {"one": tuple(HEADER[:half]), "two": tuple(HEADER[half:])}
    assert "These groups predict new rows " in Path("run/report.html").read_text()
    columns = json.loads(Path("run/summary.json").read_bytes())["key"]["columns"]
    assert [one["column"] for one in columns] == list(HEADER)
    Path("key.csv").write_text(f"column,group\n{HEADER[0]},one\n{HEADER[1]},two\n")
    code, _, err = run("fit", "data.csv", "--out", "other", "--groups", "key.csv")
    assert code == 2
    assert "key.csv: no group has two columns" in err
    assert not Path("other").exists()


def test_texts_of_questions_stand_beside_their_names():
    Path("codebook.csv").write_text(f"column,text,answers\n{HEADER[0]},How are  you?,1=bad\nunknown,What?,\n")
    succeed("fit", "data.csv", "--out", "run", "--states", 2, "--texts", "codebook.csv")
    columns = LatentTreeModel.load("run/model.json").columns
    assert [column.description for column in columns if column.description] == ["How are you?"]
    assert [column.answers for column in columns if column.answers] == [("0", "bad", "2")]
    assert "bad" in succeed("ask", "run", "--out", "ask.html") + Path("ask.html").read_text()
    assert "How are you?" in Path("run/groups.csv").read_text()
    Path("codebook.csv").write_text("column,text\nunknown,What?\n")
    code, _, err = run("fit", "data.csv", "--out", "other", "--texts", "codebook.csv")
    assert code == 2
    assert "codebook.csv: none of its names" in err


def test_the_demo_needs_no_network(monkeypatch):
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("went to the network"))
    monkeypatch.setattr("latree.model.fitting.MAX_STATES", 4)  # for speed
    Path("latree-demo").mkdir()
    assert succeed("demo").endswith("The report is latree-demo-2/report.html: open it in a browser.\n")
    summary = json.loads(Path("latree-demo-2/summary.json").read_bytes())
    assert (summary["n_rows"], summary["n_columns"]) == (800, 26)
    assert Path("latree-demo-2/report.html").exists()


def test_defaults_are_those_of_the_library():
    settings = Settings()
    same = {"states": "n_states", "seed": None, "key": None}
    for option in commands.commands["fit"].params:
        field = same.get(option.name, option.name)
        if field is not None and hasattr(settings, field):
            assert option.type.convert(option.default, option, None) == getattr(settings, field), field


HOSTILE = ["=cmd|'/C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "-1"]


def test_no_name_is_a_formula_in_a_spreadsheet_and_tables_come_back_as_they_were():
    rows = [[f"={h ^ (i % 7 == j)}+1" for j in range(5)] for i, h in enumerate([0, 1] * 40)]
    Path("data.csv").write_text(write_lines([["=id()", *HOSTILE], *([f"=A{i}", *row] for i, row in enumerate(rows))]))
    succeed("fit", "data.csv", "--out", "run", "--id", "=id()", "--method", "lcm", "--states", "2", "--quiet")
    succeed("rename", "run", "H1==2+2")
    succeed("groups", "run", "--out", "groups.csv")
    succeed("transform", "run", "data.csv", "--out", "scores.csv")
    files = [*(Path("run", f"{name}.csv") for name in ("groups", "loadings", "profiles")), Path("groups.csv")]
    for path in files:
        cells = [cell for row in csv.reader(path.read_text().splitlines()) for cell in row]
        assert any("cmd" in cell for cell in cells)
        assert not [cell for cell in cells if cell[:1] in tuple("=+-@") and parse_number(cell) is None]
    header, first, *_ = csv.reader(Path("scores.csv").read_text().splitlines())
    assert header[:2] == ["=id()", "'=2+2"]
    assert first[0] == "=A0"  # people match the rows of their tables by these
    succeed("sample", "run", "--out", "new.csv", "--rows", "50")
    assert next(csv.reader(Path("new.csv").read_text().splitlines())) == HOSTILE
    succeed("score", "run", "new.csv")
    succeed("plot", "run", "--labels", "groups.csv", "--out", "tree.svg")


def test_long_names_leave_everything_readable():
    names = [f"Q{j} {'how often do you ' * 500}" for j in range(5)]
    rows = [[str(h ^ (i % 7 == j)) for j in range(5)] for i, h in enumerate([0, 1] * 40)]
    Path("data.csv").write_text(write_lines([names, *rows]))
    for command in (
        "fit data.csv --out run --method lcm --states 2",
        f"rename run H1={'x' * 9000}",
        "groups run",
        "transform run data.csv --out scores.csv",
        "compare run run",
        "check data.csv",
    ):
        said = succeed(*command.split())
        assert max(map(len, said.splitlines())) < 600
    assert max(map(len, Path("run/report.txt").read_text().splitlines())) < 200
    assert names[0].strip() in Path("run/groups.csv").read_text()
    Path("data.csv").write_text(write_lines([["x" * 100_000, *names[1:]], *rows]))
    code, _, error = run("fit", "data.csv", "--out", "other")
    assert (code, error.count("\n")) == (2, 1)
    assert "data.csv: the name of column 1 has 100000 letters" in error


def test_what_weights_are_needs_weights():
    for command in (["fit", "data.csv", "--out", "none"], ["check", "data.csv"]):
        code, _, said = run(*command, "--weights-are", "counts")
        assert code == 2
        assert said.endswith("--weights-are says what weights are: name their column, too, with --weights\n")


def test_a_check_says_what_weights_are(weighted_run):
    printed = " ".join(succeed("check", "weighted.csv", "--weights", "w").split())
    assert weighted_run["weights"]["meaning"] in printed
    facts = json.loads(succeed("check", "weighted.csv", "--weights", "w", "--json"))["weights"]
    assert facts | {"effective_rows": 0} == weighted_run["weights"] | {"effective_rows": 0}
    assert facts["effective_rows"] == pytest.approx(weighted_run["weights"]["effective_rows"], rel=1e-6)


def test_weights_are_those_of_a_survey_unless_they_are_counts(weighted_run):
    weights = pd.read_csv("weighted.csv")["w"]
    effective = weights.sum() ** 2 / (weights**2).sum()
    facts = weighted_run["weights"]
    assert (facts["column"], facts["are"]) == ("w", "survey")
    assert facts["effective_rows"] == pytest.approx(effective, rel=1e-6)
    text = " ".join(Path("weighted/report.txt").read_text().split())
    assert facts["meaning"] in text
    assert f"60 rows count as {effective:.1f}" in text
    assert "--weights-are counts" in text
    # Weights say nothing about the number of rows: a constant changes nothing.
    for number, constant in enumerate((1e-300, 7.3, 1e290)):
        frame = pd.read_csv("weighted.csv")
        frame.assign(w=frame["w"] * constant).to_csv("other.csv", index=False)
        succeed("fit", "other.csv", "--out", f"other{number}", "--states", 2, "--weights", "w")
        other = json.loads(Path(f"other{number}/summary.json").read_text())
        assert other | {"seconds": 0} == weighted_run | {"seconds": 0}
    # As counts, weights are rows.
    frame = pd.read_csv("weighted.csv").assign(w=np.arange(60) % 3)
    frame.to_csv("counts.csv", index=False)
    frame.loc[frame.index.repeat(frame["w"])].drop(columns="w").to_csv("repeated.csv", index=False)
    succeed("fit", "counts.csv", "--out", "counts", "--method", "nj", "--weights", "w", "--weights-are", "counts")
    succeed("fit", "repeated.csv", "--out", "repeated", "--method", "nj")
    counts, repeated = (json.loads(Path(f"{name}/summary.json").read_text()) for name in ("counts", "repeated"))
    assert counts["log_likelihood"] == pytest.approx(repeated["log_likelihood"], rel=1e-9)
    assert counts["weights"]["meaning"] == "The weights of column 'w' are numbers of rows: 60 rows count as 60."
    assert repeated["weights"] is None


def test_weights_of_almost_nothing_are_one_line_or_work():
    frame = pd.read_csv("data.csv").assign(w=1e-300)
    frame.to_csv("tiny.csv", index=False)
    succeed("fit", "tiny.csv", "--out", "tiny", "--weights", "w")
    code, _, error = run("fit", "tiny.csv", "--out", "other", "--weights", "w", "--weights-are", "counts")
    assert code == 2
    assert "less than one row, and weights count as rows" in error
    assert error.endswith("if they are weights of a survey, use --weights-are survey\n")
