"""The default learner: explains or predicts, as the goal asks."""

from dataclasses import replace

import numpy as np

from latree._util.progress import WHOLE, no_progress, part_of
from latree.learners.explain import explain
from latree.learners.predict import predict
from latree.learners.structure import Context, Structure
from latree.settings import Settings
from latree.table import Table
from latree.tree import Tree

# The share of the time that the search for structure takes if the goal is to predict, about.
_SEARCH_SHARE = 0.2


def auto(table: Table, settings: Settings, context: Context) -> Structure:
    """Learn the hidden variables that are there (to explain), or the model that predicts best.

    To predict, the explained tree and the resolved one are two of several candidates; held-out rows decide.
    """
    if settings.goal == "explain":
        return explain(table, settings, context)
    end = round(_SEARCH_SHARE * WHOLE)
    resolving = replace(context, progress=part_of(context.progress, 0, end // 2))
    explaining = part_of(context.progress, end // 2, end)
    predicting = replace(context, progress=part_of(context.progress, end, WHOLE))
    resolved = explain(table, replace(settings, resolve="all"), resolving)
    if settings.resolve == "all":
        return Structure(resolved.tree, resolved.facts)
    if not resolved.tree.n_hidden:
        return predict(table, [], settings, predicting)
    seed = int(context.rng.integers(2**31))

    def search(rows: Table) -> Tree:
        progress = explaining if rows is table else no_progress
        return explain(rows, settings, Context(np.random.default_rng(seed), progress)).tree

    return predict(table, [resolved.tree], settings, predicting, search)
