import csv
import gzip
import io
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
from latree.__main__ import commands
from latree.learn import learn_model
from latree.learners.methods import METHODS
from latree.model import LatentTreeModel
from latree.model.record import Origin
from latree.settings import Settings

ROOT = Path(__file__).parents[2]
HEADER = ["a", "b", "c", "colour", "size"]
PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from latree.__main__ import main; "
    "print('ready', flush=True); main()"
)


def rows_of_codes(n_rows, n_columns, n_states):
    """Draw columns that follow one hidden variable."""
    rng = np.random.default_rng(0)
    hidden, noise = (rng.integers(0, n_states, (n_rows, n)) for n in (1, n_columns))
    return np.where(rng.random((n_rows, n_columns)) < 0.7, hidden, noise)


ROWS = [
    [*map(str, row[:3]), ("red", "green", "blue")[row[3]], str(row[4] + i / 100)]
    for i, row in enumerate(rows_of_codes(60, 5, 3))
]


def table(rows=ROWS, header=HEADER, **added):
    """Give a CSV text; an added column has one cell for all rows, or a list of cells."""
    cells = [[cell] * len(rows) if isinstance(cell, str) else cell for cell in added.values()]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([[*header, *added], *([*row, *extra] for row, *extra in zip(rows, *cells, strict=True))])
    return stream.getvalue()


def with_cell(name, cell, rows=(1,)):
    j = HEADER.index(name)
    return table([[*row[:j], cell, *row[j + 1 :]] if i in rows else row for i, row in enumerate(ROWS)])


def columns(*names):
    return table([[row[HEADER.index(name)] for name in names] for row in ROWS], names)


def start(*args, **streams):
    """Start the command line in a process of its own, and wait until it is about to run."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, *args], text=True, **streams)
    assert process.stdout.readline() == "ready\n"
    return process


def contents():
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(Path().rglob("*"))}


def parse(text):
    return list(csv.reader(io.StringIO(text)))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    (folder / "data.csv").write_text(table())
    succeed("fit", folder / "data.csv", "--out", folder / "run", "--states", 2)
    return {name: (folder / "run" / name).read_bytes() for name in ("model.json", "tree.nwk")}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch, fitted):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(table())
    for name, content in fitted.items():
        Path(name).write_bytes(content)


def test_fit_writes_five_files_and_prints_a_report_json_or_nothing(fitted):
    printed = succeed("fit", "data.csv", "--out", "run", "--states", 2)
    files = {path.name: path.read_text() for path in Path("run").iterdir()}
    assert sorted(files) == ["model.json", "report.html", "report.txt", "summary.json", "tree.nwk"]
    assert {name: files[name].encode() for name in fitted} == fitted
    summary = json.loads(files["summary.json"])
    assert summary.keys() >= {"bic", "seconds", "warnings"}
    assert {"method": "auto", "n_rows": 60, "n_columns": 5}.items() <= summary.items()
    assert printed.startswith(files["report.txt"])
    assert all(name in files["report.txt"] for name in HEADER)
    model = LatentTreeModel.load("run/model.json")
    assert summary["n_hidden"] == model.tree.n_hidden
    assert summary["log_likelihood"] == pytest.approx(model.log_likelihood(model.encode("data.csv")), rel=1e-12)
    assert latree.Tree.from_newick(files["tree.nwk"]).robinson_foulds(model.tree) == 0
    assert json.loads(succeed("fit", "data.csv", "--out", "x", "--json")) == json.loads(
        Path("x/summary.json").read_bytes()
    )
    assert succeed("fit", "data.csv", "--out", "y", "--quiet") == ""
    assert printed.endswith("The report is run/report.html: open it in a browser.\n")


@pytest.mark.parametrize(
    ("options", "reading", "settings"),
    [
        ("--drop c --drop b", {"drop": ["b", "c"]}, {}),
        ("--weights w", {"weights": "w"}, {}),
        ("--missing red --missing 2", {"missing": ["red", "2"]}, {}),
        ("--bins 3", {"bins": 3}, {}),
        ("--states 3 --smoothing 1.5", {}, {"n_states": 3, "smoothing": 1.5}),
        ("--max-iterations 3", {}, {"max_iterations": 3}),
        ("--method hw", {}, {"method": "hw"}),
        ("--method hw --states 3", {}, {"method": "hw", "n_states": 3}),
        (
            "--method tensor --representatives random --seed 5",
            {},
            {"method": "tensor", "representatives": "random", "random_state": 5},
        ),
        ("--states auto --smoothing 1.5", {}, {"smoothing": 1.5}),
        ("--states 3 --smoothing auto", {}, {"n_states": 3}),
        ("--criterion bic", {}, {"criterion": "bic"}),
        ("--method nj --bootstrap 3", {}, {"method": "nj", "bootstrap": 3}),
    ],
)
def test_fit_options_mean_what_they_mean_in_python(options, reading, settings):
    Path("more.csv").write_text(table(w=["0", "1", "2"] * 20))
    succeed("fit", "more.csv", "--out", "run", *options.split())
    command = LatentTreeModel.load("run/model.json").record.command
    told = re.sub(" --(states|smoothing) auto", "", f" {options}")
    assert sorted(command.split()) == sorted(f"latree fit more.csv{told} --out run".split())
    origin = Origin("more.csv", command, reading.get("weights"))
    for name, read, told in (("same", reading, settings), ("other", {}, {})):
        learned = learn_model(
            latree.as_table("more.csv", **read), Settings(**{"random_state": 0} | told), origin=origin
        )
        learned.model.save(name)
    assert Path("run/model.json").read_bytes() == Path("same").read_bytes() != Path("other").read_bytes()


def test_a_bootstrap_writes_a_consensus_and_tells_support():
    printed = succeed("fit", "data.csv", "--out", "run", "--method", "nj", "--states", 2, "--bootstrap", 5)
    assert "tree.nwk, model.json, summary.json, consensus.nwk\n" in printed
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


@pytest.mark.parametrize("method", METHODS)
def test_fit_with_every_method(method):
    printed = succeed("fit", "data.csv", "--out", "run", "--method", method, "--states", 2)
    assert f", found by {method}" in printed
    assert json.loads(Path("run/summary.json").read_bytes())["method"] == method
    assert json.loads(succeed("compare", "run/tree.nwk", "run/model.json", "--json"))["robinson_foulds"] == 0


@pytest.mark.parametrize("options", [[], ["--unseen", "missing"]])
def test_score_is_that_of_python(options):
    Path("new.csv").write_text(with_cell("colour", "pink" if options else "", range(5)))
    scored = json.loads(succeed("score", "model.json", "new.csv", "--json", *options))
    model = LatentTreeModel.load("model.json")
    total = model.log_likelihood(model.encode("new.csv", unseen="missing"))
    assert scored == {"rows": 60, "log_likelihood": total, "mean_log_likelihood": total / 60}
    assert f"{total:.4f}" in succeed("score", "model.json", "new.csv", *options)


def test_columns_without_a_single_value_are_summed_out():
    Path("empty.csv").write_text(with_cell("size", "", range(60)))
    assert json.loads(succeed("score", "model.json", "empty.csv", "--json"))["rows"] == 60
    assert all(size for *_, size in parse(succeed("impute", "model.json", "empty.csv")))


def test_an_impossible_row_can_be_scored():
    plain = json.loads(Path("model.json").read_text())
    plain["tables"][0] = [[1.0] * len(row) if i == 0 else [0.0] * len(row) for i, row in enumerate(plain["tables"][0])]
    Path("sure.json").write_text(json.dumps(plain))
    assert "-inf" in succeed("score", "sure.json", "data.csv")
    assert json.loads(succeed("score", "sure.json", "data.csv", "--json"))["rows"] == 60


def test_samples_are_seeded_and_readable_again():
    printed = succeed("sample", "model.json", "--rows", 30, "--seed", 3)
    assert succeed("sample", "model.json", "--rows", 30, "--seed", 3, "--out", "new.csv") == ""
    assert Path("new.csv").read_text() == printed
    assert parse(printed)[0] == HEADER
    assert succeed("sample", "model.json", "--rows", 30) != printed
    model = LatentTreeModel.load("model.json")
    np.testing.assert_array_equal(model.encode("new.csv").codes(), model.sample(30, 3).codes())
    succeed("sample", "model.json", "--rows", 30, "--seed", 3, "--out", "new.tsv")
    assert Path("new.tsv").read_text() == printed.replace(",", "\t")


def test_impute_fills_missing_cells_and_touches_nothing_else():
    notes = [' spaced ,"quoted"', "", "NA", "1.50", "line\nbreak", "é"] * 10
    rows, header = [row[::-1] for row in ROWS], HEADER[::-1]
    rows[0][0], rows[1][1], rows[2][4], rows[3][3], rows[4][2] = "", " NA ", "null", " 1 ", "2.0"
    given = table(rows, header, note=notes)
    Path("holes.csv").write_text(given, newline="")
    before = contents()
    printed = succeed("impute", "model.json", "holes.csv")
    assert contents() == before
    changed = {
        (i, j): cell
        for i, (old, new) in enumerate(zip(parse(given)[1:], parse(printed)[1:], strict=True))
        for j, cell in enumerate(new)
        if cell != old[j]
    }
    assert changed.keys() == {(0, 0), (1, 1), (2, 4)}
    model = LatentTreeModel.load("model.json")
    filled = model.complete(model.encode("holes.csv")).decode()
    assert {(i, j): str(filled[header[j]][i]) for i, j in changed} == changed
    assert printed.splitlines()[7:] == given.splitlines()[7:]
    assert succeed("impute", "model.json", "holes.csv", "--out", "filled.csv") == ""
    assert Path("filled.csv").read_bytes() == printed.encode()
    assert succeed("impute", "model.json", "filled.csv") == printed


def test_compare_trees_and_models():
    Path("one.nwk").write_text("((a,b),c,(colour,size));\n")
    Path("two.nwk").write_text("((size,colour),b,(c,a));\n")
    assert json.loads(succeed("compare", "one.nwk", "two.nwk", "--json")) == {"robinson_foulds": 2, "max": 4}
    Path("parts.nwk").write_text("(a,b);\n(c,colour,size);\n")
    assert succeed("compare", "one.nwk", "two.nwk").splitlines() == [
        "Robinson-Foulds 2 of at most 4",
        "one.nwk: 2 partitions, 1 shared, 1 only here",
        "two.nwk: 2 partitions, 1 shared, 1 only here",
    ]
    assert succeed("compare", "one.nwk", "parts.nwk").splitlines()[1:] == [
        "one.nwk: 2 partitions, 1 shared, 1 only here",  # {a, b} parts none of the parts
        "parts.nwk: 0 partitions, 0 shared, 0 only here",
    ]
    assert json.loads(succeed("compare", "tree.nwk", "model.json", "--json"))["robinson_foulds"] == 0


def test_methods_are_listed_with_what_they_need():
    listed = {method.pop("name"): method for method in json.loads(succeed("methods", "--json"))}
    text = re.findall(r"^(\S+)\n((?:  .*\n)+)", succeed("methods"), re.MULTILINE)
    assert [name for name, _ in text] == list(listed) == list(METHODS)
    for name, lines in text:
        facts = {key: getattr(METHODS[name], key) for key in ("summary", "needs_states", "trees", "reference")}
        assert listed[name] == facts
        told = dict(line.split(maxsplit=1) for line in lines.splitlines())
        needs = "the number of hidden states" if name == "spectral" else "a table, nothing else"
        assert told == {"how": facts["summary"], "needs": needs, "returns": facts["trees"], "see": facts["reference"]}


def test_version():
    assert succeed("--version").split()[-1] == latree.__version__


def test_the_demo_needs_no_network(monkeypatch):
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("went to the network"))
    monkeypatch.setattr("latree.model.states.MAX_STATES", 4)  # for speed
    Path("latree-demo").mkdir()
    assert succeed("demo").endswith("The report is latree-demo-2/report.html: open it in a browser.\n")
    summary = json.loads(Path("latree-demo-2/summary.json").read_bytes())
    assert (summary["n_rows"], summary["n_columns"]) == (569, 30)
    assert Path("latree-demo-2/report.html").exists()


@pytest.mark.parametrize("name", commands.commands)
def test_help_explains_every_option(name):
    command, text = commands.commands[name], succeed(name, "--help")
    assert f"  {name} " in succeed("--help")
    for option in (parameter for parameter in command.params if parameter.param_type_name == "option"):
        assert all(spelling in text for spelling in option.opts)
        assert option.help


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
    bad("not UTF-8", table().replace("blue", "bleuâtre").encode("latin-1"), "UTF-8", "line"),
    bad("gzip cut short", GZIPPED[:-50], "gzip", args="fit bad.csv.gz --out run"),
    bad("gzip corrupted", GZIPPED[:60] + b"?" * 40 + GZIPPED[100:], "gzip", args="fit bad.csv.gz --out run"),
    bad("ragged rows", table() + "0,1,2\n", "row 61", "3 cells", "5"),
    bad("duplicate header", table(header=["a", "b", "a", "colour", "size"]), "'a'", "columns 1 and 3"),
    bad("empty header", table(header=["a", "b", " ", "colour", "size"]), "column 3"),
    bad("one column", columns("colour"), "1 column", "'colour'"),
    bad("three columns", columns("a", "b", "c"), "3 column", "'a'"),
    bad("constant column", table(planet="earth"), "'planet'", "'earth'"),
    bad("missing column", table(planet=["", "NA", "null"] * 20), "'planet'"),
    bad("no rows", table([]), "no rows"),
    bad("no rows but weights", table([], w=[]), "no rows", args=WEIGHTS),
    bad("empty file", "", "empty"),
    bad("400 digits", with_cell("a", "9" * 400), "'a'", "999"),
    bad("5000 digits", with_cell("a", "9" * 5000), "'a'"),
    bad("identifiers", table(ROWS * 10, person=[f"p{i}" for i in range(600)]), "'person'", "600"),
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
    bad("no states", ..., "'--states'", "0 is not in the range", args="fit data.csv --out run --states 0"),
    bad("half a state", ..., "'--states'", "'1.5'", args="fit data.csv --out run --states 1.5"),
    bad("smoothing no number", ..., "'--smoothing'", "'Auto'", args="fit data.csv --out run --smoothing Auto"),
    bad("negative smoothing", ..., "'--smoothing'", "-1.0", args="fit data.csv --out run --smoothing -1"),
    bad("unknown criterion", ..., "'--criterion'", "'aic'", "bic", args="fit data.csv --out run --criterion aic"),
    bad("unseen category", with_cell("colour", "pink"), "'colour'", "'pink'", args=SCORE),
    bad("unseen category to fill", with_cell("colour", "pink"), "'colour'", "'pink'", args="impute model.json bad.csv"),
    bad("column absent", columns("a", "b", "c", "size"), "'colour'", args=SCORE),
    bad("no number", with_cell("size", "tall"), "'size'", "'tall'", args=SCORE),
    bad("nothing to score", table([]), "no rows", args=SCORE),
    bad("folder exists", None, "exists", args="fit data.csv --out bad"),
    bad("parent absent", ..., "absent", args="fit data.csv --out absent/bad"),
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
    bad("other variables", "((a,b),(c,d));", "'colour'", args="compare tree.nwk bad.nwk"),
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
    time.sleep(6)  # on a busy machine, modules take seconds to load, and loading them may swallow the signal
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert err == "latree: interrupted; nothing was written (--checkpoint DIR would have kept what was done)\n"
    assert contents() == before


def test_ctrl_c_while_writing_leaves_nothing_behind(monkeypatch):
    before = contents()
    monkeypatch.setattr(LatentTreeModel, "save", mock.Mock(side_effect=KeyboardInterrupt))
    monkeypatch.setattr("os._exit", sys.exit)  # which would end the tests, too
    assert run("fit", "data.csv", "--out", "run")[:2] == (130, "")
    assert contents() == before


def test_help_needs_no_heavy_modules():
    program = (
        "import sys, atexit; atexit.register(lambda: print(*sys.modules)); from latree.__main__ import main; main()"
    )
    run = subprocess.run([sys.executable, "-c", program, "--help"], capture_output=True, text=True, check=True)
    assert "Usage: latree" in run.stdout
    assert not {"numpy", "sklearn", "scipy", "rich", "narwhals"} & {*run.stdout.splitlines()[-1].split()}


def test_defaults_are_those_of_the_library():
    settings = Settings()
    same = {"states": "n_states", "seed": None}
    for option in commands.commands["fit"].params:
        field = same.get(option.name, option.name)
        if field is not None and hasattr(settings, field):
            assert option.type.convert(option.default, option, None) == getattr(settings, field), field
    bins = next(option for option in commands.commands["fit"].params if option.name == "bins")
    assert bins.default == latree.LatentTree().bins


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


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_without_a_command_it_shows_what_there_is(arguments):
    result = subprocess.run([sys.executable, "-m", "latree", *arguments], capture_output=True, text=True, check=True)
    assert all(f"  {name} " in result.stdout for name in commands.commands)
    assert "..." not in result.stdout.split("Commands:")[1]
