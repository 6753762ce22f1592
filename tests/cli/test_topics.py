"""The command topics, beside the estimator's methods."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, load_npz, save_npz

from helpers.cli import run, succeed
from helpers.documents import BACKGROUND, TOPICS, planted_documents
from latree import LatentTree

N_ROWS = 600


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """A folder with documents as .npz and .csv, and a fit to them."""
    folder = tmp_path_factory.mktemp("documents")
    words, _ = planted_documents(N_ROWS)
    save_npz(folder / "words.npz", csr_array(words.to_numpy()))
    (folder / "words.txt").write_text("\n".join(words.columns) + "\n")
    words.assign(title=[f"text {row}" for row in range(N_ROWS)]).to_csv(folder / "words.csv", index=False)
    fit = "fit", folder / "words.npz", "--names", folder / "words.txt", "--out", folder / "run"
    assert run(*fit, "--quiet", "--resamples", 0)[0] == 0
    return folder


@pytest.fixture
def folder(documents, monkeypatch):
    monkeypatch.chdir(documents)
    return documents


def read(text):
    return list(csv.DictReader(text.splitlines()))


def quietly(*args):
    """Run a command that may show progress; return what it prints."""
    code, out, _ = run(*args)
    assert code == 0
    return out


@pytest.mark.usefixtures("folder")
def test_the_command_and_python_agree(tmp_path):
    frame = LatentTree.load("run").topics()
    succeed("topics", "run", "--out", tmp_path / "topics.csv")
    written = read((tmp_path / "topics.csv").read_text())
    assert list(written[0]) == list(frame.columns)
    for line, row in zip(written, frame.itertuples(), strict=True):
        assert line == {name: str(getattr(row, name)) for name in frame.columns}
    printed = json.loads(succeed("topics", "run", "--json"))
    assert [one["name"] for one in printed] == list(frame["topic"])
    assert [one["share"] for one in printed] == list(frame["share"])
    assert [", ".join(word["name"] for word in one["words"]) for one in printed] == list(frame["words"])


def test_documents_by_number_and_by_name(folder):
    model = LatentTree.load("run")
    frame = model.topics("words.csv", n_documents=2)
    by_number = json.loads(quietly("topics", "run", "words.npz", "--json", "--documents", 2))
    assert [one["share_in_data"] for one in by_number] == list(frame["share_in_data"])
    by_name = json.loads(quietly("topics", "run", "words.csv", "--id", "title", "--json", "--documents", 2))
    for number, name, text in zip(by_number, by_name, frame["documents"], strict=True):
        assert [one["document"] for one in name["documents"]] == [
            f"text {int(one['document']) - 1}" for one in number["documents"]
        ]
        assert text == "; ".join(f"{one['document']} ({', '.join(one['words'])})" for one in number["documents"])
    assert folder


@pytest.mark.usefixtures("folder")
def test_scores_are_those_of_python(tmp_path):
    model = LatentTree.load("run")
    names, scores = list(model.topics()["topic"]), model.topic_scores("words.csv").toarray()
    quietly("topics", "run", "words.npz", "--scores", "--out", tmp_path / "scores.csv")
    found = np.zeros_like(scores)
    for line in read((tmp_path / "scores.csv").read_text()):
        found[int(line["row"]) - 1, names.index(line["topic"])] = float(line["probability"])
    assert found == pytest.approx(scores, abs=1e-6)
    assert read(quietly("topics", "run", "words.csv", "--id", "title", "--scores"))[0]["title"].startswith("text ")


@pytest.mark.usefixtures("folder")
def test_the_tree_of_topics_is_printed():
    text = succeed("topics", "run")
    assert text.startswith(f"{len(LatentTree.load('run').topics())} topics\n\n")
    for words in TOPICS.values():
        (line,) = (line for line in text.splitlines() if set(words) <= set(line.replace(",", "").split()))
        assert " %  " in line
    assert set(BACKGROUND) == set(text.partition("in no topic: ")[2].replace("\n  ", " ").strip().split(", "))
    assert all(len(line) <= 80 for line in quietly("topics", "run", "words.npz").splitlines())
    assert "  in " in quietly("topics", "run", "words.npz")
    assert "  in " not in quietly("topics", "run", "words.npz", "--documents", 0)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scores"], "--scores needs documents as the second argument"),
        (["--documents", "2"], "--documents needs documents as the second argument"),
        (["words.npz", "--scores", "--json"], "--scores are a table"),
        (["--words", "0"], "--words"),
    ],
)
def test_options_that_do_not_fit_are_errors(arguments, message):
    code, out, err = run("topics", "run", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


COMMANDS = [
    ("topics", "run", "{}", "--json"),
    ("score", "run", "{}", "--json"),
    ("transform", "run", "{}"),
    ("impute", "run", "{}", "--out", "{out}"),
    ("compare", "run", "run", "--json", "--data", "{}"),
]


def commands_with(command, data, out, *more):
    return (*(word.format(data, out=out) for word in command), *more)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_the_columns_of_a_new_matrix_are_found_by_their_names(tmp_path, command):
    names, matrix = np.array(Path("words.txt").read_text().split()), load_npz("words.npz").tocsc()
    order = np.random.default_rng(0).permutation(len(names))
    save_npz(tmp_path / "permuted.npz", matrix[:, order])
    (tmp_path / "permuted.txt").write_text("\n".join(names[order]))
    expected = quietly(*commands_with(command, "words.npz", tmp_path / "one.csv"))
    new = commands_with(command, tmp_path / "permuted.npz", tmp_path / "two.csv")
    found = quietly(*new, "--names", tmp_path / "permuted.txt")
    if (tmp_path / "one.csv").exists():
        cells = [pd.read_csv(tmp_path / name)[list(names)] for name in ("one.csv", "two.csv")]
        pd.testing.assert_frame_equal(*cells)
    else:
        assert found == expected
    save_npz(tmp_path / "narrow.npz", matrix[:, :-1])
    code, out, err = run(*commands_with(command, tmp_path / "narrow.npz", tmp_path / "three.csv"))
    assert (code, out) == (2, "")
    assert f"narrow.npz: {len(names) - 1} columns where the fit had {len(names)}: give the same columns" in err
    assert err.count("\n") == 1


def test_words_that_say_nothing_are_part_of_a_new_matrix(documents, tmp_path):
    """The fit leaves out a word that all documents have; new documents have it at the same place."""
    matrix = load_npz(documents / "words.npz").toarray()
    save_npz(tmp_path / "words.npz", csr_array(np.insert(matrix, 3, True, axis=1)))
    fit = "fit", tmp_path / "words.npz", "--out", tmp_path / "run", "--quiet", "--resamples", 0
    assert run(*fit)[0] == 0
    found = [json.loads(quietly("score", path / "run", path / "words.npz", "--json")) for path in (documents, tmp_path)]
    assert found[0]["log_likelihood"] == pytest.approx(found[1]["log_likelihood"], rel=1e-3)  # other names, other ties
    save_npz(tmp_path / "wide.npz", csr_array(np.insert(matrix, [3, 3], True, axis=1)))
    code, _, err = run("score", tmp_path / "run", tmp_path / "wide.npz")
    assert code == 2
    assert f"{matrix.shape[1] + 2} columns where the fit had {matrix.shape[1] + 1}" in err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", COMMANDS[:-1], ids=lambda command: command[0])
@pytest.mark.parametrize("data", ["words.npz", "words.csv"])
def test_a_model_that_comes_second_is_an_error(command, data):
    for model in ("run", "run/model.json"):
        code, out, err = run(command[0], data, model)
        assert (code, out) == (2, "")
        assert err == f"latree: {model}: is a model, and comes first: latree {command[0]} {model} DATA\n"
    code, _, err = run("groups", data)
    assert (code, err) == (2, f"latree: {data}: is not a model; give a model.json or the folder of a fit\n")


def test_a_questionnaire_has_no_topics(tmp_path):
    rng = np.random.default_rng(0)
    common = rng.integers(1, 4, (100, 1))
    cells = np.where(rng.random((100, 5)) < 0.7, common, rng.integers(1, 4, (100, 5)))
    lines = ["a,b,c,d,e", *(",".join(map(str, row)) for row in cells.tolist())]
    Path(tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    assert run("fit", tmp_path / "data.csv", "--out", tmp_path / "run", "--quiet", "--resamples", 0)[0] == 0
    code, _, err = run("topics", tmp_path / "run")
    assert code == 2
    assert "topics need columns that say whether a word is there" in err
