"""Real tables from a folder, which is not part of the project, and the true groups of some of them.

The folder holds `questionnaire/`, `scales/`, `population/`, `words/`, `stocks/`, `density/`, `primates/` and `folds/`.
Tables are read when they are asked for, so that a missing file is noticed there. The table of tumours comes with
scikit-learn.
"""

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from folds import read_table
from latree import Table, as_table
from latree.paper.stocks import read_changes

SCALES = ("hsq", "kims", "icar", "ability", "uralex", "senate106")
FOLDS = ("alarm", "breast_cancer", "car_evaluation", "hayes_roth", "house_building", "vote")
BFI = "questionnaire/bfi.csv.gz"


def real_tables(folder: Path) -> dict[str, Callable[[], Table]]:
    """Return for the name of each table a function that reads it."""
    return {
        "tumours": _tumours,
        **labelled_tables(folder),
        "sd3": partial(_file, folder / "population" / "sd3.csv.gz"),
        "primates": partial(_alignment, folder / "primates" / "primates.chars.fasta"),
        **{f"{name} (folds)": partial(_fold_table, folder / "folds", name) for name in FOLDS},
        "stocks": partial(read_changes, folder / "stocks" / "close60_1984_2010.csv.gz", False),
        "words": partial(_file, folder / "words" / "20news_w100.csv.gz", ("__group",)),
        "accidents": partial(_file, folder / "density" / "accidents.train.csv.gz"),
        "dna": partial(_file, folder / "density" / "dna.train.csv.gz"),
    }


def labelled_tables(folder: Path) -> dict[str, Callable[[], Table]]:
    """Return the tables whose groups of columns are known."""
    return {
        "bfi": partial(_file, folder / BFI, ("gender", "education", "age")),
        **{name: partial(_file, folder / "scales" / f"{name}.csv.gz") for name in SCALES},
    }


def true_groups(folder: Path, name: str) -> dict[str, str]:
    """Return the group of each column of a labelled table."""
    if name == "bfi":  # one line per scale: its name, and its items, those that are scored the other way with a minus
        lines = (folder / BFI).with_name("bfi.keys.txt").read_text(encoding="utf-8").split("\n")
        scales = (line.split("\t") for line in lines if line)
        return {item.removeprefix("-"): scale for scale, items in scales for item in items.split(",")}
    with (folder / "scales" / f"{name}_labels.csv").open(encoding="utf-8") as stream:
        return {row["column"]: row["label"] for row in csv.DictReader(stream)}


def _file(path: Path, drop: tuple[str, ...] = ()) -> Table:
    """Read a file without some columns, and without those that have only one value."""
    table = as_table(str(path), drop=drop)
    constant = tuple(column.name for column in table.columns if column.n_states < 2)
    return as_table(str(path), drop=drop + constant) if constant else table


def _fold_table(folder: Path, name: str) -> Table:
    return read_table(folder, name)[1]


def _tumours() -> Table:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    return as_table(data.data, names=data.feature_names.tolist())


def _alignment(path: Path) -> Table:
    """Read a FASTA file: sequences become columns, sites rows, and what is not one of the four bases is missing."""
    sequences: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(">"):
            name = line[1:].strip()
            sequences[name] = ""
        elif line.strip():
            sequences[name] += line.strip().upper()
    cells = np.array([list(sequence) for sequence in sequences.values()], dtype=object).T
    cells[~np.isin(cells.astype(str), list("ACGT"))] = None
    return as_table(cells, names=list(sequences))
