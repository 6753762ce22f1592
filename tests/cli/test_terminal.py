"""Progress bars: what a terminal shows, and what it does not."""

import contextlib
import os
import pty
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from latree._util.progress import WHOLE, Attempts, no_progress, part_of
from latree.cli.terminal import Stage, progress_bars
from latree.counts.distances import log_det, pairwise
from latree.model.heldout import held_out
from latree.model.states import choose
from latree.paper.simulate import random_model, random_tree
from latree.paper.theory import tree_facts
from latree.report.facts import report_facts
from latree.table import as_table

rng = partial(np.random.default_rng, 0)
SLOW = "from latree.cli import terminal; terminal._SECONDS = {}; "


def shown(program, *arguments, columns=60):
    """Run a program whose standard error is a terminal; give what that was sent, without colours, and its output."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns)}
    command = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, env=environment, text=True) as process:
        os.close(slave)
        sent = b""
        with contextlib.suppress(OSError):
            while piece := os.read(master, 4096):
                sent += piece
        os.close(master)
        printed = process.stdout.read()
    assert process.returncode == 0, sent
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent.decode()), printed


def test_what_is_quick_is_not_shown():
    program = (
        "from latree.__main__.terminal import progress_bars; import time\n"
        "with progress_bars(True) as stages:\n"
        "    for name in 'ab':\n"
        "        stages(name)(1, 2); time.sleep(0.6)\n"
    )
    assert shown(SLOW.format(0.9) + program) == ("", "")


@pytest.mark.parametrize("columns", [60, 120])
def test_a_long_stage_shows_how_far_it_is_and_how_long_it_takes(columns):
    program = (
        "from latree.__main__.terminal import progress_bars; import time\n"
        "with progress_bars(True) as stages:\n"
        "    for name, at_most in (('Reading the table', False), ('Fitting the model', True)):\n"
        "        tell = stages(name, at_most)\n"
        "        for done in range(9):\n"
        "            tell(done, 16); time.sleep(0.1)\n"
        "    stages('Never long')\n"
    )
    text, _ = shown(SLOW.format(0.3) + program, columns=columns)
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    assert all(len(line.rstrip()) <= columns for line in lines)
    assert any(re.fullmatch(r"Reading the table +\S+ +\d+% 0:0\d about 0:0\d left *", line) for line in lines)
    assert any(re.fullmatch(r"Fitting the model +\S+ +\d+% 0:0\d at most 0:0\d left *", line) for line in lines)
    assert any(re.fullmatch(r"Reading the table +\S+ 100% 0:0\d *", line) for line in lines)
    assert "Never" not in text


@pytest.mark.parametrize("options", [[], ["--quiet"]])
def test_the_stages_of_a_fit_are_shown(tmp_path, options):
    data, out = tmp_path / "data.csv", tmp_path / "run"
    np.savetxt(data, np.random.default_rng(0).integers(0, 2, (60, 5)), "%d", ",", header="a,b,c,d,e", comments="")
    program = SLOW.format(0) + "from latree.__main__ import main; main()"
    text, printed = shown(program, "fit", str(data), "--out", str(out), "--method", "nj", *options)
    stages = (
        "Reading the table",
        "Building the tree",
        "Choosing the states",
        "Fitting the model",
        "Writing the report",
    )
    assert bool(text) == all(stage in text for stage in stages) == (not options)
    assert printed.startswith((out / "report.txt").read_text()) == (not options)


def test_nothing_is_shown_where_there_is_no_terminal(capsys):
    with progress_bars(True) as stages:
        assert stages("Reading") is no_progress
    assert capsys.readouterr() == ("", "")


def told(reports, at_most=False):
    """Give a stage that began at 100 seconds, and was told (time, done, total)."""
    stage = Stage("work", at_most, 100.0)
    for now, done, total in reports:
        stage.tell(done, total, now)
    return stage


def test_time_left_is_that_of_the_steps_since_the_first_report():
    assert told([]).left(103.0) is None
    assert told([(110.0, 5, 20)]).left(150.0) is None  # five pieces that were kept, in no time
    stage = told([(110.0, 5, 20), (116.0, 8, 20)])
    assert stage.left(116.0) == pytest.approx(24)
    assert stage.left(118.0) == pytest.approx(22)  # it counts down until the next report
    assert stage.left(200.0) is None  # rather than nothing, or a negative time
    assert told([(100.0, 0, 1000), (101.0, 10, 1000)]).left(101.0) is None  # too early to say
    assert told([(100.0, 0, 1000), (112.0, 10, 1000)]).left(112.0) == pytest.approx(1188)
    stage.ended = 117.0
    assert (stage.left(118.0), stage.taken(130.0)) == (None, 17.0)


def test_another_pass_begins_anew():
    stage = told([(100.0, 0, 10), (110.0, 10, 10), (111.0, 1, 10), (113.0, 3, 10)])
    assert stage.passes == 2
    assert stage.left(113.0) == pytest.approx(7)


def test_parts_and_attempts_only_rise():
    seen = []
    part_of(lambda *numbers: seen.append(numbers), 200, 500)(1, 3)
    assert seen == [(300, WHOLE)]
    seen.clear()
    attempts = Attempts(lambda done, total: seen.append(done))
    for _ in range(40):
        for done in range(4):
            attempts.within(done, 3)
        attempts.end()
    assert seen == sorted(seen)
    assert seen[-1] < WHOLE


@pytest.mark.parametrize(
    "work",
    [
        lambda model, table, tell: pairwise(table, log_det, tell),
        lambda model, table, tell: tree_facts(model, progress=tell),
        lambda model, table, tell: report_facts(model, table, progress=tell),
        lambda model, table, tell: model.sample(10, 0, tell),
        lambda model, table, tell: choose(table, model.tree, held_out(table, rng()), criterion="bic", progress=tell),
    ],
    ids=["pairwise", "theory", "report", "sample", "choose"],
)
def test_work_tells_how_far_it_is(monkeypatch, work):
    monkeypatch.setattr("latree.counts.limits.PAIR_CELLS_AT_ONCE", 100)
    monkeypatch.setattr("latree.counts.limits.TENSOR_CELLS_AT_ONCE", 100)
    model = random_model(random_tree(6, 0.5, 0), n_states=3, hidden_states=2, random_state=0)
    told = []
    work(model, model.sample(60, 0), lambda *numbers: told.append(numbers))
    assert told == sorted(told)
    assert len({done for done, _ in told}) > 2
    assert len({total for _, total in told}) == 1
    assert 0 <= told[0][0] <= told[-1][0] <= told[0][1]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_reading_tells_how_much_of_the_files_is_read(tmp_path, suffix, monkeypatch):
    import pandas as pd

    monkeypatch.setattr("latree.table.sources.BATCH_CELLS", 400)
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (20_000, 2)), columns=["a", "b"])
    for name in ("one", "two"):
        path = tmp_path / f"{name}{suffix}"
        frame.to_parquet(path) if suffix == ".parquet" else frame.to_csv(path, index=False)
    seen = []
    table = as_table(tmp_path / f"*{suffix}", progress=lambda *numbers: seen.append(numbers))
    done, totals = zip(*seen, strict=True)
    files = [Path(path).stat().st_size for path in tmp_path.glob(f"*{suffix}")]
    assert set(totals) == {40_000 if suffix == ".parquet" else sum(files)}
    assert done == tuple(sorted(done))
    assert done[-1] == totals[0]
    assert len(set(done)) > 5
    seen.clear()
    table.with_progress(lambda *numbers: seen.append(numbers)).sum(lambda block: np.array([len(block.codes)]))
    assert seen[-1] == (40_000, 40_000)
    assert len(seen) > 10
