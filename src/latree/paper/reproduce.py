"""The paper's experiments from their cells to their files: a CSV file and one or two figures per experiment."""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from latree._util.files import to_json, write_bytes, write_text
from latree.figure.draw import plot
from latree.paper import quartets, stocks, trees
from latree.paper.cells import Run, to_csv
from latree.paper.figures import can_draw, panels, save
from latree.table import read_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def reproduce(
    experiment: str,
    run: Run,
    prices: Path | None = None,
    sectors: Path | None = None,
) -> list[Path]:
    """Repeat an experiment of the paper: the numbers as CSV and, with matplotlib, the figures as SVG and PNG.

    Parameters
    ----------
    experiment : {"quartets", "trees", "stocks"}
        Figure (a)-(f), how often quartet tests find the true pairing of four columns; Figure (g)-(l), how close learned
        trees are to the true one; Table 1, the held-out likelihood of daily changes of stock prices. A full run takes
        minutes to hours, depending on the number of cores.
    run : Run
        Where and how to run.
    prices : Path, optional
        For stocks: CSV file with a column of dates, then one column of prices per ticker. By default the prices of 20
        stocks that come with skfolio, or else those of 60 stocks from 1984 to 2010, downloaded with yfinance.
    sectors : Path, optional
        For stocks: CSV file whose first two columns are ticker and sector.

    Returns
    -------
    list of Path
        The files that were written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from latree.research import Run, reproduce
    >>> reproduce("quartets", Run(Path("results"), quick=True))    # doctest: +SKIP
    [PosixPath('results/quartets.csv'), PosixPath('results/quartets.svg'), PosixPath('results/quartets.png')]
    """
    if experiment == "stocks":
        return reproduce_stocks(run, prices, sectors)
    return {"quartets": reproduce_quartets, "trees": reproduce_trees}[experiment](run)


def reproduce_quartets(run: Run) -> list[Path]:
    """Repeat the paper's Figure (a)-(f): how often quartet tests find the true pairing of four columns.

    Writes ``quartets.csv`` and, with matplotlib, ``quartets.svg`` and ``quartets.png`` to the run's folder. A full run
    takes minutes to hours, depending on the number of cores; ``quick`` takes seconds.
    """
    run.prepare()
    rows = run.rows("quartets", quartets.cells(run.quick))
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
    return _write(run, "quartets", to_csv(rows), draw)


def reproduce_trees(run: Run) -> list[Path]:
    """Repeat the paper's Figure (g)-(l): how close learned trees are to the true one.

    Writes ``trees-independent`` and ``trees-identity``, one for each reading of the paper's text, as ``.csv`` and, with
    matplotlib, as ``.svg`` and ``.png``. The measure is the Robinson-Foulds distance.
    """
    run.prepare()
    rows = trees.summary(run.rows("trees", trees.cells(run.quick)))
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
        files += _write(run, f"trees-{start}", to_csv(mine), draw)
    return files


def prepare_stocks(run: Run, given: Path | None, sectors: Path | None) -> Path:
    """Find the prices, check them and the sectors, and prepare the run for them; return the file of prices.

    If no file is given, prices are fetched once and stay in the run's folder.
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


def reproduce_stocks(run: Run, prices: Path | None = None, sectors: Path | None = None) -> list[Path]:
    """Repeat the paper's Table 1, the held-out likelihood of daily changes of stock prices, and learn the stocks' tree.

    Writes ``stocks.csv`` (the table), ``stocks.nwk``, ``stocks.svg`` and, with matplotlib, ``stocks.png`` (the tree)
    and, with sectors, ``stocks-purity.json`` (how well subtrees match sectors).
    """
    prices = prepare_stocks(run, prices, sectors)
    table = stocks.read_changes(prices, run.quick)
    groups = read_labels(sectors, table.names) if sectors is not None else {}
    rows = stocks.summary(run.rows("stocks", stocks.cells(prices, run.quick, run.seed)))
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


def _write(run: Run, name: str, csv: str, draw: Callable[[], "Figure"]) -> list[Path]:
    path = run.out / name
    write_text(path.with_suffix(".csv"), csv)
    return [path.with_suffix(".csv"), *save(draw, path)]
