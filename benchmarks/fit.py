"""Where the time of a fit goes: python benchmarks/fit.py.

60 columns x 6800 rows x 10 states, k = 8, simulated. Times are also given as ratios to one reference measured in the
same run: singular values of 100 x 100 matrices by plain `np.linalg.svd`, one BLAS thread, one core.
"""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from latree.distances import nuclear, pairwise
from latree.em import ConvergenceMonitor, fit_model
from latree.learn import Settings, learn_model
from latree.quartets.nuclear import nuclear_test
from latree.simulate import random_model, random_tree
from latree.tables import pair_tables, quartet_tables


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Best of a few runs."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


def main() -> None:
    tree = random_tree(60, 0.5, 0)
    model = random_model(tree, n_states=10, hidden_states=8, start="identity", perturbation=0.2, random_state=0)
    table = model.sample(6800, 0)
    rng = np.random.default_rng(0)
    quartets = np.array([rng.permutation(60)[:4] for _ in range(100)])
    test = nuclear_test(partial(quartet_tables, table), 10)
    matrices = rng.random((300, 100, 100))
    with threadpool_limits(1, "blas"):
        reference = seconds(lambda: [np.linalg.svd(matrix, compute_uv=False) for matrix in matrices])

    ten_steps = ConvergenceMonitor(tolerance=0, max_iterations=10)
    tasks: dict[str, Callable[[], object]] = {
        "100 quartet tests, one batch": lambda: test(quartets),
        "100 quartet tests, one by one": lambda: [test(quartet[None]) for quartet in quartets],
        "all pair tables": lambda: pair_tables(table),
        "all nuclear distances": lambda: pairwise(table, nuclear),
        "10 EM iterations": lambda: fit_model(table, tree, 8, monitor=ten_steps, random_state=0),
    }
    print(f"reference: 300 SVDs of 100 x 100: {reference:.3f} s")
    print(f"{'task':32}{'seconds':>10}{'x reference':>13}")
    for name, task in tasks.items():
        taken = seconds(task)
        print(f"{name:32}{taken:10.3f}{taken / reference:13.2f}")
    whole = learn_model(table, Settings("tensor", 8, smoothing=0.1, random_state=0))
    print(f"{'the whole fit':32}{whole.seconds:10.3f}{whole.seconds / reference:13.2f}")
    print(f"({whole.fit.iterations} EM iterations, Robinson-Foulds {whole.model.tree.robinson_foulds(tree)})")


if __name__ == "__main__":
    main()
