"""Figure (a)-(f): how often a quartet's pairing is found.

Four columns have n = 10 states, H has k_H states and G has k_G. P(G|H) starts from independence, the columns from the
identity, and all are perturbed by μ. Counts are drawn instead of rows, which is equivalent. The true pairing is one of
the three at random, so that no method gains from the order of the columns.
"""

from typing import Any

import numpy as np

from latree._util.arrays import FloatArray
from latree.counts.distances import PairDistributions, as_pairs, log_det
from latree.counts.quartets import PAIRINGS, nuclear_pairings, smallest, spectral_products
from latree.inference.starts import identity_table
from latree.paper.cells import Cell, Row, mean_and_error
from latree.paper.simulate import perturbed

N_STATES = 10
HIDDEN = ((2, 4), (2, 8), (4, 4))
PERTURBATIONS = (0.5, 1.0)
SIZES = (50, 100, 200, 300, 400, 500, 750, 1000, 1500, 2000)
QUICK_SIZES = (50, 200, 500, 2000)
SPECTRAL = (2, 4, 6, 8)
METHODS = ("tensor", "nj", *(f"spectral@{k}" for k in SPECTRAL))


def cells(quick: bool) -> list[Cell]:
    """Return the grid: one cell per configuration and sample size."""
    repeats = 20 if quick else 1000
    return [
        Cell(
            f"k{hidden[0]}{hidden[1]}-mu{mu}-m{size}",
            run_cell,
            {"hidden": hidden, "mu": mu, "size": size, "repeats": repeats},
        )
        for mu in PERTURBATIONS
        for hidden in HIDDEN
        for size in (QUICK_SIZES if quick else SIZES)
    ]


def run_cell(rng: np.random.Generator, hidden: tuple[int, int], mu: float, size: int, repeats: int) -> list[Row]:
    """Draw models and counts, and return the share of right answers of every method."""
    right: dict[str, list[float]] = {method: [] for method in METHODS}
    for start in range(0, repeats, 100):
        batch = min(100, repeats - start)
        truth = rng.integers(3, size=batch)
        counts = np.stack([draw_counts(*hidden, mu, size, int(pairing), rng) for pairing in truth])
        for method, answers in answer(counts).items():
            right[method] += (answers == truth).astype(float).tolist()
    rows = []
    for method in METHODS:
        share, error = mean_and_error(right[method])
        rows.append(
            {"k_H": hidden[0], "k_G": hidden[1], "mu": mu, "rows": size, "method": method, "repeats": repeats}
            | {"right_percent": 100 * share, "standard_error": 100 * error}
        )
    return rows


def draw_counts(k_h: int, k_g: int, mu: float, size: int, pairing: int, rng: np.random.Generator) -> FloatArray:
    """Draw a model of a quartet whose true pairing is ``pairing``, and the counts of ``size`` rows from it."""
    p_h = perturbed(np.full((k_h, 1), 1 / k_h), mu, rng)
    p_hg = perturbed(np.full((k_g, k_h), 1 / k_g), mu, rng).T * p_h
    leaves = [perturbed(identity_table(N_STATES, k), mu, rng) for k in (k_h, k_h, k_g, k_g)]
    return _counts(leaves, p_hg, size, pairing, rng)


def draw_unequal_counts(
    k_h: int, k_g: int, n_states: int, size: int, pairing: int, rng: np.random.Generator
) -> FloatArray:
    """Draw counts as :func:`draw_counts` does, but not as in the paper: each pair has a clear and a noisy leaf.

    H and G depend strongly on each other: P(G|H) is 0.2 times uniform plus 0.8 times matching states, perturbed by 0.1.
    The leaves are perturbed by 0.1, 2, 0.1 and 2. Phylogenetics calls this the Felsenstein zone: the two clear leaves
    are more alike than the leaves of a pair.
    """
    p_h = perturbed(np.full((k_h, 1), 1 / k_h), 0.5, rng)
    fewer = min(k_h, k_g)
    matching = np.equal.outer(np.arange(k_g) % fewer, np.arange(k_h) % fewer).astype(float)
    p_hg = perturbed(0.2 / k_g + 0.8 * matching / matching.sum(axis=0), 0.1, rng).T * p_h
    states = zip((k_h, k_h, k_g, k_g), (0.1, 2.0, 0.1, 2.0), strict=True)
    leaves = [perturbed(identity_table(n_states, k), mu, rng) for k, mu in states]
    return _counts(leaves, p_hg, size, pairing, rng)


def _counts(
    leaves: list[FloatArray], p_hg: FloatArray, size: int, pairing: int, rng: np.random.Generator
) -> FloatArray:
    # P(a, b, c, d) = sum over h, g of P(a|h) P(b|h) P(h, g) P(c|g) P(d|g)
    tensor = np.einsum("ah,bh,hg,cg,dg->abcd", *leaves[:2], p_hg, *leaves[2:], optimize=True)
    counts = rng.multinomial(size, tensor.ravel() / tensor.sum()).reshape(tensor.shape)
    # Move the axes, so that the pair under H and the pair under G stand where the pairing says.
    (first, second), (third, fourth) = PAIRINGS[pairing]
    places = np.argsort([first, second, third, fourth])
    return np.asarray(counts.transpose(places), dtype=float)


def answer(counts: FloatArray) -> dict[str, Any]:
    """Return the pairings that every method chooses for a stack of counts, shape (q, n, n, n, n)."""
    answers: dict[str, Any] = {"tensor": nuclear_pairings(counts).pairing}
    tables: dict[tuple[int, int], PairDistributions] = {}
    for i in range(4):
        for j in range(i + 1, 4):
            others = tuple(1 + axis for axis in range(4) if axis not in (i, j))
            tables[i, j] = as_pairs(counts.sum(axis=others))
    distances = {pair: log_det(pairs) for pair, pairs in tables.items()}
    answers["nj"] = smallest(_sum_by_pairing(distances)).pairing
    for k in SPECTRAL:
        if k > counts.shape[-1]:
            continue
        products = {pair: -spectral_products(pairs, k).estimate for pair, pairs in tables.items()}
        answers[f"spectral@{k}"] = smallest(_sum_by_pairing(products)).pairing
    return answers


def _sum_by_pairing(values: dict[tuple[int, int], FloatArray]) -> FloatArray:
    return np.stack([values[one] + values[other] for one, other in PAIRINGS], axis=-1)
