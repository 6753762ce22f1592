"""The default learner: the hidden variables that are there, and no more.

Columns that depend on no other stay by themselves. The others are joined into several binary trees, from which
:class:`latree.search.explain.Search` goes on.
"""

from dataclasses import replace

import numpy as np

from latree._util.progress import part_of_stage
from latree._util.workers import map_forked
from latree.inference.starts import start_from
from latree.learners.divide_conquer import without_unseen
from latree.learners.parts import MAX_PART, parts_of, search_in_parts
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

# Tables with more columns are searched in parts.
_WIDE = 2 * MAX_PART

# The share of the time that measuring the columns takes, about.
_MEASURING = 0.05


def explain(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    """Learn which hidden variables are there, how they are connected, and how many states each has.

    The same search runs on all rows and on random halves of them, all at once: what comes again there is sure.
    """
    seed = int(rng.integers(2**31))
    is_wide = table.n_columns > _WIDE and settings.resolve != "all"
    with part_of_stage(0, _MEASURING):
        columns = parts_of(table, seed) if is_wide else []
        trees = [] if is_wide else starting_trees(table)
    if not (trees or is_wide):
        return independent(table.names)
    parts = [table, *halves(table, settings.n_resamples, seed)]

    def found(number: int) -> tuple[LatentTreeModel, list[Tree]]:
        share = (1 - _MEASURING) / len(parts)
        with part_of_stage(_MEASURING + number * share, _MEASURING + (number + 1) * share):
            if is_wide:
                return search_in_parts(parts[number], columns, seed + number, settings.n_states, whole=not number), []
            begin = starting_trees(parts[number]) if number else trees
            search = Search(parts[number], seed + number, settings.n_states)
            if number:
                return search.explained(begin[1:2], whole=False), begin
            return (search.resolved(begin) if settings.resolve == "all" else search.explained(begin)), begin

    (model, _), *again = map_forked(found, range(len(parts)), long=True)
    replicates = tuple(
        Replicate(one, rows, tuple(starts)) for (one, starts), rows in zip(again, parts[1:], strict=True)
    )
    if replicates:
        support = found_again(model.tree, replicates)
        model = replace(model, tree=model.tree.with_numbers(support=support))
    tree = without_unseen(model.tree, table)
    return Structure(tree, {}, started(model, tree, table), replicates=replicates)


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
