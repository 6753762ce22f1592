"""How well goal="explain" finds the hidden variables that are there, and no more.

python benchmarks/explain.py recipe                  # 8 scales of 5 items under one general factor
python benchmarks/explain.py random                  # random non-binary trees, tables drawn in two ways
python benchmarks/explain.py independent             # independent columns; three independent groups
python benchmarks/explain.py paper                   # the paper's binary trees of 16 columns
python benchmarks/explain.py wide                    # the same with 64 and 200 columns
python benchmarks/explain.py support                 # how many edges are right, by their support
python benchmarks/explain.py stability               # how many columns are in the right group, by their stability
python benchmarks/explain.py tables FOLDER [--methods hw hclt]  # BIC on real tables, beside other methods
python benchmarks/explain.py groups FOLDER           # groups of columns on real tables whose groups are known

Every line has the means over the tables of one setting. Precision is the share of drawn edges that are right, recall
the share of true edges that are drawn, both over all tables of the line. `matched` is the share of true hidden
variables that the learned tree has with exactly the same edges, `states` the share of these with the right number of
states. For `stability`, the right groups are the main groups of the true model. For `groups`, each level has the number
of groups and the adjusted Rand index with the true groups; `stability` has the least stable main group.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import latree
from default import RECOVERY
from latree.interpret.groups import find_groups
from latree.learners.methods import METHODS
from lines import Settings, Shown, each, mean, ratio, run, total
from real_tables import labelled_tables, real_tables, true_groups
from simulated_tables import (
    Draw,
    independent_model,
    non_binary_model,
    paper_model,
    recipe_model,
    separate_groups_model,
    with_missing,
)
from truth import LEVELS, SUPPORT_BINS, Row, compared, hidden_parts, label_columns, matched_hidden, right_by_stability

# Sizes of the random models, by their numbers of hidden variables: lines of their own in the table.
SIZES = ((6, 10), (11, 20), (21, 30))
STABILITY_SIZE = (6, 16)  # hidden variables of the random models for stability
MISSING_SHARE = 0.3  # of the cells, in every third random table
# Columns, states of columns and hidden variables, start, β, μ, rows.
PAPER = tuple((16, *setting) for setting in RECOVERY if setting[2] == "identity")
WIDE = tuple(
    (columns, 4, hidden, "identity", 0.2, 0.2, rows)
    for columns, rows in ((64, 1000), (200, 2000))
    for hidden in (3, (2, 4))
)
RESOLVE = ("tested", "all")
# Other methods are left out on real tables with more columns, unless --wide is given.
MOST_COLUMNS = 60


SECONDS = Shown("seconds", mean("seconds"), ".1f")
EDGES = (
    Shown("true hidden", mean("true_hidden"), ".1f"),
    Shown("found", mean("hidden"), ".1f"),
    Shown("precision", ratio("right_edges", "edges"), ".3f"),
    Shown("recall", ratio("found_edges", "true_edges"), ".3f"),
    Shown("matched", ratio("matched", "true_hidden")),
    Shown("states", ratio("right_states", "matched")),
)
RANDOM = (*EDGES, SECONDS)
PAPER_SHOWN = (Shown("RF", mean("robinson_foulds")), *EDGES[:4], SECONDS)
RECIPE = (
    Shown("all right", mean("exact")),
    Shown("9 hidden", mean("nine")),
    Shown("3 states", mean("three_states")),
    Shown("8 groups", mean("all_groups")),
    Shown("found", mean("hidden"), ".1f"),
    Shown("false edges", mean("false_edges")),
    Shown("missed", mean("missed_edges")),
    SECONDS,
)
INDEPENDENT = (
    Shown("right", mean("right")),
    Shown("hidden", mean("hidden"), ".1f"),
    Shown("parts", mean("parts"), ".1f"),
    SECONDS,
)


def by_bin(kind: str) -> tuple[Shown, ...]:
    """Return the number of edges or columns in each bin, and the share of right ones."""
    return tuple(
        shown
        for name in SUPPORT_BINS
        for shown in (
            Shown(name, total(f"{kind} {name}"), "d"),
            Shown("right", ratio(f"right {name}", f"{kind} {name}"), ".3f"),
        )
    )


def fitted(table: latree.Table, seed: int, options: Mapping[str, Any]) -> tuple[latree.LatentTree, float]:
    """Fit an estimator; return it with the seconds."""
    started = time.perf_counter()
    estimator = latree.LatentTree(random_state=seed, **options).fit(table)
    return estimator, time.perf_counter() - started


def recipe_row(rows: int, seed: int, options: Mapping[str, Any]) -> Row:
    truth = recipe_model()
    learned, seconds = fitted(truth.sample(rows, seed), seed, options)
    row = compared(truth, learned.model_)
    top = truth.tree.n_nodes - 1
    row["groups"] = len(matched_hidden(truth.tree, learned.tree_).keys() - {top})
    row["nine"] = learned.tree_.n_hidden == truth.tree.n_hidden
    row["three_states"] = bool(np.all(learned.model_.n_states[truth.tree.n_observed :] == 3))
    row["all_groups"] = row["groups"] == truth.tree.n_hidden - 1
    row["false_edges"] = row["edges"] - row["right_edges"]
    row["missed_edges"] = row["true_edges"] - row["found_edges"]
    wrong_edges = row["false_edges"] + row["missed_edges"]
    row["exact"] = bool(row["nine"] and row["three_states"] and row["all_groups"] and not wrong_edges)
    return {"rows": rows, "seed": seed, **row, "seconds": seconds}


def random_row(draw: Draw, hidden: tuple[int, int], rows: int, seed: int, options: Mapping[str, Any]) -> Row:
    truth = non_binary_model(seed, draw, hidden)
    table = truth.sample(rows, seed)
    missing = MISSING_SHARE if seed % 3 == 2 else 0.0
    learned, seconds = fitted(with_missing(table, missing, seed) if missing else table, seed, options)
    facts = {"draw": draw, "rows": rows, "seed": seed, "columns": table.n_columns, "missing": missing}
    return {**facts, **compared(truth, learned.model_), "seconds": seconds}


def independent_row(groups: bool, rows: int, seed: int, options: Mapping[str, Any]) -> Row:
    truth = separate_groups_model() if groups else independent_model(seed)
    learned, seconds = fitted(truth.sample(rows, seed), seed, options)
    tree = learned.tree_
    parts = hidden_parts(tree)
    return {
        "groups": groups,
        "rows": rows,
        "seed": seed,
        "right": parts == hidden_parts(truth.tree),
        "hidden": tree.n_hidden,
        "parts": len(parts),
        "seconds": seconds,
    }


def paper_row(setting: tuple[Any, ...], rows: int, seed: int, options: Mapping[str, Any]) -> Row:
    truth = paper_model(setting, seed)
    learned, seconds = fitted(truth.sample(rows, seed), seed, options)
    facts = {"setting": paper_name(setting, rows), "resolve": options.get("resolve", ""), "seed": seed}
    return {**facts, **compared(truth, learned.model_), "seconds": seconds}


def paper_name(setting: tuple[Any, ...], rows: int) -> str:
    columns, n, k, _, beta, mu, _ = setting
    shown = k if isinstance(k, int) else f"{k[0]}..{k[1]}"
    return f"d={columns} n={n} k={shown} β={beta} μ={mu} {rows} rows"


def stability_row(truth: latree.LatentTreeModel, rows: int, seed: int, options: Mapping[str, Any]) -> Row:
    table = truth.sample(rows, seed)
    missing = MISSING_SHARE if seed % 3 == 2 else 0.0
    learned, seconds = fitted(with_missing(table, missing, seed) if missing else table, seed, options)
    facts = {"rows": rows, "seed": seed, "columns": table.n_columns, "missing": missing}
    return {**facts, **right_by_stability(find_groups(truth), learned.groups_, table.names), "seconds": seconds}


def table_row(name: str, read: Callable[[], latree.Table], arguments: argparse.Namespace) -> Row:
    """Measure the default and other methods on one real table, or say why not."""
    row: Row = {"table": name, "note": ""}
    try:
        table = read()
    except (OSError, latree.InputError) as error:
        return row | {"note": f"skipped: {error!s:.80}"}
    seed, options = arguments.first_seed, arguments.options
    learned, seconds = fitted(table, seed, options)
    states = learned.model_.n_states[table.n_columns :]
    auto = learned.summary_["bic"]
    row |= {"columns": table.n_columns, "rows": table.n_rows, "hidden": learned.tree_.n_hidden}
    row |= {"states": f"{min(states, default=0)}-{max(states, default=0)}", "bic": auto, "seconds": seconds}
    row["warnings"] = len(learned.summary_["warnings"])
    others = arguments.methods if table.n_columns <= MOST_COLUMNS or arguments.wide else []
    for method in arguments.methods:
        row[method] = np.nan
    for method in others:
        try:
            row[method] = fitted(table, seed, {**options, "method": method})[0].summary_["bic"]
        except latree.InputError as error:
            row["note"] += f"{method}: {error!s:.60} "
    best = min(others, key=lambda method: np.nan_to_num(row[method], nan=np.inf), default=None)
    if best is not None and row[best] < auto:
        row["note"] += f"{best} is better by {auto - row[best]:.0f}"
    return row


def group_row(name: str, read: Callable[[], latree.Table], arguments: argparse.Namespace) -> Row:
    """Compare the groups of each level with the true ones by the adjusted Rand index, or say why not."""
    row: Row = {"table": name, "note": ""}
    try:
        table, truth = read(), true_groups(arguments.folder, name)
    except (OSError, latree.InputError) as error:
        return row | {"note": f"skipped: {error!s:.80}"}
    learned, seconds = fitted(table, arguments.first_seed, arguments.options)
    labels = [truth[column] for column in table.names]
    found = {level: label_columns(learned.groups_, table.names, level) for level in LEVELS}
    scores = {level: adjusted_rand_score(labels, numbers) for level, numbers in found.items()}
    row |= {level: f"{len(set(found[level]))} / {scores[level]:.2f}" for level in LEVELS}
    row |= {"true": len(set(labels)), "hidden": learned.tree_.n_hidden}
    row["stability"] = min(
        (group.stability for group in learned.groups_ if group.stability is not None), default=np.nan
    )
    return row | {"best": max(scores.values()), "seconds": seconds}


def recipe_settings(arguments: argparse.Namespace) -> Settings:
    return {
        f"recipe, {rows} rows": [partial(recipe_row, rows, seed, arguments.options) for seed in arguments.seed_range]
        for rows in arguments.rows or (1000, 5000, 20000)
    }


def random_settings(arguments: argparse.Namespace) -> Settings:
    return {
        f"{draw}, {rows} rows, {size[0]}-{size[1]} hidden": [
            partial(random_row, draw, size, rows, seed, arguments.options) for seed in arguments.seed_range
        ]
        for draw in arguments.draw
        for rows in arguments.rows or (500, 1000, 2000, 5000)
        for size in SIZES
        if size in arguments.sizes
    }


def independent_settings(arguments: argparse.Namespace) -> Settings:
    return {
        f"{'three groups' if groups else 'independent'}, {rows} rows": [
            partial(independent_row, groups, rows, seed, arguments.options) for seed in arguments.seed_range
        ]
        for groups in (False, True)
        for rows in arguments.rows or (500, 2000, 5000)
    }


def paper_settings(arguments: argparse.Namespace, settings: tuple[Any, ...], resolved: Iterable[str]) -> Settings:
    return {
        f"{paper_name(setting, rows)}, {resolve}": [
            partial(paper_row, setting, rows, seed, {**arguments.options, "resolve": resolve})
            for seed in arguments.seed_range
        ]
        for setting in settings
        for rows in arguments.rows or (setting[-1],)
        for resolve in resolved
    }


def support_settings(arguments: argparse.Namespace) -> Settings:
    """Return the tables of recipe, random and paper, by the kind of their true trees."""
    kinds = {
        "non-binary": [recipe_settings(arguments), random_settings(arguments)],
        "binary": [paper_settings(arguments, PAPER, RESOLVE[:1])],
    }
    return {
        kind: [task for settings in parts for tasks in settings.values() for task in tasks]
        for kind, parts in kinds.items()
    }


def stability_settings(arguments: argparse.Namespace) -> Settings:
    """Return tables of the recipe with few rows, and of random models."""
    recipe: Settings = {
        f"recipe, {rows} rows": [
            partial(stability_row, recipe_model(), rows, seed, arguments.options) for seed in arguments.seed_range
        ]
        for rows in arguments.rows or (200, 300, 1000)
    }
    drawn: Settings = {
        f"{draw}, {rows} rows": [
            partial(stability_row, non_binary_model(seed, draw, STABILITY_SIZE), rows, seed, arguments.options)
            for seed in arguments.seed_range
        ]
        for draw in arguments.draw
        for rows in arguments.rows or (500, 2000)
    }
    return recipe | drawn


def real_settings(arguments: argparse.Namespace) -> tuple[Settings, list[Shown]]:
    if arguments.folder is None:
        raise SystemExit(f"python benchmarks/explain.py {arguments.part} needs a FOLDER")
    tables = labelled_tables(arguments.folder) if arguments.part == "groups" else real_tables(arguments.folder)
    tables = {name: read for name, read in tables.items() if not arguments.only or name in arguments.only}
    if arguments.part == "groups":
        shown = [Shown(name, each(name)) for name in ("hidden", "true")]
        shown += [Shown(level, each(level), width=12) for level in LEVELS]
        shown += [Shown("best", mean("best"), ".3f"), Shown("stability", mean("stability")), SECONDS]
        return {name: [partial(group_row, name, read, arguments)] for name, read in tables.items()}, shown
    names = ("columns", "rows", "hidden", "states", "warnings")
    shown = [*(Shown(name, each(name)) for name in names), Shown("BIC", mean("bic"), ".0f", 10), SECONDS]
    shown += [Shown(method, mean(method), ".0f", 10) for method in arguments.methods]
    return {name: [partial(table_row, name, read, arguments)] for name, read in tables.items()}, shown


def option(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE; a value of digits is a number."""
    name, _, value = text.partition("=")
    return name, int(value) if value.isdigit() else value


def size(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low), int(high)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ["recipe", "random", "independent", "paper", "wide", "support", "stability", "tables", "groups"]
    parser.add_argument("part", choices=parts)
    parser.add_argument("folder", type=Path, nargs="?", help="of real tables")
    parser.add_argument("--seeds", type=int, default=20, help="number of tables for each line")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rows", type=int, nargs="+", help="instead of the usual numbers of rows")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--csv", type=Path, help="file for the results of single tables")
    parser.add_argument("--options", type=option, nargs="+", default=[], help="of LatentTree, such as goal=predict")
    parser.add_argument("--draw", nargs="+", choices=["copy", "dirichlet"], default=["copy", "dirichlet"])
    parser.add_argument("--sizes", type=size, nargs="+", choices=SIZES, default=SIZES, help="for random, such as 6-10")
    parser.add_argument("--resolve", nargs="+", choices=("fewest", *RESOLVE), help="for paper and wide")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=[], help="for tables: also these")
    parser.add_argument("--wide", action="store_true", help=f"other methods also on more than {MOST_COLUMNS} columns")
    parser.add_argument("--only", nargs="+", help="names of real tables")
    arguments = parser.parse_args()
    arguments.options = dict(arguments.options)
    arguments.seed_range = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    return arguments


def main() -> None:
    arguments = parse()
    shown: Iterable[Shown]
    match arguments.part:
        case "recipe":
            settings, shown = recipe_settings(arguments), RECIPE
        case "random":
            settings, shown = random_settings(arguments), RANDOM
        case "independent":
            settings, shown = independent_settings(arguments), INDEPENDENT
        case "paper":
            settings, shown = paper_settings(arguments, PAPER, arguments.resolve or RESOLVE), PAPER_SHOWN
        case "wide":
            settings, shown = paper_settings(arguments, WIDE, arguments.resolve or RESOLVE[1:]), PAPER_SHOWN
        case "support":
            settings, shown = support_settings(arguments), by_bin("edges")
        case "stability":
            settings, shown = stability_settings(arguments), by_bin("columns")
        case _:
            settings, shown = real_settings(arguments)
    run(settings, shown, arguments.jobs, arguments.csv)


if __name__ == "__main__":
    main()
