"""Progress bars: what a terminal shows, and what it does not."""

import contextlib
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from latree import LatentTree
from latree._util.progress import claim_progress, progress_bars, stage

pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminals", exc_type=ImportError)

SLOW = "from latree._util import bars; bars.MIN_SECONDS = {}; "


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
        "from latree._util.progress import claim_progress, stage; from latree._util.progress import progress_bars\n"
        "import time\n"
        "with progress_bars(True):\n"
        "    for name in 'ab':\n"
        "        with stage(name): claim_progress()(1, 2); time.sleep(0.6)\n"
    )
    text, printed = shown(SLOW.format(0.9) + program)
    assert (text.strip("\r"), printed) == ("", "")  # rich moves the cursor to the left, which nobody sees


def test_a_long_stage_shows_how_far_it_is_and_how_long_it_takes():
    program = (
        "from latree._util.progress import claim_progress, stage; from latree._util.progress import progress_bars\n"
        "import time\n"
        "with progress_bars(True):\n"
        "    for name, at_most in (('Reading the table', False), ('Fitting the model', True)):\n"
        "        with stage(name, at_most):\n"
        "            tell = claim_progress()\n"
        "            for done in range(9):\n"
        "                tell(done, 16); time.sleep(0.1)\n"
        "    with stage('Never long'): pass\n"
    )
    text, _ = shown(SLOW.format(0.3) + program, columns=60)
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    assert all(len(line.rstrip()) <= 60 for line in lines)
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


def test_the_estimator_shows_the_same_stages_if_it_is_verbose():
    program = (
        "import sys; import numpy as np; from latree import LatentTree\n"
        "data = np.random.default_rng(0).integers(0, 2, (60, 5))\n"
        "LatentTree('nj', random_state=0).fit(data)\n"
        "sys.stderr.write('now verbose')\n"
        "LatentTree('nj', random_state=0, verbose=1).fit(data)"
    )
    before, _, after = shown(SLOW.format(0) + program)[0].partition("now verbose")
    for name in ("Reading the table", "Building the tree", "Choosing the states", "Fitting the model"):
        assert name not in before
        assert name in after


def test_a_log_has_a_line_every_ten_seconds_and_nothing_of_short_stages(capsys, monkeypatch):
    """The time left is that of the pass that runs: the second one starts after 12 seconds."""
    clock = iter([0.0, 4.0, 9.0, 12.0, 22.0])
    monkeypatch.setattr("time.monotonic", clock.__next__)
    with progress_bars(True), stage("Reading"):
        report = claim_progress()
        for done in (1, 4, 0, 2):
            report(done, 4)
    assert capsys.readouterr() == (
        "",
        "latree: Reading: 0 %, 12 s\nlatree: Reading: 50 %, 22 s, about 10 s left\n",
    )


def test_lines_are_shown_at_once_if_that_is_wanted(capsys, monkeypatch):
    """The estimator wants it: a notebook is no terminal."""
    clock = iter([0.0, 4.0, 11.0, 15.0, 22.0, 30.0])
    monkeypatch.setattr("time.monotonic", clock.__next__)
    with progress_bars(True, at_once=True):
        with stage("Reading the table"):
            report = claim_progress()
            for done in range(1, 5):
                report(done, 4 if done < 4 else 0)
        with stage("Building the tree", at_most=True):
            pass
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "latree: Reading the table",
        "latree: Reading the table: 50 %, 11 s, about 11 s left",
        "latree: Reading the table: 22 s",
        "latree: Building the tree",
    ]
    with progress_bars(False, at_once=True), stage("Reading"):
        claim_progress()(1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_verbose_estimator_is_not_silent_in_a_log(capsys):
    data = np.random.default_rng(0).integers(0, 2, (60, 5))
    LatentTree("nj", random_state=0, verbose=1).fit(data)
    assert capsys.readouterr().err.startswith("latree: Reading the table\nlatree: Building the tree\n")
    LatentTree("nj", random_state=0).fit(data)
    assert capsys.readouterr() == ("", "")
