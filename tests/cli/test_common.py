"""Commands that are stopped and started again end as if nobody had stopped them."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest

from helpers.checkpoint import model_of, write
from helpers.cli import invoke, run, succeed
from latree.__main__ import commands
from latree._util import files
from latree._util.checkpoint import Checkpoint
from latree._util.files import Lock, locked
from latree.cli import common
from latree.errors import InputError
from latree.paper.cells import Run

BOOTSTRAP = ("--method", "nj", "--states", "2", "--bootstrap", "12")  # whose replicates are kept one by one

PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from latree.__main__ import main; "
    "from latree._util import checkpoint; checkpoint._SAVE_INTERVAL = 0; main()"
)


def fit(folder, *options, data="data.csv", out="run"):
    return invoke(
        "fit", folder / data, "--out", folder / out, "--checkpoint", folder / "kept", "--quiet", *BOOTSTRAP, *options
    )


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """A folder with some data, and what a run on them left that was stopped after the first replicates."""
    write(tmp_path / "data.csv")
    save = Checkpoint.save

    def interrupted(self, kind, number, *arguments, **options):
        save(self, kind, number, *arguments, **options)
        if number == 5:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", interrupted)
        patch.setattr("latree.learners.support.n_threads", lambda: 1)  # joblib warns of tasks that it has to stop
        result = fit(tmp_path)
    assert result.exit_code == 1
    return tmp_path


def test_the_same_command_goes_on(stopped):
    names = {path.name for path in (stopped / "kept").iterdir()}
    assert names == {"settings.json", *(f"replicates-{number:06}.done" for number in range(6))}
    assert fit(stopped).exit_code == 0
    assert not (stopped / "kept").exists()
    without = invoke("fit", stopped / "data.csv", "--out", stopped / "other", "--quiet", *BOOTSTRAP)
    assert without.exit_code == 0
    for name in ("model.json", "tree.nwk", "report.html", "summary.json"):
        one, other = ((stopped / folder / name).read_text() for folder in ("run", "other"))
        if name == "summary.json":
            one, other = ({**json.loads(text), "seconds": 0} for text in (one, other))
        assert one == other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "rg"], "whose method is 'nj', not 'rg'"),
        (["--seed", "1"], "whose seed is 0, not 1"),
        (["--smoothing", "0.5"], r"whose smoothing is None, not 0\.5"),
        (
            ["--drop", "x0"],
            r"whose table, as it was read, is '150 rows, 6 columns, \w+', not '150 ro",
        ),
    ],
)
def test_other_settings_or_data_are_refused(stopped, options, message):
    before = {path.name: path.read_bytes() for path in (stopped / "kept").iterdir()}
    result = fit(stopped, *options)
    assert isinstance(result.exception, InputError)
    assert re.search(f"kept: holds results of another run, {message}", str(result.exception))
    assert "\n" not in str(result.exception)
    assert {path.name: path.read_bytes() for path in (stopped / "kept").iterdir()} == before
    assert not (stopped / "run").exists()


def damaged(folder):
    path = folder / "replicates-000003.done"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(folder):
    path = folder / "replicates-000003.done"
    path.write_bytes(path.read_bytes()[:20])


def no_json(folder):
    (folder / "settings.json").write_text('{"latree"')


def others_settings(folder):
    (folder / "settings.json").write_text('{"editor.fontSize": 12}')


def no_settings(folder):
    (folder / "settings.json").unlink()


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (damaged, r"replicates-000003\.done: damaged; remove this file"),
        (cut, r"replicates-000003\.done: damaged; remove this file"),
        (no_json, r"settings\.json: not a JSON file: it is damaged or cut off; choose another folder"),
        (others_settings, "kept: exists and holds something else"),
        (no_settings, "kept: exists and holds something else"),
    ],
)
def test_what_is_damaged_is_told_in_one_line(stopped, harm, message):
    harm(stopped / "kept")
    result = fit(stopped)
    assert isinstance(result.exception, InputError)
    assert re.search(message, str(result.exception))
    assert "\n" not in str(result.exception)
    if harm in (damaged, cut):  # and the line says what helps
        (stopped / "kept" / "replicates-000003.done").unlink()
        assert fit(stopped).exit_code == 0


def test_folders_of_other_commands_and_of_people_are_refused(stopped):
    model_of(6).save(stopped / "model.json")
    result = invoke("power", stopped / "model.json", "--checkpoint", stopped / "kept")
    assert re.search("holds results of another run, whose command is", str(result.exception))
    Run(stopped / "paper").prepare()
    result = invoke("power", stopped / "model.json", "--checkpoint", stopped / "paper")
    assert re.search("whose command is 'reproduce', not 'power'", str(result.exception))
    (stopped / "thesis").mkdir()
    (stopped / "thesis" / "thesis.tex").write_text("mine")
    result = invoke("power", stopped / "model.json", "--checkpoint", stopped / "thesis")
    assert re.search("holds something else", str(result.exception))
    assert (stopped / "thesis" / "thesis.tex").read_text() == "mine"


@pytest.mark.parametrize("command", [["fit", "data.csv"], ["power", "model.json"], ["reproduce", "quartets"]])
def test_results_cannot_go_where_work_is_kept(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    write(Path("data.csv"))
    model_of(6).save("model.json")
    result = invoke(*command, "--out", "run", "--checkpoint", "../" + tmp_path.name + "/run")
    assert isinstance(result.exception, InputError)
    assert "both --out and --checkpoint" in str(result.exception)
    assert sorted(os.listdir()) == ["data.csv", "model.json"]


@pytest.mark.parametrize("error", [InputError("wrong"), KeyboardInterrupt()])
def test_a_run_that_got_nowhere_leaves_no_folder(tmp_path, monkeypatch, error):
    write(tmp_path / "data.csv")
    monkeypatch.setattr("latree.learners.methods.neighbor_joining", mock.Mock(side_effect=error))
    assert fit(tmp_path).exit_code == 1
    assert os.listdir(tmp_path) == ["data.csv"]


def test_a_process_that_is_ended_goes_on(tmp_path):
    write(tmp_path / "data.csv")
    options = ["--method", "nj", "--states", "2", "--bootstrap", "60", "--quiet"]
    command = [sys.executable, "-c", PROGRAM, "fit", "data.csv", "--out", "run", "--checkpoint", "kept", *options]
    said = []
    for number, least in ((signal.SIGKILL, 5), (signal.SIGINT, 20)):
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("kept/*.done"))) < least:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        said.append(process.communicate(timeout=30)[1])
        assert sorted(os.listdir(tmp_path)) == ["data.csv", "kept"]
    assert process.returncode == 130
    assert said[0] == ""
    pieces = r"\d+ of 60 replicates"
    kept = f"no result was written, but kept keeps {pieces}"
    assert re.fullmatch(f"latree: interrupted; {kept}; run the same command again to continue\n", said[1])
    subprocess.run(command, cwd=tmp_path, check=True)
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "run"]
    assert invoke("fit", tmp_path / "data.csv", "--out", tmp_path / "whole", *options).exit_code == 0
    for name in ("model.json", "tree.nwk", "consensus.nwk"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    "command",
    [
        "fit data.csv --out run --method nj --states 2",
        "report model.json data.csv --out report.html",
        "plot tree.nwk --out tree.svg",
        "sample model.json --seed 0 --out rows.csv",
        "impute model.json data.csv --out filled.csv",
    ],
)
def test_force_replaces_what_the_command_wrote_before(folder, command):
    words = command.split()
    out = Path(words[words.index("--out") + 1])
    succeed(*words)
    result = out / "tree.nwk" if out.is_dir() else out
    wanted = result.read_bytes()
    result.write_bytes(b"old")
    assert "use --force" in run(*words)[2]
    assert result.read_bytes() == b"old"
    succeed(*words, "--force")
    assert result.read_bytes() == wanted


WRITING = [
    "fit data.csv --out out --method lcm --states 2",
    "report model.json --out out.html",
    "plot tree.nwk --out out.svg",
    "export model.json --out out.nwk",
    "rename model.json H1=one --out out.json",
    "groups model.json --out out.csv",
    "sample model.json --out out.csv",
    "transform model.json data.csv --out out.csv",
    "transform model.json data.csv --out out.sav",
    "score model.json data.csv --out out.csv",
    "impute model.json data.csv --out out.csv",
]


@pytest.mark.parametrize("command", WRITING)
def test_of_two_commands_that_replace_one_output_one_fails(folder, command):
    words = command.split()
    out = Path(words[words.index("--out") + 1])
    succeed(*words)
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    with locked(out):
        code, said, error = run(*words, "--force")
    assert (code, said) == (2, "")
    assert error == f"latree: {out}: another run is writing it; wait until it ends, or choose another name\n"
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("command", WRITING)
def test_what_another_command_writes_meanwhile_is_not_replaced(folder, monkeypatch, command, force):
    words = command.split()
    out = Path(words[words.index("--out") + 1])

    def another_run_is_faster(original=common.may_replace):
        if out.suffix:
            out.write_text("other")
        else:
            shutil.copytree("run", out)
        return original()

    if not out.suffix:
        succeed(*[word if word != "out" else "run" for word in words])
    monkeypatch.setattr(common, "may_replace", another_run_is_faster)
    code, _, error = run(*words, *force)
    assert code == 2
    assert f"latree: {out}: already exists" in error
    assert out.is_dir() or out.read_text() == "other"


def test_nobody_else_changes_a_model_while_it_is_renamed(folder, monkeypatch):
    before = Path("model.json").read_bytes()
    with locked(Path("model.json")):
        code, said, error = run("rename", "model.json", "H1=one")
    assert (code, said) == (2, "")
    assert error == "latree: model.json: another run is writing it; wait until it ends, or choose another name\n"
    assert Path("model.json").read_bytes() == before

    def is_locked(path, original=common.load_model):
        with pytest.raises(InputError, match="another run"):
            Lock(path)
        return original(path)

    monkeypatch.setattr(common, "load_model", is_locked)
    succeed("rename", "model.json", "H1=one")
    Lock(Path("model.json")).release()


def test_force_keeps_what_people_put_into_the_folder_of_a_fit(folder):
    command = ("fit", "data.csv", "--out", "run", "--method", "lcm", "--states", "2", "--quiet")
    succeed(*command, "--bootstrap", "2")
    written = {path.name for path in Path("run").iterdir()}
    assert written == set(files._FILES_OF_A_RUN)
    succeed("transform", "run", "data.csv", "--out", "run/scores.csv")
    Path("run/raw").mkdir()
    for name in ("run/thesis.tex", "run/.model.json.original", "run/raw/only-copy.csv"):
        Path(name).write_text("mine")
    before = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    succeed(*command, "--seed", "1", "--force")
    after = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    assert before.keys() - after.keys() == {Path("run/consensus.nwk")}
    assert {path.name for path in after if after[path] == before[path]} >= {
        "scores.csv",
        "thesis.tex",
        ".model.json.original",
        "only-copy.csv",
    }
    assert after[Path("run/summary.json")] != before[Path("run/summary.json")]


@pytest.mark.parametrize("path", ["run", "run/model.json"])
def test_whoever_reads_a_run_finishes_its_replacement(folder, path):
    """A fit with --force was killed when its result was complete, but before all files were in their places."""
    succeed("fit", "data.csv", "--out", "run", "--method", "lcm", "--states", "2", "--quiet")
    shutil.copytree("run", "run/.latree-replacement")
    succeed("rename", "run/.latree-replacement/model.json", "H1=renewed")
    Path("run/.latree-replacement/removed.txt").write_text("consensus.nwk")
    Path("run/consensus.nwk").write_text("old")
    with locked(Path("run")):  # it may be at work just now
        assert "renewed" not in succeed("groups", path)
    assert "renewed" in succeed("groups", path)
    assert {path.name for path in Path("run").iterdir()} == set(files._FILES_OF_A_RUN) - {"consensus.nwk"}


def test_force_replaces_no_folder_of_others(folder):
    Path("run").mkdir()
    Path("run/letter.txt").write_text("dear")
    code, _, error = run("fit", "data.csv", "--out", "run", "--force")
    assert (code, error.count("\n")) == (2, 1)
    assert "run: already exists and is a folder that latree fit did not write" in error
    assert error.endswith("choose another name for --out\n")
    assert "remove" not in error + run("fit", "data.csv", "--out", "run")[2]
    assert Path("run/letter.txt").read_text() == "dear"


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize(
    "command",
    [
        "fit data.csv --out data.csv",
        "fit data.csv --out run --labels run/labels.csv",
        "fit data*.csv --out data.csv",
        "fit data.csv --out other --labels other",
        "transform model.json data.csv --out data.csv",
        "transform model.json link.csv --out data.csv",
        "transform model.json data.csv --out ../{here}/data.csv",
        "impute model.json data.csv --out data.csv",
        "report model.json data.csv --out data.csv",
        "report model.json data.csv --test other --out other",
        "export model.json --out model.json",
        "export run --out run/model.json",
        "plot tree.nwk --out tree.nwk",
        "groups model.json --out model.json",
        "rename model.json H1=one --out model.json",
    ],
)
def test_no_command_replaces_its_inputs(folder, tmp_path, command, force):
    Path("run").mkdir()
    for name in ("model.json", "summary.json", "labels.csv"):
        Path("run", name).write_bytes(Path("model.json").read_bytes())
    Path("other").write_text("other")
    Path("link.csv").symlink_to("data.csv")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    words = command.format(here=tmp_path.name).split()
    code, said, error = run(*words, *force)
    assert (code, said, error.count("\n")) == (2, "", 1)
    assert re.search(r": (is|holds) an input of this command; .*\(choose another name for --out\)", error)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_file_is_not_replaced_by_a_folder(folder, force):
    Path("letter").write_text("dear")
    code, _, error = run("fit", "data.csv", "--out", "letter", *force)
    assert (code, error.count("\n")) == (2, 1)
    assert "it is not replaced by a folder, choose another name for --out" in error
    assert Path("letter").read_text() == "dear"


@pytest.mark.parametrize(
    "command",
    ["transform model.json data.csv", "impute model.json data.csv", "sample model.json", "groups model.json"],
)
def test_tables_have_the_ending_of_tables(folder, command):
    for name in ("scores.xlsx", "scores", "scores.json"):
        code, said, error = run(*command.split(), "--out", name)
        endings = ".csv, .tsv, .txt or .sav" if command.startswith(("transform", "impute")) else ".csv, .tsv or .txt"
        assert (code, said, error) == (2, "", f"latree: {name}: --out must end in {endings}\n")
        assert not Path(name).exists()
    for name in ("scores.txt", "scores.CSV"):
        assert run(*command.split(), "--out", name)[0] == 0
        assert Path(name).exists()


def test_reports_have_the_ending_of_pages(folder):
    assert run("report", "model.json", "--out", "r.pdf")[2] == "latree: r.pdf: --out must end in .html or .htm\n"


@pytest.mark.parametrize(
    "command",
    [
        "groups {}",
        "rename {} H1=one --out new.json",
        "transform {} data.csv",
        "score {} data.csv",
        "sample {} --seed 0",
        "impute {} data.csv",
        "compare {} model.json",
        "compare tree.nwk {}",
        "plot {} --out new.svg",
        "report {} --out new.html",
        "export {} --out new.nwk",
    ],
)
def test_the_folder_of_a_fit_is_a_model(folder, command):
    Path("run").mkdir()
    Path("empty").mkdir()
    code, _, error = run(*command.format("empty").split())
    assert (code, error.count("\n")) == (2, 1)
    assert "empty: is a folder without a model.json" in error
    shutil.copy("model.json", "run")
    wanted = run(*command.format("run/model.json").split())
    assert wanted[0] == 0
    assert run(*command.format("run").split(), *(["--force"] if "--out" in command else [])) == wanted


def test_the_model_of_a_folder_is_renamed_in_it(folder):
    Path("run").mkdir()
    shutil.copy("model.json", "run")
    assert "Written to run/model.json" in succeed("rename", "run", "H1=one")
    assert '"one"' in Path("run/model.json").read_text()


def test_the_command_names_a_folder_for_results_only_if_one_was_given():
    demo = commands.commands["demo"]
    for arguments, command in (
        ([], "latree demo"),
        (["--out", "mine", "--seed", "3"], "latree demo --seed 3 --out run"),
    ):
        with demo.make_context("demo", list(arguments)):
            assert common.command_line() == command


@pytest.mark.parametrize("has_parts", [True, False])
def test_ctrl_c_names_the_option_that_would_have_kept_work_only_if_there_is_some_to_keep(has_parts):
    with pytest.raises(common.Interrupted) as error, common.resumable(None, None, has_parts):
        raise KeyboardInterrupt
    assert ("--checkpoint DIR" in str(error.value)) == has_parts
