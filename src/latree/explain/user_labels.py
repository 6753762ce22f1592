"""How well the groups match the labels that a user gives to columns, such as sectors, scales or chapters."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from latree.model import LatentTreeModel


def labels_of_fit(model: LatentTreeModel) -> dict[str, Any] | None:
    """Return how well the main groups match the labels of the model's fit, as plain data; None without labels."""
    labels = dict(model.record.labels) if model.record else {}
    if not labels:
        return None
    groups = [group for group in model.groups if group.level == "main"]
    columns = [[model.node(name) for name in group.columns] for group in groups]
    facts = compare_labels([labels.get(name, "") for name in model.tree.names], columns)
    return {
        "match": label_match(facts) or None,
        "purity": facts["purity"],
        "labels": dict(zip(facts["names"], ("whole" if whole else "divided" for whole in facts["whole"]), strict=True)),
        "groups": {group.name: match for group, match in zip(groups, facts["groups"], strict=True)},
    }


def label_match(facts: Mapping[str, Any]) -> str:
    """Return how many labels come out as groups, in words; nothing if that says little.

    Parameters
    ----------
    facts : mapping
        From :func:`compare_labels`.
    """
    n_labels, n_whole, n_groups = len(facts["names"]), sum(facts["whole"]), len(facts["groups"])
    if n_labels < 2 or n_groups < 2:
        return ""
    n_labelled_groups = sum(match["labelled"] > 0 for match in facts["groups"])
    if n_whole == n_labels == n_labelled_groups == n_groups:
        return f"exactly your {n_labels} labels"
    if not n_whole:
        return ""
    return f"{n_whole} of your {n_labels} labels {'comes' if n_whole == 1 else 'come'} out whole"


def compare_labels(labels: Sequence[str], groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return how well groups of columns match the labels of the columns.

    Parameters
    ----------
    labels : sequence of str
        The label of each column; "" for none.
    groups : sequence of sequences of int
        The columns of each group.

    Returns
    -------
    dict
        ``names``: the labels, the most common first. ``of``: for each column the number of its label, or -1.
        ``groups``: for each group its most common label, how many of its columns have that label, and how many have
        any label. ``whole``: for each label, whether its columns are all in one group, without columns of other labels.
        ``purity``: the share of labelled columns that have the most common label of their group.
    """
    counts = Counter(label for label in labels if label)
    names = sorted(counts, key=lambda label: (-counts[label], label))
    number = {label: position for position, label in enumerate(names)}
    matches, n_matching = [], 0
    for columns in groups:
        inside = Counter(labels[column] for column in columns if labels[column])
        most_common = min(inside, key=lambda label: (-inside[label], number[label]), default=None)
        n_most_common = inside[most_common] if most_common else 0
        matches.append({"label": most_common, "count": n_most_common, "labelled": inside.total()})
        n_matching += n_most_common
    return {
        "names": names,
        "of": [number.get(label, -1) for label in labels],
        "groups": matches,
        "whole": [
            any(
                (match["label"], match["count"], match["labelled"]) == (name, counts[name], counts[name])
                for match in matches
            )
            for name in names
        ],
        "purity": round(n_matching / counts.total(), 6) if counts else None,
    }
