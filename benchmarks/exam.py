"""The exam of the default: python benchmarks/exam.py [PART ...] [--data FOLDER] [--json FILE] [--against FILE].

Everything is measured with `LatentTree(random_state=seed).fit(table)`, as users call it. All seeds are 1000 and more:
use others to develop with. `--against` shows the figures of another run, of other code, after a slash.

simulated  Latent trees with known truth. precision, recall: the shares of drawn edges that are right, and of true edges
           that are drawn. right .9: of edges with support .9 or more, those that are right. kept .5: of right edges,
           those with support .5 or more. whole: tables of which the whole tree is right.
foreign    Tables that are no latent trees, with known groups of columns (foreign_tables.py). main, best, at n: adjusted
           Rand index of the main groups, of the best level, and at the true number of groups. too many: main groups
           minus true groups. inside .9: edges per table with support .9 or more that divide a true group, and wrong .9:
           that no tree of the true groups can have. For local dependence and bifactor, some edges inside are right.
again      The default on disjoint samples of the rows of real tables: what one fit says about the edges, columns and
           groups of the other one, by their support and stability (again.py).
perturb    Real tables with 2 % of the cells removed, with 80 % of the rows, and with other seeds. between: the mean
           adjusted Rand index of the main groups of two runs. claimed: the mean stability of the main groups.
groups     Real tables whose groups of columns are known: the same figures as for foreign.
noise      Tables of independent columns (honesty.py): how many have a group, a supported edge, a stable group.
time       Seconds of whole fits, and seconds of the processor, the lesser of two runs, with their ratios to a fixed
           computation with NumPy.

again, perturb, groups, and parts of time need the folder of real tables (real_tables.py).
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

import latree
from again import columns_again, edges_again
from explain import PAPER
from foreign_tables import FOREIGN
from honesty import SHAPES, Claims, claimed
from latree.table import Table
from lines import Settings, Sheet, Shown, completed, mean, ratio, total
from real_tables import real_tables, true_groups
from simulated_tables import (
    Draw,
    independent_model,
    non_binary_model,
    paper_model,
    recipe_model,
    separate_groups_model,
    with_missing,
)
from timing import interleaved
from truth import LEVELS, Row, compared, hidden_parts, label_columns, sure_edges

FIRST_SEED = 1000
# Shares of missing cells, in a third of the random tables.
MISSING = (0.1, 0.3)
SIZES = ((6, 10), (11, 20))  # hidden variables of the random models
HALVES = ("bfi", "hsq", "kims", "icar", "ability")
SAMPLE_ROWS = 1000  # of each sample of a population
PERTURBED = ("hsq", "kims", "ability", "bfi")
GROUPED = ("bfi", "hsq", "kims", "ability", "icar", "uralex", "senate106")
# Support and stability are sorted into these bins; the last one includes 1.
BINS = {"0-.5": (0.0, 0.5), ".5-.7": (0.5, 0.7), ".7-.9": (0.7, 0.9), ".9-1": (0.9, np.inf)}


class Exam(NamedTuple):
    """What is asked for, and the figures of all tables printed so far."""

    folder: Path | None
    seeds: int | None
    jobs: int
    before: dict[str, Any]
    figures: dict[str, Any]

    def seed_range(self, default: int) -> range:
        """Return the seeds of a line, by default so many."""
        return range(FIRST_SEED, FIRST_SEED + (self.seeds or default))

    def show(self, title: str, lines: Iterable[tuple[str, list[Row]]], columns: Sequence[Shown]) -> list[Row]:
        """Print a table, with a line for all rows at its end; return these rows."""
        print(f"\n{title}", flush=True)
        sheet = Sheet(columns, [" " * 26], self.before.get(title))
        rows = []
        for name, several in lines:
            sheet.add(name, several)
            rows += several
        sheet.add("all", rows)
        self.figures[title] = sheet.figures
        return rows

    def run(self, title: str, settings: Settings, columns: Sequence[Shown]) -> list[Row]:
        """Run the tasks of all settings, print a line for each, and return their rows."""
        return self.show(title, completed(settings, self.jobs), columns)

    def tables(self, names: Iterable[str]) -> dict[str, Table]:
        """Read real tables; those that cannot be read are left out, with a message."""
        found = {}
        readers = real_tables(self.folder or Path())
        for name in names:
            try:
                found[name] = readers[name]()
            except (OSError, latree.InputError) as error:
                print(f"{name} is left out: {error!s:.80}", flush=True)
        return found

    def truth(self, name: str, table: Table) -> list[str]:
        """Return the true group of each column of a real table."""
        groups = true_groups(self.folder or Path(), name)
        return [groups[column] for column in table.names]


def fit(table: Table, seed: int) -> tuple[latree.LatentTree, float]:
    """Fit the default; return it with the seconds."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = latree.LatentTree(random_state=seed).fit(table)
    return estimator, time.perf_counter() - started


TABLES = Shown("tables", len, ".0f")
SECONDS = Shown("seconds", mean("seconds"), ".1f")

# simulated


def simulated(exam: Exam) -> None:
    few, more = exam.seed_range(2), exam.seed_range(6)
    settings: Settings = {
        f"{draw}, {low}-{high} hidden": [partial(random_row, draw, (low, high), seed) for seed in more]
        for draw in ("copy", "dirichlet")
        for low, high in SIZES
    }
    for rows in (2000, 500):
        settings[f"paper, {rows} rows"] = [
            partial(simulated_row, paper_model(setting, seed), rows, seed)
            for setting in dict.fromkeys((*setting[:-1], 0) for setting in PAPER)
            for seed in few
        ]
    settings["recipe, 1000 rows"] = [partial(simulated_row, recipe_model(), 1000, seed) for seed in few]
    settings["three groups, 1000 rows"] = [partial(simulated_row, separate_groups_model(), 1000, s) for s in few]
    settings["independent, 1000 rows"] = [partial(simulated_row, independent_model(seed), 1000, seed) for seed in more]
    columns = (
        TABLES,
        Shown("precision", ratio("right_edges", "edges"), ".3f"),
        Shown("recall", ratio("found_edges", "true_edges"), ".3f"),
        Shown("right .9", ratio("right_sure", "sure"), ".3f"),
        Shown("kept .5", ratio("right_kept", "right_edges"), ".3f"),
        Shown("whole", mean("whole")),
        SECONDS,
    )
    exam.run("simulated", settings, columns)


def random_row(draw: Draw, hidden: tuple[int, int], seed: int) -> Row:
    share = np.random.default_rng([seed, 4]).uniform(*MISSING) if seed % 3 == 2 else 0.0
    return simulated_row(non_binary_model(seed, draw, hidden), 2000, seed, share)


def simulated_row(truth: latree.LatentTreeModel, rows: int, seed: int, missing: float = 0.0) -> Row:
    table = truth.sample(rows, seed)
    learned, seconds = fit(with_missing(table, missing, seed) if missing else table, seed)
    found = learned.tree_
    inner = [edge for edge, split in enumerate(found.edge_splits) if split.smaller_side > 1]
    support = found.support[inner]
    right = np.array([truth.tree.implies(found.edge_splits[edge]) for edge in inner], dtype=bool)
    row = compared(truth, learned.model_)
    row |= {"sure": (support >= 0.9).sum(), "right_sure": (right & (support >= 0.9)).sum()}
    row["right_kept"] = (right & (support >= 0.5)).sum()
    row["whole"] = row["robinson_foulds"] == 0 and hidden_parts(found) == hidden_parts(truth.tree)
    return {**row, "seconds": seconds}


# foreign and groups: known groups of columns

GROUPS = (
    TABLES,
    Shown("main", mean("main"), ".3f"),
    Shown("best", mean("best"), ".3f"),
    Shown("at n", mean("at_n"), ".3f"),
    Shown("true", mean("n_true"), ".1f"),
    Shown("too many", mean("too_many"), ".1f"),
    Shown("inside .9", mean("inside"), ".1f"),
    Shown("wrong .9", mean("wrong"), ".1f"),
    SECONDS,
)


def group_row(table: Table, labels: Sequence[str], seed: int) -> Row:
    """Fit the default to a table whose groups of columns are known."""
    learned, seconds = fit(table, seed)
    row = group_scores(learned, table.names, labels)
    n_true = len(set(labels))
    row |= {"n_true": n_true, "too_many": sum(group.level == "main" for group in learned.groups_) - n_true}
    row |= sure_edges(learned.tree_, dict(zip(table.names, labels, strict=True)))
    return {**row, "seconds": seconds}


def group_scores(learned: latree.LatentTree, names: Sequence[str], labels: Sequence[str]) -> Row:
    """Return the adjusted Rand index of the main groups, of the best level, and at the true number of groups."""
    scores = {level: adjusted_rand_score(labels, label_columns(learned.groups_, names, level)) for level in LEVELS}
    at_n = np.nan
    if (groups := getattr(learned, "groups", None)) is not None:
        n, found = len(set(labels)), None
        while found is None:
            try:
                found = groups(n=n)
            except latree.InputError:  # the tree has not so many groups
                n -= 1
        number = {name: i for i, group in enumerate(found) for name in group.columns}
        at_n = adjusted_rand_score(labels, [number.get(name, -1 - i) for i, name in enumerate(names)])
    return {"main": scores["main"], "best": max(scores.values()), "at_n": at_n}


def foreign(exam: Exam) -> None:
    settings: Settings = {
        name: [partial(group_row, *draw(seed), seed) for seed in exam.seed_range(4)] for name, draw in FOREIGN.items()
    }
    exam.run("foreign", settings, GROUPS)


def groups(exam: Exam) -> None:
    settings: Settings = {
        name: [partial(group_row, table, exam.truth(name, table), seed) for seed in exam.seed_range(2)]
        for name, table in exam.tables(GROUPED).items()
    }
    exam.run("groups", settings, GROUPS)


# again


def again(exam: Exam) -> None:
    splits = exam.seed_range(2)
    tables = exam.tables(("sd3", *HALVES))
    settings: Settings = {}
    for name, table in tables.items():
        if name == "sd3":
            settings[name] = [partial(again_row, table, 2 * len(splits), SAMPLE_ROWS, FIRST_SEED)]
        else:
            settings[name] = [partial(again_row, table, 2, table.n_rows // 2, seed) for seed in splits]
    between = (
        Shown("fits", total("fits"), ".0f"),
        Shown("main", mean("ari"), ".3f"),
        SECONDS,
    )
    rows = exam.run("again: main groups of two samples", settings, between)
    edges = [edge for row in rows for edge in row["edges"]]
    columns = [column for row in rows for column in row["columns"]]
    of_edges = (
        Shown("edges", len, ".0f"),
        Shown("exact", mean("exact")),
        Shown("contradicted", mean("contradicted")),
        Shown("transfer .8", lambda rows: float(np.mean([row["transfer"] >= 0.8 for row in rows]))),
        Shown("transfer", mean("transfer")),
        Shown("support", mean("support")),
    )
    of_columns = (Shown("columns", len, ".0f"), Shown("find most mates", mean("again")))
    exam.show("again: edges by support", binned(edges, "support"), of_edges)
    exam.show("again: columns by stability", binned(columns, "stability"), of_columns)


def binned(rows: list[Row], key: str) -> list[tuple[str, list[Row]]]:
    """Sort rows by a share into bins; rows without one are a bin of their own."""
    bins = [(name, [row for row in rows if low <= row[key] < high]) for name, (low, high) in BINS.items()]
    return [("unknown", [row for row in rows if np.isnan(row[key])]), *bins]


def again_row(table: Table, n_samples: int, n_rows: int, seed: int) -> Row:
    """Fit the default to disjoint samples of the rows and compare every two fits, in both directions."""
    order = np.random.default_rng([seed, 5]).permutation(table.n_rows)
    samples = [table.take(np.sort(order[i * n_rows : (i + 1) * n_rows])) for i in range(n_samples)]
    fits = [fit(sample, seed) for sample in samples]
    main = [label_columns(learned.groups_, table.names, "main") for learned, _ in fits]
    pairs = [(one, two) for (one, _), (two, _) in combinations(fits, 2)]
    both = [*pairs, *(pair[::-1] for pair in pairs)]
    return {
        "fits": n_samples,
        "ari": np.mean([adjusted_rand_score(*pair) for pair in combinations(main, 2)]),
        "edges": [edge for one, two in both for edge in edges_again(one.tree_, two.tree_)],
        "columns": [column for one, two in both for column in columns_again(one.groups_, two.groups_)],
        "seconds": np.mean([seconds for _, seconds in fits]),
    }


# perturb


def perturb(exam: Exam) -> None:
    five, three = exam.seed_range(5), exam.seed_range(3)
    settings: Settings = {}
    tables = exam.tables(PERTURBED)
    for name, table in tables.items():
        labels = exam.truth(name, table)
        settings[f"{name}, 2 % missing"] = [partial(run_row, with_missing(table, 0.02, s), labels, s) for s in five]
        settings[f"{name}, 80 % of rows"] = [partial(run_row, some_rows(table, 0.8, s), labels, s) for s in five]
        settings[f"{name}, other seeds"] = [partial(run_row, table, labels, s) for s in three]
    columns = (
        Shown("runs", len, ".0f"),
        Shown("between", between_runs, ".3f"),
        Shown("main", mean("main"), ".3f"),
        Shown("best", mean("best"), ".3f"),
        Shown("claimed", lambda rows: float(np.nanmean([row["claimed"] for row in rows])), ".3f"),
        SECONDS,
    )
    exam.run("perturb", settings, columns)


def some_rows(table: Table, share: float, seed: int) -> Table:
    order = np.random.default_rng([seed, 6]).permutation(table.n_rows)
    return table.take(np.sort(order[: round(share * table.n_rows)]))


def run_row(table: Table, labels: Sequence[str], seed: int) -> Row:
    learned, seconds = fit(table, seed)
    stability = [group.stability for group in learned.groups_ if group.level == "main" and group.stability is not None]
    return {
        **group_scores(learned, table.names, labels),
        "found": label_columns(learned.groups_, table.names, "main"),
        "claimed": np.mean(stability) if stability else np.nan,
        "seconds": seconds,
    }


def between_runs(rows: list[Row]) -> float:
    """Return the mean adjusted Rand index of every two runs on the same columns."""
    pairs = ((one["found"], two["found"]) for one, two in combinations(rows, 2))
    return float(np.mean([adjusted_rand_score(one, two) for one, two in pairs if len(one) == len(two)] or [np.nan]))


# noise


def noise(exam: Exam) -> None:
    settings: Settings = {shape: [partial(noise_row, shape, seed) for seed in exam.seed_range(10)] for shape in SHAPES}
    claims = [Shown(claim, total(claim), ".0f") for claim in Claims._fields]
    exam.run("noise", settings, (TABLES, *claims, SECONDS))


def noise_row(shape: str, seed: int) -> Row:
    started = time.perf_counter()
    return {**claimed(shape, seed)._asdict(), "seconds": time.perf_counter() - started}


# time


def times(exam: Exam) -> None:
    tables = {"135x4000x6": recipe_model(27, 5, 6).sample(4000, FIRST_SEED)}
    tables = exam.tables(["tumours"]) | tables | (exam.tables(["bfi", "words"]) if exam.folder else {})
    settings: Settings = {name: [partial(time_row, table)] for name, table in tables.items()}
    columns = [Shown(name, mean(name), ".1f") for name in ("seconds", "ratio", "processor", "processor ratio")]
    exam.run("time", settings, columns)


def time_row(table: Table) -> Row:
    tasks: dict[str, Callable[[], object]] = {"reference": reference, "fit": partial(fit, table, FIRST_SEED)}
    taken = interleaved(tasks, 2)
    (wall, processor), slowness = taken["fit"], taken["reference"]
    ratios = {"ratio": wall / slowness.wall, "processor ratio": processor / slowness.processor}
    return {"seconds": wall, "processor": processor, **ratios}


def reference() -> None:
    """Work that says how fast the machine is: matrix products, sums of logarithms, sorting."""
    values = np.random.default_rng(0).random((1500, 1500))
    for _ in range(3):
        (values @ values).sum()
        np.log(values).sum()
        np.sort(values, axis=0)


PARTS: dict[str, Callable[[Exam], None]] = {
    "simulated": simulated,
    "again": again,
    "foreign": foreign,
    "groups": groups,
    "perturb": perturb,
    "noise": noise,
    "time": times,
}
NEED_DATA = ("again", "perturb", "groups")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", metavar="PART", nargs="*", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="of real tables")
    parser.add_argument("--seeds", type=int, help="instead of the usual numbers of tables, splits or runs")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for all figures, written after every part")
    parser.add_argument("--against", type=Path, metavar="FILE", help="of --json, from another run")
    options = parser.parse_args()
    if odd := set(options.parts) - set(PARTS):
        parser.error(f"there is no part {min(odd)!r}; the parts are {', '.join(PARTS)}")
    before = json.loads(options.against.read_text()) if options.against else {}
    exam = Exam(options.data, options.seeds, options.jobs, before, {})
    for name in options.parts or PARTS:
        if name in NEED_DATA and options.data is None:
            print(f"\n{name} is left out: it needs --data FOLDER")
            continue
        PARTS[name](exam)
        if options.json:
            options.json.write_text(json.dumps(exam.figures, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
