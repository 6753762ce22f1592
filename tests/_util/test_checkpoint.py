"""Runs that are stopped and started again end as if nobody had stopped them."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from click.testing import CliRunner

from latree.__main__ import commands
from latree._util.checkpoint import NOTHING_KEPT, Checkpoint, Keeper, fingerprint
from latree.errors import InputError
from latree.learn import Settings, learn_model
from latree.paper.experiments.cells import Cell, Run
from latree.paper.experiments.power import recovery_power
from latree.paper.simulate import random_model, random_tree
from latree.table import Table, as_table
from latree.table.disk import DiskRows

PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from latree.__main__ import main; "
    "from latree._util import checkpoint; checkpoint._SAVE_INTERVAL = 0; main()"
)


def model_of(n_columns, perturbation=0.3):
    tree = random_tree(n_columns, 0.5, 0)
    return random_model(tree, n_states=3, hidden_states=2, start="identity", perturbation=perturbation, random_state=0)


def write(path, n_columns=6, n_rows=150, seed=0):
    codes = model_of(n_columns).sample(n_rows, seed).codes()
    np.savetxt(path, codes, "%d", ",", header=",".join(f"x{j}" for j in range(n_columns)), comments="")
    return path


class Stopped(Exception):
    """Stands for whatever ends a process."""


class Stopping(Checkpoint):
    """A checkpoint that keeps everything at once, and whose process ends after some time."""

    def __init__(self, folder, settings, saves):
        super().__init__(folder, settings)
        self.saves = saves

    def is_due(self):
        return True

    def save(self, *arguments, **options):
        super().save(*arguments, **options)
        self.saves -= 1
        if not self.saves:
            self.close()
            raise Stopped


def outcome(learned, folder):
    """Give all that a fit leaves behind, but for its time."""
    path = folder / "model.json"
    learned.model.save(path)
    consensus = None if learned.consensus is None else learned.consensus.to_newick()
    return path.read_bytes(), learned.model.tree.to_newick(), {**learned.summary, "seconds": 0}, consensus


TENSOR = Settings("tensor", n_states=2, smoothing=0.5, restarts=3, bootstrap=3, tolerance=1e-8, random_state=0)


@pytest.mark.parametrize(
    ("settings", "saves", "on_disk"),
    [
        (Settings("auto", random_state=0), 190, False),
        (Settings("auto", criterion="bic", random_state=0), 170, False),
        (Settings("nj", bootstrap=7, random_state=0), 61, False),
        (TENSOR, 5, False),
        (TENSOR, 7, True),
        (Settings("hw", random_state=0), 29, False),
    ],
    ids=["auto", "bic", "nj", "tensor", "disk", "hw"],
)
def test_a_run_that_was_stopped_many_times_ends_the_same(tmp_path, monkeypatch, settings, saves, on_disk):
    if on_disk:
        monkeypatch.setattr("latree.table.disk.MEMORY_BYTES", 0)
        monkeypatch.setattr("latree.table.chunks.CHUNK_CELLS", 1)
        monkeypatch.setattr("latree.table.chunks.BLOCK_ROWS", 64)
    table = as_table(write(tmp_path / "data.csv"))
    assert isinstance(table.rows, DiskRows) == on_disk
    expected = outcome(learn_model(table, settings), tmp_path)
    stops = 0
    while True:
        keep = Stopping(tmp_path / "kept", {**asdict(settings), "data": fingerprint(table)}, saves)
        try:
            learned = learn_model(table, settings, keep=keep)
        except Stopped:
            stops += 1
        else:
            break
    assert stops > 2
    assert outcome(learned, tmp_path) == expected
    keep.remove()
    assert not (tmp_path / "kept").exists()


def test_two_runs_do_not_share_a_folder(stopped):
    first = Checkpoint(stopped / "other", {})
    with pytest.raises(InputError, match="other: another run is using it"):
        Checkpoint(stopped / "other", {})
    first.close()
    Checkpoint(stopped / "other", {}).remove()
    assert not (stopped / "other").exists()


def test_a_killed_process_leaves_no_lock_that_blocks(tmp_path):
    program = (
        "import sys, time; from pathlib import Path; from latree._util.checkpoint import Checkpoint\n"
        "checkpoint = Checkpoint(Path(sys.argv[1]), {}); print('locked', flush=True); time.sleep(60)\n"
    )
    folder = tmp_path / "kept"
    with subprocess.Popen([sys.executable, "-c", program, folder], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "locked\n"
            with pytest.raises(InputError, match="kept: another run is using it"):
                Checkpoint(folder, {})
        finally:
            process.kill()
    assert (folder / ".lock").exists()
    Checkpoint(folder, {}).remove()
    assert not folder.exists()


def test_a_forgotten_checkpoint_releases_its_folder(tmp_path):
    forgotten = Checkpoint(tmp_path / "kept", {})
    del forgotten
    Checkpoint(tmp_path / "kept", {}).close()


def test_a_file_is_no_folder_to_keep_work_in(tmp_path):
    with pytest.raises(InputError, match=r"data\.csv: is a file, not a folder"):
        Checkpoint(write(tmp_path / "data.csv"), {})


def test_finished_work_is_not_done_again(tmp_path, monkeypatch):
    table, settings = as_table(write(tmp_path / "data.csv")), Settings("nj", bootstrap=4, random_state=0)
    learn_model(table, settings, keep=Checkpoint(tmp_path / "kept", {}))
    monkeypatch.setattr("latree.inference.em._Expectation.__call__", None)
    monkeypatch.setattr("latree.table.memory.LocalRows.resampled", None)
    told = []
    keep = Checkpoint(tmp_path / "kept", {})
    learn_model(table, settings, lambda name, at_most=False: lambda *numbers: told.append((name, *numbers)), keep=keep)
    assert ("Resampling the rows", 4, 4) in told
    assert re.fullmatch(r"\d+ fits and 4 of 4 replicates", keep.describe())


def test_power_goes_on_within_a_size(tmp_path):
    model = model_of(6, 0.6)
    options = {"target": 0.9, "method": "nj", "repeats": 8, "max_rows": 800, "random_state": 3}
    expected = recovery_power(model, **options)
    assert len(expected.points) > 3
    found, stops = None, -1
    while found is None:
        stops += 1
        keep = Stopping(tmp_path / "kept", {}, 5)
        with contextlib.suppress(Stopped):
            found = recovery_power(model, **options, keep=keep)
    assert stops > 4
    assert found == expected
    assert keep.describe() == f"{len(expected.points)} sizes"


def test_repeats_of_power_have_random_numbers_of_their_own():
    seen = {}

    class Recording(Keeper):
        def save(self, kind, number, arrays, finished=True):
            seen[len(arrays["found"]), number] = arrays["found"].tolist()

    for repeats in (10, 25):
        options = {"method": "nj", "repeats": repeats, "max_rows": 200, "random_state": 3, "target": 1}
        recovery_power(model_of(6), **options, keep=Recording())
    assert seen[25, 100][:10] == seen[10, 100]
    assert 0 < sum(seen[25, 100]) < 25
    assert seen[25, 100] != seen[25, 200]


def cell(rng, number, stop):
    """A piece of an experiment; here, so that another process finds it."""
    if stop is not None and Path(stop).exists():
        raise InputError("stopped on purpose")
    return [{"number": number, "value": float(rng.random())}]


def test_experiments_go_on_in_a_checkpoint_that_vanishes_at_the_end(tmp_path):
    def rows(name, checkpoint=None):
        run = Run(tmp_path / name, workers=1, checkpoint=checkpoint)
        run.prepare()
        return run, run.rows("x", [Cell(f"cell{i}", cell, {"number": i, "stop": stop(i)}) for i in range(9)])

    def stop(number):
        return str(tmp_path / "stop") if number == 6 else None

    _, expected = rows("whole")
    (tmp_path / "stop").touch()
    kept = tmp_path / "kept"
    with pytest.raises(InputError, match="on purpose"):
        rows("out", kept)
    assert sorted(path.name for path in kept.glob("x-cells/*")) == [f"cell{i}.json" for i in range(6)]
    assert not list((tmp_path / "out").glob("x-cells"))
    (tmp_path / "stop").unlink()
    (kept / "x-cells" / "cell2.json").write_text("[{")
    with pytest.raises(InputError, match=r"cell2\.json: damaged; remove this file"):
        rows("out", kept)
    (kept / "x-cells" / "cell2.json").unlink()
    run, found = rows("out", kept)
    assert found == expected
    assert f"{kept} keeps 9 finished parts" in run.describe()
    run.finish()
    assert not kept.exists()


def test_the_fingerprint_knows_columns_codes_and_weights_but_not_the_place(tmp_path, monkeypatch):
    path = write(tmp_path / "data.csv", n_rows=500)
    table = as_table(path)
    codes = table.codes()
    changed = codes.copy()
    changed[300, 2] = (changed[300, 2] + 1) % 3
    others = [
        Table.from_codes(table.columns, changed),
        Table.from_codes(table.columns, codes, np.ones(500)),
        Table.from_codes(table.columns[::-1], codes),
        Table.from_codes(table.columns, codes[:-1]),
    ]
    assert len({fingerprint(other) for other in (table, *others)}) == 5
    monkeypatch.setattr("latree.table.disk.MEMORY_BYTES", 0)
    on_disk = as_table(path)
    assert isinstance(on_disk.rows, DiskRows)
    assert fingerprint(on_disk) == fingerprint(table) == fingerprint(Table.from_codes(table.columns, codes))


def invoke(*arguments):
    return CliRunner().invoke(commands, [str(argument) for argument in arguments])


def fit(folder, *options, data="data.csv", out="run"):
    return invoke("fit", folder / data, "--out", folder / out, "--checkpoint", folder / "kept", "--quiet", *options)


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """A folder with some data, and what a run on them left that was stopped after the first fits."""
    write(tmp_path / "data.csv")
    save = Checkpoint.save

    def interrupted(self, kind, number, *arguments, **options):
        save(self, kind, number, *arguments, **options)
        if number == 5:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", interrupted)
        result = fit(tmp_path, "--method", "lcm")
    assert result.exit_code == 1
    return tmp_path


def test_the_same_command_goes_on(stopped):
    names = {path.name for path in (stopped / "kept").iterdir()}
    assert names == {".lock", "settings.json", *(f"fits-{number:06}.done" for number in range(1, 6))}
    assert fit(stopped, "--method", "lcm").exit_code == 0
    assert not (stopped / "kept").exists()
    without = invoke("fit", stopped / "data.csv", "--out", stopped / "other", "--method", "lcm", "--quiet")
    assert without.exit_code == 0
    for name in ("model.json", "tree.nwk", "report.html", "summary.json"):
        one, other = ((stopped / folder / name).read_text() for folder in ("run", "other"))
        if name == "summary.json":
            one, other = ({**json.loads(text), "seconds": 0} for text in (one, other))
        assert one == other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "nj"], "whose method is 'lcm', not 'nj'"),
        (["--method", "lcm", "--seed", "1"], "whose seed is 0, not 1"),
        (["--method", "lcm", "--smoothing", "0.5"], r"whose smoothing is None, not 0\.5"),
        (
            ["--method", "lcm", "--drop", "x0"],
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
    path = folder / "fits-000003.done"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(folder):
    path = folder / "fits-000003.done"
    path.write_bytes(path.read_bytes()[:20])


def exchanged(folder):
    (folder / "fits-000003.done").write_bytes((folder / "fits-000002.done").read_bytes())


def no_json(folder):
    (folder / "settings.json").write_text('{"latree"')


def others_settings(folder):
    (folder / "settings.json").write_text('{"editor.fontSize": 12}')


def no_settings(folder):
    (folder / "settings.json").unlink()


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (damaged, r"fits-000003\.done: damaged; remove this file"),
        (cut, r"fits-000003\.done: damaged; remove this file"),
        (exchanged, r"fits-000003\.done: made by another computation"),
        (no_json, r"settings\.json: damaged, not JSON"),
        (others_settings, "kept: exists and holds something else"),
        (no_settings, "kept: exists and holds something else"),
    ],
)
def test_what_is_damaged_is_told_in_one_line(stopped, harm, message):
    harm(stopped / "kept")
    result = fit(stopped, "--method", "lcm")
    assert isinstance(result.exception, InputError)
    assert re.search(message, str(result.exception))
    assert "\n" not in str(result.exception)
    if harm in (damaged, cut):  # and the line says what helps
        (stopped / "kept" / "fits-000003.done").unlink()
        assert fit(stopped, "--method", "lcm").exit_code == 0


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
    monkeypatch.setattr("latree.learners.methods.latent_class", mock.Mock(side_effect=error))
    assert fit(tmp_path, "--method", "lcm").exit_code == 1
    assert os.listdir(tmp_path) == ["data.csv"]


def test_removing_leaves_what_others_put_there(tmp_path):
    keep = Checkpoint(tmp_path / "kept", {})
    keep.save("fits", 1, {"x": np.ones(2)}, finished=False)
    assert keep.describe() == "a part of the first"
    keep.save("fits", 1, {"x": np.ones(2)})
    assert keep.describe() == "1 fit"
    keep.save("fits", 2, {"x": np.ones(2)}, finished=False)
    assert keep.describe() == "1 fit and a part of the next"
    (tmp_path / "kept" / ".fits-000003.done.abcd1234").write_text("what a process left that was killed")
    (tmp_path / "kept" / "notes.txt").write_text("mine")
    keep.remove()
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["notes.txt"]


def test_nothing_is_kept_by_default():
    NOTHING_KEPT.save("fits", NOTHING_KEPT.next_number("fits"), {"x": np.ones(2)})
    assert NOTHING_KEPT.load("fits", 1) is None
    assert not NOTHING_KEPT.is_due()


def test_a_process_that_is_ended_goes_on(tmp_path):
    write(tmp_path / "data.csv", 10, 500)
    options = ["--bootstrap", "12", "--quiet"]
    command = [sys.executable, "-c", PROGRAM, "fit", "data.csv", "--out", "run", "--checkpoint", "kept", *options]
    said = []
    for number, least in ((signal.SIGKILL, 5), (signal.SIGINT, 60)):
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
    pieces = r"\d+ fits(, \d+ of 12 replicates)?(,| and) \d+ of 50 trees( and a part of the next)?"
    kept = f"no result was written, but kept keeps {pieces}"
    assert re.fullmatch(f"latree: interrupted; {kept}; the same command goes on there\n", said[1])
    subprocess.run(command, cwd=tmp_path, check=True)
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "run"]
    assert invoke("fit", tmp_path / "data.csv", "--out", tmp_path / "whole", *options).exit_code == 0
    for name in ("model.json", "tree.nwk", "consensus.nwk"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
