"""The command line as a whole: help, errors, Ctrl-C, terminals."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import latree
from helpers.cli import run, succeed
from helpers.csv import ROWS, columns, contents, rows_of_codes, table, with_cell
from latree.__main__ import commands
from latree.model import LatentTreeModel

ROOT = Path(__file__).parents[2]


PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from latree.__main__ import main; "
    "import latree.learn, latree.report, latree.table; print('ready', flush=True); main()"
)


pytestmark = pytest.mark.usefixtures("folder")


def start(*args, **streams):
    """Start the command line in a process of its own, and wait until it has loaded its modules and is about to run."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, *args], text=True, **streams)
    assert process.stdout.readline() == "ready\n"
    return process


def test_version():
    assert succeed("--version").split()[-1] == latree.__version__


@pytest.mark.parametrize("name", commands.commands)
def test_help_explains_every_option(name):
    command, text = commands.commands[name], succeed(name, "--help")
    assert f"  {name} " in succeed("--help")
    for option in (parameter for parameter in command.params if parameter.param_type_name == "option"):
        assert all(spelling in text for spelling in option.opts)
        assert option.help


@pytest.mark.parametrize("name", sorted(commands.commands))
def test_help_has_an_example_that_uses_real_options(name):
    text = " ".join(succeed(name, "--help").split())
    example = re.search(rf"Example: latree {name}(( [^ ]+)*) Options:", text)
    assert example
    known = {option for parameter in commands.commands[name].params for option in parameter.opts}
    assert {word for word in example[1].split() if word.startswith("--")} <= known


def test_documented_commands_are_real():
    for page in (*ROOT.glob("README.md"), *ROOT.glob("docs/**/*.md")):
        code = re.findall(r"^```.*?\n(.*?)^```|`([^`\n]+)`|^ {4}([^\n]*)", page.read_text(), re.DOTALL | re.MULTILINE)
        for line in "\n".join("\n".join(parts) for parts in code).splitlines():
            if used := re.match(r"\s*(?:\$ )?latree ([a-z]\S*)(.*)", line):
                assert used[1] in commands.commands, f"{page}: {line}"
                known = {name for parameter in commands.commands[used[1]].params for name in parameter.opts}
                assert {*re.findall(r"--[a-z-]+", used[2])} <= {*known, "--help"}, f"{page}: {line}"


def bad(name, content, *mentions, args="fit bad.csv --out run"):
    """Name a command that must be refused, the bad file it reads, and what the message must mention."""
    bad_file = next((word for word in args.split() if word.startswith("bad")), None)
    return pytest.param(bad_file, content, args.split(), [*filter(None, [bad_file]), *mentions], id=name)


GZIPPED = gzip.compress(table().encode())


SCORE = "score model.json bad.csv"


WEIGHTS = "fit bad.csv --weights w --out run"


USED = "sample bad.json"


REPORT = "report model.json bad.csv --out new.html"


SPECTRAL = "fit data.csv --method spectral --states 4 --out run"


BAD = [
    bad("no such file", ..., "no such file"),
    bad("a folder", None, "folder"),
    bad("not UTF-8", table().encode().replace(b"blue", b"bl\x81e"), "UTF-8", "line"),
    bad("gzip cut short", GZIPPED[:-50], "gzip", args="fit bad.csv.gz --out run"),
    bad("gzip corrupted", GZIPPED[:60] + b"?" * 40 + GZIPPED[100:], "gzip", args="fit bad.csv.gz --out run"),
    bad("ragged rows", table() + "0,1,2\n", "row 61", "3 cells", "5"),
    bad("duplicate header", table(header=["a", "b", "a", "colour", "size"]), "'a'", "columns 1 and 3"),
    bad("empty header", table(header=["a", "b", " ", "colour", "size"]), "column 3"),
    bad("one column", columns("colour"), "1 column", "'colour'"),
    bad("three columns", columns("a", "b", "c"), "3 column", "'a'"),
    bad("constant column", table(planet="earth"), "'planet'", "'earth'", args="fit bad.csv --strict --out run"),
    bad("missing column", table(planet=["", "NA", "null"] * 20), "'planet'", args="fit bad.csv --strict --out run"),
    bad("no rows", table([]), "no rows"),
    bad("no rows but weights", table([], w=[]), "no rows", args=WEIGHTS),
    bad("empty file", "", "empty"),
    bad("400 digits", with_cell("a", "9" * 400), "'a'", "999"),
    bad("5000 digits", with_cell("a", "9" * 5000), "'a'"),
    bad("identifiers", table(ROWS * 10, person=[f"p{i}" for i in range(600)]), "'person'", "--id person"),
    bad("negative weight", table(w=["1", "-2", "1"] * 20), "'w'", "row 2", "-2", args=WEIGHTS),
    bad("text weight", table(w=["1", "heavy", "1"] * 20), "'w'", "'heavy'", args=WEIGHTS),
    bad("huge weight", table(w=["1", "1e999", "1"] * 20), "'w'", "'1e999'", args=WEIGHTS),
    bad("unknown weight column", table(), "'w'", args=WEIGHTS),
    bad("unknown drop column", table(), "'id'", args="fit bad.csv --drop id --out run"),
    bad("unknown method", ..., "'oracle'", "tensor", args="fit data.csv --method oracle --out run"),
    bad("states not told", ..., "'spectral'", "--states", args="fit data.csv --method spectral --out run"),
    bad(
        "no representatives",
        ...,
        "'nj'",
        "'random'",
        args="fit data.csv --method nj --representatives random --out run",
    ),
    bad("too many states", ..., "'spectral'", "4 hidden", "'a'", "3 states", args=SPECTRAL),
    bad("states no number", ..., "'--states'", "'many'", args="fit data.csv --out run --states many"),
    bad(
        "no states",
        ...,
        "'--states'",
        "'0' is neither auto nor",
        args="fit data.csv --out run --states 0",
    ),
    bad("half a state", ..., "'--states'", "'1.5'", args="fit data.csv --out run --states 1.5"),
    bad("smoothing no number", ..., "'--smoothing'", "'Auto'", args="fit data.csv --out run --smoothing Auto"),
    bad("negative smoothing", ..., "'--smoothing'", "'-1'", args="fit data.csv --out run --smoothing -1"),
    bad("unknown goal", ..., "'--goal'", "'describe'", "explain", args="fit data.csv --out run --goal describe"),
    bad("unknown resolve", ..., "'--resolve'", "'some'", "tested", args="fit data.csv --out run --resolve some"),
    bad("unseen category", with_cell("colour", "pink"), "'colour'", "'pink'", args=SCORE),
    bad("unseen category to fill", with_cell("colour", "pink"), "'colour'", "'pink'", args="impute model.json bad.csv"),
    bad("column absent", columns("a", "b", "c", "size"), "'colour'", args=SCORE),
    bad("no number", with_cell("size", "tall"), "'size'", "'tall'", args=SCORE),
    bad("nothing to score", table([]), "no rows", args=SCORE),
    bad("folder exists", None, "exists", args="fit data.csv --out bad"),
    bad("a file, not a folder", ..., "data.csv is not a folder", args="fit data.csv --out data.csv/deep/run"),
    bad("file exists", "old", "exists", args="sample model.json --out bad.csv"),
    bad("file to fill exists", "old", "exists", args="impute model.json data.csv --out bad.csv"),
    bad("too many rows", ..., "rows", args="sample model.json --rows 1000000000000000"),
    bad("unknown command", ..., "'guess'", args="guess data.csv"),
    bad("unknown option", ..., "--colour", args="fit data.csv --out run --colour"),
    bad("model no JSON", "{", "JSON", args=USED),
    bad("no model", "{}", "not a latree model", args=USED),
    bad("model version", lambda model: model.replace(b'"version": 1', b'"version": 99'), "99", args=USED),
    bad("model corrupted", lambda model: re.sub(rb"(tables[^0-9]*)", rb"\g<1>7", model), "'a'", args=USED),
    bad("report exists", "old", "exists", args="report model.json data.csv --out bad.html"),
    bad("report without a place", ..., "--out", args="report model.json data.csv"),
    bad("report of other columns", columns("a", "b", "c", "size"), "'colour'", args=REPORT),
    bad("report of no rows", table([]), "no rows", args=REPORT),
    bad("report of unseen values", with_cell("colour", "pink"), "'colour'", "'pink'", args=REPORT),
    bad("rows without data", ..., "--rows", args="report model.json --rows 3 --out new.html"),
    bad("too many rows to look at", ..., "--rows", args="report model.json data.csv --rows 1001 --out new.html"),
    bad("labels of nothing", "column,label\nz,1\n", "'z'", args="report model.json --labels bad.csv --out new.html"),
    bad("no labels", "a\nz\n", "two columns", args="report model.json --labels bad.csv --out new.html"),
    bad("no weights", ..., "'w'", args="report model.json data.csv --weights w --out new.html"),
    bad("fit corrupted", lambda model: model.replace(b'"bootstrap": 0', b'"bootstrap": -1'), "bootstrap", args=USED),
    bad("bad Newick", "((a,b),(c,d);", "Newick", args="compare tree.nwk bad.nwk"),
    bad("other variables", "((w,x),(y,z));", "no column is in both", args="compare tree.nwk bad.nwk"),
]


@pytest.mark.parametrize(("name", "content", "args", "mentions"), BAD)
def test_bad_input_is_refused_in_one_line(fitted, name, content, args, mentions):
    if callable(content):
        content = content(fitted["model.json"])
    if content is None:
        Path(name).mkdir()
    elif content is not ...:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = contents()
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"latree: [^\n]{1,400}\n", err)
    assert [mention for mention in mentions if mention not in err] == []
    assert contents() == before


# Each command with --out, but for those that do the same with more work, demo, power and reproduce; and for compare
# and compare-tables, which have tests of their own (tests/cli/test_differ.py, test_compare_tables.py).
OUTPUTS = {
    "ask model.json": "ask.html",
    "export model.json": "tree.dot",
    "fit data.csv --method lcm --states 2": "run",
    "groups model.json": "groups.csv",
    "impute model.json data.csv": "filled.csv",
    "items model.json data.csv": "items.csv",
    "score model.json data.csv": "rows.csv",
    "plot model.json": "tree.svg",
    "rename model.json H1=mood": "renamed.json",
    "report model.json": "report.html",
    "sample model.json": "new.csv",
    "short model.json data.csv": "form.csv",
    "topics model.json": "topics.csv",
    "transform model.json data.csv": "scores.csv",
}


def test_commands_with_an_output_are_all_tried():
    names = [name for name, command in commands.commands.items() if any(p.name == "out" for p in command.params)]
    assert {*names} == {arguments.split()[0] for arguments in OUTPUTS} | {
        "demo",
        "power",
        "reproduce",
        "compare",
        "compare-tables",
    }


@pytest.mark.parametrize("arguments", OUTPUTS)
def test_the_folder_of_an_output_need_not_exist(arguments, tmp_path):
    before = {*tmp_path.iterdir()}
    out = tmp_path / "new" / "deep" / OUTPUTS[arguments]
    succeed(*arguments.split(), "--out", out)
    assert [*out.parent.iterdir()] == [out]
    assert {*tmp_path.iterdir()} - before == {tmp_path / "new"}


def test_a_real_process_reports_and_shows_no_bar():
    script = Path(sys.executable).with_name("latree")
    commands = (["fit", "data.csv", "--out", "run"], ["score", "model.json", "absent.csv"])
    good, wrong = (subprocess.run([script, *args], capture_output=True, text=True, check=False) for args in commands)
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith(Path("run/report.txt").read_text())
    assert "\x1b" not in good.stdout
    assert (wrong.returncode, wrong.stdout, wrong.stderr) == (2, "", "latree: absent.csv: no such file\n")


def test_ctrl_c_leaves_nothing_behind():
    header = ",".join(f"x{j}" for j in range(40))
    np.savetxt("long.csv", rows_of_codes(40_000, 40, 8), "%d", ",", header=header, comments="")
    before = contents()
    process = start("fit", "long.csv", "--out", "run", "--states", "8")
    time.sleep(4)  # until it is at work, also on a busy machine
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert err == "latree: interrupted; nothing was written\n"
    assert contents() == before


def test_ctrl_c_while_writing_leaves_nothing_behind(monkeypatch):
    before = contents()
    monkeypatch.setattr(LatentTreeModel, "save", mock.Mock(side_effect=KeyboardInterrupt))
    here, leave = os.getpid(), os._exit
    # It would end the tests, too. Copies of the process must end, so that they do not go on with the tests.
    monkeypatch.setattr("os._exit", lambda code: sys.exit(code) if os.getpid() == here else leave(code))
    assert run("fit", "data.csv", "--out", "run")[:2] == (130, "")
    assert contents() == before


def test_help_needs_no_heavy_modules():
    program = (
        "import sys, atexit; atexit.register(lambda: print(*sys.modules)); from latree.__main__ import main; main()"
    )
    run = subprocess.run([sys.executable, "-c", program, "--help"], capture_output=True, text=True, check=True)
    assert "Usage: latree" in run.stdout
    assert not {"numpy", "sklearn", "scipy", "rich", "narwhals"} & {*run.stdout.splitlines()[-1].split()}


def test_an_old_terminal_gets_question_marks_not_a_traceback():
    result = subprocess.run(
        [
            sys.executable,
            "-c",
            "from latree.__main__ import main; main()",
            "fit",
            "data.csv",
            "--out",
            "run",
            "--states",
            "2",
        ],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert b"? colour" in result.stdout


def test_what_goes_to_a_file_is_utf_8_on_every_system():
    """Windows has another encoding for pipes, in which names may be lost."""
    script = (
        "import io, sys; sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='cp1252'); "
        "from latree.__main__ import main; main()"
    )
    Path("Łódź.csv").write_text(table())
    command = [sys.executable, "-c", script, "check", "Łódź.csv"]
    for variables, expected in (({}, "Łódź.csv"), ({"PYTHONIOENCODING": "cp1252"}, "?ód?.csv")):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"} | variables
        printed = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
        assert printed.startswith(expected.encode("cp1252" if variables else "utf-8"))


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_without_a_command_it_shows_what_there_is(arguments):
    result = subprocess.run([sys.executable, "-m", "latree", *arguments], capture_output=True, text=True, check=True)
    assert all(f"  {name} " in result.stdout for name in commands.commands)
    assert "..." not in result.stdout.split("Commands:")[1]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "fit data.csv --out run --states thre",
            "Invalid value for '--states': 'thre' is neither auto nor a whole number from 1 to 1000",
        ),
        ("fit data.csv --out run --bins x", "Invalid value for '--bins': 'x' is not a whole number from 0 to 64"),
        ("fit data.csv --out run --bins 65", "Invalid value for '--bins': '65' is not a whole number from 0 to 64"),
        ("fit data.csv --out run --seed -1", "Invalid value for '--seed': '-1' is not a whole number of at least 0"),
        ("fit data.csv --out run --tol x", "Invalid value for '--tol': 'x' is not a number of at least 0"),
        ("sample model.json --rows x", "Invalid value for '--rows': 'x' is not a whole number from 1 to 1000000000"),
        (
            "theory model.json --target 1",
            "Invalid value for '--target': '1' is not a number above 0 and below 1",
        ),
        (
            "fit data.csv --out run --goal explane",
            "Invalid value for '--goal': 'explane' is not one of 'explain', 'predict'. Did you mean 'explain'?",
        ),
        (
            "fit data.csv --out run --goal other",
            "Invalid value for '--goal': 'other' is not one of 'explain', 'predict'.",
        ),
        ("fit data.csv --out run --drop siz", "data.csv: there is no column 'siz' to drop: did you mean 'size'?"),
        (
            "fit data.csv --out run --weights siz",
            "data.csv: there is no column 'siz' to take weights from: did you mean 'size'?",
        ),
        (
            "transform model.json data.csv --id siz",
            "data.csv: there is no column 'siz' that names rows: did you mean 'size'?",
        ),
        (
            "score model.json pink.csv",
            "pink.csv: column 'colour': the value 'pink' was never seen in the fit: correct it, or make "
            "such cells missing (--unseen missing)",
        ),
        (
            "score model.json few.csv",
            "few.csv: 3 columns that the model needs are not there, 'a', 'b', 'c': add them; their cells may be "
            "missing",
        ),
        (
            "score model.json ragged.csv",
            "ragged.csv: data row 61 (line 62) has 3 cells where the header has 5: add or remove cells, or put quotes "
            "around cells that hold a delimiter",
        ),
        (
            "groups half.json",
            "half.json: not a JSON file: it is damaged or cut off; copy it again, or fit again",
        ),
    ],
)
def test_messages_say_what_helps(command, message):
    Path("pink.csv").write_text(with_cell("colour", "pink"))
    Path("few.csv").write_text(columns("colour", "size"))
    Path("ragged.csv").write_text(table() + "0,1,2\n")
    text = Path("model.json").read_text()
    Path("half.json").write_text(text[: len(text) // 2])
    assert run(*command.split()) == (2, "", f"latree: {message}\n")


def test_labels_of_unknown_columns_are_warned_about():
    Path("labels.csv").write_text("column,label\nsize,one\ncolor,two\n")
    said = succeed("fit", "data.csv", "--out", "run", "--states", 2, "--method", "nj", "--labels", "labels.csv")
    assert "warning: there is a label for 'color', which is not a column; did you mean 'colour'?" in " ".join(
        said.split()
    )


def test_closed_streams_do_not_matter(folder):
    model = latree.random_model(latree.random_tree(4, random_state=0), n_states=2, random_state=0)
    model.save("model.json")
    command = f"{sys.executable} -m latree sample model.json --rows 2"
    result = subprocess.run(f"{command} 2>&-", shell=True, capture_output=True, text=True, check=False)
    assert (result.returncode, len(result.stdout.splitlines())) == (0, 3)
    assert subprocess.run(f"{command} --out rows.csv >&-", shell=True, check=False).returncode == 0
    assert len(Path("rows.csv").read_text().splitlines()) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_a_full_standard_output_is_named_and_what_was_written_stays(folder):
    model = latree.random_model(latree.random_tree(4, random_state=0), n_states=2, random_state=0)
    model.save("model.json")
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "latree", "sample", "model.json", "--out", "rows.csv"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.stderr == "latree: cannot print: No space left on device. --out is written.\n"
    assert result.returncode == 1
    assert Path("rows.csv").exists()


def test_ctrl_c_during_imports_is_one_line(folder):
    program = (
        "import sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'latree.cli.results': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "from latree.__main__ import main\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (130, "latree: interrupted; nothing was written\n")


def test_how_a_file_was_read_is_said_once_by_every_command(folder):
    Path("windows.csv").write_bytes(table(ort="Köln").encode("cp1252"))
    line = "windows.csv is not UTF-8. It is read as Windows-1252, with 'Köln' on line 2: if that is wrong, "
    line += "save it as UTF-8."
    for command in (
        ("transform", "model.json", "windows.csv", "--out", "scores.csv"),
        ("impute", "model.json", "windows.csv", "--out", "filled.csv"),
        ("score", "model.json", "windows.csv"),
        ("report", "model.json", "windows.csv", "--out", "report.html"),
        ("fit", "windows.csv", "--drop", "ort", "--method", "lcm", "--states", 2, "--out", "other"),
    ):
        code, _, err = run(*command)
        assert code == 0
        assert err.count(line) == 1
        assert err.startswith(f"note: {line}")
    assert line.removesuffix(".") in " ".join(succeed("check", "windows.csv").split())
    assert line in json.loads(Path("other/summary.json").read_text())["warnings"]
