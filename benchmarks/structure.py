"""The speed of learning trees: parts of benchmarks/speed.py, which explains how times are measured.

None of these times depends on the number of hidden states.
"""

import resource
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from latree._util.arrays import FloatArray, IntArray, generator
from latree._util.workers import n_threads
from latree.counts.contingency import pair_tables, quartet_tables
from latree.counts.distances import covariance, nuclear, pairwise
from latree.counts.quartets import four_point_test, nuclear_pairings, nuclear_test
from latree.counts.tensor import unfoldings
from latree.learners import divide_conquer
from latree.learners.divide_conquer import divide_and_conquer
from latree.learners.joining import join
from latree.learners.methods import METHODS
from latree.paper.simulate import random_model, random_tree
from latree.settings import Settings
from latree.table import Table
from timing import growth, interleaved, show_ratios


def simulated(columns: int, rows: int, states: int) -> Table:
    tree = random_tree(columns, 0.5, 0)
    model = random_model(
        tree, n_states=states, hidden_states=min(states, 4), start="identity", perturbation=0.2, random_state=0
    )
    return model.sample(rows, 0)


def random_quartets(columns: int, number: int) -> IntArray:
    rng = np.random.default_rng(0)
    return np.array([rng.permutation(columns)[:4] for _ in range(number)])


def singular_values_on_all_cores(stack: FloatArray) -> None:
    """Compute singular values with LAPACK, in one thread per core."""
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(n_threads()) as pool:
        pieces = np.array_split(stack, 2 * n_threads())
        list(pool.map(lambda piece: np.linalg.svd(piece, compute_uv=False), pieces))


def naive_pairings(tensors: FloatArray) -> list[int]:
    """Return the pairings from the three unfoldings, one after the other."""
    found = []
    for tensor in tensors:
        size = len(tensor) ** 2
        unfolded = (tensor, tensor.transpose(0, 2, 1, 3), tensor.transpose(0, 3, 1, 2))
        norms = [np.linalg.norm(axes.reshape(size, size), "nuc") for axes in unfolded]
        found.append(int(np.argmin(norms)))
    return found


def quartets() -> None:
    print("quartet tests, to LAPACK's time for their SVDs on all cores; counted in 2000 rows")
    print(f"{'states':>7}{'tests/s':>10}{'test':>8}{'':>8}{'with counting':>16}{'':>8}{'plain NumPy':>14}")
    print(f"{'':17}{'wall':>8}{'cpu':>8}{'wall':>16}{'cpu':>8}{'cpu':>14}")
    for states, number in ((2, 8000), (4, 2000), (10, 150), (20, 12)):
        table, asked = simulated(20, 2000, states), random_quartets(20, number)
        counts = quartet_tables(table, asked)
        shares = counts / 2000
        stack = unfoldings(shares).reshape(-1, states**2, states**2)
        tasks: dict[str, Callable[[], object]] = {
            "lapack": partial(singular_values_on_all_cores, stack),
            "test": partial(nuclear_pairings, counts),
            "counting": partial(nuclear_test(partial(quartet_tables, table), states), asked),
            "naive": partial(naive_pairings, shares),
        }
        taken = interleaved(tasks, 5)
        test, counting, naive = (
            [a / b for a, b in zip(taken[name], taken["lapack"], strict=True)] for name in ("test", "counting", "naive")
        )
        print(
            f"{states:7}{number / taken['counting'].wall:10.0f}{test[0]:8.2f}{test[1]:8.2f}"
            f"{counting[0]:16.2f}{counting[1]:8.2f}{naive[1]:14.2f}",
            flush=True,
        )
    table = simulated(20, 32_000, 4)
    growth("number of quartets", "1", (500, 1000, 2000), lambda size: _test_of(table, size, 2000))
    growth("rows (counting)", "1", (4000, 8000, 16_000, 32_000), lambda size: _count_of(table, size))
    growth("states (n² x n² SVDs)", "6", (6, 8, 10, 12), lambda size: _test_of(simulated(8, 500, size), 30, 500))


def _test_of(table: Table, number: int, rows: int) -> Callable[[], object]:
    first_rows = table.take(np.arange(rows))
    test = nuclear_test(partial(quartet_tables, first_rows), int(table.n_states.max()))
    return partial(test, random_quartets(table.n_columns, number))


def _count_of(table: Table, rows: int) -> Callable[[], object]:
    return partial(quartet_tables, table.take(np.arange(rows)), random_quartets(table.n_columns, 500))


def indicators(table: Table) -> NDArray[np.float32]:
    codes = table.codes()
    shown = codes[:, :, None] == np.arange(int(table.n_states.max()))
    return np.ascontiguousarray(shown.reshape(len(codes), -1), dtype=np.float32)


def pairs() -> None:
    print("pair tables of 1000 columns x 10,000 rows x 4 states, to one product of indicators in single precision")
    table = simulated(1000, 10_000, 4)
    shown = indicators(table)
    tasks: dict[str, Callable[[], object]] = {
        "one product": lambda: shown.T @ shown,
        "all pair tables": partial(pair_tables, table),
        "all covariances": partial(pairwise, table, covariance),
        "all nuclear norms": partial(pairwise, table, nuclear),
    }
    show_ratios(interleaved(tasks, 3))
    growth("columns", "2", (250, 500, 1000), lambda size: partial(pair_tables, simulated(size, 2000, 4)))
    growth("rows", "1", (2048, 4096, 8192), lambda size: partial(pair_tables, simulated(300, size, 4)))
    growth("states", "2", (4, 8, 16), lambda size: partial(pair_tables, simulated(100, 8192, size)))


def tree_distances(columns: int, noise: float) -> FloatArray:
    """Return path lengths in a random tree times 1 to 1 + noise; for infinite noise, random numbers from 5 to 6."""
    random = np.random.default_rng(0).random((columns, columns))
    matrix = random + 5 if np.isinf(noise) else random_tree(columns, 0.5, 0).path_lengths() * (1 + noise * random)
    upper = np.triu(matrix, 1)
    return np.asarray(upper + upper.T)


def joining() -> None:
    from skbio import DistanceMatrix
    from skbio.tree import nj

    for kind, noise in (("of a tree", 0.0), ("with noise", 0.2), ("of noise alone", np.inf)):
        distance = tree_distances(1000, noise)
        theirs = DistanceMatrix(distance, [f"x{i}" for i in range(1000)])
        print(f"joining 1000 columns by distances {kind}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-bio warns of negative lengths
            show_ratios(interleaved({"scikit-bio": partial(nj, theirs), "latree": partial(join, distance)}, 3))
        growth("columns", "2 to 3", (250, 500, 1000, 2000), partial(_joining_of, noise=noise))


def _joining_of(columns: int, noise: float) -> Callable[[], object]:
    return partial(join, tree_distances(columns, noise))


def divide(columns: int) -> None:
    """Learn large trees, and print the peak memory of the process so far with each."""
    print("from tables of 2000 rows and 4 states, nearest representatives")
    print(f"{'columns':>8}{'seconds':>9}{'cpu':>8}{'tests':>9}{'rounds':>8}{'distance':>10}{'GB':>6}")
    for size in (250, 1000, columns):
        tree, table = random_tree(size, 0.5, 0), simulated(size, 2000, 4)
        wall, processor = time.perf_counter(), time.process_time()
        settings = Settings("tensor", random_state=0)
        built = METHODS["tensor"].learn(table, settings, generator(settings.random_state))
        taken = time.perf_counter() - wall, time.process_time() - processor
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        distance = built.tree.robinson_foulds(tree) / tree.max_robinson_foulds
        counts = f"{built.facts['quartet_tests']:9}{built.facts['quartet_rounds']:8}"
        print(f"{size:8}{taken[0]:9.1f}{taken[1]:8.1f}{counts}{distance:10.3f}{memory:6.2f}", flush=True)
    rounds()
    batches()


def rounds() -> None:
    """Count tests and rounds of divide and conquer."""
    print("divide and conquer, with a test that knows the tree; more: rounds after the first 128 leaves")
    print(f"{'columns':>8}{'tests':>9}{'rounds':>8}{'tests / d log2 d':>18}{'more / log2 d log2 (d/128)':>28}")
    first = 0
    for size in (128, 512, 2048, 8192):
        tree = random_tree(size, 0.5, 0)
        lengths = tree.path_lengths()
        # Noise in the distances avoids ties. Only the test must be right, not the choice of representatives.
        distance = lengths + tree_distances(size, np.inf)
        facts = divide_and_conquer(tree.names, four_point_test(lengths), distance=distance, random_state=0).facts
        tests, asked = facts["quartet_tests"], facts["quartet_rounds"]
        first = first or asked
        ratio = (asked - first) / (np.log2(size) * np.log2(size / 128)) if size > 128 else 0
        print(f"{size:8}{tests:9}{asked:8}{tests / (size * np.log2(size)):18.2f}{ratio:28.2f}", flush=True)


def batches() -> None:
    """Compare batches of leaves with one leaf at a time on the same tables; no setting was tuned on these seeds."""
    print("Robinson-Foulds distance of leaves inserted one by one and in batches (± of the difference)")
    print(f"{'columns':>8}{'β':>5}{'μ':>5}{'rows':>6}{'tables':>8}{'one by one':>12}{'batches':>9}{'±':>6}")
    usual = divide_conquer._MIN_LEAVES_FOR_BATCHES
    for columns, hidden, balance, mu, rows, tables in (
        (250, 4, 0.5, 0.2, 2000, 30),
        (250, 3, 0.2, 0.1, 2000, 30),
        (600, 4, 0.5, 0.2, 2000, 8),
    ):
        found = []
        for seed in range(1000, 1000 + tables):
            tree = random_tree(columns, balance, seed)
            model = random_model(
                tree, n_states=4, hidden_states=hidden, start="identity", perturbation=mu, random_state=seed
            )
            table = model.sample(rows, seed)
            test, distance = nuclear_test(partial(quartet_tables, table), 4), pairwise(table, nuclear)
            distances = []
            for first in (columns, usual):
                divide_conquer._MIN_LEAVES_FOR_BATCHES = first
                built = divide_and_conquer(tree.names, test, distance=distance, random_state=seed)
                distances.append(built.tree.robinson_foulds(tree))
            found.append(distances)
        divide_conquer._MIN_LEAVES_FOR_BATCHES = usual
        one, many = np.mean(found, axis=0)
        error = np.diff(found, axis=1).std() / len(found) ** 0.5
        settings = f"{columns:8}{balance:5}{mu:5}{rows:6}{tables:8}"
        print(f"{settings}{one:12.2f}{many:9.2f}{error:6.2f}", flush=True)
