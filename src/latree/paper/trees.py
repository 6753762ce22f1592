"""Figure (g)-(l): how close learned trees are to the true one.

Trees have 16 leaves of 10 states and hidden variables of 2 to 8 states; β is their balance, μ the perturbation. The
paper's "same scheme as in our previous experiment" leaves open whether tables between hidden variables start from
independence or from the identity: both are run.
"""

from typing import Literal

import numpy as np

from latree.learners.methods import METHODS
from latree.paper.cells import Cell, Row, mean_and_error
from latree.paper.simulate import random_model, random_tree
from latree.settings import Settings

N_LEAVES = 16
STARTS: tuple[Literal["independent", "identity"], ...] = ("independent", "identity")
BALANCES = (0.5, 0.2)
PERTURBATIONS = (0.2, 0.5, 1.0)
SIZES = (50, 100, 200, 500, 1000, 2000)
QUICK_SIZES = (50, 200, 500, 2000)
SPECTRAL = (2, 4, 6, 8)

# Each line of the figure: its name, and the settings of the learner.
LEARNERS = {
    "tensor": Settings("tensor", representatives="random"),
    "tensor, nearest": Settings("tensor"),
    **{name: Settings(name) for name in ("nj", "snj")},
    **{f"spectral@{k}": Settings("spectral", n_states=k) for k in SPECTRAL},
    **{name: Settings(name) for name in ("rg", "clrg", "clnj", "hw", "chow-liu")},
}


def cells(quick: bool) -> list[Cell]:
    """Return the grid: one cell per configuration, sample size and batch of a few repeats, so that cells are short."""
    batches, repeats = (1, 2) if quick else (5, 4)
    return [
        Cell(
            f"{start}-beta{balance}-mu{mu}-m{size}-{batch}",
            run_cell,
            {"start": start, "balance": balance, "mu": mu, "size": size, "repeats": repeats},
        )
        for start in STARTS
        for balance in BALANCES
        for mu in PERTURBATIONS
        for size in (QUICK_SIZES if quick else SIZES)
        for batch in range(batches)
    ]


def run_cell(
    rng: np.random.Generator,
    start: Literal["independent", "identity"],
    balance: float,
    mu: float,
    size: int,
    repeats: int,
) -> list[Row]:
    """Draw trees, models and rows, and return the Robinson-Foulds distance of every learner."""
    rows = []
    for _ in range(repeats):
        tree = random_tree(N_LEAVES, balance, rng)
        table = random_model(tree, start=start, perturbation=mu, random_state=rng).sample(size, rng)
        for name, settings in LEARNERS.items():
            found = METHODS[settings.method].learn(table, settings, rng)
            distance = found.tree.robinson_foulds(tree)
            rows.append(
                {"start": start, "beta": balance, "mu": mu, "rows": size, "method": name, "robinson_foulds": distance}
            )
    return rows


def summary(rows: list[Row]) -> list[Row]:
    """Return means and standard errors over the repeats."""
    groups: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("start", "beta", "mu", "rows", "method"))
        groups.setdefault(key, []).append(row["robinson_foulds"])
    result = []
    for (start, beta, mu, size, method), distances in groups.items():
        mean, error = mean_and_error(distances)
        result.append(
            {"start": start, "beta": beta, "mu": mu, "rows": size, "method": method, "repeats": len(distances)}
            | {"robinson_foulds": mean, "standard_error": error}
        )
    return result
