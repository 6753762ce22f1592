"""The tree of stocks and Table 1: held-out likelihood of daily price changes, and how well subtrees match sectors.

Daily relative changes are binned into 10 quantiles. A model is fitted to a random half of the days and scored on the
other half.
"""

import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray, RandomState, generator
from latree.errors import InputError
from latree.inference.em import DEFAULT_SMOOTHING
from latree.learn import learn_model, learn_tree
from latree.paper.cells import Cell, Row
from latree.settings import Representatives, Settings
from latree.table import Table, as_table
from latree.table.formats.text import read_lines
from latree.tree import Tree

STATES = (2, 4, 6, 8, 10)
HALVES = 10
PAPER_CELLS = 59 * 3400  # stocks times test days; the paper's numbers are sums over them in units of 10^5 nats

# Each row of the table: its name, the method, its representatives, and whether the number of states must be given.
LEARNERS: dict[str, tuple[str, Representatives, bool]] = {
    "tensor": ("tensor", "nearest", True),
    "tensor, random": ("tensor", "random", True),
    **{name: (name, "nearest", True) for name in ("spectral", "clnj", "nj")},
    **{name: (name, "nearest", False) for name in ("hw", "chow-liu")},
    **{name: (name, "nearest", True) for name in ("snj", "rg", "clrg", "lcm")},
    "independent": ("independent", "nearest", False),
}

# The paper does not list its 59 stocks. These 60 were traded all the time and include all stocks that its text names.
TICKERS = (
    "AA ABT AET AMD APA APD AXP BA BAX BMY C CAT CLX COP CSX CVX DD DIS DUK ED EIX EK EXC F GE GT HON HPQ HUM IBM JNJ "
    "JPM KO KR LLY LMT LUV MAS MCD MMM MO MOT MRK NEE NSM NUE PBI PFE PG RSH SLB SUN TGT UNP UTX VZ WHR WMT XOM XRX"
)
FIRST_DAY, LAST_DAY = "1984-01-01", "2011-01-01"

_NO_PRICES = "give --prices FILE (a column of dates, then one column per ticker)"


@cache
def read_changes(path: Path, quick: bool) -> Table:
    """Read daily relative changes from a file of prices with a column of dates, then one column per ticker.

    A quick run uses 12 stocks and 600 days.
    """
    names, prices = _read_prices(path)
    changes = prices[1:] / prices[:-1] - 1
    return as_table(changes[:600, :12], names=names[:12]) if quick else as_table(changes, names=names)


def _read_prices(path: Path) -> tuple[list[str], FloatArray]:
    header, rows = read_lines(path)
    prices = np.empty((len(rows), len(header) - 1))
    for i, (_, row) in enumerate(rows):
        for j, cell in enumerate(row[1:]):
            try:
                prices[i, j] = float(cell) if cell else np.nan
            except ValueError:
                raise InputError(f"{path}: column {header[j + 1]!r}: {cell!r:.60} is not a price") from None
    if len(rows) < 4 or len(header) < 5 or (prices <= 0).any():
        raise InputError(f"{path}: needs a column of dates, 4 or more columns of prices above 0, and 4 or more rows")
    return header[1:], prices


def fetch_prices() -> str:
    """Return prices as CSV text: those that come with skfolio, or else the paper's, downloaded with yfinance."""
    try:
        from skfolio.datasets import load_sp500_dataset

        frame = load_sp500_dataset()
    except ImportError:
        frame = _download()
    return str(frame.to_csv(index_label="date", lineterminator="\n"))  # floats keep every bit


def _download() -> Any:
    try:
        import yfinance
    except ImportError:
        raise InputError(f"no prices: {_NO_PRICES}, or pip install skfolio, or yfinance (it needs a network)") from None
    logging.getLogger("yfinance").setLevel(logging.CRITICAL)  # it would name each stock that is no longer traded
    try:
        # Closing prices, as in the paper: adjusted for splits, but not for dividends.
        answer = yfinance.download(TICKERS, start=FIRST_DAY, end=LAST_DAY, auto_adjust=False, progress=False)
        frame = answer["Close"].dropna(axis="columns", how="all")
    except Exception as error:  # yfinance passes on errors of several network libraries
        raise InputError(f"yfinance could not download prices ({error!r:.120}); {_NO_PRICES}") from None
    if len(frame) < 4 or len(frame.columns) < 4:
        raise InputError(f"yfinance found no prices; is there a network? Or {_NO_PRICES}")
    return frame


def cells(prices: Path, quick: bool, seed: int) -> list[Cell]:
    """Return the grid: one cell per learner, number of states and half."""
    made = []
    for name, (_, _, needs_states) in LEARNERS.items():
        if quick and name not in ("tensor", "nj", "chow-liu"):
            continue
        for n_states in ((2,) if quick else STATES) if needs_states else (None,):
            for half in range(2 if quick else HALVES):
                label = f"{name.replace(', ', '-')}-k{n_states or 'own'}-half{half}"
                arguments = {"prices": prices, "quick": quick, "name": name, "n_states": n_states}
                made.append(Cell(label, run_cell, {**arguments, "half": half, "seed": seed}))
    return made


def run_cell(
    rng: np.random.Generator, prices: Path, quick: bool, name: str, n_states: int | None, half: int, seed: int
) -> list[Row]:
    """Fit a model to one half and score it on the other. All learners see the same halves."""
    table = read_changes(prices, quick)
    codes = table.codes()
    order = np.random.default_rng([seed, half]).permutation(table.n_rows)
    train, test = np.split(order, [table.n_rows // 2])
    method, representatives, _ = LEARNERS[name]
    settings = Settings(
        method, n_states=n_states, representatives=representatives, smoothing=DEFAULT_SMOOTHING, random_state=rng
    )
    model = learn_model(Table.from_codes(table.columns, codes[train]), settings).model
    scores = model.log_likelihood_rows(Table.from_codes(table.columns, codes[test]))
    return [
        {"method": name, "k": n_states or "own", "half": half, "nats_per_cell": float(-scores.mean() / table.n_columns)}
    ]


def summary(rows: list[Row]) -> list[Row]:
    """Return mean and standard deviation over the halves, in nats per cell and in the paper's unit."""
    groups: dict[tuple[object, object], list[float]] = {}
    for row in rows:
        groups.setdefault((row["method"], row["k"]), []).append(row["nats_per_cell"])
    result = []
    for (method, k), scores in groups.items():
        mean, spread = float(np.mean(scores)), float(np.std(scores))
        unit = PAPER_CELLS / 1e5
        result.append(
            {"method": method, "k": k, "halves": len(scores), "nats_per_cell": mean, "sd": spread}
            | {"paper_unit": mean * unit, "paper_sd": spread * unit}
        )
    return result


def full_tree(prices: Path, quick: bool, seed: int) -> Tree:
    """Learn the tree from all days with the paper's method."""
    return learn_tree(read_changes(prices, quick), method="tensor", random_state=seed)


@dataclass(frozen=True)
class Purity:
    """How well the subtrees of a tree match groups of its leaves.

    Attributes
    ----------
    score : float
        The best F1 score of each group with any side of any edge, averaged over the leaves that have a group.
    groups : dict
        The best F1 score of each group of two or more leaves.
    p_value : float
        Share of the random permutations of the labels, this labelling included, that score at least as high.
    """

    score: float
    groups: dict[str, float]
    p_value: float


def purity(tree: Tree, groups: list[str], permutations: int = 1000, random_state: RandomState = 0) -> Purity:
    """Measure how well subtrees match groups, with a permutation test."""
    rng = generator(random_state)
    labels = np.array(groups)
    names = [str(name) for name in np.unique(labels) if name and (labels == name).sum() > 1]
    if not names:
        raise InputError("no group has two or more members, so purity cannot be measured")
    sides = _sides(tree)
    best = _best_f1(sides, labels, names)
    sizes = np.array([(labels == name).sum() for name in names])
    score = float(best @ sizes / sizes.sum())
    drawn = [_best_f1(sides, rng.permutation(labels), names) @ sizes / sizes.sum() for _ in range(permutations)]
    as_good = 1 + int(np.sum(np.array(drawn) >= score - 1e-12))
    return Purity(score, dict(zip(names, best.tolist(), strict=True)), as_good / (permutations + 1))


def _sides(tree: Tree) -> FloatArray:
    """Return both sides of every edge as rows of zeros and ones over the leaves."""
    rows = []
    for split in tree.splits:
        side = np.array([split.side >> leaf & 1 for leaf in range(tree.n_observed)], dtype=float)
        rows += [side, np.array([split.component >> leaf & 1 for leaf in range(tree.n_observed)]) - side]
    return np.array(rows).reshape(-1, tree.n_observed)


def _best_f1(
    sides: FloatArray, labels: "np.ndarray[tuple[int, ...], np.dtype[np.str_]]", names: list[str]
) -> FloatArray:
    members = np.stack([labels == name for name in names], axis=1).astype(float)
    common = sides @ members
    # F1 = 2 |side ∩ group| / (|side| + |group|)
    return np.asarray((2 * common / (sides.sum(axis=1)[:, None] + members.sum(axis=0))).max(axis=0))
