"""How well the paper's trees are recovered: python benchmarks/recovery.py [--seeds 10].

Trees have 16 leaves of 10 states and hidden variables of 2 to 8 states, with the paper's β and μ. Prints the mean
Robinson-Foulds distance (at most 26) over the seeds for both kinds of representatives. `start` is the table between
hidden variables before it is perturbed.
"""

import argparse
from typing import Literal, get_args

import numpy as np

from latree import learn_tree
from latree.paper.simulate import random_model, random_tree
from latree.settings import Representatives

SETTINGS: tuple[tuple[Literal["independent", "identity"], float, float, int], ...] = (
    ("identity", 0.5, 0.2, 500),
    ("identity", 0.5, 0.2, 2000),
    ("identity", 0.5, 0.5, 2000),
    ("identity", 0.2, 0.2, 2000),
    ("identity", 0.2, 0.5, 2000),
    ("independent", 0.5, 0.2, 2000),
    ("independent", 0.2, 0.5, 2000),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    print(f"{'start':12}{'β':>5}{'μ':>5}{'rows':>6}" + "".join(f"{name:>10}" for name in get_args(Representatives)))
    for start, balance, perturbation, rows in SETTINGS:
        line = f"{start:12}{balance:5}{perturbation:5}{rows:6}"
        for representatives in get_args(Representatives):
            distances = []
            for seed in range(seeds):
                tree = random_tree(16, balance, seed)
                model = random_model(tree, start=start, perturbation=perturbation, random_state=seed)
                learned = learn_tree(model.sample(rows, seed), representatives=representatives, random_state=seed)
                distances.append(learned.robinson_foulds(tree))
            line += f"{np.mean(distances):10.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
