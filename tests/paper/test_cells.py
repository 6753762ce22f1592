"""Grids of cells: seeds, workers, interrupted runs."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from latree._util.progress import reported_to
from latree.errors import InputError
from latree.paper.cells import Cell, Run, mean_and_error, to_csv


def draw(rng, count):
    """A cell's function; here, so that another process finds it."""
    return [{"value": float(x), "count": count} for x in rng.random(count)]


def broken(rng):
    raise InputError("broken on purpose")


def grid(n=6):
    return [Cell(f"cell{i}", draw, {"count": i + 1}) for i in range(n)]


def fresh(path, **options):
    run = Run(path, **options)
    run.prepare()
    return run


def test_results_depend_on_the_seed_and_not_on_the_workers(tmp_path):
    runs = {
        name: fresh(tmp_path / name, **options).rows("x", grid())
        for name, options in {
            "one": {"workers": 1},
            "two": {"workers": 2},
            "other": {"workers": 1, "seed": 1},
        }.items()
    }
    assert runs["one"] == runs["two"] != runs["other"]
    assert [row["count"] for row in runs["one"]] == [i for i in range(1, 7) for _ in range(i)]
    values = [row["value"] for row in runs["one"]]
    assert len(set(values)) == len(values)  # no two cells share their random numbers


def test_finished_cells_are_kept_and_not_run_again(tmp_path):
    run = fresh(tmp_path / "run", workers=1)
    cells = grid(4)
    with pytest.raises(InputError, match="on purpose"):
        run.rows("x", [*cells[:2], Cell("bad", broken, {}), *cells[2:]])
    kept = sorted(path.name for path in (tmp_path / "run" / "x-cells").iterdir())
    assert kept == ["cell0.json", "cell1.json"]
    (tmp_path / "run" / "x-cells" / "cell0.json").write_text('[{"value": 7.0, "count": 1}]')
    told = []
    run = fresh(tmp_path / "run", workers=1)
    with reported_to(lambda *numbers: told.append(numbers)):
        rows = run.rows("x", cells)
    assert rows[0] == {"value": 7.0, "count": 1}
    assert told == [(2, 4), (3, 4), (4, 4)]
    assert rows[1:] == fresh(tmp_path / "again", workers=1).rows("x", cells)[1:]


def test_a_folder_of_another_run_is_refused(tmp_path):
    fresh(tmp_path / "run")
    for other in (Run(tmp_path / "run", seed=1), Run(tmp_path / "run", quick=True)):
        with pytest.raises(InputError, match=r"whose (seed|quick) is"):
            other.prepare()
    Run(tmp_path / "run").prepare(prices="those")
    Run(tmp_path / "run").prepare()
    with pytest.raises(InputError, match="whose prices is"):
        Run(tmp_path / "run").prepare(prices="these")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="something else"):
        Run(tmp_path / "full").prepare()
    with pytest.raises(InputError, match="is not a folder"):
        Run(tmp_path / "full" / "thesis.tex" / "run").prepare()
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.tex"]


def test_folders_that_lead_to_the_results_are_made(tmp_path):
    Run(tmp_path / "new" / "deep" / "run").prepare()
    assert (tmp_path / "new" / "deep" / "run" / "settings.json").is_file()
    with pytest.raises(InputError, match=r"kept: the folder .*absent does not exist"):
        Run(tmp_path / "run", checkpoint=tmp_path / "absent" / "kept").prepare()
    assert not (tmp_path / "absent").exists()


def test_csv_and_means():
    assert to_csv([{"a": 1, "b": 1 / 3}, {"a": "x", "b": 2.0}]) == "a,b\n1,0.333333\nx,2\n"
    assert mean_and_error([1.0]) == (1.0, 0.0)
    mean, error = mean_and_error([1.0, 2.0, 3.0, 4.0])
    assert (mean, error) == (2.5, pytest.approx(np.std([1, 2, 3, 4], ddof=1) / 2))


def workers_of(leader):
    """Return the processes of a group that were started as workers."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.getpgid(int(folder.name)) == leader and b"popen_loky" in (folder / "cmdline").read_bytes():
                found.append(folder.name)
    return found


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks for processes in /proc")
def test_ctrl_c_while_workers_start_is_quiet(tmp_path):
    """As a terminal sends it, to all processes of the group, and while the workers still import modules."""
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from latree.__main__ import main; main()"
    )
    command = [sys.executable, "-c", program, "reproduce", "quartets", "--workers", "2", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 60
        while len(workers_of(process.pid)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.1)  # until the parent listens again
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, out) == (130, "")
    assert re.fullmatch(r"latree: interrupted; [^\n]*\n", err)


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
    with pytest.raises(InputError, match=r"cell2\.json: damaged: remove this file"):
        rows("out", kept)
    (kept / "x-cells" / "cell2.json").unlink()
    run, found = rows("out", kept)
    assert found == expected
    assert f"{kept} keeps 9 finished parts" in run.describe()
    run.finish()
    assert not kept.exists()


def test_a_finished_experiment_removes_only_its_own_parts(tmp_path):
    kept = tmp_path / "kept"
    run = Run(tmp_path / "out", workers=1, checkpoint=kept)
    run.prepare()
    run.rows("x", [Cell("cell0", cell, {"number": 0, "stop": None})])
    others = ["my-cells/notes.json", "x-cells/.cell0.original", "x-cells/notes.json"]
    (kept / "my-cells").mkdir()
    for name in others:
        (kept / name).write_text("mine")
    run.finish()
    files = sorted(str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file())
    assert files == [*others[:1], "settings.json", *others[1:]]
