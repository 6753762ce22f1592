"""The terminal, report.txt, summary.json, groups.csv, report.html and a notebook say the same, in the same numbers."""

import csv
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from helpers.cli import run
from helpers.report import Page
from latree import LatentTree, Tree, random_model
from latree._util.words import percent
from latree.interpret.dependence import Dependence
from latree.model import LatentTreeModel


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Fit a small table with a copied, a constant and a reversed column; return what each file says, on one line."""
    folder = tmp_path_factory.mktemp("made")
    tree = "((a,b,c,d),(e,f,g,h));"
    model = random_model(Tree.from_newick(tree), n_states=3, hidden_states=3, start="identity", random_state=5)
    frame = pd.DataFrame(model.sample(300, random_state=0).decode())
    frame = frame.assign(i=frame["a"].where(frame.index % 4 > 0, frame["b"]), b=2 - frame["b"], same=1)
    frame.to_csv(folder / "data.csv", index=False)
    read, build = [], Dependence.__init__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dependence, "__init__", lambda self, model: read.append(model.tables) or build(self, model))
        code, printed, _ = run("fit", folder / "data.csv", "--out", folder / "run", "--max-iter", 1)
    assert code == 0
    texts = {path.name: path.read_text(encoding="utf-8") for path in Path(folder / "run").iterdir()}
    texts |= {"terminal": printed, "report.html": Page(texts["report.html"]).text}
    texts["notebook"] = Page(LatentTree.load(folder / "run")._fitted_html()).text
    lines = {name: " ".join(text.split()) for name, text in texts.items() if name != "groups.csv"}
    return lines | {"groups.csv": texts["groups.csv"], "read": read, "model": folder / "run"}


def test_sentences_and_numbers_are_the_same_everywhere(made):
    summary = json.loads(made["summary.json"])
    assert made["terminal"].startswith(made["report.txt"])
    for text in (summary["worth"]["headline"], summary["worth"]["verdict"]):
        assert all(text in made[name] for name in ("terminal", "report.txt", "report.html", "notebook"))
    assert len(summary["warnings"]) >= 2
    for warning in summary["warnings"]:
        assert all(warning in made[name] for name in ("terminal", "report.html"))
        assert warning.replace("--max-iter ", "max_iter=") in made["notebook"]
    (pair,) = summary["redundant_columns"]
    assert f"{pair['columns'][0]} and {pair['columns'][1]} still correlate {pair['strength']:.2f} " in made["terminal"]
    assert f"{pair['columns'][0]} and {pair['columns'][1]} ({pair['strength']:.2f})" in made["report.html"]
    counts = {"columns": summary["n_columns"], "parameters": summary["n_parameters"], "rows": summary["n_rows"]}
    for noun, number in counts.items():
        assert f"{number} {noun}" in made["terminal"]
        assert f"{number} {noun}" in made["report.html"]
    assert f"{summary['n_hidden']} hidden variables" in made["terminal"]
    assert f"{summary['n_hidden']} hidden variables" in made["report.html"]
    assert f"{summary['n_groups']} groups in" in made["terminal"]
    assert f"fall into {summary['n_groups']} groups" in made["report.html"]
    likelihood, criterion = (f"{summary[key]:,.1f}".replace("-", "−") for key in ("log_likelihood", "bic"))
    assert f"log-likelihood {likelihood}, BIC {criterion}" in made["report.html"]


def test_groups_are_the_same_everywhere(made):
    summary = json.loads(made["summary.json"])
    rows = list(csv.DictReader(made["groups.csv"].splitlines()))
    groups = [group for group in summary["groups"] if group["level"] == "main"]
    assert list(dict.fromkeys(row["group"] for row in rows)) == [group["name"] for group in groups]
    for group in groups:
        own = [row for row in rows if row["group"] == group["name"]]
        assert [row["column"] for row in own] == group["columns"]
        assert (group["stability"] is None) == all(row["stability"] == "" for row in own)
        card = re.escape(group["name"])
        if group["stability"] is not None:
            shares = [float(row["stability"]) for row in own]
            assert sum(shares) / len(shares) == pytest.approx(group["stability"], abs=1e-4)
            share = percent(group["stability"])
            assert re.search(rf"{re.escape(group['name'])} +{share} %", made["terminal"])
            card += rf"\s*stability\s*{share} %"
        reliability = summary["reliability"][group["name"]]["reliability"]
        card += rf"\s*reliability\s*{reliability:.2f}"
        assert re.search(card, made["report.html"].replace("\xa0", " "))
        for row in own:
            assert f"{abs(float(row['loading'])):.2f}" in made["report.html"]


def test_a_fit_reads_each_distribution_once(made):
    # That of the search, those of six halves of the rows, that of EM, and the same with its states in order.
    assert len(made["read"]) == len({id(tables) for tables in made["read"]}) == 9


def test_a_saved_model_has_its_warnings(made):
    model = LatentTreeModel.load(made["model"])
    assert "EM was stopped after 1 iteration" in " ".join(LatentTree.load(made["model"]).summary_["warnings"])
    assert model.record.odd == ("A column that says nothing is left out: 'same' (every cell is '1').",)
