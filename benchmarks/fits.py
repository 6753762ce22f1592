"""The time of whole fits, from a table in memory to a model: parts of benchmarks/speed.py.

The reference is one fit of StepMix with four latent classes, which learns no tree and is given the number of classes.
"""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from em import simulated, stepmix
from latree.learn import learn_model
from latree.settings import Settings
from latree.table import Table
from real_tables import real_tables
from simulated_tables import recipe_model
from timing import growth, interleaved, show_ratios

BASE = {"d": 30, "rows": 4000, "n": 4, "k": 4}
GROWN = {
    "d": ((15, 30, 60, 120), "1 to 2"),
    "rows": ((1000, 2000, 4000, 8000), "at most 1"),
    "n": ((2, 4, 8), "1 to 2"),
    "k": ((2, 4, 8), "at most 2"),
}


def fitting(table: Table, method: str, k: int | None) -> Callable[[], object]:
    smoothing = None if k is None else 0.1
    return lambda: learn_model(table, Settings(method, n_states=k, smoothing=smoothing, random_state=0))


def fits() -> None:
    table, _ = simulated(**BASE)
    print(f"whole fits of {table.n_columns} columns x {table.n_rows} rows x 4 states")
    tasks = {
        "StepMix, 4 classes": stepmix(table, 4, iterations=None),
        "lcm, k = 4": fitting(table, "lcm", 4),
        "nj, k = 4": fitting(table, "nj", 4),
        "tensor, k = 4": fitting(table, "tensor", 4),
        "auto": fitting(table, "auto", None),
    }
    show_ratios(interleaved(tasks, 2))
    for name, (sizes, expected) in GROWN.items():
        growth(f"{name}, nj with k known", expected, sizes, partial(_grown, name=name, method="nj"))
    for name in ("d", "rows", "n"):
        growth(f"{name}, auto", GROWN[name][1], GROWN[name][0], partial(_grown, name=name, method="auto"), repeats=1)


def _grown(size: int, name: str, method: str) -> Callable[[], object]:
    setting = BASE | {name: size}
    return fitting(simulated(**setting)[0], method, None if method == "auto" else setting["k"])


def ordinary(folder: str | None, only: Collection[str] = ()) -> None:
    """Measure `auto` on tables of ordinary sizes, each beside StepMix; real ones are read from a folder.

    How its time grows with columns, rows and states is measured by :func:`fits`.
    """
    tables: dict[str, Callable[[], Table]] = {
        "30x4000x4": lambda: recipe_model(6, 5).sample(4000, 0),
        "36x50000x5": lambda: recipe_model(6, 6, 5).sample(50_000, 0),
        "135x4000x6": lambda: recipe_model(27, 5, 6).sample(4000, 0),
        "1000x5000x4": lambda: simulated(1000, 5000, 4, 4)[0],  # the paper's binary tree
    }
    known = real_tables(Path(folder or ""))
    tables |= {name: known[name] for name in (("tumours", "bfi", "words") if folder else ("tumours",))}
    for name, read in tables.items():
        if only and name not in only:
            continue
        table = read()
        print(f"{name}: {table.n_columns} columns x {table.n_rows} rows x {table.n_states.max()} states")
        tasks = {"StepMix, 4 classes": stepmix(table, 4, iterations=None), "auto": fitting(table, "auto", None)}
        show_ratios(interleaved(tasks, 1))
