"""Every method on the same simulated tables: python benchmarks/simulated.py [--seeds 10] [--methods ...] [--write].

Tables have 16 columns and 2000 rows from the paper's model with identity start, β = 0.5 and μ = 0.2, in three sizes:
columns of 2, 4 and 10 states with hidden variables of 2, 4, and 2 to 8 states. Prints for each method the means over
the seeds of the Robinson-Foulds distance to the true tree (at most 26), of the log-likelihood of 2000 other rows, and
of the seconds for tree and model. The model has 2, 4 and 4 states per hidden variable and smoothing 0.1, unless the
method chooses the number of states (hw) or both (auto).
"""

import time

import numpy as np

from latree.inference.em import DEFAULT_SMOOTHING
from latree.learn import learn_model
from latree.learners.methods import METHODS
from latree.model import LatentTreeModel, fit_model
from latree.paper.simulate import random_model, random_tree
from latree.settings import Settings
from latree.table import Table
from page import Section, parser

SIZES: tuple[tuple[int, int | tuple[int, int], int], ...] = ((2, 2, 2), (4, 4, 4), (10, (2, 8), 4))
TRUE_TREE = "true tree"


def measured(method: str, truth: LatentTreeModel, train: Table, test: Table, n_states: int) -> tuple[float, ...]:
    started = time.perf_counter()
    if method == TRUE_TREE:
        model = fit_model(train, truth.tree, n_states, random_state=0).model
    else:
        given_states = None if method in ("auto", "hw") else n_states
        smoothing = None if method == "auto" else DEFAULT_SMOOTHING
        settings = Settings(method, "predict", n_states=given_states, smoothing=smoothing, random_state=0)
        model = learn_model(train, settings).model
    seconds = time.perf_counter() - started
    return model.tree.robinson_foulds(truth.tree), model.log_likelihood(test), seconds


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=10)
    arguments = options.parse_args()
    section = Section("simulated", arguments.write)
    for n_states, hidden, fitted in SIZES:
        shown = hidden if isinstance(hidden, int) else f"{hidden[0]}..{hidden[1]}"
        section.add(f"{f'n={n_states} k={shown}':14}{'RF':>6}{'test log-likelihood':>22}{'seconds':>9}")
        results: dict[str, list[tuple[float, ...]]] = {}
        for seed in range(arguments.seeds):
            tree = random_tree(16, 0.5, seed)
            truth = random_model(
                tree, n_states=n_states, hidden_states=hidden, start="identity", perturbation=0.2, random_state=seed
            )
            train, test = truth.sample(2000, seed), truth.sample(2000, seed + 1000)
            for method in [*METHODS, TRUE_TREE]:
                if method in arguments.methods or method == TRUE_TREE:
                    results.setdefault(method, []).append(measured(method, truth, train, test, fitted))
        for method, values in results.items():
            distance, log_likelihood, seconds = np.mean(values, axis=0)
            section.add(f"{method:14}{distance:6.1f}{log_likelihood:22.1f}{seconds:9.2f}")
        section.add("")
    section.publish()


if __name__ == "__main__":
    main()
