"""The Python lines of every page run: the blocks of a page one after the other, in a folder with the files it names."""

import gzip
import shutil
import warnings
from copy import deepcopy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pyarrow as pa
import pytest
from pyarrow import parquet

import latree
from helpers.pages import ROOT, runnable
from latree.datasets import make_questionnaire
from latree.learn import learn_model

PAGES = [page for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))) if runnable(page.read_text("utf-8"))]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with tables and models under the names that pages use."""
    folder = tmp_path_factory.mktemp("files")
    answers = make_questionnaire(150).data
    for name in ("data.csv", "both.csv", "new.csv"):
        answers.to_csv(folder / name, index=False)
    make_questionnaire(150, missing=0.2).data.to_csv(folder / "holes.csv", index=False)
    six_answers(answers).to_csv(folder / "bfi.csv", index=False)
    (folder / "folder").mkdir()
    parquet.write_table(pa.Table.from_pandas(answers), folder / "folder" / "part.parquet")
    (folder / "data.csv.gz").write_bytes(gzip.compress((folder / "data.csv").read_bytes()))
    model = latree.LatentTree("nj", n_states=2, random_state=0).fit(answers).model_
    for name in ("run", "old", "new"):
        (folder / name).mkdir()
        model.save(folder / name / "model.json")
    return folder


def six_answers(answers):
    """Return the answers as those of a personality questionnaire: items A1, ..., N5 with answers from 1 to 6."""
    moved = answers.add(answers.index % 2, axis=0)
    return moved.set_axis([f"{scale}{item}" for scale in "ACEN" for item in range(1, 6)], axis=1)


@pytest.fixture(scope="module")
def learn_once():
    """Return `learn_model` with a memory: many blocks fit the same rows with the same settings."""
    known = {}

    def learn(table, settings, *rest, **options):
        asked = (table.fingerprint(), repr(settings), repr(options))
        if asked not in known:
            known[asked] = learn_model(table, settings, *rest, **options)
        return deepcopy(known[asked])

    return learn


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_lines_of_a_page_run(page, files, learn_once, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("latree.model.fitting.MAX_STATES", 4)  # for speed
    monkeypatch.setattr("latree.estimator.estimator.learn_model", learn_once)
    mpl.use("Agg")
    names = {"df": six_answers(make_questionnaire(150).data)}  # what a page calls the reader's own frame
    with warnings.catch_warnings():  # other libraries warn when they are imported
        warnings.simplefilter("ignore")
        for code in runnable(page.read_text(encoding="utf-8")):
            exec(compile(code, page.name, "exec"), names)
    plt.close("all")
    if page.name == "README.md":
        assert Path("report.html").exists()


def test_blocks_that_do_not_run_say_why():
    text = "```python\na\n```\n\n<!-- not run: because -->\n\n```python\nb\n```\n\n```python\nc\n```\n"
    assert runnable(text) == ["a\n", "c\n"]
