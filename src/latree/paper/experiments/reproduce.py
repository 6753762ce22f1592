"""From a run's cells to its files: one CSV and one or two figures an experiment."""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from latree._util.files import to_json, write_bytes, write_text
from latree._util.progress import Progress
from latree.figure import plot
from latree.paper.experiments import quartets, stocks, trees
from latree.paper.experiments.cells import Run, to_csv
from latree.paper.experiments.figures import can_draw, panels, save
from latree.table import read_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def reproduce_quartets(run: Run, progress: Progress) -> list[Path]:
    """Make Figure (a)-(f)."""
    rows = run.rows("quartets", quartets.cells(run.quick), progress)
    draw = partial(
        panels,
        rows,
        split=lambda row: (
            quartets.PERTURBATIONS.index(row["mu"]),
            quartets.HIDDEN.index((row["k_H"], row["k_G"])),
            f"k = {{{row['k_H']}, {row['k_G']}}}, μ = {row['mu']:g}",
        ),
        value="right_percent",
        label="right pairings (%)",
        limits=(25, 102),
    )
    return _written(run, "quartets", to_csv(rows), draw)


def reproduce_trees(run: Run, progress: Progress) -> list[Path]:
    """Make Figure (g)-(l), for both readings of the paper."""
    rows = trees.summary(run.rows("trees", trees.cells(run.quick), progress))
    files = []
    for start in trees.STARTS:
        mine = [row for row in rows if row["start"] == start]
        draw = partial(
            panels,
            mine,
            split=lambda row: (
                trees.BALANCES.index(row["beta"]),
                trees.PERTURBATIONS.index(row["mu"]),
                f"μ = {row['mu']:g}, β = {row['beta']:g}",
            ),
            value="robinson_foulds",
            label="Robinson-Foulds distance",
            limits=(0, 27),
            letter="g",
        )
        files += _written(run, f"trees-{start}", to_csv(mine), draw)
    return files


def prepare_stocks(run: Run, given: Path | None, sectors: Path | None) -> Path:
    """Find the prices, look whether they and the sectors can be used, and note which they are; give their file.

    Prices that no file was given for are fetched once and kept in the run's folder.
    """
    kept = run.out / "stocks-prices.csv"
    with TemporaryDirectory() as folder:
        path = given or kept
        if not path.is_file() and given is None:
            path = Path(folder) / kept.name
            write_text(path, stocks.fetch_prices())
        table = stocks.read_changes(path, run.quick)
        if sectors is not None:
            read_labels(sectors, table.names)
        content = path.read_bytes()
        run.prepare(prices=sha256(content).hexdigest())
        if given is None:
            write_bytes(kept, content)
    return given or kept


def reproduce_stocks(run: Run, progress: Progress, prices: Path, sectors: Path | None) -> list[Path]:
    """Make Table 1, and the stocks' tree."""
    table = stocks.read_changes(prices, run.quick)
    groups = read_labels(sectors, table.names) if sectors is not None else {}
    rows = stocks.summary(run.rows("stocks", stocks.cells(prices, run.quick, run.seed), progress))
    tree = stocks.full_tree(prices, run.quick, run.seed)
    files = [run.out / f"stocks.{kind}" for kind in ("csv", "nwk", "svg", *(["png"] if can_draw() else []))]
    write_text(files[0], to_csv(rows))
    write_text(files[1], tree.to_newick())
    for path in files[2:]:
        plot(tree, path, labels=groups)
    if sectors is not None:
        found = stocks.purity(tree, [groups.get(name, "") for name in tree.names], random_state=run.seed)
        facts = {"score": found.score, "p_value": found.p_value, "best_f1": found.groups}
        write_text(run.out / "stocks-purity.json", to_json(facts))
        files.append(run.out / "stocks-purity.json")
    return files


def _written(run: Run, name: str, csv: str, draw: Callable[[], "Figure"]) -> list[Path]:
    path = run.out / name
    write_text(path.with_suffix(".csv"), csv)
    return [path.with_suffix(".csv"), *save(draw, path)]
