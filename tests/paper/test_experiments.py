import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from helpers.models import model_on
from latree.__main__ import commands
from latree.errors import InputError
from latree.learners.methods import METHODS
from latree.paper.experiments import figures, quartets, stocks, trees
from latree.paper.experiments.cells import Cell, Run, mean_and_error, to_csv
from latree.paper.experiments.power import RecoveryRate, recovery_power
from latree.paper.simulate import random_model, random_tree
from latree.paper.theory import most_tests, rows_needed, tree_facts
from latree.tree import Tree


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
    rows = fresh(tmp_path / "run", workers=1).rows("x", cells, lambda done, total: told.append((done, total)))
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
    with pytest.raises(InputError, match="does not exist"):
        Run(tmp_path / "no" / "run").prepare()
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.tex"]


def test_csv_and_means():
    assert to_csv([{"a": 1, "b": 1 / 3}, {"a": "x", "b": 2.0}]) == "a,b\n1,0.333333\nx,2\n"
    assert mean_and_error([1.0]) == (1.0, 0.0)
    mean, error = mean_and_error([1.0, 2.0, 3.0, 4.0])
    assert (mean, error) == (2.5, pytest.approx(np.std([1, 2, 3, 4], ddof=1) / 2))


def test_quartets_hide_the_true_pairing_anywhere():
    """With little noise every method finds it, wherever it is; the counts add up to the rows."""
    rng = np.random.default_rng(0)
    for pairing in range(3):
        counts = np.stack([quartets.draw_counts(2, 2, 0.05, 4000, pairing, rng) for _ in range(8)])
        assert (counts.sum(axis=(1, 2, 3, 4)) == 4000).all()
        answers = quartets.answer(counts)
        assert set(answers) == set(quartets.METHODS)
        for method in ("tensor", "spectral@2"):
            assert (answers[method] == pairing).mean() > 0.8, method


def test_a_quartet_cell_counts_right_answers():
    rows = quartets.run_cell(np.random.default_rng(0), (2, 4), 0.5, 500, 150)
    assert [row["method"] for row in rows] == list(quartets.METHODS)
    by_method = {row["method"]: row["right_percent"] for row in rows}
    assert by_method["spectral@2"] > 90
    assert by_method["tensor"] > 85
    assert by_method["nj"] < by_method["tensor"]
    share = by_method["tensor"] / 100
    error = next(row["standard_error"] for row in rows if row["method"] == "tensor")
    assert error == pytest.approx(100 * np.sqrt(share * (1 - share) / 149))


def test_shares_agree_across_seeds_within_binomial_error():
    shares = [
        quartets.run_cell(np.random.default_rng(seed), (4, 4), 1.0, 300, 200)[0]["right_percent"] for seed in range(4)
    ]
    error = 100 * np.sqrt(0.65 * 0.35 / 200)
    assert np.ptp(shares) < 6 * error


def test_the_grids_are_the_papers():
    assert len(quartets.cells(quick=False)) == 3 * 2 * 10
    assert len(trees.cells(quick=False)) == 2 * 2 * 3 * 6 * 5
    for grid_of in (quartets, trees):
        names = [cell.name for cell in grid_of.cells(quick=False)]
        assert len(set(names)) == len(names)
    shown = {method for method, _ in trees.LEARNERS.values()}
    # The default is no method of the paper's, and the others learn nothing about the hidden tree.
    assert shown == set(METHODS) - {"auto", "hclt", "lcm", "independent"}


def test_a_tree_cell_measures_every_learner():
    rows = trees.run_cell(np.random.default_rng(0), "identity", 0.5, 0.2, 1000, 1)
    assert [row["method"] for row in rows] == list(trees.LEARNERS)
    distances = {row["method"]: row["robinson_foulds"] for row in rows}
    assert distances["spectral@2"] <= 4 < distances["clnj"]
    (one,) = trees.summary([{**rows[0], "robinson_foulds": x} for x in (2, 4)])[:1]
    assert (one["robinson_foulds"], one["repeats"]) == (3, 2)


def prices(tmp_path, name="prices.csv", n_stocks=14, days=130):
    rng = np.random.default_rng(0)
    market = rng.normal(0, 0.02, (days, 3))
    changes = market[:, np.arange(n_stocks) % 3] + rng.normal(0, 0.01, (days, n_stocks))
    values = 100 * np.cumprod(1 + changes, axis=0)
    tickers = [f"T{i}" for i in range(n_stocks)]
    lines = [",".join(["date", *tickers])]
    lines += [",".join([f"day{d}", *(f"{x:.4f}" for x in row)]) for d, row in enumerate(values)]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    sectors = ["ticker,sector", *(f"T{i},sector {i % 3}" for i in range(n_stocks))]
    (tmp_path / "sectors.csv").write_text("\n".join(sectors) + "\n")
    return tmp_path / name


def test_purity_of_a_perfect_tree_is_one_and_hard_to_get_by_chance():
    tree = Tree.from_newick("(((a,b),c),((d,e),f),((g,h),i));")
    groups = dict(zip("abcdefghi", ["x"] * 3 + ["y"] * 3 + ["z"] * 3, strict=True))
    found = stocks.purity(tree, [groups[name] for name in tree.names], permutations=200)
    assert found.score == 1
    assert found.groups == {"x": 1, "y": 1, "z": 1}
    assert found.p_value < 0.05
    mixed = stocks.purity(tree, [str(i % 3) for i in range(9)], permutations=200)
    assert mixed.score < 0.8
    assert mixed.p_value > 0.05
    partly = stocks.purity(tree, ["x" if name in "abc" else "" for name in tree.names], permutations=50)
    assert partly.groups == {"x": 1}


def test_purity_equals_a_naive_search():
    tree = random_tree(9, 0.4, 2)
    groups = ["x", "y", "x", "z", "y", "x", "z", "z", "y"]
    found = stocks.purity(tree, groups, permutations=1)
    for name, score in found.groups.items():
        members = {leaf for leaf, group in enumerate(groups) if group == name}
        best = 0.0
        for split in tree.splits:
            inside = {leaf for leaf in range(9) if split.side >> leaf & 1}
            for side in (inside, set(range(9)) - inside):
                best = max(best, 2 * len(side & members) / (len(side) + len(members)))
        assert score == pytest.approx(best)


def invoke(*arguments):
    return CliRunner().invoke(commands, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("line", "message"),
    [("day1,1,2,x,4\n", "'x' is not a price"), ("day1,1,2,-3,4\n", "above zero")],
)
def test_bad_prices_are_named(tmp_path, line, message):
    path = tmp_path / "p.csv"
    path.write_text("date,A,B,C,D\nday0,1,2,3,4\n" + line + "day2,1,2,3,4\nday3,2,2,3,4\n")
    result = invoke("reproduce", "stocks", "--prices", path, "--out", tmp_path / "run")
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)
    assert not (tmp_path / "run").exists()


def test_sectors_of_other_stocks_are_refused_before_the_work(tmp_path):
    path = prices(tmp_path)
    (tmp_path / "other.csv").write_text("ticker,sector\nZZZ,Energy\n")
    result = invoke(
        "reproduce", "stocks", "--prices", path, "--sectors", tmp_path / "other.csv", "--out", tmp_path / "run"
    )
    assert "'ZZZ'" in str(result.exception)
    assert not (tmp_path / "run").exists()


def test_a_quick_run_of_everything(tmp_path):
    """As a user would run it; a second run takes nothing from scratch and gives the same bytes."""
    path, out = prices(tmp_path), tmp_path / "run"
    command = [sys.executable, "-m", "latree", "reproduce", "all", "--quick", "--out", str(out)]
    command += ["--prices", str(path), "--sectors", str(tmp_path / "sectors.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    names = ["quartets", "trees-independent", "trees-identity", "stocks"]
    made = [out / f"{name}.{kind}" for name in names for kind in ("csv", "svg", "png")]
    listed = [Path(line.strip()) for line in done.stdout.splitlines()[1:]]
    assert set(made) < set(listed)
    assert all(file.stat().st_size > 0 for file in listed)
    before = {file: file.read_bytes() for file in listed}
    assert json.loads((out / "stocks-purity.json").read_text())["score"] > 0.8
    with (out / "stocks.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["method"] for row in rows} == {"tensor", "nj", "chow-liu"}
    for row in rows:
        assert float(row["paper_unit"]) == pytest.approx(float(row["nats_per_cell"]) * 59 * 3400 / 1e5, rel=1e-4)
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert {file: file.read_bytes() for file in listed} == before


def test_all_learners_of_the_stocks_see_the_same_halves(tmp_path):
    path = prices(tmp_path)
    cells = {cell.name: cell for cell in stocks.cells(path, quick=True, seed=3)}
    arguments = cells["chow-liu-kown-half1"].arguments
    one, other = (stocks.run_cell(np.random.default_rng(seed), **arguments) for seed in (0, 1))
    assert one == other  # chow-liu has nothing random but its half
    full = stocks.cells(path, quick=False, seed=0)
    names = [cell.name for cell in full]
    assert len(set(names)) == len(names)
    assert {cell.arguments["half"] for cell in full} == set(range(10))


def test_a_run_never_mixes_two_files_of_prices(tmp_path):
    out = tmp_path / "run"
    command = ("reproduce", "stocks", "--quick", "--workers", 1, "--out", out, "--prices")
    assert invoke(*command, prices(tmp_path)).exit_code == 0
    assert invoke(*command, prices(tmp_path)).exit_code == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    result = invoke(*command, prices(tmp_path, "other.csv", days=120))
    assert isinstance(result.exception, InputError)
    assert "whose prices is" in str(result.exception)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def fake_yfinance(monkeypatch, download):
    monkeypatch.setitem(sys.modules, "skfolio.datasets", None)
    monkeypatch.setitem(sys.modules, "yfinance", SimpleNamespace(download=download))


def test_prices_are_downloaded_once_where_none_are_at_hand(tmp_path, monkeypatch):
    asked = []

    def download(tickers, start, end, **options):
        asked.append((tickers.split(), start, end))
        days = pd.date_range("2000-01-03", periods=90, name="Date")
        values = 100 * np.cumprod(1 + np.random.default_rng(0).normal(0, 0.02, (90, 60)), axis=0)
        values[:, 2], values[:40, 3] = np.nan, np.nan  # one that is no longer known, one that came later
        return pd.concat({"Close": pd.DataFrame(values, days, tickers.split())}, axis="columns")

    fake_yfinance(monkeypatch, download)
    command = ("reproduce", "stocks", "--quick", "--workers", 1, "--out", tmp_path / "run")
    result = invoke(*command)
    assert result.exit_code == 0, result.exception
    ((tickers, *period),) = asked
    assert len(set(tickers)) == 60
    assert {"CVX", "MRK", "IBM", "WMT", "DUK", "JPM"} < set(tickers)
    assert period == ["1984-01-01", "2011-01-01"]
    header = (tmp_path / "run" / "stocks-prices.csv").read_text().splitlines()[0].split(",")
    assert header == ["date", *tickers[:2], *tickers[3:]]
    again = invoke(*command)
    assert again.exit_code == 0
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (OSError("no route to host"), "could not download prices .*no route to host.*--prices"),
        (pd.DataFrame({("Close", "AA"): []}), "found no prices.*--prices"),
        (pd.DataFrame(), "could not download prices.*--prices"),
    ],
)
def test_a_failed_download_is_told_in_one_line(tmp_path, monkeypatch, answer, message):
    fake_yfinance(monkeypatch, mock.Mock(side_effect=[answer]))
    result = invoke("reproduce", "stocks", "--quick", "--out", tmp_path / "run")
    assert isinstance(result.exception, InputError)
    assert re.fullmatch(f"[^\n]*{message}[^\n]*", str(result.exception))
    assert not (tmp_path / "run").exists()


def test_without_prices_both_ways_to_get_some_are_named(tmp_path, monkeypatch):
    for module in ("skfolio.datasets", "yfinance"):
        monkeypatch.setitem(sys.modules, module, None)
    result = invoke("reproduce", "stocks", "--quick", "--out", tmp_path / "run")
    assert isinstance(result.exception, InputError)
    assert all(way in str(result.exception) for way in ("--prices", "skfolio", "yfinance"))


def test_without_matplotlib_the_numbers_are_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path, out = prices(tmp_path), tmp_path / "run"
    command = ("reproduce", "stocks", "--quick", "--workers", 1, "--out", out, "--prices", path)
    result = invoke(*command, "--sectors", tmp_path / "sectors.csv")
    assert result.exit_code == 0, result.exception
    assert {path.name for path in out.glob("stocks*.*")} == {
        "stocks.csv",
        "stocks.nwk",
        "stocks.svg",
        "stocks-purity.json",
    }
    assert ".png" not in result.stdout
    assert result.stderr.count("\n") == 1
    assert "latree[plot]" in result.stderr
    easy_model().save(tmp_path / "model.json")
    arguments = ["power", tmp_path / "model.json", "--repeats", 1, "--target", 0.1]
    result = invoke(*arguments, "--out", tmp_path / "curve")
    assert [file.name for file in (tmp_path / "curve").iterdir()] == ["power.csv"]
    assert "curve: power.csv\n" in result.stdout
    assert "latree[plot]" in result.stderr
    assert invoke(*arguments).stderr == ""


def test_panels_cut_nothing_off_and_draw_the_first_method_on_top():
    rows = [
        {"rows": size, "method": method, "share": share, "standard_error": 3.0}
        for method, share in (("tensor", 99.0), ("nj", 20.0), ("spectral@2", 60.0))
        for size in (50, 2000)
    ]
    figure = figures.panels(rows, split=lambda row: (0, 0, "all"), value="share", label="share", limits=(25, 102))
    (panel,) = figure.axes
    low, high = panel.get_ylim()
    assert low < 17
    assert high > 102
    assert panel.get_xlim()[0] < 50 < 2000 < panel.get_xlim()[1]
    order = {container.get_label(): container[0].get_zorder() for container in panel.containers}
    assert max(order, key=order.get) == "tensor"
    assert min(bar.get_zorder() for bar in panel.containers[0][2]) > order["nj"]


def test_panels_have_the_papers_letters():
    rows = [
        {"rows": 50, "method": "tensor", "share": 5.0, "standard_error": 1.0, "place": (i, j)}
        for i in range(2)
        for j in range(3)
    ]
    figure = figures.panels(
        rows, split=lambda row: (*row["place"], "title"), value="share", label="share", limits=(0, 27), letter="g"
    )
    assert [panel.get_title() for panel in figure.axes] == [f"({letter}) title" for letter in "ghijkl"]


def workers_of(leader):
    """Give the processes of a group that were started as workers."""
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


def test_wilson_intervals():
    low, high = RecoveryRate(100, 40, 40).interval
    assert 0.9 < low < 1
    assert high == pytest.approx(1)
    low, high = RecoveryRate(100, 40, 20).interval
    assert low == pytest.approx(1 - high)
    assert (low, high) == pytest.approx((0.352, 0.648), abs=0.001)


def easy_model():
    tree = random_tree(6, 0.5, 0)
    return random_model(tree, n_states=4, hidden_states=2, start="identity", perturbation=0.1, random_state=0)


def test_power_finds_the_rows_that_are_enough():
    power = recovery_power(easy_model(), target=0.9, repeats=20, random_state=0)
    sizes = [point.rows for point in power.points]
    assert sizes == sorted(sizes)
    shares = {point.rows: point.share for point in power.points}
    assert shares[power.rows_needed] >= 0.9
    assert max((share for rows, share in shares.items() if rows < power.rows_needed), default=0) < 0.9
    again = recovery_power(easy_model(), target=0.9, repeats=20, random_state=0)
    assert again == power


def test_power_says_when_it_is_not_enough():
    model = random_model(random_tree(8, 0.2, 0), n_states=3, hidden_states=2, perturbation=1.0, random_state=0)
    power = recovery_power(model, repeats=3, max_rows=120, random_state=0)
    assert power.rows_needed is None
    assert [point.rows for point in power.points] == [50, 100]
    with pytest.raises(InputError, match="target"):
        recovery_power(model, target=0)


def test_the_power_command_writes_its_curve(tmp_path):
    easy_model().save(tmp_path / "model.json")
    arguments = ["power", tmp_path / "model.json", "--repeats", 5, "--target", 0.8]
    result = invoke(*arguments, "--out", tmp_path / "curve")
    assert result.exit_code == 0, result.exception
    summary = json.loads(invoke(*arguments, "--json").output)
    answer = next(point for point in summary["curve"] if point["rows"] == summary["rows_needed"])
    interval = f"{answer['found']} of 5 trees found, 95 % interval {answer['low']:.0%} to {answer['high']:.0%}"
    assert f"80% is reached with {answer['rows']} rows: {interval}\n" in result.output
    assert summary["unsure"]  # five repeats are few
    assert "Caution: " in result.output
    assert sorted(file.name for file in (tmp_path / "curve").iterdir()) == ["power.csv", "power.png", "power.svg"]
    with (tmp_path / "curve" / "power.csv").open() as stream:
        assert [int(row["rows"]) for row in csv.DictReader(stream)] == [point["rows"] for point in summary["curve"]]
    assert summary["rows_needed"] in [point["rows"] for point in summary["curve"]]


def test_the_theory_command_prints_what_the_library_computes(tmp_path):
    model = easy_model()
    model.save(tmp_path / "model.json")
    plain = invoke("theory", tmp_path / "model.json")
    assert plain.exit_code == 0
    for expected in ("all 15 quartets", "A1  holds", "A4  FAILS", "α_min > 0 over all quartets", "With 2000 rows"):
        assert expected in plain.output
    summary = json.loads(invoke("theory", tmp_path / "model.json", "--json", "--target", "0.5").output)
    assert summary["rows_needed"] == np.ceil(32 * np.log(8 * 7 / 0.5) / summary["alpha_min"] ** 2)
    assert isinstance(summary["rows_needed"], int)
    assert f"For a probability of 0.5: {summary['rows_needed']} rows\n" in (
        invoke("theory", tmp_path / "model.json", "--target", "0.5").output
    )
    assert summary["conditions"]["A2"]["holds"] is True


def theory_of(tmp_path, tree, *options, seed=0):
    model_on(tree, [2] * tree.n_nodes, seed).save(tmp_path / "small.json")
    return invoke("theory", tmp_path / "small.json", *options)


def test_the_theory_tells_stars_from_quartets_that_were_not_looked_at(tmp_path):
    star_like = Tree("abcdef", [(0, 6), (1, 6), (2, 6), (6, 7), (3, 7), (4, 7), (5, 7)])
    plain = theory_of(tmp_path, star_like).output
    assert "all 15 quartets, of which 6 are stars" in plain
    assert "random" not in plain
    assert "With 2000 rows" not in plain
    assert "does not apply, as Algorithm 2 returns binary trees only: hidden variable H1 has 4 neighbours" in plain
    summary = json.loads(theory_of(tmp_path, star_like, "--json").output)
    assert (summary["quartets_looked_at"], summary["star_quartets"]) == (15, 6)
    assert summary["probability_at_least"] is summary["rows_needed"] is None
    random_model(random_tree(18, 0.5, 0), n_states=2, hidden_states=2, random_state=0).save(tmp_path / "large.json")
    assert "2000 random ones of 3060 quartets\n" in invoke("theory", tmp_path / "large.json").output


def test_the_theory_rounds_towards_caution(tmp_path):
    tree = Tree("abcd", [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5)])
    model = random_model(tree, n_states=4, hidden_states=2, perturbation=0.05, random_state=0)
    model.save(tmp_path / "model.json")
    sure = invoke("theory", tmp_path / "model.json", "--rows", 10**9).output
    assert "looked at: the only quartet\n" in sure
    assert "1 of 1 quartet;" in sure
    assert "probability of more than 0.999\n" in sure
    rows = rows_needed(tree_facts(model).alpha_min, 0.95, most_tests(4)) - 1
    assert "at least 0.949\n" in invoke("theory", tmp_path / "model.json", "--rows", rows).output
    assert "at least 0 (the bound says nothing" in invoke("theory", tmp_path / "model.json", "--rows", 5).output
    one = invoke("theory", tmp_path / "model.json", "--quartet", *"abcd", "--rows", 10**9).output
    assert "probability of more than 0.999\n" in one


def test_the_theory_of_columns_alone_has_nothing_to_check(tmp_path):
    result = theory_of(tmp_path, Tree("abcd", [(0, 1), (1, 2), (2, 3)]))
    assert isinstance(result.exception, InputError)
    assert "nothing to check" in str(result.exception)


def test_power_refuses_trees_that_the_method_never_returns(tmp_path):
    many = Tree("abcdef", [(0, 6), (1, 6), (2, 6), (6, 7), (3, 7), (4, 7), (5, 7)])
    inner = Tree("abcde", [(0, 1), (1, 5), (5, 2), (5, 3), (3, 4)])
    two = Tree("abcd", [(0, 4), (1, 4), (4, 6), (6, 5), (2, 5), (3, 5)])
    parts = Tree("abcdef", [(0, 6), (1, 6), (2, 6), (3, 7), (4, 7), (5, 7)])
    words = {many: "H1 has 4 neighbours", inner: "'b' is an inner node", two: "H3 has 2 neighbours", parts: "2 parts"}
    returned = {
        many: "auto spectral rg clrg clnj chow-liu hclt lcm",
        inner: "rg clrg clnj chow-liu",
        two: "auto hclt",
        parts: "auto hw independent",
    }
    for tree, reason in words.items():
        model_on(tree, [2] * tree.n_nodes, 0).save(tmp_path / "model.json")
        for method in METHODS:
            options = ("--method", method, "--max-rows", 50, "--repeats", 1, "--states", 2)
            result = invoke("power", tmp_path / "model.json", *options)
            if method in returned.get(tree, "").split():
                assert result.exit_code == 0, (method, result.exception)
            else:
                assert isinstance(result.exception, InputError), (method, reason)
                assert all(word in str(result.exception) for word in (reason, repr(method)))


def test_the_theory_of_one_quartet(tmp_path):
    model = easy_model()
    model.save(tmp_path / "model.json")
    plain = invoke("theory", tmp_path / "model.json", "--quartet", "x0", "x1", "x2", "x3")
    assert plain.exit_code == 0
    assert "Δ = P_HG - P_H P_Gᵀ" in plain.output
    facts = json.loads(invoke("theory", tmp_path / "model.json", "--quartet", "x0", "x1", "x2", "x3", "--json").output)
    assert np.sum(facts["p_hg"]) == pytest.approx(1)
    assert np.linalg.norm(facts["perturbation"]) == pytest.approx(facts["delta"])
    for wrong in (["x0", "x1", "x2", "x2"], ["x0", "x1", "x2", "zz"]):
        assert isinstance(invoke("theory", tmp_path / "model.json", "--quartet", *wrong).exception, InputError)
