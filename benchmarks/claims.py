"""The numbers in docs/reproduced.md, from the folder of a run of `latree reproduce all --out FOLDER`.

python benchmarks/claims.py FOLDER [--prices FILE]

With the prices, four more experiments run, which take two minutes: trees of stocks for ten seeds and both kinds of
representatives, Spectral@4 with its confidence intervals, the components of the forests that `hw` returns, and quartet
tests on shuffled columns.
"""

import argparse
import csv
import json
from collections import Counter, defaultdict
from math import hypot
from pathlib import Path
from typing import Literal

import numpy as np

from latree import learn_tree
from latree._util.arrays import FloatArray
from latree.counts.contingency import pair_tables
from latree.counts.distances import as_pairs, nuclear, pairwise
from latree.counts.quartets import spectral_products, spectral_test
from latree.learners.divide_conquer import divide_and_conquer
from latree.learners.spectral_grouping import spectral_grouping
from latree.model import fit_model
from latree.paper.quartets import answer, draw_counts
from latree.paper.simulate import random_model, random_tree
from latree.paper.stocks import PAPER_CELLS, read_changes
from latree.settings import Representatives
from latree.table import Table
from latree.tree import Tree

Cells = dict[tuple[str, ...], dict[str, float]]

# Groups that the paper's text names. Its ECX is Exelon, whose ticker is EXC.
GROUPS = {
    "petroleum": "CVX XOM APA COP SLB SUN",
    "pharmaceutical": "MRK PFE BMY LLY ABT JNJ BAX",
    "high-tech": "AMD MOT HPQ IBM",
    "retail": "TGT WMT RSH",
    "retail without RSH": "TGT WMT",
    "utilities": "DUK ED EIX EXC VZ",
    "utilities without VZ": "DUK ED EIX EXC",
    "financial": "C JPM AXP",
    "financial and F": "C JPM AXP F",
}
PAPER = {  # Table 1
    "tensor": (4.41, 4.30, 4.28, 4.28, 4.29),
    "spectral": (4.44, 4.35, 4.35, 4.35, 4.37),
    "clnj": (4.43, 4.33, 4.32, 4.32, 4.32),
    "nj": (4.43, 4.33, 4.31, 4.31, 4.31),
    "hw": (4.31,),
    "chow-liu": (4.41,),
}


def read(path: Path, keys: tuple[str, ...], value: str) -> Cells:
    """Return the value of every method in every cell."""
    cells: Cells = defaultdict(dict)
    with path.open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            cells[tuple(row[key] for key in keys)][row["method"]] = float(row[value])
    return cells


def quartets(folder: Path) -> None:
    keys = ("k_H", "k_G", "mu", "rows")
    cells = read(folder / "quartets.csv", keys, "right_percent")
    errors = read(folder / "quartets.csv", keys, "standard_error")
    print(f"quartets: {len(cells)} cells")
    print("  tensor better than nj in", sum(c["tensor"] > c["nj"] for c in cells.values()))
    print("  nj last of all in", sum(c["nj"] == min(c.values()) for c in cells.values()))
    leads = [c["tensor"] - c["nj"] for c in cells.values()]
    print(f"  its lead over nj: {min(leads):.1f} to {max(leads):.1f} points")
    for method in next(iter(cells.values())):
        behind = {key: max(c.values()) - c[method] for key, c in cells.items()}
        widest = max(behind, key=lambda key: behind[key])
        print(
            f"  {method}: best or tied in {sum(gap == 0 for gap in behind.values())}, within 2 points of the best in "
            f"{sum(gap <= 2 for gap in behind.values())}; mean gap {sum(behind.values()) / len(cells):.1f}; "
            f"most behind: {behind[widest]:.1f} points at k={widest[0]},{widest[1]} mu={widest[2]} rows={widest[3]}"
        )
        if method != "tensor":
            print(f"    tensor is as good or better in {sum(c['tensor'] >= c[method] for c in cells.values())}")
    gap = max(max(c.values()) - c["tensor"] for key, c in cells.items() if int(key[-1]) >= 1000)
    print(f"  tensor behind the best with 1000 rows or more: {gap:.1f} points or less")
    for mu in ("0.5", "1"):
        gaps = [max(c.values()) - c["tensor"] for key, c in cells.items() if key[2] == mu]
        print(f"  mu={mu}: tensor's mean gap to the best {sum(gaps) / len(gaps):.1f}, largest {max(gaps):.1f}")
    spread = {key: max(x := [v for m, v in c.items() if "@" in m]) - min(x) for key, c in cells.items()}
    print(
        f"  Spectral@k between its best and worst k: up to {max(spread.values()):.1f} points,",
        f"more than 5 in {sum(gap > 5 for gap in spread.values())} cells",
    )
    for mu in ("0.5", "1"):
        for (h, g, m, rows), c in cells.items():
            if (h, g, m) == ("2", "8", mu):
                second = max((name for name in c if name != "tensor"), key=lambda name: c[name])
                e = errors[h, g, m, rows]
                lead, error = c["tensor"] - c[second], hypot(e["tensor"], e[second])
                print(f"  k=2,8 mu={mu} rows={rows}: lead over {second} {lead:+.1f} ± {error:.1f}")
    equal = [c for (h, g, _, _), c in cells.items() if (h, g) == ("4", "4")]
    spectral = [{m: v for m, v in c.items() if "@" in m} for c in equal]
    best = [c["spectral@4"] == max(c.values()) for c in spectral]
    print(f"  k=4,4: of Spectral@k, k = 4 is best or tied in {sum(best)} of {len(equal)}")
    gaps = [max(s.values()) - c["tensor"] for c, s in zip(equal, spectral, strict=True)]
    print(
        f"  k=4,4: tensor behind the best k by {sum(gaps) / len(gaps):.1f} points on average, at most {max(gaps):.1f}"
    )


def shuffled() -> None:
    """Print how often tests are right about quartets with shuffled columns, which keep only their marginals."""
    for rows in (100, 300, 2000):
        rng = np.random.default_rng(0)
        right: dict[str, list[bool]] = defaultdict(list)
        for _ in range(15):
            truth = rng.integers(3, size=100)
            counts = np.stack([_shuffled(draw_counts(2, 8, 1.0, rows, int(pairing), rng), rng) for pairing in truth])
            for method, answers in answer(counts).items():
                right[method] += (answers == truth).tolist()
        found = ", ".join(f"{method} {100 * np.mean(hits):.1f}" for method, hits in right.items())
        print(f"quartets k=2,8 mu=1, shuffled, {rows} rows, right (%): {found}")


def _shuffled(counts: FloatArray, rng: np.random.Generator) -> FloatArray:
    cells = np.repeat(np.arange(counts.size), counts.ravel().astype(int))
    columns = [rng.permutation(column) for column in np.unravel_index(cells, counts.shape)]
    drawn = np.bincount(np.ravel_multi_index(columns, counts.shape), minlength=counts.size)
    return drawn.reshape(counts.shape).astype(float)


def trees(folder: Path) -> None:
    for start in ("independent", "identity"):
        cells = read(folder / f"trees-{start}.csv", ("beta", "mu", "rows"), "robinson_foulds")
        errors = read(folder / f"trees-{start}.csv", ("beta", "mu", "rows"), "standard_error")
        print(f"trees, {start}: mean Robinson-Foulds")
        methods = list(next(iter(cells.values())))
        print(f"  {'beta':>5}{'mu':>5}{'rows':>6}" + "".join(f"{method:>16}" for method in methods))
        for (beta, mu, rows), values in cells.items():
            print(f"  {beta:>5}{mu:>5}{rows:>6}" + "".join(f"{values[method]:16.1f}" for method in methods))
        print(f"  largest standard error {max(max(e.values()) for e in errors.values()):.2f}")
        papers = [method for method in methods if method in ("nj", "clnj", "hw") or "@" in method]
        spectral = [method for method in methods if "@" in method]
        for tensor in ("tensor", "tensor, nearest"):
            kind = "nearest" if "nearest" in tensor else "random"
            for other in ("nj", "clnj", "spectral@2"):
                better = sum(c[tensor] < c[other] for c in cells.values())
                print(f"  tensor, {kind} better than {other} in {better} of {len(cells)}")
            for key in (key for key in cells if key[-1] == "2000"):
                values, error = cells[key], errors[key]
                print(
                    f"  tensor, {kind}, at beta={key[0]} mu={key[1]} rows={key[2]}: above "
                    + "; ".join(
                        f"{other} {values[tensor] - values[other]:+.1f} ± {hypot(error[tensor], error[other]):.1f}"
                        for other in ("spectral@2", min(spectral, key=lambda m: values[m]), "nj")
                    )
                )
        for tensor in ("tensor", "tensor, nearest"):
            last = sum(c["clnj"] == max(c[method] for method in [tensor, *papers]) for c in cells.values())
            print(f"  clnj last of {tensor} and the paper's others in {last} of {len(cells)}")
        few = [c for key, c in cells.items() if int(key[-1]) <= 200]
        first = sum(c["hw"] == min(c[method] for method in ["tensor", "tensor, nearest", *papers]) for c in few)
        print(f"  hw first of the paper's methods in {first} of {len(few)} with at most 200 rows")
        alone = sum(c["hw"] == 13 and errors[key]["hw"] == 0 for key, c in cells.items())
        print(f"  hw always 13, like no tree at all, in {alone} of {len(cells)}")
        spread = {key: max(x := [c[method] for method in spectral]) - min(x) for key, c in cells.items()}
        print(f"  Spectral@k between its best and worst k: up to {max(spread.values()):.1f}")
        within = sum(c["spectral@2"] <= min(c[m] for m in spectral) + 1 for c in cells.values())
        print(f"  spectral@2 within 1 of the best k in {within} of {len(cells)}")


def parts() -> None:
    """Print the number of components that `hw` finds for 16 columns of the paper's models, and its distance."""
    starts: tuple[Literal["independent", "identity"], ...] = ("independent", "identity")
    for start in starts:
        for rows in (50, 200, 1000):
            rng, found = np.random.default_rng(0), []
            for _ in range(5):
                truth = random_tree(16, 0.5, rng)
                table = random_model(truth, start=start, perturbation=0.2, random_state=rng).sample(rows, rng)
                tree = learn_tree(table, method="hw", random_state=0)
                found.append((tree.n_nodes - len(tree.edges), tree.robinson_foulds(truth)))
            print(f"hw, {start}, beta=0.5, mu=0.2, {rows} rows: parts and Robinson-Foulds", *found)


def stocks(folder: Path) -> None:
    for value, spread, digits in (("paper_unit", "paper_sd", 3), ("nats_per_cell", "sd", 4)):
        means = read(folder / "stocks.csv", ("k",), value)
        spreads = read(folder / "stocks.csv", ("k",), spread)
        print(f"stocks, {value}:")
        print(f"{'':16}" + "".join(f"{f'k = {k}':>17}" for (k,) in means if k != "own"))
        for method in dict.fromkeys(method for values in means.values() for method in values):
            cells = [
                f"{values[method]:.{digits}f} ± {spreads[k][method]:.{digits}f}"
                for k, values in means.items()
                if method in values
            ]
            print(f"{method:16}" + "".join(f"{cell:>17}" for cell in cells))
            if value == "paper_unit" and method in PAPER:
                print((f"{'  paper':16}" + "".join(f"{known:8.2f}{'':9}" for known in PAPER[method])).rstrip())
    for (k,), values in means.items():
        halves = _halves(folder, k)
        for method in values:
            if "tensor" in halves and method != "tensor":
                gains = np.array([halves[method][half] - x for half, x in halves["tensor"].items()])
                gains *= PAPER_CELLS / 1e5
                error = gains.std(ddof=1) / len(gains) ** 0.5
                print(
                    f"  k={k}: tensor better than {method} in {(gains > 0).sum()} of {len(gains)} halves, "
                    f"by {gains.mean():+.4f} ± {error:.4f}"
                )
    purity = folder / "stocks-purity.json"
    if purity.is_file():
        print("  purity", json.loads(purity.read_text(encoding="utf-8")))
    tree = Tree.from_newick((folder / "stocks.nwk").read_text(encoding="utf-8"))
    for name, tickers in GROUPS.items():
        print(f"  {name}: {tickers}; others in the smallest subtree that holds them:", *_others(tree, tickers))


def _halves(folder: Path, k: str) -> dict[str, dict[int, float]]:
    """Return the score of every method in every half."""
    halves: dict[str, dict[int, float]] = defaultdict(dict)
    for path in (folder / "stocks-cells").glob(f"*-k{k}-half*.json"):
        for row in json.loads(path.read_text(encoding="utf-8")):
            halves[row["method"]][row["half"]] = row["nats_per_cell"]
    return halves


def _others(tree: Tree, tickers: str) -> list[str]:
    """Return the other leaves on the smallest side of an edge that contains all these leaves."""
    wanted = sum(1 << tree.names.index(ticker) for ticker in tickers.split())
    sides = [side for split in tree.splits for side in (split.side, split.other_side)]
    smallest = min((side for side in sides if side & wanted == wanted), key=int.bit_count, default=-1)
    return [name for leaf, name in enumerate(tree.names) if (smallest & ~wanted) >> leaf & 1]


def seeds(prices: Path) -> None:
    """Print how many other leaves the smallest subtree around each group has, for ten insertion orders."""
    kinds: tuple[Representatives, ...] = ("nearest", "random")
    for kind in kinds:
        changes = read_changes(prices, quick=False)
        found = [learn_tree(changes, method="tensor", representatives=kind, random_state=seed) for seed in range(10)]
        print(f"stocks' trees of seeds 0 to 9, {kind} representatives: number of others with each group")
        for name, tickers in GROUPS.items():
            others = [_others(tree, tickers) for tree in found]
            common = Counter(ticker for them in others for ticker in them).most_common(4)
            print(f"  {name}:", *map(len, others), "; most often", *(f"{ticker} {n}" for ticker, n in common))


def spectral_forms(prices: Path) -> None:
    """Score Spectral@4 on the first half with and without confidence intervals, and within Algorithm 2."""
    table = read_changes(prices, quick=False)
    order = np.random.default_rng([0, 0]).permutation(table.n_rows)
    train, test = (
        Table.from_codes(table.columns, table.codes()[rows]) for rows in np.split(order, [table.n_rows // 2])
    )
    pairs = as_pairs(pair_tables(train))
    print("Spectral@4 on the first half of the stocks, the paper's unit")
    structures = {}
    for confidence in (0.0, 0.5, 0.95):
        products = spectral_products(pairs, 4, confidence)
        structures[f"confidence {confidence}"] = spectral_grouping(train.names, spectral_test(products), products.last)
    answers = spectral_test(spectral_products(pairs, 4))
    structures["Algorithm 2, random"] = divide_and_conquer(train.names, answers, random_state=0)
    for name, structure in structures.items():
        scores = fit_model(train, structure.tree, 4, random_state=0).model.log_likelihood_rows(test)
        unit = -scores.mean() / table.n_columns * PAPER_CELLS / 1e5
        print(f"  {name}: {unit:.3f}; {structure.tree.n_hidden} hidden variables; {dict(structure.facts)}")
    distance = pairwise(table, nuclear)[table.names.index("F")]
    print("nearest to F:", *(table.names[i] for i in np.argsort(distance)[1:11]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--prices", type=Path)
    arguments = parser.parse_args()
    for experiment, name in ((quartets, "quartets.csv"), (trees, "trees-identity.csv"), (stocks, "stocks.csv")):
        if (arguments.folder / name).is_file():
            experiment(arguments.folder)
    if arguments.prices is not None:
        seeds(arguments.prices)
        spectral_forms(arguments.prices)
        parts()
        shuffled()


if __name__ == "__main__":
    main()
