"""The default learner: the hidden variables that are there, and no more.

Columns that depend on no other stay by themselves. The others are joined into several binary trees, from which
:class:`latree.search.explain.Search` goes on.
"""

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from latree._util.progress import part_of_stage
from latree.inference.starts import start_from
from latree.learners.divide_conquer import without_unseen
from latree.learners.parts import WIDE, parts_of, search_in_parts
from latree.learners.starting import starting_trees
from latree.learners.structure import Replicate, Structure, independent
from latree.learners.support import found_again
from latree.model import LatentTreeModel
from latree.search.draft import Draft
from latree.search.explain import Search
from latree.search.sample import MAX_ROWS
from latree.settings import Settings
from latree.table import Table
from latree.tree import Tree

# The share of the time that measuring the columns takes, about.
_MEASURING = 0.05


def explain(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    """Learn which hidden variables are there, how they are connected, and how many states each has.

    The same search runs on all rows and on random halves of them, all at once: what comes again there is sure.
    """
    seed, n_states = int(rng.integers(2**31)), settings.n_states
    is_wide = table.n_columns > WIDE and settings.resolve != "all"
    with part_of_stage(0, _MEASURING):
        columns = parts_of(table, seed) if is_wide else []
        trees = [] if is_wide else starting_trees(table)
    if not (trees or is_wide):
        return independent(table.names)
    parts = halves(table, settings.n_resamples, seed)
    with part_of_stage(_MEASURING, 1):
        if is_wide:
            models = search_in_parts([table, *parts], columns, seed, n_states, table.rows.run)
            found: list[tuple[LatentTreeModel, tuple[Tree, ...]]] = [(model, ()) for model in models]
        else:
            rows = table.units(MAX_ROWS, seed)
            tasks = [_Task(rows, tuple(trees), seed, n_states, "resolved" if settings.resolve == "all" else "whole")]
            tasks += [_Task(half, None, seed + number, n_states, "again") for number, half in enumerate(parts, start=1)]
            found = table.rows.run(_search, tasks)
    (model, _), *again = found
    replicates = tuple(Replicate(one, rows, starts) for (one, starts), rows in zip(again, parts, strict=True))
    if replicates:
        support = found_again(model.tree, replicates)
        model = replace(model, tree=model.tree.with_numbers(support=support))
    tree = without_unseen(model.tree, table)
    return Structure(tree, {}, started(model, tree, table), replicates=replicates)


class _Task(NamedTuple):
    """Rows to search, and trees to start from, which are joined from these rows if they are not given."""

    rows: Table
    trees: tuple[Tree, ...] | None
    seed: int
    n_states: int | None
    how: Literal["whole", "again", "resolved"]


def _search(task: _Task) -> tuple[LatentTreeModel, tuple[Tree, ...]]:
    """Return what a search finds, and the trees that it could start from."""
    with part_of_stage(0, _MEASURING):
        trees = tuple(starting_trees(task.rows)) if task.trees is None else task.trees
    with part_of_stage(_MEASURING, 1):
        search = Search(task.rows, task.seed, task.n_states)
        if task.how == "resolved":
            return search.resolved(trees), trees
        if task.how == "again":
            return search.explained(trees[1:2], whole=False), trees
        return search.explained(trees), trees


def halves(table: Table, number: int, seed: int) -> list[Table]:
    """Return random halves of the rows, two and two of which have no row in common.

    If the table has more than twice as many rows as a search looks at, each half has as many as that, and every two are
    drawn anew.

    References
    ----------
    Shah and Samworth (2013), Variable Selection with Error Control: Another Look at Stability Selection.
    """
    found: list[Table] = []
    for pair in range((number + 1) // 2):
        rng = np.random.default_rng([seed, pair])
        rows = table.units(2 * MAX_ROWS, rng).sorted_rows()
        order = rng.permutation(rows.n_rows)
        found += [rows.take(half) for half in np.array_split(order, 2)]
    return found[:number]


def started(model: LatentTreeModel, tree: Tree, table: Table) -> LatentTreeModel:
    """Return the model on another copy of its tree, without zeros: EM on all rows starts there."""
    joint = Draft(model).joint
    return LatentTreeModel(tree, table.columns, start_from(table, tree, [joint[u][v] for u, v in tree.edges.tolist()]))


def joined(table: Table) -> Structure:
    """Join all columns that show any dependence into a binary tree; the others stay by themselves.

    It is quick: bootstrap replicates use it.
    """
    trees = starting_trees(table)
    return Structure(trees[1]) if trees else independent(table.names)
