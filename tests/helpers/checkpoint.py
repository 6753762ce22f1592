"""Runs that are stopped, for tests of checkpoints."""

import numpy as np

from latree._util.checkpoint import Checkpoint
from latree.paper.simulate import random_model, random_tree


def model_of(n_columns, perturbation=0.3):
    tree = random_tree(n_columns, 0.5, 0)
    return random_model(tree, n_states=3, hidden_states=2, start="identity", perturbation=perturbation, random_state=0)


def write(path, n_columns=6, n_rows=150, seed=0):
    codes = model_of(n_columns).sample(n_rows, seed).codes()
    np.savetxt(path, codes, "%d", ",", header=",".join(f"x{j}" for j in range(n_columns)), comments="")
    return path


class Stopped(Exception):
    """Stands for whatever ends a process."""


class Stopping(Checkpoint):
    """A checkpoint that keeps everything at once, and whose process ends after some time."""

    def __init__(self, folder, settings, saves):
        super().__init__(folder, settings)
        self.saves = saves

    def is_due(self):
        return True

    def save(self, *arguments, **options):
        super().save(*arguments, **options)
        self.saves -= 1
        if not self.saves:
            self.close()
            raise Stopped
