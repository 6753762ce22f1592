"""The default learner compared with its competitors.

python benchmarks/default.py recovery [--seeds 20]      # Robinson-Foulds, support, held-out rows against the true tree
python benchmarks/default.py stocks PRICES [--halves 10]
python benchmarks/default.py stepmix TABLE [--halves 3] [--drop COLUMN]  # StepMix, 2 to 16 classes
"""

import argparse
import time
from pathlib import Path
from typing import Any, get_args

import numpy as np

from latree import learn_tree
from latree.learn import learn_model
from latree.model import fit_model
from latree.paper.simulate import random_model, random_tree
from latree.paper.stocks import read_changes
from latree.settings import Goal, Settings
from latree.table import Table, as_table

# States of columns, states of hidden variables, start, β, μ, rows.
RECOVERY: tuple[tuple[int, Any, Any, float, float, int], ...] = (
    (10, (2, 8), "identity", 0.5, 0.2, 2000),
    (10, (2, 8), "identity", 0.2, 0.2, 2000),
    (10, (2, 8), "identity", 0.5, 0.5, 2000),
    (4, 4, "identity", 0.5, 0.2, 2000),
    (4, 4, "identity", 0.2, 0.2, 2000),
    (10, (2, 8), "identity", 0.5, 0.2, 500),
    (10, (2, 8), "independent", 0.5, 0.2, 2000),
)


def recovery(seeds: int) -> None:
    print(
        f"{'n k start β μ rows':38}{'auto':>6}{'tensor':>8}{'snj':>6}{'support ≥ .9':>14}{'right':>7}"
        f"{'auto - true tree':>18}{'± error':>9}{'seconds':>9}"
    )
    for n_states, hidden, start, beta, mu, rows in RECOVERY:
        distances: dict[str, list[int]] = {"auto": [], "tensor": [], "snj": []}
        sure: list[bool] = []
        gaps, errors, seconds = [], [], []
        for seed in range(seeds):
            tree = random_tree(16, beta, seed)
            truth = random_model(
                tree, n_states=n_states, hidden_states=hidden, start=start, perturbation=mu, random_state=seed
            )
            train, test = truth.sample(rows, seed), truth.sample(2000, seed + 1000)
            began = time.perf_counter()
            learned = learn_model(train, Settings(goal="predict", random_state=seed))
            seconds.append(time.perf_counter() - began)
            found = learned.model.tree
            distances["auto"].append(found.robinson_foulds(tree))
            for name in ("tensor", "snj"):
                distances[name].append(learn_tree(train, method=name, random_state=seed).robinson_foulds(tree))
            for split, support in zip(found.edge_splits, found.support, strict=True):
                if support >= 0.9:
                    sure.append(tree.implies(split))
            states, smoothing = max(learned.model.n_states[16:], default=1), learned.smoothing
            true = fit_model(train, tree, int(states), smoothing=smoothing, random_state=seed).model
            gap = learned.model.log_likelihood_rows(test) - true.log_likelihood_rows(test)
            gaps.append(gap.sum())
            errors.append(gap.std() * np.sqrt(len(gap)))
        means = {name: float(np.mean(values)) for name, values in distances.items()}
        shown = hidden if isinstance(hidden, int) else f"{hidden[0]}..{hidden[1]}"
        print(
            f"{f'{n_states} {shown} {start} {beta} {mu} {rows}':38}{means['auto']:6.2f}{means['tensor']:8.1f}"
            f"{means['snj']:6.1f}{len(sure):14}{np.mean(sure):7.3f}{np.mean(gaps):18.1f}{np.mean(errors):9.1f}"
            f"{np.mean(seconds):9.1f}",
            flush=True,
        )


def halves_of(table: Table, halves: int) -> list[tuple[Table, Table]]:
    found = []
    for half in range(halves):
        order = np.random.default_rng([0, half]).permutation(table.n_rows)
        train, test = np.split(order, [table.n_rows // 2])
        found.append((table.take(np.sort(train)), table.take(np.sort(test))))
    return found


def compare(table: Table, halves: int, settings: dict[str, Settings]) -> None:
    for name, setting in settings.items():
        scores, seconds, shapes = [], [], []
        for train, test in halves_of(table, halves):
            began = time.perf_counter()
            learned = learn_model(train, setting)
            seconds.append(time.perf_counter() - began)
            scores.append(float(learned.model.log_likelihood_rows(test).mean()))
            shapes.append(f"{learned.model.tree.n_hidden}x{max(learned.model.n_states[table.n_columns :], default=0)}")
        print(
            f"{name:22}{np.mean(scores):10.4f} per row, {np.mean(scores) / table.n_columns:8.4f} per cell, sd per cell "
            f"{np.std(scores) / table.n_columns:.4f}, {np.mean(seconds):6.1f} s, hidden x states {' '.join(shapes)}",
            flush=True,
        )


def stepmix(table: Table, halves: int) -> None:
    from stepmix.stepmix import StepMix

    for k in (2, 4, 6, 8, 12, 16):
        scores, seconds = [], []
        for train, test in halves_of(table, halves):
            began = time.perf_counter()
            model = StepMix(n_components=k, measurement="binary", random_state=0, verbose=0, progress_bar=0)
            model.fit(train.codes())
            seconds.append(time.perf_counter() - began)
            scores.append(float(model.score(test.codes())))
        print(f"{f'StepMix k={k}':22}{np.mean(scores):10.4f} per row, {np.mean(seconds):6.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["recovery", "stocks", "stepmix"])
    parser.add_argument("table", type=Path, nargs="?")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--halves", type=int, default=3)
    parser.add_argument("--drop", action="append", default=[])
    arguments = parser.parse_args()
    if arguments.part == "recovery":
        recovery(arguments.seeds)
        return
    if arguments.part == "stocks":
        settings = {goal: Settings(goal=goal, random_state=0) for goal in get_args(Goal)}
        compare(read_changes(arguments.table, False), arguments.halves, settings)
        return
    table = as_table(str(arguments.table), drop=arguments.drop)
    compare(table, arguments.halves, {"auto": Settings(goal="predict", random_state=0)})
    stepmix(table, arguments.halves)


if __name__ == "__main__":
    main()
