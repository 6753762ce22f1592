import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from latree.cli import commands
from latree.errors import InputError
from latree.experiments import quartets, stocks, trees
from latree.experiments.cells import Cell, Run, mean_and_error, to_csv
from latree.experiments.power import Point, recovery_power
from latree.methods import METHODS
from latree.simulate import random_model, random_tree
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
        with pytest.raises(InputError, match="another seed"):
            other.prepare()
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
        counts = np.stack([quartets.sampled(2, 2, 0.05, 4000, pairing, rng) for _ in range(8)])
        assert (counts.sum(axis=(1, 2, 3, 4)) == 4000).all()
        answers = quartets.answered(counts)
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
    assert shown == set(METHODS) - {"lcm", "independent"}  # those two learn nothing about the tree


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
        assert float(row["paper_unit"]) == pytest.approx(float(row["nats_a_cell"]) * 59 * 3400 / 1e5, rel=1e-4)
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


def test_wilson_intervals():
    low, high = Point(100, 40, 40).interval
    assert 0.9 < low < 1
    assert high == pytest.approx(1)
    low, high = Point(100, 40, 20).interval
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
    assert "80% is reached with" in result.output
    assert sorted(file.name for file in (tmp_path / "curve").iterdir()) == ["power.csv", "power.png", "power.svg"]
    summary = json.loads(invoke(*arguments, "--json").output)
    with (tmp_path / "curve" / "power.csv").open() as stream:
        assert [int(row["rows"]) for row in csv.DictReader(stream)] == [point["rows"] for point in summary["curve"]]
    assert summary["rows_needed"] in [point["rows"] for point in summary["curve"]]


def test_the_theory_command_prints_what_the_library_computes(tmp_path):
    model = easy_model()
    model.save(tmp_path / "model.json")
    plain = invoke("theory", tmp_path / "model.json")
    assert plain.exit_code == 0
    for expected in ("all 15 quartets", "A1  holds", "A4  FAILS", "α_min", "With 2000 rows"):
        assert expected in plain.output
    summary = json.loads(invoke("theory", tmp_path / "model.json", "--json", "--target", "0.5").output)
    assert summary["rows_needed"] == pytest.approx(32 * np.log(8 * 7 / 0.5) / summary["alpha_min"] ** 2, rel=1e-9)
    assert summary["conditions"]["A2"]["holds"] is True


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
