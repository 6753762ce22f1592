"""How often each quartet test is right: python benchmarks/quartets.py [--repeats 1000] [--cells k28-mu1.0 unequal].

The cells are the paper's 60, with the counts that `latree reproduce` draws with seed 0, and cells with unequal leaves.
Prints the percentage of right answers of every test. `gap` is the covariance test minus the best of the others in that
cell, `error` the standard error of that difference, both on the same counts. The best is chosen after the fact: in
cells where all tests guess, the luckiest of six looks better than it is.
"""

import argparse
import zlib
from collections.abc import Callable

import numpy as np

from latree._util.arrays import FloatArray
from latree.counts.quartets import covariance_pairings
from latree.paper.quartets import METHODS, answer, cells, draw_counts, draw_unequal_counts

# States of H and G, states of the columns, rows.
UNEQUAL = (
    (4, 4, 10, 1000),
    (4, 4, 10, 5000),
    (2, 4, 10, 300),
    (2, 4, 10, 1000),
    (2, 2, 10, 1000),
    (3, 5, 10, 2000),
    (2, 8, 10, 2000),
    (8, 8, 10, 5000),
    (2, 2, 2, 1000),
    (2, 2, 3, 1000),
    (3, 3, 3, 2000),
    (2, 2, 4, 500),
    (4, 4, 4, 3000),
    (2, 3, 5, 1000),
)
Draw = Callable[[int, np.random.Generator], FloatArray]


def draws() -> dict[str, Draw]:
    """Return for every cell the function that draws the counts of a quartet with a given pairing."""

    def paper(hidden: tuple[int, int], mu: float, size: int) -> Draw:
        return lambda pairing, rng: draw_counts(*hidden, mu, size, pairing, rng)

    def unequal(k_h: int, k_g: int, n: int, size: int) -> Draw:
        return lambda pairing, rng: draw_unequal_counts(k_h, k_g, n, size, pairing, rng)

    made: dict[str, Draw] = {}
    for cell in cells(quick=False):
        made[cell.name] = paper(*(cell.arguments[key] for key in ("hidden", "mu", "size")))
    for k_h, k_g, n, size in UNEQUAL:
        made[f"unequal-k{k_h}{k_g}-n{n}-m{size}"] = unequal(k_h, k_g, n, size)
    return made


def right_answers(name: str, draw: Draw, repeats: int) -> dict[str, list[bool]]:
    """Return for every test which quartets of a cell it gets right."""
    rng = np.random.default_rng([0, zlib.crc32(f"quartets/{name}".encode())])  # as the experiment does
    right: dict[str, list[bool]] = {}
    for start in range(0, repeats, 100):
        truth = rng.integers(3, size=min(100, repeats - start))
        counts = np.stack([draw(int(pairing), rng) for pairing in truth])
        for method, answers in (answer(counts) | {"covariance": covariance_pairings(counts).pairing}).items():
            right.setdefault(method, []).extend((answers == truth).tolist())
    return right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--cells", nargs="*", default=[""], help="how names of cells begin")
    options = parser.parse_args()
    columns = (*METHODS, "covariance", "gap", "error")
    print(f"{'cell':26}" + "".join(f"{column:>12}" for column in columns))
    gaps: dict[str, float] = {}
    for name, draw in draws().items():
        if not name.startswith(tuple(options.cells)):
            continue
        right = right_answers(name, draw, options.repeats)
        ours = np.array(right.pop("covariance"), dtype=float)
        best = np.array(max(right.values(), key=sum), dtype=float)
        gap, error = (ours - best).mean(), (ours - best).std() / len(ours) ** 0.5
        shares = [np.mean(right[method]) if method in right else np.nan for method in METHODS]
        print(f"{name:26}" + "".join(f"{100 * x:12.1f}" for x in (*shares, ours.mean(), gap, error)), flush=True)
        if not name.startswith("unequal"):
            gaps[name] = 100 * gap
    if gaps:
        worst, mean = min(gaps.values()), np.mean(list(gaps.values()))
        below = [name for name, gap in gaps.items() if gap < -2]
        print(f"\nthe paper's cells: gap {worst:.1f} at worst, {mean:.2f} on average")
        print(f"more than 2 points below the best: {', '.join(below) or 'none'}")


if __name__ == "__main__":
    main()
