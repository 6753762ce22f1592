"""Everything that a report says, as plain data without HTML.

Numbers are rounded, so that another machine gets the same report.
"""

from collections.abc import Mapping, Sequence
from glob import has_magic
from math import isnan
from pathlib import Path
from typing import Any

from latree import __version__
from latree._util.progress import part_of_stage
from latree._util.words import percent
from latree.figure.draw import label_colours
from latree.interpret.dependence import SEED, Dependence
from latree.interpret.groups import RESAMPLES, compare_labels, label_match, label_meaning, with_groups
from latree.interpret.scores import reliability
from latree.model import LatentTreeModel
from latree.model.query import MAX_ROWS
from latree.report.cards import columns_alone, group_cards
from latree.report.data_facts import data_facts
from latree.report.drawing_facts import drawing_facts
from latree.report.fit_facts import fit_facts
from latree.report.headline import certainty, finding, headline
from latree.report.profiles import state_profiles
from latree.report.unusual_rows import row_facts
from latree.table import Table

_FIT_DONE = 0.6  # share of the time until the simpler models are fitted


def report_facts(
    model: LatentTreeModel,
    table: Table | None = None,
    *,
    test: Table | None = None,
    labels: Mapping[str, str] | None = None,
    rows: int = 0,
) -> dict[str, Any]:
    """Return everything that a report says about a model; see :func:`latree.report.report_html` for the parameters."""
    with part_of_stage(0, _FIT_DONE):
        fit = fit_facts(model, table, test)
    with part_of_stage(_FIT_DONE, 1):
        if not model.groups:
            model = with_groups(model, table, resamples=RESAMPLES)
        dependence = Dependence(model)
        story = story_facts(dependence, labels, _reliability(model, table))
        tree, record = model.tree, model.record
        return {
            **story,
            "source": record.source if record else None,
            "latree": __version__,
            "names": list(model.node_names),
            "aliases": list(tree.node_names[tree.n_observed :]),
            "descriptions": [column.description for column in model.columns],
            "n_rows": table.n_rows if table is not None else record.n_rows if record else None,
            **drawing_facts(dependence, table),
            "fit": fit,
            "data": data_facts(model, table),
            "rows": row_facts(model, table, rows) if rows and table is not None else None,
        }


def story_facts(
    dependence: Dependence,
    labels: Mapping[str, str] | None = None,
    reliability: Mapping[str, float | None] | None = None,
) -> dict[str, Any]:
    """Return what was found, and how sure it is: the headline, the groups, and the support of the edges.

    Parameters
    ----------
    dependence : Dependence
        Of a model with groups.
    labels : mapping of str to str, optional
    reliability : mapping, optional
        The reliability of each group's score.
    """
    model = dependence.model
    tree = model.tree
    cards = group_cards(dependence, reliability)
    facts = {
        "n_columns": tree.n_observed,
        "n_hidden": tree.n_hidden,
        # Columns that depend on no other one are not called parts.
        "n_parts": sum(component.bit_count() > 1 for component in tree.components),
        "finding": finding(len(tree.edges), tree.n_hidden, len(cards)),
        "groups": cards,
        "alone": columns_alone(model),
        "redundant": [
            {"columns": [model.node(one), model.node(other)], "strength": round(strength, 2)}
            for one, other, strength in (model.record.redundant if model.record else ())
        ],
        "labels": _label_facts([labels.get(name, "") for name in tree.names], cards) if labels is not None else None,
    }
    is_single = facts["finding"] == "one hidden variable"
    stable = [group.stability for group in model.groups if group.level == "main" and group.stability is not None]
    support = [None if isnan(share) else percent(share) for share in tree.support.tolist()]
    return facts | {
        "headline": headline(facts),
        "profiles": state_profiles(dependence, tree.n_observed) if is_single else None,
        "certainty": certainty(support, cards, sum(stable) / len(stable) if stable else None),
    }


def _reliability(model: LatentTreeModel, table: Table | None) -> dict[str, float | None] | None:
    """Return the reliability of each group's score on rows, or on a sample of many; None without rows."""
    if table is None:
        return None
    rows = table.subsample(MAX_ROWS, SEED) if table.n_rows > MAX_ROWS else table
    return {one.name: one.reliability for one in reliability(model, rows)}


def _label_facts(labels: Sequence[str], cards: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how labels compare with groups, what the words of the headline about them mean, and their colours."""
    facts = compare_labels(labels, [[column["node"] for column in card["columns"]] for card in cards])
    colours = label_colours(facts["names"], [match["label"] for match in facts["groups"]])
    return {**facts, "meaning": label_meaning(label_match(facts)), "colours": colours}


def title_of(source: str | None) -> str:
    """Return a title for readers from the name of the data."""
    if not source:
        return "a table"
    return "/".join(Path(source).parts[-2:]) if has_magic(source) else Path(source).name
