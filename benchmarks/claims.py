"""Figures behind docs/reproduced.md, from a folder that `latree reproduce all --out FOLDER` filled.

python benchmarks/claims.py FOLDER
"""

import argparse
import csv
import json
from collections import defaultdict
from pathlib import Path

Cells = dict[tuple[str, ...], dict[str, float]]


def read(path: Path, keys: tuple[str, ...], value: str) -> Cells:
    """Give the value of every method in every cell."""
    cells: Cells = defaultdict(dict)
    with path.open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            cells[tuple(row[key] for key in keys)][row["method"]] = float(row[value])
    return cells


def quartets(folder: Path) -> None:
    cells = read(folder / "quartets.csv", ("k_H", "k_G", "mu", "rows"), "right_percent")
    print(f"quartets: {len(cells)} cells")
    print("  tensor better than nj in", sum(c["tensor"] > c["nj"] for c in cells.values()))
    behind = {key: max(c.values()) - c["tensor"] for key, c in cells.items()}
    print("  tensor within 2 points of the best in", sum(gap <= 2 for gap in behind.values()))
    print("  tensor best in", sum(gap == 0 for gap in behind.values()))
    widest = max(behind, key=lambda key: behind[key])
    print(f"  most behind: {behind[widest]:.1f} points at k={widest[0]},{widest[1]} mu={widest[2]} rows={widest[3]}")
    spread = {key: max(x := [v for m, v in c.items() if "@" in m]) - min(x) for key, c in cells.items()}
    print(f"  Spectral@k between its best and worst k: up to {max(spread.values()):.1f} points")
    for mu in ("0.5", "1"):
        leads = {
            rows: c["tensor"] - max(v for m, v in c.items() if m != "tensor")
            for (h, g, m, rows), c in cells.items()
            if (h, g, m) == ("2", "8", mu)
        }
        print(f"  k=2,8 mu={mu}: lead over the second best by rows", {r: round(x, 1) for r, x in leads.items()})
    best = [
        max((m for m in c if "@" in m), key=lambda m: c[m]) for (h, g, _, _), c in cells.items() if (h, g) == ("4", "4")
    ]
    print("  k=4,4: best k of Spectral@k", {k: best.count(k) for k in sorted(set(best))})


def trees(folder: Path) -> None:
    for start in ("independent", "identity"):
        cells = read(folder / f"trees-{start}.csv", ("beta", "mu", "rows"), "robinson_foulds")
        print(f"trees, {start}: mean Robinson-Foulds")
        methods = list(next(iter(cells.values())))
        print(f"  {'beta':>5}{'mu':>5}{'rows':>6}" + "".join(f"{method:>16}" for method in methods))
        for (beta, mu, rows), values in cells.items():
            if rows in ("50", "200", "500", "2000"):
                print(f"  {beta:>5}{mu:>5}{rows:>6}" + "".join(f"{values[method]:16.1f}" for method in methods))


def stocks(folder: Path) -> None:
    cells = read(folder / "stocks.csv", ("k",), "paper_unit")
    print("stocks: negative test log-likelihood in the paper's unit")
    for (k,), values in cells.items():
        print(f"  k={k:>4}", {method: round(value, 3) for method, value in values.items()})
    purity = folder / "stocks-purity.json"
    if purity.is_file():
        print("  purity", json.loads(purity.read_text(encoding="utf-8")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for experiment, name in ((quartets, "quartets.csv"), (trees, "trees-identity.csv"), (stocks, "stocks.csv")):
        if (folder / name).is_file():
            experiment(folder)


if __name__ == "__main__":
    main()
