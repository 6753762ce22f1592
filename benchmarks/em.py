"""How fast EM's iterations are: python benchmarks/em.py [--table FILE --drop COLUMN].

Every figure is a ratio to a reference that was measured in the same run, in turns, the quickest of several turns each:
the plain NumPy twin of benchmarks/naive_em.py (vectorised over all rows, no blocks, threads or repeats), StepMix for
one hidden variable, and two multiplications of all one-hot cells with k columns, there and back, which is the least
that any method does that looks at every cell by itself. Twenty iterations from the same start, with all that is done
once.

Then the time of an iteration at growing numbers of columns d, rows, states n and hidden states k, and its exponent.

Times are CPU seconds, and BLAS has one thread for all, so that other work on the machine changes little.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from latree.auto import joined
from latree.builders.latent_class import latent_class
from latree.em import ConvergenceMonitor, fit_model, random_start
from latree.simulate import random_model, random_tree
from latree.table import Table, as_table
from latree.tree import Tree
from naive_em import naive_expected_counts

ITERATIONS = 20
SMOOTHING = 0.1


def quickest(tasks: dict[str, Callable[[], object]], turns: int) -> dict[str, float]:
    """Seconds of the quickest turn of each task; they take turns, so that a busy moment hits all of them."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(turns):
        for name, task in tasks.items():
            started = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - started)
    return best


def ours(table: Table, tree: Tree, k: int, iterations: int = ITERATIONS) -> Callable[[], object]:
    start = random_start(table, tree, k, 0)
    monitor = ConvergenceMonitor(-np.inf, iterations)
    return lambda: fit_model(table, tree, k, smoothing=SMOOTHING, start=start, monitor=monitor)


def naive(table: Table, tree: Tree, k: int, iterations: int) -> Callable[[], object]:
    first, codes = random_start(table, tree, k, 0).network, table.codes()

    def run() -> None:
        network = first
        for _ in range(iterations + 1):
            counts, _ = naive_expected_counts(network, codes)
            tables = tuple((count + SMOOTHING) / (count + SMOOTHING).sum(axis=0) for count in counts)
            network = replace(network, tables=tables)

    return run


def stepmix(table: Table, k: int) -> Callable[[], object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from stepmix.stepmix import StepMix
    codes = table.codes()
    kind = "binary" if table.n_states.max() == 2 else "categorical"  # its own quick way for binary columns

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns that it did not converge
            StepMix(k, measurement=kind, max_iter=ITERATIONS, abs_tol=0, rel_tol=0, random_state=0, progress_bar=0).fit(
                codes
            )

    return run


def multiplications(table: Table, k: int) -> Callable[[], object]:
    codes = table.codes()
    one_hot = np.concatenate([codes[:, [j]] == np.arange(n) for j, n in enumerate(table.n_states)], axis=1).astype(
        float
    )
    logarithms = np.ones((one_hot.shape[1], k))

    def run() -> None:
        for _ in range(ITERATIONS + 1):
            one_hot.T @ (one_hot @ logarithms)

    return run


def simulated(d: int, rows: int, n: int, k: int) -> tuple[Table, Tree]:
    tree = random_tree(d, 0.5, 0)
    model = random_model(tree, n_states=n, hidden_states=k, start="identity", perturbation=0.2, random_state=0)
    return model.sample(rows, 0), tree


def comparisons(tables: dict[str, tuple[Table, Tree]], turns: int) -> None:
    print(f"{'table':34}{'tree':>9}{'k':>4}{'ms':>9}{'twin':>8}{'StepMix':>9}{'one-hot':>9}")
    for name, (table, tree) in tables.items():
        star = latent_class(table.names).tree
        for shape, used, k in (("own", tree, 4), ("own", tree, 16), ("lcm", star, 4), ("lcm", star, 16)):
            tasks = {"ours": ours(table, used, k), "twin": naive(table, used, k, 1)}
            if shape == "lcm":
                tasks |= {"StepMix": stepmix(table, k), "one-hot": multiplications(table, k)}
            seconds = quickest(tasks, turns)
            seconds["twin"] *= (ITERATIONS + 1) / 2
            line = f"{name:34}{shape:>9}{k:4}{1e3 * seconds['ours'] / (ITERATIONS + 1):9.2f}"
            for reference in ("twin", "StepMix", "one-hot"):
                width = 8 if reference == "twin" else 9
                line += f"{seconds[reference] / seconds['ours']:{width}.1f}" if reference in seconds else " " * width
            print(line, flush=True)


def growth(turns: int) -> None:
    print(f"{'growing':12}{'sizes':36}{'ms an iteration':44}{'exponent':>9}  expected")
    base = {"d": 64, "rows": 8192, "n": 4, "k": 4}
    grown = {
        "d": ((16, 32, 64, 128, 256), "1"),
        "rows": ((2048, 4096, 8192, 16384, 32768, 65536), "at most 1: rows repeat"),
        "n": ((2, 4, 8, 16), "at most 1: patterns repeat less"),
        "k": ((2, 4, 8, 16, 32), "at most 2: k² a pattern"),
    }
    for name, (sizes, expected) in grown.items():
        tasks = {}
        for size in sizes:
            setting = base | {name: size}
            tasks[str(size)] = ours(*simulated(**setting), setting["k"])
        seconds = quickest(tasks, turns)
        each = [1e3 * seconds[str(size)] / (ITERATIONS + 1) for size in sizes]
        exponent = np.polyfit(np.log(sizes), np.log(each), 1)[0]
        grows, takes = " ".join(map(str, sizes)), " ".join(f"{x:.2f}" for x in each)
        print(f"{name:12}{grows:36}{takes:44}{exponent:9.2f}  {expected}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", help="a file with a table to measure on as well")
    parser.add_argument("--drop", nargs="*", default=[], help="columns of it to leave out")
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    tables = {
        "60 columns x 10000 rows, 10 states": simulated(60, 10_000, 10, 8),
        "60 columns x 10000 rows, 4 states": simulated(60, 10_000, 4, 4),
        "60 columns x 10000 rows, binary": simulated(60, 10_000, 2, 4),
        "10 columns x 50000 rows, binary": simulated(10, 50_000, 2, 2),
    }
    if arguments.table:
        table = as_table(arguments.table, drop=arguments.drop)
        tables[f"{table.n_columns} columns x {table.n_rows} rows, given"] = table, joined(table).tree
    with threadpool_limits(1, "blas"):
        comparisons(tables, arguments.turns)
        print()
        growth(arguments.turns)


if __name__ == "__main__":
    main()
