"""The speed of EM's iterations: parts of benchmarks/speed.py, which explains how times are measured.

The references are: a plain NumPy version (benchmarks/naive_em.py: vectorised over all rows, without blocks, threads or
merged patterns); StepMix for one hidden variable; two products of the one-hot cells with k columns, forth and back,
which any method that visits every cell needs at least; pgmpy and pyAgrum on a small tree. Each runs twenty iterations
from the same start, preparations included.
"""

import warnings
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

import numpy as np

from latree.inference.network import Network
from latree.inference.starts import random_start
from latree.learners.explain import joined
from latree.learners.structure import latent_class
from latree.model import ConvergenceMonitor, LatentTreeModel, fit_model
from latree.paper.simulate import random_model, random_tree
from latree.table import Table, as_table
from latree.tree import Tree
from naive_em import naive_expected_counts
from timing import growth, interleaved, show_ratios

ITERATIONS = 20
SMOOTHING = 0.1
TURNS = 3
BASE = {"d": 64, "rows": 8192, "n": 4, "k": 4}
GROWN = {
    "d": ((16, 32, 64, 128, 256), "1"),
    "rows": ((2048, 4096, 8192, 16384, 32768, 65536), "at most 1: rows repeat"),
    "n": ((2, 4, 8, 16), "at most 1: patterns repeat less"),
    "k": ((2, 4, 8, 16, 32), "at most 2: k² per pattern"),
}


def ours(table: Table, tree: Tree, k: int, iterations: int = ITERATIONS) -> Callable[[], object]:
    start = LatentTreeModel(tree, table.columns, random_start(table, tree, k, 0))
    monitor = ConvergenceMonitor(-np.inf, iterations)
    return lambda: fit_model(table, tree, k, smoothing=SMOOTHING, start=start, monitor=monitor)


def naive(table: Table, tree: Tree, k: int, iterations: int) -> Callable[[], object]:
    first, codes = Network.on_tree(tree, random_start(table, tree, k, 0)), table.codes()

    def run() -> None:
        network = first
        for _ in range(iterations + 1):
            counts, _ = naive_expected_counts(network, codes)
            tables = tuple((count + SMOOTHING) / (count + SMOOTHING).sum(axis=0) for count in counts)
            network = replace(network, tables=tables)

    return run


def stepmix(table: Table, k: int, iterations: int | None = ITERATIONS) -> Callable[[], object]:
    """Fit with StepMix, for a number of iterations or until it converges."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from stepmix.stepmix import StepMix
    codes = table.codes()
    kind = "binary" if table.n_states.max() == 2 else "categorical"  # StepMix is faster for binary columns
    rule = {} if iterations is None else {"max_iter": iterations, "abs_tol": 0, "rel_tol": 0}

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns that it did not converge
            StepMix(k, measurement=kind, random_state=0, progress_bar=0, **rule).fit(codes)

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


def iterations(path: str | None = None, drop: Collection[str] = ()) -> None:
    """Compare EM's iterations on simulated tables and a given one, and print how their time grows."""
    tables = {
        "60 columns x 10000 rows, 10 states": simulated(60, 10_000, 10, 8),
        "60 columns x 10000 rows, 4 states": simulated(60, 10_000, 4, 4),
        "60 columns x 10000 rows, binary": simulated(60, 10_000, 2, 4),
        "10 columns x 50000 rows, binary": simulated(10, 50_000, 2, 2),
    }
    if path:
        table = as_table(path, drop=drop)
        tables[f"{table.n_columns} columns x {table.n_rows} rows, given"] = table, joined(table).tree
    print("an iteration of EM, and how many times as long others take: wall time and cpu")
    others = ("twin", "StepMix", "one-hot")
    print(f"{'table':34}{'tree':>5}{'k':>4}{'ms':>8}" + "".join(f"{name:>9}{'cpu':>7}" for name in others))
    for name, (table, tree) in tables.items():
        star = latent_class(table.names).tree
        for shape, used, k in (("own", tree, 4), ("own", tree, 16), ("lcm", star, 4), ("lcm", star, 16)):
            tasks = {"ours": ours(table, used, k), "twin": naive(table, used, k, 1)}
            if shape == "lcm":
                tasks |= {"StepMix": stepmix(table, k), "one-hot": multiplications(table, k)}
            taken = {key: np.array(least) for key, least in interleaved(tasks, TURNS).items()}
            taken["twin"] *= (ITERATIONS + 1) / 2
            line = f"{name:34}{shape:>5}{k:4}{1e3 * taken['ours'][0] / (ITERATIONS + 1):8.2f}"
            for other in others:
                ratios = taken[other] / taken["ours"] if other in taken else None
                line += " " * 16 if ratios is None else f"{ratios[0]:9.1f}{ratios[1]:7.1f}"
            print(line, flush=True)
    for name, (sizes, expected) in GROWN.items():
        growth(name, expected, sizes, partial(_grown, name=name))


def _grown(size: int, name: str) -> Callable[[], object]:
    setting = BASE | {name: size}
    return ours(*simulated(**setting), setting["k"])


def small() -> None:
    """Compare with libraries for general networks on six columns, because their time grows too fast for more."""
    table, tree = simulated(6, 500, 3, 2)
    print("two iterations of EM on 6 columns x 500 rows")
    tasks = {"latree": ours(table, tree, 2, 2), "pgmpy": pgmpy(table, tree), "pyAgrum": pyagrum(table, tree)}
    show_ratios(interleaved(tasks, 2))


def pgmpy(table: Table, tree: Tree) -> Callable[[], object]:
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.estimators import ExpectationMaximization
        from pgmpy.models import DiscreteBayesianNetwork
    names, parent = tree.node_names, tree.rooted().parent.tolist()
    hidden = names[tree.n_observed :]
    arcs = [(names[above], names[node]) for node, above in enumerate(parent) if above >= 0]
    frame = pd.DataFrame(table.codes(), columns=list(table.names))

    def run() -> None:
        network = DiscreteBayesianNetwork(arcs, latents=set(hidden))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of deprecated names
            ExpectationMaximization(network, frame).get_parameters(
                latent_card=dict.fromkeys(hidden, 2), max_iter=2, atol=0, show_progress=False, n_jobs=1
            )

    return run


def pyagrum(table: Table, tree: Tree) -> Callable[[], object]:
    import pandas as pd
    import pyagrum as gum

    names, parent = tree.node_names, tree.rooted().parent.tolist()
    frame = pd.DataFrame(table.codes(), columns=list(table.names)).astype(str)
    for name in names[tree.n_observed :]:
        frame[name] = "?"
    network = gum.BayesNet()
    for name, size in zip(names, [*table.n_states.tolist(), *[2] * tree.n_hidden], strict=True):
        network.add(gum.LabelizedVariable(name, name, size))
    for node, above in enumerate(parent):
        if above >= 0:
            network.addArc(names[above], names[node])
    network.generateCPTs()

    def run() -> None:
        learner = gum.BNLearner(frame, network, ["?"])
        learner.useEM(1e-9)
        learner.EMsetMaxIter(2)
        learner.useSmoothingPrior(SMOOTHING)
        learner.learnParameters(network)

    return run
