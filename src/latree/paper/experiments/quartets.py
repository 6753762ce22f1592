"""Figure (a)-(f): how often a quartet's pairing is found.

Four columns of n = 10 states; H has k_H states, G k_G; P(G|H) starts from independence, the columns from the identity,
and all are perturbed by μ. Instead of rows, their counts are drawn, which is the same. The true pairing is one of the
three at random, so that no method gains from an order.
"""

from typing import Any

import numpy as np

from latree._util.arrays import FloatArray
from latree.counts.distances import PairDistributions, as_pairs, log_det
from latree.counts.quartets.nuclear import nuclear_pairings
from latree.counts.quartets.pairings import PAIRINGS, smallest
from latree.counts.quartets.spectral import spectral_products
from latree.inference.starts import identity_table
from latree.paper.experiments.cells import Cell, Row, mean_and_error
from latree.paper.simulate import perturbed

N_STATES = 10
HIDDEN = ((2, 4), (2, 8), (4, 4))
PERTURBATIONS = (0.5, 1.0)
SIZES = (50, 100, 200, 300, 400, 500, 750, 1000, 1500, 2000)
SPECTRAL = (2, 4, 6, 8)
METHODS = ("tensor", "nj", *(f"spectral@{k}" for k in SPECTRAL))


def cells(quick: bool) -> list[Cell]:
    """Give the grid: one cell a configuration and sample size."""
    repeats = 20 if quick else 1000
    return [
        Cell(
            f"k{hidden[0]}{hidden[1]}-mu{mu}-m{size}",
            run_cell,
            {"hidden": hidden, "mu": mu, "size": size, "repeats": repeats},
        )
        for mu in PERTURBATIONS
        for hidden in HIDDEN
        for size in ((200, 1000) if quick else SIZES)
    ]


def run_cell(rng: np.random.Generator, hidden: tuple[int, int], mu: float, size: int, repeats: int) -> list[Row]:
    """Draw models and counts; give the share of right answers of every method."""
    right: dict[str, list[float]] = {method: [] for method in METHODS}
    for start in range(0, repeats, 100):
        batch = min(100, repeats - start)
        truth = rng.integers(3, size=batch)
        counts = np.stack([sampled(*hidden, mu, size, int(pairing), rng) for pairing in truth])
        for method, answers in answered(counts).items():
            right[method] += (answers == truth).astype(float).tolist()
    rows = []
    for method in METHODS:
        share, error = mean_and_error(right[method])
        rows.append(
            {"k_H": hidden[0], "k_G": hidden[1], "mu": mu, "rows": size, "method": method, "repeats": repeats}
            | {"right_percent": 100 * share, "standard_error": 100 * error}
        )
    return rows


def sampled(k_h: int, k_g: int, mu: float, size: int, pairing: int, rng: np.random.Generator) -> FloatArray:
    """Draw a quartet's model and the counts of so many rows from it, its leaves placed so that ``pairing`` is true."""
    p_h = perturbed(np.full((k_h, 1), 1 / k_h), mu, rng)
    p_hg = perturbed(np.full((k_g, k_h), 1 / k_g), mu, rng).T * p_h
    leaves = [perturbed(identity_table(N_STATES, k), mu, rng) for k in (k_h, k_h, k_g, k_g)]
    return _counts(leaves, p_hg, size, pairing, rng)


def sampled_unequal(k_h: int, k_g: int, n_states: int, size: int, pairing: int, rng: np.random.Generator) -> FloatArray:
    """Draw counts like :func:`sampled`, not the paper's: one clear and one noisy leaf on each side, H and G near.

    P(G|H) is 0.2 times uniform plus 0.8 times states that go together, perturbed by 0.1; the leaves are perturbed by
    0.1, 2, 0.1 and 2. Phylogenetics calls this Felsenstein's zone: the clear leaves are more alike than those that
    belong together.
    """
    p_h = perturbed(np.full((k_h, 1), 1 / k_h), 0.5, rng)
    fewer = min(k_h, k_g)
    together = np.equal.outer(np.arange(k_g) % fewer, np.arange(k_h) % fewer).astype(float)
    p_hg = perturbed(0.2 / k_g + 0.8 * together / together.sum(axis=0), 0.1, rng).T * p_h
    states = zip((k_h, k_h, k_g, k_g), (0.1, 2.0, 0.1, 2.0), strict=True)
    leaves = [perturbed(identity_table(n_states, k), mu, rng) for k, mu in states]
    return _counts(leaves, p_hg, size, pairing, rng)


def _counts(
    leaves: list[FloatArray], p_hg: FloatArray, size: int, pairing: int, rng: np.random.Generator
) -> FloatArray:
    tensor = np.einsum("ah,bh,hg,cg,dg->abcd", *leaves[:2], p_hg, *leaves[2:], optimize=True)
    counts = rng.multinomial(size, tensor.ravel() / tensor.sum()).reshape(tensor.shape)
    (first, second), (third, fourth) = PAIRINGS[pairing]
    places = np.argsort([first, second, third, fourth])
    return np.asarray(counts.transpose(places), dtype=float)


def answered(counts: FloatArray) -> dict[str, Any]:
    """Give the pairings that every method chooses for a stack of counts, shape (q, n, n, n, n)."""
    answers: dict[str, Any] = {"tensor": nuclear_pairings(counts).pairing}
    tables: dict[tuple[int, int], PairDistributions] = {}
    for i in range(4):
        for j in range(i + 1, 4):
            others = tuple(1 + axis for axis in range(4) if axis not in (i, j))
            tables[i, j] = as_pairs(counts.sum(axis=others))
    distances = {pair: log_det(pairs) for pair, pairs in tables.items()}
    answers["nj"] = smallest(_sums(distances)).pairing
    for k in SPECTRAL:
        if k > counts.shape[-1]:
            continue
        products = {pair: -spectral_products(pairs, k).estimate for pair, pairs in tables.items()}
        answers[f"spectral@{k}"] = smallest(_sums(products)).pairing
    return answers


def _sums(values: dict[tuple[int, int], FloatArray]) -> FloatArray:
    return np.stack([values[one] + values[other] for one, other in PAIRINGS], axis=-1)
